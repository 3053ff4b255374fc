/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzvolt_enc.c - lzvolt values: levels, refusal, tokens and the switch point
 *
 * A finder hands over sequences (literal run, match length, offset) and this
 * file writes them.  A value starts in the even layout; the wide layout spends
 * a bit on "same offset as before", which saves the two offset bytes.  What a
 * sequence costs in wide, less what it costs in even, is
 *
 *	-2  when it repeats the offset of the sequence before it
 *	+1  when its literal run is 3..14 (saturates at 3 instead of 15)
 *	-1  when its match is 19..34 (saturates at 35 instead of 19)
 *
 * so the best place to switch is where the running sum of that is highest, and
 * finding it costs one addition a sequence.
 *
 * Wide costs reading speed: where literal runs are short it reads as fast as
 * even, elsewhere up to a third slower.  Unpacking, as a multiple of liblz4
 * unpacking its own, rotating, one Zen 3 core, level 3, 5 bytes hashed at every
 * size; wide where it is smaller at all / even alone; what wide saves of even's:
 *
 *	records 4, 64 KiB	1.15, 1.35 / 1.43, 1.38	28, 50 %
 *	flights 64 KiB		1.38 / 1.57		15 %
 *	kafka log 64 KiB	1.20 / 1.25		17 %
 *	varied 4, 64 KiB	1.13, 1.36 / 1.66, 1.57	5, 3 %
 *	zipcodes, elf 64 KiB	0.88, 0.95 / 1.71, 1.41	2, 1 %
 *
 * So the balance takes wide when it saves an eighth, the same measure as for
 * packing at all; favor size takes it for a byte, favor speed for a third.
 *
 * Refusal: a value must save an eighth and at least 8 bytes.  That is one
 * output limit, set before the finder starts; the writer never passes it.
 */
#include "lzvolt.h"
#include "lzvolt_enc.h"

#include <stdlib.h>

/* A result has to save this much, or it isn't worth the time to unpack it. */
#define SAVE_SHIFT	3	/* 1/8 */
#define SAVE_BYTES	8

/* Up to here the trailer's two fields have 2 bytes each, above it 4. */
#define SHORT_TRAILER_MAX	65536

static size_t fast_state(void)
{
	return ENC_FAST_STATE;
}

static const struct level {
	enc_finder *find;
	size_t (*state)(void);
} levels[LZVOLT_LEVEL_MAX + 1] = {
	[1] = { enc_fast, fast_state },
	[2] = { enc_fast, fast_state },
	[3] = { enc_fast, fast_state },
	[4] = { enc_chain, enc_chain_state },
	[5] = { enc_chain, enc_chain_state },
	[6] = { enc_chain, enc_chain_state },
	[7] = { enc_opt, enc_opt_state },
	[8] = { enc_opt, enc_opt_state },
	[9] = { enc_opt, enc_opt_state },
};

static size_t trailer_size(const struct enc_out *out)
{
	return out->src_end - out->src_begin <= SHORT_TRAILER_MAX ? 4 : 8;
}

/* Bytes of the chain that follows a field of `value` which saturates at max. */
static size_t chain_size(size_t value, size_t max)
{
	return value < max ? 0 : (value - max) / 255 + 1;
}

static uint8_t *put_chain(uint8_t *op, size_t rest)
{
	size_t full = rest / 255;

	memset(op, 255, full);
	op[full] = rest % 255;
	return op + full + 1;
}

/* One block at the exact length; off 0: literals only, the value's end. */
static uint8_t *put_exact(uint8_t *op, const uint8_t *lits,
			  const struct enc_seq *seq, const struct layout *y,
			  bool repeat)
{
	size_t match = seq->off ? seq->len - ENC_MIN_MATCH : 0;
	size_t lit_field = seq->lit < y->lit_max ? seq->lit : y->lit_max;
	size_t match_field = match < y->match_max ? match : y->match_max;

	*op++ = lit_field << y->lit_shift | match_field << y->match_shift | repeat;
	if (lit_field == y->lit_max)
		op = put_chain(op, seq->lit - y->lit_max);
	memcpy(op, lits, seq->lit);
	op += seq->lit;
	if (!seq->off)
		return op;
	if (!repeat) {
		*op++ = seq->off & 255;
		*op++ = seq->off >> 8;
	}
	if (match_field == y->match_max)
		op = put_chain(op, match - y->match_max);
	return op;
}

