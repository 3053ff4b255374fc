/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_dict.c - training a zstd dictionary, by libzstd's own trainer
 *
 * The trainer answers many hopeless inputs with a general error or with a
 * dictionary that holds nothing; those that can be told beforehand are.
 */
#include "probe.h"

#include <string.h>
#include <zdict.h>

#define SAMPLES_MIN 16		/* below, the trainer mostly fails */
#define BYTES_MIN 2048

static bool all_equal(const uint8_t *samples, const size_t *size, unsigned n)
{
	const uint8_t *p = samples;

	for (unsigned i = 0; i < n; i++) {
		if (size[i] != size[0] || memcmp(p, samples, size[0]))
			return false;
		p += size[i];
	}
	return true;
}

ptrdiff_t probe_dict_train(uint8_t *dict, size_t cap, const uint8_t *samples,
			   const size_t *size, unsigned n, struct filter_error *err)
{
	size_t sum = 0, r;

	for (unsigned i = 0; i < n; i++)
		sum += size[i];
	if (n < SAMPLES_MIN)
		return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
				   "too few records to train on: %u, at least %d are needed",
				   n, SAMPLES_MIN);
	if (sum < BYTES_MIN)
		return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
				   "records too short to train on: %zu bytes in all, "
				   "at least %d are needed", sum, BYTES_MIN);
	if (sum / n < 8)
		return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
				   "records too short to train on: %zu bytes on average, "
				   "at least 8 are needed", sum / n);
	if (all_equal(samples, size, n))
		return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
				   "all records are the same: nothing to train on");
	r = ZDICT_trainFromBuffer(dict, cap, samples, size, n);
	if (ZDICT_isError(r))
		return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
				   "the records have too little in common to train on (%s)",
				   ZDICT_getErrorName(r));
	return (ptrdiff_t)r;
}

uint32_t probe_dict_id(const uint8_t *dict, size_t n)
{
	return ZDICT_getDictID(dict, n);
}
