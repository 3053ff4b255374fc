/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vectors.c - the golden vectors of both formats as inputs
 *
 * lzvolt/vectors.tsv: name, value in hex ("61*15" = 15 times 61), ok or error.
 * manifest.tsv: rows whose codec is lz4-block, with SHA-256 and length; the
 * careful step's bytes are checked for those elsewhere (vectors.bats), here the
 * kernels are compared with it.
 */
#include "checkasm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends the bytes of "61 62*3 ..."; returns the end. */
static uint8_t *hex_parse(uint8_t *p, const char *text)
{
	char *rest;

	for (; *text; text = rest) {
		uint8_t byte = (uint8_t)strtoul(text, &rest, 16);
		unsigned long n = 1;

		if (*rest == '*')
			n = strtoul(rest + 1, &rest, 10);
		while (n--)
			*p++ = byte;
		while (*rest == ' ')
			rest++;
	}
	return p;
}

static unsigned values_each(const char *shared, void (*each)(struct input *in, bool ok))
{
	static char path[4096], line[65536];
	struct input in = { .name = "value vector", .kind = KIND_VALUE };
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/vectors/lzvolt/vectors.tsv", shared);
	f = fopen(path, "r");
	in.packed = malloc(1 << 20);
	while (f && fgets(line, sizeof(line), f)) {
		char *name = strtok(line, "\t"), *hex = strtok(NULL, "\t");
		char *verdict = strtok(NULL, "\t");

		if (!name || *name == '#' || !verdict)
			continue;
		in.packed_len = (size_t)(hex_parse(in.packed, hex) - in.packed);
		each(&in, !strcmp(verdict, "ok"));
		n++;
	}
	if (f)
		fclose(f);
	free(in.packed);
	return n;
}

static void block_load(const char *shared, const char *file, unsigned long length, bool ok,
		       void (*each)(struct input *in, bool ok))
{
	static char path[4096];
	struct input in = { .name = "LZ4 block vector", .kind = KIND_LZ4, .plain_len = length };
	FILE *f;

	snprintf(path, sizeof(path), "%s/vectors/%s", shared, file);
	f = fopen(path, "rb");
	if (!f)
		return;
	in.packed = malloc(1 << 21);
	in.packed_len = fread(in.packed, 1, 1 << 21, f);
	fclose(f);
	each(&in, ok);
	free(in.packed);
}

/*
 * liblz4 decodes this one (with room to spare) although an offset in it is
 * zero; a decoder of ours refuses every zero offset.
 */
static const char zero_offset[] = "lz4-block/compress__convert-d087c493db7c4f23";

static unsigned blocks_each(const char *shared, void (*each)(struct input *in, bool ok))
{
	static char path[4096], line[8192];
	unsigned n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/vectors/manifest.tsv", shared);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		char *file = strtok(line, "\t"), *codec = strtok(NULL, "\t"), *expect, *space;

		if (!file || !codec || strcmp(codec, "lz4-block"))
			continue;
		strtok(NULL, "\t");
		expect = strtok(NULL, "\t");
		space = expect ? strrchr(expect, ' ') : NULL;
		block_load(shared, file, space ? strtoul(space, NULL, 10) : 65536,
			   space && strcmp(file, zero_offset), each);
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

unsigned vectors_each(const char *shared, void (*each)(struct input *in, bool ok))
{
	return values_each(shared, each) + blocks_each(shared, each);
}
