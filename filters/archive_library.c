// SPDX-License-Identifier: Apache-2.0
/*
 * archive_library.c - libarchive, looked up when the first archive is met
 *
 * With the dozen libraries that it brings along, loading it would make every
 * start of the program three times as long.
 */
#include "archive_library.h"

#include <dlfcn.h>
#include <stdlib.h>

/* Nothing is closed: it stays loaded once it was. */
bool archive_library_load(struct archive_library *la)
{
	void *so = dlopen(ARCHIVE_LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!so)
		return false;
#define X(name) \
	*(void **)&la->name = dlsym(so, "archive_" #name); \
	if (!la->name) \
		return false;
	ARCHIVE_CALLS(X)
#undef X
	return true;
}

locale_t archive_utf8(void)
{
	return newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

bool archive_fix_name(const struct archive_library *la, struct archive_entry *e)
{
	const char *name = la->entry_pathname_utf8(e);

	if (!name)
		name = la->entry_pathname(e);
	if (!name)
		return false;
	la->entry_copy_pathname(e, name);
	return true;
}

bool archive_room(uint8_t **p, size_t *cap, size_t n)
{
	uint8_t *more;

	if (n <= *cap)
		return true;
	more = realloc(*p, n + n / 2);
	if (!more)
		return false;
	*p = more;
	*cap = n + n / 2;
	return true;
}
