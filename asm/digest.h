/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.h - XXH3, 64 bits, by the widest instructions this CPU has
 */
#ifndef DIGEST_H
#define DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* XXH3_64bits() of the n bytes at p. */
uint64_t digest64(const void *p, size_t n);

/* digest.c's alone: x86-64 with AVX2. */
uint64_t digest64_avx2(const void *p, size_t n);

#endif
