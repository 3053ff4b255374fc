/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzvolt_enc_fast.c - levels 1 to 3: one pass over one hash table
 *
 * At each position first the remembered offset one byte further on, then one
 * candidate from the table.  The repeat saves two bytes in the wide layout,
 * needs no hash, and makes the next repeat likely.
 *
 * The table holds the low 16 bits of positions.  In a value of up to 64 KiB
 * that is the position; in a longer one it is taken as "the nearest position
 * before this one with those low bits", which is always inside the window and
 * inside the source, whatever the entry was made for: no window check and no
 * rebasing.  The table is cleared for every value, so a value never depends on
 * the ones before it.
 *
 * A value goes through three phases of one loop: the first sequences are kept
 * until the layout is decided, the bulk is written at once in that layout, and
 * the last bytes are kept again, because the moves of the bulk need room.
 *
 * What decides the speed is mispredicted branches, not instructions: the
 * length of a match is found by one 32-byte comparison without a branch (an
 * 8-byte one with a branch on top is 7 % slower on files), the position right
 * behind a match has its own copy of the probe (4 % with 4-byte hashes, nothing
 * with 5), and tokens are written while the next search is under way (a list of
 * sequences written afterwards costs 8 %).  Worse or no better: the repeat at 1
 * to 4 bytes by one 8-byte comparison, two positions a step with a branchless
 * choice, a table of 12 bits at 64 KiB (html 2 % slower, all 2 % larger).
 *
 * Level 1 is nearest to LZ4's own speed on html and logs (0.9 to 1.0 of it, the
 * mean 1.1 to 1.2): both are bound by branches there.  Moved it: 6 bytes hashed
 * at 64 KiB (html 5 % faster), 11 bits instead of 12 at 4 KiB (3 %, 0.5 % larger),
 * the byte before a match entered instead of the third in it (1 %).  Didn't: no
 * own copy of the probe behind a match (6 % slower), no repeats in the even bulk
 * (html 6 % faster, records 20 % slower), two entries a match instead of three
 * (3 % slower), aligned functions.  Below 1 KiB, 6 bytes hashed read records 7 to
 * 13 % faster than 5 and leave file cuts 3 to 7 % larger; at level 3 and 64 KiB, 12
 * or 13 bits pack 4 to 7 % faster and leave prose 4.5 to 13 % larger.
 */
#include "lzvolt_enc.h"
#include "equal.h"

/* Misses until the step grows by one: noise is left at a run. */
#define SKIP_SHIFT	5
#define NOISE_STEP	(4u << SKIP_SHIFT)	/* 96 misses, 192 bytes */
/* A match this long is taken as it is; 128 makes logs 5 % smaller. */
#define LAZY_BELOW	32
#define LAZY_BELOW_SIZE	128
/* Hashing reads 8 bytes; a literal move in the bulk 16 and a match's start. */
#define TAIL_ROOM	8
#define BULK_ROOM	24
/* Sequences that are kept to decide the layout. */
#define KEEP		16
/* A value that stays even is asked again after so many bytes. */
#define RETHINK		65536

#define INLINE static inline __attribute__((always_inline))

/* A loop of its own is made for each of these; see plans[]. */
struct plan {
	unsigned bits;		/* of the table's index */
	unsigned bytes;		/* that are hashed */
	unsigned lazy;		/* how many bytes further to look */
	bool far;		/* the value is longer than 64 KiB */
	bool size;		/* size before speed */
};

struct find {
	const uint8_t *base, *end;
	uint16_t *table;
	struct plan plan;
};

struct match {
	const uint8_t *at, *from;
	size_t len;
};

INLINE uint16_t *slot_of(const struct find *f, uint64_t bytes)
{
	uint64_t factor = 0x9E3779B185EBCA87ULL << (64 - 8 * f->plan.bytes);

	return &f->table[bytes * factor >> (64 - f->plan.bits)];
}

INLINE void insert(const struct find *f, const uint8_t *p)
{
	*slot_of(f, enc_load64(p)) = (uint16_t)(p - f->base);
}

/* Enters p, where v is; true when its candidate's first 4 bytes match. */
INLINE bool probe(const struct find *f, const uint8_t *p, uint64_t v,
		  struct match *m)
{
	uint16_t *slot = slot_of(f, v);
	uint16_t pos = p - f->base;

	m->at = p;
	m->from = f->plan.far ? p - (uint16_t)(pos - *slot) : f->base + *slot;
	*slot = pos;
	return (uint32_t)v == enc_load32(m->from) && (!f->plan.far || m->from != p);
}

