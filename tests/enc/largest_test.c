/* SPDX-License-Identifier: Apache-2.0 */
/*
 * largest_test.c - values of 2^29 - 1 bytes, the most there is, and of one more
 *
 * A position in such a value needs 29 bits, its header four bytes, its trailer
 * fields of four.  The source is one file of 32 MiB mapped sixteen times in a
 * row, farther apart than an offset reaches, so that it costs little memory.
 */
#include "lzvolt.h"
#include "ref_decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PART	((size_t)32 << 20)
#define PARTS	16
#define LARGEST	((size_t)536870911)

static void must(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(2);
}

static uint8_t *map(size_t size, int fd)
{
	uint8_t *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE :
				   MAP_SHARED, fd, 0);

	must(p != MAP_FAILED, "largest_test: mmap");
	return p;
}

/* Records, and a run of noise after some. */
static void fill(uint8_t *p, size_t len)
{
	uint64_t seed = 0x9E3779B97F4A7C15ULL;
	char text[160];
	size_t at = 0;

	for (unsigned id = 0; at < len; id++) {
		size_t n = snprintf(text, sizeof(text),
				    "{\"id\":%u,\"tenant\":\"tenant42\",\"role\":\"member\","
				    "\"created\":\"2026-09-0%u\",\"score\":%u}\n",
				    id, id % 9, id % 1000);

		for (size_t i = 0; id % 8 == 0 && i < 64; i += 8) {
			seed = seed * 6364136223846793005ULL + 1;
			memcpy(text + i, &seed, 8);
		}
		n = n < len - at ? n : len - at;
		memcpy(p + at, text, n);
		at += n;
	}
}

static uint8_t *source(void)
{
	int fd = memfd_create("largest", 0);
	uint8_t *part, *all = map(PART * PARTS, -1);

	must(fd >= 0 && !ftruncate(fd, PART), "largest_test: memfd");
	part = map(PART, fd);
	fill(part, PART);
	for (size_t i = 0; i < PARTS; i++)
		must(mmap(all + i * PART, PART, PROT_READ, MAP_SHARED | MAP_FIXED,
			  fd, 0) != MAP_FAILED, "largest_test: mmap");
	munmap(part, PART);
	close(fd);
	return all;
}

static int failed(const char *what, int level, int64_t got)
{
	fprintf(stderr, "not ok: level %#x: %s: %lld\n", level, what, (long long)got);
	return 1;
}

/* Packs and reads back, once by the decoder that shares no line with ours. */
static int check_level(const uint8_t *src, uint8_t *dst, size_t cap, uint8_t *back,
		       int level)
{
	int64_t size = lzvolt_compress_level(NULL, src, LARGEST, dst, cap, level);
	int64_t got;

	if (size <= 0 || (size_t)size > LARGEST / 2)
		return failed("packed size", level, size);
	if (lzvolt_declared_size(dst, size) != (int64_t)LARGEST)
		return failed("declared size", level, lzvolt_declared_size(dst, size));
	got = level & LZVOLT_FAVOR_SIZE ? ref_decode(dst, size, back, LARGEST, NULL) :
					  lzvolt_decompress(dst, size, back, LARGEST);
	if (got != (int64_t)LARGEST)
		return failed("bytes read back", level, got);
	if (memcmp(src, back, LARGEST))
		return failed("other bytes came back", level, got);
	memset(back, 0, 4096);
	memset(back + LARGEST - 4096, 0, 4096);
	got = lzvolt_decompress(dst, size, back, LARGEST);
	if (got != (int64_t)LARGEST || memcmp(src, back, LARGEST))
		return failed("read back", level, got);
	return 0;
}

int main(void)
{
	static const int levels[] = { 1, 3, 3 | LZVOLT_FAVOR_SIZE, 6 };
	size_t cap = lzvolt_compress_bound(LARGEST);
	uint8_t *src = source(), *dst = map(cap, -1), *back = map(LARGEST, -1);
	int64_t got;
	int bad = 0;

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		bad += check_level(src, dst, cap, back, levels[i]);
	for (int level = LZVOLT_LEVEL_MIN; level <= LZVOLT_LEVEL_MAX; level++) {
		got = lzvolt_compress_level(NULL, src, LARGEST + 1, dst, cap, level);
		if (got != LZVOLT_E_TOO_LARGE)
			bad += failed("one byte more", level, got);
	}
	if (lzvolt_compress_bound(LARGEST + 1))
		bad += failed("bound of one byte more", 0, 0);
	printf("largest_test: %d failures\n", bad);
	return bad != 0;
}
