/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.c - is a block worth handing to a codec at all?
 *
 * One implementation for everybody: every packing codec with params.probe
 * asks it a block at a time, and vprobe shows its word beside the long scan.
 *
 * A wrong "incompressible" costs the user the saving; a wrong "compressible"
 * costs a few microseconds.  So three tests look for order of different
 * kinds, and only a block that none of them objects to is called
 * incompressible:
 *
 * pooled	how often two sampled bytes, wherever they stand, are equal.
 *		1/256 for packed data; base64, binary numbers, text and zero
 *		padding show far more.  A count of equal pairs needs no
 *		correction for small samples, as an entropy would.
 * ordered	windows whose own bytes repeat far more than chance allows:
 *		runs, smooth images, a text part inside noise.  The pool can
 *		miss them, because locally different alphabets add up to a
 *		flat histogram.
 * echoes	windows with six bytes that stood elsewhere in the sample: far
 *		copies, constant record heads.  Chance gives less than one in
 *		a million, so a single one counts.
 *
 * The sample is half windows, 16 bytes at a hashed place in each of equal
 * strides, so that no record width can hide its head between them; and half
 * runs as long as a stride.  Whatever distance a run's copy has, about one
 * window falls into it: that is how a thin sample sees a copy whose distance
 * nobody knows.  All of it depends on the bytes alone, thus packed output
 * does too.  Plain data is known after 16 windows.
 *
 * Measured, per cent called incompressible (tests/probe/incompressible.c
 * makes the kinds and guards the limits; 400 blocks each, 60 of the largest):
 *
 *			512	1 Ki	4 Ki	16 Ki	64 Ki	128 Ki	1 Mi
 * random		 97	 96	100	100	100	100	100
 * base64		 10	  0	  0	  0	  0	  0	  0
 * float32, audio	  5	  0	  0	  0	  0	  0	  0
 * 1/4 text in one	 45	 19	  0	  0	  0	  0	  0
 * 1/5 zeros, 32 B	 53	 32	  3	  0	  0	  0	  0
 * 1/4 constant head	 95	 94	 53	  9	  0	  0	  0
 * 1/2 a far copy	 97	 95	  0	  0	  0	  0	  0
 * 1/4 a far copy	 83	 88	 75	 78	  7	  0	  0
 *
 * Corpus: of 22,700 text, csv, json, log, ndjson, tar and sqlite blocks of
 * 1 KiB none is called incompressible, of 6,672 of an ELF 6; jpeg, png, zip, gz
 * and zst as whole files all are, of their 4 KiB cuts all but one of 160.  What
 * a sixteenth of a small block can't show (heads and copies below 64 KiB)
 * needs a codec's own fast parse.  Cost on random bytes, Zen 3: 0.4 us at
 * 512 bytes, 1.8 at 4 KiB, 13 at 64 KiB, 62 at 1 MiB.
 */
#include "filter.h"
#include "mem.h"

#include <stddef.h>
#include <string.h>

#define SMALLEST	((size_t)512)	/* less is always tried */
#define WINDOW		16u
#define WINDOWS_MAX	512u	/* 8 KiB, and as much in runs */
#define SAMPLE_SHARE	16u	/* at most one byte in so many is touched */
#define RUNS_FROM	8192u	/* smaller blocks have windows only */
#define FIRST_LOOK	16u	/* windows after which plain data is known */
#define GRAM		6u
#define GRAM_LOAD	8u
#define GRAM_BITS_MIN	8
#define GRAM_BITS_MAX	14

struct sample {
	uint32_t pool[256];		/* histogram of all windows */
	uint8_t local[256];		/* ... of one, cleared behind it */
	uint32_t windows;		/* taken so far */
	uint32_t ordered;		/* those with local order */
	uint32_t echoes;		/* those with a gram seen before */
	unsigned gram_bits;
	uint32_t gram[1u << GRAM_BITS_MAX];	/* fingerprints by hash */
};

/* The shift drops the two bytes that the load has too much. */
static uint64_t gram_hash(const uint8_t *p)
{
	return (load_le64(p) << (8 * (GRAM_LOAD - GRAM))) * 0x9e3779b185ebca87ull;
}

/* The slot comes from the hash's top, the fingerprint from below it. */
static uint32_t *gram_slot(struct sample *s, uint64_t hash)
{
	return &s->gram[hash >> (64 - s->gram_bits)];
}

static uint32_t gram_print(uint64_t hash)
{
	return (uint32_t)(hash >> 16) | 1;
}

static void grams_enter(struct sample *s, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i + GRAM_LOAD <= n; i++) {
		uint64_t hash = gram_hash(p + i);

		*gram_slot(s, hash) = gram_print(hash);
	}
}

static bool window_echoes(struct sample *s, const uint8_t *p)
{
	bool found = false;

	for (unsigned i = 0; i + GRAM_LOAD <= WINDOW; i++) {
		uint64_t hash = gram_hash(p + i);

		found |= *gram_slot(s, hash) == gram_print(hash);
	}
	return found;
}

