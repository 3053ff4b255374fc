/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - the .lzv record stream, lzv(5): its items, writer and reader
 *
 *	record.c	one item: parse, write
 *	record_index.c	the index behind the end
 *	record_order.c	writer and reader: order, marks, totals, limits
 *	record_coder.c	payloads: raw, LZ4, lzvolt ... and transposing
 *	record_filter.c	the codec's row: both block faces
 *
 * Nothing here allocates for a record: states are opened once.  Offsets are
 * from the stream's header unless said otherwise.
 */
#ifndef RECORD_H
#define RECORD_H

#include "filter.h"

/* How a payload is encoded: bits 0-3 of a tag.  Stored in files; never reuse. */
enum lzv_encoding {
	LZV_RAW = 0, LZV_LZ4 = 1, LZV_LZVOLT = 2, LZV_ZSTD = 3, LZV_BROTLI = 4,
	LZV_DEFLATE = 5, LZV_CONTROL = 15,
};
#define LZV_KEY		0x10	/* a key follows the sizes */
#define LZV_MORE	0x20	/* the record goes on in the next item */

/* Control items.  From LZV_OPTIONAL on a reader skips what it doesn't know. */
enum lzv_kind {
	LZV_MARK = 1, LZV_INDEX = 2, LZV_END = 3, LZV_NOTE = 4,
	LZV_TRANSPOSE = 5, LZV_OPTIONAL = 128,
};

/* Flags of the header. */
#define LZV_CHECKED	1	/* every record item carries a check */
#define LZV_INDEXED	2	/* an index and its footer follow the end */

#define LZV_HEADER	8	/* bytes */
#define LZV_FOOTER	16
#define LZV_MARKER	16
#define LZV_ITEM_HEAD	22	/* tag and two varints at most */
#define LZV_RAW_MAX	((uint64_t)536870911)	/* of one item, 2^29 - 1 ... */
#define LZV_LZ4_MAX	((uint64_t)2113929216)	/* ... of an LZ4 block: liblz4's */
#define LZV_KEY_MAX	((uint64_t)1 << 20)
#define LZV_NOTE_MAX	((uint64_t)1 << 20)
#define LZV_INDEX_MAX	((uint64_t)128 << 20)
#define LZV_WIDTH_MAX	65536	/* transpose */
#define LZV_MARK_EVERY	((uint64_t)4 << 20)
#define LZV_MARK_MAX	64	/* bytes of a sync mark, with room to spare */

/* One item, as it stands at `at` (which must stay as long as it is used). */
struct lzv_item {
	unsigned encoding;
	bool has_key, more;
	unsigned kind;			/* of a control item */
	uint64_t raw_size;		/* of a record item */
	uint64_t key_size, body_size;	/* body: payload, or control body */
	size_t head_size;		/* bytes in front of the key */
	uint64_t size;			/* of the whole item */
	const uint8_t *key, *body;
	uint32_t check;
};

/* LEB128, shortest form; p has 10 bytes.  Returns the bytes written. */
size_t varint_put(uint8_t *p, uint64_t v);
/* Bytes read; 0: more than n are needed; -1: not the shortest, or too long. */
int varint_get(const uint8_t *p, size_t n, uint64_t *v);

void lzv_header_put(uint8_t *p, unsigned flags);
/* p: LZV_HEADER bytes.  The flags, or an error. */
int lzv_header_get(const uint8_t *p, uint64_t offset, struct filter_error *err);

/*
 * Sizes of the item at p from its first n bytes.  1: *it has all but pointers
 * and check; 0: more than n bytes are needed (LZV_ITEM_HEAD always do); or an
 * error at `offset`, which is p's in the whole input.
 */
int lzv_item_head(const uint8_t *p, size_t n, bool checked, struct lzv_item *it,
		  uint64_t offset, struct filter_error *err);
/*
 * The whole item at p.  Its size; 0 with *want > n: that many bytes are
 * needed; or an error.
 */
ptrdiff_t lzv_item_get(const uint8_t *p, size_t n, bool checked,
		       struct lzv_item *it, size_t *want, uint64_t offset,
		       struct filter_error *err);

/* Bytes that lzv_item_put() takes beside key and body. */
#define LZV_ITEM_EXTRA	(LZV_ITEM_HEAD + 10 + 4)
/*
 * Writes a record item; it->body may stand at its place already, which is
 * lzv_item_body().  Returns the item's size and sets it->size.
 */
size_t lzv_item_put(uint8_t *p, struct lzv_item *it, bool checked);
/* Writes what stands in front of the body: head and key.  Sets it->head_size. */
size_t lzv_item_put_head(uint8_t *p, struct lzv_item *it);
/* Where lzv_item_put() will put the body, given all sizes. */
size_t lzv_item_body(const struct lzv_item *it);
/* Writes a control item: 12 bytes and the body. */
size_t lzv_control_put(uint8_t *p, unsigned kind, const uint8_t *body, size_t n);
/* A note's parts; false: malformed. */
bool lzv_note_get(const struct lzv_item *it, const uint8_t **name,
		  size_t *name_size, const uint8_t **text, size_t *text_size);

/* What is known of a group of records that stand side by side. */
struct lzv_group {
	uint64_t records, raw;
	uint64_t span;		/* bytes of the stream */
	unsigned width;		/* transpose in effect where it begins */
};
#define LZV_GROUPS_MAX	16384	/* a full index merges its groups by two */

