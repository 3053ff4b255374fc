// SPDX-License-Identifier: Apache-2.0
/*
 * record_convert.c - one record from one encoding into another
 *
 * What happens to a record depends on two things alone, its flag and what was
 * asked for, so it is a table of steps.  A result is used only if it is right:
 * a retokened value must give its block back bit for bit, a packed one must
 * decode to what its source decodes to, an LZ4 block must satisfy liblz4's
 * strict decoder.  A result that doesn't save an eighth of the decoded size
 * isn't worth its flag: reading a packed value costs four to five times
 * reading a stored one.
 *
 * Where the time of repack goes (records of 64 KiB, level 1): 47 % search, 21 %
 * decoding the source, 23 % decoding and comparing the result, 5 % the check.
 * Without gain: 6 bytes hashed instead of 5 (prose 15 % faster and 4 % larger,
 * the rest 0), long matches compared by 64 bytes instead of 32 (0), the balanced
 * or fast layout instead of the small one (records 0, 60 to 90 % larger).  A block
 * of one literal run holds its own decoded bytes: not copying them twice is 20 %.
 * That LZ4 found nothing in it isn't taken for the probe's answer: a block packed
 * with a large acceleration looks the same.
 */
#include "record_convert.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "lz4_run.h"
#include "lzvolt.h"
#include "retoken.h"

#define JAVA_SEED	0x9747b28cu
#define JAVA_BITS	0x0fffffffu

struct converter {
	struct convert_options o;
	void *state;			/* lzvolt's */
	int level;
	struct lzv_coder *coder;
	uint8_t *raw, *other;		/* decoded bytes, and those of the result */
	size_t raw_cap, other_cap;
};

/* One record on its way. */
struct turn {
	struct converter *c;
	const struct frecord *in;
	struct frecord *out;
	uint8_t *dst;
	size_t n;			/* decoded size */
	bool decoded;			/* c->raw holds it, or in's body does */
	const uint8_t *raw;
	struct filter_error *err;
};

struct converter *converter_open(const struct convert_options *o)
{
	struct converter *c = calloc(1, sizeof(*c));
	int level = o->params.level;

	if (!c)
		return NULL;
	c->o = *o;
	c->level = level == LEVEL_DEFAULT ? LZVOLT_LEVEL_DEFAULT : level;
	c->state = malloc(lzvolt_state_size(c->level));
	c->coder = lzv_coder_open(&o->params);
	if (c->state && c->coder) {
		if (o->params.favor)
			c->level |= o->params.favor > 0 ? LZVOLT_FAVOR_SIZE :
				    LZVOLT_FAVOR_SPEED;
		return c;
	}
	converter_close(c);
	return NULL;
}

void converter_close(struct converter *c)
{
	if (!c)
		return;
	free(c->state);
	lzv_coder_close(c->coder);
	free(c->raw);
	free(c->other);
	free(c);
}

size_t convert_room(size_t raw)
{
	return raw + raw / 255 + 64;
}

static int fail(const struct turn *t, int code, const char *what)
{
	return filter_fail(t->err, code, t->in->offset, "%s", what);
}

int64_t convert_size(const struct frecord *rec, struct filter_error *err)
{
	int64_t n;

	if (rec->sized)
		return (int64_t)rec->it.raw_size;
	if (rec->it.encoding != LZV_LZ4)
		return filter_fail(err, FILTER_E_CORRUPT, rec->offset,
				   "lzvolt value with a malformed header");
	n = retoken_lz4_size(rec->it.body, rec->it.body_size, rec->raw_max);
	if (n >= 0)
		return n;
	return filter_fail(err, FILTER_E_CORRUPT, rec->offset,
			   "not an LZ4 block of at most %llu decoded bytes",
			   (unsigned long long)rec->raw_max);
}

/* n bytes of *buffer, which grows to the largest record. */
static bool room(uint8_t **buffer, size_t *cap, size_t n)
{
	if (*buffer && n <= *cap)
		return true;
	free(*buffer);
	*buffer = malloc(n + 64);
	*cap = *buffer ? n : 0;
	return *buffer;
}

