/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zlib_unpack.c - unpacking gzip (RFC 1952), zlib (RFC 1950), raw deflate
 *
 * A wrapper is a row: how to read its header, how its checksum is computed,
 * how to read its trailer.  The data between are the engine's (flate.h).
 * Headers and trailers are read byte by byte off the coder, so nothing limits
 * the length of a gzip header's fields.
 */
#include "zlib_unpack.h"

#include "flate.h"

#include <inttypes.h>
#include <stdlib.h>

struct flate_unpack;

struct wrapper {
	const char *name;
	const char *check;
	int (*head)(struct flate_unpack *f, struct filter_error *err);
	int (*tail)(struct flate_unpack *f, struct filter_error *err);
	uint32_t (*sum)(uint32_t sum, const uint8_t *p, size_t n);
	uint32_t sum_start;
};

struct flate_unpack {
	struct coder c;		/* first, so that the two cast */
	const struct wrapper *wrapper;
	const struct flate_unpacker *unpacker;
	void *engine;		/* its state */
	uint32_t sum;		/* of what was decoded */
	uint32_t length;	/* ... its bytes, modulo 2^32 */
	uint32_t window;
	bool headed;
};

/* --- gzip --- */

enum { GZIP_HCRC = 2, GZIP_EXTRA = 4, GZIP_NAME = 8, GZIP_COMMENT = 16,
       GZIP_ENCRYPTED = 32, GZIP_RESERVED = 0xc0 };

/* Reads n bytes, n <= 10, of a header that *sum covers. */
static int gzip_take(struct flate_unpack *f, uint8_t *dst, size_t n,
		     uint32_t *sum, struct filter_error *err)
{
	int r = coder_take(&f->c, dst, n, err);

	if (!r)
		*sum = flate_crc32(*sum, dst, n);
	return r;
}

static int gzip_skip_extra(struct flate_unpack *f, uint32_t *sum,
			   struct filter_error *err)
{
	uint8_t b[2];
	int r = gzip_take(f, b, 2, sum, err);

	for (size_t n = b[0] | (size_t)b[1] << 8; !r && n; n--)
		r = gzip_take(f, b, 1, sum, err);
	return r;
}

static int gzip_skip_string(struct flate_unpack *f, uint32_t *sum,
			    struct filter_error *err)
{
	uint8_t b;
	int r;

	do
		r = gzip_take(f, &b, 1, sum, err);
	while (!r && b);
	return r;
}

static int gzip_check_header(struct flate_unpack *f, uint32_t sum,
			     struct filter_error *err)
{
	uint8_t b[2];
	int r = coder_take(&f->c, b, 2, err);

	if (!r && (b[0] | (uint32_t)b[1] << 8) != (sum & 0xffff))
		return filter_fail(err, FILTER_E_CHECK, f->c.start,
				   "the gzip header's checksum doesn't match");
	return r;
}

static int gzip_check_fixed(const struct flate_unpack *f, const uint8_t *b,
			    struct filter_error *err)
{
	if (b[0] != 0x1f || b[1] != 0x8b)
		return filter_fail(err, FILTER_E_CORRUPT, f->c.start,
				   "not gzip data");
	if (b[2] != 8)
		return filter_fail(err, FILTER_E_UNSUPPORTED, f->c.start,
				   "gzip method %d is not deflate", b[2]);
	if (b[3] & GZIP_ENCRYPTED)
		return filter_fail(err, FILTER_E_UNSUPPORTED, f->c.start,
				   "the gzip member is encrypted");
	if (b[3] & GZIP_RESERVED)
		return filter_fail(err, FILTER_E_UNSUPPORTED, f->c.start,
				   "reserved flags are set in the gzip header");
	return FILTER_OK;
}

