/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.c - the benchmark's coders as one table
 *
 * The first row of a group is its baseline.  The Rust peers come out of
 * libpeers.so (tests/peers/build.sh) and are left out without it.
 */
#include "bench.h"

#include "lzvolt.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <lz4.h>
#include <lz4hc.h>
#include <string.h>

/* Large enough for every level; see main(). */
static _Alignas(64) uint8_t state[64 << 20];

static int64_t own_pack(const uint8_t *src, size_t len, uint8_t *dst, size_t cap,
			size_t declared, int arg)
{
	(void)declared;
	if (lzvolt_state_size(arg) > sizeof(state))
		return -1;
	return lzvolt_compress_level(state, src, len, dst, cap, arg);
}

static int64_t own_default(const uint8_t *src, size_t len, uint8_t *dst,
			   size_t cap, size_t declared, int arg)
{
	(void)declared;
	(void)arg;
	return lzvolt_compress(src, len, dst, cap);
}

static int64_t own_unpack(const uint8_t *src, size_t len, uint8_t *dst,
			  size_t cap, size_t declared, int arg)
{
	(void)declared;
	(void)arg;
	return lzvolt_decompress(src, len, dst, cap);
}

static int64_t own_unpack_lz4(const uint8_t *src, size_t len, uint8_t *dst,
			      size_t cap, size_t declared, int arg)
{
	(void)arg;
	return lzvolt_decompress_lz4(src, len, dst, cap, declared);
}

static int64_t own_unpack_safe(const uint8_t *src, size_t len, uint8_t *dst,
			       size_t cap, size_t declared, int arg)
{
	(void)declared;
	(void)arg;
	return lzvolt_decompress_lz4_safe((const char *)src, (char *)dst, len, cap);
}

static int64_t lz4_pack(const uint8_t *src, size_t len, uint8_t *dst, size_t cap,
			size_t declared, int arg)
{
	(void)declared;
	return arg ? LZ4_compress_HC((const char *)src, (char *)dst, len, cap, arg) :
		     LZ4_compress_default((const char *)src, (char *)dst, len, cap);
}

static int64_t lz4_unpack(const uint8_t *src, size_t len, uint8_t *dst,
			  size_t cap, size_t declared, int arg)
{
	(void)declared;
	(void)arg;
	return LZ4_decompress_safe((const char *)src, (char *)dst, len, cap);
}

static int64_t copy(const uint8_t *src, size_t len, uint8_t *dst, size_t cap,
		    size_t declared, int arg)
{
	(void)declared;
	(void)arg;
	if (len > cap)
		return -1;
	memcpy(dst, src, len);
	return len;
}

/* libpeers.so; all or none of these are set. */
static struct {
	int64_t (*lzvolt_pack)(const uint8_t *, size_t, uint8_t *, size_t);
	int64_t (*lzvolt_unpack)(const uint8_t *, size_t, uint8_t *, size_t);
	int64_t (*lzvolt_unpack_lz4)(const uint8_t *, size_t, uint8_t *, size_t, size_t);
	int64_t (*lz4_flex_pack)(const uint8_t *, size_t, uint8_t *, size_t);
	int64_t (*lz4_flex_unpack)(const uint8_t *, size_t, uint8_t *, size_t);
	const char *(*lzvolt_backend)(void);
} peer;

static bool have_peers;

bool peers_load(const char *path)
{
	static const struct { const char *name; void *at; } symbols[] = {
		{ "peer_lzvolt_pack", &peer.lzvolt_pack },
		{ "peer_lzvolt_unpack", &peer.lzvolt_unpack },
		{ "peer_lzvolt_unpack_lz4", &peer.lzvolt_unpack_lz4 },
		{ "peer_lz4_flex_pack", &peer.lz4_flex_pack },
		{ "peer_lz4_flex_unpack", &peer.lz4_flex_unpack },
		{ "peer_lzvolt_backend", &peer.lzvolt_backend },
	};
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	have_peers = lib;
	for (size_t i = 0; lib && i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(lib, symbols[i].name);

		memcpy(symbols[i].at, &symbol, sizeof(symbol));
		have_peers &= symbol != NULL;
	}
	return have_peers;
}

const char *peers_backend(void)
{
	return have_peers ? peer.lzvolt_backend() : "absent";
}

static int64_t ref_pack(const uint8_t *src, size_t len, uint8_t *dst, size_t cap,
			size_t declared, int arg)
{
	(void)declared;
	(void)arg;
	return peer.lzvolt_pack(src, len, dst, cap);
}

static int64_t ref_unpack(const uint8_t *src, size_t len, uint8_t *dst,
			  size_t cap, size_t declared, int arg)
{
	(void)declared;
	(void)arg;
	return peer.lzvolt_unpack(src, len, dst, cap);
}

