/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_noise.c - which sections of a zstd stream aren't worth a high level
 */
#include "zstd_noise.h"

#include <string.h>

/* A sample is the first bytes of every such stretch of a section. */
#define STRETCH ((size_t)1 << 20)

void zstd_noise_start(struct zstd_noise *z)
{
	z->at = 0;
	z->sample_len = 0;
	z->samples = 0;
	z->noisy = true;
}

size_t zstd_noise_span(const struct zstd_noise *z, size_t n)
{
	size_t left = z->section - 1 - z->at;

	return !z->section || n < left ? n : left;
}

static void noise_probe(struct zstd_noise *z)
{
	z->noisy = z->noisy && probe_incompressible(z->sample, z->sample_len);
	z->samples++;
	z->sample_len = 0;
}

/* n bytes at p, which begin at z->at and don't reach beyond its stretch. */
static void noise_sample(struct zstd_noise *z, const uint8_t *p, size_t n)
{
	size_t in_stretch = z->at % STRETCH, take = n;

	if (in_stretch >= ZSTD_NOISE_SAMPLE)
		return;
	if (take > ZSTD_NOISE_SAMPLE - in_stretch)
		take = ZSTD_NOISE_SAMPLE - in_stretch;
	memcpy(z->sample + in_stretch, p, take);
	z->sample_len = in_stretch + take;
	if (z->sample_len == ZSTD_NOISE_SAMPLE)
		noise_probe(z);
}

void zstd_noise_took(struct zstd_noise *z, const uint8_t *p, size_t n)
{
	while (z->section && n) {
		size_t take = STRETCH - z->at % STRETCH;

		if (take > n)
			take = n;
		noise_sample(z, p, take);
		z->at += take;
		p += take;
		n -= take;
		if (z->at == z->section)
			zstd_noise_start(z);
	}
}

/* A short section's only sample may not be full yet. */
bool zstd_noise_verdict(struct zstd_noise *z)
{
	if (!z->samples && z->sample_len)
		noise_probe(z);
	return z->samples && z->noisy;
}

bool zstd_noise_all(const uint8_t *p, size_t n)
{
	for (size_t at = 0; at < n; at += STRETCH) {
		size_t len = n - at < ZSTD_NOISE_SAMPLE ? n - at : ZSTD_NOISE_SAMPLE;

		/* A short stretch at the end says too little. */
		if (at && len < ZSTD_NOISE_SAMPLE)
			break;
		if (!probe_incompressible(p + at, len))
			return false;
	}
	return n;
}
