/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.c - all members of an input, each by its own codec
 *
 * The loop: peek; nothing = the end; a skippable frame = read past it; a
 * format = decode one member; else the rest is trailing bytes or, when nothing
 * came before, an unknown input.  Not one byte goes out for an unknown input.
 */
#include <string.h>

#include "code.h"
#include "machine.h"
#include "report.h"
#include "say.h"

/* Bytes of a magic number that can be believed against a file's suffix. */
#define STRONG_MAGIC 4

/* Four jobs of the largest LZ4 blocks, 4 MiB packed and as much unpacked. */
#define BLOCKS_BUDGET MODEST_MEMORY

/* A member of this many decoded bytes is one of a few. */
#define MEMBERS_MAX ((uint64_t)32 << 20)

/* No member of a format with a magic number is shorter. */
#define SHORT_PEEK 8

int unpack_allowed(const struct unpack *u, size_t n, uint64_t in,
		   struct filter_error *err)
{
	uint64_t total = u->sink->total + n;

	if (total > u->max_output)
		return filter_fail(err, CMD_E_LIMIT, in,
				   "output would pass --max-output");
	if (u->max_ratio && total / u->max_ratio > (in ? in : 1))
		return filter_fail(err, CMD_E_LIMIT, in,
				   "output would pass --max-ratio");
	return 0;
}

int unpack_deliver(struct unpack *u, const uint8_t *data, size_t n, uint64_t in,
		   struct filter_error *err)
{
	if (unpack_allowed(u, n, in, err))
		return err->code;
	if (u->digest)
		XXH3_64bits_update(u->digest, data, n);
	if (sink_write(u->sink, data, n))
		return sink_failure(u->sink, err);
	progress_tick(in, u->sink->total);
	return 0;
}

/* A state for the next member: the kept one made ready, or a new one. */
static void *stream_state(struct unpack *u, const struct filter *f,
			  struct filter_error *err)
{
	void *state = u->kept;

	u->kept = NULL;
	if (!state)
		return f->unpack->open(&u->params, &u->feed->src, err);
	if (u->kept_filter == f && f->unpack->reset) {
		if (!f->unpack->reset(state, &u->params, err))
			return state;
		f->unpack->close(state);
		return NULL;
	}
	u->kept_filter->unpack->close(state);
	return f->unpack->open(&u->params, &u->feed->src, err);
}

static int stream_loop(struct unpack *u, const struct stream_ops *ops, void *state,
		       struct filter_error *err)
{
	for (;;) {
		uint8_t *room = sink_room(u->sink);
		ptrdiff_t n;

		if (!room)
			return sink_failure(u->sink, err);
		n = ops->read(state, room, CHUNK_SIZE, err);
		if (n <= 0)
			return (int)n;
		if (unpack_allowed(u, (size_t)n, u->feed->src.offset, err))
			return err->code;
		if (u->digest)
			XXH3_64bits_update(u->digest, room, (size_t)n);
		if (sink_put(u->sink, (size_t)n))
			return sink_failure(u->sink, err);
		progress_tick(u->feed->src.offset, u->sink->total);
	}
}

static int member_stream(struct unpack *u, const struct filter *f,
			 struct member *m, struct filter_error *err)
{
	void *state = stream_state(u, f, err);
	int code;

	if (!state)
		return err->code;
	code = stream_loop(u, f->unpack, state, err);
	if (code) {
		f->unpack->close(state);
		return code;
	}
	if (f->unpack->describe)
		f->unpack->describe(state, m);
	u->kept = state;
	u->kept_filter = f;
	return 0;
}

void unpack_tell(struct unpack *u, const struct member *m)
{
	if (!m->skipped) {
		u->members++;
		u->last_raw = m->raw;
	}
	if (u->member)
		u->member(u->ctx, m);
}

static int option_refused(const struct unpack *u, const struct filter *f,
			  struct filter_error *err)
{
	uint64_t at = u->feed->src.offset;

	if (f->missing)
		return filter_fail(err, FILTER_E_UNSUPPORTED, at, "%s: %s",
				   f->name, f->missing);
	if (!f->unpack && !f->unpack_blocks)
		return filter_fail(err, FILTER_E_UNSUPPORTED, at,
				   "%s can't be unpacked", f->name);
	if (u->params.dict && !(f->flags & FILTER_DICT))
		return filter_fail(err, FILTER_E_OPTION, at,
				   "%s knows no dictionaries (-D)", f->name);
	return 0;
}

