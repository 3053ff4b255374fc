/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lz4_frame.h - what packing and unpacking LZ4 frames share
 *
 * LZ4 Frame Format 1.6.x:
 *
 *	magic[4] flags[1] descriptor[1] [content size[8]] [dictionary id[4]]
 *	header checksum[1]
 *	blocks: length[4], top bit = stored; bytes; [checksum[4]]
 *	end: 0[4] [content checksum[4]]
 *
 * Internal to filters/.
 */
#ifndef LZ4_FRAME_H
#define LZ4_FRAME_H

#include "filter.h"

#define LZ4_FRAME_MAGIC		UINT32_C(0x184d2204)
#define LZ4_LEGACY_MAGIC	UINT32_C(0x184c2102)
#define LZ4_HEADER_MIN		((size_t)7)
#define LZ4_HEADER_MAX		((size_t)19)
#define LZ4_STORED		UINT32_C(0x80000000)
#define LZ4_HISTORY		((size_t)65536)
#define LZ4_BLOCK_MAX		((size_t)4 << 20)

/* Flags byte: version 01 in the two top bits. */
#define LZ4_VERSION		0x40
#define LZ4_INDEPENDENT		0x20
#define LZ4_BLOCK_CHECK		0x10
#define LZ4_CONTENT_SIZE	0x08
#define LZ4_CONTENT_CHECK	0x04
#define LZ4_RESERVED		0x02
#define LZ4_DICT_ID		0x01

struct lz4_header {
	size_t size;		/* of the header itself, magic included */
	size_t block_max;	/* decoded bytes of a block, at most */
	uint64_t content;	/* decoded bytes, or SIZE_UNKNOWN */
	uint32_t dict_id;	/* 0 = none */
	uint8_t flags;
};

/*
 * Parses the header at p.  Returns its size, > n where that many bytes are
 * needed to go on, or an error with *err filled (offset: p's in the input).
 */
ptrdiff_t lz4_header_parse(const uint8_t *p, size_t n, struct lz4_header *h,
			   uint64_t offset, struct filter_error *err);

/* Writes h (flags without version, block_max, content); returns its size. */
size_t lz4_header_write(const struct lz4_header *h, uint8_t *dst);

/* The smallest of the format's four block sizes that holds n bytes, or 0. */
size_t lz4_block_max(size_t n);

/*
 * Packs one block's raw bytes without a frame around it.  open takes the
 * level (lz4's own numbers: below 3 fast, from 3 on HC) and a dictionary, of
 * which the last 64 KiB count.  pack returns 0 where cap doesn't hold it.
 */
struct lz4_packer;
struct lz4_packer *lz4_packer_open(int level, const uint8_t *dict,
				   size_t dict_len);
size_t lz4_packer_pack(struct lz4_packer *k, const uint8_t *src, size_t n,
		       uint8_t *dst, size_t cap);
void lz4_packer_close(struct lz4_packer *k);

extern const struct stream_ops lz4_unpack_ops;
extern const struct unpack_ops lz4_unpack_blocks;

#endif
