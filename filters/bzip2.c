/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bzip2.c - bzip2 by libbz2
 *
 * By the library itself, not through libarchive: that one reads ahead of the
 * member's end, so what follows a member would be lost.
 *
 * A flush ends the stream and what follows is a new one: a block ends within
 * a byte, so a flushed block couldn't be read before the next one begins.
 */
#include "codecs.h"
#include "coder.h"

#include <bzlib.h>
#include <stdlib.h>
#include <string.h>

struct bzip2 {
	struct coder c;		/* first, so that the two cast */
	bz_stream strm;
	int level;		/* packing; 0 when unpacking */
	bool open;
	bool flushed;		/* packing: a stream was ended */
};

/* libbz2 counts in 32 bits: longer spans go in pieces. */
static unsigned bzip2_span(size_t n)
{
	return n < UINT32_MAX ? (unsigned)n : UINT32_MAX;
}

/* Points the library at the coder's spans, and back at what it left. */
static void bzip2_enter(struct bzip2 *b)
{
	b->strm.next_in = (char *)b->c.in;
	b->strm.avail_in = bzip2_span(b->c.in_len);
	b->strm.next_out = (char *)b->c.out;
	b->strm.avail_out = bzip2_span(b->c.out_len);
}

static void bzip2_leave(struct bzip2 *b)
{
	size_t in = (size_t)((const uint8_t *)b->strm.next_in - b->c.in);
	size_t out = (size_t)((uint8_t *)b->strm.next_out - b->c.out);

	b->c.in += in;
	b->c.in_len -= in;
	b->c.out += out;
	b->c.out_len -= out;
}

static void bzip2_end(struct bzip2 *b)
{
	if (b->open && b->level)
		BZ2_bzCompressEnd(&b->strm);
	else if (b->open)
		BZ2_bzDecompressEnd(&b->strm);
	b->open = false;
}

static void bzip2_close(void *state)
{
	bzip2_end(state);
	free(state);
}

/* libbz2 can't start over: each stream has a state of its own. */
static int bzip2_init(struct bzip2 *b, struct filter_error *err)
{
	int r;

	b->strm = (bz_stream){ 0 };
	if (b->level)
		r = BZ2_bzCompressInit(&b->strm, b->level, 0, 0);
	else
		r = BZ2_bzDecompressInit(&b->strm, 0, 0);
	b->open = r == BZ_OK;
	return b->open ? FILTER_OK : coder_no_memory(err);
}

static int bzip2_start(struct bzip2 *b, struct source *src,
		       struct filter_error *err)
{
	bzip2_end(b);
	coder_start(&b->c, src);
	b->flushed = false;
	return bzip2_init(b, err);
}

static void *bzip2_open(int level, struct source *src, struct filter_error *err)
{
	struct bzip2 *b = calloc(1, sizeof(*b));

	if (!b) {
		coder_no_memory(err);
		return NULL;
	}
	b->level = level;
	if (bzip2_start(b, src, err)) {
		free(b);
		return NULL;
	}
	return b;
}

static int bzip2_reset(void *state, const struct filter_params *p,
		       struct filter_error *err)
{
	struct bzip2 *b = state;

	(void)p;
	return bzip2_start(b, b->c.src, err);
}

static void *bzip2_pack_open(const struct filter_params *p, struct source *src,
			     struct filter_error *err)
{
	if (filter_level_check(&filter_bzip2, p, err))
		return NULL;
	return bzip2_open(filter_level(&filter_bzip2, p), src, err);
}

/* Without input and without output to give, BZ_RUN calls itself misused. */
static int bzip2_pack_step(struct coder *c, enum coder_mode mode,
			   struct filter_error *err)
{
	struct bzip2 *b = (struct bzip2 *)c;
	int r;

	if (b->flushed && !c->in_len && !b->open)
		return CODER_DONE;
	if (!b->open && bzip2_init(b, err))
		return err->code;
	bzip2_enter(b);
	r = BZ2_bzCompress(&b->strm, mode == CODER_RUN ? BZ_RUN : BZ_FINISH);
	bzip2_leave(b);
	if (r < 0 && !(r == BZ_PARAM_ERROR && mode == CODER_RUN))
		return filter_fail(err, FILTER_E_CORRUPT, SIZE_UNKNOWN,
				   "libbz2 fails with %d", r);
	if (r != BZ_STREAM_END)
		return CODER_MORE;
	bzip2_end(b);
	b->flushed = true;
	return CODER_DONE;
}

static ptrdiff_t bzip2_pack_read(void *state, uint8_t *dst, size_t cap,
				 struct filter_error *err)
{
	return coder_pack(state, bzip2_pack_step, dst, cap, err);
}

static void *bzip2_unpack_open(const struct filter_params *p,
			       struct source *src, struct filter_error *err)
{
	(void)p;
	return bzip2_open(0, src, err);
}

static int bzip2_unpack_step(struct coder *c, enum coder_mode mode,
			     struct filter_error *err)
{
	struct bzip2 *b = (struct bzip2 *)c;
	int r;

	(void)mode;
	bzip2_enter(b);
	r = BZ2_bzDecompress(&b->strm);
	bzip2_leave(b);
	switch (r) {
	case BZ_OK:
		return CODER_MORE;
	case BZ_STREAM_END:
		return CODER_DONE;
	case BZ_MEM_ERROR:
		return coder_no_memory(err);
	case BZ_DATA_ERROR_MAGIC:
		return filter_fail(err, FILTER_E_CORRUPT, coder_offset(c),
				   "not bzip2 data");
	default:
		return filter_fail(err, FILTER_E_CORRUPT, coder_offset(c),
				   "corrupt bzip2 data: they can't be decoded or "
				   "a checksum doesn't match");
	}
}

static ptrdiff_t bzip2_unpack_read(void *state, uint8_t *dst, size_t cap,
				   struct filter_error *err)
{
	return coder_unpack(state, bzip2_unpack_step, dst, cap, err);
}

static void bzip2_describe(const void *state, struct member *m)
{
	const struct bzip2 *b = state;

	coder_describe(&b->c, m);
	m->format = "bzip2";
	m->declared = SIZE_UNKNOWN;
	m->check = "crc32";
}

/* The magic, the level, and the first block's or an empty stream's magic. */
static bool bzip2_detect(const uint8_t *p, size_t n)
{
	return n >= 10 && !memcmp(p, "BZh", 3) && p[3] >= '1' && p[3] <= '9' &&
		(!memcmp(p + 4, "\x31\x41\x59\x26\x53\x59", 6) ||
		 !memcmp(p + 4, "\x17\x72\x45\x38\x50\x90", 6));
}

static const struct stream_ops bzip2_pack_ops = {
	.open = bzip2_pack_open,
	.read = bzip2_pack_read,
	.reset = bzip2_reset,
	.close = bzip2_close,
};

static const struct stream_ops bzip2_unpack_ops = {
	.open = bzip2_unpack_open,
	.read = bzip2_unpack_read,
	.reset = bzip2_reset,
	.describe = bzip2_describe,
	.close = bzip2_close,
};

const struct filter filter_bzip2 = {
	.name = "bzip2",
	.suffix = ".bz2 .bz",
	.tar_suffix = ".tbz2 .tbz",
	.level_min = 1, .level_default = 9, .level_max = 9,
	.peek = 10,
	.detect = bzip2_detect,
	.pack = &bzip2_pack_ops,
	.unpack = &bzip2_unpack_ops,
	.library = "bzip2",
	.version = BZ2_bzlibVersion,
};
