// SPDX-License-Identifier: Apache-2.0
/*
 * archive.c - cpio and zip archives as the tar archive that holds the same
 *
 * Entry by entry: a whole file is read first, since a zip may say a file's
 * size behind it, and tar wants it in front.  Names pass as bytes.  Reading
 * from the front, as a pipe wants it, misses what only a zip's directory at the
 * end knows: permissions of some writers' files.
 *
 * A zip that is encrypted, or holds a method that libarchive lacks, is an
 * error, and so is a newc hard link that brings the content of an earlier
 * entry: in tar that entry would stay empty.
 */
#include "archive_tar.h"

#include <stdlib.h>
#include <string.h>

#include "archive_library.h"

#define READ_SIZE ((size_t)64 << 10)

struct archive_tar {
	struct archive_library la;
	struct archive *in, *out;
	locale_t utf8;			/* names marked as UTF-8 come through; or 0 */
	ptrdiff_t (*read)(void *ctx, uint8_t *p, size_t n);
	void *ctx;
	uint64_t limit, at, entries;
	uint64_t header_end;	/* how far the header in turn may be read, or 0 */
	bool began, ended, read_failed, large_header;
	struct archive_bytes tar;	/* written, from tar_at on not yet read */
	size_t tar_at;
	struct archive_bytes data;	/* the entry's */
	uint8_t buffer[READ_SIZE];
};

const char *archive_tar_version(void)
{
	struct archive_library la;

	return archive_library_load(&la) ? la.version_string() : NULL;
}

const char *archive_tar_missing(void)
{
	return archive_tar_version() ? NULL :
	       "needs " ARCHIVE_LIBRARY ", which isn't here";
}

static la_ssize_t give(struct archive *in, void *ctx, const void **p)
{
	struct archive_tar *a = ctx;
	ptrdiff_t n;

	(void)in;
	if (a->header_end && a->at > a->header_end) {
		a->large_header = true;
		return ARCHIVE_FATAL;
	}
	n = a->read(a->ctx, a->buffer, READ_SIZE);
	*p = a->buffer;
	if (n < 0)
		a->read_failed = true;
	else
		a->at += (uint64_t)n;
	return n < 0 ? ARCHIVE_FATAL : n;
}

static bool set_up(struct archive_tar *a, bool zip)
{
	a->in = a->la.read_new();
	a->out = a->la.write_new();
	return a->in && a->out &&
	       !(zip ? a->la.read_support_format_zip_streamable(a->in) :
		 a->la.read_support_format_cpio(a->in)) &&
	       !a->la.write_set_format_pax_restricted(a->out) &&
	       !a->la.write_set_options(a->out, "hdrcharset=BINARY") &&
	       archive_write_to(&a->la, a->out, &a->tar);
}

struct archive_tar *archive_tar_open(bool zip, uint64_t limit,
				     ptrdiff_t (*read)(void *ctx, uint8_t *p, size_t n),
				     void *ctx)
{
	struct archive_tar *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->read = read;
	a->ctx = ctx;
	a->limit = limit;
	a->utf8 = archive_utf8();
	if (archive_library_load(&a->la) && set_up(a, zip))
		return a;
	archive_tar_close(a);
	return NULL;
}

void archive_tar_close(struct archive_tar *a)
{
	if (!a)
		return;
	if (a->in)
		a->la.read_free(a->in);
	if (a->out)
		a->la.write_free(a->out);
	if (a->utf8)
		freelocale(a->utf8);
	free(a->tar.p);
	free(a->data.p);
	free(a);
}

uint64_t archive_tar_at(const struct archive_tar *a)
{
	return a->at;
}

/* What libarchive, or this file, says of the entry in turn. */
static int bad(struct archive_tar *a, struct filter_error *err, int code,
	       const char *what)
{
	if (a->read_failed)
		return FILTER_E_READ;
	if (a->tar.no_memory || a->data.no_memory)
		return filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
	if (a->large_header)
		what = "a header is above the memory limit";
	return filter_fail(err, code, a->at, "entry %llu: %s",
			   (unsigned long long)a->entries,
			   what ? what : "not what its format says");
}

