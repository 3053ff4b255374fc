// SPDX-License-Identifier: Apache-2.0
/*
 * retoken.c - LZ4 blocks as lzvolt values, token by token
 *
 * LZ4's block coding is canonical: a list of (literals, offset, match length)
 * has one encoding, but for the low half of the last token.  So the list can
 * be written in lzvolt's tokens and brought back later bit for bit, without
 * searching and without decoding.
 *
 * An even section is the LZ4 block's own bytes, so a value is a piece of the
 * block up to a switch point, and the rest in wide tokens.  Where to switch is
 * found as one finds the best suffix sum: write wide tokens from the last
 * switch on, and whenever they have become longer than the bytes they stand
 * for, drop them and switch here instead; the even bytes are copied once, at
 * the end.  What remains is compared with the whole block behind a header,
 * which is always legal.
 *
 * A block is taken only if liblz4's strict decoder takes it (its end rules
 * hold, it is used up to its last byte); else no way back could be exact.
 *
 * Speed is 5 to 7 ns a sequence, and the price is instructions and guessed
 * branches.  Measured against decoding by liblz4 and LZ4_compress_default, one
 * Zen core, interleaved, before and after:
 *
 *	checks of room and decoded size hoisted (widen_far)	2.5 -> 3.1 records 64 KiB
 *	even bytes copied once instead of at each switch	+5 %
 *	first sequence by the fast reader, margins of 18 bytes,
 *	16-byte steps, no cleared state				2.7 -> 3.4 varied 512
 *	match chain without a branch				+9 % flights 64 KiB
 *
 * Without gain: the match chain without a branch near the end too (-6 % at 512
 * bytes), switching by conditional moves (-18 % on records), the far loop for
 * blocks below 1 KiB (-5 %), a chain byte written under a condition (-6 %).
 */
#include "retoken.h"
#include "mem.h"

/*
 * How many bytes wide may be behind before it starts again.  0 would be the
 * best suffix to the byte, but text without repeats would start again at each
 * sequence; 16 loses at most 16 bytes and is 1.3 x as fast there.
 */
#define SWITCH_LOSS 16

struct retoken {
	struct token_reader in;
	struct token_writer out;
	const uint8_t *block;
	size_t block_len;
	uint8_t *body;			/* of the value: the even bytes, then wide */
	const uint8_t *switch_in;	/* wide tokens stand for what is from here */
	size_t switch_made;
	size_t reach;			/* largest in_at that the trailer can say */
};

static size_t header_size(size_t declared)
{
	return declared < 64 ? 1 : declared < 8192 ? 2 : declared < 2097152 ? 3 : 4;
}

static void header_put(uint8_t *dst, size_t declared, bool hybrid)
{
	size_t n = header_size(declared);
	size_t i;

	for (i = n; i--; declared >>= 8)
		dst[i] = (uint8_t)declared;
	dst[0] |= (uint8_t)((n - 1) << 6 | (hybrid ? 32 : 0));
}

static size_t trailer_width(size_t declared)
{
	return declared <= 65536 ? 2 : 4;
}

static void trailer_put(uint8_t *p, size_t w, size_t in_at, size_t out_at)
{
	size_t i;

	for (i = 0; i < w; i++) {
		p[i] = (uint8_t)(in_at >> 8 * i);
		p[w + i] = (uint8_t)(out_at >> 8 * i);
	}
}

/*
 * Everything so far becomes even bytes, and wide tokens begin here, as far into
 * the body as the block was read: the even bytes are copied once, at the end.
 */
static bool switch_here(struct retoken *t)
{
	size_t n = t->in.at - t->block;

	if (n > t->reach || n > (size_t)(t->out.end - t->body))
		return false;
	t->switch_in = t->in.at;
	t->switch_made = t->in.made;
	t->out.at = t->body + n;
	t->out.offset = 0;
	return true;
}

static bool wide_is_behind(const struct retoken *t)
{
	return t->in.at - t->block + SWITCH_LOSS < t->out.at - t->body;
}

#define PLAIN_OUT	21	/* two chain bytes, 16 literals, offset */

