/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzop.c - lzop's row
 *
 * lzop files are recognised, so that the message can name them, and refused:
 * the LZO library has a licence (GPL) that this program can't be under, and
 * libarchive as distributions build it starts the lzop program, which a
 * filter must not do behind its user's back.
 */
#include "codecs.h"

#include <string.h>

static bool lzop_detect(const uint8_t *p, size_t n)
{
	return n >= 9 && !memcmp(p, "\x89LZO\0\r\n\x1a\n", 9);
}

const struct filter filter_lzop = {
	.name = "lzop",
	.suffix = ".lzo",
	.tar_suffix = ".tzo",
	.flags = FILTER_EXTERNAL,
	.peek = 9,
	.detect = lzop_detect,
	.missing = "not built in: use the lzop program",
};
