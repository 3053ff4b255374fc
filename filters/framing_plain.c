// SPDX-License-Identifier: Apache-2.0
/*
 * framing_plain.c - lengths, slots, lines, NUL, whole inputs
 *
 * A record is a few fields, then the payload.  Where its end is known from
 * the start (a slot, a line) the fields stand inside it; a length counts what
 * follows it, fields that come later included.
 */
#include "framing.h"

#include <string.h>

#include "lzvolt.h"
#include "mem.h"

/* A number at p: bytes read, 0 = more are needed, -1 = malformed. */
static int number_get(enum framing_number kind, const uint8_t *p, size_t n,
		      uint64_t *v)
{
	if (kind == NUMBER_VARINT)
		return varint_get(p, n, v);
	if (n < 4)
		return 0;
	*v = load_le32(p);
	if (kind == NUMBER_U32BE)
		*v = __builtin_bswap32((uint32_t)*v);
	return 4;
}

/* Bytes written, 0 where the number doesn't fit. */
static size_t number_put(enum framing_number kind, uint8_t *p, uint64_t v)
{
	if (kind == NUMBER_VARINT)
		return varint_put(p, v);
	if (v > UINT32_MAX)
		return 0;
	store_le32(p, kind == NUMBER_U32BE ? __builtin_bswap32((uint32_t)v) :
		   (uint32_t)v);
	return 4;
}

/* framing_reader.phase */
enum { MORE, OPEN_END, DONE };	/* OPEN_END: the last line had no newline */

static bool is_delimited(const struct framing *f)
{
	return f->kind == FRAMING_LINES || f->kind == FRAMING_NUL;
}

/* A record that is being read. */
struct cut {
	struct framing_in *in;
	size_t at;		/* bytes used */
	size_t end;		/* of the record; SIZE_MAX: not known yet */
	size_t next;		/* where the next record begins */
	struct frecord *rec;
};

static int too_long(const struct cut *c, uint64_t n, uint64_t limit)
{
	return filter_fail(c->in->err, FILTER_E_MEMORY, c->in->offset,
			   "a record of %llu bytes is above the limit of %llu",
			   (unsigned long long)n, (unsigned long long)limit);
}

/* Where a slot, line, string or the whole input ends: 1, 0 = more, error. */
static int cut_find_end(const struct framing_reader *r, struct cut *c)
{
	struct framing_in *in = c->in;
	const uint8_t *stop;

	if (r->f.kind == FRAMING_FIXED) {
		c->end = c->next = r->f.fixed;
		if (in->n < c->end)
			return (int)framing_more(in, c->end, "a slot");
		return 1;
	}
	stop = r->f.kind == FRAMING_WHOLE ? NULL :
	       memchr(in->p, r->f.kind == FRAMING_LINES ? '\n' : 0, in->n);
	c->end = stop ? (size_t)(stop - in->p) : in->n;
	c->next = c->end + (stop != NULL);
	if (c->end > r->f.limit)
		return too_long(c, c->end, r->f.limit);
	if (stop || in->eof)
		return 1;
	in->want = in->n + 1;
	return 0;
}

static int bad_field(const struct cut *c, const char *what)
{
	return filter_fail(c->in->err, FILTER_E_CORRUPT, c->in->offset + c->at,
			   "%s", what);
}

/* A number field: 1, 0 = more, error. */
static int cut_number(struct cut *c, enum framing_number kind, uint64_t *v)
{
	size_t have = (c->end < c->in->n ? c->end : c->in->n) - c->at;
	int n = number_get(kind, c->in->p + c->at, have, v);

	if (n < 0)
		return bad_field(c, "a malformed varint");
	if (!n && c->end <= c->in->n)
		return bad_field(c, "a record too short for its fields");
	if (!n)
		return (int)framing_more(c->in, c->in->n + 1, "a record's fields");
	c->at += n;
	return 1;
}

static int cut_length(const struct framing_reader *r, struct cut *c)
{
	uint64_t v;
	int got = cut_number(c, r->f.length, &v);

	if (got <= 0)
		return got;
	if (v > r->f.limit)
		return too_long(c, v, r->f.limit);
	c->end = c->next = c->at + v;
	if (c->end > c->in->n)
		return (int)framing_more(c->in, c->end, "a record");
	return 1;
}

