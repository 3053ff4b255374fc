/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flate.h - engines that code raw deflate data (RFC 1951)
 *
 * gzip, zlib and deflate are three wrappers around the same data; zlib.c and
 * zlib_unpack.c know the wrappers, the engines know the data.  Each optional
 * library's file has a twin in without/ that says NULL or falls back to zlib.
 * Internal to filters/.
 */
#ifndef FLATE_H
#define FLATE_H

#include "coder.h"

#define FLATE_HISTORY ((size_t)32768)

/*
 * Packs a chunk of a deflate stream.  A chunk starts on a byte boundary and
 * ends on one: with an empty stored block, or, when it is the last, with a
 * final block.  pack returns the bytes written, or 0 where they don't fit
 * into cap.
 */
struct flate_packer {
	const char *library;		/* name and version it was built with */
	void *(*open)(int level);	/* NULL = no memory */
	size_t (*pack)(void *state, const struct block *b, uint8_t *dst,
		       size_t cap);
	void (*close)(void *state);
};
extern const struct flate_packer flate_zlib;

/*
 * For a whole stream of at most FLATE_SMALL bytes: zlib in 22 KiB, where
 * libdeflate clears 200 KiB and isa-l must be loaded.  Its output is 0.8 %
 * smaller than libdeflate's level 6 at 100 bytes, 0.5 % larger at 800.
 */
#define FLATE_SMALL_BITS 10
#define FLATE_SMALL ((size_t)1 << FLATE_SMALL_BITS)
extern const struct flate_packer flate_small;

extern const struct flate_packer *const flate_isal;	/* NULL without isa-l */
extern const struct flate_packer *const flate_libdeflate;	/* ... */

/*
 * Unpacks a deflate stream.  run takes and gives as a coder_step and ends
 * (CODER_DONE) with the coder's input right behind the last block's last byte; on
 * FILTER_E_CORRUPT, *why says why.
 */
struct flate_unpacker {
	const char *library;		/* its name */
	void *(*open)(void);		/* NULL = no memory */
	void (*reset)(void *state);
	int (*run)(void *state, struct coder *c, const char **why);
	void (*close)(void *state);
};
/* The libraries count in 32 bits: longer spans go in pieces. */
static inline uint32_t flate_span(size_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

extern const struct flate_unpacker flate_zlib_unpacker;
extern const struct flate_unpacker *const flate_isal_unpacker;	/* NULL without isa-l */

/* Checksums by the fastest library that is built in; as zlib's own. */
uint32_t flate_crc32(uint32_t crc, const uint8_t *p, size_t n);
uint32_t flate_adler32(uint32_t adler, const uint8_t *p, size_t n);

/*
 * Stored blocks.  flate_store() writes them, all but the last without the
 * final bit, and returns their bytes: flate_store_size(n) exactly.
 */
size_t flate_store_size(size_t n, bool last);
size_t flate_store(const uint8_t *src, size_t n, bool last, uint8_t *dst);

#endif
