/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zlib.c - gzip, zlib and raw deflate: packing by blocks, and the rows
 *
 * One member, made of chunks that workers pack side by side.  Each chunk is
 * packed with the 32 KiB before it as its history, so matches cross the
 * seams, and ends on a byte boundary (flate.h), so chunks can be joined as
 * they are.  Checksums are computed per chunk and combined when it is joined.
 * Which engine packs a level is a row of `engines`.
 *
 * Level 1 costs the CPU time of igzip's in one thread; in two, up to 1.2 times as
 * much, as igzip's own grows by 1.13 beside a second one: cores share more than
 * the codec.  The history that a chunk is given costs no measurable time and
 * saves 0.3 %.
 */
#include "codecs.h"
#include "flate.h"
#include "serial.h"
#include "zlib_unpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Of 64 to 512 KiB the smallest that packs as fast and within 0.3 % as small: four
   of them are in memory at once. */
#define CHUNK_DEFAULT ((size_t)352 << 10)

/* --- what differs between the three --- */

struct wrapper {
	const struct filter *filter;
	uint32_t (*sum)(uint32_t sum, const uint8_t *p, size_t n);
	uint32_t (*combine)(uint32_t a, uint32_t b, uint64_t b_len);
	uint32_t sum_start;
	size_t (*head)(int level, uint8_t *dst);
	size_t (*tail)(uint32_t sum, uint64_t length, uint8_t *dst);
};

static void put_le32(uint8_t *dst, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		dst[i] = (uint8_t)(v >> 8 * i);
}

/* No name and no time, so that the bytes depend on the input alone. */
static size_t gzip_head(int level, uint8_t *dst)
{
	static const uint8_t head[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };

	memcpy(dst, head, sizeof(head));
	dst[8] = level >= 9 ? 2 : level == 1 ? 4 : 0;
	return sizeof(head);
}

static size_t gzip_tail(uint32_t sum, uint64_t length, uint8_t *dst)
{
	put_le32(dst, sum);
	put_le32(dst + 4, (uint32_t)length);
	return 8;
}

static uint32_t gzip_combine(uint32_t a, uint32_t b, uint64_t b_len)
{
	return (uint32_t)crc32_combine(a, b, (z_off_t)b_len);
}

/* 32 KiB window; two bits of level; a multiple of 31 in all. */
static size_t zlib_head(int level, uint8_t *dst)
{
	unsigned class = level <= 1 ? 0 : level < 6 ? 1 : level == 6 ? 2 : 3;
	unsigned head = 0x7800 | class << 6;

	head += 31 - head % 31;
	dst[0] = (uint8_t)(head >> 8);
	dst[1] = (uint8_t)head;
	return 2;
}

static size_t zlib_tail(uint32_t sum, uint64_t length, uint8_t *dst)
{
	(void)length;
	put_le32(dst, __builtin_bswap32(sum));
	return 4;
}

static uint32_t zlib_combine(uint32_t a, uint32_t b, uint64_t b_len)
{
	return (uint32_t)adler32_combine(a, b, (z_off_t)b_len);
}

static uint32_t deflate_sum(uint32_t sum, const uint8_t *p, size_t n)
{
	(void)p;
	(void)n;
	return sum;
}

static uint32_t deflate_combine(uint32_t a, uint32_t b, uint64_t b_len)
{
	(void)b;
	(void)b_len;
	return a;
}

static size_t deflate_head(int level, uint8_t *dst)
{
	(void)level;
	(void)dst;
	return 0;
}

static size_t deflate_tail(uint32_t sum, uint64_t length, uint8_t *dst)
{
	(void)sum;
	(void)length;
	(void)dst;
	return 0;
}

static const struct wrapper gzip_wrapper = {
	&filter_gzip, flate_crc32, gzip_combine, 0, gzip_head, gzip_tail,
};
static const struct wrapper zlib_wrapper = {
	&filter_zlib, flate_adler32, zlib_combine, 1, zlib_head, zlib_tail,
};
static const struct wrapper deflate_wrapper = {
	&filter_deflate, deflate_sum, deflate_combine, 0, deflate_head, deflate_tail,
};

/* --- which engine packs a level; the first row that is built in --- */

static const struct {
	int level_max;
	const struct flate_packer *const *packer;
} engines[] = {
	{ 1, &flate_isal },
	{ 12, &flate_libdeflate },
};

static const struct flate_packer *flate_engine(int level)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		const struct flate_packer *packer = *engines[i].packer;

		if (packer && level >= 1 && level <= engines[i].level_max)
			return packer;
	}
	return level <= 9 ? &flate_zlib : NULL;
}

