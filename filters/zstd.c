/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd.c - zstd frames by libzstd
 *
 * Packing always goes through the library's workers, even with one thread:
 * its single-threaded and its multi-threaded coder cut blocks differently,
 * and the bytes must not depend on -T.  An input of unknown size is held back
 * up to FIRST_MAX bytes: if it ends there its size is known after all, so
 * that a small pipe gets a small context and a size in its header.
 *
 * Unpacking looks at the frame header before libzstd does: it tells the
 * window, so that a frame above the memory budget is refused by its needed
 * size before anything is allocated, and the dictionary, so that a missing or
 * wrong one is named.  libzstd's own window limit is opened all the way.
 *
 * Unpacking one frame is libzstd's time: 88 % of the CPU time from a file, and 7 %
 * copying; between pipes 65 %, the kernel's share being 29 % (perf, tar at level
 * 3; in the zstd program 70 % and 24 %).  Tried on 200 MB: its bufferless calls into
 * a ring of our own save a copy, 5 % of the CPU time, but are deprecated; the
 * check in another thread would save 5 % of the wall time at best; huge pages
 * under the window, nothing; a reading thread for files, nothing for 15 % more
 * CPU time; chunks that stay in the second-level cache, 6 % (feed.h).
 * Many frames go in parallel (zstd_members.c).
 */
#include "codecs.h"
#include "coder.h"
#include "zstd_codec.h"
#include "zstd_frame.h"
#include "zstd_noise.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#define FIRST_MAX ((size_t)128 << 10)

/* --- packing --- */

struct zstd_pack {
	struct coder c;		/* first, so that the two cast */
	ZSTD_CCtx *cctx;
	bool gathering;		/* the size isn't known yet */
	size_t first_len, first_pos;
	uint8_t *first;		/* FIRST_MAX bytes, or NULL */
	int level, level_now;	/* asked for; in force */
	struct zstd_noise noise;
};

static void zstd_pack_close(void *state)
{
	struct zstd_pack *z = state;

	ZSTD_freeCCtx(z->cctx);
	free(z->first);
	free(z->noise.sample);
	free(z);
}

static int zstd_level_now(struct zstd_pack *z, int level,
			  struct filter_error *err)
{
	size_t r;

	if (level == z->level_now)
		return FILTER_OK;
	z->level_now = level;
	r = ZSTD_CCtx_setParameter(z->cctx, ZSTD_c_compressionLevel, level);
	return ZSTD_isError(r) ? zstd_fail(err, SIZE_UNKNOWN, r) : FILTER_OK;
}

/* The section's verdict, before the call of libzstd that makes its job. */
static int zstd_judge(struct zstd_pack *z, struct filter_error *err)
{
	bool noise = z->noise.section && zstd_noise_verdict(&z->noise);

	return zstd_level_now(z, noise ? 1 : z->level, err);
}

/* Ready for an input of p->size. */
static int zstd_pack_start(struct zstd_pack *z, const struct filter_params *p,
			   struct filter_error *err)
{
	z->gathering = p->size == SIZE_UNKNOWN;
	z->first_len = z->first_pos = 0;
	ZSTD_CCtx_reset(z->cctx, ZSTD_reset_session_only);
	zstd_noise_start(&z->noise);
	if (zstd_level_now(z, z->level, err))
		return err->code;
	if (!z->gathering) {
		ZSTD_CCtx_setPledgedSrcSize(z->cctx, p->size);
	} else if (!z->first) {
		z->first = malloc(FIRST_MAX);
		if (!z->first)
			return coder_no_memory(err);
	}
	return FILTER_OK;
}

/*
 * Sections of libzstd's own job size at these levels (four windows): below 5
 * noise is passed over fast enough, above 19 and with --long jobs are too
 * large to be judged as one.
 */
static size_t zstd_noise_section(const struct filter_params *p)
{
	int level = filter_level(&filter_zstd, p);

	if (!p->probe || level < 5 || level > 19 || p->window_log)
		return 0;
	return (size_t)(level < 9 ? 8 : 16) << 20;
}

