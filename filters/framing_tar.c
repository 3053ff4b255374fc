// SPDX-License-Identifier: Apache-2.0
/*
 * framing_tar.c - the files in a tar archive as records
 *
 * We walk the blocks ourselves instead of through libarchive: it would write
 * every header anew, and our two pax keywords it can't write at all.  So each
 * byte that isn't a file's content passes as it came, in notes:
 *
 *	tar.head	the header blocks of an entry, in front of its record
 *	tar.data	what follows other entries' headers, and what follows the end
 *	tar.zeros	blocks of zeros, a byte for each
 *	tar.open-end	the archive has no end blocks
 *
 * The writer holds a file's head back until it knows the record's encoding.
 * An entry that isn't a plain file (a link, a device, a sparse file) is no record;
 * it passes as it is.  Padding behind a file is zeros, whatever it was.
 *
 * cpio and zip come and go as tar: archive.c and archive_make.c translate them.
 * Where the caller's word says what all their files are (f.encoding), no keyword
 * is looked for or written.
 */
#include "framing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lzvolt.h"
#include "tar.h"

#define PIECE		((size_t)128 << 10)	/* of a tar.data note */
#define ZEROS_MAX	((size_t)2048)		/* blocks of a tar.zeros note */

/* framing_reader.phase: what comes next */
enum { HEAD, FILE_DATA, OTHER_DATA, AFTER_END, DONE };

static int bad(const struct framing_reader *r, struct framing_in *in, int code,
	       size_t at, const char *what)
{
	return filter_fail(in->err, code, in->offset + at, "entry %llu: %s",
			   (unsigned long long)r->entries, what);
}

/* Pieces don't depend on how the input comes. */
static ptrdiff_t read_data(struct framing_reader *r, struct framing_in *in,
			   struct frecord *rec)
{
	size_t n = r->left < PIECE ? (size_t)r->left : PIECE;

	if (in->n < n && !(r->phase == AFTER_END && in->eof))
		return framing_more(in, n, "the data of a tar entry");
	if (in->n < n)
		n = in->n;
	if (!n)
		return 0;
	framing_note_is(rec, "tar.data", in->p, n);
	if (r->phase == AFTER_END)
		return (ptrdiff_t)n;
	r->left -= n;
	r->phase = r->left ? OTHER_DATA : HEAD;
	return (ptrdiff_t)n;
}

static ptrdiff_t read_zeros(struct framing_reader *r, struct framing_in *in,
			    struct frecord *rec)
{
	size_t n = 1;

	while (n < ZEROS_MAX && in->n >= (n + 1) * TAR_BLOCK &&
	       tar_is_zero(in->p + n * TAR_BLOCK))
		n++;
	if (n < ZEROS_MAX && in->n < (n + 1) * TAR_BLOCK && !in->eof)
		return framing_more(in, (n + 1) * TAR_BLOCK, "");
	framing_note_is(rec, "tar.zeros", in->p, n);
	r->began = true;
	return (ptrdiff_t)(n * TAR_BLOCK);
}

/* The end, or what has no header's form behind the end. */
static ptrdiff_t read_end(struct framing_reader *r, struct framing_in *in,
			  struct frecord *rec)
{
	if (in->n) {
		r->phase = AFTER_END;
		r->left = PIECE;
		return read_data(r, in, rec);
	}
	r->phase = DONE;
	if (!r->began)
		framing_note_is(rec, "tar.open-end", (const uint8_t *)"", 0);
	return 0;
}

/* By the caller's word: its decoded size is in the value, or to be measured. */
static void file_by_word(const struct framing *f, struct frecord *rec)
{
	struct lzv_item *it = &rec->it;
	int64_t n = f->encoding == LZV_LZVOLT ?
		    lzvolt_declared_size(it->body, it->body_size) : -1;

	rec->fresh = false;
	rec->sized = n >= 0;
	rec->raw_max = f->size_max ? f->size_max : LZV_RAW_MAX;
	it->encoding = (unsigned)f->encoding;
	it->raw_size = n >= 0 ? (uint64_t)n : 0;
}

static void file_is(const struct tar_entry *e, const uint8_t *p, struct frecord *rec)
{
	struct lzv_item *it = &rec->it;

	rec->what = FRECORD_ITEM;
	rec->sized = true;
	rec->fresh = e->encoding == LZV_RAW;
	rec->dir = e->dir;
	rec->dir_size = e->dir_size;
	it->encoding = (unsigned)e->encoding;
	it->raw_size = e->encoding == LZV_RAW ? e->size : e->raw_size;
	it->has_key = true;
	it->key = e->name;
	it->key_size = e->name_size;
	it->body = p + e->head;
	it->body_size = e->size;
}

