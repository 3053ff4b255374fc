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

/*
 * Links are position + 1, 0 for none.  A value of up to 64 KiB has links of 16
 * bits, so that its trees stay in L2: about a fifth of the level's time.
 */
#define TREE_NEAR_MAX	65536

struct tree {
	const uint8_t *base, *end;
	unsigned depth;			/* nodes a search may visit */
	unsigned shift;			/* of the hash, by the value's length */
	union {
		uint16_t near[1 << TREE_HASH_BITS];
		uint32_t far[1 << TREE_HASH_BITS];
	} root;
	union {				/* of each position: smaller, larger */
		uint16_t near[2 * TREE_WINDOW];
		uint32_t far[2 * TREE_WINDOW];
	} child;
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
