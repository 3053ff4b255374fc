/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.c - the registry: every codec's row, in the order of detection
 *
 * Formats with a magic number of three bytes or more come first, then those
 * told by plausibility, weakest last; a codec without detect() may stand
 * anywhere.
 */
#include "codecs.h"

const struct filter *const filter_table[] = {
	&filter_zstd,
	&filter_lz4,
	&filter_lz4_legacy,
	&filter_lzv,
	&filter_gzip,
	&filter_xz,
	&filter_lzip,
	&filter_bzip2,
	&filter_compress,
	&filter_lzop,
	&filter_uu,
	&filter_lzma,
	&filter_zlib,
	&filter_deflate,
	&filter_brotli,
	&filter_lzvolt,
	&filter_lz4_block,
	&filter_raw,
};

const size_t filter_count = sizeof(filter_table) / sizeof(filter_table[0]);