static int bad_input(struct archive_tar *a, struct filter_error *err)
{
	return bad(a, err, FILTER_E_CORRUPT, a->la.error_string(a->in));
}

/* The whole file, wherever its size stands: its bytes, or an error. */
static int64_t read_data(struct archive_tar *a, struct filter_error *err)
{
	size_t n = 0;
	la_ssize_t got;

	do {
		if (n > a->limit)
			return bad(a, err, FILTER_E_MEMORY,
				   "a file is above the memory limit");
		if (!archive_room(&a->data, n + READ_SIZE))
			return bad(a, err, FILTER_E_MEMORY, NULL);
		got = a->la.read_data(a->in, a->data.p + n, a->data.cap - n);
		if (got < 0)
			return bad_input(a, err);
		n += (size_t)got;
	} while (got);
	return (int64_t)n;
}

static int translate(struct archive_tar *a, struct archive_entry *e,
		     struct filter_error *err)
{
	int64_t n = 0;

	if (!archive_fix_name(&a->la, e))
		return bad(a, err, FILTER_E_CORRUPT, "a name that is none");
	if (a->la.entry_size_is_set(e) && (uint64_t)a->la.entry_size(e) > a->limit)
		return bad(a, err, FILTER_E_MEMORY, "a file is above the memory limit");
	if (a->la.entry_filetype(e) == AE_IFREG || a->la.entry_hardlink(e))
		n = read_data(a, err);
	if (n < 0)
		return (int)n;
	if (n && a->la.entry_hardlink(e) && a->la.format(a->in) == ARCHIVE_FORMAT_CPIO_POSIX)
		a->la.entry_set_hardlink(e, NULL);	/* the earlier one has it too */
	if (n && a->la.entry_hardlink(e))
		return bad(a, err, FILTER_E_UNSUPPORTED,
			   "a hard link that brings an earlier entry's content");
	a->la.entry_set_size(e, n);
	if (a->la.write_header(a->out, e) < ARCHIVE_WARN ||
	    (n && a->la.write_data(a->out, a->data.p, (size_t)n) != n) ||
	    a->la.write_finish_entry(a->out) < ARCHIVE_WARN)
		return bad(a, err, FILTER_E_UNSUPPORTED, a->la.error_string(a->out));
	return 0;
}

/* 1: an entry more was written, or the end; or an error. */
static int next_in_utf8(struct archive_tar *a, struct filter_error *err)
{
	struct archive_entry *e;
	int got = a->began ? 0 : a->la.read_open(a->in, a, NULL, give, NULL);

	a->began = true;
	/* libarchive keeps a name in memory, however long it says it is. */
	a->header_end = a->at + a->limit + READ_SIZE;
	if (got >= ARCHIVE_WARN)
		got = a->la.read_next_header(a->in, &e);
	a->header_end = 0;
	if (got == ARCHIVE_EOF) {
		a->ended = true;
		if (a->la.write_close(a->out) < ARCHIVE_WARN)
			return bad(a, err, FILTER_E_CORRUPT, a->la.error_string(a->out));
		return 1;
	}
	if (got < ARCHIVE_WARN)
		return bad_input(a, err);
	got = translate(a, e, err);
	a->entries++;
	return got ? got : 1;
}

static int next_entry(struct archive_tar *a, struct filter_error *err)
{
	locale_t before = a->utf8 ? uselocale(a->utf8) : (locale_t)0;
	int got = next_in_utf8(a, err);

	if (before)
		uselocale(before);
	return got;
}

ptrdiff_t archive_tar_read(struct archive_tar *a, uint8_t *dst, size_t n,
			   struct filter_error *err)
{
	int got;

	while (a->tar_at == a->tar.size && !a->ended) {
		a->tar_at = a->tar.size = 0;
		got = next_entry(a, err);
		if (got < 0)
			return got;
	}
	if (n > a->tar.size - a->tar_at)
		n = a->tar.size - a->tar_at;
	memcpy(dst, a->tar.p + a->tar_at, n);
	a->tar_at += n;
	return (ptrdiff_t)n;
}
