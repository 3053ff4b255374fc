/* SPDX-License-Identifier: Apache-2.0 */
/* bzip2.c - bzip2's row where the library is left out */
#include "codecs.h"

const struct filter filter_bzip2 = {
	.name = "bzip2",
	.suffix = ".bz2 .bz",
	.tar_suffix = ".tbz2 .tbz",
	.missing = "not built in: needs libbz2",
};
