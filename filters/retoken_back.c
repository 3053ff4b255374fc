// SPDX-License-Identifier: Apache-2.0
/*
 * retoken_back.c - any lzvolt value as an LZ4 block that liblz4 accepts
 *
 * An even section already is LZ4's coding: it is checked and copied.  A wide
 * section is written again sequence by sequence.  LZ4 has rules for the end of
 * a block that lzvolt has not (retoken.h); the first match that breaks them is
 * cut short or becomes literals, with all that follows.  At most 11 decoded
 * bytes are needed for that, the value's last ones.  They come from the caller;
 * or from the sequences themselves, by a log of where each began (retoken_tail.c)
 * that grows down from dst's end; or, where the two meet, from decoding the
 * value once, into dst.  No memory is allocated.
 *
 * The log costs a tenth where it isn't needed, and brings native values from 2.9
 * to 4.5 x the speed of decoding and LZ4_compress_default (records, 64 KiB).
 * Without gain here: room proven by the decoded size instead of compared (+2 %),
 * match chains without a branch (0), entries stored by single bytes (-30 %).
 */
#include "retoken.h"
#include "mem.h"

/* As many of the last decoded bytes as a rewritten tail can ask for. */
#define TAIL_MAX	LZ4_MATCH_START

/* The tail is needed and there is no room for it behind the output. */
#define NEED_TAIL	INT64_MAX

/* Decoding less than that costs no more than a log. */
#define LOG_SIZE	1024

struct back {
	const uint8_t *value;
	size_t value_len;
	struct token_reader in;		/* the section that is being read */
	const uint8_t *wide, *wide_end;	/* the second section; null: none */
	size_t declared;
	uint8_t *dst, *dst_end;
	struct token_writer out;	/* ends where the log begins */
	uint8_t *log;			/* null: not kept */
	const uint8_t *raw_end;		/* behind TAIL_MAX decoded bytes, or null */
	uint8_t tail[TAIL_MAX];
};

static void log_drop(struct back *b)
{
	b->log = NULL;
	b->out.end = b->dst_end;
}

/* A sequence begins: this many bytes are decoded, and it will stand there. */
static void log_put(struct back *b, size_t made, const uint8_t *at)
{
	if (!b->log)
		return;
	if (b->log - b->out.at < RETOKEN_LOG) {
		log_drop(b);
		return;
	}
	b->log -= RETOKEN_LOG;
	retoken_log_put(b->log, made, at);
	b->out.end = b->log;
}

static size_t little(const uint8_t *p, size_t n)
{
	return n == 2 ? load_le16(p) : load_le32(p);
}

/* Finds the sections; 0, or an error. */
static int64_t back_open(struct back *b)
{
	int64_t declared = lzvolt_declared_size(b->value, b->value_len);
	size_t head, w, in_at, out_at;
	const uint8_t *body, *end = b->value + b->value_len;

	if (declared < 0)
		return declared;
	b->declared = declared;
	head = (b->value[0] >> 6) + 1;
	body = b->value + head;
	b->in = (struct token_reader){
		.at = body, .end = end, .stop = declared, .declared = declared,
	};
	if (head == 1 || !(b->value[0] & 32))
		return 0;
	w = declared <= 65536 ? 2 : 4;
	if ((size_t)(end - body) < 2 * w)
		return LZVOLT_E_TRUNCATED;
	end -= 2 * w;
	in_at = little(end, w);
	out_at = little(end + w, w);
	if (in_at > (size_t)(end - body) || !out_at || out_at >= b->declared)
		return LZVOLT_E_LENGTH_MISMATCH;
	b->wide = body + in_at;
	b->wide_end = end;
	b->in.end = b->wide;
	b->in.stop = out_at;
	return 0;
}

static void wide_begin(struct back *b)
{
	b->in.at = b->wide;
	b->in.end = b->wide_end;
	b->in.stop = b->declared;
	b->in.offset = 0;
}

/* By the log: s is read and not yet written, the rest is read here. */
static int64_t tail_trace(struct back *b, const struct sequence *s)
{
	struct retoken_tail t = {
		.block = b->dst, .log = b->log, .log_end = b->dst_end,
		.seq[0] = *s, .count = 1,
		.start[0] = b->in.made - s->match_len - s->literal_len,
	};
	size_t left = b->declared - t.start[0] - s->literal_len;
	bool wide = b->wide && b->in.stop == b->declared;
	int64_t err = 0;

	while (b->in.made < b->declared && !err) {
		if (b->in.made == b->in.stop) {
			wide_begin(b);
			wide = true;
		}
		t.start[t.count] = b->in.made;
		err = sequence_read(&b->in, &t.seq[t.count++],
				    wide ? &token_wide : &token_even);
	}
	if (err)
		return err;
	left = left < TAIL_MAX ? left : LZ4_LAST_LITERALS;
	retoken_tail_find(&t, b->declared, b->tail + TAIL_MAX - left, left);
	b->raw_end = b->tail + TAIL_MAX;
	return 0;
}

