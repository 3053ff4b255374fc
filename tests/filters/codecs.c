/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codecs.c - every face of every row of filter_table, by the same tests
 *
 * Each test is a fact that holds for all codecs; what a format can't know is
 * in its line of `facts`.  Usage: codecs [NAME]... (default: all).
 */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CAP ((size_t)64 << 10)

/* What a format can't do; whoever isn't named here can do all of it. */
static const struct fact {
	const char *name;
	bool no_check;		/* a flipped bit may go unseen */
	bool no_end;		/* owns all of its input, so knows no truncation */
	bool no_flush;		/* a pause gives nothing */
	bool shrinks;		/* packs only what shrinks */
} facts[] = {
	{ "lz4-legacy", .no_check = true, .no_end = true },
	{ "deflate", .no_check = true },
	{ "brotli", .no_check = true },
	{ "lzvolt", .no_check = true, .no_end = true, .no_flush = true,
	  .shrinks = true },
	{ "lz4-block", .no_check = true, .no_end = true, .no_flush = true },
	{ "lzma", .no_check = true, .no_flush = true },
	{ "compress", .no_check = true, .no_end = true, .no_flush = true },
	{ "uu", .no_check = true },
	{ "raw", .no_check = true, .no_end = true },
};

static const struct fact *fact_of(const struct filter *f)
{
	static const struct fact none = { 0 };

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (!strcmp(facts[i].name, f->name))
			return &facts[i];
	return &none;
}

static struct filter_params params_for(const struct filter *f, size_t raw)
{
	struct filter_params p;

	filter_params_init(&p);
	if (f->flags & FILTER_NEEDS_SIZE)
		p.size = raw;
	return p;
}

static struct bytes pack(const struct filter *f, const struct filter_params *p,
			 const struct bytes *raw, size_t chunk)
{
	struct kit_source src;
	struct filter_error err = { 0 };
	struct bytes out = { 0 };
	int r;

	kit_source_open(&src, raw->p, raw->n, 0, chunk);
	r = kit_stream(f->pack, p, &src, CAP, &out, &err);
	CHECK(r == 0, "%s: packing %zu bytes by %zu: %s", f->name, raw->n, chunk,
	      err.what);
	kit_source_close(&src);
	return out;
}

/* Unpacks one member and sees that what follows is left in the source. */
static void check_unpack(const struct filter *f, const struct bytes *packed,
			 size_t behind, size_t first, size_t chunk,
			 const struct bytes *raw)
{
	struct filter_params p = params_for(f, raw->n);
	struct kit_source src;
	struct filter_error err = { 0 };
	struct bytes out = { 0 };
	const uint8_t *rest;
	ptrdiff_t left;
	int r;

	kit_source_open(&src, packed->p, packed->n, first, chunk);
	r = kit_stream(f->unpack, &p, &src, CAP, &out, &err);
	CHECK(r == 0, "%s: unpacking %zu bytes by %zu, %zu: %s at %llu", f->name,
	      packed->n, first, chunk, err.what, (unsigned long long)err.offset);
	CHECK(bytes_same(&out, raw), "%s: %zu bytes come back as %zu others",
	      f->name, raw->n, out.n);
	left = source_peek(&src.src, behind + 1, &rest);
	CHECK(left == (ptrdiff_t)behind &&
	      (!behind || !memcmp(rest, packed->p + packed->n - behind, behind)),
	      "%s: %td bytes left behind the member, not %zu (by %zu, %zu)",
	      f->name, left, behind, first, chunk);
	CHECK(src.src.offset == packed->n - behind, "%s: offset %llu, not %zu",
	      f->name, (unsigned long long)src.src.offset, packed->n - behind);
	kit_source_close(&src);
	bytes_free(&out);
}

/* The bytes don't depend on how the input comes in, nor on the face. */
static void test_same_bytes(const struct filter *f, const struct bytes *raw,
			    int level)
{
	static const size_t chunks[] = { 1, 7, 4096, 100000 };
	struct filter_params p = params_for(f, raw->n);
	struct bytes whole, by_blocks = { 0 };
	struct filter_error err = { 0 };

	p.level = level;
	whole = pack(f, &p, raw, raw->n + 1);
	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		struct bytes again;

		/* the slowest levels once on the longer input */
		if (raw->n > 100000 && level == f->level_max && i != 3)
			continue;
		again = pack(f, &p, raw, chunks[i]);
		CHECK(bytes_same(&whole, &again), "%s level %d: by %zu the bytes differ",
		      f->name, level, chunks[i]);
		bytes_free(&again);
	}
	if (f->pack_blocks) {
		int r = kit_pack_blocks(f->pack_blocks, &p, raw->p, raw->n,
					&by_blocks, &err);

		CHECK(r == 0 && bytes_same(&whole, &by_blocks),
		      "%s level %d: the block face's bytes differ (%s)",
		      f->name, level, err.what);
	}
	check_unpack(f, &whole, 0, 0, raw->n + 1, raw);
	bytes_free(&whole);
	bytes_free(&by_blocks);
}