static size_t exact_size(const struct enc_seq *seq, const struct layout *y,
			 bool repeat)
{
	size_t size = 1 + chain_size(seq->lit, y->lit_max) + seq->lit;

	if (!seq->off)
		return size;
	return size + (repeat ? 0 : 2) +
	       chain_size(seq->len - ENC_MIN_MATCH, y->match_max);
}

/* Near a limit: false and out->full when the block doesn't fit. */
static bool put_careful(struct enc_out *out, const struct enc_seq *seq,
			const struct layout *y, bool repeat)
{
	if (exact_size(seq, y, repeat) > (size_t)(out->limit - out->op)) {
		out->full = true;
		return false;
	}
	out->op = put_exact(out->op, out->src, seq, y, repeat);
	out->src += seq->lit + seq->len;
	return true;
}

/* Plain blocks from seq on; returns how many of the n could be written so. */
static inline __attribute__((always_inline)) size_t
put_run(struct enc_out *out, const struct enc_seq *seq, size_t n, bool is_wide)
{
	/* Locals, since a byte store may change anything that has an address. */
	uint8_t *op = out->op, *const limit = out->limit;
	const uint8_t *src = out->src, *const end = out->src_end;
	uint32_t last_off = out->last_off;
	size_t i;

	for (i = 0; i < n; i++) {
		size_t lit = seq[i].lit;
		size_t room = limit - op < end - src ? limit - op : end - src;
		bool repeat = is_wide && seq[i].off == last_off;

		if (room < put_room(lit, seq[i].len))
			break;
		op = put_plain(op, src, lit, seq[i].len, seq[i].off,
			       is_wide ? &wide : &even, repeat);
		src += lit + seq[i].len;
		last_off = seq[i].off;
	}
	out->op = op;
	out->src = src;
	out->last_off = last_off;
	return i;
}

void enc_write_as_is(struct enc_out *out, const struct enc_seq *seq, size_t n)
{
	bool is_wide = out->out_at;
	const struct layout *y = is_wide ? &wide : &even;

	while (n && !out->full) {
		size_t done = is_wide ? put_run(out, seq, n, true) :
					put_run(out, seq, n, false);
		bool repeat;

		seq += done;
		n -= done;
		if (!n)
			return;
		repeat = is_wide && seq->off == out->last_off;
		if (!put_careful(out, seq, y, repeat))
			return;
		out->last_off = seq->off;
		seq++;
		n--;
	}
}

void enc_put(struct enc_out *out, const struct enc_seq *seq)
{
	enc_write_as_is(out, seq, 1);
}

/* Token and offset of a block, near enough for an estimate. */
#define EVEN_BLOCK	3

/* What wide saves on this sequence, in bytes; may be negative. */
static int wide_gain(const struct enc_seq *seq, uint32_t last_off)
{
	return 2 * (seq->off == last_off) - (seq->lit - 3 < 12) +
	       (seq->len - 19 < 16);
}

/* Thousandths of its size in even that a value has to save in wide. */
static const unsigned wide_saves[] = {
	[ENC_BALANCE] = 125, [ENC_SIZE] = 0, [ENC_SPEED] = 333,
};

bool enc_wide_pays(const struct enc_out *out, size_t even_bytes, size_t wide_bytes)
{
	return wide_bytes < even_bytes &&
	       (even_bytes - wide_bytes) * (uint64_t)1000 >=
	       (uint64_t)even_bytes * wide_saves[out->favor];
}

/*
 * Where in these sequences to switch: the number that stay even, or n for
 * none.  The first section must have a block, and the first block of a section
 * can't be a repeat, so a switch before one loses its two bytes.  The gain is
 * scaled up to what is left of the value.
 */