/* Blocks are faster, the stream needs less memory. */
static bool by_blocks(const struct unpack *u, const struct filter *f,
		      const uint8_t *head, size_t n)
{
	if (!f->unpack_blocks || !f->unpack)
		return f->unpack_blocks;
	return u->budget >= BLOCKS_BUDGET &&
	       f->unpack_blocks->suits(head, n, &u->params);
}

/*
 * Where one small member came there may be many.  The first one always goes by
 * the stream face, so that a lone one does.  1 = some members were decoded.
 */
static int members_decode(struct unpack *u, const struct filter *f,
			  struct filter_error *err)
{
	uint64_t at = u->feed->src.offset;

	if (!f->unpack_members || u->budget < BLOCKS_BUDGET)
		return 0;
	if (!u->lost && (u->threads < 2 || u->last != f || u->last_raw > MEMBERS_MAX))
		return 0;
	if (unpack_blocks(u, f->unpack_members, true, NULL, err))
		return feed_failure(u->feed, err);
	return u->feed->src.offset > at;
}

/* The rest goes out as it is; by the kernel where nobody wants to look at it. */
static int pass(struct unpack *u, struct filter_error *err)
{
	const uint8_t *data;
	ptrdiff_t n;

	if (u->max_output == SIZE_UNKNOWN && !u->max_ratio && !u->digest)
		return pass_on(u->feed, u->sink, err);
	while ((n = source_next(&u->feed->src, &data)) > 0)
		if (unpack_deliver(u, data, (size_t)n, u->feed->src.offset, err))
			return err->code;
	if (n == 0)
		return 0;
	err->code = FILTER_E_READ;
	return feed_failure(u->feed, err);
}

/*
 * What the machine allows is asked for when a codec may take more than a modest
 * amount: reading a dozen files of the kernel's is a seventh of a small run.
 */
static void settle_budget(struct unpack *u, const struct filter *f)
{
	if (!u->asks_budget || (f->flags & FILTER_MODEST))
		return;
	u->asks_budget = false;
	u->budget = u->params.memory = machine_budget(0);
}

static int member_decode(struct unpack *u, const struct filter *f,
			 const uint8_t *head, size_t n, struct filter_error *err)
{
	struct member m = {
		.offset = u->feed->src.offset, .declared = SIZE_UNKNOWN,
	};
	uint64_t before = u->sink->total;
	int code = option_refused(u, f, err);

	if (code)
		return code;
	settle_budget(u, f);
	code = u->resumes ? 0 : members_decode(u, f, err);
	if (code)
		return code < 0 ? code : 0;
	if (u->resumes || by_blocks(u, f, head, n))
		code = unpack_blocks(u, f->unpack_blocks, false, &m, err);
	else if (f == filter_by_name("raw"))
		code = pass(u, err);
	else
		code = member_stream(u, f, &m, err);
	if (code && !unpack_salvageable(u, err))
		return feed_failure(u->feed, err);
	u->single = f->flags & FILTER_SINGLE;
	u->last = f;
	m.format = f->name;
	m.packed = u->feed->src.offset - m.offset;
	m.raw = u->sink->total - before;
	unpack_tell(u, &m);
	return code && unpack_salvage(u, &m, false, err) < 0 ? err->code : 0;
}

/* Reads the rest; *other is set to the offset of the first byte not zero. */
static int drain(struct unpack *u, uint64_t *other, struct filter_error *err)
{
	const uint8_t *data;
	ptrdiff_t n;

	*other = SIZE_UNKNOWN;
	while ((n = source_next(&u->feed->src, &data)) > 0)
		for (ptrdiff_t i = 0; *other == SIZE_UNKNOWN && i < n; i++)
			if (data[i])
				*other = u->feed->src.offset - (uint64_t)(n - i);
	if (n == 0)
		return 0;
	err->code = FILTER_E_READ;
	return feed_failure(u->feed, err);
}

/* What follows the last member: zeros are padding, the rest as ordered. */
static int trailing(struct unpack *u, const uint8_t *head, struct filter_error *err)
{
	uint64_t at = u->feed->src.offset, other;

	if (u->trailing == TRAILING_ERROR && head[0])
		return filter_fail(err, FILTER_E_CORRUPT, at,
				   "bytes behind the end that belong to no format");
	if (drain(u, &other, err))
		return err->code;
	if (other == SIZE_UNKNOWN || u->trailing == TRAILING_IGNORE)
		return 0;
	if (u->trailing == TRAILING_WARN) {
		u->ignored_at = other;
		return 0;
	}
	return filter_fail(err, FILTER_E_CORRUPT, other,
			   "bytes behind the end that belong to no format");
}

