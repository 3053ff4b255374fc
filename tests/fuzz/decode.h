/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode.h - one packed input through every decode kernel, for the fuzz targets
 *
 * The sanitizers see the C; what assembly touches they don't, so input and
 * output stand against PROT_NONE pages.  Each kernel must say and write what
 * the careful step alone does; anything else is an abort.
 */
#ifndef DECODE_H
#define DECODE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernel.h"
#include "lzvolt.h"
#include "lzvolt_kernel.h"

#define PAGE		((size_t)65536)
#define PLAIN_MAX	((size_t)1 << 20)	/* larger ones are left out */

/* The end of n usable bytes; what follows is a signal. */
static inline uint8_t *guarded(size_t n)
{
	uint8_t *p = mmap(NULL, n + PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p + n, PAGE, PROT_NONE))
		abort();
	return p + n;
}

static inline void kernel_none(struct kernel_run *run)
{
	(void)run;
}

typedef int64_t decode_fn(const struct kernel *kernel, const uint8_t *src, size_t len,
			  uint8_t *dst, size_t cap, size_t declared);

static inline void decode_all(decode_fn *decode, const uint8_t *data, size_t len,
			      size_t declared)
{
	static const struct kernel careful = {
		"none", 0, CPU_LINE_ANY, kernel_none, kernel_none, kernel_none, ""
	};
	static uint8_t *in_end, *out_end, *want;
	size_t count;
	const struct kernel *rows = kernel_table(&count);
	int64_t verdict;

	if (!in_end) {
		in_end = guarded(2 * PLAIN_MAX);
		out_end = guarded(PLAIN_MAX + PAGE);
		want = malloc(PLAIN_MAX);
	}
	if (len > PLAIN_MAX || declared > PLAIN_MAX)
		return;
	memcpy(in_end - len, data, len);
	verdict = decode(&careful, in_end - len, len, want, declared, declared);
	for (size_t i = 0; i < count; i++)
		for (size_t slack = 0; slack <= 64 && lzvolt_kernel_runs(i); slack += 64) {
			uint8_t *out = out_end - declared - slack;

			if (decode(&rows[i], in_end - len, len, out, declared + slack,
				   declared) != verdict ||
			    (verdict > 0 && memcmp(out, want, (size_t)verdict)))
				abort();
		}
}

#endif
