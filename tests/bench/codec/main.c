/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - codec benchmark: liblzvolt beside liblz4, memcpy and the Rust peers
 *
 * One process, values in memory, ratios to liblz4 doing its own job on the
 * same values in the same round.  Judge by the rotating set: one value again
 * and again lets the branch predictor learn it.
 */
#include "bench.h"

#include "lzvolt.h"

#include <fnmatch.h>
#include <getopt.h>
#include <lz4.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: codec [options]\n"
	"  --tables=LIST   of unpack,lz4,pack,size (all)\n"
	"  --rows=GLOB     rows to measure: 'records-*', '*-65536' (all)\n"
	"  --columns=GLOB  columns beside the baseline: '@(voltbox|memcpy)' (all)\n"
	"  --set=WHICH     rotating, single or both (both)\n"
	"  --level=N       whose values the unpack table reads (3)\n"
	"  --favor=WHICH   size, balance or speed for these values (balance)\n"
	"  --hc            LZ4 blocks of LZ4HC 12\n"
	"  --slow          all levels and LZ4HC 12 in the pack table\n"
	"  --tight         output buffers of exactly the decoded size\n"
	"  --span=MS       length of one span (20)\n"
	"  --rounds=N      spans a cell, at most 32 (9)\n"
	"  --corpus=DIR    corpus folder ($VOLTBOX_SHARED/corpus)\n"
	"  --peers=FILE    libpeers.so of tests/peers/build.sh ($VOLTBOX_PEERS)\n"
	"  --json\n";

static const char *const titles[GROUPS] = {
	"unpack own format / liblz4 unpacking its own",
	"unpack LZ4 blocks / liblz4",
	"pack / LZ4_compress_default",
};

static const char *const names[GROUPS] = { "unpack", "lz4", "pack" };

struct job {
	const char *tables, *rows, *which, *corpus, *peers;
	struct columns_wish cols;
	struct measure_wish how;
	bool json;
	struct set *sets;
	size_t count;
	bool broken;
	bool json_comma;
};

/* Sums of logarithms: one mean for each family of rows. */
struct means {
	const char *family;
	double log_sum[COLUMNS_MAX];
	size_t n;
};

#define FAMILIES	8

static void means_add(struct means *m, const struct set *set,
		      const double *value, size_t columns)
{
	while (m->family && m->family != set->family)
		m++;
	m->family = set->family;
	m->n++;
	for (size_t c = 0; c < columns; c++)
		m->log_sum[c] += log(value[c]);
}

static void means_print(const struct means *m, size_t columns, const char *format)
{
	for (; m->family; m++) {
		printf("  mean: %-22s", m->family);
		for (size_t c = 0; c < columns; c++)
			printf(format, exp(m->log_sum[c] / m->n));
		printf("\n");
	}
}

static void json_cell(struct job *job, const char *table, const char *set_kind,
		      const struct set *set, const struct column *col,
		      const struct cell *cell)
{
	printf("%s\n  {\"table\":\"%s\",\"set\":\"%s\",\"row\":\"%s\",\"column\":\"%s\","
	       "\"gb_s\":%.4f,\"ratio\":%.4f,\"low\":%.4f,\"high\":%.4f,"
	       "\"bytes\":%zu,\"refused\":%zu,\"values\":%zu,\"right\":%s}",
	       job->json_comma ? "," : "", table, set_kind, set->name, col->name,
	       cell->rate, cell->ratio[0], cell->ratio[1], cell->ratio[2],
	       cell->packed, cell->refused, set->count,
	       cell->broken ? "false" : "true");
	job->json_comma = true;
}

static void row_print(const struct set *set, const struct cell *cells, size_t columns)
{
	printf("  %-28s %8.3f", set->name, cells[0].rate);
	for (size_t c = 1; c < columns; c++)
		printf("  %s%.2f %.2f-%.2f", cells[c].broken ? "!" : " ",
		       cells[c].ratio[0], cells[c].ratio[1], cells[c].ratio[2]);
	printf("\n");
	fflush(stdout);
}

static void speed_table(struct job *job, enum group group, bool rotating)
{
	struct column col[COLUMNS_MAX];
	struct cell cells[COLUMNS_MAX];
	struct means means[FAMILIES] = { 0 };
	size_t columns = columns_get(group, &job->cols, col);
	const char *kind = rotating ? "rotating" : "single";

	job->how.rotating = rotating;
	if (!job->json) {
		printf("\n%s, %s: GB/s of the first, then ratios\n  %-28s %8s",
		       titles[group], kind, "", col[0].name);
		for (size_t c = 1; c < columns; c++)
			printf("  %14s", col[c].name);
		printf("\n");
	}
	for (size_t i = 0; i < job->count; i++) {
		double value[COLUMNS_MAX];

		measure(&job->sets[i], col, columns, &job->how, cells);
		for (size_t c = 0; c < columns; c++) {
			value[c] = cells[c].ratio[0];
			job->broken |= cells[c].broken;
			if (job->json)
				json_cell(job, names[group], kind, &job->sets[i],
					  &col[c], &cells[c]);
		}
		means_add(means, &job->sets[i], value, columns);
		if (!job->json)
			row_print(&job->sets[i], cells, columns);
	}
	if (!job->json)
		means_print(means, columns, "  %12.3f  ");
}

static void size_row(struct job *job, const struct set *set,
		     const struct column *col, size_t columns, struct means *means)
{
	struct cell cells[COLUMNS_MAX];
	double value[COLUMNS_MAX];

	measure_sizes(set, col, columns, cells);
	if (!job->json)
		printf("  %-28s", set->name);
	for (size_t c = 0; c < columns; c++) {
		value[c] = 100.0 * cells[c].packed / cells[0].packed;
		job->broken |= cells[c].broken;
		if (job->json)
			json_cell(job, "size", "all", set, &col[c], &cells[c]);
		else
			printf(" %6zu %5.1f%%", cells[c].packed, value[c]);
	}
	if (!job->json)
		printf("\n");
	fflush(stdout);
	means_add(means, set, value, columns);
}

