/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - whether this machine can say which vector registers are dirty
 *
 * x86-64: XGETBV with ECX = 1 gives the state components that aren't in their
 * first state (CPUID leaf 13, subleaf 1, EAX bit 2).  Elsewhere there are no
 * upper halves to leave dirty.
 */
#include "checkasm.h"

#if defined(__x86_64__)
#include <cpuid.h>

int checked_call_knows_vectors(void)
{
	uint32_t a, b, c, d;

	return (cpu_read().have & CPU_AVX2) && __get_cpuid_count(13, 1, &a, &b, &c, &d) &&
	       (a & 4);
}
#else
int checked_call_knows_vectors(void)
{
	return 0;
}
#endif
