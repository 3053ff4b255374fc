/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzvolt_kernel.h - what voltbox itself and the tests want beside lzvolt.h
 *
 * Choosing the decode kernel by hand, for --kernel, voltbox --version and the
 * tests: they name a row of asm/'s table; lzvolt_backend() says which is in use.
 */
#ifndef LZVOLT_KERNEL_H
#define LZVOLT_KERNEL_H

#include <stddef.h>
#include <stdint.h>

struct kernel;	/* asm/kernel.h */

/*
 * Every decode from now on uses the kernel `name`; "auto" or null: the
 * machine's own choice again (VOLTBOX_KERNEL, then CPU).  0, or -1 when there
 * is no such kernel or this CPU can't run it; then nothing changes.
 */
int lzvolt_kernel_force(const char *name);

/* The name of kernel i, best first, or null behind the last; static string. */
const char *lzvolt_kernel_name(size_t i);

/* Whether this CPU can run kernel i. */
_Bool lzvolt_kernel_runs(size_t i);

/*
 * As lzvolt_decompress_lz4_safe(), for a block whose offsets may reach up to
 * `history` bytes before dst.
 */
int lzvolt_lz4_linked(const char *src, char *dst, int compressed_size,
		      int dst_capacity, size_t history);

/*
 * lzvolt_decompress(), lzvolt_decompress_lz4() and lzvolt_decompress_lz4_safe()
 * by a kernel that the caller names, for tests.
 */
int64_t lzvolt_decompress_by(const struct kernel *kernel,
			     const uint8_t *src, size_t src_len,
			     uint8_t *dst, size_t dst_cap);
int64_t lzvolt_lz4_by(const struct kernel *kernel, const uint8_t *src, size_t src_len,
		      uint8_t *dst, size_t dst_cap, size_t declared);
int lzvolt_lz4_safe_by(const struct kernel *kernel, const char *src, char *dst,
		       int compressed_size, int dst_capacity, size_t history);

#endif
