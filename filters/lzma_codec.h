/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzma_codec.h - what the files of the liblzma codecs share
 *
 * Internal to filters/.
 */
#ifndef LZMA_CODEC_H
#define LZMA_CODEC_H

#include "coder.h"

#include <lzma.h>

struct lzma_state;

/* How a format's encoder and decoder are set up. */
struct lzma_kind {
	const struct filter *filter;
	const char *check;	/* the format's only one, or NULL */
	int (*encoder)(struct lzma_state *z, const struct filter_params *p,
		       struct filter_error *err);
	lzma_ret (*decoder)(lzma_stream *strm, const struct filter_params *p);
};
extern const struct lzma_kind xz_kind, lzma_kind, lzip_kind;

struct lzma_state {
	struct coder c;		/* first, so that the two cast */
	lzma_stream strm;
	const struct lzma_kind *kind;
	struct filter_params params;
	uint64_t dict_size;	/* packing */
	uint32_t crc;		/* packing lzip: of the raw bytes */
	uint8_t edge[20];	/* packing lzip: header or trailer */
	size_t edge_pos, edge_len;
	bool coded;		/* packing lzip: the raw coder has finished */
	bool opened;		/* unpacking: for this member */
};

struct lzma_state *lzma_state_open(const struct lzma_kind *kind,
				   const struct filter_params *p,
				   struct source *src, struct filter_error *err);
void lzma_state_close(void *state);

/* Fills *err from what liblzma returned. */
int lzma_fail(const struct lzma_state *z, struct filter_error *err,
	      uint64_t offset, lzma_ret ret);

/* One call of liblzma, from the coder's input into the coder's room. */
lzma_ret lzma_run(struct lzma_state *z, lzma_action action);

/* lzma_pack.c: encoders (lzma_kind.encoder) and the faces around them. */
int xz_encoder(struct lzma_state *z, const struct filter_params *p,
	       struct filter_error *err);
int lzma_encoder(struct lzma_state *z, const struct filter_params *p,
		 struct filter_error *err);
int lzip_encoder(struct lzma_state *z, const struct filter_params *p,
		 struct filter_error *err);
void *lzma_pack_open(const struct lzma_kind *kind,
		     const struct filter_params *p, struct source *src,
		     struct filter_error *err);
int lzma_pack_reset(void *state, const struct filter_params *p,
		    struct filter_error *err);
ptrdiff_t xz_pack_read(void *state, uint8_t *dst, size_t cap,
		       struct filter_error *err);
ptrdiff_t lzma_pack_read(void *state, uint8_t *dst, size_t cap,
			 struct filter_error *err);
ptrdiff_t lzip_pack_read(void *state, uint8_t *dst, size_t cap,
			 struct filter_error *err);

#endif