/* The codec of what comes next; NULL = none. */
static const struct filter *choose(const struct unpack *u, const uint8_t *p, size_t n)
{
	const struct filter *f = u->forced;

	if (!f && u->hint && !u->members) {
		f = filter_detect(p, n);
		/* Two bytes that look like zlib are less than a suffix. */
		return f && f->peek >= STRONG_MAGIC ? f : u->hint;
	}
	if (!f)
		return u->single ? NULL : filter_detect(p, n);
	if (!u->members)
		return f;
	if (u->single)
		return NULL;
	return !f->detect || f->detect(p, n) ? f : NULL;
}

static bool may_skip(const struct unpack *u)
{
	return !u->forced || u->forced->detect;
}

static int unknown(struct unpack *u, bool begun, const uint8_t *head,
		   struct filter_error *err)
{
	if (u->lost && u->trailing == TRAILING_ERROR) {
		const struct filter *f = begun ? u->last : u->forced;
		struct member m = {
			.format = f ? f->name : NULL, .offset = u->feed->src.offset,
		};

		filter_fail(err, FILTER_E_CORRUPT, m.offset, "bytes that belong to no format");
		return unpack_salvage(u, &m, begun, err);
	}
	if (begun)
		return trailing(u, head, err);
	u->passed = u->pass_through;
	if (u->passed)
		return pass(u, err);
	return filter_fail(err, FILTER_E_CORRUPT, u->feed->src.offset,
			   "unknown format; -F names one that has no magic number");
}

/*
 * The next member's first bytes and its codec.  Few bytes are asked for first,
 * and more only when no magic number stands in them: a short member of a
 * stream that goes on later must not wait for what comes behind it.
 */
static ptrdiff_t look(struct unpack *u, const uint8_t **p, const struct filter **f)
{
	struct source *src = &u->feed->src;
	ptrdiff_t n = source_peek(src, SHORT_PEEK, p);

	*f = NULL;
	if (n < SHORT_PEEK)
		goto decide;
	/* What is there anyway may be looked at too. */
	if (src->held_len >= FILTER_PEEK)
		n = FILTER_PEEK;
	*f = choose(u, *p, (size_t)n);
	if (n == FILTER_PEEK || (u->forced && *f) || u->single ||
	    (*f && (*f)->peek >= STRONG_MAGIC && (*f)->peek <= SHORT_PEEK))
		return n;
	if (may_skip(u) && frame_skippable(*p, (size_t)n))
		return n;
	n = source_peek(src, FILTER_PEEK, p);
decide:
	if (n > 0)
		*f = choose(u, *p, (size_t)n);
	return n;
}

/* One step of the member loop: 1 = go on, 0 = the end, an error. */
static int step(struct unpack *u, bool *begun, struct filter_error *err)
{
	const uint8_t *p;
	const struct filter *f;
	ptrdiff_t n;
	uint64_t skip;

	if (u->resumes)
		return member_decode(u, u->last, NULL, 0, err) ? err->code : 1;
	n = look(u, &p, &f);
	if (n < 0) {
		err->code = FILTER_E_READ;
		return feed_failure(u->feed, err);
	}
	if (!n && *begun)
		return 0;
	if (!n && !u->forced && !u->hint && !u->pass_through)
		return filter_fail(err, FILTER_E_TRUNCATED, 0, "empty input");
	skip = n >= 8 && may_skip(u) ? frame_skippable(p, (size_t)n) : 0;
	if (skip) {
		*begun = true;
		return unpack_skip(u, skip, err) ? err->code : 1;
	}
	if (!n && !f)
		f = choose(u, p, 0);
	if (!f) {
		bool had = *begun;

		*begun = true;
		return unknown(u, had, p, err);
	}
	*begun = true;
	return member_decode(u, f, p, (size_t)n, err) ? err->code : 1;
}

int unpack_run(struct unpack *u, struct filter_error *err)
{
	bool begun = false;
	int code;

	err->code = 0;
	u->members = 0;
	u->single = false;
	u->ignored_at = u->table_wrong = SIZE_UNKNOWN;
	u->frames_from = u->frames_raw = 0;
	u->last = NULL;
	u->passed = false;
	u->kept = u->resume = NULL;
	u->resumes = false;
	do
		code = step(u, &begun, err);
	while (code > 0);
	if (u->kept)
		u->kept_filter->unpack->close(u->kept);
	u->kept = NULL;
	unpack_resume_end(u);
	return code;
}
