// SPDX-License-Identifier: Apache-2.0
/*
 * framing_block.c - Hadoop block streams and lz4-java LZ4Block streams
 *
 * Hadoop (BlockCompressorStream with Lz4Codec): a big-endian decoded size,
 * then chunks, each a big-endian packed size and an LZ4 block, until they make
 * up that size.  A block is a record, a chunk one of its parts.  A chunk's
 * decoded size stands nowhere unless it is its block's only one: its tokens
 * are walked.  A block of several chunks has its size in a note, since a
 * writer must say it before it has seen them all.
 *
 * lz4-java (LZ4BlockOutputStream): "LZ4Block", a token (method and level),
 * packed size, decoded size, XXH32 of the decoded bytes (28 bits), the bytes.
 * The level and the closing block are notes.
 */
#include "framing.h"

#include <string.h>

#include "mem.h"
#include "retoken.h"

static uint32_t load_be32(const uint8_t *p)
{
	return __builtin_bswap32(load_le32(p));
}

static void store_be32(uint8_t *p, uint32_t v)
{
	store_le32(p, __builtin_bswap32(v));
}

static int refuse(struct framing_out *out, const struct frecord *rec,
		  const char *what)
{
	return filter_fail(out->err, FILTER_E_UNSUPPORTED, rec->offset, "%s", what);
}

static int corrupt(struct framing_in *in, size_t at, const char *what)
{
	return filter_fail(in->err, FILTER_E_CORRUPT, in->offset + at, "%s", what);
}

static void empty_record(struct frecord *rec, const uint8_t *p)
{
	rec->what = FRECORD_ITEM;
	rec->it.encoding = LZV_RAW;
	rec->it.body = p;
	rec->sized = true;
}

/* A chunk whose sizes stand at p: `head` bytes before its own size field. */
static ptrdiff_t chunk_read(struct framing_reader *r, struct framing_in *in,
			    size_t head, struct frecord *rec)
{
	const uint8_t *p = in->p + head + 4;
	uint64_t size;
	int64_t raw;

	if (in->n < head + 4)
		return framing_more(in, head + 4, "a Hadoop block");
	size = load_be32(in->p + head);
	if (size > r->left + r->left / 255 + 16)
		return corrupt(in, head, "a Hadoop chunk longer than its block can need");
	if (in->n - head - 4 < size)
		return framing_more(in, head + 4 + size, "a Hadoop chunk");
	raw = retoken_lz4_size(p, size, r->left);
	if (raw < 0)
		return corrupt(in, head + 4,
			       "a Hadoop chunk that is no LZ4 block of its block's size");
	if (head && (uint64_t)raw < r->left) {
		/* more chunks will come: first the block's size, as a note */
		framing_note_is(rec, "hadoop.block", in->p, 4);
		r->phase = 1;
		return 4;
	}
	rec->what = FRECORD_ITEM;
	rec->it.encoding = LZV_LZ4;
	rec->it.raw_size = raw;
	rec->it.body = p;
	rec->it.body_size = size;
	rec->sized = true;
	r->left -= raw;
	rec->it.more = r->left > 0;
	r->phase = r->left > 0;
	return (ptrdiff_t)(head + 4 + size);
}

static ptrdiff_t hadoop_next(struct framing_reader *r, struct framing_in *in,
			     struct frecord *rec)
{
	if (r->phase)
		return chunk_read(r, in, 0, rec);
	if (!in->n && in->eof)
		return 0;
	if (in->n < 4)
		return framing_more(in, 4, "a Hadoop block's size");
	r->left = load_be32(in->p);
	if (r->left > r->f.limit)
		return filter_fail(in->err, FILTER_E_MEMORY, in->offset,
				   "a Hadoop block of %llu bytes is above the limit of %llu",
				   (unsigned long long)r->left,
				   (unsigned long long)r->f.limit);
	if (!r->left) {
		empty_record(rec, in->p);
		return 4;
	}
	return chunk_read(r, in, 4, rec);
}

static int hadoop_before(struct framing_writer *w, struct frecord *rec,
			 struct framing_out *out)
{
	const struct lzv_item *it = &rec->it;

	if (it->encoding == LZV_RAW && it->raw_size)
		return refuse(out, rec, "a Hadoop stream holds LZ4 blocks alone");
	if (!w->inside) {
		if (it->more && !w->total)
			return refuse(out, rec, "a record in parts without its size in a note");
		store_be32(out->p, (uint32_t)(it->more ? w->total : it->raw_size));
		out->n = 4;
	}
	w->inside = it->more;
	w->total = 0;
	if (it->encoding == LZV_RAW)
		return 0;
	store_be32(out->p + out->n, (uint32_t)it->body_size);
	out->n += 4;
	return 0;
}

static int hadoop_note(struct framing_writer *w, const struct frecord *rec,
		       struct framing_out *out)
{
	uint8_t size[4];
	size_t n;

	if (!framing_note_named(rec, "hadoop.block"))
		return 0;
	if (!framing_note_bytes(rec, size, sizeof(size), &n) || n != 4)
		return refuse(out, rec, "a note isn't a Hadoop block's size");
	w->total = load_be32(size);
	return 0;
}

