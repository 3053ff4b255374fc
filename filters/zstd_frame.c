/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_frame.c - the header of a zstd frame
 *
 *	magic[4] descriptor[1] window[0-1] dictionary id[0-4] content size[0-8]
 *
 * descriptor: bits 7-6 width of the content size, 5 single segment (the
 * window is the content, no window byte), 3 reserved, 2 checksum, 1-0 width
 * of the dictionary id.
 */
#include "zstd_frame.h"

#include "filter.h"

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
