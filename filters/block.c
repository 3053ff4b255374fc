/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block.c - one bare block: an lzvolt value, or an LZ4 block
 *
 * Neither has a magic number or a checksum, an LZ4 block not even its decoded
 * size, and both are coded from memory to memory: the whole input is gathered,
 * coded, and handed out.  Input and output together stay within the memory
 * budget.
 */
#include "codecs.h"
#include "coder.h"
#include "lz4_frame.h"
#include "lzvolt.h"

#include <inttypes.h>
#include <lz4.h>
#include <lz4hc.h>
#include <stdlib.h>
#include <string.h>

struct bare;

/* Codes in, in_len bytes, into z->out (which it allocates) and z->len. */
typedef int bare_code(struct bare *z, struct filter_error *err);

struct bare {
	struct source *src;
	struct filter_params params;
	const struct filter *filter;
	bare_code *code;
	uint64_t start;
	uint8_t *in, *out;
	size_t in_len, in_cap, len, pos, in_max;
	bool coded;
};

#define GATHER_FIRST ((size_t)64 << 10)

static void bare_close(void *state)
{
	struct bare *z = state;

	free(z->in);
	free(z->out);
	free(z);
}

static struct bare *bare_open(const struct filter_params *p, struct source *src,
			      struct filter_error *err)
{
	struct bare *z = calloc(1, sizeof(*z));

	if (!z) {
		coder_no_memory(err);
		return NULL;
	}
	z->src = src;
	z->start = src->offset;
	z->params = *p;
	return z;
}

/* Room for n more bytes of input, within the limits. */
static int bare_grow(struct bare *z, size_t n, struct filter_error *err)
{
	uint64_t budget = z->params.memory;
	size_t cap = z->in_cap ? z->in_cap : GATHER_FIRST;
	uint8_t *in;

	if (n > z->in_max - z->in_len)
		return filter_fail(err, FILTER_E_UNSUPPORTED, z->start,
				   "one %s holds %zu bytes at most",
				   z->filter->name, z->in_max);
	while (cap < z->in_len + n)
		cap *= 2;
	if (budget && cap > budget)
		return coder_over_budget(err, z->start, z->filter->name, cap, budget);
	if (cap == z->in_cap)
		return FILTER_OK;
	in = realloc(z->in, cap);
	if (!in)
		return coder_no_memory(err);
	z->in = in;
	z->in_cap = cap;
	return FILTER_OK;
}

static int bare_gather(struct bare *z, struct filter_error *err)
{
	for (;;) {
		const uint8_t *p;
		ptrdiff_t n = source_next(z->src, &p);

		if (n == SOURCE_PAUSE)
			continue;
		if (n < 0)
			return filter_fail(err, FILTER_E_READ, z->src->offset,
					   "the input can't be read");
		if (bare_grow(z, (size_t)n, err))
			return err->code;
		if (!n)
			return FILTER_OK;
		memcpy(z->in + z->in_len, p, (size_t)n);
		z->in_len += (size_t)n;
	}
}

/* Allocates z->out. */
static int bare_room(struct bare *z, uint64_t n, struct filter_error *err)
{
	uint64_t budget = z->params.memory;

	if (budget && z->in_cap + n > budget)
		return coder_over_budget(err, z->start, z->filter->name,
					 z->in_cap + n, budget);
	z->out = malloc(n ? (size_t)n : 1);
	return z->out ? FILTER_OK : coder_no_memory(err);
}

static ptrdiff_t bare_read(void *state, uint8_t *dst, size_t cap,
			   struct filter_error *err)
{
	struct bare *z = state;
	size_t n;

	if (!z->coded && (bare_gather(z, err) || z->code(z, err)))
		return err->code;
	z->coded = true;
	n = z->len - z->pos < cap ? z->len - z->pos : cap;
	memcpy(dst, z->out + z->pos, n);
	z->pos += n;
	return (ptrdiff_t)n;
}

