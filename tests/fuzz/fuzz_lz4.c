/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_lz4 - two bytes of decoded length, little-endian, then an LZ4 block */
#include "decode.h"

#include <lz4.h>

static int64_t decode(const struct kernel *kernel, const uint8_t *src, size_t len,
		      uint8_t *dst, size_t cap, size_t declared)
{
	return lzvolt_lz4_by(kernel, src, len, dst, cap, declared);
}

static int64_t decode_safe(const struct kernel *kernel, const uint8_t *src, size_t len,
			   uint8_t *dst, size_t cap, size_t declared)
{
	(void)cap;
	return lzvolt_lz4_safe_by(kernel, (const char *)src, (char *)dst, (int)len,
				  (int)declared, 0);
}

/* Where both accept, both give the same; liblz4 may let a zero offset pass. */
static void compare(const uint8_t *block, size_t len, int cap)
{
	static char ours[65536 + 64], theirs[65536 + 64];
	int n = lzvolt_decompress_lz4_safe((const char *)block, ours, (int)len, cap);
	int m = LZ4_decompress_safe((const char *)block, theirs, (int)len, cap);

	if (n >= 0 && m >= 0 && (n != m || memcmp(ours, theirs, (size_t)n)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t declared;

	if (len < 3)
		return 0;
	declared = data[0] | (size_t)data[1] << 8;
	decode_all(decode, data + 2, len - 2, declared);
	decode_all(decode_safe, data + 2, len - 2, declared);
	compare(data + 2, len - 2, (int)declared);
	return 0;
}
