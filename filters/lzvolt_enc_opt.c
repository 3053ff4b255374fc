/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzvolt_enc_opt.c - levels 7 to 9: the cheapest way through the value
 *
 * Dynamic programming, forward, over all ways to read the source as literals
 * and matches, in both layouts at once.  A node is a way to have arrived at a
 * position: what it costs, how many literals are pending, and which offset is
 * remembered.  Each position keeps one node of the even layout, where the
 * remembered offset is worth nothing, and the WIDE_NODES cheapest of the wide
 * layout, each with another offset.  At the end of a match an even node may
 * become a wide one for the price of the trailer: so the switch point is a
 * step like any other.
 *
 * A step is a literal, a match of the tree's or of the remembered offset at
 * any length, or a match, one to three literals and a repeat of its offset
 * taken as one: what makes an offset worth having is often seen only behind a
 * changed digit, and by then a cheaper node would have driven it out.
 *
 * The levels differ in how much they look at: level 7 keeps one wide node and
 * tries the short lengths only.  Above the smallest there is, as a mean of the
 * benchmark's 23 rows: 1.4 % in half the instructions of level 9, 0.7 % in three
 * quarters, 0.6 %.  Two thirds of the work are offers, a quarter is the tree.
 * Every length between a shorter and a longer match of one position cost logs
 * eight times the work for nothing; lengths to 48 make flights 0.2 % smaller.
 *
 * Long values go in segments of 64 KiB, each decided by itself; a match ends
 * with its segment and goes on in the next one as a repeat.
 */
#include "lzvolt_enc_opt.h"

#define LENGTH_LONG	64
/* A match this long is taken without looking at what is inside it. */
#define LENGTH_ENOUGH	4096
/* Literals between the two matches of a composite step. */
#define GAP_MAX		3

/* Beside its share (effort's lead): even isn't followed when this far behind. */
#define LEAD		(256 * BYTE)

/* A remembered offset saves 2 bytes once: what costs more than that is beaten. */
#define WORTH_KEEPING	(2 * BYTE + BYTE / 2)

/* What differs between the layouts. */
struct price {
	uint32_t lit_max, match_max;
};

static const struct price prices[2] = { { 15, 15 }, { 3, 31 } };

static inline uint32_t match_price(const struct opt *o, const struct price *y,
				   uint32_t len, bool repeat)
{
	uint32_t m = len - ENC_MIN_MATCH;
	uint32_t bytes = 1 + (repeat ? 0 : 2) +
			 (m < y->match_max ? 0 : (m - y->match_max) / 255 + 1);

	return bytes * BYTE + o->block;
}

/* One more literal after `lit` of them. */
static inline uint32_t literal_price(const struct price *y, uint32_t lit)
{
	uint32_t over = lit + 1 - y->lit_max;

	return lit + 1 < y->lit_max || over % 255 ? BYTE : 2 * BYTE;
}

static void reach(struct opt *o, uint32_t pos)
{
	while (o->reached < pos) {
		struct node *n = &o->node[++o->reached * NODES];

		o->cheapest[o->reached] = NEVER - WORTH_KEEPING;
		for (uint32_t k = 0; k < o->effort.slots; k++)
			n[k] = (struct node){ .cost = NEVER };
	}
}

/* Offers a way to arrive at pos in the wide layout. */
static inline void offer_wide(struct opt *o, uint32_t pos, const struct node *way)
{
	struct node *n = &o->node[pos * NODES + 1], *worst = n;

	if (way->cost < o->cheapest[pos])
		o->cheapest[pos] = way->cost;
	for (uint32_t k = 0; k + 1 < o->effort.slots; k++) {
		if (n[k].off == way->off && n[k].cost != NEVER) {
			if (way->cost < n[k].cost)
				n[k] = *way;
			return;
		}
		if (n[k].cost > worst->cost)
			worst = &n[k];
	}
	if (way->cost < worst->cost)
		*worst = *way;
}

static inline void offer_even(struct opt *o, uint32_t pos, const struct node *way)
{
	struct node *n = &o->node[pos * NODES];

	if (way->cost < n->cost)
		*n = *way;
}

