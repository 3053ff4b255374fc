// SPDX-License-Identifier: Apache-2.0
/*
 * record_order.c - what holds an .lzv stream together: order, marks, totals
 *
 * The writer and the reader are two views of the same bookkeeping: where in
 * the stream we are, how many records and bytes went by, the hash over their
 * checks and the marker that sync marks repeat.  The writer says it, the
 * reader compares.  Both are serial and touch a record's head alone (the first
 * item's bytes once, for the marker), so they cost nothing beside the coding.
 */
#include "record.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "mem.h"

/* What writer and reader both keep. */
struct ledger {
	unsigned flags;
	uint8_t header[LZV_HEADER];
	uint64_t at;			/* offset of the next byte */
	struct lzv_totals total;
	uint64_t mark_at;
	bool started;			/* the first item has been seen */
	bool more;			/* the last record goes on */
	unsigned width;
	uint8_t marker[LZV_MARKER];
	XXH3_state_t *sum;		/* over the record checks */
};

static void ledger_reset(struct ledger *l)
{
	XXH3_state_t *sum = l->sum;

	memset(l, 0, sizeof(*l));
	l->sum = sum;
	XXH3_64bits_reset(sum);
}

/*
 * The marker: XXH3-128 of header and first item.  head: the item's first
 * bytes, up to its body.
 */
static void ledger_start(struct ledger *l, const uint8_t *head,
			 const struct lzv_item *it)
{
	XXH128_canonical_t out;
	uint8_t check[4];

	store_le32(check, it->check);
	XXH3_128bits_reset(l->sum);
	XXH3_128bits_update(l->sum, l->header, LZV_HEADER);
	XXH3_128bits_update(l->sum, head, it->head_size + it->key_size);
	if (it->body_size)
		XXH3_128bits_update(l->sum, it->body, it->body_size);
	if (it->encoding != LZV_CONTROL && (l->flags & LZV_CHECKED))
		XXH3_128bits_update(l->sum, check, sizeof(check));
	XXH128_canonicalFromHash(&out, XXH3_128bits_digest(l->sum));
	memcpy(l->marker, out.digest, LZV_MARKER);
	XXH3_64bits_reset(l->sum);
	l->started = true;
}

static void ledger_record(struct ledger *l, const struct lzv_item *it)
{
	uint8_t check[4];

	l->total.records += !l->more;
	l->total.items++;
	l->total.raw += it->raw_size;
	l->total.stored += it->body_size;
	l->more = it->more;
	if (!(l->flags & LZV_CHECKED))
		return;
	store_le32(check, it->check);
	XXH3_64bits_update(l->sum, check, sizeof(check));
}

static size_t mark_body(const struct ledger *l, uint8_t *p)
{
	size_t n = LZV_MARKER;

	memcpy(p, l->marker, LZV_MARKER);
	n += varint_put(p + n, l->total.records);
	return n + varint_put(p + n, l->at);
}

static size_t end_body(const struct ledger *l, uint8_t *p)
{
	uint64_t sum = XXH3_64bits_digest(l->sum);
	size_t n = varint_put(p, l->total.records);

	n += varint_put(p + n, l->total.raw);
	n += varint_put(p + n, l->total.stored);
	store_le32(p + n, (uint32_t)sum);
	store_le32(p + n + 4, (uint32_t)(sum >> 32));
	return n + 8;
}

struct lzv_writer {
	struct ledger l;
	uint64_t pending;		/* bytes since the last record item */
	struct lzv_index index;
};

struct lzv_writer *lzv_writer_open(unsigned flags)
{
	struct lzv_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->l.sum = XXH3_createState();
	if (!w->l.sum) {
		free(w);
		return NULL;
	}
	lzv_index_open(&w->index);
	ledger_reset(&w->l);
	w->l.flags = flags;
	return w;
}

void lzv_writer_close(struct lzv_writer *w)
{
	if (!w)
		return;
	XXH3_freeState(w->l.sum);
	lzv_index_close(&w->index);
	free(w);
}

