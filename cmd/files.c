/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files.c - which files a run is about: operands, lists, folders
 *
 * Folders are walked in the order of names, so that a run can be repeated;
 * symbolic links below them are not followed, so that it ends.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "say.h"

static bool changed(const struct stat *a, const struct stat *b)
{
	return a->st_ino != b->st_ino || a->st_dev != b->st_dev ||
	       a->st_size != b->st_size || a->st_mtim.tv_sec != b->st_mtim.tv_sec ||
	       a->st_mtim.tv_nsec != b->st_mtim.tv_nsec;
}

void input_delete(const struct input *in)
{
	struct stat now;

	if (!stat(in->path, &now) && changed(&now, &in->st))
		say_warning(in->path, "changed while it was read, not deleted");
	else if (unlink(in->path))
		say_errno(in->path, "can't delete", errno);
}

static void walk(const struct file_list *l, const char *path);

static int not_dots(const struct dirent *d)
{
	return strcmp(d->d_name, ".") && strcmp(d->d_name, "..");
}

static void walk_entry(const struct file_list *l, const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		say_errno(path, "can't look at it", errno);
	else if (S_ISDIR(st.st_mode))
		walk(l, path);
	else if (S_ISREG(st.st_mode))
		l->act(path, true, l->ctx);
	else
		say_note(path, "not a regular file, skipped");
}

static void walk(const struct file_list *l, const char *path)
{
	struct dirent **entry;
	int n = scandir(path, &entry, not_dots, alphasort);

	if (n < 0) {
		say_errno(path, "can't read the folder", errno);
		return;
	}
	for (int i = 0; i < n; i++) {
		char *name;

		if (asprintf(&name, "%s%s%s", path,
			     path[strlen(path) - 1] == '/' ? "" : "/",
			     entry[i]->d_name) < 0)
			die("out of memory");
		free(entry[i]);
		walk_entry(l, name);
		free(name);
	}
	free(entry);
}

static void one(const struct file_list *l, const char *path)
{
	struct stat st;

	if (l->recurse && strcmp(path, "-") && !stat(path, &st) &&
	    S_ISDIR(st.st_mode))
		walk(l, path);
	else
		l->act(path, false, l->ctx);
}

static void listed(const struct file_list *l)
{
	bool is_stdin = !strcmp(l->files0, "-");
	FILE *f = is_stdin ? stdin : fopen(l->files0, "re");
	char *name = NULL;
	size_t cap = 0;

	if (!f) {
		say_errno(l->files0, "can't open", errno);
		return;
	}
	while (getdelim(&name, &cap, 0, f) > 0)
		if (is_stdin && !strcmp(name, "-"))
			say_error(name, "can't be read: the list comes from there");
		else if (*name)
			one(l, name);
	if (ferror(f))
		say_errno(l->files0, "can't read", errno);
	free(name);
	if (!is_stdin)
		fclose(f);
}

void files_each(const struct file_list *l)
{
	for (int i = 0; i < l->count; i++)
		one(l, l->operands[i]);
	if (l->files0)
		listed(l);
}
