/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzma.c - xz, lzma (LZMA_Alone) and lzip by liblzma 5.4 or later
 *
 * Each format is a struct lzma_kind: how its encoder and its decoder are set
 * up.  Packing is in lzma_pack.c; here are unpacking and the rows.
 */
#include "codecs.h"
#include "lzma_codec.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

int lzma_fail(const struct lzma_state *z, struct filter_error *err,
		     uint64_t offset, lzma_ret ret)
{
	const char *name = z->kind->filter->name;

	switch (ret) {
	case LZMA_MEM_ERROR:
		return coder_no_memory(err);
	case LZMA_MEMLIMIT_ERROR:
		return coder_over_budget(err, offset, name,
					 lzma_memusage(&z->strm), z->params.memory);
	case LZMA_FORMAT_ERROR:
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "not %s data", name);
	case LZMA_OPTIONS_ERROR:
		return filter_fail(err, FILTER_E_UNSUPPORTED, offset,
				   "%s options that liblzma doesn't support", name);
	default:
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "corrupt %s data: they can't be decoded or "
				   "a checksum doesn't match", name);
	}
}

struct lzma_state *lzma_state_open(const struct lzma_kind *kind,
					  const struct filter_params *p,
					  struct source *src,
					  struct filter_error *err)
{
	struct lzma_state *z = calloc(1, sizeof(*z));

	if (!z) {
		coder_no_memory(err);
		return NULL;
	}
	z->strm = (lzma_stream)LZMA_STREAM_INIT;
	z->kind = kind;
	z->params = *p;
	coder_start(&z->c, src);
	return z;
}

void lzma_state_close(void *state)
{
	struct lzma_state *z = state;

	lzma_end(&z->strm);
	free(z);
}

/* One call of liblzma, from the coder's input into the coder's room. */
lzma_ret lzma_run(struct lzma_state *z, lzma_action action)
{
	struct coder *c = &z->c;
	lzma_ret ret;

	z->strm.next_in = c->in;
	z->strm.avail_in = c->in_len;
	z->strm.next_out = c->out;
	z->strm.avail_out = c->out_len;
	ret = lzma_code(&z->strm, action);
	c->in = z->strm.next_in;
	c->in_len = z->strm.avail_in;
	c->out = z->strm.next_out;
	c->out_len = z->strm.avail_out;
	return ret == LZMA_BUF_ERROR ? LZMA_OK : ret;
}

/* --- decoders --- */

static uint64_t lzma_memlimit(const struct filter_params *p)
{
	return p->memory ? p->memory : UINT64_MAX;
}

static lzma_ret xz_decoder(lzma_stream *strm, const struct filter_params *p)
{
	lzma_mt mt = {
		.threads = (uint32_t)p->threads,
		.memlimit_threading = lzma_memlimit(p),
		.memlimit_stop = lzma_memlimit(p),
	};

	if (p->threads > 1)
		return lzma_stream_decoder_mt(strm, &mt);
	return lzma_stream_decoder(strm, lzma_memlimit(p), 0);
}

static lzma_ret lzma_decoder(lzma_stream *strm, const struct filter_params *p)
{
	return lzma_alone_decoder(strm, lzma_memlimit(p));
}

static lzma_ret lzip_decoder(lzma_stream *strm, const struct filter_params *p)
{
	return lzma_lzip_decoder(strm, lzma_memlimit(p), 0);
}

const struct lzma_kind xz_kind = {
	&filter_xz, NULL, xz_encoder, xz_decoder,
};
const struct lzma_kind lzma_kind = {
	&filter_lzma, NULL, lzma_encoder, lzma_decoder,
};
const struct lzma_kind lzip_kind = {
	&filter_lzip, "crc32", lzip_encoder, lzip_decoder,
};

/* --- the stream faces --- */

/*
 * Behind a member this short the next one is decoded without threads: starting
 * them anew takes longer than such a member does (14 times, for a line of text).
 */
#define SMALL_MEMBER ((uint64_t)1 << 20)

static int lzma_unpack_step(struct coder *c, enum coder_mode mode,
			    struct filter_error *err)
{
	struct lzma_state *z = (struct lzma_state *)c;
	lzma_ret ret = LZMA_OK;

	(void)mode;
	if (!z->opened)
		ret = z->kind->decoder(&z->strm, &z->params);
	z->opened = true;
	if (ret == LZMA_OK)
		ret = lzma_run(z, LZMA_RUN);
	if (ret == LZMA_OK)
		return CODER_MORE;
	if (ret == LZMA_STREAM_END)
		return CODER_DONE;
	return lzma_fail(z, err, coder_offset(c), ret);
}

static int lzma_unpack_reset(void *state, const struct filter_params *p,
			     struct filter_error *err)
{
	struct lzma_state *z = state;
	bool small = z->c.raw < SMALL_MEMBER;

	(void)err;
	coder_start(&z->c, z->c.src);
	z->params = *p;
	if (small)
		z->params.threads = 1;
	z->opened = false;
	return FILTER_OK;
}

