/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzw.c - compress (.Z): LZW with codes of 9 to 16 bits
 *
 *	1f 9d, a byte: bits 4-0 the widest code, bit 7 block mode; then codes,
 *	least significant bit first
 *
 * Codes come in groups of eight; when the width changes, or after a clear
 * code (256, in block mode), the rest of the group is skipped.  Width grows
 * when the reader's next free code doesn't fit; writer and reader share that
 * count (struct widths), so they can't disagree.
 *
 * Our own code, because libarchive's takes an input that ends inside a code
 * for a complete one.  The format has no end mark and no check: an input cut
 * off between two codes can't be told from a whole one, by anybody.
 */
#include "codecs.h"
#include "coder.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_WIDTH = 9, MAX_WIDTH = 16, CLEAR = 256, BLOCK_MODE = 0x80 };
#define CODES (1 << MAX_WIDTH)

/* Which width the next code has. */
struct widths {
	unsigned width, max;
	unsigned in_group;	/* codes of this width so far, modulo 8 */
	uint32_t next;		/* the code that the reader would add next */
	uint32_t first;		/* ... after the start or a clear */
	bool started;		/* a code went by since then */
};

static void widths_start(struct widths *w)
{
	w->width = FIRST_WIDTH;
	w->next = w->first;
	w->in_group = 0;
	w->started = false;
}

/* Bits that complete the group. */
static unsigned widths_pad(struct widths *w)
{
	unsigned codes = (8 - w->in_group) % 8;

	w->in_group = 0;
	return codes * w->width;
}

/* Call before each code: widens if it has to; bits to skip first. */
static unsigned widths_before(struct widths *w)
{
	unsigned pad = 0;

	if (w->next >= UINT32_C(1) << w->width && w->width < w->max) {
		pad = widths_pad(w);
		w->width++;
	}
	return pad;
}

/* Call after each code but a clear. */
static void widths_after(struct widths *w)
{
	w->in_group = (w->in_group + 1) % 8;
	if (w->started && w->next < UINT32_C(1) << w->max)
		w->next++;
	w->started = true;
}

/* Call after a clear code: bits to skip. */
static unsigned widths_cleared(struct widths *w)
{
	unsigned pad;

	w->in_group = (w->in_group + 1) % 8;
	pad = widths_pad(w);
	widths_start(w);
	return pad;
}

/* --- unpacking --- */

struct lzw_unpack {
	struct coder c;		/* first, so that the two cast */
	struct widths w;
	bool headed, block_mode;
	uint64_t acc;		/* bits read and not used */
	unsigned acc_bits, skip;
	uint32_t old;		/* the last code */
	uint8_t old_first;	/* ... its string's first byte */
	uint16_t prefix[CODES];
	uint8_t suffix[CODES];
	uint8_t stack[CODES];	/* a string, last byte first */
	size_t depth;
};

static void *lzw_unpack_open(const struct filter_params *p, struct source *src,
			     struct filter_error *err)
{
	struct lzw_unpack *z = calloc(1, sizeof(*z));

	(void)p;
	if (z)
		coder_start(&z->c, src);
	else
		coder_no_memory(err);
	return z;
}

static int lzw_unpack_reset(void *state, const struct filter_params *p,
			    struct filter_error *err)
{
	struct lzw_unpack *z = state;

	(void)p;
	(void)err;
	coder_start(&z->c, z->c.src);
	z->headed = false;
	z->acc = 0;
	z->acc_bits = z->skip = 0;
	z->depth = 0;
	return FILTER_OK;
}

/* A widest code of 9 bits means 10, by a slip of the first compress(1). */
static int lzw_head(struct lzw_unpack *z, struct filter_error *err)
{
	uint8_t b[3];
	int r = coder_take(&z->c, b, 3, err);

	if (r)
		return r;
	if (!filter_compress.detect(b, 3))
		return filter_fail(err, FILTER_E_CORRUPT, z->c.start,
				   "not compress data");
	z->block_mode = b[2] & BLOCK_MODE;
	z->w.max = (b[2] & 31) == FIRST_WIDTH ? FIRST_WIDTH + 1 : b[2] & 31;
	z->w.first = z->block_mode ? CLEAR + 1 : CLEAR;
	widths_start(&z->w);
	z->headed = true;
	return FILTER_OK;
}

/* The next code, -1 where the input at hand has none. */
static int32_t lzw_code(struct lzw_unpack *z)
{
	struct coder *c = &z->c;
	int32_t code;

	z->skip += widths_before(&z->w);
	for (;;) {
		unsigned drop = z->skip < z->acc_bits ? z->skip : z->acc_bits;

		z->acc >>= drop;
		z->acc_bits -= drop;
		z->skip -= drop;
		if (z->acc_bits >= z->w.width && !z->skip)
			break;
		if (!c->in_len)
			return -1;
		z->acc |= (uint64_t)*c->in++ << z->acc_bits;
		z->acc_bits += 8;
		c->in_len--;
	}
	code = (int32_t)(z->acc & ((UINT32_C(1) << z->w.width) - 1));
	z->acc >>= z->w.width;
	z->acc_bits -= z->w.width;
	return code;
}

