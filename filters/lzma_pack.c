/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzma_pack.c - packing xz, lzma and lzip by liblzma
 *
 * xz always goes through the library's threaded encoder, for its blocks don't
 * depend on the number of threads.  lzip has no encoder in liblzma: it is the
 * raw LZMA1 coder between a header and a trailer that are written here.
 *
 * The dictionary is cut to the input where its size is known, so that a small
 * file doesn't pay for the tables of a large one.
 */
#include "codecs.h"
#include "lzma_codec.h"
#include "mem.h"

#include <string.h>

/* The level's options, with --long's dictionary or one that fits the input. */
static int lzma_options(struct lzma_state *z, const struct filter_params *p,
			lzma_options_lzma *opt, struct filter_error *err)
{
	uint32_t dict;

	if (lzma_lzma_preset(opt, (uint32_t)filter_level(z->kind->filter, p)))
		return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
				   "liblzma doesn't know this level");
	dict = opt->dict_size;
	if (p->window_log > 30 || (p->window_log && p->window_log < 12))
		return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
				   "%s has windows of 12 to 30 bits, not %d",
				   z->kind->filter->name, p->window_log);
	if (p->window_log)
		dict = UINT32_C(1) << p->window_log;
	while (dict > LZMA_DICT_SIZE_MIN && dict / 2 >= p->size)
		dict /= 2;
	opt->dict_size = dict;
	z->dict_size = dict;
	return FILTER_OK;
}

static int lzma_budget(const struct lzma_state *z, uint64_t need,
		       struct filter_error *err)
{
	if (!z->params.memory || need <= z->params.memory)
		return FILTER_OK;
	return coder_over_budget(err, SIZE_UNKNOWN, "packing at this level",
				 need, z->params.memory);
}

/* As many threads as the budget holds; the bytes don't depend on it. */
int xz_encoder(struct lzma_state *z, const struct filter_params *p,
		      struct filter_error *err)
{
	lzma_options_lzma opt;
	lzma_filter filters[] = {
		{ LZMA_FILTER_LZMA2, &opt }, { LZMA_VLI_UNKNOWN, NULL },
	};
	lzma_mt mt = {
		.threads = (uint32_t)p->threads,
		.block_size = p->block_size,
		.filters = filters,
		.check = p->check ? LZMA_CHECK_CRC64 : LZMA_CHECK_NONE,
	};
	uint64_t need;
	lzma_ret ret;

	if (lzma_options(z, p, &opt, err))
		return err->code;
	need = lzma_stream_encoder_mt_memusage(&mt);
	while (mt.threads > 1 && p->memory && need > p->memory) {
		mt.threads--;
		need = lzma_stream_encoder_mt_memusage(&mt);
	}
	if (lzma_budget(z, need, err))
		return err->code;
	ret = lzma_stream_encoder_mt(&z->strm, &mt);
	return ret == LZMA_OK ? FILTER_OK : lzma_fail(z, err, SIZE_UNKNOWN, ret);
}

/* The budget of the two that have one thread and LZMA1. */
static int lzma1_options(struct lzma_state *z, const struct filter_params *p,
			 lzma_options_lzma *opt, struct filter_error *err)
{
	lzma_filter filters[] = {
		{ LZMA_FILTER_LZMA1, opt }, { LZMA_VLI_UNKNOWN, NULL },
	};

	if (lzma_options(z, p, opt, err))
		return err->code;
	return lzma_budget(z, lzma_raw_encoder_memusage(filters), err);
}

int lzma_encoder(struct lzma_state *z, const struct filter_params *p,
			struct filter_error *err)
{
	lzma_options_lzma opt;
	lzma_ret ret;

	if (lzma1_options(z, p, &opt, err))
		return err->code;
	ret = lzma_alone_encoder(&z->strm, &opt);
	return ret == LZMA_OK ? FILTER_OK : lzma_fail(z, err, SIZE_UNKNOWN, ret);
}

/*
 * lzip: "LZIP", version 1, dictionary size; raw LZMA with an end marker; then
 * CRC32, raw bytes and member bytes.  The dictionary is a power of two from
 * 4 KiB to 512 MiB, given by its log2.
 */
int lzip_encoder(struct lzma_state *z, const struct filter_params *p,
			struct filter_error *err)
{
	static const uint8_t head[] = { 'L', 'Z', 'I', 'P', 1 };
	lzma_options_lzma opt;
	lzma_filter filters[] = {
		{ LZMA_FILTER_LZMA1, &opt }, { LZMA_VLI_UNKNOWN, NULL },
	};
	lzma_ret ret;

	if (lzma1_options(z, p, &opt, err))
		return err->code;
	if (p->window_log > 29)
		return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
				   "lzip has windows of 12 to 29 bits, not %d",
				   p->window_log);
	memcpy(z->edge, head, sizeof(head));
	z->edge[5] = (uint8_t)(63 - __builtin_clzll(z->dict_size));
	z->edge_len = 6;
	ret = lzma_raw_encoder(&z->strm, filters);
	return ret == LZMA_OK ? FILTER_OK : lzma_fail(z, err, SIZE_UNKNOWN, ret);
}


