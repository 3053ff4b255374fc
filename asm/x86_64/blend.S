/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blend.S - recipe: one store a block (AVX2, BMI)
 *
 * Literals and match of a short block leave in one 32-byte store.  The match is
 * loaded from OUT - offset instead of from behind the literals, so its bytes
 * already stand where they belong in the register, and the literals are blended
 * in over the first L bytes by a mask.  That holds while the offset is at least
 * 32; the rest goes to `odd`.  A match that is longer than the store goes on in
 * `more`, with the same distance and a last move that ends where the block
 * ends, so nothing is written behind a block of more than 32 bytes.
 *
 * The length's first chain byte is taken without a branch: the two bytes that can
 * be the next token are loaded together and one is selected.  That keeps the
 * length out of the address of the next token; it costs the chain one cycle and
 * saves the misprediction that most blocks of mixed data pay elsewhere.
 *
 * rax token, then match length - 4; rbx next token; rcx literal length; rdx
 * offset; rbp the byte behind rbx's; r11 block length.  On any stop IN goes back
 * to KEEP.  Where literals have been placed ahead (long runs) the stack says how
 * many, and for which KEEP.
 */
	.intel_syntax noprefix

#define IN	rsi	/* literals: one behind the token */
#define OUT	rdi	/* the block's start */
#define ONES	r8	/* even: 15; wide: 1 */
#define RUN	r10
#define FROM	r12
#define SHIFT	r13	/* even: 4, wide: 6 */
#define KEEP	r14
#define MASKS	r15
#define IN_END		[RUN + 16]
#define OUT_END		[RUN + 24]
#define GOAL		[RUN + 32]
#define BASE		[RUN + 40]
#define LIMIT		[rsp]
#define BOUND		[rsp + 8]
#define AHEAD		[rsp + 16]
#define AHEAD_FOR	[rsp + 24]
#define AHEAD_IN	[rsp + 32]
#define IN_END_KEPT	[rsp + 40]
#define TAIL_FROM	[rsp + 48]	/* real input minus its copy; 0 = not in the tail */
#define TAIL		rsp + 64	/* 32 bytes of input, 32 of zeroes */
#define FRAME		128
#define LAST		r9

#define OUT_ROOM	32

	.section .rodata
	.p2align 6
/* Row n: n bytes of ones, then zeroes; 16 wide for even, 8 for wide. */
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
/* Row n: byte i comes from i modulo n. */
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

/* From the match length in eax on; the same for both layouts. */
.macro place_block p wide
	sub	FROM, rdx
	lea	r11d, [rax + rcx + 4]
	cmp	FROM, BASE
	jb	.L\p\()_odd
	cmp	edx, 32
	jb	.L\p\()_odd
	vmovdqu	ymm1, [FROM]
	vpblendvb ymm0, ymm1, ymm0, ymm2
	vmovdqu	[OUT], ymm0
	cmp	r11d, 32
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

	/* The input's end is near: go on in a copy of it with zeroes behind. */
	cmp	qword ptr TAIL_FROM, 0
	jne	.L\p\()_done
	mov	rcx, IN_END
	cmp	IN, rcx
	ja	.L\p\()_done
	lea	rdx, [rcx - 32]
	cmp	rdx, [RUN]
	jb	.L\p\()_done
	vmovdqu	ymm0, [rdx]
	vpxor	xmm1, xmm1, xmm1
	vmovdqu	[TAIL], ymm0
	vmovdqu	[TAIL + 32], ymm1
	lea	rdx, [TAIL + 32]
	mov	IN_END_KEPT, rcx
	mov	LIMIT, rdx
	sub	rcx, rdx
	sub	IN, rcx
	mov	TAIL_FROM, rcx
	add	rdx, 32
	mov	IN_END, rdx
	jmp	.L\p\()_loop

.L\p\()_edge:	/* close to the end, or over it */
	cmp	OUT, GOAL
	jbe	.L\p\()_done
	sub	OUT, r11
	jmp	.L\p\()_stop

.L\p\()_more:
	.if \wide
	cmp	eax, 255 + 31
	.else
	cmp	eax, 255 + 15
	.endif
	je	.L\p\()_more_chain
