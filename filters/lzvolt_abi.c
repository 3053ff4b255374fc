/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lzvolt_abi.c - the library's small functions: what it is, and which kernel
 */
#include "kernel.h"
#include "lzvolt.h"
#include "lzvolt_kernel.h"

size_t lzvolt_decompress_bound(size_t declared)
{
	return declared + 64;
}

const char *lzvolt_backend(void)
{
	return kernel_current()->name;
}

const char *lzvolt_version(void)
{
	return VERSION;
}

const char *lzvolt_strerror(int64_t code)
{
	static const char *const words[] = {
		[0] = "not worth packing; store the bytes as they are",
		[1] = "null pointer with a length",
		[2] = "the packed bytes end too early",
		[3] = "an offset is zero or reaches before the output",
		[4] = "the packed bytes don't give the declared length",
		[5] = "too large",
		[6] = "the header is longer than its length needs",
		[7] = "the output buffer is too small",
	};

	if (code > 0)
		return "no error";
	return code >= LZVOLT_E_OUTPUT_TOO_SMALL ? words[-code] : "unknown error";
}

int lzvolt_kernel_force(const char *name)
{
	return kernel_force(name) ? 0 : -1;
}

const char *lzvolt_kernel_name(size_t i)
{
	size_t count;
	const struct kernel *rows = kernel_table(&count);

	return i < count ? rows[i].name : NULL;
}

_Bool lzvolt_kernel_runs(size_t i)
{
	size_t count;
	const struct kernel *rows = kernel_table(&count);

	return i < count && !(rows[i].need & ~cpu_read().have);
}
