/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack_skip.c - skippable frames, and the seek tables among them
 *
 * A stream is decoded by what stands in its frames; a seek table is read past
 * like any skippable frame and decides nothing.  But its sums are compared with
 * what the frames were, from the beginning or from the table before it, so that
 * a test can tell that the table would lead astray.
 *
 * What an entry's length is stands behind the last one.  So both lengths are
 * summed, and the footer says which sums count.
 */
#include <string.h>

#include "code.h"
#include "zstd_frame.h"

struct sums {
	size_t entry;		/* bytes of an entry */
	size_t have;
	uint8_t part[12];
	uint64_t packed, raw;
};

struct table_reader {
	struct sums sums[2];
	uint64_t left;		/* bytes of entries still to come */
};

static void sums_take(struct sums *s, const uint8_t *p, size_t n)
{
	while (n) {
		size_t take = s->entry - s->have < n ? s->entry - s->have : n;

		memcpy(s->part + s->have, p, take);
		s->have += take;
		p += take;
		n -= take;
		if (s->have < s->entry)
			return;
		s->have = 0;
		s->packed += zstd_le32(s->part);
		s->raw += zstd_le32(s->part + 4);
	}
}

/* The entries go by, up to the footer. */
static int read_entries(struct source *src, struct table_reader *t)
{
	while (t->left) {
		const uint8_t *data;
		ptrdiff_t n = source_next(src, &data);

		if (n == SOURCE_PAUSE)
			continue;
		if (n <= 0)
			return n ? (int)n : FILTER_E_TRUNCATED;
		if ((uint64_t)n > t->left) {
			size_t back = (size_t)((uint64_t)n - t->left);

			source_unread(src, data + n - back, back);
			n -= (ptrdiff_t)back;
		}
		sums_take(&t->sums[0], data, (size_t)n);
		sums_take(&t->sums[1], data, (size_t)n);
		t->left -= (uint64_t)n;
	}
	return 0;
}

/* The footer comes next; what it says against what went by. */
static int judge(struct unpack *u, struct table_reader *t, uint64_t len,
		 struct member *m)
{
	struct source *src = &u->feed->src;
	struct zstd_table table;
	const struct sums *s;
	const uint8_t *p;
	ptrdiff_t n = source_peek(src, ZSTD_TABLE_FOOTER, &p);

	if (n < (ptrdiff_t)ZSTD_TABLE_FOOTER)
		return n < 0 ? (int)n : FILTER_E_TRUNCATED;
	if (!zstd_table_footer(p, &table))
		return 0;
	m->format = "seek-table";
	m->blocks = table.frames;
	s = &t->sums[table.entry == 12];
	if (u->table_wrong == SIZE_UNKNOWN &&
	    (table.size != len || s->packed != m->offset - u->frames_from ||
	     s->raw != u->sink->total - u->frames_raw))
		u->table_wrong = m->offset;
	u->frames_from = m->offset + len;
	u->frames_raw = u->sink->total;
	return 0;
}

static int skip(struct unpack *u, uint64_t len, struct member *m)
{
	struct source *src = &u->feed->src;
	struct table_reader t = { .sums = { { .entry = 8 }, { .entry = 12 } } };
	const uint8_t *p;
	int code;

	if (len < ZSTD_TABLE_HEAD + ZSTD_TABLE_FOOTER ||
	    source_peek(src, 4, &p) < 4 || zstd_le32(p) != ZSTD_TABLE_MAGIC)
		return feed_skip(u->feed, len);
	t.left = len - ZSTD_TABLE_HEAD - ZSTD_TABLE_FOOTER;
	code = source_skip(src, ZSTD_TABLE_HEAD);
	if (!code)
		code = read_entries(src, &t);
	if (!code)
		code = judge(u, &t, len, m);
	return code ? code : source_skip(src, ZSTD_TABLE_FOOTER);
}

int unpack_skip(struct unpack *u, uint64_t len, struct filter_error *err)
{
	struct member m = {
		.format = "skippable", .offset = u->feed->src.offset,
		.packed = len, .skipped = true,
	};
	int code = skip(u, len, &m);

	if (code == FILTER_E_TRUNCATED)
		filter_fail(err, code, u->feed->src.offset,
			    "input ends inside a skippable frame");
	if (code) {
		err->code = code;
		return feed_failure(u->feed, err);
	}
	unpack_tell(u, &m);
	return 0;
}