static uint32_t java_sum(const uint8_t *p, size_t n)
{
	return XXH32(p, n, JAVA_SEED) & JAVA_BITS;
}

/* The decoded bytes, n of them, where they stand in the body; or null. */
static const uint8_t *decoded_in_place(const struct lzv_item *it, size_t n)
{
	const uint8_t *p = it->body;

	if (it->encoding == LZV_RAW)
		return p;
	if (it->encoding != LZV_LZ4 || it->body_size <= n)
		return NULL;
	return n && lz4_run(&p, p + it->body_size) == n ? p : NULL;
}

/* Decodes the record, once, and compares what sums it came with. */
static int decode(struct turn *t)
{
	const struct frecord *in = t->in;
	struct lzv_item it = in->it;
	int bad;

	if (t->decoded)
		return 0;
	it.raw_size = t->n;
	t->raw = decoded_in_place(&it, t->n);
	if (!t->raw || in->width > 1) {
		if (!room(&t->c->raw, &t->c->raw_cap, t->n))
			return fail(t, FILTER_E_MEMORY, "out of memory");
		bad = lzv_decode(t->c->coder, &it, in->width, false, t->c->raw,
				 in->offset, t->err);
		if (bad)
			return bad;
		t->raw = t->c->raw;
	}
	t->decoded = true;
	if (in->checked && lzv_check(t->raw, t->n) != in->it.check)
		return fail(t, FILTER_E_CHECK, "record doesn't match its check");
	if (in->summed && java_sum(t->raw, t->n) != in->sum32)
		return fail(t, FILTER_E_CHECK, "record doesn't match its checksum");
	return 0;
}

static bool takes(const struct turn *t, unsigned encoding)
{
	return framing_takes(t->c->o.into, encoding);
}

/* Does a result of n bytes save an eighth?  Targets without a choice take it. */
static bool worth_it(const struct turn *t, size_t n)
{
	return !takes(t, LZV_RAW) || n <= t->n - t->n / 8;
}

static int result(struct turn *t, unsigned encoding, const uint8_t *body, size_t n)
{
	t->out->it.encoding = encoding;
	t->out->it.body = body;
	t->out->it.body_size = n;
	return encoding == LZV_RAW ? CONVERT_TO_RAW : CONVERT_DONE;
}

/* The decoded bytes as the result; they must outlive the converter's turn. */
static int result_raw(struct turn *t)
{
	int bad = decode(t);

	if (bad)
		return bad;
	if (!takes(t, LZV_RAW))
		return fail(t, FILTER_E_UNSUPPORTED,
			    "not worth packing, and the target has no place for raw records");
	if (t->raw != t->c->raw)
		return result(t, LZV_RAW, t->raw, t->n);
	if (t->n)
		memcpy(t->dst, t->raw, t->n);
	return result(t, LZV_RAW, t->dst, t->n);
}

static int carry(struct turn *t, int outcome)
{
	if (!takes(t, t->in->it.encoding))
		return fail(t, FILTER_E_UNSUPPORTED,
			    "the target has no place for a record that stays as it is");
	return outcome;
}

static bool decodes_to_raw(struct turn *t, const uint8_t *value, size_t n)
{
	struct converter *c = t->c;

	return room(&c->other, &c->other_cap, t->n) &&
	       lzvolt_decompress(value, n, c->other, t->n) == (int64_t)t->n &&
	       !memcmp(c->other, t->raw, t->n);
}

/* What LZ4 could pack needs no probe. */
static bool known_to_shrink(const struct turn *t)
{
	return t->in->it.encoding == LZV_LZ4 &&
	       t->in->it.body_size <= t->n - t->n / 8;
}

/* A new search at the level.  0: not worth it. */
static int64_t repack(struct turn *t)
{
	struct converter *c = t->c;
	int64_t n;
	int bad = decode(t);

	if (bad)
		return bad;
	if (c->o.params.probe && !known_to_shrink(t) &&
	    probe_incompressible(t->raw, t->n))
		return 0;
	n = lzvolt_compress_level(c->state, t->raw, t->n, t->dst,
				  convert_room(t->n), c->level);
	if (n <= 0 || !worth_it(t, n))
		return 0;
	if (c->o.verify && !decodes_to_raw(t, t->dst, n))
		return fail(t, FILTER_E_CHECK, "packed value doesn't decode to its source");
	return n;
}

