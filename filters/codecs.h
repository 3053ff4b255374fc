/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codecs.h - the rows of filter_table, one extern each
 *
 * table.c puts them in the order of detection; nothing else needs them by
 * name.  Internal to filters/.
 */
#ifndef CODECS_H
#define CODECS_H

#include "filter.h"

extern const struct filter filter_zstd;
extern const struct filter filter_lz4;
extern const struct filter filter_lz4_legacy;
extern const struct filter filter_lz4_block;
extern const struct filter filter_lzvolt;
extern const struct filter filter_gzip;
extern const struct filter filter_zlib;
extern const struct filter filter_deflate;
extern const struct filter filter_brotli;
extern const struct filter filter_lzv;
extern const struct filter filter_raw;
extern const struct filter filter_xz;
extern const struct filter filter_lzma;
extern const struct filter filter_lzip;
extern const struct filter filter_bzip2;
extern const struct filter filter_compress;
extern const struct filter filter_lzop;
extern const struct filter filter_uu;

/* params.level, or the codec's default where the user said nothing. */
static inline int filter_level(const struct filter *f,
			       const struct filter_params *p)
{
	return p->level == LEVEL_DEFAULT ? f->level_default : p->level;
}

/* FILTER_OK, or FILTER_E_OPTION for a level that the codec doesn't have. */
int filter_level_check(const struct filter *f, const struct filter_params *p,
		       struct filter_error *err);

#endif
