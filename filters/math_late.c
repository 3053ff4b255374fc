// SPDX-License-Identifier: Apache-2.0
/*
 * math_late.c - the functions of libm that are called here, by late.h
 *
 * libm's archive refers to the loader's insides, so that it can only be linked
 * into a program that is static as a whole.
 */
#include "late.h"

#include <math.h>

#define LIBM "libm.so.6"
LATE(LIBM, double, log2, (double x), (x))
LATE(LIBM, double, log10, (double x), (x))
LATE(LIBM, double, pow, (double x, double y), (x, y))
LATE(LIBM, double, sqrt, (double x), (x))
LATE(LIBM, double, fmin, (double x, double y), (x, y))
LATE(LIBM, double, fmax, (double x, double y), (x, y))
