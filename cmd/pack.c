/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.c - one input through a codec's packing
 *
 * By blocks: a job is one read's worth of blocks with the history in front,
 *
 *	in:	history | block | block | ... | one byte
 *	out:	head | result | result | ... | tail
 *
 * The one byte more tells whether the last block of the job is the last of the
 * input; it begins the next job.  Results are moved together before they are
 * written, so that a job is one write.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "pipe.h"
#include "report.h"
#include "say.h"

struct pack_job {
	struct job job;
	uint8_t *in, *out;
	struct block *block;
	size_t blocks;		/* filled; after work: the good ones */
	uint64_t in_end;	/* input bytes up to the end of this job */
};

struct packing {
	const struct pack *p;
	const struct pack_ops *ops;
	void *state;
	size_t block_size, per_job, bound;
	uint8_t *history;	/* the raw bytes before the next job */
	size_t history_len;
	uint64_t offset;	/* raw bytes cut into blocks so far */
	int carried;		/* the one byte more, -1 = none */
};

static size_t in_size(const struct packing *k)
{
	return k->ops->history + k->per_job * k->block_size + 1;
}

static size_t out_size(const struct packing *k)
{
	return k->ops->head_max + k->per_job * k->bound + k->ops->tail_max;
}

static int job_open(void *ctx, struct job *job)
{
	struct packing *k = ctx;
	struct pack_job *j = (struct pack_job *)job;

	j->in = buffer_make(in_size(k));
	j->out = buffer_make(out_size(k));
	j->block = calloc(k->per_job, sizeof(*j->block));
	if (j->in && j->out && j->block)
		return 0;
	free(j->in);
	free(j->out);
	free(j->block);
	return -1;
}

static void job_close(void *ctx, struct job *job)
{
	struct pack_job *j = (struct pack_job *)job;

	(void)ctx;
	free(j->in);
	free(j->out);
	free(j->block);
}

/* Reads up to max bytes; tells by j->last, a pause or an error why not more. */
static size_t read_raw(struct packing *k, struct pack_job *j, uint8_t *to, size_t max)
{
	size_t n = 0;

	if (k->carried >= 0)
		to[n++] = (uint8_t)k->carried;
	k->carried = -1;
	while (n < max) {
		ptrdiff_t got = feed_read(k->p->feed, to + n, max - n);

		if (got == SOURCE_PAUSE && !n)
			continue;
		if (got == SOURCE_PAUSE)
			break;
		if (got < 0) {
			j->job.err.code = FILTER_E_READ;
			feed_failure(k->p->feed, &j->job.err);
			break;
		}
		if (!got) {
			j->job.last = true;
			break;
		}
		n += (size_t)got;
	}
	return n;
}

/* n bytes stand behind the history: the blocks. */
static void cut(struct packing *k, struct pack_job *j, size_t n)
{
	uint8_t *raw = j->in + k->history_len, *dst = j->out + k->ops->head_max;
	size_t at = 0;

	j->blocks = 0;
	do {
		size_t len = n - at < k->block_size ? n - at : k->block_size;
		size_t before = k->history_len + at;

		j->block[j->blocks++] = (struct block){
			.src = raw + at, .src_len = len,
			.history = before < k->ops->history ? before : k->ops->history,
			.dst = dst, .dst_cap = k->bound,
			.offset = k->offset + at, .raw = SIZE_UNKNOWN,
			.last = j->job.last && at + len == n,
		};
		dst += k->bound;
		at += len;
	} while (at < n);
	k->offset += n;
	j->in_end = k->offset;
}

/* The last bytes of what stands at in, n of them, are the next history. */
static void keep_history(struct packing *k, const uint8_t *in, size_t n)
{
	k->history_len = n < k->ops->history ? n : k->ops->history;
	if (k->history_len)
		memcpy(k->history, in + n - k->history_len, k->history_len);
}

static void fill(void *ctx, struct job *job)
{
	struct packing *k = ctx;
	struct pack_job *j = (struct pack_job *)job;
	size_t max = k->per_job * k->block_size, had = k->history_len, n;

	if (had)
		memcpy(j->in, k->history, had);
	n = read_raw(k, j, j->in + had, max + 1);
	if (n > max)
		k->carried = j->in[had + --n];
	j->blocks = 0;
	if (job->err.code)
		return;
	cut(k, j, n);
	if (k->ops->history)
		keep_history(k, j->in, had + n);
}

