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
#include <string.h>

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

bool archive_room(struct archive_bytes *b, size_t n)
{
	uint8_t *more;

	if (n <= b->cap)
		return true;
	more = realloc(b->p, n + n / 2);
	if (!more) {
		b->no_memory = true;
		return false;
	}
	b->p = more;
	b->cap = n + n / 2;
	return true;
}

static la_ssize_t append(struct archive *out, void *ctx, const void *p, size_t n)
{
	struct archive_bytes *b = ctx;

	(void)out;
	if (!archive_room(b, b->size + n))
		return ARCHIVE_FATAL;
	memcpy(b->p + b->size, p, n);
	b->size += n;
	return (la_ssize_t)n;
}

bool archive_write_to(const struct archive_library *la, struct archive *out,
		      struct archive_bytes *b)
{
	return !la->write_set_bytes_per_block(out, 0) &&
	       !la->write_set_bytes_in_last_block(out, 1) &&
	       !la->write_open(out, b, NULL, append, NULL);
}
