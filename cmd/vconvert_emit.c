// SPDX-License-Identifier: Apache-2.0
/*
 * vconvert_emit.c - records through the pipeline: writing, in stream order
 *
 * The only place that writes and speaks.  A record that fails is the caller's
 * choice: stop, keep it as it was, leave it out.  A framing that breaks always
 * stops: what follows can't be cut.
 */
#include <stdlib.h>
#include <string.h>

#include "vconvert_job.h"

#define MESSAGES_MAX	20	/* failed records that are named */

static int flush(struct running *k)
{
	size_t n = k->chunk_len;

	if (!k->chunk)
		return 0;
	k->chunk = NULL;
	k->chunk_len = 0;
	return sink_put(k->r->sink, n);
}

/* Small pieces are gathered in a chunk of the sink, large ones go at once. */
static int put_out(struct running *k, const void *p, size_t n)
{
	k->r->out_bytes += n;
	if (!n)
		return 0;
	if (n > CHUNK_SIZE / 4)
		return flush(k) ? -1 : sink_write(k->r->sink, p, n);
	if (k->chunk && n > CHUNK_SIZE - k->chunk_len && flush(k))
		return -1;
	if (!k->chunk)
		k->chunk = sink_room(k->r->sink);
	if (!k->chunk)
		return -1;
	memcpy(k->chunk + k->chunk_len, p, n);
	k->chunk_len += n;
	return 0;
}

/* What the framing writes; for cpio and zip it is tar, and made into them here. */
static int put(struct running *k, const void *p, size_t n)
{
	const uint8_t *made;

	if (!k->make)
		return put_out(k, p, n);
	if (archive_make_put(k->make, p, n, &k->make_error))
		return -1;
	made = archive_make_take(k->make, &n);
	return put_out(k, made, n);
}

/* The end of a cpio or zip. */
static int put_end(struct running *k)
{
	const uint8_t *made;
	size_t n;

	if (!k->make)
		return 0;
	if (archive_make_end(k->make, &k->make_error))
		return -1;
	made = archive_make_take(k->make, &n);
	return put_out(k, made, n);
}

static int write_failed(struct running *k, struct filter_error *err)
{
	if (k->make_error.code) {
		*err = k->make_error;
		return err->code;
	}
	return sink_failure(k->r->sink, err);
}

/* Room for what a framing writes around a record or as a note. */
static bool note_room(struct running *k, size_t n, struct framing_out *out)
{
	if (n > k->note_cap) {
		free(k->note);
		k->note = malloc(n);
		k->note_cap = k->note ? n : 0;
	}
	out->p = k->note;
	out->n = 0;
	if (!k->note)
		filter_fail(out->err, FILTER_E_MEMORY, SIZE_UNKNOWN, "out of memory");
	return k->note;
}

static int emit_note(struct running *k, struct frecord *rec,
		     struct filter_error *err)
{
	struct framing_out out = { .err = err };
	int bad;

	k->r->total.notes++;
	if (!note_room(k, framing_room(k->writer, rec), &out))
		return err->code;
	bad = framing_note(k->writer, rec, &out);
	if (bad)
		return bad;
	if (!out.n && !out.held)
		k->r->total.notes_dropped++;
	return put(k, out.p, out.n) ? write_failed(k, err) : 0;
}

static int emit_record(struct running *k, struct frecord *rec,
		       struct filter_error *err)
{
	struct framing_out out = { .err = err };
	int bad;

	if (!note_room(k, framing_room(k->writer, rec), &out))
		return err->code;
	bad = framing_before(k->writer, rec, &out);
	if (bad)
		return bad;
	if (put(k, out.p, out.n) || put(k, rec->it.body, rec->it.body_size))
		return write_failed(k, err);
	bad = framing_after(k->writer, rec, &out);
	if (bad)
		return bad;
	return put(k, out.p, out.n) ? write_failed(k, err) : 0;
}

static const char *const outcome_names[CONVERT_OUTCOMES] = {
	[CONVERT_CARRIED] = "carried", [CONVERT_DONE] = "converted",
	[CONVERT_TO_RAW] = "raw", [CONVERT_KEPT] = "kept",
};

static void count(struct running *k, const struct frecord *in,
		  const struct result *res)
{
	struct convert_totals *t = &k->r->total;

	t->records++;
	t->raw += res->out.it.raw_size;
	t->in += in->it.body_size;
	t->out += res->out.it.body_size;
	t->came[in->it.encoding & 15]++;
	t->left[res->out.it.encoding & 15]++;
	t->outcome[res->outcome]++;
	if (k->r->records_to)
		report_record(k->r, in, &res->out, outcome_names[res->outcome], NULL);
}

