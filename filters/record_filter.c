// SPDX-License-Identifier: Apache-2.0
/*
 * record_filter.c - the lzv codec: record streams through the block face
 *
 * Packing: one block is one record, encoded by any worker with its check; the
 * join puts sync marks between them and keeps totals and index.  Unpacking:
 * split walks the items, any worker decodes a record.  A record's size is told
 * before its bytes are, so memory is known (and refused) before it is used.
 */
#include "record.h"

#include <stdlib.h>

#include "codecs.h"
#include "coder.h"
#include "lzvolt.h"
#include "serial.h"

/*
 * Every record starts without a history.  On the corpus 512 KiB come out at
 * most 0.7 % larger than 1 MiB; 256 KiB 2.3 %, 64 KiB 13 %.  A reader that
 * wants one byte decodes no more than one record.
 */
#define BLOCK_SIZE	((size_t)512 << 10)
#define BLOCK_MAX	((size_t)64 << 20)

static size_t pack_block_size(const struct filter_params *p)
{
	return p->block_size ? p->block_size : BLOCK_SIZE;
}

static size_t pack_bound(const struct filter_params *p, size_t raw)
{
	(void)p;
	return raw + LZV_ITEM_EXTRA + 16 + LZV_MARK_ROOM;
}

struct lzv_pack {
	struct lzv_writer *writer;
	unsigned width;
	bool checked;
};

static void pack_close(void *state)
{
	struct lzv_pack *z = state;

	lzv_writer_close(z->writer);
	free(z);
}

static void *pack_open(const struct filter_params *p, struct filter_error *err)
{
	struct lzv_pack *z;

	if (filter_level_check(&filter_lzv, p, err))
		return NULL;
	if (p->transpose < 0 || p->transpose > LZV_WIDTH_MAX ||
	    pack_block_size(p) > BLOCK_MAX) {
		filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
			    "lzv: rows of 1 to 65536 bytes, records of 64 MiB at most");
		return NULL;
	}
	z = calloc(1, sizeof(*z));
	if (z) {
		z->checked = p->check != 0;
		z->writer = lzv_writer_open(LZV_INDEXED |
					    (z->checked ? LZV_CHECKED : 0));
	}
	if (!z || !z->writer) {
		free(z);
		coder_no_memory(err);
		return NULL;
	}
	z->width = p->transpose;
	return z;
}

struct lzv_pack_worker {
	struct lzv_coder *coder;
	unsigned width;
	bool checked, refuse;
};

static void pack_worker_close(void *worker)
{
	struct lzv_pack_worker *w = worker;

	lzv_coder_close(w->coder);
	free(w);
}

static void *pack_worker_open(const struct filter_params *p,
			      struct filter_error *err)
{
	struct lzv_pack_worker *w = calloc(1, sizeof(*w));

	if (w)
		w->coder = lzv_coder_open(p);
	if (!w || !w->coder) {
		free(w);
		coder_no_memory(err);
		return NULL;
	}
	w->width = p->transpose;
	w->checked = p->check != 0;
	w->refuse = p->refuse;
	return w;
}

static ptrdiff_t pack_head(void *state, uint8_t *dst, struct filter_error *err)
{
	struct lzv_pack *z = state;

	(void)err;
	return (ptrdiff_t)lzv_writer_head(z->writer, dst, z->width);
}

static int pack_block(void *worker, struct block *b, struct filter_error *err)
{
	struct lzv_pack_worker *w = worker;
	struct lzv_item it = { 0 };

	b->dst_len = 0;
	if (!b->src_len)
		return FILTER_OK;
	b->dst_len = lzv_encode(w->coder, b->src, b->src_len, w->width,
				w->checked, b->dst, &it);
	if (!b->dst_len)
		return coder_no_memory(err);
	if (w->refuse && !b->offset && it.encoding == LZV_RAW)
		return filter_fail(err, FILTER_E_REFUSED, 0, "not worth packing");
	return FILTER_OK;
}

static int pack_join(void *state, struct block *b, struct filter_error *err)
{
	struct lzv_pack *z = state;
	struct lzv_item it;
	size_t want;

	if (!b->dst_len)
		return FILTER_OK;
	if (lzv_item_get(b->dst, b->dst_len, z->checked, &it, &want, b->offset,
			 err) < 0)
		return err->code;
	if (lzv_writer_item(z->writer, b->dst, &it))
		return coder_no_memory(err);
	if (!b->last)
		b->dst_len += lzv_writer_mark(z->writer, b->dst + b->dst_len);
	return FILTER_OK;
}

static ptrdiff_t pack_tail(void *state, uint8_t *dst, struct filter_error *err)
{
	struct lzv_pack *z = state;

	(void)err;
	return (ptrdiff_t)lzv_writer_end(z->writer, dst);
}

static const struct pack_ops lzv_pack_blocks = {
	.head_max = LZV_HEADER_ROOM,
	.tail_max = 1024 + 40 * (size_t)LZV_GROUPS_MAX,
	.block_size = pack_block_size,
	.bound = pack_bound,
	.open = pack_open,
	.worker_open = pack_worker_open,
	.head = pack_head,
	.block = pack_block,
	.join = pack_join,
	.tail = pack_tail,
	.worker_close = pack_worker_close,
	.close = pack_close,
};

static void *pack_stream_open(const struct filter_params *p, struct source *src,
			      struct filter_error *err)
{
	return serial_open(&lzv_pack_blocks, p, src, err);
}

