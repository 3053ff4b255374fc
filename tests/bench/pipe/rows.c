/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - what is compared with what
 *
 * Levels are the same number on both sides where the library is the same.  The
 * peers use all cores where they can.  `must` is the ratio of throughputs that
 * the project asks of itself; the report marks rows that miss it.
 */
#include "pipe.h"

const struct row rows[] = {
	{ "lz4-1-pack", ROW_PACK, 1.05, 0, NULL, "vcompress -F lz4 -1",
	  { "lz4 -1 -c" } },
	{ "lz4-unpack", ROW_UNPACK, 1.3, 0, "lz4", "vdecompress",
	  { "lz4 -dc" } },
	{ "lz4-linked-unpack", ROW_UNPACK, 1.1, 0, "linked.lz4", "vdecompress",
	  { "lz4 -dc" } },
	{ "zstd-1-pack", ROW_PACK, 1.0, 0, NULL, "vcompress -F zstd -1",
	  { "zstd -1 -T0 -c" } },
	{ "zstd-3-pack", ROW_PACK, 1.0, 0, NULL, "vcompress -F zstd -3",
	  { "zstd -3 -T0 -c" } },
	{ "zstd-unpack", ROW_UNPACK, 1.1, 0, "zst", "vdecompress",
	  { "zstd -dc" } },
	{ "gzip-1-pack", ROW_PACK, 1.5, 0, NULL, "vcompress -F gzip -1",
	  { "igzip -1 -c", "pigz -1 -c" } },
	{ "gzip-6-pack", ROW_PACK, 1.5, 64, NULL, "vcompress -F gzip -6",
	  { "pigz -6 -c" } },
	{ "gzip-unpack", ROW_UNPACK, 1.0, 0, "gz", "vdecompress",
	  { "igzip -dc", "pigz -dc" } },
	{ "brotli-1-pack", ROW_PACK, 1.05, 0, NULL, "vcompress -F brotli -1",
	  { "brotli -1 -c" } },
	{ "brotli-5-pack", ROW_PACK, 1.05, 32, NULL, "vcompress -F brotli -5",
	  { "brotli -5 -c" } },
	{ "brotli-unpack", ROW_UNPACK, 1.1, 0, "br", "vdecompress -F brotli",
	  { "brotli -dc" } },
	{ "xz-6-pack", ROW_PACK, 0.95, 6, NULL, "vcompress -F xz -6",
	  { "xz -6 -T0 -c" } },
	{ "xz-unpack", ROW_UNPACK, 0.95, 24, "xz", "vdecompress",
	  { "xz -dc -T0" } },
	{ "lzv-pack", ROW_PACK, 1.5, 0, NULL, "vcompress -F lzv -1",
	  { "lz4 -1 -c" } },
	{ "lzv-unpack", ROW_UNPACK, 0.9, 0, "lzv", "vdecompress",
	  { "@cat", "@lz4 -dc" } },
	{ "noise-lz4", ROW_NOISE, 1.0, 0, NULL, "vcompress -F lz4",
	  { "lz4 -c", "zstd -T0 -c", "igzip -c" } },
	{ "noise-zstd", ROW_NOISE, 1.0, 0, NULL, "vcompress -F zstd",
	  { "zstd -T0 -c", "lz4 -c" } },
	{ "noise-gzip", ROW_NOISE, 1.0, 0, NULL, "vcompress -F gzip",
	  { "igzip -c", "pigz -c" } },
	{ "noise-brotli", ROW_NOISE, 1.0, 0, NULL, "vcompress -F brotli -5",
	  { "brotli -5 -c" } },
	{ "noise-lzv", ROW_NOISE, 1.0, 0, NULL, "vcompress -F lzv",
	  { "lz4 -c" } },
	{ "start-lz4", ROW_START, 1.0, 0, NULL, "vcompress -F lz4", { "lz4 -c" } },
	{ "start-zstd", ROW_START, 1.0, 0, NULL, "vcompress -F zstd", { "zstd -c" } },
	{ "start-gzip", ROW_START, 1.0, 0, NULL, "vcompress -F gzip",
	  { "gzip -c", "pigz -c", "igzip -c" } },
	{ "start-brotli", ROW_START, 1.0, 0, NULL, "vcompress -F brotli",
	  { "brotli -c" } },
	{ "start-xz", ROW_START, 1.0, 0, NULL, "vcompress -F xz", { "xz -c" } },
	{ "start-lzv", ROW_START, 1.0, 0, NULL, "vcompress -F lzv", { "lz4 -c" } },
};
const size_t row_count = sizeof(rows) / sizeof(rows[0]);

const struct packing packings[] = {
	{ "lz4", "lz4 -1 -c" },
	{ "linked.lz4", "lz4 -1 -BD -c" },
	{ "zst", "zstd -3 -T0 -c" },
	{ "gz", "pigz -6 -c" },
	{ "br", "brotli -5 -c" },
	{ "xz", "xz -1 -T0 -c" },
	{ "lzv", "vcompress -F lzv" },
};
const size_t packing_count = sizeof(packings) / sizeof(packings[0]);

const char *const mode_names[MODES] = { "file", "pipe" };