/* What is done with a record that failed: 0 = go on, or the error. */
static int emit_failed(struct running *k, struct frecord *rec,
		       const struct filter_error *why, struct filter_error *err)
{
	struct convert_totals *t = &k->r->total;

	if (vconvert_options.on_error == ON_ERROR_STOP) {
		filter_fail(err, why->code, why->offset, "record %llu: %s",
			    (unsigned long long)k->number, why->what);
		return err->code;
	}
	t->failed++;
	if (t->failed <= MESSAGES_MAX)
		say_error(k->r->name, "record %llu: %s (offset %llu)",
			  (unsigned long long)k->number, why->what,
			  (unsigned long long)why->offset);
	else
		say_raise(STATUS_ERROR);
	if (k->r->records_to)
		report_record(k->r, rec, rec, "failed", why->what);
	if (vconvert_options.on_error == ON_ERROR_SKIP) {
		t->skipped++;
		return 0;
	}
	t->kept_bad++;
	if (!rec->sized && k->r->into.kind == FRAMING_LZV)
		return filter_fail(err, why->code, why->offset,
				   "record %llu: %s, and without a decoded size it can't be kept",
				   (unsigned long long)k->number, why->what);
	return emit_record(k, rec, err);
}

static int emit_one(struct running *k, struct convert_job *j, size_t i,
		    struct filter_error *err)
{
	static const struct filter_error unknown = { .code = FILTER_E_MEMORY,
		.offset = SIZE_UNKNOWN, .what = "out of memory" };
	struct result *res = &j->res[i];
	int bad;

	if (k->r->resume && j->first + i < k->r->resume->done.events) {
		k->number += j->rec[i].what == FRECORD_ITEM;
		return 0;
	}
	if (j->rec[i].what == FRECORD_NOTE)
		return emit_note(k, &j->rec[i], err);
	if (res->at != NOWHERE)
		res->out.it.body = j->out + res->at;
	if (res->outcome < 0) {
		bad = emit_failed(k, &j->rec[i], res->err ? res->err : &unknown, err);
	} else {
		bad = emit_record(k, &res->out, err);
		if (!bad)
			count(k, &j->rec[i], res);
	}
	k->number++;
	return bad;
}

static int emit_end(struct running *k, struct filter_error *err)
{
	struct framing_out out = { .err = err };
	int bad;

	if (!note_room(k, framing_end_room(k->writer), &out))
		return err->code;
	bad = framing_end(k->writer, &out);
	if (bad)
		return bad;
	return put(k, out.p, out.n) || put_end(k) || flush(k) ?
	       write_failed(k, err) : 0;
}

/* What an earlier run did isn't noted again. */
static int emit_checkpoint(struct running *k, const struct convert_job *j,
			   struct filter_error *err)
{
	struct resume *s = k->r->resume;
	struct progress now = { .events = j->first + j->count };
	int bad;

	if (now.events <= s->done.events)
		return 0;
	if (flush(k))
		return write_failed(k, err);
	now.records = k->number;
	now.failed = k->r->total.failed;
	now.bytes = k->r->out_bytes;
	bad = resume_note(s, &now);
	return bad ? filter_fail(err, CMD_E_WRITE, (uint64_t)-bad,
				 "can't write the journal") : 0;
}

void convert_emit(void *ctx, struct job *job)
{
	struct convert_job *j = (struct convert_job *)job;
	struct running *k = ctx;
	struct filter_error err;
	int bad = 0;

	for (size_t i = 0; i < j->count; i++) {
		if (!bad)
			bad = emit_one(k, j, i, &err);
		free(j->res[i].err);
		j->res[i].err = NULL;
	}
	k->r->total.forward_ns += j->forward_ns;
	k->r->total.back_ns += j->back_ns;
	k->r->in_bytes = j->read;
	if (!bad && k->r->resume)
		bad = emit_checkpoint(k, j, &err);
	if (bad)
		job->err = err;
	else if (!job->err.code && job->last && emit_end(k, &err))
		job->err = err;
	if (job->err.code)
		flush(k);
	progress_tick(k->r->in_bytes, k->r->out_bytes);
}

/* The writer learns from an earlier run's output where it is. */
static int begin_again(struct running *k, struct filter_error *err)
{
	struct resume *s = k->r->resume;
	const uint8_t *p = resume_map(s);
	int bad;

	if (!p)
		return filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN,
				   "can't map the unfinished output");
	bad = framing_resume(k->writer, p, s->done.bytes, s->done.records, err);
	resume_unmap(s, p);
	k->r->out_bytes = s->done.bytes;
	k->r->total.failed = s->done.failed;
	return bad;
}

int convert_begin(struct running *k, struct filter_error *err)
{
	struct framing_out out = { .err = err };
	int bad;

	if (k->r->resume && k->r->resume->done.bytes)
		return begin_again(k, err);
	if (!note_room(k, framing_room(k->writer, NULL), &out))
		return err->code;
	bad = framing_begin(k->writer, &out);
	if (bad)
		return bad;
	return put(k, out.p, out.n) ? write_failed(k, err) : 0;
}
