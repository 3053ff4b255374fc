// SPDX-License-Identifier: Apache-2.0
/*
 * retoken_test.c - LZ4 blocks to lzvolt values and back
 *
 *	retoken_test [-n ROUNDS] [-s SEED] [FILE...]
 *
 * Facts guarded:
 * 1. lzvolt_from_lz4() of every liblz4 block (fast, default, HC) is a value
 *    that decodes to the same bytes, is never longer than the block and its
 *    header, and comes back bit for bit.
 * 2. lzvolt_to_lz4() of every value decodes with liblz4's strict decoder at
 *    the exact capacity: values of the encoder, and values made of random
 *    sequences that end as no encoder would end them.
 * 3. Neither touches a byte outside its buffers (each buffer is allocated to
 *    the byte; run under ASan), whatever the input: mutated and truncated
 *    blocks and values are refused or converted right, never both.
 *
 * FILEs are cut in pieces of several sizes; without any, made-up text serves.
 */
#include <lz4.h>
#include <lz4hc.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "retoken.h"
#include "ref_decode.h"

static uint64_t seed = 1;
static unsigned long blocks, values, mutants, taken;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static size_t below(size_t n)
{
	return next_random() % n;
}

#define CHECK(cond) do { if (!(cond)) fail(__LINE__, #cond); } while (0)

static void fail(int line, const char *what)
{
	fprintf(stderr, "retoken_test:%d: %s (seed %llu, block %lu, value %lu, mutant %lu)\n",
		line, what, (unsigned long long)seed, blocks, values, mutants);
	exit(1);
}

static uint8_t *room(size_t n)
{
	uint8_t *p = malloc(n ? n : 1);

	CHECK(p);
	return p;
}

static uint8_t *copy_of(const uint8_t *p, size_t n)
{
	uint8_t *q = room(n);

	memcpy(q, p, n);
	return q;
}

/* Fact 2, for one value that decodes to raw. */
static void check_value(const uint8_t *value, size_t len, const uint8_t *raw,
			size_t n)
{
	size_t cap = LZ4_compressBound((int)n);
	uint8_t *lz4 = room(cap), *lz4_again = room(cap + n), *out = room(n);
	int64_t got = lzvolt_to_lz4(value, len, lz4, cap);

	values++;
	CHECK(got > 0 && (size_t)got <= cap);
	CHECK(LZ4_decompress_safe((char *)lz4, (char *)out, (int)got, (int)n) == (int)n);
	CHECK(!memcmp(out, raw, n));
	CHECK(lzvolt_to_lz4(value, len, lz4_again, cap + n) == got);
	CHECK(!memcmp(lz4, lz4_again, got));
	CHECK(retoken_to_lz4(value, len, lz4_again, cap, raw) == got);
	CHECK(!memcmp(lz4, lz4_again, got));
	CHECK(lzvolt_to_lz4(value, len, lz4, got - 1) == LZVOLT_E_OUTPUT_TOO_SMALL);
	free(lz4);
	free(lz4_again);
	free(out);
}

/* Fact 1, for one block that decodes to raw. */
static void check_block(const uint8_t *block, size_t len, const uint8_t *raw,
			size_t n)
{
	uint8_t *value = room(len + 4), *out = room(n);
	uint8_t *back = room(LZ4_compressBound((int)n));
	int64_t got = lzvolt_from_lz4(block, len, n, value, len + 4);
	uint8_t *exact;

	blocks++;
	CHECK(got > 0);
	CHECK((size_t)got <= len + (n < 64 ? 1 : n < 8192 ? 2 : n < 2097152 ? 3 : 4));
	CHECK(lzvolt_decompress(value, got, out, n) == (int64_t)n);
	CHECK(!memcmp(out, raw, n));
	CHECK(ref_decode(value, got, out, n, NULL) == (int64_t)n);
	CHECK(!memcmp(out, raw, n));
	exact = copy_of(value, got);
	CHECK(lzvolt_to_lz4(exact, got, back, LZ4_compressBound((int)n)) == (int64_t)len);
	CHECK(!memcmp(back, block, len));
	CHECK(lzvolt_from_lz4(block, len, n, value, got - 1) < 0);
	free(exact);
	free(value);
	free(out);
	free(back);
}

