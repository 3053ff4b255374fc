/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lz4_unpack.c - LZ4 frames, unpacking as a stream
 *
 * A block is decoded straight into the caller's room where it fits there
 * whatever it decodes to and no later block needs it; else into a window:
 *
 *	| 64 KiB of history | blocks ... |
 *
 * where the blocks that follow find it.  The window slides when a block no
 * longer fits behind what is there.
 */
#include "coder.h"
#include "lz4_frame.h"
#include "mem.h"

#include <inttypes.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Room for blocks in the window: small blocks needn't slide it each time. */
#define WINDOW_ROOM ((size_t)1 << 20)

struct lz4_unpack;
typedef int lz4_phase(struct lz4_unpack *z, struct filter_error *err);
enum { PHASE_NEXT = 2 };	/* beside coder_result: go on with z->phase */

struct lz4_unpack {
	struct coder c;		/* first, so that the two cast */
	struct lz4_header head;
	lz4_phase *phase;
	const uint8_t *dict;
	size_t dict_len;
	uint64_t memory;
	XXH32_state_t *sum;
	uint32_t length;	/* the block's length field */
	uint64_t at;		/* ... its offset */
	uint64_t produced, blocks;
	uint8_t *piece;		/* a block that comes in pieces */
	size_t piece_cap, piece_len;
	uint8_t *window;
	size_t window_cap;
	size_t end;		/* decoded bytes in the window */
	size_t given;		/* ... of which these were handed out */
};

/* The next n bytes of input in one piece, consumed; NULL = not all here. */
static const uint8_t *lz4_want(struct lz4_unpack *z, size_t n)
{
	struct coder *c = &z->c;
	size_t take = n - z->piece_len;
	const uint8_t *p = z->piece;

	if (take > c->in_len)
		take = c->in_len;
	if (take == n)
		p = c->in;
	else
		memcpy(z->piece + z->piece_len, c->in, take);
	z->piece_len += take;
	c->in += take;
	c->in_len -= take;
	if (z->piece_len < n)
		return NULL;
	z->piece_len = 0;
	return p;
}

static lz4_phase phase_length, phase_block, phase_give, phase_end;

static size_t lz4_trailer(const struct lz4_unpack *z)
{
	return z->head.flags & LZ4_BLOCK_CHECK ? 4 : 0;
}

static int phase_length(struct lz4_unpack *z, struct filter_error *err)
{
	const uint8_t *p;
	size_t len;

	if (!z->piece_len)
		z->at = coder_offset(&z->c);
	p = lz4_want(z, 4);
	if (!p)
		return CODER_MORE;
	z->length = load_le32(p);
	z->phase = z->length ? phase_block : phase_end;
	len = z->length & ~LZ4_STORED;
	if (len > z->head.block_max || (z->length && !len))
		return filter_fail(err, FILTER_E_CORRUPT, z->at,
				   "a block length of %zu is impossible, the "
				   "frame's blocks have at most %zu bytes",
				   len, z->head.block_max);
	return PHASE_NEXT;
}

/* Whether the next block can be decoded straight into the caller's room. */
static bool lz4_direct(const struct lz4_unpack *z)
{
	return z->head.flags & LZ4_INDEPENDENT && !z->dict_len &&
		z->c.out_len >= z->head.block_max;
}

/* Where the next block goes in the window, with its history before it. */
static uint8_t *lz4_window_room(struct lz4_unpack *z)
{
	size_t keep = z->end < LZ4_HISTORY ? z->end : LZ4_HISTORY;

	if (z->head.flags & LZ4_INDEPENDENT) {
		z->end = z->dict_len;
	} else if (z->window_cap - z->end < z->head.block_max) {
		memmove(z->window, z->window + z->end - keep, keep);
		z->end = keep;
	}
	return z->window + z->end;
}

/* Decodes len bytes at p to dst, in front of which the history stands. */
static int lz4_decode(struct lz4_unpack *z, const uint8_t *p, size_t len,
		      uint8_t *dst, size_t history, struct filter_error *err)
{
	int r;

	if (z->length & LZ4_STORED) {
		memcpy(dst, p, len);
		return (int)len;
	}
	if (history > LZ4_HISTORY)
		history = LZ4_HISTORY;
	r = LZ4_decompress_safe_usingDict((const char *)p, (char *)dst, (int)len,
					  (int)z->head.block_max,
					  (const char *)dst - history,
					  (int)history);
	if (r < 0)
		return filter_fail(err, FILTER_E_CORRUPT, z->at,
				   "corrupt LZ4 block, at byte %d of its %zu",
				   -r, len);
	return r;
}

