/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brotli.c - brotli streams (RFC 7932) by libbrotlienc and libbrotlidec
 *
 * Packing goes by blocks (brotli_blocks.c) unless --long asks for a window
 * that only one encoder over the whole stream can use.
 *
 * A brotli stream has no magic number and no checksum.  Its first byte tells
 * the window, which is read here before the library allocates it, so that a
 * window above the memory budget is refused by its size.  Large windows (the
 * extension that --long asks for) are always accepted.  Shared dictionaries
 * came with brotli 1.1; this row doesn't offer them, so that it builds with
 * every release.
 *
 * Unpacking is one loop of libbrotlidec's: 94 % of the CPU time from a file, 2 %
 * copying (perf, tar at quality 5), so that overlapping with reading and writing
 * is all there is to gain, 2 to 20 %.  Tried in vain on 200 MB: huge pages under
 * its window; input in pieces of 8, 32 or 64 KiB, after which it hands out what is
 * in the cache still; taking its output in place (BrotliDecoderTakeOutput) needs
 * the same copy, since it lies there only until the next call; larger chunks; a
 * reading thread for files.
 */
#include "brotli_codec.h"
#include "codecs.h"
#include "coder.h"
#include "serial.h"

#include <brotli/decode.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The size hint of a large input, and of one of unknown size: without a hint
 * the library takes the length of the first span for it, and the bytes would
 * depend on how they came in.
 */
#define HINT_MAX (UINT32_C(1) << 30)

/* --- packing --- */

/*
 * Qualities 0 and 1 code each span that they are given by itself.  They get
 * pieces of this length, whatever spans come in (brotli's own program reads
 * as much at a time).
 */
#define PIECE_SIZE ((size_t)512 << 10)

struct brotli_pack {
	struct coder c;		/* first, so that the two cast */
	void *serial;		/* by blocks (serial.h), or NULL and: */
	BrotliEncoderState *enc;
	uint8_t *piece;		/* PIECE_SIZE bytes, or NULL: not needed */
	size_t pos, len;	/* bytes in it, from pos on not yet coded */
	bool gathered;		/* it is complete: code it */
};

static void brotli_pack_close(void *state)
{
	struct brotli_pack *b = state;

	if (b->serial)
		serial_close(b->serial);
	if (b->enc)
		BrotliEncoderDestroyInstance(b->enc);
	free(b->piece);
	free(b);
}

/*
 * The window: what was asked for, else the library's default, made smaller
 * for a small input: it is 2^lgwin - 16 bytes.
 */
uint32_t brotli_window(const struct filter_params *p)
{
	uint32_t lgwin = BROTLI_DEFAULT_WINDOW;

	if (p->window_log)
		return (uint32_t)p->window_log;
	while (lgwin > BROTLI_MIN_WINDOW_BITS + 8 &&
	       p->size + 16 <= (uint64_t)1 << (lgwin - 1))
		lgwin--;
	return lgwin;
}

/* What lies behind the largest window is all the same to an encoder. */
static uint32_t brotli_offset(uint64_t offset)
{
	return offset < HINT_MAX ? (uint32_t)offset : HINT_MAX;
}

static void *pool_take(void *opaque, size_t n)
{
	struct brotli_pool *pool = opaque;
	int empty = -1;

	for (int i = 0; i < BROTLI_POOL; i++) {
		if (!pool->slot[i].p) {
			empty = i;
		} else if (!pool->slot[i].used && pool->slot[i].n >= n &&
			   pool->slot[i].n / 2 <= n) {
			pool->slot[i].used = true;
			return pool->slot[i].p;
		}
	}
	if (empty < 0)
		return malloc(n);
	pool->slot[empty].p = malloc(n);
	pool->slot[empty].n = n;
	pool->slot[empty].used = pool->slot[empty].p;
	return pool->slot[empty].p;
}

static void pool_give(void *opaque, void *p)
{
	struct brotli_pool *pool = opaque;

	for (int i = 0; p && i < BROTLI_POOL; i++)
		if (pool->slot[i].p == p) {
			pool->slot[i].used = false;
			return;
		}
	free(p);
}

