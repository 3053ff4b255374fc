/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_x86_64.S - call a kernel and see what it left behind
 *
 * unsigned checked_call(kernel_fn *fn, struct kernel_run *run)
 *
 * Fills the callee-saved registers with known values and lays a canary where
 * a kernel that pops too much, or writes through a wrong frame, would hit.
 * Returns a set of bits: 1 a callee-saved register changed,
 * 2 the stack or its canary changed, 4 upper vector halves are dirty, 8 the
 * direction flag is set.
 */
	.intel_syntax noprefix
	.text
	.globl	checked_call
	.type	checked_call, @function
checked_call:
	push	rbx
	push	rbp
	push	r12
	push	r13
	push	r14
	push	r15
	sub	rsp, 72			/* call below is at a 16-byte boundary */
	mov	rax, rdi
	mov	rdi, rsi
	mov	rcx, 0x5ca1ab1e0ddba11
	mov	[rsp], rcx
	mov	[rsp + 8], rcx
	mov	[rsp + 16], rsp
	mov	[rsp + 24], rcx
	mov	rbx, 0x1111111111111111
	mov	rbp, rsp
	mov	r12, 0x2222222222222222
	mov	r13, 0x3333333333333333
	mov	r14, 0x4444444444444444
	mov	r15, 0x5555555555555555
	call	rax
	xor	r8d, r8d
	cmp	rbp, rsp
	jne	9f
	mov	rax, 0x1111111111111111
	cmp	rbx, rax
	jne	1f
	mov	rax, 0x2222222222222222
	cmp	r12, rax
	jne	1f
	mov	rax, 0x3333333333333333
	cmp	r13, rax
	jne	1f
	mov	rax, 0x4444444444444444
	cmp	r14, rax
	jne	1f
	mov	rax, 0x5555555555555555
	cmp	r15, rax
	je	2f
1:	or	r8d, 1
2:	mov	rcx, 0x5ca1ab1e0ddba11
	cmp	[rsp], rcx
	jne	3f
	cmp	[rsp + 8], rcx
	jne	3f
	cmp	[rsp + 16], rsp
	jne	3f
	cmp	[rsp + 24], rcx
	je	4f
3:	or	r8d, 2
4:	pushfq
	pop	rax
	test	eax, 0x400
	jz	5f
	or	r8d, 8
	cld
5:	cmp	dword ptr checked_call_xinuse[rip], 0
	je	6f
	mov	ecx, 1
	xgetbv				/* which state isn't in its first state */
	test	eax, 4
	jz	6f
	or	r8d, 4
6:	mov	eax, r8d
	add	rsp, 72
	pop	r15
	pop	r14
	pop	r13
	pop	r12
	pop	rbp
	pop	rbx
	ret
9:	mov	rsp, rbp		/* if rbp survived, all is well again */
	cmp	qword ptr [rsp + 16], rsp
	je	8f
	ud2
8:	or	r8d, 2
	jmp	6b
	.size	checked_call, . - checked_call

	.section .note.GNU-stack, "", @progbits
