/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.S - the recipe for aarch64: stamps even, wide and lz4 of each row
 *
 * The next token is found as in x86_64/unpack.S: both bytes that can be it are
 * loaded, one is selected, and no branch asks whether the match length has a
 * chain byte.  Literals leave in one 16-byte store, the match in 32 bytes behind
 * them.  What is longer goes on at the same distance and ends with a move that
 * ends where the block ends, so no long move writes behind its block.
 *
 * w9 token, then match length - 4; x10 literal length; w11 offset; x12 where the
 * match comes from; w13 next token, w14 the byte behind it; x7 where the match
 * goes; x8 where the literals end; x16 IN at the block's start.  x2 stays at the
 * block's start until the block is done, so a stop has nothing to take back.
 * Only caller-saved registers; x18 is the platform's.
 */
#define RUN	x0
#define IN	x1	/* literals: one behind the token */
#define OUT	x2	/* the block's start */
#define LIMIT	x3
#define BOUND	x4
#define BASE	x5
#define LAST	w6	/* wide: the last offset */
#define TO	x7
#define LEND	x8
#define FROM	x12
#define KEEP	x16

#define OUT_ROOM	48	/* what a short block may write: 16 + 32 */
#define EVEN_IN		18	/* see portable.c */
#define WIDE_IN		6

	.section .rodata
	.p2align 5
/* Row n: byte i comes from byte i modulo n. */
repeats:
	.fill	32, 1, 0
	.set	row, 1
	.rept	15
	.set	i, 0
	.rept	32
	.byte	i % row
	.set	i, i + 1
	.endr
	.set	row, row + 1
	.endr

	.text

