/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - a pull source with giving back and looking ahead
 *
 * Bytes come in this order, and each part is empty more often than not:
 *
 *	held	the unread tail of the last span, in place
 *	stash	bytes that source_peek() had to copy together
 *	rest	what the pull that filled the stash's end still has, in place
 *	pending	the end or the error that peeking met
 *	pull	the caller's function
 *
 * held and stash are never both there: peeking either finds enough in held or
 * moves held into the stash, and only a span that next() handed out (which
 * empties its part) can become held.  held may point into the stash.
 */
#include "filter.h"

#include <string.h>

void source_init(struct source *s,
		 ptrdiff_t (*pull)(struct source *, const uint8_t **))
{
	*s = (struct source){ .pull = pull };
}

/* The next span behind held and stash: rest, then pending, then a pull. */
static ptrdiff_t source_more(struct source *s, const uint8_t **data)
{
	ptrdiff_t n;

	if (s->rest_len) {
		n = (ptrdiff_t)s->rest_len;
		*data = s->rest;
		s->rest_len = 0;
		return n;
	}
	if (s->has_pending)
		return s->pending;
	n = s->pull(s, data);
	if (n <= 0 && n != SOURCE_PAUSE) {
		s->pending = n;
		s->has_pending = true;
	}
	return n;
}

ptrdiff_t source_next(struct source *s, const uint8_t **data)
{
	ptrdiff_t n;

	if (s->held_len) {
		n = (ptrdiff_t)s->held_len;
		*data = s->held;
		s->held_len = 0;
	} else if (s->stash_len) {
		n = (ptrdiff_t)s->stash_len;
		*data = s->stash;
		s->stash_len = 0;
	} else {
		n = source_more(s, data);
	}
	if (n > 0)
		s->offset += (uint64_t)n;
	return n;
}

void source_unread(struct source *s, const uint8_t *data, size_t n)
{
	if (!n)
		return;
	s->held = data;
	s->held_len = n;
	s->offset -= n;
}

/* Copies what stands at hand, then pulled bytes, until the stash has want. */
static ptrdiff_t source_gather(struct source *s, size_t want)
{
	if (s->held_len) {
		memmove(s->stash, s->held, s->held_len);
		s->stash_len = s->held_len;
		s->held_len = 0;
	}
	while (s->stash_len < want) {
		const uint8_t *data;
		ptrdiff_t n = source_more(s, &data);
		size_t take = want - s->stash_len;

		if (n == SOURCE_PAUSE)
			continue;
		if (n <= 0)
			return n;
		if (take > (size_t)n)
			take = (size_t)n;
		memcpy(s->stash + s->stash_len, data, take);
		s->stash_len += take;
		s->rest = data + take;
		s->rest_len = (size_t)n - take;
	}
	return 0;
}

ptrdiff_t source_peek(struct source *s, size_t want, const uint8_t **data)
{
	ptrdiff_t n;

	while (!s->held_len && !s->stash_len) {
		n = source_more(s, &s->held);
		if (n == SOURCE_PAUSE)
			continue;
		if (n <= 0)
			return n;
		s->held_len = (size_t)n;
	}
	if (s->held_len >= want) {
		*data = s->held;
		return (ptrdiff_t)want;
	}
	n = source_gather(s, want);
	if (n < 0)
		return n;
	*data = s->stash;
	return (ptrdiff_t)(s->stash_len < want ? s->stash_len : want);
}

int source_skip(struct source *s, uint64_t n)
{
	while (n) {
		const uint8_t *data;
		ptrdiff_t got = source_next(s, &data);

		if (got == SOURCE_PAUSE)
			continue;
		if (got <= 0)
			return got ? (int)got : FILTER_E_TRUNCATED;
		if ((uint64_t)got > n) {
			size_t back = (size_t)((uint64_t)got - n);

			source_unread(s, data + got - back, back);
			got -= (ptrdiff_t)back;
		}
		n -= (uint64_t)got;
	}
	return FILTER_OK;
}