/* Some levels need a library that may be left out. */
static bool has_level(const struct filter *f, int level)
{
	struct filter_params p = params_for(f, 0);
	struct filter_error err = { 0 };
	struct kit_source src;
	void *state;

	p.level = level;
	kit_source_open(&src, NULL, 0, 0, 1);
	state = f->pack->open(&p, &src.src, &err);
	if (state)
		f->pack->close(state);
	return state || err.code != FILTER_E_UNSUPPORTED;
}

static void test_levels(const struct filter *f, const struct bytes *raw)
{
	int low = f->level_min < -5 ? -5 : f->level_min;

	test_same_bytes(f, raw, LEVEL_DEFAULT);
	if (f->level_min == f->level_max)
		return;
	for (int level = low; level <= f->level_max && has_level(f, level); level++)
		if (raw->n < 100000 || level == low || level == f->level_max)
			test_same_bytes(f, raw, level);
}

static void test_bad_level(const struct filter *f)
{
	struct filter_params p = params_for(f, 0);
	struct filter_error err = { 0 };
	struct kit_source src;
	void *state;

	if (f->level_min == f->level_max)
		return;
	kit_source_open(&src, NULL, 0, 0, 1);
	p.level = f->level_max + 1;
	state = f->pack->open(&p, &src.src, &err);
	CHECK(!state && err.code == FILTER_E_OPTION,
	      "%s: level %d is taken", f->name, p.level);
}

/* Every way of cutting a small member in two, and one byte at a time. */
static void test_every_split(const struct filter *f, const struct bytes *raw,
			     const struct bytes *packed)
{
	struct bytes more = { 0 };

	for (size_t i = 1; i < packed->n; i++)
		check_unpack(f, packed, 0, i, packed->n, raw);
	check_unpack(f, packed, 0, 0, 1, raw);
	if (fact_of(f)->no_end)
		return;
	bytes_add(&more, packed->p, packed->n);
	bytes_add(&more, "\x01garbage that follows", 21);
	for (size_t i = 0; i < more.n; i++)
		check_unpack(f, &more, 21, i, more.n, raw);
	for (size_t chunk = 1; chunk < 24; chunk++)
		check_unpack(f, &more, 21, 0, chunk, raw);
	bytes_free(&more);
}

/* Damaged bytes through one face: an error, or (allowed) the right bytes. */
static int run_damaged(const struct filter *f, bool blocks,
		       const struct bytes *packed, size_t raw_n,
		       struct bytes *out, struct filter_error *err)
{
	struct filter_params p = params_for(f, raw_n);
	struct kit_source src;
	int r;

	p.memory = (uint64_t)64 << 20;
	if (blocks)
		return kit_unpack_blocks(f->unpack_blocks, &p, packed->p,
					 packed->n, out, err);
	kit_source_open(&src, packed->p, packed->n, 0, 1 + packed->n / 3);
	r = kit_stream(f->unpack, &p, &src, CAP, out, err);
	kit_source_close(&src);
	return r;
}

static void test_truncated(const struct filter *f, bool blocks,
			   const struct bytes *raw, const struct bytes *packed)
{
	for (size_t n = 0; n < packed->n; n++) {
		struct bytes part = { packed->p, n, n }, out = { 0 };
		struct filter_error err = { 0 };
		int r = run_damaged(f, blocks, &part, raw->n, &out, &err);

		if (!fact_of(f)->no_end)
			CHECK(r == FILTER_E_TRUNCATED, "%s: cut at %zu of %zu "
			      "gives %d (%s)", f->name, n, packed->n, r, err.what);
		CHECK(out.n <= raw->n && (!out.n || !memcmp(out.p, raw->p, out.n)),
		      "%s: cut at %zu gives bytes that weren't there", f->name, n);
		bytes_free(&out);
	}
}