/* The index that a writer builds or a reader has read. */
struct lzv_index {
	struct lzv_group *group;
	size_t count, group_cap;	/* at most LZV_GROUPS_MAX */
	uint64_t group_min;		/* span after which a new one begins */
	uint32_t *key;			/* low 32 bits of a key's XXH3-64 */
	size_t key_count, key_cap;
	bool keyed, full;		/* full: too many keys, none are kept */
};
void lzv_index_open(struct lzv_index *x);
void lzv_index_close(struct lzv_index *x);
uint32_t lzv_key_hash(const uint8_t *key, size_t n);
/* Notes an item of `span` bytes with all that stood before it. */
int lzv_index_add(struct lzv_index *x, const struct lzv_item *it, uint64_t span,
		  bool starts_record, unsigned width);
/* Bytes that index item and footer take at most. */
size_t lzv_index_room(const struct lzv_index *x);
/* Writes index item and footer; at: offset where they begin. */
size_t lzv_index_put(const struct lzv_index *x, uint8_t *p, uint64_t at);
/*
 * p: LZV_FOOTER bytes that end a stream.  False: no footer.  *stream and
 * *index: how many bytes in front of the footer the header and the index
 * begin.
 */
bool lzv_footer_get(const uint8_t *p, uint64_t *stream, uint64_t *index);
/* The body of an index item matches its check. */
bool lzv_index_intact(const uint8_t *p, size_t n);
/* Reads an index item's body into an index that was opened. */
int lzv_index_get(struct lzv_index *x, const uint8_t *p, size_t n,
		  uint64_t offset, struct filter_error *err);

/*
 * The writer: what has to be said between the records, in stream order.
 * Every byte of the stream goes by it; those that the caller makes are told
 * to lzv_writer_item().
 */
struct lzv_writer;
struct lzv_writer *lzv_writer_open(unsigned flags);
void lzv_writer_close(struct lzv_writer *w);
/* Header and, width > 1, a transpose item; room for LZV_HEADER_ROOM bytes. */
#define LZV_HEADER_ROOM	48
size_t lzv_writer_head(struct lzv_writer *w, uint8_t *dst, unsigned width);
/* A transpose item: the rows of the records to come; LZV_HEADER_ROOM bytes. */
size_t lzv_writer_width(struct lzv_writer *w, uint8_t *dst, unsigned width);
/*
 * An item comes next; not a mark, end or index.  head: its bytes up to the
 * body; the body is read only if this is the stream's first item.
 */
int lzv_writer_item(struct lzv_writer *w, const uint8_t *head,
		    const struct lzv_item *it);
/* A sync mark, where one is due and the last record is whole; else 0. */
#define LZV_MARK_ROOM	96
size_t lzv_writer_mark(struct lzv_writer *w, uint8_t *dst);
uint64_t lzv_writer_at(const struct lzv_writer *w);	/* bytes so far */
/* End, index, footer. */
size_t lzv_writer_end_room(const struct lzv_writer *w);
size_t lzv_writer_end(struct lzv_writer *w, uint8_t *dst);

/*
 * The reader: is given the stream's bytes in order and checks what isn't in a
 * record.  lzv_reader_next() takes one piece of the n bytes at src: its size,
 * or 0 with *want, or an error.  Afterwards *it is the record item that it
 * took, or it->encoding is LZV_CONTROL.
 */
struct lzv_reader;
struct lzv_reader *lzv_reader_open(uint64_t memory);
void lzv_reader_close(struct lzv_reader *r);
/* Begin again, at a header. */
void lzv_reader_reset(struct lzv_reader *r);
/*
 * Begin in the middle, at the item that stands at `at`: a mark, or a group of
 * an index.  flags: the header's.  Totals and marks can't be checked then.
 */
void lzv_reader_seek(struct lzv_reader *r, unsigned flags, uint64_t at,
		     unsigned width);
/* Is a sync mark with that marker (NULL: any) at p, which is `at` in its stream? */
bool lzv_mark_is(const uint8_t *p, size_t n, uint64_t at, const uint8_t *marker);
/* After an error: does one stand there?  Then begin with it, in the middle. */
bool lzv_reader_resume(struct lzv_reader *r, const uint8_t *p, size_t n, uint64_t at);
ptrdiff_t lzv_reader_next(struct lzv_reader *r, const uint8_t *src, size_t n,
			  uint64_t offset, size_t *want, struct lzv_item *it,
			  struct filter_error *err);
bool lzv_reader_at_end(const struct lzv_reader *r);	/* the stream is whole */
bool lzv_reader_at_start(const struct lzv_reader *r);	/* no byte read */
bool lzv_reader_checked(const struct lzv_reader *r);
bool lzv_reader_between(const struct lzv_reader *r);	/* no record is open */
unsigned lzv_reader_width(const struct lzv_reader *r);	/* for the last item */
/* Totals so far. */
struct lzv_totals { uint64_t records, items, raw, stored; };
struct lzv_totals lzv_reader_totals(const struct lzv_reader *r);

/* Payloads.  One coder a worker. */
struct lzv_coder;
struct lzv_coder *lzv_coder_open(const struct filter_params *p);
void lzv_coder_close(struct lzv_coder *c);
/*
 * Encodes n bytes for a stream of `width`: the smallest of lzvolt and raw.
 * dst: n + LZV_ITEM_EXTRA + 16 bytes.  Returns the item's size, fills *it.
 */
size_t lzv_encode(struct lzv_coder *c, const uint8_t *src, size_t n,
		  unsigned width, bool checked, uint8_t *dst, struct lzv_item *it);
/*
 * Decodes body_size bytes into raw_size bytes at dst.  check: the expected
 * one, or null.
 */
int lzv_decode(struct lzv_coder *c, const struct lzv_item *it, unsigned width,
	       bool checked, uint8_t *dst, uint64_t offset,
	       struct filter_error *err);
uint32_t lzv_check(const uint8_t *p, size_t n);

#endif