/* An item that begins with these bytes has been written. */
static void wrote(struct lzv_writer *w, const uint8_t *head,
		  const struct lzv_item *it)
{
	if (!w->l.started)
		ledger_start(&w->l, head, it);
	w->l.at += it->size;
	w->pending += it->size;
}

/* The same for a control item that stands at p. */
static void wrote_control(struct lzv_writer *w, const uint8_t *p, size_t n)
{
	struct lzv_item it = { .encoding = LZV_CONTROL, .head_size = n, .size = n };

	wrote(w, p, &it);
}

size_t lzv_writer_width(struct lzv_writer *w, uint8_t *dst, unsigned width)
{
	uint8_t body[10];
	size_t n;

	w->l.width = width > 1 ? width : 0;
	n = lzv_control_put(dst, LZV_TRANSPOSE, body, varint_put(body, w->l.width));
	wrote_control(w, dst, n);
	return n;
}

size_t lzv_writer_head(struct lzv_writer *w, uint8_t *dst, unsigned width)
{
	lzv_header_put(dst, w->l.flags);
	memcpy(w->l.header, dst, LZV_HEADER);
	w->l.at = LZV_HEADER;
	return LZV_HEADER + (width > 1 ? lzv_writer_width(w, dst + LZV_HEADER, width) : 0);
}

int lzv_writer_item(struct lzv_writer *w, const uint8_t *head,
		    const struct lzv_item *it)
{
	bool starts = !w->l.more;
	int r = 0;

	wrote(w, head, it);
	if (it->encoding == LZV_CONTROL)
		return 0;
	if (w->l.flags & LZV_INDEXED)
		r = lzv_index_add(&w->index, it, w->pending, starts, w->l.width);
	w->pending = 0;
	ledger_record(&w->l, it);
	return r;
}

size_t lzv_writer_mark(struct lzv_writer *w, uint8_t *dst)
{
	uint8_t body[LZV_MARKER + 20];
	size_t n;

	if (w->l.more || !w->l.started || w->l.at - w->l.mark_at < LZV_MARK_EVERY)
		return 0;
	n = lzv_control_put(dst, LZV_MARK, body, mark_body(&w->l, body));
	wrote_control(w, dst, n);
	w->l.mark_at = w->l.at;
	return n + (w->l.width ? lzv_writer_width(w, dst + n, w->l.width) : 0);
}

uint64_t lzv_writer_at(const struct lzv_writer *w)
{
	return w->l.at;
}

size_t lzv_writer_end_room(const struct lzv_writer *w)
{
	return 64 + lzv_index_room(&w->index);
}

size_t lzv_writer_end(struct lzv_writer *w, uint8_t *dst)
{
	uint8_t body[40];
	size_t n = lzv_control_put(dst, LZV_END, body, end_body(&w->l, body));

	if (w->l.flags & LZV_INDEXED)
		n += lzv_index_put(&w->index, dst + n, w->l.at + n);
	w->l.at += n;
	return n;
}

enum phase { AT_HEADER, IN_ITEMS, AT_INDEX, AT_FOOTER, AT_END };

struct lzv_reader {
	struct ledger l;
	enum phase phase;
	bool middle;			/* the beginning wasn't read */
	uint64_t memory;
	uint64_t index_size;
};

struct lzv_reader *lzv_reader_open(uint64_t memory)
{
	struct lzv_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->memory = memory;
	r->l.sum = XXH3_createState();
	if (!r->l.sum) {
		free(r);
		return NULL;
	}
	lzv_reader_reset(r);
	return r;
}

void lzv_reader_close(struct lzv_reader *r)
{
	if (!r)
		return;
	XXH3_freeState(r->l.sum);
	free(r);
}

void lzv_reader_reset(struct lzv_reader *r)
{
	ledger_reset(&r->l);
	r->phase = AT_HEADER;
	r->middle = false;
}

