// SPDX-License-Identifier: Apache-2.0
/*
 * framing_lz4.c - LZ4 frames and legacy files as containers of records
 *
 * A block is a record.  What a frame has beside its blocks becomes notes:
 * lz4-frame.head (the descriptor), lz4-frame.end (end mark and content
 * checksum), lz4-frame.skip (a skippable frame), lz4-legacy.head (the magic),
 * so that the file comes back whole.  A block checksum belongs to the block's
 * bytes: it is verified here and made again there.
 *
 * Blocks of a frame that needs a dictionary, or each the block before, are no
 * records of their own.  They are kept as they are (lz4-frame.kept instead of
 * .head), as raw records that hold LZ4's bytes with their length in front.
 *
 * Both containers are accepted wherever one is, as the lz4 program does.
 */
#include "framing.h"

#include <string.h>
#include <xxhash.h>

#include "mem.h"

#define FRAME_MAGIC	0x184d2204u
#define LEGACY_MAGIC	0x184c2102u
#define SKIP_MAGIC	0x184d2a50u	/* to ...5f */
#define STORED		0x80000000u
#define LEGACY_MAX	((uint64_t)8 << 20)
#define SKIP_PIECE	((size_t)128 << 10)

/* Bits of a descriptor's first byte. */
#define INDEPENDENT	0x20
#define BLOCK_CHECK	0x10
#define CONTENT_SIZE	0x08
#define CONTENT_CHECK	0x04
#define DICT_ID		0x01

enum phase { OUTSIDE, FRAME, LEGACY, SKIP };

static uint64_t block_max_of(unsigned code)
{
	return code < 4 || code > 7 ? 0 : (uint64_t)1 << (8 + 2 * code);
}

static size_t header_size(unsigned flags)
{
	return 7 + (flags & CONTENT_SIZE ? 8 : 0) + (flags & DICT_ID ? 4 : 0);
}

static bool is_kept(uint32_t flags)
{
	return !(flags & INDEPENDENT) || (flags & DICT_ID);
}

/* Reads a descriptor at p + 4: false where it isn't one. */
static bool descriptor_get(const uint8_t *p, size_t n, uint32_t *flags,
			   uint64_t *block_max)
{
	*flags = p[4];
	*block_max = block_max_of(p[5] >> 4);
	return p[4] >> 6 == 1 && !(p[4] & 2) && *block_max && !(p[5] & 0x8f) &&
	       p[n - 1] == (XXH32(p + 4, n - 5, 0) >> 8 & 255);
}

static ptrdiff_t read_header(struct framing_reader *r, struct framing_in *in,
			     struct frecord *rec)
{
	size_t n;

	if (in->n < 7)
		return framing_more(in, 7, "an LZ4 frame's descriptor");
	n = header_size(in->p[4]);
	if (in->n < n)
		return framing_more(in, n, "an LZ4 frame's descriptor");
	if (!descriptor_get(in->p, n, &r->flags, &r->block_max))
		return filter_fail(in->err, FILTER_E_CORRUPT, in->offset,
				   "malformed descriptor of an LZ4 frame");
	framing_note_is(rec, is_kept(r->flags) ? "lz4-frame.kept" : "lz4-frame.head",
			in->p, n);
	r->phase = FRAME;
	return (ptrdiff_t)n;
}

static ptrdiff_t read_skip(struct framing_reader *r, struct framing_in *in,
			   struct frecord *rec)
{
	size_t n = r->left < SKIP_PIECE ? (size_t)r->left : SKIP_PIECE;

	/* However it arrives, it is cut alike. */
	if (in->n < n)
		return framing_more(in, n, "a skippable frame");
	framing_note_is(rec, "lz4-frame.skip", in->p, n);
	r->left -= n;
	r->phase = r->left ? SKIP : OUTSIDE;
	return (ptrdiff_t)n;
}

static ptrdiff_t read_outside(struct framing_reader *r, struct framing_in *in,
			      struct frecord *rec)
{
	uint32_t magic;

	if (!in->n && in->eof)
		return 0;
	if (in->n < 4)
		return framing_more(in, 4, "a magic number");
	magic = load_le32(in->p);
	if (magic == FRAME_MAGIC)
		return read_header(r, in, rec);
	if (magic == LEGACY_MAGIC) {
		framing_note_is(rec, "lz4-legacy.head", in->p, 4);
		r->phase = LEGACY;
		return 4;
	}
	if ((magic & ~15u) != SKIP_MAGIC)
		return filter_fail(in->err, FILTER_E_CORRUPT, in->offset,
				   "neither an LZ4 frame nor a legacy file");
	if (in->n < 8)
		return framing_more(in, 8, "a skippable frame");
	r->left = 8 + (uint64_t)load_le32(in->p + 4);
	return read_skip(r, in, rec);
}

