/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_frame.c - the frames of zstd: header, extent, seek table
 *
 *	magic[4] descriptor[1] window[0-1] dictionary id[0-4] content size[0-8]
 *
 * descriptor: bits 7-6 width of the content size, 5 single segment (the
 * window is the content, no window byte), 3 reserved, 2 checksum, 1-0 width
 * of the dictionary id.  Then blocks:
 *
 *	last[bit 0] type[bits 1-2] size[21 bits] content
 *
 * type: 0 stored, 1 one byte that repeats, 2 packed, 3 reserved.
 */
#include "zstd_frame.h"

#include "filter.h"
#include "mem.h"

#include <string.h>

static uint64_t load_le(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

ptrdiff_t zstd_header_parse(const uint8_t *p, size_t n, struct zstd_header *h)
{
	static const uint8_t id_width[] = { 0, 1, 2, 4 };
	static const uint8_t content_width[] = { 0, 2, 4, 8 };
	unsigned flags, id_len, content_len;
	bool single;
	size_t size;

	if (n >= 4 && memcmp(p, "\x28\xb5\x2f\xfd", 4))
		return FILTER_E_CORRUPT;
	if (n < ZSTD_HEADER_MIN)
		return ZSTD_HEADER_MIN;
	flags = p[4];
	if (flags & 8)
		return FILTER_E_UNSUPPORTED;
	single = flags & 0x20;
	id_len = id_width[flags & 3];
	content_len = content_width[flags >> 6];
	if (single && !content_len)
		content_len = 1;
	size = 5 + !single + id_len + content_len;
	if (n < size)
		return (ptrdiff_t)size;
	p += 5;
	*h = (struct zstd_header){ .size = size, .checked = flags & 4 };
	if (!single) {
		h->window = (uint64_t)1 << (10 + (*p >> 3));
		h->window += (h->window >> 3) * (*p & 7);
		p++;
	}
	h->dict_id = (uint32_t)load_le(p, id_len);
	h->content = content_len ? load_le(p + id_len, content_len) : SIZE_UNKNOWN;
	if (content_len == 2)
		h->content += 256;
	if (single)
		h->window = h->content;
	return (ptrdiff_t)size;
}

#define BLOCK_MAX ((uint64_t)128 << 10)
enum { BLOCK_STORED, BLOCK_RUN, BLOCK_PACKED, BLOCK_RESERVED };

/* The block at p, whose 3 bytes of head are there: its size; 0 = none can be. */
static size_t block_walk(const uint8_t *p, uint64_t block_max, uint64_t *raw,
			 bool *last)
{
	uint32_t head = load_le16(p) | (uint32_t)p[2] << 16;
	unsigned type = head >> 1 & 3;
	uint64_t size = head >> 3;

	*last = head & 1;
	if (type == BLOCK_RESERVED || size > block_max)
		return 0;
	*raw += type == BLOCK_PACKED ? block_max : size;
	return 3 + (type == BLOCK_RUN ? 1 : (size_t)size);
}

/* At *at behind the header: to the end of the last block.  1, 0 or an error. */
static int blocks_walk(const uint8_t *p, size_t n, uint64_t raw_max,
		       struct zstd_extent *x, size_t *at)
{
	uint64_t block_max = x->head.window < BLOCK_MAX ? x->head.window : BLOCK_MAX;
	bool last = false;

	while (!last) {
		size_t size;

		if (*at + 3 > n) {
			*at += 3;
			return 0;
		}
		size = block_walk(p + *at, block_max, &x->raw, &last);
		if (!size)
			return FILTER_E_CORRUPT;
		if (x->raw > raw_max + BLOCK_MAX)
			return FILTER_E_MEMORY;
		*at += size;
		if (*at > n)
			return 0;
	}
	return 1;
}

ptrdiff_t zstd_frame_walk(const uint8_t *p, size_t n, uint64_t raw_max,
			  struct zstd_extent *x, size_t *want)
{
	ptrdiff_t r = zstd_header_parse(p, n, &x->head);
	size_t at;

	if (r < 0)
		return r;
	*want = at = (size_t)r;
	if (at > n)
		return 0;
	x->raw = 0;
	r = blocks_walk(p, n, raw_max, x, &at);
	if (r < 0)
		return r;
	if (r)
		at += x->head.checked ? 4 : 0;
	*want = at;
	if (!r || at > n)
		return 0;
	if (x->head.content < x->raw)
		x->raw = x->head.content;
	x->size = at;
	return x->raw > raw_max ? FILTER_E_MEMORY : (ptrdiff_t)at;
}

uint32_t zstd_le32(const uint8_t *p)
{
	return load_le32(p);
}

bool zstd_table_footer(const uint8_t *p, struct zstd_table *t)
{
	if (load_le32(p + 5) != ZSTD_TABLE_END || p[4] & 0x7c)
		return false;
	t->frames = load_le32(p);
	t->entry = p[4] & 0x80 ? 12 : 8;
	t->size = ZSTD_TABLE_HEAD + t->frames * t->entry + ZSTD_TABLE_FOOTER;
	return t->frames <= ZSTD_TABLE_FRAMES;
}
