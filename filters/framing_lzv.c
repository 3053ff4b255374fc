// SPDX-License-Identifier: Apache-2.0
/*
 * framing_lzv.c - .lzv streams as a framing like any other
 *
 * Streams that stand one behind the other are read as one.  Notes come
 * through as they are; a container's own bytes become a note in hexadecimal,
 * since a note's text is UTF-8.
 */
#include "framing.h"

#include <stdlib.h>
#include <string.h>

void framing_reader_seek(struct framing_reader *r, unsigned flags, uint64_t at,
			 unsigned width, bool open_end)
{
	lzv_reader_seek(r->lzv, flags, at, width);
	r->began = true;
	r->open_end = open_end;
}

static void item_is(struct framing_reader *r, const struct lzv_item *it,
		    struct frecord *rec)
{
	rec->what = FRECORD_ITEM;
	rec->it = *it;
	rec->sized = true;
	rec->checked = lzv_reader_checked(r->lzv);
	rec->width = lzv_reader_width(r->lzv);
}

static ptrdiff_t lzv_next(struct framing_reader *r, struct framing_in *in,
			  struct frecord *rec)
{
	struct lzv_item it;
	ptrdiff_t took;
	size_t want = 0;

	if (lzv_reader_at_end(r->lzv))
		lzv_reader_reset(r->lzv);
	if (!in->n && in->eof && r->began &&
	    (lzv_reader_at_start(r->lzv) ||
	     (r->open_end && lzv_reader_between(r->lzv))))
		return 0;
	took = lzv_reader_next(r->lzv, in->p, in->n, in->offset, &want, &it, in->err);
	if (took < 0)
		return took;
	if (!took)
		return framing_more(in, want, "an .lzv stream");
	r->began = true;
	if (it.encoding != LZV_CONTROL) {
		item_is(r, &it, rec);
	} else if (it.kind == LZV_NOTE) {
		rec->what = FRECORD_NOTE;
		rec->hex = true;
		if (!lzv_note_get(&it, &rec->name, &rec->name_size, &rec->text,
				  &rec->text_size))
			return filter_fail(in->err, FILTER_E_CORRUPT, in->offset,
					   "malformed note");
	}
	return took;
}

static int lzv_begin(struct framing_writer *w, struct framing_out *out)
{
	out->n = lzv_writer_head(w->lzv, out->p, 0);
	return 0;
}

static int no_memory(struct framing_out *out)
{
	return filter_fail(out->err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
}

/* A key in two parts becomes one. */
static bool join_key(struct framing_writer *w, struct frecord *rec)
{
	struct lzv_item *it = &rec->it;
	size_t n = rec->dir_size + 1 + it->key_size;

	if (n > w->held_cap) {
		free(w->held);
		w->held = malloc(n);
		w->held_cap = w->held ? n : 0;
	}
	if (!w->held)
		return false;
	memcpy(w->held, rec->dir, rec->dir_size);
	w->held[rec->dir_size] = '/';
	memcpy(w->held + rec->dir_size + 1, it->key, it->key_size);
	it->key = w->held;
	it->key_size = n;
	rec->dir_size = 0;
	return true;
}

static int lzv_before(struct framing_writer *w, struct frecord *rec,
		      struct framing_out *out)
{
	if (rec->dir_size && !join_key(w, rec))
		return no_memory(out);
	if (rec->width != w->width)
		out->n = lzv_writer_width(w->lzv, out->p, rec->width);
	w->width = rec->width;
	rec->it.size = lzv_item_put_head(out->p + out->n, &rec->it) +
		       rec->it.body_size + (w->checked ? 4 : 0);
	if (lzv_writer_item(w->lzv, out->p + out->n, &rec->it))
		return no_memory(out);
	out->n += rec->it.head_size + rec->it.key_size;
	return 0;
}

static int lzv_after(struct framing_writer *w, const struct frecord *rec,
		     struct framing_out *out)
{
	int i;

	for (i = 0; i < 4 && w->checked; i++)
		out->p[out->n++] = (uint8_t)(rec->it.check >> 8 * i);
	out->n += lzv_writer_mark(w->lzv, out->p + out->n);
	return 0;
}

/* name size, name, text: in hexadecimal where they are a container's bytes. */
static size_t note_body(const struct frecord *rec, uint8_t *p)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = varint_put(p, rec->name_size), i;

	memcpy(p + n, rec->name, rec->name_size);
	n += rec->name_size;
	if (rec->hex) {
		memcpy(p + n, rec->text, rec->text_size);
		return n + rec->text_size;
	}
	for (i = 0; i < rec->text_size; i++) {
		p[n++] = (uint8_t)digits[rec->text[i] >> 4];
		p[n++] = (uint8_t)digits[rec->text[i] & 15];
	}
	return n;
}

static int lzv_note(struct framing_writer *w, const struct frecord *rec,
		    struct framing_out *out)
{
	struct lzv_item it = { .encoding = LZV_CONTROL, .kind = LZV_NOTE };
	size_t n = note_body(rec, out->p + 12);

	out->n = lzv_control_put(out->p, LZV_NOTE, out->p + 12, n);
	it.size = it.head_size = out->n;
	return lzv_writer_item(w->lzv, out->p, &it) ? no_memory(out) : 0;
}

/* What an item of an earlier life tells the writer. */
static int replay(struct framing_writer *w, struct lzv_reader *r,
		  const uint8_t *p, uint64_t at, const struct lzv_item *it)
{
	uint8_t unused[LZV_MARK_ROOM];

	/* a mark, and the transpose behind it, the writer has told by itself */
	if (at < lzv_writer_at(w->lzv))
		return 0;
	if (it->encoding == LZV_CONTROL && it->kind == LZV_TRANSPOSE) {
		w->width = lzv_reader_width(r);
		lzv_writer_width(w->lzv, unused, w->width);
		return 0;
	}
	if (lzv_writer_item(w->lzv, p, it))
		return FILTER_E_MEMORY;
	if (it->encoding != LZV_CONTROL)
		lzv_writer_mark(w->lzv, unused);
	return 0;
}

int framing_lzv_resume(struct framing_writer *w, const uint8_t *p, size_t n,
		       struct filter_error *err)
{
	struct lzv_reader *r = lzv_reader_open(0);
	uint8_t header[LZV_HEADER_ROOM];
	struct lzv_item it;
	size_t at, want;
	ptrdiff_t took = 0;

	if (!r)
		return filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
	lzv_writer_head(w->lzv, header, 0);
	for (at = 0; at < n; at += took) {
		took = lzv_reader_next(r, p + at, n - at, at, &want, &it, err);
		if (took <= 0 || memcmp(p, header, LZV_HEADER))
			break;
		if (at && replay(w, r, p + at, at, &it))
			break;
	}
	lzv_reader_close(r);
	if (at == n && lzv_writer_at(w->lzv) == n)
		return 0;
	return filter_fail(err, FILTER_E_CORRUPT, at,
			   "the unfinished output isn't what the journal says");
}

static int lzv_finish(struct framing_writer *w, struct framing_out *out)
{
	out->n = lzv_writer_end(w->lzv, out->p);
	return 0;
}

const struct framing_ops framing_lzv = {
	.next = lzv_next,
	.begin = lzv_begin,
	.before = lzv_before,
	.after = lzv_after,
	.note = lzv_note,
	.end = lzv_finish,
	.takes = 1 << LZV_RAW | 1 << LZV_LZ4 | 1 << LZV_LZVOLT | 1 << LZV_ZSTD |
		 1 << LZV_BROTLI | 1 << LZV_DEFLATE,
};