static ptrdiff_t read_file(struct framing_reader *r, const struct tar_entry *e,
			   struct framing_in *in, struct frecord *rec)
{
	uint64_t limit = r->f.limit < LZV_RAW_MAX ? r->f.limit : LZV_RAW_MAX;
	uint64_t size = e->size, n;

	if (e->encoding != LZV_RAW && e->raw_size > size)
		size = e->raw_size;
	if (size > limit)
		return filter_fail(in->err, FILTER_E_MEMORY, in->offset,
				   "entry %llu: a file of %llu bytes is above the limit of %llu",
				   (unsigned long long)r->entries,
				   (unsigned long long)size,
				   (unsigned long long)limit);
	if (r->phase == HEAD) {
		framing_note_is(rec, "tar.head", in->p, e->head);
		r->phase = FILE_DATA;
		return 0;
	}
	n = e->head + e->size + tar_padding(e->size);
	if (in->n < n)
		return framing_more(in, n, "a file of a tar archive");
	file_is(e, in->p, rec);
	if (r->f.encoding > LZV_RAW)
		file_by_word(&r->f, rec);
	r->phase = HEAD;
	r->began = false;
	r->entries++;
	return (ptrdiff_t)n;
}

static ptrdiff_t read_head(struct framing_reader *r, struct framing_in *in,
			   struct frecord *rec)
{
	struct tar_entry e;
	const char *wrong;
	size_t want;
	int got;

	if (in->n < TAR_BLOCK && in->eof && (r->began || !in->n))
		return read_end(r, in, rec);
	if (in->n < TAR_BLOCK)
		return framing_more(in, TAR_BLOCK, "a tar header");
	if (tar_is_zero(in->p))
		return read_zeros(r, in, rec);
	if (r->began && !tar_is_header(in->p))
		return read_end(r, in, rec);
	got = tar_entry_get(in->p, in->n, &e, &want, &wrong);
	if (got < 0)
		return bad(r, in, FILTER_E_CORRUPT, want, wrong);
	if (!got)
		return framing_more(in, want, "a tar header");
	if (e.file)
		return read_file(r, &e, in, rec);
	framing_note_is(rec, "tar.head", in->p, e.head);
	r->left = e.size + tar_padding(e.size);
	r->phase = r->left ? OTHER_DATA : HEAD;
	r->began = false;
	r->entries++;
	return (ptrdiff_t)e.head;
}

static ptrdiff_t tar_next(struct framing_reader *r, struct framing_in *in,
			  struct frecord *rec)
{
	if (r->phase == DONE)
		return 0;
	if (r->phase == OTHER_DATA || r->phase == AFTER_END)
		return read_data(r, in, rec);
	return read_head(r, in, rec);
}

/* framing_writer.phase */
enum { OPEN, ENDED };

static int refuse(struct framing_out *out, const struct frecord *rec, const char *what)
{
	return filter_fail(out->err, FILTER_E_UNSUPPORTED, rec->offset, "%s", what);
}

static bool hold_room(struct framing_writer *w, size_t n)
{
	uint8_t *p;

	if (n <= w->held_cap)
		return true;
	p = realloc(w->held, n);
	if (!p)
		return false;
	w->held = p;
	w->held_cap = n;
	return true;
}

/* A head for a record that came without one: its key is the name. */
static int make_head(struct framing_writer *w, const struct frecord *rec,
		     struct framing_out *out)
{
	const struct lzv_item *it = &rec->it;
	char number[32];
	int n;

	if (!hold_room(w, it->key_size + TAR_EDIT_ROOM))
		return filter_fail(out->err, FILTER_E_MEMORY, rec->offset, "out of memory");
	if (it->key_size > TAR_HEAD_MAX / 2 ||
	    (it->key_size && memchr(it->key, 0, it->key_size)))
		return refuse(out, rec, "the key can't be a file's name");
	n = snprintf(number, sizeof(number), "record-%08llu",
		     (unsigned long long)w->records);
	w->held_size = it->key_size ? tar_entry_new(it->key, it->key_size, w->held) :
		       tar_entry_new((uint8_t *)number, (size_t)n, w->held);
	return 0;
}