/* The last decoded bytes, from a decoding behind the output if there is room. */
static int64_t tail_find(struct back *b, const struct sequence *s)
{
	size_t room = b->out.end - b->out.at;
	int64_t n;

	if (b->raw_end)
		return 0;
	if (b->log) {
		n = tail_trace(b, s);
		log_drop(b);
		return n;
	}
	if (room < b->declared)
		return NEED_TAIL;
	n = lzvolt_decompress(b->value, b->value_len, b->out.at, room);
	if (n < 0)
		return n;
	b->raw_end = b->out.at + n;
	return 0;
}

/* Literals s, then the last `extra` decoded bytes, as the last sequence. */
static int64_t tail_write(struct back *b, const struct sequence *s, size_t extra)
{
	struct sequence all = { .literal_len = s->literal_len + extra };
	uint8_t tail[TAIL_MAX];
	size_t field = all.literal_len < 15 ? all.literal_len : 15;

	if (sequence_room(&all) > (size_t)(b->out.end - b->out.at))
		return LZVOLT_E_OUTPUT_TOO_SMALL;
	memcpy(tail, b->raw_end - extra, extra);
	*b->out.at++ = (uint8_t)(field << 4);
	if (field == 15)
		b->out.at = chain_write(b->out.at, all.literal_len - 15);
	if (s->literal_len)
		memcpy(b->out.at, s->literals, s->literal_len);
	b->out.at += s->literal_len;
	memcpy(b->out.at, tail, extra);
	b->out.at += extra;
	return b->out.at - b->dst;
}

/* The end of the block from the first sequence on that breaks the rules. */
static int64_t tail_rewrite(struct back *b, struct sequence *s)
{
	size_t start = b->in.made - s->match_len;
	size_t left = b->declared - start;
	struct sequence none = { 0 };
	uint8_t tail[TAIL_MAX];
	int64_t err = tail_find(b, s);

	if (err)
		return err;
	if (left < LZ4_MATCH_START)
		return tail_write(b, s, left);
	memcpy(tail, b->raw_end - LZ4_LAST_LITERALS, LZ4_LAST_LITERALS);
	b->raw_end = tail + LZ4_LAST_LITERALS;
	s->match_len = left - LZ4_LAST_LITERALS;
	if (!sequence_write(&b->out, s, &token_even))
		return LZVOLT_E_OUTPUT_TOO_SMALL;
	return tail_write(b, &none, LZ4_LAST_LITERALS);
}

static bool copy_even(struct back *b, const uint8_t *from, const uint8_t *to)
{
	size_t n = to - from;

	if (n > (size_t)(b->out.end - b->out.at))
		log_drop(b);
	if (n > (size_t)(b->out.end - b->out.at))
		return false;
	if (n)
		memcpy(b->out.at, from, n);
	b->out.at += n;
	return true;
}

/*
 * The even section.  Returns the block's length when it is done with it, 0
 * when a wide section follows, or an error.
 */
static int64_t back_even(struct back *b)
{
	const uint8_t *from = b->in.at;
	const uint8_t *at;
	struct sequence s;
	int64_t err;

	do {
		if (b->log) {
			even_walk(&b->in, &b->log, b->dst, from);
			b->out.end = b->log;
		} else {
			retoken_skip_even(&b->in);
		}
		at = b->in.at;
		log_put(b, b->in.made, b->dst + (at - from));
		err = sequence_read(&b->in, &s, &token_even);
		if (err)
			return err;
		if (breaks_end_rules(&b->in, &s))
			return copy_even(b, from, at) ? tail_rewrite(b, &s) :
			       LZVOLT_E_OUTPUT_TOO_SMALL;
	} while (b->in.made < b->in.stop);
	if (!copy_even(b, from, b->in.at))
		return LZVOLT_E_OUTPUT_TOO_SMALL;
	return b->wide ? 0 : b->out.at - b->dst;
}

#define WIDE_IN		19	/* as PLAIN_IN, with one more chain byte */
#define PLAIN_OUT	21

/*
 * Reads a wide token with at most one chain byte for each length; p has WIDE_IN
 * readable bytes.  False: not plain, or the literals come near the end.
 */
static inline __attribute__((always_inline)) bool
plain_read_wide(const uint8_t *p, const uint8_t *end, uint32_t last, struct plain *s)
{
	unsigned token = *p++;
	size_t n = token >> 6;
	size_t m = token >> 1 & 31;
	size_t repeat = token & 1;

	if (n == 3) {
		n += *p++;
		if (n == 3 + 255 || (n > 15 && (size_t)(end - p) < n + LONG_MARGIN))
			return false;
	}
	s->literals = p;
	s->literal_len = n;
	p += n;
	s->offset = repeat ? last : load_le16(p);
	p += 2 - 2 * repeat;
	if (m == 31) {
		m += *p++;
		if (m >= 15 + 255)
			return false;
	}
	s->match = m;
	s->next = p;
	return true;
}