INLINE bool repeats(const uint8_t *p, uint32_t v, size_t off)
{
	return v == enc_load32(p - off);
}

/* Past the first 32 equal bytes, or near the end. */
static __attribute__((noinline)) size_t
length_rest(const uint8_t *p, const uint8_t *from, const uint8_t *end)
{
	const uint8_t *start = p;

	while (end - p >= 32) {
		size_t n = equal32(p, from);

		p += n;
		from += n;
		if (n < 32)
			return p - start;
	}
	return p - start + enc_count(p, from, end);
}

INLINE size_t length(const uint8_t *p, const uint8_t *from, const uint8_t *end)
{
	size_t n;

	if (__builtin_expect(end - p < 32, 0))
		return length_rest(p, from, end);
	n = equal32(p, from);
	return n < 32 ? n : 32 + length_rest(p + 32, from + 32, end);
}

/* The remembered offset one byte after p, where v is. */
INLINE bool probe_repeat(const struct find *f, const uint8_t *p, uint64_t v,
			 size_t off, struct match *m)
{
	if (!repeats(p + 1, (uint32_t)(v >> 8), off))
		return false;
	m->at = p + 1;
	m->from = m->at - off;
	m->len = length(m->at, m->from, f->end);
	return true;
}

/* Is there something better right behind the match's start? */
INLINE void improve(const struct find *f, const uint8_t *limit, size_t off,
		    struct match *m)
{
	size_t enough = f->plan.size ? LAZY_BELOW_SIZE : LAZY_BELOW;

	while (m->len < enough && m->at + 2 < limit) {
		const uint8_t *p = m->at + 1;
		uint64_t v = enc_load64(p);
		struct match n;

		if (repeats(p + 1, (uint32_t)(v >> 8), off) &&
		    probe_repeat(f, p, v, off, &n) && n.len + 2 > m->len) {
			*m = n;
			return;
		}
		if (probe(f, p, v, &n)) {
			n.len = length(n.at, n.from, f->end);
			if (n.len > m->len) {
				*m = n;
				continue;
			}
		}
		if (f->plan.lazy < 2 || !probe(f, p + 1, enc_load64(p + 1), &n))
			return;
		n.len = length(n.at, n.from, f->end);
		if (n.len <= m->len + 1)
			return;
		*m = n;
	}
}

INLINE void extend_back(const struct find *f, const uint8_t *anchor,
			struct match *m)
{
	while (m->at > anchor && m->from > f->base && m->at[-1] == m->from[-1]) {
		m->at--;
		m->from--;
		m->len++;
	}
}

/* A hash match becomes the best that its neighbourhood has. */
INLINE void finish(const struct find *f, const uint8_t *anchor,
		   const uint8_t *limit, size_t off, struct match *m)
{
	m->len = length(m->at, m->from, f->end);
	if (f->plan.lazy)
		improve(f, limit, off, m);
	extend_back(f, anchor, m);
}

/*
 * A repeat was found one byte after p.  What p's own candidate has may end
 * farther on, and then leaves a block out: records of 64 KiB are 4 % smaller,
 * logs 3 %, and packing takes a tenth longer.
 */
INLINE void or_candidate(const struct find *f, const uint8_t *p, uint64_t v,
			 const uint8_t *anchor, struct match *m)
{
	struct match n;

	if (!probe(f, p, v, &n))
		return;
	n.len = length(n.at, n.from, f->end);
	if (n.len <= m->len + 1)
		return;
	*m = n;
	extend_back(f, anchor, m);
}

/*
 * As next_match(), behind so many misses that a repeat isn't asked for: noise of
 * 4 KiB is refused a fifth faster, of 64 KiB a quarter at level 3 and a sixth at
 * level 1, records are packed up to 5 % slower.
 */
INLINE bool next_in_noise(const struct find *f, const uint8_t *p,
			  const uint8_t *limit, const uint8_t *anchor, size_t off,
			  unsigned step, struct match *m)
{
	for (; __builtin_expect(p < limit, 1); p += step++ >> SKIP_SHIFT) {
		if (probe(f, p, enc_load64(p), m)) {
			finish(f, anchor, limit, off, m);
			return true;
		}
	}
	m->at = p;
	return false;
}

/*
 * The next match at or after p; false when there is none before limit, m->at
 * is then where the search ended: nothing from there on has been entered.
 */
