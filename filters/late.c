// SPDX-License-Identifier: Apache-2.0
/* late.c - the lookup */
#include "late.h"

#include <dlfcn.h>
#include <stddef.h>

static void trap(const char *why)
{
	(void)why;
	__builtin_trap();
}

void (*late_missing)(const char *why) = trap;

void *late_function(const char *so, const char *name)
{
	void *handle = dlopen(so, RTLD_NOW | RTLD_LOCAL);
	void *f = handle ? dlsym(handle, name) : NULL;

	if (!f)
		late_missing(dlerror());
	return f;
}