static size_t switch_point(const struct enc_out *out, const struct enc_seq *seq,
			   size_t n, bool final)
{
	int64_t sum = 0, low = INT64_MAX, gain;
	size_t at = n, bytes = 0, packed = 0;
	uint32_t last_off = out->last_off;

	for (size_t i = 0; i < n; i++) {
		bool repeat = seq[i].off == last_off;

		if (sum + 2 * repeat < low && (i || out->op != out->body)) {
			low = sum + 2 * repeat;
			at = i;
		}
		sum += wide_gain(&seq[i], last_off);
		last_off = seq[i].off;
		bytes += seq[i].lit + seq[i].len;
		packed += seq[i].lit + EVEN_BLOCK;
	}
	gain = sum - low;
	if (at == n || gain <= 0)
		return n;
	if (!final) {
		size_t all = out->src_end - out->src;

		gain = gain * all / bytes;
		packed = packed * all / bytes;
	}
	gain -= trailer_size(out);
	return gain > 0 && enc_wide_pays(out, packed, packed - gain) ? at : n;
}

void enc_switch(struct enc_out *out)
{
	if (out->full)
		return;
	out->in_at = out->op - out->body;
	out->out_at = out->src - out->src_begin;
	out->last_off = 0;
	out->limit -= trailer_size(out);
	if (out->op > out->limit)
		out->full = true;
}

static void put_le(uint8_t *p, uint32_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		p[i] = v >> (8 * i);
}

void enc_finish(struct enc_out *out)
{
	struct enc_seq tail = { out->src_end - out->src, 0, 0 };
	size_t w = trailer_size(out) / 2;

	if (out->full)
		return;
	if (tail.lit && !put_careful(out, &tail, out->out_at ? &wide : &even, false))
		return;
	if (!out->out_at)
		return;
	put_le(out->op, out->in_at, w);
	put_le(out->op + w, out->out_at, w);
	out->op += 2 * w;
}

/*
 * Is this the time to think about the switch?  At chunk 1, 2, 4, 8...: what
 * the first ones don't say, later ones seldom do.
 */
static bool decides(struct enc_out *out)
{
	uint32_t before = out->chunk++;

	return enc_may_switch(out) && !(before & out->chunk);
}

void enc_write(struct enc_out *out, const struct enc_seq *seq, size_t n,
	       bool final)
{
	size_t stay = n && decides(out) ? switch_point(out, seq, n, final) : n;

	enc_write_as_is(out, seq, stay);
	if (stay < n) {
		enc_switch(out);
		enc_write_as_is(out, seq + stay, n - stay);
	}
	if (final)
		enc_finish(out);
}

void enc_restart(struct enc_out *out, uint8_t *limit)
{
	out->src = out->src_begin;
	out->op = out->body;
	out->limit = limit;
	out->in_at = out->out_at = out->chunk = out->last_off = 0;
	out->full = false;
}

static size_t header_size(size_t len)
{
	return len < 1u << 6 ? 1 : len < 1u << 13 ? 2 : len < 1u << 21 ? 3 : 4;
}

static void put_header(uint8_t *dst, size_t len, bool hybrid)
{
	size_t n = header_size(len);

	for (size_t i = 0; i < n; i++)
		dst[i] = len >> (8 * (n - 1 - i));
	dst[0] |= (n - 1) << 6 | hybrid << 5;
}

size_t lzvolt_compress_bound(size_t src_len)
{
	return src_len > LZVOLT_MAX_SIZE ? 0 : src_len + src_len / 255 + 24;
}

size_t lzvolt_state_size(int level)
{
	int n = level & ~(LZVOLT_FAVOR_SIZE | LZVOLT_FAVOR_SPEED);

	return n < LZVOLT_LEVEL_MIN || n > LZVOLT_LEVEL_MAX ? 0 : levels[n].state();
}

static enum enc_favor favor_of(int level)
{
	return level & LZVOLT_FAVOR_SPEED ? ENC_SPEED :
	       level & LZVOLT_FAVOR_SIZE ? ENC_SIZE : ENC_BALANCE;
}