/* A match from `pos` has made a node of that cost at `to`. */
static inline void look_ahead(struct ahead *a, uint32_t pos, uint32_t to,
			      uint32_t cost)
{
	if (a->pos <= pos || cost < a->cost || (cost == a->cost && to > a->pos))
		*a = (struct ahead){ to, cost };
}

/*
 * Drops the nodes at pos that cost more than one farther on: what follows from
 * them follows from there, at the price of a match cut in two.  This is what
 * skips the inside of long matches, and costs no byte.  Even is dropped where
 * wide leads by so much that choose() is going to take wide.
 */
static void drop_beaten(struct opt *o, uint32_t pos)
{
	struct node *n = &o->node[pos * NODES];

	if (o->ahead[0].pos > pos && n->cost > o->ahead[0].cost + o->effort.cut)
		n->cost = NEVER;
	if (n->cost > LEAD && n->cost - LEAD > (uint64_t)o->cheapest[pos] * o->lead / 4)
		n->cost = NEVER;
	if (o->ahead[1].pos <= pos || o->cheapest[pos] <= o->ahead[1].cost + o->effort.cut)
		return;
	for (uint32_t k = 1; k < o->effort.slots; k++)
		n[k].cost = NEVER;
}

static inline bool matches_before(const struct opt *o, uint32_t pos, uint32_t off)
{
	const uint8_t *p = o->at + pos;

	return (size_t)(p - o->tree.base) > off && p[-1] == p[-1 - (ptrdiff_t)off];
}

/*
 * Would this match have been as good a byte earlier?  It matches there too, and
 * the node has a literal in that place or the same match.  A long one is also
 * refused behind another that can be a byte shorter; where that is wrong it
 * costs little, and it keeps long matches from costing their square.
 */
static inline bool late(const struct opt *o, uint32_t pos,
			const struct node *here, uint32_t off, uint32_t len)
{
	return pos && o->before > len && (here->lit || here->off == off ||
		       (len > LENGTH_LONG && !here->gap &&
			here->len > ENC_MIN_MATCH && here->len <= o->effort.lengths)) &&
	       matches_before(o, pos, off);
}

/* Lengths worth a step: all short ones and those near the longest. */
static inline uint32_t worth_length(const struct opt *o, uint32_t len,
				    uint32_t longest)
{
	return len > o->effort.lengths && longest > len + o->effort.near ?
	       longest - o->effort.near : len;
}

static void even_matches(struct opt *o, uint32_t pos,
			 const struct tree_match *m, size_t n)
{
	const struct node *here = &o->node[pos * NODES];
	uint32_t len = ENC_MIN_MATCH, longest = m[n - 1].len;

	if (here->cost == NEVER)
		return;
	for (size_t i = 0; len <= longest; len = worth_length(o, len + 1, longest)) {
		struct node way = { .from = pos * NODES, .len = len };

		while (m[i].len < len)
			i++;
		if (late(o, pos, here, m[i].off, m[i].len)) {
			len = m[i].len;
			continue;
		}
		way.off = m[i].off;
		way.cost = here->cost + match_price(o, &prices[0], len, false);
		offer_even(o, pos + len, &way);
		if (len > o->effort.lengths)
			look_ahead(&o->ahead[0], pos, pos + len, way.cost);
	}
}

static void wide_lengths(struct opt *o, uint32_t pos, uint32_t slot,
			 uint32_t off, uint32_t shortest, uint32_t longest)
{
	const struct node *here = &o->node[pos * NODES + slot];
	bool repeat = here->off == off;
	uint32_t len = worth_length(o, shortest, longest);

	for (; len <= longest; len = worth_length(o, len + 1, longest)) {
		struct node way = {
			.cost = here->cost + match_price(o, &prices[1], len, repeat),
			.from = pos * NODES + slot, .len = len, .off = off,
		};

		if (way.cost <= o->cheapest[pos + len] + WORTH_KEEPING)
			offer_wide(o, pos + len, &way);
		if (len > o->effort.lengths)
			look_ahead(&o->ahead[1], pos, pos + len, way.cost);
	}
}

