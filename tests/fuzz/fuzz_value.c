/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_value - the input is an lzvolt value */
#include "decode.h"

static int64_t decode(const struct kernel *kernel, const uint8_t *src, size_t len,
		      uint8_t *dst, size_t cap, size_t declared)
{
	(void)declared;
	return lzvolt_decompress_by(kernel, src, len, dst, cap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int64_t declared = lzvolt_declared_size(data, len);

	decode_all(decode, data, len, declared > 0 ? (size_t)declared : 0);
	return 0;
}
