/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack_blocks.c - one member by its blocks, in parallel
 *
 * A job is a piece of the packed input that holds whole blocks, and room for
 * what they decode to.  What stands behind its last whole block begins the
 * next job: it is copied from this job's buffer, which nobody refills before
 * the next one is filled.
 *
 * Blocks that lean on each other (ops->shape) are one worker's, so that the gain
 * is that reading, decoding, and checking and writing overlap.  Their jobs begin
 * with a copy of the end of the last job's output, which stays until the worker
 * itself takes that job again.
 *
 * Jobs of large blocks are few: two slots feed two CPUs as well as four do (LZ4,
 * 4 MiB blocks: within 3 %), and take half the memory.
 *
 * Salvaging, in one thread, a block that can't be decoded is told as lost and the
 * next one is decoded, unless it leans on it; and where blocks can't be split
 * any more, the bytes from there on go back.
 */
#include <stdlib.h>
#include <string.h>

#include "unpack_blocks.h"

/* Jobs from this size on are no more than there are workers. */
#define LARGE_JOB (16 * BATCH_SIZE)

/* What a job of small blocks takes for each of its two buffers. */
#define JOB_FLOOR (8 * BATCH_SIZE)

/*
 * The first job shows how large the blocks are: as many jobs as the budget
 * allows, each with as much to read as to write.
 */
static void plan(void *ctx, int *workers, int *jobs)
{
	struct unpacking *k = ctx;
	uint64_t each = JOB_FLOOR, share = k->u->budget / 2;

	if (k->first_size > each)
		each = k->first_size;
	if (k->block_max > each)
		each = k->block_max;
	while (*jobs > 2 && share / (uint64_t)*jobs < each)
		--*jobs;
	if (each >= LARGE_JOB)
		*jobs = *workers > 2 ? *workers : 2;
	if (k->history)
		*workers = 1;
	if (*workers > *jobs)
		*workers = *jobs;
	k->job_max = share / (uint64_t)*jobs;
	if (k->job_max < JOB_FLOOR)
		k->job_max = JOB_FLOOR;
}

static void *worker_open(void *ctx, struct filter_error *err)
{
	struct unpacking *k = ctx;

	return k->ops->worker_open(&k->u->params, err);
}

static void worker_close(void *ctx, void *worker)
{
	struct unpacking *k = ctx;

	k->ops->worker_close(worker);
}

