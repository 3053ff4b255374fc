/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isal.c - raw deflate data by isa-l
 *
 * Its inflate is two to four times as fast as zlib's.  It reads ahead by up
 * to 8 bytes; at the end of a stream those are given back.  They always stand
 * in the span at hand: the library stops only for want of input or of room,
 * it was without the last bits before this span came, and a span that left it
 * without room isn't replaced before it has been called again.
 */
#include "flate.h"

#include <stdlib.h>
#include <isa-l/igzip_lib.h>

const struct flate_packer *const flate_isal;

static void *isal_unpacker_open(void)
{
	struct inflate_state *s = malloc(sizeof(*s));

	if (s)
		isal_inflate_init(s);
	return s;
}

static void isal_unpacker_reset(void *state)
{
	isal_inflate_reset(state);
}

static const char *isal_why(int result)
{
	switch (result) {
	case ISAL_INVALID_BLOCK:
		return "invalid block";
	case ISAL_INVALID_SYMBOL:
		return "invalid symbol";
	case ISAL_INVALID_LOOKBACK:
		return "a distance reaches before the start";
	default:
		return "it can't be decoded";
	}
}

/* isa-l counts in 32 bits: longer spans go in pieces. */
static uint32_t isal_span(size_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static int isal_unpacker_run(void *state, struct coder *c, const char **why)
{
	struct inflate_state *s = state;
	uint32_t in = isal_span(c->in_len), out = isal_span(c->out_len);
	int r;

	s->next_in = (uint8_t *)c->in;
	s->avail_in = in;
	s->next_out = c->out;
	s->avail_out = out;
	r = isal_inflate(s);
	c->in += in - s->avail_in;
	c->in_len -= in - s->avail_in;
	c->out += out - s->avail_out;
	c->out_len -= out - s->avail_out;
	if (r < 0) {
		*why = isal_why(r);
		return FILTER_E_CORRUPT;
	}
	if (s->block_state != ISAL_BLOCK_FINISH)
		return CODER_MORE;
	c->in -= s->read_in_length / 8;
	c->in_len += (size_t)(s->read_in_length / 8);
	return CODER_DONE;
}

const struct flate_unpacker flate_unpacker = {
	.library = "isa-l",
	.open = isal_unpacker_open,
	.reset = isal_unpacker_reset,
	.run = isal_unpacker_run,
	.close = free,
};
