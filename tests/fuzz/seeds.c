/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seeds - writes the fuzz targets' first inputs
 *
 * usage: seeds VALUE_DIR LZ4_DIR SHARED
 *
 * Hand-built overlaps (offsets 1 to 40), hand-built blocks, values and LZ4
 * blocks of short texts, and the golden vectors.
 */
#include <stdio.h>
#include <stdlib.h>

#include "checkasm.h"

static const char *dirs[KIND_KINDS];
static unsigned written;

static void seed_write(struct input *in, bool ok)
{
	char path[4096];
	FILE *f;

	(void)ok;
	if (in->packed_len > 8192 || in->plain_len > 65535)
		return;
	snprintf(path, sizeof(path), "%s/seed-%05u", dirs[in->kind], written++);
	f = fopen(path, "wb");
	if (!f) {
		perror(path);
		exit(1);
	}
	if (in->kind == KIND_LZ4) {
		fputc((int)(in->plain_len & 255), f);
		fputc((int)(in->plain_len >> 8), f);
	}
	fwrite(in->packed, 1, in->packed_len, f);
	if (fclose(f)) {
		perror(path);
		exit(1);
	}
}

static void seed_done(struct input *in)
{
	seed_write(in, true);
	input_free(in);
}

int main(int argc, char **argv)
{
	struct input in;

	if (argc != 4)
		return fprintf(stderr, "usage: seeds VALUE_DIR LZ4_DIR SHARED\n"), 2;
	dirs[KIND_VALUE] = argv[1];
	dirs[KIND_LZ4] = argv[2];
	seed_now = 1;
	for (uint32_t offset = 1; offset <= 40; offset++) {
		gen_overlap(&in, offset & 1, offset, 4 + rnd_below(297), rnd_below(20));
		seed_done(&in);
	}
	for (int i = 0; i < 60; i++) {
		gen_blocks(&in, i & 1 ? KIND_LZ4 : KIND_VALUE);
		seed_done(&in);
		gen_value(&in, 2000);
		seed_done(&in);
		gen_lz4(&in, 2000);
		seed_done(&in);
	}
	vectors_each(argv[3], seed_write);
	return 0;
}
