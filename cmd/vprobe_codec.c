/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_codec.c - lists of codecs and levels
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "vprobe.h"

void *need(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		die("no memory for %zu bytes", n);
	return p;
}

static void choice_set(struct choice *c, const struct filter *f, int level)
{
	bool levels = f->level_min || f->level_max;

	c->filter = f;
	c->level = level;
	if (!levels) {
		snprintf(c->name, sizeof(c->name), "%s", f->name);
		snprintf(c->option, sizeof(c->option), "-F %s", f->name);
		return;
	}
	snprintf(c->name, sizeof(c->name), "%s %d", f->name, level);
	if (level < 0)
		snprintf(c->option, sizeof(c->option), "-F %s --fast=%d", f->name, -level);
	else
		snprintf(c->option, sizeof(c->option), "-F %s -%d", f->name, level);
}

static void choice_add(struct choice *c, int *n, const struct filter *f, long level)
{
	if (*n == CHOICES_MAX)
		die("more than %d codecs and levels", CHOICES_MAX);
	if (level < f->level_min || level > f->level_max)
		die("%s has levels %d to %d, not %ld", f->name, f->level_min,
		    f->level_max, level);
	choice_set(&c[(*n)++], f, (int)level);
}

/* "3", "1-19", "-5": adds them; false when it isn't that. */
static bool levels_add(const char *w, struct choice *c, int *n, const struct filter *f)
{
	char *end;
	long first, last;

	errno = 0;
	first = last = strtol(w, &end, 10);
	if (end == w || errno)
		return false;
	if (*end == '-') {
		w = end + 1;
		last = strtol(w, &end, 10);
		if (end == w || errno)
			return false;
	}
	if (*end)
		return false;
	if (last < first || last - first >= CHOICES_MAX)
		die("%s:%ld-%ld is no range of levels", f->name, first, last);
	for (long level = first; level <= last; level++)
		choice_add(c, n, f, level);
	return true;
}

static const struct filter *codec_named(const char *name)
{
	const struct filter *f = filter_by_name(name);

	if (!f)
		die("no codec '%s'", name);
	if (f->missing)
		die("codec %s: %s", name, f->missing);
	if (!run_possible(f))
		die("codec %s can't be measured: it has one direction only", name);
	return f;
}

/* One item of the list; *f is the codec that a bare number belongs to. */
static void item_add(char *w, struct choice *c, int *n, const struct filter **f)
{
	char *colon = strchr(w, ':');

	if (!colon && (isdigit((unsigned char)*w) || *w == '-')) {
		if (!*f || !levels_add(w, c, n, *f))
			die("'%s' is no level", w);
		return;
	}
	if (colon)
		*colon = 0;
	*f = codec_named(w);
	if (!colon)
		choice_add(c, n, *f, (*f)->level_default);
	else if (!levels_add(colon + 1, c, n, *f))
		die("'%s' is no level of %s", colon + 1, w);
}

int choices_parse(const char *list, struct choice *c)
{
	const struct filter *f = NULL;
	char *copy = need(strlen(list) + 1), *rest = copy, *w;
	int n = 0;

	strcpy(copy, list);
	while ((w = strsep(&rest, ",")))
		item_add(w, c, &n, &f);
	free(copy);
	return n;
}
