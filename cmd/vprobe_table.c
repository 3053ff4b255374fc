/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_table.c - a measured table for people, as JSON and as CSV
 *
 * Rows have numbers.  "= 2 5" behind a speed means that its range touches
 * those rows' ranges: the measurement can't tell them apart.
 */
#include <string.h>

#include "lzvolt.h"
#include "vprobe_bench.h"

/* Library and version of a codec; "" = no library. */
static const char *library_of(const struct filter *f, char buf[64])
{
	snprintf(buf, 64, "%s%s%s", f->library ? f->library : "",
		 f->library && f->version ? " " : "",
		 f->library && f->version ? f->version() : "");
	return buf;
}

static const struct bench_side *side_of(const struct bench_row *r, bool unpack)
{
	return unpack ? &r->unpack : &r->pack;
}

/* Writes the numbers of the rows that can't be told from row i. */
static void equals_list(const struct bench_table *t, int i, bool unpack, char *buf, size_t cap)
{
	size_t n = 0;

	*buf = 0;
	for (int k = 0; k < t->rows; k++) {
		if (k == i || !range_overlap(&side_of(&t->row[i], unpack)->speed,
					     &side_of(&t->row[k], unpack)->speed))
			continue;
		if (n + 8 < cap)
			n += (size_t)snprintf(buf + n, cap - n, "%s%d", n ? " " : "= ", k + 1);
	}
}

static double mb(double x)
{
	return x / 1e6;
}

static void memory_print(uint64_t n, FILE *to)
{
	char buf[16];

	fprintf(to, " %9s", n == SIZE_UNKNOWN ? "?" : format_size(buf, n));
}

static void side_print(const struct bench_table *t, int i, bool unpack, FILE *to)
{
	const struct bench_side *s = side_of(&t->row[i], unpack);
	char equal[96];

	equals_list(t, i, unpack, equal, sizeof(equal));
	fprintf(to, " %8.1f %8.1f-%-8.1f %7.2f", mb(s->speed.mid), mb(s->speed.low),
		mb(s->speed.high), s->cpu_gb);
	memory_print(s->memory, to);
	fprintf(to, " %c %s", s->front ? '*' : ' ', equal);
}

static void libraries_print(const struct bench_table *t, FILE *to)
{
	char buf[64], seen[1024] = "";

	fprintf(to, "with");
	for (int i = 0; i < t->rows; i++) {
		library_of(t->row[i].choice.filter, buf);
		if (!*buf || strstr(seen, buf))
			continue;
		fprintf(to, "%s %s", *seen ? "," : "", buf);
		strncat(seen, buf, sizeof(seen) - strlen(seen) - 1);
	}
	fprintf(to, "%s decode kernel %s\n", *seen ? "," : "", lzvolt_backend());
}

static void head_print(const struct bench_table *t, FILE *to)
{
	fprintf(to, "%s: %zu bytes, ", t->name, t->bytes);
	if (t->block)
		fprintf(to, "in blocks of %zu\n", t->block);
	else
		fprintf(to, "as a whole\n");
	fprintf(to, "%s%s%d rounds in random order, --seed=%llu, first round dropped\n", t->cpu,
		*t->cpu ? ", " : "", t->rounds, (unsigned long long)t->seed);
	libraries_print(t, to);
}

static void half_print(const struct bench_table *t, bool unpack, FILE *to)
{
	fprintf(to, "\n%3s %-12s %8s %8s %17s %7s %9s   %s\n", "", unpack ? "unpack" : "pack",
		"ratio", "MB/s", "least - most", "CPU s/GB", "memory",
		"* front, = no difference");
	for (int i = 0; i < t->rows; i++) {
		const struct bench_row *r = &t->row[i];

		fprintf(to, "%3d %-12s %8.3f", i + 1, r->choice.name, r->ratio);
		side_print(t, i, unpack, to);
		if (r->stored && !unpack)
			fprintf(to, " (%u blocks stored)", r->stored);
		putc('\n', to);
	}
}

void bench_print(const struct bench_table *t, FILE *to)
{
	head_print(t, to);
	half_print(t, false, to);
	half_print(t, true, to);
}

static void equals_json(struct json *j, const struct bench_table *t, int i, bool unpack)
{
	json_open(j, "no_difference", '[');
	for (int k = 0; k < t->rows; k++)
		if (k != i && range_overlap(&side_of(&t->row[i], unpack)->speed,
					    &side_of(&t->row[k], unpack)->speed))
			json_text(j, NULL, t->row[k].choice.name);
	json_close(j, ']');
}

static void side_json(struct json *j, const struct bench_table *t, int i, bool unpack)
{
	const struct bench_side *s = side_of(&t->row[i], unpack);

	json_open(j, unpack ? "unpack" : "pack", '{');
	json_real(j, "speed", s->speed.mid, 0);
	json_real(j, "speed_low", s->speed.low, 0);
	json_real(j, "speed_high", s->speed.high, 0);
	json_real(j, "cpu_seconds_per_gb", s->cpu_gb, 4);
	json_number(j, "peak_memory", s->memory);
	json_bool(j, "front", s->front);
	equals_json(j, t, i, unpack);
	json_close(j, '}');
}

void bench_json(const struct bench_table *t, FILE *to)
{
	char buf[64];
	struct json j;

	json_begin(&j, to);
	json_text(&j, "file", t->name);
	json_number(&j, "bytes", t->bytes);
	json_number(&j, "block", t->block ? t->block : SIZE_UNKNOWN);
	json_text(&j, "cpu", t->cpu);
	json_text(&j, "kernel", lzvolt_backend());
	json_number(&j, "seed", t->seed);
	json_signed(&j, "rounds", t->rounds);
	json_open(&j, "rows", '[');
	for (int i = 0; i < t->rows; i++) {
		const struct bench_row *r = &t->row[i];

		json_open(&j, NULL, '{');
		json_text(&j, "choice", r->choice.name);
		json_text(&j, "library", library_of(r->choice.filter, buf));
		json_number(&j, "packed", r->packed);
		json_real(&j, "ratio", r->ratio, 4);
		json_number(&j, "stored_blocks", r->stored);
		side_json(&j, t, i, false);
		side_json(&j, t, i, true);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_end(&j);
}

static void side_csv(const struct bench_side *s, FILE *to)
{
	fprintf(to, ",%.3f,%.3f,%.3f,%.4f,", mb(s->speed.mid), mb(s->speed.low),
		mb(s->speed.high), s->cpu_gb);
	if (s->memory != SIZE_UNKNOWN)
		fprintf(to, "%llu", (unsigned long long)s->memory);
	fprintf(to, ",%d", s->front);
}

void bench_csv(const struct bench_table *t, FILE *to)
{
	char buf[64];

	fputs("choice,library,raw,packed,ratio,pack_mb_s,pack_low,pack_high,pack_cpu_s_gb,"
	      "pack_memory,pack_front,unpack_mb_s,unpack_low,unpack_high,unpack_cpu_s_gb,"
	      "unpack_memory,unpack_front\n", to);
	for (int i = 0; i < t->rows; i++) {
		const struct bench_row *r = &t->row[i];

		fprintf(to, "%s,%s,%zu,%zu,%.4f", r->choice.name,
			library_of(r->choice.filter, buf), t->bytes, r->packed, r->ratio);
		side_csv(&r->pack, to);
		side_csv(&r->unpack, to);
		putc('\n', to);
	}
}
