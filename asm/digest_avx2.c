/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest_avx2.c - xxhash.h's own XXH3, compiled for AVX2
 *
 * Its header brings the code; the target is set here and not on the command
 * line, so that one compiler line builds all files.
 */
#include "digest.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif

#define XXH_INLINE_ALL
#define XXH_VECTOR 2	/* XXH_AVX2 */
#include <xxhash.h>

uint64_t digest64_avx2(const void *p, size_t n)
{
	return XXH3_64bits(p, n);
}

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
