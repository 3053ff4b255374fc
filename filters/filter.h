/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - the door of filters/: codecs as rows of one table
 *
 * A codec is a const struct filter with up to two faces for each direction:
 *
 * stream	pull bytes out of a codec that pulls its input out of a source.
 *		Every codec with a streaming library has it; it is serial.
 * blocks	memory to memory.  The serial part (open, head, split, join,
 *		tail) is cheap and runs in stream order; the part that costs
 *		time (block) runs on any worker, in any order.
 *
 * A face that is NULL means "can't"; where both are there, blocks are the
 * faster one.  Nothing here opens a file, starts a thread, prints or exits;
 * errors are values.  No mutable global: a state is used by one thread at a
 * time and every state is the caller's to open and close.
 */
#ifndef FILTER_H
#define FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIZE_UNKNOWN UINT64_MAX

/* Results: >= 0 is a count, these are the errors. */
enum filter_code {
	FILTER_OK = 0,
	FILTER_E_CORRUPT = -1,		/* malformed input */
	FILTER_E_TRUNCATED = -2,	/* input ends too early */
	FILTER_E_CHECK = -3,		/* a checksum doesn't match */
	FILTER_E_DICT = -4,		/* dictionary missing or wrong */
	FILTER_E_MEMORY = -5,		/* no memory, or above the budget */
	FILTER_E_UNSUPPORTED = -6,	/* legal, but not built in or not done */
	FILTER_E_OPTION = -7,		/* a parameter this codec can't honour */
	FILTER_E_READ = -8,		/* the source failed; it knows why */
	FILTER_E_REFUSED = -9,		/* not worth packing (params.refuse) */
};

/*
 * Why a call failed.  offset: bytes of the codec's input from the start of
 * the whole input, where it was noticed (SIZE_UNKNOWN when it has no place).
 * what: the reason in a few words, no file name, no offset, no full stop.
 */
struct filter_error {
	int code;
	uint64_t offset;
	char what[200];
};

