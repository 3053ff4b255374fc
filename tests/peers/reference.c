/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference - our decoder against the reference crate's, verdict and bytes
 *
 * usage: reference LIBPEERS [VALUES [SEED]]	(1,000,000 and 1)
 *
 * Values of our encoder, of the reference's, hand-built ones and LZ4 blocks, each
 * as it is and damaged.  Prints every kind of difference with a count and one
 * example.  Kinds that are known and meant (see known()) don't fail.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkasm.h"
#include "lzvolt.h"

#define PLAIN_MAX	(1u << 20)

typedef int64_t pack_fn(const uint8_t *, size_t, uint8_t *, size_t);
typedef int64_t unpack_lz4_fn(const uint8_t *, size_t, uint8_t *, size_t, size_t);

static pack_fn *peer_value_pack, *peer_value_unpack;
static unpack_lz4_fn *peer_lz4_unpack;
static uint8_t *ours, *theirs;

#define KINDS_MAX 32

/* Differences seen: the two results (1 = accepted) and how often. */
static struct difference {
	enum kind kind;
	bool hybrid, known;
	int our_code, their_code;
	unsigned long count;
} seen[KINDS_MAX];
static unsigned kinds;
static unsigned long tried, accepted;

static bool is_hybrid(const struct input *in)
{
	return in->kind == KIND_VALUE && in->packed_len > 1 && in->packed[0] >> 6 &&
	       (in->packed[0] & 0x20);
}

/*
 * The reference decodes a hybrid value by its kernels, which go by in_at, and
 * what they refuse once more by its portable decoder, which doesn't look at
 * in_at.  So of damaged hybrid values it may accept, or refuse for another
 * reason, what goes wrong for who goes by the trailer, as lzvolt(5) says.
 * And where a block breaks two rules, literals past the length and a bad offset,
 * its short path names the offset, its long path and we the length.
 */
static bool known(const struct input *in, int64_t our, int64_t their)
{
	if (our == LZVOLT_E_LENGTH_MISMATCH && their == LZVOLT_E_BAD_OFFSET)
		return true;
	return is_hybrid(in) && our < 0;
}

static void difference_note(const struct input *in, int64_t our, int64_t their)
{
	struct difference d = {
		in->kind, is_hybrid(in), known(in, our, their),
		our < 0 ? (int)our : 1, their < 0 ? (int)their : 1, 1
	};
	unsigned i = 0;

	while (i < kinds && !(seen[i].kind == d.kind && seen[i].hybrid == d.hybrid &&
			      seen[i].our_code == d.our_code &&
			      seen[i].their_code == d.their_code))
		i++;
	if (i < kinds) {
		seen[i].count++;
		return;
	}
	if (kinds == KINDS_MAX)
		return;
	seen[kinds++] = d;
	printf("difference: %s%s: ours %lld, theirs %lld:", in->name,
	       d.hybrid ? " (hybrid)" : "", (long long)our, (long long)their);
	for (size_t k = 0; k < in->packed_len && k < 48; k++)
		printf(" %02x", in->packed[k]);
	puts("");
}

static void compare(const struct input *in)
{
	int64_t n = in->kind == KIND_VALUE ?
		lzvolt_declared_size(in->packed, in->packed_len) : (int64_t)in->plain_len;
	int64_t our, their;
	size_t cap;

	if (n > PLAIN_MAX || (in->kind == KIND_LZ4 && !in->packed_len))
		return;		/* lzvolt 1.0 reads address 1 on an empty LZ4 block */
	cap = (n < 0 ? 0 : (size_t)n) + 64;
	if (in->kind == KIND_VALUE) {
		our = lzvolt_decompress(in->packed, in->packed_len, ours, cap);
		their = peer_value_unpack(in->packed, in->packed_len, theirs, cap);
	} else {
		our = lzvolt_decompress_lz4(in->packed, in->packed_len, ours, cap, (size_t)n);
		their = peer_lz4_unpack(in->packed, in->packed_len, theirs, cap, (size_t)n);
	}
	tried++;
	accepted += our >= 0;
	if (our != their || (our > 0 && memcmp(ours, theirs, (size_t)our)))
		difference_note(in, our, their);
}

static void gen_theirs(struct input *in)
{
	size_t n = 8 + rnd_below(8192), cap = lzvolt_compress_bound(n) + 64;
	uint8_t *plain = malloc(n);
	int64_t len = 0;

	*in = (struct input){ .name = "reference's value", .packed = malloc(cap) };
	while (len <= 0) {
		gen_text(plain, n);
		len = peer_value_pack(plain, n, in->packed, cap);
	}
	in->packed_len = (size_t)len;
	in->plain = plain;
}

static void gen_one(struct input *in)
{
	switch (rnd_below(5)) {
	case 0:
		gen_value(in, 8192);
		break;
	case 1:
		gen_theirs(in);
		break;
	case 2:
		gen_lz4(in, 8192);
		break;
	case 3:
		gen_blocks(in, KIND_LZ4);
		break;
	default:
		gen_blocks(in, KIND_VALUE);
	}
}

static bool peers_open(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);

	if (!lib)
		return false;
	peer_value_pack = (pack_fn *)dlsym(lib, "peer_lzvolt_pack");
	peer_value_unpack = (pack_fn *)dlsym(lib, "peer_lzvolt_unpack");
	peer_lz4_unpack = (unpack_lz4_fn *)dlsym(lib, "peer_lzvolt_unpack_lz4");
	return peer_value_pack && peer_value_unpack && peer_lz4_unpack;
}

static int report(void)
{
	unsigned bad = 0;

	for (unsigned i = 0; i < kinds; i++) {
		printf("%8lu x %s%s ours %d theirs %d%s\n", seen[i].count,
		       seen[i].kind == KIND_LZ4 ? "LZ4 block" : "value",
		       seen[i].hybrid ? " (hybrid)" : "", seen[i].our_code,
		       seen[i].their_code, seen[i].known ? ": known" : "");
		bad += !seen[i].known;
	}
	printf("%lu inputs, %lu accepted\n", tried, accepted);
	printf("%u passed, %u failed, 0 skipped\n", bad ? 0 : 1, bad);
	return bad != 0;
}

int main(int argc, char **argv)
{
	unsigned long values = argc > 2 ? strtoul(argv[2], NULL, 0) : 1000000;
	uint8_t *keep = malloc(PLAIN_MAX);

	if (argc < 2 || !peers_open(argv[1]))
		return fprintf(stderr, "reference: %s\n", argc < 2 ? "no library" : dlerror()), 2;
	seed_now = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
	ours = malloc(PLAIN_MAX + 64);
	theirs = malloc(PLAIN_MAX + 64);
	while (tried < values) {
		struct input in, bad;

		gen_one(&in);
		compare(&in);
		memcpy(keep, in.packed, in.packed_len);
		for (int i = 0; i < 40; i++) {
			bad = in;
			bad.plain = NULL;
			memcpy(bad.packed, keep, in.packed_len);
			gen_mutate(&bad);
			compare(&bad);
		}
		input_free(&in);
	}
	return report();
}
