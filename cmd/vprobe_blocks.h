/* SPDX-License-Identifier: Apache-2.0 */
/* vprobe_blocks.h - --blocks and --columns, one input at a time */
#ifndef VPROBE_BLOCKS_H
#define VPROBE_BLOCKS_H

#include "vprobe.h"

struct blocks_options {
	const char *format;	/* -F; NULL = a container, or --records */
	int each;		/* a line for each record */
};
/* false = failed and said why. */
bool blocks_file(const char *path, const struct blocks_options *o);

/* width 0: guess it. */
bool columns_file(const char *path, int width);

#endif
