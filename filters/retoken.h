/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retoken.h - sequences in and out of the even and the wide token layout
 *
 * What retoken.c (LZ4 to lzvolt) and retoken_back.c (lzvolt to LZ4) share: the
 * careful step that reads or writes one sequence with every check, and gives
 * every verdict.  Their fast loops do the same for sequences that are far from
 * all edges, stop in front of anything else and never judge.
 */
#ifndef RETOKEN_H
#define RETOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lzvolt.h"
#include "mem.h"

/* liblz4's strict decoder wants both of every block. */
#define LZ4_LAST_LITERALS	5	/* no match reaches into these */
#define LZ4_MATCH_START		12	/* no match starts behind this */

/* More decoded bytes than any LZ4 block or lzvolt value has. */
#define LZ4_LENGTH_MAX		((size_t)0x7fffffff)

/*
 * As lzvolt_to_lz4(), for a caller that has the decoded bytes at hand: raw,
 * or null.  With them a value that ends in a match costs no decoding.
 */
int64_t retoken_to_lz4(const uint8_t *value, size_t value_len,
		       uint8_t *dst, size_t dst_cap, const uint8_t *raw);

/*
 * The decoded size of an LZ4 block, found by walking its tokens, which may be
 * one that no value can hold; an error where it isn't a block or would pass max.
 */
int64_t retoken_lz4_size(const uint8_t *block, size_t block_len, size_t max);

/* As lzvolt_from_lz4(), but always the block itself behind a header. */
int64_t retoken_wrap(const uint8_t *block, size_t block_len, size_t declared,
		     uint8_t *dst, size_t dst_cap);

/* literals, then match_len bytes from `offset` back; match_len 0: the end. */
struct sequence {
	const uint8_t *literals;
	size_t literal_len;
	size_t match_len;
	uint32_t offset;
	unsigned spare;		/* an even last token's unused low half */
};

struct token_layout {
	unsigned literal_shift, literal_max, match_shift, match_max;
};

static const struct token_layout token_even = { 4, 15, 0, 15 };
static const struct token_layout token_wide = { 6, 3, 1, 31 };

struct token_reader {
	const uint8_t *at, *end;	/* of the section */
	size_t made;			/* decoded bytes so far */
	size_t stop;			/* decoded bytes when the section ends */
	size_t declared;		/* decoded bytes when all ends */
	uint32_t offset;		/* remembered in this section; 0: none */
};

struct token_writer {
	uint8_t *at, *end;
	uint32_t offset;		/* as above */
};

/* A sequence as the fast loops see it. */
struct plain {
	const uint8_t *literals, *next;
	size_t literal_len, match;	/* match: its length - 4 */
	uint32_t offset;
};

/*
 * True for a sequence, just read, that liblz4 wouldn't take: its match starts
 * or ends too near the end.
 */
static inline bool breaks_end_rules(const struct token_reader *r,
				    const struct sequence *s)
{
	size_t left = r->declared - r->made;

	return s->match_len && (left < LZ4_LAST_LITERALS ||
				left + s->match_len < LZ4_MATCH_START);
}

/* Adds a chain to *len: 0, or an error. */
static inline int64_t chain_read(struct token_reader *r, size_t *len)
{
	unsigned byte;

	do {
		if (r->at == r->end)
			return LZVOLT_E_TRUNCATED;
		byte = *r->at++;
		*len += byte;
		if (*len > LZ4_LENGTH_MAX)
			return LZVOLT_E_LENGTH_MISMATCH;
	} while (byte == 255);
	return 0;
}

static inline int64_t offset_read(struct token_reader *r, bool repeat)
{
	if (repeat)
		return 0;
	if (r->end - r->at < 2)
		return LZVOLT_E_TRUNCATED;
	r->offset = r->at[0] | (uint32_t)r->at[1] << 8;
	r->at += 2;
	return 0;
}

static inline int64_t literals_read(struct token_reader *r, struct sequence *s)
{
	s->literals = r->at;
	if (s->literal_len > (size_t)(r->end - r->at))
		return LZVOLT_E_TRUNCATED;
	if (s->literal_len > r->stop - r->made)
		return LZVOLT_E_LENGTH_MISMATCH;
	r->at += s->literal_len;
	r->made += s->literal_len;
	return 0;
}

static inline int64_t match_read(struct token_reader *r, struct sequence *s,
				 bool saturated)
{
	int64_t err = saturated ? chain_read(r, &s->match_len) : 0;

	if (err)
		return err;
	s->match_len += 4;
	s->offset = r->offset;
	if (s->offset == 0 || s->offset > r->made)
		return LZVOLT_E_BAD_OFFSET;
	if (s->match_len > r->stop - r->made)
		return LZVOLT_E_LENGTH_MISMATCH;
	r->made += s->match_len;
	return 0;
}

/* Reads one sequence of a section: 0, or an error with the reader spoilt. */
static inline int64_t sequence_read(struct token_reader *r, struct sequence *s,
				    const struct token_layout *l)
{
	bool wide = l->match_shift;
	unsigned token;
	int64_t err;

	if (r->at == r->end)
		return LZVOLT_E_TRUNCATED;
	token = *r->at++;
	s->literal_len = token >> l->literal_shift;
	s->match_len = 0;
	s->spare = token & 15;
	err = s->literal_len == l->literal_max ?
	      chain_read(r, &s->literal_len) : 0;
	if (!err)
		err = literals_read(r, s);
	if (err || r->made == r->declared)
		return err;
	err = offset_read(r, wide && (token & 1));
	if (err)
		return err;
	s->match_len = token >> l->match_shift & l->match_max;
	return match_read(r, s, s->match_len == l->match_max);
}

