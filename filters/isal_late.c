// SPDX-License-Identifier: Apache-2.0
/* isal_late.c - the functions of isa-l that isal.c calls, by late.h */
#include "late.h"

#include <isa-l.h>

#define LATE_ISAL(...) LATE("libisal.so.2", __VA_ARGS__)

LATE_ISAL(void, isal_deflate_init, (struct isal_zstream *z), (z))
LATE_ISAL(int, isal_deflate_set_dict,
	  (struct isal_zstream *z, uint8_t *dict, uint32_t size), (z, dict, size))
LATE_ISAL(int, isal_deflate, (struct isal_zstream *z), (z))
LATE_ISAL(void, isal_inflate_init, (struct inflate_state *s), (s))
LATE_ISAL(void, isal_inflate_reset, (struct inflate_state *s), (s))
LATE_ISAL(int, isal_inflate, (struct inflate_state *s), (s))