static void test_flipped(const struct filter *f, bool blocks,
			 const struct bytes *raw, const struct bytes *packed)
{
	struct bytes bad = { 0 };

	bytes_add(&bad, packed->p, packed->n);
	/* each bit of a short stream, one of each byte of a longer one */
	for (size_t i = 0; i < 8 * packed->n; i += packed->n < 100 ? 1 : 9) {
		struct bytes out = { 0 };
		struct filter_error err = { 0 };
		int r;

		bad.p[i / 8] ^= (uint8_t)(1 << i % 8);
		r = run_damaged(f, blocks, &bad, raw->n, &out, &err);
		CHECK(r < 0 || bytes_same(&out, raw) || fact_of(f)->no_check,
		      "%s: bit %zu flipped goes unseen", f->name, i);
		CHECK(r >= 0 || (err.code == r && err.what[0]),
		      "%s: bit %zu: an error without words", f->name, i);
		bad.p[i / 8] ^= (uint8_t)(1 << i % 8);
		bytes_free(&out);
	}
	bytes_free(&bad);
}

/*
 * After a pause all bytes before it can be read; and what pauses gave is
 * still one stream.
 */
static void test_pause(const struct filter *f, const struct bytes *raw)
{
	struct filter_params p = params_for(f, raw->n);
	struct filter_error err = { 0 };
	struct kit_source src, back;
	struct bytes out = { 0 }, part = { 0 };
	uint8_t *buf = malloc(CAP);
	size_t half = raw->n / 2;
	void *state;
	ptrdiff_t n;

	kit_source_open(&src, raw->p, raw->n, half, raw->n);
	src.pause = true;
	state = f->pack->open(&p, &src.src, &err);
	while (src.n != 0 && (n = f->pack->read(state, buf, CAP, &err)) > 0)
		if (src.n)
			bytes_add(&out, buf, (size_t)n);
	f->pack->close(state);
	kit_source_open(&back, out.p, out.n, 0, out.n + 1);
	kit_stream(f->unpack, &p, &back, CAP, &part, &err);
	CHECK(part.n >= half || fact_of(f)->no_flush,
	      "%s: a pause behind %zu bytes gives %zu", f->name, half, part.n);
	CHECK(part.n <= raw->n && (!part.n || !memcmp(part.p, raw->p, part.n)),
	      "%s: a pause gives wrong bytes", f->name);
	kit_source_close(&src);
	kit_source_close(&back);
	bytes_free(&out);
	bytes_free(&part);
	free(buf);
}

/* All members, as bzip2 and lzip start a new one behind a flush. */
static void unpack_members(const struct filter *f, const struct bytes *packed,
			   struct bytes *out)
{
	struct filter_error err = { 0 };
	struct kit_source src;
	const uint8_t *p;
	int r = 0;

	kit_source_open(&src, packed->p, packed->n, 0, 50);
	while (!r && source_peek(&src.src, 1, &p) > 0) {
		struct filter_params params = params_for(f, 700000);

		r = kit_stream(f->unpack, &params, &src, CAP, out, &err);
	}
	CHECK(r == 0, "%s: members: %s", f->name, err.what);
	kit_source_close(&src);
}

static void test_pauses(const struct filter *f, const struct bytes *raw)
{
	struct filter_params p = params_for(f, raw->n);
	struct filter_error err = { 0 };
	struct kit_source src;
	struct bytes out = { 0 }, back = { 0 };
	int r;

	kit_source_open(&src, raw->p, raw->n, 0, 1 + raw->n / 9);
	src.pause = true;
	r = kit_stream(f->pack, &p, &src, CAP, &out, &err);
	CHECK(r == 0, "%s: packing with pauses: %s", f->name, err.what);
	kit_source_close(&src);
	unpack_members(f, &out, &back);
	CHECK(bytes_same(&back, raw), "%s: packed with pauses, %zu bytes of %zu "
	      "come back", f->name, back.n, raw->n);
	bytes_free(&out);
	bytes_free(&back);
}

/* A state that was reset does what a new one does. */
static void test_reset(const struct filter *f, const struct stream_ops *ops,
		       const struct bytes *in, const struct bytes *want,
		       size_t raw_n)
{
	struct filter_params p = params_for(f, raw_n);
	struct filter_error err = { 0 };
	struct bytes twice = { 0 };
	struct kit_source src;
	void *state;

	if (!ops->reset || (fact_of(f)->no_end && ops == f->unpack))
		return;
	bytes_add(&twice, in->p, in->n);
	bytes_add(&twice, in->p, in->n);
	kit_source_open(&src, ops == f->unpack ? twice.p : in->p,
			ops == f->unpack ? twice.n : in->n, 0, 11);
	state = ops->open(&p, &src.src, &err);
	for (int i = 0; i < 2; i++) {
		struct bytes out = { 0 };
		int r = kit_read_all(ops, state, CAP, &out, &err);

		CHECK(r == 0 && bytes_same(&out, want),
		      "%s: run %d of one state: %d, %zu bytes, not %zu (%s)",
		      f->name, i, r, out.n, want->n, err.what);
		bytes_free(&out);
		if (ops == f->pack) {
			kit_source_close(&src);
			kit_source_open(&src, in->p, in->n, 0, 11);
		}
		ops->reset(state, &p, &err);
	}
	ops->close(state);
	kit_source_close(&src);
	bytes_free(&twice);
}

