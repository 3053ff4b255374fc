/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_convert.h - one record from one encoding into another
 *
 * A converter belongs to one worker.  It is given a record with its flag and
 * gives one back; bytes that stay as they were stay where they were.
 */
#ifndef RECORD_CONVERT_H
#define RECORD_CONVERT_H

#include "framing.h"

enum convert_mode { CONVERT_REPACK, CONVERT_RETOKEN, CONVERT_WRAP };

struct convert_options {
	unsigned to;			/* LZV_RAW, LZV_LZ4 or LZV_LZVOLT */
	enum convert_mode mode;		/* LZ4 to lzvolt */
	bool exact;			/* the way back gives the same block */
	bool recompress;		/* try raw (and packed) records again */
	bool verify;
	bool check;			/* results need a check */
	bool sum;			/* results need lz4-java's */
	const struct framing *into;	/* what encodings it takes */
	struct filter_params params;	/* level, favor, probe */
};

enum convert_outcome {
	CONVERT_CARRIED,	/* as it was */
	CONVERT_DONE,		/* in the encoding that was asked for */
	CONVERT_TO_RAW,		/* ... which wasn't worth it: raw */
	CONVERT_KEPT,		/* can't be had in that encoding: as it was */
	CONVERT_OUTCOMES,
};

struct converter;
struct converter *converter_open(const struct convert_options *o);
void converter_close(struct converter *c);

/*
 * Decoded size of a record; an error where it isn't known and can't be
 * measured.  A record that says it itself isn't looked at.
 */
int64_t convert_size(const struct frecord *rec, struct filter_error *err);
/* Room that convert_record() needs for a record of that size. */
size_t convert_room(size_t raw);

/*
 * Converts in, of decoded size raw_size, into *out, whose body is in's own or
 * at dst.  Returns a convert_outcome, or an error.
 */
int convert_record(struct converter *c, const struct frecord *in,
		   size_t raw_size, uint8_t *dst, struct frecord *out,
		   struct filter_error *err);

/*
 * The way back of a record that was converted, for its time: to LZ4, or
 * decoded where that isn't the way it came.
 */
void convert_back(struct converter *c, const struct frecord *out);

#endif