static const struct stream_ops lzv_pack_ops = {
	.open = pack_stream_open,
	.read = serial_read,
	.close = serial_close,
};

/* block.kind of a record on its way: encoding, checked, row width. */
#define KIND_CHECKED	16
#define KIND_WIDTH	8	/* shift */

struct lzv_unpack {
	struct lzv_reader *reader;
	uint64_t start, packed;
	bool started;
};

static bool unpack_suits(const uint8_t *head, size_t n,
			 const struct filter_params *p)
{
	(void)p;
	return n >= 4 && head[0] == 0xf5 && head[1] == 'L' &&
	       head[2] == 'Z' && head[3] == 'V';
}

static void unpack_close(void *state)
{
	struct lzv_unpack *z = state;

	lzv_reader_close(z->reader);
	free(z);
}

static void *unpack_open(const struct filter_params *p, struct filter_error *err)
{
	struct lzv_unpack *z = calloc(1, sizeof(*z));

	if (z)
		z->reader = lzv_reader_open(p->memory);
	if (!z || !z->reader) {
		free(z);
		coder_no_memory(err);
		return NULL;
	}
	return z;
}

static bool unpack_resume(void *state, const uint8_t *p, size_t n, uint64_t offset)
{
	struct lzv_unpack *z = state;

	return z->started && offset > z->start &&
	       lzv_reader_resume(z->reader, p, n, offset - z->start);
}

static void *unpack_worker_open(const struct filter_params *p,
				struct filter_error *err)
{
	struct lzv_coder *c = lzv_coder_open(p);

	if (!c)
		coder_no_memory(err);
	return c;
}

static void unpack_worker_close(void *worker)
{
	lzv_coder_close(worker);
}

static ptrdiff_t unpack_split(void *state, const uint8_t *src, size_t n,
			      uint64_t offset, size_t *want, struct block *b,
			      struct filter_error *err)
{
	struct lzv_unpack *z = state;
	struct lzv_item it;
	ptrdiff_t took = lzv_reader_next(z->reader, src, n, offset, want, &it, err);

	if (took <= 0)
		return took;
	if (!z->started)
		z->start = offset;
	z->started = true;
	z->packed = offset + took - z->start;
	b->src_len = 0;
	b->raw = 0;
	b->end = lzv_reader_at_end(z->reader);
	if (it.encoding == LZV_CONTROL || (!it.raw_size && !it.body_size))
		return took;
	b->src = it.body;
	b->src_len = it.body_size;
	b->raw = it.raw_size;
	b->check = it.check;
	b->kind = it.encoding | lzv_reader_width(z->reader) << KIND_WIDTH;
	if (lzv_reader_checked(z->reader))
		b->kind |= KIND_CHECKED;
	b->offset = offset + (it.body - src);
	return took;
}

static int unpack_block(void *worker, struct block *b, struct filter_error *err)
{
	struct lzv_item it = {
		.encoding = b->kind & 15, .raw_size = b->raw, .body = b->src,
		.body_size = b->src_len, .check = (uint32_t)b->check,
	};

	b->dst_len = 0;
	if (!b->src_len)
		return FILTER_OK;
	if (lzv_decode(worker, &it, b->kind >> KIND_WIDTH, b->kind & KIND_CHECKED,
		       b->dst, b->offset, err))
		return err->code;
	b->dst_len = b->raw;
	return FILTER_OK;
}

static int unpack_join(void *state, struct block *b, struct filter_error *err)
{
	(void)state;
	(void)b;
	(void)err;
	return FILTER_OK;
}

static void unpack_describe(const void *state, struct member *m)
{
	const struct lzv_unpack *z = state;
	struct lzv_totals t = lzv_reader_totals(z->reader);

	m->format = filter_lzv.name;
	m->offset = z->start;
	m->packed = z->packed;
	m->raw = t.raw;
	m->declared = SIZE_UNKNOWN;
	m->window = 65536;
	m->blocks = t.items;
	m->dict_id = 0;
	m->check = lzv_reader_checked(z->reader) ? "xxh3" : NULL;
	m->skipped = false;
}

static const struct unpack_ops lzv_unpack_blocks = {
	.suits = unpack_suits,
	.open = unpack_open,
	.worker_open = unpack_worker_open,
	.split = unpack_split,
	.block = unpack_block,
	.join = unpack_join,
	.resume = unpack_resume,
	.describe = unpack_describe,
	.worker_close = unpack_worker_close,
	.close = unpack_close,
};

static bool lzv_detect(const uint8_t *p, size_t n)
{
	return unpack_suits(p, n, NULL);
}

static const char *lzv_version(void)
{
	return lzvolt_version();
}

const struct filter filter_lzv = {
	.name = "lzv",
	.suffix = ".lzv",
	.tar_suffix = ".tlzv",
	.flags = FILTER_CHECK | FILTER_FAVOR | FILTER_TRANSPOSE | FILTER_BLOCK_SIZE,
	.level_min = LZVOLT_LEVEL_MIN,
	.level_default = LZVOLT_LEVEL_DEFAULT,
	.level_max = LZVOLT_LEVEL_MAX,
	.peek = 4,
	.detect = lzv_detect,
	.pack = &lzv_pack_ops,
	.pack_blocks = &lzv_pack_blocks,
	.unpack_blocks = &lzv_unpack_blocks,
	.library = "lzvolt",
	.version = lzv_version,
};
