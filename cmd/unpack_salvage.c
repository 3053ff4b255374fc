/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack_salvage.c - going on behind damage (--salvage)
 *
 * Where a format says how long its blocks are, a damaged one is passed over by
 * that length (unpack_blocks.c): LZ4 frames of independent blocks, .lzv records,
 * zstd frames that follow each other.  Else what the member gave so far stays,
 * and from where the damage was noticed the input is searched for the first
 * bytes of another member of the same format, or of a skippable frame, which
 * these formats share; or, in an .lzv stream, for its next sync mark.  Whatever lies
 * between was lost.
 *
 * Not from the damaged member's begin: an archive that holds packed files would
 * have them taken for members.  A magic number of two bytes is no place to go
 * on from.  gzip's says little more, so the bytes of its header that have few
 * values must have one of those.
 */
#include <string.h>

#include "code.h"

/* A magic number that is believed inside of a damaged member. */
#define MAGIC_MIN 4
#define SKIPPABLE_MAX ((uint64_t)1 << 24)

bool unpack_salvageable(const struct unpack *u, const struct filter_error *err)
{
	switch (err->code) {
	case FILTER_E_CORRUPT:
	case FILTER_E_TRUNCATED:
	case FILTER_E_CHECK:
	case FILTER_E_UNSUPPORTED:
		return u->lost;
	case FILTER_E_DICT:
	case FILTER_E_MEMORY:		/* a header that asks for too much */
		return u->lost && err->offset != SIZE_UNKNOWN;
	default:
		return false;
	}
}

/* RFC 1952: flags that exist, XFL 0, 2 or 4, a system that has a number. */
static bool gzip_plausible(const uint8_t *p, size_t n)
{
	return n >= 10 && !(p[3] & 0xe0) && (p[8] == 0 || p[8] == 2 || p[8] == 4) &&
	       (p[9] <= 13 || p[9] == 255);
}

/* Does a member stand there?  f NULL: of any format.  Or does the damaged one go on? */
static bool begins(struct unpack *u, const struct filter *f, const uint8_t *p, size_t n,
		   uint64_t offset)
{
	uint64_t skip = n >= 8 ? frame_skippable(p, n) : 0;

	if (skip)
		return skip <= SKIPPABLE_MAX;
	u->resumes = u->resume && u->resume_ops->resume(u->resume, p, n, offset);
	if (u->resumes)
		return true;
	if (!f)
		f = filter_detect(p, n);
	if (!f || !f->detect || f->peek < MAGIC_MIN || !f->detect(p, n))
		return false;
	return f != filter_by_name("gzip") || gzip_plausible(p, n);
}

/* Bytes of p in front of the next member, at least 1; fewer than
   FILTER_PEEK of them can't be judged. */
static size_t span_search(struct unpack *u, const struct filter *f, const uint8_t *p,
			  size_t n, uint64_t offset)
{
	size_t i = 1;

	while (i + FILTER_PEEK <= n && !begins(u, f, p + i, n - i, offset + i))
		i++;
	return i;
}

/* To the next member, at least 1 byte on: 1; the end of input: 0; an error. */
static int search(struct unpack *u, const struct filter *f, bool *zeros)
{
	struct source *src = &u->feed->src;
	const uint8_t *p;
	ptrdiff_t n;

	do {
		size_t take;

		n = source_next(src, &p);
		if (n == SOURCE_PAUSE)
			continue;
		if (n <= 0)
			return (int)n;
		take = span_search(u, f, p, (size_t)n, src->offset - (uint64_t)n);
		for (size_t i = 0; i < take; i++)
			*zeros = *zeros && !p[i];
		source_unread(src, p + take, (size_t)n - take);
		n = source_peek(src, FILTER_PEEK, &p);
	} while (n == SOURCE_PAUSE || (n > 0 && !begins(u, f, p, (size_t)n, src->offset)));
	return n > 0 ? 1 : (int)n;
}

int unpack_salvage(struct unpack *u, const struct member *m, bool padding,
		   struct filter_error *err)
{
	struct source *src = &u->feed->src;
	const struct filter *f = m->format ? filter_by_name(m->format) : NULL;
	struct loss l = { .output = u->sink->total, .err = *err };
	bool zeros = true;
	const uint8_t *p;
	ptrdiff_t n = source_peek(src, FILTER_PEEK, &p);
	int found = n > 0 ? 1 : (int)n;

	err->code = 0;
	if (found > 0 && (src->offset == m->offset || !begins(u, f, p, (size_t)n, src->offset)))
		found = search(u, f, &zeros);
	if (found < 0) {
		err->code = FILTER_E_READ;
		return feed_failure(u->feed, err);
	}
	/* What can go on has a check a block. */
	l.unchecked = u->resume ? 0 : m->raw;
	if (!u->resumes)
		unpack_resume_end(u);
	/* A check that fails says nothing of where. */
	l.from = m->offset;
	l.to = src->offset;
	if (l.err.code != FILTER_E_CHECK && l.err.offset > l.from && l.err.offset < l.to)
		l.from = l.err.offset;
	if (!padding || found || !zeros)
		u->lost(u->ctx, &l);
	return 1;
}
