/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_seek.c - packing the seekable zstd format
 *
 * Every block of the input becomes a frame of its own, packed by whichever
 * worker is free; behind the last one a skippable frame tells where each frame
 * begins in packed and in decoded bytes (zstd_frame.h).  Any zstd reads it.
 *
 * The table's checks are the low halves of XXH64 over the decoded bytes, and
 * so are the checks that end the frames: they are copied, not computed.
 *
 * A context is used for many frames, and which ones depends on the threads, so
 * nothing may be carried over from frame to frame.  With a dictionary the level
 * stays, because libzstd digests a dictionary once, for the level of that
 * moment.
 */
#include "codecs.h"
#include "coder.h"
#include "mem.h"
#include "zstd_codec.h"
#include "zstd_frame.h"
#include "zstd_noise.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

struct seek_pack {
	uint8_t *table;		/* head and entries so far */
	size_t len, cap;
	uint64_t frames;
	bool checked;
};

struct seek_worker {
	ZSTD_CCtx *cctx;
	int level, level_now;	/* asked for; in force */
	bool judge;		/* noise is packed at level 1 */
};

static size_t seek_block_size(const struct filter_params *p)
{
	return p->seek_frame;
}

static size_t seek_bound(const struct filter_params *p, size_t raw)
{
	(void)p;
	return ZSTD_compressBound(raw);
}

static void seek_close(void *state)
{
	struct seek_pack *z = state;

	free(z->table);
	free(z);
}

static void *seek_open(const struct filter_params *p, struct filter_error *err)
{
	struct seek_pack *z = calloc(1, sizeof(*z));

	if (z && (z->table = malloc(4096))) {
		z->cap = 4096;
		z->len = ZSTD_TABLE_HEAD;
		z->checked = p->check != 0;
		return z;
	}
	free(z);
	coder_no_memory(err);
	return NULL;
}

static uint64_t seek_worker_memory(const struct filter_params *p)
{
	struct filter_params mine = *p;

	mine.size = p->seek_frame;
	return zstd_context_memory(&mine);
}

static void seek_worker_close(void *worker)
{
	struct seek_worker *w = worker;

	ZSTD_freeCCtx(w->cctx);
	free(w);
}

static void *seek_worker_open(const struct filter_params *p,
			      struct filter_error *err)
{
	struct seek_worker *w;
	struct filter_params mine = *p;

	if (filter_level_check(&filter_zstd, p, err))
		return NULL;
	w = calloc(1, sizeof(*w));
	if (!w || !(w->cctx = ZSTD_createCCtx())) {
		free(w);
		coder_no_memory(err);
		return NULL;
	}
	mine.threads = 0;
	mine.size = p->seek_frame;
	w->level = w->level_now = filter_level(&filter_zstd, p);
	w->judge = p->probe && w->level >= 5 && w->level <= 19 &&
		   !p->window_log && !p->dict_len;
	if (!zstd_pack_params(w->cctx, &mine, err))
		return w;
	seek_worker_close(w);
	return NULL;
}

static int seek_block(void *worker, struct block *b, struct filter_error *err)
{
	struct seek_worker *w = worker;
	int level = w->judge && zstd_noise_all(b->src, b->src_len) ? 1 : w->level;
	size_t r = 0;

	if (level != w->level_now)
		r = ZSTD_CCtx_setParameter(w->cctx, ZSTD_c_compressionLevel, level);
	w->level_now = level;
	if (!ZSTD_isError(r))
		r = ZSTD_compress2(w->cctx, b->dst, b->dst_cap, b->src, b->src_len);
	if (ZSTD_isError(r))
		return zstd_fail(err, b->offset, r);
	b->dst_len = r;
	return FILTER_OK;
}

static int seek_room(struct seek_pack *z, size_t n, struct filter_error *err)
{
	uint8_t *more;

	if (z->cap - z->len >= n)
		return FILTER_OK;
	more = realloc(z->table, 2 * z->cap);
	if (!more)
		return coder_no_memory(err);
	z->table = more;
	z->cap *= 2;
	return FILTER_OK;
}

static int seek_join(void *state, struct block *b, struct filter_error *err)
{
	struct seek_pack *z = state;

	/* After a pause at the very end: no frame for nothing. */
	if (!b->src_len && z->frames) {
		b->dst_len = 0;
		return FILTER_OK;
	}
	if (z->frames == ZSTD_TABLE_FRAMES)
		return filter_fail(err, FILTER_E_UNSUPPORTED, b->offset,
				   "a seek table holds no more than 2^27 frames;"
				   " larger ones with --seekable=SIZE");
	if (seek_room(z, 12 + ZSTD_TABLE_FOOTER, err))
		return err->code;
	store_le32(z->table + z->len, (uint32_t)b->dst_len);
	store_le32(z->table + z->len + 4, (uint32_t)b->src_len);
	z->len += 8;
	if (z->checked) {
		memcpy(z->table + z->len, b->dst + b->dst_len - 4, 4);
		z->len += 4;
	}
	z->frames++;
	return FILTER_OK;
}

/* Always with room for the footer, by seek_room(). */
static const uint8_t *seek_index(void *state, size_t *n)
{
	struct seek_pack *z = state;
	uint8_t *end = z->table + z->len;

	store_le32(z->table, ZSTD_TABLE_MAGIC);
	store_le32(z->table + 4, (uint32_t)(z->len + ZSTD_TABLE_FOOTER - ZSTD_TABLE_HEAD));
	store_le32(end, (uint32_t)z->frames);
	end[4] = z->checked ? 0x80 : 0;
	store_le32(end + 5, ZSTD_TABLE_END);
	*n = z->len + ZSTD_TABLE_FOOTER;
	return z->table;
}

const struct pack_ops zstd_pack_seekable = {
	.block_size = seek_block_size,
	.bound = seek_bound,
	.open = seek_open,
	.worker_memory = seek_worker_memory,
	.worker_open = seek_worker_open,
	.block = seek_block,
	.join = seek_join,
	.index = seek_index,
	.worker_close = seek_worker_close,
	.close = seek_close,
};
