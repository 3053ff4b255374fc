/* SPDX-License-Identifier: Apache-2.0 */
/* zlib_unpack.h - unpacking gzip, zlib and raw deflate; internal to filters/ */
#ifndef ZLIB_UNPACK_H
#define ZLIB_UNPACK_H

#include "filter.h"

extern const struct stream_ops gzip_unpack_ops;
extern const struct stream_ops zlib_unpack_ops;
extern const struct stream_ops deflate_unpack_ops;

#endif