/* How much a value of src_len bytes may have in the end. */
static size_t most_of(size_t src_len)
{
	size_t save = src_len >> SAVE_SHIFT;

	return src_len - (save > SAVE_BYTES ? save : SAVE_BYTES);
}

/* Arguments are checked; returns as lzvolt_compress_level(). */
static int64_t pack(void *state, const uint8_t *src, size_t src_len,
		    uint8_t *dst, size_t dst_cap, int level)
{
	size_t most = most_of(src_len);
	size_t head = header_size(src_len);
	struct enc_out out = {
		.src = src, .src_begin = src, .src_end = src + src_len,
		.favor = favor_of(level),
	};

	if (most > dst_cap)
		most = dst_cap;
	if (most < head)
		return dst_cap < head ? LZVOLT_E_OUTPUT_TOO_SMALL :
		       LZVOLT_NOT_COMPRESSIBLE;
	out.body = out.op = dst + head;
	out.limit = dst + most;
	level &= ~(LZVOLT_FAVOR_SIZE | LZVOLT_FAVOR_SPEED);
	levels[level].find(&out, state, level);
	if (out.full)
		return most == dst_cap ? LZVOLT_E_OUTPUT_TOO_SMALL :
		       LZVOLT_NOT_COMPRESSIBLE;
	put_header(dst, src_len, out.out_at);
	return out.op - dst;
}

/*
 * A small value that doesn't save enough is tried a second time (enc_fast()), so
 * what a smaller limit would do to it is no guide: it is packed as ever, elsewhere.
 */
static __attribute__((noinline)) int64_t
pack_aside(void *state, const uint8_t *src, size_t src_len, uint8_t *dst,
	   size_t dst_cap, int level)
{
	uint8_t value[ENC_SMALL];
	int64_t n = pack(state, src, src_len, value, sizeof(value), level);

	if (n > (int64_t)dst_cap)
		return LZVOLT_E_OUTPUT_TOO_SMALL;
	if (n > 0)
		memcpy(dst, value, n);
	return n;
}

static int64_t pack_to(void *state, const uint8_t *src, size_t src_len,
		       uint8_t *dst, size_t dst_cap, int level)
{
	return src_len < ENC_SMALL && dst_cap < most_of(src_len) ?
	       pack_aside(state, src, src_len, dst, dst_cap, level) :
	       pack(state, src, src_len, dst, dst_cap, level);
}

/* The state of the fast levels is small enough for the stack. */
static __attribute__((noinline)) int64_t
pack_on_stack(const uint8_t *src, size_t src_len, uint8_t *dst, size_t dst_cap,
	      int level)
{
	_Alignas(16) uint8_t state[ENC_FAST_STATE];

	return pack_to(state, src, src_len, dst, dst_cap, level);
}

int64_t lzvolt_compress_level(void *state, const uint8_t *src, size_t src_len,
			      uint8_t *dst, size_t dst_cap, int level)
{
	size_t state_size = lzvolt_state_size(level);
	int64_t result;

	if (!state_size || src_len > LZVOLT_MAX_SIZE)
		return LZVOLT_E_TOO_LARGE;
	if ((!src && src_len) || (!dst && dst_cap))
		return LZVOLT_E_NULL;
	if (src_len < SAVE_BYTES)
		return LZVOLT_NOT_COMPRESSIBLE;
	if (state)
		return pack_to(state, src, src_len, dst, dst_cap, level);
	if (state_size <= ENC_FAST_STATE)
		return pack_on_stack(src, src_len, dst, dst_cap, level);
	state = malloc(state_size);
	if (!state)
		return LZVOLT_E_NULL;
	result = pack_to(state, src, src_len, dst, dst_cap, level);
	free(state);
	return result;
}

int64_t lzvolt_compress(const uint8_t *src, size_t src_len,
			uint8_t *dst, size_t dst_cap)
{
	return lzvolt_compress_level(NULL, src, src_len, dst, dst_cap,
				     LZVOLT_LEVEL_DEFAULT);
}
