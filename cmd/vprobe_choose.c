/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_choose.c - --for: which codec and level cost least
 *
 * Each goal is a row: the formula (cost.h), the codecs that make sense there
 * and what holds where the user said nothing.  Choices are sorted by cost;
 * one whose range touches the winner's can't be told from it, and that is what
 * the table says.  Nothing that saves less than an eighth is ever recommended.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vprobe.h"

#define WORTH_RATIO (8.0 / 7)	/* an eighth saved */
#define REPEATS 5
#define SWAPS 5		/* runners-up whose swap with the winner is told */

static const struct goal {
	enum cost_goal goal;
	const char *words;	/* the heading */
	const char *codecs;
	const char *unit;	/* what the cost is */
} goals[] = {
	{ COST_TRANSPORT, "transport",
	  "lz4:1,9,lzv:1,3,6,gzip:1,6,zstd:-5,1,3,6,9,brotli:1,5", "time" },
	{ COST_STORAGE, "storage",
	  "lz4:1,12,lzv:3,9,gzip:6,9,zstd:1,3,9,19,brotli:5,9,xz:6", "money" },
	{ COST_READ_HEAVY, "reading", "lz4:1,9,12,lzv:1,3,9,gzip:6,zstd:1,3,9,19", "time a read" },
	{ COST_WEB_STATIC, "the web, files packed ahead",
	  "gzip:6,9,zstd:9,19,brotli:5,9,11", "time" },
	{ COST_WEB_DYNAMIC, "the web, answers packed as they go",
	  "gzip:1,6,zstd:1,3,6,brotli:1,4,5", "time" },
};

/* "1.5" and what follows it; false when there is no number. */
static bool number(const char *text, double *x, const char **unit)
{
	char *end;

	errno = 0;
	*x = strtod(text, &end);
	*unit = end;
	return end != text && !errno && *x >= 0 && isfinite(*x) &&
	       isdigit((unsigned char)text[strspn(text, ".")]);
}

struct unit {
	const char *name;
	double factor;
};

static double with_unit(const char *option, const char *text, const struct unit *u,
			const char *example)
{
	const char *unit;
	double x;

	if (number(text, &x, &unit))
		for (; u->name; u++)
			if (!strcmp(u->name, unit))
				return x * u->factor;
	die("--%s needs a number and a unit such as %s, not '%s'", option, example, text);
}

/* Bytes a second; bits are decimal, as networks count them. */
static double bandwidth(const char *option, const char *text)
{
	static const struct unit units[] = {
		{ "bit", 0.125 }, { "kbit", 125 }, { "Mbit", 125e3 }, { "Gbit", 125e6 },
		{ "bit/s", 0.125 }, { "kbit/s", 125 }, { "Mbit/s", 125e3 },
		{ "Gbit/s", 125e6 }, { "B/s", 1 }, { "kB/s", 1e3 }, { "MB/s", 1e6 },
		{ "GB/s", 1e9 }, { "KiB/s", 1024 }, { "MiB/s", 1048576 },
		{ "GiB/s", 1073741824 }, { NULL, 0 },
	};
	double x = with_unit(option, text, units, "100Mbit or 200MB/s");

	if (x <= 0)
		die("--%s: nothing passes at %s", option, text);
	return x;
}

static double duration(const char *text)
{
	static const struct unit units[] = {
		{ "s", 1 }, { "ms", 1e-3 }, { "us", 1e-6 }, { NULL, 0 },
	};

	return with_unit("rtt", text, units, "10ms");
}

static double count(const char *text)
{
	const char *unit;
	double x;

	if (!number(text, &x, &unit) || *unit)
		die("--reads needs a number, not '%s'", text);
	return x;
}

