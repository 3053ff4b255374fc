/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen.c - inputs for checkasm
 *
 * Three sources, because a decoder that is only shown its own encoder's output
 * is hardly tested: what our encoder and liblz4 write from generated text, blocks
 * built by hand (any literal length, offset and match length, repeats, chains),
 * and any of these damaged.
 */
#include "checkasm.h"

#include <stdlib.h>
#include <string.h>

#include "lzvolt.h"

uint64_t seed_now;

uint32_t rnd(void)
{
	seed_now ^= seed_now >> 12;
	seed_now ^= seed_now << 25;
	seed_now ^= seed_now >> 27;
	return (uint32_t)(seed_now * 0x2545F4914F6CDD1D >> 32);
}

void input_free(struct input *in)
{
	free(in->packed);
	free(in->plain);
	*in = (struct input){ 0 };
}

/*
 * Text with repeats at many distances: new bytes from an alphabet, copies of
 * what was, and runs, in proportions that differ from call to call.
 */
void gen_text(uint8_t *to, size_t n)
{
	uint32_t alphabet = 2 + rnd_below(250), copies = rnd_below(100);
	uint32_t longest = 4 + rnd_below(rnd() & 1 ? 20 : 400);
	size_t at = 0;

	while (at < n) {
		size_t length = 1 + rnd_below(longest), back;

		if (length > n - at)
			length = n - at;
		if (at && rnd_below(100) < copies) {
			back = 1 + rnd_below(rnd() & 3 ? (uint32_t)at :
					     at < 40 ? (uint32_t)at : 40);
			for (size_t i = 0; i < length; i++, at++)
				to[at] = to[at - back];
		} else {
			length = length % 24 + 1 < n - at ? length % 24 + 1 : n - at;
			for (size_t i = 0; i < length; i++)
				to[at++] = (uint8_t)rnd_below(alphabet);
		}
	}
}

static uint32_t size_pick(uint32_t size_max)
{
	static const uint32_t classes[] = { 16, 64, 128, 512, 1024, 4096, 20000, 65536 };
	uint32_t most = classes[rnd_below(8)];

	if (most > size_max)
		most = size_max;
	return 1 + rnd_below(most);
}

static void gen_plain(struct input *in, uint32_t size_max)
{
	in->plain_len = size_pick(size_max);
	in->plain = malloc(in->plain_len);
	gen_text(in->plain, in->plain_len);
}

void gen_value(struct input *in, uint32_t size_max)
{
	static const int favors[] = { 0, LZVOLT_FAVOR_SIZE, LZVOLT_FAVOR_SPEED };
	int64_t n = 0;

	*in = (struct input){ .name = "own value", .kind = KIND_VALUE };
	while (n <= 0) {
		size_t cap;

		input_free(in);
		in->name = "own value";
		gen_plain(in, size_max);
		cap = lzvolt_compress_bound(in->plain_len);
		in->packed = malloc(cap);
		n = lzvolt_compress_level(NULL, in->plain, in->plain_len, in->packed, cap,
					  1 + (int)rnd_below(9) + favors[rnd_below(3)]);
	}
	in->packed_len = (size_t)n;
}

void gen_lz4(struct input *in, uint32_t size_max)
{
	size_t cap;

	*in = (struct input){ .name = "LZ4 block", .kind = KIND_LZ4 };
	gen_plain(in, size_max);
	cap = in->plain_len + in->plain_len / 255 + 16;
	in->packed = malloc(cap);
	in->packed_len = peer_pack(in->plain, in->plain_len, in->packed, cap, rnd());
}

/* A body under construction. */
struct body {
	uint8_t *p;
	size_t out;		/* bytes that the blocks so far give */
	uint32_t offset;	/* the section's last one */
};

static void chain_put(struct body *b, uint32_t rest)
{
	for (; rest >= 255; rest -= 255)
		*b->p++ = 255;
	*b->p++ = (uint8_t)rest;
}

/* One block; match 0 = literals only. */
static void block_put(struct body *b, bool wide, uint32_t literals, uint32_t offset,
		      uint32_t match)
{
	uint32_t l_max = wide ? 3 : 15, m_max = wide ? 31 : 15, m = match ? match - 4 : 0;
	uint32_t l = literals < l_max ? literals : l_max;
	bool repeat = wide && match && offset && offset == b->offset;

	if (m > m_max)
		m = m_max;
	*b->p++ = (uint8_t)(wide ? l << 6 | m << 1 | repeat : l << 4 | m);
	if (l == l_max)
		chain_put(b, literals - l_max);
	for (uint32_t i = 0; i < literals; i++)
		*b->p++ = (uint8_t)rnd();
	b->out += literals;
	if (!match)
		return;
	b->out += match;
	b->offset = offset;
	if (!repeat) {
		*b->p++ = (uint8_t)offset;
		*b->p++ = (uint8_t)(offset >> 8);
	}
	if (m == m_max)
		chain_put(b, match - 4 - m_max);
}

static uint8_t *header_put(uint8_t *p, size_t n, bool hybrid)
{
	if (n < 64) {
		*p++ = (uint8_t)n;
	} else if (n < 8192) {
		*p++ = (uint8_t)(0x40 | hybrid << 5 | n >> 8);
		*p++ = (uint8_t)n;
	} else {
		*p++ = (uint8_t)(0x80 | hybrid << 5 | n >> 16);
		*p++ = (uint8_t)(n >> 8);
		*p++ = (uint8_t)n;
	}
	return p;
}

