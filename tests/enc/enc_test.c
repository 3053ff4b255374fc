/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enc_test.c - the encoder against an independent decoder
 *
 * Every value is read back by ref_decode.c, which shares no line with the
 * product, and by the product's decoder.  Sources end at an unreadable page and
 * outputs have exactly the capacity that was told, so that a byte too far is
 * seen.  Values are made by a seeded generator; the seed is printed.
 */
#include "lzvolt.h"
#include "ref_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static unsigned failures;
static uint64_t seed = 0x9E3779B97F4A7C15ULL;

#define CHECK(what, ...) do { \
	if (!(what)) { \
		failures++; \
		fprintf(stderr, "not ok: %s:%d: %s: ", __FILE__, __LINE__, #what); \
		fprintf(stderr, __VA_ARGS__); \
		fputc('\n', stderr); \
	} \
} while (0)

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545F4914F6CDD1DULL;
}

/* Room for `size` bytes whose end is the end of a page, an unreadable one behind. */
struct fence {
	uint8_t *map;
	size_t size;
};

static struct fence fence_make(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct fence f = { .size = (size + page - 1) / page * page };

	f.map = mmap(NULL, f.size + page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f.map == MAP_FAILED || mprotect(f.map + f.size, page, PROT_NONE)) {
		perror("enc_test: mmap");
		exit(2);
	}
	return f;
}

static uint8_t *fence_end(const struct fence *f, size_t len)
{
	return f->map + f->size - len;
}

#define LEN_MAX		((size_t)200001)

static struct fence src_room, dst_room, out_room;
static void *state;

/* The kinds of values; each fills len bytes. */
static void fill_noise(uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = rnd() >> 32;
}

static void fill_zero(uint8_t *p, size_t len)
{
	memset(p, 0, len);
}

static void fill_few_symbols(uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = "abcd"[rnd() >> 62];
}

static void fill_two_symbols(uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		p[i] = rnd() >> 63;
}

static void fill_period(uint8_t *p, size_t len)
{
	size_t period = 1 + rnd() % 70;

	for (size_t i = 0; i < len; i++)
		p[i] = i < period ? rnd() >> 32 : p[i - period];
}

static void fill_records(uint8_t *p, size_t len)
{
	char text[128];
	size_t at = 0, id = rnd() % 1000;

	while (at < len) {
		size_t n = snprintf(text, sizeof(text),
				    "{\"id\":%zu,\"name\":\"user%u\",\"score\":%u}\n",
				    id, (unsigned)(id * 7 % 100), (unsigned)(rnd() % 1000));

		id++;
		n = n < len - at ? n : len - at;
		memcpy(p + at, text, n);
		at += n;
	}
}

/* Copies from anywhere before, far ones too, between runs of noise. */
static void fill_copies(uint8_t *p, size_t len)
{
	size_t at = 0;

	while (at < len) {
		size_t n = 1 + rnd() % (rnd() % 8 ? 40 : 2000);
		size_t off = at ? 1 + rnd() % at : 0;

		n = n < len - at ? n : len - at;
		if (off && rnd() % 3)
			for (size_t i = 0; i < n; i++)
				p[at + i] = p[at + i - off];
		else
			fill_noise(p + at, n);
		at += n;
	}
}

static const struct kind {
	const char *name;
	void (*fill)(uint8_t *p, size_t len);
} kinds[] = {
	{ "noise", fill_noise }, { "zero", fill_zero },
	{ "few symbols", fill_few_symbols }, { "two symbols", fill_two_symbols },
	{ "period", fill_period },
	{ "records", fill_records }, { "copies", fill_copies },
};

#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

static const int favors[] = { 0, LZVOLT_FAVOR_SIZE, LZVOLT_FAVOR_SPEED };

/* A packed value means the source, to the reference and to the product. */
static void check_value(const uint8_t *value, int64_t size, const uint8_t *src,
			size_t len, int level, const char *name)
{
	uint8_t *back = fence_end(&out_room, len);

	memset(back, 0xA5, len);
	CHECK(ref_decode(value, size, back, len, NULL) == (int64_t)len &&
	      !memcmp(back, src, len), "level %#x, %zu bytes of %s", level, len, name);
	memset(back, 0xA5, len);
	CHECK(lzvolt_decompress(value, size, back, len) == (int64_t)len &&
	      !memcmp(back, src, len), "level %#x, %zu bytes of %s", level, len, name);
	CHECK((size_t)size <= len - len / 8 && (size_t)size + 8 <= len,
	      "level %#x: %zu bytes of %s to %lld", level, len, name, (long long)size);
	CHECK((size_t)size <= lzvolt_compress_bound(len), "%zu bytes", len);
}

