/* SPDX-License-Identifier: Apache-2.0 */
/*
 * portable.c - the decode kernel in plain C
 *
 * The pattern that all kernels follow.  A block whose lengths fit the token is
 * done with moves of fixed width that may write further than the block goes,
 * the next block repairs that; so the loop needs room behind the block, and
 * stops where there is none.  What a short block can touch is counted here:
 *
 *   even: 1 token, a 16-byte literal move, then the offset and the next token
 *         behind at most 14 literals: 18 bytes of input; output 14 + 32.
 *   wide: 1 token, a 4-byte literal move for at most 2 literals, the offset, the
 *         next token: 6 bytes of input; output 2 + 48 (a match is at most 34).
 *
 * The small input margins keep a value's last blocks in the loop.  Lengths that
 * don't fit the token take long_literals() and long_match(), which check the
 * room for what they found.
 *
 * The next token's address is all that one block waits for in the one before,
 * so it is loaded first, before the copies.
 */
#include "kernel.h"
#include "mem.h"

#define EVEN_IN		18
#define EVEN_OUT	46
#define WIDE_IN		6
#define WIDE_OUT	50

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

kernel_fn portable_even, portable_wide, portable_lz4;

/* Copies n bytes or up to 31 more; at least 32 bytes between to and from. */
static inline void copy_over32(uint8_t *to, const uint8_t *from, size_t n)
{
	const uint8_t *end = to + n;

	do {
		move32(to, from);
		to += 32;
		from += 32;
	} while (to < end);
}

/*
 * An overlapping match: the last `offset` bytes again and again, n bytes or up
 * to 15 more.  After the first 8 bytes the source can be any multiple of the
 * offset back, so one of 8 or more is taken and whole words move.
 */
static inline void copy_near(uint8_t *to, size_t offset, size_t n)
{
	static const uint8_t stride[16] = {
		0, 8, 8, 9, 8, 10, 12, 14, 8, 9, 10, 11, 12, 13, 14, 15,
	};
	const uint8_t *end = to + n;

	for (int i = 0; i < 8; i++)
		to[i] = *(to + i - offset);
	for (to += 8; to < end; to += 8)
		move8(to, to - stride[offset]);
}

static inline void copy_match(uint8_t *to, size_t offset, size_t n)
{
	const uint8_t *from = to - offset;

	if (likely(offset >= 32)) {
		copy_over32(to, from, n);
		return;
	}
	if (offset < 16) {
		copy_near(to, offset, n);
		return;
	}
	for (const uint8_t *end = to + n; to < end; to += 16, from += 16)
		move16(to, from);
}

/* Adds a length chain to *n; null when it is not over before end. */
static inline const uint8_t *chain(const uint8_t *in, const uint8_t *end, size_t *n)
{
	uint8_t add;

	do {
		if (in >= end)
			return NULL;
		add = *in++;
		*n += add;
	} while (add == 255);
	return in;
}

/*
 * A literal run whose length goes on at `in`; *n is what the token said.
 * Copies it and returns what follows it, or null if there isn't room for it
 * and `behind` bytes of output more.
 */
static inline const uint8_t *long_literals(const struct kernel_run *run,
					   const uint8_t *in, uint8_t *out,
					   size_t *n, size_t behind)
{
	in = chain(in, run->in_end, n);
	if (!in || (size_t)(run->in_end - in) < *n + 31 + 3 ||
	    (size_t)(run->out_end - out) < *n + 31 + behind)
		return NULL;
	copy_over32(out, in, *n);
	return in + *n;
}

void portable_even(struct kernel_run *run)
{
	const uint8_t *in = run->in, *next, *in_limit;
	uint8_t *out = run->out, *to, *out_limit;
	size_t token, literals, match, offset;

	if (run->in_end - in < EVEN_IN || run->out_end - out < EVEN_OUT)
		return;
	in_limit = run->in_end - EVEN_IN;
	out_limit = run->out_end - EVEN_OUT;
	for (token = *in; in <= in_limit && out <= out_limit; in = next, out = to + match) {
		literals = token >> 4;
		match = (token & 15) + 4;
		next = in + 1;
		if (unlikely(literals == 15)) {
			next = long_literals(run, next, out, &literals, 32);
			if (!next)
				break;
		} else {
			move16(out, next);
			next += literals;
		}
		offset = load_le16(next);
		next += 2;
		token = *next;
		to = out + literals;
		if (unlikely(offset - 1 >= (size_t)(to - run->base)))
			break;
		if (match == 19) {
			next = chain(next, run->in_end - 1, &match);
			if (!next || (size_t)(run->out_end - to) < match + 31 ||
			    to + match > run->goal)
				break;
			token = *next;
			copy_match(to, offset, match);
			continue;
		}
		if (unlikely(to + match > run->goal))
			break;
		if (likely(offset >= 16)) {
			move16(to, to - offset);
			move16(to + 16, to - offset + 16);
		} else {
			copy_near(to, offset, match);
		}
	}
	run->in = in;
	run->out = out;
}

void portable_lz4(struct kernel_run *run)
{
	portable_even(run);
}

void portable_wide(struct kernel_run *run)
{
	const uint8_t *in = run->in, *next, *in_limit;
	uint8_t *out = run->out, *to, *out_limit;
	size_t token, literals, match, offset, last = run->offset;

	if (run->in_end - in < WIDE_IN || run->out_end - out < WIDE_OUT)
		return;
	in_limit = run->in_end - WIDE_IN;
	out_limit = run->out_end - WIDE_OUT;
	for (token = *in; in <= in_limit && out <= out_limit;
	     in = next, out = to + match, last = offset) {
		literals = token >> 6;
		match = (token >> 1 & 31) + 4;
		next = in + 1;
		if (unlikely(literals == 3)) {
			next = long_literals(run, next, out, &literals, 48);
			if (!next)
				break;
		} else {
			move4(out, next);
			next += literals;
		}
		offset = token & 1 ? last : load_le16(next);
		next += token & 1 ? 0 : 2;
		token = *next;
		to = out + literals;
		if (unlikely(offset - 1 >= (size_t)(to - run->base)))
			break;
		if (match == 35) {
			next = chain(next, run->in_end - 1, &match);
			if (!next || (size_t)(run->out_end - to) < match + 31 ||
			    to + match > run->goal)
				break;
			token = *next;
			copy_match(to, offset, match);
			continue;
		}
		if (unlikely(to + match > run->goal))
			break;
		if (likely(offset >= 16)) {
			move16(to, to - offset);
			move16(to + 16, to - offset + 16);
			move16(to + 32, to - offset + 32);
		} else {
			copy_near(to, offset, match);
		}
	}
	run->in = in;
	run->out = out;
	run->offset = last;
}
