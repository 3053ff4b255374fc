/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framing.h - records as people store them: how they are told apart
 *
 *	framing.c	a framing in words: parsing, presets, flags
 *	framing_note.c	a container's own bytes as notes
 *	framing_plain.c	lengths, slots, lines, NUL, whole inputs
 *	framing_lzv.c	our own record stream
 *	framing_lz4.c	LZ4 frames and legacy files
 *	framing_block.c	Hadoop block streams, lz4-java LZ4Block streams
 *	framing_tar.c	the files in a tar archive
 *
 * A reader cuts bytes into records and notes, a writer says what goes around
 * a record's payload.  Neither looks at a payload but to measure an LZ4 block
 * whose decoded size nobody wrote down: what a record is comes from its flag,
 * its container or the caller's word, never from its content.
 */
#ifndef FRAMING_H
#define FRAMING_H

#include "record.h"

enum framing_kind {
	FRAMING_LENGTH, FRAMING_FIXED, FRAMING_LINES, FRAMING_NUL,
	FRAMING_WHOLE, FRAMING_LZV, FRAMING_LZ4_FRAME, FRAMING_LZ4_LEGACY,
	FRAMING_HADOOP, FRAMING_LZ4_JAVA, FRAMING_TAR,
	FRAMING_CPIO, FRAMING_ZIP,	/* as tar, by archive_tar.h */
};

enum framing_number {
	NUMBER_NONE, NUMBER_U32LE, NUMBER_U32BE, NUMBER_VARINT, NUMBER_MAX,
};

/* What stands in front of a payload, in the order in which it was named. */
enum framing_field { FIELD_LENGTH, FIELD_FLAG, FIELD_SIZE };

#define FRAMING_NO_ENCODING (-1)

struct framing {
	enum framing_kind kind;
	enum framing_number length, size;
	enum framing_field field[3];
	int fields;
	uint64_t fixed;		/* bytes of a slot */
	uint64_t size_max;	/* size:max=N, or the container's */
	int encoding;		/* of every record; FRAMING_NO_ENCODING: flag
				   or container say it */
	bool flag;		/* a flag byte */
	bool flags_known;	/* its values were given */
	int16_t encoding_of[256];	/* -1: no record may have this flag */
	int16_t flag_of[3];	/* raw, lz4, lzvolt; -1: none */
	uint8_t magic[16];
	size_t magic_len;	/* bytes in front of the first record */
	uint64_t limit;		/* bytes of one record, of the caller's memory */
};

/* A framing that software in the wild uses, by name. */
struct framing_preset {
	const char *name, *text, *about;
};
extern const struct framing_preset framing_presets[];	/* NULL name ends */

/* "len:u32le,flag:u8", or a preset.  NULL, or what is wrong with it. */
const char *framing_parse(struct framing *f, const char *text);
/* "raw=0,lz4=1,lzvolt=2".  NULL, or what is wrong with it. */
const char *framing_parse_flags(struct framing *f, const char *text);
/* By the magic of a container that has one; false: no such magic. */
bool framing_detect(struct framing *f, const uint8_t *p, size_t n);
/* Can a record of this encoding be told in it? */
bool framing_takes(const struct framing *f, unsigned encoding);
/* Is there a place that says how each record is encoded? */
bool framing_has_flag(const struct framing *f);
/*
 * cpio or zip: what is cut and written is the tar archive that archive_tar.h
 * makes of it.  Its files are raw, unless the caller says what all of them are.
 */
bool framing_is_foreign(const struct framing *f);

/* What a reader finds and a writer is given. */
enum frecord_what { FRECORD_NOTHING, FRECORD_ITEM, FRECORD_NOTE };

struct frecord {
	enum frecord_what what;
	struct lzv_item it;	/* encoding, sizes, key, body, more, check */
	bool sized;		/* it.raw_size is known */
	bool checked;		/* it.check is known */
	uint64_t raw_max;	/* not sized: at most so much */
	unsigned width;		/* transposed */
	bool summed;		/* sum32: lz4-java's, of the decoded bytes */
	uint32_t sum32;
	bool verbatim;		/* raw here, but bytes of a container */
	bool fresh;		/* a plain file: nobody tried to pack it yet */
	const uint8_t *dir;	/* the key in two parts: dir, '/', it.key */
	size_t dir_size;
	uint64_t offset;	/* in the input */
	/* a note; hex: its text is the bytes in hexadecimal already */
	const uint8_t *name, *text;
	size_t name_size, text_size;
	bool hex;
};

/* A piece of input that a reader looks at. */
struct framing_in {
	const uint8_t *p;
	size_t n;
	bool eof;		/* nothing comes behind it */
	uint64_t offset;	/* of p in the input */
	size_t want;		/* out: bytes that are needed to go on */
	struct filter_error *err;
};

struct framing_reader;
struct framing_reader *framing_reader_open(const struct framing *f);
void framing_reader_close(struct framing_reader *r);
/*
 * lzv: begin in the middle, at an item at `at`.  open_end: the input ends
 * between two records instead of with an end item.
 */