static ptrdiff_t read_end(struct framing_reader *r, struct framing_in *in,
			  struct frecord *rec)
{
	size_t n = 4 + (r->flags & CONTENT_CHECK ? 4 : 0);

	if (in->n < n)
		return framing_more(in, n, "the end of an LZ4 frame");
	framing_note_is(rec, "lz4-frame.end", in->p, n);
	r->phase = OUTSIDE;
	return (ptrdiff_t)n;
}

static void block_is(struct frecord *rec, const uint8_t *p, size_t n,
		     bool stored, uint64_t max)
{
	rec->what = FRECORD_ITEM;
	rec->it.encoding = stored ? LZV_RAW : LZV_LZ4;
	rec->it.body = p;
	rec->it.body_size = n;
	rec->it.raw_size = stored ? n : 0;
	rec->sized = stored;
	rec->raw_max = max;
}

static ptrdiff_t read_block(struct framing_reader *r, struct framing_in *in,
			    struct frecord *rec)
{
	size_t tail = r->flags & BLOCK_CHECK ? 4 : 0, size;
	uint32_t field;

	if (in->n < 4)
		return framing_more(in, 4, "an LZ4 frame");
	field = load_le32(in->p);
	if (!field)
		return read_end(r, in, rec);
	size = field & ~STORED;
	if (size > r->block_max)
		return filter_fail(in->err, FILTER_E_CORRUPT, in->offset,
				   "a block of %zu bytes, the frame allows %llu",
				   size, (unsigned long long)r->block_max);
	if (in->n < 4 + size + tail)
		return framing_more(in, 4 + size + tail, "a block of an LZ4 frame");
	if (tail && load_le32(in->p + 4 + size) != XXH32(in->p + 4, size, 0))
		return filter_fail(in->err, FILTER_E_CHECK, in->offset + 4,
				   "a block doesn't match its checksum");
	block_is(rec, in->p + 4, size, field & STORED, r->block_max);
	if (is_kept(r->flags)) {
		block_is(rec, in->p, 4 + size, true, 0);
		rec->verbatim = true;
	}
	return (ptrdiff_t)(4 + size + tail);
}

static ptrdiff_t read_legacy(struct framing_reader *r, struct framing_in *in,
			     struct frecord *rec)
{
	size_t size;

	if (!in->n && in->eof)
		return 0;
	if (in->n < 4)
		return framing_more(in, 4, "a legacy file");
	size = load_le32(in->p);
	if (size == FRAME_MAGIC || size == LEGACY_MAGIC ||
	    (size & ~15u) == SKIP_MAGIC) {
		r->phase = OUTSIDE;
		return read_outside(r, in, rec);
	}
	if (!size || size > LEGACY_MAX + LEGACY_MAX / 255 + 16)
		return filter_fail(in->err, FILTER_E_CORRUPT, in->offset,
				   "a block of %zu bytes is impossible in a legacy file",
				   size);
	if (in->n < 4 + size)
		return framing_more(in, 4 + size, "a block of a legacy file");
	block_is(rec, in->p + 4, size, false, LEGACY_MAX);
	return (ptrdiff_t)(4 + size);
}

static ptrdiff_t lz4_next(struct framing_reader *r, struct framing_in *in,
			  struct frecord *rec)
{
	switch (r->phase) {
	case FRAME:
		return read_block(r, in, rec);
	case LEGACY:
		return read_legacy(r, in, rec);
	case SKIP:
		return read_skip(r, in, rec);
	default:
		return read_outside(r, in, rec);
	}
}

/* A frame of our own: independent blocks of 4 MiB, no checksums. */
static void frame_begin(struct framing_writer *w, struct framing_out *out)
{
	uint8_t *p = out->p + out->n;

	store_le32(p, FRAME_MAGIC);
	p[4] = 0x40 | INDEPENDENT;
	p[5] = 0x70;
	p[6] = XXH32(p + 4, 2, 0) >> 8 & 255;
	out->n += 7;
	w->began = true;
	w->phase = FRAME;
	w->flags = p[4];
	w->block_max = block_max_of(7);
}

/* Ends a frame that no note ends. */
static void frame_end(struct framing_writer *w, struct framing_out *out)
{
	if (w->phase == FRAME) {
		store_le32(out->p + out->n, 0);
		out->n += 4;
	}
	w->phase = OUTSIDE;
}

