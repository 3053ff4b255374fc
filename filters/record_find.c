// SPDX-License-Identifier: Apache-2.0
/*
 * record_find.c - places in an .lzv file, without reading what is between
 *
 * A sync mark is believed only if it carries the marker that the file's own
 * header and first item give, and says of itself that it stands where it
 * stands: a stream inside a record, whose offsets count from elsewhere, can't
 * be taken for the outer one.
 */
#include "record_find.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define WINDOW	((size_t)1 << 20)

static ptrdiff_t read_at(const struct lzv_find *f, uint64_t at, uint8_t *buf,
			 size_t n)
{
	if (at >= f->file.size)
		return 0;
	if (n > f->file.size - at)
		n = f->file.size - at;
	return f->file.read_at(f->file.ctx, at, buf, n);
}

static int cant_read(struct filter_error *err, uint64_t at)
{
	return filter_fail(err, FILTER_E_READ, at, "can't read");
}

static int no_memory(struct filter_error *err)
{
	return filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
}

/* Reads exactly n bytes. */
static int read_all(const struct lzv_find *f, uint64_t at, uint8_t *buf, size_t n,
		    struct filter_error *err)
{
	ptrdiff_t got = read_at(f, at, buf, n);

	if (got < 0)
		return cant_read(err, at);
	if ((size_t)got < n)
		return filter_fail(err, FILTER_E_TRUNCATED, at + got,
				   "the file ends too early");
	return 0;
}

static uint64_t spans(const struct lzv_index *x)
{
	uint64_t sum = LZV_HEADER;
	size_t i;

	for (i = 0; i < x->count; i++)
		sum += x->group[i].span;
	return sum;
}

/* The index item's bytes at `at`, n of them. */
static int index_load(struct lzv_find *f, uint64_t at, size_t n,
		      struct filter_error *err)
{
	uint8_t *p = malloc(n);
	struct lzv_item it;
	size_t want;
	int bad;

	if (!p)
		return no_memory(err);
	bad = read_all(f, at, p, n, err);
	if (!bad && (lzv_item_get(p, n, false, &it, &want, at, err) != (ptrdiff_t)n ||
		     it.encoding != LZV_CONTROL || it.kind != LZV_INDEX))
		bad = filter_fail(err, FILTER_E_CORRUPT, at, "malformed index");
	if (!bad)
		bad = lzv_index_get(&f->index, it.body, it.body_size, at, err);
	free(p);
	if (bad)
		return bad;
	f->index_at = at;
	if (spans(&f->index) >= at)
		return filter_fail(err, FILTER_E_CORRUPT, at,
				   "the index names places behind itself");
	f->indexed = true;
	return 0;
}

/* A file that is one stream with an index ends with a footer that says so. */
static int find_index(struct lzv_find *f, struct filter_error *err)
{
	uint8_t footer[LZV_FOOTER];
	uint64_t stream, index, at;

	if (!(f->flags & LZV_INDEXED) || f->file.size < LZV_HEADER + LZV_FOOTER)
		return 0;
	at = f->file.size - LZV_FOOTER;
	if (read_all(f, at, footer, LZV_FOOTER, err))
		return err->code;
	if (!lzv_footer_get(footer, &stream, &index) || stream != at ||
	    index > LZV_INDEX_MAX + 16)
		return 0;
	return index_load(f, at - index, index, err);
}

int lzv_find_open(struct lzv_find *f, const struct lzv_file *file,
		  struct filter_error *err)
{
	uint8_t header[LZV_HEADER];
	int flags;

	memset(f, 0, sizeof(*f));
	f->file = *file;
	if (read_all(f, 0, header, LZV_HEADER, err))
		return err->code;
	flags = lzv_header_get(header, 0, err);
	if (flags < 0)
		return flags;
	f->flags = flags;
	lzv_index_open(&f->index);
	return find_index(f, err);
}

void lzv_find_close(struct lzv_find *f)
{
	lzv_index_close(&f->index);
}

/* XXH3-128 of header and first item. */
static int marker_make(struct lzv_find *f, uint8_t *buf, uint8_t *marker,
		       struct filter_error *err)
{
	XXH3_state_t *sum = XXH3_createState();
	XXH128_canonical_t out;
	struct lzv_item it;
	uint64_t at = 0, end;
	ptrdiff_t n = read_at(f, 0, buf, LZV_HEADER + LZV_ITEM_HEAD + 10);
	int got;

