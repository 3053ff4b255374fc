/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack_blocks.c - one member by its blocks, in parallel
 *
 * A job is a piece of the packed input that holds whole blocks, and room for
 * what they decode to.  What stands behind its last whole block begins the
 * next job: it is copied from this job's buffer, which nobody refills before
 * the next one is filled.
 *
 * The first job looks at the source's own bytes in place.  When the member ends
 * in it, which is so for all small ones, nothing was copied and no thread
 * starts; else the job takes a copy, because the next pull makes those bytes
 * invalid.
 *
 * Blocks that lean on each other (ops->shape) are one worker's, so that the gain
 * is that reading, decoding, and checking and writing overlap.  Their jobs begin
 * with a copy of the end of the last job's output, which stays until the worker
 * itself takes that job again.
 *
 * Jobs of large blocks are few: two slots feed two CPUs as well as four do (LZ4,
 * 4 MiB blocks: within 3 %), and take half the memory.
 *
 * A job is handed on when it is full or when the input has nothing more at
 * hand, so that a slow stream's blocks come out as they come in.
 *
 * Whole members as blocks (unpack_members): the run ends, and the bytes go back,
 * at the first member that the codec leaves, at one that is above the memory
 * limit or cut short, and where the input stalls inside of one: the stream face
 * gives out its bytes as they come.
 */
#include <stdlib.h>
#include <string.h>

#include "code.h"
#include "pipe.h"
#include "report.h"
#include "say.h"

/* Blocks of a job; small ones fill it before its bytes do. */
#define BLOCKS_MAX 128

/* How long a member that isn't whole may keep its first bytes back. */
#define STALL_MS 50

/* Jobs from this size on are no more than there are workers. */
#define LARGE_JOB (16 * BATCH_SIZE)

/* What a job of small blocks takes for each of its two buffers. */
#define JOB_FLOOR (8 * BATCH_SIZE)

struct unpack_job {
	struct job job;
	const uint8_t *in;	/* own, or the source's bytes in place */
	uint8_t *own, *out;
	size_t own_cap, out_cap;
	size_t have, at;	/* bytes at in; those split into blocks */
	struct block block[BLOCKS_MAX];
	size_t blocks;
	uint64_t raw;		/* room that all blocks need, besides history */
	uint64_t base;		/* offset of in[0] in the input */
	bool placed;		/* in is the source's */
};

struct unpacking {
	struct unpack *u;
	const struct unpack_ops *ops;
	void *state;
	const uint8_t *rest;	/* of the last job, for the next */
	size_t rest_len;
	uint64_t job_max;	/* bytes of either buffer of one job */
	uint64_t first_size;	/* ... that the first job takes */
	size_t block_max, history;	/* of ops->shape */
	const uint8_t *tail;	/* the end of the output, up to history bytes */
	size_t tail_len;
	pthread_mutex_t lock;	/* split and join run in two threads on the one
				   state of the codec */
	bool over;		/* the member is complete */
	bool whole;		/* a block is a member */
};

static int fail(struct unpack_job *j, int code, const char *what)
{
	return filter_fail(&j->job.err, code, j->base + j->have, "%s", what);
}

/* What comes next is for the stream face.  -1 = nothing was done for it here. */
static int leave(struct unpacking *k)
{
	k->over = true;
	return -1;
}

/* A larger buffer of the job's own; blocks that point into the old one move. */
static int grow(struct unpacking *k, struct unpack_job *j, size_t cap)
{
	uint8_t *bigger;

	if (cap > k->job_max && k->whole)
		return leave(k);
	if (cap > k->job_max)
		return fail(j, FILTER_E_MEMORY, "a block is above the memory limit");
	/* At once what the stream's blocks take: pages that nothing comes into
	   cost nothing, buffers that grow leave holes.  No huge pages: of those
	   the last one would be half empty. */
	if (cap < k->block_max + 2 * BATCH_SIZE && k->block_max < k->job_max / 2)
		cap = k->block_max + 2 * BATCH_SIZE;
	bigger = malloc(cap);
	if (!bigger)
		return fail(j, FILTER_E_MEMORY, "out of memory");
	if (j->have)
		memcpy(bigger, j->in, j->have);
	for (size_t i = 0; i < j->blocks; i++)
		if (j->block[i].src_len)
			j->block[i].src = bigger + (j->block[i].src - j->in);
	free(j->own);
	j->in = j->own = bigger;
	j->own_cap = cap;
	j->placed = false;
	return 0;
}