static void size_table(struct job *job)
{
	struct column col[COLUMNS_MAX];
	struct columns_wish wish = job->cols;
	struct means means[FAMILIES] = { 0 };
	size_t columns;

	wish.slow = true;
	columns = columns_get(PACK, &wish, col);
	if (!job->json) {
		printf("\nsize: mean bytes of a value, and %% of liblz4\n  %-28s", "");
		for (size_t c = 0; c < columns; c++)
			printf(" %13s", col[c].name);
		printf("\n");
	}
	for (size_t i = 0; i < job->count; i++)
		size_row(job, &job->sets[i], col, columns, means);
	if (!job->json)
		means_print(means, columns, "   %10.1f%%");
}

static bool in_list(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p += n)
		if ((p == list || p[-1] == ',') && (p[n] == ',' || !p[n]))
			return true;
	return false;
}

static void cpu_name(char *name, size_t size)
{
	char line[256];
	FILE *f = fopen("/proc/cpuinfo", "r");

	snprintf(name, size, "unknown CPU");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
			snprintf(name, size, "%s", strchr(line, ':') + 2);
			name[strcspn(name, "\n")] = 0;
			break;
		}
	if (f)
		fclose(f);
}

static void head_print(const struct job *job)
{
	char cpu[128];

	cpu_name(cpu, sizeof(cpu));
	if (job->json)
		printf("{\"cpu\":\"%s\",\"kernel\":\"%s\",\"liblz4\":\"%s\","
		       "\"lzvolt\":\"%s\",\"cells\":[",
		       cpu, lzvolt_backend(), LZ4_versionString(), peers_backend());
	else
		printf("%s; decode kernel %s; liblz4 %s; reference crate's kernel: %s\n",
		       cpu, lzvolt_backend(), LZ4_versionString(), peers_backend());
}

static void run(struct job *job)
{
	head_print(job);
	for (int g = 0; g < GROUPS; g++)
		for (int rotating = 1; rotating >= 0; rotating--)
			if (in_list(job->tables, names[g]) &&
			    (!strcmp(job->which, "both") ||
			     !strcmp(job->which, rotating ? "rotating" : "single")))
				speed_table(job, g, rotating);
	if (in_list(job->tables, "size"))
		size_table(job);
	if (job->json)
		printf("\n]}\n");
}

static void usage_exit(int status)
{
	fputs(usage, status ? stderr : stdout);
	exit(status);
}

static int favor_flag(const char *word)
{
	if (!strcmp(word, "size"))
		return LZVOLT_FAVOR_SIZE;
	if (!strcmp(word, "speed"))
		return LZVOLT_FAVOR_SPEED;
	if (strcmp(word, "balance"))
		usage_exit(2);
	return 0;
}

static const struct option options[] = {
	{ "tables", 1, NULL, 't' }, { "rows", 1, NULL, 'r' },
	{ "columns", 1, NULL, 'c' }, { "set", 1, NULL, 's' },
	{ "level", 1, NULL, 'l' }, { "favor", 1, NULL, 'f' },
	{ "hc", 0, NULL, 'h' }, { "slow", 0, NULL, 'w' },
	{ "tight", 0, NULL, 'e' }, { "span", 1, NULL, 'm' },
	{ "rounds", 1, NULL, 'n' }, { "corpus", 1, NULL, 'd' },
	{ "peers", 1, NULL, 'p' }, { "json", 0, NULL, 'j' },
	{ "help", 0, NULL, 'H' }, { 0 },
};

static void parse(struct job *job, int argc, char **argv)
{
	int c, level = 3, favor = 0;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 't': job->tables = optarg; break;
		case 'r': job->rows = optarg; break;
		case 'c': job->cols.only = optarg; break;
		case 's': job->which = optarg; break;
		case 'l': level = atoi(optarg); break;
		case 'f': favor = favor_flag(optarg); break;
		case 'h': job->cols.hc = true; break;
		case 'w': job->cols.slow = true; break;
		case 'e': job->how.tight = true; break;
		case 'm': job->how.span_ms = atof(optarg); break;
		case 'n': job->how.rounds = atoi(optarg); break;
		case 'd': job->corpus = optarg; break;
		case 'p': job->peers = optarg; break;
		case 'j': job->json = true; break;
		case 'H': usage_exit(0); break;
		default: usage_exit(2);
		}
	}
	job->cols.level = level | favor;
	if (!lzvolt_state_size(level) || job->how.rounds < 1 ||
	    job->how.rounds > ROUNDS_MAX || optind != argc)
		usage_exit(2);
}

int main(int argc, char **argv)
{
	const char *shared = getenv("VOLTBOX_SHARED");
	char corpus[4096];
	struct job job = {
		.tables = "unpack,lz4,pack,size", .which = "both",
		.corpus = corpus, .peers = getenv("VOLTBOX_PEERS"),
		.how = { .span_ms = 20, .rounds = 9 },
	};

	snprintf(corpus, sizeof(corpus), "%s/corpus", shared ? shared : "../shared");
	parse(&job, argc, argv);
	if (job.peers && !peers_load(job.peers))
		fprintf(stderr, "codec: %s: no peers in it; left out\n", job.peers);
	job.count = sets_make(&job.sets, job.corpus, job.rows);
	if (!job.count) {
		fprintf(stderr, "codec: no such rows\n");
		return 2;
	}
	run(&job);
	if (job.broken)
		fprintf(stderr, "codec: a result marked ! or not right is wrong\n");
	return job.broken;
}