static int refuse(struct framing_out *out, const struct frecord *rec,
		  const char *what)
{
	return filter_fail(out->err, FILTER_E_UNSUPPORTED, rec->offset, "%s", what);
}

static int frame_before(struct framing_writer *w, struct frecord *rec,
			struct framing_out *out)
{
	const struct lzv_item *it = &rec->it;

	if (w->phase == LEGACY) {
		if (it->encoding != LZV_LZ4)
			return refuse(out, rec, "a legacy file holds LZ4 blocks alone");
		store_le32(out->p, (uint32_t)it->body_size);
		out->n = 4;
		return 0;
	}
	if (w->phase == OUTSIDE)
		frame_begin(w, out);
	if (is_kept(w->flags))
		return it->encoding == LZV_RAW ? 0 :
		       refuse(out, rec, "a kept frame's blocks can't change");
	if (it->raw_size > w->block_max || it->body_size > w->block_max)
		return refuse(out, rec, "a record is longer than the frame's blocks");
	store_le32(out->p + out->n, (uint32_t)it->body_size |
		   (it->encoding == LZV_RAW ? STORED : 0));
	out->n += 4;
	return 0;
}

static int frame_after(struct framing_writer *w, const struct frecord *rec,
		       struct framing_out *out)
{
	size_t skip = is_kept(w->flags) ? 4 : 0;

	if (w->phase != FRAME || !(w->flags & BLOCK_CHECK) ||
	    rec->it.body_size < skip)
		return 0;
	store_le32(out->p, XXH32(rec->it.body + skip, rec->it.body_size - skip, 0));
	out->n = 4;
	return 0;
}

static int note_head(struct framing_writer *w, const struct frecord *rec,
		     struct framing_out *out)
{
	uint8_t *p;
	size_t n;

	frame_end(w, out);
	p = out->p + out->n;
	if (!framing_note_bytes(rec, p, 32, &n) || n < 7 ||
	    n != header_size(p[4]) || load_le32(p) != FRAME_MAGIC ||
	    !descriptor_get(p, n, &w->flags, &w->block_max))
		return refuse(out, rec, "a note isn't an LZ4 frame's descriptor");
	out->n += n;
	w->phase = FRAME;
	return 0;
}

static int note_bytes(const struct frecord *rec, struct framing_out *out)
{
	size_t n;

	if (!framing_note_bytes(rec, out->p + out->n, rec->text_size, &n))
		return refuse(out, rec, "a note isn't hexadecimal");
	out->n += n;
	return 0;
}

static int frame_note(struct framing_writer *w, const struct frecord *rec,
		      struct framing_out *out)
{
	w->began = true;
	if (framing_note_named(rec, "lz4-frame.head") ||
	    framing_note_named(rec, "lz4-frame.kept"))
		return note_head(w, rec, out);
	if (framing_note_named(rec, "lz4-frame.end") && w->phase == FRAME) {
		w->phase = OUTSIDE;
		return note_bytes(rec, out);
	}
	if (framing_note_named(rec, "lz4-frame.skip")) {
		frame_end(w, out);
		return note_bytes(rec, out);
	}
	if (framing_note_named(rec, "lz4-legacy.head")) {
		frame_end(w, out);
		store_le32(out->p + out->n, LEGACY_MAGIC);
		out->n += 4;
		w->phase = LEGACY;
	}
	return 0;
}

static int frame_finish(struct framing_writer *w, struct framing_out *out)
{
	if (!w->began)
		frame_begin(w, out);
	frame_end(w, out);
	return 0;
}

static int legacy_before(struct framing_writer *w, struct frecord *rec,
			 struct framing_out *out)
{
	if (w->phase == OUTSIDE) {
		store_le32(out->p, LEGACY_MAGIC);
		store_le32(out->p + 4, (uint32_t)rec->it.body_size);
		out->n = 8;
		w->phase = LEGACY;
	} else {
		store_le32(out->p, (uint32_t)rec->it.body_size);
		out->n = 4;
	}
	return rec->it.raw_size <= LEGACY_MAX ? 0 :
	       refuse(out, rec, "a legacy file's records have 8 MiB at most");
}

const struct framing_ops framing_lz4_frame = {
	.next = lz4_next,
	.before = frame_before,
	.after = frame_after,
	.note = frame_note,
	.end = frame_finish,
	.takes = 1 << LZV_RAW | 1 << LZV_LZ4,
};

const struct framing_ops framing_lz4_legacy = {
	.next = lz4_next,
	.before = legacy_before,
	.note = frame_note,
	.takes = 1 << LZV_LZ4,
};
