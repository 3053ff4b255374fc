/* SPDX-License-Identifier: Apache-2.0 */
/* deflate_walk.h - finding the last block of a deflate stream; internal to filters/ */
#ifndef DEFLATE_WALK_H
#define DEFLATE_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In bits from the stream's first. */
struct deflate_place {
	size_t last;		/* the last block's header, whose first bit says so */
	size_t end;		/* right behind the last block */
};

/*
 * Walks over the n bytes at p from block to block up to the last one.  False
 * where they are no complete deflate stream.  Matches aren't resolved, so a
 * distance may be wrong.
 */
bool deflate_walk(const uint8_t *p, size_t n, struct deflate_place *place);

#endif
