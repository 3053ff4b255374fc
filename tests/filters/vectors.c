/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vectors.c - the golden vectors through the faces, whole and byte by byte
 *
 * Usage: vectors FOLDER.  Prints a TAP line a codec.  Members in a row and
 * skippable frames are read as a caller does; what follows the last member is
 * the caller's business and ignored.
 */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- SHA-256 (FIPS 180-4), since the manifest has it --- */

static uint32_t rotate(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void sha_block(uint32_t *h, const uint8_t *p)
{
	static const uint32_t k[64] = {
		0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
		0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
		0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
		0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
		0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
		0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
		0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
		0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
		0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
		0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
		0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
	};
	uint32_t w[64], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
			(uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
			(rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
			(rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(s, h, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t a = s[7] + k[i] + w[i] + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
			(rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25));
		uint32_t b = ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2])) +
			(rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22));

		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += a;
		s[0] = a + b;
	}
	for (int i = 0; i < 8; i++)
		h[i] += s[i];
}

static void sha_text(const struct bytes *b, char *text)
{
	uint32_t h[8] = {
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};
	uint8_t tail[128] = { 0 };
	size_t whole = b->n / 64 * 64, rest = b->n - whole;
	size_t tail_len = rest < 56 ? 64 : 128;

	for (size_t i = 0; i < whole; i += 64)
		sha_block(h, b->p + i);
	if (rest)
		memcpy(tail, b->p + whole, rest);
	tail[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		tail[tail_len - 1 - i] = (uint8_t)((uint64_t)b->n * 8 >> 8 * i);
	for (size_t i = 0; i < tail_len; i += 64)
		sha_block(h, tail + i);
	for (int i = 0; i < 8; i++)
		sprintf(text + 8 * i, "%08x", h[i]);
}

/* --- one row --- */

struct row {
	char file[200], codec[20], expect[20], sha[80], dict[200];
	unsigned long long len;
};

/*
 * Rows where the repository wants a refusal and the library, like its own
 * tool, accepts; and what these libraries can't read.
 */
static const char *const library_differs[] = {
	"zstd/zstd__off0.bin.zst",
	"zstd/zstd__zeroSeq_extraneous.zst",
	"lzip/xz__good-1-v0-trailing-1.lz",
	"lzip/xz__good-1-v1-trailing-2.lz",
	"lzip/xz__good-2-v0-v1.lz",
	"lzip/lzbench__fox_nz.lz",
	/* lzlib's sync flush marker, which liblzma doesn't know */
	"lzip/lzbench__test_sync.lz",
	/* a window of 256 MiB: decoded, there being no memory budget here */
	"zstd/zstd-rs__window_256mib.zst",
	/* a skippable frame of 4 GiB of which nothing is there: truncated */
	"lz4/libarchive__test_read_filter_lz4_raw_skip",
	/* an offset of zero, which liblz4 lets pass and our kernels refuse */
	"lz4-block/compress__convert-d087c493db7c4f23",
	/* it is the garbage behind the member that is wrong here */
	"brotli/self__monkey-trailing.br",
	"zstd/self__trailing-garbage.zst",
	"lz4/libarchive__test_compat_lz4_2.tar.lz4",
	"lzma/libarchive__test_compat_lzma_1.tlz",
	"zstd/zstd-rs__fuzz-crash-5ba93c9db0cff93f52",
	"zstd/zstd-rs__fuzz-crash-a9f55c479d7c420764",
	"lzip/xz__bad-1-v1-trailing-magic.lz",
	"zstd/compress__bad-frame_skip_nosize.zst",
	"xz/xz__bad-0cat-header_magic.xz",
	"uu/libarchive__test_read_filter_uudecode_base64_raw",
};

static bool is_known(const char *file)
{
	for (size_t i = 0; i < sizeof(library_differs) / sizeof(library_differs[0]); i++)
		if (!strcmp(library_differs[i], file))
			return true;
	return false;
}

static struct bytes load(const char *folder, const char *name)
{
	struct bytes b = { 0 };
	char path[500], buf[4096];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "rb");
	bytes_add(&b, "", 0);
	while (f && (n = fread(buf, 1, sizeof(buf), f)) > 0)
		bytes_add(&b, buf, n);
	if (f)
		fclose(f);
	return b;
}

