/* SPDX-License-Identifier: Apache-2.0 */
/* A program of 20 lines against the installed library: there and back. */
#include <lzvolt.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	static uint8_t plain[4096], packed[16384], back[4096], block[8192];
	int64_t n, m;

	for (size_t i = 0; i < sizeof(plain); i++)
		plain[i] = (uint8_t)("lzvolt"[i % 6] + i / 600);
	n = lzvolt_compress(plain, sizeof(plain), packed, sizeof(packed));
	m = n > 0 ? lzvolt_to_lz4(packed, (size_t)n, block, sizeof(block)) : n;
	if (n <= 0 || m <= 0 || lzvolt_declared_size(packed, (size_t)n) != sizeof(plain) ||
	    lzvolt_decompress(packed, (size_t)n, back, sizeof(back)) != sizeof(plain) ||
	    memcmp(plain, back, sizeof(plain)) ||
	    lzvolt_decompress_lz4_safe((char *)block, (char *)back, (int)m, 4096) != 4096 ||
	    memcmp(plain, back, sizeof(plain)))
		return puts(lzvolt_strerror(n < 0 ? n : m)), 1;
	return printf("%s %s %d\n", lzvolt_version(), lzvolt_backend(), (int)n) < 0;
}