static int64_t ref_unpack_lz4(const uint8_t *src, size_t len, uint8_t *dst,
			      size_t cap, size_t declared, int arg)
{
	(void)arg;
	return peer.lzvolt_unpack_lz4(src, len, dst, cap, declared);
}

static int64_t flex_pack(const uint8_t *src, size_t len, uint8_t *dst, size_t cap,
			 size_t declared, int arg)
{
	(void)declared;
	(void)arg;
	return peer.lz4_flex_pack(src, len, dst, cap);
}

static int64_t flex_unpack(const uint8_t *src, size_t len, uint8_t *dst,
			   size_t cap, size_t declared, int arg)
{
	(void)declared;
	(void)arg;
	return peer.lz4_flex_unpack(src, len, dst, cap);
}

enum { ALWAYS, PEER, SLOW };

#define SIZE	LZVOLT_FAVOR_SIZE

static const struct row {
	struct column col;
	int when;
} rows[] = {
	{ { "liblz4", UNPACK, lz4_pack, lz4_unpack, 0 }, ALWAYS },
	{ { "voltbox", UNPACK, own_pack, own_unpack, 3 }, ALWAYS },
	{ { "lzvolt-1.0", UNPACK, ref_pack, ref_unpack, 0 }, PEER },
	{ { "ours-by-1.0", UNPACK, own_pack, ref_unpack, 3 }, PEER },
	{ { "1.0-by-ours", UNPACK, ref_pack, own_unpack, 0 }, PEER },
	{ { "lz4_flex", UNPACK, lz4_pack, flex_unpack, 0 }, PEER },
	{ { "memcpy", UNPACK, copy, copy, 0 }, ALWAYS },

	{ { "liblz4", LZ4_BLOCKS, lz4_pack, lz4_unpack, 0 }, ALWAYS },
	{ { "voltbox", LZ4_BLOCKS, lz4_pack, own_unpack_lz4, 0 }, ALWAYS },
	{ { "safe-call", LZ4_BLOCKS, lz4_pack, own_unpack_safe, 0 }, ALWAYS },
	{ { "lzvolt-1.0", LZ4_BLOCKS, lz4_pack, ref_unpack_lz4, 0 }, PEER },
	{ { "lz4_flex", LZ4_BLOCKS, lz4_pack, flex_unpack, 0 }, PEER },

	{ { "liblz4", PACK, lz4_pack, NULL, 0 }, ALWAYS },
	{ { "level-1", PACK, own_pack, NULL, 1 }, ALWAYS },
	{ { "level-1-size", PACK, own_pack, NULL, 1 | SIZE }, ALWAYS },
	{ { "level-2", PACK, own_pack, NULL, 2 }, SLOW },
	{ { "level-3", PACK, own_pack, NULL, 3 }, ALWAYS },
	{ { "level-3-size", PACK, own_pack, NULL, 3 | SIZE }, ALWAYS },
	{ { "default", PACK, own_default, NULL, 0 }, SLOW },
	{ { "level-4", PACK, own_pack, NULL, 4 | SIZE }, SLOW },
	{ { "level-5", PACK, own_pack, NULL, 5 | SIZE }, SLOW },
	{ { "level-6", PACK, own_pack, NULL, 6 | SIZE }, SLOW },
	{ { "level-7", PACK, own_pack, NULL, 7 | SIZE }, SLOW },
	{ { "level-8", PACK, own_pack, NULL, 8 | SIZE }, SLOW },
	{ { "level-9", PACK, own_pack, NULL, 9 | SIZE }, SLOW },
	{ { "lz4-hc-12", PACK, lz4_pack, NULL, LZ4HC_CLEVEL_MAX }, SLOW },
	{ { "lzvolt-1.0", PACK, ref_pack, NULL, 0 }, PEER },
	{ { "lz4_flex", PACK, flex_pack, NULL, 0 }, PEER },
};

size_t columns_get(enum group group, const struct columns_wish *wish,
		   struct column *col)
{
	size_t n = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		bool take = n == 0 || !wish->only ||
			    !fnmatch(wish->only, r->col.name, FNM_EXTMATCH);

		if (r->col.group != group || !take || n == COLUMNS_MAX ||
		    (r->when == PEER && !have_peers) ||
		    (r->when == SLOW && !wish->slow))
			continue;
		col[n] = r->col;
		if (group == UNPACK && r->col.pack == own_pack)
			col[n].arg = wish->level;
		if (group == LZ4_BLOCKS && wish->hc)
			col[n].arg = LZ4HC_CLEVEL_MAX;
		n++;
	}
	return n;
}