void brotli_pool_free(struct brotli_pool *pool)
{
	for (int i = 0; i < BROTLI_POOL; i++)
		free(pool->slot[i].p);
}

BrotliEncoderState *brotli_encoder(const struct filter_params *p,
				   uint64_t offset, uint64_t hint,
				   struct brotli_pool *pool,
				   struct filter_error *err)
{
	uint32_t lgwin = brotli_window(p);
	const struct {
		BrotliEncoderParameter name;
		uint32_t value;
	} set[] = {
		{ BROTLI_PARAM_QUALITY, (uint32_t)filter_level(&filter_brotli, p) },
		{ BROTLI_PARAM_LARGE_WINDOW, lgwin > BROTLI_MAX_WINDOW_BITS },
		{ BROTLI_PARAM_LGWIN, lgwin },
		{ BROTLI_PARAM_SIZE_HINT, hint < HINT_MAX ? (uint32_t)hint : HINT_MAX },
		{ BROTLI_PARAM_STREAM_OFFSET, brotli_offset(offset) },
	};
	BrotliEncoderState *enc;

	if (lgwin < BROTLI_MIN_WINDOW_BITS || lgwin > BROTLI_LARGE_MAX_WINDOW_BITS) {
		filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
			    "brotli has windows of %d to %d bits, not %" PRIu32,
			    BROTLI_MIN_WINDOW_BITS, BROTLI_LARGE_MAX_WINDOW_BITS,
			    lgwin);
		return NULL;
	}
	enc = BrotliEncoderCreateInstance(pool ? pool_take : NULL,
					  pool ? pool_give : NULL, pool);
	if (!enc)
		coder_no_memory(err);
	for (size_t i = 0; enc && i < sizeof(set) / sizeof(set[0]); i++)
		BrotliEncoderSetParameter(enc, set[i].name, set[i].value);
	return enc;
}

static int brotli_pack_setup(struct brotli_pack *b,
			     const struct filter_params *p, struct source *src,
			     struct filter_error *err)
{
	if (brotli_pack_blocks.suits(p)) {
		b->serial = serial_open(&brotli_pack_blocks, p, src, err);
		return b->serial ? FILTER_OK : err->code;
	}
	b->enc = brotli_encoder(p, 0, p->size, NULL, err);
	if (!b->enc)
		return err->code;
	if (filter_level(&filter_brotli, p) < 2) {
		b->piece = malloc(PIECE_SIZE);
		if (!b->piece)
			return coder_no_memory(err);
	}
	return FILTER_OK;
}

static void *brotli_pack_open(const struct filter_params *p,
			      struct source *src, struct filter_error *err)
{
	struct brotli_pack *b;

	if (filter_level_check(&filter_brotli, p, err))
		return NULL;
	b = calloc(1, sizeof(*b));
	if (!b) {
		coder_no_memory(err);
		return NULL;
	}
	coder_start(&b->c, src);
	if (brotli_pack_setup(b, p, src, err)) {
		brotli_pack_close(b);
		return NULL;
	}
	return b;
}

/* One call of the library, out of *in into the coder's room. */
static int brotli_pack_run(struct brotli_pack *b, const uint8_t **in,
			   size_t *in_len, enum coder_mode mode,
			   struct filter_error *err)
{
	static const BrotliEncoderOperation op[] = {
		[CODER_RUN] = BROTLI_OPERATION_PROCESS,
		[CODER_FLUSH] = BROTLI_OPERATION_FLUSH,
		[CODER_FINISH] = BROTLI_OPERATION_FINISH,
	};
	struct coder *c = &b->c;

	if (!BrotliEncoderCompressStream(b->enc, op[mode], in_len, in,
					 &c->out_len, &c->out, NULL))
		return coder_no_memory(err);
	if (mode == CODER_RUN || *in_len || BrotliEncoderHasMoreOutput(b->enc))
		return CODER_MORE;
	if (mode == CODER_FINISH && !BrotliEncoderIsFinished(b->enc))
		return CODER_MORE;
	return CODER_DONE;
}