.L\p\()_more_known:
	lea	rbp, [OUT + r11]
	cmp	rbp, GOAL
	ja	.L\p\()_stop
	cmp	r11, 64
	ja	.L\p\()_many
	/* 33..64: the last 16 bytes, and 16 at 32 or there too; not over literals */
	lea	eax, [r11 - 16]
	mov	ecx, 32
	cmp	eax, ecx
	cmovb	ecx, eax
	vmovdqu	xmm0, [FROM + rcx]
	vmovdqu	xmm1, [FROM + rax]
	vmovdqu	[OUT + rcx], xmm0
	vmovdqu	[OUT + rax], xmm1
	jmp	.L\p\()_placed
.L\p\()_many:
	vmovdqu	ymm0, [FROM + 32]
	vmovdqu	[OUT + 32], ymm0
	lea	rax, [OUT + 64]
	sub	rbp, 32
	sub	FROM, OUT
	cmp	rax, rbp
	jae	2f
1:	vmovdqu	ymm0, [rax + FROM]
	vmovdqu	[rax], ymm0
	add	rax, 32
	cmp	rax, rbp
	jb	1b
2:	vmovdqu	ymm0, [rbp + FROM]
	vmovdqu	[rbp], ymm0
	jmp	.L\p\()_placed
.L\p\()_more_chain:
	lea	rbp, [rip + .L\p\()_more_known]
	jmp	.L\p\()_chain

.L\p\()_odd:	/* offset below 32, or reaching before the output, or into these literals */
	test	edx, edx
	jz	.L\p\()_stop
	add	FROM, rcx
	cmp	FROM, BASE
	jb	.L\p\()_stop
	lea	rbp, [OUT + 64]
	cmp	rbp, OUT_END
	ja	.L\p\()_stop
	vmovdqu	[OUT], xmm0
	cmp	eax, 28
	ja	.L\p\()_odd_long
	lea	rbp, [OUT + rcx]
	cmp	edx, 16
	jb	.L\p\()_near
	vmovdqu	xmm1, [FROM]
	vmovdqu	[rbp], xmm1
	vmovdqu	xmm1, [FROM + 16]
	vmovdqu	[rbp + 16], xmm1
	jmp	.L\p\()_placed
.L\p\()_near:
	vmovdqu	xmm2, [FROM]
	mov	eax, edx
	shl	eax, 5
	lea	FROM, [rip + repeats]
	add	FROM, rax
	vpshufb	xmm1, xmm2, [FROM]
	vmovdqu	[rbp], xmm1
	vpshufb	xmm1, xmm2, [FROM + 16]
	vmovdqu	[rbp + 16], xmm1
	jmp	.L\p\()_placed

.L\p\()_odd_long:
	lea	rbp, [rip + .L\p\()_odd_known]
	.if \wide
	cmp	eax, 255 + 31
	.else
	cmp	eax, 255 + 15
	.endif
	je	.L\p\()_chain
.L\p\()_odd_known:
	lea	rax, [OUT + r11]
	cmp	rax, GOAL
	ja	.L\p\()_stop
	add	rax, 16
	cmp	rax, OUT_END
	ja	.L\p\()_stop
	lea	rbp, [OUT + rcx]
	sub	rax, 32
	cmp	edx, 16
	jb	.L\p\()_near_long
	sub	FROM, rbp
	sub	rbp, 16
1:	add	rbp, 16
	vmovdqu	xmm1, [rbp + FROM]
	vmovdqu	[rbp], xmm1
	cmp	rbp, rax
	jb	1b
	jmp	.L\p\()_placed
.L\p\()_near_long:
	vmovdqu	xmm1, [FROM]
	mov	ecx, edx
	shl	ecx, 5
	lea	FROM, [rip + repeats]
	vpshufb	xmm2, xmm1, [FROM + rcx]
	vmovdqu	[rbp], xmm2
	vmovdqu	xmm2, [FROM + rcx + 16]
