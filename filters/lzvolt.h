/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzvolt.h - the public C interface of liblzvolt
 *
 * A value is self-contained: 1 to 4 header bytes that carry the decoded
 * length, then the packed bytes (lzvolt(5)).  A value has no magic number and
 * no checksum: whoever stores it keeps a flag that says how it is encoded.
 *
 * Every function is thread-safe, keeps no global state and treats its input
 * as hostile.  The caller owns every buffer; src and dst must not overlap.
 * Lengths are bytes.  A result of zero or more is a number of bytes; a
 * negative one is an LZVOLT_E_* code, and what dst then holds is undefined.
 * A null pointer is allowed where its length is zero.
 *
 * Names and values up to lzvolt_strerror() are those of the format's
 * reference implementation (lzvolt 1.0), so that a program can be relinked
 * from one to the other.
 */
#ifndef LZVOLT_H
#define LZVOLT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What this header declares, and nothing else, is exported. */
#pragma GCC visibility push(default)

/* Not an error: the input isn't worth packing, store it as it is. */
#define LZVOLT_NOT_COMPRESSIBLE		((int64_t)0)

#define LZVOLT_E_NULL			((int64_t)-1) /* null pointer, length > 0 */
#define LZVOLT_E_TRUNCATED		((int64_t)-2) /* input ends inside a field */
#define LZVOLT_E_BAD_OFFSET		((int64_t)-3) /* offset 0, or before the output */
#define LZVOLT_E_LENGTH_MISMATCH	((int64_t)-4) /* not the declared length */
#define LZVOLT_E_TOO_LARGE		((int64_t)-5) /* above LZVOLT_MAX_SIZE */
#define LZVOLT_E_NON_CANONICAL		((int64_t)-6) /* header longer than needed */
#define LZVOLT_E_OUTPUT_TOO_SMALL	((int64_t)-7) /* dst_cap too small */

#define LZVOLT_MAX_SIZE		((size_t)536870911)	/* 2^29 - 1 */
#define LZVOLT_WINDOW		((size_t)65535)

/* The largest value that packing src_len bytes can give. */
size_t lzvolt_compress_bound(size_t src_len);

/*
 * The buffer length with which a value of `declared` bytes decodes fastest.
 * Exactly `declared` is enough for a correct result.
 */
size_t lzvolt_decompress_bound(size_t declared);

/*
 * Packs src at the default level (3, balance).  Returns the value's length,
 * LZVOLT_NOT_COMPRESSIBLE, or an error.
 */
int64_t lzvolt_compress(const uint8_t *src, size_t src_len,
			uint8_t *dst, size_t dst_cap);

/* The decoded length that the header declares; looks at 4 bytes at most. */
int64_t lzvolt_declared_size(const uint8_t *src, size_t src_len);

/*
 * Unpacks a value.  dst_cap >= the declared size.  Bytes of dst behind the
 * declared size, up to dst_cap, may be overwritten.  Returns the declared
 * size or an error.
 */
int64_t lzvolt_decompress(const uint8_t *src, size_t src_len,
			  uint8_t *dst, size_t dst_cap);

/*
 * Unpacks an LZ4 block whose decoded size is known to be `declared`.
 * Otherwise as lzvolt_decompress().
 */
int64_t lzvolt_decompress_lz4(const uint8_t *src, size_t src_len,
			      uint8_t *dst, size_t dst_cap, size_t declared);

/* The name of the decode kernel that this process uses; a static string. */
const char *lzvolt_backend(void);

/* The library's version, "1.0.0"; a static string. */
const char *lzvolt_version(void);

/* A code in words; never null. */
const char *lzvolt_strerror(int64_t code);

/*
 * Unpacks an LZ4 block with the arguments and the results of liblz4's
 * LZ4_decompress_safe(): the number of bytes decoded, at most dst_capacity,
 * or a negative number for a malformed block.  The decoded size need not be
 * known.  Unlike liblz4 it refuses every offset of zero.
 */
int lzvolt_decompress_lz4_safe(const char *src, char *dst,
			       int compressed_size, int dst_capacity);

/*
 * Levels 1 (fastest) to 9 (smallest); LZVOLT_LEVEL_DEFAULT is the best trade.
 * Or one of the two flags to the level: FAVOR_SIZE takes the smaller layout
 * always, FAVOR_SPEED only a layout that reads fast; neither = balance.
 * The result depends on the input and the level alone.
 */
#define LZVOLT_LEVEL_MIN	1
#define LZVOLT_LEVEL_DEFAULT	3
#define LZVOLT_LEVEL_MAX	9
#define LZVOLT_FAVOR_SIZE	0x100
#define LZVOLT_FAVOR_SPEED	0x200

/* Bytes of working memory that a level needs; 0 for a level that isn't one. */
size_t lzvolt_state_size(int level);

/*
 * Packs src at a level (flags allowed).  state: lzvolt_state_size(level)
 * bytes, 16-byte aligned, uninitialised is fine, reusable for the next call,
 * one thread at a time; null = allocated for this call.  Returns as
 * lzvolt_compress(); a level that isn't one is LZVOLT_E_TOO_LARGE, memory
 * that could not be had is LZVOLT_E_NULL.
 */
int64_t lzvolt_compress_level(void *state, const uint8_t *src, size_t src_len,
			      uint8_t *dst, size_t dst_cap, int level);

/*
 * An LZ4 block, whose decoded size is `declared`, as an lzvolt value: the
 * same sequences in lzvolt's tokens, or the block itself behind a header,
 * whichever is smaller.  Nothing is searched and nothing is decoded.
 * lzvolt_to_lz4() gives the original block back bit for bit; where it would
 * not, LZVOLT_E_LENGTH_MISMATCH is returned.  dst_cap: block_len + 4 is
 * enough.
 */
int64_t lzvolt_from_lz4(const uint8_t *block, size_t block_len,
			size_t declared, uint8_t *dst, size_t dst_cap);

/*
 * Any lzvolt value as an LZ4 block that liblz4 accepts.  Nothing is searched;
 * a tail that breaks LZ4's end rules is rewritten as literals.  dst_cap:
 * LZ4_compressBound() of the declared size is enough.  Returns the block's
 * length or an error.
 */
int64_t lzvolt_to_lz4(const uint8_t *value, size_t value_len,
		      uint8_t *dst, size_t dst_cap);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