/* Literals up to 269 bytes; up to 15 bytes behind both are touched. */
static inline void literals_move(uint8_t *to, const uint8_t *from, size_t n)
{
	size_t i;

	move16(to, from);
	for (i = 16; i < n; i += 16)
		move16(to + i, from + i);
}

/* Room that a plain sequence wants. */
static inline size_t out_room(size_t literal_len)
{
	return literal_len <= 16 ? PLAIN_OUT : literal_len + LONG_MARGIN;
}

/* Writes s in wide; needs out_room(). */
static inline __attribute__((always_inline)) uint8_t *
plain_write_wide(uint8_t *q, const struct plain *s, uint32_t last)
{
	uint8_t *token = q++;
	size_t n = s->literal_len;
	size_t field = n < 3 ? n : 3;
	size_t repeat = s->offset == last;
	size_t m = s->match < 31 ? s->match : 31;

	if (__builtin_expect(n >= 3 + 255, 0)) {
		*q++ = 255;
		n -= 255;
	}
	*q = (uint8_t)(n - 3);
	q += field == 3;
	literals_move(q, s->literals, s->literal_len);
	q += s->literal_len;
	*token = (uint8_t)(field << 6 | m << 1 | repeat);
	store_le16(q, s->offset);
	q += 2 - 2 * repeat;
	*q = (uint8_t)(s->match - 31);
	return q + (m == 31);
}

/*
 * How far the output's address may be ahead of the input's before wide is
 * behind: one subtraction a sequence instead of three.
 */
static intptr_t lead_allowed(const struct retoken *t)
{
	return (intptr_t)t->body - (intptr_t)t->block + SWITCH_LOSS;
}

/* switch_here() out of a loop that has read up to `at`; it goes on with out, last. */
static inline __attribute__((always_inline)) bool
switch_from(struct retoken *t, const uint8_t *at, size_t made, uint8_t **out, uint32_t *last)
{
	t->in.at = at;
	t->in.made = made;
	if (!switch_here(t))
		return false;
	*out = t->out.at;
	*last = 0;
	return true;
}

/*
 * The fast loop: plain sequences into wide tokens.  It leaves the rest, all
 * edges and all verdicts to the careful step.
 */
static void widen_plain(struct retoken *t)
{
	const uint8_t *at = t->in.at;
	const uint8_t *end = t->in.end;
	uint8_t *out = t->out.at;
	size_t made = t->in.made;
	uint8_t *out_end = t->out.end;
	size_t stop = t->in.stop;
	uint32_t last = t->out.offset;
	intptr_t lead = lead_allowed(t);
	struct plain s;

	while (end - at > PLAIN_IN && plain_read_even(at, end, &s)) {
		size_t from = made + s.literal_len;
		size_t to = from + s.match + 4;

		if (s.offset - 1U >= from || to + LZ4_MATCH_START > stop ||
		    (size_t)(out_end - out) < out_room(s.literal_len))
			break;
		out = plain_write_wide(out, &s, last);
		last = s.offset;
		made = to;
		at = s.next;
		if (__builtin_expect((intptr_t)out - (intptr_t)at > lead, 0) &&
		    !switch_from(t, at, made, &out, &last))
			break;
	}
	t->in.at = at;
	t->in.made = made;
	t->out.at = out;
	t->out.offset = last;
}

/*
 * The same far from the end of a block for whose bytes there is room.  Wide is
 * never further ahead than SWITCH_LOSS, so the input's end bounds the output
 * too.  Decoded bytes are counted but not compared: nothing here depends on
 * them, widen() looks behind the loop, and at least 37 bytes of the block are
 * left then, more than an end can take.
 */
#define FAR_BLOCK	1024	/* below, two loops cost more than the checks */
#define FAR_IN		56
#define FAR_MARGIN	64

/*
 * Literals of a far token, moved to q.  In front of them goes a chain byte, or
 * what the token will be written over.
 */
