/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.c - an input as a codec's source
 *
 * See pipe.c for the idea.  The first chunk is read by the caller's thread; in
 * most runs over many small files it is the only one.  The reading thread
 * starts with the second pull, when it is known that there is more.
 *
 * A chunk is filled as far as the caller wants latency: eager (unpacking)
 * stops when nothing more is at hand, so that what can be decoded is decoded
 * at once; with flush_ms, so long after the first byte that no pause has
 * followed yet, what is there is handed over and then a pause; else only a full
 * chunk or the end stops it.
 *
 * Which thread touches what: `in` belongs to the reading thread while it runs;
 * all else is the caller's; the ring is between them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "feed.h"
#include "report.h"
#include "say.h"

/* Pipes hold this much if the system lets us: fewer, larger hops. */
#define PIPE_SIZE (1 << 20)

/* A thread pays once so many bytes have come. */
#define VOLUME 65536

/* Waits for more, but not past the time when what was read must go out. */
static bool flush_due(const struct feed *f)
{
	double left;

	if (!f->owed || f->in->regular)
		return false;
	left = f->owed_since + f->flush_ms * 1e-3 - clock_seconds();
	return left <= 0 || !input_wait(f->in, (int)(left * 1e3) + 1);
}

static void owe(struct feed *f)
{
	if (f->flush_ms < 0 || f->owed)
		return;
	f->owed = true;
	f->owed_since = clock_seconds();
}

/*
 * Reads into buf until full, the end, or nothing to wait for.  Returns the
 * bytes, 0 = end, SOURCE_PAUSE or -errno.  *after gets what came behind the
 * bytes if it was met already: 0 the end, SOURCE_PAUSE; 1 = nothing was.
 */
static ptrdiff_t fill_chunk(struct feed *f, uint8_t *buf, size_t cap,
			    ptrdiff_t *after)
{
	size_t n = 0;

	*after = 1;
	while (n < cap) {
		ptrdiff_t got;

		if (n && f->eager && !f->in->regular && !input_wait(f->in, 0))
			break;
		if (flush_due(f)) {
			f->owed = false;
			*after = SOURCE_PAUSE;
			break;
		}
		got = input_read(f->in, buf + n, cap - n);
		if (got < 0) {
			*after = got;
			break;
		}
		if (!got) {
			*after = 0;
			break;
		}
		n += (size_t)got;
		owe(f);
	}
	if (*after == 1 && !input_size(f->in))
		*after = 0;
	return n ? (ptrdiff_t)n : *after;
}

static void *reader_main(void *arg)
{
	struct feed *f = arg;
	ptrdiff_t n, after = 1;

	do {
		uint8_t *room = ring_room(&f->ring);

		if (!room)
			break;
		n = after == 1 ? fill_chunk(f, room, CHUNK_SIZE, &after) : after;
		if (n == after)
			after = 1;
		ring_put(&f->ring, n);
	} while (n > 0 || n == SOURCE_PAUSE);
	return NULL;
}

static void start_reader(struct feed *f)
{
	if (input_make_interruptible(f->in) || ring_open(&f->ring)) {
		f->threads = 1;
		return;
	}
	f->running = !pthread_create(&f->thread, NULL, reader_main, f);
	if (f->running)
		return;
	ring_close(&f->ring);
	f->threads = 1;
}

/* Once it is known that this is no trickle: larger pipes, and a thread. */
static void tune(struct feed *f, bool may_start)
{
	if (f->src.offset < VOLUME || f->after != 1)
		return;
	if (!f->tuned && S_ISFIFO(f->in->st.st_mode))
		fcntl(f->in->fd, F_SETPIPE_SZ, PIPE_SIZE);
	f->tuned = true;
	/* A file's bytes are a copy away: handing chunks over costs as much. */
	if (may_start && f->threads > 1 && !f->in->regular)
		start_reader(f);
}

