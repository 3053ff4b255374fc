/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - the door of asm/: decode kernels, and which one this CPU gets
 *
 * The contract
 *
 * A kernel decodes whole plain blocks of one section, as many as it likes, and
 * stops on a block boundary: on return `in` is at a token and `out` where that
 * block's first byte goes.  It gives no verdict.  At anything that isn't plain
 * (an edge near, a length chain it doesn't care to follow, an offset of zero or
 * beyond what has been produced, a repeat with nothing to repeat) it stops
 * before that block, and the careful step in filters/lzvolt.c takes the block or
 * refuses it.  A kernel that returns at once is therefore correct, only slow.
 *
 * The limits: it reads input in [in, in_end) and output in [base, out_end), it
 * writes in [out, out_end), and no block it decodes ends behind `goal`.  Bytes
 * behind the final `out`, up to out_end, may hold anything.  goal <= out_end.
 * All pointers may be close together, or equal.  A block without a match is plain
 * too if its literals end at goal, or at in_end; the kernel then sets `ended` and
 * stops.  Where the input's end cuts a block, a kernel may take zeroes for what is
 * missing and leave `in` a few bytes behind in_end: the caller looks.
 *
 * Kernels use caller-saved registers freely, keep the callee-saved ones, need no
 * stack alignment of their own and leave the upper halves of vector registers
 * clear.
 *
 * Three bodies a kernel: `even` for even sections of own values, `wide` for wide
 * sections, `lz4` for LZ4 blocks (even tokens, but other statistics and end
 * rules).  A row of ARCH/kernels.def says what a kernel needs, which line of
 * CPUs it is for, and why; the same row stamps its code out of a recipe.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <stddef.h>
#include <stdint.h>

/* Offsets of the fields are known to the recipes (pick.c asserts them). */
struct kernel_run {
	const uint8_t *in;	/* 0: next token; moved on */
	uint8_t *out;		/* 8: next byte to produce; moved on */
	const uint8_t *in_end;	/* 16: input ends here */
	uint8_t *out_end;	/* 24: the buffer ends here */
	uint8_t *goal;		/* 32: the value ends here */
	const uint8_t *base;	/* 40: no offset reaches before this */
	uint64_t offset;	/* 48: wide: the last block's offset, 0 = none */
	uint64_t ended;		/* 56: set to 1: the last block was literals alone */
};

typedef void kernel_fn(struct kernel_run *run);

struct kernel {
	const char *name;
	uint32_t need;		/* CPU_* bits, all of them */
	uint32_t line;		/* CPU_LINE_*; CPU_LINE_ANY = every CPU */
	kernel_fn *even, *wide, *lz4;
	const char *why;
};

/* ISA bits (cpu.c).  Only those that a row asks for. */
#define CPU_SSSE3	(1u << 0)
#define CPU_AVX2	(1u << 1)	/* with OS support for the upper halves */
#define CPU_BMI2	(1u << 2)
#define CPU_AVX512	(1u << 3)	/* F, BW, VL, with OS support */
#define CPU_NEON	(1u << 4)

/* Lines of CPUs that behave alike. */
enum cpu_line {
	CPU_LINE_ANY,
	CPU_LINE_ZEN,		/* AMD family 17h and later, Hygon */
	CPU_LINE_INTEL,		/* Intel server and client "big" cores */
	CPU_LINE_NEOVERSE,	/* Arm Neoverse N1, N2, V1, V2, V3 */
};

struct cpu {
	uint32_t have;
	enum cpu_line line;
};

/* What this machine has.  Computed afresh on every call; no state. */
struct cpu cpu_read(void);

/*
 * The table: best row first, portable last.  count includes portable.
 * Rows for instructions this CPU lacks are listed too.
 */
const struct kernel *kernel_table(size_t *count);

/* The first row that a CPU with these bits, of this line, can and should use. */
const struct kernel *kernel_pick(struct cpu cpu);

/*
 * The kernel in use: the one forced, else VOLTBOX_KERNEL's if that names a row
 * that this CPU can run, else kernel_pick().  Decided once, then one load;
 * thread-safe.
 */
static inline const struct kernel *kernel_current(void);

/*
 * Makes `name` the kernel in use from now on; "auto" or null = choose again.
 * Returns false, and changes nothing, when there is no such row or this CPU
 * can't run it.  Thread-safe; runs under way finish with the kernel they have.
 */
_Bool kernel_force(const char *name);

/* What kernel_current() caches; null = not decided.  pick.c's alone. */
extern const struct kernel *kernel_cached;
const struct kernel *kernel_decide(void);

static inline const struct kernel *kernel_current(void)
{
	const struct kernel *row = __atomic_load_n(&kernel_cached, __ATOMIC_RELAXED);

	return __builtin_expect(row != NULL, 1) ? row : kernel_decide();
}

#endif