/* Does the value at dst give the block back? */
static bool comes_back(struct turn *t, size_t n)
{
	struct converter *c = t->c;
	const struct lzv_item *it = &t->in->it;

	return room(&c->other, &c->other_cap, convert_room(t->n)) &&
	       lzvolt_to_lz4(t->dst, n, c->other, convert_room(t->n)) ==
	       (int64_t)it->body_size &&
	       !memcmp(c->other, it->body, it->body_size);
}

/* The block's own sequences.  0: no exact way back. */
static int64_t retoken(struct turn *t, bool wrap)
{
	const struct lzv_item *it = &t->in->it;
	size_t cap = convert_room(t->n);
	int64_t n = wrap ? retoken_wrap(it->body, it->body_size, t->n, t->dst, cap) :
		    lzvolt_from_lz4(it->body, it->body_size, t->n, t->dst, cap);

	if (n <= 0)
		return 0;
	if (t->c->o.verify && !comes_back(t, n))
		return fail(t, FILTER_E_CHECK, "value doesn't give its block back");
	return n;
}

/* Is the block right at all, though its way through lzvolt isn't exact? */
static int keep_block(struct turn *t)
{
	int bad = decode(t);

	return bad ? bad : carry(t, CONVERT_KEPT);
}

/* A block that a way back would turn into raw mustn't leave. */
static bool back_is_raw(const struct turn *t)
{
	return takes(t, LZV_LZ4) && t->in->it.body_size >= t->n;
}

static int lz4_exactly(struct turn *t, bool wrap)
{
	int64_t n = back_is_raw(t) ? -1 : 0;

	if (n < 0)
		return carry(t, CONVERT_CARRIED);
	if (t->c->o.exact && t->c->o.mode == CONVERT_REPACK) {
		n = repack(t);
		if (n > 0 && comes_back(t, n))
			return result(t, LZV_LZVOLT, t->dst, n);
		if (n < 0)
			return (int)n;
	}
	n = retoken(t, wrap);
	if (n < 0)
		return (int)n;
	if (!n)
		return keep_block(t);
	if (!worth_it(t, n))
		return carry(t, CONVERT_CARRIED);
	return result(t, LZV_LZVOLT, t->dst, n);
}

static int lz4_to_lzvolt(struct turn *t)
{
	const struct convert_options *o = &t->c->o;
	int64_t n;

	if (o->exact || o->mode != CONVERT_REPACK)
		return lz4_exactly(t, o->mode == CONVERT_WRAP);
	n = repack(t);
	if (n < 0)
		return (int)n;
	if (n)
		return result(t, LZV_LZVOLT, t->dst, n);
	if (takes(t, LZV_RAW))
		return result_raw(t);
	n = retoken(t, false);
	if (n > 0)
		return result(t, LZV_LZVOLT, t->dst, n);
	return n ? (int)n : keep_block(t);
}

/* raw, or a value that is tried again */
static int pack_again(struct turn *t)
{
	bool raw = t->in->it.encoding == LZV_RAW;
	int64_t n;

	if (!t->c->o.recompress && !t->in->fresh && takes(t, t->in->it.encoding))
		return carry(t, CONVERT_CARRIED);
	n = repack(t);
	if (n < 0)
		return (int)n;
	if (n && (raw || (size_t)n < t->in->it.body_size))
		return result(t, LZV_LZVOLT, t->dst, n);
	return raw ? result_raw(t) : carry(t, CONVERT_CARRIED);
}

static bool lz4_is_right(struct turn *t, size_t n)
{
	struct converter *c = t->c;

	return room(&c->other, &c->other_cap, t->n) &&
	       LZ4_decompress_safe((char *)t->dst, (char *)c->other, (int)n,
				   (int)t->n) == (int)t->n &&
	       !memcmp(c->other, t->raw, t->n);
}

