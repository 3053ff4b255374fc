/* SPDX-License-Identifier: Apache-2.0 */
/* lz4_run.h - LZ4 blocks that hold their decoded bytes as they are */
#ifndef LZ4_RUN_H
#define LZ4_RUN_H

#include <stddef.h>
#include <stdint.h>

/*
 * A block that is one run of 15 literals or more, as incompressible records are
 * stored: its length, if it stands before *in here; else 0.  For 512 bytes a
 * kernel's call costs an eighth of the whole.  The block isn't empty.
 */
static inline size_t lz4_run(const uint8_t **in, const uint8_t *end)
{
	const uint8_t *p = *in;
	size_t n = 15;

	if (*p++ != 0xf0)
		return 0;
	while (p < end && *p == 255) {
		n += 255;
		p++;
	}
	if (p == end || (size_t)(end - p - 1) != n + *p)
		return 0;
	*in = p + 1;
	return n + *p;
}

#endif
