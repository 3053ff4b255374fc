/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw.c - the codec that changes nothing
 *
 * The whole input is the member, so there is never anything behind it.
 */
#include "codecs.h"
#include "coder.h"

#include <stdlib.h>
#include <string.h>

static void *raw_open(const struct filter_params *p, struct source *src,
		      struct filter_error *err)
{
	struct coder *c = malloc(sizeof(*c));

	(void)p;
	if (c)
		coder_start(c, src);
	else
		coder_no_memory(err);
	return c;
}

static int raw_reset(void *state, const struct filter_params *p,
		     struct filter_error *err)
{
	struct coder *c = state;

	(void)p;
	(void)err;
	coder_start(c, c->src);
	return FILTER_OK;
}

static int raw_step(struct coder *c, enum coder_mode mode,
		    struct filter_error *err)
{
	size_t n = c->in_len < c->out_len ? c->in_len : c->out_len;

	(void)err;
	if (n)
		memcpy(c->out, c->in, n);
	c->in += n;
	c->in_len -= n;
	c->out += n;
	c->out_len -= n;
	return mode == CODER_RUN ? CODER_MORE : CODER_DONE;
}

static ptrdiff_t raw_read(void *state, uint8_t *dst, size_t cap,
			  struct filter_error *err)
{
	return coder_pack(state, raw_step, dst, cap, err);
}

static void raw_describe(const void *state, struct member *m)
{
	coder_describe(state, m);
	m->format = "raw";
	m->declared = SIZE_UNKNOWN;
}

static const struct stream_ops raw_ops = {
	.open = raw_open,
	.read = raw_read,
	.reset = raw_reset,
	.describe = raw_describe,
	.close = free,
};

const struct filter filter_raw = {
	.name = "raw",
	.flags = FILTER_HEADERLESS,
	.pack = &raw_ops,
	.unpack = &raw_ops,
};