static inline __attribute__((always_inline)) bool
far_literals(uint8_t *q, const uint8_t *end, struct plain *s)
{
	const uint8_t *p = s->next;
	size_t i;

	if (__builtin_expect(s->literal_len == 15, 0)) {
		s->literal_len += *p++;
		if (s->literal_len >= 3 + 255 ||
		    (size_t)(end - p) < s->literal_len + FAR_MARGIN)
			return false;
		for (i = 16; i < s->literal_len; i += 32)
			move32(q + i, p + i);
	}
	q[-1] = (uint8_t)(s->literal_len - 3);
	move16(q, p);
	s->next = p + s->literal_len;
	return true;
}

/* Offset and match, without a branch on the chain byte. */
static inline __attribute__((always_inline)) bool
far_match(struct plain *s)
{
	const uint8_t *p = s->next;
	size_t more = (s->match + 1) >> 4;

	s->offset = load_le16(p);
	s->match += p[2] & -more;
	s->next = p + 2 + more;
	return s->match < 15 + 255;
}

static void widen_far(struct retoken *t)
{
	const uint8_t *at = t->in.at;
	const uint8_t *end = t->in.end;
	uint8_t *out = t->out.at;
	size_t made = t->in.made;
	uint32_t last = t->out.offset;
	intptr_t lead = lead_allowed(t);

	while (end - at >= FAR_IN) {
		size_t n = *at >> 4, field = n < 3 ? n : 3, m, repeat;
		uint8_t *q = out + 1 + (n >= 3);
		struct plain s = { .next = at + 1, .literal_len = n, .match = *at & 15 };

		if (!far_literals(q, end, &s) || !far_match(&s) ||
		    s.offset - 1U >= made + s.literal_len)
			break;
		repeat = s.offset == last;
		q += s.literal_len;
		store_le16(q, s.offset);
		q += 2 - 2 * repeat;
		*q = (uint8_t)(s.match - 31);
		q += s.match >= 31;
		m = s.match < 31 ? s.match : 31;
		*out = (uint8_t)(field << 6 | m << 1 | repeat);
		made += s.literal_len + s.match + 4;
		out = q;
		last = s.offset;
		at = s.next;
		if (__builtin_expect((intptr_t)out - (intptr_t)at > lead, 0) &&
		    !switch_from(t, at, made, &out, &last))
			break;
	}
	t->in.at = at;
	t->in.made = made;
	t->out.at = out;
	t->out.offset = last;
}

/* LZ4's end rules for a sequence that has just been read. */
static int64_t check_end_rules(const struct token_reader *r,
			       const struct sequence *s)
{
	/* liblz4 takes the block of nothing only as one zero byte */
	bool bad = s->match_len ? breaks_end_rules(r, s) :
		   r->at != r->end || (!r->declared && s->spare);

	return bad ? LZVOLT_E_LENGTH_MISMATCH : 0;
}

static int64_t lz4_read(struct token_reader *r, struct sequence *s)
{
	int64_t err = sequence_read(r, s, &token_even);

	return err ? err : check_end_rules(r, s);
}

/* The block behind a header; what wasn't read of it yet is checked first. */
static int64_t wrap(struct retoken *t, uint8_t *dst, size_t dst_cap)
{
	size_t head = header_size(t->in.declared);
	struct sequence s = { .match_len = 1 };
	int64_t err = 0;

	while (t->in.made < t->in.declared && !err) {
		retoken_skip_even(&t->in);
		err = lz4_read(&t->in, &s);
	}
	if (err)
		return err;
	if (dst_cap < head + t->block_len)
		return LZVOLT_E_OUTPUT_TOO_SMALL;
	header_put(dst, t->in.declared, false);
	memcpy(dst + head, t->block, t->block_len);
	return (int64_t)(head + t->block_len);
}

/* Ends the wide section, if it is worth it and can carry the last token. */
static int64_t finish(struct retoken *t, const struct sequence *last,
		      uint8_t *dst, size_t dst_cap)
{
	size_t head = header_size(t->in.declared);
	size_t w = trailer_width(t->in.declared);
	size_t len;

	if (last->spare || !sequence_write(&t->out, last, &token_wide))
		return wrap(t, dst, dst_cap);
	len = t->out.at - dst + 2 * w;
	if (len >= head + t->block_len || len > dst_cap)
		return wrap(t, dst, dst_cap);
	memcpy(t->body, t->block, t->switch_in - t->block);
	trailer_put(t->out.at, w, t->switch_in - t->block, t->switch_made);
	header_put(dst, t->in.declared, true);
	return (int64_t)len;
}

