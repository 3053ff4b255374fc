// SPDX-License-Identifier: Apache-2.0
/* zstd_late.c - the functions of libzstd that are called here, by late.h */
#include "late.h"

#define ZSTD_STATIC_LINKING_ONLY
#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

#define LATE_ZSTD(...) LATE("libzstd.so.1", __VA_ARGS__)

LATE_ZSTD(const char *, ZSTD_versionString, (void), ())
LATE_ZSTD(unsigned, ZSTD_isError, (size_t r), (r))
LATE_ZSTD(ZSTD_ErrorCode, ZSTD_getErrorCode, (size_t r), (r))
LATE_ZSTD(const char *, ZSTD_getErrorString, (ZSTD_ErrorCode e), (e))

LATE_ZSTD(ZSTD_CCtx *, ZSTD_createCCtx, (void), ())
LATE_ZSTD(size_t, ZSTD_freeCCtx, (ZSTD_CCtx *c), (c))
LATE_ZSTD(size_t, ZSTD_CCtx_reset, (ZSTD_CCtx *c, ZSTD_ResetDirective what), (c, what))
LATE_ZSTD(size_t, ZSTD_CCtx_setParameter, (ZSTD_CCtx *c, ZSTD_cParameter p, int v), (c, p, v))
LATE_ZSTD(size_t, ZSTD_CCtx_setPledgedSrcSize, (ZSTD_CCtx *c, unsigned long long n), (c, n))
LATE_ZSTD(size_t, ZSTD_CCtx_loadDictionary, (ZSTD_CCtx *c, const void *p, size_t n), (c, p, n))
LATE_ZSTD(size_t, ZSTD_compress2,
	  (ZSTD_CCtx *c, void *dst, size_t cap, const void *src, size_t n), (c, dst, cap, src, n))
LATE_ZSTD(size_t, ZSTD_compressStream2,
	  (ZSTD_CCtx *c, ZSTD_outBuffer *out, ZSTD_inBuffer *in, ZSTD_EndDirective end),
	  (c, out, in, end))
LATE_ZSTD(size_t, ZSTD_compressBound, (size_t n), (n))
LATE_ZSTD(ZSTD_bounds, ZSTD_cParam_getBounds, (ZSTD_cParameter p), (p))
LATE_ZSTD(ZSTD_compressionParameters, ZSTD_getCParams,
	  (int level, unsigned long long n, size_t dict_size), (level, n, dict_size))
LATE_ZSTD(ZSTD_compressionParameters, ZSTD_adjustCParams,
	  (ZSTD_compressionParameters p, unsigned long long n, size_t dict_size),
	  (p, n, dict_size))
LATE_ZSTD(size_t, ZSTD_estimateCCtxSize_usingCParams, (ZSTD_compressionParameters p), (p))
LATE_ZSTD(size_t, ZSTD_estimateCStreamSize_usingCParams, (ZSTD_compressionParameters p), (p))

LATE_ZSTD(ZSTD_DCtx *, ZSTD_createDCtx, (void), ())
LATE_ZSTD(size_t, ZSTD_freeDCtx, (ZSTD_DCtx *d), (d))
LATE_ZSTD(size_t, ZSTD_DCtx_reset, (ZSTD_DCtx *d, ZSTD_ResetDirective what), (d, what))
LATE_ZSTD(size_t, ZSTD_DCtx_setParameter, (ZSTD_DCtx *d, ZSTD_dParameter p, int v), (d, p, v))
LATE_ZSTD(size_t, ZSTD_DCtx_loadDictionary, (ZSTD_DCtx *d, const void *p, size_t n), (d, p, n))
LATE_ZSTD(size_t, ZSTD_decompressDCtx,
	  (ZSTD_DCtx *d, void *dst, size_t cap, const void *src, size_t n), (d, dst, cap, src, n))
LATE_ZSTD(size_t, ZSTD_decompressStream,
	  (ZSTD_DCtx *d, ZSTD_outBuffer *out, ZSTD_inBuffer *in), (d, out, in))
LATE_ZSTD(ZSTD_bounds, ZSTD_dParam_getBounds, (ZSTD_dParameter p), (p))

LATE_ZSTD(unsigned, ZSTD_getDictID_fromDict, (const void *p, size_t n), (p, n))
LATE_ZSTD(unsigned, ZDICT_getDictID, (const void *p, size_t n), (p, n))
LATE_ZSTD(size_t, ZDICT_trainFromBuffer,
	  (void *dict, size_t cap, const void *samples, const size_t *sizes, unsigned count),
	  (dict, cap, samples, sizes, count))
LATE_ZSTD(unsigned, ZDICT_isError, (size_t r), (r))
LATE_ZSTD(const char *, ZDICT_getErrorName, (size_t r), (r))
