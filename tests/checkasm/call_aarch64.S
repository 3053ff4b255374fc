/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_aarch64.S - call a kernel and see what it left behind
 *
 * unsigned checked_call(kernel_fn *fn, struct kernel_run *run)
 *
 * As call_x86_64.S: x19 to x28 and the low halves of v8 to v15 must survive, and
 * so must the stack.  Bits returned: 1 a callee-saved register changed, 2 the
 * stack or its canary changed.
 */
	.text
	.globl	checked_call
	.type	checked_call, %function

	.macro	fill reg, value
	mov	\reg, #(\value * 0x101)
	movk	\reg, #(\value * 0x101), lsl #32
	.endm
	.macro	check reg, value
	fill	x9, \value
	cmp	\reg, x9
	cset	w10, ne
	orr	w0, w0, w10
	.endm

checked_call:
	stp	x29, x30, [sp, #-208]!
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	stp	d8, d9, [sp, #96]
	stp	d10, d11, [sp, #112]
	stp	d12, d13, [sp, #128]
	stp	d14, d15, [sp, #144]
	mov	x29, sp
	mov	x9, x0
	mov	x0, x1
	sub	sp, sp, #32
	fill	x10, 0x5c
	stp	x10, x10, [sp]
	stp	x10, x10, [sp, #16]
	fill	x19, 0x11
	fill	x20, 0x12
	fill	x21, 0x13
	fill	x22, 0x14
	fill	x23, 0x15
	fill	x24, 0x16
	fill	x25, 0x17
	fill	x26, 0x18
	fill	x27, 0x19
	fill	x28, 0x1a
	fmov	d8, x19
	fmov	d9, x20
	fmov	d10, x21
	fmov	d11, x22
	fmov	d12, x23
	fmov	d13, x24
	fmov	d14, x25
	fmov	d15, x26
	blr	x9
	mov	w0, #0
	check	x19, 0x11
	check	x20, 0x12
	check	x21, 0x13
	check	x22, 0x14
	check	x23, 0x15
	check	x24, 0x16
	check	x25, 0x17
	check	x26, 0x18
	check	x27, 0x19
	check	x28, 0x1a
	fmov	x11, d8
	check	x11, 0x11
	fmov	x11, d9
	check	x11, 0x12
	fmov	x11, d10
	check	x11, 0x13
	fmov	x11, d11
	check	x11, 0x14
	fmov	x11, d12
	check	x11, 0x15
	fmov	x11, d13
	check	x11, 0x16
	fmov	x11, d14
	check	x11, 0x17
	fmov	x11, d15
	check	x11, 0x18
	sub	x10, x29, #32
	mov	x11, sp
	cmp	x10, x11
	b.ne	1f
	fill	x10, 0x5c
	ldp	x11, x12, [sp]
	cmp	x10, x11
	ccmp	x10, x12, #0, eq
	ldp	x11, x12, [sp, #16]
	ccmp	x10, x11, #0, eq
	ccmp	x10, x12, #0, eq
	b.eq	2f
1:	orr	w0, w0, #2
2:	mov	sp, x29
	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	d8, d9, [sp, #96]
	ldp	d10, d11, [sp, #112]
	ldp	d12, d13, [sp, #128]
	ldp	d14, d15, [sp, #144]
	ldp	x29, x30, [sp], #208
	ret
	.size	checked_call, . - checked_call

	.section .note.GNU-stack, "", %progbits
