// SPDX-License-Identifier: Apache-2.0
/*
 * record_index.c - where the records of an .lzv stream are
 *
 *	index item body := flags groups group* [key hash*] check
 *	group		:= records raw span [width]		(varints)
 *	footer		:= u64 bytes back to the header, u32 bytes back to the
 *			   index item, F5 'L' 'Z' 'I'
 *
 * Groups lie side by side from the header on, so their spans are the deltas of
 * their offsets.  A group ends at a record's end once it spans 64 KiB.  When
 * there are LZV_GROUPS_MAX of them, they are merged by two and the span is
 * doubled: the index of a stream of any length has a bounded size.  Key hashes
 * are 4 bytes a record; above 2^24 records they are left out.
 */
#include "record.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "mem.h"

#define GROUP_SPAN	65536
#define KEYS_MAX	((size_t)1 << 24)
#define HAS_KEYS	1
#define HAS_WIDTHS	2
#define GROUP_ROOM	40	/* four varints */

static const uint8_t magic[4] = { 0xf5, 'L', 'Z', 'I' };

void lzv_index_open(struct lzv_index *x)
{
	memset(x, 0, sizeof(*x));
	x->group_min = GROUP_SPAN;
}

void lzv_index_close(struct lzv_index *x)
{
	free(x->group);
	free(x->key);
	memset(x, 0, sizeof(*x));
}

uint32_t lzv_key_hash(const uint8_t *key, size_t n)
{
	return (uint32_t)XXH3_64bits(key, n);
}

static void groups_halve(struct lzv_index *x)
{
	size_t i;

	for (i = 0; i + 1 < x->count; i += 2) {
		struct lzv_group *g = &x->group[i / 2];

		*g = x->group[i];
		g->records += x->group[i + 1].records;
		g->raw += x->group[i + 1].raw;
		g->span += x->group[i + 1].span;
	}
	x->count /= 2;
	x->group_min *= 2;
}

static int groups_make(struct lzv_index *x, size_t cap)
{
	struct lzv_group *more = realloc(x->group, cap * sizeof(*more));

	if (!more)
		return FILTER_E_MEMORY;
	x->group = more;
	x->group_cap = cap;
	return 0;
}

/* One hash a record, 0 for a record without a key. */
static int key_add(struct lzv_index *x, const struct lzv_item *it)
{
	size_t cap = x->key_cap ? 2 * x->key_cap : 16;
	uint32_t *more;

	x->keyed |= it->has_key;
	if (x->full)
		return 0;
	if (x->key_count == KEYS_MAX) {
		x->full = true;
		return 0;
	}
	if (x->key_count == x->key_cap) {
		more = realloc(x->key, cap * sizeof(*more));
		if (!more)
			return FILTER_E_MEMORY;
		x->key = more;
		x->key_cap = cap;
	}
	x->key[x->key_count++] = it->has_key ? lzv_key_hash(it->key, it->key_size) : 0;
	return 0;
}

int lzv_index_add(struct lzv_index *x, const struct lzv_item *it, uint64_t span,
		  bool starts_record, unsigned width)
{
	struct lzv_group *g = x->count ? &x->group[x->count - 1] : NULL;

	if (!g || (starts_record && g->span >= x->group_min)) {
		if (x->count == LZV_GROUPS_MAX)
			groups_halve(x);
		if (x->count == x->group_cap &&
		    groups_make(x, x->group_cap ? 2 * x->group_cap : 16))
			return FILTER_E_MEMORY;
		g = &x->group[x->count++];
		*g = (struct lzv_group){ .width = width };
	}
	g->span += span;
	g->raw += it->raw_size;
	if (!starts_record)
		return 0;
	g->records++;
	return key_add(x, it);
}

size_t lzv_index_room(const struct lzv_index *x)
{
	return 64 + GROUP_ROOM * x->count +
	       (x->keyed && !x->full ? 4 * x->key_count : 0) + LZV_FOOTER;
}

static unsigned index_flags(const struct lzv_index *x)
{
	unsigned flags = x->keyed && !x->full ? HAS_KEYS : 0;
	size_t i;

	for (i = 0; i < x->count; i++)
		if (x->group[i].width)
			flags |= HAS_WIDTHS;
	return flags;
}

static size_t body_put(const struct lzv_index *x, uint8_t *p)
{
	unsigned flags = index_flags(x);
	size_t n = 1, i;

	p[0] = (uint8_t)flags;
	n += varint_put(p + n, x->count);
	for (i = 0; i < x->count; i++) {
		n += varint_put(p + n, x->group[i].records);
		n += varint_put(p + n, x->group[i].raw);
		n += varint_put(p + n, x->group[i].span);
		if (flags & HAS_WIDTHS)
			n += varint_put(p + n, x->group[i].width);
	}
	for (i = 0; i < x->key_count && (flags & HAS_KEYS); i++, n += 4)
		store_le32(p + n, x->key[i]);
	store_le32(p + n, (uint32_t)XXH3_64bits(p, n));
	return n + 4;
}

