// SPDX-License-Identifier: Apache-2.0
/*
 * archive.c - cpio and zip archives as the tar archive that holds the same
 *
 * Entry by entry: a whole file is read first, since a zip may say a file's
 * size behind it, and tar wants it in front.  Names pass as bytes.  Reading
 * from the front, as a pipe wants it, misses what only a zip's directory at the
 * end knows: permissions of some writers' files.
 *
 * The library is looked up when the first archive is met: with the dozen that
 * it brings along, loading it would make every start of the program three times
 * as long.
 *
 * A zip that is encrypted, or holds a method that libarchive lacks, is an
 * error, and so is a newc hard link that brings the content of an earlier
 * entry: in tar that entry would stay empty.
 */
#include "archive_tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define READ_SIZE ((size_t)64 << 10)

/* The name that all of its versions 3 have. */
#define LIBRARY "libarchive.so.13"

#define CALLS(X) \
	X(read_new) X(read_support_format_zip_streamable) X(read_support_format_cpio) \
	X(read_open) X(read_next_header) X(read_data) X(read_free) X(write_new) \
	X(write_set_format_pax_restricted) X(write_set_options) \
	X(write_set_bytes_per_block) X(write_set_bytes_in_last_block) X(write_open) \
	X(write_header) X(write_data) X(write_finish_entry) X(write_close) \
	X(write_free) X(error_string) X(format) X(version_string) X(entry_pathname) \
	X(entry_pathname_utf8) X(entry_copy_pathname) X(entry_size) \
	X(entry_size_is_set) X(entry_set_size) X(entry_filetype) X(entry_hardlink) \
	X(entry_set_hardlink)

/* la.NAME is archive_NAME. */
struct library {
#define X(name) __typeof__(&archive_##name) name;
	CALLS(X)
#undef X
};

struct archive_tar {
	struct library la;
	struct archive *in, *out;
	ptrdiff_t (*read)(void *ctx, uint8_t *p, size_t n);
	void *ctx;
	uint64_t limit, at, entries;
	uint64_t header_end;	/* how far the header in turn may be read, or 0 */
	bool began, ended, read_failed, no_memory, large_header;
	uint8_t *tar;			/* written, not yet read */
	size_t tar_at, tar_size, tar_cap;
	uint8_t *data;			/* the entry's */
	size_t data_cap;
	uint8_t buffer[READ_SIZE];
};

/* Nothing is closed: it stays loaded once it was. */
static bool library_load(struct library *la)
{
	void *so = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!so)
		return false;
#define X(name) \
	*(void **)&la->name = dlsym(so, "archive_" #name); \
	if (!la->name) \
		return false;
	CALLS(X)
#undef X
	return true;
}

const char *archive_tar_version(void)
{
	struct library la;

	return library_load(&la) ? la.version_string() : NULL;
}

const char *archive_tar_missing(void)
{
	return archive_tar_version() ? NULL : "needs " LIBRARY ", which isn't here";
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

static bool room(uint8_t **p, size_t *cap, size_t n)
{
	uint8_t *more;

	if (n <= *cap)
		return true;
	more = realloc(*p, n + n / 2);
	if (!more)
		return false;
	*p = more;
	*cap = n + n / 2;
	return true;
}

static la_ssize_t take(struct archive *out, void *ctx, const void *p, size_t n)
{
	struct archive_tar *a = ctx;

	(void)out;
	if (!room(&a->tar, &a->tar_cap, a->tar_size + n)) {
		a->no_memory = true;
		return ARCHIVE_FATAL;
	}
	memcpy(a->tar + a->tar_size, p, n);
	a->tar_size += n;
	return (la_ssize_t)n;
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
	       !a->la.write_set_bytes_per_block(a->out, 0) &&
	       !a->la.write_set_bytes_in_last_block(a->out, 1) &&
	       !a->la.write_open(a->out, a, NULL, take, NULL);
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
	if (library_load(&a->la) && set_up(a, zip))
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
	free(a->tar);
	free(a->data);
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
	if (a->no_memory)
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
		if (!room(&a->data, &a->data_cap, n + READ_SIZE)) {
			a->no_memory = true;
			return bad(a, err, FILTER_E_MEMORY, NULL);
		}
		got = a->la.read_data(a->in, a->data + n, a->data_cap - n);
		if (got < 0)
			return bad_input(a, err);
		n += (size_t)got;
	} while (got);
	return (int64_t)n;
}

/* Names as they stand, whatever the locale can say. */
static bool fix_names(struct archive_tar *a, struct archive_entry *e)
{
	const char *name = a->la.entry_pathname_utf8(e);

	if (!name)
		name = a->la.entry_pathname(e);
	if (!name)
		return false;
	a->la.entry_copy_pathname(e, name);
	return true;
}

static int translate(struct archive_tar *a, struct archive_entry *e,
		     struct filter_error *err)
{
	int64_t n = 0;

	if (!fix_names(a, e))
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
	    (n && a->la.write_data(a->out, a->data, (size_t)n) != n) ||
	    a->la.write_finish_entry(a->out) < ARCHIVE_WARN)
		return bad(a, err, FILTER_E_UNSUPPORTED, a->la.error_string(a->out));
	return 0;
}

/* 1: an entry more was written, or the end; or an error. */
static int next_entry(struct archive_tar *a, struct filter_error *err)
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

ptrdiff_t archive_tar_read(struct archive_tar *a, uint8_t *dst, size_t n,
			   struct filter_error *err)
{
	int got;

	while (a->tar_at == a->tar_size && !a->ended) {
		a->tar_at = a->tar_size = 0;
		got = next_entry(a, err);
		if (got < 0)
			return got;
	}
	if (n > a->tar_size - a->tar_at)
		n = a->tar_size - a->tar_at;
	memcpy(dst, a->tar + a->tar_at, n);
	a->tar_at += n;
	return (ptrdiff_t)n;
}
