/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack_split.c - jobs of whole blocks out of a packed input
 *
 * The first job looks at the source's own bytes in place.  When the member ends
 * in it, which is so for all small ones, nothing was copied and no thread
 * starts; else the job takes a copy, because the next pull makes those bytes
 * invalid.
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

#include "unpack_blocks.h"

/* How long a member that isn't whole may keep its first bytes back. */
#define STALL_MS 50

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
void unpack_give_back(struct unpacking *k, struct unpack_job *j)
{
	size_t n = j->have - j->at;

	if (j->placed)
		source_unread(&k->u->feed->src, j->in + j->at, n);
	else if (feed_return(k->u->feed, j->in + j->at, n))
		fail(j, FILTER_E_MEMORY, "out of memory");
}

void unpack_fill(void *ctx, struct job *job)
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
		unpack_give_back(k, j);
		return;
	}
	if (j->placed && !job->err.code)
		grow(k, j, j->have + BATCH_SIZE);
	if (!job->number)
		k->first_size = j->raw > j->own_cap ? j->raw : j->own_cap;
	k->rest = j->in + j->at;
	k->rest_len = j->have - j->at;
}
