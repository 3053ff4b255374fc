/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serial.h - a stream face made out of a packing block face
 *
 * For codecs that pack by blocks: the same calls in one plain loop, cut at
 * the same places, so the bytes are the same too.  Internal to filters/.
 */
#ifndef SERIAL_H
#define SERIAL_H

#include "filter.h"

/*
 * As stream_ops.open, read, close.  p is copied; what it points to must
 * outlive the state.
 */
void *serial_open(const struct pack_ops *ops, const struct filter_params *p,
		  struct source *src, struct filter_error *err);
ptrdiff_t serial_read(void *state, uint8_t *dst, size_t cap,
		      struct filter_error *err);
void serial_close(void *state);

#endif
