/* SPDX-License-Identifier: Apache-2.0 */
/*
 * incompressible.c - the probe's error rates on made kinds and on real files
 *
 * Each row makes many blocks of one kind and one size and says how many of a
 * hundred the probe may call incompressible, at least and at most.  -v prints
 * the table that stands in probe.c.  Files given as arguments are judged
 * whole: those below packed/ but for the pdf are incompressible, others not.
 */
#include "filter.h"
#include "test.h"

#define BLOCK_MAX (1u << 20)

static uint8_t block[BLOCK_MAX];

static void make_random(size_t n)
{
	test_noise(block, n);
}

static void make_base64(size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i++)
		block[i] = (uint8_t)digits[test_random() >> 58];
}

static void make_float32(size_t n)
{
	for (size_t i = 0; i + 4 <= n; i += 4) {
		float f = (float)(test_random() % 1000000) / 1000.0f;

		memcpy(block + i, &f, 4);
	}
}

static void make_audio(size_t n)
{
	int level = 0;

	for (size_t i = 0; i + 2 <= n; i += 2) {
		int16_t v;

		level = level * 9 / 10 + (int)(test_random() % 2001) - 1000;
		v = (int16_t)level;
		memcpy(block + i, &v, 2);
	}
}

static void words(uint8_t *p, size_t n)
{
	static const char text[] = "the of and to in is was for on that by this "
				   "with from at which be are value record";

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)text[test_random() % (sizeof(text) - 1)];
}

static void make_text_quarter(size_t n)
{
	test_noise(block, n);
	words(block + test_random() % (n * 3 / 4), n / 4);
}

static void make_zeros_fifth(size_t n)
{
	test_noise(block, n);
	for (size_t i = 0; i < n / 5 / 32; i++)
		memset(block + test_random() % (n - 32), 0, 32);
}

static void make_heads(size_t n)
{
	enum { WIDTH = 512, HEAD = 128 };
	uint8_t head[HEAD];

	test_noise(block, n);
	test_noise(head, HEAD);
	for (size_t i = test_random() % WIDTH; i + HEAD < n; i += WIDTH)
		memcpy(block + i, head, HEAD);
}

static void make_copy_half(size_t n)
{
	test_noise(block, n);
	memcpy(block + n / 2, block, n / 2);
}

static void make_copy_quarter(size_t n)
{
	size_t from = test_random() % (n / 4), to = n / 2 + test_random() % (n / 4);

	test_noise(block, n);
	memcpy(block + to, block + from, n / 4);
}

static const size_t sizes[] = { 512, 1024, 4096, 16384, 65536, 131072, 1048576 };
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Limits in per cent: at least for noise, at most for the others. */
static const struct kind {
	const char *name;
	void (*make)(size_t n);
	int at_least[SIZES];
	int at_most[SIZES];
} kinds[] = {
	{ "random", make_random,
	  { 93, 92, 99, 99, 99, 98, 98 }, { 100, 100, 100, 100, 100, 100, 100 } },
	{ "base64", make_base64, { 0 }, { 16, 1, 0, 0, 0, 0, 0 } },
	{ "float32", make_float32, { 0 }, { 2, 0, 0, 0, 0, 0, 0 } },
	{ "16-bit audio", make_audio, { 0 }, { 10, 1, 0, 0, 0, 0, 0 } },
	{ "1/4 text in one", make_text_quarter, { 0 }, { 50, 27, 1, 0, 0, 0, 0 } },
	{ "1/5 zeros, 32 B", make_zeros_fifth, { 0 }, { 65, 44, 9, 3, 0, 0, 0 } },
	{ "1/4 constant head", make_heads, { 0 }, { 100, 100, 65, 16, 0, 0, 0 } },
	{ "1/2 a far copy", make_copy_half, { 0 }, { 100, 100, 2, 0, 0, 0, 0 } },
	{ "1/4 a far copy", make_copy_quarter, { 0 }, { 100, 100, 82, 84, 12, 3, 10 } },
};

static int rate(const struct kind *k, size_t n)
{
	int blocks = n > 100000 ? 60 : 400, said = 0;

	for (int i = 0; i < blocks; i++) {
		k->make(n);
		said += probe_incompressible(block, n);
	}
	return (said * 100 + blocks / 2) / blocks;
}

static int verbose;

static void test_kinds(void)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t j = 0; j < SIZES; j++) {
			const struct kind *k = &kinds[i];
			int r = rate(k, sizes[j]);

			if (verbose)
				printf("# %-20s %8zu %4d\n", k->name, sizes[j], r);
			CHECK(r >= k->at_least[j] && r <= k->at_most[j],
			      "%s of %zu bytes: %d %% incompressible, not %d..%d",
			      k->name, sizes[j], r, k->at_least[j], k->at_most[j]);
		}
}

static void test_small(void)
{
	test_noise(block, 4096);
	for (size_t n = 0; n < 512; n++)
		CHECK(!probe_incompressible(block, n), "true for %zu bytes", n);
}

/* A sanitizer sees a read behind the end only if nothing stands there. */
static void test_exact_room(void)
{
	for (size_t n = 512; n < 70000; n += 1 + n / 3) {
		uint8_t *p = malloc(n);

		test_noise(p, n);
		probe_incompressible(p, n);
		free(p);
	}
}

static char **files;

static void test_file(const char *name)
{
	int packed = strstr(name, "/packed/") && !strstr(name, ".pdf");
	FILE *f = fopen(name, "rb");
	uint8_t *p;
	long n;

	CHECK(f, "can't open %s", name);
	if (!f)
		return;
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	p = malloc((size_t)n);
	CHECK(fread(p, 1, (size_t)n, f) == (size_t)n, "can't read %s", name);
	CHECK(probe_incompressible(p, (size_t)n) == packed, "wrong about %s", name);
	free(p);
	fclose(f);
}

static void test_files(void)
{
	for (char **f = files; *f; f++)
		test_file(*f);
}

int main(int argc, char **argv)
{
	files = argv + 1;
	if (argc > 1 && !strcmp(argv[1], "-v")) {
		verbose = 1;
		files++;
	}
	test_run("probe: error rates by kind and size", test_kinds);
	test_run("probe: never true below 512 bytes", test_small);
	test_run("probe: reads nothing behind the block", test_exact_room);
	if (*files)
		test_run("probe: corpus files as a whole", test_files);
	else
		test_skip("probe: corpus files as a whole", "no ../shared/corpus");
	return test_done();
}
