/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks_test.c - the census of blocks and values, and records' width
 *
 * Hand-made blocks whose counts are known; blocks and values by the encoders,
 * whose sums must fit; damaged ones, where the walk must give the verdict of
 * the decoder that is trusted, liblz4's and our own.
 */
#include "lzvolt.h"
#include "probe.h"
#include "test.h"

#include <lz4.h>

static struct filter_error err;

/* "abcd", match 4 at 4, "e" literals: token 0x40, abcd, offset 4; 0x10 e. */
static void test_hand_made(void)
{
	static const uint8_t block[] = {
		0x40, 'a', 'b', 'c', 'd', 4, 0,		/* 4 literals, match 4 */
		0x0f, 4, 0, 10,				/* match 4 + 15 + 10 */
		0x50, 'v', 'w', 'x', 'y', 'z',
	};
	struct probe_blocks b = { 0 };
	int64_t raw = probe_blocks_lz4(&b, block, sizeof(block), false, &err);

	CHECK(raw == 4 + 4 + 29 + 5, "decoded size %d", (int)raw);
	CHECK(b.sequences == 2 && b.literals == 9 && b.matched == 33, "sums");
	CHECK(b.repeats == 1 && b.coded_repeats == 0, "%d repeats", (int)b.repeats);
	CHECK(b.literal_class[0] == 1 && b.literal_class[2] == 2, "literal classes");
	CHECK(b.match_class[0] == 1 && b.match_class[2] == 1, "match classes");
	CHECK(LZ4_decompress_safe((const char *)block, (char[64]){ 0 }, sizeof(block), 64) == raw,
	      "liblz4 doesn't agree");
}

/*
 * 13 bytes, hybrid: even "ab" + match 4 at 2, then wide: repeat is not allowed
 * first; match 4 at 2 again, then R.
 */
static void test_hand_made_wide(void)
{
	static const uint8_t value[] = {
		0x60, 70,			/* class 1, hybrid, 70 bytes */
		0x20, 'a', 'b', 2, 0,		/* 2 literals, match 4 at 2: 6 bytes */
		0x3e, 2, 0, 9,			/* wide: match 4 + 31 + 9 at 2: 50 */
		0x01 | 16 << 1,			/* wide: R, match 20: 70 */
		5, 0, 6, 0,			/* switch at body byte 5, output 6 */
	};
	struct probe_blocks b = { 0 };
	uint8_t out[128];
	int64_t raw = probe_blocks_lzvolt(&b, value, sizeof(value), &err);

	CHECK(lzvolt_decompress(value, sizeof(value), out, sizeof(out)) == 70,
	      "the value isn't one");
	CHECK(raw == 70, "decoded size %d: %s", (int)raw, err.what);
	CHECK(b.hybrid == 1 && b.switched == 6, "switch at %d", (int)b.switched);
	CHECK(b.sequences == 3 && b.coded_repeats == 1 && b.repeats == 1, "repeats");
}

static uint8_t raw[1 << 16], packed[1 << 17], back[1 << 17];

static size_t make(size_t n)
{
	static const char text[] = "records of a store, each like the other, id=";

	for (size_t i = 0; i < n; i++)
		raw[i] = test_random() % 9 ? (uint8_t)text[i % (sizeof(text) - 1)] :
					     (uint8_t)(test_random() >> 56);
	return n;
}

static void sums_fit(const struct probe_blocks *b, size_t n, int64_t got, const char *what)
{
	uint64_t runs = 0;

	for (int i = 0; i < PROBE_CLASSES; i++)
		runs += b->match_class[i];
	CHECK(got == (int64_t)n, "%s of %zu: decoded size %d", what, n, (int)got);
	CHECK(b->literals + b->matched == n, "%s of %zu: bytes don't add up", what, n);
	CHECK(runs == b->sequences, "%s of %zu: classes don't add up", what, n);
}

