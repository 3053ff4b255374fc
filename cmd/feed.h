/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - an input as a codec's source, an output as its sink
 *
 * Both are plain calls at first.  With more than one thread allowed, and once
 * there is more than a first chunk, the feed reads ahead in a thread of its
 * own and the sink writes behind in another, so that reading, coding and
 * writing overlap whatever the codec is.  Chunks are few, fixed and reused.
 */
#ifndef FEED_H
#define FEED_H

#include <pthread.h>
#include <xxhash.h>

#include "filter.h"
#include "io.h"

/*
 * A chunk just read, and the room beside it, should be in the second-level cache
 * still: on a core with 512 KiB, 256 KiB a chunk costs zstd 6 %, linked lz4 15 %
 * of the time to unpack a file; 64 KiB gains nothing more.
 */
#define CHUNK_SIZE ((size_t)128 << 10)
#define CHUNK_COUNT 4

/* A queue of CHUNK_COUNT buffers between one producer and one consumer. */
struct ring {
	pthread_mutex_t lock;
	pthread_cond_t more, room;
	uint8_t *chunk[CHUNK_COUNT];
	ptrdiff_t len[CHUNK_COUNT];	/* or 0 = end, SOURCE_PAUSE, -errno */
	uint64_t put, got;		/* chunks ever; put - got are in it */
	bool closed;			/* the other side has given up */
};
int ring_open(struct ring *r);
void ring_close(struct ring *r);
/* Producer: a free chunk, NULL when closed.  Then ring_put it. */
uint8_t *ring_room(struct ring *r);
void ring_put(struct ring *r, ptrdiff_t len);
/* Consumer: the oldest chunk, stays until ring_release. */
ptrdiff_t ring_get(struct ring *r, uint8_t **chunk);
void ring_release(struct ring *r);
/* Is there a chunk within ms? */
bool ring_wait(struct ring *r, int ms);
void ring_shut(struct ring *r);

struct feed {
	struct source src;	/* what codecs read; must be first */
	struct input *in;
	int threads;		/* 1 = never start one */
	int flush_ms;		/* no byte waits longer for a pause; -1 = never */
	bool eager;		/* hand out what is at hand, don't wait for more */
	XXH3_state_t *digest;	/* of all that was handed out, if not NULL; freed
				   by feed_close */
	int error;		/* errno of a read that failed */
	/* private */
	uint8_t *first;		/* the first chunk; later the plain loop's */
	size_t first_len;
	ptrdiff_t after;	/* met behind the last chunk: 0 = end, an error,
				   SOURCE_PAUSE; 1 = nothing yet */
	bool first_given, ended, tuned, held, borrowed;
	bool no_splice;		/* it failed once */
	bool owed;		/* bytes came since the last pause ... */
	double owed_since;	/* ... the first of them then */
	const uint8_t *part;	/* what feed_read left of the source's chunk */
	size_t part_len;
	uint8_t *back;		/* given back by feed_return */
	bool running;
	pthread_t thread;
	struct ring ring;
};

/*
 * Reads the first chunk.  feed_whole() then tells whether it is all there is.
 * 0 or -errno.
 */
int feed_open(struct feed *f, struct input *in, int threads, int flush_ms,
	      bool eager);
bool feed_whole(const struct feed *f, size_t *len);
/* The first chunk, for probes; valid before the first pull. */
size_t feed_first(const struct feed *f, const uint8_t **data);
/*
 * For block readers: up to n bytes into buf; 0 = end, SOURCE_PAUSE,
 * FILTER_E_READ.  Reads straight into buf where it can.
 */
ptrdiff_t feed_read(struct feed *f, uint8_t *buf, size_t n);
/*
 * Ends block reading: these bytes, the last ones that feed_read gave, will
 * come again from the source.  0 or -ENOMEM.  Call it even for n = 0.
 */
int feed_return(struct feed *f, const uint8_t *buf, size_t n);
/* Would feed_read return at once?  Only then is it worth filling a job up. */
bool feed_ready(struct feed *f);
/* ... or within ms. */
bool feed_wait(struct feed *f, int ms);
/*
 * Moves up to n of the next bytes from a pipe to fd inside the kernel, and waits
 * for the first.  Their number; 0 = not here and now: read them, then the end
 * or the error is met too.
 */
size_t feed_splice(struct feed *f, int fd, size_t n);
/* As source_skip(), by that where it can. */
int feed_skip(struct feed *f, uint64_t n);
/* Puts the errno of a failed read into an error of FILTER_E_READ. */
int feed_failure(const struct feed *f, struct filter_error *err);
/* A feed whose bytes are all there already; the caller keeps them. */
void feed_open_memory(struct feed *f, struct input *in, uint8_t *data, size_t len);
/* Makes a waiting read come back with an error. */
void feed_interrupt(struct feed *f);
void feed_close(struct feed *f);

struct sink {
	struct output *out;
	int threads;
	uint64_t total;		/* bytes put */
	_Atomic int error;	/* errno of a write that failed */
	/* private */
	uint8_t *chunk;
	bool widened, tuned, running;
	pthread_t thread;
	struct ring ring;
};
void sink_open(struct sink *k, struct output *out, int threads);
/* Room of CHUNK_SIZE bytes, NULL when writing has failed (k->error). */
uint8_t *sink_room(struct sink *k);
/* The room's first n bytes go out.  0 or -errno of this or an earlier write. */
int sink_put(struct sink *k, size_t n);
/* Bytes of the caller's go out behind all that was put. */
int sink_write(struct sink *k, const void *buf, size_t n);
/* Where bytes may be put behind all that was put, to be told by sink_passed();
   -1 = nowhere. */
int sink_descriptor(const struct sink *k);
void sink_passed(struct sink *k, size_t n);
/* Waits until all is written; 0 or -errno. */
int sink_close(struct sink *k);

#endif
