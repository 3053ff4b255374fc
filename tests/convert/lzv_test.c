// SPDX-License-Identifier: Apache-2.0
/*
 * lzv_test.c - the lzv codec through its faces, without files and threads
 *
 * Facts guarded:
 * 1. What is packed comes back, for every block size, level class, row width,
 *    with and without checks, however the input is cut; the stream face and
 *    the block face give the same bytes.
 * 2. A stream cut short anywhere is never complete; every whole record before
 *    the cut comes out.
 * 3. With checks, a flipped bit anywhere is an error: in a record, a mark, the
 *    end, the index, the footer.
 * 4. Declared sizes beyond the limit or beyond what a payload can decode to
 *    are refused before memory is used; nothing is read past the input.
 * 5. Two streams side by side decode to both contents.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs.h"
#include "record.h"

#define CHECK(cond) do { if (!(cond)) fail(__LINE__, #cond); } while (0)

static struct filter_error err;

static void fail(int line, const char *what)
{
	fprintf(stderr, "lzv_test:%d: %s (last error: %d %s, offset %llu)\n", line,
		what, err.code, err.what, (unsigned long long)err.offset);
	exit(1);
}

struct bytes {
	uint8_t *p;
	size_t n, cap;
};

static uint8_t *grow(struct bytes *b, size_t n)
{
	if (b->n + n > b->cap) {
		b->cap = 2 * (b->n + n);
		b->p = realloc(b->p, b->cap);
		CHECK(b->p);
	}
	return b->p + b->n;
}

static void drop(struct bytes *b)
{
	free(b->p);
	memset(b, 0, sizeof(*b));
}

static struct bytes pack(const struct filter_params *p, const uint8_t *src, size_t n)
{
	const struct pack_ops *ops = filter_lzv.pack_blocks;
	void *state = ops->open(p, &err), *worker = ops->worker_open(p, &err);
	size_t block = ops->block_size(p), at = 0;
	struct bytes out = { 0 };

	CHECK(state && worker);
	out.n += ops->head(state, grow(&out, ops->head_max), &err);
	do {
		struct block b = { .src = src + at, .offset = at };

		b.src_len = n - at < block ? n - at : block;
		b.dst_cap = ops->bound(p, b.src_len);
		b.dst = grow(&out, b.dst_cap);
		at += b.src_len;
		b.last = at == n;
		CHECK(ops->block(worker, &b, &err) == 0);
		CHECK(ops->join(state, &b, &err) == 0);
		CHECK(b.dst_len <= b.dst_cap);
		out.n += b.dst_len;
	} while (at < n);
	out.n += ops->tail(state, grow(&out, ops->tail_max), &err);
	ops->worker_close(worker);
	ops->close(state);
	return out;
}

/* Unpacks all streams in src, copied to the byte; FILTER_OK or the error. */
static int unpack(const uint8_t *src, size_t n, uint64_t memory, struct bytes *out)
{
	const struct unpack_ops *ops = filter_lzv.unpack_blocks;
	struct filter_params p;
	uint8_t *exact = malloc(n ? n : 1);
	void *state = NULL, *worker;
	size_t at = 0;
	int r = FILTER_E_TRUNCATED;

	memcpy(exact, src, n);
	filter_params_init(&p);
	p.memory = memory;
	worker = ops->worker_open(&p, &err);
	while (at < n) {
		struct block b = { 0 };
		size_t want = 0;
		ptrdiff_t took;

		if (!state)
			state = ops->open(&p, &err);
		took = ops->split(state, exact + at, n - at, at, &want, &b, &err);
		r = took < 0 ? (int)took : FILTER_E_TRUNCATED;
		if (took <= 0)
			CHECK(took || want > n - at);
		if (took <= 0)
			break;
		b.dst = malloc(b.raw + 1);
		b.dst_cap = b.raw;
		r = ops->block(worker, &b, &err);
		if (!r) {
			CHECK(b.dst_len == b.raw);
			memcpy(grow(out, b.dst_len + 1), b.dst, b.dst_len);
			out->n += b.dst_len;
		}
		free(b.dst);
		if (r)
			break;
		r = FILTER_E_TRUNCATED;
		at += took;
		if (b.end) {
			ops->close(state);
			state = NULL;
			r = FILTER_OK;
		}
	}
	if (state)
		ops->close(state);
	ops->worker_close(worker);
	free(exact);
	return r;
}

static void must_be(const struct bytes *got, const uint8_t *src, size_t n)
{
	CHECK(got->n == n && (!n || !memcmp(got->p, src, n)));
}

struct slow_source {
	struct source s;
	const uint8_t *p;
	size_t n, step;
};