static ptrdiff_t give(struct feed *f, const uint8_t *data, ptrdiff_t n)
{
	if (n == 0)
		f->ended = true;
	if (n < 0 && n != SOURCE_PAUSE) {
		f->error = (int)-n;
		f->ended = true;
		return FILTER_E_READ;
	}
	if (n > 0 && f->digest)
		XXH3_64bits_update(f->digest, data, (size_t)n);
	return n;
}

/* The next chunk in the caller's thread. */
static ptrdiff_t next_plain(struct feed *f, const uint8_t **data)
{
	ptrdiff_t n = f->after;

	f->after = 1;
	if (n == 1)
		n = fill_chunk(f, f->first, CHUNK_SIZE, &f->after);
	if (n == f->after)
		f->after = 1;
	*data = f->first;
	return give(f, *data, n);
}

static ptrdiff_t next_running(struct feed *f, const uint8_t **data)
{
	uint8_t *chunk;
	ptrdiff_t n;

	if (f->held)
		ring_release(&f->ring);
	n = ring_get(&f->ring, &chunk);
	f->held = true;
	*data = chunk;
	return give(f, *data, n);
}

static ptrdiff_t feed_pull(struct source *src, const uint8_t **data)
{
	struct feed *f = (struct feed *)src;

	if (!f->first_given) {
		f->first_given = true;
		*data = f->first;
		if (f->first_len)
			return give(f, *data, (ptrdiff_t)f->first_len);
	}
	if (f->ended)
		return f->error ? FILTER_E_READ : 0;
	if (!f->running)
		tune(f, true);
	return f->running ? next_running(f, data) : next_plain(f, data);
}

/* The last feed's first chunk, for the next file. */
static uint8_t *spare;

int feed_open(struct feed *f, struct input *in, int threads, int flush_ms,
	      bool eager)
{
	ptrdiff_t n;

	*f = (struct feed){
		.in = in, .threads = threads, .flush_ms = flush_ms, .eager = eager,
	};
	source_init(&f->src, feed_pull);
	f->first = spare ? spare : malloc(CHUNK_SIZE);
	spare = NULL;
	if (!f->first)
		return -ENOMEM;
	n = fill_chunk(f, f->first, CHUNK_SIZE, &f->after);
	f->first_len = n > 0 ? (size_t)n : 0;
	return 0;
}

bool feed_whole(const struct feed *f, size_t *len)
{
	*len = f->first_len;
	return !f->after;
}

size_t feed_first(const struct feed *f, const uint8_t **data)
{
	*data = f->first;
	return f->first_len;
}

/* Can bytes go from the descriptor straight into a caller's buffer? */
static bool direct(const struct feed *f)
{
	const struct source *s = &f->src;

	return f->first_given && !f->running && f->after == 1 && !f->ended &&
	       !f->part_len && !s->held_len && !s->stash_len && !s->rest_len &&
	       !s->has_pending;
}

static ptrdiff_t read_direct(struct feed *f, uint8_t *buf, size_t n)
{
	ptrdiff_t got;

	if (!f->tuned)
		tune(f, false);
	got = fill_chunk(f, buf, n, &f->after);
	if (got == f->after)
		f->after = 1;
	got = give(f, buf, got);
	if (got > 0)
		f->src.offset += (uint64_t)got;
	return got;
}

ptrdiff_t feed_read(struct feed *f, uint8_t *buf, size_t n)
{
	if (direct(f))
		return read_direct(f, buf, n);
	if (!f->part_len) {
		ptrdiff_t got = source_next(&f->src, &f->part);

		if (got <= 0)
			return got;
		f->part_len = (size_t)got;
	}
	if (n > f->part_len)
		n = f->part_len;
	memcpy(buf, f->part, n);
	f->part += n;
	f->part_len -= n;
	return (ptrdiff_t)n;
}