static void test_describe(const struct filter *f, const struct bytes *raw,
			  const struct bytes *packed)
{
	struct filter_params p = params_for(f, raw->n);
	struct filter_error err = { 0 };
	struct bytes out = { 0 };
	struct member m = { 0 };
	struct kit_source src;
	void *state;

	kit_source_open(&src, packed->p, packed->n, 0, 13);
	state = f->unpack->open(&p, &src.src, &err);
	kit_read_all(f->unpack, state, CAP, &out, &err);
	f->unpack->describe(state, &m);
	f->unpack->close(state);
	CHECK(m.format && !strcmp(m.format, f->name), "%s is described as %s",
	      f->name, m.format);
	CHECK(m.raw == raw->n && m.packed == packed->n && m.offset == 0,
	      "%s: described as %llu of %llu bytes, not %zu of %zu", f->name,
	      (unsigned long long)m.packed, (unsigned long long)m.raw,
	      packed->n, raw->n);
	CHECK(m.declared == SIZE_UNKNOWN || m.declared == raw->n,
	      "%s: declared %llu", f->name, (unsigned long long)m.declared);
	kit_source_close(&src);
	bytes_free(&out);
}

/* A row finds its own output by content, whole or cut to what it peeks. */
static void test_detect(const struct filter *f, const struct bytes *packed)
{
	size_t n = packed->n < FILTER_PEEK ? packed->n : FILTER_PEEK;

	if (!f->detect)
		return;
	CHECK(filter_detect(packed->p, n) == f, "%s: found as %s", f->name,
	      filter_detect(packed->p, n) ? filter_detect(packed->p, n)->name :
	      "nothing");
	if (packed->n >= f->peek)
		CHECK(f->detect(packed->p, f->peek), "%s: %zu bytes don't suffice",
		      f->name, f->peek);
	for (size_t i = 0; i < f->peek && i < packed->n; i++) {
		uint8_t *cut = malloc(i + 1);

		memcpy(cut, packed->p, i);
		f->detect(cut, i);
		free(cut);
	}
}

static void test_small(const struct filter *f, const struct bytes *raw)
{
	struct filter_params p = params_for(f, raw->n);
	struct bytes packed = pack(f, &p, raw, raw->n + 1);

	test_every_split(f, raw, &packed);
	test_truncated(f, false, raw, &packed);
	test_flipped(f, false, raw, &packed);
	if (f->unpack_blocks && f->unpack_blocks->suits(packed.p, packed.n, &p)) {
		struct bytes out = { 0 };
		struct filter_error err = { 0 };
		int r = run_damaged(f, true, &packed, raw->n, &out, &err);

		CHECK(r == 0 && bytes_same(&out, raw), "%s: by blocks: %s",
		      f->name, err.what);
		bytes_free(&out);
		test_truncated(f, true, raw, &packed);
		test_flipped(f, true, raw, &packed);
	}
	test_describe(f, raw, &packed);
	if (raw->n)
		test_detect(f, &packed);
	test_reset(f, f->unpack, &packed, raw, raw->n);
	test_reset(f, f->pack, raw, &packed, raw->n);
	bytes_free(&packed);
}

/* Stored bytes grow by less than one part in 1,000 and 64 bytes. */
static void test_noise(const struct filter *f)
{
	struct bytes raw = kit_noise(300000, 5), packed;
	struct filter_params p = params_for(f, raw.n);

	if (f->level_min != f->level_max && !fact_of(f)->shrinks &&
	    strcmp(f->name, "lz4-legacy") && strcmp(f->name, "bzip2") &&
	    strcmp(f->name, "lzma") && strcmp(f->name, "lzip") &&
	    strcmp(f->name, "lz4-block")) {
		packed = pack(f, &p, &raw, 65536);
		CHECK(packed.n <= raw.n + raw.n / 1000 + 64,
		      "%s: %zu bytes of noise become %zu", f->name, raw.n, packed.n);
		check_unpack(f, &packed, 0, 0, 65536, &raw);
		bytes_free(&packed);
	}
	bytes_free(&raw);
}