static ptrdiff_t slow_pull(struct source *s, const uint8_t **data)
{
	struct slow_source *m = (struct slow_source *)s;
	size_t n = m->n < m->step ? m->n : m->step;

	*data = m->p;
	m->p += n;
	m->n -= n;
	return (ptrdiff_t)n;
}

static void check_stream_face(const struct filter_params *p, const uint8_t *src,
			      size_t n, const struct bytes *want)
{
	struct slow_source s = { .p = src, .n = n, .step = 1777 };
	struct bytes out = { 0 };
	ptrdiff_t got;
	void *state;

	source_init(&s.s, slow_pull);
	state = filter_lzv.pack->open(p, &s.s, &err);
	CHECK(state);
	while ((got = filter_lzv.pack->read(state, grow(&out, 1 << 20), 1 << 20, &err))) {
		CHECK(got > 0);
		out.n += got;
	}
	filter_lzv.pack->close(state);
	must_be(&out, want->p, want->n);
	drop(&out);
}

static void check_round(const uint8_t *src, size_t n, size_t block, int level,
			int width, int check)
{
	struct filter_params p;
	struct bytes packed, out = { 0 };

	filter_params_init(&p);
	p.block_size = block;
	p.level = level;
	p.transpose = width;
	p.check = check;
	packed = pack(&p, src, n);
	CHECK(unpack(packed.p, packed.n, 0, &out) == FILTER_OK);
	must_be(&out, src, n);
	check_stream_face(&p, src, n, &packed);
	grow(&packed, packed.n);
	memcpy(packed.p + packed.n, packed.p, packed.n);
	packed.n *= 2;
	out.n = 0;
	CHECK(unpack(packed.p, packed.n, 0, &out) == FILTER_OK);
	CHECK(out.n == 2 * n && (!n || !memcmp(out.p + n, src, n)));
	drop(&packed);
	drop(&out);
}

static void check_damage(const uint8_t *src, size_t n)
{
	struct filter_params p;
	struct bytes packed, out = { 0 };
	size_t i;

	filter_params_init(&p);
	p.block_size = 500;
	p.transpose = 3;
	packed = pack(&p, src, n);
	for (i = 0; i < packed.n; i++) {
		out.n = 0;
		CHECK(unpack(packed.p, i, 0, &out) != FILTER_OK);
		CHECK(out.n <= n && !memcmp(out.p ? out.p : src, src, out.n));
		out.n = 0;
		packed.p[i] ^= 1 << i % 8;
		CHECK(unpack(packed.p, packed.n, 1 << 24, &out) != FILTER_OK);
		packed.p[i] ^= 1 << i % 8;
	}
	drop(&packed);
	drop(&out);
}

/* Fact 3 for the first sync mark. */
static void check_mark_damage(const uint8_t *src, size_t n)
{
	struct bytes packed, out = { 0 };
	struct filter_params p;
	struct lzv_item it = { 0 };
	size_t at = LZV_HEADER, want, i;

	filter_params_init(&p);
	packed = pack(&p, src, n);
	while (it.kind != LZV_MARK) {
		CHECK(it.kind != LZV_END);
		at += it.size;
		CHECK(lzv_item_get(packed.p + at, packed.n - at, true, &it, &want,
				   at, &err) > 0);
	}
	for (i = at + 1; i < at + it.size; i += 5) {
		packed.p[i] ^= 4;
		out.n = 0;
		CHECK(unpack(packed.p, packed.n, 1 << 24, &out) != FILTER_OK);
		packed.p[i] ^= 4;
	}
	drop(&packed);
	drop(&out);
}

/* One record item behind a good header. */
static int one_item(const char *item, size_t n, uint64_t memory)
{
	uint8_t buf[64];
	struct bytes out = { 0 };
	int r;

	lzv_header_put(buf, 0);
	memcpy(buf + LZV_HEADER, item, n);
	r = unpack(buf, LZV_HEADER + n, memory, &out);
	drop(&out);
	return r;
}

