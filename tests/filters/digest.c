/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest.c - the wide XXH3 gives what the library gives, at every length
 *
 * Each length ends at a guard that ASan knows, and starts at any alignment.
 */
#include "digest.h"
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Past all of XXH3's own steps: 16, 128, 240, a block of 1024 bytes. */
#define LONGEST 5000

int main(void)
{
	struct bytes raw = kit_noise(1 << 20, 3);

	for (size_t n = 0; n <= LONGEST; n++) {
		uint8_t *p = malloc(n + 1);

		memcpy(p + 1, raw.p, n);
		CHECK(digest64(p + 1, n) == XXH3_64bits(raw.p, n), "%zu bytes", n);
		free(p);
	}
	CHECK(digest64(raw.p, raw.n) == XXH3_64bits(raw.p, raw.n), "1 MiB");
	/* XXH3's published value for the empty input, seed 0. */
	CHECK(digest64(NULL, 0) == 0x2d06800538d394c2u, "the empty input");
	bytes_free(&raw);
	printf("%s - digest (%d checks)\n", kit_failures ? "not ok" : "ok", kit_checks);
	return kit_failures != 0;
}
