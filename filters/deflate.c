/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate.c - libdeflate: its checksums
 */
#include "flate.h"

#include <libdeflate.h>

const struct flate_packer *const flate_libdeflate;

uint32_t flate_crc32(uint32_t crc, const uint8_t *p, size_t n)
{
	return libdeflate_crc32(crc, p, n);
}

uint32_t flate_adler32(uint32_t adler, const uint8_t *p, size_t n)
{
	return libdeflate_adler32(adler, p, n);
}
