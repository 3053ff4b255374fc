/* SPDX-License-Identifier: Apache-2.0 */
/* vconvert_job.h - what vconvert_run.c and vconvert_emit.c share */
#ifndef VCONVERT_JOB_H
#define VCONVERT_JOB_H

#include "archive_tar.h"
#include "vconvert.h"

struct result {
	struct frecord out;
	size_t at;		/* of its body in the job's out; NOWHERE: own */
	int outcome;		/* convert_outcome, or the error's code */
	struct filter_error *err;	/* of a failed record, malloc'ed */
};
#define NOWHERE SIZE_MAX

struct convert_job {
	struct job job;
	uint8_t *in, *out;
	size_t in_cap, out_cap, out_len;
	size_t have, at;	/* bytes at in; those cut into records */
	uint64_t base;		/* offset of in[0] in the input */
	uint64_t read;		/* bytes of the input up to this job's end */
	struct frecord *rec;
	struct result *res;
	size_t count;
	uint64_t first;		/* number of its first record or note */
	uint64_t raw;		/* decoded bytes, where they are known */
	uint64_t forward_ns, back_ns;
};

struct running {
	struct convert_run *r;
	struct framing_reader *reader;
	struct archive_tar *archive;	/* cpio, zip: its bytes are cut */
	struct framing_writer *writer;
	struct archive_make *make;	/* cpio, zip: the writer's tar is made into it */
	struct filter_error make_error;
	const uint8_t *rest;	/* of the last job, for the next */
	size_t rest_len;
	uint64_t base;
	uint64_t number;	/* of the next record that is emitted */
	bool ended;
	uint64_t events;	/* records and notes that were cut */
	uint8_t *chunk;		/* of the sink, being filled */
	size_t chunk_len;
	uint8_t *note;		/* room for what a framing writes */
	size_t note_cap;
};

/* The writer's part of struct running is touched by emit alone, the reader's
   by fill alone; each runs in one thread at a time. */
int convert_begin(struct running *k, struct filter_error *err);
void convert_emit(void *ctx, struct job *job);

#endif