	if (!sum || n < LZV_HEADER) {
		XXH3_freeState(sum);
		return sum ? cant_read(err, 0) : no_memory(err);
	}
	got = lzv_item_head(buf + LZV_HEADER, n - LZV_HEADER, f->flags & LZV_CHECKED,
			    &it, LZV_HEADER, err);
	end = LZV_HEADER + (got > 0 ? it.size : 0);
	XXH3_128bits_reset(sum);
	for (; got > 0 && at < end; at += n) {
		n = read_at(f, at, buf, end - at < WINDOW ? end - at : WINDOW);
		if (n <= 0)
			got = n ? cant_read(err, at) :
			      filter_fail(err, FILTER_E_TRUNCATED, at,
					  "the file ends too early");
		else
			XXH3_128bits_update(sum, buf, n);
	}
	XXH128_canonicalFromHash(&out, XXH3_128bits_digest(sum));
	memcpy(marker, out.digest, LZV_MARKER);
	XXH3_freeState(sum);
	return got < 0 ? got : 0;
}

/* The first mark at `at` or behind it; *found = the file's size without one. */
static int mark_find(struct lzv_find *f, uint64_t at, const uint8_t *marker,
		     uint8_t *buf, uint64_t *found, struct filter_error *err)
{
	*found = f->file.size;
	while (at < f->file.size) {
		ptrdiff_t n = read_at(f, at, buf, WINDOW);
		const uint8_t *p = buf;

		if (n < 0)
			return cant_read(err, at);
		while ((p = memchr(p, LZV_CONTROL, buf + n - p))) {
			if (lzv_mark_is(p, buf + n - p, at + (p - buf), marker)) {
				*found = at + (p - buf);
				return 0;
			}
			p++;
		}
		/* a mark that is cut by the window's end is seen by the next */
		if ((size_t)n < WINDOW)
			return 0;
		at += n - LZV_MARK_MAX;
	}
	return 0;
}

/* Where a part begins: the first group at or behind `want`. */
static uint64_t group_from(const struct lzv_find *f, uint64_t want, unsigned *width)
{
	uint64_t at = LZV_HEADER;
	size_t i;

	*width = 0;
	for (i = 0; i < f->index.count; i++) {
		if (at >= want) {
			*width = f->index.group[i].width;
			return at;
		}
		at += f->index.group[i].span;
	}
	return f->index_at;
}

static int part_by_marks(struct lzv_find *f, uint64_t from, uint64_t to,
			 struct lzv_part *part, struct filter_error *err)
{
	uint8_t *buf = malloc(WINDOW), marker[LZV_MARKER];
	int bad;

	if (!buf)
		return no_memory(err);
	bad = marker_make(f, buf, marker, err);
	part->from = LZV_HEADER;
	part->to = f->file.size;
	if (!bad && from > LZV_HEADER)
		bad = mark_find(f, from, marker, buf, &part->from, err);
	if (!bad && to < f->file.size)
		bad = mark_find(f, to, marker, buf, &part->to, err);
	free(buf);
	return bad;
}

int lzv_find_part(struct lzv_find *f, unsigned i, unsigned n,
		  struct lzv_part *part, struct filter_error *err)
{
	/* long division, so that i * size can't overflow */
	uint64_t each = f->file.size / n, rest = f->file.size % n;
	uint64_t from = each * (i - 1) + rest * (i - 1) / n;
	uint64_t to = each * i + rest * i / n;
	unsigned unused;

	memset(part, 0, sizeof(*part));
	if (!f->indexed)
		return part_by_marks(f, i == 1 ? 0 : from,
				     i == n ? f->file.size : to, part, err);
	part->from = group_from(f, i == 1 ? 0 : from, &part->width);
	part->to = i == n ? f->index_at : group_from(f, to, &unused);
	return 0;
}

void lzv_walk_start(struct lzv_walk *w, struct lzv_find *f)
{
	memset(w, 0, sizeof(*w));
	w->f = f;
	w->flags = f->flags;
	w->at = LZV_HEADER;
}

/* The walk stands at the beginning of a group. */
static void enter_group(struct lzv_walk *w, size_t i)
{
	const struct lzv_group *g = &w->f->index.group[i];

	w->group = i;
	w->group_at = 0;
	if (i == w->f->index.count)
		return;
	w->width = g->width;
	w->group_at = w->at + g->span;
	w->group_record = w->record + g->records;
	w->group_raw = w->raw + g->raw;
}

/* Steps over groups of the index up to the one that holds a place. */
static void skip_groups(struct lzv_walk *w, uint64_t record, uint64_t raw)
{
	size_t i = 0;

	if (!w->f->indexed)
		return;
	enter_group(w, 0);
	while (w->group_at && record >= w->group_record && raw >= w->group_raw) {
		w->at = w->group_at;
		w->record = w->group_record;
		w->raw = w->group_raw;
		enter_group(w, ++i);
	}
}

/* Behind a record: is this a group's end, and does all of it match? */
static int leave_group(struct lzv_walk *w, struct filter_error *err)
{
	if (!w->group_at || w->at < w->group_at)
		return 1;
	if (w->at != w->group_at || w->record != w->group_record ||
	    w->raw != w->group_raw)
		return filter_fail(err, FILTER_E_CORRUPT, w->item_at,
				   "records don't match the index");
	enter_group(w, w->group + 1);
	return 1;
}

