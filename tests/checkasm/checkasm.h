/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkasm.h - what the parts of checkasm share
 */
#ifndef CHECKASM_H
#define CHECKASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel.h"

/* What a packed input is. */
enum kind { KIND_VALUE, KIND_LZ4, KIND_KINDS };

/* One packed input and what is known of it. */
struct input {
	const char *name;
	enum kind kind;
	uint8_t *packed;
	size_t packed_len;
	uint8_t *plain;		/* null: the careful step alone decides */
	size_t plain_len;	/* LZ4: the declared length, plain or not */
	bool plain_data;	/* nearly all its blocks must be the kernel's */
};

/* arena.c: n bytes between two PROT_NONE pages; never freed.  Exits on failure. */
#define ARENA	(4u << 20)
struct arena {
	uint8_t *low, *high;
};
struct arena arena_make(size_t n);

/* xorshift64*, seeded by the command line. */
extern uint64_t seed_now;
uint32_t rnd(void);
static inline uint32_t rnd_below(uint32_t n)
{
	return (uint32_t)((uint64_t)rnd() * n >> 32);
}

/*
 * Calls fn and returns what it broke, 0 = nothing (bits in
 * call_ARCH.S).
 */
/* call.c: whether checked_call() can see dirty upper vector halves. */
int checked_call_knows_vectors(void);
unsigned checked_call(kernel_fn *fn, struct kernel_run *run);

/* gen.c: fills `in` (caller frees packed and plain).  i picks the recipe. */
void gen_text(uint8_t *to, size_t n);
void gen_value(struct input *in, uint32_t size_max);
void gen_lz4(struct input *in, uint32_t size_max);
void gen_overlap(struct input *in, bool wide, uint32_t offset, uint32_t length,
		 uint32_t literals);
void gen_blocks(struct input *in, enum kind kind);
void gen_mutate(struct input *in);
void input_free(struct input *in);

/*
 * peer_lz4.c, or peer_none.c where there is no liblz4: packs an LZ4 block in a
 * manner chosen by `how`; unpacks as LZ4_decompress_safe() does.
 */
extern const bool peer_there;
size_t peer_pack(const uint8_t *plain, size_t n, uint8_t *to, size_t cap, uint32_t how);
/* The n bytes behind `history` at plain as a linked block; 0 = there is no peer. */
size_t peer_pack_linked(const uint8_t *plain, size_t history, size_t n, uint8_t *to,
			size_t cap);
int peer_unpack(const uint8_t *packed, uint8_t *to, int packed_len, int cap);

/* bench.c: prints GB/s of every row that runs here, unpacking one LZ4 block. */
void bench_rows(uint64_t seed);

/* vectors.c: calls `each` for every vector found; returns how many. */
unsigned vectors_each(const char *shared, void (*each)(struct input *in, bool ok));

#endif
