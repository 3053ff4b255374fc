/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.S - the recipe for x86-64: stamps even, wide and lz4 of each row
 *
 * Parsing.  A length's first chain byte is taken without a branch: the two
 * bytes that can be the next token are loaded together and one is selected, so
 * the length stays out of the address of the next token.  That costs the chain
 * one cycle and saves the misprediction that most blocks of mixed data pay.
 *
 * Copying, blend = 1.  Literals and match of a short block leave in one 32-byte
 * store.  The match is loaded from OUT - offset instead of from behind the
 * literals, so its bytes already stand where they belong in the register, and
 * the literals are blended in over the first L bytes by a mask.  That holds
 * while the offset is at least 32; the rest is `odd`.  A longer block goes on in
 * `more` at the same distance; its last move ends where the block ends.
 * blend = 0: the literals are stored first, the match behind them.
 *
 * The input's end.  When it is near, its last 32 bytes are copied to the stack
 * in front of zeroes and the loop goes on there (TAIL_FROM: how far off).  An
 * offset of zero stops it.  So a value's last blocks are decoded here as well,
 * and its final literals (`stop`), unless the output's end is near.
 *
 * rax token, then match length - 4; rbx next token; rcx literal length; rdx
 * offset; rbp the byte behind rbx's; r11 block length.  A stop takes IN back to
 * KEEP.  Literals that were placed ahead of their block (long runs) are counted
 * in AHEAD, for the block of KEEP = AHEAD_FOR.
 *
 * Tried on Zen 3, and worse: two stores a block (-5..-12 % on mixed files);
 * 64-byte moves; the branch on the chain (-10..-25 % there, even on records); a
 * padded copy of the tail by the caller (-5 % at 512 bytes: a second call);
 * checks merged into one; undoing IN by arithmetic instead of KEEP (no change).
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
#define WIDE_IN		6

	.section .rodata
	.p2align 6
/* Row n: n bytes of ones, then zeroes; 16 a row for even, 8 for wide. */
masks16:
	.set row, 0
	.rept 17
	.fill row, 1, 255
	.fill 16 - row, 1, 0
	.set row, row + 1
	.endr
masks8:
	.set row, 0
	.rept 4
	.fill row, 1, 255
	.fill 8 - row, 1, 0
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

/* 16 bytes, load or store. */
.macro mov16 avx, to, from
	.if \avx
	vmovdqu	\to, \from
	.else
	movdqu	\to, \from
	.endif
.endm

/* 32 bytes at address `from` to address `to`, at least 32 apart. */
.macro copy32 avx, to, from
	.if \avx
	vmovdqu	ymm1, [\from]
	vmovdqu	[\to], ymm1
	.else
	movdqu	xmm1, [\from]
	movdqu	xmm3, [\from+16]
	movdqu	[\to], xmm1
	movdqu	[\to+16], xmm3
	.endif
.endm

/* to = from's bytes in the order that memory at `mask` says. */
.macro shuffle avx, to, from, mask
	.if \avx
	vpshufb	\to, \from, [\mask]
	.else
	movdqu	xmm3, [\mask]
	movdqa	\to, \from
	pshufb	\to, xmm3
	.endif
.endm

.macro enter p, avx, blend, in_room
	mov	rax, [rdi+16]
	sub	rax, [rdi]
	cmp	rax, \in_room
	jle	9f
	mov	rcx, [rdi+24]
	sub	rcx, (OUT_ROOM)
	mov	rdx, [rdi+8]
	cmp	rdx, rcx
	ja	9f
	mov	r11, [rdi+32]
	dec	r11
	cmp	r11, rcx
	cmova	r11, rcx
	cmp	rdx, r11
	ja	9f
	push	rbx
	push	rbp
	push	r12
	push	r13
	push	r14
	push	r15
	sub	rsp, FRAME
	mov	RUN, rdi
	mov	IN, [RUN]
	mov	OUT, rdx
	mov	BOUND, r11
	lea	rax, [IN+rax-\in_room]
	mov	LIMIT, rax
	xor	ecx, ecx
	mov	AHEAD_FOR, rcx
	mov	TAIL_FROM, rcx
	movzx	eax, byte ptr [IN]
	inc	IN