static void bare_describe(const void *state, struct member *m)
{
	const struct bare *z = state;

	m->format = z->filter->name;
	m->offset = z->start;
	m->packed = z->src->offset - z->start;
	m->raw = z->len;
	m->declared = z->len;
	m->blocks = 1;
}

/* --- lzvolt values --- */

static int lzvolt_failed(struct bare *z, int64_t r, struct filter_error *err)
{
	int code = r == LZVOLT_E_TRUNCATED ? FILTER_E_TRUNCATED : FILTER_E_CORRUPT;

	return filter_fail(err, code, z->start, "lzvolt value: %s",
			   lzvolt_strerror(r));
}

/* The empty value is its header alone; lzvolt_compress() won't write it. */
static int lzvolt_pack(struct bare *z, struct filter_error *err)
{
	static const int favor[] = { LZVOLT_FAVOR_SPEED, 0, LZVOLT_FAVOR_SIZE };
	size_t cap = lzvolt_compress_bound(z->in_len);
	int level = filter_level(z->filter, &z->params);
	int64_t r;

	if (bare_room(z, cap + 1, err))
		return err->code;
	if (!z->in_len) {
		z->out[0] = 0;
		z->len = 1;
		return FILTER_OK;
	}
	r = lzvolt_compress_level(NULL, z->in, z->in_len, z->out, cap,
				  level | favor[z->params.favor + 1]);
	if (r == LZVOLT_NOT_COMPRESSIBLE)
		return filter_fail(err, FILTER_E_REFUSED, z->start,
				   "doesn't shrink by an eighth, and a bare value "
				   "can't be stored raw: -F lzv can");
	if (r < 0)
		return lzvolt_failed(z, r, err);
	z->len = (size_t)r;
	return FILTER_OK;
}

static int lzvolt_unpack(struct bare *z, struct filter_error *err)
{
	int64_t declared = lzvolt_declared_size(z->in, z->in_len);
	int64_t r;

	if (declared < 0)
		return lzvolt_failed(z, declared, err);
	if (bare_room(z, (uint64_t)declared, err))
		return err->code;
	r = lzvolt_decompress(z->in, z->in_len, z->out, (size_t)declared);
	if (r < 0)
		return lzvolt_failed(z, r, err);
	z->len = (size_t)r;
	return FILTER_OK;
}

static void *lzvolt_pack_open(const struct filter_params *p, struct source *src,
			      struct filter_error *err)
{
	struct bare *z;

	if (filter_level_check(&filter_lzvolt, p, err))
		return NULL;
	z = bare_open(p, src, err);
	if (z) {
		z->filter = &filter_lzvolt;
		z->code = lzvolt_pack;
		z->in_max = LZVOLT_MAX_SIZE;
	}
	return z;
}

static void *lzvolt_unpack_open(const struct filter_params *p,
				struct source *src, struct filter_error *err)
{
	struct bare *z = bare_open(p, src, err);

	if (z) {
		z->filter = &filter_lzvolt;
		z->code = lzvolt_unpack;
		z->in_max = 2 * LZVOLT_MAX_SIZE;
	}
	return z;
}

/* --- LZ4 blocks --- */

static int lz4_block_pack(struct bare *z, struct filter_error *err)
{
	size_t cap = (size_t)LZ4_COMPRESSBOUND(z->in_len);
	struct lz4_packer *k;

	if (bare_room(z, cap, err))
		return err->code;
	k = lz4_packer_open(filter_level(z->filter, &z->params),
			    z->params.dict, z->params.dict_len);
	if (!k)
		return coder_no_memory(err);
	z->len = lz4_packer_pack(k, z->in, z->in_len, z->out, cap);
	lz4_packer_close(k);
	return z->len ? FILTER_OK : coder_no_memory(err);
}