/* One value at one level: right, the same again, the same with any capacity. */
static void check_level(const struct kind *kind, const uint8_t *src, size_t len,
			int level)
{
	size_t bound = lzvolt_compress_bound(len);
	uint8_t *dst = fence_end(&dst_room, bound);
	int64_t size = lzvolt_compress_level(state, src, len, dst, bound, level);
	static uint8_t first[LEN_MAX + 4096];
	int64_t again;

	CHECK(size >= 0, "level %#x, %zu bytes of %s: %lld", level, len, kind->name,
	      (long long)size);
	if (size <= 0)
		return;
	check_value(dst, size, src, len, level, kind->name);
	memcpy(first, dst, size);
	/* A state with garbage in it, and room for exactly the value. */
	memset(state, 0x5A, 4096);
	dst = fence_end(&dst_room, size);
	again = lzvolt_compress_level(state, src, len, dst, size, level);
	CHECK(again == size && !memcmp(first, dst, size),
	      "level %#x, %zu bytes of %s: %lld, then %lld", level, len, kind->name,
	      (long long)size, (long long)again);
	dst = fence_end(&dst_room, size - 1);
	again = lzvolt_compress_level(state, src, len, dst, size - 1, level);
	CHECK(again == LZVOLT_E_OUTPUT_TOO_SMALL, "level %#x, %zu bytes of %s: %lld",
	      level, len, kind->name, (long long)again);
}

static void check_size(size_t len, unsigned rounds)
{
	for (size_t k = 0; k < KINDS * rounds; k++) {
		const struct kind *kind = &kinds[k % KINDS];
		uint8_t *src = fence_end(&src_room, len);

		kind->fill(src, len);
		for (int level = LZVOLT_LEVEL_MIN; level <= LZVOLT_LEVEL_MAX; level++)
			check_level(kind, src, len, level | favors[rnd() % 3]);
	}
}

/* Every length up to a few blocks, then the places where something changes. */
static void test_lengths(void)
{
	static const size_t lens[] = {
		255, 256, 270, 511, 512, 1000, 1023, 1024, 1025, 4095, 4096, 8191,
		8192, 8193, 20000, 65535, 65536, 65537, 200001,
	};

	/* below 64 a value can't be hybrid, however much the wide layout would save */
	for (size_t len = 8; len < 200; len++)
		check_size(len, len < 64 ? 20 : 2);
	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
		check_size(lens[i], lens[i] < 9000 ? 3 : 1);
}

/* The same bytes with a fresh state, a used one and none. */
static void test_state(void)
{
	size_t len = 30000, cap = lzvolt_compress_bound(len);
	uint8_t *src = fence_end(&src_room, len), *a = malloc(cap), *b = malloc(cap);

	for (int level = LZVOLT_LEVEL_MIN; level <= LZVOLT_LEVEL_MAX; level++) {
		void *fresh = calloc(1, lzvolt_state_size(level));
		int64_t n, m;

		fill_few_symbols(src, len);
		lzvolt_compress_level(state, src, len, a, cap, level);
		fill_records(src, len);
		n = lzvolt_compress_level(state, src, len, a, cap, level);
		m = lzvolt_compress_level(fresh, src, len, b, cap, level);
		CHECK(n > 0 && n == m && !memcmp(a, b, n), "level %d, fresh", level);
		m = lzvolt_compress_level(NULL, src, len, b, cap, level);
		CHECK(n == m && !memcmp(a, b, n), "level %d, none", level);
		if (level == LZVOLT_LEVEL_DEFAULT) {
			m = lzvolt_compress(src, len, b, cap);
			CHECK(n == m && !memcmp(a, b, n), "lzvolt_compress");
		}
		free(fresh);
	}
	free(a);
	free(b);
}

/* What isn't worth packing, and what is but looks as if it weren't. */
static void test_refusal(void)
{
	uint8_t *src = fence_end(&src_room, 65536), *dst = fence_end(&dst_room, 70000);

	for (int level = LZVOLT_LEVEL_MIN; level <= LZVOLT_LEVEL_MAX; level++) {
		memset(src, 'a', 65536);
		for (size_t len = 0; len < 8; len++)
			CHECK(lzvolt_compress_level(state, src, len, dst, 70000, level) == 0,
			      "level %d, %zu bytes", level, len);
		fill_noise(src, 65536);
		for (size_t len = 8; len <= 65536; len *= 2)
			CHECK(lzvolt_compress_level(state, src, len, dst, 70000, level) == 0,
			      "level %d, %zu bytes of noise", level, len);
		/* Records of 512 bytes: a constant head of 160, noise behind. */
		for (size_t at = 512; at < 16384; at += 512)
			memcpy(src + at, src, 160);
		for (size_t len = 2048; len <= 16384; len *= 2)
			CHECK(lzvolt_compress_level(state, src, len, dst, 70000, level) > 0,
			      "level %d, %zu bytes of records with a head", level, len);
		/* The second half repeats the first, from far away. */
		fill_noise(src, 65536);
		memcpy(src + 30000, src, 30000);
		CHECK(lzvolt_compress_level(state, src, 60000, dst, 70000, level) > 0,
		      "level %d, a far copy", level);
		memcpy(src + 2048, src, 1024);
		CHECK(lzvolt_compress_level(state, src, 4096, dst, 70000, level) > 0,
		      "level %d, a copy of a quarter", level);
		/* One 64-byte copy in 256. */
		for (size_t at = 256; at < 16384; at += 256)
			memcpy(src + at, src + at - 200, 64);
		for (size_t len = 2048; len <= 16384; len *= 2)
			CHECK(lzvolt_compress_level(state, src, len, dst, 70000, level) > 0,
			      "level %d, %zu bytes of a sparse mixture", level, len);
	}
}