.endm

/* From the match length in eax on; the same for both layouts. */
.macro place_block p, avx, blend, wide
	sub	FROM, rdx
	lea	r11d, [rax+rcx+4]
	cmp	FROM, BASE
	jb	.L\p\()_odd
	cmp	edx, 32
	jb	.L\p\()_odd
	.if \blend
	vmovdqu	ymm1, [FROM]
	vpblendvb ymm0, ymm1, ymm0, ymm2
	vmovdqu	[OUT], ymm0
	cmp	r11d, 32
	.else
	mov16	\avx, [OUT], xmm0
	copy32	\avx, OUT+rcx, FROM+rcx
	cmp	eax, 28
	.endif
	ja	.L\p\()_more
.L\p\()_placed:
	add	OUT, r11
	.if \wide
	mov	LAST, rdx
	.endif
	mov	eax, ebx
	cmp	OUT, BOUND
	ja	.L\p\()_edge
	cmp	IN, LIMIT
	jbe	.L\p\()_loop

	/* The input's end is near. */
	cmp	qword ptr TAIL_FROM, 0
	jne	.L\p\()_done
	mov	rcx, IN_END
	cmp	IN, rcx
	ja	.L\p\()_done
	lea	rdx, [rcx-32]
	cmp	rdx, [RUN]
	jb	.L\p\()_done
	.if \avx
	vpxor	xmm0, xmm0, xmm0
	.else
	pxor	xmm0, xmm0
	.endif
	copy32	\avx, TAIL, rdx
	mov16	\avx, [TAIL+32], xmm0
	mov16	\avx, [TAIL+48], xmm0
	lea	rdx, [TAIL+32]
	mov	IN_END_KEPT, rcx
	mov	LIMIT, rdx
	sub	rcx, rdx
	sub	IN, rcx
	mov	TAIL_FROM, rcx
	add	rdx, 32
	mov	IN_END, rdx
	jmp	.L\p\()_loop

.L\p\()_edge:	/* close to the output's end, or over it */
	cmp	OUT, GOAL
	jbe	.L\p\()_done
	sub	OUT, r11
	jmp	.L\p\()_stop

.L\p\()_more:	/* a block, or without blend a match, of more than 32 */
	lea	rbp, [rip+.L\p\()_more_known]
	.if \wide
	cmp	eax, 255 + 31
	.else
	cmp	eax, 255 + 15
	.endif
	je	.L\p\()_chain
.L\p\()_more_known:
	lea	rbp, [OUT+r11]
	cmp	rbp, GOAL
	ja	.L\p\()_stop
	.if \blend
	cmp	r11, 64
	ja	.L\p\()_many
	/* 33..64: the last 16 bytes, and 16 at 32 or there too; not over literals */
	lea	eax, [r11-16]
	mov	ecx, 32
	cmp	eax, ecx
	cmovb	ecx, eax
	vmovdqu	xmm0, [FROM+rcx]
	vmovdqu	xmm1, [FROM+rax]
	vmovdqu	[OUT+rcx], xmm0
	vmovdqu	[OUT+rax], xmm1
	jmp	.L\p\()_placed
.L\p\()_many:
	xor	ecx, ecx
	.endif
	sub	FROM, OUT
	lea	rax, [OUT+rcx+32]
	sub	rbp, 32
	cmp	rax, rbp
	jae	2f
1:	copy32	\avx, rax, rax+FROM
	add	rax, 32
	cmp	rax, rbp
	jb	1b
2:	copy32	\avx, rbp, rbp+FROM
	jmp	.L\p\()_placed

