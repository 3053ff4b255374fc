/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_scan.c - one pass over the bytes: entropy, matches, windows
 *
 * Three things are counted, each as cheaply as it can be while it means
 * something on gigabytes:
 *
 * order 0	every byte, in four interleaved histograms, so that equal
 *		neighbours don't wait for each other's store.  It is half of
 *		the work, so after BYTES_EXACT it is one unit in BYTES_SHARE,
 *		which then counts that many times; the error is told.
 * order 1	every pair of the first PAIRS_EXACT bytes, then of one unit in
 *		PAIRS_SHARE: a table of 64 Ki counts is a cache miss a byte.
 * matches	positions whose next 4 (8) bytes occurred before.  Positions
 *		are sampled by content: a gram is looked at if a hash of it
 *		has one value of 64 (of 512 after 4 MiB).  So either all occurrences
 *		of a gram are looked at or none, and a thin sample finds a
 *		repeat at any distance.  Runs of one byte would be in or out
 *		as a whole; they are counted apart.  The tables keep the last
 *		128 Ki sampled grams: 8 MiB of noise, and 64 MiB once the
 *		sample has become thin.
 *
 * 1 GiB, half words and half noise, from memory: 1.7 GB/s a core of a Zen 3 whose
 * other threads were busy, 2.6 GB/s at best (tests/probe/stats_test.c -b).
 *
 * Selection is done on 16 positions at a time in two vectors of 16-bit lanes
 * (even and odd positions): both halves of the gram times an odd number, added.
 */
#include "mem.h"
#include "probe.h"

#include <stddef.h>
#include <string.h>

#define BYTES_EXACT	((uint64_t)64 << 20)
#define BYTES_SHARE	4
#define PAIRS_EXACT	((uint64_t)8 << 20)
#define PAIRS_SHARE	32
#define FOLD_UNITS	(1u << 20)	/* before 32 bits run over */
#define GROUP		16		/* positions selected at a time */
#define GROUP_READS	(GROUP + 4)	/* bytes behind p that this looks at */
#define GRAM_LONG	8

/* A gram is sampled if the hash's bits of the mask have this value. */
#define GRAM_VALUE	0x5480
#define GRAM_BITS_DENSE	0xfc00	/* one in 64 */
#define GRAM_BITS_THIN	0xff80	/* one in 512, a part of those */
#define GRAMS_DENSE	4096	/* units until it gets thin: 4 MiB */
#define RUNS_SHARE	8	/* and runs are counted in one unit of so many */

typedef uint16_t lanes __attribute__((vector_size(16)));
typedef uint8_t bytes16 __attribute__((vector_size(16)));

static lanes lanes_load(const uint8_t *p)
{
	lanes v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* All ones in the lanes whose gram is sampled. */
static lanes lanes_select(const uint8_t *p, uint16_t bits)
{
	lanes h = lanes_load(p) * 0x9e37 + lanes_load(p + 2) * 0x6f4f;

	return (lanes)((h & bits) == (uint16_t)(GRAM_VALUE & bits));
}

/* 0xff in byte i of mask[] if the gram at p + i is sampled; false if none is. */
static bool group_select(const uint8_t *p, uint16_t bits, uint64_t mask[2])
{
	static const lanes low = { 255, 255, 255, 255, 255, 255, 255, 255 };
	lanes odd = lanes_select(p + 1, bits);
	lanes both = (lanes_select(p, bits) & low) | (odd & ~low);

	memcpy(mask, &both, sizeof(both));
	return mask[0] | mask[1];
}

static uint32_t slot(uint64_t hash)
{
	return (uint32_t)(hash >> (64 - PROBE_GRAM_BITS));
}

static void gram_take(struct probe_scan *s, const uint8_t *p)
{
	uint64_t wide = load_le64(p);
	uint32_t gram = (uint32_t)wide;
	uint64_t hash4 = gram * 0x9e3779b97f4a7c15ull;
	uint64_t hash8 = (wide ^ wide >> 29) * 0xbf58476d1ce4e5b9ull;
	uint32_t *s4 = &s->gram4[slot(hash4)], *s8 = &s->gram8[slot(hash8)];

	if (gram == (gram << 8 | gram >> 24))
		return;
	s->now.grams++;
	s->now.seen4 += *s4 == gram;
	s->now.seen8 += *s8 == (uint32_t)(hash8 >> 8);
	*s4 = gram;
	*s8 = (uint32_t)(hash8 >> 8);
}

static void half_take(struct probe_scan *s, const uint8_t *p, uint64_t mask)
{
	while (mask) {
		unsigned i = (unsigned)__builtin_ctzll(mask) / 8;

		gram_take(s, p + i);
		mask &= ~(0xffull << 8 * i);
	}
}

/* Bytes of the group that equal the three behind them. */
static unsigned group_runs(const uint8_t *p)
{
	bytes16 a, b, c, d, equal;
	uint64_t half[2];

	memcpy(&a, p, 16);
	memcpy(&b, p + 1, 16);
	memcpy(&c, p + 2, 16);
	memcpy(&d, p + 3, 16);
	equal = (bytes16)((a == b) & (a == c) & (a == d)) & 1;
	memcpy(half, &equal, sizeof(half));
	/* Sums of eight ones fit a byte: the product's top byte. */
	return (unsigned)(((half[0] + half[1]) * 0x0101010101010101ull) >> 56);
}

static void matches_take(struct probe_scan *s, const uint8_t *p, size_t n)
{
	uint16_t bits = s->units < GRAMS_DENSE ? GRAM_BITS_DENSE : GRAM_BITS_THIN;
	uint64_t mask[2];
	size_t i;

	for (i = 0; i + GROUP_READS + GRAM_LONG <= n; i += GROUP)
		if (group_select(p + i, bits, mask)) {
			half_take(s, p + i, mask[0]);
			half_take(s, p + i + 8, mask[1]);
		}
	if (s->units >= GRAMS_DENSE && s->units % RUNS_SHARE)
		return;
	for (size_t k = 0; k < i; k += GROUP)
		s->now.runs += group_runs(p + k);
	s->now.places += i;
}

static void hist_take(struct probe_scan *s, const uint8_t *p, size_t n)
{
	size_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		uint64_t v = load_le64(p + i);

		s->lane[0][v & 255]++;
		s->lane[1][v >> 8 & 255]++;
		s->lane[2][v >> 16 & 255]++;
		s->lane[3][v >> 24 & 255]++;
		s->lane[0][v >> 32 & 255]++;
		s->lane[1][v >> 40 & 255]++;
		s->lane[2][v >> 48 & 255]++;
		s->lane[3][v >> 56]++;
	}
	for (; i < n; i++)
		s->lane[0][p[i]]++;
}

