/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isal.c - in place of isa-l: unpacking raw deflate data by zlib
 */
#include "flate.h"

#include <stdlib.h>
#include <zlib.h>

const struct flate_packer *const flate_isal;

static void *zlib_open(void)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && inflateInit2(z, -MAX_WBITS) != Z_OK) {
		free(z);
		z = NULL;
	}
	return z;
}

static void zlib_reset(void *state)
{
	inflateReset(state);
}

/* zlib counts in 32 bits: longer spans go in pieces. */
static uInt zlib_span(size_t n)
{
	return n < UINT32_MAX ? (uInt)n : UINT32_MAX;
}

static int zlib_run(void *state, struct coder *c, const char **why)
{
	z_stream *z = state;
	uInt in = zlib_span(c->in_len), out = zlib_span(c->out_len);
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

static void zlib_close(void *state)
{
	inflateEnd(state);
	free(state);
}

const struct flate_unpacker flate_unpacker = {
	.library = "zlib",
	.open = zlib_open,
	.reset = zlib_reset,
	.run = zlib_run,
	.close = zlib_close,
};