.L\p\()_odd:	/* offset below 32, or before the output, or into these literals */
	test	edx, edx
	jz	.L\p\()_stop
	add	FROM, rcx
	cmp	FROM, BASE
	jb	.L\p\()_stop
	lea	rbp, [OUT+64]
	cmp	rbp, OUT_END
	ja	.L\p\()_stop
	mov16	\avx, [OUT], xmm0
	cmp	eax, 28
	ja	.L\p\()_odd_long
	lea	rbp, [OUT+rcx]
	cmp	edx, 16
	jb	.L\p\()_near
	mov16	\avx, xmm1, [FROM]
	mov16	\avx, [rbp], xmm1
	mov16	\avx, xmm1, [FROM+16]
	mov16	\avx, [rbp+16], xmm1
	jmp	.L\p\()_placed
.L\p\()_near:
	mov16	\avx, xmm2, [FROM]
	mov	eax, edx
	shl	eax, 5
	lea	FROM, [rip+repeats]
	add	FROM, rax
	shuffle	\avx, xmm1, xmm2, FROM
	mov16	\avx, [rbp], xmm1
	shuffle	\avx, xmm1, xmm2, FROM+16
	mov16	\avx, [rbp+16], xmm1
	jmp	.L\p\()_placed

.L\p\()_odd_long:
	lea	rbp, [rip+.L\p\()_odd_known]
	.if \wide
	cmp	eax, 255 + 31
	.else
	cmp	eax, 255 + 15
	.endif
	je	.L\p\()_chain
.L\p\()_odd_known:
	lea	rax, [OUT+r11]
	cmp	rax, GOAL
	ja	.L\p\()_stop
	add	rax, 16
	cmp	rax, OUT_END
	ja	.L\p\()_stop
	lea	rbp, [OUT+rcx]
	sub	rax, 32
	cmp	edx, 16
	jb	.L\p\()_near_long
	sub	FROM, rbp
	sub	rbp, 16
1:	add	rbp, 16
	mov16	\avx, xmm1, [rbp+FROM]
	mov16	\avx, [rbp], xmm1
	cmp	rbp, rax
	jb	1b
	jmp	.L\p\()_placed
.L\p\()_near_long:
	mov16	\avx, xmm1, [FROM]
	mov	ecx, edx
	shl	ecx, 5
	lea	FROM, [rip+repeats]
	add	FROM, rcx
	shuffle	\avx, xmm2, xmm1, FROM
	mov16	\avx, [rbp], xmm2
1:	shuffle	\avx, xmm1, xmm1, FROM+16
	add	rbp, 16
	mov16	\avx, [rbp], xmm1
	cmp	rbp, rax
	jb	1b
	jmp	.L\p\()_placed

/* Follows a length chain whose byte 255 has been counted; goes on at rbp. */
.L\p\()_chain:
	cmp	IN, IN_END
	jae	.L\p\()_stop
	inc	IN
	add	r11, rbx
	cmp	r11, 0x20000000
	ja	.L\p\()_stop
	cmp	ebx, 255
	movzx	ebx, byte ptr [IN-1]
	je	.L\p\()_chain
	jmp	rbp
.endm

/* A literal run of r11 bytes at IN, more than 16, is placed ahead. */
.macro place_literals p, avx, blend
.L\p\()_literals_long:
	lea	rbp, [IN+r11+4]
	cmp	rbp, IN_END
	ja	.L\p\()_literals_last
	lea	rbp, [OUT+r11+(OUT_ROOM)]
	cmp	rbp, OUT_END
	ja	.L\p\()_stop_block
	mov	AHEAD, r11
	mov	AHEAD_FOR, KEEP
	cmp	r11, 32
	ja	1f
	mov16	\avx, xmm0, [IN+r11-16]
	mov16	\avx, xmm1, [IN]
	mov16	\avx, [OUT+r11-16], xmm0
	mov16	\avx, [OUT], xmm1
	jmp	3f
1:	xor	ebp, ebp
	lea	rcx, [r11-32]
2:	copy32	\avx, OUT+rbp, IN+rbp
	add	rbp, 32
	cmp	rbp, rcx
	jb	2b
	copy32	\avx, OUT+rcx, IN+rcx
3:	add	OUT, r11
	add	IN, r11
	mov	AHEAD_IN, IN
	xor	ecx, ecx
	.if \avx
	vpxor	xmm2, xmm2, xmm2
	.endif
	jmp	.L\p\()_parse