/* Where a worker's state waits for the next input; NULL = nowhere. */
static struct pack_kept *shelf(const struct packing *k)
{
	struct pack_kept *kept = k->p->kept;

	return kept && kept->filter == k->p->filter && !k->ops->sized ? kept : NULL;
}

static void *worker_open(void *ctx, struct filter_error *err)
{
	struct packing *k = ctx;
	struct pack_kept *kept = shelf(k);
	void *worker = kept ? atomic_exchange(&kept->worker, NULL) : NULL;

	return worker ? worker : k->ops->worker_open(&k->p->params, err);
}

static void worker_close(void *ctx, void *worker)
{
	struct packing *k = ctx;
	struct pack_kept *kept = shelf(k);

	if (kept)
		worker = atomic_exchange(&kept->worker, worker);
	if (worker)
		k->ops->worker_close(worker);
}

static void work(void *ctx, void *worker, struct job *job)
{
	struct packing *k = ctx;
	struct pack_job *j = (struct pack_job *)job;

	for (size_t i = 0; i < j->blocks; i++)
		if (k->ops->block(worker, &j->block[i], &job->err)) {
			j->blocks = i;
			return;
		}
}

/* Head, joined results, tail in one piece; its length, or -1 with job->err. */
static ptrdiff_t assemble(struct packing *k, struct pack_job *j)
{
	struct filter_error *err = &j->job.err;
	uint8_t *at = j->out;

	if (!j->job.number) {
		ptrdiff_t n = k->ops->head ? k->ops->head(k->state, at, err) : 0;

		if (n < 0)
			return -1;
		at += n;
	}
	for (size_t i = 0; i < j->blocks; i++) {
		struct block *b = &j->block[i];

		if (k->ops->join && k->ops->join(k->state, b, err))
			return -1;
		memmove(at, b->dst, b->dst_len);
		at += b->dst_len;
	}
	if (j->job.last && !err->code) {
		ptrdiff_t n = k->ops->tail ? k->ops->tail(k->state, at, err) : 0;

		if (n < 0)
			return -1;
		at += n;
	}
	return at - j->out;
}

/* What stands behind the tail, from where the codec has it. */
static void emit_index(struct packing *k, struct job *job)
{
	size_t n;
	const uint8_t *index = k->ops->index(k->state, &n);

	if (sink_write(k->p->sink, index, n))
		sink_failure(k->p->sink, &job->err);
}

static void emit(void *ctx, struct job *job)
{
	struct packing *k = ctx;
	struct pack_job *j = (struct pack_job *)job;
	ptrdiff_t n;

	/* The head alone is no output: a refusal must leave nothing. */
	if (job->err.code && !j->blocks)
		return;
	n = assemble(k, j);
	if (n < 0)
		return;
	if (sink_write(k->p->sink, j->out, (size_t)n))
		sink_failure(k->p->sink, &job->err);
	if (job->last && !job->err.code && k->ops->index)
		emit_index(k, job);
	progress_tick(j->in_end, k->p->sink->total);
}

static void interrupt(void *ctx)
{
	struct packing *k = ctx;

	feed_interrupt(k->p->feed);
}

static const struct pipeline pack_pipeline = {
	.job_size = sizeof(struct pack_job),
	.job_open = job_open, .job_close = job_close,
	.worker_open = worker_open, .worker_close = worker_close,
	.fill = fill, .work = work, .emit = emit, .interrupt = interrupt,
};

/* Jobs beside those that are being worked on: one filled, one given out. */
static int spare(const struct packing *k)
{
	return k->ops->lean ? 1 : 2;
}

static int workers_for(const struct packing *k, int jobs)
{
	return jobs > spare(k) ? jobs - spare(k) : 1;
}

/* All that so many jobs and their workers take. */
static uint64_t memory(const struct packing *k, int jobs)
{
	uint64_t each = in_size(k) + out_size(k), worker = 0;

	if (k->ops->worker_memory)
		worker = k->ops->worker_memory(&k->p->params);
	return (uint64_t)jobs * each + (uint64_t)workers_for(k, jobs) * worker;
}