/* A changed block is refused, or what comes of it is right in all ways. */
static void check_mutant_block(const uint8_t *block, size_t len, size_t n)
{
	uint8_t *value = room(len + 4), *out = room(n), *out2 = room(n);
	size_t cap = LZ4_compressBound((int)n);
	uint8_t *back = room(cap);
	int64_t got = lzvolt_from_lz4(block, len, n, value, len + 4);

	mutants++;
	if (got > 0) {
		taken++;
		CHECK(lzvolt_to_lz4(value, got, back, cap) == (int64_t)len);
		CHECK(!memcmp(back, block, len));
		CHECK(LZ4_decompress_safe((char *)block, (char *)out, (int)len,
					  (int)n) == (int)n);
		CHECK(lzvolt_decompress(value, got, out2, n) == (int64_t)n);
		CHECK(!memcmp(out, out2, n));
	} else {
		/* liblz4 lets some zero offsets pass, nothing else */
		CHECK(got == LZVOLT_E_BAD_OFFSET ||
		      LZ4_decompress_safe((char *)block, (char *)out, (int)len,
					  (int)n) != (int)n);
	}
	free(value);
	free(out);
	free(out2);
	free(back);
}

static void check_mutant_value(const uint8_t *value, size_t len)
{
	int64_t n = lzvolt_declared_size(value, len);
	uint8_t *lz4, *out, *out2;
	int64_t got, verdict;
	size_t cap;

	mutants++;
	if (n < 0 || n > 1 << 20)
		return;
	cap = LZ4_compressBound((int)n);
	lz4 = room(cap);
	out = room(n);
	out2 = room(n);
	verdict = lzvolt_decompress(value, len, out, n);
	got = lzvolt_to_lz4(value, len, lz4, cap);
	CHECK((got > 0) == (verdict >= 0));
	if (got > 0) {
		taken++;
		CHECK(LZ4_decompress_safe((char *)lz4, (char *)out2, (int)got,
					  (int)n) == (int)n);
		CHECK(!memcmp(out, out2, n));
	}
	free(lz4);
	free(out);
	free(out2);
}

static void mutate(const uint8_t *p, size_t len, size_t n, bool is_block)
{
	size_t cut = below(8) ? len : below(len) + 1;
	uint8_t *q = copy_of(p, cut);
	unsigned i;

	for (i = below(4) + (cut == len); i; i--)
		q[below(4) ? below(cut) : cut - 1 - below(cut < 24 ? cut : 24)] ^=
			below(3) ? (size_t)1 << below(8) : below(256);
	if (is_block)
		check_mutant_block(q, cut, n);
	else
		check_mutant_value(q, cut);
	free(q);
}

static void check_piece(const uint8_t *raw, size_t n, int how)
{
	size_t cap = LZ4_compressBound((int)n);
	char *tmp = (char *)room(cap);
	uint8_t *exact, *piece = copy_of(raw, n);
	int level = 1 + (int)below(9);
	int flags = (int)below(3) << 8;
	int64_t len;
	int i;

	len = how < 0 ? LZ4_compress_fast((char *)piece, tmp, (int)n, (int)cap, -how) :
	      how ? LZ4_compress_HC((char *)piece, tmp, (int)n, (int)cap, how) :
	      LZ4_compress_default((char *)piece, tmp, (int)n, (int)cap);
	exact = copy_of((uint8_t *)tmp, len);
	check_block(exact, len, piece, n);
	for (i = 0; i < 8 && n < 1 << 17; i++)
		mutate(exact, len, n, true);
	free(exact);
	if (n > 1 << 17)
		level = 1;
	len = lzvolt_compress_level(NULL, piece, n, (uint8_t *)tmp, cap, level | flags);
	if (len > 0) {
		exact = copy_of((uint8_t *)tmp, len);
		check_value(exact, len, piece, n);
		for (i = 0; i < 8 && n < 1 << 17; i++)
			mutate(exact, len, n, false);
		free(exact);
	}
	free(piece);
	free(tmp);
}

static void check_bytes(const uint8_t *p, size_t len)
{
	static const size_t sizes[] = { 1, 12, 13, 64, 100, 512, 4096, 65536,
					65537, 1 << 20, 4 << 20 };
	static const int how[] = { 0, -1, -9, 3, 9, 12 };
	size_t i, at, n, count;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		count = 0;
		for (at = 0; at < len && count < 24; at += n, count++) {
			n = len - at < sizes[i] ? len - at : sizes[i];
			check_piece(p + at, n, how[count % (n > 1 << 20 ? 3 : 6)]);
		}
	}
}

