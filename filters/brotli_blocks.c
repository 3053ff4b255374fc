/* SPDX-License-Identifier: Apache-2.0 */
/*
 * brotli_blocks.c - packing brotli by blocks: one stream out of many encoders
 *
 * The library can be told that an encoder's output begins in the middle of a
 * stream (BROTLI_PARAM_STREAM_OFFSET): it writes no header, and uses nothing
 * that an earlier part could have changed: no remembered distance, no context
 * of earlier bytes, the static dictionary at the distances that hold there.
 * Each part but the last ends with a flush, so it ends on a byte boundary,
 * and the parts in a row are one stream that any decoder reads.
 *
 * Parts have no history.  With parts of 2 MiB that costs nothing: 7.11 MB for
 * one encoder's 7.13 MB at level 5 on 29 MB of mixed files, 4.59 for 4.57 at
 * level 9.  A part that doesn't shrink, or that the probe calls
 * incompressible, becomes uncompressed metablocks, written here.
 */
#include "brotli_codec.h"
#include "codecs.h"
#include "coder.h"

#include <stdlib.h>
#include <string.h>

#define PART_MAX ((size_t)16 << 20)	/* what one metablock holds */
#define STORED_MAX ((size_t)6)		/* header bytes around stored ones */
#define ENCODER_SLACK ((size_t)512)

/*
 * By level: the slow ones gain by longer parts.  Levels 0 and 1 take 320 KiB: half
 * the memory of 1 MiB at the same speed, for 0.4 to 0.8 % of size, and twice that of
 * the brotli program, whose one encoder is two here.
 */
static size_t brotli_block_size(const struct filter_params *p)
{
	int level = filter_level(&filter_brotli, p);

	if (p->block_size)
		return p->block_size;
	if (level < 2)
		return (size_t)320 << 10;
	return (size_t)(level < 10 ? 2 : 8) << 20;
}

static size_t brotli_bound(const struct filter_params *p, size_t raw)
{
	(void)p;
	return raw + STORED_MAX + ENCODER_SLACK;
}

static bool brotli_suits(const struct filter_params *p)
{
	return !p->window_log;
}

/* All that a part needs is in the parameters; nothing is shared. */
static void *brotli_params_copy(const struct filter_params *p,
				struct filter_error *err)
{
	struct filter_params *copy = malloc(sizeof(*copy));

	if (copy)
		*copy = *p;
	else
		coder_no_memory(err);
	return copy;
}

static void *brotli_blocks_open(const struct filter_params *p,
				struct filter_error *err)
{
	if (filter_level_check(&filter_brotli, p, err))
		return NULL;
	if (brotli_block_size(p) > PART_MAX) {
		filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
			    "brotli has blocks of 16 MiB at most");
		return NULL;
	}
	return brotli_params_copy(p, err);
}

static ptrdiff_t brotli_no_edge(void *state, uint8_t *dst,
				struct filter_error *err)
{
	(void)state;
	(void)dst;
	(void)err;
	return 0;
}

static int brotli_join(void *state, struct block *b, struct filter_error *err)
{
	(void)state;
	(void)b;
	(void)err;
	return FILTER_OK;
}

/* --- stored parts (RFC 7932, 9.1 and 9.2) --- */

struct bits {
	uint64_t acc;
	unsigned n;
};

static void bits_put(struct bits *b, uint64_t value, unsigned n)
{
	b->acc |= value << b->n;
	b->n += n;
}

/* The window as a stream's header has it. */
static void bits_put_window(struct bits *b, uint32_t lgwin)
{
	if (lgwin == 16)
		bits_put(b, 0, 1);
	else if (lgwin == 17)
		bits_put(b, 1, 7);
	else if (lgwin > 17)
		bits_put(b, (lgwin - 17) << 1 | 1, 4);
	else
		bits_put(b, (lgwin - 8) << 4 | 1, 7);
}

/* Whole bytes, the last one filled up with zeros. */
static size_t bits_write(const struct bits *b, uint8_t *dst)
{
	size_t n = (b->n + 7) / 8;

	for (size_t i = 0; i < n; i++)
		dst[i] = (uint8_t)(b->acc >> 8 * i);
	return n;
}

