/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kit.c - sources, buffers and whole runs for the tests of filters/
 */
#include "kit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int kit_failures, kit_checks;

void kit_check(bool ok, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	kit_checks++;
	if (ok)
		return;
	if (++kit_failures > 40)
		return;
	printf("not ok - %s:%d: ", file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* --- buffers --- */

void bytes_add(struct bytes *b, const void *p, size_t n)
{
	if (b->n + n > b->cap || !b->p) {
		b->cap = 2 * (b->n + n) + 64;
		b->p = realloc(b->p, b->cap);
		if (!b->p)
			abort();
	}
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

void bytes_free(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){ 0 };
}

bool bytes_same(const struct bytes *a, const struct bytes *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->p, b->p, a->n));
}

static unsigned next_random(unsigned *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed >> 8;
}

struct bytes kit_noise(size_t n, unsigned seed)
{
	struct bytes b = { 0 };

	bytes_add(&b, "", 0);
	while (b.n < n) {
		uint8_t byte = (uint8_t)next_random(&seed);

		bytes_add(&b, &byte, 1);
	}
	return b;
}

struct bytes kit_data(size_t n, unsigned seed)
{
	static const char *const words[] = {
		"stream", "codec", "block", " ", ", ", "\n", "the ", "window",
		"0", "17", "literal", "\"id\":", "{", "}", "match ", "offset",
	};
	struct bytes b = { 0 };

	bytes_add(&b, "", 0);
	while (b.n < n) {
		unsigned r = next_random(&seed);
		const char *word = words[r % 16];
		uint8_t byte = (uint8_t)(r >> 4);

		if (r % 61 == 0)
			bytes_add(&b, &byte, 1);
		else
			bytes_add(&b, word, strlen(word));
	}
	b.n = n;
	return b;
}

/* --- sources --- */

static ptrdiff_t kit_pull(struct source *src, const uint8_t **data)
{
	struct kit_source *s = (struct kit_source *)src;
	size_t n = s->first ? s->first : s->chunk;

	if (s->pause && s->started && !s->paused) {
		s->paused = true;
		return SOURCE_PAUSE;
	}
	s->paused = false;
	s->started = true;
	s->first = 0;
	free(s->piece);
	s->piece = NULL;
	if (n > s->n)
		n = s->n;
	if (!n)
		return 0;
	s->piece = malloc(n);
	if (!s->piece)
		abort();
	memcpy(s->piece, s->p, n);
	s->p += n;
	s->n -= n;
	*data = s->piece;
	return (ptrdiff_t)n;
}

void kit_source_open(struct kit_source *s, const uint8_t *p, size_t n,
		     size_t first, size_t chunk)
{
	*s = (struct kit_source){ .p = p, .n = n, .first = first, .chunk = chunk };
	source_init(&s->src, kit_pull);
}

void kit_source_close(struct kit_source *s)
{
	free(s->piece);
	s->piece = NULL;
}

/* --- runs --- */

int kit_read_all(const struct stream_ops *ops, void *state, size_t cap,
		 struct bytes *out, struct filter_error *err)
{
	uint8_t *buf = malloc(cap);
	ptrdiff_t n;

	if (!buf)
		abort();
	while ((n = ops->read(state, buf, cap, err)) > 0)
		bytes_add(out, buf, (size_t)n);
	free(buf);
	return (int)n;
}

int kit_stream(const struct stream_ops *ops, const struct filter_params *p,
	       struct kit_source *src, size_t cap, struct bytes *out,
	       struct filter_error *err)
{
	void *state = ops->open(p, &src->src, err);
	int r;

	if (!state)
		return err->code;
	r = kit_read_all(ops, state, cap, out, err);
	ops->close(state);
	return r;
}

static int pack_one(const struct pack_ops *ops, void *state, void *worker,
		    struct block *b, const struct filter_params *p,
		    struct bytes *out, struct filter_error *err)
{
	int r;

	b->dst_cap = ops->bound(p, b->src_len);
	b->dst = malloc(b->dst_cap + 1);
	if (!b->dst)
		abort();
	r = ops->block(worker, b, err);
	if (!r)
		r = ops->join(state, b, err);
	if (!r)
		bytes_add(out, b->dst, b->dst_len);
	free(b->dst);
	return r;
}

int kit_pack_blocks(const struct pack_ops *ops, const struct filter_params *p,
		    const uint8_t *raw, size_t n, struct bytes *out,
		    struct filter_error *err)
{
	void *state = ops->open(p, err);
	void *worker = state ? ops->worker_open(p, err) : NULL;
	size_t at = 0, size = ops->block_size(p);
	uint8_t edge[256];
	ptrdiff_t r;

	if (!worker)
		return err->code;
	r = ops->head(state, edge, err);
	bytes_add(out, edge, r > 0 ? (size_t)r : 0);
	while (r >= 0) {
		struct block b = { .src = raw + at, .src_len = size, .offset = at };

		if (b.src_len > n - at)
			b.src_len = n - at;
		b.history = at < ops->history ? at : ops->history;
		b.last = at + b.src_len == n;
		r = pack_one(ops, state, worker, &b, p, out, err);
		at += b.src_len;
		if (b.last)
			break;
	}
	if (r >= 0)
		r = ops->tail(state, edge, err);
	bytes_add(out, edge, r > 0 ? (size_t)r : 0);
	ops->worker_close(worker);
	ops->close(state);
	return r < 0 ? (int)r : 0;
}

static int unpack_one(const struct unpack_ops *ops, void *state, void *worker,
		      struct block *b, struct bytes *out,
		      struct filter_error *err)
{
	int r;

	b->dst_cap = (size_t)b->raw;
	b->dst = malloc(b->dst_cap + 1);
	if (!b->dst)
		abort();
	r = ops->block(worker, b, err);
	if (!r)
		r = ops->join(state, b, err);
	if (!r)
		bytes_add(out, b->dst, b->dst_len);
	free(b->dst);
	return r;
}

int kit_unpack_blocks(const struct unpack_ops *ops,
		      const struct filter_params *p, const uint8_t *packed,
		      size_t n, struct bytes *out, struct filter_error *err)
{
	void *state = ops->open(p, err);
	void *worker = state ? ops->worker_open(p, err) : NULL;
	size_t at = 0;
	ptrdiff_t r = worker ? 0 : err->code;

	while (r >= 0) {
		struct block b = { .offset = at };
		size_t want = 0;

		r = ops->split(state, packed + at, n - at, at, &want, &b, err);
		if (r == 0)
			r = filter_fail(err, FILTER_E_TRUNCATED, n, "truncated");
		if (r < 0)
			break;
		at += (size_t)r;
		r = unpack_one(ops, state, worker, &b, out, err);
		if (b.end)
			break;
	}
	if (worker)
		ops->worker_close(worker);
	if (state)
		ops->close(state);
	return r < 0 ? (int)r : 0;
}