/* More bytes behind those that are there, until `need` stand at in; or not 0. */
static int read_more(struct unpacking *k, struct unpack_job *j, size_t need)
{
	/* No more than a job's worth, or the rest would grow from job to job. */
	size_t most = need > j->have + 2 * BATCH_SIZE ? need : j->have + 2 * BATCH_SIZE;

	while (j->have < need) {
		size_t room;
		ptrdiff_t got;

		/* Grown by what came, not by what a header claims. */
		if (j->have == j->own_cap && grow(k, j, 2 * j->have + BATCH_SIZE))
			return -1;
		room = (j->own_cap < most ? j->own_cap : most) - j->have;
		got = feed_read(k->u->feed, j->own + j->have, room);
		if (got == SOURCE_PAUSE)
			continue;
		if (got < 0) {
			j->job.err.code = FILTER_E_READ;
			return feed_failure(k->u->feed, &j->job.err);
		}
		if (!got && k->whole)
			return leave(k);
		if (!got)
			return fail(j, FILTER_E_TRUNCATED,
				    "input ends before the member does");
		j->have += (size_t)got;
	}
	return 0;
}

static bool job_full(const struct unpack_job *j)
{
	return j->blocks == BLOCKS_MAX || j->raw >= 4 * BATCH_SIZE ||
	       j->at >= 2 * BATCH_SIZE;
}

/*
 * Splits one block off: 1, 0 = there are too few bytes (*need at in), JOB_FULL,
 * or not more than that here: an error, or the run is over.
 */
enum { JOB_FULL = 2 };

static int split_one(struct unpacking *k, struct unpack_job *j, size_t *need)
{
	struct block *b = &j->block[j->blocks];
	size_t want = 0;
	ptrdiff_t n;

	*b = (struct block){ .offset = j->base + j->at };
	pthread_mutex_lock(&k->lock);
	n = k->ops->split(k->state, j->in + j->at, j->have - j->at,
			  j->base + j->at, &want, b, &j->job.err);
	pthread_mutex_unlock(&k->lock);
	if (n < 0)
		return (int)n;
	if (!n && !want && k->whole)
		return leave(k);
	if (!n) {
		if (want <= j->have - j->at)
			want = j->have - j->at + 1;
		if (want > SIZE_MAX / 2 - j->at)
			return fail(j, FILTER_E_CORRUPT, "absurd block size");
		*need = j->at + want;
		return 0;
	}
	if (k->whole && b->raw > k->job_max - j->raw)
		return j->blocks ? JOB_FULL : leave(k);
	if (b->raw > k->job_max || j->raw + b->raw > k->job_max)
		return fail(j, FILTER_E_MEMORY, "a block is above the memory limit");
	if (!j->job.number && !j->blocks && k->ops->shape)
		k->ops->shape(k->state, &k->block_max, &k->history);
	j->raw += b->raw;
	j->at += (size_t)n;
	j->blocks++;
	k->over = b->end;
	return 1;
}

/* Splits until the job is full, the member over, or the input a pause. */
static void split(struct unpacking *k, struct unpack_job *j)
{
	size_t need = 0;
	int got;

	while (!k->over && !job_full(j)) {
		got = j->have > j->at ? split_one(k, j, &need) : 0;
		if (got < 0 || got == JOB_FULL)
			return;
		if (got)
			continue;
		if (need <= j->have)
			need = j->have + 1;
		if (j->blocks && (j->placed || !feed_ready(k->u->feed)))
			return;
		/* The first job's bytes must be its own before more come. */
		if (j->placed && grow(k, j, j->have + BATCH_SIZE))
			return;
		if (k->whole && !j->blocks && !feed_wait(k->u->feed, STALL_MS)) {
			leave(k);
			return;
		}
		if (read_more(k, j, need))
			return;
	}
}

