/* SPDX-License-Identifier: Apache-2.0 */
/* archive.c - cpio and zip where libarchive is left out */
#include "archive_tar.h"

const char *archive_tar_version(void)
{
	return NULL;
}

const char *archive_tar_missing(void)
{
	return "not built in: needs libarchive";
}

struct archive_tar *archive_tar_open(bool zip, uint64_t limit,
				     ptrdiff_t (*read)(void *ctx, uint8_t *p, size_t n),
				     void *ctx)
{
	(void)zip;
	(void)limit;
	(void)read;
	(void)ctx;
	return NULL;
}

void archive_tar_close(struct archive_tar *a)
{
	(void)a;
}

ptrdiff_t archive_tar_read(struct archive_tar *a, uint8_t *dst, size_t n,
			   struct filter_error *err)
{
	(void)a;
	(void)dst;
	(void)n;
	return filter_fail(err, FILTER_E_UNSUPPORTED, SIZE_UNKNOWN, "%s",
			   archive_tar_missing());
}

uint64_t archive_tar_at(const struct archive_tar *a)
{
	(void)a;
	return 0;
}

struct archive_make *archive_make_open(bool zip, uint64_t limit)
{
	(void)zip;
	(void)limit;
	return NULL;
}

void archive_make_close(struct archive_make *m)
{
	(void)m;
}

int archive_make_put(struct archive_make *m, const uint8_t *p, size_t n,
		     struct filter_error *err)
{
	(void)m;
	(void)p;
	(void)n;
	return filter_fail(err, FILTER_E_UNSUPPORTED, SIZE_UNKNOWN, "%s",
			   archive_tar_missing());
}

int archive_make_end(struct archive_make *m, struct filter_error *err)
{
	return archive_make_put(m, NULL, 0, err);
}

const uint8_t *archive_make_take(struct archive_make *m, size_t *n)
{
	(void)m;
	*n = 0;
	return NULL;
}
