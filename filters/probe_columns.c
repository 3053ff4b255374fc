/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_columns.c - fixed-width records: their width, and columns side by side
 *
 * In records of one width a byte often equals the byte one record before.
 * The share of equal bytes at each lag (the autocorrelation of equality)
 * peaks at the width and its multiples, above what the byte frequencies alone
 * give, so the width is the shortest lag that is nearly as good as the best.
 */
#include "probe.h"

#include <string.h>

#define LOOK	((size_t)128 << 10)	/* bytes compared at each lag */
#define NEARLY	0.96			/* of the best lag's gain */
#define GAIN	0.10			/* below, it isn't records */
#define LASTS	0.75			/* of its gain that a lag has at twice the lag */

static double equal_share(const uint8_t *p, size_t n, size_t lag)
{
	size_t equal = 0;

	for (size_t i = 0; i + lag < n; i++)
		equal += p[i] == p[i + lag];
	return (double)equal / (double)(n - lag);
}

/* How often two bytes of the input are equal by chance. */
static double chance(const uint8_t *p, size_t n)
{
	size_t count[256] = { 0 };
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		count[p[i]]++;
	for (unsigned i = 0; i < 256; i++)
		sum += (double)count[i] / (double)n * ((double)count[i] / (double)n);
	return sum;
}

/*
 * A peak stands out from the lags beside it, as a slow drift of bytes doesn't,
 * and is there again at twice the lag, as a line length that varies isn't.
 */
static bool is_peak(const double *share, unsigned lag, double base)
{
	double gain = share[lag] - base, beside = share[lag - 1];

	if (share[lag + 1] > beside)
		beside = share[lag + 1];
	return gain >= GAIN && gain > 1.25 * (beside - base) &&
	       share[2 * lag] - base >= LASTS * gain;
}

unsigned probe_width(const uint8_t *p, size_t n)
{
	double share[2 * PROBE_WIDTH_MAX + 1], base, best = 0;
	unsigned most, lag;

	n = n < LOOK ? n : LOOK;
	most = n / 4 < PROBE_WIDTH_MAX ? (unsigned)(n / 4) : PROBE_WIDTH_MAX;
	if (most < 3)
		return 0;
	base = chance(p, n);
	for (lag = 1; lag <= 2 * most; lag++)
		share[lag] = equal_share(p, n, lag);
	for (lag = 2; lag < most; lag++)
		if (is_peak(share, lag, base) && share[lag] > best)
			best = share[lag];
	for (lag = 2; lag < most; lag++)
		if (is_peak(share, lag, base) && share[lag] - base >= NEARLY * (best - base))
			return lag;
	return 0;
}

void probe_transpose(uint8_t *dst, const uint8_t *src, size_t n, size_t width)
{
	size_t rows = n / width;

	for (size_t c = 0; c < width; c++)
		for (size_t r = 0; r < rows; r++)
			*dst++ = src[r * width + c];
	memcpy(dst, src + rows * width, n - rows * width);
}
