/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lz4_blocks.c - LZ4 frames, unpacking by blocks
 *
 * Splitting reads the header, each block's length, the end mark; workers check
 * the block's checksum and decode; joining counts the bytes and feeds them to
 * the content checksum, which is serial by nature.  Without a dictionary LZ4
 * blocks are decoded by lzvolt's kernels, which also refuse what liblz4
 * lets pass (offsets of zero).  Linked blocks with a dictionary are the stream
 * face's.
 */
#include "coder.h"
#include "lz4_frame.h"
#include "lzvolt_kernel.h"
#include "mem.h"

#include <inttypes.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* struct block.kind */
enum { KIND_HEAD, KIND_LZ4, KIND_STORED, KIND_END };

struct lz4_blocks {
	struct lz4_header head;	/* size 0: not read yet */
	uint64_t start, packed, raw, blocks;
	uint64_t memory;
	bool has_dict;
	XXH32_state_t *sum;
};

struct lz4_block_worker {
	const char *dict;
	int dict_len;
};

static bool lz4_suits(const uint8_t *head, size_t n,
		      const struct filter_params *p)
{
	struct filter_error err;
	struct lz4_header h;
	ptrdiff_t size = lz4_header_parse(head, n, &h, 0, &err);

	return size > 0 && (size_t)size <= n &&
	       (h.flags & LZ4_INDEPENDENT || !p->dict_len);
}

static void *lz4_blocks_open(const struct filter_params *p,
			     struct filter_error *err)
{
	struct lz4_blocks *z = calloc(1, sizeof(*z));

	if (!z || !(z->sum = XXH32_createState())) {
		free(z);
		coder_no_memory(err);
		return NULL;
	}
	XXH32_reset(z->sum, 0);
	z->memory = p->memory;
	z->has_dict = p->dict_len;
	return z;
}

static void lz4_blocks_close(void *state)
{
	struct lz4_blocks *z = state;

	XXH32_freeState(z->sum);
	free(z);
}

static void *lz4_worker_open(const struct filter_params *p,
			     struct filter_error *err)
{
	struct lz4_block_worker *w = calloc(1, sizeof(*w));
	size_t use = p->dict_len < LZ4_HISTORY ? p->dict_len : LZ4_HISTORY;

	if (!w) {
		coder_no_memory(err);
		return NULL;
	}
	if (use) {
		w->dict = (const char *)p->dict + p->dict_len - use;
		w->dict_len = (int)use;
	}
	return w;
}

static ptrdiff_t lz4_split_head(struct lz4_blocks *z, const uint8_t *src,
				size_t n, uint64_t offset, size_t *want,
				struct block *b, struct filter_error *err)
{
	ptrdiff_t size = lz4_header_parse(src, n, &z->head, offset, err);

	if (size < 0)
		return size;
	if ((size_t)size > n) {
		*want = (size_t)size;
		z->head.size = 0;
		return 0;
	}
	z->start = offset;
	b->kind = KIND_HEAD;
	if (z->head.dict_id && !z->has_dict)
		return filter_fail(err, FILTER_E_DICT, offset,
				   "needs the dictionary with id %" PRIu32,
				   z->head.dict_id);
	if (z->memory && 2 * z->head.block_max > z->memory)
		return coder_over_budget(err, offset, "the LZ4 frame",
					 2 * z->head.block_max, z->memory);
	return size;
}

static ptrdiff_t lz4_split_end(const struct lz4_blocks *z, const uint8_t *src,
			       size_t n, size_t *want, struct block *b)
{
	size_t size = z->head.flags & LZ4_CONTENT_CHECK ? 8 : 4;

	*want = size;
	if (n < size)
		return 0;
	b->kind = KIND_END;
	b->end = true;
	if (size == 8)
		b->check = load_le32(src + 4);
	return (ptrdiff_t)size;
}

static void lz4_shape(const void *state, size_t *block_max, size_t *history)
{
	const struct lz4_blocks *z = state;

	*block_max = z->head.block_max;
	if (!(z->head.flags & LZ4_INDEPENDENT))
		*history = LZ4_HISTORY;
}

static ptrdiff_t lz4_split(void *state, const uint8_t *src, size_t n,
			   uint64_t offset, size_t *want, struct block *b,
			   struct filter_error *err)
{
	struct lz4_blocks *z = state;
	size_t len, check;