static void pairs_take(struct probe_scan *s, const uint8_t *p, size_t n)
{
	size_t i = 0;
	unsigned before;

	if (s->before < 0)
		s->before = p[i++];
	before = (unsigned)s->before;
	s->pairs += n - i;
	for (; i < n; i++) {
		s->pair[before << 8 | p[i]]++;
		before = p[i];
	}
}

static bool pairs_wanted(const struct probe_scan *s)
{
	return s->units < PAIRS_EXACT / PROBE_UNIT || s->units % PAIRS_SHARE == 0;
}

void probe_counts_add(struct probe_counts *a, const struct probe_counts *b)
{
	for (unsigned i = 0; i < 256; i++)
		a->hist[i] += b->hist[i];
	a->bytes += b->bytes;
	a->runs += b->runs;
	a->places += b->places;
	a->grams += b->grams;
	a->seen4 += b->seen4;
	a->seen8 += b->seen8;
}

void probe_scan_fold(struct probe_scan *s)
{
	for (unsigned i = 0; i < 256; i++)
		s->now.hist[i] += ((uint64_t)s->lane[0][i] + s->lane[1][i] +
				   s->lane[2][i] + s->lane[3][i]) * s->weight;
	memset(s->lane, 0, sizeof(s->lane));
}

static void windows_join(struct probe_scan *s)
{
	for (unsigned i = 0; i < PROBE_WINDOWS / 2; i++) {
		s->window[i] = s->window[2 * i];
		probe_counts_add(&s->window[i], &s->window[2 * i + 1]);
	}
	s->windows = PROBE_WINDOWS / 2;
	s->window_size *= 2;
}

static void window_end(struct probe_scan *s)
{
	probe_scan_fold(s);
	s->window[s->windows++] = s->now;
	memset(&s->now, 0, sizeof(s->now));
	if (s->windows == PROBE_WINDOWS)
		windows_join(s);
}

/* Every BYTES_SHARE-th unit, but not of a fixed phase: records have widths. */
static bool unit_wanted(const struct probe_scan *s)
{
	uint64_t group = s->units / BYTES_SHARE;

	return s->units % BYTES_SHARE == (group * 0x9e3779b97f4a7c15ull) >> 62;
}

static void bytes_take(struct probe_scan *s, const uint8_t *p, size_t n)
{
	if (s->units == BYTES_EXACT / PROBE_UNIT) {
		probe_scan_fold(s);
		s->weight = BYTES_SHARE;
	}
	if (s->weight == 1 || unit_wanted(s))
		hist_take(s, p, n);
	s->now.bytes += n;
}

static void unit_take(struct probe_scan *s, const uint8_t *p, size_t n)
{
	bytes_take(s, p, n);
	matches_take(s, p, n);
	if (pairs_wanted(s))
		pairs_take(s, p, n);
	s->before = p[n - 1];
	s->units++;
	if (s->now.bytes >= s->window_size)
		window_end(s);
	else if (s->units % FOLD_UNITS == 0)
		probe_scan_fold(s);
}

void probe_scan_begin(struct probe_scan *s)
{
	memset(s, 0, sizeof(*s));
	s->window_size = PROBE_UNIT;
	s->weight = 1;
	s->before = -1;
}

void probe_scan_feed(struct probe_scan *s, const uint8_t *p, size_t n)
{
	if (s->unit_len) {
		size_t room = PROBE_UNIT - s->unit_len;
		size_t take = n < room ? n : room;

		memcpy(s->unit + s->unit_len, p, take);
		s->unit_len += take;
		p += take;
		n -= take;
		if (s->unit_len < PROBE_UNIT)
			return;
		unit_take(s, s->unit, PROBE_UNIT);
		s->unit_len = 0;
	}
	for (; n >= PROBE_UNIT; p += PROBE_UNIT, n -= PROBE_UNIT)
		unit_take(s, p, PROBE_UNIT);
	if (n)
		memcpy(s->unit, p, n);
	s->unit_len = n;
}

void probe_scan_gap(struct probe_scan *s)
{
	if (s->unit_len)
		unit_take(s, s->unit, s->unit_len);
	s->unit_len = 0;
	s->before = -1;
	s->gaps++;
}