void framing_reader_seek(struct framing_reader *r, unsigned flags, uint64_t at,
			 unsigned width, bool open_end);
/*
 * Takes one record, note or piece of nothing off the front.  Returns the bytes
 * taken, which may be 0 for a record or a note (rec->what says); 0 with
 * nothing: in->want bytes are needed, or, at eof with n 0, this is a good end;
 * or an error.  Pointers in *rec are into in->p, or static.
 */
ptrdiff_t framing_next(struct framing_reader *r, struct framing_in *in,
		       struct frecord *rec);

/*
 * A writer gives the bytes in front of and behind a payload.  Each call fills
 * out->p, which has framing_room() bytes for a record or note; NULL: begin.
 */
#define FRAMING_ROOM ((size_t)256)
#define FRAMING_NOTE_ROOM(text_size) (2 * (text_size) + 512)
struct framing_out {
	uint8_t *p;
	size_t n;
	bool held;		/* a note that is written with the next record */
	struct filter_error *err;
};

struct framing_writer;
struct framing_writer *framing_writer_open(const struct framing *f, bool checked);
void framing_writer_close(struct framing_writer *w);
size_t framing_room(const struct framing_writer *w, const struct frecord *rec);
int framing_begin(struct framing_writer *w, struct framing_out *out);
int framing_before(struct framing_writer *w, struct frecord *rec,
		   struct framing_out *out);
int framing_after(struct framing_writer *w, const struct frecord *rec,
		  struct framing_out *out);
/* A note; n stays 0 where the framing has no place for it. */
int framing_note(struct framing_writer *w, const struct frecord *rec,
		 struct framing_out *out);
/*
 * Instead of framing_begin(): the writer goes on behind the n bytes at p, which
 * it wrote in an earlier life, `records` of them.  False for framings whose
 * state can't be had that way.
 */
bool framing_can_resume(const struct framing *f);
int framing_resume(struct framing_writer *w, const uint8_t *p, size_t n,
		   uint64_t records, struct filter_error *err);
size_t framing_end_room(const struct framing_writer *w);
int framing_end(struct framing_writer *w, struct framing_out *out);

/*
 * Internal to framing*.c: one row a kind.  A NULL call has nothing to do.
 * State is inside the reader and writer, which each kind's file declares.
 */
struct framing_reader {
	struct framing f;
	bool began;		/* the magic, or the first header, was read */
	bool open_end;		/* lzv: no end item has to come */
	struct lzv_reader *lzv;
	/* containers */
	int phase;
	uint32_t flags;		/* of an LZ4 frame */
	uint64_t block_max;
	uint64_t left;		/* decoded bytes left of a Hadoop block */
	uint64_t entries;	/* of an archive, so far */
	uint8_t level;
	uint8_t spare[64];
};

struct framing_writer {
	struct framing f;
	bool checked;
	uint64_t records;
	struct lzv_writer *lzv;
	unsigned width;
	bool open_end;		/* lines: no newline behind the last */
	bool began;		/* an LZ4 container: something was written */
	int phase;
	uint32_t flags;
	uint64_t block_max;
	uint64_t total;		/* of a Hadoop block; 0 = the record's own */
	bool inside;		/* a Hadoop block goes on */
	uint8_t level;
	uint8_t *held;		/* tar: head of the record to come; lzv: a key */
	size_t held_size, held_cap;
};

struct framing_ops {
	ptrdiff_t (*next)(struct framing_reader *r, struct framing_in *in,
			  struct frecord *rec);
	int (*begin)(struct framing_writer *w, struct framing_out *out);
	int (*before)(struct framing_writer *w, struct frecord *rec,
		      struct framing_out *out);
	int (*after)(struct framing_writer *w, const struct frecord *rec,
		     struct framing_out *out);
	int (*note)(struct framing_writer *w, const struct frecord *rec,
		    struct framing_out *out);
	int (*end)(struct framing_writer *w, struct framing_out *out);
	unsigned takes;		/* bits: 1 << encoding; 0: by f->encoding, flag */
};
extern const struct framing_ops framing_plain, framing_lzv, framing_lz4_frame,
	framing_lz4_legacy, framing_hadoop, framing_lz4_java, framing_tar,
	framing_foreign;
size_t framing_tar_room(const struct framing_writer *w, const struct frecord *rec);

int framing_lzv_resume(struct framing_writer *w, const uint8_t *p, size_t n,
		       struct filter_error *err);

/* More bytes are needed: asks for them, or says that the input is cut short. */
ptrdiff_t framing_more(struct framing_in *in, size_t want, const char *what);
int framing_hex_digit(char c);	/* -1: none */
/* A note of a container's own bytes. */
void framing_note_is(struct frecord *rec, const char *name, const uint8_t *p,
		     size_t n);
bool framing_note_named(const struct frecord *rec, const char *name);
/* A note's bytes, out of hexadecimal if need be; false: not hexadecimal. */
bool framing_note_bytes(const struct frecord *rec, uint8_t *dst, size_t cap,
			size_t *n);

#endif
