/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_bench.c - --bench: codecs measured as a careful person would
 *
 * Everything is in memory and touched before it is timed.  A round measures
 * every row once, in an order drawn anew (from a seed that is printed), so a
 * machine that slows down slows all rows down alike.  The first round is
 * dropped; in it, results are compared with the input and the peak memory is
 * read.  One measurement repeats the run until SPAN has passed.  Medians are
 * told with the least and the most, and ranges that touch are called equal.
 *
 * Speed is wall time of one call after the other; CPU seconds are those of
 * the process, so a library's own threads show.  Memory is what the resident
 * set grew by at its peak, beside input and output.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vprobe_bench.h"

#define SPAN 0.05		/* seconds a measurement lasts at least */
#define GB 1e9

/* Input cut in blocks, and room for one row's packed blocks. */
struct arena {
	uint8_t *raw;
	size_t len, block, blocks;
	uint8_t *packed;		/* each block has stride bytes */
	size_t stride;
	size_t *packed_len;		/* equal to the raw length: stored */
	uint8_t *back;			/* unpacked */
	size_t back_cap;
};

static void arena_open(struct arena *a, uint8_t *raw, size_t len, size_t block)
{
	a->raw = raw;
	a->len = len;
	a->block = block && block < len ? block : len;
	a->blocks = (len + a->block - 1) / a->block;
	a->stride = a->block + a->block / 8 + ((size_t)64 << 10) + 64;
	a->packed = need(a->blocks * a->stride);
	a->packed_len = need(a->blocks * sizeof(*a->packed_len));
	a->back_cap = len + RUN_SLACK;
	a->back = need(a->back_cap);
	memset(a->packed, 1, a->blocks * a->stride);
	memset(a->back, 1, a->back_cap);
}

static void arena_close(struct arena *a)
{
	free(a->raw);
	free(a->packed);
	free(a->packed_len);
	free(a->back);
}

static size_t block_len(const struct arena *a, size_t i)
{
	return i + 1 < a->blocks ? a->block : a->len - i * a->block;
}

/* Packs all blocks once; returns their bytes. */
static size_t pack_once(struct coder_run *r, struct arena *a, unsigned *stored)
{
	struct filter_error err;
	size_t sum = 0;

	*stored = 0;
	for (size_t i = 0; i < a->blocks; i++) {
		const uint8_t *src = a->raw + i * a->block;
		uint8_t *dst = a->packed + i * a->stride;
		size_t n = block_len(a, i);
		ptrdiff_t got = run_code(r, src, n, n, dst, a->stride, &err);

		if (got == FILTER_E_REFUSED) {
			memcpy(dst, src, n);
			got = (ptrdiff_t)n;
			++*stored;
		} else if (got < 0) {
			die("%s: can't pack: %s", r->choice->name, err.what);
		}
		a->packed_len[i] = (size_t)got;
		sum += (size_t)got;
	}
	return sum;
}

static void unpack_once(struct coder_run *r, struct arena *a, unsigned stored)
{
	struct filter_error err;

	for (size_t i = 0; i < a->blocks; i++) {
		const uint8_t *src = a->packed + i * a->stride;
		uint8_t *dst = a->back + i * a->block;
		size_t n = block_len(a, i);

		if (stored && a->packed_len[i] == n)
			memcpy(dst, src, n);
		else if (run_code(r, src, a->packed_len[i], n, dst,
				  a->back_cap - i * a->block, &err) != (ptrdiff_t)n)
			die("%s: can't unpack what it packed: %s", r->choice->name, err.what);
	}
}

static double wall_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Bytes of a line of /proc/self/status, 0 = not there. */
static uint64_t status_bytes(const char *key)
{
	char line[128];
	unsigned long long kib = 0;
	FILE *f = fopen("/proc/self/status", "re");

	while (f && !kib && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			sscanf(line + strlen(key), ": %llu", &kib);
	if (f)
		fclose(f);
	return kib << 10;
}

/* Makes the peak start from here; the resident set, 0 where that can't be. */
static uint64_t peak_start(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, "5", 1) == 1;

	malloc_trim(0);
	if (fd >= 0)
		close(fd);
	return done ? status_bytes("VmRSS") : 0;
}

