/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isal.c - raw deflate data by isa-l
 *
 * Packing: level 1, four times as fast as zlib's level 1 at its size.  (Its level
 * 2 is up to 12 % larger than zlib's, its level 3 worth less than libdeflate's 1.)
 * It knows history and sync flush.
 *
 * Unpacking: its inflate is two to four times as fast as zlib's.  It reads ahead by up
 * to 8 bytes; at the end of a stream those are given back.  They always stand
 * in the span at hand: the library stops only for want of input or of room,
 * it was without the last bits before this span came, and a span that left it
 * without room isn't replaced before it has been called again.
 */
#include "flate.h"

#include <stdlib.h>
#include <isa-l.h>

/* --- packing --- */

struct isal_packer {
	struct isal_zstream z;
	uint8_t room[ISAL_DEF_LVL1_DEFAULT];	/* the library's hash table and tokens */
};

static void *isal_packer_open(int level)
{
	(void)level;
	return malloc(sizeof(struct isal_packer));
}

static size_t isal_packer_pack(void *state, const struct block *b,
			       uint8_t *dst, size_t cap)
{
	struct isal_packer *k = state;
	size_t had = b->history < FLATE_HISTORY ? b->history : FLATE_HISTORY;

	isal_deflate_init(&k->z);
	k->z.level = 1;
	k->z.level_buf = k->room;
	k->z.level_buf_size = sizeof(k->room);
	k->z.end_of_stream = b->last;
	k->z.flush = SYNC_FLUSH;
	if (had)
		isal_deflate_set_dict(&k->z, (uint8_t *)b->src - had, (uint32_t)had);
	k->z.next_in = (uint8_t *)b->src;
	k->z.avail_in = (uint32_t)b->src_len;
	k->z.next_out = dst;
	k->z.avail_out = (uint32_t)cap;
	if (isal_deflate(&k->z) != COMP_OK || k->z.avail_in || !k->z.avail_out)
		return 0;
	return cap - k->z.avail_out;
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

static const struct flate_packer packer = {
	.library = "isa-l " TEXT(ISAL_MAJOR_VERSION) "." TEXT(ISAL_MINOR_VERSION)
		"." TEXT(ISAL_PATCH_VERSION),
	.open = isal_packer_open,
	.pack = isal_packer_pack,
	.close = free,
};
const struct flate_packer *const flate_isal = &packer;

/* --- unpacking --- */

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

static int isal_unpacker_run(void *state, struct coder *c, const char **why)
{
	struct inflate_state *s = state;
	uint32_t in = flate_span(c->in_len), out = flate_span(c->out_len);
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

static const struct flate_unpacker unpacker = {
	.library = "isa-l",
	.open = isal_unpacker_open,
	.reset = isal_unpacker_reset,
	.run = isal_unpacker_run,
	.close = free,
};
const struct flate_unpacker *const flate_isal_unpacker = &unpacker;
