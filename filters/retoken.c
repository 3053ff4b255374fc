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
 * for, copy those bytes over them and switch here instead.  What remains is
 * compared with the whole block behind a header, which is always legal.
 *
 * A block is taken only if liblz4's strict decoder takes it (its end rules
 * hold, it is used up to its last byte); else no way back could be exact.
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
	const uint8_t *switch_in;	/* wide tokens stand for what is from here */
	uint8_t *switch_out;		/* ... and stand here */
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

/* Everything so far becomes even bytes, and wide tokens begin here. */
static bool switch_here(struct retoken *t)
{
	size_t n = t->in.at - t->switch_in;

	if ((size_t)(t->in.at - t->block) > t->reach ||
	    n > (size_t)(t->out.end - t->switch_out))
		return false;
	memcpy(t->switch_out, t->switch_in, n);
	t->switch_in = t->in.at;
	t->switch_out += n;
	t->switch_made = t->in.made;
	t->out.at = t->switch_out;
	t->out.offset = 0;
	return true;
}

static bool wide_is_behind(const struct retoken *t)
{
	return t->in.at - t->switch_in + SWITCH_LOSS < t->out.at - t->switch_out;
}

/*
 * A plain token and what it moves: token, 14 literals moved as 16, offset and
 * a chain byte.  More literals are looked at on their own.
 */
#define PLAIN_IN	24
#define PLAIN_OUT	24
#define LONG_MARGIN	40	/* chain bytes, offset, 31 that are moved too far */

/*
 * Reads a token with at most one chain byte for each length.  p has PLAIN_IN
 * readable bytes; false: not plain, or the literals come near the end.
 */
static inline __attribute__((always_inline)) bool
plain_read(const uint8_t *p, const uint8_t *end, struct plain *s)
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

void retoken_skip_even(struct token_reader *r)
{
	const uint8_t *at = r->at;
	const uint8_t *end = r->end;
	size_t made = r->made, stop = r->stop;
	struct plain s;

	while (end - at > PLAIN_IN && plain_read(at, end, &s)) {
		size_t from = made + s.literal_len;
		size_t to = from + s.match + 4;

		if (s.offset - 1U >= from || to + LZ4_MATCH_START > stop)
			break;
		made = to;
		at = s.next;
	}
	r->at = at;
	r->made = made;
}

/* Literals up to 269 bytes; up to 31 bytes behind both are touched. */
static inline void literals_move(uint8_t *to, const uint8_t *from, size_t n)
{
	size_t i;

	move16(to, from);
	for (i = 16; i < n; i += 32)
		move32(to + i, from + i);
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
	return (intptr_t)t->switch_out - (intptr_t)t->switch_in + SWITCH_LOSS;
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

	while (end - at > PLAIN_IN && plain_read(at, end, &s)) {
		size_t from = made + s.literal_len;
		size_t to = from + s.match + 4;

		if (s.offset - 1U >= from || to + LZ4_MATCH_START > stop ||
		    (size_t)(out_end - out) < out_room(s.literal_len))
			break;
		out = plain_write_wide(out, &s, last);
		last = s.offset;
		made = to;
		at = s.next;
		if (__builtin_expect((intptr_t)out - (intptr_t)at > lead, 0)) {
			t->in.at = at;
			t->in.made = made;
			if (!switch_here(t))
				break;
			out = t->out.at;
			last = 0;
			lead = lead_allowed(t);
		}
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
	trailer_put(t->out.at, w, t->switch_in - t->block, t->switch_made);
	header_put(dst, t->in.declared, true);
	return (int64_t)len;
}

static int64_t widen(struct retoken *t, uint8_t *dst, size_t dst_cap)
{
	struct sequence s;
	int64_t err;

	for (;;) {
		widen_plain(t);
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

int64_t retoken_lz4_size(const uint8_t *block, size_t block_len, size_t max)
{
	struct token_reader r = {
		.at = block, .end = block + block_len,
		.stop = LZVOLT_MAX_SIZE, .declared = SIZE_MAX,
	};
	struct sequence s;
	int64_t err;

	if (max < r.stop)
		r.stop = max;
	while (r.at < r.end) {
		retoken_skip_even(&r);
		s.literals = NULL;
		err = sequence_read(&r, &s, &token_even);
		/* the last sequence ends behind its literals */
		if (err == LZVOLT_E_TRUNCATED && r.at == r.end && s.literals &&
		    (size_t)(r.end - s.literals) == s.literal_len)
			return (int64_t)r.made;
		if (err)
			return err;
	}
	return LZVOLT_E_TRUNCATED;
}

int64_t lzvolt_from_lz4(const uint8_t *block, size_t block_len,
			size_t declared, uint8_t *dst, size_t dst_cap)
{
	size_t head = header_size(declared);
	struct retoken t = { 0 };
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
	err = lz4_read(&t.in, &s);
	if (err)
		return err;
	room = dst_cap - head < block_len ? dst_cap - head : block_len;
	t.switch_out = dst + head;
	t.out.end = dst + head + room;
	if (declared < 64 || !s.match_len || !switch_here(&t))
		return wrap(&t, dst, dst_cap);
	return widen(&t, dst, dst_cap);
}