/* Fills the piece.  True once it is full, or all that there will be. */
static bool brotli_gather(struct brotli_pack *b, enum coder_mode mode)
{
	struct coder *c = &b->c;
	size_t n = PIECE_SIZE - b->len;

	if (n > c->in_len)
		n = c->in_len;
	if (n)
		memcpy(b->piece + b->len, c->in, n);
	b->len += n;
	c->in += n;
	c->in_len -= n;
	b->gathered = b->len == PIECE_SIZE || mode != CODER_RUN;
	return b->gathered;
}

/* A piece is coded when it is known that it is whole. */
static int brotli_pack_pieces(struct brotli_pack *b, enum coder_mode mode,
			      struct filter_error *err)
{
	const uint8_t *in;
	size_t in_len;
	int r;

	if (!b->gathered && !brotli_gather(b, mode))
		return CODER_MORE;
	in = b->piece + b->pos;
	in_len = b->len - b->pos;
	r = brotli_pack_run(b, &in, &in_len, mode, err);
	b->pos = b->len - in_len;
	if (!in_len && !BrotliEncoderHasMoreOutput(b->enc)) {
		b->pos = b->len = 0;
		b->gathered = false;
	}
	return r;
}

static int brotli_pack_step(struct coder *c, enum coder_mode mode,
			    struct filter_error *err)
{
	struct brotli_pack *b = (struct brotli_pack *)c;

	if (b->piece)
		return brotli_pack_pieces(b, mode, err);
	return brotli_pack_run(b, &c->in, &c->in_len, mode, err);
}

static ptrdiff_t brotli_pack_read(void *state, uint8_t *dst, size_t cap,
				  struct filter_error *err)
{
	struct brotli_pack *b = state;

	if (b->serial)
		return serial_read(b->serial, dst, cap, err);
	return coder_pack(&b->c, brotli_pack_step, dst, cap, err);
}

/* --- unpacking --- */

struct brotli_unpack {
	struct coder c;		/* first, so that the two cast */
	BrotliDecoderState *dec;
	uint64_t window;	/* bytes, 0 = its header wasn't seen yet */
	uint64_t memory;
};

static void brotli_unpack_close(void *state)
{
	struct brotli_unpack *b = state;

	if (b->dec)
		BrotliDecoderDestroyInstance(b->dec);
	free(b);
}

static int brotli_unpack_start(struct brotli_unpack *b, struct source *src,
			       struct filter_error *err)
{
	coder_start(&b->c, src);
	b->window = 0;
	b->dec = BrotliDecoderCreateInstance(NULL, NULL, NULL);
	if (!b->dec)
		return coder_no_memory(err);
	BrotliDecoderSetParameter(b->dec, BROTLI_DECODER_PARAM_LARGE_WINDOW, 1);
	return FILTER_OK;
}

static void *brotli_unpack_open(const struct filter_params *p,
				struct source *src, struct filter_error *err)
{
	struct brotli_unpack *b = calloc(1, sizeof(*b));

	if (!b) {
		coder_no_memory(err);
		return NULL;
	}
	b->memory = p->memory;
	if (brotli_unpack_start(b, src, err)) {
		free(b);
		return NULL;
	}
	return b;
}

static int brotli_unpack_reset(void *state, const struct filter_params *p,
			       struct filter_error *err)
{
	struct brotli_unpack *b = state;

	(void)p;
	BrotliDecoderDestroyInstance(b->dec);
	return brotli_unpack_start(b, b->c.src, err);
}

/*
 * log2 of the window out of a stream's first two bytes (RFC 7932, 9.1, and
 * the large window extension: 0x11, then six bits).  0 where it is invalid;
 * the library says so then.
 */
