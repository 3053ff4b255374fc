/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lz4.c - LZ4 frames: packing by blocks, and the row
 *
 * One frame of independent blocks, so that workers pack (and readers unpack)
 * them side by side.  A block that doesn't shrink, or that the probe calls
 * incompressible, is stored.  The content checksum is serial by nature
 * (XXH32 can't be combined) and is taken where blocks are joined.
 */
#include "codecs.h"
#include "coder.h"
#include "lz4_frame.h"
#include "mem.h"
#include "serial.h"

#include <inttypes.h>
#include <lz4.h>
#include <lz4hc.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct lz4_pack {
	struct lz4_header head;
	XXH32_state_t *sum;	/* NULL: no content checksum */
	uint64_t length;
};

struct lz4_worker {
	struct lz4_packer *packer;
	bool probe, refuse;
};

/*
 * Blocks of 1 MiB: against lz4's own 4 MiB the frame grows by 0.03 % (mixed
 * files) to 0.12 % (NDJSON), and the jobs of a parallel run need a third of the
 * memory, packing and unpacking.
 */
#define LZ4_BLOCK_DEFAULT ((size_t)1 << 20)

static size_t lz4_block_size(const struct filter_params *p)
{
	size_t n = p->block_size ? p->block_size : LZ4_BLOCK_DEFAULT;

	if (p->size < n)
		n = p->size ? (size_t)p->size : 1;
	return n;
}

static size_t lz4_bound(const struct filter_params *p, size_t raw)
{
	(void)p;
	return raw + 4;
}

static void lz4_pack_close(void *state)
{
	struct lz4_pack *z = state;

	XXH32_freeState(z->sum);
	free(z);
}

static void *lz4_pack_open(const struct filter_params *p,
			   struct filter_error *err)
{
	size_t block_max = lz4_block_max(lz4_block_size(p));
	struct lz4_pack *z;

	if (filter_level_check(&filter_lz4, p, err))
		return NULL;
	if (!block_max) {
		filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
			    "LZ4 frames have blocks of 4 MiB at most");
		return NULL;
	}
	z = calloc(1, sizeof(*z));
	if (!z || (p->check && !(z->sum = XXH32_createState()))) {
		free(z);
		coder_no_memory(err);
		return NULL;
	}
	z->head.flags = LZ4_INDEPENDENT | (z->sum ? LZ4_CONTENT_CHECK : 0) |
		(p->size != SIZE_UNKNOWN ? LZ4_CONTENT_SIZE : 0);
	z->head.block_max = block_max;
	z->head.content = p->size;
	if (z->sum)
		XXH32_reset(z->sum, 0);
	return z;
}

static void lz4_worker_close(void *worker)
{
	struct lz4_worker *w = worker;

	lz4_packer_close(w->packer);
	free(w);
}

static void *lz4_worker_open(const struct filter_params *p,
			     struct filter_error *err)
{
	struct lz4_worker *w = malloc(sizeof(*w));

	if (w)
		w->packer = lz4_packer_open(filter_level(&filter_lz4, p),
					    p->dict, p->dict_len);
	if (!w || !w->packer) {
		free(w);
		coder_no_memory(err);
		return NULL;
	}
	w->probe = p->probe;
	w->refuse = p->refuse;
	return w;
}

static ptrdiff_t lz4_pack_head(void *state, uint8_t *dst,
			       struct filter_error *err)
{
	const struct lz4_pack *z = state;

	(void)err;
	return (ptrdiff_t)lz4_header_write(&z->head, dst);
}

static int lz4_pack_block(void *worker, struct block *b,
			  struct filter_error *err)
{
	struct lz4_worker *w = worker;
	bool store = w->probe && probe_incompressible(b->src, b->src_len);
	size_t n = 0;

	if (store && w->refuse && !b->offset)
		return filter_fail(err, FILTER_E_REFUSED, 0, "not worth packing");
	b->dst_len = 0;
	if (!b->src_len)
		return FILTER_OK;
	if (!store)
		n = lz4_packer_pack(w->packer, b->src, b->src_len, b->dst + 4,
				    b->src_len - 1);
	if (n) {
		store_le32(b->dst, (uint32_t)n);
	} else {
		n = b->src_len;
		store_le32(b->dst, (uint32_t)n | LZ4_STORED);
		memcpy(b->dst + 4, b->src, n);
	}
	b->dst_len = n + 4;
	return FILTER_OK;
}

static int lz4_pack_join(void *state, struct block *b, struct filter_error *err)
{
	struct lz4_pack *z = state;

	(void)err;
	if (z->sum)
		XXH32_update(z->sum, b->src, b->src_len);
	z->length += b->src_len;
	return FILTER_OK;
}

static ptrdiff_t lz4_pack_tail(void *state, uint8_t *dst,
			       struct filter_error *err)
{
	const struct lz4_pack *z = state;

	if (z->head.flags & LZ4_CONTENT_SIZE && z->length != z->head.content)
		return filter_fail(err, FILTER_E_CORRUPT, z->length,
				   "the input has %" PRIu64 " bytes, %" PRIu64
				   " were announced", z->length, z->head.content);
	store_le32(dst, 0);
	if (!z->sum)
		return 4;
	store_le32(dst + 4, XXH32_digest(z->sum));
	return 8;
}

static const struct pack_ops lz4_pack_blocks = {
	.head_max = LZ4_HEADER_MAX,
	.tail_max = 8,
	.block_size = lz4_block_size,
	.bound = lz4_bound,
	.open = lz4_pack_open,
	.worker_open = lz4_worker_open,
	.head = lz4_pack_head,
	.block = lz4_pack_block,
	.join = lz4_pack_join,
	.tail = lz4_pack_tail,
	.worker_close = lz4_worker_close,
	.close = lz4_pack_close,
};

static void *lz4_stream_open(const struct filter_params *p, struct source *src,
			     struct filter_error *err)
{
	return serial_open(&lz4_pack_blocks, p, src, err);
}

static const struct stream_ops lz4_pack_ops = {
	.open = lz4_stream_open,
	.read = serial_read,
	.close = serial_close,
};

static bool lz4_detect(const uint8_t *p, size_t n)
{
	return n >= 4 && load_le32(p) == LZ4_FRAME_MAGIC;
}

const struct filter filter_lz4 = {
	.name = "lz4",
	.suffix = ".lz4",
	.tar_suffix = ".tlz4",
	.flags = FILTER_DICT | FILTER_CHECK | FILTER_BLOCK_SIZE | FILTER_MODEST,
	.level_min = -65536, .level_default = 1, .level_max = LZ4HC_CLEVEL_MAX,
	.peek = 4,
	.detect = lz4_detect,
	.pack = &lz4_pack_ops,
	.unpack = &lz4_unpack_ops,
	.pack_blocks = &lz4_pack_blocks,
	.unpack_blocks = &lz4_unpack_blocks,
	.library = "lz4",
	.version = LZ4_versionString,
};
