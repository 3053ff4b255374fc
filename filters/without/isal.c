/* SPDX-License-Identifier: Apache-2.0 */
/* isal.c - in place of isa-l: nothing, zlib serves */
#include "flate.h"

const struct flate_packer *const flate_isal;
const struct flate_unpacker *const flate_isal_unpacker;
