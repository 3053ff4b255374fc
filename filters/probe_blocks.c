/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_blocks.c - a census of LZ4 blocks and lzvolt values, token by token
 *
 * Sequences are walked, not decoded: a match's bytes don't matter here, so a
 * block that needs the one before it can be counted too.  Lengths are checked
 * as a decoder would check them; offsets are checked against what has been
 * produced in the block, unless the caller says that something stands before it.
 */
#include "lzvolt.h"
#include "mem.h"
#include "probe.h"

#include <string.h>

struct walk {
	const uint8_t *p, *end;
	uint64_t out;			/* bytes produced */
	uint64_t history;		/* bytes before the block that it may use */
	uint32_t last_offset;		/* 0 = none yet */
	struct probe_blocks *b;
	struct filter_error *err;
	const uint8_t *start;
};

static int bad(struct walk *w, const char *what)
{
	return filter_fail(w->err, FILTER_E_CORRUPT, (uint64_t)(w->p - w->start), "%s", what);
}

static const uint32_t literal_limit[] = { 0, 2, 14, 269, UINT32_MAX };
static const uint32_t match_limit[] = { 7, 18, 34, 273, UINT32_MAX };

static unsigned class_of(const uint32_t *limit, uint64_t n)
{
	unsigned i = 0;

	while (n > limit[i] && limit[i] != UINT32_MAX)
		i++;
	return i;
}

/* Adds a length chain; false: it runs past the end or overflows. */
static bool chain(struct walk *w, uint64_t *n)
{
	for (;;) {
		uint8_t c;

		if (w->p == w->end)
			return false;
		c = *w->p++;
		*n += c;
		if (c != 255)
			return true;
		if (*n > LZVOLT_MAX_SIZE)
			return false;
	}
}

static int literals_take(struct walk *w, uint64_t n)
{
	if (n > (uint64_t)(w->end - w->p))
		return bad(w, "literals run past the end");
	w->p += n;
	w->out += n;
	w->b->literals += n;
	w->b->literal_class[class_of(literal_limit, n)]++;
	return 0;
}

static int match_take(struct walk *w, uint32_t offset, uint64_t n)
{
	if (!offset || offset > w->out + w->history)
		return bad(w, "a match before the beginning");
	w->out += n;
	w->b->sequences++;
	w->b->matched += n;
	w->b->match_class[class_of(match_limit, n)]++;
	w->b->repeats += offset == w->last_offset;
	w->last_offset = offset;
	return 0;
}

/* One even block.  1 = it was the last one of an LZ4 block: no match. */
static int even_step(struct walk *w, uint64_t declared)
{
	uint64_t literal = *w->p >> 4, match = *w->p & 15;
	uint32_t offset;
	int r;

	w->p++;
	if (literal == 15 && !chain(w, &literal))
		return bad(w, "a literal length runs past the end");
	r = literals_take(w, literal);
	if (r)
		return r;
	if (w->out >= declared || w->p == w->end)
		return 1;
	if (w->end - w->p < 2)
		return bad(w, "an offset runs past the end");
	offset = load_le16(w->p);
	w->p += 2;
	if (match == 15 && !chain(w, &match))
		return bad(w, "a match length runs past the end");
	return match_take(w, offset, match + 4);
}

static int wide_step(struct walk *w, uint64_t declared)
{
	uint64_t literal = *w->p >> 6, match = *w->p >> 1 & 31;
	bool repeat = *w->p & 1;
	uint32_t offset = w->last_offset;
	int r;

	w->p++;
	if (literal == 3 && !chain(w, &literal))
		return bad(w, "a literal length runs past the end");
	r = literals_take(w, literal);
	if (r || w->out >= declared)
		return r ? r : 1;
	if (!repeat) {
		if (w->end - w->p < 2)
			return bad(w, "an offset runs past the end");
		offset = load_le16(w->p);
		w->p += 2;
	}
	if (match == 31 && !chain(w, &match))
		return bad(w, "a match length runs past the end");
	w->b->coded_repeats += repeat;
	return match_take(w, offset, match + 4);
}

static int walk_until(struct walk *w, uint64_t declared, const uint8_t *end,
		      int (*step)(struct walk *, uint64_t))
{
	int r = 0;

	while (!r && w->p < end && w->out < declared)
		r = step(w, declared);
	return r;
}

int64_t probe_blocks_lz4(struct probe_blocks *b, const uint8_t *p, size_t n, bool linked,
			 struct filter_error *err)
{
	struct walk w = { .p = p, .start = p, .end = p + n, .b = b, .err = err,
			  .history = linked ? LZVOLT_WINDOW : 0 };
	int r;

	if (!n)
		return bad(&w, "an empty block");
	r = walk_until(&w, UINT64_MAX, w.end, even_step);
	if (r < 0)
		return r;
	if (r != 1)
		return bad(&w, "the block ends without literals");
	b->blocks++;
	b->raw += w.out;
	b->packed += n;
	return (int64_t)w.out;
}

/* Header length; the trailer's switch point where the value is hybrid. */
static int value_split(struct walk *w, size_t n, uint64_t declared, const uint8_t **cut,
		       uint64_t *out_at)
{
	unsigned class = *w->p >> 6;
	bool hybrid = class && *w->p & 0x20;
	size_t field = declared <= 65536 ? 2 : 4, body;
	uint64_t in_at;

	w->p += class + 1;
	*cut = w->end;
	*out_at = 0;
	if (!hybrid)
		return 0;
	if (n < class + 1 + 2 * field)
		return bad(w, "the trailer is missing");
	w->end -= 2 * field;
	body = (size_t)(w->end - w->p);
	in_at = field == 2 ? load_le16(w->end) : load_le32(w->end);
	*out_at = field == 2 ? load_le16(w->end + 2) : load_le32(w->end + 4);
	if (in_at > body || !*out_at || *out_at >= declared)
		return bad(w, "the trailer is out of range");
	*cut = w->p + in_at;
	return 0;
}

int64_t probe_blocks_lzvolt(struct probe_blocks *b, const uint8_t *p, size_t n,
			    struct filter_error *err)
{
	struct walk w = { .p = p, .start = p, .end = p + n, .b = b, .err = err };
	int64_t declared = lzvolt_declared_size(p, n);
	const uint8_t *cut;
	uint64_t out_at;
	int r;

	if (declared < 0)
		return bad(&w, lzvolt_strerror(declared));
	r = value_split(&w, n, (uint64_t)declared, &cut, &out_at);
	if (r)
		return r;
	r = walk_until(&w, (uint64_t)declared, cut, even_step);
	if (r < 0)
		return r;
	if (out_at) {
		if (w.p != cut || w.out != out_at)
			return bad(&w, "the switch point is none");
		b->hybrid++;
		b->switched += out_at;
		b->hybrid_raw += (uint64_t)declared;
		w.last_offset = 0;
		r = walk_until(&w, (uint64_t)declared, w.end, wide_step);
		if (r < 0)
			return r;
	}
	if (w.out != (uint64_t)declared)
		return bad(&w, "not the declared length");
	b->blocks++;
	b->raw += w.out;
	b->packed += n;
	return declared;
}
