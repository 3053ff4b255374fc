/* SPDX-License-Identifier: Apache-2.0 */
/* lzma.c - the rows of liblzma's codecs where that is left out */
#include "codecs.h"

#define MISSING "not built in: needs liblzma"

const struct filter filter_xz = {
	.name = "xz",
	.suffix = ".xz",
	.tar_suffix = ".txz",
	.missing = MISSING,
};

const struct filter filter_lzma = {
	.name = "lzma",
	.suffix = ".lzma",
	.tar_suffix = ".tlz",
	.missing = MISSING,
};

const struct filter filter_lzip = {
	.name = "lzip",
	.suffix = ".lz",
	.missing = MISSING,
};
