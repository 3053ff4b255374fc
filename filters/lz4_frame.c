/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lz4_frame.c - LZ4 frame headers, and one block packed by liblz4
 */
#include "lz4_frame.h"

#include "mem.h"

#include <lz4.h>
#include <lz4hc.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Codes 4 to 7 of the descriptor: 64 KiB, 256 KiB, 1 MiB, 4 MiB. */
static size_t block_max_of_code(unsigned code)
{
	return (size_t)1 << (2 * code + 8);
}

size_t lz4_block_max(size_t n)
{
	for (unsigned code = 4; code <= 7; code++)
		if (n <= block_max_of_code(code))
			return block_max_of_code(code);
	return 0;
}

static int lz4_header_check(const uint8_t *p, size_t size, uint64_t offset,
			    struct filter_error *err)
{
	uint8_t sum = (uint8_t)(XXH32(p + 4, size - 5, 0) >> 8);

	if (p[size - 1] != sum)
		return filter_fail(err, FILTER_E_CHECK, offset + size - 1,
				   "the LZ4 frame header's checksum doesn't match");
	return FILTER_OK;
}

ptrdiff_t lz4_header_parse(const uint8_t *p, size_t n, struct lz4_header *h,
			   uint64_t offset, struct filter_error *err)
{
	size_t size = LZ4_HEADER_MIN;
	unsigned flags;

	if (n >= 4 && load_le32(p) != LZ4_FRAME_MAGIC)
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "not an LZ4 frame");
	if (n < size)
		return (ptrdiff_t)size;
	flags = p[4];
	if ((flags & 0xc0) != LZ4_VERSION || flags & LZ4_RESERVED ||
	    p[5] & 0x8f || p[5] >> 4 < 4)
		return filter_fail(err, FILTER_E_UNSUPPORTED, offset + 4,
				   "LZ4 frame header %02x %02x is of an unknown "
				   "version or has reserved bits set", flags, p[5]);
	size += (flags & LZ4_CONTENT_SIZE ? 8 : 0) + (flags & LZ4_DICT_ID ? 4 : 0);
	if (n < size)
		return (ptrdiff_t)size;
	*h = (struct lz4_header){
		.size = size,
		.block_max = block_max_of_code(p[5] >> 4),
		.content = flags & LZ4_CONTENT_SIZE ? load_le64(p + 6) : SIZE_UNKNOWN,
		.dict_id = flags & LZ4_DICT_ID ? load_le32(p + size - 5) : 0,
		.flags = (uint8_t)flags,
	};
	return lz4_header_check(p, size, offset, err) ? err->code : (ptrdiff_t)size;
}

size_t lz4_header_write(const struct lz4_header *h, uint8_t *dst)
{
	size_t size = 6;
	unsigned code = 4;

	while (block_max_of_code(code) < h->block_max)
		code++;
	store_le32(dst, LZ4_FRAME_MAGIC);
	dst[4] = (uint8_t)(LZ4_VERSION | h->flags);
	dst[5] = (uint8_t)(code << 4);
	if (h->flags & LZ4_CONTENT_SIZE) {
		store_le32(dst + size, (uint32_t)h->content);
		store_le32(dst + size + 4, (uint32_t)(h->content >> 32));
		size += 8;
	}
	if (h->flags & LZ4_DICT_ID) {
		store_le32(dst + size, h->dict_id);
		size += 4;
	}
	dst[size] = (uint8_t)(XXH32(dst + 4, size - 4, 0) >> 8);
	return size + 1;
}

/* --- one block --- */

struct lz4_packer {
	int level;
	const char *dict;
	int dict_len;
	LZ4_stream_t *fast;	/* one of the two */
	LZ4_streamHC_t *hc;
};

struct lz4_packer *lz4_packer_open(int level, const uint8_t *dict,
				   size_t dict_len)
{
	struct lz4_packer *k = calloc(1, sizeof(*k));
	size_t use = dict_len < LZ4_HISTORY ? dict_len : LZ4_HISTORY;

	if (!k)
		return NULL;
	k->level = level;
	if (use) {
		k->dict = (const char *)dict + dict_len - use;
		k->dict_len = (int)use;
	}
	if (level < LZ4HC_CLEVEL_MIN)
		k->fast = LZ4_createStream();
	else
		k->hc = LZ4_createStreamHC();
	if (k->fast || k->hc)
		return k;
	free(k);
	return NULL;
}

void lz4_packer_close(struct lz4_packer *k)
{
	if (k->fast)
		LZ4_freeStream(k->fast);
	if (k->hc)
		LZ4_freeStreamHC(k->hc);
	free(k);
}

/* lz4's own mapping: level -N is acceleration N + 1. */
static int lz4_acceleration(int level)
{
	return level < 0 ? 1 - level : 1;
}

static int lz4_pack_fast(struct lz4_packer *k, const char *src, int n,
			 char *dst, int cap)
{
	int acceleration = lz4_acceleration(k->level);

	if (!k->dict)
		return LZ4_compress_fast_extState(k->fast, src, dst, n, cap,
						  acceleration);
	LZ4_loadDict(k->fast, k->dict, k->dict_len);
	return LZ4_compress_fast_continue(k->fast, src, dst, n, cap, acceleration);
}

static int lz4_pack_hc(struct lz4_packer *k, const char *src, int n,
		       char *dst, int cap)
{
	if (!k->dict)
		return LZ4_compress_HC_extStateHC(k->hc, src, dst, n, cap,
						  k->level);
	LZ4_resetStreamHC_fast(k->hc, k->level);
	LZ4_loadDictHC(k->hc, k->dict, k->dict_len);
	return LZ4_compress_HC_continue(k->hc, src, dst, n, cap);
}

size_t lz4_packer_pack(struct lz4_packer *k, const uint8_t *src, size_t n,
		       uint8_t *dst, size_t cap)
{
	const char *from = (const char *)src;
	char *to = (char *)dst;
	int r;

	if (k->fast)
		r = lz4_pack_fast(k, from, (int)n, to, (int)cap);
	else
		r = lz4_pack_hc(k, from, (int)n, to, (int)cap);
	return r > 0 ? (size_t)r : 0;
}