static inline uint32_t length_at(const struct opt *o, uint32_t pos, uint32_t off)
{
	const uint8_t *p = o->at + pos;

	if (o->end - pos < ENC_MIN_MATCH || enc_load32(p) != enc_load32(p - off))
		return 0;
	return enc_count(p, p - off, o->at + o->end);
}

/* The match and, behind one to three other bytes, its offset again. */
static void composite(struct opt *o, uint32_t pos, uint32_t slot, uint32_t off,
		      uint32_t len)
{
	const struct node *here = &o->node[pos * NODES + slot];
	bool repeat = here->off == off;
	uint32_t cost = here->cost + match_price(o, &prices[1], len, repeat);

	for (uint32_t gap = 1; gap <= GAP_MAX; gap++) {
		uint32_t again, to;
		struct node way;

		if (pos + len + gap + ENC_MIN_MATCH > o->end)
			return;
		again = length_at(o, pos + len + gap, off);
		cost += literal_price(&prices[1], gap - 1);
		if (!again)
			continue;
		to = pos + len + gap + again;
		way = (struct node){
			.cost = cost + match_price(o, &prices[1], again, true),
			.from = pos * NODES + slot, .len = len, .off = off,
			.gap = gap,
		};
		reach(o, to);
		offer_wide(o, to, &way);
		return;
	}
}

static uint32_t best_wide(const struct opt *o, uint32_t pos)
{
	const struct node *n = &o->node[pos * NODES];
	uint32_t best = 1;

	for (uint32_t k = 2; k < o->effort.slots; k++)
		if (n[k].cost < n[best].cost)
			best = k;
	return n[best].cost == NEVER ? 0 : best;
}

static void wide_matches(struct opt *o, uint32_t pos,
			 const struct tree_match *m, size_t n)
{
	uint32_t best = best_wide(o, pos), shortest = ENC_MIN_MATCH;

	if (!best)
		return;
	for (size_t i = 0; i < n; shortest = m[i++].len + 1) {
		if (late(o, pos, &o->node[pos * NODES + best], m[i].off, m[i].len))
			continue;
		wide_lengths(o, pos, best, m[i].off, shortest, m[i].len);
		composite(o, pos, best, m[i].off, m[i].len);
	}
}

static void repeats(struct opt *o, uint32_t pos)
{
	for (uint32_t k = 1; k < o->effort.slots; k++) {
		struct node here = o->node[pos * NODES + k];
		uint32_t len;

		if (here.cost == NEVER || !here.off ||
		    here.cost > o->cheapest[pos] + WORTH_KEEPING)
			continue;
		/* Then it was looked at a byte earlier, or is the match before. */
		if (pos && matches_before(o, pos, here.off))
			continue;
		len = length_at(o, pos, here.off);
		if (!len)
			continue;
		reach(o, pos + len);
		wide_lengths(o, pos, k, here.off, ENC_MIN_MATCH, len);
	}
}

/* A literal from every node, and the switch from an even one. */
static void literals(struct opt *o, uint32_t pos)
{
	const struct node *here = &o->node[pos * NODES];

	reach(o, pos + 1);
	for (uint32_t k = 0; k < o->effort.slots; k++) {
		struct node way = here[k];

		if (way.cost == NEVER || (k && way.cost > o->cheapest[pos] + WORTH_KEEPING))
			continue;
		way.cost += literal_price(&prices[k > 0], way.lit);
		if (!way.lit)
			way.from = pos * NODES + k;
		way.lit++;
		way.len = 0;
		way.gap = 0;
		if (k)
			offer_wide(o, pos + 1, &way);
		else
			offer_even(o, pos + 1, &way);
	}
}

static void may_switch(struct opt *o, uint32_t pos)
{
	const struct node *here = &o->node[pos * NODES];
	struct node way = { .from = pos * NODES, .gap = SWITCH };

	if (here->cost == NEVER || here->lit || !here->len)
		return;
	way.cost = here->cost + o->trailer;
	offer_wide(o, pos, &way);
}