/* Puts a code's string on the stack; false where there is no such code. */
static bool lzw_expand(struct lzw_unpack *z, uint32_t code)
{
	uint32_t at = code;

	if (code >= z->w.next) {
		if (code > z->w.next || !z->w.started)
			return false;
		z->stack[z->depth++] = z->old_first;
		at = z->old;
	}
	if (at >= CLEAR && !z->w.started)
		return false;
	while (at >= CLEAR) {
		z->stack[z->depth++] = z->suffix[at];
		at = z->prefix[at];
	}
	z->stack[z->depth++] = (uint8_t)at;
	return true;
}

static int lzw_next(struct lzw_unpack *z, struct filter_error *err)
{
	int32_t code = lzw_code(z);
	bool full = z->w.next >= UINT32_C(1) << z->w.max;

	if (code < 0)
		return CODER_MORE;
	if (code == CLEAR && z->block_mode) {
		z->skip = widths_cleared(&z->w);
		return CODER_DONE;
	}
	if (!lzw_expand(z, (uint32_t)code))
		return filter_fail(err, FILTER_E_CORRUPT, coder_offset(&z->c),
				   "corrupt compress data: code %d isn't "
				   "defined yet", code);
	z->old_first = z->stack[z->depth - 1];
	if (z->w.started && !full) {
		z->prefix[z->w.next] = (uint16_t)z->old;
		z->suffix[z->w.next] = z->old_first;
	}
	z->old = (uint32_t)code;
	widths_after(&z->w);
	return CODER_DONE;
}

static int lzw_unpack_step(struct coder *c, enum coder_mode mode,
			   struct filter_error *err)
{
	struct lzw_unpack *z = (struct lzw_unpack *)c;
	int r = z->headed ? FILTER_OK : lzw_head(z, err);

	(void)mode;
	if (r)
		return r;
	do {
		while (z->depth && c->out_len) {
			*c->out++ = z->stack[--z->depth];
			c->out_len--;
		}
		r = z->depth ? CODER_MORE : lzw_next(z, err);
	} while (r == CODER_DONE);
	return r;
}

/* Whether the input may end here: less than a byte is left, of zeros. */
static bool lzw_complete(const struct lzw_unpack *z)
{
	return z->headed && !z->depth && z->acc_bits < 8 && !z->acc;
}

/*
 * The coder calls the end of input truncated, since formats in general know
 * their end; this one ends there.
 */
static ptrdiff_t lzw_unpack_read(void *state, uint8_t *dst, size_t cap,
				 struct filter_error *err)
{
	struct lzw_unpack *z = state;
	ptrdiff_t n = coder_unpack(&z->c, lzw_unpack_step, dst, cap, err);

	if (n == FILTER_E_TRUNCATED && lzw_complete(z)) {
		err->code = FILTER_OK;
		return 0;
	}
	return n;
}

static void lzw_describe(const void *state, struct member *m)
{
	const struct lzw_unpack *z = state;

	coder_describe(&z->c, m);
	m->format = "compress";
	m->declared = SIZE_UNKNOWN;
	m->window = UINT64_C(1) << z->w.max;
}

/* --- packing --- */

#define SLOTS (1 << 17)

/* Once all codes are used: how often to look whether they still serve. */
#define LOOK_EVERY 10000

struct lzw_pack {
	struct coder c;		/* first, so that the two cast */
	struct widths w;
	uint64_t acc;
	unsigned acc_bits;
	bool headed, finished;
	int32_t prefix;		/* the string so far as a code, -1 = empty */
	uint32_t next;		/* the code that the writer adds next */
	uint64_t taken, given;	/* bytes */
	uint64_t look_at;	/* taken when to look at the ratio again */
	double ratio;		/* ... and what it was then */
	uint32_t key[SLOTS];	/* prefix and byte of a string, plus 1 */
	uint16_t code[SLOTS];
	uint8_t out[64];	/* bytes not yet handed out */
	size_t out_len;
};

static void lzw_pack_start(struct lzw_pack *z)
{
	memset(z->key, 0, sizeof(z->key));
	widths_start(&z->w);
	z->next = CLEAR + 1;
	z->look_at = z->taken + LOOK_EVERY;
	z->ratio = 0;
}

static void *lzw_pack_open(const struct filter_params *p, struct source *src,
			   struct filter_error *err)
{
	struct lzw_pack *z = calloc(1, sizeof(*z));

	(void)p;
	if (!z) {
		coder_no_memory(err);
		return NULL;
	}
	coder_start(&z->c, src);
	z->w.max = MAX_WIDTH;
	z->w.first = CLEAR + 1;
	z->prefix = -1;
	lzw_pack_start(z);
	return z;
}

static void lzw_bits(struct lzw_pack *z, uint32_t value, unsigned bits)
{
	z->acc |= (uint64_t)value << z->acc_bits;
	z->acc_bits += bits;
	while (z->acc_bits >= 8) {
		z->out[z->out_len++] = (uint8_t)z->acc;
		z->acc >>= 8;
		z->acc_bits -= 8;
		z->given++;
	}
}