static int zstd_noise_setup(struct zstd_pack *z, const struct filter_params *p,
			    struct filter_error *err)
{
	size_t section = zstd_noise_section(p), r;

	if (!section)
		return FILTER_OK;
	r = ZSTD_CCtx_setParameter(z->cctx, ZSTD_c_jobSize, (int)section);
	/* A library without threads has no jobs. */
	if (ZSTD_getErrorCode(r) == ZSTD_error_parameter_unsupported)
		return FILTER_OK;
	if (ZSTD_isError(r))
		return zstd_fail(err, SIZE_UNKNOWN, r);
	z->noise.section = section;
	z->noise.sample = malloc(ZSTD_NOISE_SAMPLE);
	return z->noise.sample ? FILTER_OK : coder_no_memory(err);
}

static void *zstd_pack_open(const struct filter_params *p, struct source *src,
			    struct filter_error *err)
{
	struct filter_params fit = *p;
	struct zstd_pack *z;

	if (filter_level_check(&filter_zstd, p, err))
		return NULL;
	fit.threads = zstd_fit_threads(p, zstd_noise_section(p), err);
	if (fit.threads < 0)
		return NULL;
	z = calloc(1, sizeof(*z));
	if (!z || !(z->cctx = ZSTD_createCCtx())) {
		free(z);
		coder_no_memory(err);
		return NULL;
	}
	coder_start(&z->c, src);
	z->level = z->level_now = filter_level(&filter_zstd, p);
	if (zstd_pack_params(z->cctx, &fit, err) || zstd_noise_setup(z, p, err) ||
	    zstd_pack_start(z, p, err)) {
		zstd_pack_close(z);
		return NULL;
	}
	return z;
}

static int zstd_pack_reset(void *state, const struct filter_params *p,
			   struct filter_error *err)
{
	struct zstd_pack *z = state;
	int threads = zstd_fit_threads(p, zstd_noise_section(p), err);

	if (threads < 0)
		return threads;
	coder_start(&z->c, z->c.src);
	if (zstd_pack_start(z, p, err))
		return err->code;
	ZSTD_CCtx_setParameter(z->cctx, ZSTD_c_nbWorkers, threads);
	return FILTER_OK;
}

/* Takes the coder's input into first.  True while more may come. */
static bool zstd_gather(struct zstd_pack *z, enum coder_mode mode)
{
	struct coder *c = &z->c;
	size_t n = FIRST_MAX - z->first_len;

	if (n > c->in_len)
		n = c->in_len;
	if (n)
		memcpy(z->first + z->first_len, c->in, n);
	zstd_noise_took(&z->noise, c->in, n);
	z->first_len += n;
	c->in += n;
	c->in_len -= n;
	if (mode == CODER_RUN && z->first_len < FIRST_MAX)
		return true;
	if (mode == CODER_FINISH)
		ZSTD_CCtx_setPledgedSrcSize(z->cctx, z->first_len);
	z->gathering = false;
	return false;
}

/*
 * One call of libzstd, out of n bytes at p into the coder's room; *took gets
 * how many it took.  A section's last byte goes alone, when it was judged.
 */
static int zstd_pack_run(struct zstd_pack *z, const uint8_t *p, size_t n,
			 size_t *took, enum coder_mode mode,
			 struct filter_error *err)
{
	static const ZSTD_EndDirective directive[] = {
		[CODER_RUN] = ZSTD_e_continue,
		[CODER_FLUSH] = ZSTD_e_flush,
		[CODER_FINISH] = ZSTD_e_end,
	};
	struct coder *c = &z->c;
	ZSTD_outBuffer out = { c->out, c->out_len, 0 };
	size_t span = zstd_noise_span(&z->noise, n), left;
	ZSTD_inBuffer in = { p, span ? span : n > 0, 0 };

