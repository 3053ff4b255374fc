// SPDX-License-Identifier: Apache-2.0
/*
 * record_coder.c - payloads of .lzv records, and the transpose
 *
 * A coder belongs to one worker: an encoder's state and one scratch buffer,
 * which grows to the largest record and is used for transposing alone.
 *
 * Transposing writes a record of w-byte rows column by column: all first
 * bytes, all second bytes ...; what is left behind the last whole row stays
 * where it is.  Payloads in zstd, brotli or deflate are read (through their
 * codecs' stream face) but never written here.
 */
#include "record.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#include "codecs.h"
#include "lzvolt.h"

struct lzv_coder {
	void *state;		/* the encoder's */
	int level;		/* with its favor flag */
	bool probe;
	uint8_t *scratch;
	size_t scratch_cap;
};

static int coder_level(const struct filter_params *p)
{
	int level = p->level == LEVEL_DEFAULT ? LZVOLT_LEVEL_DEFAULT : p->level;

	if (p->favor > 0)
		level |= LZVOLT_FAVOR_SIZE;
	if (p->favor < 0)
		level |= LZVOLT_FAVOR_SPEED;
	return level;
}

struct lzv_coder *lzv_coder_open(const struct filter_params *p)
{
	struct lzv_coder *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->level = coder_level(p);
	c->probe = p->probe;
	return c;
}

void lzv_coder_close(struct lzv_coder *c)
{
	if (!c)
		return;
	free(c->state);
	free(c->scratch);
	free(c);
}

static bool coder_packs(struct lzv_coder *c)
{
	if (!c->state)
		c->state = malloc(lzvolt_state_size(c->level));
	return c->state;
}

static uint8_t *scratch_of(struct lzv_coder *c, size_t n)
{
	if (n <= c->scratch_cap)
		return c->scratch;
	free(c->scratch);
	c->scratch = malloc(n);
	c->scratch_cap = c->scratch ? n : 0;
	return c->scratch;
}

/* Rows that are handled before the next column is: they stay in the cache. */
#define ROWS 512

static void rows_to_columns(uint8_t *to, const uint8_t *from, size_t n, size_t w)
{
	size_t rows = n / w, i, j, k, end;

	for (i = 0; i < rows; i = end) {
		end = rows - i < ROWS ? rows : i + ROWS;
		for (j = 0; j < w; j++)
			for (k = i; k < end; k++)
				to[j * rows + k] = from[k * w + j];
	}
	memcpy(to + rows * w, from + rows * w, n - rows * w);
}

static void columns_to_rows(uint8_t *to, const uint8_t *from, size_t n, size_t w)
{
	size_t rows = n / w, i, j, k, end;

	for (i = 0; i < rows; i = end) {
		end = rows - i < ROWS ? rows : i + ROWS;
		for (j = 0; j < w; j++)
			for (k = i; k < end; k++)
				to[k * w + j] = from[j * rows + k];
	}
	memcpy(to + rows * w, from + rows * w, n - rows * w);
}

/* The lzvolt value of n bytes in n + 16 bytes at dst; 0: store them raw. */
static size_t value_make(struct lzv_coder *c, const uint8_t *src, size_t n,
			 uint8_t *dst)
{
	int64_t len;

	if (!coder_packs(c) || (c->probe && probe_incompressible(src, n)))
		return 0;
	len = lzvolt_compress_level(c->state, src, n, dst, n + 16, c->level);
	return len > 0 && (size_t)len < n ? (size_t)len : 0;
}

size_t lzv_encode(struct lzv_coder *c, const uint8_t *src, size_t n,
		  unsigned width, bool checked, uint8_t *dst, struct lzv_item *it)
{
	const uint8_t *from = src;
	size_t at, len;

	it->raw_size = it->body_size = n;
	it->encoding = LZV_LZVOLT;
	it->check = checked ? lzv_check(src, n) : 0;
	if (width > 1) {
		from = scratch_of(c, n + 1);
		if (!from)
			return 0;
		rows_to_columns(c->scratch, src, n, width);
	}
	at = lzv_item_body(it);
	len = value_make(c, from, n, dst + at);
	it->body = dst + at;
	it->body_size = len;
	if (!len) {
		it->encoding = LZV_RAW;
		it->body = from;
		it->body_size = n;
	}
	return lzv_item_put(dst, it, checked);
}

/* Memory as a codec's source. */
struct memory_source {
	struct source s;
	const uint8_t *p;
	size_t n;
};

