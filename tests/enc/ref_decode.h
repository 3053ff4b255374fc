/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref_decode.h - an lzvolt decoder written byte by byte from the format
 *
 * It shares nothing with the product's decoder, so that an encoder and a
 * decoder that are wrong in the same way are seen.
 */
#ifndef REF_DECODE_H
#define REF_DECODE_H

#include <stddef.h>
#include <stdint.h>

struct ref_info {
	size_t even_blocks, wide_blocks, repeats;
	size_t in_at, out_at;
};

/*
 * Unpacks value into dst, which has room for cap bytes.  Returns the decoded
 * length, or -1 for anything that the format calls an error, and also for
 * bytes left over behind the last block.  info may be null.
 */
int64_t ref_decode(const uint8_t *value, size_t len, uint8_t *dst, size_t cap,
		   struct ref_info *info);

#endif
