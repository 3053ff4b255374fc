/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.c - the benchmark's data, made once and kept in its folder
 *
 * tar: programs, libraries, headers and texts of this machine, as tar packs
 * them.  ndjson, noise: from the tests' generator, the same everywhere.  Packed
 * forms come from the peers (packings[]), so that we unpack what others wrote.
 */
#include "pipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

static const char *path_keep(const char *a, const char *b)
{
	size_t n = strlen(a) + strlen(b) + 2;
	char *p = malloc(n);

	if (!p)
		abort();
	snprintf(p, n, "%s.%s", a, b);
	return p;
}

/* The shell command that writes `bytes` of a kind to standard output. */
static void recipe(char *cmd, size_t cap, const char *kind, unsigned long long bytes)
{
	if (!strcmp(kind, "tar"))
		snprintf(cmd, cap, "for d in include bin share lib; do "
			 "tar --sort=name -cf - /usr/$d 2>/dev/null | head -c %llu; done",
			 bytes / 4);
	else
		snprintf(cmd, cap, "gen %s %llu", kind, bytes);
}

const char *input_raw(const char *dir, const char *kind, unsigned megabytes)
{
	unsigned long long bytes = megabytes ? megabytes * 1000000ull : 100;
	char cmd[1200], name[256];
	size_t at;

	snprintf(name, sizeof(name), "%s/%s.%u", dir, kind, megabytes);
	if (file_size(name))
		return strdup(name);
	at = (size_t)snprintf(cmd, sizeof(cmd), "{ ");
	recipe(cmd + at, sizeof(cmd) - at, kind, bytes);
	at = strlen(cmd);
	snprintf(cmd + at, sizeof(cmd) - at, "; } >%s.new && mv %s.new %s", name, name, name);
	if (system(cmd) == -1 || !file_size(name)) {
		fprintf(stderr, "bench: can't make %s\n", name);
		return NULL;
	}
	return strdup(name);
}

const char *input_packed(const char *raw, const char *suffix)
{
	const char *path = path_keep(raw, suffix);

	if (file_size(path))
		return path;
	for (size_t i = 0; i < packing_count; i++)
		if (!strcmp(packings[i].suffix, suffix) &&
		    run_to_file(packings[i].command, raw, path))
			return path;
	fprintf(stderr, "bench: can't make %s\n", path);
	return NULL;
}