/* What every block's bytes go through. */
static int lz4_produced(struct lz4_unpack *z, const uint8_t *p, size_t n,
			struct filter_error *err)
{
	z->produced += n;
	z->blocks++;
	if (z->produced > z->head.content)
		return filter_fail(err, FILTER_E_CORRUPT, z->at,
				   "the frame has more than the %" PRIu64
				   " bytes that its header announced",
				   z->head.content);
	if (z->head.flags & LZ4_CONTENT_CHECK)
		XXH32_update(z->sum, p, n);
	return FILTER_OK;
}

static int lz4_block_checked(const struct lz4_unpack *z, const uint8_t *p,
			     size_t len, struct filter_error *err)
{
	if (lz4_trailer(z) && load_le32(p + len) != XXH32(p, len, 0))
		return filter_fail(err, FILTER_E_CHECK, z->at,
				   "the block's checksum doesn't match");
	return FILTER_OK;
}

static int phase_block(struct lz4_unpack *z, struct filter_error *err)
{
	size_t len = z->length & ~LZ4_STORED;
	bool direct = lz4_direct(z);
	const uint8_t *p = lz4_want(z, len + lz4_trailer(z));
	uint8_t *dst;
	int n;

	if (!p)
		return CODER_MORE;
	if (lz4_block_checked(z, p, len, err))
		return err->code;
	dst = direct ? z->c.out : lz4_window_room(z);
	n = lz4_decode(z, p, len, dst, direct ? 0 : z->end, err);
	if (n < 0 || lz4_produced(z, dst, (size_t)n, err))
		return err->code;
	z->phase = direct ? phase_length : phase_give;
	if (direct) {
		z->c.out += n;
		z->c.out_len -= (size_t)n;
	} else {
		z->given = z->end;
		z->end += (size_t)n;
	}
	return PHASE_NEXT;
}

static int phase_give(struct lz4_unpack *z, struct filter_error *err)
{
	size_t n = z->end - z->given;

	(void)err;
	if (n > z->c.out_len)
		n = z->c.out_len;
	memcpy(z->c.out, z->window + z->given, n);
	z->c.out += n;
	z->c.out_len -= n;
	z->given += n;
	if (z->given < z->end)
		return CODER_MORE;
	z->phase = phase_length;
	return PHASE_NEXT;
}

static int phase_end(struct lz4_unpack *z, struct filter_error *err)
{
	uint64_t at = coder_offset(&z->c) - z->piece_len;
	const uint8_t *p;

	if (z->head.content != SIZE_UNKNOWN && z->produced != z->head.content)
		return filter_fail(err, FILTER_E_CORRUPT, at,
				   "the frame ends after %" PRIu64 " of the %"
				   PRIu64 " bytes that its header announced",
				   z->produced, z->head.content);
	if (!(z->head.flags & LZ4_CONTENT_CHECK))
		return CODER_DONE;
	p = lz4_want(z, 4);
	if (!p)
		return CODER_MORE;
	if (load_le32(p) != XXH32_digest(z->sum))
		return filter_fail(err, FILTER_E_CHECK, at,
				   "the content checksum doesn't match");
	return CODER_DONE;
}

static int lz4_unpack_step(struct coder *c, enum coder_mode mode,
			   struct filter_error *err)
{
	struct lz4_unpack *z = (struct lz4_unpack *)c;
	int r;

	(void)mode;
	do
		r = z->phase(z, err);
	while (r == PHASE_NEXT && (c->in_len || z->phase == phase_give ||
				   z->phase == phase_end));
	return r == PHASE_NEXT ? CODER_MORE : r;
}

/* --- the frame's beginning --- */

