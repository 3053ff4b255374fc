/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coder.c - the one loop around every library that codes from span to span
 *
 * The rules, for both directions: pull only when the library has used up its
 * input and left room in its output (a full output may mean that it has more
 * to give); never pull, which may block, while there is something to return.
 */
#include "coder.h"

#include <inttypes.h>
#include <string.h>

void coder_start(struct coder *c, struct source *src)
{
	*c = (struct coder){ .src = src, .start = src->offset };
}

uint64_t coder_offset(const struct coder *c)
{
	return c->src->offset - c->in_len;
}

int coder_truncated(const struct coder *c, struct filter_error *err)
{
	return filter_fail(err, FILTER_E_TRUNCATED, coder_offset(c),
			   "truncated: the input ends inside the stream");
}

int coder_no_memory(struct filter_error *err)
{
	return filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
}

int coder_over_budget(struct filter_error *err, uint64_t offset,
		      const char *what, uint64_t need, uint64_t budget)
{
	return filter_fail(err, FILTER_E_MEMORY, offset,
			   "%s needs %" PRIu64 " bytes of memory, the budget is %"
			   PRIu64, what, need, budget);
}

/* Pulls once.  As source_next(), with *err filled. */
static ptrdiff_t coder_pull(struct coder *c, struct filter_error *err)
{
	const uint8_t *data;
	ptrdiff_t n = source_next(c->src, &data);

	if (n > 0) {
		c->in = data;
		c->in_len = (size_t)n;
	} else if (n < 0 && n != SOURCE_PAUSE) {
		return filter_fail(err, FILTER_E_READ, c->src->offset,
				   "the input can't be read");
	}
	return n;
}

int coder_fill(struct coder *c, struct filter_error *err)
{
	ptrdiff_t n = (ptrdiff_t)c->in_len;

	while (!c->in_len) {
		n = coder_pull(c, err);
		if (n <= 0 && n != SOURCE_PAUSE)
			break;
	}
	return n > 0 ? 1 : (int)n;
}

int coder_take(struct coder *c, uint8_t *dst, size_t n,
	       struct filter_error *err)
{
	while (n) {
		int got = coder_fill(c, err);
		size_t take = n < c->in_len ? n : c->in_len;

		if (got <= 0)
			return got ? got : coder_truncated(c, err);
		memcpy(dst, c->in, take);
		c->in += take;
		c->in_len -= take;
		dst += take;
		n -= take;
	}
	return FILTER_OK;
}

/*
 * Decides what the next step is to do.  FILTER_OK, or an error.  A pause is
 * passed over where nothing was taken since the last flush: an empty flush
 * would grow the stream for nothing.
 */
static int pack_feed(struct coder *c, struct filter_error *err)
{
	while (c->mode == CODER_RUN && !c->in_len) {
		ptrdiff_t n = coder_pull(c, err);

		if (n > 0)
			c->dirty = true;
		else if (n == 0)
			c->mode = CODER_FINISH;
		else if (n != SOURCE_PAUSE)
			return (int)n;
		else if (c->dirty)
			c->mode = CODER_FLUSH;
	}
	return FILTER_OK;
}

/* The step has done all that its mode asked for. */
static void pack_done(struct coder *c)
{
	if (c->mode == CODER_FINISH)
		c->ended = true;
	else
		c->dirty = false;
	c->mode = CODER_RUN;
}

ptrdiff_t coder_pack(struct coder *c, coder_step *step, uint8_t *dst,
		     size_t cap, struct filter_error *err)
{
	c->out = dst;
	c->out_len = cap;
	while (c->out_len && !c->ended) {
		size_t had = c->in_len;
		int r;

		if (c->out != dst && !c->in_len && c->mode == CODER_RUN && !c->full)
			break;
		r = c->full ? FILTER_OK : pack_feed(c, err);
		if (r < 0)
			return r;
		if (!had)
			had = c->in_len;
		r = step(c, c->mode, err);
		if (r < 0)
			return r;
		c->raw += had - c->in_len;
		c->full = !c->out_len;
		if (r == CODER_DONE && c->mode != CODER_RUN)
			pack_done(c);
	}
	return c->out - dst;
}

/*
 * Hands out what was decoded before an error, and the error behind it.  The input
 * that wasn't looked at stays in the source.
 */
static ptrdiff_t unpack_failed(struct coder *c, const uint8_t *dst, int code,
			       const struct filter_error *err)
{
	ptrdiff_t n = c->out - dst;

	source_unread(c->src, c->in, c->in_len);
	c->in_len = 0;
	if (!n)
		return code;
	c->failed = *err;
	c->raw += (uint64_t)n;
	return n;
}

ptrdiff_t coder_unpack(struct coder *c, coder_step *step, uint8_t *dst,
		       size_t cap, struct filter_error *err)
{
	if (c->failed.code) {
		*err = c->failed;
		return err->code;
	}
	c->out = dst;
	c->out_len = cap;
	while (c->out_len && !c->ended) {
		int r = 1;

		if (!c->in_len && !c->full) {
			if (c->out != dst)
				break;
			r = coder_fill(c, err);
			if (!r)
				r = coder_truncated(c, err);
		}
		if (r > 0)
			r = step(c, CODER_RUN, err);
		if (r < 0)
			return unpack_failed(c, dst, r, err);
		c->full = !c->out_len;
		if (r == CODER_DONE) {
			source_unread(c->src, c->in, c->in_len);
			c->in_len = 0;
			c->ended = true;
		}
	}
	c->raw += (uint64_t)(c->out - dst);
	return c->out - dst;
}

void coder_describe(const struct coder *c, struct member *m)
{
	m->offset = c->start;
	m->packed = coder_offset(c) - c->start;
	m->raw = c->raw;
}
