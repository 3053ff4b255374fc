/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.h - packing and unpacking one input, whatever the codec
 *
 * Between a feed and a sink: the codec's blocks through the pipeline where it
 * has that face, else its stream.  Nothing here opens a file or prints.
 */
#ifndef CODE_H
#define CODE_H

#include <xxhash.h>

#include "feed.h"
#include "filter.h"

/* Bytes of input or output that make a job worth its hand-over. */
#define BATCH_SIZE ((size_t)256 << 10)

/*
 * Codec states that outlive an input, for the next one whose parameters differ
 * in size alone: thousands of small files open them once.  All zero at first;
 * the owner closes it.
 */
struct pack_kept {
	const struct filter *filter;	/* whose states these are */
	const struct pack_ops *ops;	/* of the worker */
	void *_Atomic worker;
	void *stream;			/* of filter->pack, reading from src ... */
	const struct source *src;
	int threads;			/* ... opened with these parameters */
	uint64_t memory;
};
void pack_kept_close(struct pack_kept *k);

struct pack {
	const struct filter *filter;
	struct filter_params params;
	struct feed *feed;
	struct sink *sink;
	int threads;		/* >= 1 */
	uint64_t budget;	/* bytes of memory for all of it */
	struct pack_kept *kept;	/* or NULL */
};

/* 0 or the error's code with *err filled.  The caller closes the sink. */
int pack_run(const struct pack *p, struct filter_error *err);

/* A part of a damaged input that gave nothing. */
struct loss {
	uint64_t from, to;	/* offsets in the input */
	uint64_t output;	/* decoded bytes in front of it; of those, the last */
	uint64_t unchecked;	/* ... so many are of a member that wasn't checked */
	struct filter_error err;	/* why, and where that was noticed */
};

enum trailing { TRAILING_ERROR, TRAILING_WARN, TRAILING_IGNORE };

struct unpack {
	const struct filter *forced;	/* -F; NULL = by content */
	const struct filter *hint;	/* a headerless format that the file's
					   suffix names, or NULL */
	struct filter_params params;
	struct feed *feed;
	struct sink *sink;
	int threads;
	uint64_t budget;
	bool asks_budget;	/* that is MODEST_MEMORY until a codec may need more */
	enum trailing trailing;
	bool pass_through;	/* input of no format goes out as it is */
	uint64_t max_output;	/* SIZE_UNKNOWN = no limit */
	uint64_t max_ratio;	/* raw : packed; 0 = no limit */
	XXH3_state_t *digest;	/* of all that was decoded, or NULL */
	/* Called for every member that was decoded or skipped; or NULL. */
	void (*member)(void *ctx, const struct member *m);
	/* Not NULL: damage doesn't end the run, and what it cost is told.  For
	   one thread. */
	void (*lost)(void *ctx, const struct loss *l);
	void *ctx;
	/* results */
	uint64_t members;	/* decoded ones */
	uint64_t table_wrong;	/* offset of a seek table that the frames in
				   front of it belie; else SIZE_UNKNOWN */
	uint64_t ignored_at;	/* where bytes that aren't a member begin, with
				   TRAILING_WARN; else SIZE_UNKNOWN */
	bool passed;		/* the input went out as it is */
	/* private */
	uint64_t frames_from, frames_raw;	/* in and out since a seek table */
	const struct filter *last;	/* the last member's codec and decoded size */
	uint64_t last_raw;
	bool single;		/* the last member allows nothing behind it */
	const struct unpack_ops *resume_ops;
	void *resume;		/* state of a damaged member that may go on */
	bool resumes;		/* ... and does, at the next byte */
	const struct filter *kept_filter;
	void *kept;		/* a stream state that waits for the next member */
};

int unpack_run(struct unpack *u, struct filter_error *err);
/*
 * unpack.c to unpack_blocks.c: one member by its blocks, described in *m; or,
 * whole, as many members as ops takes, each told.
 */
int unpack_blocks(struct unpack *u, const struct unpack_ops *ops, bool whole,
		  struct member *m, struct filter_error *err);
/* unpack_blocks.c: no damaged member goes on any more. */
void unpack_resume_end(struct unpack *u);
/* A member is through, or was skipped. */
void unpack_tell(struct unpack *u, const struct member *m);
/* unpack_skip.c: reads past the skippable frame of len bytes that comes next. */
int unpack_skip(struct unpack *u, uint64_t len, struct filter_error *err);
/*
 * unpack_salvage.c: is that damage, and the run one that goes on behind it?
 * A member of m->format (NULL: of no known one) that began at m->offset and gave
 * m->raw bytes ended with *err: searches the next one, tells the loss, clears
 * *err.  padding: zeros up to the end are none.  1, or the code of an error in
 * reading.
 */
bool unpack_salvageable(const struct unpack *u, const struct filter_error *err);
int unpack_salvage(struct unpack *u, const struct member *m, bool padding,
		   struct filter_error *err);
/* Checks the limits and gives out decoded bytes; in: packed bytes so far. */
int unpack_deliver(struct unpack *u, const uint8_t *data, size_t n, uint64_t in,
		   struct filter_error *err);
int unpack_allowed(const struct unpack *u, size_t n, uint64_t in,
		   struct filter_error *err);

/*
 * Names of files: with the codec's suffix added; with a known suffix taken
 * off (".tgz" becomes ".tar"), NULL when there is none.  malloc'ed.
 */
char *name_packed(const char *path, const struct filter *f);
char *name_unpacked(const char *path);

/* The whole file into *dict, malloc'ed (path NULL: nothing); dies if it can't. */
void load_dictionary(const char *path, uint8_t **dict, size_t *len);

/* Makes the library use a kernel by its name (NULL: nothing); dies if it can't. */
void use_kernel(const char *name);

/* All that the feed still has, unchanged; 0 or the code with *err filled. */
int pass_on(struct feed *f, struct sink *k, struct filter_error *err);

/* An errno of the sink as an error. */
int sink_failure(const struct sink *k, struct filter_error *err);

#endif