/* With params.refuse noise is refused before a byte is written. */
static void test_refuse(const struct filter *f)
{
	struct bytes raw = kit_noise(100000, 7), out = { 0 };
	struct filter_params p = params_for(f, raw.n);
	struct filter_error err = { 0 };

	p.refuse = true;
	if (f->pack_blocks) {
		int r = kit_pack_blocks(f->pack_blocks, &p, raw.p, raw.n, &out, &err);

		CHECK(r == FILTER_E_REFUSED, "%s: noise isn't refused: %d",
		      f->name, r);
	}
	bytes_free(&raw);
	bytes_free(&out);
}

/* Many seams: blocks down to one byte. */
static void test_seams(const struct filter *f, const struct bytes *raw)
{
	static const size_t sizes[] = { 1, 2, 3, 100, 1000, 65536, 70000 };

	if (!(f->flags & FILTER_BLOCK_SIZE) || !f->pack_blocks || !raw->n)
		return;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct filter_params p = params_for(f, raw->n);
		struct filter_error err = { 0 };
		int low = f->level_min < 0 ? 0 : f->level_min;

		p.block_size = sizes[i];
		if (raw->n / sizes[i] > 1000)
			continue;
		for (p.level = low; p.level <= f->level_max &&
		     has_level(f, p.level); p.level++) {
			struct bytes out = { 0 };
			int r = kit_pack_blocks(f->pack_blocks, &p, raw->p, raw->n,
						&out, &err);

			CHECK(r == 0, "%s: blocks of %zu: %s", f->name, sizes[i],
			      err.what);
			check_unpack(f, &out, 0, 0, 1000, raw);
			bytes_free(&out);
		}
	}
}

/*
 * zstd's sections of noise: found whatever spans they come in, and what is
 * around them isn't packed worse.
 */
static void test_zstd_noise(const struct filter *f)
{
	struct bytes raw, text, out[3];
	struct filter_params p = params_for(f, 0);

	if (strcmp(f->name, "zstd"))
		return;
	raw = kit_noise((size_t)9 << 20, 11);
	text = kit_data((size_t)8 << 20, 12);
	bytes_add(&raw, text.p, text.n);
	p.level = 5;
	out[0] = pack(f, &p, &raw, 65536);
	out[1] = pack(f, &p, &raw, 1000003);
	p.probe = false;
	out[2] = pack(f, &p, &raw, 65536);
	CHECK(bytes_same(&out[0], &out[1]), "zstd: noise depends on the spans");
	CHECK(out[0].n <= out[2].n + out[2].n / 1000, "zstd: %zu bytes with the "
	      "probe, %zu without", out[0].n, out[2].n);
	check_unpack(f, &out[0], 0, 0, 100000, &raw);
	for (int i = 0; i < 3; i++)
		bytes_free(&out[i]);
	bytes_free(&text);
	bytes_free(&raw);
}

static void test_codec(const struct filter *f)
{
	static const size_t sizes[] = { 0, 1, 40, 900 };
	struct bytes raw;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (fact_of(f)->shrinks && sizes[i] && sizes[i] < 900)
			continue;
		raw = kit_data(sizes[i], 1);
		test_levels(f, &raw);
		test_small(f, &raw);
		test_seams(f, &raw);
		bytes_free(&raw);
	}
	raw = kit_data(200000, 3);
	test_seams(f, &raw);
	bytes_free(&raw);
	raw = kit_noise(140000, 3);
	test_seams(f, &raw);
	bytes_free(&raw);
	raw = kit_data(700000, 2);
	test_levels(f, &raw);
	test_pause(f, &raw);
	test_pauses(f, &raw);
	bytes_free(&raw);
	test_noise(f);
	test_zstd_noise(f);
	test_refuse(f);
	test_bad_level(f);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < filter_count; i++) {
		const struct filter *f = filter_table[i];
		int before = kit_failures, wanted = argc < 2;

		for (int k = 1; k < argc; k++)
			wanted |= !strcmp(argv[k], f->name);
		if (!wanted)
			continue;
		if (!f->pack || !f->unpack) {
			printf("ok - %s # skipped: %s\n", f->name, f->missing ?
			       f->missing : "has no stream face");
			continue;
		}
		test_codec(f);
		printf("%s - %s\n", kit_failures == before ? "ok" : "not ok", f->name);
		fflush(stdout);
	}
	printf("%d checks, %d failed\n", kit_checks, kit_failures);
	return kit_failures != 0;
}