int lzv_walk_settle(struct lzv_walk *w, struct filter_error *err)
{
	size_t group = w->group;
	int got = 1;

	while (got > 0 && w->group_at && w->group == group)
		got = lzv_walk_next(w, err);
	return got < 0 ? got : 0;
}

void lzv_walk_to_record(struct lzv_walk *w, uint64_t record)
{
	skip_groups(w, record, UINT64_MAX);
}

void lzv_walk_to_raw(struct lzv_walk *w, uint64_t raw)
{
	skip_groups(w, UINT64_MAX, raw);
}

/* n bytes (fewer at the end of the file) at `at`, in the walk's buffer. */
static const uint8_t *look(struct lzv_walk *w, uint64_t at, size_t n, size_t *have)
{
	ptrdiff_t got;

	if (at < w->buf_at || at + n > w->buf_at + w->buf_len) {
		got = read_at(w->f, at, w->buf, sizeof(w->buf));
		if (got < 0)
			return NULL;
		w->buf_at = at;
		w->buf_len = got;
	}
	*have = w->buf_at + w->buf_len - at;
	return w->buf + (at - w->buf_at);
}

/* Behind an end item: index and footer, then another header or the end. */
static int walk_over_end(struct lzv_walk *w, struct filter_error *err)
{
	struct lzv_item it;
	const uint8_t *p;
	size_t have;
	int got;

	if (w->flags & LZV_INDEXED) {
		p = look(w, w->at, LZV_ITEM_HEAD, &have);
		if (!p)
			return cant_read(err, w->at);
		got = lzv_item_head(p, have, false, &it, w->at, err);
		if (got <= 0)
			return got ? got : filter_fail(err, FILTER_E_TRUNCATED, w->at,
						       "the file ends too early");
		w->at += it.size + LZV_FOOTER;
	}
	if (w->at >= w->f->file.size)
		return 0;
	p = look(w, w->at, LZV_HEADER, &have);
	if (!p || have < LZV_HEADER)
		return filter_fail(err, FILTER_E_TRUNCATED, w->at,
				   "bytes behind the end of the stream");
	got = lzv_header_get(p, w->at, err);
	if (got < 0)
		return got;
	w->flags = got;
	w->width = 0;
	w->at += LZV_HEADER;
	return 1;
}

static int walk_transpose(struct lzv_walk *w, const uint8_t *body, size_t n,
			  struct filter_error *err)
{
	uint64_t width;

	if (varint_get(body, n, &width) <= 0 || width > LZV_WIDTH_MAX)
		return filter_fail(err, FILTER_E_CORRUPT, w->item_at,
				   "malformed transpose item");
	w->width = width > 1 ? (unsigned)width : 0;
	return 1;
}

/* What a control item changes: 1 = go on, 0 = the end, or an error. */
static int walk_control(struct lzv_walk *w, const uint8_t *p, size_t have,
			struct filter_error *err)
{
	switch (w->it.kind) {
	case LZV_MARK:
		w->width = 0;
		return 1;
	case LZV_TRANSPOSE:
		return walk_transpose(w, p + w->it.head_size,
				      have - w->it.head_size, err);
	case LZV_END:
		return walk_over_end(w, err);
	default:
		return 1;
	}
}

int lzv_walk_next(struct lzv_walk *w, struct filter_error *err)
{
	int got = 1;

	while (got > 0) {
		size_t have;
		const uint8_t *p = look(w, w->at, 64, &have);

		if (!p)
			return cant_read(err, w->at);
		got = lzv_item_head(p, have, w->flags & LZV_CHECKED, &w->it, w->at, err);
		if (!got || (got > 0 && w->it.size > w->f->file.size - w->at))
			return filter_fail(err, FILTER_E_TRUNCATED, w->f->file.size,
					   "the file ends too early");
		if (got < 0)
			return got;
		w->item_at = w->at;
		w->at += w->it.size;
		if (w->it.encoding != LZV_CONTROL) {
			w->record += !w->more;
			w->raw += w->it.raw_size;
			w->more = w->it.more;
			return leave_group(w, err);
		}
		got = walk_control(w, p, have, err);
	}
	return got;
}

int lzv_walk_key_is(struct lzv_walk *w, const uint8_t *key, size_t n,
		    struct filter_error *err)
{
	uint8_t *p;
	int bad, same;

	if (!w->it.has_key || w->it.key_size != n)
		return 0;
	p = malloc(n + 1);
	if (!p)
		return no_memory(err);
	bad = read_all(w->f, w->item_at + w->it.head_size, p, n, err);
	same = !bad && !memcmp(p, key, n);
	free(p);
	return bad ? bad : same;
}