static uint64_t peak_end(uint64_t start)
{
	uint64_t peak = status_bytes("VmHWM");

	return start && peak >= start ? peak - start : SIZE_UNKNOWN;
}

/* The dropped round of one row: results checked, memory read. */
static void row_first(struct bench_row *row, struct arena *a)
{
	struct coder_run r;
	uint64_t start = peak_start();

	run_open(&r, &row->choice, false, NULL, 0);
	row->packed = pack_once(&r, a, &row->stored);
	row->pack.memory = peak_end(start);
	run_close(&r);
	row->ratio = (double)a->len / (double)(row->packed ? row->packed : 1);
	start = peak_start();
	run_open(&r, &row->choice, true, NULL, 0);
	unpack_once(&r, a, row->stored);
	row->unpack.memory = peak_end(start);
	run_close(&r);
	if (memcmp(a->raw, a->back, a->len))
		die("%s: unpacked bytes differ from the input", row->choice.name);
}

static void side_measure(struct bench_row *row, struct bench_side *s, struct arena *a,
			 bool unpack, int round)
{
	double wall, cpu;
	struct coder_run r;
	unsigned runs = 0;

	run_open(&r, &row->choice, unpack, NULL, 0);
	cpu = cpu_seconds();
	wall = wall_seconds();
	do {
		if (unpack)
			unpack_once(&r, a, row->stored);
		else
			pack_once(&r, a, &row->stored);
		runs++;
		s->wall[round] = wall_seconds() - wall;
	} while (s->wall[round] < SPAN);
	s->cpu[round] = (cpu_seconds() - cpu) / runs;
	s->wall[round] /= runs;
	run_close(&r);
}

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s * 0x2545f4914f6cdd1dull >> 33;
}

static void shuffle(int *order, int n, uint64_t *seed)
{
	for (int i = 0; i < n; i++)
		order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = (int)(next_random(seed) % (uint64_t)(i + 1)), was = order[i];

		order[i] = order[k];
		order[k] = was;
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *sorted, int n)
{
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static void side_end(struct bench_side *s, int rounds, size_t bytes)
{
	qsort(s->wall, (size_t)rounds, sizeof(double), by_value);
	qsort(s->cpu, (size_t)rounds, sizeof(double), by_value);
	s->speed = (struct range){ (double)bytes / s->wall[rounds - 1],
				   (double)bytes / median(s->wall, rounds),
				   (double)bytes / s->wall[0] };
	s->cpu_gb = median(s->cpu, rounds) / ((double)bytes / GB);
}

/* On the front: no row has a better ratio and at least the speed, or the reverse. */
static bool on_front(const struct bench_table *t, int i, bool unpack)
{
	const struct bench_row *a = &t->row[i];
	double v = unpack ? a->unpack.speed.mid : a->pack.speed.mid;

	for (int k = 0; k < t->rows; k++) {
		const struct bench_row *b = &t->row[k];
		double w = unpack ? b->unpack.speed.mid : b->pack.speed.mid;

		if (b->ratio >= a->ratio && w >= v && (b->ratio > a->ratio || w > v))
			return false;
	}
	return true;
}

/* A terminal is told where it is; nobody else wants to know. */
static void progress_say(const struct bench_table *t, int round, const char *what)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (what)
		fprintf(stderr, "\rround %d of %d: %-12s", round + 2, t->rounds + 1, what);
	else
		fprintf(stderr, "\r%40s\r", "");
}

