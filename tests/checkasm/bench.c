/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.c - checkasm --bench: the rows beside each other on one text
 */
#include "checkasm.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lzvolt.h"
#include "lzvolt_kernel.h"

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* GB/s of each row on one text in one run; a look, not a measurement. */
void bench_rows(uint64_t seed)
{
	size_t count, n = 65536, cap = lzvolt_compress_bound(n);
	uint8_t *plain = malloc(n), *packed = malloc(cap), *out = malloc(n + 64);
	const struct kernel *rows = kernel_table(&count);
	size_t len;

	seed_now = seed;
	gen_text(plain, n);
	len = peer_pack(plain, n, packed, cap, 0);
	for (size_t i = 0; i < count; i++) {
		double best = 1e9, start;

		for (int rep = 0; rep < 30 && lzvolt_kernel_runs(i); rep++) {
			start = seconds();
			for (int k = 0; k < 20; k++)
				lzvolt_lz4_by(&rows[i], packed, len, out, n + 64, n);
			start = seconds() - start;
			best = start < best ? start : best;
		}
		printf("%-10s %6.2f GB/s\n", rows[i].name, 20.0 * (double)n / best * 1e-9);
	}
	free(plain);
	free(packed);
	free(out);
}
