// SPDX-License-Identifier: Apache-2.0
/*
 * vconvert_run.c - records through the pipeline: cutting and converting
 *
 * A job is a piece of the input that holds whole records, what was made of
 * them, and room for that.  fill cuts (serial, by the source's framing), work
 * converts (any worker, any order), emit writes (serial, in order, by the
 * target's framing; vconvert_emit.c).  What stands behind a job's last whole record begins the
 * next job; it is copied out of this job's buffer, which nobody refills before
 * the next one is filled.  The bytes depend on the records and on nothing
 * else: not on threads, not on how the input comes.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "vconvert_job.h"

#define JOB_RECORDS	1024
#define JOB_BYTES	BATCH_SIZE
#define JOB_RAW		(16 * BATCH_SIZE)

static int job_open(void *ctx, struct job *job)
{
	struct convert_job *j = (struct convert_job *)job;

	(void)ctx;
	j->rec = malloc(JOB_RECORDS * sizeof(*j->rec));
	j->res = malloc(JOB_RECORDS * sizeof(*j->res));
	j->in_cap = 2 * JOB_BYTES;
	j->in = malloc(j->in_cap);
	return j->rec && j->res && j->in ? 0 : -1;
}

static void job_close(void *ctx, struct job *job)
{
	struct convert_job *j = (struct convert_job *)job;

	(void)ctx;
	free(j->rec);
	free(j->res);
	free(j->in);
	free(j->out);
}

static int fail(struct convert_job *j, int code, const char *what)
{
	return filter_fail(&j->job.err, code, j->base + j->have, "%s", what);
}

/* Pointers into the old buffer follow it into the new one. */
static const uint8_t *moved(const uint8_t *p, const uint8_t *old, size_t n,
			    const uint8_t *new)
{
	return p >= old && p <= old + n ? new + (p - old) : p;
}

static int grow(struct running *k, struct convert_job *j, size_t cap)
{
	uint8_t *bigger;

	if (cap > k->r->from.limit * 2 + JOB_BYTES * 4)
		return fail(j, FILTER_E_MEMORY, "a record is above the memory limit");
	bigger = malloc(cap);
	if (!bigger)
		return fail(j, FILTER_E_MEMORY, "out of memory");
	memcpy(bigger, j->in, j->have);
	for (size_t i = 0; i < j->count; i++) {
		struct frecord *rec = &j->rec[i];

		rec->it.key = moved(rec->it.key, j->in, j->have, bigger);
		rec->it.body = moved(rec->it.body, j->in, j->have, bigger);
		rec->dir = moved(rec->dir, j->in, j->have, bigger);
		rec->name = moved(rec->name, j->in, j->have, bigger);
		rec->text = moved(rec->text, j->in, j->have, bigger);
	}
	free(j->in);
	j->in = bigger;
	j->in_cap = cap;
	return 0;
}

/* For archive_tar.h: 0 = the end, -1 = failed. */
static ptrdiff_t read_input(void *ctx, uint8_t *p, size_t n)
{
	struct running *k = ctx;
	ptrdiff_t got;

	do
		got = feed_read(k->r->feed, p, n);
	while (got == SOURCE_PAUSE);
	return got;
}

/* More bytes behind those that are there: 0, or an error. */
static int read_more(struct running *k, struct convert_job *j)
{
	ptrdiff_t got;

	if (j->have == j->in_cap && grow(k, j, 2 * j->in_cap))
		return j->job.err.code;
	if (k->archive)
		got = archive_tar_read(k->archive, j->in + j->have,
				       j->in_cap - j->have, &j->job.err);
	else
		got = read_input(k, j->in + j->have, j->in_cap - j->have);
	if (got < 0 && k->archive && got != FILTER_E_READ)
		return (int)got;
	if (got < 0) {
		j->job.err.code = FILTER_E_READ;
		return feed_failure(k->r->feed, &j->job.err);
	}
	k->ended = !got;
	j->have += (size_t)got;
	return 0;
}

static bool job_full(const struct running *k, const struct convert_job *j)
{
	if (j->count == JOB_RECORDS || j->at >= JOB_BYTES || j->raw >= JOB_RAW)
		return true;
	return j->count && j->at == j->have && !k->ended && !feed_ready(k->r->feed);
}

/* Cuts one record: 1, 0 = the end of the input, or an error. */
static int cut_one(struct running *k, struct convert_job *j)
{
	struct frecord *rec = &j->rec[j->count];

	for (;;) {
		struct framing_in in = {
			.p = j->in + j->at, .n = j->have - j->at,
			.eof = k->ended, .offset = j->base + j->at,
			.err = &j->job.err,
		};
		ptrdiff_t took = framing_next(k->reader, &in, rec);

		if (took < 0)
			return (int)took;
		j->at += (size_t)took;
		if (rec->what != FRECORD_NOTHING) {
			j->count++;
			j->raw += rec->it.raw_size;
			return 1;
		}
		if (took)
			continue;
		if (k->ended)
			return 0;
		if (j->count && (j->at >= JOB_BYTES / 2 || !feed_ready(k->r->feed)))
			return 1;
		if (read_more(k, j))
			return j->job.err.code;
	}
}

