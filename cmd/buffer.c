/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.c - memory for jobs
 *
 * The first touch of a 4 KiB page costs three times what its bytes cost on a
 * huge page, and a job's large buffers are touched whole: they are aligned for
 * huge pages and ask for them.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "pipe.h"

#define HUGE_PAGE ((size_t)2 << 20)

void *buffer_make(size_t size)
{
	void *p;

	if (size < HUGE_PAGE)
		return malloc(size);
	if (posix_memalign(&p, HUGE_PAGE, size))
		return NULL;
	/* Only a wish: where there are none, small pages serve. */
	madvise(p, size, MADV_HUGEPAGE);
	return p;
}
