/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer_lz4.c - liblz4: what our LZ4 decoder must agree with
 */
#include "checkasm.h"

#include <lz4.h>
#include <lz4hc.h>

const bool peer_there = true;

/* Default, one of 20 accelerations, or one of HC's levels 2 to 12. */
size_t peer_pack(const uint8_t *plain, size_t n, uint8_t *to, size_t cap, uint32_t how)
{
	const char *from = (const char *)plain;
	char *block = (char *)to;

	if (how % 3 == 0)
		return (size_t)LZ4_compress_default(from, block, (int)n, (int)cap);
	if (how % 3 == 1)
		return (size_t)LZ4_compress_fast(from, block, (int)n, (int)cap,
						 1 + (int)(how / 3 % 20));
	return (size_t)LZ4_compress_HC(from, block, (int)n, (int)cap, 2 + (int)(how / 3 % 11));
}

int peer_unpack(const uint8_t *packed, uint8_t *to, int packed_len, int cap)
{
	return LZ4_decompress_safe((const char *)packed, (char *)to, packed_len, cap);
}

size_t peer_pack_linked(const uint8_t *plain, size_t history, size_t n, uint8_t *to,
			size_t cap)
{
	LZ4_stream_t *stream = LZ4_createStream();
	int packed;

	LZ4_loadDict(stream, (const char *)plain, (int)history);
	packed = LZ4_compress_fast_continue(stream, (const char *)plain + history, (char *)to,
					    (int)n, (int)cap, 1);
	LZ4_freeStream(stream);
	return (size_t)packed;
}
