// SPDX-License-Identifier: Apache-2.0
/* vconvert_report.c - totals of a conversion, for people and machines */
#include <string.h>

#include "vconvert.h"

static const char *const encodings[] = {
	"raw", "lz4", "lzvolt", "zstd", "brotli", "deflate",
};
#define ENCODINGS (sizeof(encodings) / sizeof(*encodings))

const char *encoding_name(unsigned encoding)
{
	return encoding < ENCODINGS ? encodings[encoding] : "unknown";
}

/* A key as text; bytes that can't be said end it. */
static void json_key(struct json *j, const struct lzv_item *it)
{
	char key[256];
	size_t n = it->key_size < sizeof(key) - 1 ? it->key_size : sizeof(key) - 1;

	if (!it->has_key)
		return;
	memcpy(key, it->key, n);
	key[n] = '\0';
	json_text(j, "key", key);
}

void report_record(const struct convert_run *r, const struct frecord *in,
		   const struct frecord *out, const char *outcome,
		   const char *reason)
{
	struct json j;

	json_begin(&j, r->records_to);
	json_number(&j, "offset", in->offset);
	json_key(&j, &in->it);
	json_text(&j, "from", encoding_name(in->it.encoding));
	json_text(&j, "to", encoding_name(out->it.encoding));
	json_text(&j, "outcome", outcome);
	json_number(&j, "raw", out->sized ? out->it.raw_size : SIZE_UNKNOWN);
	json_number(&j, "in", in->it.body_size);
	json_number(&j, "out", out->it.body_size);
	if (reason)
		json_text(&j, "reason", reason);
	json_end(&j);
}

static void json_encodings(struct json *j, const char *key, const uint64_t *n)
{
	json_open(j, key, '{');
	for (unsigned i = 0; i < ENCODINGS; i++)
		if (n[i])
			json_number(j, encodings[i], n[i]);
	json_close(j, '}');
}

/* Raw bytes a second of one core; NaN where nothing was measured. */
static double speed(uint64_t raw, uint64_t ns)
{
	return ns ? (double)raw * 1e9 / (double)ns : 0.0 / 0.0;
}

void report_totals(const struct convert_run *r, const struct filter_error *err,
		   double seconds, FILE *to)
{
	const struct convert_totals *t = &r->total;
	struct json j;

	json_begin(&j, to);
	json_text(&j, "file", r->name);
	json_text(&j, "action", "convert");
	json_bool(&j, "dry_run", r->timed);
	if (r->resume)
		json_number(&j, "records_before", r->resume->done.records);
	json_number(&j, "records", t->records);
	json_number(&j, "notes", t->notes);
	json_number(&j, "notes_dropped", t->notes_dropped);
	json_number(&j, "raw", t->raw);
	json_number(&j, "payload_in", t->in);
	json_number(&j, "payload_out", t->out);
	json_number(&j, "bytes_in", r->in_bytes);
	json_number(&j, "bytes_out", r->out_bytes);
	json_encodings(&j, "from", t->came);
	json_encodings(&j, "to", t->left);
	json_number(&j, "converted", t->outcome[CONVERT_DONE]);
	json_number(&j, "carried", t->outcome[CONVERT_CARRIED]);
	json_number(&j, "became_raw", t->outcome[CONVERT_TO_RAW]);
	json_number(&j, "kept", t->outcome[CONVERT_KEPT]);
	json_number(&j, "failed", t->failed);
	json_number(&j, "skipped", t->skipped);
	json_real(&j, "seconds", seconds, 6);
	if (r->timed) {
		json_real(&j, "forward_bytes_per_second", speed(t->raw, t->forward_ns), 0);
		json_real(&j, "back_bytes_per_second", speed(t->raw, t->back_ns), 0);
	}
	json_bool(&j, "ok", !err->code && !t->failed);
	json_error(&j, err);
	json_end(&j);
}

/* How long a terabyte of decoded bytes would take one core. */
static void say_time(const struct convert_run *r, const char *way, uint64_t ns)
{
	double hours = r->total.raw ? (double)ns / (double)r->total.raw * 1e12 /
				      3600e9 : 0;

	if (ns)
		fprintf(stderr, "%s: %.0f MB/s a core, %.2f core hours a terabyte\n",
			way, speed(r->total.raw, ns) / 1e6, hours);
}

static void say_encodings(const char *what, const uint64_t *n)
{
	fprintf(stderr, "%s:", what);
	for (unsigned i = 0; i < ENCODINGS; i++)
		if (n[i])
			fprintf(stderr, " %llu %s", (unsigned long long)n[i],
				encodings[i]);
	fputc('\n', stderr);
}

void report_people(const struct convert_run *r, double seconds)
{
	const struct convert_totals *t = &r->total;
	char raw[16], in[16], out[16];

	fprintf(stderr, "%s: %llu records, %s raw, %s -> %s (%+.1f %%), %.2f s\n",
		r->name, (unsigned long long)t->records, format_size(raw, t->raw),
		format_size(in, t->in), format_size(out, t->out),
		t->in ? 100.0 * (double)t->out / (double)t->in - 100 : 0.0, seconds);
	if (r->resume && r->resume->done.records)
		fprintf(stderr, "  behind %llu of an earlier run, which aren't counted here\n",
			(unsigned long long)r->resume->done.records);
	say_encodings("  came as", t->came);
	say_encodings("  are now", t->left);
	if (t->outcome[CONVERT_KEPT])
		fprintf(stderr, "  kept as they were, no way to convert: %llu\n",
			(unsigned long long)t->outcome[CONVERT_KEPT]);
	if (t->failed)
		fprintf(stderr, "  failed: %llu (%llu left out)\n",
			(unsigned long long)t->failed, (unsigned long long)t->skipped);
	say_time(r, "  forward", t->forward_ns);
	say_time(r, "  back", t->back_ns);
}