static ptrdiff_t lzma_unpack_read(void *state, uint8_t *dst, size_t cap,
				  struct filter_error *err)
{
	return coder_unpack(state, lzma_unpack_step, dst, cap, err);
}

static const char *xz_check(const struct lzma_state *z)
{
	static const char *const name[] = {
		[LZMA_CHECK_CRC32] = "crc32",
		[LZMA_CHECK_CRC64] = "crc64",
		[LZMA_CHECK_SHA256] = "sha256",
	};
	lzma_check check = lzma_get_check(&z->strm);

	return (size_t)check < sizeof(name) / sizeof(name[0]) ? name[check] : NULL;
}

static void lzma_describe(const void *state, struct member *m)
{
	const struct lzma_state *z = state;

	coder_describe(&z->c, m);
	m->format = z->kind->filter->name;
	m->declared = SIZE_UNKNOWN;
	m->check = z->kind == &xz_kind && z->opened ? xz_check(z) : z->kind->check;
}

/* --- the rows --- */

/*
 * The opening functions are all that the faces of one kind have of their own,
 * for there is no other way to tell them which one they are.
 */
#define LZMA_FACES(name, read_fn)					\
static void *open_##name##_pack(const struct filter_params *p,		\
			      struct source *src,			\
			      struct filter_error *err)			\
{									\
	return lzma_pack_open(&name##_kind, p, src, err);		\
}									\
									\
static void *open_##name##_unpack(const struct filter_params *p,		\
				struct source *src,			\
				struct filter_error *err)		\
{									\
	return lzma_state_open(&name##_kind, p, src, err);		\
}									\
									\
static const struct stream_ops name##_pack_ops = {			\
	.open = open_##name##_pack,					\
	.read = read_fn,						\
	.reset = lzma_pack_reset,					\
	.close = lzma_state_close,					\
};									\
									\
static const struct stream_ops name##_unpack_ops = {			\
	.open = open_##name##_unpack,					\
	.read = lzma_unpack_read,					\
	.reset = lzma_unpack_reset,					\
	.describe = lzma_describe,					\
	.close = lzma_state_close,					\
}

LZMA_FACES(xz, xz_pack_read);
LZMA_FACES(lzma, lzma_pack_read);
LZMA_FACES(lzip, lzip_pack_read);

static bool xz_detect(const uint8_t *p, size_t n)
{
	return n >= 6 && !memcmp(p, "\xfd" "7zXZ\0", 6);
}

static bool lzip_detect(const uint8_t *p, size_t n)
{
	return n >= 4 && !memcmp(p, "LZIP", 4);
}

/*
 * No magic number, so by plausibility: a properties byte that LZMA_Alone
 * allows (lc + lp <= 4), a dictionary of 2^n or 2^n + 2^(n-1) bytes, a size
 * that is unknown or below 256 GiB, and the zero that the range coder's first
 * byte always is.
 */
static bool lzma_detect(const uint8_t *p, size_t n)
{
	uint32_t dict;
	uint64_t size;

	if (n < 14 || p[0] >= 225 || p[0] % 9 + p[0] / 9 % 5 > 4 || p[13])
		return false;
	dict = load_le32(p + 1);
	size = load_le64(p + 5);
	if (size != UINT64_MAX && size >= UINT64_C(1) << 38)
		return false;
	if (dict == UINT32_MAX)
		return true;
	dict >>= __builtin_ctz(dict | UINT32_C(1) << 31);
	return dict == 1 || dict == 3;
}

const struct filter filter_xz = {
	.name = "xz",
	.suffix = ".xz",
	.tar_suffix = ".txz",
	.flags = FILTER_LONG | FILTER_CHECK | FILTER_THREADS | FILTER_BLOCK_SIZE,
	.level_min = 0, .level_default = 6, .level_max = 9,
	.peek = 6,
	.detect = xz_detect,
	.pack = &xz_pack_ops,
	.unpack = &xz_unpack_ops,
	.library = "liblzma",
	.version = lzma_version_string,
};

const struct filter filter_lzma = {
	.name = "lzma",
	.suffix = ".lzma",
	.tar_suffix = ".tlz",
	.flags = FILTER_LONG,
	.level_min = 0, .level_default = 6, .level_max = 9,
	.peek = 14,
	.detect = lzma_detect,
	.pack = &lzma_pack_ops,
	.unpack = &lzma_unpack_ops,
	.library = "liblzma",
	.version = lzma_version_string,
};

const struct filter filter_lzip = {
	.name = "lzip",
	.suffix = ".lz",
	.flags = FILTER_LONG,
	.level_min = 0, .level_default = 6, .level_max = 9,
	.peek = 4,
	.detect = lzip_detect,
	.pack = &lzip_pack_ops,
	.unpack = &lzip_unpack_ops,
	.library = "liblzma",
	.version = lzma_version_string,
};
