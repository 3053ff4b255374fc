/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_run.c - a codec run in memory
 *
 * Packing goes through the stream face, which every codec has: with a source
 * that hands out the whole input at once and room for the whole output it
 * costs next to nothing over the library's own one-shot call.  Unpacking goes
 * by blocks where the codec can, as vdecompress does, else by the stream face.
 * States and workers stay open between runs.
 */
#include <string.h>
#include <time.h>

#include "vprobe.h"

double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool run_possible(const struct filter *f)
{
	return f->pack && (f->unpack || f->unpack_blocks);
}

void run_open(struct coder_run *r, const struct choice *c, bool unpack,
	      const uint8_t *dict, size_t dict_len)
{
	memset(r, 0, sizeof(*r));
	r->choice = c;
	r->ops = unpack ? c->filter->unpack : c->filter->pack;
	r->blocks = unpack ? c->filter->unpack_blocks : NULL;
	filter_params_init(&r->params);
	r->params.level = c->level;
	r->params.threads = 1;
	r->params.dict = dict;
	r->params.dict_len = dict_len;
	memory_source_set(&r->source, NULL, 0);
}

/* Ready for an input of this size: reset, or opened anew where it can't. */
static bool run_ready(struct coder_run *r, struct filter_error *err)
{
	if (r->state && r->ops->reset && !r->ops->reset(r->state, &r->params, err))
		return true;
	if (r->state)
		r->ops->close(r->state);
	r->state = r->ops->open(&r->params, &r->source.src, err);
	return r->state != NULL;
}

static ptrdiff_t run_stream(struct coder_run *r, const uint8_t *src, size_t n,
			    uint8_t *dst, size_t cap, struct filter_error *err)
{
	size_t done = 0;
	ptrdiff_t got;

	memory_source_set(&r->source, src, n);
	if (!run_ready(r, err))
		return err->code ? err->code : FILTER_E_MEMORY;
	do {
		got = r->ops->read(r->state, dst + done, cap - done, err);
		if (got < 0)
			return got;
		done += (size_t)got;
	} while (got && cap - done >= ((size_t)64 << 10));
	if (got)
		return filter_fail(err, FILTER_E_MEMORY, 0, "result larger than its room");
	return (ptrdiff_t)done;
}

/* One block off the front at *at, decoded behind *done. */
static int block_next(struct coder_run *r, void *state, const uint8_t *src, size_t n,
		      size_t *at, struct block *b, struct filter_error *err)
{
	size_t want = 0;
	ptrdiff_t got = r->blocks->split(state, src + *at, n - *at, *at, &want, b, err);

	if (got < 0)
		return (int)got;
	if (!got)
		return filter_fail(err, FILTER_E_TRUNCATED, n, "input ends before the member does");
	*at += (size_t)got;
	if (b->raw > b->dst_cap)
		return filter_fail(err, FILTER_E_MEMORY, *at, "result larger than its room");
	if (b->src_len && r->blocks->block(r->worker, b, err))
		return err->code;
	return r->blocks->join ? r->blocks->join(state, b, err) : 0;
}

static ptrdiff_t run_blocks(struct coder_run *r, const uint8_t *src, size_t n,
			    uint8_t *dst, size_t cap, struct filter_error *err)
{
	size_t at = 0, done = 0;
	struct block b = { .end = false };
	void *state;
	int code = 0;

	if (!r->worker)
		r->worker = r->blocks->worker_open(&r->params, err);
	state = r->worker ? r->blocks->open(&r->params, err) : NULL;
	if (!state)
		return err->code ? err->code : FILTER_E_MEMORY;
	while (!code && !b.end) {
		b = (struct block){ .dst = dst + done, .dst_cap = cap - done, .offset = at };
		code = block_next(r, state, src, n, &at, &b, err);
		done += b.dst_len;
	}
	r->blocks->close(state);
	return code ? code : (ptrdiff_t)done;
}

ptrdiff_t run_code(struct coder_run *r, const uint8_t *src, size_t n, size_t raw,
		   uint8_t *dst, size_t cap, struct filter_error *err)
{
	r->params.size = raw;
	*err = (struct filter_error){ .code = FILTER_OK };
	if (r->blocks && r->blocks->suits(src, n, &r->params))
		return run_blocks(r, src, n, dst, cap, err);
	if (!r->ops)
		return filter_fail(err, FILTER_E_UNSUPPORTED, 0, "no way to decode it in memory");
	return run_stream(r, src, n, dst, cap, err);
}

void run_close(struct coder_run *r)
{
	if (r->state)
		r->ops->close(r->state);
	if (r->worker)
		r->blocks->worker_close(r->worker);
	r->state = r->worker = NULL;
}

/* Beside a small expansion: the room that a decoder asks for a last block. */
size_t run_bound(size_t n)
{
	return n + n / 8 + RUN_SLACK;
}