/* Writes s in even; needs that room. */
static inline __attribute__((always_inline)) uint8_t *
plain_write_even(uint8_t *q, const struct plain *s)
{
	size_t n = s->literal_len;
	size_t m = s->match < 15 ? s->match : 15;
	size_t i;

	if (__builtin_expect(n >= 15, 0)) {
		*q++ = (uint8_t)(15 << 4 | m);
		*q++ = (uint8_t)(n - 15);
		for (i = 16; i < n; i += 16)
			move16(q + i, s->literals + i);
	} else {
		*q++ = (uint8_t)(n << 4 | m);
	}
	move16(q, s->literals);
	q += n;
	store_le16(q, s->offset);
	q[2] = (uint8_t)(s->match - 15);
	return q + 2 + (m == 15);
}

/*
 * The fast loop: plain wide sequences into LZ4's tokens.  The log's end and the
 * output's are one check.
 */
static inline __attribute__((always_inline)) void
narrow_loop(struct back *b, const bool logged)
{
	const uint8_t *at = b->in.at;
	const uint8_t *end = b->in.end;
	uint8_t *out = b->out.at;
	size_t made = b->in.made;
	uint8_t *out_end = b->out.end;
	size_t stop = b->in.stop;
	uint32_t last = b->in.offset;
	const size_t entry = logged ? RETOKEN_LOG : 0;
	struct plain s;

	while (end - at > WIDE_IN && plain_read_wide(at, end, last, &s)) {
		size_t from = made + s.literal_len;
		size_t to = from + s.match + 4;

		if (s.offset - 1U >= from || to + LZ4_MATCH_START > stop ||
		    (size_t)(out_end - out) < entry +
		    (s.literal_len <= 16 ? PLAIN_OUT : s.literal_len + LONG_MARGIN))
			break;
		if (logged) {
			out_end -= RETOKEN_LOG;
			retoken_log_put(out_end, made, out);
		}
		out = plain_write_even(out, &s);
		last = s.offset;
		made = to;
		at = s.next;
	}
	b->in.at = at;
	b->in.made = made;
	b->in.offset = last;
	b->out.at = out;
	if (logged)
		b->log = b->out.end = out_end;
}

static void narrow_plain(struct back *b)
{
	if (b->log)
		narrow_loop(b, true);
	else
		narrow_loop(b, false);
}

static int64_t back_wide(struct back *b)
{
	struct sequence s;
	int64_t err;

	wide_begin(b);
	do {
		narrow_plain(b);
		log_put(b, b->in.made, b->out.at);
		err = sequence_read(&b->in, &s, &token_wide);
		if (err)
			return err;
		if (breaks_end_rules(&b->in, &s))
			return tail_rewrite(b, &s);
		if (sequence_write(&b->out, &s, &token_even))
			continue;
		log_drop(b);
		if (!sequence_write(&b->out, &s, &token_even))
			return LZVOLT_E_OUTPUT_TOO_SMALL;
	} while (s.match_len);
	return b->out.at - b->dst;
}

static int64_t back_run(struct back *b, size_t dst_cap)
{
	int64_t n = back_open(b);

	if (n)
		return n;
	b->out = (struct token_writer){ .at = b->dst, .end = b->dst + dst_cap };
	b->dst_end = b->out.end;
	b->log = b->raw_end || b->declared < LOG_SIZE ? NULL : b->out.end;
	if (!b->declared) {
		if (!dst_cap)
			return LZVOLT_E_OUTPUT_TOO_SMALL;
		b->dst[0] = 0;
		return 1;
	}
	n = back_even(b);
	return n ? n : back_wide(b);
}

int64_t retoken_to_lz4(const uint8_t *value, size_t value_len,
		       uint8_t *dst, size_t dst_cap, const uint8_t *raw)
{
	struct back b = { .value = value, .value_len = value_len, .dst = dst };
	uint8_t tail[TAIL_MAX];
	int64_t n, declared;
	size_t keep;

	if ((!value && value_len) || (!dst && dst_cap))
		return LZVOLT_E_NULL;
	declared = lzvolt_declared_size(value, value_len);
	if (raw && declared > 0)
		b.raw_end = raw + declared;
	n = back_run(&b, dst_cap);
	if (n != NEED_TAIL)
		return n;
	n = lzvolt_decompress(value, value_len, dst, dst_cap);
	if (n < 0)
		return n;
	keep = n < TAIL_MAX ? n : TAIL_MAX;
	memcpy(tail + TAIL_MAX - keep, dst + n - keep, keep);
	b.raw_end = tail + TAIL_MAX;
	return back_run(&b, dst_cap);
}

int64_t lzvolt_to_lz4(const uint8_t *value, size_t value_len,
		      uint8_t *dst, size_t dst_cap)
{
	return retoken_to_lz4(value, value_len, dst, dst_cap, NULL);
}
