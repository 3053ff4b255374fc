/* SPDX-License-Identifier: Apache-2.0 */
/*
 * archive_tar.h - cpio and zip archives as the tar archive that holds the same,
 * and back
 *
 * One reader and one writer less for whoever cuts records: libarchive reads an
 * archive from its front to its end and writes it as pax tar, entry by entry,
 * so that modes, owners, times and links come along as far as the format has
 * them; and the other way round.
 */
#ifndef ARCHIVE_TAR_H
#define ARCHIVE_TAR_H

#include "filter.h"

struct archive_tar;

/* The library's name and version; NULL where there is none. */
const char *archive_tar_version(void);
/* NULL, or what is missing. */
const char *archive_tar_missing(void);
/*
 * read: up to n bytes of the archive; 0 = the end, < 0 = failed.  A file may
 * have `limit` bytes.  NULL: out of memory, or
 * archive_tar_missing().
 */
struct archive_tar *archive_tar_open(bool zip, uint64_t limit,
				     ptrdiff_t (*read)(void *ctx, uint8_t *p, size_t n),
				     void *ctx);
void archive_tar_close(struct archive_tar *a);
/* Up to n bytes of tar; 0 = the end, or an error; FILTER_E_READ: read's. */
ptrdiff_t archive_tar_read(struct archive_tar *a, uint8_t *dst, size_t n,
			   struct filter_error *err);
/* Bytes of the archive that were read. */
uint64_t archive_tar_at(const struct archive_tar *a);

struct archive_make;

/* NULL: out of memory, or archive_tar_missing(). */
struct archive_make *archive_make_open(bool zip, uint64_t limit);
void archive_make_close(struct archive_make *m);
/* n bytes of a tar archive more: 0, or an error. */
int archive_make_put(struct archive_make *m, const uint8_t *p, size_t n,
		     struct filter_error *err);
/* The tar archive ends here. */
int archive_make_end(struct archive_make *m, struct filter_error *err);
/* The bytes of cpio or zip that came of it, good until the next call. */
const uint8_t *archive_make_take(struct archive_make *m, size_t *n);

#endif
