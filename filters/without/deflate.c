/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deflate.c - in place of libdeflate: checksums by zlib, no packer
 */
#include "flate.h"

#include <zlib.h>

const struct flate_packer *const flate_libdeflate;

uint32_t flate_crc32(uint32_t crc, const uint8_t *p, size_t n)
{
	return (uint32_t)crc32_z(crc, p, n);
}

uint32_t flate_adler32(uint32_t adler, const uint8_t *p, size_t n)
{
	return (uint32_t)adler32_z(adler, p, n);
}
