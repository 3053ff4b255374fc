/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.c - a queue of chunks between two threads
 *
 * The chunks are allocated when the ring opens and go round.  The producer may
 * run ahead until every chunk is full; the consumer owns the oldest one until
 * it releases it.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "feed.h"

int ring_open(struct ring *r)
{
	*r = (struct ring){ .put = 0 };
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->more, NULL);
	pthread_cond_init(&r->room, NULL);
	for (int i = 0; i < CHUNK_COUNT; i++) {
		r->chunk[i] = malloc(CHUNK_SIZE);
		if (!r->chunk[i]) {
			ring_close(r);
			return -ENOMEM;
		}
	}
	return 0;
}

void ring_close(struct ring *r)
{
	for (int i = 0; i < CHUNK_COUNT; i++)
		free(r->chunk[i]);
	pthread_mutex_destroy(&r->lock);
	pthread_cond_destroy(&r->more);
	pthread_cond_destroy(&r->room);
}

uint8_t *ring_room(struct ring *r)
{
	uint8_t *chunk;

	pthread_mutex_lock(&r->lock);
	while (r->put - r->got == CHUNK_COUNT && !r->closed)
		pthread_cond_wait(&r->room, &r->lock);
	chunk = r->closed ? NULL : r->chunk[r->put % CHUNK_COUNT];
	pthread_mutex_unlock(&r->lock);
	return chunk;
}

void ring_put(struct ring *r, ptrdiff_t len)
{
	pthread_mutex_lock(&r->lock);
	r->len[r->put % CHUNK_COUNT] = len;
	r->put++;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}

ptrdiff_t ring_get(struct ring *r, uint8_t **chunk)
{
	ptrdiff_t len;

	pthread_mutex_lock(&r->lock);
	while (r->put == r->got && !r->closed)
		pthread_cond_wait(&r->more, &r->lock);
	len = r->put == r->got ? 0 : r->len[r->got % CHUNK_COUNT];
	*chunk = r->chunk[r->got % CHUNK_COUNT];
	pthread_mutex_unlock(&r->lock);
	return len;
}

bool ring_wait(struct ring *r, int ms)
{
	struct timespec until;
	bool there;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&r->lock);
	while (ms && r->put == r->got && !r->closed)
		if (pthread_cond_timedwait(&r->more, &r->lock, &until))
			break;
	there = r->put != r->got || r->closed;
	pthread_mutex_unlock(&r->lock);
	return there;
}

void ring_release(struct ring *r)
{
	pthread_mutex_lock(&r->lock);
	r->got++;
	pthread_cond_signal(&r->room);
	pthread_mutex_unlock(&r->lock);
}

void ring_shut(struct ring *r)
{
	pthread_mutex_lock(&r->lock);
	r->closed = true;
	pthread_cond_signal(&r->room);
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
}
