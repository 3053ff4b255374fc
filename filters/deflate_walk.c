/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate_walk.c - finding the last block of a deflate stream
 *
 * libdeflate ends every stream with a block that is marked as the last.  To
 * put streams one behind another, that mark must be taken away, and nothing
 * but reading the codes says where it is.  Only the codes' lengths matter
 * here, so a table entry is one byte: how many bits the code and the extra
 * bits behind it have, and what it is.
 */
#include "deflate_walk.h"

#include "mem.h"

#include <string.h>

enum { TABLE_BITS = 11, CODE_MAX = 15, LITLEN = 288, DIST = 32, PRECODE = 19 };
enum { ENTRY_BITS = 31, ENTRY_MATCH = 32, ENTRY_END = 64, ENTRY_USED = 128 };

struct code {
	uint8_t table[1 << TABLE_BITS];	/* entry, 0 = the code is longer */
	uint16_t count[CODE_MAX + 1];
	uint16_t sorted[LITLEN];	/* symbols by code */
	uint8_t entry[LITLEN];		/* by symbol */
};

struct walk {
	const uint8_t *p;
	size_t n;
	size_t pos;		/* bits */
	struct code litlen, dist, pre;
};

/* At least 57 bits from pos on; zeros behind the end. */
static uint64_t walk_peek(const struct walk *w)
{
	size_t at = w->pos / 8;
	uint8_t tail[8] = { 0 };

	if (w->n - at >= 8)
		return load_le64(w->p + at) >> w->pos % 8;
	memcpy(tail, w->p + at, w->n - at);
	return load_le64(tail) >> w->pos % 8;
}

/* Passes n bits; false behind the end. */
static bool walk_skip(struct walk *w, size_t n)
{
	w->pos += n;
	return w->pos <= 8 * w->n;
}

static uint8_t litlen_entry(unsigned symbol, unsigned len)
{
	unsigned extra = symbol < 265 || symbol > 284 ? 0 : (symbol - 261) / 4;

	if (symbol < 256)
		return (uint8_t)(ENTRY_USED | len);
	if (symbol == 256)
		return (uint8_t)(ENTRY_USED | ENTRY_END | len);
	return (uint8_t)(ENTRY_USED | ENTRY_MATCH | (len + extra));
}

static uint8_t dist_entry(unsigned symbol, unsigned len)
{
	return (uint8_t)(ENTRY_USED | (len + (symbol < 4 ? 0 : symbol / 2 - 1)));
}

static uint8_t pre_entry(unsigned symbol, unsigned len)
{
	(void)symbol;
	return (uint8_t)(ENTRY_USED | len);
}

/* Codes come most significant bit first, tables are looked up by the least. */
static unsigned reversed(unsigned code, unsigned len)
{
	unsigned r = 0;

	while (len--) {
		r = r << 1 | (code & 1);
		code >>= 1;
	}
	return r;
}

static void code_fill(struct code *c, unsigned code, unsigned len, uint8_t entry)
{
	if (len > TABLE_BITS)
		return;
	for (unsigned i = reversed(code, len); i < 1 << TABLE_BITS; i += 1u << len)
		c->table[i] = entry;
}

/* A canonical code out of its lengths; false where they overflow. */
static bool code_build(struct code *c, const uint8_t *len, unsigned symbols,
		       uint8_t (*entry)(unsigned, unsigned))
{
	unsigned next[CODE_MAX + 2] = { 0 }, index[CODE_MAX + 2] = { 0 };

	memset(c->table, 0, sizeof(c->table));
	memset(c->count, 0, sizeof(c->count));
	for (unsigned s = 0; s < symbols; s++)
		c->count[len[s]]++;
	c->count[0] = 0;
	for (unsigned l = 1; l <= CODE_MAX; l++) {
		next[l + 1] = (next[l] + c->count[l]) << 1;
		index[l + 1] = index[l] + c->count[l];
		if (next[l] + c->count[l] > 1u << l)
			return false;
	}
	for (unsigned s = 0; s < symbols; s++) {
		if (!len[s])
			continue;
		c->entry[s] = entry(s, len[s]);
		c->sorted[index[len[s]]++] = (uint16_t)s;
		code_fill(c, next[len[s]]++, len[s], c->entry[s]);
	}
	return true;
}

/* Bit by bit: the symbol of the code that v begins with, -1 = none. */
static int code_symbol(const struct code *c, uint64_t v)
{
	unsigned code = 0, first = 0, index = 0;

	for (unsigned l = 1; l <= CODE_MAX; l++) {
		code |= v & 1;
		v >>= 1;
		if (code - first < c->count[l])
			return c->sorted[index + (code - first)];
		index += c->count[l];
		first = (first + c->count[l]) << 1;
		code <<= 1;
	}
	return -1;
}

