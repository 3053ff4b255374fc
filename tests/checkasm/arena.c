/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.c - memory between two pages that may not be touched
 */
#include "checkasm.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct arena arena_make(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p = mmap(NULL, n + 2 * page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) ||
	    mprotect(p + page + n, page, PROT_NONE)) {
		perror("checkasm: mmap");
		exit(2);
	}
	return (struct arena){ p + page, p + page + n };
}
