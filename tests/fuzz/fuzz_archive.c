// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz_archive.c - hostile cpio, zip and tar archives
 *
 * The first byte chooses the formats, the rest is read in uneven pieces, files of
 * at most 1 MiB.  Whatever comes out must be whole tar blocks, or an error; and
 * those are made into cpio or zip, as is a tar that comes as it is.
 */
#include <stdlib.h>
#include <string.h>

#include "archive_tar.h"

struct input {
	const uint8_t *p;
	size_t n, at;
};

static ptrdiff_t give(void *ctx, uint8_t *p, size_t n)
{
	struct input *in = ctx;
	size_t left = in->n - in->at, piece = 1 + in->at % 701;

	if (n > piece)
		n = piece;
	if (n > left)
		n = left;
	memcpy(p, in->p + in->at, n);
	in->at += n;
	return (ptrdiff_t)n;
}

/* All that archive*.c want of the rest of filters/. */
int filter_fail(struct filter_error *err, int code, uint64_t offset, const char *fmt, ...)
{
	(void)fmt;
	err->code = code;
	err->offset = offset;
	return code;
}

/* What libarchive opened for a writer that met a fatal error it never frees. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libarchive.so\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	static uint8_t tar[10240];
	struct input in = { .p = p + 1, .n = len ? len - 1 : 0 };
	struct filter_error err;
	struct archive_tar *a;
	struct archive_make *m;
	ptrdiff_t n = 1;
	size_t made;
	uint64_t total = 0;

	if (!len || archive_tar_missing())
		return 0;
	m = archive_make_open(p[0] & 2, 1 << 20);
	a = p[0] & 4 ? NULL : archive_tar_open(p[0] & 1, 1 << 20, give, &in);
	while (m && n > 0 && total < 64 << 20) {
		n = a ? archive_tar_read(a, tar, sizeof(tar), &err) :
		    give(&in, tar, sizeof(tar));
		total += n > 0 ? (uint64_t)n : 0;
		if (n > 0 && archive_make_put(m, tar, (size_t)n, &err))
			break;
		archive_make_take(m, &made);
	}
	if (m && n == 0)
		archive_make_end(m, &err);
	if (a && n == 0 && total % 512)
		abort();
	archive_tar_close(a);
	archive_make_close(m);
	return 0;
}
