// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz_records.c - hostile .lzv streams and framings
 *
 * The first byte chooses a framing; the rest is read by it, within 1 MiB of
 * memory for a record, and every record is converted both ways.  Nothing may be
 * read outside the input, whatever it says.
 */
#include <stdlib.h>
#include <string.h>

#include "record_convert.h"

static const char *const framings[] = {
	"lzv", "lz4-frame", "lz4-legacy", "hadoop", "lz4-java", "lines",
	"len:u32le,flag:u8,size:u32le", "len:varint,size:varint,lz4",
	"len:u32be,size:max=64K,lz4", "whole,size:u32be,lz4", "fixed:16,lzvolt",
	"magic:00,nul,raw", "tar",
};
#define FRAMINGS (sizeof(framings) / sizeof(framings[0]))

static void convert(struct converter *c, const struct frecord *rec)
{
	struct filter_error err;
	struct frecord out;
	int64_t n = convert_size(rec, &err);
	uint8_t *dst;

	if (n < 0 || n > 1 << 20)
		return;
	dst = malloc(convert_room(n));
	convert_record(c, rec, n, dst, &out, &err);
	free(dst);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct framing from, into;
	struct convert_options o = { .verify = true, .check = true, .into = &into };
	struct framing_reader *r;
	struct converter *c;
	struct filter_error err;
	size_t at = 1;

	if (!len || framing_parse(&from, framings[p[0] % FRAMINGS]) ||
	    framing_parse(&into, "lzv"))
		return 0;
	framing_parse_flags(&from, "raw=0,lz4=1,lzvolt=2");
	from.limit = 1 << 20;
	o.to = p[0] / FRAMINGS % 3;
	o.exact = p[0] & 128;
	o.mode = o.exact ? CONVERT_RETOKEN : CONVERT_REPACK;
	filter_params_init(&o.params);
	o.params.level = 1;
	r = framing_reader_open(&from);
	c = converter_open(&o);
	for (;;) {
		struct framing_in in = { .p = p + at, .n = len - at, .eof = true,
					 .offset = at, .err = &err };
		struct frecord rec;
		ptrdiff_t took = framing_next(r, &in, &rec);

		if (took < 0 || (!took && rec.what == FRECORD_NOTHING))
			break;
		at += took;
		if (rec.what == FRECORD_ITEM)
			convert(c, &rec);
	}
	framing_reader_close(r);
	converter_close(c);
	return 0;
}