/* Words from a small vocabulary, numbers, runs and noise. */
static size_t make_text(uint8_t *p, size_t n)
{
	size_t at = 0, i;

	while (at + 600 < n) {
		switch (below(5)) {
		case 0:
			memset(p + at, 'a' + (int)below(3), 300);
			at += 1 + below(300);
			break;
		case 1:
			for (i = below(300); i; i--)
				p[at++] = (uint8_t)next_random();
			break;
		case 2:
			at += snprintf((char *)p + at, 99, "{\"id\":%zu,\"name\":\"w%zu\"}",
				       at, below(9));
			break;
		case 3:
			i = 1 + below(at < 60000 ? at + 1 : 60000);
			if (i > at)
				break;
			memmove(p + at, p + at - i, i < 500 ? i : 500);
			at += i < 500 ? i : 500;
			break;
		default:
			at += snprintf((char *)p + at, 99, "word%zu ", below(50));
		}
	}
	return at;
}

struct made {
	struct token_writer out;
	size_t made, declared, switch_made, in_at;
	uint8_t *body;
	bool wide;
};

/* One random sequence, seldom far from what may end a value. */
static struct sequence random_sequence(const struct made *m, const uint8_t *noise)
{
	size_t left = m->declared - m->made;
	struct sequence s = { .literals = noise + below(1000) };

	s.literal_len = below(3) ? below(5) : below(8) ? below(30) : below(700);
	if (!m->made && !s.literal_len)
		s.literal_len = 1;
	if (s.literal_len >= left || left < 5 || (left < 30 && !below(6))) {
		s.literal_len = left;
		return s;
	}
	left -= s.literal_len;
	if (left < 4) {
		s.literal_len += left;
		return s;
	}
	s.match_len = 4 + (below(4) ? below(14) : below(6) ? below(60) : below(900));
	if (s.match_len > left)
		s.match_len = left;
	s.offset = 1 + below(m->made + s.literal_len);
	if (m->out.offset && below(2))
		s.offset = m->out.offset;
	if (below(2) && s.offset > 40)
		s.offset = 1 + below(40);
	if (s.offset > 65535)
		s.offset = 65535;
	return s;
}

static void play(uint8_t *raw, size_t at, const struct sequence *s)
{
	size_t i;

	memcpy(raw + at, s->literals, s->literal_len);
	at += s->literal_len;
	for (i = 0; i < s->match_len; i++, at++)
		raw[at] = raw[at - s->offset];
}

static void make_body(struct made *m, uint8_t *raw, const uint8_t *noise,
		      size_t switch_after)
{
	size_t count = 0;

	while (m->made < m->declared) {
		struct sequence s = random_sequence(m, noise);

		CHECK(sequence_write(&m->out, &s, m->wide ? &token_wide : &token_even));
		play(raw, m->made, &s);
		m->made += s.literal_len + s.match_len;
		if (++count == switch_after && m->made < m->declared) {
			m->wide = true;
			m->out.offset = 0;
			m->in_at = m->out.at - m->body;
			m->switch_made = m->made;
		}
	}
}

static void little_put(uint8_t *p, size_t v, size_t n)
{
	for (; n; n--, v >>= 8)
		*p++ = (uint8_t)v;
}

/* A value of random sequences: every way to end, both layouts. */
static void check_made_up(const uint8_t *noise)
{
	size_t n = 1 + below(below(4) ? 300 : 70000);
	size_t head = n < 64 ? 1 : n < 8192 ? 2 : 3;
	size_t w = n <= 65536 ? 2 : 4, i;
	size_t cap = n + n / 100 + 64, len;
	uint8_t *value = room(cap), *raw = room(n), *exact;
	struct made m = { .declared = n, .body = value + head };

	m.out.at = value + head;
	m.out.end = value + cap;
	make_body(&m, raw, noise, n < 64 || below(4) == 0 ? 0 : 1 + below(20));
	for (i = 0; i < head; i++)
		value[i] = (uint8_t)(n >> 8 * (head - 1 - i));
	value[0] |= (head - 1) << 6 | (m.wide ? 32 : 0);
	if (m.wide && (w == 4 || m.in_at < 65536)) {
		little_put(m.out.at, m.in_at, w);
		little_put(m.out.at + w, m.switch_made, w);
		m.out.at += 2 * w;
	}
	len = m.out.at - value;
	exact = copy_of(value, len);
	check_value(exact, len, raw, n);
	for (i = 0; i < 4; i++)
		mutate(exact, len, n, false);
	free(exact);
	free(value);
	free(raw);
}

/* Where the last token of a block stands. */
static size_t last_token(const uint8_t *block, size_t len, size_t n)
{
	struct token_reader r = { .at = block, .end = block + len, .stop = n,
				  .declared = n };
	struct sequence s = { .match_len = 1 };
	const uint8_t *at = block;

	while (s.match_len) {
		at = r.at;
		CHECK(sequence_read(&r, &s, &token_even) == 0);
	}
	return at - block;
}

