/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sources.c - a source gives the same bytes however it is peeked and unread
 *
 * A long run of random calls against a plain array, and the look-ups of the
 * registry.
 */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned roll(unsigned *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed >> 8;
}

/* Random peeks, reads, unreads and skips; each must agree with the array. */
static void test_random_calls(unsigned seed)
{
	struct bytes raw = kit_noise(20000, seed);
	struct kit_source s;
	size_t at = 0;

	kit_source_open(&s, raw.p, raw.n, roll(&seed) % 100, 1 + roll(&seed) % 1500);
	s.pause = seed & 1;
	while (at < raw.n) {
		const uint8_t *p;
		size_t want = 1 + roll(&seed) % SOURCE_PEEK_MAX, left = raw.n - at;
		ptrdiff_t n;

		if (roll(&seed) % 2) {
			n = source_peek(&s.src, want, &p);
			CHECK(n == (ptrdiff_t)(want < left ? want : left) &&
			      !memcmp(p, raw.p + at, (size_t)n),
			      "seed %u: peeking %zu at %zu gives %td", seed, want, at, n);
		} else if (roll(&seed) % 3) {
			n = source_next(&s.src, &p);
			if (n == SOURCE_PAUSE)
				continue;
			CHECK(n > 0 && (size_t)n <= left &&
			      !memcmp(p, raw.p + at, (size_t)n),
			      "seed %u: next at %zu gives %td", seed, at, n);
			want = roll(&seed) % ((size_t)n + 1);
			source_unread(&s.src, p + n - want, want);
			at += (size_t)n - want;
		} else {
			n = source_skip(&s.src, want);
			CHECK(n == (want <= left ? FILTER_OK : FILTER_E_TRUNCATED),
			      "seed %u: skipping %zu of %zu gives %td", seed, want, left, n);
			at += want < left ? want : left;
		}
		CHECK(s.src.offset == at, "seed %u: offset %llu, not %zu", seed,
		      (unsigned long long)s.src.offset, at);
	}
	CHECK(source_skip(&s.src, 1) == FILTER_E_TRUNCATED, "a skip behind the end");
	kit_source_close(&s);
	bytes_free(&raw);
}

static ptrdiff_t failing_pull(struct source *s, const uint8_t **data)
{
	(void)s;
	(void)data;
	return FILTER_E_READ;
}

/* A failing read is an error of its own, never an end (lz4 #243). */
static void test_read_error(void)
{
	for (size_t i = 0; i < filter_count; i++) {
		const struct filter *f = filter_table[i];
		const struct stream_ops *ops[] = { f->pack, f->unpack };
		struct filter_params p;

		filter_params_init(&p);
		for (int k = 0; k < 2; k++) {
			struct filter_error err = { 0 };
			struct source src;
			uint8_t buf[65536];
			void *state;
			ptrdiff_t n = 1;

			if (!ops[k])
				continue;
			p.size = k && f->flags & FILTER_NEEDS_SIZE ? 1 : SIZE_UNKNOWN;
			source_init(&src, failing_pull);
			state = ops[k]->open(&p, &src, &err);
			while (state && n > 0)
				n = ops[k]->read(state, buf, sizeof(buf), &err);
			CHECK(n == FILTER_E_READ && err.code == FILTER_E_READ,
			      "%s: a failing source gives %td", f->name, n);
			if (state)
				ops[k]->close(state);
		}
	}
}

static void test_look_ups(void)
{
	static const uint8_t skip[] = { 0x5f, 0x2a, 0x4d, 0x18, 3, 1, 0, 0 };

	for (size_t i = 0; i < filter_count; i++) {
		const struct filter *f = filter_table[i];

		CHECK(filter_by_name(f->name) == f, "%s isn't found by name", f->name);
		CHECK(f->missing || f->pack || f->pack_blocks, "%s can't pack", f->name);
		if (f->suffix) {
			char path[64];

			snprintf(path, sizeof(path), "dir.x/file%.*s",
				 (int)strcspn(f->suffix, " "), f->suffix);
			CHECK(filter_by_suffix(path) == f, "%s isn't found by %s",
			      f->name, path);
		}
	}
	CHECK(!filter_by_suffix(".zst") && !filter_by_suffix("zst"),
	      "a suffix alone is no name");
	CHECK(filter_by_suffix("a.tzst") == filter_by_name("zstd"), ".tzst");
	CHECK(frame_skippable(skip, 8) == 8 + 259, "a skippable frame's length");
	CHECK(!frame_skippable(skip, 7), "seven bytes are no skippable frame");
	CHECK(!filter_detect((const uint8_t *)"plain text", 10), "text is no codec's");
}

int main(void)
{
	for (unsigned seed = 1; seed < 300; seed++)
		test_random_calls(seed * 7919);
	test_read_error();
	test_look_ups();
	printf("%s - sources (%d checks)\n", kit_failures ? "not ok" : "ok", kit_checks);
	return kit_failures != 0;
}
