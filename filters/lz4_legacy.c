/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lz4_legacy.c - LZ4's legacy frames, which Linux kernels and initramfs use
 *
 *	magic[4], then blocks: length[4], an LZ4 block of 8 MiB at most
 *
 * There is no end mark: a frame ends with the input, or where the next four
 * bytes are no possible length but begin something else: another member, a
 * skippable frame, zeros.  A kernel image ends with its decoded size in four
 * bytes; the last four bytes of the input are taken for that when they are
 * equal to what was decoded.  There is no check and nothing can be stored: an
 * incompressible block becomes an LZ4 block of literals alone.
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

#define LEGACY_BLOCK ((size_t)8 << 20)
#define LEGACY_BOUND ((size_t)LZ4_COMPRESSBOUND(LEGACY_BLOCK))

/* --- packing: the worker is the packer, the state isn't needed --- */

struct legacy_worker {
	struct lz4_packer *packer;
	bool probe, refuse;
};

static size_t legacy_block_size(const struct filter_params *p)
{
	return p->size < LEGACY_BLOCK ? (p->size ? (size_t)p->size : 1) :
		LEGACY_BLOCK;
}

static size_t legacy_bound(const struct filter_params *p, size_t raw)
{
	(void)p;
	return 4 + (size_t)LZ4_COMPRESSBOUND(raw);
}

static void *legacy_pack_open(const struct filter_params *p,
			      struct filter_error *err)
{
	void *state;

	if (filter_level_check(&filter_lz4_legacy, p, err))
		return NULL;
	state = malloc(1);
	if (!state)
		coder_no_memory(err);
	return state;
}

static void *legacy_worker_open(const struct filter_params *p,
				struct filter_error *err)
{
	struct legacy_worker *w = calloc(1, sizeof(*w));

	if (w)
		w->packer = lz4_packer_open(filter_level(&filter_lz4_legacy, p),
					    NULL, 0);
	if (!w || !w->packer) {
		free(w);
		coder_no_memory(err);
		return NULL;
	}
	w->probe = p->probe;
	w->refuse = p->refuse;
	return w;
}

static void legacy_worker_close(void *worker)
{
	struct legacy_worker *w = worker;

	lz4_packer_close(w->packer);
	free(w);
}

static ptrdiff_t legacy_head(void *state, uint8_t *dst,
			     struct filter_error *err)
{
	(void)state;
	(void)err;
	store_le32(dst, LZ4_LEGACY_MAGIC);
	return 4;
}

/* One LZ4 sequence of n >= 15 literals; returns its bytes. */
static size_t legacy_literals(const uint8_t *src, size_t n, uint8_t *dst)
{
	uint8_t *start = dst;
	size_t chain = n - 15;

	*dst++ = 0xf0;
	for (; chain >= 255; chain -= 255)
		*dst++ = 255;
	*dst++ = (uint8_t)chain;
	memcpy(dst, src, n);
	return (size_t)(dst - start) + n;
}

static int legacy_block(void *worker, struct block *b, struct filter_error *err)
{
	struct legacy_worker *w = worker;
	bool store = w->probe && probe_incompressible(b->src, b->src_len);
	size_t n;

	if (store && w->refuse && !b->offset)
		return filter_fail(err, FILTER_E_REFUSED, 0, "not worth packing");
	b->dst_len = 0;
	if (!b->src_len)
		return FILTER_OK;
	if (store)
		n = legacy_literals(b->src, b->src_len, b->dst + 4);
	else
		n = lz4_packer_pack(w->packer, b->src, b->src_len, b->dst + 4,
				    b->dst_cap - 4);
	if (!n)
		return filter_fail(err, FILTER_E_MEMORY, b->offset,
				   "liblz4 can't pack this block");
	store_le32(b->dst, (uint32_t)n);
	b->dst_len = n + 4;
	return FILTER_OK;
}

static int legacy_join(void *state, struct block *b, struct filter_error *err)
{
	(void)state;
	(void)b;
	(void)err;
	return FILTER_OK;
}

static ptrdiff_t legacy_tail(void *state, uint8_t *dst, struct filter_error *err)
{
	(void)state;
	(void)dst;
	(void)err;
	return 0;
}

