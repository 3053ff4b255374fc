/* SPDX-License-Identifier: Apache-2.0 */
/*
 * equal.h - how many bytes two places have in common
 *
 * The result is the same on every machine; only the way to it differs.  One
 * comparison of 32 bytes without a branch: how long a match is can't be
 * predicted, so a branch on the way costs more than the bytes compared in vain.
 */
#ifndef EQUAL_H
#define EQUAL_H

#include <stddef.h>
#include <stdint.h>

#include "mem.h"

#if defined(__SSE2__)
#include <emmintrin.h>

static inline uint32_t equal_mask16(const uint8_t *a, const uint8_t *b)
{
	__m128i x, y;

	__builtin_memcpy(&x, a, 16);
	__builtin_memcpy(&y, b, 16);
	return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(x, y));
}

/* Equal bytes from the start, 0 to 32; reads 32 bytes of both. */
static inline size_t equal32(const uint8_t *a, const uint8_t *b)
{
	uint32_t differ = ~(equal_mask16(a, b) | equal_mask16(a + 16, b + 16) << 16);

	return differ ? (size_t)__builtin_ctz(differ) : 32;
}

#else

/* Equal bytes from the start, 0 to 32; reads 32 bytes of both. */
static inline size_t equal32(const uint8_t *a, const uint8_t *b)
{
	for (size_t n = 0; n < 32; n += 8) {
		uint64_t differ = load_le64(a + n) ^ load_le64(b + n);

		if (differ)
			return n + ((size_t)__builtin_ctzll(differ) >> 3);
	}
	return 32;
}

#endif

#endif
