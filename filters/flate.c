/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flate.c - raw deflate data by zlib, and stored blocks by hand
 *
 * The portable base: zlib packs a chunk with the 32 KiB before it as its
 * dictionary, which gives nearly the size of one serial stream (pigz does the
 * same), and ends it with a sync flush.
 */
#include "flate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* --- zlib's packer --- */

static z_stream *zlib_open(int level, int window_bits, int mem_level)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && deflateInit2(z, level, Z_DEFLATED, -window_bits, mem_level,
			      Z_DEFAULT_STRATEGY) != Z_OK) {
		free(z);
		z = NULL;
	}
	return z;
}

/* memLevel 9 lets blocks be twice as long as the default 8: a little smaller. */
static void *zlib_packer_open(int level)
{
	return zlib_open(level, MAX_WBITS, MAX_MEM_LEVEL);
}

/* The best level takes no longer here. */
static void *small_packer_open(int level)
{
	(void)level;
	return zlib_open(Z_BEST_COMPRESSION, FLATE_SMALL_BITS, FLATE_SMALL_BITS - 6);
}

static size_t zlib_packer_pack(void *state, const struct block *b,
			       uint8_t *dst, size_t cap)
{
	z_stream *z = state;
	size_t had = b->history < FLATE_HISTORY ? b->history : FLATE_HISTORY;
	int r;

	deflateReset(z);
	if (had)
		deflateSetDictionary(z, b->src - had, (uInt)had);
	z->next_in = (z_const Bytef *)b->src;
	z->avail_in = (uInt)b->src_len;
	z->next_out = dst;
	z->avail_out = (uInt)cap;
	r = deflate(z, b->last ? Z_FINISH : Z_SYNC_FLUSH);
	if (b->last ? r != Z_STREAM_END : !z->avail_out || z->avail_in)
		return 0;
	return cap - z->avail_out;
}

static void zlib_packer_close(void *state)
{
	deflateEnd(state);
	free(state);
}

const struct flate_packer flate_zlib = {
	.library = "zlib",
	.open = zlib_packer_open,
	.pack = zlib_packer_pack,
	.close = zlib_packer_close,
};

const struct flate_packer flate_small = {
	.library = "zlib",
	.open = small_packer_open,
	.pack = zlib_packer_pack,
	.close = zlib_packer_close,
};

/* --- zlib's unpacker --- */

static void *zlib_unpacker_open(void)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && inflateInit2(z, -MAX_WBITS) != Z_OK) {
		free(z);
		z = NULL;
	}
	return z;
}

static void zlib_unpacker_reset(void *state)
{
	inflateReset(state);
}

static int zlib_unpacker_run(void *state, struct coder *c, const char **why)
{
	z_stream *z = state;
	uInt in = flate_span(c->in_len), out = flate_span(c->out_len);
	int r;

	z->next_in = (z_const Bytef *)c->in;
	z->avail_in = in;
	z->next_out = c->out;
	z->avail_out = out;
	r = inflate(z, Z_NO_FLUSH);
	c->in += in - z->avail_in;
	c->in_len -= in - z->avail_in;
	c->out += out - z->avail_out;
	c->out_len -= out - z->avail_out;
	if (r == Z_STREAM_END)
		return CODER_DONE;
	if (r == Z_OK || r == Z_BUF_ERROR)
		return CODER_MORE;
	*why = z->msg ? z->msg : "it can't be decoded";
	return FILTER_E_CORRUPT;
}

static void zlib_unpacker_close(void *state)
{
	inflateEnd(state);
	free(state);
}

const struct flate_unpacker flate_zlib_unpacker = {
	.library = "zlib",
	.open = zlib_unpacker_open,
	.reset = zlib_unpacker_reset,
	.run = zlib_unpacker_run,
	.close = zlib_unpacker_close,
};

/* --- stored blocks: a byte, the length, its complement, the bytes --- */

#define STORED_MAX ((size_t)65535)
#define STORED_HEAD ((size_t)5)

size_t flate_store_size(size_t n, bool last)
{
	size_t blocks = (n + STORED_MAX - 1) / STORED_MAX;

	return n + STORED_HEAD * (blocks ? blocks : last);
}

size_t flate_store(const uint8_t *src, size_t n, bool last, uint8_t *dst)
{
	uint8_t *start = dst;

	if (!n && !last)
		return 0;
	do {
		size_t len = n < STORED_MAX ? n : STORED_MAX;

		dst[0] = last && len == n;
		dst[1] = (uint8_t)len;
		dst[2] = (uint8_t)(len >> 8);
		dst[3] = (uint8_t)~len;
		dst[4] = (uint8_t)~(len >> 8);
		if (len)
			memcpy(dst + STORED_HEAD, src, len);
		dst += STORED_HEAD + len;
		src += len;
		n -= len;
	} while (n);
	return (size_t)(dst - start);
}