static const struct pack_ops legacy_pack_blocks = {
	.head_max = 4,
	.block_size = legacy_block_size,
	.bound = legacy_bound,
	.open = legacy_pack_open,
	.worker_open = legacy_worker_open,
	.head = legacy_head,
	.block = legacy_block,
	.join = legacy_join,
	.tail = legacy_tail,
	.worker_close = legacy_worker_close,
	.close = free,
};

static void *legacy_stream_open(const struct filter_params *p,
				struct source *src, struct filter_error *err)
{
	return serial_open(&legacy_pack_blocks, p, src, err);
}

/* --- unpacking --- */

struct legacy {
	struct source *src;
	uint64_t memory;
	uint64_t start, raw, blocks;
	bool opened, ended;
	uint8_t *packed;	/* LEGACY_BOUND: a block that came in pieces */
	uint8_t *block;		/* LEGACY_BLOCK: decoded, given from pos on */
	size_t pos, len;
};

static int legacy_truncated(const struct legacy *z, struct filter_error *err)
{
	return filter_fail(err, FILTER_E_TRUNCATED, z->src->offset,
			   "truncated: the input ends inside a block");
}

static int legacy_unreadable(const struct legacy *z, struct filter_error *err)
{
	return filter_fail(err, FILTER_E_READ, z->src->offset,
			   "the input can't be read");
}

/* The magic number, and room for one block. */
static int legacy_begin(struct legacy *z, struct filter_error *err)
{
	const uint8_t *p;
	ptrdiff_t n = source_peek(z->src, 4, &p);

	if (n < 0)
		return legacy_unreadable(z, err);
	if (n < 4)
		return legacy_truncated(z, err);
	if (load_le32(p) != LZ4_LEGACY_MAGIC)
		return filter_fail(err, FILTER_E_CORRUPT, z->start,
				   "not a legacy LZ4 frame");
	if (z->memory && z->memory < LEGACY_BLOCK + LEGACY_BOUND)
		return coder_over_budget(err, z->start, "a legacy LZ4 frame",
					 LEGACY_BLOCK + LEGACY_BOUND, z->memory);
	source_skip(z->src, 4);
	if (!z->packed)
		z->packed = malloc(LEGACY_BOUND);
	if (!z->block)
		z->block = malloc(LEGACY_BLOCK);
	z->opened = true;
	return z->packed && z->block ? FILTER_OK : coder_no_memory(err);
}

/*
 * What follows is no block.  FILTER_OK where it is something else that may
 * follow a frame, so that the frame has ended.
 */
static int legacy_end(struct legacy *z, uint32_t len, struct filter_error *err)
{
	const uint8_t *p;
	ptrdiff_t n = source_peek(z->src, FILTER_PEEK, &p);

	if (n < 0)
		return legacy_unreadable(z, err);
	if (len && !filter_detect(p, (size_t)n) && !frame_skippable(p, (size_t)n))
		return filter_fail(err, FILTER_E_CORRUPT, z->src->offset,
				   "a block length of %" PRIu32 " is impossible, "
				   "legacy blocks have at most %zu bytes",
				   len, LEGACY_BOUND);
	z->ended = true;
	return FILTER_OK;
}

/* Takes the next block's length, 0 at the frame's end, or an error. */
static ptrdiff_t legacy_length(struct legacy *z, struct filter_error *err)
{
	const uint8_t *p;
	ptrdiff_t n = source_peek(z->src, 5, &p);
	uint32_t len;

	if (n < 0)
		return legacy_unreadable(z, err);
	z->ended = !n;
	if (!n)
		return 0;
	if (n < 4)
		return legacy_truncated(z, err);
	len = load_le32(p);
	if (n == 4 && len == (uint32_t)z->raw && z->blocks) {
		z->ended = true;
		source_skip(z->src, 4);
		return 0;
	}
	if (!len || len > LEGACY_BOUND)
		return legacy_end(z, len, err);
	source_skip(z->src, 4);
	return (ptrdiff_t)len;
}

/* The next len bytes in one piece, NULL with *err filled. */
static const uint8_t *legacy_packed(struct legacy *z, size_t len,
				    struct filter_error *err)
{
	size_t have = 0;

