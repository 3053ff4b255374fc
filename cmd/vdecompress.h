/* SPDX-License-Identifier: Apache-2.0 */
/* vdecompress.h - what the files of vdecompress share */
#ifndef VDECOMPRESS_H
#define VDECOMPRESS_H

#include "cmd.h"
#include "code.h"
#include "records.h"

struct unpack_options {
	const char *format;
	const struct filter *filter;	/* -F, NULL = by content */
	const char *dict_path;
	uint8_t *dict;
	size_t dict_len;
	int test, list, force, to_stdout, remove, sync, recurse, sparse;
	int trailing, pass_through, salvage;
	uint64_t max_output, max_ratio, size;
	const char *out, *files0, *kernel, *records;
	struct records_part part;	/* of an .lzv file */
	bool stdin_is_list;
};
extern struct unpack_options unpack_options;

/* One input (path "-" = standard input).  Says what fails. */
void unpack_file(const char *path, bool found);

#define LOSSES_KEPT ((size_t)4096)

/* What is known of one input: filled member by member. */
struct listing {
	struct loss *lost;	/* --salvage: the first LOSSES_KEPT, with --json */
	uint64_t losses, lost_bytes;
	uint64_t seek_frames;	/* in seek tables */
	uint64_t members, skipped, raw, packed, blocks, window, dict_id;
	char formats[64];	/* "zstd" or "gzip+zstd" */
	const char *check;	/* "-" none, "mixed" */
	uint64_t declared;	/* of a single member */
	struct member *each;	/* kept with -v or --json of -l */
	size_t each_len, each_cap;
	bool keep;
};
void listing_add(struct listing *l, const struct member *m);
/* Says and counts it. */
void listing_lost(struct listing *l, const char *name, const struct loss *loss);
void listing_free(struct listing *l);
/* A row for people; the heading comes before the first. */
void listing_print(const struct listing *l, const char *name);
/* Fields into a line that is open. */
void listing_json(const struct listing *l, struct json *j);

#endif
