/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.S - the recipe for x86-64: stamps even, wide and lz4 of each row
 *
 * Parsing.  A length's first chain byte is taken without a branch: the two
 * bytes that can be the next token are loaded together and one is selected, so
 * the length stays out of the address of the next token.  That costs the chain
 * one cycle and saves the misprediction that most blocks of mixed data pay.
 * In wide, where every second block of mixed data has three literals or more,
 * the same is done for the literals' chain byte, which lies where the token's
 * literals would be and is loaded beside the token: +3..+25 % on distinct values.
 *
 * Copying, blend = 1.  Literals and match of a short block leave in one 32-byte
 * store.  The match is loaded from OUT - offset instead of from behind the
 * literals, so its bytes already stand where they belong in the register, and
 * the literals are blended in over the first L bytes by a mask.  That holds
 * while the block is no longer than its offset; the rest is `odd`.  (To ask for an
 * offset of 32 costs 11 % on programs and 5 % on sources, whose tokens repeat at 8
 * to 31 bytes.)  A longer block goes on in `more` at the same distance, 32 or
 * more: one move to 64 without a question, the last move ends where the block ends.
 * blend = 0: the literals are stored first, the match behind them.
 *
 * The input's end.  When it is near, its last 32 bytes are copied to the stack
 * in front of zeroes and the loop goes on there (TAIL_FROM: how far off).  An
 * offset of zero stops it.  So a value's last blocks are decoded here as well,
 * and its final literals (`stop`), unless the output's end is near.  The last 16
 * bytes leave together with zeroes in one store, so that the loads that follow
 * find theirs in it and don't wait for two stores (+4..+8 % at 512 bytes).
 *
 * rax token, then match length - 4; rbx next token; rcx literal length; rdx
 * offset; rbp the byte behind rbx's; r11 block length.  A stop takes IN back to
 * KEEP.  Literals that were placed ahead of their block (long runs) are counted
 * in AHEAD, for the block of KEEP = AHEAD_FOR.
 *
 * Tried on Zen 3, and worse: two stores a block (-5..-12 % on mixed files);
 * 64-byte moves; the branch on the chain (-10..-25 % there, even on records); a
 * padded copy of the tail by the caller (-5 % at 512 bytes: a second call);
 * checks merged into one; undoing IN by arithmetic instead of KEEP (no change);
 * leaving a short value that is one literal run to the careful step (no change).
 * Such an LZ4 block doesn't come here at all: the state and the call were an
 * eighth of its time (lz4_run.h).
 * Without gain: `more` aligned; no AHEAD stores; the match loads of wide out of the
 * chain (1 % at 64 KiB); no callee-saved register (0..-2 %); matches within the last
 * 16 bytes by a load of their own (+1..2 % on LZ4 records of 512 bytes alone, for a
 * check more).  Reading past the input's end instead of the copied tail gains 4 to
 * 5 % at 512 bytes, and may fault.
 * What records of 512 bytes still wait for are matches whose 32 bytes lie in two
 * stores that haven't left the store queue: 15 to 25 % of their time, 2 to 7 % at
 * 4 and 64 KiB (measured by loading from a constant place instead).
 */
	.intel_syntax noprefix

#define IN	rsi	/* literals: one behind the token */
#define OUT	rdi	/* the block's start */
#define ONES	r8d	/* even: 15; wide: 1 */
#define LAST	r9	/* wide: the last offset */
#define RUN	r10
#define FROM	r12
#define SHIFT	r13d
#define KEEP	r14
#define MASKS	r15
#define IN_END		[RUN+16]
#define OUT_END		[RUN+24]
#define GOAL		[RUN+32]
#define BASE		[RUN+40]
#define OFFSET		[RUN+48]
#define ENDED		[RUN+56]
#define LIMIT		[rsp]
#define BOUND		[rsp+8]
#define AHEAD		[rsp+16]
#define AHEAD_FOR	[rsp+24]
#define AHEAD_IN	[rsp+32]
#define IN_END_KEPT	[rsp+40]
#define TAIL_FROM	[rsp+48]
#define TAIL		rsp+64	/* 32 bytes of input, 32 of zeroes */
#define FRAME		128

#define OUT_ROOM	48 - 16 * \blend /* what a short block may write: 16 + 32, or 32 */
#define EVEN_IN		18	/* see portable.c */
#define WIDE_IN		21	/* 16 literals behind a chain byte, offset, two tokens */

	.section .rodata
	.p2align 6
/* Row n: n bytes of ones, then zeroes. */
masks16:
	.set row, 0
	.rept 17
	.fill row, 1, 255
	.fill 16 - row, 1, 0
	.set row, row + 1
	.endr
/* Row n: byte i comes from byte i modulo n. */
	.p2align 6