static int out_room(struct unpack_job *j, size_t history)
{
	size_t need = history + (size_t)j->raw, cap;

	if (j->out && need <= j->out_cap)
		return 0;
	/* Rounded up, so that the next job of about this size fits too. */
	cap = (need + BATCH_SIZE) / BATCH_SIZE * BATCH_SIZE;
	free(j->out);
	j->out = buffer_make(cap);
	j->out_cap = j->out ? cap : 0;
	if (j->out)
		return 0;
	j->blocks = 0;
	return filter_fail(&j->job.err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
}

/* Where the first block goes: behind the history, if there is any. */
static uint8_t *out_begin(const struct unpacking *k, struct unpack_job *j)
{
	uint8_t *at = j->out + k->history;

	if (k->tail_len)
		memcpy(at - k->tail_len, k->tail, k->tail_len);
	return at;
}

static uint8_t *out_next(struct unpacking *k, const struct block *b)
{
	if (!k->history)
		return b->dst + b->raw;
	k->tail_len += b->dst_len;
	if (k->tail_len > k->history)
		k->tail_len = k->history;
	k->tail = b->dst + b->dst_len - k->tail_len;
	return b->dst + b->dst_len;
}

/* Salvaging: the block's error is kept for emit().  false: it stands. */
static bool lose(const struct unpacking *k, struct unpack_job *j, size_t i,
		 const struct filter_error *err)
{
	if (k->history || !unpack_salvageable(k->u, err))
		return false;
	j->lost[i] = malloc(sizeof(*j->lost[i]));
	if (!j->lost[i])
		return false;
	*j->lost[i] = *err;
	return true;
}

static void work(void *ctx, void *worker, struct job *job)
{
	struct unpacking *k = ctx;
	struct unpack_job *j = (struct unpack_job *)job;
	struct filter_error err;
	uint8_t *at;

	if (out_room(j, k->history))
		return;
	at = out_begin(k, j);
	for (size_t i = 0; i < j->blocks; i++) {
		struct block *b = &j->block[i];

		b->dst = at;
		b->dst_cap = (size_t)b->raw;
		b->dst_len = 0;
		b->history = k->tail_len;
		if (b->src_len && k->ops->block(worker, b, &err) && !lose(k, j, i, &err)) {
			job->err = err;
			j->blocks = i;
			return;
		}
		at = out_next(k, b);
	}
}

static int join(struct unpacking *k, struct block *b, struct filter_error *err)
{
	int code;

	if (!k->ops->join)
		return 0;
	pthread_mutex_lock(&k->lock);
	code = k->ops->join(k->state, b, err);
	pthread_mutex_unlock(&k->lock);
	return code;
}

static void tell_member(struct unpacking *k, const struct block *b)
{
	struct member m;

	k->ops->member(b, &m);
	unpack_tell(k->u, &m);
}

static void tell_loss(struct unpacking *k, struct unpack_job *j, size_t i, size_t run)
{
	const struct block *b = &j->block[i];
	struct loss l = {
		.from = b->offset, .to = b->offset + b->src_len,
		.output = k->u->sink->total + run, .unchecked = b->dst_len,
		.err = *j->lost[i],
	};

	k->u->lost(k->u->ctx, &l);
	k->damaged = true;
	free(j->lost[i]);
	j->lost[i] = NULL;
}

/* What a block's error leaves of the input, for whoever goes on behind it. */
static void give_back_rest(struct unpacking *k, struct unpack_job *j)
{
	if (unpack_salvageable(k->u, &j->job.err) && !k->over)
		unpack_give_back(k, j);
}

/* The sums at the end of a member that lost blocks say no more. */
static bool excused(const struct unpacking *k, const struct block *b,
		    const struct filter_error *err)
{
	return k->damaged && b->end && unpack_salvageable(k->u, err);
}

/* Joins blocks in order and gives them out in runs that touch. */
static void emit(void *ctx, struct job *job)
{
	struct unpacking *k = ctx;
	struct unpack_job *j = (struct unpack_job *)job;
	struct filter_error err = job->err;
	uint8_t *run = j->out;
	size_t len = 0;

	for (size_t i = 0; i < j->blocks; i++) {
		struct block *b = &j->block[i];

		if (!j->lost[i] && join(k, b, &err)) {
			if (!excused(k, b, &err))
				break;
			err.code = 0;
		}
		if (k->whole)
			tell_member(k, b);
		if (run + len != b->dst) {
			if (len && unpack_deliver(k->u, run, len, j->base + j->at, &job->err))
				return;
			run = b->dst;
			len = 0;
		}
		len += b->dst_len;
		if (j->lost[i])
			tell_loss(k, j, i, len);
	}
	if (len && unpack_deliver(k->u, run, len, j->base + j->at, &job->err))
		return;
	job->err = err;
	give_back_rest(k, j);
}

static void job_close(void *ctx, struct job *job)
{
	struct unpack_job *j = (struct unpack_job *)job;

	(void)ctx;
	for (size_t i = 0; i < BLOCKS_MAX; i++)
		free(j->lost[i]);
	free(j->own);
	free(j->out);
}

static void interrupt(void *ctx)
{
	struct unpacking *k = ctx;

	feed_interrupt(k->u->feed);
}

static const struct pipeline unpack_pipeline = {
	.job_size = sizeof(struct unpack_job), .job_close = job_close,
	.worker_open = worker_open, .worker_close = worker_close,
	.fill = unpack_fill, .plan = plan, .work = work, .emit = emit,
	.interrupt = interrupt,
};

void unpack_resume_end(struct unpack *u)
{
	if (u->resume)
		u->resume_ops->close(u->resume);
	u->resume = NULL;
	u->resumes = false;
}

/* The state that the run begins with: a damaged member's, or a new one. */
static void *state_open(struct unpacking *k, struct filter_error *err)
{
	void *state = k->u->resume;

	if (!k->u->resumes)
		return k->ops->open(&k->u->params, err);
	k->damaged = true;
	k->u->resume = NULL;
	k->u->resumes = false;
	return state;
}

static void state_close(struct unpacking *k, const struct filter_error *err)
{
	if (!k->ops->resume || !unpack_salvageable(k->u, err)) {
		k->ops->close(k->state);
		return;
	}
	k->u->resume_ops = k->ops;
	k->u->resume = k->state;
}

int unpack_blocks(struct unpack *u, const struct unpack_ops *ops, bool whole,
		  struct member *m, struct filter_error *err)
{
	struct unpacking k = { .u = u, .ops = ops, .whole = whole };
	int jobs = u->threads + 2, code;

	k.job_max = u->budget / 2 > JOB_FLOOR ? u->budget / 2 : JOB_FLOOR;
	k.state = state_open(&k, err);
	if (!k.state)
		return err->code;
	pthread_mutex_init(&k.lock, NULL);
	code = pipe_run(&unpack_pipeline, &k, u->threads, jobs, err);
	if (!code && k.ops->describe)
		k.ops->describe(k.state, m);
	pthread_mutex_destroy(&k.lock);
	state_close(&k, err);
	return code;
}
