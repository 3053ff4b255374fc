/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_params.c - libzstd's parameters and errors, in our terms
 */
#include "codecs.h"
#include "zstd_codec.h"

#include <zstd.h>
#include <zstd_errors.h>

int zstd_fail(struct filter_error *err, uint64_t offset, size_t result)
{
	static const struct {
		ZSTD_ErrorCode zstd;
		int code;
		const char *what;	/* NULL = the library's words */
	} map[] = {
		{ ZSTD_error_checksum_wrong, FILTER_E_CHECK,
		  "content checksum doesn't match" },
		{ ZSTD_error_dictionary_corrupted, FILTER_E_DICT, NULL },
		{ ZSTD_error_dictionary_wrong, FILTER_E_DICT, NULL },
		{ ZSTD_error_dictionaryCreation_failed, FILTER_E_DICT, NULL },
		{ ZSTD_error_memory_allocation, FILTER_E_MEMORY, "out of memory" },
		{ ZSTD_error_frameParameter_windowTooLarge, FILTER_E_UNSUPPORTED, NULL },
		{ ZSTD_error_frameParameter_unsupported, FILTER_E_UNSUPPORTED, NULL },
		{ ZSTD_error_version_unsupported, FILTER_E_UNSUPPORTED, NULL },
		{ ZSTD_error_parameter_unsupported, FILTER_E_OPTION, NULL },
		{ ZSTD_error_parameter_outOfBound, FILTER_E_OPTION, NULL },
		{ ZSTD_error_srcSize_wrong, FILTER_E_CORRUPT,
		  "the input's size isn't the one that was announced" },
	};
	ZSTD_ErrorCode e = ZSTD_getErrorCode(result);

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
		if (map[i].zstd != e)
			continue;
		return filter_fail(err, map[i].code, offset, "%s",
				   map[i].what ? map[i].what :
				   ZSTD_getErrorString(e));
	}
	return filter_fail(err, FILTER_E_CORRUPT, offset, "corrupt zstd frame: %s",
			   ZSTD_getErrorString(e));
}

/* One libzstd parameter; the first failure stays in *result. */
static void zstd_set(ZSTD_CCtx *cctx, ZSTD_cParameter param, int value,
		     size_t *result)
{
	if (!ZSTD_isError(*result))
		*result = ZSTD_CCtx_setParameter(cctx, param, value);
}

int zstd_pack_params(ZSTD_CCtx *cctx, const struct filter_params *p,
			    struct filter_error *err)
{
	/* None in a library that was built without threads. */
	int most = ZSTD_cParam_getBounds(ZSTD_c_nbWorkers).upperBound;
	size_t r = 0;

	zstd_set(cctx, ZSTD_c_compressionLevel, filter_level(&filter_zstd, p), &r);
	zstd_set(cctx, ZSTD_c_checksumFlag, p->check != 0, &r);
	if (p->window_log) {
		zstd_set(cctx, ZSTD_c_enableLongDistanceMatching, 1, &r);
		zstd_set(cctx, ZSTD_c_windowLog, p->window_log, &r);
	}
	zstd_set(cctx, ZSTD_c_nbWorkers, p->threads < most ? p->threads : most, &r);
	if (!ZSTD_isError(r) && p->dict_len)
		r = ZSTD_CCtx_loadDictionary(cctx, p->dict, p->dict_len);
	return ZSTD_isError(r) ? zstd_fail(err, SIZE_UNKNOWN, r) : FILTER_OK;
}