INLINE bool next_match(const struct find *f, const uint8_t *p,
		       const uint8_t *limit, const uint8_t *anchor, size_t off,
		       struct match *m)
{
	unsigned step = 1u << SKIP_SHIFT;
	uint64_t v;

	m->at = p;
	if (__builtin_expect(p >= limit, 0))
		return false;
	/* Right behind a match: its own copy, for the branch predictor. */
	if (!f->plan.lazy) {
		v = enc_load64(p);
		if (probe_repeat(f, p, v, off, m))
			return true;
		if (probe(f, p, v, m)) {
			finish(f, anchor, limit, off, m);
			return true;
		}
		p++;
	}
	for (; __builtin_expect(p < limit, 1); p += step++ >> SKIP_SHIFT) {
		if (__builtin_expect(step >= NOISE_STEP, 0))
			return next_in_noise(f, p, limit, anchor, off, step, m);
		v = enc_load64(p);
		if (probe_repeat(f, p, v, off, m)) {
			if (f->plan.size)
				or_candidate(f, p, v, anchor, m);
			return true;
		}
		if (probe(f, p, v, m)) {
			finish(f, anchor, limit, off, m);
			return true;
		}
	}
	m->at = p;
	return false;
}

/*
 * Enters some of the positions that a match has passed.  The byte before it
 * too: where that was the one literal before a repeat it isn't in yet, and
 * columns of digits are found by it (records of 4 KiB 3 % smaller).
 */
INLINE void insert_match(const struct find *f, const struct match *m,
			 const uint8_t *p, const uint8_t *limit)
{
	if (p >= limit)
		return;
	insert(f, m->at - 1);
	insert(f, m->at + 1);
	insert(f, p - 2);
}

struct cursor {
	const uint8_t *anchor;	/* everything before is in sequences */
	const uint8_t *p;	/* everything before has been searched */
	size_t off;
};

/* Keeps up to KEEP sequences; true when there are as many, to be decided on. */
INLINE bool parse_kept(const struct find *f, struct enc_out *out,
		       struct cursor *cur, const uint8_t *limit)
{
	struct enc_seq seq[KEEP];
	size_t n = 0;
	struct match m;

	while (n < KEEP &&
	       next_match(f, cur->p, limit, cur->anchor, cur->off, &m)) {
		cur->off = m.at - m.from;
		seq[n++] = (struct enc_seq){ m.at - cur->anchor, m.len, cur->off };
		cur->anchor = cur->p = m.at + m.len;
		insert_match(f, &m, cur->p, limit);
	}
	enc_write(out, seq, n, n < KEEP);
	return n == KEEP;
}

/* Writes sequences as they are found, in one layout, until limit. */
INLINE void parse_bulk(const struct find *f, struct enc_out *out,
		       struct cursor *cur, const uint8_t *limit, bool is_wide)
{
	const uint8_t *anchor = cur->anchor, *p = cur->p;
	uint8_t *op = out->op, *const room = out->limit;
	size_t off = cur->off, last = out->last_off;
	struct match m;

	while (next_match(f, p, limit, anchor, off, &m)) {
		size_t lit = m.at - anchor;

		off = m.at - m.from;
		if (__builtin_expect((size_t)(room - op) < put_room(lit, m.len), 0)) {
			struct enc_seq seq = { lit, m.len, off };

			out->op = op;
			out->src = anchor;
			out->last_off = last;
			enc_put(out, &seq);
			if (out->full)
				return;
			op = out->op;
		} else {
			op = put_plain(op, anchor, lit, m.len, off,
				       is_wide ? &wide : &even,
				       is_wide && off == last);
		}
		last = off;
		p = anchor = m.at + m.len;
		insert_match(f, &m, p, limit);
	}
	out->op = op;
	out->src = anchor;
	out->last_off = last;
	*cur = (struct cursor){ anchor, m.at, off };
}

/* The bulk ends where its moves would read past the source. */
static const uint8_t *limit_of(const struct find *f, size_t room)
{
	return (size_t)(f->end - f->base) > room ? f->end - room : f->base;
}

/* Hides the size, of which gcc would make a slow string instruction. */
static inline void clear(uint16_t *table, unsigned bits)
{
	__asm__("" : "+r"(bits));
	memset(table, 0, sizeof(*table) << bits);
}