/* "storage=0.02,cpu=0.05,months=12", any of them. */
static void price_parse(const char *text, struct cost_price *p)
{
	struct { const char *name; double *dest; } keys[] = {
		{ "storage=", &p->storage }, { "cpu=", &p->cpu }, { "months=", &p->months },
	};
	char *copy = need(strlen(text) + 1), *rest = copy, *w;

	strcpy(copy, text);
	while ((w = strsep(&rest, ","))) {
		const char *unit = NULL;

		for (size_t i = 0; i < 3 && !unit; i++)
			if (!strncmp(w, keys[i].name, strlen(keys[i].name)) &&
			    !number(w + strlen(keys[i].name), keys[i].dest, &unit))
				unit = NULL;
		if (!unit || *unit)
			die("--price: '%s' is none of storage=X, cpu=X, months=X", w);
	}
	free(copy);
}

static struct cost_terms terms_of(const struct goal *g, const struct choose_options *o,
				  double size)
{
	bool web = g->goal == COST_WEB_STATIC || g->goal == COST_WEB_DYNAMIC;
	struct cost_terms t = {
		.goal = g->goal, .size = size, .reads = 1,
		.price = { .storage = 0.02, .cpu = 0.05, .months = 12 },
		.link = { .bandwidth = web ? 6.25e6 : g->goal == COST_READ_HEAVY ? 500e6 : 125e6,
			  .rtt = web ? 0.02 : 0 },
	};

	if (o->bandwidth)
		t.link.bandwidth = bandwidth("bandwidth", o->bandwidth);
	if (o->rtt)
		t.link.rtt = duration(o->rtt);
	if (o->reads)
		t.reads = count(o->reads);
	if (o->price)
		price_parse(o->price, &t.price);
	if (o->write_budget)
		t.write_budget = bandwidth("write-budget", o->write_budget);
	return t;
}

/* A row of the table. */
struct row {
	const struct estimate *e;	/* NULL = stored */
	struct range cost;
	bool allowed;			/* by the write budget */
	bool worth;			/* saves an eighth; storing always is */
};

static struct row row_of(const struct cost_terms *t, const struct estimate *e)
{
	struct row r = { .e = e, .worth = !e || e->ratio >= WORTH_RATIO };
	struct cost_choice c = { .ratio = 1, .stored = true };
	struct range end;

	if (!e || e->refused) {
		r.allowed = cost_of(t, &c, &r.cost) && !e;
		return r;
	}
	c = (struct cost_choice){ e->ratio, e->pack, e->unpack, false };
	r.allowed = cost_of(t, &c, &r.cost);
	/* The sampling error of the ratio widens the range. */
	c.ratio = fmax(e->ratio - e->ratio_error, e->ratio / 2);
	cost_of(t, &c, &end);
	r.cost.high = end.high;
	c.ratio = e->ratio + e->ratio_error;
	cost_of(t, &c, &end);
	r.cost.low = end.low;
	return r;
}

static int by_cost(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int bad_x = !x->allowed || !x->worth, bad_y = !y->allowed || !y->worth;

	if (bad_x != bad_y)
		return bad_x - bad_y;
	return (x->cost.mid > y->cost.mid) - (x->cost.mid < y->cost.mid);
}

static const char *cost_text(char *buf, const struct cost_terms *t, double x)
{
	if (t->goal != COST_STORAGE)
		return format_time(buf, x);
	snprintf(buf, 24, "%.4g", x);
	return buf;
}

static void terms_print(const struct goal *g, const struct cost_terms *t,
			const struct finding *f)
{
	char a[24], b[24];

	printf("%s: for %s", f->name, g->words);
	if (t->goal == COST_STORAGE)
		printf(", %.0f reads; a GB and month %g, a CPU hour %g, %g months",
		       t->reads, t->price.storage, t->price.cpu, t->price.months);
	else
		printf(" at %s, RTT %s", format_speed(a, t->link.bandwidth),
		       format_time(b, t->link.rtt));
	if (t->write_budget > 0)
		printf(", packing at %s or more", format_speed(a, t->write_budget));
	printf("\n  %s\n", sample_whole(&f->sample) ? "measured on all of it" :
	       "estimated from a sample of it");
}