static void test_encoders(void)
{
	for (int i = 0; i < 500; i++) {
		size_t n = make(20 + test_random() % 60000);
		struct probe_blocks b = { 0 }, v = { 0 };
		int len = LZ4_compress_default((char *)raw, (char *)packed, (int)n,
					       sizeof(packed));
		int64_t value;

		sums_fit(&b, n, probe_blocks_lz4(&b, packed, (size_t)len, false, &err), "block");
		value = lzvolt_compress_level(NULL, raw, n, packed, sizeof(packed), 1 + i % 9);
		if (value > 0)
			sums_fit(&v, n, probe_blocks_lzvolt(&v, packed, (size_t)value, &err),
				 "value");
		CHECK(v.coded_repeats <= v.repeats, "more repeats written than there are");
	}
}

/* Damage: never accepted where the decoder refuses; exact room, for ASan. */
static void test_damaged(void)
{
	for (int i = 0; i < 20000; i++) {
		size_t n = make(20 + test_random() % 2000);
		int64_t len = i % 2 ? lzvolt_compress_level(NULL, raw, n, packed,
							    sizeof(packed), 3) :
				      LZ4_compress_default((char *)raw, (char *)packed, (int)n,
							   sizeof(packed));
		struct probe_blocks b = { 0 };
		uint8_t *p;
		int64_t got, want;

		if (len <= 0)
			continue;
		len -= (int64_t)(test_random() % 3 ? 0 : test_random() % (uint64_t)len);
		p = malloc((size_t)len + 1);
		memcpy(p, packed, (size_t)len);
		for (int k = 0; k < 1 + i % 3 && len; k++)
			p[test_random() % (uint64_t)len] = (uint8_t)test_random();
		p = realloc(p, (size_t)len ? (size_t)len : 1);
		want = !(i % 2) ? lzvolt_decompress_lz4_safe((char *)p, (char *)back, (int)len,
							     sizeof(back)) :
		       lzvolt_declared_size(p, (size_t)len) > (int64_t)sizeof(back) ? -1 :
		       lzvolt_decompress(p, (size_t)len, back, sizeof(back));
		got = i % 2 ? probe_blocks_lzvolt(&b, p, (size_t)len, &err) :
			      probe_blocks_lz4(&b, p, (size_t)len, false, &err);
		if (got <= (int64_t)sizeof(back))
			CHECK((got < 0) == (want < 0) && (got < 0 || got == want),
			      "round %d: %d, the decoder says %d", i, (int)got, (int)want);
		free(p);
	}
}

static void test_width(void)
{
	static const unsigned widths[] = { 4, 12, 24, 37, 100, 512 };

	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		unsigned w = widths[i], got;

		for (size_t k = 0; k < sizeof(raw); k++)
			raw[k] = k % w < w / 4 + 1 ? (uint8_t)(test_random() >> 56) :
						     (uint8_t)((k % w) * 37 + test_random() % 2);
		got = probe_width(raw, sizeof(raw));
		CHECK(got == w, "width %u, not %u", got, w);
	}
	test_noise(raw, sizeof(raw));
	CHECK(!probe_width(raw, sizeof(raw)), "noise has a width");
	memset(raw, 0, sizeof(raw));
	CHECK(!probe_width(raw, sizeof(raw)), "zeros have a width");
	for (size_t n = 0; n < 20; n++)
		probe_width(raw, n);
}

static void test_transpose(void)
{
	for (int i = 0; i < 200; i++) {
		size_t n = test_random() % 3000, w = 1 + test_random() % 50, rows = n / w;
		int same = 1;

		test_noise(raw, n);
		probe_transpose(back, raw, n, w);
		for (size_t k = 0; k < rows * w; k++)
			same &= back[k % w * rows + k / w] == raw[k];
		same &= !memcmp(back + rows * w, raw + rows * w, n - rows * w);
		CHECK(same, "%zu bytes by %zu", n, w);
	}
}

int main(void)
{
	test_run("census: a block made by hand", test_hand_made);
	test_run("census: a hybrid value made by hand", test_hand_made_wide);
	test_run("census: what encoders write adds up", test_encoders);
	test_run("census: damage gets the decoder's verdict", test_damaged);
	test_run("columns: the width is found", test_width);
	test_run("columns: transposing", test_transpose);
	return test_done();
}