static void fill(void *ctx, struct job *job)
{
	struct convert_job *j = (struct convert_job *)job;
	struct running *k = ctx;
	int more = 1;

	j->have = j->at = j->count = j->out_len = 0;
	j->raw = j->forward_ns = j->back_ns = 0;
	j->base = k->base;
	j->first = k->events;
	if (k->rest_len > j->in_cap && grow(k, j, k->rest_len + JOB_BYTES))
		return;
	if (k->rest_len)
		memcpy(j->in, k->rest, k->rest_len);
	j->have = k->rest_len;
	while (more == 1 && !job_full(k, j)) {
		size_t at = j->at, count = j->count;

		more = cut_one(k, j);
		if (more == 1 && j->at == at && j->count == count)
			break;
	}
	if (more <= 0)
		j->job.last = true;
	k->events += j->count;
	k->rest = j->in + j->at;
	k->rest_len = j->have - j->at;
	k->base = j->base + j->at;
	j->read = k->archive ? archive_tar_at(k->archive) : k->base;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Room for n more bytes of results. */
static bool out_room(struct convert_job *j, size_t n)
{
	size_t cap = j->out_len + n;
	uint8_t *more;

	if (cap <= j->out_cap)
		return true;
	cap += cap / 2;
	more = realloc(j->out, cap);
	if (!more)
		return false;
	j->out = more;
	j->out_cap = cap;
	return true;
}

static int convert_one(struct running *k, struct converter *c,
		       struct convert_job *j, size_t i, struct filter_error *err)
{
	const struct frecord *rec = &j->rec[i];
	struct result *res = &j->res[i];
	int64_t n = convert_size(rec, err);
	uint8_t *dst;

	if (n < 0)
		return (int)n;
	if ((uint64_t)n > k->r->from.limit)
		return filter_fail(err, FILTER_E_MEMORY, rec->offset,
				   "a record of %lld bytes is above the memory limit",
				   (long long)n);
	if (!out_room(j, convert_room((size_t)n)))
		return filter_fail(err, FILTER_E_MEMORY, rec->offset, "out of memory");
	dst = j->out + j->out_len;
	res->outcome = convert_record(c, rec, (size_t)n, dst, &res->out, err);
	if (res->outcome >= 0 && res->out.it.body == dst && res->out.it.body_size) {
		res->at = j->out_len;
		j->out_len += res->out.it.body_size;
	}
	return res->outcome;
}

static void time_back(struct converter *c, struct convert_job *j,
		      const struct result *res, uint64_t start)
{
	uint64_t now = cpu_ns();

	j->forward_ns += now - start;
	if (res->outcome == CONVERT_DONE) {
		convert_back(c, &res->out);
		j->back_ns += cpu_ns() - now;
	}
}

static void work_one(struct running *k, struct converter *c,
		     struct convert_job *j, size_t i)
{
	struct result *res = &j->res[i];
	struct filter_error err = { 0 };
	uint64_t start = k->r->timed ? cpu_ns() : 0;

	*res = (struct result){ .out = j->rec[i], .at = NOWHERE };
	if (j->rec[i].what != FRECORD_ITEM ||
	    (k->r->resume && j->first + i < k->r->resume->done.events))
		return;
	if (convert_one(k, c, j, i, &err) < 0) {
		res->outcome = err.code;
		res->err = malloc(sizeof(err));
		if (res->err)
			*res->err = err;
	} else if (k->r->timed) {
		time_back(c, j, res, start);
	}
}

static void work(void *ctx, void *worker, struct job *job)
{
	struct convert_job *j = (struct convert_job *)job;

	for (size_t i = 0; i < j->count; i++)
		work_one(ctx, worker, j, i);
}

static void *worker_open(void *ctx, struct filter_error *err)
{
	struct running *k = ctx;
	struct converter *c = converter_open(&k->r->convert);

	if (!c)
		filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
	return c;
}

static void worker_close(void *ctx, void *worker)
{
	(void)ctx;
	converter_close(worker);
}

static void interrupt(void *ctx)
{
	struct running *k = ctx;

	feed_interrupt(k->r->feed);
}

static const struct pipeline pipeline = {
	.job_size = sizeof(struct convert_job),
	.job_open = job_open, .job_close = job_close,
	.worker_open = worker_open, .worker_close = worker_close,
	.fill = fill, .work = work, .emit = convert_emit, .interrupt = interrupt,
};

static bool open_ends(struct running *k)
{
	struct convert_run *r = k->r;
	struct framing from = r->from, into = r->into;

	if (framing_is_foreign(&from)) {
		k->archive = archive_tar_open(from.kind == FRAMING_ZIP, from.limit,
					      read_input, k);
		from.kind = FRAMING_TAR;
		if (!k->archive)
			return false;
	}
	if (framing_is_foreign(&into)) {
		k->make = archive_make_open(into.kind == FRAMING_ZIP, from.limit);
		into.kind = FRAMING_TAR;
		if (!k->make)
			return false;
	}
	k->reader = framing_reader_open(&from);
	k->writer = framing_writer_open(&into, r->convert.check);
	return k->reader && k->writer;
}

int convert_run(struct convert_run *r, struct filter_error *err)
{
	struct running k = { .r = r };
	int code;

	if (!open_ends(&k))
		code = filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
	else
		code = convert_begin(&k, err);
	if (!code && r->part) {
		k.base = r->part->from;
		framing_reader_seek(k.reader, r->part_flags, r->part->from,
				    r->part->width, r->part_open);
	}
	if (!code)
		code = pipe_run(&pipeline, &k, r->threads, r->threads + 2, err);
	framing_reader_close(k.reader);
	framing_writer_close(k.writer);
	archive_tar_close(k.archive);
	archive_make_close(k.make);
	free(k.note);
	return code;
}
