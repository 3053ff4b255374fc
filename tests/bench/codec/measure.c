/* SPDX-License-Identifier: Apache-2.0 */
/*
 * measure.c - the time of each column over one row
 *
 * One arena, mapped and touched once: the same addresses for every row, so
 * that page colours and huge pages are the same for every cell.  Packed values
 * lie one behind the other, as in a store; there is one output buffer.  A
 * round gives every column one span of thread CPU time, in turn; a ratio
 * divides two spans of one round.  The first round warms up and isn't counted.
 */
#include "bench.h"

#include "lzvolt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define ARENA_BYTES	((size_t)64 << 20)
/* Keeps buffers apart in the low 12 bits of their addresses. */
#define STAGGER		(4096 + 1088)

struct lane {			/* one column's packed values */
	const struct column *col;
	uint8_t *bytes;
	uint32_t *at;		/* count + 1 of them */
	uint8_t *stored;	/* per value: 1 = refused, kept raw */
	size_t next;		/* the value to take next */
	size_t calls;		/* in a span */
};

static uint8_t *arena;
static size_t arena_used;

static void *take(size_t bytes)
{
	uint8_t *p;

	if (!arena) {
		arena = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (arena == MAP_FAILED) {
			perror("codec: arena");
			exit(1);
		}
		madvise(arena, ARENA_BYTES, MADV_HUGEPAGE);
		memset(arena, 1, ARENA_BYTES);
	}
	p = arena + arena_used;
	arena_used += (bytes + STAGGER) & ~(size_t)63;
	if (arena_used > ARENA_BYTES) {
		fprintf(stderr, "codec: the arena is too small\n");
		exit(1);
	}
	return p;
}

