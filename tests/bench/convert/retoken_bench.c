// SPDX-License-Identifier: Apache-2.0
/*
 * retoken_bench.c - conversion without search against decode and pack again
 *
 *	retoken_bench [NAME=FILE...]
 *
 * Each FILE is cut in pieces of 512, 4,096 and 65,536 bytes, at most 2 MiB of
 * them, so that the branch predictor can't learn one value by heart.  In turn,
 * in one process, spans of about 20 ms of thread CPU time:
 *
 *	peer	LZ4_decompress_safe + LZ4_compress_default, the way one would go
 *		from LZ4 to LZ4 by hand
 *	from	lzvolt_from_lz4 of liblz4's blocks
 *	to	lzvolt_to_lz4 of those values
 *	native	lzvolt_to_lz4 of values packed at level 3
 *
 * Prints MB/s of raw bytes, the ratio to the peer (median of the rounds, range)
 * and the sizes.
 */
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lzvolt.h"

#define ROUNDS		9
#define SPAN_NS		20e6
#define SET_BYTES	(2 << 20)

struct piece {
	uint8_t *raw, *lz4, *value, *native;
	int n, lz4_len;
	int64_t value_len, native_len;
};

struct set {
	struct piece *piece;
	size_t count, raw;
	size_t lz4, value, native, native_count;
	uint8_t *out, *out2;
	size_t cap;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void must(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "retoken_bench: %s\n", what);
	exit(1);
}

static void *keep(const void *p, size_t n)
{
	void *q = malloc(n ? n : 1);

	must(q != NULL, "no memory");
	return memcpy(q, p, n);
}

static void piece_make(struct set *s, struct piece *p, const uint8_t *raw, size_t n)
{
	p->raw = keep(raw, n);
	p->n = (int)n;
	p->lz4_len = LZ4_compress_default((char *)raw, (char *)s->out, p->n, (int)s->cap);
	p->lz4 = keep(s->out, p->lz4_len);
	p->value_len = lzvolt_from_lz4(p->lz4, p->lz4_len, n, s->out, s->cap);
	must(p->value_len > 0, "from_lz4");
	p->value = keep(s->out, p->value_len);
	p->native_len = lzvolt_compress_level(NULL, raw, n, s->out, s->cap, 3);
	must(p->native_len >= 0, "compress");
	p->native = keep(s->out, p->native_len);
	s->raw += n;
	s->lz4 += p->lz4_len;
	s->value += p->value_len;
	s->native += p->native_len ? (size_t)p->native_len : n;
	s->native_count += p->native_len > 0;
}

static size_t run_peer(struct set *s, struct piece *p)
{
	int n = LZ4_decompress_safe((char *)p->lz4, (char *)s->out2, p->lz4_len, p->n);

	must(n == p->n, "decompress");
	must(LZ4_compress_default((char *)s->out2, (char *)s->out, n, (int)s->cap) > 0,
	     "compress_default");
	return p->n;
}

static size_t run_from(struct set *s, struct piece *p)
{
	must(lzvolt_from_lz4(p->lz4, p->lz4_len, p->n, s->out, p->lz4_len + 4) ==
	     p->value_len, "from_lz4");
	return p->n;
}

static size_t run_to(struct set *s, struct piece *p)
{
	must(lzvolt_to_lz4(p->value, p->value_len, s->out, s->cap) == p->lz4_len,
	     "to_lz4");
	return p->n;
}

static size_t run_native(struct set *s, struct piece *p)
{
	if (!p->native_len)
		return 0;
	must(lzvolt_to_lz4(p->native, p->native_len, s->out, s->cap) > 0, "native");
	return p->n;
}

static size_t (*const runs[])(struct set *, struct piece *) = {
	run_peer, run_from, run_to, run_native,
};
#define RUNS (sizeof(runs) / sizeof(*runs))

/* MB/s of one span. */
static double span(struct set *s, size_t (*run)(struct set *, struct piece *))
{
	double start = now_ns(), end;
	size_t bytes = 0, i;

	do {
		for (i = 0; i < s->count; i++)
			bytes += run(s, &s->piece[i]);
		end = now_ns();
	} while (end - start < SPAN_NS);
	return bytes * 1e3 / (end - start);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct set *s, const char *name, size_t size)
{
	double speed[ROUNDS][RUNS], column[ROUNDS];
	size_t r, i;

	for (i = 0; i < RUNS; i++)
		span(s, runs[i]);
	for (r = 0; r < ROUNDS; r++)
		for (i = 0; i < RUNS; i++)
			speed[r][i] = span(s, runs[i]);
	printf("%-16s %6zu", name, size);
	for (i = 0; i < RUNS; i++) {
		if (i == 3 && !s->native_count)
			continue;
		for (r = 0; r < ROUNDS; r++)
			column[r] = i ? speed[r][i] / speed[r][0] : speed[r][i];
		qsort(column, ROUNDS, sizeof(*column), by_value);
		printf(i ? "  %5.2f (%.2f-%.2f)" : "  %5.0f", column[ROUNDS / 2],
		       column[0], column[ROUNDS - 1]);
	}
	printf("  %.1f%% %.1f%% %.1f%%\n", 100.0 * s->lz4 / s->raw,
	       100.0 * s->value / s->lz4, 100.0 * s->native / s->lz4);
}

static void set_free(struct set *s)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		free(s->piece[i].raw);
		free(s->piece[i].lz4);
		free(s->piece[i].value);
		free(s->piece[i].native);
	}
	free(s->piece);
	free(s->out);
	free(s->out2);
}

static void bench(const char *name, const uint8_t *p, size_t len, size_t size)
{
	struct set s = { .cap = LZ4_compressBound((int)size) + size + 64 };
	size_t at;

	s.piece = calloc(len / size + 1, sizeof(*s.piece));
	s.out = malloc(s.cap);
	s.out2 = malloc(s.cap);
	must(s.piece && s.out && s.out2, "no memory");
	for (at = 0; at + size <= len && at + size <= SET_BYTES; at += size)
		piece_make(&s, &s.piece[s.count++], p + at, size);
	if (s.count)
		measure(&s, name, size);
	set_free(&s);
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = { 512, 4096, 65536 };
	uint8_t *p = malloc(SET_BYTES);
	size_t i, n;

	must(p != NULL, "no memory");
	printf("%-16s %6s  %5s  %16s  %16s  %16s  lz4/raw value/lz4 native/lz4\n",
	       "input", "bytes", "peer", "from", "to", "native to");
	for (; --argc; ) {
		char *name = *++argv, *file = strchr(name, '=');
		FILE *f;

		must(file != NULL, "NAME=FILE wanted");
		*file++ = '\0';
		f = fopen(file, "rb");
		must(f != NULL, file);
		n = fread(p, 1, SET_BYTES, f);
		fclose(f);
		for (i = 0; i < 3; i++)
			bench(name, p, n, sizes[i]);
	}
	free(p);
	return 0;
}