/* A match of 100 bytes, and inside it the start of one of thousands. */
static void test_nested(void)
{
	static const struct kind kind = { "nested matches", NULL };
	enum { HEAD = 300, TAIL = 6000, LEN = 100 + 280 + TAIL + 50 + HEAD + TAIL };
	uint8_t *src = fence_end(&src_room, LEN);
	uint8_t text[HEAD + TAIL];

	fill_noise(src, LEN);
	fill_noise(text, sizeof(text));
	memcpy(src, text, 100);
	memcpy(src + 100, text + 20, sizeof(text) - 20);
	memcpy(src + LEN - sizeof(text), text, sizeof(text));
	for (int level = LZVOLT_LEVEL_MIN; level <= LZVOLT_LEVEL_MAX; level++) {
		uint8_t *dst = fence_end(&dst_room, LEN);

		CHECK(lzvolt_compress_level(state, src, LEN, dst, LEN, level) > 0,
		      "level %d", level);
		for (size_t f = 0; f < 3; f++)
			check_level(&kind, src, LEN, level | favors[f]);
	}
}

static void test_arguments(void)
{
	uint8_t src[64] = { 0 }, dst[128];

	CHECK(lzvolt_state_size(0) == 0 && lzvolt_state_size(10) == 0 &&
	      lzvolt_state_size(-1) == 0, "state of no level");
	CHECK(lzvolt_state_size(9 | LZVOLT_FAVOR_SIZE) == lzvolt_state_size(9),
	      "state with a flag");
	CHECK(lzvolt_compress_level(NULL, src, 64, dst, 128, 0) == LZVOLT_E_TOO_LARGE,
	      "level 0");
	CHECK(lzvolt_compress_level(NULL, src, LZVOLT_MAX_SIZE + 1, dst, 128, 1) ==
	      LZVOLT_E_TOO_LARGE, "too large");
	CHECK(lzvolt_compress_level(NULL, NULL, 64, dst, 128, 1) == LZVOLT_E_NULL,
	      "no source");
	CHECK(lzvolt_compress_level(NULL, src, 64, NULL, 128, 1) == LZVOLT_E_NULL,
	      "no output");
	CHECK(lzvolt_compress_level(NULL, NULL, 0, NULL, 0, 1) == 0, "nothing");
	CHECK(lzvolt_compress_level(NULL, src, 64, NULL, 0, 1) ==
	      LZVOLT_E_OUTPUT_TOO_SMALL, "no room");
}

/* What the levels are for: a higher one is never much larger. */
static void test_order(void)
{
	size_t len = 60000, cap = lzvolt_compress_bound(len);
	uint8_t *src = fence_end(&src_room, len), *dst = malloc(cap);

	for (size_t k = 2; k < KINDS; k++) {
		int64_t before = len;

		kinds[k].fill(src, len);
		for (int level = LZVOLT_LEVEL_MIN; level <= LZVOLT_LEVEL_MAX; level++) {
			int64_t n = lzvolt_compress_level(state, src, len, dst, cap,
							  level | LZVOLT_FAVOR_SIZE);

			CHECK(n > 0 && n <= before + before / 50 + 8,
			      "%s: level %d has %lld, the one below %lld",
			      kinds[k].name, level, (long long)n, (long long)before);
			before = n;
		}
	}
	free(dst);
}

int main(int argc, char **argv)
{
	size_t most = 0;

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0) | 1;
	printf("enc_test: seed %#llx\n", (unsigned long long)seed);
	for (int level = LZVOLT_LEVEL_MIN; level <= LZVOLT_LEVEL_MAX; level++)
		if (lzvolt_state_size(level) > most)
			most = lzvolt_state_size(level);
	state = aligned_alloc(64, (most + 63) / 64 * 64);
	src_room = fence_make(LEN_MAX);
	dst_room = fence_make(lzvolt_compress_bound(LEN_MAX));
	out_room = fence_make(LEN_MAX);
	test_arguments();
	test_refusal();
	test_state();
	test_order();
	test_nested();
	test_lengths();
	free(state);
	printf("enc_test: %u failures\n", failures);
	return failures != 0;
}
