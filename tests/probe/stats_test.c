/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats_test.c - the scan against sources whose entropy is known
 *
 * Then the properties that hold for any input, verdicts of made inputs and of
 * the corpus (files given as arguments), and -b: the scan's speed.
 */
#include "probe.h"
#include "test.h"

#include <math.h>
#include <time.h>

static struct probe_scan *scan;
static struct probe_stats stats;
static uint8_t *buffer;
#define BUFFER ((size_t)16 << 20)

static void scan_all(const uint8_t *p, size_t n)
{
	probe_scan_begin(scan);
	probe_scan_feed(scan, p, n);
	probe_scan_end(scan, &stats);
}

static void order0_is(double want, const char *what)
{
	scan_all(buffer, BUFFER);
	CHECK(fabs(stats.order0 - want) < 0.001, "%s: %.5f bits, not %.5f", what,
	      stats.order0, want);
}

static void test_known_order0(void)
{
	test_noise(buffer, BUFFER);
	order0_is(8, "uniform bytes");
	CHECK(stats.distinct == 256, "%u distinct bytes", stats.distinct);
	for (size_t i = 0; i < BUFFER; i++)
		buffer[i] = test_random() >> 63 ? 'a' : 'b';
	order0_is(1, "two equal symbols");
	CHECK(stats.distinct == 2, "%u distinct bytes", stats.distinct);
	for (size_t i = 0; i < BUFFER; i++)
		buffer[i] = test_random() >> 62 ? 'a' : 'b';
	order0_is(0.811278, "one in four");
	memset(buffer, 'x', BUFFER);
	order0_is(0, "one symbol");
	CHECK(stats.order1 == 0, "one symbol: order 1 is %g", stats.order1);
}

/*
 * A Markov chain that stays with probability 3/4: order 0 is 1 bit, order 1
 * H(1/4) = 0.811278.
 */
static void test_known_order1(void)
{
	int now = 0;

	for (size_t i = 0; i < BUFFER; i++) {
		now ^= !(test_random() >> 62);
		buffer[i] = (uint8_t)('0' + now);
	}
	order0_is(1, "chain");
	CHECK(fabs(stats.order1 - 0.811278) < 0.001, "chain: order 1 is %.5f", stats.order1);
}

/* Few pairs make noise look orderly; the bias that is told covers it. */
static void test_order1_bias(void)
{
	test_noise(buffer, BUFFER);
	scan_all(buffer, BUFFER);
	CHECK(fabs(stats.order1 + stats.order1_bias - 8) < 0.002,
	      "noise: order 1 %.5f + %.5f", stats.order1, stats.order1_bias);
}

static void test_bounds(void)
{
	for (int i = 0; i < 300; i++) {
		size_t n = test_random() % 5000;
		unsigned values = 1 + (unsigned)(test_random() % 256);

		for (size_t k = 0; k < n; k++)
			buffer[k] = (uint8_t)(test_random() % values);
		scan_all(buffer, n);
		CHECK(stats.bytes == n, "%zu bytes, not %zu", (size_t)stats.bytes, n);
		CHECK(stats.order0 >= 0 && stats.order0 <= 8, "order 0 %g", stats.order0);
		CHECK(stats.order0 <= log2(stats.distinct ? stats.distinct : 1) + 1e-9,
		      "order 0 %g above log2(%u)", stats.order0, stats.distinct);
		CHECK(stats.order1 <= stats.order0 + 0.02 + 1.0 / (double)(n + 1),
		      "order 1 %g above order 0 %g", stats.order1, stats.order0);
		CHECK(stats.match8 <= stats.match4 + 1e-9, "8 bytes seen, 4 not");
		CHECK(stats.match4 >= 0 && stats.match4 <= 1, "match share %g", stats.match4);
	}
}

