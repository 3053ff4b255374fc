/* SPDX-License-Identifier: Apache-2.0 */
/* zstd_codec.h - what the files of the zstd codec share; internal to filters/ */
#ifndef ZSTD_CODEC_H
#define ZSTD_CODEC_H

#include "filter.h"

struct ZSTD_CCtx_s;

/* Fills *err from a libzstd result that ZSTD_isError(). */
int zstd_fail(struct filter_error *err, uint64_t offset, size_t result);

/* What the user asked for, as parameters of libzstd; p->threads 0: no workers. */
int zstd_pack_params(struct ZSTD_CCtx_s *cctx, const struct filter_params *p,
		     struct filter_error *err);

/* What one context without workers takes. */
uint64_t zstd_context_memory(const struct filter_params *p);
/*
 * As many of p->threads as fit into p->memory, when packing by sections of
 * job_size (0 = libzstd's own); or FILTER_E_MEMORY.
 */
int zstd_fit_threads(const struct filter_params *p, size_t job_size,
		     struct filter_error *err);

/* zstd_seek.c */
extern const struct pack_ops zstd_pack_seekable;
/* zstd_members.c */
extern const struct unpack_ops zstd_unpack_members;

#endif