/* Cuts matches off at the segment's end. */
static size_t find(struct opt *o, uint32_t pos, struct tree_match *m)
{
	size_t n = tree_find(&o->tree, o->at + pos, m);
	uint32_t room = o->end - pos;

	while (n > 1 && m[n - 2].len >= room)
		n--;
	if (n && m[n - 1].len > room)
		m[n - 1].len = room;
	return n && m[n - 1].len >= ENC_MIN_MATCH ? n : 0;
}

/*
 * Over the longest match here?  Not when it was no step of a layout because a
 * node ahead had beaten those here: the way goes on there.
 */
static bool may_jump(const struct opt *o, uint32_t pos)
{
	bool in_even = o->node[pos * NODES].cost != NEVER;

	return o->before >= LENGTH_ENOUGH && (in_even || o->ahead[0].pos <= pos) &&
	       (best_wide(o, pos) || o->ahead[1].pos <= pos);
}

static void forward(struct opt *o)
{
	struct tree_match m[TREE_MATCHES];
	uint32_t pos = 0;

	while (pos < o->end) {
		size_t n = find(o, pos, m);

		drop_beaten(o, pos);
		may_switch(o, pos);
		literals(o, pos);
		repeats(o, pos);
		if (n) {
			reach(o, pos + m[n - 1].len);
			even_matches(o, pos, m, n);
			wide_matches(o, pos, m, n);
		}
		o->before = n ? m[n - 1].len : 0;
		pos += may_jump(o, pos) ? o->before : 1;
	}
	may_switch(o, pos);
}

static uint32_t final_cost(const struct node *n)
{
	return n->cost == NEVER ? NEVER : n->cost + (n->lit ? BYTE : 0);
}

/* The cheapest node at the end; wide only where it pays. */
static uint32_t choose(const struct opt *o, const struct enc_out *out)
{
	uint32_t id = o->end * NODES, best = id;

	for (uint32_t k = 1; k < o->effort.slots; k++)
		if (final_cost(&o->node[id + k]) < final_cost(&o->node[best]))
			best = id + k;
	if (best != id && !out->out_at &&
	    (!enc_may_switch(out) ||
	     !enc_wide_pays(out, o->node[id].cost / BYTE, o->node[best].cost / BYTE)))
		best = id;
	return best;
}

/* Position 0 of a segment: what the one before has left pending. */
static void start(struct opt *o, const struct enc_out *out)
{
	uint32_t slot = out->out_at ? 1 : 0;
	size_t left = o->limit - o->at;

	o->end = left < SEGMENT ? left : SEGMENT;
	o->reached = o->before = 0;
	memset(o->ahead, 0, sizeof(o->ahead));
	for (uint32_t k = 0; k < o->effort.slots; k++)
		o->node[k] = (struct node){ .cost = NEVER };
	o->cheapest[0] = 0;
	o->node[slot].cost = 0;
	o->node[slot].from = slot;
	o->node[slot].lit = o->at - out->src;
	o->node[slot].off = slot ? out->last_off : 0;
}

size_t enc_opt_state(void)
{
	return sizeof(struct opt);
}

void enc_opt(struct enc_out *out, void *state, int level)
{
	static const struct effort efforts[] = {
		{ 8, 2, 8, 1, 0 }, { 16, 3, 10, 1, 0 }, { 32, NODES, 18, 2, 2 * BYTE },
	};
	static const uint32_t leads[] = {
		[ENC_BALANCE] = 6, [ENC_SIZE] = 4, [ENC_SPEED] = 10,
	};
	struct opt *o = state;
	struct path p;

	o->at = out->src;
	o->limit = out->src_end;
	o->block = out->favor == ENC_SIZE ? 1 : out->favor == ENC_SPEED ? 24 : 6;
	o->trailer = BYTE * (o->limit - o->at <= 65536 ? 4 : 8);
	o->effort = efforts[level - 7];
	o->lead = leads[out->favor];
	tree_init(&o->tree, o->at, o->limit, o->effort.depth);
	while (o->at < o->limit && !out->full) {
		start(o, out);
		forward(o);
		path_find(o, choose(o, out), &p);
		o->at += o->end;
		path_write(out, &p, o->at == o->limit);
	}
}
