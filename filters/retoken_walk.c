// SPDX-License-Identifier: Apache-2.0
/*
 * retoken_walk.c - the sequences of an even section, read without writing
 */
#include "retoken.h"

void retoken_skip_even(struct token_reader *r)
{
	const uint8_t *at = r->at;
	const uint8_t *end = r->end;
	size_t made = r->made, stop = r->stop;
	struct plain s;

	while (end - at > PLAIN_IN && plain_read_even(at, end, &s)) {
		size_t from = made + s.literal_len;
		size_t to = from + s.match + 4;

		if (s.offset - 1U >= from || to + LZ4_MATCH_START > stop)
			break;
		made = to;
		at = s.next;
	}
	r->at = at;
	r->made = made;
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
