/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tar.h - the header blocks of one tar entry: ustar, GNU, pax
 *
 * The blocks in front of an entry's data are one head: pax headers, long names,
 * then the entry's own block.  A head is edited in place and in its own style
 * (octal digits as wide and as padded as they were), so that an edit that is
 * taken back gives the old bytes.
 */
#ifndef TAR_H
#define TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAR_BLOCK	((size_t)512)
#define TAR_HEAD_MAX	((size_t)256 << 10)
#define TAR_NO_SIZE	UINT64_MAX

struct tar_entry {
	size_t head;		/* bytes of all header blocks */
	size_t last;		/* where the entry's own block begins */
	size_t pax, pax_size;	/* its pax header (0 bytes: none), where */
	uint64_t size;		/* of the data behind */
	bool file;		/* a regular file, whole, with at most one pax header */
	const uint8_t *dir, *name;	/* dir: "" or a ustar prefix */
	size_t dir_size, name_size;
	int encoding;		/* LZVOLT.encoding; raw where there is none */
	uint64_t raw_size;	/* LZVOLT.size, or TAR_NO_SIZE */
};

/* Bytes up to the next block. */
static inline uint64_t tar_padding(uint64_t size)
{
	return -size % TAR_BLOCK;
}

bool tar_is_zero(const uint8_t *block);
bool tar_is_header(const uint8_t *block);	/* its checksum is right */
/*
 * The head at p: 1; 0 with *want: that many bytes are needed; -1 with *wrong
 * and *want: where.
 */
int tar_entry_get(const uint8_t *p, size_t n, struct tar_entry *e, size_t *want,
		  const char **wrong);
/*
 * Writes the head at p, for data of `size` bytes, encoded as said.  Returns
 * its size, at most e->head + TAR_EDIT_ROOM.
 */
#define TAR_EDIT_ROOM	(4 * TAR_BLOCK)
size_t tar_entry_edit(const uint8_t *p, const struct tar_entry *e, int encoding,
		      uint64_t raw_size, uint64_t size, uint8_t *dst);
/* A head for an empty file of that name, at most TAR_EDIT_ROOM + n bytes. */
size_t tar_entry_new(const uint8_t *name, size_t n, uint8_t *dst);

#endif