void lzv_reader_seek(struct lzv_reader *r, unsigned flags, uint64_t at,
		     unsigned width)
{
	lzv_reader_reset(r);
	r->phase = IN_ITEMS;
	r->middle = true;
	r->l.started = true;
	r->l.flags = flags;
	r->l.at = at;
	r->l.width = width;
}

bool lzv_mark_is(const uint8_t *p, size_t n, uint64_t at, const uint8_t *marker)
{
	uint64_t records, self;
	int a, b;

	if (n < LZV_MARK_MAX || p[0] != LZV_CONTROL || p[1] != LZV_MARK ||
	    (marker && memcmp(p + 3, marker, LZV_MARKER)))
		return false;
	a = varint_get(p + 3 + LZV_MARKER, 10, &records);
	b = a > 0 ? varint_get(p + 3 + LZV_MARKER + a, 10, &self) : 0;
	return b > 0 && self == at && p[2] == LZV_MARKER + a + b;
}

/* The marker was made of the first item, which may be what is damaged. */
bool lzv_reader_resume(struct lzv_reader *r, const uint8_t *p, size_t n, uint64_t at)
{
	if (!lzv_mark_is(p, n, at, NULL))
		return false;
	lzv_reader_seek(r, r->l.flags, at, 0);
	return true;
}

bool lzv_reader_at_end(const struct lzv_reader *r)
{
	return r->phase == AT_END;
}

bool lzv_reader_at_start(const struct lzv_reader *r)
{
	return r->phase == AT_HEADER;
}

bool lzv_reader_checked(const struct lzv_reader *r)
{
	return r->l.flags & LZV_CHECKED;
}

bool lzv_reader_between(const struct lzv_reader *r)
{
	return !r->l.more;
}

unsigned lzv_reader_width(const struct lzv_reader *r)
{
	return r->l.width;
}

struct lzv_totals lzv_reader_totals(const struct lzv_reader *r)
{
	return r->l.total;
}

static int read_mark(struct lzv_reader *r, const struct lzv_item *it,
		     uint64_t offset, struct filter_error *err)
{
	uint8_t body[LZV_MARKER + 20];
	size_t n = mark_body(&r->l, body);

	r->l.mark_at = r->l.at;
	r->l.width = 0;
	if (r->middle || (n == it->body_size && !memcmp(body, it->body, n)))
		return 0;
	return filter_fail(err, FILTER_E_CORRUPT, offset,
			   "sync mark is not this stream's");
}

static int read_transpose(struct lzv_reader *r, const struct lzv_item *it,
			  uint64_t offset, struct filter_error *err)
{
	uint64_t width;
	int n = varint_get(it->body, it->body_size, &width);

	if (n <= 0 || (uint64_t)n != it->body_size || width > LZV_WIDTH_MAX)
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "malformed transpose item");
	r->l.width = width > 1 ? (unsigned)width : 0;
	return 0;
}

static int read_end(struct lzv_reader *r, const struct lzv_item *it,
		    uint64_t offset, struct filter_error *err)
{
	uint8_t body[40];
	size_t n = end_body(&r->l, body);

	r->phase = r->l.flags & LZV_INDEXED ? AT_INDEX : AT_END;
	if (r->middle || (n == it->body_size && !memcmp(body, it->body, n)))
		return 0;
	return filter_fail(err, FILTER_E_CHECK, offset,
			   "totals of the stream don't match its records");
}

static int read_control(struct lzv_reader *r, const struct lzv_item *it,
			uint64_t offset, struct filter_error *err)
{
	if (r->l.more && it->kind < LZV_OPTIONAL)
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "control item inside a record");
	switch (it->kind) {
	case LZV_MARK:
		return read_mark(r, it, offset, err);
	case LZV_TRANSPOSE:
		return read_transpose(r, it, offset, err);
	case LZV_END:
		return read_end(r, it, offset, err);
	case LZV_INDEX:
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "index before the end");
	default:	/* a note, or optional */
		return 0;
	}
}