/*
 * Pairs of equal bytes inside a window: 0.47 on average in noise, 7 and more
 * in text.  Noise has 5 or more in one window of 8,000.
 */
#define ORDERED_PAIRS 5

static unsigned window_pairs(struct sample *s, const uint8_t *p)
{
	unsigned pairs = 0;

	for (unsigned i = 0; i < WINDOW; i++) {
		pairs += s->local[p[i]]++;
		s->pool[p[i]]++;
	}
	for (unsigned i = 0; i < WINDOW; i++)
		s->local[p[i]] = 0;
	return pairs;
}

/* Looked up before entered: a window doesn't match itself. */
static void window_take(struct sample *s, const uint8_t *p)
{
	bool ordered = window_pairs(s, p) >= ORDERED_PAIRS;

	s->windows++;
	s->ordered += ordered;
	if (ordered)
		return;
	s->echoes += window_echoes(s, p);
	grams_enter(s, p, WINDOW);
}

/* Equal pairs against those of noise, with room for chance in small samples. */
static bool pool_is_flat(const struct sample *s)
{
	uint64_t n = (uint64_t)s->windows * WINDOW, pairs = 0, expected;

	for (unsigned i = 0; i < 256; i++)
		pairs += (uint64_t)s->pool[i] * s->pool[i];
	pairs = (pairs - n) / 2;
	expected = n * (n - 1) / 2 / 256;
	return pairs <= expected + expected * 3 / 8 + 3;
}

/* The trace that an eighth saved leaves: a twelfth of the windows ordered. */
static bool sample_is_plain(const struct sample *s)
{
	return s->ordered * 12 > s->windows || !pool_is_flat(s);
}

static size_t place(uint32_t i, size_t room)
{
	uint64_t h = (i + 1) * 0x9e3779b97f4a7c15ull;

	h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ull;
	return (h >> 32) % (room + 1);
}

/* The runs: evenly spread slots, one run at a hashed place in each. */
struct runs {
	size_t count, slot, len;
};

static struct runs runs_plan(size_t n, uint32_t windows)
{
	size_t paid = (size_t)windows * WINDOW, stride = n / windows;
	struct runs r = {0};

	if (n < RUNS_FROM)
		return r;
	r.len = paid < stride ? paid : stride;
	r.count = paid / r.len;
	r.slot = n / r.count;
	return r;
}

static size_t run_start(const struct runs *r, size_t i)
{
	return i * r->slot + place(i, r->slot - r->len);
}

/* Does the window at pos touch a run, thus its own bytes? */
static bool runs_touch(const struct runs *r, size_t pos)
{
	for (size_t i = 0; i < r->count; i++)
		if (pos + WINDOW > run_start(r, i) && pos < run_start(r, i) + r->len)
			return true;
	return false;
}

static void sample_init(struct sample *s, size_t sampled)
{
	s->gram_bits = GRAM_BITS_MIN;
	while (s->gram_bits < GRAM_BITS_MAX && 1u << s->gram_bits < sampled * 3 / 2)
		s->gram_bits++;
	memset(s, 0, offsetof(struct sample, gram_bits));
	memset(s->gram, 0, sizeof(uint32_t) << s->gram_bits);
}

/* An echo stands for all that the unsampled rest hides. */
static bool echoes_save(const struct sample *s, size_t n, size_t sampled)
{
	return s->echoes && s->echoes * (n / sampled) * 8 >= s->windows;
}

static bool windows_take(struct sample *s, const uint8_t *p, size_t n,
			 uint32_t windows, const struct runs *r)
{
	size_t stride = n / windows;

	for (uint32_t i = 0; i < windows; i++) {
		size_t pos = i * stride + place(i, stride - WINDOW);

		if (runs_touch(r, pos))
			continue;
		window_take(s, p + pos);
		if (i + 1 == FIRST_LOOK && sample_is_plain(s))
			return false;
	}
	return true;
}

static __attribute__((noinline)) bool incompressible(const uint8_t *p, size_t n)
{
	uint32_t windows = n / SAMPLE_SHARE / WINDOW;
	struct runs runs;
	struct sample s;
	size_t sampled;

	if (n >= RUNS_FROM)
		windows /= 2;
	if (windows > WINDOWS_MAX)
		windows = WINDOWS_MAX;
	runs = runs_plan(n, windows);
	sampled = windows * WINDOW + runs.count * runs.len;
	sample_init(&s, sampled);
	for (size_t i = 0; i < runs.count; i++)
		grams_enter(&s, p + run_start(&runs, i), runs.len);
	return windows_take(&s, p, n, windows, &runs) && !sample_is_plain(&s) &&
	       !echoes_save(&s, n, sampled);
}

/* Apart, so that a small input doesn't touch the stack that the samples take. */
bool probe_incompressible(const uint8_t *p, size_t n)
{
	return n >= SMALLEST && incompressible(p, n);
}