/* Room that the header asks for; kept for the next frame where it suffices. */
static int lz4_unpack_room(struct lz4_unpack *z, struct filter_error *err)
{
	size_t piece = z->head.block_max + 4;
	size_t window = LZ4_HISTORY + (z->head.block_max > WINDOW_ROOM ?
				       z->head.block_max : WINDOW_ROOM);

	if (z->memory && z->memory < piece + window)
		return coder_over_budget(err, z->c.start, "the LZ4 frame",
					 piece + window, z->memory);
	if (piece > z->piece_cap) {
		free(z->piece);
		free(z->window);
		z->piece = malloc(piece);
		z->window = malloc(window);
		if (!z->piece || !z->window)
			return coder_no_memory(err);
		z->piece_cap = piece;
		z->window_cap = window;
	}
	z->end = z->dict_len;
	if (z->dict_len)
		memcpy(z->window, z->dict, z->dict_len);
	return FILTER_OK;
}

/*
 * Reads the header, asking for as few bytes as it can: a whole frame may be
 * shorter than the longest header, and what follows may be long in coming.
 */
static int lz4_read_header(struct lz4_unpack *z, struct filter_error *err)
{
	const uint8_t *p = NULL;
	size_t want = LZ4_HEADER_MIN;
	ptrdiff_t n, r;

	do {
		n = source_peek(z->c.src, want, &p);
		if (n < 0)
			return filter_fail(err, FILTER_E_READ, z->c.start,
					   "the input can't be read");
		r = lz4_header_parse(p, (size_t)n, &z->head, z->c.start, err);
		if (r < 0)
			return (int)r;
		if (r > n && (size_t)n < want)
			return coder_truncated(&z->c, err);
		want = (size_t)r;
	} while (r > n);
	source_skip(z->c.src, z->head.size);
	if (z->head.dict_id && !z->dict_len)
		return filter_fail(err, FILTER_E_DICT, z->c.start,
				   "needs the dictionary with id %" PRIu32,
				   z->head.dict_id);
	XXH32_reset(z->sum, 0);
	z->phase = phase_length;
	return lz4_unpack_room(z, err);
}

static ptrdiff_t lz4_unpack_read(void *state, uint8_t *dst, size_t cap,
				 struct filter_error *err)
{
	struct lz4_unpack *z = state;

	if (!z->phase) {
		int r = lz4_read_header(z, err);

		if (r)
			return r;
	}
	return coder_unpack(&z->c, lz4_unpack_step, dst, cap, err);
}

static int lz4_unpack_reset(void *state, const struct filter_params *p,
			    struct filter_error *err)
{
	struct lz4_unpack *z = state;

	(void)p;
	(void)err;
	coder_start(&z->c, z->c.src);
	z->phase = NULL;
	z->piece_len = 0;
	z->produced = z->blocks = 0;
	z->head = (struct lz4_header){ 0 };
	return FILTER_OK;
}

static void *lz4_unpack_open(const struct filter_params *p, struct source *src,
			     struct filter_error *err)
{
	struct lz4_unpack *z = calloc(1, sizeof(*z));
	size_t use = p->dict_len < LZ4_HISTORY ? p->dict_len : LZ4_HISTORY;

	if (!z || !(z->sum = XXH32_createState())) {
		free(z);
		coder_no_memory(err);
		return NULL;
	}
	coder_start(&z->c, src);
	z->memory = p->memory;
	z->dict_len = use;
	if (use)
		z->dict = p->dict + p->dict_len - use;
	return z;
}

static void lz4_unpack_describe(const void *state, struct member *m)
{
	const struct lz4_unpack *z = state;

	coder_describe(&z->c, m);
	m->format = "lz4";
	m->declared = z->head.content;
	m->window = z->head.flags & LZ4_INDEPENDENT ? z->head.block_max : LZ4_HISTORY;
	m->blocks = z->blocks;
	m->dict_id = z->head.dict_id;
	m->check = z->head.flags & LZ4_CONTENT_CHECK ? "xxh32" : NULL;
}

static void lz4_unpack_close(void *state)
{
	struct lz4_unpack *z = state;

	XXH32_freeState(z->sum);
	free(z->piece);
	free(z->window);
	free(z);
}

const struct stream_ops lz4_unpack_ops = {
	.open = lz4_unpack_open,
	.read = lz4_unpack_read,
	.reset = lz4_unpack_reset,
	.describe = lz4_unpack_describe,
	.close = lz4_unpack_close,
};
