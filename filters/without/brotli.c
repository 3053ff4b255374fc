/* SPDX-License-Identifier: Apache-2.0 */
/* brotli.c - brotli's row where the library is left out */
#include "codecs.h"

const struct filter filter_brotli = {
	.name = "brotli",
	.suffix = ".br",
	.flags = FILTER_HEADERLESS,
	.missing = "not built in: needs libbrotli",
};
