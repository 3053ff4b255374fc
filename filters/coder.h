/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coder.h - the one loop around every library that codes from span to span
 *
 * zlib, zstd, brotli, liblzma and libbz2 all have a call that takes some
 * input and gives some output.  What differs is the call: a codec's state
 * begins with a struct coder and it brings a step.  What is the same is here:
 * when to pull, when to flush, when to return, how input is given back, and
 * that bytes decoded before an error are handed out before the error is.
 * Internal to filters/.
 */
#ifndef CODER_H
#define CODER_H

#include "filter.h"

enum coder_mode {
	CODER_RUN,	/* take input, give what comes */
	CODER_FLUSH,	/* packing: give all that was taken; no input now */
	CODER_FINISH,	/* packing: that, and end the stream */
};

enum coder_result {
	CODER_MORE = 0,	/* in_len is 0, or out_len is 0, or call again */
	CODER_DONE = 1,	/* flushed; finished; unpacking: the member ended */
};

struct coder {
	struct source *src;
	const uint8_t *in;	/* input at hand: a step moves both fields */
	size_t in_len;
	uint8_t *out;		/* room: a step moves both fields */
	size_t out_len;
	uint64_t start;		/* offset of the member's first byte */
	uint64_t raw;		/* raw bytes: taken when packing, else given */
	enum coder_mode mode;
	bool dirty;		/* bytes were taken since the last flush */
	bool full;		/* the last step filled its room */
	bool ended;
	struct filter_error failed;	/* told after the bytes before it */
};

/* One call of the library.  Returns an enum coder_result or an error. */
typedef int coder_step(struct coder *c, enum coder_mode mode,
		       struct filter_error *err);

/* Ready for the next member or input, whose first byte is src's next. */
void coder_start(struct coder *c, struct source *src);

/* stream_ops.read for packing and for unpacking, around a step. */
ptrdiff_t coder_pack(struct coder *c, coder_step *step, uint8_t *dst,
		     size_t cap, struct filter_error *err);
ptrdiff_t coder_unpack(struct coder *c, coder_step *step, uint8_t *dst,
		       size_t cap, struct filter_error *err);

/* Where in the whole input the next byte that a step would take stands. */
uint64_t coder_offset(const struct coder *c);

/*
 * Makes in_len > 0 if it can: 1, or 0 at the end of input, or an error with
 * *err filled.  For steps that read a header or a trailer themselves.
 */
int coder_fill(struct coder *c, struct filter_error *err);

/* Takes n bytes into dst; the input's end is FILTER_E_TRUNCATED, *err filled. */
int coder_take(struct coder *c, uint8_t *dst, size_t n,
	       struct filter_error *err);

/* Fills what a coder knows of its member. */
void coder_describe(const struct coder *c, struct member *m);

/* The errors that every codec has, in the same words. */
int coder_truncated(const struct coder *c, struct filter_error *err);
int coder_no_memory(struct filter_error *err);
int coder_over_budget(struct filter_error *err, uint64_t offset,
		      const char *what, uint64_t need, uint64_t budget);

#endif