1:	vpshufb	xmm1, xmm1, xmm2
	add	rbp, 16
	vmovdqu	[rbp], xmm1
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
	movzx	ebx, byte ptr [IN - 1]
	je	.L\p\()_chain
	jmp	rbp
.endm

/* A literal run of r11 bytes at IN, more than 16, is placed ahead. */
.macro place_literals p
.L\p\()_literals_long:
	lea	rbp, [IN + r11 + 4]
	cmp	rbp, IN_END
	ja	.L\p\()_literals_last
	lea	rbp, [OUT + r11 + OUT_ROOM]
	cmp	rbp, OUT_END
	ja	.L\p\()_stop_block
	mov	AHEAD, r11
	mov	AHEAD_FOR, KEEP
	cmp	r11, 32
	ja	1f
	vmovdqu	xmm0, [IN + r11 - 16]
	vmovdqu	xmm1, [IN]
	vmovdqu	[OUT + r11 - 16], xmm0
	vmovdqu	[OUT], xmm1
	jmp	3f
1:	xor	ebp, ebp
	lea	rcx, [r11 - 32]
2:	vmovdqu	ymm0, [IN + rbp]
	vmovdqu	[OUT + rbp], ymm0
	add	rbp, 32
	cmp	rbp, rcx
	jb	2b
	vmovdqu	ymm0, [IN + rcx]
	vmovdqu	[OUT + rcx], ymm0
3:	add	OUT, r11
	add	IN, r11
	mov	AHEAD_IN, IN
	xor	ecx, ecx
	vpxor	xmm2, xmm2, xmm2
	jmp	.L\p\()_parse

/* Too close to the input's end for a match: do they end the value? */
.L\p\()_literals_last:
	lea	rbp, [IN + r11]
	cmp	rbp, IN_END
	ja	.L\p\()_stop_block
	lea	rax, [OUT + r11]
	cmp	rax, GOAL
	je	1f
	ja	.L\p\()_stop_block
	cmp	rbp, IN_END
	jne	.L\p\()_stop_block
1:	cmp	r11, 64
	jb	.L\p\()_stop_block
	lea	rcx, [rax - 64]
	.p2align 5
1:	vmovdqu	ymm0, [IN]
	vmovdqu	ymm1, [IN + 32]
	vmovdqu	[OUT], ymm0
	vmovdqu	[OUT + 32], ymm1
	add	IN, 64
	add	OUT, 64
	cmp	OUT, rcx
	jb	1b
	vmovdqu	ymm0, [rbp - 64]
	vmovdqu	ymm1, [rbp - 32]
	vmovdqu	[rcx], ymm0
	vmovdqu	[rcx + 32], ymm1
	lea	IN, [rbp + 1]
	mov	OUT, rax
	mov	qword ptr [RUN + 56], 1
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

.macro enter in_room
	mov	rax, [rdi + 16]
	sub	rax, [rdi]
	cmp	rax, \in_room
	jle	9f
	mov	rcx, [rdi + 24]
	sub	rcx, OUT_ROOM
	mov	rdx, [rdi + 8]
	cmp	rdx, rcx
	ja	9f
	mov	r11, [rdi + 32]
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
	lea	rax, [IN + rax - \in_room]
	mov	LIMIT, rax
	xor	ecx, ecx
	mov	AHEAD_FOR, rcx
	mov	TAIL_FROM, rcx
	movzx	eax, byte ptr [IN]
	inc	IN
.endm

.macro leave p wide literal_max
/* Not a plain block, unless its literals (rcx of them) end the value. */
.L\p\()_stop:
	cmp	KEEP, AHEAD_FOR
	je	1f
	lea	rax, [OUT + rcx]
	cmp	rax, GOAL
	jne	.L\p\()_stop_block
	vmovdqu	[OUT], xmm0
	lea	IN, [KEEP + rcx]
	cmp	ecx, \literal_max
	sbb	IN, -1
	mov	OUT, rax
	jmp	2f
1:	cmp	OUT, GOAL
	jne	3f
	mov	IN, AHEAD_IN
