// SPDX-License-Identifier: Apache-2.0
/*
 * archive_make.c - a tar archive as the cpio or zip archive that holds the same
 *
 * The way back of archive.c: tar comes in pieces, and each entry that is whole
 * is read and written anew by libarchive.  cpio is written as newc; a zip's files
 * are stored, since what they hold is packed already or shall be packed by us.
 *
 * What the format has no place for is dropped where it describes a file (ACLs,
 * extended attributes) and refused where it is one: hard links, which newc ties
 * to a count that only the last entry of a tar would tell, and in a zip all but
 * files, directories and symbolic links.
 *
 * A zip marks a name as UTF-8 where the locale of the thread that writes it is.
 */
#include <stdlib.h>
#include <string.h>

#include "archive_library.h"
#include "archive_tar.h"
#include "tar.h"

struct archive_make {
	struct archive_library la;
	struct archive *out;
	locale_t utf8;			/* 0: not to be had, names stay unmarked */
	bool zip;
	uint64_t limit, entries;
	struct archive_bytes tar;	/* from the entry in turn on */
	struct archive_bytes data;	/* the entry's */
	struct archive_bytes made;	/* not yet taken */
};

static bool set_up(struct archive_make *m)
{
	m->out = m->la.write_new();
	if (!m->out)
		return false;
	if (m->zip ? m->la.write_set_format_zip(m->out) ||
		     m->la.write_set_options(m->out, "zip:compression=store") :
	    m->la.write_set_format_cpio_newc(m->out))
		return false;
	return archive_write_to(&m->la, m->out, &m->made);
}

struct archive_make *archive_make_open(bool zip, uint64_t limit)
{
	struct archive_make *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->zip = zip;
	m->utf8 = archive_utf8();
	m->limit = limit;
	if (archive_library_load(&m->la) && set_up(m))
		return m;
	archive_make_close(m);
	return NULL;
}

void archive_make_close(struct archive_make *m)
{
	if (!m)
		return;
	if (m->out)
		m->la.write_free(m->out);
	if (m->utf8)
		freelocale(m->utf8);
	free(m->tar.p);
	free(m->data.p);
	free(m->made.p);
	free(m);
}

static int bad(const struct archive_make *m, struct filter_error *err, int code,
	       const char *what)
{
	if (m->tar.no_memory || m->data.no_memory || m->made.no_memory)
		return filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
	return filter_fail(err, code, SIZE_UNKNOWN, "entry %llu: %s",
			   (unsigned long long)m->entries,
			   what ? what : "not what its format says");
}

static const char *misfit(const struct archive_make *m, struct archive_entry *e)
{
	unsigned type = m->la.entry_filetype(e);

	if (m->la.entry_hardlink(e))
		return "a hard link, which this target can't hold; tar can";
	if (m->zip && type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK)
		return "neither a file, a directory nor a link; a zip can't hold it";
	return NULL;
}

/* The whole file, holes filled: its size, or an error. */
static int64_t read_data(struct archive_make *m, struct archive *in, uint64_t n,
			 struct filter_error *err)
{
	if (n > m->limit)
		return bad(m, err, FILTER_E_MEMORY, "a file is above the memory limit");
	if (!archive_room(&m->data, (size_t)n + 1))
		return bad(m, err, FILTER_E_MEMORY, NULL);
	if (m->la.read_data(in, m->data.p, (size_t)n) != (la_ssize_t)n)
		return bad(m, err, FILTER_E_CORRUPT, m->la.error_string(in));
	return (int64_t)n;
}

static int write_header(struct archive_make *m, struct archive_entry *e)
{
	locale_t before = m->utf8 ? uselocale(m->utf8) : (locale_t)0;
	int got;

	if (before && !m->la.entry_pathname_utf8(e))
		uselocale(before);
	got = m->la.write_header(m->out, e);
	if (before)
		uselocale(before);
	return got;
}