	if ((mode != CODER_RUN || (n && !span)) && zstd_judge(z, err))
		return err->code;
	left = ZSTD_compressStream2(z->cctx, &out, &in, directive[mode]);
	if (ZSTD_isError(left))
		return zstd_fail(err, coder_offset(c), left);
	*took = in.pos;
	c->out += out.pos;
	c->out_len -= out.pos;
	if (mode != CODER_RUN && !left)
		zstd_noise_start(&z->noise);
	return left || mode == CODER_RUN ? CODER_MORE : CODER_DONE;
}

/*
 * What was held back goes first; it is less than a section.  A flush or an
 * end brings no input along.
 */
static int zstd_pack_step(struct coder *c, enum coder_mode mode,
			  struct filter_error *err)
{
	struct zstd_pack *z = (struct zstd_pack *)c;
	size_t took = 0;
	int r;

	if (z->gathering && zstd_gather(z, mode))
		return CODER_MORE;
	if (z->first_pos < z->first_len) {
		r = zstd_pack_run(z, z->first + z->first_pos,
				  z->first_len - z->first_pos, &took, mode, err);
		z->first_pos += took;
		return r;
	}
	r = zstd_pack_run(z, c->in, c->in_len, &took, mode, err);
	zstd_noise_took(&z->noise, c->in, took);
	if (took)
		c->in += took;
	c->in_len -= took;
	return r;
}

static ptrdiff_t zstd_pack_read(void *state, uint8_t *dst, size_t cap,
				struct filter_error *err)
{
	return coder_pack(state, zstd_pack_step, dst, cap, err);
}

/* --- unpacking --- */

struct zstd_unpack {
	struct coder c;		/* first, so that the two cast */
	ZSTD_DCtx *dctx;
	struct zstd_header head;
	uint64_t memory;
	uint32_t dict_id;	/* of the dictionary at hand */
	bool has_dict;
};

static void zstd_unpack_close(void *state)
{
	struct zstd_unpack *z = state;

	ZSTD_freeDCtx(z->dctx);
	free(z);
}

static int zstd_check_dict(const struct zstd_unpack *z,
			   struct filter_error *err)
{
	uint32_t want = z->head.dict_id;

	if (!want || want == z->dict_id)
		return FILTER_OK;
	if (!z->has_dict)
		return filter_fail(err, FILTER_E_DICT, z->c.start,
				   "needs the dictionary with id %" PRIu32, want);
	return filter_fail(err, FILTER_E_DICT, z->c.start,
			   "needs the dictionary with id %" PRIu32
			   ", the given one has id %" PRIu32, want, z->dict_id);
}

/*
 * Reads the header without consuming it, asking for as few bytes as it can:
 * a whole frame may be shorter than the longest header, and what follows may
 * be long in coming.
 */
static int zstd_read_header(struct zstd_unpack *z, struct filter_error *err)
{
	const uint8_t *p = NULL;
	size_t want = ZSTD_HEADER_MIN;
	ptrdiff_t n, r = 0;

	do {
		n = source_peek(z->c.src, want, &p);
		if (n < 0)
			return filter_fail(err, FILTER_E_READ, z->c.start,
					   "the input can't be read");
		r = zstd_header_parse(p, (size_t)n, &z->head);
		if (r > n && (size_t)n < want)
			return coder_truncated(&z->c, err);
		want = (size_t)r;
	} while (r > n);
	if (r < 0)
		return filter_fail(err, (int)r, z->c.start, "%s",
				   r == FILTER_E_UNSUPPORTED ?
				   "a reserved bit is set in the zstd frame header" :
				   "not a zstd frame");
	if (z->memory && z->head.window > z->memory)
		return coder_over_budget(err, z->c.start, "the zstd frame's window",
					 z->head.window, z->memory);
	return zstd_check_dict(z, err);
}

static int zstd_unpack_step(struct coder *c, enum coder_mode mode,
			    struct filter_error *err)
{
	struct zstd_unpack *z = (struct zstd_unpack *)c;
	ZSTD_outBuffer out = { c->out, c->out_len, 0 };
	ZSTD_inBuffer in = { c->in, c->in_len, 0 };
	size_t r = ZSTD_decompressStream(z->dctx, &out, &in);

