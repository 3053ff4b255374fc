/* SPDX-License-Identifier: Apache-2.0 */
/* name.c - names of outputs, from the suffixes in the codecs' rows */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code.h"

char *name_packed(const char *path, const struct filter *f)
{
	char *name;

	if (!f->suffix)
		return NULL;
	if (asprintf(&name, "%s%.*s", path, (int)strcspn(f->suffix, " "), f->suffix) < 0)
		return NULL;
	return name;
}

/* The length of path without the longest of the suffixes that it ends with. */
static size_t stem(const char *path, const char *list)
{
	size_t len = strlen(path), best = len;

	while (list && *list) {
		size_t n = strcspn(list, " ");

		/* A file called ".gz" has no stem. */
		if (len > n && path[len - n - 1] != '/' &&
		    !memcmp(path + len - n, list, n) && len - n < best)
			best = len - n;
		list += n + (list[n] == ' ');
	}
	return best;
}

char *name_unpacked(const char *path)
{
	size_t len = strlen(path), best = len;
	const char *add = "";
	char *name;

	for (size_t i = 0; i < filter_count; i++) {
		const struct filter *f = filter_table[i];

		if (stem(path, f->suffix) < best) {
			best = stem(path, f->suffix);
			add = "";
		}
		if (stem(path, f->tar_suffix) < best) {
			best = stem(path, f->tar_suffix);
			add = ".tar";
		}
	}
	if (best == len || asprintf(&name, "%.*s%s", (int)best, path, add) < 0)
		return NULL;
	return name;
}
