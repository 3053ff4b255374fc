/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - what vcompress and vdecompress do with records
 *
 * --records=FRAMING packs records one by one and gives them back in their
 * framing (records.c, which is vconvert's pipeline with the two ends fixed);
 * --record, --key and --range read a part of an .lzv file (records_read.c),
 * --range one of a seekable zstd file too (seek_read.c).
 */
#ifndef RECORDS_H
#define RECORDS_H

#include "cmd.h"
#include "code.h"

/* Dies on a framing that can't be had: one with a flag, or a container. */
void records_check(const char *framing);

/* As pack_run() and unpack_run(). */
int records_pack(const struct pack *p, const char *framing,
		 struct filter_error *err);
int records_unpack(const struct unpack *u, const char *framing,
		   struct filter_error *err);

/* Which part of an .lzv file is wanted; one of the three. */
struct records_part {
	uint64_t record;	/* SIZE_UNKNOWN = not by number */
	const char *key;
	const char *range;	/* "OFF:LEN" */
};
static inline bool records_part_wanted(const struct records_part *p)
{
	return p->record != SIZE_UNKNOWN || p->key || p->range;
}
/* "OFF:LEN"; 0, or an error with *err filled. */
int range_parse(const char *text, uint64_t *from, uint64_t *n,
		struct filter_error *err);
/* Reads it from the open input into the sink. */
int records_read(const struct input *in, const struct records_part *part,
		 uint64_t memory, struct sink *sink, struct filter_error *err);

/* Does a seek table end the file? */
bool seek_read_suits(const struct input *in);
/* As records_read(), of the part's range; p: the dictionary, and the memory. */
int seek_read(const struct input *in, const char *range,
	      const struct filter_params *p, struct sink *sink,
	      struct filter_error *err);

#endif