/* What every packer of the table is content with; lz4_flex asks for most. */
static size_t pack_cap(size_t size)
{
	return size + size / 8 + 64;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static size_t out_cap(const struct set *set, const struct column *col, bool tight)
{
	if (!col->unpack)
		return pack_cap(set->size);
	return tight ? set->size : lzvolt_decompress_bound(set->size);
}

/* Packs one value to the end of bytes; refused ones are kept raw. */
static void lane_pack(struct lane *l, const struct set *set, size_t i,
		      struct cell *cell)
{
	const uint8_t *raw = set->raw + i * set->size;
	uint8_t *dst = l->bytes + l->at[i];
	size_t cap = pack_cap(set->size);
	int64_t n = l->col->pack(raw, set->size, dst, cap, set->size, l->col->arg);

	cell->broken |= n < 0;
	l->stored[i] = n <= 0;
	if (n <= 0) {
		memcpy(dst, raw, set->size);
		n = set->size;
		cell->refused++;
	}
	l->at[i + 1] = l->at[i] + n;
}

static void lane_check(const struct lane *l, const struct set *set, uint8_t *out,
		       size_t cap, struct cell *cell)
{
	for (size_t i = 0; i < set->count; i++) {
		int64_t n = set->size;

		if (l->stored[i] || !l->col->unpack)
			continue;
		memset(out, 0xA5, set->size);
		n = l->col->unpack(l->bytes + l->at[i], l->at[i + 1] - l->at[i],
				   out, cap, set->size, l->col->arg);
		cell->broken |= n != (int64_t)set->size ||
				memcmp(out, set->raw + i * set->size, set->size);
	}
}

static void lane_make(struct lane *l, const struct set *set,
		      const struct column *col, struct cell *cell)
{
	memset(l, 0, sizeof(*l));
	memset(cell, 0, sizeof(*cell));
	l->col = col;
	l->bytes = take(set->count * (pack_cap(set->size)));
	l->at = take((set->count + 1) * sizeof(*l->at));
	l->stored = take(set->count);
	l->at[0] = 0;
	for (size_t i = 0; i < set->count; i++)
		lane_pack(l, set, i, cell);
	cell->packed = (l->at[set->count] + set->count / 2) / set->count;
}

/* One call; true when the result is what it must be. */
static inline bool run_one(const struct lane *l, const struct set *set, size_t i,
			   uint8_t *out, size_t cap)
{
	const struct column *c = l->col;

	if (!c->unpack)
		return c->pack(set->raw + i * set->size, set->size, out, cap,
			       set->size, c->arg) >= 0;
	if (l->stored[i]) {
		memcpy(out, l->bytes + l->at[i], set->size);
		__asm__ volatile("" : : "r"(out) : "memory");
		return true;
	}
	return c->unpack(l->bytes + l->at[i], l->at[i + 1] - l->at[i], out, cap,
			 set->size, c->arg) == (int64_t)set->size;
}

/* ns a call, over l->calls calls. */
static double span(struct lane *l, const struct set *set, uint8_t *out,
		   size_t cap, bool rotating, struct cell *cell)
{
	double start = now_ns();
	size_t i = l->next;
	bool good = true;

	for (size_t n = l->calls; n; n--) {
		good &= run_one(l, set, i, out, cap);
		i += rotating;
		if (i == set->count)
			i = 0;
	}
	l->next = i;
	cell->broken |= !good;
	return (now_ns() - start) / l->calls;
}

/* Doubles the number of calls until they fill a span. */
static void calibrate(struct lane *l, const struct set *set, uint8_t *out,
		      size_t cap, const struct measure_wish *wish,
		      struct cell *cell)
{
	double ns, want = wish->span_ms * 1e6;

	for (l->calls = 1;; l->calls *= 2) {
		ns = span(l, set, out, cap, wish->rotating, cell) * l->calls;
		if (ns > want / 4)
			break;
	}
	l->calls = l->calls * want / ns + 1;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void cell_finish(struct cell *cell, const struct set *set, double *ns,
			const double *base_ns, int rounds)
{
	double ratio[ROUNDS_MAX];

	for (int r = 0; r < rounds; r++)
		ratio[r] = base_ns[r] / ns[r];
	qsort(ratio, rounds, sizeof(*ratio), by_value);
	cell->ratio[0] = ratio[rounds / 2];
	cell->ratio[1] = ratio[0];
	cell->ratio[2] = ratio[rounds - 1];
	memcpy(ratio, ns, rounds * sizeof(*ratio));
	qsort(ratio, rounds, sizeof(*ratio), by_value);
	cell->rate = set->size / ratio[rounds / 2];
}

void measure(const struct set *set, const struct column *col, size_t columns,
	     const struct measure_wish *wish, struct cell *cells)
{
	static double ns[COLUMNS_MAX][ROUNDS_MAX];
	struct lane lanes[COLUMNS_MAX];
	struct set placed = *set;
	uint8_t *out;

	arena_used = 0;
	placed.raw = take(set->size * set->count);
	memcpy(placed.raw, set->raw, set->size * set->count);
	out = take(2 * set->size + 4096);
	for (size_t c = 0; c < columns; c++) {
		size_t cap = out_cap(set, &col[c], wish->tight);

		lane_make(&lanes[c], &placed, &col[c], &cells[c]);
		lane_check(&lanes[c], &placed, out, cap, &cells[c]);
		calibrate(&lanes[c], &placed, out, cap, wish, &cells[c]);
	}
	for (int r = 0; r < wish->rounds; r++)
		for (size_t c = 0; c < columns; c++)
			ns[c][r] = span(&lanes[c], &placed, out,
					out_cap(set, &col[c], wish->tight),
					wish->rotating, &cells[c]);
	for (size_t c = 0; c < columns; c++)
		cell_finish(&cells[c], set, ns[c], ns[0], wish->rounds);
}

void measure_sizes(const struct set *set, const struct column *col,
		   size_t columns, struct cell *cells)
{
	struct lane lane;

	for (size_t c = 0; c < columns; c++) {
		arena_used = 0;
		lane_make(&lane, set, &col[c], &cells[c]);
	}
}
