/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzvolt_enc.h - what the parts of the lzvolt encoder share
 *
 * The encoder is three layers.  A finder (lzvolt_enc_fast.c,
 * lzvolt_enc_chain.c, lzvolt_enc_opt.c) reads the source and pushes sequences;
 * the writer (lzvolt_enc.c) turns sequences into tokens, chooses the switch
 * point and refuses what isn't worth packing; the entry points choose the
 * finder by level.  Finders know nothing of tokens, the writer nothing of hash
 * tables.
 *
 * Everything is computed from the source's bytes alone, little-endian by
 * definition, so that a value is the same on every machine.
 */
#ifndef LZVOLT_ENC_H
#define LZVOLT_ENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mem.h"

#define ENC_MIN_MATCH	4
#define ENC_SMALL	1024	/* below it a fast level may try twice */
#define ENC_LEN_MAX	((size_t)536870911)

/* One block: `lit` literals, then `len` bytes from `off` bytes back. */
struct enc_seq {
	uint32_t lit;
	uint32_t len;
	uint32_t off;
};

/*
 * The buffer that the chain finder pushes into.  The layout is decided on what
 * is in it, so its size is the sight of that decision.
 */
#define ENC_SEQ_CHUNK	64

enum enc_favor { ENC_BALANCE, ENC_SIZE, ENC_SPEED };

/* Where the value goes; one per call, on the stack. */
struct enc_out {
	const uint8_t *src;	/* the next byte that isn't in the value yet */
	const uint8_t *src_begin;
	const uint8_t *src_end;
	uint8_t *body;		/* just behind the header */
	uint8_t *op;		/* where the next token goes */
	uint8_t *limit;		/* body and trailer may not pass it */
	uint32_t in_at;		/* the switch; out_at 0: still even */
	uint32_t out_at;
	uint32_t chunk;		/* enc_write() calls so far */
	uint32_t last_off;	/* remembered offset of this section */
	enum enc_favor favor;
	bool full;		/* limit was hit; nothing more is written */
};

/*
 * Writes n sequences; final: no more will come, the literals up to src_end
 * follow and the trailer.  Sets out->full instead of passing out->limit.
 */
void enc_write(struct enc_out *out, const struct enc_seq *seq, size_t n,
	       bool final);

/*
 * For a finder that knows the switch point itself: writes sequences in the
 * layout that holds, changes to wide, writes the last literals and the trailer.
 * All do nothing once out->full is set.
 */
void enc_write_as_is(struct enc_out *out, const struct enc_seq *seq, size_t n);
void enc_switch(struct enc_out *out);
void enc_finish(struct enc_out *out);

/* Forgets what has been written; limit: what it was at the start. */
void enc_restart(struct enc_out *out, uint8_t *limit);

/* A value of one header byte has no flag for a second section. */
static inline bool enc_may_switch(const struct enc_out *out)
{
	return !out->out_at && out->src_end - out->src_begin >= 64;
}

/* Is wide worth it, when a value has so many bytes in even and in hybrid? */
bool enc_wide_pays(const struct enc_out *out, size_t even_bytes, size_t wide_bytes);

/*
 * One finder: parses out->src .. src_end and writes through enc_write().
 * state: what its row of the level table asks for, uninitialised.
 */
typedef void enc_finder(struct enc_out *out, void *state, int level);

enc_finder enc_fast, enc_chain, enc_opt;

size_t enc_chain_state(void);
size_t enc_opt_state(void);

/* Bytes of state that enc_fast needs. */
#define ENC_FAST_BITS	14
#define ENC_FAST_STATE	(sizeof(uint16_t) << ENC_FAST_BITS)

static inline uint32_t enc_load32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap32(v) : v;
}

static inline uint64_t enc_load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? __builtin_bswap64(v) : v;
}

/* How many bytes of a and b (b before a) are equal; a stops at end. */
static inline size_t enc_count(const uint8_t *a, const uint8_t *b,
			       const uint8_t *end)
{
	const uint8_t *start = a;

	while ((size_t)(end - a) >= 8) {
		uint64_t diff = enc_load64(a) ^ enc_load64(b);

		if (diff)
			return a - start + (__builtin_ctzll(diff) >> 3);
		a += 8;
		b += 8;
	}
	while (a < end && *a == *b) {
		a++;
		b++;
	}
	return a - start;
}

/* A token's fields and where they saturate. */
struct layout {
	unsigned lit_max, lit_shift;
	unsigned match_max, match_shift;
};

static const struct layout even = { 15, 4, 15, 0 };
static const struct layout wide = { 3, 6, 31, 1 };

/* Writes one sequence, or sets out->full; the slow way, at any place. */
void enc_put(struct enc_out *out, const struct enc_seq *seq);

/* Room that put_plain() needs for a sequence: whole moves, every chain. */
static inline size_t put_room(size_t lit, size_t len)
{
	return lit + ((lit + len) >> 7) + 32;
}

static inline uint8_t *put_rest(uint8_t *op, size_t rest)
{
	for (; rest >= 255; rest -= 255)
		*op++ = 255;
	*op++ = (uint8_t)rest;
	return op;
}

/* A chain, which is there when value has reached max; no branch if it is short. */
static inline uint8_t *put_field(uint8_t *op, size_t value, size_t max)
{
	if (__builtin_expect(value >= max + 255, 0))
		return put_rest(op, value - max);
	*op = (uint8_t)(value - max);
	return op + (value >= max);
}

/*
 * Writes a block at op and returns its end.  put_room() bytes are there, and
 * the literals can be read in moves of 16 bytes.  Nothing branches on usual
 * lengths but literal runs above 16.
 */
static inline __attribute__((always_inline)) uint8_t *
put_plain(uint8_t *op, const uint8_t *lits, size_t lit, size_t len, size_t off,
	  const struct layout *y, bool repeat)
{
	size_t match = len - ENC_MIN_MATCH;
	size_t lit_field = lit < y->lit_max ? lit : y->lit_max;
	size_t match_field = match < y->match_max ? match : y->match_max;

	*op++ = (uint8_t)(lit_field << y->lit_shift |
			  match_field << y->match_shift | repeat);
	op = put_field(op, lit, y->lit_max);
	move16(op, lits);
	if (__builtin_expect(lit > 16, 0))
		for (size_t i = 16; i < lit; i += 16)
			move16(op + i, lits + i);
	op += lit;
	store_le16(op, (uint32_t)off);
	op += repeat ? 0 : 2;
	return put_field(op, match, y->match_max);
}

#endif