static int cut_flag(const struct framing_reader *r, struct cut *c)
{
	int encoding;

	if (c->at == c->end)
		return bad_field(c, "a record too short for its flag");
	if (c->at == c->in->n)
		return (int)framing_more(c->in, c->at + 1, "a record's flag");
	encoding = r->f.encoding_of[c->in->p[c->at]];
	if (encoding < 0)
		return filter_fail(c->in->err, FILTER_E_CORRUPT,
				   c->in->offset + c->at,
				   "flag %u was not given a meaning",
				   c->in->p[c->at]);
	c->rec->it.encoding = encoding;
	c->at++;
	return 1;
}

static int cut_size(const struct framing_reader *r, struct cut *c)
{
	int got;

	if (c->rec->it.encoding != LZV_LZ4)
		return 1;
	got = cut_number(c, r->f.size, &c->rec->it.raw_size);
	if (got <= 0)
		return got;
	if (c->rec->it.raw_size > r->f.limit)
		return too_long(c, c->rec->it.raw_size, r->f.limit);
	c->rec->sized = true;
	return 1;
}

static int cut_fields(const struct framing_reader *r, struct cut *c)
{
	int i, got = 1;

	for (i = 0; i < r->f.fields && got == 1; i++)
		switch (r->f.field[i]) {
		case FIELD_LENGTH:
			got = cut_length(r, c);
			break;
		case FIELD_FLAG:
			got = cut_flag(r, c);
			break;
		case FIELD_SIZE:
			got = cut_size(r, c);
			break;
		}
	return got;
}

/* What can be told of the payload without decoding it. */
static int cut_finish(const struct framing_reader *r, struct cut *c)
{
	struct frecord *rec = c->rec;
	struct lzv_item *it = &rec->it;
	uint64_t limit = r->f.limit;

	rec->what = FRECORD_ITEM;
	it->body = c->in->p + c->at;
	it->body_size = c->end - c->at;
	rec->raw_max = r->f.size_max ? r->f.size_max : LZV_RAW_MAX;
	if (it->encoding == LZV_RAW) {
		it->raw_size = it->body_size;
		rec->sized = true;
	} else if (it->encoding == LZV_LZVOLT) {
		int64_t n = lzvolt_declared_size(it->body, it->body_size);

		rec->sized = n >= 0;
		it->raw_size = n >= 0 ? (uint64_t)n : 0;
	}
	if (it->encoding != LZV_LZ4 && limit > LZV_RAW_MAX)
		limit = LZV_RAW_MAX;
	if (rec->sized && it->raw_size > limit)
		return too_long(c, it->raw_size, limit);
	return 1;
}

static ptrdiff_t plain_magic(struct framing_reader *r, struct framing_in *in,
			     struct frecord *rec)
{
	size_t n = r->f.magic_len;

	if (in->n < n)
		return framing_more(in, n, "the magic number");
	if (memcmp(in->p, r->f.magic, n))
		return filter_fail(in->err, FILTER_E_CORRUPT, in->offset,
				   "the magic number isn't there");
	rec->what = FRECORD_NOTHING;
	r->began = true;
	return (ptrdiff_t)n;
}

/* Nothing is left: an empty whole input, a note, or the end. */
static ptrdiff_t plain_nothing(struct framing_reader *r, struct frecord *rec)
{
	if (r->phase == OPEN_END)
		framing_note_is(rec, "lines.open-end", (const uint8_t *)"", 0);
	r->phase = DONE;
	return 0;
}

static ptrdiff_t plain_next(struct framing_reader *r, struct framing_in *in,
			    struct frecord *rec)
{
	struct cut c = { .in = in, .end = SIZE_MAX, .rec = rec };
	int got = 1;

	if (r->f.magic_len && !r->began)
		return plain_magic(r, in, rec);
	if (!in->n && in->eof && (r->f.kind != FRAMING_WHOLE || r->phase))
		return plain_nothing(r, rec);
	if (!in->n && !in->eof) {
		in->want = 1;
		return 0;
	}
	rec->it.encoding = r->f.encoding < 0 ? 0 : r->f.encoding;
	if (r->f.kind != FRAMING_LENGTH)
		got = cut_find_end(r, &c);
	if (got == 1)
		got = cut_fields(r, &c);
	if (got == 1)
		got = cut_finish(r, &c);
	if (got != 1)
		return got;
	if (r->f.kind == FRAMING_WHOLE)
		r->phase = DONE;
	if (is_delimited(&r->f) && c.next == c.end)
		r->phase = OPEN_END;
	return (ptrdiff_t)c.next;
}

