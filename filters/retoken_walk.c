// SPDX-License-Identifier: Apache-2.0
/*
 * retoken_walk.c - the sequences of an even section, read without writing
 */
#include "retoken.h"

void retoken_skip_even(struct token_reader *r)
{
	even_walk(r, NULL, NULL, NULL);
}

int64_t retoken_lz4_size(const uint8_t *block, size_t block_len, size_t max)
{
	struct token_reader r = {
		.at = block, .end = block + block_len,
		.stop = max, .declared = SIZE_MAX,
	};
	struct sequence s;
	int64_t err;

	while (r.at < r.end) {
		retoken_skip_even(&r);
		s.literals = NULL;
		err = sequence_read(&r, &s, &token_even);
		/* the last sequence ends behind its literals */
		if (err == LZVOLT_E_TRUNCATED && r.at == r.end && s.literals &&
		    (size_t)(r.end - s.literals) == s.literal_len)
			return (int64_t)r.made;
		if (err)
			return err;
	}
	return LZVOLT_E_TRUNCATED;
}