static int gzip_head(struct flate_unpack *f, struct filter_error *err)
{
	uint8_t b[10];
	uint32_t sum = 0;
	int r = gzip_take(f, b, 10, &sum, err);

	if (!r)
		r = gzip_check_fixed(f, b, err);
	if (!r && b[3] & GZIP_EXTRA)
		r = gzip_skip_extra(f, &sum, err);
	if (!r && b[3] & GZIP_NAME)
		r = gzip_skip_string(f, &sum, err);
	if (!r && b[3] & GZIP_COMMENT)
		r = gzip_skip_string(f, &sum, err);
	if (!r && b[3] & GZIP_HCRC)
		r = gzip_check_header(f, sum, err);
	return r;
}

static uint32_t le32(const uint8_t *b)
{
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
		(uint32_t)b[3] << 24;
}

static int gzip_tail(struct flate_unpack *f, struct filter_error *err)
{
	uint64_t at = coder_offset(&f->c);
	uint8_t b[8];
	int r = coder_take(&f->c, b, sizeof(b), err);

	if (r)
		return r;
	if (le32(b) != f->sum)
		return filter_fail(err, FILTER_E_CHECK, at,
				   "the crc32 checksum doesn't match: stored %08"
				   PRIx32 ", computed %08" PRIx32,
				   le32(b), f->sum);
	if (le32(b + 4) != f->length)
		return filter_fail(err, FILTER_E_CHECK, at + 4,
				   "the length doesn't match: stored %" PRIu32
				   ", decoded %" PRIu32 " (modulo 2^32)",
				   le32(b + 4), f->length);
	return FILTER_OK;
}

/* --- zlib --- */

static int zlib_head(struct flate_unpack *f, struct filter_error *err)
{
	uint8_t b[6];
	int r = coder_take(&f->c, b, 2, err);

	if (r)
		return r;
	if ((b[0] & 15) != 8 || b[0] >> 4 > 7 || (b[0] << 8 | b[1]) % 31)
		return filter_fail(err, FILTER_E_CORRUPT, f->c.start,
				   "not zlib data");
	f->window = UINT32_C(1) << ((b[0] >> 4) + 8);
	if (!(b[1] & 0x20))
		return FILTER_OK;
	r = coder_take(&f->c, b + 2, 4, err);
	if (r)
		return r;
	return filter_fail(err, FILTER_E_DICT, f->c.start,
			   "needs the preset dictionary with adler32 "
			   "%02x%02x%02x%02x, which zlib data can't be given here",
			   b[2], b[3], b[4], b[5]);
}

static int zlib_tail(struct flate_unpack *f, struct filter_error *err)
{
	uint64_t at = coder_offset(&f->c);
	uint8_t b[4];
	int r = coder_take(&f->c, b, sizeof(b), err);

	if (!r && __builtin_bswap32(le32(b)) != f->sum)
		return filter_fail(err, FILTER_E_CHECK, at,
				   "the adler32 checksum doesn't match: stored %08"
				   PRIx32 ", computed %08" PRIx32,
				   __builtin_bswap32(le32(b)), f->sum);
	return r;
}

/* --- deflate --- */

static int deflate_nothing(struct flate_unpack *f, struct filter_error *err)
{
	(void)f;
	(void)err;
	return FILTER_OK;
}

static uint32_t deflate_no_sum(uint32_t sum, const uint8_t *p, size_t n)
{
	(void)p;
	(void)n;
	return sum;
}

/* --- the rows and what walks them --- */

static const struct wrapper gzip_wrapper = {
	"gzip", "crc32", gzip_head, gzip_tail, flate_crc32, 0,
};
static const struct wrapper zlib_wrapper = {
	"zlib", "adler32", zlib_head, zlib_tail, flate_adler32, 1,
};
static const struct wrapper deflate_wrapper = {
	"deflate", NULL, deflate_nothing, deflate_nothing, deflate_no_sum, 0,
};

static void flate_unpack_start(struct flate_unpack *f, struct source *src)
{
	coder_start(&f->c, src);
	f->sum = f->wrapper->sum_start;
	f->length = 0;
	f->window = FLATE_HISTORY;
	f->headed = false;
}