/* Field by field, since padding is nobody's. */
static bool same_stats(const struct probe_stats *a, const struct probe_stats *b)
{
	for (unsigned i = 0; i < a->parts && i < b->parts; i++)
		if (a->part[i].offset != b->part[i].offset ||
		    a->part[i].size != b->part[i].size ||
		    a->part[i].packs != b->part[i].packs)
			return false;
	return a->bytes == b->bytes && a->order0 == b->order0 &&
	       a->order0_error == b->order0_error && a->order1 == b->order1 &&
	       a->order1_pairs == b->order1_pairs &&
	       a->order1_bias == b->order1_bias && a->distinct == b->distinct &&
	       a->match4 == b->match4 && a->match8 == b->match8 &&
	       a->runs == b->runs && a->saving == b->saving &&
	       a->verdict == b->verdict && a->reason == b->reason &&
	       a->windows == b->windows && a->parts == b->parts &&
	       !memcmp(a->window, b->window, a->windows * sizeof(a->window[0]));
}

/* Any cutting of the same bytes into calls gives the same figures. */
static void test_cuts(void)
{
	struct probe_stats whole;
	size_t n = 300000, at = 0;

	test_noise(buffer, n);
	memset(buffer + 50000, 'z', 90000);
	scan_all(buffer, n);
	whole = stats;
	probe_scan_begin(scan);
	while (at < n) {
		size_t k = 1 + test_random() % 3000;

		k = k < n - at ? k : n - at;
		probe_scan_feed(scan, buffer + at, k);
		at += k;
	}
	probe_scan_end(scan, &stats);
	CHECK(same_stats(&whole, &stats), "figures depend on the cuts");
}

/* A repeat that order 0 can't see: noise, then the same noise again. */
static void test_far_copy(void)
{
	size_t n = 1 << 20;

	test_noise(buffer, n);
	memcpy(buffer + n, buffer, n);
	scan_all(buffer, 2 * n);
	CHECK(fabs(stats.match8 - 0.5) < 0.08, "half is a copy: %.3f seen", stats.match8);
	CHECK(fabs(stats.match4 - 0.5) < 0.08, "half is a copy: %.3f seen", stats.match4);
	CHECK(stats.order0 > 7.99, "order 0 %g", stats.order0);
	CHECK(stats.verdict == PROBE_MIXED, "verdict %d", stats.verdict);
}

static void words(uint8_t *p, size_t n)
{
	static const char *const word[] = { "the ", "of ", "record ", "value\n", "and ",
					    "offset ", "window ", "length, " };
	size_t at = 0;

	while (at < n) {
		const char *w = word[test_random() >> 61];
		size_t k = strlen(w) < n - at ? strlen(w) : n - at;

		memcpy(p + at, w, k);
		at += k;
	}
}

static void test_mixed(void)
{
	static const size_t sizes[] = { 50000, 200000, 1000000, 10000000 };

	for (size_t i = 0; i < 4; i++) {
		size_t n = sizes[i], cut = n * 2 / 5;
		uint64_t window;

		words(buffer, cut);
		test_noise(buffer + cut, n - cut);
		scan_all(buffer, n);
		window = stats.window[0].size;
		CHECK(stats.verdict == PROBE_MIXED && stats.parts == 2,
		      "%zu: verdict %d, %u parts", n, stats.verdict, stats.parts);
		CHECK(stats.part[1].offset + window >= cut &&
		      stats.part[1].offset <= cut + window,
		      "%zu: cut at %zu, not near %zu", n, (size_t)stats.part[1].offset, cut);
		CHECK(stats.part[0].packs && !stats.part[1].packs, "the wrong part packs");
	}
}

static void test_plain_verdicts(void)
{
	words(buffer, 1 << 20);
	scan_all(buffer, 1 << 20);
	CHECK(stats.verdict == PROBE_COMPRESS, "words: %d", stats.verdict);
	test_noise(buffer, 1 << 20);
	scan_all(buffer, 1 << 20);
	CHECK(stats.verdict == PROBE_STORE, "noise: %d", stats.verdict);
	memset(buffer, 0, 1 << 20);
	scan_all(buffer, 1 << 20);
	CHECK(stats.verdict == PROBE_COMPRESS && stats.match8 > 0.99, "zeros");
	scan_all(buffer, 0);
	CHECK(stats.verdict == PROBE_STORE && !stats.parts, "nothing");
}