static void table_measure(struct bench_table *t, struct arena *a)
{
	uint64_t seed = t->seed;
	int order[CHOICES_MAX];

	for (int round = -1; round < t->rounds; round++) {
		shuffle(order, t->rows, &seed);
		for (int k = 0; k < t->rows; k++) {
			struct bench_row *row = &t->row[order[k]];

			progress_say(t, round, row->choice.name);
			if (round < 0) {
				row_first(row, a);
				continue;
			}
			side_measure(row, &row->pack, a, false, round);
			side_measure(row, &row->unpack, a, true, round);
		}
	}
	progress_say(t, 0, NULL);
	for (int i = 0; i < t->rows; i++) {
		side_end(&t->row[i].pack, t->rounds, a->len);
		side_end(&t->row[i].unpack, t->rounds, a->len);
	}
	for (int i = 0; i < t->rows; i++) {
		t->row[i].pack.front = on_front(t, i, false);
		t->row[i].unpack.front = on_front(t, i, true);
	}
}

/* The processor's name; "" where the kernel doesn't tell. */
static const char *cpu_name(void)
{
	static char line[256];
	FILE *f = fopen("/proc/cpuinfo", "re");
	char *name = NULL;

	while (f && !name && fgets(line, sizeof(line), f))
		if (!strncmp(line, "model name", 10) && (name = strchr(line, ':')))
			name += 2;
	if (f)
		fclose(f);
	if (!name)
		return "";
	name[strcspn(name, "\n")] = 0;
	return name;
}

static uint64_t seed_of(const char *text)
{
	char *end;
	uint64_t seed;

	if (!text)
		return (uint64_t)(wall_seconds() * 1e9) % 1000000007u + 1;
	errno = 0;
	seed = strtoull(text, &end, 10);
	if (end == text || *end || errno || !seed || *text == '-')
		die("--seed needs a number from 1 on, not '%s'", text);
	return seed;
}

static bool svg_write(const struct bench_table *t, const char *path)
{
	struct output_options oo = { .force = true };
	struct output out;
	size_t len;
	char *svg;
	int r, closed;

	if (output_open(&out, path, &oo))
		return false;
	svg = bench_svg(t, &len);
	r = output_write(&out, svg, len);
	closed = output_close(&out, &oo, !r);
	free(svg);
	if (r || closed)
		say_errno(path, "can't write", r ? -r : -closed);
	return !r && !closed;
}

static bool bench_show(const struct bench_table *t, const struct bench_options *o)
{
	if (common.json)
		bench_json(t, stdout);
	else if (o->csv)
		bench_csv(t, stdout);
	else
		bench_print(t, stdout);
	if (o->plot)
		bench_plot(t, stdout);
	return !o->svg || svg_write(t, o->svg);
}

#define BENCH_DEFAULT "lz4:1,9,lzv:1,3,6,gzip:1,6,9,zstd:1,3,9,19,brotli:1,5,9"

bool bench_file(const char *path, const struct bench_options *o)
{
	static struct bench_table t;
	static struct choice choice[CHOICES_MAX];
	char *list = codecs_or(BENCH_DEFAULT);
	struct arena a = { .len = 0 };
	uint8_t *raw;
	bool done;

	memset(&t, 0, sizeof(t));
	t.rows = choices_parse(list, choice);
	free(list);
	t.seed = seed_of(o->seed);
	if (!load_all(path, &raw, &t.bytes))
		return false;
	if (!t.bytes) {
		free(raw);
		say_error(path, "nothing to measure: it is empty");
		return false;
	}
	t.name = strcmp(path, "-") ? path : IO_STDIN_NAME;
	t.cpu = cpu_name();
	t.rounds = o->rounds;
	arena_open(&a, raw, t.bytes, o->block);
	t.block = a.block < a.len ? a.block : 0;
	for (int i = 0; i < t.rows; i++)
		t.row[i].choice = choice[i];
	table_measure(&t, &a);
	done = bench_show(&t, o);
	arena_close(&a);
	return done;
}