static uint8_t code_entry(const struct code *c, uint64_t v)
{
	uint8_t e = c->table[v & ((1 << TABLE_BITS) - 1)];
	int symbol;

	if (e)
		return e;
	symbol = code_symbol(c, v);
	return symbol < 0 ? 0 : c->entry[symbol];
}

/* The code lengths of both codes, which are coded by the third. */
static bool walk_lengths(struct walk *w, uint8_t *len, unsigned total)
{
	static const struct { uint8_t bits, least; } repeat[] = {
		{ 2, 3 }, { 3, 3 }, { 7, 11 },
	};
	unsigned at = 0;

	while (at < total) {
		uint64_t v = walk_peek(w);
		int symbol = code_symbol(&w->pre, v);
		unsigned bits, times;
		uint8_t fill = 0;

		if (symbol < 0)
			return false;
		bits = w->pre.entry[symbol] & ENTRY_BITS;
		if (symbol < 16) {
			len[at++] = (uint8_t)symbol;
			walk_skip(w, bits);
			continue;
		}
		times = repeat[symbol - 16].least +
			(v >> bits & ((1u << repeat[symbol - 16].bits) - 1));
		if (times > total - at || (symbol == 16 && !at))
			return false;
		if (symbol == 16)
			fill = len[at - 1];
		memset(len + at, fill, times);
		at += times;
		if (!walk_skip(w, bits + repeat[symbol - 16].bits))
			return false;
	}
	return true;
}

static bool walk_dynamic(struct walk *w)
{
	static const uint8_t order[PRECODE] = {
		16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
	};
	uint8_t len[LITLEN + DIST] = { 0 }, pre[PRECODE] = { 0 };
	uint64_t v = walk_peek(w);
	unsigned lits = 257 + (v & 31), dists = 1 + (v >> 5 & 31);
	unsigned pres = 4 + (v >> 10 & 15);

	if (lits > LITLEN || !walk_skip(w, 14))
		return false;
	for (unsigned i = 0; i < pres; i++) {
		pre[order[i]] = walk_peek(w) & 7;
		if (!walk_skip(w, 3))
			return false;
	}
	return code_build(&w->pre, pre, PRECODE, pre_entry) &&
		walk_lengths(w, len, lits + dists) &&
		code_build(&w->litlen, len, lits, litlen_entry) &&
		code_build(&w->dist, len + lits, dists, dist_entry);
}

static bool walk_static(struct walk *w)
{
	uint8_t len[LITLEN];

	memset(len, 8, 144);
	memset(len + 144, 9, 112);
	memset(len + 256, 7, 24);
	memset(len + 280, 8, 8);
	code_build(&w->litlen, len, LITLEN, litlen_entry);
	memset(len, 5, DIST);
	return code_build(&w->dist, len, DIST, dist_entry);
}

static bool walk_codes(struct walk *w)
{
	for (;;) {
		uint64_t v = walk_peek(w);
		uint8_t e = code_entry(&w->litlen, v), d;

		if (!e || !walk_skip(w, e & ENTRY_BITS))
			return false;
		if (e & ENTRY_END)
			return true;
		if (!(e & ENTRY_MATCH))
			continue;
		d = code_entry(&w->dist, v >> (e & ENTRY_BITS));
		if (!d || !walk_skip(w, d & ENTRY_BITS))
			return false;
	}
}

static bool walk_stored(struct walk *w)
{
	w->pos = (w->pos + 7) / 8 * 8;
	if (8 * w->n - w->pos < 32)
		return false;
	return walk_skip(w, 32 + 8 * (walk_peek(w) & 0xffff));
}

bool deflate_walk(const uint8_t *p, size_t n, struct deflate_place *place)
{
	struct walk w = { .p = p, .n = n };
	bool ok = true, last = false;

	while (ok && !last) {
		unsigned head = walk_peek(&w) & 7;

		place->last = w.pos;
		last = head & 1;
		if (!walk_skip(&w, 3))
			return false;
		if (head >> 1 == 0)
			ok = walk_stored(&w);
		else if (head >> 1 == 1)
			ok = walk_static(&w) && walk_codes(&w);
		else
			ok = head >> 1 == 2 && walk_dynamic(&w) && walk_codes(&w);
	}
	place->end = w.pos;
	return ok;
}
