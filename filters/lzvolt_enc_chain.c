/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzvolt_enc_chain.c - levels 4 to 6: hash chains and a lazy parse
 *
 * Every position is entered.  A position's link is the distance to the one
 * before it with the same hash, in 16 bits, so a walk adds distances up and
 * ends where they leave the window; links of positions that are out of the
 * window are never followed far enough to matter.
 *
 * A match is worth the bytes it covers less what it costs: 3 for a new offset
 * and another one for giving up the old, 1 for the remembered one in the wide
 * layout.  The parse takes the match that is worth most at a position and looks
 * for a better one at the next two, as long as that succeeds.
 *
 * Three quarters of the time goes into walks: links come out of L2, and each
 * needs the one before.  So a walk is told what it has to beat, and behind a
 * good match it is a quarter as long: a tenth faster, 0.1 % larger.  Hashing 4
 * bytes makes 64 KiB 1.5 % smaller than 5 in the same time, lists of zip codes
 * 4 %.  A copy of the search for each of the three positions is a tenth faster.
 * Depth 64 is 0.4 % smaller than 16 and a third slower.
 */
#include "lzvolt_enc.h"
#include "equal.h"

#define HEAD_BITS	15
#define WINDOW		65536
/* Hashing reads 8 bytes. */
#define TAIL_ROOM	8
/* Misses until the step grows by one. */
#define SKIP_SHIFT	6
#define COST_NEW	4
#define COST_REPEAT	1
/* Behind a match worth this a quarter of the depth is looked at. */
#define WORTH_GOOD	8
/* A match this long is taken as it is; 64 makes records 7 % larger. */
#define LAZY_BELOW	128

struct chain {
	const uint8_t *base, *end, *limit;
	const uint8_t *next;	/* the first position that isn't entered */
	unsigned depth;
	unsigned right;		/* the hash's shift */
	uint16_t head[1 << HEAD_BITS];
	uint16_t link[WINDOW];
};

struct match {
	const uint8_t *at;
	size_t len;		/* 0: none */
	uint32_t off;
	int worth;
};

size_t enc_chain_state(void)
{
	return sizeof(struct chain);
}

static inline size_t hash(const struct chain *c, const uint8_t *p)
{
	return enc_load32(p) * 2654435761u >> c->right;
}

/* Enters all positions up to p, p included; returns p's first distance. */
static inline uint32_t enter(struct chain *c, const uint8_t *p)
{
	const uint8_t *q = c->next;
	uint16_t dist = 0;

	if (q > p)
		return c->link[(p - c->base) % WINDOW];
	for (; q <= p; q++) {
		uint16_t pos = q - c->base;
		uint16_t *head = &c->head[hash(c, q)];

		dist = pos - *head;
		c->link[pos] = dist;
		*head = pos;
	}
	c->next = q;
	return dist;
}

static inline size_t length(const uint8_t *p, const uint8_t *q, const uint8_t *end)
{
	const uint8_t *start = p;

	while (end - p >= 32) {
		size_t n = equal32(p, q);

		p += n;
		q += n;
		if (n < 32)
			return p - start;
	}
	return p - start + enc_count(p, q, end);
}

/* The longest match at p, if it is longer than `best`. */
static inline void walk(const struct chain *c, const uint8_t *p, uint32_t dist,
			unsigned depth, struct match *m)
{
	size_t pos = p - c->base, room = c->end - p;
	size_t best = m->len < ENC_MIN_MATCH ? ENC_MIN_MATCH - 1 : m->len;
	uint32_t step = dist;

	if (best >= room)
		return;
	for (unsigned n = depth; n && step && dist < WINDOW && dist <= pos; n--) {
		const uint8_t *q = p - dist;

		/* The last 4 bytes of anything longer, and the first. */
		if (enc_load32(q + best - 3) == enc_load32(p + best - 3) &&
		    enc_load32(q) == enc_load32(p)) {
			size_t len = length(p, q, c->end);

			if (len > best) {
				best = m->len = len;
				m->off = dist;
				if (best == room)
					return;
			}
		}
		step = c->link[(pos - dist) % WINDOW];
		dist += step;
	}
}

/*
 * The most worthy match at p, the remembered offset first; len 0: none is worth
 * more than least.
 */
static inline __attribute__((always_inline)) struct match
look(struct chain *c, const uint8_t *p, uint32_t rep, int rep_cost, int least)
{
	struct match m = { .at = p, .worth = least };
	struct match far = { .at = p, .len = least + COST_NEW };
	uint32_t dist = enter(c, p);

	if (enc_load32(p) == enc_load32(p - rep)) {
		size_t len = length(p, p - rep, c->end);

		if ((int)len - rep_cost > least) {
			m.len = len;
			m.off = rep;
			m.worth = (int)len - rep_cost;
			far.len = m.worth + COST_NEW;
		}
	}
	walk(c, p, dist, least < WORTH_GOOD ? c->depth : c->depth / 4, &far);
	if (far.off) {
		m = far;
		m.worth = (int)m.len - COST_NEW;
	}
	return m;
}

/* The next match from p on, the best of its neighbourhood. */
static bool next_match(struct chain *c, const uint8_t *p, uint32_t rep,
		       int rep_cost, struct match *m)
{
	unsigned misses = 1u << SKIP_SHIFT;

	for (m->len = 0; p < c->limit; p += misses++ >> SKIP_SHIFT) {
		*m = look(c, p, rep, rep_cost, -1);
		if (m->len)
			break;
	}
	while (m->len && m->len < LAZY_BELOW && m->at + 2 < c->limit) {
		struct match n = look(c, m->at + 1, rep, rep_cost, m->worth);

		if (!n.len) {
			n = look(c, m->at + 2, rep, rep_cost, m->worth + 1);
			if (!n.len)
				break;
		}
		*m = n;
	}
	return m->len;
}

static void extend_back(const struct chain *c, const uint8_t *anchor, struct match *m)
{
	while (m->at > anchor && (size_t)(m->at - c->base) > m->off &&
	       m->at[-1] == m->at[-1 - (ptrdiff_t)m->off]) {
		m->at--;
		m->len++;
	}
}

static void init(struct chain *c, const struct enc_out *out, int level)
{
	static const unsigned depths[] = { 6, 10, 16 };
	unsigned bits = 10;
	size_t len = out->src_end - out->src;

	c->base = c->next = out->src;
	c->end = out->src_end;
	c->limit = len > TAIL_ROOM ? c->end - TAIL_ROOM : c->base;
	c->depth = depths[level - 4];
	while (bits < HEAD_BITS && (size_t)1 << bits < len)
		bits++;
	c->right = 32 - bits;
	memset(c->head, 0, sizeof(c->head[0]) << bits);
}

void enc_chain(struct enc_out *out, void *state, int level)
{
	struct enc_seq seq[ENC_SEQ_CHUNK];
	struct chain *c = state;
	const uint8_t *anchor = out->src;
	struct match m;
	uint32_t rep = 1;
	size_t n = 0;

	init(c, out, level);
	/* From byte 1: an offset of 1 has something to point at. */
	while (next_match(c, anchor + (anchor == c->base), rep,
			  out->chunk && !out->out_at ? COST_NEW : COST_REPEAT, &m)) {
		extend_back(c, anchor, &m);
		seq[n++] = (struct enc_seq){ m.at - anchor, m.len, m.off };
		anchor = m.at + m.len;
		rep = m.off;
		if (n < ENC_SEQ_CHUNK)
			continue;
		enc_write(out, seq, n, false);
		n = 0;
		if (out->full)
			return;
	}
	enc_write(out, seq, n, true);
}
