// SPDX-License-Identifier: Apache-2.0
/* records.c - --records=FRAMING: vconvert's pipeline with the two ends fixed */
#include "records.h"
#include "vconvert.h"

static const char *framing_of(struct framing *f, const char *text)
{
	const char *wrong = framing_parse(f, text);

	if (wrong)
		return wrong;
	if (f->kind >= FRAMING_LZV || f->flag)
		return "vconvert takes containers and records with a flag";
	if (f->encoding == FRAMING_NO_ENCODING)
		f->encoding = LZV_RAW;
	if (f->encoding != LZV_RAW)
		return "vconvert takes records that are packed already";
	return NULL;
}

void records_check(const char *framing)
{
	struct framing f;
	const char *wrong = framing_of(&f, framing);

	if (wrong)
		die("--records=%s: %s", framing, wrong);
}

/* A record may take a share of the memory, as in vconvert. */
static void set_limit(struct convert_run *r)
{
	r->from.limit = r->budget / (4 * (uint64_t)(r->threads + 2));
	if (r->from.limit > LZV_LZ4_MAX)
		r->from.limit = LZV_LZ4_MAX;
}

int records_pack(const struct pack *p, const char *framing,
		 struct filter_error *err)
{
	struct convert_run r = {
		.name = p->feed->in->name, .feed = p->feed, .sink = p->sink,
		.threads = p->threads, .budget = p->budget,
	};

	framing_of(&r.from, framing);
	framing_parse(&r.into, "lzv");
	set_limit(&r);
	r.convert = (struct convert_options){
		.to = LZV_LZVOLT, .recompress = true, .into = &r.into,
		.check = p->params.check != 0, .params = p->params,
	};
	return convert_run(&r, err);
}

int records_unpack(const struct unpack *u, const char *framing,
		   struct filter_error *err)
{
	struct convert_run r = {
		.name = u->feed->in->name, .feed = u->feed, .sink = u->sink,
		.threads = u->threads, .budget = u->budget,
	};

	framing_parse(&r.from, "lzv");
	framing_of(&r.into, framing);
	set_limit(&r);
	r.convert = (struct convert_options){
		.to = LZV_RAW, .into = &r.into, .verify = true,
		.params = u->params,
	};
	return convert_run(&r, err);
}
