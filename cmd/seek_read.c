/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seek_read.c - a range of decoded bytes out of a seekable zstd file
 *
 * The table at the file's end is read entry by entry, in a small buffer, however
 * many it has, and of the frames the range's alone.  The table is the file's
 * word, not ours: its frames must be all that stands in front of it, a frame
 * must decode to exactly what the table says, by its blocks it must be able to
 * before memory is taken for it, and it must match the table's check.
 */
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "records.h"
#include "zstd_frame.h"

struct entry {
	uint64_t at, packed;	/* of the frame in the file */
	uint64_t from, raw;	/* of its bytes in what the file decodes to */
	uint32_t check;
};

struct seek {
	const struct input *in;
	const struct filter *filter;
	const struct filter_params *p;
	void *worker;
	struct sink *sink;
	struct filter_error *err;
	struct zstd_table table;
	uint64_t table_at;
	uint64_t entries_at;	/* ... of the next entry */
	uint64_t left;		/* entries not yet taken */
	uint8_t buf[12 * 1024];
	size_t buf_at, buf_len;
	uint8_t *packed, *raw;
	uint64_t packed_cap, raw_cap;
};

static ptrdiff_t read_at(const struct seek *k, uint64_t at, uint8_t *to, size_t n)
{
	return input_read_at((void *)(uintptr_t)k->in, at, to, n);
}

static bool footer_find(const struct input *in, struct zstd_table *t)
{
	uint64_t size = in->regular ? (uint64_t)in->st.st_size : 0;
	uint8_t tail[ZSTD_TABLE_FOOTER];

	return size >= ZSTD_TABLE_HEAD + ZSTD_TABLE_FOOTER &&
	       input_read_at((void *)(uintptr_t)in, size - sizeof(tail), tail,
			     sizeof(tail)) == (ptrdiff_t)sizeof(tail) &&
	       zstd_table_footer(tail, t);
}

bool seek_read_suits(const struct input *in)
{
	struct zstd_table t;

	return footer_find(in, &t);
}

static int corrupt(struct seek *k, uint64_t at, const char *what)
{
	return filter_fail(k->err, FILTER_E_CORRUPT, at, "%s", what);
}

static int table_open(struct seek *k)
{
	uint64_t size = (uint64_t)k->in->st.st_size;
	uint8_t head[ZSTD_TABLE_HEAD];

	if (!footer_find(k->in, &k->table))
		return corrupt(k, size, "no seek table ends the file");
	if (k->table.size > size)
		return corrupt(k, size - ZSTD_TABLE_FOOTER,
			       "the seek table claims more frames than the file has room for");
	k->table_at = size - k->table.size;
	if (read_at(k, k->table_at, head, sizeof(head)) != (ptrdiff_t)sizeof(head) ||
	    zstd_le32(head) != ZSTD_TABLE_MAGIC ||
	    zstd_le32(head + 4) != k->table.size - ZSTD_TABLE_HEAD)
		return corrupt(k, k->table_at, "no seek table begins where its end says");
	return 0;
}

/* Back to the first entry. */
static void table_start(struct seek *k)
{
	k->entries_at = k->table_at + ZSTD_TABLE_HEAD;
	k->left = k->table.frames;
	k->buf_at = k->buf_len = 0;
}

/* The next entry into *e, which holds the one before it: 1, 0 = no more. */
static int entry_next(struct seek *k, struct entry *e)
{
	const uint8_t *p;

	if (!k->left)
		return 0;
	if (k->buf_at == k->buf_len) {
		size_t n = sizeof(k->buf) - sizeof(k->buf) % k->table.entry;

		if (n > k->left * k->table.entry)
			n = (size_t)(k->left * k->table.entry);
		if (read_at(k, k->entries_at, k->buf, n) != (ptrdiff_t)n)
			return filter_fail(k->err, FILTER_E_READ, k->entries_at,
					   "can't read the seek table");
		k->buf_len = n;
		k->buf_at = 0;
	}
	p = k->buf + k->buf_at;
	e->at += e->packed;
	e->from += e->raw;
	e->packed = zstd_le32(p);
	e->raw = zstd_le32(p + 4);
	e->check = k->table.entry == 12 ? zstd_le32(p + 8) : 0;
	if (e->packed > k->table_at - e->at)
		return corrupt(k, k->entries_at,
			       "a seek table's entry reaches beyond the frames");
	k->buf_at += k->table.entry;
	k->entries_at += k->table.entry;
	k->left--;
	return 1;
}

/* Room of n bytes; what was in it is gone. */
static int room(struct seek *k, uint8_t **buf, uint64_t *cap, uint64_t n, uint64_t at)
{
	if (n + (buf == &k->raw ? k->packed_cap : 0) > k->p->memory)
		return filter_fail(k->err, FILTER_E_MEMORY, at,
				   "a frame of %llu bytes is above the memory limit",
				   (unsigned long long)n);
	if (n < *cap)
		return 0;
	free(*buf);
	*cap = n + 1;
	*buf = malloc(n + 1);
	return *buf ? 0 : filter_fail(k->err, FILTER_E_MEMORY, at, "out of memory");
}