/*
 * A metablock: not the last, 4 to 6 nibbles of length - 1, uncompressed.  Its
 * bytes begin on a byte boundary.  An empty last one ends the stream.
 */
static size_t brotli_store(const struct filter_params *p, const struct block *b,
			   uint8_t *dst)
{
	struct bits head = { 0 };
	size_t len = b->src_len - 1, n;
	unsigned nibbles = len < 1 << 16 ? 4 : len < 1 << 20 ? 5 : 6;

	if (!b->offset)
		bits_put_window(&head, brotli_window(p));
	bits_put(&head, 0, 1);
	bits_put(&head, nibbles - 4, 2);
	bits_put(&head, len, 4 * nibbles);
	bits_put(&head, 1, 1);
	n = bits_write(&head, dst);
	memcpy(dst + n, b->src, b->src_len);
	n += b->src_len;
	if (b->last)
		dst[n++] = 3;
	return n;
}

/* --- encoded parts --- */

struct brotli_worker {
	struct filter_params params;
	struct brotli_pool pool;
};

static void *brotli_worker_open(const struct filter_params *p, struct filter_error *err)
{
	struct brotli_worker *w = calloc(1, sizeof(*w));

	if (w)
		w->params = *p;
	else
		coder_no_memory(err);
	return w;
}

static void brotli_worker_close(void *worker)
{
	struct brotli_worker *w = worker;

	brotli_pool_free(&w->pool);
	free(w);
}

/* 0 where the output doesn't fit into cap; -1 on failure, *err filled. */
static ptrdiff_t brotli_encode(struct brotli_worker *w, const struct block *b,
			       size_t cap, struct filter_error *err)
{
	BrotliEncoderOperation op = b->last ? BROTLI_OPERATION_FINISH :
		BROTLI_OPERATION_FLUSH;
	BrotliEncoderState *enc = brotli_encoder(&w->params, b->offset, b->src_len,
						 &w->pool, err);
	size_t in_len = b->src_len, room = cap;
	const uint8_t *in = b->src;
	uint8_t *out = b->dst;
	bool ok = enc, more = true;

	if (!enc)
		return -1;
	while (ok && more && room) {
		ok = BrotliEncoderCompressStream(enc, op, &in_len, &in, &room,
						 &out, NULL);
		more = in_len || BrotliEncoderHasMoreOutput(enc);
	}
	BrotliEncoderDestroyInstance(enc);
	if (!ok)
		coder_no_memory(err);
	return !ok ? -1 : more ? 0 : out - b->dst;
}

static int brotli_block(void *worker, struct block *b, struct filter_error *err)
{
	struct brotli_worker *w = worker;
	const struct filter_params *p = &w->params;
	bool store = p->probe && probe_incompressible(b->src, b->src_len);
	ptrdiff_t n = 0;

	if (store && p->refuse && !b->offset)
		return filter_fail(err, FILTER_E_REFUSED, 0, "not worth packing");
	b->dst_len = 0;
	if (!b->src_len && !b->last)
		return FILTER_OK;
	if (!store)
		n = brotli_encode(w, b, b->src_len + STORED_MAX + ENCODER_SLACK, err);
	if (n < 0)
		return err->code;
	if (b->src_len && (!n || (size_t)n > b->src_len + STORED_MAX))
		n = (ptrdiff_t)brotli_store(p, b, b->dst);
	b->dst_len = (size_t)n;
	return FILTER_OK;
}

const struct pack_ops brotli_pack_blocks = {
	.suits = brotli_suits,
	.lean = true,
	.sized = true,
	.block_size = brotli_block_size,
	.bound = brotli_bound,
	.open = brotli_blocks_open,
	.worker_open = brotli_worker_open,
	.head = brotli_no_edge,
	.block = brotli_block,
	.join = brotli_join,
	.tail = brotli_no_edge,
	.worker_close = brotli_worker_close,
	.close = free,
};
