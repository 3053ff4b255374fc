/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzvolt_enc_fast.c - levels 1 to 3: one pass over one hash table
 *
 * At each position first the remembered offset one byte further on, then one
 * candidate from the table.  The repeat saves two bytes in the wide layout,
 * needs no hash, and makes the next repeat likely.
 *
 * The table holds the low 16 bits of positions.  A candidate is "the nearest
 * position before this one with those low bits", so it is always inside the
 * window and inside the source, whatever the entry was made for: no window
 * check, no rebasing, and values of any size take the same loop.
 */
#include "lzvolt_enc.h"

/* Misses until the step grows by one: noise is left at a run. */
#define SKIP_SHIFT	5
/* A match this long is taken as it is. */
#define LAZY_BELOW	32
/* A hash reads 8 bytes. */
#define READ_AHEAD	8
/* Small values have so few matches that those of 4 bytes are needed too. */
#define FIVE_BYTES_FROM	1024

struct find {
	const uint8_t *base, *end, *limit;
	uint16_t *table;
	unsigned shift, bits;
};

static void find_init(struct find *f, const struct enc_out *out, void *state)
{
	size_t len = out->src_end - out->src;

	f->base = out->src;
	f->end = out->src_end;
	f->limit = f->end - READ_AHEAD;
	f->table = state;
	f->shift = len < FIVE_BYTES_FROM ? 32 : 24;
	f->bits = 9;
	while (f->bits < ENC_FAST_BITS && (size_t)1 << f->bits < len)
		f->bits++;
	memset(state, 0, sizeof(uint16_t) << f->bits);
}

static inline size_t hash(const struct find *f, const uint8_t *p)
{
	return (enc_load64(p) << f->shift) * 0x9E3779B185EBCA87ULL >>
	       (64 - f->bits);
}

static inline void insert(const struct find *f, const uint8_t *p)
{
	f->table[hash(f, p)] = p - f->base;
}

/* Enters p; returns the offset of its candidate, 0 if that doesn't match. */
static inline uint32_t probe(const struct find *f, const uint8_t *p)
{
	uint16_t *slot = &f->table[hash(f, p)];
	uint16_t pos = p - f->base;
	uint32_t off = (uint16_t)(pos - *slot);

	*slot = pos;
	return enc_load32(p) == enc_load32(p - off) ? off : 0;
}

static inline bool repeats(const uint8_t *p, uint32_t off)
{
	return enc_load32(p) == enc_load32(p - off);
}

static inline size_t match_len(const struct find *f, const uint8_t *p,
			       uint32_t off)
{
	return ENC_MIN_MATCH + enc_count(p + ENC_MIN_MATCH,
					 p + ENC_MIN_MATCH - off, f->end);
}

struct match {
	const uint8_t *at;
	size_t len;
	uint32_t off;
};

/* Looks one and two bytes further for something longer. */
static inline void improve(const struct find *f, struct match *m, uint32_t rep)
{
	while (m->len < LAZY_BELOW && m->at + 2 < f->limit) {
		uint32_t off;
		size_t len;

		if (repeats(m->at + 2, rep)) {
			len = match_len(f, m->at + 2, rep);
			if (len + 1 > m->len) {
				*m = (struct match){ m->at + 2, len, rep };
				return;
			}
		}
		off = probe(f, m->at + 1);
		len = off ? match_len(f, m->at + 1, off) : 0;
		if (len > m->len) {
			*m = (struct match){ m->at + 1, len, off };
			continue;
		}
		off = probe(f, m->at + 2);
		len = off ? match_len(f, m->at + 2, off) : 0;
		if (len <= m->len + 1)
			return;
		*m = (struct match){ m->at + 2, len, off };
	}
}

static inline void extend_back(const struct find *f, struct match *m,
			       const uint8_t *anchor)
{
	while (m->at > anchor && (size_t)(m->at - f->base) > m->off &&
	       m->at[-1] == m->at[-1 - (ptrdiff_t)m->off]) {
		m->at--;
		m->len++;
	}
}

/* The next match at or after p; false at the source's end. */
static inline bool next_match(const struct find *f, const uint8_t *p,
			      uint32_t rep, struct match *m)
{
	unsigned misses = 1u << SKIP_SHIFT;

	while (p < f->limit) {
		uint32_t off;

		if (repeats(p + 1, rep)) {
			m->at = p + 1;
			m->off = rep;
			m->len = match_len(f, m->at, rep);
			return true;
		}
		off = probe(f, p);
		if (off) {
			m->at = p;
			m->off = off;
			m->len = match_len(f, p, off);
			return true;
		}
		p += misses++ >> SKIP_SHIFT;
	}
	return false;
}

static inline void parse(struct enc_out *out, void *state, bool lazy)
{
	struct enc_seq seq[ENC_SEQ_CHUNK];
	const uint8_t *anchor = out->src;
	struct match m;
	struct find f;
	uint32_t rep = 1;
	size_t n = 0;

	find_init(&f, out, state);
	/* From byte 1: an offset of 1 has something to point at. */
	while (next_match(&f, anchor + (anchor == f.base), rep, &m)) {
		if (lazy && m.off != rep)
			improve(&f, &m, rep);
		extend_back(&f, &m, anchor);
		seq[n++] = (struct enc_seq){ m.at - anchor, m.len, m.off };
		anchor = m.at + m.len;
		rep = m.off;
		if (anchor < f.limit)
			insert(&f, anchor - 2);
		if (n == ENC_SEQ_CHUNK) {
			enc_write(out, seq, n, false);
			n = 0;
			if (out->full)
				return;
		}
	}
	enc_write(out, seq, n, true);
}

void enc_fast(struct enc_out *out, void *state, int level)
{
	(void)level;
	parse(out, state, false);
}

void enc_lazy(struct enc_out *out, void *state, int level)
{
	(void)level;
	parse(out, state, true);
}