repeats:
	.fill 32, 1, 0
	.set row, 1
	.rept 15
	.set i, 0
	.rept 32
	.byte i % row
	.set i, i + 1
	.endr
	.set row, row + 1
	.endr

	.text

#include "block.inc"

.macro head p
	.globl	\p
	.hidden	\p
	.type	\p, @function
	.p2align 6
\p:
.endm

.macro even_body p, avx, blend
	head	\p
	enter	\p, \avx, \blend, EVEN_IN
	mov	ONES, 15
	mov	SHIFT, 4
	lea	MASKS, [rip+masks16]
	.p2align 5
.L\p\()_loop:
	mov	KEEP, IN
	mov16	\avx, xmm0, [IN]
	.if \avx
	shrx	ecx, eax, SHIFT
	.else
	mov	ecx, eax
	shr	ecx, 4
	.endif
	cmp	eax, 0xf0
	jae	.L\p\()_literals
	.if \blend
	andn	r11d, ONES, eax
	vmovdqu	xmm2, [MASKS+r11]
	.endif
.L\p\()_parse:
	movzx	ebx, byte ptr [IN+rcx+2]
	movzx	ebp, byte ptr [IN+rcx+3]
	movzx	edx, word ptr [IN+rcx]
	and	eax, 15
	lea	IN, [IN+rcx+3]
	mov	FROM, OUT
	lea	r11d, [rbx+15]
	cmp	eax, 15
	cmove	eax, r11d
	cmove	ebx, ebp
	sbb	IN, -1
	place_block \p, \avx, \blend, 0
.L\p\()_literals:
	movzx	edx, byte ptr [IN]
	inc	IN
	lea	r11d, [rdx+15]
	cmp	edx, 1
	ja	.L\p\()_literals_more
	lea	rbp, [IN+20]
	cmp	rbp, IN_END
	ja	.L\p\()_stop_block
	mov	ecx, r11d
	mov16	\avx, xmm0, [IN]
	.if \blend
	shl	r11d, 4
	vmovdqu	xmm2, [MASKS+r11]
	.endif
	jmp	.L\p\()_parse
.L\p\()_literals_more:
	cmp	edx, 255
	je	.L\p\()_literals_chain
	place_literals \p, \avx, \blend
	leave	\p, \avx, 0, 15
	.size	\p, . - \p
.endm

.macro wide_body p, avx, blend
	head	\p
	enter	\p, \avx, \blend, WIDE_IN
	mov	ONES, 1
	mov	SHIFT, 6
	mov	LAST, OFFSET
	lea	MASKS, [rip+masks16]
	.p2align 5
.L\p\()_loop:
	mov	KEEP, IN
	movzx	ebp, byte ptr [IN]	/* the literals' chain byte, if they have one */
	.if \avx
	shrx	ecx, eax, SHIFT
	.else
	mov	ecx, eax
	shr	ecx, 6
	.endif
	add	ebp, 3
	cmp	eax, 0xc0
	cmovae	ecx, ebp
	sbb	IN, -1
	cmp	ecx, 16
	ja	.L\p\()_literals
	mov16	\avx, xmm0, [IN]
	.if \blend
	mov	r11d, ecx
	shl	r11d, 4
	vmovdqu	xmm2, [MASKS+r11]
	.endif
.L\p\()_parse:
	movzx	edx, word ptr [IN+rcx]
	add	IN, rcx
	.if \avx
	andn	r11d, eax, ONES		/* 1 where the offset is there; ZF: it isn't */
	.else
	mov	r11d, eax
	not	r11d
	and	r11d, 1
	.endif
	cmovz	edx, r9d
	movzx	ebx, byte ptr [IN+r11*2]
	movzx	ebp, byte ptr [IN+r11*2+1]
	shr	eax, 1
	lea	IN, [IN+r11*2+1]
	and	eax, 31
	mov	FROM, OUT
	lea	r11d, [rbx+31]
	cmp	eax, 31
	cmove	eax, r11d
	cmove	ebx, ebp
	sbb	IN, -1
	place_block \p, \avx, \blend, 1
.L\p\()_literals:
	mov	r11d, ecx
	cmp	ecx, 255 + 3
	mov	edx, 255
	je	.L\p\()_literals_chain
	place_literals \p, \avx, \blend
	leave	\p, \avx, 1, 3
	.size	\p, . - \p
.endm

.macro stamp name, avx, blend
	even_body \name\()_even, \avx, \blend
	wide_body \name\()_wide, \avx, \blend
	even_body \name\()_lz4, \avx, \blend
.endm

#define KERNEL(name, need, line, avx, blend, why) stamp name, avx, blend
#include "kernels.def"

	.section .note.GNU-stack, "", @progbits
