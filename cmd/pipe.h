/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.h - the ordered parallel pipeline
 *
 *	fill (serial) -> work (any of N, any order) -> emit (serial, in order)
 *
 * A fixed number of jobs, made at start, goes round: filled, worked on, emitted,
 * free again.  That bounds the memory and is the back-pressure.  fill runs in
 * a thread of its own, emit in the caller's, work in N threads.  Asked for one
 * worker, or when the first job is the last, the same three calls run in a
 * plain loop and no thread is started.
 */
#ifndef PIPE_H
#define PIPE_H

#include "filter.h"

/* Begins the caller's own struct job. */
struct job {
	uint64_t number;	/* 0, 1, 2 ... in stream order */
	bool last;		/* fill: nothing comes behind this one */
	struct filter_error err;	/* code 0 = none; set by whoever fails */
};

struct pipeline {
	size_t job_size;	/* sizeof the caller's struct */
	/* Buffers of a zeroed job; may be NULL. */
	int (*job_open)(void *ctx, struct job *j);
	void (*job_close)(void *ctx, struct job *j);
	/* One worker's state; may be NULL.  NULL result = error in *err. */
	void *(*worker_open)(void *ctx, struct filter_error *err);
	void (*worker_close)(void *ctx, void *worker);
	/*
	 * Fills the job with what comes next; sets j->last at the end, or
	 * j->err, which ends the input too.  The job goes on in every case,
	 * with what stood before the end or the error in it.
	 */
	void (*fill)(void *ctx, struct job *j);
	/* Once the first job is filled: may lower the numbers (workers >= 1,
	   jobs >= 2) now that the size of a job is known.  One worker then
	   means: in order, beside reading and writing.  May be NULL. */
	void (*plan)(void *ctx, int *workers, int *jobs);
	/* Transforms.  Sets j->err on failure (also over one that fill left:
	   what fails inside the job comes first in the stream). */
	void (*work)(void *ctx, void *worker, struct job *j);
	/* Gives out what is good of the job, then sets j->err if that fails.
	   Is called for a job with an error too, once, as the last call. */
	void (*emit)(void *ctx, struct job *j);
	/* Makes a fill that waits come back soon; may be NULL. */
	void (*interrupt)(void *ctx);
};

/* Memory for a job's buffer, uninitialised, to be freed by free(); or NULL. */
void *buffer_make(size_t size);

/*
 * Runs to the end or to the first error in stream order.  0, or the error's
 * code with *err filled.  workers >= 1; jobs >= 2 (workers + 2 is a good
 * number).  Never prints.
 */
int pipe_run(const struct pipeline *p, void *ctx, int workers, int jobs,
	     struct filter_error *err);

#endif
