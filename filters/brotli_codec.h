/* SPDX-License-Identifier: Apache-2.0 */
/* brotli_codec.h - what the files of the brotli codec share; internal to filters/ */
#ifndef BROTLI_CODEC_H
#define BROTLI_CODEC_H

#include "filter.h"

#include <brotli/encode.h>

/* log2 of the window that packing uses. */
uint32_t brotli_window(const struct filter_params *p);

/*
 * Memory that goes from one encoder to the next of a worker: allocated anew for
 * each part, its pages cost a quarter of level 1.  All zero at first.
 */
#define BROTLI_POOL 24
struct brotli_pool {
	struct {
		void *p;
		size_t n;
		bool used;
	} slot[BROTLI_POOL];
};
void brotli_pool_free(struct brotli_pool *pool);

/*
 * An encoder for the parameters, for the part of a stream that starts at
 * offset (0: it writes the stream's header) and has about `hint` bytes.  pool: its
 * memory, or NULL.  NULL with *err filled.
 */
BrotliEncoderState *brotli_encoder(const struct filter_params *p,
				   uint64_t offset, uint64_t hint,
				   struct brotli_pool *pool,
				   struct filter_error *err);

extern const struct pack_ops brotli_pack_blocks;

#endif