static void check_hostile(void)
{
	/* 2^63 raw bytes; 2^29; 2^29 - 1 of which the memory has no place */
	CHECK(one_item("\x00\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 11, 0) == FILTER_E_CORRUPT);
	CHECK(one_item("\x00\x80\x80\x80\x80\x02", 6, 0) == FILTER_E_CORRUPT);
	CHECK(one_item("\x00\xff\xff\xff\xff\x01", 6, 1 << 20) == FILTER_E_MEMORY);
	CHECK(one_item("\x00\xff\xff\xff\xff\x01", 6, 0) == FILTER_E_TRUNCATED);
	/* a varint that isn't the shortest, one of eleven bytes */
	CHECK(one_item("\x00\x81\x00" "a", 4, 0) == FILTER_E_CORRUPT);
	CHECK(one_item("\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, 0) ==
	      FILTER_E_CORRUPT);
	/* 3 stored bytes can't be 100,000 */
	CHECK(one_item("\x02\xa0\x8d\x06\x03" "abc", 8, 0) == FILTER_E_CORRUPT);
	/* a stored size far above the raw one; no stored bytes for one */
	CHECK(one_item("\x01\x01\xff\xff\x7f", 5, 0) == FILTER_E_CORRUPT);
	CHECK(one_item("\x02\x01\x00", 3, 0) == FILTER_E_CORRUPT);
	/* a key of 2^20 + 1 bytes; reserved bits; unknown control, index early */
	CHECK(one_item("\x10\x01\x81\x80\x40", 5, 0) == FILTER_E_CORRUPT);
	CHECK(one_item("\x40\x00", 2, 0) == FILTER_E_CORRUPT);
	CHECK(one_item("\x0f\x06\x00", 3, 0) == FILTER_E_UNSUPPORTED);
	CHECK(one_item("\x0f\x02\x00", 3, 0) == FILTER_E_CORRUPT);
	/* an unknown control item from 128 on is read past, then the end lacks */
	CHECK(one_item("\x0f\x80\x02zz", 5, 0) == FILTER_E_TRUNCATED);
	/* a record that goes on, then a mark */
	CHECK(one_item("\x20\x01x\x0f\x01\x00", 6, 0) == FILTER_E_CORRUPT);
	/* an LZ4 block with an offset of zero */
	CHECK(one_item("\x01\x0a\x09\x10" "a\x00\x00\x50" "bbbb", 12, 0) == FILTER_E_CORRUPT);
}

static void check_foreign(const char *name, unsigned encoding, const uint8_t *src, size_t n)
{
	const struct filter *f = filter_by_name(name);
	struct slow_source s = { .p = src, .n = n, .step = n };
	struct bytes body = { 0 }, all = { 0 }, out = { 0 };
	struct lzv_writer *w = lzv_writer_open(LZV_CHECKED);
	struct lzv_item it = { .encoding = encoding, .raw_size = n };
	struct filter_params p;
	ptrdiff_t got;
	void *state;

	if (!f || !f->pack)
		return;
	filter_params_init(&p);
	source_init(&s.s, slow_pull);
	state = f->pack->open(&p, &s.s, &err);
	CHECK(state);
	while ((got = f->pack->read(state, grow(&body, 1 << 20), 1 << 20, &err))) {
		CHECK(got > 0);
		body.n += got;
	}
	f->pack->close(state);
	it.body = body.p;
	it.body_size = body.n;
	it.check = lzv_check(src, n);
	all.n = lzv_writer_head(w, grow(&all, LZV_HEADER_ROOM), 0);
	got = lzv_item_put(grow(&all, body.n + LZV_ITEM_EXTRA), &it, true);
	CHECK(lzv_writer_item(w, all.p + all.n, &it) == 0);
	all.n += got;
	grow(&all, lzv_writer_end_room(w));
	all.n += lzv_writer_end(w, all.p + all.n);
	CHECK(unpack(all.p, all.n, 0, &out) == FILTER_OK);
	must_be(&out, src, n);
	lzv_writer_close(w);
	drop(&body);
	drop(&all);
	drop(&out);
}

int main(void)
{
	size_t n = 9 << 20, i;
	uint8_t *src = malloc(n);
	uint64_t x = 88172645463325252u;

	CHECK(src);
	for (i = 0; i + 64 < n; )
		if (i >> 20 & 1) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			memcpy(src + i, &x, 8);
			i += 8;
		} else {
			i += snprintf((char *)src + i, 64, "%zu,%zu;", i, i * i % 977);
		}
	for (; i < n; i++)
		src[i] = 0;
	check_round(src, 0, 0, 1, 0, -1);
	check_round(src, 1, 0, 1, 0, -1);
	check_round(src, 100, 7, 3, 2, 0);
	check_round(src, 30000, 512, 3, 0, -1);
	check_round(src, 300001, 4096, 9, 12, -1);
	check_round(src + (1 << 20) - 5000, 1 << 20, 65536, 6, 0, 0);
	check_round(src, n, 0, 1, 0, -1);
	check_round(src, n, 1 << 20, 1, 4, -1);
	check_round(src, n, 200, 1, 0, -1);
	check_damage(src, 1500);
	check_damage(src + (1 << 20) - 700, 1500);
	check_mark_damage(src, n);
	check_hostile();
	check_foreign("zstd", LZV_ZSTD, src, 200000);
	check_foreign("brotli", LZV_BROTLI, src, 65536);
	check_foreign("deflate", LZV_DEFLATE, src, 131073);
	free(src);
	puts("lzv_test: all facts hold");
	return 0;
}
