/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vcompress_verify.c - decode what was written and compare
 *
 * The comparison is by length and a 64-bit digest of the raw bytes, taken when
 * they were read: a source that can't be read twice (a pipe) is verified too.
 */
#include <string.h>

#include "vcompress.h"

static int compare(const struct unpack *u, uint64_t raw, uint64_t digest,
		   struct filter_error *err)
{
	if (u->sink->total == raw && XXH3_64bits_digest(u->digest) == digest)
		return 0;
	return filter_fail(err, FILTER_E_CHECK, SIZE_UNKNOWN,
			   "verification failed: the output decodes to other bytes");
}

static int decode(struct feed *feed, const struct filter *f, uint64_t raw,
		  uint64_t digest, struct filter_error *err)
{
	struct output nothing;
	struct sink sink;
	struct unpack u = {
		.forced = f, .feed = feed, .sink = &sink, .max_output = raw,
		.threads = machine_threads(common.threads),
		.budget = machine_budget(common.memory),
	};
	size_t whole;
	int code;

	filter_params_init(&u.params);
	u.params.dict = pack_options.dict;
	u.params.dict_len = pack_options.dict_len;
	u.params.memory = u.budget;
	u.params.size = raw;
	if (feed_whole(feed, &whole))
		u.threads = 1;
	output_discard(&nothing);
	sink_open(&sink, &nothing, 1);
	u.digest = XXH3_createState();
	if (!u.digest)
		return filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
	XXH3_64bits_reset(u.digest);
	code = unpack_run(&u, err);
	sink_close(&sink);
	if (!code)
		code = compare(&u, raw, digest, err);
	XXH3_freeState(u.digest);
	return code;
}

int pack_verify(const char *path, const struct filter *f, uint64_t raw,
		uint64_t digest, struct filter_error *err)
{
	struct input in;
	struct feed feed;
	int code = input_open(&in, path, 0);

	if (!code)
		code = feed_open(&feed, &in, common.threads == 1 ? 1 : 2, -1, true);
	if (code)
		return filter_fail(err, FILTER_E_READ, SIZE_UNKNOWN,
				   "can't read the output back: %s", strerror(-code));
	code = decode(&feed, f, raw, digest, err);
	feed_close(&feed);
	input_close(&in);
	return code;
}