static void row_print(const struct cost_terms *t, const struct row *r, const char *note)
{
	char a[24], b[24], c[24], d[24], e[24];

	if (!r->e)
		printf("  %-10s %6s %12s %12s %14s  %10s  %s\n", "store", "1.00", "-", "-", "-",
		       cost_text(a, t, r->cost.mid), note);
	else if (r->e->refused)
		printf("  %-10s refuses: it finds too little to save\n", r->e->choice.name);
	else
		printf("  %-10s %6.2f %12s %12s %14s  %10s  %s (%s to %s)\n",
		       r->e->choice.name, r->e->ratio, format_speed(a, r->e->pack.mid),
		       format_speed(b, r->e->unpack.mid),
		       format_bits(c, cost_break_even(r->e->pack.mid, r->e->ratio)),
		       cost_text(d, t, r->cost.mid), note,
		       cost_text(e, t, r->cost.low),
		       cost_text((char[24]){ 0 }, t, r->cost.high));
}

static const char *note_of(const struct row *r, const struct row *best)
{
	if (!r->worth)
		return "saves too little";
	if (!r->allowed)
		return "packs too slowly";
	if (r == best)
		return "best";
	return range_overlap(&r->cost, &best->cost) ? "no difference" : "";
}

/* From how many reads on does what reads faster than the winner beat it? */
static void swaps_print(const struct cost_terms *t, const struct row *row, int n)
{
	const struct estimate *best = row[0].e;

	if (t->goal != COST_STORAGE || !best)
		return;
	for (int i = 1; i < n && i <= SWAPS; i++) {
		const struct estimate *e = row[i].e;
		double reads;

		if (!e || e->refused || !row[i].worth)
			continue;
		reads = cost_swap_reads(t->size / best->pack.mid, t->size / best->unpack.mid,
					t->size / e->pack.mid, t->size / e->unpack.mid);
		if (reads > 0 && isfinite(reads))
			printf("  in CPU time alone %s beats %s from N = %.0f reads on\n",
			       e->choice.name, best->choice.name, ceil(reads));
	}
}

/* A name as a shell takes it. */
static void shell_name_print(const char *name, FILE *to)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789._/+,:@%=-";

	if (*name && *name != '-' && !name[strspn(name, plain)]) {
		fputs(name, to);
		return;
	}
	fprintf(to, "'%s", name[0] == '-' ? "./" : "");
	for (; *name; name++) {
		if (*name == '\'')
			fputs("'\\''", to);
		else
			putc(*name, to);
	}
	putc('\'', to);
}

void command_print(const struct finding *f, const struct choice *c, FILE *to)
{
	fprintf(to, "vcompress %s", c->option);
	if (strcmp(f->name, IO_STDIN_NAME)) {
		putc(' ', to);
		shell_name_print(f->name, to);
	}
	putc('\n', to);
}

static void choose_print(const struct goal *g, const struct cost_terms *t,
			 const struct finding *f, const struct row *row, int n)
{
	terms_print(g, t, f);
	printf("  %-10s %6s %12s %12s %14s  %10s\n", "choice", "ratio", "packs", "unpacks",
	       "break-even", g->unit);
	for (int i = 0; i < n; i++)
		row_print(t, &row[i], note_of(&row[i], &row[0]));
	swaps_print(t, row, n);
	if (!row[0].e) {
		printf("  leave it as it is\n");
		return;
	}
	printf("  run: ");
	command_print(f, &row[0].e->choice, stdout);
}