/* Members in a row; the first one's failure, or that of one begun later. */
static int decode(const struct filter *f, const struct filter_params *p,
		  struct kit_source *src, struct bytes *out,
		  struct filter_error *err)
{
	bool any = false;

	for (;;) {
		const uint8_t *head;
		ptrdiff_t n = source_peek(&src->src, FILTER_PEEK, &head);
		uint64_t skip;
		int r;

		if (n <= 0)
			return any ? 0 : FILTER_E_TRUNCATED;
		skip = frame_skippable(head, (size_t)n);
		if (skip && f->peek == 4) {
			if (source_skip(&src->src, skip))
				return FILTER_E_TRUNCATED;
			any = true;
			continue;
		}
		if (any && (!f->detect || !f->detect(head, (size_t)n)))
			return 0;
		r = kit_stream(f->unpack, p, src, 65536, out, err);
		if (r)
			return r;
		any = true;
	}
}

static void check_row(const char *folder, const struct filter *f,
		      const struct row *row, const struct bytes *packed,
		      size_t chunk)
{
	struct bytes dict = { 0 }, out = { 0 };
	struct filter_params p;
	struct filter_error err = { 0 };
	struct kit_source src;
	char sha[80];
	int r;

	filter_params_init(&p);
	if (f->flags & FILTER_NEEDS_SIZE)
		p.size = strcmp(row->expect, "ok") ? 65536 : row->len;
	if (row->dict[0]) {
		dict = load(folder, row->dict);
		p.dict = dict.p;
		p.dict_len = dict.n;
	}
	kit_source_open(&src, packed->p, packed->n, 0, chunk);
	r = decode(f, &p, &src, &out, &err);
	sha_text(&out, sha);
	if (strcmp(row->expect, "ok"))
		CHECK(r < 0, "%s is accepted (by %zu)", row->file, chunk);
	else
		CHECK(r == 0 && out.n == row->len && !strcmp(sha, row->sha),
		      "%s: %d, %zu bytes: %s (by %zu)", row->file, r, out.n,
		      err.what, chunk);
	kit_source_close(&src);
	bytes_free(&dict);
	bytes_free(&out);
}

static bool parse(char *line, struct row *row)
{
	char *field[6] = { 0 }, *at = line;

	*row = (struct row){ 0 };
	for (int i = 0; i < 6 && at; i++)
		field[i] = strsep(&at, "\t");
	if (!field[5] || line[0] == '#')
		return false;
	snprintf(row->file, sizeof(row->file), "%s", field[0]);
	snprintf(row->codec, sizeof(row->codec), "%s", field[1]);
	sscanf(field[3], "%19s %79s %llu", row->expect, row->sha, &row->len);
	sscanf(field[4], "dict=%199s", row->dict);
	return true;
}

int main(int argc, char **argv)
{
	struct bytes manifest = load(argc > 1 ? argv[1] : ".", "manifest.tsv");
	char *at = (char *)manifest.p, *line;
	int rows = 0;
	struct row row;

	if (!manifest.n) {
		printf("ok - vectors # skipped: no manifest.tsv\n");
		return 77;
	}
	bytes_add(&manifest, "", 1);
	at = (char *)manifest.p;
	while ((line = strsep(&at, "\n"))) {
		const struct filter *f;
		struct bytes packed;

		if (!parse(line, &row) || is_known(row.file))
			continue;
		f = filter_by_name(row.codec);
		if (!f || !f->unpack)
			continue;
		packed = load(argv[1], row.file);
		check_row(argv[1], f, &row, &packed, packed.n + 1);
		check_row(argv[1], f, &row, &packed, packed.n < 50000 ? 1 : 997);
		bytes_free(&packed);
		rows++;
	}
	CHECK(rows > 200, "only %d rows", rows);
	printf("%s - vectors (%d rows, %d checks)\n", kit_failures ? "not ok" : "ok",
	       rows, kit_checks);
	bytes_free(&manifest);
	return kit_failures != 0;
}
