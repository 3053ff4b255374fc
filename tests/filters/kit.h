/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kit.h - what the tests of filters/ share: sources, buffers, whole runs
 */
#ifndef KIT_H
#define KIT_H

#include "filter.h"

/* A failure is printed with its place and the text, and counted. */
extern int kit_failures, kit_checks;
void kit_check(bool ok, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define CHECK(ok, ...) kit_check(ok, __FILE__, __LINE__, __VA_ARGS__)

struct bytes {
	uint8_t *p;
	size_t n, cap;
};
void bytes_add(struct bytes *b, const void *p, size_t n);
void bytes_free(struct bytes *b);
bool bytes_same(const struct bytes *a, const struct bytes *b);

/* Mixed text, records and noise; the same for the same n and seed. */
struct bytes kit_data(size_t n, unsigned seed);
struct bytes kit_noise(size_t n, unsigned seed);

/*
 * A source over n bytes at p: first a piece of `first` bytes (0 = none), then
 * pieces of `chunk`, each in a buffer of its own so that reading past a piece
 * or keeping one is seen by ASan.  pause: SOURCE_PAUSE before every piece but
 * the first.
 */
struct kit_source {
	struct source src;
	const uint8_t *p;
	size_t n, first, chunk;
	bool pause, paused, started;
	uint8_t *piece;
};
void kit_source_open(struct kit_source *s, const uint8_t *p, size_t n,
		     size_t first, size_t chunk);
void kit_source_close(struct kit_source *s);

/* Reads a state to its end, in pieces of cap; the result code. */
int kit_read_all(const struct stream_ops *ops, void *state, size_t cap,
		 struct bytes *out, struct filter_error *err);

/* One input through a stream face; the result code. */
int kit_stream(const struct stream_ops *ops, const struct filter_params *p,
	       struct kit_source *src, size_t cap, struct bytes *out,
	       struct filter_error *err);

/* The same through the block faces, as a caller with one worker would. */
int kit_pack_blocks(const struct pack_ops *ops, const struct filter_params *p,
		    const uint8_t *raw, size_t n, struct bytes *out,
		    struct filter_error *err);
int kit_unpack_blocks(const struct unpack_ops *ops,
		      const struct filter_params *p, const uint8_t *packed,
		      size_t n, struct bytes *out, struct filter_error *err);

#endif