static int64_t widen(struct retoken *t, uint8_t *dst, size_t dst_cap)
{
	struct sequence s;
	int64_t err;

	bool far = t->block_len >= FAR_BLOCK &&
		   (size_t)(t->out.end - t->body) == t->block_len;

	for (;;) {
		if (far) {
			widen_far(t);
			if (t->in.made > t->in.stop)
				return LZVOLT_E_LENGTH_MISMATCH;
			if (t->in.end - t->in.at < FAR_IN)
				widen_plain(t);
		} else {
			widen_plain(t);
		}
		err = lz4_read(&t->in, &s);
		if (err)
			return err;
		if (!s.match_len)
			return finish(t, &s, dst, dst_cap);
		if (sequence_write(&t->out, &s, &token_wide) &&
		    !wide_is_behind(t))
			continue;
		if (!switch_here(t))
			return wrap(t, dst, dst_cap);
	}
}

/* The first sequence stays even: read as in widen_plain() where it can be. */
static int64_t first_read(struct token_reader *r, struct sequence *s)
{
	struct plain p;

	if (r->end - r->at <= PLAIN_IN || !plain_read_even(r->at, r->end, &p) ||
	    p.offset - 1U >= p.literal_len ||
	    p.literal_len + p.match + 4 + LZ4_MATCH_START > r->stop)
		return lz4_read(r, s);
	s->match_len = p.match + 4;
	r->made = p.literal_len + s->match_len;
	r->at = p.next;
	return 0;
}

static void retoken_start(struct retoken *t, const uint8_t *block,
			  size_t block_len, size_t declared)
{
	t->in = (struct token_reader){
		.at = block, .end = block + block_len,
		.stop = declared, .declared = declared,
	};
	t->block = t->switch_in = block;
	t->block_len = block_len;
	t->reach = declared <= 65536 ? 65535 : UINT32_MAX;
}

int64_t retoken_wrap(const uint8_t *block, size_t block_len, size_t declared,
		     uint8_t *dst, size_t dst_cap)
{
	struct retoken t = { 0 };
	struct sequence s = { 0 };
	int64_t err;

	if (declared > LZVOLT_MAX_SIZE || block_len > UINT32_MAX)
		return LZVOLT_E_TOO_LARGE;
	if (!block_len)
		return LZVOLT_E_TRUNCATED;
	retoken_start(&t, block, block_len, declared);
	/* a block of nothing is one token that wrap() wouldn't look at */
	err = declared ? 0 : lz4_read(&t.in, &s);
	return err ? err : wrap(&t, dst, dst_cap);
}

int64_t lzvolt_from_lz4(const uint8_t *block, size_t block_len,
			size_t declared, uint8_t *dst, size_t dst_cap)
{
	size_t head = header_size(declared);
	struct retoken t;
	struct sequence s;
	size_t room;
	int64_t err;

	if ((!block && block_len) || (!dst && dst_cap))
		return LZVOLT_E_NULL;
	if (declared > LZVOLT_MAX_SIZE || block_len > UINT32_MAX)
		return LZVOLT_E_TOO_LARGE;
	if (!block_len)
		return LZVOLT_E_TRUNCATED;
	if (dst_cap < head)
		return LZVOLT_E_OUTPUT_TOO_SMALL;
	retoken_start(&t, block, block_len, declared);
	err = first_read(&t.in, &s);
	if (err)
		return err;
	room = dst_cap - head < block_len ? dst_cap - head : block_len;
	t.body = dst + head;
	t.out.end = dst + head + room;
	if (declared < 64 || !s.match_len || !switch_here(&t))
		return wrap(&t, dst, dst_cap);
	return widen(&t, dst, dst_cap);
}