/* Sizes of a job; how many of them the budget allows, 1 at least. */
static int plan(struct packing *k)
{
	const struct filter_params *p = &k->p->params;
	int jobs = k->p->threads + spare(k);
	size_t whole;

	k->block_size = k->ops->block_size(p);
	if (feed_whole(k->p->feed, &whole) && whole < k->block_size)
		k->block_size = whole ? whole : 1;
	k->bound = k->ops->bound(p, k->block_size);
	k->per_job = k->block_size < BATCH_SIZE ? BATCH_SIZE / k->block_size : 1;
	if (feed_whole(k->p->feed, &whole) && whole <= k->block_size)
		k->per_job = 1;
	while (jobs > 1 && memory(k, jobs) > k->p->budget)
		jobs--;
	return jobs;
}

static int run_blocks(const struct pack *p, const struct pack_ops *ops,
		      struct filter_error *err)
{
	struct packing k = { .p = p, .ops = ops, .carried = -1 };
	int jobs = plan(&k), workers = workers_for(&k, jobs);

	if (memory(&k, 1) > p->budget)
		return filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN,
				   "a block needs %llu bytes of memory, the budget is %llu",
				   (unsigned long long)memory(&k, 1),
				   (unsigned long long)p->budget);
	if (jobs < 2)
		jobs = 2;
	if (p->kept)
		p->kept->ops = ops;
	k.history = k.ops->history ? malloc(k.ops->history) : NULL;
	if (k.ops->history && !k.history)
		return filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
	k.state = k.ops->open(&p->params, err);
	if (k.state) {
		pipe_run(&pack_pipeline, &k, workers, jobs, err);
		k.ops->close(k.state);
	}
	free(k.history);
	return err->code;
}

int sink_failure(const struct sink *k, struct filter_error *err)
{
	return filter_fail(err, CMD_E_WRITE, (uint64_t)k->error, "can't write");
}

/* The kept state if it fits this input, made ready for it; or a new one. */
static void *stream_open(const struct pack *p, struct filter_error *err)
{
	const struct stream_ops *ops = p->filter->pack;
	struct pack_kept *k = p->kept;
	void *state = k ? k->stream : NULL;

	if (!state)
		return ops->open(&p->params, &p->feed->src, err);
	k->stream = NULL;
	if (k->filter == p->filter && k->src == &p->feed->src &&
	    k->threads == p->params.threads && k->memory == p->params.memory) {
		if (!ops->reset(state, &p->params, err))
			return state;
		ops->close(state);
		return NULL;
	}
	k->filter->pack->close(state);
	return ops->open(&p->params, &p->feed->src, err);
}

static void stream_close(const struct pack *p, void *state, bool good)
{
	struct pack_kept *k = p->kept;

	if (!k || !good || k->filter != p->filter || !p->filter->pack->reset) {
		p->filter->pack->close(state);
		return;
	}
	k->stream = state;
	k->src = &p->feed->src;
	k->threads = p->params.threads;
	k->memory = p->params.memory;
}

void pack_kept_close(struct pack_kept *k)
{
	void *worker = atomic_exchange(&k->worker, NULL);

	if (worker)
		k->ops->worker_close(worker);
	if (k->stream)
		k->filter->pack->close(k->stream);
	k->stream = NULL;
}

static int run_stream(const struct pack *p, struct filter_error *err)
{
	const struct stream_ops *ops = p->filter->pack;
	void *state = stream_open(p, err);
	ptrdiff_t n = 1;

	if (!state)
		return feed_failure(p->feed, err);
	while (n > 0) {
		uint8_t *room = sink_room(p->sink);

		n = room ? ops->read(state, room, CHUNK_SIZE, err) : -1;
		if (!room || (n > 0 && sink_put(p->sink, (size_t)n)))
			n = sink_failure(p->sink, err);
		progress_tick(p->feed->src.offset, p->sink->total);
	}
	stream_close(p, state, n == 0);
	return n < 0 ? feed_failure(p->feed, err) : 0;
}

int pack_run(const struct pack *p, struct filter_error *err)
{
	const struct pack_ops *blocks = p->filter->pack_blocks;

	err->code = 0;
	if (p->filter == filter_by_name("raw"))
		return pass_on(p->feed, p->sink, err);
	if (p->params.seek_frame)
		return run_blocks(p, p->filter->pack_seekable, err);
	if (blocks && (!blocks->suits || blocks->suits(&p->params)))
		return run_blocks(p, blocks, err);
	return run_stream(p, err);
}