static int tar_before(struct framing_writer *w, struct frecord *rec,
		      struct framing_out *out)
{
	const struct lzv_item *it = &rec->it;
	struct tar_entry e;
	const char *wrong;
	size_t want;
	int failed;

	if (it->more)
		return refuse(out, rec, "a record in parts fits only into .lzv");
	failed = w->held_size ? 0 : make_head(w, rec, out);
	if (failed)
		return failed;
	if (tar_entry_get(w->held, w->held_size, &e, &want, &wrong) != 1)
		return refuse(out, rec, "a record's head isn't a tar header");
	out->n = tar_entry_edit(w->held, &e, w->f.encoding == FRAMING_NO_ENCODING ?
				(int)it->encoding : LZV_RAW, it->raw_size,
				it->body_size, out->p);
	w->held_size = 0;
	w->phase = OPEN;
	return 0;
}

static int tar_after(struct framing_writer *w, const struct frecord *rec,
		     struct framing_out *out)
{
	(void)w;
	out->n = tar_padding(rec->it.body_size);
	memset(out->p, 0, out->n);
	return 0;
}

static int note_head(struct framing_writer *w, const struct frecord *rec,
		     struct framing_out *out)
{
	struct tar_entry e;
	const char *wrong;
	size_t n, want;

	if (!framing_note_bytes(rec, out->p, TAR_HEAD_MAX, &n) ||
	    tar_entry_get(out->p, n, &e, &want, &wrong) != 1 || e.head != n)
		return refuse(out, rec, "a note isn't a tar header");
	w->phase = OPEN;
	w->held_size = 0;
	if (!e.file) {
		out->n = n;
		return 0;
	}
	if (!hold_room(w, n))
		return filter_fail(out->err, FILTER_E_MEMORY, rec->offset, "out of memory");
	memcpy(w->held, out->p, n);
	w->held_size = n;
	out->held = true;
	return 0;
}

static int tar_note(struct framing_writer *w, const struct frecord *rec,
		    struct framing_out *out)
{
	if (framing_note_named(rec, "tar.head"))
		return rec->text_size > 2 * TAR_HEAD_MAX ?
		       refuse(out, rec, "a note isn't a tar header") :
		       note_head(w, rec, out);
	if (framing_note_named(rec, "tar.data") &&
	    !framing_note_bytes(rec, out->p, rec->text_size, &out->n))
		return refuse(out, rec, "a note isn't hexadecimal");
	if (framing_note_named(rec, "tar.zeros")) {
		w->phase = ENDED;
		out->n = (rec->hex ? rec->text_size / 2 : rec->text_size) * TAR_BLOCK;
		memset(out->p, 0, out->n);
	}
	if (framing_note_named(rec, "tar.open-end")) {
		w->phase = ENDED;
		out->held = true;
	}
	return 0;
}

static int tar_finish(struct framing_writer *w, struct framing_out *out)
{
	if (w->phase == ENDED)
		return 0;
	out->n = 2 * TAR_BLOCK;
	memset(out->p, 0, out->n);
	return 0;
}

size_t framing_tar_room(const struct framing_writer *w, const struct frecord *rec)
{
	if (!rec)
		return 2 * TAR_BLOCK;
	if (rec->what != FRECORD_NOTE)
		return w->held_size + 2 * TAR_EDIT_ROOM + rec->it.key_size;
	if (framing_note_named(rec, "tar.zeros"))
		return rec->text_size * TAR_BLOCK + TAR_BLOCK;
	return rec->text_size + TAR_BLOCK;
}

const struct framing_ops framing_tar = {
	.next = tar_next,
	.before = tar_before,
	.after = tar_after,
	.note = tar_note,
	.end = tar_finish,
	.takes = 1 << LZV_RAW | 1 << LZV_LZ4 | 1 << LZV_LZVOLT,
};

static ptrdiff_t foreign_next(struct framing_reader *r, struct framing_in *in,
			      struct frecord *rec)
{
	(void)r;
	(void)rec;
	return filter_fail(in->err, FILTER_E_UNSUPPORTED, in->offset,
			   "cpio and zip are for vconvert alone");
}

static int foreign_before(struct framing_writer *w, struct frecord *rec,
			  struct framing_out *out)
{
	(void)w;
	return refuse(out, rec, "cpio and zip are for vconvert alone");
}

const struct framing_ops framing_foreign = {
	.next = foreign_next,
	.before = foreign_before,
};