/* --- the block face --- */

struct flate_pack {
	const struct wrapper *wrapper;
	int level;
	uint32_t sum;
	uint64_t length;
};

/* A packer whose state is opened when a block wants it. */
struct engine {
	const struct flate_packer *packer;
	void *state;
};

struct flate_worker {
	const struct wrapper *wrapper;
	struct engine plain, small;
	int level;
	bool probe, refuse;
};

static size_t flate_block_size(const struct filter_params *p)
{
	return p->block_size ? p->block_size : CHUNK_DEFAULT;
}

/*
 * Engines write a little beyond what they need, so they are given more room
 * than stored blocks take: as much for a chunk whoever calls, so that the
 * bytes don't depend on the caller's buffer.
 */
#define ENGINE_SLACK ((size_t)64)

static size_t flate_bound(const struct filter_params *p, size_t raw)
{
	(void)p;
	return flate_store_size(raw, true) + ENGINE_SLACK;
}

static void *flate_pack_open(const struct wrapper *wrapper,
			     const struct filter_params *p,
			     struct filter_error *err)
{
	struct flate_pack *f;

	if (filter_level_check(wrapper->filter, p, err))
		return NULL;
	f = malloc(sizeof(*f));
	if (!f) {
		coder_no_memory(err);
		return NULL;
	}
	*f = (struct flate_pack){
		.wrapper = wrapper,
		.level = filter_level(wrapper->filter, p),
		.sum = wrapper->sum_start,
	};
	return f;
}

static void flate_worker_close(void *worker)
{
	struct flate_worker *w = worker;

	if (w->plain.state)
		w->plain.packer->close(w->plain.state);
	if (w->small.state)
		w->small.packer->close(w->small.state);
	free(w);
}

static void *flate_worker_open(const struct wrapper *wrapper,
			       const struct filter_params *p,
			       struct filter_error *err)
{
	int level = filter_level(wrapper->filter, p);
	const struct flate_packer *packer = flate_engine(level);
	struct flate_worker *w;

	if (!packer) {
		filter_fail(err, FILTER_E_UNSUPPORTED, SIZE_UNKNOWN,
			    "levels above 9 need libdeflate, which is not built in");
		return NULL;
	}
	w = malloc(sizeof(*w));
	if (!w) {
		coder_no_memory(err);
		return NULL;
	}
	*w = (struct flate_worker){
		.wrapper = wrapper,
		.plain.packer = packer,
		.small.packer = level <= 9 ? &flate_small : packer,
		.level = level,
		.probe = p->probe,
		.refuse = p->refuse,
	};
	return w;
}

/* The block's engine, opened; NULL = no memory. */
static struct engine *engine_for(struct flate_worker *w, const struct block *b)
{
	bool small = b->last && !b->offset && b->src_len <= FLATE_SMALL;
	struct engine *e = small ? &w->small : &w->plain;

	if (!e->state)
		e->state = e->packer->open(w->level);
	return e->state ? e : NULL;
}

static ptrdiff_t flate_pack_head(void *state, uint8_t *dst,
				 struct filter_error *err)
{
	const struct flate_pack *f = state;

	(void)err;
	return (ptrdiff_t)f->wrapper->head(f->level, dst);
}

static int flate_pack_block(void *worker, struct block *b,
			    struct filter_error *err)
{
	struct flate_worker *w = worker;
	size_t stored = flate_store_size(b->src_len, b->last);
	bool store = w->probe && probe_incompressible(b->src, b->src_len);
	struct engine *e = store ? NULL : engine_for(w, b);

	if (store && w->refuse && !b->offset)
		return filter_fail(err, FILTER_E_REFUSED, 0,
				   "not worth packing");
	if (!store && !e)
		return coder_no_memory(err);
	b->check = w->wrapper->sum(w->wrapper->sum_start, b->src, b->src_len);
	b->dst_len = 0;
	if (e)
		b->dst_len = e->packer->pack(e->state, b, b->dst, stored + ENGINE_SLACK);
	if (!b->dst_len || (b->dst_len > stored && b->src_len))
		b->dst_len = flate_store(b->src, b->src_len, b->last, b->dst);
	return FILTER_OK;
}

static int flate_pack_join(void *state, struct block *b,
			   struct filter_error *err)
{
	struct flate_pack *f = state;

