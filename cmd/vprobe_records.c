/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_records.c - records out of an input, by framing
 *
 * The whole input is in memory, so a record is a pointer into it.
 */
#include <stdlib.h>

#include "framing.h"
#include "vprobe.h"

static void record_add(struct records *r, const uint8_t *p, size_t n)
{
	if (r->count == r->cap) {
		r->cap = r->cap * 2 + 1024;
		r->at = realloc(r->at, r->cap * sizeof(*r->at));
		r->size = realloc(r->size, r->cap * sizeof(*r->size));
		if (!r->at || !r->size)
			die("no memory for %zu records", r->cap);
	}
	r->at[r->count] = p;
	r->size[r->count++] = n;
}

/* false: *err says why; records that aren't raw are an error here. */
static bool records_cut(struct records *r, const struct framing *f, struct filter_error *err)
{
	struct framing_reader *reader = framing_reader_open(f);
	struct framing_in in = { .p = r->data, .n = r->len, .eof = true, .err = err };
	struct frecord rec;
	ptrdiff_t got = 0;

	while (reader) {
		rec.what = FRECORD_NOTHING;
		got = framing_next(reader, &in, &rec);
		if (got < 0 || (!got && rec.what == FRECORD_NOTHING))
			break;
		in.p += got;
		in.n -= (size_t)got;
		in.offset += (uint64_t)got;
		if (rec.what != FRECORD_ITEM)
			continue;
		if (rec.it.encoding != LZV_RAW) {
			got = filter_fail(err, FILTER_E_OPTION, rec.offset,
					  "record %zu is packed; decode the input first",
					  r->count + 1);
			break;
		}
		record_add(r, rec.it.body, (size_t)rec.it.body_size);
	}
	framing_reader_close(reader);
	return reader && got >= 0;
}

bool records_load(struct records *r, const char *path, const char *framing)
{
	struct filter_error err = { .code = FILTER_OK };
	struct framing f;
	const char *wrong = framing_parse(&f, framing ? framing : "lines,raw");

	*r = (struct records){ .count = 0 };
	if (wrong)
		die("--records=%s: %s", framing, wrong);
	if (!load_all(path, &r->data, &r->len))
		return false;
	f.limit = r->len + 1;
	if (records_cut(r, &f, &err))
		return true;
	say_failure(path, &err);
	records_free(r);
	return false;
}

void records_free(struct records *r)
{
	free(r->data);
	free(r->at);
	free(r->size);
	*r = (struct records){ .count = 0 };
}