/* The unused half of the last token has no place in wide tokens. */
static void check_spare(void)
{
	static char raw[4096], block[5000];
	size_t n = 0;
	int len;

	while (n + 64 < sizeof(raw))
		n += sprintf(raw + n, "{\"id\":%zu,\"role\":\"member\"}", n);
	len = LZ4_compress_default(raw, block, (int)n, sizeof(block));
	check_block((uint8_t *)block, len, (uint8_t *)raw, n);
	block[last_token((uint8_t *)block, len, n)] |= 9;
	check_block((uint8_t *)block, len, (uint8_t *)raw, n);
}

/* One sequence of a block by hand: literals, then 4 bytes from `offset` back. */
static size_t put_sequence(uint8_t *block, uint8_t *raw, size_t *n, size_t literals,
			   size_t offset)
{
	size_t at = 1, left;

	block[0] = (uint8_t)(literals < 15 ? literals << 4 : 0xf0);
	if (literals >= 15) {
		for (left = literals - 15; left >= 255; left -= 255)
			block[at++] = 255;
		block[at++] = (uint8_t)left;
	}
	for (; literals; literals--)
		raw[(*n)++] = block[at++] = (uint8_t)next_random();
	if (!offset)
		return at;
	little_put(block + at, offset, 2);
	for (int i = 0; i < 4; i++, ++*n)
		raw[*n] = raw[*n - offset];
	return at + 2;
}

/*
 * A value of at most 64 KiB says its switch in two bytes.  Wide tokens lose here
 * until behind byte 65,535 of the block, and would win from there on.
 */
static void check_reach(void)
{
	size_t n = 0, len, i;
	uint8_t *raw = room(65536), *block = room(70000);

	len = put_sequence(block, raw, &n, 65200, 1000);
	for (i = 0; i < 20; i++)
		len += put_sequence(block + len, raw, &n, 4, 1000 + 7 * i);
	while (n < 65510)
		len += put_sequence(block + len, raw, &n, 1, 1000);
	len += put_sequence(block + len, raw, &n, 12, 0);
	CHECK(len > 65536 && n <= 65536);
	check_block(block, len, raw, n);
	free(raw);
	free(block);
}

/* The block of nothing is one zero byte, no other. */
static void check_nothing(void)
{
	uint8_t value[8], block[4] = { 0 };

	CHECK(lzvolt_from_lz4(block, 1, 0, value, sizeof(value)) == 2);
	CHECK(lzvolt_to_lz4(value, 2, block, sizeof(block)) == 1 && !block[0]);
	block[0] = 1;
	CHECK(lzvolt_from_lz4(block, 1, 0, value, sizeof(value)) < 0);
	CHECK(lzvolt_from_lz4(block, 2, 0, value, sizeof(value)) < 0);
}

/* A repeated offset on a wide section's first block is no offset. */
static void check_first_repeat(void)
{
	uint8_t v[105] = { 0x60, 0x64, 0xf0, 0x2d };

	memset(v + 4, 'c', sizeof(v) - 4);
	/* offset 1; then the block; then 32 literals */
	memcpy(v + 64, "\x01\x00\x01\xc0\x1d", 5);
	memcpy(v + 101, "\x40\x00\x40\x00", 4);
	check_mutant_value(v, sizeof(v));
}

static void check_file(const char *name)
{
	FILE *f = fopen(name, "rb");
	uint8_t *p = room(8 << 20);
	size_t n;

	if (!f) {
		perror(name);
		exit(1);
	}
	n = fread(p, 1, 8 << 20, f);
	fclose(f);
	check_bytes(p, n);
	free(p);
}

int main(int argc, char **argv)
{
	unsigned long rounds = 2000, i;
	uint8_t *text = room(300000);
	size_t n;
	int c;

	while ((c = getopt(argc, argv, "n:s:")) != -1) {
		if (c == 'n')
			rounds = strtoul(optarg, NULL, 10);
		else if (c == 's')
			seed = strtoull(optarg, NULL, 10) | 1;
		else
			return 2;
	}
	for (i = 0; i < rounds / 500 + 1; i++) {
		n = make_text(text, 300000);
		check_bytes(text, n);
	}
	for (i = 0; i < rounds; i++)
		check_made_up(text);
	check_spare();
	check_nothing();
	for (i = 0; i < 10; i++)
		check_reach();
	check_first_repeat();
	for (; optind < argc; optind++)
		check_file(argv[optind]);
	free(text);
	printf("retoken_test: %lu blocks, %lu values, %lu mutants (%lu of them legal)\n",
	       blocks, values, mutants, taken);
	return 0;
}