2:	inc	IN
	mov	qword ptr [RUN + 56], 1
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
	mov	[RUN + 8], OUT
	.if \wide
	mov	[RUN + 48], LAST
	.endif
	add	rsp, FRAME
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbp
	pop	rbx
	vzeroupper
9:	ret
.endm

	.globl	zen_even
	.hidden	zen_even
	.type	zen_even, @function
	.globl	zen_lz4
	.hidden	zen_lz4
	.type	zen_lz4, @function
	.p2align 6
zen_even:
zen_lz4:
	enter	18
	mov	ONES, 15
	mov	SHIFT, 4
	lea	MASKS, [rip + masks16]
	.p2align 5
.Leven_loop:
	mov	KEEP, IN
	vmovdqu	xmm0, [IN]
	shrx	ecx, eax, r13d
	cmp	eax, 0xf0
	jae	.Leven_literals
	andn	r11d, r8d, eax
	vmovdqu	xmm2, [MASKS + r11]
.Leven_parse:
	movzx	ebx, byte ptr [IN + rcx + 2]
	movzx	ebp, byte ptr [IN + rcx + 3]
	movzx	edx, word ptr [IN + rcx]
	and	eax, 15
	lea	IN, [IN + rcx + 3]
	mov	FROM, OUT
	lea	r11d, [rbx + 15]
	cmp	eax, 15
	cmove	eax, r11d
	cmove	ebx, ebp
	sbb	IN, -1
	place_block even, 0
.Leven_literals:
	movzx	edx, byte ptr [IN]
	inc	IN
	lea	r11d, [rdx + 15]
	cmp	edx, 1
	ja	.Leven_literals_more
	lea	rbp, [IN + 20]
	cmp	rbp, IN_END
	ja	.Leven_stop_block
	mov	ecx, r11d
	shl	r11d, 4
	vmovdqu	xmm0, [IN]
	vmovdqu	xmm2, [MASKS + r11]
	jmp	.Leven_parse
.Leven_literals_more:
	cmp	edx, 255
	je	.Leven_literals_chain
	place_literals even
	leave	even, 0, 15
	.size	zen_even, . - zen_even

	.globl	zen_wide
	.hidden	zen_wide
	.type	zen_wide, @function
	.p2align 6
zen_wide:
	enter	6
	mov	ONES, 1
	mov	SHIFT, 6
	mov	LAST, [RUN + 48]
	lea	MASKS, [rip + masks8]
	.p2align 5
.Lwide_loop:
	mov	KEEP, IN
	vmovd	xmm0, dword ptr [IN]
	shrx	ecx, eax, r13d
	cmp	eax, 0xc0
	jae	.Lwide_literals
	vmovq	xmm2, qword ptr [MASKS + rcx * 8]
.Lwide_parse:
	movzx	edx, word ptr [IN + rcx]
	add	IN, rcx
	andn	r11d, eax, r8d		/* 1 where the offset is there; ZF: it isn't */
	cmovz	edx, r9d
	movzx	ebx, byte ptr [IN + r11 * 2]
	movzx	ebp, byte ptr [IN + r11 * 2 + 1]
	shr	eax, 1
	lea	IN, [IN + r11 * 2 + 1]
	and	eax, 31
	mov	FROM, OUT
	lea	r11d, [rbx + 31]
	cmp	eax, 31
	cmove	eax, r11d
	cmove	ebx, ebp
	sbb	IN, -1
	place_block wide, 1
.Lwide_literals:
	movzx	edx, byte ptr [IN]
	inc	IN
	lea	r11d, [rdx + 3]
	cmp	edx, 13
	ja	.Lwide_literals_more
	lea	rbp, [IN + 20]
	cmp	rbp, IN_END
	ja	.Lwide_stop_block
	mov	ecx, r11d
	shl	r11d, 4
	lea	rbp, [rip + masks16]
	vmovdqu	xmm0, [IN]
	vmovdqu	xmm2, [rbp + r11]
	jmp	.Lwide_parse
.Lwide_literals_more:
	cmp	edx, 255
	je	.Lwide_literals_chain
	place_literals wide
	leave	wide, 1, 3
	.size	zen_wide, . - zen_wide

	.section .note.GNU-stack, "", @progbits
