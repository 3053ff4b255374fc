/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.c - an output that a thread may write behind the codec
 *
 * Plain until a first chunk was put whole: then the codec is fast enough and
 * the output long enough for a writing thread to pay.  Chunks that are partly
 * filled go out at once in any case, so that a slow input's bytes don't wait.
 *
 * After a failed write the thread keeps emptying the ring, so that the codec
 * never waits for it; the error is met by the next sink_room or sink_put.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"

#define PIPE_SIZE (1 << 20)

void sink_open(struct sink *k, struct output *out, int threads)
{
	*k = (struct sink){ .out = out, .threads = threads };
}

static void *writer_main(void *arg)
{
	struct sink *k = arg;
	uint8_t *chunk;
	ptrdiff_t n;

	while ((n = ring_get(&k->ring, &chunk)) > 0) {
		int err = atomic_load(&k->error) ? 0 : output_write(k->out, chunk, (size_t)n);

		if (err)
			atomic_store(&k->error, -err);
		ring_release(&k->ring);
	}
	return NULL;
}

/* Once a chunk is out: a larger pipe.  0, the output's type is in *st; or not. */
static int widen(struct sink *k, struct stat *st)
{
	k->widened = true;
	if (k->out->discard || fstat(k->out->fd, st))
		return -1;
	if (S_ISFIFO(st->st_mode))
		fcntl(k->out->fd, F_SETPIPE_SZ, PIPE_SIZE);
	return 0;
}

static void go_on(struct sink *k)
{
	struct stat st;

	k->tuned = true;
	if (widen(k, &st))
		return;
	/* Nothing waits on a device such as /dev/null. */
	if (S_ISCHR(st.st_mode))
		return;
	if (k->threads < 2 || ring_open(&k->ring))
		return;
	k->running = !pthread_create(&k->thread, NULL, writer_main, k);
	if (!k->running)
		ring_close(&k->ring);
}

uint8_t *sink_room(struct sink *k)
{
	if (atomic_load(&k->error))
		return NULL;
	if (k->running)
		return ring_room(&k->ring);
	if (!k->chunk)
		k->chunk = malloc(CHUNK_SIZE);
	if (!k->chunk)
		atomic_store(&k->error, ENOMEM);
	return k->chunk;
}

int sink_put(struct sink *k, size_t n)
{
	int err;

	k->total += n;
	if (k->running) {
		if (n)
			ring_put(&k->ring, (ptrdiff_t)n);
		return -atomic_load(&k->error);
	}
	err = output_write(k->out, k->chunk, n);
	if (err)
		atomic_store(&k->error, -err);
	else if (!k->tuned && k->total >= CHUNK_SIZE)
		go_on(k);
	return err;
}

static int put_copy(struct sink *k, const uint8_t *p, size_t n)
{
	while (n) {
		size_t piece = n < CHUNK_SIZE ? n : CHUNK_SIZE;
		uint8_t *room = sink_room(k);

		if (!room)
			break;
		memcpy(room, p, piece);
		sink_put(k, piece);
		p += piece;
		n -= piece;
	}
	return -atomic_load(&k->error);
}

int sink_write(struct sink *k, const void *buf, size_t n)
{
	struct stat st;
	int err;

	if (!k->widened && k->total >= CHUNK_SIZE)
		widen(k, &st);
	if (k->running)
		return put_copy(k, buf, n);
	k->total += n;
	err = output_write(k->out, buf, n);
	if (err)
		atomic_store(&k->error, -err);
	return err;
}

int sink_descriptor(const struct sink *k)
{
	return k->running || k->out->discard || k->out->sparse ? -1 : k->out->fd;
}

void sink_passed(struct sink *k, size_t n)
{
	k->total += n;
	k->out->total += n;
}

int sink_close(struct sink *k)
{
	if (k->running) {
		if (ring_room(&k->ring))
			ring_put(&k->ring, 0);
		pthread_join(k->thread, NULL);
		ring_close(&k->ring);
		k->running = false;
	}
	free(k->chunk);
	k->chunk = NULL;
	return -atomic_load(&k->error);
}
