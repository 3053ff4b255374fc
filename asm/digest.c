/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.c - XXH3 by the library, or by AVX2 where the CPU has it
 *
 * A record's check is a quarter of what unpacking it costs with SSE2, the widest
 * that Debian's libxxhash is built for; AVX2 is 2.2 to 3 times as fast (64 KiB,
 * Zen 3).
 */
#include "digest.h"

#include <xxhash.h>

uint64_t digest64(const void *p, size_t n)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx2"))
		return digest64_avx2(p, n);
#endif
	return XXH3_64bits(p, n);
}