static ptrdiff_t memory_pull(struct source *s, const uint8_t **data)
{
	struct memory_source *m = (struct memory_source *)s;
	size_t n = m->n;

	*data = m->p;
	m->n = 0;
	return (ptrdiff_t)n;
}

/* Reads n bytes into dst and finds the end behind them. */
static int stream_fill(const struct stream_ops *ops, void *state, uint8_t *dst,
		       size_t n, uint64_t offset, struct filter_error *err)
{
	uint8_t over[65536];
	size_t at = 0;
	ptrdiff_t got;

	for (;;) {
		bool near = n - at < sizeof(over);

		/* cppcheck-suppress legacyUninitvar ; the codec writes it */
		got = ops->read(state, near ? over : dst + at,
				near ? sizeof(over) : n - at, err);
		if (got < 0)
			return (int)got;
		if ((size_t)got > n - at || (!got && at < n))
			return filter_fail(err, FILTER_E_CORRUPT, offset,
					   "record isn't as long as it says");
		if (!got)
			return 0;
		if (near)
			memcpy(dst + at, over, got);
		at += got;
	}
}

static int decode_foreign(const char *name, const struct lzv_item *it,
			  uint8_t *dst, uint64_t offset,
			  struct filter_error *err)
{
	const struct filter *f = filter_by_name(name);
	struct memory_source src = { .p = it->body, .n = it->body_size };
	struct filter_params p;
	void *state;
	int r;

	if (!f || !f->unpack)
		return filter_fail(err, FILTER_E_UNSUPPORTED, offset,
				   "%s records: %s", name,
				   f && f->missing ? f->missing : "not built in");
	filter_params_init(&p);
	source_init(&src.s, memory_pull);
	state = f->unpack->open(&p, &src.s, err);
	if (!state)
		return err->code;
	r = stream_fill(f->unpack, state, dst, it->raw_size, offset, err);
	f->unpack->close(state);
	return r;
}

static int decode_lzvolt(const struct lzv_item *it, uint8_t *dst,
			 uint64_t offset, struct filter_error *err)
{
	int64_t n;

	if (it->raw_size > LZV_RAW_MAX)
		n = LZ4_decompress_safe((const char *)it->body, (char *)dst,
					(int)it->body_size, (int)it->raw_size);
	else if (it->encoding == LZV_LZ4)
		n = lzvolt_decompress_lz4(it->body, it->body_size, dst,
					  it->raw_size, it->raw_size);
	else
		n = lzvolt_declared_size(it->body, it->body_size);
	if (n == (int64_t)it->raw_size && it->encoding == LZV_LZVOLT)
		n = lzvolt_decompress(it->body, it->body_size, dst, it->raw_size);
	if (n == (int64_t)it->raw_size)
		return 0;
	return filter_fail(err, FILTER_E_CORRUPT, offset, "%s: %s",
			   it->encoding == LZV_LZ4 ? "LZ4 block" : "lzvolt value",
			   n < 0 && it->raw_size <= LZV_RAW_MAX ?
			   lzvolt_strerror(n) : "not as long as its record");
}

static int decode_body(const struct lzv_item *it, uint8_t *dst, uint64_t offset,
		       struct filter_error *err)
{
	switch (it->encoding) {
	case LZV_RAW:
		if (it->body_size)
			memcpy(dst, it->body, it->body_size);
		return 0;
	case LZV_LZ4:
	case LZV_LZVOLT:
		return decode_lzvolt(it, dst, offset, err);
	case LZV_ZSTD:
		return decode_foreign("zstd", it, dst, offset, err);
	case LZV_BROTLI:
		return decode_foreign("brotli", it, dst, offset, err);
	case LZV_DEFLATE:
		return decode_foreign("deflate", it, dst, offset, err);
	default:
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "unknown encoding %u", it->encoding);
	}
}

int lzv_decode(struct lzv_coder *c, const struct lzv_item *it, unsigned width,
	       bool checked, uint8_t *dst, uint64_t offset,
	       struct filter_error *err)
{
	uint8_t *to = dst;
	int r;

	if (width > 1 && !(to = scratch_of(c, it->raw_size + 1)))
		return filter_fail(err, FILTER_E_MEMORY, offset, "no memory");
	r = decode_body(it, to, offset, err);
	if (r)
		return r;
	if (width > 1)
		columns_to_rows(dst, to, it->raw_size, width);
	if (checked && lzv_check(dst, it->raw_size) != it->check)
		return filter_fail(err, FILTER_E_CHECK, offset,
				   "record doesn't match its check");
	return 0;
}