	(void)err;
	f->sum = f->wrapper->combine(f->sum, (uint32_t)b->check, b->src_len);
	f->length += b->src_len;
	return FILTER_OK;
}

static ptrdiff_t flate_pack_tail(void *state, uint8_t *dst,
				 struct filter_error *err)
{
	const struct flate_pack *f = state;

	(void)err;
	return (ptrdiff_t)f->wrapper->tail(f->sum, f->length, dst);
}

/*
 * The opening functions are all that a block face of one wrapper has of its
 * own, for there is no other way to tell them which one they are.
 */
#define FLATE_PACK_FACES(name)						\
static void *name##_pack_open(const struct filter_params *p,		\
			      struct filter_error *err)			\
{									\
	return flate_pack_open(&name##_wrapper, p, err);		\
}									\
									\
static void *name##_worker_open(const struct filter_params *p,		\
				struct filter_error *err)		\
{									\
	return flate_worker_open(&name##_wrapper, p, err);		\
}									\
									\
static const struct pack_ops name##_blocks = {				\
	.history = FLATE_HISTORY,					\
	.head_max = 10,							\
	.tail_max = 8,							\
	.block_size = flate_block_size,					\
	.bound = flate_bound,						\
	.open = name##_pack_open,					\
	.worker_open = name##_worker_open,				\
	.head = flate_pack_head,					\
	.block = flate_pack_block,					\
	.join = flate_pack_join,					\
	.tail = flate_pack_tail,					\
	.worker_close = flate_worker_close,				\
	.close = free,							\
};									\
									\
static void *name##_stream_open(const struct filter_params *p,		\
				struct source *src,			\
				struct filter_error *err)		\
{									\
	return serial_open(&name##_blocks, p, src, err);		\
}									\
									\
static const struct stream_ops name##_pack_ops = {			\
	.open = name##_stream_open,					\
	.read = serial_read,						\
	.close = serial_close,						\
}

FLATE_PACK_FACES(gzip);
FLATE_PACK_FACES(zlib);
FLATE_PACK_FACES(deflate);

/* --- the rows --- */

/* zlib's version and the engines that serve beside it. */
static const char *flate_version(void)
{
	static _Thread_local char text[80];

	snprintf(text, sizeof(text), "%s%s%s%s%s", zlibVersion(),
		 flate_isal ? ", " : "", flate_isal ? flate_isal->library : "",
		 flate_libdeflate ? ", " : "",
		 flate_libdeflate ? flate_libdeflate->library : "");
	return text;
}

static bool gzip_detect(const uint8_t *p, size_t n)
{
	return n >= 4 && p[0] == 0x1f && p[1] == 0x8b && p[2] == 8 &&
		!(p[3] & 0xc0);
}

/* Two bytes of which one in 1,000 pairs would do: the table asks this last. */
static bool zlib_detect(const uint8_t *p, size_t n)
{
	return n >= 2 && (p[0] & 15) == 8 && p[0] >> 4 <= 7 &&
		(p[0] << 8 | p[1]) % 31 == 0;
}

const struct filter filter_gzip = {
	.name = "gzip",
	.suffix = ".gz .z",
	.tar_suffix = ".tgz .taz",
	.flags = FILTER_BLOCK_SIZE | FILTER_MODEST,
	.level_min = 0, .level_default = 6, .level_max = 12,
	.peek = 4,
	.detect = gzip_detect,
	.pack = &gzip_pack_ops,
	.unpack = &gzip_unpack_ops,
	.pack_blocks = &gzip_blocks,
	.library = "zlib",
	.version = flate_version,
};

const struct filter filter_zlib = {
	.name = "zlib",
	.suffix = ".zlib .zz",
	.flags = FILTER_BLOCK_SIZE | FILTER_MODEST,
	.level_min = 0, .level_default = 6, .level_max = 12,
	.peek = 2,
	.detect = zlib_detect,
	.pack = &zlib_pack_ops,
	.unpack = &zlib_unpack_ops,
	.pack_blocks = &zlib_blocks,
	.library = "zlib",
	.version = flate_version,
};

const struct filter filter_deflate = {
	.name = "deflate",
	.suffix = ".deflate",
	.flags = FILTER_HEADERLESS | FILTER_BLOCK_SIZE | FILTER_SINGLE | FILTER_MODEST,
	.level_min = 0, .level_default = 6, .level_max = 12,
	.pack = &deflate_pack_ops,
	.unpack = &deflate_unpack_ops,
	.pack_blocks = &deflate_blocks,
	.library = "zlib",
	.version = flate_version,
};