.macro enter p, in_room
	ldp	IN, OUT, [RUN]
	ldp	x9, x10, [RUN, #16]
	ldp	x11, BASE, [RUN, #32]
	sub	x12, x9, IN
	sub	x13, x10, OUT
	cmp	x12, #\in_room
	b.le	.L\p\()_return
	cmp	x13, #OUT_ROOM
	b.lt	.L\p\()_return
	sub	LIMIT, x9, #\in_room
	sub	BOUND, x10, #OUT_ROOM
	sub	x11, x11, #1
	cmp	x11, BOUND
	csel	BOUND, x11, BOUND, lo
	cmp	OUT, BOUND
	b.hi	.L\p\()_return
	ldrb	w9, [IN], #1
.endm

/* Follows a length chain whose byte 255 is in w9 already; IN, w13 move on. */
.macro chain p
1:	ldr	x15, [RUN, #16]
	cmp	IN, x15
	b.hs	.L\p\()_stop
	add	IN, IN, #1
	add	x9, x9, x13
	lsr	x15, x9, #29
	cbnz	x15, .L\p\()_stop
	cmp	w13, #255
	ldrb	w13, [IN, #-1]
	b.eq	1b
.endm

/* From the match length in w9 on; the same for both layouts. */
.macro place_block p, pair, wide, chained
	str	q0, [OUT]
	add	TO, OUT, x10
	sub	FROM, TO, x11
	cmp	FROM, BASE
	b.lo	.L\p\()_stop
	.if \pair
	cmp	w11, #32
	b.lo	.L\p\()_odd
	ldp	q1, q2, [FROM]
	stp	q1, q2, [TO]
	.else
	cmp	w11, #16
	b.lo	.L\p\()_odd
	ldr	q1, [FROM]
	str	q1, [TO]
	ldr	q2, [FROM, #16]
	str	q2, [TO, #16]
	.endif
	cmp	w9, #28
	b.hi	.L\p\()_more
.L\p\()_placed:
	add	x15, TO, x9
	add	x15, x15, #4
	cmp	x15, BOUND
	b.hi	.L\p\()_edge
	mov	OUT, x15
	.if \wide
	mov	LAST, w11
	.endif
	mov	w9, w13
	cmp	IN, LIMIT
	b.ls	.L\p\()_loop
	b	.L\p\()_done

.L\p\()_edge:	/* close to the output's end, or over it */
	ldr	x17, [RUN, #32]
	cmp	x15, x17
	b.hi	.L\p\()_stop
	mov	OUT, x15
	.if \wide
	mov	LAST, w11
	.endif
	b	.L\p\()_done

.L\p\()_more:	/* a match of more than 32 bytes, 32 are done */
	cmp	w9, #\chained
	b.ne	2f
	chain	\p
2:	ldr	x17, [RUN, #32]
	add	x15, TO, x9
	add	x15, x15, #4
	cmp	x15, x17
	b.hi	.L\p\()_stop
	add	x17, TO, #32
	sub	FROM, FROM, TO
	.if \pair
	sub	x15, x15, #32
	cmp	x17, x15
	b.hs	4f
3:	add	x14, x17, FROM
	ldp	q1, q2, [x14]
	stp	q1, q2, [x17], #32
	cmp	x17, x15
	b.lo	3b
4:	add	x14, x15, FROM
	ldp	q1, q2, [x14]
	stp	q1, q2, [x15]
	.else
	sub	x15, x15, #16
	cmp	x17, x15
	b.hs	4f
3:	ldr	q1, [x17, FROM]
	str	q1, [x17], #16
	cmp	x17, x15
	b.lo	3b
4:	ldr	q1, [x15, FROM]
	str	q1, [x15]
	.endif
	b	.L\p\()_placed

.L\p\()_odd:	/* an overlap, or an offset of zero */
	cbz	w11, .L\p\()_stop
	cmp	w9, #28
	b.ls	5f
	cmp	w9, #\chained
	b.ne	2f
	chain	\p
2:	ldr	x17, [RUN, #32]
	add	x15, TO, x9
	add	x15, x15, #4
	cmp	x15, x17
	b.hi	.L\p\()_stop
	ldr	x17, [RUN, #24]
	sub	x17, x17, x15
	cmp	x17, #16
	b.lo	.L\p\()_stop
5:	add	x15, TO, x9
	add	x15, x15, #4		/* the block's end */
	.if \pair
	cmp	w11, #16
	b.lo	7f
	mov	x17, TO
6:	ldr	q1, [FROM], #16
	str	q1, [x17], #16
	cmp	x17, x15
	b.lo	6b
	b	.L\p\()_placed
	.endif
7:	adrp	x17, repeats
	add	x17, x17, :lo12:repeats
	add	x17, x17, x11, lsl #5
	ldr	q1, [FROM]
	ldp	q2, q3, [x17]
	tbl	v2.16b, {v1.16b}, v2.16b
	mov	x17, TO
	str	q2, [x17], #16
8:	tbl	v1.16b, {v1.16b}, v3.16b
	str	q1, [x17], #16
	cmp	x17, x15
	b.lo	8b
	b	.L\p\()_placed
.endm

/* A literal run: first chain byte w15 is read, x10 is the length so far. */
.macro place_literals p
	cmp	w15, #255
	b.ne	2f
1:	ldr	x17, [RUN, #16]
	cmp	IN, x17
	b.hs	.L\p\()_stop_block
	ldrb	w15, [IN], #1
	add	x10, x10, x15
	cmp	w15, #255
	b.eq	1b
	lsr	x17, x10, #29
	cbnz	x17, .L\p\()_stop_block
2:	ldr	x17, [RUN, #16]
	sub	x17, x17, IN
	cmp	x17, x10		/* input behind IN, and length */
	b.lo	.L\p\()_stop_block
	sub	x17, x17, x10
	cmp	x17, #4
	b.lo	.L\p\()_literals_last
	ldr	x17, [RUN, #24]
	sub	x17, x17, OUT
	subs	x17, x17, #OUT_ROOM
	b.lo	.L\p\()_stop_block
	cmp	x17, x10
	b.lo	.L\p\()_stop_block
	cmp	x10, #16
	b.ls	.L\p\()_literals_few
	cmp	x10, #32
	b.hi	3f
	sub	x17, x10, #16
	ldr	q0, [IN]
	ldr	q1, [IN, x17]
	str	q1, [OUT, x17]
	b	.L\p\()_parse
3:	copy_run \p
	ldr	q0, [IN]
	b	.L\p\()_parse

.L\p\()_literals_few:	/* 16 bytes must be readable */
	ldr	x17, [RUN, #16]
	sub	x17, x17, IN
	cmp	x17, #20
	b.lo	.L\p\()_stop_block
	ldr	q0, [IN]
	b	.L\p\()_parse

/* Too close to the input's end for a match: do they end the value? */
.L\p\()_literals_last:
	cmp	x10, #32
	b.lo	.L\p\()_stop_block
	add	LEND, IN, x10
	add	x17, OUT, x10
	ldr	x15, [RUN, #32]
	cmp	x17, x15
	b.hi	.L\p\()_stop_block
	b.eq	4f
	ldr	x15, [RUN, #16]
	cmp	LEND, x15
	b.ne	.L\p\()_stop_block
4:	copy_run \p
	add	OUT, OUT, x10
	b	.L\p\()_ended
.endm

/* x10 >= 32 literals from IN to OUT, exactly. */
.macro copy_run p
	sub	x17, x10, #32
	add	x15, IN, x17
	add	x17, OUT, x17
	mov	x13, IN
	mov	x14, OUT
9:	ldp	q1, q2, [x13], #32
	stp	q1, q2, [x14], #32
	cmp	x14, x17
	b.lo	9b
	ldp	q1, q2, [x15]
	stp	q1, q2, [x17]
.endm

.macro leave p, wide
/* Not a plain block, unless its literals end the value. */
.L\p\()_stop:
	ldr	x17, [RUN, #32]
	add	x15, OUT, x10
	cmp	x15, x17
	b.ne	.L\p\()_stop_block
	mov	OUT, x15
.L\p\()_ended:
	add	IN, LEND, #1
	mov	x15, #1
	str	x15, [RUN, #56]
	b	.L\p\()_done
.L\p\()_stop_block:
	mov	IN, KEEP
.L\p\()_done:
	sub	IN, IN, #1
	stp	IN, OUT, [RUN]
	.if \wide
	uxtw	x6, LAST
	str	x6, [RUN, #48]
	.endif
.L\p\()_return:
	ret
.endm

.macro head p
	.globl	\p
	.hidden	\p
	.type	\p, %function
	.p2align 5
\p:
.endm

.macro even_body p, pair
	head	\p
	enter	\p, EVEN_IN
.L\p\()_loop:
	ldr	q0, [IN]
	mov	KEEP, IN
	lsr	w10, w9, #4
	cmp	w9, #0xf0
	b.hs	.L\p\()_literals
.L\p\()_parse:
	add	LEND, IN, x10
	ldrh	w11, [LEND]
	ldrb	w13, [LEND, #2]
	ldrb	w14, [LEND, #3]
	and	w9, w9, #15
	add	IN, LEND, #3
	add	w15, w13, #15
	cmp	w9, #15
	csel	w9, w15, w9, eq
	csel	w13, w14, w13, eq
	cinc	IN, IN, eq
	place_block \p, \pair, 0, 255 + 15
.L\p\()_literals:
	ldrb	w15, [IN], #1
	add	x10, x15, #15
	place_literals \p
	leave	\p, 0
	.size	\p, . - \p
.endm

.macro wide_body p, pair
	head	\p
	enter	\p, WIDE_IN
	ldr	x6, [RUN, #48]
.L\p\()_loop:
	ldr	s0, [IN]
	mov	KEEP, IN
	lsr	w10, w9, #6
	cmp	w9, #0xc0
	b.hs	.L\p\()_literals
.L\p\()_parse:
	add	LEND, IN, x10
	ldrh	w11, [LEND]
	tst	w9, #1
	csel	w11, LAST, w11, ne
	cset	w17, eq			/* 1: the offset is there */
	add	x17, LEND, x17, lsl #1
	ldrb	w13, [x17]
	ldrb	w14, [x17, #1]
	ubfx	w9, w9, #1, #5
	add	IN, x17, #1
	add	w15, w13, #31
	cmp	w9, #31
	csel	w9, w15, w9, eq
	csel	w13, w14, w13, eq
	cinc	IN, IN, eq
	place_block \p, \pair, 1, 255 + 31
.L\p\()_literals:
	ldrb	w15, [IN], #1
	add	x10, x15, #3
	place_literals \p
	leave	\p, 1
	.size	\p, . - \p
.endm

.macro stamp name, pair
	even_body \name\()_even, \pair
	wide_body \name\()_wide, \pair
	even_body \name\()_lz4, \pair
.endm

#define KERNEL(name, need, line, pair, unused, why) stamp name, pair
#include "kernels.def"

	.section .note.GNU-stack, "", %progbits
