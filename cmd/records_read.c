// SPDX-License-Identifier: Apache-2.0
/*
 * records_read.c - one record, or a range of bytes, of an .lzv file
 *
 * The index says where to begin; from there items are hopped over by their
 * heads, and only what is wanted is read and decoded.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record_find.h"
#include "records.h"

struct reading {
	struct lzv_find find;
	struct lzv_walk walk;
	struct lzv_coder *coder;
	struct sink *sink;
	uint8_t *item, *raw;
	uint64_t memory;
	struct filter_error *err;
};

static int out_of_memory(struct reading *r)
{
	return filter_fail(r->err, FILTER_E_MEMORY, r->walk.item_at,
			   "a record of %llu bytes is above the memory limit",
			   (unsigned long long)r->walk.it.raw_size);
}

/* Reads and decodes the item that the walk stands at into r->raw. */
static int decode_item(struct reading *r)
{
	struct lzv_walk *w = &r->walk;
	bool checked = w->flags & LZV_CHECKED;
	struct lzv_item it;
	size_t want;

	if (w->it.size + w->it.raw_size > r->memory)
		return out_of_memory(r);
	free(r->item);
	free(r->raw);
	r->item = malloc(w->it.size);
	r->raw = malloc(w->it.raw_size + 1);
	if (!r->item || !r->raw)
		return out_of_memory(r);
	if (input_read_at(r->find.file.ctx, w->item_at, r->item, w->it.size) !=
	    (ptrdiff_t)w->it.size)
		return filter_fail(r->err, FILTER_E_READ, w->item_at, "can't read");
	if (lzv_item_get(r->item, w->it.size, checked, &it, &want, w->item_at, r->err) <= 0)
		return filter_fail(r->err, FILTER_E_CORRUPT, w->item_at,
				   "the file has changed");
	return lzv_decode(r->coder, &it, w->width, checked, r->raw, w->item_at, r->err);
}

static int give(struct reading *r, size_t from, size_t n)
{
	return sink_write(r->sink, r->raw + from, n) ? sink_failure(r->sink, r->err) : 0;
}

/* The record that the walk stands at, with all its parts. */
static int give_record(struct reading *r)
{
	int got = 1, bad;

	do {
		bad = decode_item(r);
		if (!bad)
			bad = give(r, 0, r->walk.it.raw_size);
		if (bad || !r->walk.more)
			return bad;
		got = lzv_walk_next(&r->walk, r->err);
	} while (got > 0);
	return got ? got : filter_fail(r->err, FILTER_E_TRUNCATED, r->walk.at,
				       "the file ends inside a record");
}

static int read_number(struct reading *r, uint64_t number)
{
	int got;

	lzv_walk_to_record(&r->walk, number);
	while ((got = lzv_walk_next(&r->walk, r->err)) > 0)
		if (r->walk.record == number + 1)
			return give_record(r);
	return got ? got : filter_fail(r->err, FILTER_E_OPTION, SIZE_UNKNOWN,
				       "has %llu records, numbered from 0",
				       (unsigned long long)r->walk.record);
}

/* The next record behind the walk with this key: 1 = given, 0, or an error. */
static int try_key(struct reading *r, const char *key, uint64_t stop)
{
	size_t n = strlen(key);
	int got;

	while ((got = lzv_walk_next(&r->walk, r->err)) > 0 && r->walk.record <= stop) {
		int same = lzv_walk_key_is(&r->walk, (const uint8_t *)key, n, r->err);

		if (same < 0)
			return same;
		if (same)
			return give_record(r) ? r->err->code : 1;
	}
	return got < 0 ? got : 0;
}

static int no_such_key(struct reading *r, const char *key)
{
	return filter_fail(r->err, FILTER_E_OPTION, SIZE_UNKNOWN,
			   "no record has the key '%s'", key);
}

/* With hashes of the keys only records that may be it are looked at. */
static int read_key(struct reading *r, const char *key)
{
	const struct lzv_index *x = &r->find.index;
	uint32_t hash = lzv_key_hash((const uint8_t *)key, strlen(key));
	int got;

	if (!r->find.indexed || !x->keyed) {
		got = try_key(r, key, UINT64_MAX);
		return got < 0 ? got : got ? 0 : no_such_key(r, key);
	}
	for (size_t i = 0; i < x->key_count; i++) {
		if (x->key[i] != hash)
			continue;
		lzv_walk_start(&r->walk, &r->find);
		lzv_walk_to_record(&r->walk, i);
		got = try_key(r, key, i + 1);
		if (got)
			return got < 0 ? got : 0;
	}
	return no_such_key(r, key);
}

static int read_range(struct reading *r, const char *text)
{
	struct lzv_walk *w = &r->walk;
	uint64_t from, n, end;
	int got = range_parse(text, &from, &n, r->err);

	if (got)
		return got;
	end = from + n;
	lzv_walk_to_raw(w, from);
	while (w->raw < end && (got = lzv_walk_next(w, r->err)) > 0) {
		uint64_t start = w->raw - w->it.raw_size;
		uint64_t a = from > start ? from - start : 0;
		uint64_t b = end < w->raw ? end - start : w->it.raw_size;

		if (a >= b)
			continue;
		if (decode_item(r) || give(r, a, b - a))
			return r->err->code;
	}
	if (got < 0 || w->raw >= end)
		return got < 0 ? got : 0;
	return filter_fail(r->err, FILTER_E_OPTION, SIZE_UNKNOWN,
			   "the range ends behind the %llu bytes that there are",
			   (unsigned long long)w->raw);
}

int records_read(const struct input *in, const struct records_part *part,
		 uint64_t memory, struct sink *sink, struct filter_error *err)
{
	struct lzv_file file = { input_read_at, (void *)(uintptr_t)in,
				 (uint64_t)in->st.st_size };
	struct reading r = { .sink = sink, .memory = memory, .err = err };
	struct filter_params p;
	int code;

	if (!in->regular)
		return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
				   "a part can be read from regular files alone");
	filter_params_init(&p);
	r.coder = lzv_coder_open(&p);
	code = r.coder ? lzv_find_open(&r.find, &file, err) : out_of_memory(&r);
	if (!code) {
		lzv_walk_start(&r.walk, &r.find);
		code = part->range ? read_range(&r, part->range) :
		       part->key ? read_key(&r, part->key) :
		       read_number(&r, part->record);
	}
	if (!code)
		code = lzv_walk_settle(&r.walk, err);
	lzv_find_close(&r.find);
	lzv_coder_close(r.coder);
	free(r.item);
	free(r.raw);
	return code;
}
