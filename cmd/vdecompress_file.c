/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdecompress_file.c - one input through vdecompress
 *
 * As vcompress_file.c, with one difference: the output is opened before it is
 * known whether the input is any good, so everything that fails later removes
 * it again.  On standard output nothing can be taken back; there all that came
 * before the damage was right and went out.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vdecompress.h"

struct run {
	const char *path;
	struct input in;
	struct feed feed;
	struct output out;
	struct output_options how;
	struct sink sink;
	struct unpack unpack;
	struct listing list;
	struct filter_error err;
	char *output;		/* the output file's name, or NULL */
	double started;
};

static bool no_output(void)
{
	return unpack_options.test || unpack_options.list;
}

/* Does the output get its name from the input? */
static bool to_file(void)
{
	return !no_output() && !unpack_options.to_stdout && !unpack_options.out;
}

static bool open_input(struct run *r, bool found)
{
	bool strict = to_file() && !unpack_options.force;
	/* A FIFO that will be skipped must not keep us waiting for its writer. */
	int follow = found || strict ? O_NOFOLLOW : 0;
	int wait = to_file() && strcmp(r->path, "-") ? O_NONBLOCK : 0;
	int err = input_open(&r->in, r->path, follow | wait);

	if (err == -EISDIR && strcmp(r->path, "-"))
		say_warning(r->path, "is a folder, skipped; -r takes what is below");
	else if (err == -ELOOP && follow)
		say_warning(r->path, "is a symbolic link, skipped; -f follows it");
	else if (err)
		say_errno(r->path, "can't open", -err);
	if (err)
		return false;
	if (to_file() && r->in.path && !r->in.regular) {
		say_warning(r->path, "is not a regular file, skipped; -c or -o takes it");
		input_close(&r->in);
		return false;
	}
	if (input_is_terminal(&r->in) && !unpack_options.force) {
		say_error(r->in.name, "packed data not read from a terminal without -f");
		input_close(&r->in);
		return false;
	}
	return true;
}

/* The output's name into r->output; NULL = standard output. */
static bool output_name(struct run *r, bool found)
{
	if (unpack_options.out && strcmp(unpack_options.out, "-")) {
		r->output = strdup(unpack_options.out);
	} else if (to_file() && r->in.path) {
		r->output = name_unpacked(r->path);
		if (!r->output && found)
			say_note(r->path, "no packed file's suffix, skipped");
		else if (!r->output)
			say_error(r->path, "no known suffix; -o or -c says where to");
		return r->output;
	}
	return true;
}

static bool open_output(struct run *r, bool found)
{
	if (no_output()) {
		output_discard(&r->out);
		return true;
	}
	if (!output_name(r, found))
		return false;
	r->how = (struct output_options){
		.force = unpack_options.force,
		.sync = unpack_options.sync && unpack_options.remove,
		.sparse = (enum sparse)unpack_options.sparse,
		.source = &r->in,
		.ask = r->in.path && !unpack_options.stdin_is_list,
	};
	return !output_open(&r->out, r->output, &r->how);
}

static void on_member(void *ctx, const struct member *m)
{
	struct run *r = ctx;

	listing_add(&r->list, m);
}

static void on_loss(void *ctx, const struct loss *l)
{
	struct run *r = ctx;

	listing_lost(&r->list, r->in.name, l);
}

static const struct filter *hint(const struct run *r)
{
	const struct filter *f = r->in.path ? filter_by_suffix(r->path) : NULL;

	return f && (f->flags & FILTER_HEADERLESS) &&
	       !(f->flags & FILTER_NEEDS_SIZE) ? f : NULL;
}

static void prepare(struct run *r)
{
	struct unpack *u = &r->unpack;
	size_t whole;
	bool small = feed_whole(&r->feed, &whole);

	*u = (struct unpack){
		.forced = unpack_options.filter, .hint = hint(r),
		.feed = &r->feed, .sink = &r->sink,
		.threads = small || unpack_options.salvage ? 1 :
			   machine_threads(common.threads),
		.asks_budget = small && !common.memory && !unpack_options.records &&
			       !records_part_wanted(&unpack_options.part),
		.trailing = (enum trailing)unpack_options.trailing,
		.pass_through = unpack_options.pass_through,
		.max_output = unpack_options.max_output,
		.max_ratio = unpack_options.max_ratio,
		.member = on_member, .lost = unpack_options.salvage ? on_loss : NULL,
		.ctx = r, .ignored_at = SIZE_UNKNOWN,
		.table_wrong = SIZE_UNKNOWN,
	};
	u->budget = u->asks_budget ? MODEST_MEMORY : machine_budget(common.memory);
	filter_params_init(&u->params);
	u->params.packed = small ? whole : SIZE_UNKNOWN;
	u->params.dict = unpack_options.dict;
	u->params.dict_len = unpack_options.dict_len;
	u->params.memory = u->budget;
	u->params.size = unpack_options.size;
	u->params.threads = u->threads;
	sink_open(&r->sink, &r->out, small ? 1 : u->threads);
	r->list.keep = unpack_options.list && (common.json || say_level > SAY_WARNINGS);
	progress_start(r->in.name, small ? whole : r->in.left == SIZE_UNKNOWN ?
		       SIZE_UNKNOWN : r->in.left + whole);
}