static int write_entry(struct archive_make *m, struct archive *in,
		       struct archive_entry *e, struct filter_error *err)
{
	const char *wrong = misfit(m, e);
	bool file = m->la.entry_filetype(e) == AE_IFREG;
	int64_t n = 0;

	if (wrong)
		return bad(m, err, FILTER_E_UNSUPPORTED, wrong);
	if (!archive_fix_name(&m->la, e))
		return bad(m, err, FILTER_E_CORRUPT, "a name that is none");
	if (file)
		n = read_data(m, in, (uint64_t)m->la.entry_size(e), err);
	if (n < 0)
		return (int)n;
	if (!m->la.entry_nlink(e))
		m->la.entry_set_nlink(e, 1);
	if (write_header(m, e) < ARCHIVE_WARN ||
	    (n && m->la.write_data(m->out, m->data.p, (size_t)n) != n) ||
	    m->la.write_finish_entry(m->out) < ARCHIVE_WARN)
		return bad(m, err, FILTER_E_UNSUPPORTED, m->la.error_string(m->out));
	m->entries++;
	return 0;
}

/* One entry with all that belongs to it. */
static int translate(struct archive_make *m, const uint8_t *p, size_t n,
		     struct filter_error *err)
{
	struct archive *in = m->la.read_new();
	struct archive_entry *e;
	int failed;

	if (!in || m->la.read_support_format_tar(in))
		failed = bad(m, err, FILTER_E_MEMORY, "libarchive can't read tar");
	else if (m->la.read_open_memory(in, p, n) ||
		 m->la.read_next_header(in, &e) < ARCHIVE_WARN)
		failed = bad(m, err, FILTER_E_CORRUPT, m->la.error_string(in));
	else
		failed = write_entry(m, in, e, err);
	if (in)
		m->la.read_free(in);
	return failed;
}

/* Takes what is whole off the front of n bytes: as many, or an error. */
static int64_t step(struct archive_make *m, const uint8_t *p, size_t n,
		    struct filter_error *err)
{
	struct tar_entry e;
	const char *wrong;
	size_t want;
	int got;

	if (n < TAR_BLOCK)
		return 0;
	if (tar_is_zero(p))
		return TAR_BLOCK;
	got = tar_entry_get(p, n, &e, &want, &wrong);
	if (got < 0)
		return bad(m, err, FILTER_E_CORRUPT, wrong);
	if (!got)
		return 0;
	if (e.size > m->limit)
		return bad(m, err, FILTER_E_MEMORY, "a file is above the memory limit");
	want = e.head + (size_t)(e.size + tar_padding(e.size));
	if (n < want)
		return 0;
	got = translate(m, p, want, err);
	return got ? got : (int64_t)want;
}

int archive_make_put(struct archive_make *m, const uint8_t *p, size_t n,
		     struct filter_error *err)
{
	size_t at = 0;
	int64_t took;

	if (!archive_room(&m->tar, m->tar.size + n))
		return bad(m, err, FILTER_E_MEMORY, NULL);
	if (n)
		memcpy(m->tar.p + m->tar.size, p, n);
	m->tar.size += n;
	do {
		took = step(m, m->tar.p + at, m->tar.size - at, err);
		if (took < 0)
			return (int)took;
		at += (size_t)took;
	} while (took);
	m->tar.size -= at;
	if (at && m->tar.size)
		memmove(m->tar.p, m->tar.p + at, m->tar.size);
	return 0;
}

int archive_make_end(struct archive_make *m, struct filter_error *err)
{
	if (m->la.write_close(m->out) < ARCHIVE_WARN)
		return bad(m, err, FILTER_E_UNSUPPORTED, m->la.error_string(m->out));
	return 0;
}

const uint8_t *archive_make_take(struct archive_make *m, size_t *n)
{
	*n = m->made.size;
	m->made.size = 0;
	return m->made.p;
}
