/* SPDX-License-Identifier: Apache-2.0 */
/* vcompress.h - what the files of vcompress share: its options, its steps */
#ifndef VCOMPRESS_H
#define VCOMPRESS_H

#include "cmd.h"
#include "code.h"

struct pack_options {
	const char *format;	/* -F */
	const struct filter *filter;
	int level;
	const char *dict_path;
	uint8_t *dict;
	size_t dict_len;
	int window_log, check, probe, refuse, verify, flush_ms, favor, transpose;
	uint64_t block_size, seek_frame;
	int force, to_stdout, remove, sync, recurse, sparse;
	const char *out, *files0, *sidecar, *kernel, *records;
	bool stdin_is_list;	/* names come from standard input */
};
extern struct pack_options pack_options;

/* Parameters for a codec; threads, size and a memory limit other than -M's
   are for the caller to add. */
void pack_params(const struct filter *f, struct filter_params *p);

/* Dies where the codec can't honour what was asked for. */
void pack_refuse_options(const struct filter *f);

/* What came of one file: for JSON and -v. */
struct pack_result {
	const char *file, *output, *format;
	int level;
	uint64_t raw, packed;
	bool stored;		/* kept (side-cars, --refuse may drop it) */
	double seconds;
	struct filter_error err;
};
void pack_report(const struct pack_result *r, FILE *to);

/* One input (path "-" = standard input) to its output.  Says what fails. */
void pack_file(const char *path, bool found);
/* Behind the last one. */
void pack_files_done(void);

/*
 * Reads back what was written and compares with the digest of what was read.
 * path: the file; raw: its decoded size.
 */
int pack_verify(const char *path, const struct filter *f, uint64_t raw,
		uint64_t digest, struct filter_error *err);

/* One input to side-cars next to it.  list: "br,gz,zst". */
void side_check(const char *list);	/* dies on a bad list */
void side_file(const char *path, const char *list);

#endif
