/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c - the benchmark's rows: shapes and cuts of corpus files
 *
 * Of a file with more whole cuts than a set holds, cuts are taken at even
 * distances, so that one part of a large file doesn't stand for all of it.
 */
#include "bench.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name; int kind; } shapes[] = {
	{ "records", 'r' }, { "varied", 'v' }, { "noise", 'n' },
};

static const size_t shape_sizes[] = { 512, 4096, 65536 };
static const size_t cut_sizes[] = { 65536, 4096 };

static const char *const files[] = {
	"ndjson/flights.ndjson", "log/kafka-state-change.log",
	"csv/zipcodes.csv", "source/python-stdlib.tar",
	"binary/python3.11.elf", "text/lcet10.txt", "html/html",
};

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "codec: out of memory\n");
		exit(1);
	}
	return p;
}

static bool wanted(const struct set *s, const char *pattern)
{
	return !pattern || !fnmatch(pattern, s->name, FNM_EXTMATCH);
}

static bool shape_set(struct set *s, int kind)
{
	struct shape_stream stream;

	s->count = SET_BYTES / s->size;
	s->raw = must(malloc(s->size * s->count));
	shape_start(&stream, kind);
	for (size_t i = 0; i < s->count; i++)
		shape_next(&stream, s->raw + i * s->size, s->size);
	return true;
}

static uint8_t *file_read(const char *folder, const char *name, size_t *len)
{
	char path[4096];
	uint8_t *bytes = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "rb");
	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	*len = ftell(f);
	rewind(f);
	bytes = must(malloc(*len + 1));
	if (fread(bytes, 1, *len, f) != *len) {
		free(bytes);
		bytes = NULL;
	}
	fclose(f);
	return bytes;
}

static bool file_set(struct set *s, const char *folder, const char *name)
{
	size_t len, cuts;
	uint8_t *bytes = file_read(folder, name, &len);

	if (!bytes)
		return false;
	cuts = len / s->size;
	s->count = cuts < SET_BYTES / s->size ? cuts : SET_BYTES / s->size;
	s->raw = must(malloc(s->size * s->count + 1));
	for (size_t i = 0; i < s->count; i++)
		memcpy(s->raw + i * s->size, bytes + i * cuts / s->count * s->size,
		       s->size);
	free(bytes);
	return s->count > 0;
}

size_t sets_make(struct set **sets, const char *corpus, const char *pattern)
{
	struct set *s = must(calloc(COUNT(shapes) * COUNT(shape_sizes) +
				    COUNT(files) * COUNT(cut_sizes), sizeof(*s)));
	size_t n = 0;

	*sets = s;
	for (size_t k = 0; k < COUNT(shapes); k++)
		for (size_t i = 0; i < COUNT(shape_sizes); i++) {
			s[n].size = shape_sizes[i];
			s[n].family = shapes[k].kind == 'n' ? "noise" : "shapes";
			snprintf(s[n].name, sizeof(s[n].name), "%s-%zu",
				 shapes[k].name, s[n].size);
			n += wanted(&s[n], pattern) && shape_set(&s[n], shapes[k].kind);
		}
	for (size_t i = 0; i < COUNT(cut_sizes); i++)
		for (size_t k = 0; k < COUNT(files); k++) {
			s[n].size = cut_sizes[i];
			s[n].family = i ? "files, 4 KiB" : "files, 64 KiB";
			snprintf(s[n].name, sizeof(s[n].name), "%s-%zu",
				 strchr(files[k], '/') + 1, s[n].size);
			n += wanted(&s[n], pattern) && file_set(&s[n], corpus, files[k]);
		}
	return n;
}