/* Too close to the input's end for a match: do they end the value? */
.L\p\()_literals_last:
	lea	rbp, [IN+r11]
	cmp	rbp, IN_END
	ja	.L\p\()_stop_block
	lea	rax, [OUT+r11]
	cmp	rax, GOAL
	je	1f
	ja	.L\p\()_stop_block
	cmp	rbp, IN_END
	jne	.L\p\()_stop_block
1:	cmp	r11, 64
	jb	.L\p\()_stop_block
	lea	rcx, [rax-64]
	.p2align 5
1:	copy32	\avx, OUT, IN
	copy32	\avx, OUT+32, IN+32
	add	IN, 64
	add	OUT, 64
	cmp	OUT, rcx
	jb	1b
	copy32	\avx, rcx, rbp-64
	copy32	\avx, rcx+32, rbp-32
	lea	IN, [rbp+1]
	mov	OUT, rax
	mov	qword ptr ENDED, 1
	jmp	.L\p\()_done

/* The rest of a literal chain, its first byte 255 in edx, sum in r11. */
.L\p\()_literals_chain:
	cmp	IN, IN_END
	jae	.L\p\()_stop_block
	movzx	edx, byte ptr [IN]
	inc	IN
	add	r11, rdx
	cmp	edx, 255
	je	.L\p\()_literals_chain
	cmp	r11, 0x20000000
	ja	.L\p\()_stop_block
	jmp	.L\p\()_literals_long
.endm

.macro leave p, avx, wide, literal_max
/* Not a plain block, unless its literals (rcx of them) end the value. */
.L\p\()_stop:
	cmp	KEEP, AHEAD_FOR
	je	1f
	lea	rax, [OUT+rcx]
	cmp	rax, GOAL
	jne	.L\p\()_stop_block
	mov16	\avx, [OUT], xmm0
	lea	IN, [KEEP+rcx]
	cmp	ecx, \literal_max
	sbb	IN, -1
	mov	OUT, rax
	jmp	2f
1:	cmp	OUT, GOAL
	jne	3f
	mov	IN, AHEAD_IN
2:	inc	IN
	mov	qword ptr ENDED, 1
	jmp	.L\p\()_done
3:	sub	OUT, AHEAD
.L\p\()_stop_block:
	mov	IN, KEEP
.L\p\()_done:
	dec	IN
	mov	rcx, TAIL_FROM
	test	rcx, rcx
	jz	1f
	add	IN, rcx
	mov	rax, IN_END_KEPT
	mov	IN_END, rax
1:	mov	[RUN], IN
	mov	[RUN+8], OUT
	.if \wide
	mov	OFFSET, LAST
	.endif
	add	rsp, FRAME
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbp
	pop	rbx
	.if \avx
	vzeroupper
	.endif
9:	ret
.endm

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
	lea	MASKS, [rip+masks8]
	.p2align 5
.L\p\()_loop:
	mov	KEEP, IN
	.if \avx
	vmovd	xmm0, dword ptr [IN]
	shrx	ecx, eax, SHIFT
	.else
	movd	xmm0, dword ptr [IN]
	mov	ecx, eax
	shr	ecx, 6
	.endif
	cmp	eax, 0xc0
	jae	.L\p\()_literals
	.if \blend
	vmovq	xmm2, qword ptr [MASKS+rcx*8]
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
	movzx	edx, byte ptr [IN]
	inc	IN
	lea	r11d, [rdx+3]
	cmp	edx, 13
	ja	.L\p\()_literals_more
	lea	rbp, [IN+20]
	cmp	rbp, IN_END
	ja	.L\p\()_stop_block
	mov	ecx, r11d
	mov16	\avx, xmm0, [IN]
	.if \blend
	shl	r11d, 4
	lea	rbp, [rip+masks16]
	vmovdqu	xmm2, [rbp+r11]
	.endif
	jmp	.L\p\()_parse
.L\p\()_literals_more:
	cmp	edx, 255
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
