// SPDX-License-Identifier: Apache-2.0
/*
 * convert_bench.c - converting stored records against packing them with LZ4
 *
 *	convert_bench [NAME=FILE...]
 *
 * Records of 4,096 and 65,536 bytes, at most 2 MiB of them a FILE.  In turn, in
 * one process, spans of about 20 ms of thread CPU time:
 *
 *	peer	LZ4_compress_default of the decoded record alone
 *	repack	convert_record() from liblz4's block to lzvolt, level 1, verified,
 *		with the check that an .lzv stream has
 *	bare	the same without verification
 *
 * All with --favor=size, which is vconvert's default.
 *
 * Prints MB/s of the peer, repack / peer (median, range), what verification
 * costs, and the sizes of repack at levels 1 and 3 against LZ4's.
 */
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record_convert.h"

#define ROUNDS		7
#define SPAN_NS		20e6
#define SET_BYTES	(2 << 20)

struct set {
	uint8_t *raw;
	struct frecord *rec;
	size_t count, size;
	uint8_t *out;
	struct converter *checked, *bare, *small;
};

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "convert_bench: %s\n", what);
	exit(1);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void run_peer(struct set *s, size_t i)
{
	must(LZ4_compress_default((char *)s->raw + i * s->size, (char *)s->out,
				  (int)s->size, (int)convert_room(s->size)) > 0, "LZ4");
}

static uint64_t convert(struct set *s, struct converter *c, size_t i)
{
	struct filter_error err;
	struct frecord out;

	must(convert_record(c, &s->rec[i], s->size, s->out, &out, &err) >= 0, err.what);
	return out.it.body_size;
}

static void run_checked(struct set *s, size_t i)
{
	convert(s, s->checked, i);
}

static void run_bare(struct set *s, size_t i)
{
	convert(s, s->bare, i);
}

static double span(struct set *s, void (*run)(struct set *, size_t))
{
	double start = now_ns(), end;
	size_t bytes = 0, i;

	do {
		for (i = 0; i < s->count; i++)
			run(s, i);
		bytes += s->count * s->size;
		end = now_ns();
	} while (end - start < SPAN_NS);
	return bytes * 1e3 / (end - start);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double total(struct set *s, struct converter *c)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < s->count; i++)
		sum += convert(s, c, i);
	return sum;
}

static void measure(struct set *s, const char *name)
{
	double peer[ROUNDS], ratio[ROUNDS], cost[ROUNDS], lz4 = 0;
	size_t i;

	for (i = 0; i < ROUNDS; i++) {
		double with, without;

		peer[i] = span(s, run_peer);
		with = span(s, run_checked);
		without = span(s, run_bare);
		ratio[i] = with / peer[i];
		cost[i] = 100 * (1 - with / without);
	}
	qsort(peer, ROUNDS, sizeof(*peer), by_value);
	qsort(ratio, ROUNDS, sizeof(*ratio), by_value);
	qsort(cost, ROUNDS, sizeof(*cost), by_value);
	for (i = 0; i < s->count; i++)
		lz4 += s->rec[i].it.body_size;
	printf("%-10s %6zu %6.0f  %.2f (%.2f-%.2f)  %4.0f %%  %5.1f %% %5.1f %%\n", name,
	       s->size, peer[ROUNDS / 2], ratio[ROUNDS / 2], ratio[0],
	       ratio[ROUNDS - 1], cost[ROUNDS / 2], 100 * total(s, s->checked) / lz4,
	       100 * total(s, s->small) / lz4);
}

static struct converter *open_at(const struct framing *into, int level, bool verify)
{
	struct convert_options o = {
		.to = LZV_LZVOLT, .verify = verify, .check = true, .into = into,
	};
	struct converter *c;

	filter_params_init(&o.params);
	o.params.level = level;
	o.params.favor = 1;
	c = converter_open(&o);
	must(c != NULL, "no memory");
	return c;
}

static void record_make(struct set *s, size_t i)
{
	int n = LZ4_compress_default((char *)s->raw + i * s->size, (char *)s->out,
				     (int)s->size, (int)convert_room(s->size));
	uint8_t *p = malloc(n);

	must(p && n > 0, "no memory");
	memcpy(p, s->out, n);
	s->rec[i] = (struct frecord){
		.what = FRECORD_ITEM, .sized = true,
		.it = { .encoding = LZV_LZ4, .raw_size = s->size, .body = p,
			.body_size = n },
	};
}

static void bench(const char *name, uint8_t *p, size_t len, size_t size)
{
	struct set s = { .raw = p, .size = size, .count = len / size };
	struct framing into;
	size_t i;

	if (!s.count)
		return;
	framing_parse(&into, "lzv");
	s.rec = calloc(s.count, sizeof(*s.rec));
	s.out = malloc(convert_room(size));
	must(s.rec && s.out, "no memory");
	for (i = 0; i < s.count; i++)
		record_make(&s, i);
	s.checked = open_at(&into, 1, true);
	s.bare = open_at(&into, 1, false);
	s.small = open_at(&into, 3, true);
	measure(&s, name);
	for (i = 0; i < s.count; i++)
		free((void *)(uintptr_t)s.rec[i].it.body);
	converter_close(s.checked);
	converter_close(s.bare);
	converter_close(s.small);
	free(s.rec);
	free(s.out);
}

int main(int argc, char **argv)
{
	uint8_t *p = malloc(SET_BYTES);

	must(p != NULL, "no memory");
	printf("%-10s %6s %6s  %-16s  %6s  %s\n", "input", "bytes", "LZ4",
	       "repack / LZ4", "verify", "size at 1, 3 / LZ4");
	while (--argc) {
		char *name = *++argv, *file = strchr(name, '=');
		size_t n;
		FILE *f;

		must(file != NULL, "NAME=FILE wanted");
		*file++ = '\0';
		f = fopen(file, "rb");
		must(f != NULL, file);
		n = fread(p, 1, SET_BYTES, f);
		fclose(f);
		bench(name, p, n, 4096);
		bench(name, p, n, 65536);
	}
	free(p);
	return 0;
}
