/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.c - the two ways bytes go through this program
 *
 * Blocks (this file).  What can be coded piece by piece goes through an
 * ordered pipeline: a reader cuts the input into jobs, N workers code them in
 * any order, the caller's thread writes them in order.  Jobs are the slots of
 * a ring, made once.  Job n lives in slot n mod jobs, so the reader may fill
 * job n only after job n - jobs was written: that alone bounds the memory and
 * slows a fast reader down to a slow writer.  Three counters say everything:
 *
 *	emitted <= taken <= filled <= emitted + jobs
 *
 * and a slot's done flag says that its worker is through.  A job carries its
 * own error; the writer meets errors in stream order, so the first one in the
 * stream wins however the threads ran, and all output before it was written.
 * A worker never prints and never exits.  The bytes depend on where the reader
 * cuts and on nothing else.
 *
 * Streams (feed.c).  What only a serial library can code still overlaps with
 * reading and writing: a reader thread fills a ring of chunks, the codec pulls
 * from it in the caller's thread and writes into the chunks of a second ring,
 * which a writer thread empties.
 *
 * Small inputs start no thread: when the first job is the last one, or the
 * first chunk is the whole input, the same calls run in a plain loop, as they
 * do with one thread.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pipe.h"
#include "say.h"

struct run {
	const struct pipeline *p;
	void *ctx;
	int jobs;
	char *slots;		/* jobs of p->job_size bytes */
	bool *opened, *done;	/* a slot's buffers are made; its work is done */
	pthread_mutex_t lock;
	pthread_cond_t room, work, ready;
	uint64_t filled, taken, emitted;
	bool ended;		/* nothing will be filled any more */
	bool stopped;		/* the writer has given up */
};

static struct job *slot(struct run *r, uint64_t number)
{
	return (struct job *)(r->slots + number % (uint64_t)r->jobs * r->p->job_size);
}

/* Readies the slot of a job and lets the caller fill it. */
static struct job *fill(struct run *r, uint64_t number)
{
	struct job *j = slot(r, number);
	bool *opened = &r->opened[number % (uint64_t)r->jobs];