static ptrdiff_t next_header(struct lzv_reader *r, const uint8_t *src, size_t n,
			     uint64_t offset, size_t *want,
			     struct filter_error *err)
{
	int flags;

	if (n < LZV_HEADER) {
		*want = LZV_HEADER;
		return 0;
	}
	flags = lzv_header_get(src, offset, err);
	if (flags < 0)
		return flags;
	r->l.flags = flags;
	r->l.at = LZV_HEADER;
	memcpy(r->l.header, src, LZV_HEADER);
	r->phase = IN_ITEMS;
	return LZV_HEADER;
}

static ptrdiff_t next_item(struct lzv_reader *r, const uint8_t *src, size_t n,
			   uint64_t offset, size_t *want, struct lzv_item *it,
			   struct filter_error *err)
{
	bool checked = r->l.flags & LZV_CHECKED;
	ptrdiff_t got = lzv_item_head(src, n, checked, it, offset, err);

	if (got > 0 && r->memory && it->size + it->raw_size > r->memory)
		return filter_fail(err, FILTER_E_MEMORY, offset,
				   "an item of %llu bytes needs more memory than allowed",
				   (unsigned long long)(it->size + it->raw_size));
	if (got >= 0)
		got = lzv_item_get(src, n, checked, it, want, offset, err);
	return got;
}

static ptrdiff_t take_item(struct lzv_reader *r, const uint8_t *src,
			   const struct lzv_item *it, uint64_t offset,
			   struct filter_error *err)
{
	int bad = 0;

	if (r->l.more && it->has_key)
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "a key inside a record");
	if (!r->l.started)
		ledger_start(&r->l, src, it);
	if (it->encoding == LZV_CONTROL)
		bad = read_control(r, it, offset, err);
	else
		ledger_record(&r->l, it);
	r->l.at += it->size;
	return bad ? bad : (ptrdiff_t)it->size;
}

static ptrdiff_t take_index(struct lzv_reader *r, const struct lzv_item *it,
			    uint64_t offset, struct filter_error *err)
{
	if (it->encoding != LZV_CONTROL || it->kind != LZV_INDEX)
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "an index should follow the end");
	if (!lzv_index_intact(it->body, it->body_size))
		return filter_fail(err, FILTER_E_CHECK, offset,
				   "index doesn't match its check");
	r->index_size = it->size;
	r->l.at += it->size;
	r->phase = AT_FOOTER;
	return (ptrdiff_t)it->size;
}

static ptrdiff_t next_footer(struct lzv_reader *r, const uint8_t *src, size_t n,
			     uint64_t offset, size_t *want,
			     struct filter_error *err)
{
	uint64_t stream, index;

	if (n < LZV_FOOTER) {
		*want = LZV_FOOTER;
		return 0;
	}
	if (!lzv_footer_get(src, &stream, &index) || index != r->index_size ||
	    (!r->middle && stream != r->l.at))
		return filter_fail(err, FILTER_E_CORRUPT, offset, "malformed footer");
	r->l.at += LZV_FOOTER;
	r->phase = AT_END;
	return LZV_FOOTER;
}

ptrdiff_t lzv_reader_next(struct lzv_reader *r, const uint8_t *src, size_t n,
			  uint64_t offset, size_t *want, struct lzv_item *it,
			  struct filter_error *err)
{
	ptrdiff_t got;

	memset(it, 0, sizeof(*it));
	it->encoding = LZV_CONTROL;
	if (r->phase == AT_HEADER)
		return next_header(r, src, n, offset, want, err);
	if (r->phase == AT_FOOTER)
		return next_footer(r, src, n, offset, want, err);
	if (r->phase == AT_END)
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "bytes behind the end of the stream");
	got = next_item(r, src, n, offset, want, it, err);
	if (got <= 0)
		return got;
	if (r->phase == AT_INDEX)
		return take_index(r, it, offset, err);
	return take_item(r, src, it, offset, err);
}
