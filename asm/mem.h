/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mem.h - loads, stores and fixed-width moves at any alignment
 *
 * Every access to packed or unpacked bytes goes through here, so no pointer is
 * ever cast to a wider type.  Each function compiles to one or two
 * instructions.  A move of n bytes loads all n before it stores any: source
 * and target may overlap, and then the target gets the old bytes.
 */
#ifndef MEM_H
#define MEM_H

#include <stdint.h>

static inline uint32_t load_le16(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t load_le32(const uint8_t *p)
{
	return load_le16(p) | load_le16(p + 2) << 16;
}

static inline uint64_t load_le64(const uint8_t *p)
{
	return load_le32(p) | (uint64_t)load_le32(p + 4) << 32;
}

static inline void store_le16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void store_le32(uint8_t *p, uint32_t v)
{
	store_le16(p, v & 0xffff);
	store_le16(p + 2, v >> 16);
}


static inline void move2(uint8_t *to, const uint8_t *from)
{
	uint16_t v;

	__builtin_memcpy(&v, from, 2);
	__builtin_memcpy(to, &v, 2);
}

static inline void move4(uint8_t *to, const uint8_t *from)
{
	uint32_t v;

	__builtin_memcpy(&v, from, 4);
	__builtin_memcpy(to, &v, 4);
}

static inline void move8(uint8_t *to, const uint8_t *from)
{
	uint64_t v;

	__builtin_memcpy(&v, from, 8);
	__builtin_memcpy(to, &v, 8);
}

/* A GCC vector: one register on every machine that has 16-byte ones. */
typedef uint8_t vec16 __attribute__((vector_size(16)));

static inline void move16(uint8_t *to, const uint8_t *from)
{
	vec16 v;

	__builtin_memcpy(&v, from, 16);
	__builtin_memcpy(to, &v, 16);
}

static inline void move32(uint8_t *to, const uint8_t *from)
{
	vec16 v, w;

	__builtin_memcpy(&v, from, 16);
	__builtin_memcpy(&w, from + 16, 16);
	__builtin_memcpy(to, &v, 16);
	__builtin_memcpy(to + 16, &w, 16);
}

/*
 * Exactly n <= 16 bytes, not overlapping, without a branch on n: the 16 bytes
 * that end where the copy ends are read on both sides, and the ones before it
 * put back as they were.  So 16 - n bytes before `to` and `from` must be there.
 */
static inline void move_back16(uint8_t *to, const uint8_t *from, uint64_t n)
{
	static const uint8_t masks[32] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		255, 255, 255, 255, 255, 255, 255, 255,
		255, 255, 255, 255, 255, 255, 255, 255,
	};
	vec16 old, new, mask;

	__builtin_memcpy(&mask, masks + n, 16);
	__builtin_memcpy(&new, from + n - 16, 16);
	__builtin_memcpy(&old, to + n - 16, 16);
	old = (new & mask) | (old & ~mask);
	__builtin_memcpy(to + n - 16, &old, 16);
}

#endif