	b->offset = offset;
	if (!z->head.size)
		return lz4_split_head(z, src, n, offset, want, b, err);
	*want = 4;
	if (n < 4)
		return 0;
	if (!load_le32(src))
		return lz4_split_end(z, src, n, want, b);
	len = load_le32(src) & ~LZ4_STORED;
	check = z->head.flags & LZ4_BLOCK_CHECK ? 4 : 0;
	if (!len || len > z->head.block_max)
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "a block length of %zu is impossible, the "
				   "frame's blocks have at most %zu bytes",
				   len, z->head.block_max);
	*want = 4 + len + check;
	if (n < *want)
		return 0;
	b->kind = load_le32(src) & LZ4_STORED ? KIND_STORED : KIND_LZ4;
	b->src = src + 4;
	b->src_len = len + check;
	b->raw = b->kind == KIND_STORED ? len : z->head.block_max;
	b->check = check;
	return (ptrdiff_t)*want;
}

/* Decodes len bytes of b->src; the bytes, or negative. */
static int lz4_block_decode(const struct lz4_block_worker *w,
			    const struct block *b, size_t len)
{
	const char *src = (const char *)b->src;
	char *dst = (char *)b->dst;

	if (w->dict)
		return LZ4_decompress_safe_usingDict(src, dst, (int)len, (int)b->raw,
						     w->dict, w->dict_len);
	return lzvolt_lz4_linked(src, dst, (int)len, (int)b->raw, b->history);
}

static int lz4_block(void *worker, struct block *b, struct filter_error *err)
{
	size_t len = b->src_len - (size_t)b->check;
	int n;

	b->dst_len = 0;
	if (b->kind == KIND_HEAD || b->kind == KIND_END)
		return FILTER_OK;
	if (b->check && load_le32(b->src + len) != XXH32(b->src, len, 0))
		return filter_fail(err, FILTER_E_CHECK, b->offset,
				   "the block's checksum doesn't match");
	if (b->kind == KIND_STORED) {
		memcpy(b->dst, b->src, len);
		b->dst_len = len;
		return FILTER_OK;
	}
	n = lz4_block_decode(worker, b, len);
	if (n < 0)
		return filter_fail(err, FILTER_E_CORRUPT, b->offset,
				   "corrupt LZ4 block of %zu bytes", len);
	b->dst_len = (size_t)n;
	return FILTER_OK;
}

static int lz4_join_end(const struct lz4_blocks *z, const struct block *b,
			struct filter_error *err)
{
	if (z->head.content != SIZE_UNKNOWN && z->raw != z->head.content)
		return filter_fail(err, FILTER_E_CORRUPT, b->offset,
				   "the frame ends after %" PRIu64 " of the %"
				   PRIu64 " bytes that its header announced",
				   z->raw, z->head.content);
	if (z->head.flags & LZ4_CONTENT_CHECK && b->check != XXH32_digest(z->sum))
		return filter_fail(err, FILTER_E_CHECK, b->offset + 4,
				   "the content checksum doesn't match");
	return FILTER_OK;
}

static int lz4_join(void *state, struct block *b, struct filter_error *err)
{
	struct lz4_blocks *z = state;

	if (b->kind == KIND_END) {
		z->packed = b->offset + (z->head.flags & LZ4_CONTENT_CHECK ? 8 : 4) -
			z->start;
		return lz4_join_end(z, b, err);
	}
	if (b->kind == KIND_HEAD)
		return FILTER_OK;
	z->raw += b->dst_len;
	z->blocks++;
	if (z->raw > z->head.content)
		return filter_fail(err, FILTER_E_CORRUPT, b->offset,
				   "the frame has more than the %" PRIu64
				   " bytes that its header announced",
				   z->head.content);
	if (z->head.flags & LZ4_CONTENT_CHECK)
		XXH32_update(z->sum, b->dst, b->dst_len);
	return FILTER_OK;
}

static void lz4_blocks_describe(const void *state, struct member *m)
{
	const struct lz4_blocks *z = state;

	m->format = "lz4";
	m->offset = z->start;
	m->packed = z->packed;
	m->raw = z->raw;
	m->declared = z->head.content;
	m->window = z->head.flags & LZ4_INDEPENDENT ? z->head.block_max : LZ4_HISTORY;
	m->blocks = z->blocks;
	m->dict_id = z->head.dict_id;
	m->check = z->head.flags & LZ4_CONTENT_CHECK ? "xxh32" : NULL;
}

const struct unpack_ops lz4_unpack_blocks = {
	.suits = lz4_suits,
	.open = lz4_blocks_open,
	.worker_open = lz4_worker_open,
	.split = lz4_split,
	.shape = lz4_shape,
	.block = lz4_block,
	.join = lz4_join,
	.describe = lz4_blocks_describe,
	.worker_close = free,
	.close = lz4_blocks_close,
};
