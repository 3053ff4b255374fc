/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_frame.h - the header of a zstd frame (RFC 8878, 3.1.1.1)
 *
 * Our own parser, because libzstd's is outside its stable interface.
 * Internal to filters/.
 */
#ifndef ZSTD_FRAME_H
#define ZSTD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zstd_header {
	size_t size;		/* of the header itself, magic included */
	uint64_t window;	/* bytes that a decoder must keep */
	uint64_t content;	/* decoded bytes, SIZE_UNKNOWN */
	uint32_t dict_id;	/* 0 = none */
	bool checked;		/* a checksum follows the last block */
};

#define ZSTD_HEADER_MIN ((size_t)5)

/*
 * Parses the header at p.  Returns its size, > n where that many bytes are
 * needed to go on; FILTER_E_CORRUPT without the magic number,
 * FILTER_E_UNSUPPORTED where the reserved bit is set.
 */
ptrdiff_t zstd_header_parse(const uint8_t *p, size_t n, struct zstd_header *h);

#endif