	j->number = number;
	j->last = false;
	j->err.code = 0;
	if (!*opened && r->p->job_open && r->p->job_open(r->ctx, j)) {
		j->last = true;
		filter_fail(&j->err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
		return j;
	}
	*opened = true;
	r->p->fill(r->ctx, j);
	if (j->err.code)
		j->last = true;
	return j;
}

/* One job on one worker, whose state is made when it gets its first. */
static void work(struct run *r, void **worker, struct job *j)
{
	struct filter_error err;

	if (!*worker && r->p->worker_open) {
		*worker = r->p->worker_open(r->ctx, &err);
		if (!*worker) {
			j->err = err;
			return;
		}
	}
	r->p->work(r->ctx, *worker, j);
}

static void worker_close(struct run *r, void *worker)
{
	if (worker && r->p->worker_close)
		r->p->worker_close(r->ctx, worker);
}

/* The plain loop, beginning with a job that was filled already. */
static void run_plain(struct run *r, struct job *j, struct filter_error *err)
{
	void *worker = NULL;
	bool last;

	for (;;) {
		work(r, &worker, j);
		r->p->emit(r->ctx, j);
		last = j->last;
		*err = j->err;
		if (last || err->code)
			break;
		j = fill(r, j->number + 1);
	}
	worker_close(r, worker);
}

static void *filler_main(void *arg)
{
	struct run *r = arg;
	uint64_t number = 1;
	bool last = false;

	pthread_mutex_lock(&r->lock);
	while (!last) {
		struct job *j;

		while (number >= r->emitted + (uint64_t)r->jobs && !r->stopped)
			pthread_cond_wait(&r->room, &r->lock);
		if (r->stopped)
			break;
		pthread_mutex_unlock(&r->lock);
		j = fill(r, number++);
		last = j->last;
		pthread_mutex_lock(&r->lock);
		r->filled = number;
		pthread_cond_signal(&r->work);
	}
	r->ended = true;
	pthread_cond_broadcast(&r->work);
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

static void *worker_main(void *arg)
{
	struct run *r = arg;
	void *worker = NULL;

	pthread_mutex_lock(&r->lock);
	for (;;) {
		uint64_t number;

		while (r->taken == r->filled && !r->ended && !r->stopped)
			pthread_cond_wait(&r->work, &r->lock);
		if (r->stopped || r->taken == r->filled)
			break;
		number = r->taken++;
		pthread_mutex_unlock(&r->lock);
		work(r, &worker, slot(r, number));
		pthread_mutex_lock(&r->lock);
		r->done[number % (uint64_t)r->jobs] = true;
		pthread_cond_signal(&r->ready);
	}
	pthread_mutex_unlock(&r->lock);
	worker_close(r, worker);
	return NULL;
}

/* The caller's part: jobs in order, until the last or the first error. */
static void write_jobs(struct run *r, struct filter_error *err)
{
	bool last = false;

	pthread_mutex_lock(&r->lock);
	while (!last) {
		bool *done = &r->done[r->emitted % (uint64_t)r->jobs];
		struct job *j;

		while (!*done)
			pthread_cond_wait(&r->ready, &r->lock);
		*done = false;
		j = slot(r, r->emitted);
		pthread_mutex_unlock(&r->lock);
		r->p->emit(r->ctx, j);
		last = j->last || j->err.code;
		*err = j->err;
		pthread_mutex_lock(&r->lock);
		r->emitted++;
		pthread_cond_signal(&r->room);
	}
	r->stopped = true;
	pthread_cond_broadcast(&r->room);
	pthread_cond_broadcast(&r->work);
	pthread_mutex_unlock(&r->lock);
}

static int start_workers(struct run *r, pthread_t *thread, int workers)
{
	int n = 0;

	while (n < workers && !pthread_create(&thread[n], NULL, worker_main, r))
		n++;
	return n;
}

/* Threads for everything but the writing.  Job 0 is filled already. */
static void run_threads(struct run *r, int workers, struct filter_error *err)
{
	pthread_t *thread = calloc((size_t)workers + 1, sizeof(*thread));
	int started = thread ? start_workers(r, thread, workers) : 0;

	if (started && !pthread_create(&thread[workers], NULL, filler_main, r)) {
		write_jobs(r, err);
		if (err->code && r->p->interrupt)
			r->p->interrupt(r->ctx);
		pthread_join(thread[workers], NULL);
	} else {
		filter_fail(err, CMD_E_SYSTEM, SIZE_UNKNOWN, "can't start a thread");
		pthread_mutex_lock(&r->lock);
		r->stopped = true;
		pthread_cond_broadcast(&r->work);
		pthread_mutex_unlock(&r->lock);
	}
	while (started)
		pthread_join(thread[--started], NULL);
	free(thread);
}

static int run_open(struct run *r, const struct pipeline *p, void *ctx, int jobs)
{
	*r = (struct run){ .p = p, .ctx = ctx, .jobs = jobs, .filled = 1 };
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->room, NULL);
	pthread_cond_init(&r->work, NULL);
	pthread_cond_init(&r->ready, NULL);
	r->slots = calloc((size_t)jobs, p->job_size + sizeof(*r->opened) + sizeof(*r->done));
	if (!r->slots)
		return -1;
	r->opened = (bool *)(r->slots + (size_t)jobs * p->job_size);
	r->done = r->opened + jobs;
	return 0;
}

static void run_close(struct run *r)
{
	for (int i = 0; r->slots && i < r->jobs; i++)
		if (r->opened[i] && r->p->job_close)
			r->p->job_close(r->ctx, slot(r, (uint64_t)i));
	free(r->slots);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->room);
	pthread_cond_destroy(&r->work);
	pthread_cond_destroy(&r->ready);
}

int pipe_run(const struct pipeline *p, void *ctx, int workers, int jobs,
	     struct filter_error *err)
{
	struct run r;
	struct job *first;
	bool plain = workers == 1;

	err->code = 0;
	if (run_open(&r, p, ctx, jobs)) {
		run_close(&r);
		return filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
	}
	first = fill(&r, 0);
	if (p->plan && !first->last)
		p->plan(ctx, &workers, &r.jobs);
	if (first->last || plain)
		run_plain(&r, first, err);
	else
		run_threads(&r, workers, err);
	run_close(&r);
	return err->code;
}