static int check_dict(struct seek *k, const struct entry *e, uint32_t want)
{
	if (!want || k->p->dict_len)
		return 0;
	return filter_fail(k->err, FILTER_E_DICT, e->at,
			   "needs the dictionary with id %u", want);
}

/* Reads the frame and sees that it is one, of e->raw bytes if it is right. */
static int frame_read(struct seek *k, const struct entry *e)
{
	struct zstd_extent x;
	size_t want;

	if (room(k, &k->packed, &k->packed_cap, e->packed, e->at))
		return k->err->code;
	if (read_at(k, e->at, k->packed, e->packed) != (ptrdiff_t)e->packed)
		return filter_fail(k->err, FILTER_E_READ, e->at, "can't read");
	if (zstd_frame_walk(k->packed, e->packed, UINT32_MAX, &x, &want) !=
	    (ptrdiff_t)e->packed)
		return corrupt(k, e->at, "no zstd frame stands where the seek table says");
	if (e->raw > x.raw || (x.head.content != SIZE_UNKNOWN && e->raw != x.head.content))
		return corrupt(k, e->at, "the seek table's size of a frame isn't the frame's");
	return check_dict(k, e, x.head.dict_id);
}

static int frame_decode(struct seek *k, const struct entry *e)
{
	struct block b;

	if (frame_read(k, e) || room(k, &k->raw, &k->raw_cap, e->raw, e->at))
		return k->err->code;
	b = (struct block){
		.src = k->packed, .src_len = e->packed, .dst = k->raw,
		.dst_cap = e->raw, .offset = e->at, .raw = e->raw,
	};
	if (k->filter->unpack_members->block(k->worker, &b, k->err))
		return k->err->code;
	if (b.dst_len != e->raw)
		return corrupt(k, e->at, "the seek table's size of a frame isn't the frame's");
	if (k->table.entry == 12 && (uint32_t)XXH64(k->raw, e->raw, 0) != e->check)
		return filter_fail(k->err, FILTER_E_CHECK, e->at,
				   "a frame doesn't match the seek table's check");
	return 0;
}

static int give(struct seek *k, const struct entry *e, uint64_t from, uint64_t end)
{
	uint64_t a = from > e->from ? from - e->from : 0;
	uint64_t b = end < e->from + e->raw ? end - e->from : e->raw;

	if (a >= b)
		return 0;
	if (frame_decode(k, e))
		return k->err->code;
	return sink_write(k->sink, k->raw + a, b - a) ? sink_failure(k->sink, k->err) : 0;
}

/* Are the table's frames all that stands in front of it? */
static int table_check(struct seek *k)
{
	struct entry e = { 0 };
	int got;

	table_start(k);
	while ((got = entry_next(k, &e)) > 0)
		;
	if (got < 0)
		return got;
	return e.at + e.packed == k->table_at ? 0 :
	       corrupt(k, k->table_at, "the seek table doesn't cover all of the file");
}

static int range_read(struct seek *k, uint64_t from, uint64_t n)
{
	struct entry e = { 0 };
	uint64_t end = from + n;
	int got = 1;

	table_start(k);
	while (e.from + e.raw < end && (got = entry_next(k, &e)) > 0)
		if (give(k, &e, from, end))
			return k->err->code;
	if (got < 0 || e.from + e.raw >= end)
		return got < 0 ? got : 0;
	return filter_fail(k->err, FILTER_E_OPTION, SIZE_UNKNOWN,
			   "the range ends behind the %llu bytes that there are",
			   (unsigned long long)(e.from + e.raw));
}

int seek_read(const struct input *in, const char *range,
	      const struct filter_params *p, struct sink *sink,
	      struct filter_error *err)
{
	struct seek k = { .in = in, .p = p, .sink = sink, .err = err };
	uint64_t from, n;
	int code = range_parse(range, &from, &n, err);

	if (code)
		return code;
	k.filter = filter_by_name("zstd");
	k.worker = k.filter->unpack_members->worker_open(p, err);
	if (!k.worker)
		return err->code;
	code = table_open(&k);
	if (!code)
		code = table_check(&k);
	if (!code)
		code = range_read(&k, from, n);
	k.filter->unpack_members->worker_close(k.worker);
	free(k.packed);
	free(k.raw);
	return code;
}

int range_parse(const char *text, uint64_t *from, uint64_t *n,
		struct filter_error *err)
{
	const char *colon = strchr(text, ':');
	char number[32];

	if (colon && (size_t)(colon - text) < sizeof(number)) {
		memcpy(number, text, (size_t)(colon - text));
		number[colon - text] = '\0';
		if (opt_size(number, from) && opt_size(colon + 1, n) &&
		    *from <= UINT64_MAX - *n)
			return 0;
	}
	return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN, "--range is OFF:LEN");
}