/* The source's next bytes where they stand. */
static void take_in_place(struct unpacking *k, struct unpack_job *j)
{
	ptrdiff_t n;

	do
		n = source_next(&k->u->feed->src, &j->in);
	while (n == SOURCE_PAUSE);
	if (n < 0) {
		j->job.err.code = FILTER_E_READ;
		feed_failure(k->u->feed, &j->job.err);
	}
	if (n == 0)
		fail(j, FILTER_E_TRUNCATED, "empty input");
	j->have = n > 0 ? (size_t)n : 0;
	j->placed = true;
}

static void take_rest(struct unpacking *k, struct unpack_job *j)
{
	size_t cap = k->rest_len + 2 * BATCH_SIZE;

	/* With room for a longer rest, so that the buffer stays. */
	if (j->own_cap < cap && grow(k, j, cap + 2 * BATCH_SIZE))
		return;
	j->in = j->own;
	if (k->rest_len)
		memcpy(j->own, k->rest, k->rest_len);
	j->have = k->rest_len;
}

/* The member is over, or will not go on: the bytes behind it go back. */
static void give_back(struct unpacking *k, struct unpack_job *j)
{
	size_t n = j->have - j->at;

	if (j->placed)
		source_unread(&k->u->feed->src, j->in + j->at, n);
	else if (feed_return(k->u->feed, j->in + j->at, n))
		fail(j, FILTER_E_MEMORY, "out of memory");
}

static void fill(void *ctx, struct job *job)
{
	struct unpacking *k = ctx;
	struct unpack_job *j = (struct unpack_job *)job;

	j->have = j->at = j->blocks = 0;
	j->raw = 0;
	j->base = k->u->feed->src.offset - k->rest_len;
	j->placed = false;
	if (!job->number)
		take_in_place(k, j);
	else
		take_rest(k, j);
	if (!job->err.code)
		split(k, j);
	if (k->over) {
		job->last = true;
		give_back(k, j);
		return;
	}
	if (j->placed && !job->err.code)
		grow(k, j, j->have + BATCH_SIZE);
	if (!job->number)
		k->first_size = j->raw > j->own_cap ? j->raw : j->own_cap;
	k->rest = j->in + j->at;
	k->rest_len = j->have - j->at;
}

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
	return fail(j, FILTER_E_MEMORY, "out of memory");
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

static void work(void *ctx, void *worker, struct job *job)
{
	struct unpacking *k = ctx;
	struct unpack_job *j = (struct unpack_job *)job;
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
		if (b->src_len && k->ops->block(worker, b, &job->err)) {
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

		if (join(k, b, &err))
			break;
		if (k->whole)
			tell_member(k, b);
		if (run + len != b->dst) {
			if (len && unpack_deliver(k->u, run, len, j->base + j->at, &job->err))
				return;
			run = b->dst;
			len = 0;
		}
		len += b->dst_len;
	}
	if (len && unpack_deliver(k->u, run, len, j->base + j->at, &job->err))
		return;
	job->err = err;
}

static void job_close(void *ctx, struct job *job)
{
	struct unpack_job *j = (struct unpack_job *)job;

	(void)ctx;
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
	.fill = fill, .plan = plan, .work = work, .emit = emit,
	.interrupt = interrupt,
};

int unpack_blocks(struct unpack *u, const struct unpack_ops *ops, bool whole,
		  struct member *m, struct filter_error *err)
{
	struct unpacking k = { .u = u, .ops = ops, .whole = whole };
	int jobs = u->threads + 2, code;

	k.job_max = u->budget / 2 > JOB_FLOOR ? u->budget / 2 : JOB_FLOOR;
	k.state = k.ops->open(&u->params, err);
	if (!k.state)
		return err->code;
	pthread_mutex_init(&k.lock, NULL);
	code = pipe_run(&unpack_pipeline, &k, u->threads, jobs, err);
	if (!code && k.ops->describe)
		k.ops->describe(k.state, m);
	pthread_mutex_destroy(&k.lock);
	k.ops->close(k.state);
	return code;
}
