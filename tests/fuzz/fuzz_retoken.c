// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz_retoken.c - LZ4 <-> own, without decoding
 *
 * The first two bytes are a decoded size, the rest is taken as an LZ4 block of
 * that size, and as a value.  A block that is taken must come back bit for bit
 * and be one for liblz4; a value gives an LZ4 block exactly when it decodes,
 * and that block decodes to the same bytes.
 */
#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#include "lzvolt.h"

static void must(int ok)
{
	if (!ok)
		abort();
}

static void try_block(const uint8_t *p, size_t len, size_t n)
{
	size_t cap = LZ4_compressBound((int)n);
	uint8_t *value = malloc(len + 4), *back = malloc(cap), *out = malloc(n + 1);
	int64_t got = lzvolt_from_lz4(p, len, n, value, len + 4);

	if (got > 0) {
		must(lzvolt_to_lz4(value, got, back, cap) == (int64_t)len);
		must(!memcmp(back, p, len));
		must(LZ4_decompress_safe((const char *)p, (char *)out, (int)len, (int)n) == (int)n);
	}
	free(value);
	free(back);
	free(out);
}

static void try_value(const uint8_t *p, size_t len)
{
	int64_t n = lzvolt_declared_size(p, len), got, verdict;
	uint8_t *out, *lz4, *out2;

	if (n < 0 || n > 1 << 20)
		return;
	out = malloc(n + 1);
	out2 = malloc(n + 1);
	lz4 = malloc(LZ4_compressBound((int)n));
	verdict = lzvolt_decompress(p, len, out, n);
	got = lzvolt_to_lz4(p, len, lz4, LZ4_compressBound((int)n));
	must((got > 0) == (verdict >= 0));
	if (got > 0) {
		must(LZ4_decompress_safe((char *)lz4, (char *)out2, (int)got, (int)n) == (int)n);
		must(!memcmp(out, out2, n));
	}
	free(out);
	free(out2);
	free(lz4);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	if (len >= 2)
		try_block(p + 2, len - 2, p[0] | p[1] << 8);
	try_value(p, len);
	return 0;
}