static void store_le64(uint8_t *p, uint64_t v)
{
	store_le32(p, (uint32_t)v);
	store_le32(p + 4, (uint32_t)(v >> 32));
}

size_t lzv_index_put(const struct lzv_index *x, uint8_t *p, uint64_t at)
{
	size_t body = body_put(x, p + 12);
	size_t n = lzv_control_put(p, LZV_INDEX, p + 12, body);

	store_le64(p + n, at + n);
	store_le32(p + n + 8, (uint32_t)n);
	memcpy(p + n + 12, magic, sizeof(magic));
	return n + LZV_FOOTER;
}

bool lzv_footer_get(const uint8_t *p, uint64_t *stream, uint64_t *index)
{
	*stream = load_le32(p) | (uint64_t)load_le32(p + 4) << 32;
	*index = load_le32(p + 8);
	return !memcmp(p + 12, magic, sizeof(magic)) &&
	       *index < *stream && *stream - *index >= LZV_HEADER;
}

/* One varint of the body; false: malformed, or behind the end. */
static bool take(const uint8_t **p, const uint8_t *end, uint64_t *v)
{
	int n = varint_get(*p, end - *p, v);

	if (n <= 0)
		return false;
	*p += n;
	return true;
}

static bool group_get(const uint8_t **p, const uint8_t *end, unsigned flags,
		      struct lzv_group *g)
{
	uint64_t width = 0;

	if (!take(p, end, &g->records) || !take(p, end, &g->raw) ||
	    !take(p, end, &g->span))
		return false;
	if ((flags & HAS_WIDTHS) && !take(p, end, &width))
		return false;
	g->width = (unsigned)width;
	return width <= LZV_WIDTH_MAX;
}

/* 0, or FILTER_E_CORRUPT, FILTER_E_MEMORY. */
static int groups_get(struct lzv_index *x, const uint8_t **p,
		      const uint8_t *end, unsigned flags)
{
	uint64_t count, records = 0, span = 0;
	size_t i;

	if (!take(p, end, &count) || count > LZV_GROUPS_MAX)
		return FILTER_E_CORRUPT;
	if (groups_make(x, (size_t)count + 1))
		return FILTER_E_MEMORY;
	for (i = 0; i < count; i++) {
		struct lzv_group *g = &x->group[i];

		if (!group_get(p, end, flags, g) ||
		    __builtin_add_overflow(span, g->span, &span) ||
		    __builtin_add_overflow(records, g->records, &records))
			return FILTER_E_CORRUPT;
	}
	x->count = count;
	x->keyed = flags & HAS_KEYS;
	if (!x->keyed)
		return *p == end ? 0 : FILTER_E_CORRUPT;
	x->key_count = (end - *p) / 4;
	if ((uint64_t)(end - *p) != records * 4 || records > KEYS_MAX)
		return FILTER_E_CORRUPT;
	return 0;
}

static int keys_get(struct lzv_index *x, const uint8_t *p)
{
	size_t i;

	if (!x->keyed)
		return 0;
	x->key = malloc(x->key_count * 4 + 1);
	if (!x->key)
		return FILTER_E_MEMORY;
	x->key_cap = x->key_count;
	for (i = 0; i < x->key_count; i++)
		x->key[i] = load_le32(p + 4 * i);
	return 0;
}

bool lzv_index_intact(const uint8_t *p, size_t n)
{
	return n >= 6 && load_le32(p + n - 4) == (uint32_t)XXH3_64bits(p, n - 4);
}

int lzv_index_get(struct lzv_index *x, const uint8_t *p, size_t n,
		  uint64_t offset, struct filter_error *err)
{
	const uint8_t *at = p + 1;
	const uint8_t *end;
	int code = FILTER_E_CORRUPT;

	if (!lzv_index_intact(p, n))
		return filter_fail(err, FILTER_E_CHECK, offset,
				   "index doesn't match its check");
	end = p + n - 4;
	if (!(p[0] & ~(HAS_KEYS | HAS_WIDTHS)))
		code = groups_get(x, &at, end, p[0]);
	if (code == FILTER_E_CORRUPT)
		return filter_fail(err, code, offset, "malformed index");
	if (code || keys_get(x, at))
		return filter_fail(err, FILTER_E_MEMORY, offset, "no memory for the index");
	return 0;
}
