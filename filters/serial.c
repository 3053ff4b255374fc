/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serial.c - a stream face made out of a packing block face
 *
 * The raw buffer holds the history, then the block that is being filled:
 *
 *	| history | block .......... |
 *	base      base + had         base + had + block_size
 *
 * A full block is coded only when it is known whether more input follows,
 * for a last block is coded differently.
 */
#include "serial.h"

#include "coder.h"

#include <stdlib.h>
#include <string.h>

struct serial {
	const struct pack_ops *ops;
	struct filter_params params;
	struct source *src;
	void *pack, *worker;
	size_t block_size;
	uint8_t *base;		/* ops->history + block_size bytes */
	size_t had, len;	/* history and block bytes in base */
	uint64_t offset;	/* of the block in the input */
	const uint8_t *in;	/* pulled and not yet copied */
	size_t in_len;
	uint8_t *out;		/* packed bytes not yet read stand at out_pos */
	size_t out_cap, out_pos, out_len;
	bool headed, last, ended;
};

void serial_close(void *state)
{
	struct serial *s = state;

	if (s->worker)
		s->ops->worker_close(s->worker);
	if (s->pack)
		s->ops->close(s->pack);
	free(s->base);
	free(s->out);
	free(s);
}

static int serial_alloc(struct serial *s, struct filter_error *err)
{
	const struct pack_ops *ops = s->ops;

	s->block_size = ops->block_size(&s->params);
	s->out_cap = ops->bound(&s->params, s->block_size);
	if (s->out_cap < ops->head_max)
		s->out_cap = ops->head_max;
	if (s->out_cap < ops->tail_max)
		s->out_cap = ops->tail_max;
	s->base = malloc(ops->history + s->block_size);
	s->out = malloc(s->out_cap);
	if (!s->base || !s->out)
		return coder_no_memory(err);
	s->pack = ops->open(&s->params, err);
	if (!s->pack)
		return err->code;
	s->worker = ops->worker_open(&s->params, err);
	return s->worker ? FILTER_OK : err->code;
}

void *serial_open(const struct pack_ops *ops, const struct filter_params *p,
		  struct source *src, struct filter_error *err)
{
	struct serial *s = calloc(1, sizeof(*s));

	if (!s) {
		coder_no_memory(err);
		return NULL;
	}
	s->ops = ops;
	s->params = *p;
	s->src = src;
	if (serial_alloc(s, err)) {
		serial_close(s);
		return NULL;
	}
	return s;
}

/* Copies pulled bytes into the block. */
static void serial_copy(struct serial *s)
{
	size_t n = s->block_size - s->len;

	if (n > s->in_len)
		n = s->in_len;
	if (!n)
		return;
	memcpy(s->base + s->had + s->len, s->in, n);
	s->len += n;
	s->in += n;
	s->in_len -= n;
}

/*
 * Fills the block until it is full and more is known to follow, or the input
 * pauses with something in the block, or it ends (*last).
 */
static int serial_fill(struct serial *s, bool *last, struct filter_error *err)
{
	*last = false;
	for (;;) {
		ptrdiff_t n;

		serial_copy(s);
		if (s->in_len)
			return FILTER_OK;
		n = source_next(s->src, &s->in);
		if (n > 0) {
			s->in_len = (size_t)n;
		} else if (n == 0) {
			*last = true;
			return FILTER_OK;
		} else if (n != SOURCE_PAUSE) {
			return filter_fail(err, FILTER_E_READ, s->src->offset,
					   "the input can't be read");
		} else if (s->len) {
			return FILTER_OK;
		}
	}
}

/* Keeps the last history bytes of what is in base. */
static void serial_slide(struct serial *s)
{
	size_t have = s->had + s->len;
	size_t keep = have < s->ops->history ? have : s->ops->history;

	memmove(s->base, s->base + have - keep, keep);
	s->offset += s->len;
	s->had = keep;
	s->len = 0;
}

static int serial_block(struct serial *s, struct filter_error *err)
{
	struct block b = {
		.dst = s->out,
		.dst_cap = s->out_cap,
	};
	int r = serial_fill(s, &b.last, err);

	if (r)
		return r;
	b.src = s->base + s->had;
	b.src_len = s->len;
	b.history = s->had;
	b.offset = s->offset;
	r = s->ops->block(s->worker, &b, err);
	if (!r)
		r = s->ops->join(s->pack, &b, err);
	s->out_pos = 0;
	s->out_len = b.dst_len;
	s->last = b.last;
	serial_slide(s);
	return r;
}

/* Puts the next piece of packed bytes into out. */
static int serial_next(struct serial *s, struct filter_error *err)
{
	ptrdiff_t n;

	if (s->headed && !s->last)
		return serial_block(s, err);
	n = s->headed ? s->ops->tail(s->pack, s->out, err) :
		s->ops->head(s->pack, s->out, err);
	if (n < 0)
		return (int)n;
	s->ended = s->headed;
	s->headed = true;
	s->out_pos = 0;
	s->out_len = (size_t)n;
	return FILTER_OK;
}

ptrdiff_t serial_read(void *state, uint8_t *dst, size_t cap,
		      struct filter_error *err)
{
	struct serial *s = state;
	size_t n;

	while (!s->out_len) {
		int r = s->ended ? 1 : serial_next(s, err);

		if (r)
			return r < 0 ? r : 0;
	}
	n = s->out_len < cap ? s->out_len : cap;
	memcpy(dst, s->out + s->out_pos, n);
	s->out_pos += n;
	s->out_len -= n;
	return (ptrdiff_t)n;
}