static inline uint8_t *chain_write(uint8_t *p, size_t rest)
{
	while (rest >= 255) {
		*p++ = 255;
		rest -= 255;
	}
	*p++ = (uint8_t)rest;
	return p;
}

/* The bytes that sequence_write() may take at most. */
static inline size_t sequence_room(const struct sequence *s)
{
	return 1 + s->literal_len / 255 + 1 + s->literal_len + 2 +
	       s->match_len / 255 + 1;
}

/* Token and literals, for a token whose low half is `low`. */
static inline uint8_t *literals_write(uint8_t *p, const struct sequence *s,
				      const struct token_layout *l, unsigned low)
{
	size_t n = s->literal_len;
	size_t field = n < l->literal_max ? n : l->literal_max;

	*p++ = (uint8_t)(field << l->literal_shift | low);
	if (field == l->literal_max)
		p = chain_write(p, n - field);
	if (n)
		memcpy(p, s->literals, n);
	return p + n;
}

/* Writes one sequence; false, and nothing written, where room lacks. */
static inline bool sequence_write(struct token_writer *w,
				  const struct sequence *s,
				  const struct token_layout *l)
{
	bool wide = l->match_shift;
	bool repeat = wide && s->offset == w->offset;
	size_t m = s->match_len ? s->match_len - 4 : 0;
	size_t field = m < l->match_max ? m : l->match_max;
	unsigned low = (unsigned)(field << l->match_shift);

	if (sequence_room(s) > (size_t)(w->end - w->at))
		return false;
	if (!s->match_len) {
		w->at = literals_write(w->at, s, l, 0);
		return true;
	}
	w->at = literals_write(w->at, s, l, low | repeat);
	if (!repeat) {
		*w->at++ = (uint8_t)s->offset;
		*w->at++ = (uint8_t)(s->offset >> 8);
	}
	if (field == l->match_max)
		w->at = chain_write(w->at, m - field);
	w->offset = s->offset;
	return true;
}

/*
 * A plain token and what it moves: token, 14 literals moved as 16, offset and a
 * chain byte.  More literals are looked at on their own.
 */
#define PLAIN_IN	18
#define LONG_MARGIN	24	/* chain bytes, offset, 15 that are moved too far */

/*
 * Reads a token with at most one chain byte for each length.  p has PLAIN_IN
 * readable bytes; false: not plain, or the literals come near the end.
 */
static inline __attribute__((always_inline)) bool
plain_read_even(const uint8_t *p, const uint8_t *end, struct plain *s)
{
	unsigned token = *p++;
	size_t n = token >> 4;
	size_t m = token & 15;

	if (__builtin_expect(n == 15, 0)) {
		n += *p++;
		if (n == 15 + 255 || (size_t)(end - p) < n + LONG_MARGIN)
			return false;
	}
	s->literals = p;
	s->literal_len = n;
	p += n;
	s->offset = load_le16(p);
	p += 2;
	if (m == 15) {
		m += *p++;
		if (m == 15 + 255)
			return false;
	}
	s->match = m;
	s->next = p;
	return true;
}

/*
 * Reads even sequences without looking at what they say, as long as they are
 * plain: within the input and its margin, offset in range, 12 bytes or more
 * in front of r->stop.  Leaves the reader in front of the first one that isn't.
 */
void retoken_skip_even(struct token_reader *r);

/*
 * retoken_tail.c: a block's last decoded bytes, from its sequences alone.  The
 * log has an entry for each that is written, the newest at its lowest address:
 * decoded bytes before it, and where it stands, of which 32 bits do.
 */
#define RETOKEN_LOG	8

static inline void retoken_log_put(uint8_t *entry, size_t made, const uint8_t *at)
{
	uint32_t v[2] = { (uint32_t)made, (uint32_t)(uintptr_t)at };

	memcpy(entry, v, 4);
	memcpy(entry + 4, v + 1, 4);
}

/*
 * retoken_skip_even(), and, log not null, an entry for each at *log, which moves
 * down as far as dst: what is read behind `body` will stand behind dst.
 */
static inline __attribute__((always_inline)) void
even_walk(struct token_reader *r, uint8_t **log, const uint8_t *dst, const uint8_t *body)
{
	const uint8_t *at = r->at, *end = r->end;
	uint8_t *entry = log ? *log : NULL;
	size_t made = r->made, stop = r->stop;
	struct plain s;

	while (end - at > PLAIN_IN && plain_read_even(at, end, &s)) {
		size_t from = made + s.literal_len;
		size_t to = from + s.match + 4;

		if (s.offset - 1U >= from || to + LZ4_MATCH_START > stop ||
		    (log && entry - dst < RETOKEN_LOG))
			break;
		if (log) {
			entry -= RETOKEN_LOG;
			retoken_log_put(entry, made, dst + (at - body));
		}
		made = to;
		at = s.next;
	}
	r->at = at;
	r->made = made;
	if (log)
		*log = entry;
}

struct retoken_tail {
	const uint8_t *block, *log, *log_end;
	/* what follows the block: a match in the last 12 bytes or up to them, ... */
	struct sequence seq[4];
	size_t start[4];	/* decoded bytes before each */
	size_t count;
};

/* The n <= 12 decoded bytes in front of `end`. */
void retoken_tail_find(const struct retoken_tail *t, size_t end, uint8_t *dst, size_t n);

#endif
