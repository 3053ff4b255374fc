/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.c - XXH3 by the library, or by AVX2 where the CPU has it
 *
 * A record's check is a quarter of what unpacking it costs with SSE2, the widest
 * that Debian's libxxhash is built for; AVX2 is 2.2 to 3 times as fast (64 KiB,
 * Zen 3).
 */
#include "digest.h"
#include "kernel.h"

#include <xxhash.h>

typedef uint64_t digest_fn(const void *p, size_t n);

static uint64_t digest64_plain(const void *p, size_t n)
{
	return XXH3_64bits(p, n);
}

/* libgcc's own test would read CPUID at every start of the program. */
static digest_fn *choose(void)
{
#if defined(__x86_64__)
	if (cpu_read().have & CPU_AVX2)
		return digest64_avx2;
#endif
	return digest64_plain;
}

uint64_t digest64(const void *p, size_t n)
{
	static digest_fn *chosen;
	digest_fn *f = __atomic_load_n(&chosen, __ATOMIC_RELAXED);

	if (!f) {
		f = choose();
		__atomic_store_n(&chosen, f, __ATOMIC_RELAXED);
	}
	return f(p, n);
}