static int lz4_result(struct turn *t, int64_t n)
{
	if (n <= 0)
		return fail(t, FILTER_E_CORRUPT, "no LZ4 block can be made of it");
	if ((size_t)n >= t->n && takes(t, LZV_RAW))
		return result_raw(t);
	if (t->c->o.verify && !lz4_is_right(t, n))
		return fail(t, FILTER_E_CHECK, "LZ4 block doesn't decode to its source");
	return result(t, LZV_LZ4, t->dst, n);
}

static int lzvolt_to_block(struct turn *t)
{
	int bad = decode(t);

	if (bad)
		return bad;
	return lz4_result(t, retoken_to_lz4(t->in->it.body, t->in->it.body_size,
					    t->dst, convert_room(t->n), t->raw));
}

static int raw_to_block(struct turn *t)
{
	int bad;

	if (!t->c->o.recompress && takes(t, LZV_RAW))
		return carry(t, CONVERT_CARRIED);
	bad = decode(t);
	if (bad)
		return bad;
	return lz4_result(t, LZ4_compress_default((const char *)t->raw,
						  (char *)t->dst, (int)t->n,
						  (int)convert_room(t->n)));
}

static int stay(struct turn *t)
{
	return carry(t, CONVERT_CARRIED);
}

static int to_raw(struct turn *t)
{
	int r = result_raw(t);

	t->out->width = 0;
	return r == CONVERT_TO_RAW ? CONVERT_DONE : r;
}

/* What is done with a record of [its flag] to get [what was asked for]. */
static int (*const steps[3][3])(struct turn *t) = {
	[LZV_RAW] = { stay, raw_to_block, pack_again },
	[LZV_LZ4] = { to_raw, stay, lz4_to_lzvolt },
	[LZV_LZVOLT] = { to_raw, lzvolt_to_block, pack_again },
};

static int run_step(struct turn *t)
{
	const struct frecord *in = t->in;

	if (in->verbatim)
		return carry(t, CONVERT_KEPT);
	/* An LZ4 block that no other record can hold. */
	if (t->n > LZV_RAW_MAX)
		return t->c->o.to == LZV_LZ4 ? stay(t) : keep_block(t);
	if (in->width > 1 || in->it.encoding > LZV_LZVOLT)
		return t->c->o.to == LZV_RAW ? to_raw(t) : carry(t, CONVERT_KEPT);
	return steps[in->it.encoding][t->c->o.to](t);
}

/* What the target wants to know of the decoded bytes. */
static int add_sums(struct turn *t)
{
	const struct convert_options *o = &t->c->o;
	bool check = o->check && !t->in->checked;
	bool sum = o->sum && !t->in->summed;
	int bad;

	if (!check && !sum && !(t->in->summed && o->verify))
		return 0;
	bad = decode(t);
	if (bad)
		return bad;
	if (check)
		t->out->it.check = lzv_check(t->raw, t->n);
	if (sum)
		t->out->sum32 = java_sum(t->raw, t->n);
	t->out->checked |= check;
	t->out->summed |= sum;
	return 0;
}

int convert_record(struct converter *c, const struct frecord *in,
		   size_t raw_size, uint8_t *dst, struct frecord *out,
		   struct filter_error *err)
{
	struct turn t = {
		.c = c, .in = in, .out = out, .dst = dst, .n = raw_size, .err = err,
	};
	int outcome, bad;

	*out = *in;
	out->sized = true;
	out->it.raw_size = raw_size;
	outcome = run_step(&t);
	if (outcome < 0)
		return outcome;
	bad = add_sums(&t);
	return bad ? bad : outcome;
}

void convert_back(struct converter *c, const struct frecord *out)
{
	const struct lzv_item *it = &out->it;
	size_t n = it->raw_size;

	if (!room(&c->other, &c->other_cap, convert_room(n)))
		return;
	if (it->encoding == LZV_LZVOLT)
		lzvolt_to_lz4(it->body, it->body_size, c->other, convert_room(n));
	else if (it->encoding == LZV_LZ4)
		lzvolt_decompress_lz4(it->body, it->body_size, c->other, n, n);
}
