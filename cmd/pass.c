/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pass.c - bytes that go through as they are
 *
 * From a pipe by splice(2), where a copy through this process takes half as long
 * again: the pages of a pipe belong to nobody any more, so what arrives is what
 * was sent.  Not from a file, whose pages may still change while they wait in the
 * next pipe, and not by vmsplice(2) of our own pages: when a reader is through
 * with them can't be known.
 *
 * What the feed has read already goes first.  Where the kernel won't splice (a
 * terminal, a file opened for appending), and when it fails, the bytes are read
 * and written, which then meets the error and its name.
 */
#include "code.h"
#include "report.h"

#define SPLICE_SIZE ((size_t)1 << 20)

static bool splice_some(struct feed *f, struct sink *k)
{
	int fd = sink_descriptor(k);
	size_t n = fd < 0 ? 0 : feed_splice(f, fd, SPLICE_SIZE);

	sink_passed(k, n);
	progress_tick(f->src.offset, k->total);
	return n;
}

int pass_on(struct feed *f, struct sink *k, struct filter_error *err)
{
	const uint8_t *data;
	ptrdiff_t n;

	do {
		while (splice_some(f, k))
			;
		n = source_next(&f->src, &data);
		if (n > 0 && sink_write(k, data, (size_t)n))
			return sink_failure(k, err);
	} while (n > 0 || n == SOURCE_PAUSE);
	if (!n)
		return 0;
	err->code = FILTER_E_READ;
	return feed_failure(f, err);
}
