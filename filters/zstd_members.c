/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_members.c - many zstd frames in a row, each a block
 *
 * For files of many frames: seekable ones, pzstd's, concatenations.  A frame's
 * end is found by hopping over its blocks, whose heads also bound what it
 * decodes to; a header's claim only lowers that bound.  Everything that isn't
 * plain - a frame of more than MEMBER_MAX bytes, of a dictionary that isn't
 * there, damage that the hops meet - is left to the stream face, which knows
 * what to say about it.
 */
#include "codecs.h"
#include "coder.h"
#include "zstd_codec.h"
#include "zstd_frame.h"

#include <stdlib.h>
#include <zstd.h>

/* The largest frame, decoded, and the largest skippable one that a run takes. */
#define MEMBER_MAX ((uint64_t)32 << 20)
#define SKIP_MAX ((uint64_t)1 << 20)

struct members {
	uint64_t memory;
	uint32_t dict_id;
	bool has_dict;
};

static void *members_open(const struct filter_params *p, struct filter_error *err)
{
	struct members *z = calloc(1, sizeof(*z));

	if (!z) {
		coder_no_memory(err);
		return NULL;
	}
	z->memory = p->memory ? p->memory : UINT64_MAX;
	z->has_dict = p->dict_len;
	if (z->has_dict)
		z->dict_id = ZSTD_getDictID_fromDict(p->dict, p->dict_len);
	return z;
}

static void *members_worker_open(const struct filter_params *p,
				 struct filter_error *err)
{
	ZSTD_DCtx *dctx = ZSTD_createDCtx();
	size_t r = 0;

	if (!dctx) {
		coder_no_memory(err);
		return NULL;
	}
	if (p->dict_len)
		r = ZSTD_DCtx_loadDictionary(dctx, p->dict, p->dict_len);
	if (!ZSTD_isError(r))
		return dctx;
	zstd_fail(err, SIZE_UNKNOWN, r);
	ZSTD_freeDCtx(dctx);
	return NULL;
}

static void members_worker_close(void *worker)
{
	ZSTD_freeDCtx(worker);
}

static ptrdiff_t members_skip(const uint8_t *src, size_t n, uint64_t len,
			      size_t *want, struct block *b)
{
	/* A seek table is for whoever looks at tables. */
	if (len > SKIP_MAX || src[0] == (ZSTD_TABLE_MAGIC & 0xff))
		return 0;
	if (len > n) {
		*want = (size_t)len;
		return 0;
	}
	b->src = src;
	b->src_len = 0;
	b->raw = 0;
	b->check = len;
	return (ptrdiff_t)len;
}

static ptrdiff_t members_split(void *state, const uint8_t *src, size_t n,
			       uint64_t offset, size_t *want, struct block *b,
			       struct filter_error *err)
{
	const struct members *z = state;
	struct zstd_extent x;
	uint64_t skip;
	ptrdiff_t r;

	(void)err;
	*want = n < 8 ? 8 : 0;
	if (n < 8)
		return 0;
	skip = frame_skippable(src, n);
	if (skip)
		return members_skip(src, n, skip, want, b);
	r = zstd_frame_walk(src, n, MEMBER_MAX, &x, want);
	if (r < 0)
		*want = 0;
	if (r <= 0)
		return 0;
	*want = 0;
	if (x.head.window > z->memory ||
	    (x.head.dict_id && (!z->has_dict || x.head.dict_id != z->dict_id)))
		return 0;
	b->src = src;
	b->src_len = b->check = x.size;
	b->raw = x.raw;
	b->offset = offset;
	return r;
}

/*
 * Bytes that a damaged frame gives before its damage is met.  Block by block, by
 * what the library asks for next: of more it would give all or nothing.
 */
static size_t members_prefix(ZSTD_DCtx *dctx, const struct block *b)
{
	ZSTD_inBuffer in = { b->src, 0, 0 };
	ZSTD_outBuffer out = { b->dst, b->dst_cap, 0 };
	size_t next = 1;

	ZSTD_DCtx_reset(dctx, ZSTD_reset_session_only);
	while (next && !ZSTD_isError(next) && in.pos == in.size && in.size < b->src_len) {
		in.size += next < b->src_len - in.size ? next : b->src_len - in.size;
		next = ZSTD_decompressStream(dctx, &out, &in);
	}
	ZSTD_DCtx_reset(dctx, ZSTD_reset_session_only);
	return out.pos;
}

static int members_block(void *worker, struct block *b, struct filter_error *err)
{
	size_t r = ZSTD_decompressDCtx(worker, b->dst, b->dst_cap, b->src, b->src_len);

	if (ZSTD_isError(r)) {
		b->dst_len = members_prefix(worker, b);
		return zstd_fail(err, b->offset, r);
	}
	b->dst_len = r;
	return FILTER_OK;
}

static void members_member(const struct block *b, struct member *m)
{
	struct zstd_header h;

	*m = (struct member){
		.format = "skippable", .offset = b->offset, .packed = b->check,
		.declared = SIZE_UNKNOWN, .skipped = !b->src_len,
	};
	if (m->skipped || zstd_header_parse(b->src, b->src_len, &h) < 0)
		return;
	m->format = filter_zstd.name;
	m->raw = b->dst_len;
	m->declared = h.content;
	m->window = h.window;
	m->dict_id = h.dict_id;
	m->check = h.checked ? "xxh64" : NULL;
}

const struct unpack_ops zstd_unpack_members = {
	.open = members_open,
	.worker_open = members_worker_open,
	.split = members_split,
	.block = members_block,
	.member = members_member,
	.worker_close = members_worker_close,
	.close = free,
};
