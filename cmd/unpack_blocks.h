/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack_blocks.h - what unpack_split.c, which cuts the packed input into jobs, and
 * unpack_blocks.c, which decodes them and gives them out, share
 */
#ifndef UNPACK_BLOCKS_H
#define UNPACK_BLOCKS_H

#include "code.h"
#include "pipe.h"

/* Blocks of a job; small ones fill it before its bytes do. */
#define BLOCKS_MAX 128

struct unpack_job {
	struct job job;
	const uint8_t *in;	/* own, or the source's bytes in place */
	uint8_t *own, *out;
	size_t own_cap, out_cap;
	size_t have, at;	/* bytes at in; those split into blocks */
	struct block block[BLOCKS_MAX];
	struct filter_error *lost[BLOCKS_MAX];	/* why; NULL: it isn't */
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
	bool damaged;		/* blocks of it were lost */
	bool whole;		/* a block is a member */
};

/* The pipeline's fill(). */
void unpack_fill(void *ctx, struct job *job);
/* What stands behind the job's blocks goes back to the feed. */
void unpack_give_back(struct unpacking *k, struct unpack_job *j);

#endif