	(void)mode;
	c->in += in.pos;
	c->in_len -= in.pos;
	c->out += out.pos;
	c->out_len -= out.pos;
	if (ZSTD_isError(r))
		return zstd_fail(err, coder_offset(c), r);
	return r ? CODER_MORE : CODER_DONE;
}

static ptrdiff_t zstd_unpack_read(void *state, uint8_t *dst, size_t cap,
				  struct filter_error *err)
{
	struct zstd_unpack *z = state;

	if (!z->head.size) {
		int r = zstd_read_header(z, err);

		if (r)
			return r;
	}
	return coder_unpack(&z->c, zstd_unpack_step, dst, cap, err);
}

static int zstd_unpack_reset(void *state, const struct filter_params *p,
			     struct filter_error *err)
{
	struct zstd_unpack *z = state;

	(void)p;
	(void)err;
	coder_start(&z->c, z->c.src);
	z->head = (struct zstd_header){ 0 };
	ZSTD_DCtx_reset(z->dctx, ZSTD_reset_session_only);
	return FILTER_OK;
}

static int zstd_unpack_params(struct zstd_unpack *z,
			      const struct filter_params *p,
			      struct filter_error *err)
{
	int log_max = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound;
	size_t r = ZSTD_DCtx_setParameter(z->dctx, ZSTD_d_windowLogMax, log_max);

	z->memory = p->memory;
	z->has_dict = p->dict_len;
	if (z->has_dict && !ZSTD_isError(r)) {
		z->dict_id = ZSTD_getDictID_fromDict(p->dict, p->dict_len);
		r = ZSTD_DCtx_loadDictionary(z->dctx, p->dict, p->dict_len);
	}
	return ZSTD_isError(r) ? zstd_fail(err, SIZE_UNKNOWN, r) : FILTER_OK;
}

static void *zstd_unpack_open(const struct filter_params *p,
			      struct source *src, struct filter_error *err)
{
	struct zstd_unpack *z = calloc(1, sizeof(*z));

	if (!z || !(z->dctx = ZSTD_createDCtx())) {
		free(z);
		coder_no_memory(err);
		return NULL;
	}
	coder_start(&z->c, src);
	if (zstd_unpack_params(z, p, err)) {
		zstd_unpack_close(z);
		return NULL;
	}
	return z;
}

static void zstd_describe(const void *state, struct member *m)
{
	const struct zstd_unpack *z = state;

	coder_describe(&z->c, m);
	m->format = "zstd";
	m->declared = z->head.content;
	m->window = z->head.window;
	m->dict_id = z->head.dict_id;
	m->check = z->head.checked ? "xxh64" : NULL;
}

/* --- the row --- */

static bool zstd_detect(const uint8_t *p, size_t n)
{
	return n >= 4 && !memcmp(p, "\x28\xb5\x2f\xfd", 4);
}

static const struct stream_ops zstd_pack_ops = {
	.open = zstd_pack_open,
	.read = zstd_pack_read,
	.reset = zstd_pack_reset,
	.close = zstd_pack_close,
};

static const struct stream_ops zstd_unpack_ops = {
	.open = zstd_unpack_open,
	.read = zstd_unpack_read,
	.reset = zstd_unpack_reset,
	.describe = zstd_describe,
	.close = zstd_unpack_close,
};

/*
 * Levels: 22 is libzstd's highest since 1.4; below -7 nothing gets faster
 * worth having, but --fast=N goes as far down as the library allows.
 */
const struct filter filter_zstd = {
	.name = "zstd",
	.suffix = ".zst .zstd",
	.tar_suffix = ".tzst",
	.flags = FILTER_DICT | FILTER_LONG | FILTER_CHECK | FILTER_THREADS,
	.level_min = -131072, .level_default = 3, .level_max = 22,
	.peek = 4,
	.detect = zstd_detect,
	.pack = &zstd_pack_ops,
	.unpack = &zstd_unpack_ops,
	.pack_seekable = &zstd_pack_seekable,
	.unpack_members = &zstd_unpack_members,
	.library = "zstd",
	.version = ZSTD_versionString,
};