/* Is it a zstd file, though none that can be read at a place? */
static bool unseekable(const struct run *r)
{
	const uint8_t *data;
	size_t n = feed_first(&r->feed, &data);

	return r->in.regular && filter_detect(data, n) == filter_by_name("zstd");
}

static int decode(struct run *r, struct filter_error *err)
{
	if (unpack_options.part.range && seek_read_suits(&r->in))
		return seek_read(&r->in, unpack_options.part.range,
				 &r->unpack.params, &r->sink, err);
	if (unpack_options.part.range && unseekable(r))
		return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN, "no seek table ends"
				   " the file; vcompress --seekable writes one");
	if (records_part_wanted(&unpack_options.part))
		return records_read(&r->in, &unpack_options.part, r->unpack.budget,
				    &r->sink, err);
	if (unpack_options.records)
		return records_unpack(&r->unpack, unpack_options.records, err);
	return unpack_run(&r->unpack, err);
}

static void run(struct run *r)
{
	struct filter_error *err = &r->err;
	int code = decode(r, err), late;

	if (sink_close(&r->sink) && !code)
		code = sink_failure(&r->sink, err);
	late = output_close(&r->out, &r->how, !code);
	if (late && !code)
		filter_fail(err, CMD_E_WRITE, (uint64_t)-late, "can't finish the output");
	progress_stop();
}

static const char *action(void)
{
	return unpack_options.list ? "list" : unpack_options.test ? "test" : "unpack";
}

/* Where the unpacked bytes don't go: the same for every outcome of a file. */
static FILE *json_stream(const struct run *r)
{
	const char *to = unpack_options.out ? unpack_options.out : r->path;

	if (no_output())
		return stdout;
	return unpack_options.to_stdout || !strcmp(to, "-") ? stderr : stdout;
}

static void report_json(const struct run *r)
{
	struct json j;

	json_begin(&j, json_stream(r));
	json_text(&j, "file", r->in.name);
	json_text(&j, "output", r->err.code ? NULL : r->output);
	json_text(&j, "action", action());
	listing_json(&r->list, &j);
	json_number(&j, "written", r->sink.total);
	json_bool(&j, "passed_through", r->unpack.passed);
	json_real(&j, "seconds", clock_seconds() - r->started, 6);
	json_bool(&j, "ok", !r->err.code && !r->list.losses);
	json_error(&j, &r->err);
	json_end(&j);
}

static void report(const struct run *r)
{
	char a[16], b[16];

	if (r->err.code)
		say_failure(r->in.name, &r->err);
	else if (r->unpack.ignored_at != SIZE_UNKNOWN)
		say_warning(r->in.name, "bytes behind the end ignored (offset %llu)",
			    (unsigned long long)r->unpack.ignored_at);
	else if (r->unpack.table_wrong != SIZE_UNKNOWN && no_output())
		say_warning(r->in.name, "the seek table doesn't match the frames in"
			    " front of it (offset %llu)",
			    (unsigned long long)r->unpack.table_wrong);
	if (r->list.losses)
		say_error(r->in.name, "%llu bytes of the input lost in %llu places",
			  (unsigned long long)r->list.lost_bytes,
			  (unsigned long long)r->list.losses);
	if (common.json)
		report_json(r);
	else if (unpack_options.list && !r->err.code)
		listing_print(&r->list, r->in.name);
	else if (!r->err.code && say_level >= SAY_NOTES)
		say_note(r->in.name, "%s -> %s (%s)", format_size(a, r->list.packed),
			 format_size(b, r->sink.total),
			 r->unpack.passed ? "passed through" : r->list.formats);
}

static void remove_source(const struct run *r)
{
	if (unpack_options.remove && !r->err.code && !r->list.losses && r->in.path && r->output)
		input_delete(&r->in);
}

void unpack_file(const char *path, bool found)
{
	struct run r = { .path = path, .started = clock_seconds() };
	bool begun = false;
	int err;

	if (!open_input(&r, found)) {
		if (common.json)
			json_not_begun(json_stream(&r), path, action());
		return;
	}
	err = feed_open(&r.feed, &r.in, common.threads == 1 ? 1 : 2, -1, true);
	if (err) {
		say_errno(r.in.name, "can't read", -err);
	} else if ((begun = open_output(&r, found))) {
		prepare(&r);
		run(&r);
		report(&r);
		remove_source(&r);
	}
	if (!begun && common.json)
		json_not_begun(json_stream(&r), r.in.name, action());
	listing_free(&r.list);
	free(r.output);
	feed_close(&r.feed);
	input_close(&r.in);
}