#define BODY_MAX	(1u << 18)

/* Takes the body apart from the header: prepends one, appends the trailer. */
static void value_close(struct input *in, uint8_t *body, size_t body_len, size_t out,
			size_t switch_in, size_t switch_out)
{
	size_t w = out <= 65536 ? 2 : 4;
	uint8_t *p = in->packed = malloc(body_len + 12);

	p = header_put(p, out, switch_out != 0);
	memcpy(p, body, body_len);
	p += body_len;
	for (size_t i = 0; switch_out && i < w; i++)
		*p++ = (uint8_t)(switch_in >> 8 * i);
	for (size_t i = 0; switch_out && i < w; i++)
		*p++ = (uint8_t)(switch_out >> 8 * i);
	in->packed_len = (size_t)(p - in->packed);
	in->plain_len = out;
}

/*
 * A value whose interesting block is `literals`, then `length` bytes from
 * `offset` back, among others, so that it stands in the middle and at the end.
 */
void gen_overlap(struct input *in, bool wide, uint32_t offset, uint32_t length,
		 uint32_t literals)
{
	uint8_t *store = malloc(BODY_MAX);
	struct body b = { store, 0, 0 };
	size_t switch_in = 0, switch_out = 0;

	*in = (struct input){ .name = wide ? "overlap, wide" : "overlap, even",
			      .kind = KIND_VALUE };
	block_put(&b, false, 48, 48, 40);
	if (wide) {
		switch_in = (size_t)(b.p - store);
		switch_out = b.out;
		b.offset = 0;
	}
	block_put(&b, wide, literals, offset, length);
	block_put(&b, wide, 2, 50, 20);
	block_put(&b, wide, 1, offset, length);
	for (int i = 0; i < 6; i++)
		block_put(&b, wide, 1, 60, 18);
	block_put(&b, wide, literals, offset, length);
	if (rnd() & 1)
		block_put(&b, wide, 1 + rnd_below(20), 0, 0);
	value_close(in, store, (size_t)(b.p - store), b.out, switch_in, switch_out);
	free(store);
}

/* Lengths as fields see them: mostly short, around the limits, some long. */
static uint32_t length_pick(uint32_t limit)
{
	switch (rnd_below(8)) {
	case 0:
		return rnd_below(300);
	case 1:
		return limit - 2 + rnd_below(4);
	case 2:
		return limit + 253 + rnd_below(4);
	case 3:
		return rnd_below(40);
	default:
		return rnd_below(limit);
	}
}

static uint32_t offset_pick(size_t out, uint32_t last)
{
	uint32_t most = out < 65535 ? (uint32_t)out : 65535;
	uint32_t offset;

	if (last && rnd_below(3) == 0)
		return last;
	offset = 1 + rnd_below(rnd() & 1 ? 48 : most);
	return offset <= most ? offset : most;
}

/* Random legal blocks of one kind. */
void gen_blocks(struct input *in, enum kind kind)
{
	uint8_t *store = malloc(BODY_MAX);
	struct body b = { store, 0, 0 };
	size_t switch_in = 0, switch_out = 0;
	uint32_t blocks = 1 + rnd_below(rnd() & 1 ? 12 : 150);
	uint32_t turn = kind == KIND_VALUE && rnd() & 1 ? rnd_below(blocks) : blocks;
	bool wide = false;

	*in = (struct input){ .name = kind == KIND_LZ4 ? "built LZ4 block" : "built value",
			      .kind = kind };
	block_put(&b, false, 1 + rnd_below(60), 1, 4 + rnd_below(60));
	for (uint32_t i = 0; i < blocks; i++) {
		uint32_t l, m;

		if (i == turn) {
			wide = true;
			b.offset = 0;
			switch_in = (size_t)(b.p - store);
			switch_out = b.out;
		}
		l = length_pick(wide ? 3 : 15);
		m = 4 + length_pick(wide ? 31 : 15);
		block_put(&b, wide, l, offset_pick(b.out + l, b.offset), m);
	}
	while (kind == KIND_VALUE && b.out < 64)	/* shorter ones can't be hybrid */
		block_put(&b, wide, 3, 2, 20);
	if (kind == KIND_LZ4)
		block_put(&b, false, 5 + rnd_below(30), 0, 0);
	else if (rnd() & 1)
		block_put(&b, wide, 1 + rnd_below(30), 0, 0);
	if (kind == KIND_VALUE) {
		value_close(in, store, (size_t)(b.p - store), b.out, switch_in, switch_out);
		free(store);
		return;
	}
	in->packed = store;
	in->packed_len = (size_t)(b.p - store);
	in->plain_len = b.out;
}

/* Damages it: flipped and replaced bytes, a cut or a stretched end. */
void gen_mutate(struct input *in)
{
	uint32_t n = 1 + rnd_below(4);

	free(in->plain);
	in->plain = NULL;
	in->plain_data = false;
	while (n-- && in->packed_len) {
		size_t at = rnd_below((uint32_t)in->packed_len);

		switch (rnd_below(6)) {
		case 0:
			in->packed_len = at;
			break;
		case 1:
			in->packed[at] = 255;
			break;
		case 2:
			in->packed[at] = 0;
			break;
		case 3:
			in->packed[at] = (uint8_t)rnd();
			break;
		case 4:
			if (in->kind == KIND_LZ4 && in->plain_len > 8)
				in->plain_len += rnd_below(9) - 4;
			break;
		default:
			in->packed[at] ^= (uint8_t)(1u << rnd_below(8));
		}
	}
}
