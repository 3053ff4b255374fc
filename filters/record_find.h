/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_find.h - places in an .lzv file, without reading what is between
 *
 * For files that can be read anywhere.  With an index one read finds a group;
 * from there, or from the beginning, a walk hops from item head to item head.
 */
#ifndef RECORD_FIND_H
#define RECORD_FIND_H

#include "record.h"

/* Whole reads: n bytes at `at`, fewer at the end of the file, or negative. */
struct lzv_file {
	ptrdiff_t (*read_at)(void *ctx, uint64_t at, uint8_t *buf, size_t n);
	void *ctx;
	uint64_t size;
};

struct lzv_find {
	struct lzv_file file;
	unsigned flags;			/* of the first stream's header */
	bool indexed;			/* the file is one stream with an index */
	struct lzv_index index;
	uint64_t index_at;		/* indexed: offset of the index item */
};

/* Reads the header and, if there is one, the index. */
int lzv_find_open(struct lzv_find *f, const struct lzv_file *file,
		  struct filter_error *err);
void lzv_find_close(struct lzv_find *f);

/*
 * Part i (1 .. n) of n: *from and *to, so that the parts side by side are all
 * records.  By the index, else by sync marks; streams behind the first one
 * belong to the part that its end belongs to.
 */
struct lzv_part {
	uint64_t from, to;
	unsigned width;			/* transpose in effect at `from` */
};
int lzv_find_part(struct lzv_find *f, unsigned i, unsigned n,
		  struct lzv_part *part, struct filter_error *err);

/* A walk over items. */
struct lzv_walk {
	struct lzv_find *f;
	uint64_t at;			/* of the next item */
	unsigned flags, width;
	uint64_t record;		/* number of the record that comes next */
	uint64_t raw;			/* decoded bytes before the next item */
	bool more;			/* the last record item goes on */
	struct lzv_item it;		/* the item at item_at; sizes alone */
	uint64_t item_at;
	size_t group;			/* of the index; what must hold behind it: */
	uint64_t group_at, group_record, group_raw;	/* group_at 0: none */
	uint8_t buf[4096];
	uint64_t buf_at;
	size_t buf_len;
};
/* From the beginning, or from the group of the index that holds a place. */
void lzv_walk_start(struct lzv_walk *w, struct lzv_find *f);
void lzv_walk_to_record(struct lzv_walk *w, uint64_t record);
void lzv_walk_to_raw(struct lzv_walk *w, uint64_t raw);
/* 1: w->it is the next record item, 0: the file has no more, or an error. */
int lzv_walk_next(struct lzv_walk *w, struct filter_error *err);
/*
 * Walks to the end of the index's group, where its totals must match: a head
 * that was hopped over and lies is noticed.  0, or an error.
 */
int lzv_walk_settle(struct lzv_walk *w, struct filter_error *err);
/* Does the record item w->it have this key?  1, 0 or an error. */
int lzv_walk_key_is(struct lzv_walk *w, const uint8_t *key, size_t n,
		    struct filter_error *err);

#endif
