/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_none.c - in place of liblz4 where it isn't (cross builds): blocks come
 * from our own encoder by way of lzvolt_to_lz4(), and nothing is compared
 */
#include "checkasm.h"

#include <stdlib.h>
#include <string.h>

#include "lzvolt.h"

const bool peer_there = false;

/* One literal run, which is a legal block. */
static size_t literals_pack(const uint8_t *plain, size_t n, uint8_t *to)
{
	uint8_t *p = to;
	size_t rest = n;

	*p++ = (uint8_t)(n < 15 ? n << 4 : 0xf0);
	for (rest = n < 15 ? 0 : n - 15; rest >= 255; rest -= 255)
		*p++ = 255;
	if (n >= 15)
		*p++ = (uint8_t)rest;
	memcpy(p, plain, n);
	return (size_t)(p - to) + n;
}

size_t peer_pack(const uint8_t *plain, size_t n, uint8_t *to, size_t cap, uint32_t how)
{
	size_t value_cap = lzvolt_compress_bound(n);
	uint8_t *value = malloc(value_cap);
	int64_t len = lzvolt_compress_level(NULL, plain, n, value, value_cap, 1 + (int)(how % 9));

	if (len > 0)
		len = lzvolt_to_lz4(value, (size_t)len, to, cap);
	free(value);
	return len > 0 ? (size_t)len : literals_pack(plain, n, to);
}

int peer_unpack(const uint8_t *packed, uint8_t *to, int packed_len, int cap)
{
	(void)packed;
	(void)to;
	(void)packed_len;
	(void)cap;
	return -1;
}

size_t peer_pack_linked(const uint8_t *plain, size_t history, size_t n, uint8_t *to,
			size_t cap)
{
	(void)plain;
	(void)history;
	(void)n;
	(void)to;
	(void)cap;
	return 0;
}