/* With a dictionary by liblz4, for ours has none. */
static int64_t lz4_block_decode(const struct bare *z)
{
	const struct filter_params *p = &z->params;
	size_t use = p->dict_len < LZ4_HISTORY ? p->dict_len : LZ4_HISTORY;
	int n;

	if (!use)
		return lzvolt_decompress_lz4(z->in, z->in_len, z->out,
					     (size_t)p->size, (size_t)p->size);
	n = LZ4_decompress_safe_usingDict((const char *)z->in, (char *)z->out,
					  (int)z->in_len, (int)p->size,
					  (const char *)p->dict + p->dict_len - use,
					  (int)use);
	if (n < 0)
		return LZVOLT_E_TRUNCATED;
	return (uint64_t)n == p->size ? n : LZVOLT_E_LENGTH_MISMATCH;
}

static int lz4_block_unpack(struct bare *z, struct filter_error *err)
{
	int64_t r;

	if (bare_room(z, z->params.size, err))
		return err->code;
	r = lz4_block_decode(z);
	if (r < 0)
		return filter_fail(err, r == LZVOLT_E_TRUNCATED ?
				   FILTER_E_TRUNCATED : FILTER_E_CORRUPT, z->start,
				   "LZ4 block of %" PRIu64 " decoded bytes: %s",
				   z->params.size, lzvolt_strerror(r));
	z->len = (size_t)r;
	return FILTER_OK;
}

static void *lz4_block_pack_open(const struct filter_params *p,
				 struct source *src, struct filter_error *err)
{
	struct bare *z;

	if (filter_level_check(&filter_lz4_block, p, err))
		return NULL;
	z = bare_open(p, src, err);
	if (z) {
		z->filter = &filter_lz4_block;
		z->code = lz4_block_pack;
		z->in_max = LZ4_MAX_INPUT_SIZE;
	}
	return z;
}

static void *lz4_block_unpack_open(const struct filter_params *p,
				   struct source *src, struct filter_error *err)
{
	struct bare *z;

	if (p->size > LZ4_MAX_INPUT_SIZE) {
		filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN, "%s",
			    p->size == SIZE_UNKNOWN ?
			    "an LZ4 block needs its decoded size: --size=N" :
			    "an LZ4 block holds less than 2 GiB");
		return NULL;
	}
	z = bare_open(p, src, err);
	if (z) {
		z->filter = &filter_lz4_block;
		z->code = lz4_block_unpack;
		z->in_max = (size_t)LZ4_COMPRESSBOUND(LZ4_MAX_INPUT_SIZE);
	}
	return z;
}

/* --- the rows --- */

static const struct stream_ops lzvolt_pack_ops = {
	.open = lzvolt_pack_open,
	.read = bare_read,
	.close = bare_close,
};

static const struct stream_ops lzvolt_unpack_ops = {
	.open = lzvolt_unpack_open,
	.read = bare_read,
	.describe = bare_describe,
	.close = bare_close,
};

static const struct stream_ops lz4_block_pack_ops = {
	.open = lz4_block_pack_open,
	.read = bare_read,
	.close = bare_close,
};

static const struct stream_ops lz4_block_unpack_ops = {
	.open = lz4_block_unpack_open,
	.read = bare_read,
	.describe = bare_describe,
	.close = bare_close,
};

const struct filter filter_lzvolt = {
	.name = "lzvolt",
	.suffix = ".lzvolt",
	.flags = FILTER_HEADERLESS | FILTER_SINGLE | FILTER_FAVOR,
	.level_min = LZVOLT_LEVEL_MIN,
	.level_default = LZVOLT_LEVEL_DEFAULT,
	.level_max = LZVOLT_LEVEL_MAX,
	.pack = &lzvolt_pack_ops,
	.unpack = &lzvolt_unpack_ops,
	.library = "lzvolt",
	.version = lzvolt_version,
};

const struct filter filter_lz4_block = {
	.name = "lz4-block",
	.suffix = ".lz4b",
	.flags = FILTER_HEADERLESS | FILTER_SINGLE | FILTER_DICT | FILTER_NEEDS_SIZE,
	.level_min = -65536, .level_default = 1, .level_max = LZ4HC_CLEVEL_MAX,
	.pack = &lz4_block_pack_ops,
	.unpack = &lz4_block_unpack_ops,
	.library = "lz4",
	.version = LZ4_versionString,
};
