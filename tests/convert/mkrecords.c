// SPDX-License-Identifier: Apache-2.0
/*
 * mkrecords.c - standard input as stored LZ4 records, as other software does
 *
 *	mkrecords FRAMING SIZE [LEVEL] < raw > records
 *
 * Cuts the input in pieces of SIZE bytes (0: one piece), packs each with
 * liblz4 (LEVEL 0 default, < 0 fast, > 0 HC) and frames it: plain, sized,
 * flag, zfs, hadoop, hadoop2 (two chunks a block), java, rocksdb, mozlz4,
 * varint.  It is written from the formats' descriptions and shares nothing
 * with the product.
 */
#include <lz4.h>
#include <lz4hc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static uint8_t packed[LZ4_COMPRESSBOUND(64 << 20)];
static int level;

static int pack(const uint8_t *p, int n)
{
	int cap = (int)sizeof(packed);

	if (level > 0)
		return LZ4_compress_HC((const char *)p, (char *)packed, n, cap, level);
	if (level < 0)
		return LZ4_compress_fast((const char *)p, (char *)packed, n, cap, -level);
	return LZ4_compress_default((const char *)p, (char *)packed, n, cap);
}

static void bytes(const void *p, size_t n)
{
	fwrite(p, 1, n, stdout);
}

static void le32(uint32_t v)
{
	uint8_t b[4] = { v, v >> 8, v >> 16, v >> 24 };

	bytes(b, 4);
}

static void be32(uint32_t v)
{
	le32(__builtin_bswap32(v));
}

static void varint(uint32_t v)
{
	for (; v > 127; v >>= 7)
		putchar((int)(v & 127) | 128);
	putchar((int)v);
}

static void plain(const uint8_t *p, int n)
{
	int k = pack(p, n);

	le32((uint32_t)k);
	(void)n;
	bytes(packed, (size_t)k);
}

static void sized(const uint8_t *p, int n)
{
	int k = pack(p, n);

	le32((uint32_t)k + 4);
	le32((uint32_t)n);
	bytes(packed, (size_t)k);
}

/* flags: 0x52 raw, 0x34 LZ4 */
static void flagged(const uint8_t *p, int n)
{
	static int count;
	int k;

	if (count++ % 3 == 2) {
		le32((uint32_t)n + 1);
		putchar(0x52);
		bytes(p, (size_t)n);
		return;
	}
	k = pack(p, n);
	le32((uint32_t)k + 5);
	putchar(0x34);
	le32((uint32_t)n);
	bytes(packed, (size_t)k);
}

static void zfs(const uint8_t *p, int n)
{
	int k = pack(p, n);

	be32((uint32_t)k);
	bytes(packed, (size_t)k);
}

static void chunk(const uint8_t *p, int n)
{
	zfs(p, n);
}

static void hadoop(const uint8_t *p, int n)
{
	be32((uint32_t)n);
	chunk(p, n);
}

static void hadoop2(const uint8_t *p, int n)
{
	be32((uint32_t)n);
	chunk(p, n / 3);
	chunk(p + n / 3, n - n / 3);
}

static void java_block(int token, uint32_t size, uint32_t raw, uint32_t sum)
{
	bytes("LZ4Block", 8);
	putchar(token);
	le32(size);
	le32(raw);
	le32(sum);
}

static void java(const uint8_t *p, int n)
{
	uint32_t sum = XXH32(p, (size_t)n, 0x9747b28c) & 0xfffffff;
	int k = pack(p, n);

	if (k >= n) {
		java_block(0x16, (uint32_t)n, (uint32_t)n, sum);
		bytes(p, (size_t)n);
	} else {
		java_block(0x26, (uint32_t)k, (uint32_t)n, sum);
		bytes(packed, (size_t)k);
	}
}

static void rocksdb(const uint8_t *p, int n)
{
	int k = pack(p, n);

	varint((uint32_t)n);
	bytes(packed, (size_t)k);
}

static void mozlz4(const uint8_t *p, int n)
{
	int k = pack(p, n);

	bytes("mozLz40\0", 8);
	le32((uint32_t)n);
	bytes(packed, (size_t)k);
}

static void lens(const uint8_t *p, int n)
{
	int k = pack(p, n);
	int sizes = n < 128 ? 1 : n < 16384 ? 2 : n < 2097152 ? 3 : 4;

	varint((uint32_t)(k + sizes));
	varint((uint32_t)n);
	bytes(packed, (size_t)k);
}

static const struct {
	const char *name;
	void (*write)(const uint8_t *p, int n);
} framings[] = {
	{ "plain", plain }, { "sized", sized }, { "flag", flagged },
	{ "zfs", zfs }, { "hadoop", hadoop }, { "hadoop2", hadoop2 },
	{ "java", java }, { "rocksdb", rocksdb }, { "mozlz4", mozlz4 },
	{ "varint", lens },
};

int main(int argc, char **argv)
{
	uint8_t *in = malloc(64 << 20);
	size_t have, at = 0, n, size, i;

	if (argc < 3 || !in)
		return 2;
	size = strtoul(argv[2], NULL, 10);
	level = argc > 3 ? atoi(argv[3]) : 0;
	have = fread(in, 1, 64 << 20, stdin);
	for (i = 0; strcmp(framings[i].name, argv[1]); i++)
		if (i + 1 == sizeof(framings) / sizeof(*framings))
			return 2;
	do {
		n = size && have - at > size ? size : have - at;
		framings[i].write(in + at, (int)n);
		at += n;
	} while (at < have);
	if (!strcmp(argv[1], "java"))
		java_block(0x16, 0, 0, 0);
	free(in);
	return fflush(stdout) ? 1 : 0;
}