int feed_return(struct feed *f, const uint8_t *buf, size_t n)
{
	size_t all = n + f->part_len;
	uint8_t *back;

	if (!all)
		return 0;
	back = malloc(all);
	if (!back)
		return -ENOMEM;
	memcpy(back, buf, n);
	if (f->part_len)
		memcpy(back + n, f->part, f->part_len);
	f->part_len = 0;
	free(f->back);		/* part may have stood in it: only now */
	f->back = back;
	source_unread(&f->src, back, all);
	return 0;
}

/* The chunk that the consumer holds counts as taken. */
static bool ring_ready(struct feed *f, int ms)
{
	if (f->held)
		ring_release(&f->ring);
	f->held = false;
	return ring_wait(&f->ring, ms);
}

bool feed_wait(struct feed *f, int ms)
{
	const struct source *s = &f->src;

	if (f->in->regular || f->part_len || s->held_len || s->stash_len ||
	    s->rest_len || s->has_pending)
		return true;
	if (f->running)
		return ring_ready(f, ms);
	return !direct(f) || input_wait(f->in, ms) == 1;
}

bool feed_ready(struct feed *f)
{
	return feed_wait(f, 0);
}

/* Descriptors that don't block: until there is something to do again. */
static void wait_both(int from, int to)
{
	struct pollfd in = { .fd = from, .events = POLLIN };
	struct pollfd out = { .fd = to, .events = POLLOUT };

	poll(&in, 1, -1);
	poll(&out, 1, -1);
}

size_t feed_splice(struct feed *f, int fd, size_t n)
{
	ssize_t got;

	if (!S_ISFIFO(f->in->st.st_mode) || f->digest || f->no_splice || !direct(f))
		return 0;
	tune(f, false);
	while ((got = splice(f->in->fd, NULL, fd, NULL, n, SPLICE_F_MOVE)) < 0) {
		if (errno == EAGAIN)
			wait_both(f->in->fd, fd);
		else if (errno != EINTR)
			break;
	}
	if (got < 0)
		f->no_splice = true;
	if (!got)
		f->after = 0;
	if (got <= 0)
		return 0;
	f->src.offset += (uint64_t)got;
	return (size_t)got;
}

/* What was read already must go first; the rest goes where it costs nothing. */
int feed_skip(struct feed *f, uint64_t n)
{
	const uint8_t *data;
	size_t moved = 1;
	int null;

	while (n > CHUNK_SIZE && !direct(f)) {
		ptrdiff_t got = source_next(&f->src, &data);

		if (got == SOURCE_PAUSE)
			continue;
		if (got <= 0)
			return got ? FILTER_E_READ : FILTER_E_TRUNCATED;
		if ((uint64_t)got > n)
			source_unread(&f->src, data + n, (size_t)got - (size_t)n);
		n -= (uint64_t)got > n ? n : (uint64_t)got;
	}
	null = n > CHUNK_SIZE ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
	while (null >= 0 && n && moved) {
		moved = feed_splice(f, null, n < PIPE_SIZE ? n : PIPE_SIZE);
		n -= moved;
	}
	if (null >= 0)
		close(null);
	return source_skip(&f->src, n);
}

int feed_failure(const struct feed *f, struct filter_error *err)
{
	if (err->code != FILTER_E_READ)
		return err->code;
	return filter_fail(err, FILTER_E_READ, f->src.offset, "can't read: %s",
			   strerror(f->error));
}

void feed_open_memory(struct feed *f, struct input *in, uint8_t *data, size_t len)
{
	*f = (struct feed){
		.in = in, .threads = 1, .flush_ms = -1, .first = data,
		.first_len = len, .borrowed = true,
	};
	source_init(&f->src, feed_pull);
}

void feed_interrupt(struct feed *f)
{
	input_interrupt(f->in);
}

void feed_close(struct feed *f)
{
	if (f->running) {
		ring_shut(&f->ring);
		input_interrupt(f->in);
		pthread_join(f->thread, NULL);
		ring_close(&f->ring);
	}
	if (f->digest)
		XXH3_freeState(f->digest);
	if (!f->borrowed && !spare)
		spare = f->first;
	else if (!f->borrowed)
		free(f->first);
	free(f->back);
}
