/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_frame.h - zstd frames (RFC 8878, 3.1.1) and seek tables
 *
 * Our own parser, because libzstd's is outside its stable interface.
 * For filters/, and for cmd/ where it reads seek tables.
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

/* A whole frame, as far as it can be told without decoding it. */
struct zstd_extent {
	struct zstd_header head;
	size_t size;		/* of the frame, check included */
	uint64_t raw;		/* decoded bytes at most, by its blocks; where the
				   header claims fewer, those */
};

/*
 * The frame at p.  Its size; 0 with *want > n where so many bytes are needed
 * to go on; FILTER_E_CORRUPT or FILTER_E_UNSUPPORTED.  raw_max: where the
 * blocks hold more, FILTER_E_MEMORY.
 */
ptrdiff_t zstd_frame_walk(const uint8_t *p, size_t n, uint64_t raw_max,
			  struct zstd_extent *x, size_t *want);

/*
 * A seek table, as the seekable format of zstd's contrib/ has it:
 *
 *	0x184d2a5e, length, entries, frames[4] descriptor[1] 0x8f92eab1
 *	entry: packed[4] raw[4], and where bit 7 of the descriptor is set the
 *	low 32 bits of the frame's XXH64[4]
 */
#define ZSTD_TABLE_MAGIC 0x184d2a5eu
#define ZSTD_TABLE_END 0x8f92eab1u
#define ZSTD_TABLE_HEAD ((size_t)8)
#define ZSTD_TABLE_FOOTER ((size_t)9)
#define ZSTD_TABLE_FRAMES ((uint64_t)1 << 27)	/* the format's limit */
struct zstd_table {
	uint64_t frames;
	size_t entry;		/* bytes of one: 8, or 12 with checks */
	uint64_t size;		/* of the whole skippable frame */
};
uint32_t zstd_le32(const uint8_t *p);
/* p: the last ZSTD_TABLE_FOOTER bytes.  False: they end no seek table. */
bool zstd_table_footer(const uint8_t *p, struct zstd_table *t);

#endif
