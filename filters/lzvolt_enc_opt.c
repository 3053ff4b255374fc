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
 * Long values go in segments of 64 KiB, each decided by itself; a match ends
 * with its segment and goes on in the next one as a repeat.
 */
#include "lzvolt_enc_tree.h"

#define SEGMENT		65536
#define WIDE_NODES	3
#define NODES		(1 + WIDE_NODES)
/* Node numbers are position * NODES + slot; slot 0 is even. */

/* Costs count 1/16 bytes. */
#define BYTE		16
#define NEVER		UINT32_MAX

/*
 * Every length is tried up to here and this near to the longest; 48 and 12
 * make the flights 0.2 % smaller, all else less, and are slower.
 */
#define LENGTHS_ALL	18
#define LENGTHS_NEAR	2
#define LENGTH_LONG	64
/* A match this long is taken without looking at what is inside it. */
#define LENGTH_ENOUGH	4096
/* Literals between the two matches of a composite step. */
#define GAP_MAX		3

struct node {
	uint32_t cost;
	uint32_t lit;		/* pending literals */
	uint32_t from;		/* the node before the match, or before lit */
	uint32_t len;		/* of the match that ends here; 0: see gap */
	uint16_t off;		/* remembered; 0: none in this section yet */
	uint16_t gap;		/* literals before the repeat; SWITCH */
};

#define SWITCH		255

/* A remembered offset saves 2 bytes once: what costs more than that is beaten. */
#define WORTH_KEEPING	(2 * BYTE + BYTE / 2)

struct opt {
	struct tree tree;
	struct node node[(SEGMENT + 1) * NODES];
	struct enc_seq seq[SEGMENT / ENC_MIN_MATCH + 2];
	uint32_t cheapest[SEGMENT + 1];	/* of the wide nodes */
	uint32_t reached;	/* positions up to here have nodes */
	uint32_t end;		/* of the segment, as a position */
	uint32_t before;	/* the longest match one byte earlier */
	uint32_t block;		/* price of a block beside its bytes */
	uint32_t trailer;
	const uint8_t *at;	/* position 0 of the segment */
	const uint8_t *limit;	/* of the source */
};

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
		for (int k = 0; k < NODES; k++)
			n[k] = (struct node){ .cost = NEVER };
	}
}

/* Offers a way to arrive at pos in the wide layout. */
static inline void offer_wide(struct opt *o, uint32_t pos, const struct node *way)
{
	struct node *n = &o->node[pos * NODES + 1], *worst = n;

	if (way->cost < o->cheapest[pos])
		o->cheapest[pos] = way->cost;
	for (int k = 0; k < WIDE_NODES; k++) {
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
			here->len > ENC_MIN_MATCH && here->len <= LENGTHS_ALL)) &&
	       matches_before(o, pos, off);
}

/* Lengths worth a step: all short ones and those near the longest. */
static inline uint32_t next_length(uint32_t len, uint32_t longest)
{
	if (len == LENGTHS_ALL && longest > LENGTHS_ALL + LENGTHS_NEAR)
		return longest - LENGTHS_NEAR;
	return len + 1;
}

static void even_matches(struct opt *o, uint32_t pos,
			 const struct tree_match *m, size_t n)
{
	const struct node *here = &o->node[pos * NODES];
	uint32_t len = ENC_MIN_MATCH, longest = m[n - 1].len;

	if (here->cost == NEVER)
		return;
	for (size_t i = 0; len <= longest; len = next_length(len, longest)) {
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
	}
}