	for (;;) {
		const uint8_t *p;
		ptrdiff_t n = source_next(z->src, &p);
		size_t take = len - have;

		if (n == SOURCE_PAUSE)
			continue;
		if (n <= 0) {
			n ? legacy_unreadable(z, err) : legacy_truncated(z, err);
			return NULL;
		}
		if ((size_t)n < take)
			take = (size_t)n;
		source_unread(z->src, p + take, (size_t)n - take);
		if (take == len)
			return p;
		memcpy(z->packed + have, p, take);
		have += take;
		if (have == len)
			return z->packed;
	}
}

/* Decodes the next block, or sees that there is none. */
static int legacy_next(struct legacy *z, struct filter_error *err)
{
	uint64_t at = z->src->offset;
	ptrdiff_t len;
	const uint8_t *p;
	int n;

	if (!z->opened && legacy_begin(z, err))
		return err->code;
	len = legacy_length(z, err);
	if (len <= 0)
		return (int)len;
	p = legacy_packed(z, (size_t)len, err);
	if (!p)
		return err->code;
	n = LZ4_decompress_safe((const char *)p, (char *)z->block, (int)len,
				(int)LEGACY_BLOCK);
	if (n < 0)
		return filter_fail(err, FILTER_E_CORRUPT, at,
				   "corrupt LZ4 block, at byte %d of its %td",
				   -n, len);
	z->pos = 0;
	z->len = (size_t)n;
	z->blocks++;
	return FILTER_OK;
}

static ptrdiff_t legacy_read(void *state, uint8_t *dst, size_t cap,
			     struct filter_error *err)
{
	struct legacy *z = state;
	size_t n;

	while (z->pos == z->len && !z->ended) {
		int r = legacy_next(z, err);

		if (r)
			return r;
	}
	n = z->len - z->pos < cap ? z->len - z->pos : cap;
	if (n)
		memcpy(dst, z->block + z->pos, n);
	z->pos += n;
	z->raw += n;
	return (ptrdiff_t)n;
}

static int legacy_reset(void *state, const struct filter_params *p,
			struct filter_error *err)
{
	struct legacy *z = state;

	(void)p;
	(void)err;
	z->start = z->src->offset;
	z->raw = z->blocks = 0;
	z->pos = z->len = 0;
	z->opened = z->ended = false;
	return FILTER_OK;
}

static void *legacy_open(const struct filter_params *p, struct source *src,
			 struct filter_error *err)
{
	struct legacy *z = calloc(1, sizeof(*z));

	if (!z) {
		coder_no_memory(err);
		return NULL;
	}
	z->src = src;
	z->memory = p->memory;
	z->start = src->offset;
	return z;
}

static void legacy_describe(const void *state, struct member *m)
{
	const struct legacy *z = state;

	m->format = "lz4-legacy";
	m->offset = z->start;
	m->packed = z->src->offset - z->start;
	m->raw = z->raw;
	m->declared = SIZE_UNKNOWN;
	m->window = LEGACY_BLOCK;
	m->blocks = z->blocks;
}

static void legacy_close(void *state)
{
	struct legacy *z = state;

	free(z->packed);
	free(z->block);
	free(z);
}

static bool legacy_detect(const uint8_t *p, size_t n)
{
	return n >= 4 && load_le32(p) == LZ4_LEGACY_MAGIC;
}

static const struct stream_ops legacy_pack_ops = {
	.open = legacy_stream_open,
	.read = serial_read,
	.close = serial_close,
};

static const struct stream_ops legacy_unpack_ops = {
	.open = legacy_open,
	.read = legacy_read,
	.reset = legacy_reset,
	.describe = legacy_describe,
	.close = legacy_close,
};

const struct filter filter_lz4_legacy = {
	.name = "lz4-legacy",
	.suffix = ".lz4l",
	.level_min = -65536, .level_default = 1, .level_max = LZ4HC_CLEVEL_MAX,
	.peek = 4,
	.detect = legacy_detect,
	.pack = &legacy_pack_ops,
	.unpack = &legacy_unpack_ops,
	.pack_blocks = &legacy_pack_blocks,
	.library = "lz4",
	.version = LZ4_versionString,
};
