/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzvolt_enc_tree.h - all matches of a position, longest last
 *
 * One binary search tree for each hash of four bytes, ordered by the bytes
 * that follow, the newest position at its root (as LZMA's match finder does
 * it): a search walks from the root, becomes the new root on its way, and
 * meets the nearest match of every length.
 */
#ifndef LZVOLT_ENC_TREE_H
#define LZVOLT_ENC_TREE_H

#include "lzvolt_enc.h"

#define TREE_HASH_BITS	15
#define TREE_WINDOW	65536
/* Ordered by so many bytes at most; a match as long ends a search. */
#define TREE_DEEP_LEN	512
#define TREE_MATCHES	32

struct tree {
	const uint8_t *base, *end;
	unsigned depth;				/* nodes a search may visit */
	uint32_t root[1 << TREE_HASH_BITS];	/* position + 1; 0: none */
	uint32_t child[TREE_WINDOW][2];		/* smaller, larger; likewise */
};

struct tree_match {
	uint32_t len, off;
};

void tree_init(struct tree *t, const uint8_t *base, const uint8_t *end,
	       unsigned depth);

/*
 * Enters p and fills m with its matches of at least 4 bytes, each longer and
 * farther away than the one before.  Every position must be entered in turn or
 * left out; none twice.  Returns how many.
 */
size_t tree_find(struct tree *t, const uint8_t *p,
		 struct tree_match m[TREE_MATCHES]);

#endif
