/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_noise.h - which sections of a zstd stream aren't worth a high level
 *
 * libzstd's workers pack jobs of a fixed size, and the level may be changed
 * between jobs.  A job is made when its last byte arrives: by then the whole
 * section has been seen.  A sample of each of its MiBs is probed; where every
 * sample is incompressible, the section is packed at level 1, which passes
 * over such data five to ten times as fast as level 6 or 9.
 *
 * What is sampled depends on places in the stream alone, never on the spans
 * that it comes in.  Internal to filters/.
 */
#ifndef ZSTD_NOISE_H
#define ZSTD_NOISE_H

#include "filter.h"

#define ZSTD_NOISE_SAMPLE ((size_t)64 << 10)

struct zstd_noise {
	size_t section;		/* bytes of a job; 0 = this is switched off */
	size_t at;		/* bytes of the section that went by */
	size_t sample_len;	/* bytes of the current MiB's sample */
	unsigned samples;	/* of this section, probed */
	bool noisy;		/* all of them were incompressible */
	uint8_t *sample;	/* ZSTD_NOISE_SAMPLE bytes, the owner's to free */
};

/* At the stream's start, at each section's, and behind a flush. */
void zstd_noise_start(struct zstd_noise *z);

/*
 * How many of the next n bytes may be given to libzstd before
 * zstd_noise_verdict() must be asked: 0 = ask now, then give one.
 */
size_t zstd_noise_span(const struct zstd_noise *z, size_t n);

/* These bytes went by. */
void zstd_noise_took(struct zstd_noise *z, const uint8_t *p, size_t n);

/* Whether the section so far is incompressible. */
bool zstd_noise_verdict(struct zstd_noise *z);

/* The same of n bytes at p that are all there. */
bool zstd_noise_all(const uint8_t *p, size_t n);

#endif