static void wide_lengths(struct opt *o, uint32_t pos, uint32_t slot,
			 uint32_t off, uint32_t shortest, uint32_t longest)
{
	const struct node *here = &o->node[pos * NODES + slot];
	bool repeat = here->off == off;
	uint32_t len;

	for (len = shortest; len <= longest; len = next_length(len, longest)) {
		struct node way = {
			.cost = here->cost + match_price(o, &prices[1], len, repeat),
			.from = pos * NODES + slot, .len = len, .off = off,
		};

		if (way.cost <= o->cheapest[pos + len] + WORTH_KEEPING)
			offer_wide(o, pos + len, &way);
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

	for (uint32_t k = 2; k < NODES; k++)
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
	for (uint32_t k = 1; k < NODES; k++) {
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
	for (uint32_t k = 0; k < NODES; k++) {
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

static void forward(struct opt *o)
{
	struct tree_match m[TREE_MATCHES];
	uint32_t pos = 0;

	while (pos < o->end) {
		size_t n = find(o, pos, m);

		may_switch(o, pos);
		literals(o, pos);
		repeats(o, pos);
		if (n) {
			reach(o, pos + m[n - 1].len);
			even_matches(o, pos, m, n);
			wide_matches(o, pos, m, n);
		}
		o->before = n ? m[n - 1].len : 0;
		pos += o->before >= LENGTH_ENOUGH ? o->before : 1;
	}
	may_switch(o, pos);
}

/* Sequences of one way, last one first, filled from the end of seq. */
struct path {
	struct enc_seq *first, *last;	/* last is behind the end */
	struct enc_seq *switch_at;	/* the first wide one; null: none */
};

static void push(struct path *p, uint32_t len, uint32_t off)
{
	p->first--;
	*p->first = (struct enc_seq){ 0, len, off };
}

/* Walks back from a node; its pending literals are in no sequence. */
static void backward(struct opt *o, uint32_t id, struct path *p)
{
	size_t room = sizeof(o->seq) / sizeof(o->seq[0]);

	*p = (struct path){ .first = o->seq + room, .last = o->seq + room };
	if (o->node[id].lit)
		id = o->node[id].from;
	while (id >= NODES) {
		/* cppcheck-suppress arrayIndexOutOfBoundsCond ; id is a node made */
		const struct node *n = &o->node[id];
		uint32_t pos = id / NODES;

		if (n->gap == SWITCH) {
			p->switch_at = p->first;
			id = n->from;
			continue;
		}
		if (n->gap) {
			push(p, pos - n->from / NODES - n->len - n->gap, n->off);
			p->first->lit = n->gap;
		}
		push(p, n->len, n->off);
		id = n->from;
		p->first->lit = o->node[id].lit;
		if (o->node[id].lit)
			id = o->node[id].from;
	}
}

static uint32_t final_cost(const struct node *n)
{
	return n->cost == NEVER ? NEVER : n->cost + (n->lit ? BYTE : 0);
}

/* The cheapest node at the end; wide only where it pays. */
static uint32_t choose(const struct opt *o, const struct enc_out *out)
{
	uint32_t id = o->end * NODES, best = id;

	for (uint32_t k = 1; k < NODES; k++)
		if (final_cost(&o->node[id + k]) < final_cost(&o->node[best]))
			best = id + k;
	if (best != id && !out->out_at &&
	    (!enc_may_switch(out) ||
	     !enc_wide_pays(out, o->node[id].cost / BYTE, o->node[best].cost / BYTE)))
		best = id;
	return best;
}

static void write_path(struct enc_out *out, const struct path *p, bool final)
{
	const struct enc_seq *from = p->first;

	if (p->switch_at) {
		enc_write_as_is(out, from, p->switch_at - from);
		enc_switch(out);
		from = p->switch_at;
	}
	enc_write_as_is(out, from, p->last - from);
	if (final)
		enc_finish(out);
}

/* Position 0 of a segment: what the one before has left pending. */
static void start(struct opt *o, const struct enc_out *out)
{
	uint32_t slot = out->out_at ? 1 : 0;
	size_t left = o->limit - o->at;

	o->end = left < SEGMENT ? left : SEGMENT;
	o->reached = o->before = 0;
	for (int k = 0; k < NODES; k++)
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
	static const unsigned depths[] = { 16, 24, 32 };
	struct opt *o = state;
	struct path p;

	o->at = out->src;
	o->limit = out->src_end;
	o->block = out->favor == ENC_SIZE ? 1 : out->favor == ENC_SPEED ? 24 : 6;
	o->trailer = BYTE * (o->limit - o->at <= 65536 ? 4 : 8);
	tree_init(&o->tree, o->at, o->limit, depths[level - 7]);
	while (o->at < o->limit && !out->full) {
		start(o, out);
		forward(o);
		backward(o, choose(o, out), &p);
		o->at += o->end;
		write_path(out, &p, o->at == o->limit);
	}
}