static unsigned brotli_window_bits(const uint8_t *p, size_t n)
{
	if (!(p[0] & 1))
		return 16;
	if (p[0] >> 1 & 7)
		return 17 + (p[0] >> 1 & 7);
	if (!(p[0] >> 4 & 7))
		return 17;
	if ((p[0] >> 4 & 7) != 1)
		return 8 + (p[0] >> 4 & 7);
	return p[0] & 0x80 || n < 2 ? 0 : p[1] & 0x3f;
}

/* Sees to the window.  At the end of input nothing: the coder says it. */
static int brotli_read_header(struct brotli_unpack *b, struct filter_error *err)
{
	const uint8_t *p;
	ptrdiff_t n = source_peek(b->c.src, 1, &p);
	unsigned bits;

	if (n > 0 && (p[0] & 0x7f) == 0x11)
		n = source_peek(b->c.src, 2, &p);
	if (n < 0)
		return filter_fail(err, FILTER_E_READ, b->c.start,
				   "the input can't be read");
	bits = n ? brotli_window_bits(p, (size_t)n) : 0;
	b->window = bits < 10 ? 1 : UINT64_C(1) << bits;
	if (b->memory && b->window > b->memory)
		return coder_over_budget(err, b->c.start, "the brotli stream's window",
					 b->window, b->memory);
	return FILTER_OK;
}

static int brotli_unpack_step(struct coder *c, enum coder_mode mode,
			      struct filter_error *err)
{
	BrotliDecoderState *dec = ((struct brotli_unpack *)c)->dec;
	BrotliDecoderErrorCode e;

	(void)mode;
	switch (BrotliDecoderDecompressStream(dec, &c->in_len, &c->in,
					      &c->out_len, &c->out, NULL)) {
	case BROTLI_DECODER_RESULT_SUCCESS:
		return CODER_DONE;
	case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT:
	case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
		return CODER_MORE;
	default:
		break;
	}
	e = BrotliDecoderGetErrorCode(dec);
	if (e <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
	    e >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES)
		return coder_no_memory(err);
	return filter_fail(err, FILTER_E_CORRUPT, coder_offset(c),
			   "corrupt brotli stream: %s",
			   BrotliDecoderErrorString(e));
}

static ptrdiff_t brotli_unpack_read(void *state, uint8_t *dst, size_t cap,
				    struct filter_error *err)
{
	struct brotli_unpack *b = state;

	if (!b->window) {
		int r = brotli_read_header(b, err);

		if (r)
			return r;
	}
	return coder_unpack(&b->c, brotli_unpack_step, dst, cap, err);
}

static void brotli_describe(const void *state, struct member *m)
{
	const struct brotli_unpack *b = state;

	coder_describe(&b->c, m);
	m->format = "brotli";
	m->declared = SIZE_UNKNOWN;
	m->window = b->window;
}

/* --- the row --- */

static const char *brotli_version(void)
{
	static _Thread_local char text[16];
	uint32_t v = BrotliDecoderVersion();

	snprintf(text, sizeof(text), "%" PRIu32 ".%" PRIu32 ".%" PRIu32,
		 v >> 24, v >> 12 & 0xfff, v & 0xfff);
	return text;
}

static const struct stream_ops brotli_pack_ops = {
	.open = brotli_pack_open,
	.read = brotli_pack_read,
	.close = brotli_pack_close,
};

static const struct stream_ops brotli_unpack_ops = {
	.open = brotli_unpack_open,
	.read = brotli_unpack_read,
	.reset = brotli_unpack_reset,
	.describe = brotli_describe,
	.close = brotli_unpack_close,
};

const struct filter filter_brotli = {
	.name = "brotli",
	.suffix = ".br",
	.flags = FILTER_HEADERLESS | FILTER_LONG | FILTER_SINGLE | FILTER_BLOCK_SIZE,
	.level_min = 0, .level_default = 5, .level_max = 11,
	.pack = &brotli_pack_ops,
	.unpack = &brotli_unpack_ops,
	.pack_blocks = &brotli_pack_blocks,
	.library = "brotli",
	.version = brotli_version,
};
