// SPDX-License-Identifier: Apache-2.0
/*
 * vconvert_shard.c - a part of an .lzv file, found without reading the rest
 *
 * The parts of all i from 1 to n, side by side, are the file's records, so n
 * machines (or jobs of GNU parallel) can convert one file without a word
 * between them.  Here the input is made to begin and end where the part does;
 * the rest of vconvert doesn't know.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vconvert.h"

bool shard_parse(const char *text, unsigned *i, unsigned *n)
{
	char *end;
	unsigned long a = strtoul(text, &end, 10), b;

	if (end == text || *end != '/')
		return false;
	text = end + 1;
	b = strtoul(text, &end, 10);
	if (end == text || *end || !a || a > b || b > 1000000)
		return false;
	*i = (unsigned)a;
	*n = (unsigned)b;
	return true;
}

bool shard_open(struct convert_run *r, struct input *in, unsigned i, unsigned n,
		struct lzv_part *part)
{
	struct lzv_file file = { input_read_at, in, (uint64_t)in->st.st_size };
	struct filter_error err = { 0 };
	struct lzv_find find;

	if (!in->regular) {
		say_error(in->name, "--shard needs a regular file");
		return false;
	}
	if (lzv_find_open(&find, &file, &err) ||
	    lzv_find_part(&find, i, n, part, &err)) {
		say_failure(in->name, &err);
		lzv_find_close(&find);
		return false;
	}
	r->part = part;
	r->part_flags = find.flags;
	r->part_open = find.indexed || part->to < file.size || part->from == part->to;
	lzv_find_close(&find);
	if (lseek(in->fd, (off_t)part->from, SEEK_SET) < 0) {
		say_errno(in->name, "can't seek", errno);
		return false;
	}
	in->left = part->to - part->from;
	return true;
}