/* A sample with gaps: not exact, so an error is told; a whole has none. */
static void test_error_told(void)
{
	words(buffer, 1 << 20);
	scan_all(buffer, 1 << 20);
	CHECK(stats.order0_error == 0, "exact figures with an error");
	test_noise(buffer + 300000, 200000);
	probe_scan_begin(scan);
	for (size_t at = 0; at < 1 << 20; at += 100000) {
		probe_scan_feed(scan, buffer + at, 5000);
		probe_scan_gap(scan);
	}
	probe_scan_end(scan, &stats);
	CHECK(stats.order0_error > 0.01, "a mixed sample with error %g", stats.order0_error);
}

/* Beyond 64 MiB bytes are sampled: still within a thousandth of a bit. */
static void test_long(void)
{
	double short_order0;

	words(buffer, BUFFER);
	test_noise(buffer, BUFFER / 3);
	scan_all(buffer, BUFFER);
	short_order0 = stats.order0;
	probe_scan_begin(scan);
	for (int i = 0; i < 16; i++)
		probe_scan_feed(scan, buffer, BUFFER);
	probe_scan_end(scan, &stats);
	CHECK(fabs(stats.order0 - short_order0) < 0.001, "256 MiB: %.5f, not %.5f",
	      stats.order0, short_order0);
	CHECK(stats.order0_error > 0, "sampled without an error told");
	CHECK(stats.bytes == 16 * (uint64_t)BUFFER, "bytes");
}

static char **files;

static void file_verdict(const char *name, uint8_t *p, size_t n)
{
	int packed = strstr(name, "/packed/") != NULL;
	enum probe_verdict want = packed ? PROBE_STORE : PROBE_COMPRESS;

	scan_all(p, n);
	/* The pdf holds both; it is nobody's plain case. */
	if (strstr(name, ".pdf"))
		want = PROBE_MIXED;
	CHECK(stats.verdict == want, "%s: verdict %d, not %d", name, stats.verdict, want);
}

static void test_files(void)
{
	for (char **name = files; *name; name++) {
		FILE *f = fopen(*name, "rb");
		size_t n = f ? fread(buffer, 1, BUFFER, f) : 0;

		CHECK(f && n, "can't read %s", *name);
		if (f)
			fclose(f);
		file_verdict(*name, buffer, n);
	}
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 1 GiB of half words, half noise, from a buffer in memory. */
static int speed(void)
{
	double t;

	words(buffer, BUFFER / 2);
	test_noise(buffer + BUFFER / 2, BUFFER / 2);
	probe_scan_begin(scan);
	t = seconds();
	for (int i = 0; i < 64; i++)
		probe_scan_feed(scan, buffer, BUFFER);
	t = seconds() - t;
	probe_scan_end(scan, &stats);
	printf("scan of 1 GiB: %.2f GB/s a core\n", 64 * (double)BUFFER / t / 1e9);
	return 0;
}

int main(int argc, char **argv)
{
	scan = malloc(sizeof(*scan));
	buffer = malloc(BUFFER);
	files = argv + 1;
	if (argc > 1 && !strcmp(argv[1], "-b"))
		return speed();
	test_run("stats: order 0 of known sources", test_known_order0);
	test_run("stats: order 1 of a known chain", test_known_order1);
	test_run("stats: the bias of order 1", test_order1_bias);
	test_run("stats: bounds that hold for any input", test_bounds);
	test_run("stats: cuts into calls don't matter", test_cuts);
	test_run("stats: a far copy of noise is seen", test_far_copy);
	test_run("stats: 40 % text then noise is mixed, cut found", test_mixed);
	test_run("stats: plain verdicts", test_plain_verdicts);
	test_run("stats: an error is told for samples only", test_error_told);
	test_run("stats: long inputs", test_long);
	if (*files)
		test_run("stats: verdicts of the corpus", test_files);
	else
		test_skip("stats: verdicts of the corpus", "no ../shared/corpus");
	free(scan);
	free(buffer);
	return test_done();
}