/* Fills *err and returns code, so that "return filter_fail(...)" reads well. */
int filter_fail(struct filter_error *err, int code, uint64_t offset,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* What the user asked for.  filter_params_init() gives the neutral values. */
struct filter_params {
	int level;		/* the library's own number; LEVEL_DEFAULT */
	int threads;		/* for libraries with workers of their own; >= 1 */
	int window_log;		/* --long: log2 of the window; 0 = the default */
	int check;		/* -1 the format's default, 0 none, 1 yes */
	bool probe;		/* store what a probe calls incompressible */
	bool refuse;		/* ... or fail with FILTER_E_REFUSED */
	uint64_t size;		/* packing: raw size if known; unpacking a bare
				   block: its decoded size; or SIZE_UNKNOWN */
	uint64_t packed;	/* unpacking: bytes of all the input if known, or
				   SIZE_UNKNOWN */
	uint64_t memory;	/* budget in bytes for one state; 0 = no limit */
	size_t block_size;	/* --block-size: raw bytes a block; 0 = default */
	const uint8_t *dict;	/* dictionary, dict_len bytes, outlives states */
	size_t dict_len;
	int favor;		/* lzvolt: -1 speed, 0 balance, 1 size */
	int transpose;		/* lzv: record width in bytes, 0 = none */
	size_t seek_frame;	/* --seekable: raw bytes of a frame, 0 = not asked */
};
#define LEVEL_DEFAULT INT32_MIN
void filter_params_init(struct filter_params *p);

/*
 * A source hands out its bytes in place.
 *
 * pull: sets *data and returns how many bytes stand there (> 0; valid until
 * the next pull), 0 at the end, SOURCE_PAUSE when nothing more is at hand now
 * and a packing codec should flush all it has, FILTER_E_READ on failure.
 * Only source_*() call it; codecs call those.
 */
struct source {
	ptrdiff_t (*pull)(struct source *s, const uint8_t **data);
	const uint8_t *held;	/* bytes pulled and given back */
	size_t held_len;
	uint64_t offset;	/* bytes consumed so far = offset of the next */
	uint8_t stash[1024];	/* where peeked bytes that came in pieces stand */
	size_t stash_len;
	const uint8_t *rest;	/* the pull that the stash's end came from */
	size_t rest_len;
	ptrdiff_t pending;	/* result of a pull that peeking met: 0, error */
	bool has_pending;
};
#define SOURCE_PAUSE (-100)
#define SOURCE_PEEK_MAX ((size_t)1024)

void source_init(struct source *s,
		 ptrdiff_t (*pull)(struct source *, const uint8_t **));
/* As pull. */
ptrdiff_t source_next(struct source *s, const uint8_t **data);
/* The last n bytes of the last source_next() will come again. */
void source_unread(struct source *s, const uint8_t *data, size_t n);
/*
 * Sets *data to the next bytes without consuming them: `want` of them
 * (<= SOURCE_PEEK_MAX), fewer only at the end of input.  Returns their number
 * or FILTER_E_READ.  Passes over pauses.
 */
ptrdiff_t source_peek(struct source *s, size_t want, const uint8_t **data);
/* Consumes n bytes or FILTER_E_TRUNCATED, FILTER_E_READ; for small headers. */
int source_skip(struct source *s, uint64_t n);

/* What is known of one member of a stream: for -l, --json, checks. */
struct member {
	const char *format;	/* the codec's name */
	uint64_t offset;	/* of the member's first byte in the input */
	uint64_t packed;	/* its bytes */
	uint64_t raw;		/* decoded bytes */
	uint64_t declared;	/* decoded size its header claims, SIZE_UNKNOWN */
	uint64_t window;	/* bytes a decoder must keep, 0 = doesn't say */
	uint64_t blocks;	/* blocks or records; 0 = not counted */
	uint64_t dict_id;	/* 0 = none */
	const char *check;	/* "xxh64", "crc32" ...; NULL = none */
	bool skipped;		/* a skippable frame: no data */
};

/* The stream face, one of these a direction. */
struct stream_ops {
	/* A state that reads from src; NULL with *err filled. */
	void *(*open)(const struct filter_params *p, struct source *src,
		      struct filter_error *err);
	/*
	 * Up to cap (>= 64 KiB) bytes to dst.  Returns as soon as the input at
	 * hand is used up and there is something to give.  0 = the end: of
	 * the one member when unpacking (what follows is left in the source),
	 * of the input when packing.
	 */
	ptrdiff_t (*read)(void *state, uint8_t *dst, size_t cap,
			  struct filter_error *err);
	/* Ready for another member or input of the same parameters but for
	   p->size; the source is the same.  NULL = close and open again. */
	int (*reset)(void *state, const struct filter_params *p,
		     struct filter_error *err);
	/* Unpacking only: fills what it knows; callable once read gave 0. */
	void (*describe)(const void *state, struct member *m);
	void (*close)(void *state);
};

/* One block on its way through the block face. */
struct block {
	const uint8_t *src;	/* in: the bytes to code */
	size_t src_len;
	size_t history;		/* in: raw bytes that the stream already carried,
				   readable: packing, right before src;
				   unpacking, right before dst */
	uint8_t *dst;		/* in: room for the result */
	size_t dst_cap;
	size_t dst_len;		/* out: result; where unpacking fails, what came
				   before the damage, or 0 */
	uint64_t offset;	/* in: of src in the whole input */
	uint64_t raw;		/* unpacking, out of split: room that dst needs */
	uint64_t check;		/* the codec's own, from block to join */
	uint32_t kind;		/* the codec's own, from split to block to join */
	bool last;		/* packing, in: no more input behind this one */
	bool end;		/* unpacking, out of split: the member ends with it */
};

/*
 * Packing by blocks.  Call order: open; head; then for blocks cut from the
 * input at block_size (shorter is allowed anywhere: a flush, the end) block on
 * any worker and join in order; tail; close.  The last block has last set; an
 * empty input gives one empty last block.  Output: head, the blocks' dst in
 * order, tail.  The bytes depend on where blocks are cut and on nothing else.
 */
struct pack_ops {
	/* Whether these parameters can go this way, else the stream face takes
	   them; NULL = all can. */
	bool (*suits)(const struct filter_params *p);
	bool sized;		/* a worker is made for one input's params.size */
	bool lean;		/* slow beside reading and writing: one block less in
				   memory at once, for 5 % of the speed */
	size_t history;		/* bytes before a block that block() may read */
	size_t head_max, tail_max;
	size_t (*block_size)(const struct filter_params *p);
	size_t (*bound)(const struct filter_params *p, size_t raw);
	void *(*open)(const struct filter_params *p, struct filter_error *err);
	/* One worker's state.  Without sized it serves one input after another,
	   of any params.size and params.threads. */
	/* Bytes that a worker's state will take; NULL = next to nothing. */
	uint64_t (*worker_memory)(const struct filter_params *p);
	void *(*worker_open)(const struct filter_params *p,
			     struct filter_error *err);
	ptrdiff_t (*head)(void *state, uint8_t *dst, struct filter_error *err);
	int (*block)(void *worker, struct block *b, struct filter_error *err);
	int (*join)(void *state, struct block *b, struct filter_error *err);
	ptrdiff_t (*tail)(void *state, uint8_t *dst, struct filter_error *err);
	/* What follows the tail, *n bytes that the state holds; NULL = nothing. */
	const uint8_t *(*index)(void *state, size_t *n);
	void (*worker_close)(void *worker);
	void (*close)(void *state);
};

/*
 * Unpacking by blocks.  suits() looks at the member's first bytes and says
 * whether this member can go this way (else the stream face takes it).  split
 * is given the n next packed bytes, contiguous: it returns how many it takes
 * and describes one block in *b (src_len 0: nothing to decode); or 0 with
 * *want = how many contiguous bytes it needs to go on (> n; more than the
 * input has = truncated, the caller says so); or an error.  b->end: the
 * member is complete once this block is joined.
 */
struct unpack_ops {
	bool (*suits)(const uint8_t *head, size_t n,
		      const struct filter_params *p);
	void *(*open)(const struct filter_params *p, struct filter_error *err);
	void *(*worker_open)(const struct filter_params *p,
			     struct filter_error *err);
	ptrdiff_t (*split)(void *state, const uint8_t *src, size_t n,
			   uint64_t offset, size_t *want, struct block *b,
			   struct filter_error *err);
	int (*block)(void *worker, struct block *b, struct filter_error *err);
	/* Asked once the first block is split; may be NULL.  *block_max: decoded
	   bytes of the largest block.  *history, 0 before: blocks lean on each
	   other.  One worker decodes them in order, each right behind the last,
	   with so many bytes of what came before (block.history of them are
	   there). */
	void (*shape)(const void *state, size_t *block_max, size_t *history);
	int (*join)(void *state, struct block *b, struct filter_error *err);
	/* After split failed: does the same member go on at p (FILTER_PEEK bytes
	   where the input has them), at that offset?  Then split will, from
	   there.  May be NULL. */
	bool (*resume)(void *state, const uint8_t *p, size_t n, uint64_t offset);
	void (*describe)(const void *state, struct member *m);
	/* unpack_members: what is known of this block's member, once decoded. */
	void (*member)(const struct block *b, struct member *m);
	void (*worker_close)(void *worker);
	void (*close)(void *state);
};

/* What a codec can honour; an option that it can't is refused, not ignored. */
enum filter_flag {
	FILTER_HEADERLESS = 1,	/* no magic: needs -F, or a file's suffix */
	FILTER_DICT = 2,	/* -D */
	FILTER_LONG = 4,	/* --long */
	FILTER_CHECK = 8,	/* --check, --no-check */
	FILTER_THREADS = 16,	/* the library has workers of its own */
	FILTER_NEEDS_SIZE = 32,	/* unpacking needs params.size */
	FILTER_SINGLE = 64,	/* no concatenation: bytes behind it are an error */
	FILTER_FAVOR = 128,	/* --favor */
	FILTER_TRANSPOSE = 256,	/* --transpose */
	FILTER_BLOCK_SIZE = 512,	/* --block-size */
	FILTER_MODEST = 2048,	/* unpacking never takes more than MODEST_MEMORY,
				   whatever a header says */
	FILTER_EXTERNAL = 1024,	/* only libarchive's; not asked for by name by us */
};

#define MODEST_MEMORY ((uint64_t)64 << 20)

struct filter {
	const char *name;
	const char *suffix;	/* ".zst .zstd": the first is what packing adds */
	const char *tar_suffix;	/* ".tzst": becomes .tar; or NULL */
	unsigned flags;
	int level_min, level_default, level_max;	/* all 0: no levels */
	size_t peek;		/* bytes detect wants to see */
	bool (*detect)(const uint8_t *p, size_t n);	/* NULL = headerless */
	const struct stream_ops *pack, *unpack;
	const struct pack_ops *pack_blocks;
	const struct unpack_ops *unpack_blocks;
	const struct pack_ops *pack_seekable;	/* in place of both when
						   params.seek_frame asks for it */
	/*
	 * Members of which each is one block, many in a row.  split leaves
	 * what it can't take, and leaves every complaint, to the stream face:
	 * 0 with *want 0.  suits, join and describe aren't used.
	 */
	const struct unpack_ops *unpack_members;
	const char *library;	/* "zstd": what --version calls it, or NULL */
	const char *(*version)(void);
	const char *missing;	/* NULL, or why both directions can't */
};

/* The registry: rows in the order in which detection asks them. */
extern const struct filter *const filter_table[];
extern const size_t filter_count;

const struct filter *filter_by_name(const char *name);
/* By a file's suffix; NULL = none. */
const struct filter *filter_by_suffix(const char *path);
/*
 * By content.  p, n: the first bytes (FILTER_PEEK of them where the input has
 * as many); NULL = no codec claims them.  Skippable frames are nobody's: the
 * caller reads past them with frame_skippable().
 */
#define FILTER_PEEK 64
const struct filter *filter_detect(const uint8_t *p, size_t n);

/*
 * The whole length of the skippable frame (zstd and LZ4 share it) that
 * starts at p, 0 when there is none; n >= 8 to be sure.
 */
uint64_t frame_skippable(const uint8_t *p, size_t n);

/*
 * The probe that packing uses: true when p looks incompressible (jpeg, zstd,
 * random): a cheap sample, n / 16 bytes at most are touched.  Never true for
 * n < 512.  See probe.c for its error rates.
 */
bool probe_incompressible(const uint8_t *p, size_t n);

#endif