const struct framing_ops framing_hadoop = {
	.next = hadoop_next,
	.before = hadoop_before,
	.note = hadoop_note,
	.takes = 1 << LZV_LZ4 | 1 << LZV_RAW,
};

#define JAVA_HEAD	21
#define JAVA_RAW	0x10
#define JAVA_LZ4	0x20
#define JAVA_MAX	((uint64_t)32 << 20)

static const uint8_t java_magic[8] = "LZ4Block";

static ptrdiff_t java_note(struct framing_reader *r, struct frecord *rec,
			   uint8_t level)
{
	r->level = level;
	r->spare[0] = level;
	framing_note_is(rec, "lz4-java.level", r->spare, 1);
	r->phase = 1;
	return 0;
}

static ptrdiff_t java_block(struct framing_in *in, struct frecord *rec)
{
	const uint8_t *p = in->p;
	uint64_t size = load_le32(p + 9), raw = load_le32(p + 13);

	if (raw > JAVA_MAX || size > raw + raw / 255 + 16 ||
	    (p[8] >> 4 == JAVA_RAW >> 4 && size != raw))
		return corrupt(in, 9, "impossible sizes in an LZ4Block header");
	if (in->n - JAVA_HEAD < size)
		return framing_more(in, JAVA_HEAD + size, "an LZ4Block");
	rec->what = FRECORD_ITEM;
	rec->it.encoding = p[8] >> 4 == JAVA_RAW >> 4 ? LZV_RAW : LZV_LZ4;
	rec->it.raw_size = raw;
	rec->it.body = p + JAVA_HEAD;
	rec->it.body_size = size;
	rec->sized = true;
	rec->summed = true;
	rec->sum32 = load_le32(p + 17);
	return (ptrdiff_t)(JAVA_HEAD + size);
}

static ptrdiff_t java_next(struct framing_reader *r, struct framing_in *in,
			   struct frecord *rec)
{
	unsigned method;

	if (!in->n && in->eof)
		return 0;
	if (in->n < JAVA_HEAD)
		return framing_more(in, JAVA_HEAD, "an LZ4Block header");
	method = in->p[8] & 0xf0;
	if (memcmp(in->p, java_magic, 8) || (method != JAVA_RAW && method != JAVA_LZ4))
		return corrupt(in, 0, "not an LZ4Block header");
	if (!load_le32(in->p + 13)) {
		if (load_le32(in->p + 9) || load_le32(in->p + 17))
			return corrupt(in, 9, "an LZ4Block that ends the stream isn't empty");
		framing_note_is(rec, "lz4-java.end", in->p + 8, 1);
		return JAVA_HEAD;
	}
	if (!r->phase || (in->p[8] & 15) != r->level)
		return java_note(r, rec, in->p[8] & 15);
	return java_block(in, rec);
}

static size_t java_head(uint8_t *p, unsigned token, uint64_t size, uint64_t raw,
			uint32_t sum)
{
	memcpy(p, java_magic, 8);
	p[8] = (uint8_t)token;
	store_le32(p + 9, (uint32_t)size);
	store_le32(p + 13, (uint32_t)raw);
	store_le32(p + 17, sum);
	return JAVA_HEAD;
}

/* log2 of the block size from 1 KiB on, as lz4-java's level nibble is. */
static unsigned java_level(uint64_t raw)
{
	unsigned level = 0;

	while (level < 15 && (uint64_t)1024 << level < raw)
		level++;
	return level;
}

static int java_before(struct framing_writer *w, struct frecord *rec,
		       struct framing_out *out)
{
	const struct lzv_item *it = &rec->it;
	unsigned method = it->encoding == LZV_RAW ? JAVA_RAW : JAVA_LZ4;

	if (it->more || !rec->summed || it->raw_size > JAVA_MAX || !it->raw_size)
		return refuse(out, rec, "an LZ4Block has 1 byte to 32 MiB, in one piece");
	if (!w->phase || (uint64_t)1024 << w->level < it->raw_size)
		w->level = (uint8_t)java_level(it->raw_size);
	w->phase = 1;
	w->inside = true;
	out->n = java_head(out->p, method | w->level, it->body_size, it->raw_size,
			   rec->sum32);
	return 0;
}

static int java_write_note(struct framing_writer *w, const struct frecord *rec,
			   struct framing_out *out)
{
	uint8_t byte;
	size_t n;
	bool end = framing_note_named(rec, "lz4-java.end");

	if (!end && !framing_note_named(rec, "lz4-java.level"))
		return 0;
	if (!framing_note_bytes(rec, &byte, 1, &n) || n != 1)
		return refuse(out, rec, "a note isn't one byte");
	w->began = true;
	if (end) {
		out->n = java_head(out->p, byte, 0, 0, 0);
		w->inside = false;
	} else {
		w->level = byte & 15;
		w->phase = 1;
	}
	return 0;
}

static int java_finish(struct framing_writer *w, struct framing_out *out)
{
	if (w->inside || !w->began)
		out->n = java_head(out->p, JAVA_RAW | w->level, 0, 0, 0);
	return 0;
}

const struct framing_ops framing_lz4_java = {
	.next = java_next,
	.before = java_before,
	.note = java_write_note,
	.end = java_finish,
	.takes = 1 << LZV_RAW | 1 << LZV_LZ4,
};