INLINE void parse(struct enc_out *out, void *state, struct plan plan)
{
	struct find f = { out->src, out->src_end, state, plan };
	/* From byte 1: an offset of 1 has something to point at. */
	struct cursor cur = { out->src, out->src + 1, 1 };
	const uint8_t *bulk = limit_of(&f, BULK_ROOM);

	clear(state, plan.bits);
	while (parse_kept(&f, out, &cur, limit_of(&f, TAIL_ROOM)) && !out->full) {
		bool is_wide = out->out_at;
		bool all = is_wide || bulk - cur.p <= RETHINK;
		const uint8_t *limit = all ? bulk : cur.p + RETHINK;

		/* A loop for each layout only where it is felt. */
		if (plan.lazy || !is_wide)
			parse_bulk(&f, out, &cur, limit, plan.lazy && is_wide);
		else
			parse_bulk(&f, out, &cur, limit, true);
		if (out->full)
			return;
	}
}

/*
 * The loops: one for each size of value a level has.  A table as large as the
 * value for small ones, which is cheap to clear; half of L1 above.  Hashing
 * more bytes finds fewer and longer matches, which is faster to pack and to
 * read.  Up to 64 KiB 6 bytes instead of 5 are 13 % faster at level 3 and read 10 %
 * faster, for 2 % of the size; at 4 KiB prose would be 5 % larger.  Matches of 4
 * bytes are for those who want size: up to 8 KiB they are worth 1 % (prose 3 %)
 * and cost a fifth of the speed and up to 60 % more blocks.  At 512 bytes they are
 * worth 0 (records) to 1.7 % and cost 5 % of the speed, and reading 5 % (records)
 * to 16 %.  But there they often decide whether a value saves an eighth (prose: 35
 * values of 100 do, without them 26), so one that fails is tried again with them
 * if it had any match: noise has none.
 */
#define LOOP(name, ...) \
static void name(struct enc_out *out, void *state) \
{ \
	parse(out, state, (struct plan){ __VA_ARGS__ }); \
}

LOOP(fast_1k, 9, 5, 0, false, false)
LOOP(fast_1k_size, 9, 4, 0, false, false)
LOOP(fast_8k, 11, 5, 0, false, false)
LOOP(fast_8k_size, 12, 4, 0, false, false)
LOOP(fast_64k, 13, 6, 0, false, false)
LOOP(fast_64k_size, 13, 5, 0, false, false)
LOOP(fast_far, 13, 5, 0, true, false)
LOOP(lazy_1k, 10, 5, 1, false, false)
LOOP(lazy_1k_size, 10, 4, 1, false, false)
LOOP(lazy_8k, 12, 5, 1, false, false)
LOOP(lazy_8k_size, 12, 4, 1, false, false)
LOOP(lazy_64k, 13, 6, 1, false, false)
LOOP(lazy_64k_size, 13, 5, 1, false, false)
LOOP(lazy_far, 14, 5, 1, true, false)
LOOP(best_1k, 10, 5, 2, false, false)
LOOP(best_1k_size, 10, 4, 2, false, false)
LOOP(best_8k, 12, 5, 2, false, false)
LOOP(best_8k_size, 12, 4, 2, false, true)
LOOP(best_64k, 14, 6, 2, false, false)
LOOP(best_64k_size, 14, 5, 2, false, true)
LOOP(best_far, 14, 5, 2, true, false)
LOOP(best_far_size, 14, 5, 2, true, true)

typedef void loop(struct enc_out *, void *);

struct loops {
	loop *to_1k, *to_8k, *to_64k, *far;
};

void enc_fast(struct enc_out *out, void *state, int level)
{
	static const struct loops rows[2][3] = { {
		{ fast_1k, fast_8k, fast_64k, fast_far },
		{ lazy_1k, lazy_8k, lazy_64k, lazy_far },
		{ best_1k, best_8k, best_64k, best_far },
	}, {
		{ fast_1k_size, fast_8k_size, fast_64k_size, fast_far },
		{ lazy_1k_size, lazy_8k_size, lazy_64k_size, lazy_far },
		{ best_1k_size, best_8k_size, best_64k_size, best_far_size },
	} };
	const struct loops *row = &rows[out->favor == ENC_SIZE][level - 1];
	size_t len = out->src_end - out->src;
	uint8_t *limit = out->limit;

	(len < ENC_SMALL ? row->to_1k : len <= 8192 ? row->to_8k :
	 len <= 65536 ? row->to_64k : row->far)(out, state);
	/* Refused, but for blocks: shorter ones may save it. */
	if (len < ENC_SMALL && out->full && out->src != out->src_begin &&
	    out->favor != ENC_SIZE) {
		enc_restart(out, limit);
		rows[1][level - 1].to_1k(out, state);
	}
}