static int plain_begin(struct framing_writer *w, struct framing_out *out)
{
	memcpy(out->p, w->f.magic, w->f.magic_len);
	out->n = w->f.magic_len;
	return 0;
}

static int refuse(struct framing_out *out, const struct frecord *rec,
		  const char *what)
{
	return filter_fail(out->err, FILTER_E_UNSUPPORTED, rec->offset, "%s", what);
}

/* The fields behind the length; their bytes count in it. */
static int fields_put(struct framing_writer *w, const struct frecord *rec,
		      int from, int to, struct framing_out *out)
{
	size_t n;
	int i;

	for (i = from; i < to; i++) {
		if (w->f.field[i] == FIELD_FLAG) {
			out->p[out->n++] = (uint8_t)w->f.flag_of[rec->it.encoding];
		} else if (rec->it.encoding == LZV_LZ4) {
			n = number_put(w->f.size, out->p + out->n, rec->it.raw_size);
			if (!n)
				return refuse(out, rec, "a size doesn't fit its field");
			out->n += n;
		}
	}
	return 0;
}

static int length_field(const struct framing_writer *w)
{
	int i;

	for (i = 0; i < w->f.fields; i++)
		if (w->f.field[i] == FIELD_LENGTH)
			return i;
	return w->f.fields;
}

/* What a record must be to fit between its delimiters. */
static int check_shape(const struct framing_writer *w, const struct frecord *rec,
		       uint64_t size, struct framing_out *out)
{
	const struct lzv_item *it = &rec->it;
	int stop = w->f.kind == FRAMING_LINES ? '\n' : 0;

	if (it->more)
		return refuse(out, rec, "a record in parts fits only into .lzv");
	switch (w->f.kind) {
	case FRAMING_FIXED:
		return size == w->f.fixed ? 0 :
		       refuse(out, rec, "a record isn't as long as its slot");
	case FRAMING_LINES:
	case FRAMING_NUL:
		return it->body_size && memchr(it->body, stop, it->body_size) ?
		       refuse(out, rec, "a record holds the delimiter") : 0;
	case FRAMING_WHOLE:
		return w->records ? refuse(out, rec, "one record at most fits") : 0;
	default:
		return 0;
	}
}

static int plain_before(struct framing_writer *w, struct frecord *rec,
			struct framing_out *out)
{
	int at = length_field(w), bad;
	uint8_t inner[32];
	struct framing_out in = { .p = inner, .err = out->err };
	size_t n;

	/* A delimiter comes before a record, so that the last may lack it. */
	if (w->records && is_delimited(&w->f))
		out->p[out->n++] = w->f.kind == FRAMING_LINES ? '\n' : 0;
	bad = fields_put(w, rec, 0, at, out);
	if (!bad)
		bad = fields_put(w, rec, at < w->f.fields ? at + 1 : at,
				 w->f.fields, &in);
	if (!bad)
		bad = check_shape(w, rec, out->n + in.n + rec->it.body_size, out);
	if (bad)
		return bad;
	if (at < w->f.fields) {
		n = number_put(w->f.length, out->p + out->n, in.n + rec->it.body_size);
		if (!n)
			return refuse(out, rec, "a length doesn't fit its field");
		out->n += n;
	}
	/* cppcheck-suppress uninitvar ; fields_put() filled in.n bytes of it */
	memcpy(out->p + out->n, inner, in.n);
	out->n += in.n;
	return 0;
}

static int plain_note(struct framing_writer *w, const struct frecord *rec,
		      struct framing_out *out)
{
	(void)out;
	if (framing_note_named(rec, "lines.open-end"))
		w->open_end = true;
	return 0;
}

static int plain_finish(struct framing_writer *w, struct framing_out *out)
{
	if (w->records && !w->open_end && is_delimited(&w->f))
		out->p[out->n++] = w->f.kind == FRAMING_LINES ? '\n' : 0;
	return 0;
}

const struct framing_ops framing_plain = {
	.next = plain_next,
	.begin = plain_begin,
	.before = plain_before,
	.note = plain_note,
	.end = plain_finish,
};