/* Before isa-l is loaded, zlib has unpacked that much. */
#define SMALL_INPUT 8192

static void *flate_unpack_open(const struct wrapper *wrapper,
			       const struct filter_params *p, struct source *src,
			       struct filter_error *err)
{
	struct flate_unpack *f = calloc(1, sizeof(*f));

	if (!f) {
		coder_no_memory(err);
		return NULL;
	}
	f->unpacker = flate_isal_unpacker;
	if (p->packed <= SMALL_INPUT || !f->unpacker)
		f->unpacker = &flate_zlib_unpacker;
	f->engine = f->unpacker->open();
	if (!f->engine) {
		free(f);
		coder_no_memory(err);
		return NULL;
	}
	f->wrapper = wrapper;
	flate_unpack_start(f, src);
	return f;
}

static int flate_unpack_reset(void *state, const struct filter_params *p,
			      struct filter_error *err)
{
	struct flate_unpack *f = state;

	(void)p;
	(void)err;
	f->unpacker->reset(f->engine);
	flate_unpack_start(f, f->c.src);
	return FILTER_OK;
}

static int flate_unpack_step(struct coder *c, enum coder_mode mode,
			     struct filter_error *err)
{
	struct flate_unpack *f = (struct flate_unpack *)c;
	const char *why = NULL;
	uint8_t *start = c->out;
	int r;

	(void)mode;
	if (!f->headed) {
		r = f->wrapper->head(f, err);
		if (r)
			return r;
		f->headed = true;
	}
	r = f->unpacker->run(f->engine, c, &why);
	f->sum = f->wrapper->sum(f->sum, start, (size_t)(c->out - start));
	f->length += (uint32_t)(c->out - start);
	if (r == FILTER_E_CORRUPT)
		return filter_fail(err, r, coder_offset(c),
				   "corrupt deflate data: %s", why);
	if (r != CODER_DONE)
		return r;
	r = f->wrapper->tail(f, err);
	return r ? r : CODER_DONE;
}

static ptrdiff_t flate_unpack_read(void *state, uint8_t *dst, size_t cap,
				   struct filter_error *err)
{
	return coder_unpack(state, flate_unpack_step, dst, cap, err);
}

static void flate_unpack_describe(const void *state, struct member *m)
{
	const struct flate_unpack *f = state;

	coder_describe(&f->c, m);
	m->format = f->wrapper->name;
	m->declared = SIZE_UNKNOWN;
	m->window = f->window;
	m->check = f->wrapper->check;
}

static void flate_unpack_close(void *state)
{
	struct flate_unpack *f = state;

	f->unpacker->close(f->engine);
	free(f);
}

static void *gzip_unpack_open(const struct filter_params *p,
			      struct source *src, struct filter_error *err)
{
	return flate_unpack_open(&gzip_wrapper, p, src, err);
}

static void *zlib_unpack_open(const struct filter_params *p,
			      struct source *src, struct filter_error *err)
{
	return flate_unpack_open(&zlib_wrapper, p, src, err);
}

static void *deflate_unpack_open(const struct filter_params *p,
				 struct source *src, struct filter_error *err)
{
	return flate_unpack_open(&deflate_wrapper, p, src, err);
}

#define FLATE_UNPACK_OPS(open_fn) {		\
	.open = open_fn,			\
	.read = flate_unpack_read,		\
	.reset = flate_unpack_reset,		\
	.describe = flate_unpack_describe,	\
	.close = flate_unpack_close,		\
}

const struct stream_ops gzip_unpack_ops = FLATE_UNPACK_OPS(gzip_unpack_open);
const struct stream_ops zlib_unpack_ops = FLATE_UNPACK_OPS(zlib_unpack_open);
const struct stream_ops deflate_unpack_ops = FLATE_UNPACK_OPS(deflate_unpack_open);