void *lzma_pack_open(const struct lzma_kind *kind,
			    const struct filter_params *p, struct source *src,
			    struct filter_error *err)
{
	struct lzma_state *z;

	if (filter_level_check(kind->filter, p, err))
		return NULL;
	z = lzma_state_open(kind, p, src, err);
	if (z && kind->encoder(z, p, err)) {
		lzma_state_close(z);
		return NULL;
	}
	return z;
}

/* liblzma keeps its allocations where the new coder can use them. */
int lzma_pack_reset(void *state, const struct filter_params *p,
			   struct filter_error *err)
{
	struct lzma_state *z = state;

	coder_start(&z->c, z->c.src);
	z->params = *p;
	z->crc = 0;
	z->edge_pos = 0;
	z->coded = false;
	return z->kind->encoder(z, p, err);
}

static int lzma_pack_run(struct lzma_state *z, lzma_action action,
			 struct filter_error *err)
{
	lzma_ret ret = lzma_run(z, action);

	if (ret == LZMA_OK)
		return CODER_MORE;
	if (ret == LZMA_STREAM_END)
		return CODER_DONE;
	return lzma_fail(z, err, SIZE_UNKNOWN, ret);
}

static int xz_pack_step(struct coder *c, enum coder_mode mode,
			struct filter_error *err)
{
	static const lzma_action action[] = {
		[CODER_RUN] = LZMA_RUN,
		[CODER_FLUSH] = LZMA_FULL_FLUSH,
		[CODER_FINISH] = LZMA_FINISH,
	};

	return lzma_pack_run((struct lzma_state *)c, action[mode], err);
}

/* LZMA1 can't be flushed: what was taken comes when the coder likes. */
static int lzma_pack_step(struct coder *c, enum coder_mode mode,
			  struct filter_error *err)
{
	if (mode == CODER_FLUSH)
		return CODER_DONE;
	return lzma_pack_run((struct lzma_state *)c,
			     mode == CODER_FINISH ? LZMA_FINISH : LZMA_RUN, err);
}

/* Writes header or trailer bytes.  True when all are out. */
static bool lzip_edge(struct lzma_state *z)
{
	struct coder *c = &z->c;
	size_t n = z->edge_len - z->edge_pos;

	if (n > c->out_len)
		n = c->out_len;
	memcpy(c->out, z->edge + z->edge_pos, n);
	z->edge_pos += n;
	c->out += n;
	c->out_len -= n;
	return z->edge_pos == z->edge_len;
}

static void lzip_trailer(struct lzma_state *z)
{
	uint64_t raw = z->strm.total_in, member = z->strm.total_out + 26;

	store_le32(z->edge, z->crc);
	store_le32(z->edge + 4, (uint32_t)raw);
	store_le32(z->edge + 8, (uint32_t)(raw >> 32));
	store_le32(z->edge + 12, (uint32_t)member);
	store_le32(z->edge + 16, (uint32_t)(member >> 32));
	z->edge_pos = 0;
	z->edge_len = 20;
}

/* A new member behind one that a flush has ended. */
static int lzip_again(struct lzma_state *z, struct filter_error *err)
{
	z->crc = 0;
	z->edge_pos = 0;
	z->coded = false;
	return z->kind->encoder(z, &z->params, err);
}

/* LZMA can't be flushed: a pause ends the member. */
static int lzip_pack_step(struct coder *c, enum coder_mode mode,
			  struct filter_error *err)
{
	struct lzma_state *z = (struct lzma_state *)c;
	const uint8_t *in = c->in;
	int r;

	if (z->coded && z->edge_pos == z->edge_len && c->in_len &&
	    lzip_again(z, err))
		return err->code;
	if (!lzip_edge(z))
		return CODER_MORE;
	if (z->coded)
		return CODER_DONE;
	r = lzma_pack_run(z, mode == CODER_RUN ? LZMA_RUN : LZMA_FINISH, err);
	if (c->in != in)
		z->crc = lzma_crc32(in, (size_t)(c->in - in), z->crc);
	if (r != CODER_DONE)
		return r;
	z->coded = true;
	lzip_trailer(z);
	return lzip_edge(z) ? CODER_DONE : CODER_MORE;
}

ptrdiff_t xz_pack_read(void *state, uint8_t *dst, size_t cap,
			      struct filter_error *err)
{
	return coder_pack(state, xz_pack_step, dst, cap, err);
}

ptrdiff_t lzma_pack_read(void *state, uint8_t *dst, size_t cap,
				struct filter_error *err)
{
	return coder_pack(state, lzma_pack_step, dst, cap, err);
}

ptrdiff_t lzip_pack_read(void *state, uint8_t *dst, size_t cap,
				struct filter_error *err)
{
	return coder_pack(state, lzip_pack_step, dst, cap, err);
}