/* A group is 16 bytes at most; zeros complete it. */
static void lzw_pad(struct lzw_pack *z, unsigned bits)
{
	for (; bits > 32; bits -= 32)
		lzw_bits(z, 0, 32);
	lzw_bits(z, 0, bits);
}

static void lzw_emit(struct lzw_pack *z, uint32_t code)
{
	lzw_pad(z, widths_before(&z->w));
	lzw_bits(z, code, z->w.width);
	widths_after(&z->w);
}

static void lzw_clear(struct lzw_pack *z)
{
	lzw_pad(z, widths_before(&z->w));
	lzw_bits(z, CLEAR, z->w.width);
	lzw_pad(z, widths_cleared(&z->w));
	lzw_pack_start(z);
}

/* With all codes used, start over when the ratio gets worse. */
static void lzw_look(struct lzw_pack *z)
{
	double ratio = (double)z->taken / (double)(z->given + 1);

	z->look_at = z->taken + LOOK_EVERY;
	if (ratio < z->ratio)
		lzw_clear(z);
	else
		z->ratio = ratio;
}

static size_t lzw_slot(const struct lzw_pack *z, uint32_t key)
{
	size_t slot = (key * UINT32_C(2654435761)) >> 15;

	while (z->key[slot] && z->key[slot] != key)
		slot = (slot + 1) % SLOTS;
	return slot;
}

/* One more byte of input. */
static void lzw_byte(struct lzw_pack *z, uint8_t byte)
{
	uint32_t key = ((uint32_t)z->prefix << 8 | byte) + 1;
	size_t slot;

	z->taken++;
	if (z->prefix < 0) {
		z->prefix = byte;
		return;
	}
	slot = lzw_slot(z, key);
	if (z->key[slot]) {
		z->prefix = z->code[slot];
		return;
	}
	lzw_emit(z, (uint32_t)z->prefix);
	z->prefix = byte;
	if (z->next < CODES) {
		z->key[slot] = key;
		z->code[slot] = (uint16_t)z->next++;
	} else if (z->taken >= z->look_at) {
		lzw_look(z);
	}
}

static void lzw_finish(struct lzw_pack *z)
{
	if (z->prefix >= 0)
		lzw_emit(z, (uint32_t)z->prefix);
	if (z->acc_bits)
		lzw_bits(z, 0, 8 - z->acc_bits);
	z->finished = true;
}

static void lzw_head_out(struct lzw_pack *z)
{
	z->out[0] = 0x1f;
	z->out[1] = 0x9d;
	z->out[2] = BLOCK_MODE | MAX_WIDTH;
	z->out_len = 3;
	z->headed = true;
}

/* Hands out what is there; false when the room is used up. */
static bool lzw_give(struct lzw_pack *z)
{
	struct coder *c = &z->c;
	size_t n = z->out_len < c->out_len ? z->out_len : c->out_len;

	memcpy(c->out, z->out, n);
	memmove(z->out, z->out + n, z->out_len - n);
	z->out_len -= n;
	c->out += n;
	c->out_len -= n;
	return !z->out_len;
}

/* There is no flushing: a code is written when its string has ended. */
static int lzw_pack_step(struct coder *c, enum coder_mode mode,
			 struct filter_error *err)
{
	struct lzw_pack *z = (struct lzw_pack *)c;

	(void)err;
	if (!z->headed)
		lzw_head_out(z);
	while (lzw_give(z) && c->in_len) {
		c->in_len--;
		lzw_byte(z, *c->in++);
	}
	if (z->out_len || mode == CODER_RUN)
		return CODER_MORE;
	if (mode == CODER_FINISH && !z->finished)
		lzw_finish(z);
	return lzw_give(z) ? CODER_DONE : CODER_MORE;
}

static ptrdiff_t lzw_pack_read(void *state, uint8_t *dst, size_t cap,
			       struct filter_error *err)
{
	return coder_pack(state, lzw_pack_step, dst, cap, err);
}

/* --- the row --- */

/* The magic, and a widest code of 9 to 16 bits without reserved flags. */
static bool lzw_detect(const uint8_t *p, size_t n)
{
	return n >= 3 && p[0] == 0x1f && p[1] == 0x9d && !(p[2] & 0x60) &&
		(p[2] & 31) >= FIRST_WIDTH && (p[2] & 31) <= MAX_WIDTH;
}

static const struct stream_ops lzw_pack_ops = {
	.open = lzw_pack_open,
	.read = lzw_pack_read,
	.close = free,
};

static const struct stream_ops lzw_unpack_ops = {
	.open = lzw_unpack_open,
	.read = lzw_unpack_read,
	.reset = lzw_unpack_reset,
	.describe = lzw_describe,
	.close = free,
};

/* The rest of the input is the member's: there is no end to find. */
const struct filter filter_compress = {
	.name = "compress",
	.suffix = ".Z",
	.tar_suffix = ".taZ",
	.flags = FILTER_SINGLE,
	.peek = 3,
	.detect = lzw_detect,
	.pack = &lzw_pack_ops,
	.unpack = &lzw_unpack_ops,
};
