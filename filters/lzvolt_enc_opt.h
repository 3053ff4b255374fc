/* SPDX-License-Identifier: Apache-2.0 */
/* lzvolt_enc_opt.h - the nodes of the cheapest way, see lzvolt_enc_opt.c */
#ifndef LZVOLT_ENC_OPT_H
#define LZVOLT_ENC_OPT_H

#include "lzvolt_enc_tree.h"

#define SEGMENT		65536
#define WIDE_NODES	3
#define NODES		(1 + WIDE_NODES)
/* Node numbers are position * NODES + slot; slot 0 is even. */

/* Costs count 1/16 bytes. */
#define BYTE		16
#define NEVER		UINT32_MAX

struct node {
	uint32_t cost;
	uint32_t lit;		/* pending literals */
	uint32_t from;		/* the node before the match, or before lit */
	uint32_t len;		/* of the match that ends here; 0: see gap */
	uint16_t off;		/* remembered; 0: none in this section yet */
	uint16_t gap;		/* literals before the repeat; SWITCH */
};

#define SWITCH		255

/* The cheapest node known that a long match has made; see drop_beaten(). */
struct ahead {
	uint32_t pos, cost;
};

/* What a level looks at. */
struct effort {
	uint32_t depth;		/* of the tree */
	uint32_t slots;		/* one even and the others wide */
	uint32_t lengths;	/* every length is tried up to here */
	uint32_t near;		/* and this near to the longest */
	uint32_t cut;		/* nodes so much dearer than one ahead are dropped */
};

struct opt {
	struct tree tree;
	struct effort effort;
	uint32_t lead;		/* even may cost so many quarters of wide */
	struct node node[(SEGMENT + 1) * NODES];
	struct enc_seq seq[SEGMENT / ENC_MIN_MATCH + 2];
	uint32_t cheapest[SEGMENT + 1];	/* of the wide nodes */
	uint32_t reached;	/* positions up to here have nodes */
	uint32_t end;		/* of the segment, as a position */
	uint32_t before;	/* the longest match one byte earlier */
	uint32_t block;		/* price of a block beside its bytes */
	uint32_t trailer;
	struct ahead ahead[2];	/* in even, in wide */
	const uint8_t *at;	/* position 0 of the segment */
	const uint8_t *limit;	/* of the source */
};

/* Sequences of one way, last one first, filled from the end of seq. */
struct path {
	struct enc_seq *first, *last;	/* last is behind the end */
	struct enc_seq *switch_at;	/* the first wide one; null: none */
};

/* Walks back from node id; its pending literals are in no sequence. */
void path_find(struct opt *o, uint32_t id, struct path *p);

/* Writes the path's sequences; final: the value's end, too. */
void path_write(struct enc_out *out, const struct path *p, bool final);

#endif