static void row_json(struct json *j, const struct row *r, const char *note)
{
	json_open(j, NULL, '{');
	json_text(j, "choice", r->e ? r->e->choice.name : "store");
	json_real(j, "ratio", r->e ? r->e->ratio : 1, 4);
	json_real(j, "ratio_error", r->e ? r->e->ratio_error : 0, 4);
	json_real(j, "pack_speed", r->e ? r->e->pack.mid : INFINITY, 0);
	json_real(j, "unpack_speed", r->e ? r->e->unpack.mid : INFINITY, 0);
	json_real(j, "break_even", r->e ? cost_break_even(r->e->pack.mid, r->e->ratio) : 0, 0);
	json_real(j, "cost", r->cost.mid, 9);
	json_real(j, "cost_low", r->cost.low, 9);
	json_real(j, "cost_high", r->cost.high, 9);
	json_text(j, "note", note);
	json_close(j, '}');
}

static void choose_json(const struct goal *g, const struct cost_terms *t,
			const struct finding *f, const struct row *row, int n)
{
	struct json j;

	json_begin(&j, stdout);
	json_text(&j, "file", f->name);
	json_text(&j, "for", g->words);
	json_bool(&j, "sampled", !sample_whole(&f->sample));
	json_real(&j, "bandwidth", t->link.bandwidth, 0);
	json_real(&j, "rtt", t->link.rtt, 6);
	json_real(&j, "reads", t->reads, 0);
	json_text(&j, "best", row[0].e ? row[0].e->choice.name : "store");
	json_text(&j, "command", row[0].e ? row[0].e->choice.option : NULL);
	json_open(&j, "choices", '[');
	for (int i = 0; i < n; i++)
		row_json(&j, &row[i], note_of(&row[i], &row[0]));
	json_close(&j, ']');
	json_end(&j);
}

/* The codecs of the list that this program has, as a list again. */
static char *list_present(const char *list)
{
	char *copy = need(strlen(list) + 1), *out = need(strlen(list) + 2);
	char *rest = copy, *w;
	bool keep = false;

	strcpy(copy, list);
	*out = 0;
	while ((w = strsep(&rest, ","))) {
		if (isalpha((unsigned char)*w)) {
			char name[32];
			const struct filter *f;

			snprintf(name, sizeof(name), "%.*s", (int)strcspn(w, ":"), w);
			f = filter_by_name(name);
			keep = f && !f->missing && run_possible(f);
		}
		if (keep) {
			strcat(out, *out ? "," : "");
			strcat(out, w);
		}
	}
	free(copy);
	return out;
}

char *codecs_or(const char *list)
{
	return vprobe.codecs ? strdup(vprobe.codecs) : list_present(list);
}

static void choose_one(const struct finding *f, const struct goal *g,
		       const struct choose_options *o)
{
	static struct estimate e[CHOICES_MAX];
	static struct row row[CHOICES_MAX + 1];
	double size = (double)(f->size == SIZE_UNKNOWN ? f->sample.len : f->size);
	struct cost_terms t = terms_of(g, o, size);
	char *list = codecs_or(g->codecs);
	int n = estimate_all(f, list, REPEATS, e);

	free(list);
	for (int i = 0; i < n; i++)
		row[i] = row_of(&t, &e[i]);
	row[n++] = row_of(&t, NULL);
	qsort(row, (size_t)n, sizeof(*row), by_cost);
	if (common.json)
		choose_json(g, &t, f, row, n);
	else
		choose_print(g, &t, f, row, n);
}

const struct estimate *choose_quick(const struct finding *f, const struct estimate *e, int n)
{
	static const struct choose_options quick = { .bandwidth = "100Mbit" };
	struct cost_terms t = terms_of(&goals[0], &quick, (double)f->size);
	struct row best = row_of(&t, NULL);

	for (int i = 0; i < n; i++) {
		struct row r = row_of(&t, &e[i]);

		if (by_cost(&r, &best) < 0)
			best = r;
	}
	return best.e;
}

void choose(const struct finding *f, const struct choose_options *o)
{
	for (size_t i = 0; i < sizeof(goals) / sizeof(goals[0]); i++)
		if (o->goals & 1u << goals[i].goal)
			choose_one(f, &goals[i], o);
}
