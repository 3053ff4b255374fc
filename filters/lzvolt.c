/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzvolt.c - reading lzvolt values and LZ4 blocks
 *
 * A value's body is one section or two.  A section is decoded by two parties in
 * turn.  The kernel (asm/kernel.h) takes the plain blocks, as many as it can, and
 * judges nothing.  The careful step, block_step(), takes the one block the
 * kernel stopped at, touches exactly the bytes the block has, and is the only
 * place where a block is refused.  Leave the kernel out and the result is the
 * same.
 *
 * What decides a value of 512 bytes is its tail: a kernel needs room behind a
 * block, so the last ones may be the careful step's (the x86-64 kernels go on to
 * the end where the output has room).  It therefore copies short runs without a
 * branch on their length, and the rest by overlapping moves.
 *
 * The kernel may look at input behind a section's end where the value goes on:
 * the second section or the trailer.  It cannot leave the section (goal is the
 * section's), except by blocks that the section's end cuts; then `in` is behind
 * the end, and that is a truncated section, as the careful step would have said.
 *
 * Format: lzvolt(5).  Order of the refusals in a block as in the reference, so
 * that a damaged value gets the same code from both.
 */
#include "lzvolt.h"

#include <string.h>

#include "kernel.h"
#include "lz4_run.h"
#include "lzvolt_kernel.h"
#include "mem.h"

/*
 * How a token splits, and how much input a section needs for a kernel to be
 * worth a call: what one short block takes, see asm/portable.c.
 */
struct split {
	uint8_t literal_shift, literal_max, match_shift, match_max, repeat;
	uint8_t least;
};

static const struct split even = { 4, 15, 0, 15, 0, 19 };
static const struct split wide = { 6, 3, 1, 31, 1, 7 };

struct section {
	struct kernel_run run;
	const uint8_t *begin;	/* what is readable before the section's input */
	const uint8_t *end;	/* the section's input ends here */
	_Bool may_end_on_literals;	/* not the first section of two */
	_Bool open;		/* the input's end ends it, goal is a limit */
};

/* What a step says when it isn't an LZVOLT_E_* code. */
#define STEP_ON		0
#define STEP_DONE	1

/* Exactly n bytes, not overlapping. */
static inline void copy_exact(uint8_t *to, const uint8_t *from, size_t n)
{
	if (n > 32) {
		memcpy(to, from, n);
	} else if (n >= 16) {
		move16(to, from);
		move16(to + n - 16, from + n - 16);
	} else if (n >= 8) {
		move8(to, from);
		move8(to + n - 8, from + n - 8);
	} else if (n >= 4) {
		move4(to, from);
		move4(to + n - 4, from + n - 4);
	} else if (n) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
}

/*
 * The same.  upto: how many bytes there are before the ends of both, which
 * decides whether the branchless copy has the room it needs.
 */
static inline void copy_behind(uint8_t *to, const uint8_t *from, size_t n, size_t upto)
{
	if (n <= 16 && upto >= 16)
		move_back16(to, from, n);
	else
		copy_exact(to, from, n);
}

/* n bytes that repeat the last `offset` ones: copies double in length. */
static void copy_repeat(uint8_t *to, size_t offset, size_t n)
{
	const uint8_t *from = to - offset;
	size_t have = offset;

	while (n > have) {
		copy_exact(to, from, have);
		to += have;
		n -= have;
		have += have;
	}
	copy_exact(to, from, n);
}

/* Adds the chain at *in to *length. */
static int64_t chain_add(const uint8_t **in, const uint8_t *end, size_t *length)
{
	uint8_t add;

	do {
		if (*in >= end)
			return LZVOLT_E_TRUNCATED;
		add = *(*in)++;
		*length += add;
		if (add == 255 && *length > LZVOLT_MAX_SIZE)
			return LZVOLT_E_TOO_LARGE;
	} while (add == 255);
	return 0;
}

/*
 * The literals of the block at s->run.in.  Moves in and out on.  STEP_DONE when
 * they end the section.
 */
static inline int64_t literals_step(struct section *s, size_t token, struct split split)
{
	struct kernel_run *run = &s->run;
	const uint8_t *in = run->in + 1;
	uint8_t *out = run->out;
	size_t n = token >> split.literal_shift;
	int64_t error;

	if (n == split.literal_max) {
		error = chain_add(&in, s->end, &n);
		if (error)
			return error;
	}
	if (n > (size_t)(s->end - in))
		return LZVOLT_E_TRUNCATED;
	if (n > (size_t)(run->goal - out))
		return LZVOLT_E_LENGTH_MISMATCH;
	copy_behind(out, in, n, n + (in - s->begin < out - run->base ?
				     (size_t)(in - s->begin) : (size_t)(out - run->base)));
	run->in = in + n;
	run->out = out + n;
	if (s->open && run->in == s->end)
		return STEP_DONE;
	if (run->out < run->goal)
		return STEP_ON;
	if (s->open)
		return LZVOLT_E_LENGTH_MISMATCH;
	return s->may_end_on_literals ? STEP_DONE : LZVOLT_E_LENGTH_MISMATCH;
}

/* The match of a block whose literals are done.  Moves in and out on. */
static inline int64_t match_step(struct section *s, size_t token, struct split split)
{
	struct kernel_run *run = &s->run;
	size_t n = token >> split.match_shift & split.match_max;
	size_t have = (size_t)(run->out - run->base);
	int64_t error;

	if (!(token & split.repeat)) {
		if (s->end - run->in < 2)
			return LZVOLT_E_TRUNCATED;
		run->offset = load_le16(run->in);
		run->in += 2;
	}
	if (n == split.match_max) {
		error = chain_add(&run->in, s->end, &n);
		if (error)
			return error;
	}
	n += 4;
	if (run->offset - 1 >= have)
		return LZVOLT_E_BAD_OFFSET;
	if (n > (size_t)(run->goal - run->out))
		return LZVOLT_E_LENGTH_MISMATCH;
	if (n <= run->offset)
		copy_behind(run->out, run->out - run->offset, n, have - run->offset + n);
	else
		copy_repeat(run->out, run->offset, n);
	run->out += n;
	return run->out == run->goal && !s->open ? STEP_DONE : STEP_ON;
}

/* The careful step: the block at s->run.in, or why there is none. */
static inline int64_t block_step(struct section *s, struct split split)
{
	int64_t said;
	size_t token;

	if (s->run.in >= s->end)
		return LZVOLT_E_TRUNCATED;
	token = *s->run.in;
	said = literals_step(s, token, split);
	return said == STEP_ON ? match_step(s, token, split) : said;
}

/* The kernel reached an end: what that means.  STEP_ON: ask the next block. */
static int64_t goal_check(const struct section *s)
{
	if (s->run.in > s->end)
		return LZVOLT_E_TRUNCATED;
	if (s->open && !s->run.ended)
		return STEP_ON;
	if (s->open)
		return s->run.in == s->end ? STEP_DONE : LZVOLT_E_LENGTH_MISMATCH;
	if (s->run.out < s->run.goal)
		return LZVOLT_E_TRUNCATED;
	return s->run.ended && !s->may_end_on_literals ?
	       LZVOLT_E_LENGTH_MISMATCH : STEP_DONE;
}

/*
 * Decodes a section up to its goal.  0 or an error.  Inlined once for each
 * layout, so that the careful step's shifts are constants.
 */
static inline __attribute__((always_inline)) int64_t
section_decode(struct section *s, kernel_fn *kernel, struct split split)
{
	int64_t said;

	do {
		said = STEP_ON;
		if (s->run.in_end - s->run.in >= split.least) {
			kernel(&s->run);
			if (s->run.out == s->run.goal || s->run.ended)
				said = goal_check(s);
		}
		if (said == STEP_ON)
			said = block_step(s, split);
	} while (said == STEP_ON);
	return said < 0 ? said : 0;
}

struct value {
	const uint8_t *body, *body_end;
	size_t declared;
	_Bool hybrid;
	size_t switch_in, switch_out;	/* hybrid: where the second section starts */
};

/* Inlined, so that a value of one section never has this struct in memory. */
static inline __attribute__((always_inline)) int64_t
header_parse(struct value *v, const uint8_t *src, size_t src_len)
{
	static const uint32_t least[4] = { 0, 64, 8192, 2097152 };
	unsigned class;

	if (!src_len)
		return LZVOLT_E_TRUNCATED;
	class = src[0] >> 6;
	if (src_len < class + 1)
		return LZVOLT_E_TRUNCATED;
	v->hybrid = class && (src[0] & 0x20);
	v->declared = src[0] & (class ? 0x1f : 0x3f);
	for (unsigned i = 1; i <= class; i++)
		v->declared = v->declared << 8 | src[i];
	if (v->declared < least[class])
		return LZVOLT_E_NON_CANONICAL;
	v->body = src + class + 1;
	v->body_end = src + src_len;
	return 0;
}

static inline __attribute__((always_inline)) int64_t trailer_parse(struct value *v)
{
	size_t width = v->declared <= 65536 ? 2 : 4;
	const uint8_t *trailer;

	if ((size_t)(v->body_end - v->body) < 2 * width)
		return LZVOLT_E_TRUNCATED;
	trailer = v->body_end - 2 * width;
	v->body_end = trailer;
	v->switch_in = width == 2 ? load_le16(trailer) : load_le32(trailer);
	v->switch_out = width == 2 ? load_le16(trailer + 2) : load_le32(trailer + 4);
	if (v->switch_in > (size_t)(v->body_end - v->body) || !v->switch_out ||
	    v->switch_out >= v->declared)
		return LZVOLT_E_TRUNCATED;
	return 0;
}

/* Both sections of a hybrid value. */
static __attribute__((noinline)) int64_t
hybrid_decode(struct value v, uint8_t *dst, size_t dst_cap, const struct kernel *kernel)
{
	const uint8_t *read_end = v.body_end;
	int64_t error = trailer_parse(&v);
	struct section s;

	if (error)
		return error;
	if (dst_cap < v.declared)
		return LZVOLT_E_OUTPUT_TOO_SMALL;
	s = (struct section){
		.run = { v.body, dst, read_end, dst + dst_cap, dst + v.switch_out,
			 dst, 0, 0 },
		.begin = v.body,
		.end = v.body + v.switch_in,
	};
	error = section_decode(&s, kernel->even, even);
	if (error)
		return error;
	s.run.in = s.end;
	s.run.goal = dst + v.declared;
	s.run.offset = 0;
	s.end = v.body_end;
	s.run.ended = 0;
	s.may_end_on_literals = 1;
	error = section_decode(&s, kernel->wide, wide);
	return error ? error : (int64_t)v.declared;
}

/* A section of even tokens where the kernel stopped short of its goal. */
static __attribute__((noinline)) int64_t
single_rest(struct kernel_run *run, const uint8_t *begin, kernel_fn *kernel)
{
	struct section s = {
		.run = *run,
		.begin = begin,
		.end = run->in_end,
		.may_end_on_literals = 1,
	};
	int64_t said = STEP_ON;

	if (run->out == run->goal || run->ended)
		said = goal_check(&s);
	if (said == STEP_ON)
		said = block_step(&s, even);
	if (said == STEP_ON)
		return section_decode(&s, kernel, even);
	return said < 0 ? said : 0;
}

/*
 * One section of even tokens that ends at dst + declared.  Only what the kernel
 * reads is set up before its call.  With the whole section set up, and copied
 * from the parsed header by vector loads of what words had just stored, records of
 * 512 bytes took 13 % longer, mixed ones 6 %.
 */
static inline __attribute__((always_inline)) int64_t
single_decode(const uint8_t *body, const uint8_t *end, uint8_t *dst, size_t dst_cap,
	      size_t declared, kernel_fn *kernel)
{
	struct kernel_run run = { body, dst, end, dst + dst_cap, dst + declared, dst, 0, 0 };
	int64_t error;

	if (!declared)
		return 0;
	if (end - body >= even.least) {
		kernel(&run);
		if (run.out == run.goal && run.in <= end)
			return (int64_t)declared;
	}
	error = single_rest(&run, body, kernel);
	return error ? error : (int64_t)declared;
}

int64_t lzvolt_declared_size(const uint8_t *src, size_t src_len)
{
	struct value v;
	int64_t error;

	if (!src && src_len)
		return LZVOLT_E_NULL;
	error = header_parse(&v, src, src_len);
	return error ? error : (int64_t)v.declared;
}

static inline __attribute__((always_inline)) int64_t
value_decode(const struct kernel *kernel, const uint8_t *src, size_t src_len,
	     uint8_t *dst, size_t dst_cap)
{
	struct value v;
	int64_t error;

	if ((!src && src_len) || (!dst && dst_cap))
		return LZVOLT_E_NULL;
	error = header_parse(&v, src, src_len);
	if (error)
		return error;
	if (v.hybrid)
		return hybrid_decode(v, dst, dst_cap, kernel);
	if (dst_cap < v.declared)
		return LZVOLT_E_OUTPUT_TOO_SMALL;
	return single_decode(v.body, v.body_end, dst, dst_cap, v.declared, kernel->even);
}

int64_t lzvolt_decompress(const uint8_t *src, size_t src_len,
			  uint8_t *dst, size_t dst_cap)
{
	return value_decode(kernel_current(), src, src_len, dst, dst_cap);
}

int64_t lzvolt_decompress_by(const struct kernel *kernel,
			     const uint8_t *src, size_t src_len,
			     uint8_t *dst, size_t dst_cap)
{
	return value_decode(kernel, src, src_len, dst, dst_cap);
}

static inline int64_t lz4_decode(const struct kernel *kernel,
				 const uint8_t *src, size_t src_len,
				 uint8_t *dst, size_t dst_cap, size_t declared)
{
	const uint8_t *begin = src, *end = src + src_len;

	if ((!src && src_len) || (!dst && dst_cap))
		return LZVOLT_E_NULL;
	if (dst_cap < declared)
		return LZVOLT_E_OUTPUT_TOO_SMALL;
	if (declared > LZVOLT_MAX_SIZE)
		return LZVOLT_E_TOO_LARGE;
	if (src_len > declared && lz4_run(&src, end) == declared && declared) {
		memcpy(dst, src, declared);
		return (int64_t)declared;
	}
	return single_decode(begin, end, dst, dst_cap, declared, kernel->lz4);
}

int64_t lzvolt_decompress_lz4(const uint8_t *src, size_t src_len,
			      uint8_t *dst, size_t dst_cap, size_t declared)
{
	return lz4_decode(kernel_current(), src, src_len, dst, dst_cap, declared);
}

int64_t lzvolt_lz4_by(const struct kernel *kernel, const uint8_t *src, size_t src_len,
		      uint8_t *dst, size_t dst_cap, size_t declared)
{
	return lz4_decode(kernel, src, src_len, dst, dst_cap, declared);
}

static inline int lz4_safe_decode(const struct kernel *kernel, const char *src, char *dst,
				  int compressed_size, int dst_capacity, size_t history)
{
	const uint8_t *in = (const uint8_t *)src;
	uint8_t *out = (uint8_t *)dst;
	struct section s;
	int64_t error;
	size_t n;

	if (!src || compressed_size <= 0 || dst_capacity < 0 || (!dst && dst_capacity))
		return -1;
	n = lz4_run(&in, in + compressed_size);
	if (n) {
		if (n > (size_t)dst_capacity)
			return (int)LZVOLT_E_LENGTH_MISMATCH;
		memcpy(out, in, n);
		return (int)n;
	}
	s = (struct section){
		.run = { in, out, in + compressed_size, out + dst_capacity,
			 out + dst_capacity, out - history, 0, 0 },
		.begin = in, .end = in + compressed_size, .open = 1,
	};
	error = section_decode(&s, kernel->lz4, even);
	return error ? (int)error : (int)(s.run.out - out);
}

int lzvolt_decompress_lz4_safe(const char *src, char *dst,
			       int compressed_size, int dst_capacity)
{
	return lz4_safe_decode(kernel_current(), src, dst, compressed_size, dst_capacity, 0);
}

int lzvolt_lz4_linked(const char *src, char *dst, int compressed_size,
		      int dst_capacity, size_t history)
{
	return lz4_safe_decode(kernel_current(), src, dst, compressed_size, dst_capacity,
			       history);
}

int lzvolt_lz4_safe_by(const struct kernel *kernel, const char *src, char *dst,
		       int compressed_size, int dst_capacity, size_t history)
{
	return lz4_safe_decode(kernel, src, dst, compressed_size, dst_capacity, history);
}
