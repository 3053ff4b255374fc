/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vcompress_file.c - one input through vcompress
 *
 * The order of steps: look at the input and refuse what can be refused before
 * an output exists; open the output; pack; close the sink; decode back if
 * asked; only then give the output its name; only then delete the source.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "records.h"
#include "vcompress.h"

/* What a sample of a file for --refuse reads. */
#define SAMPLE_SIZE ((size_t)64 << 10)

/* Of all files: what one leaves to the next. */
static struct pack_kept kept;

struct run {
	const char *path;
	struct input in;
	struct feed feed;
	struct output out;
	struct output_options how;
	struct sink sink;
	struct pack pack;
	struct pack_result result;
};

void pack_report(const struct pack_result *r, FILE *to)
{
	struct json j;

	json_begin(&j, to);
	json_text(&j, "file", r->file);
	json_text(&j, "output", r->stored ? r->output : NULL);
	json_text(&j, "action", "pack");
	json_text(&j, "format", r->format);
	json_signed(&j, "level", r->level);
	json_number(&j, "raw", r->raw);
	json_number(&j, "packed", r->packed);
	json_real(&j, "ratio", r->packed ? (double)r->raw / (double)r->packed : 0, 4);
	json_real(&j, "seconds", r->seconds, 6);
	json_bool(&j, "ok", !r->err.code);
	json_error(&j, &r->err);
	json_end(&j);
}

/* Where the packed bytes don't go: the same for every outcome of a file. */
static FILE *json_stream(const char *path)
{
	const char *to = pack_options.out ? pack_options.out : path;

	return pack_options.to_stdout || !strcmp(to, "-") ? stderr : stdout;
}

/* Is what stands at a place of the file incompressible? */
static bool sample_refused(const struct input *in, uint64_t at)
{
	uint8_t *buf = malloc(SAMPLE_SIZE);
	ssize_t n = buf ? pread(in->fd, buf, SAMPLE_SIZE, (off_t)at) : -1;
	bool refused = n > 0 && probe_incompressible(buf, (size_t)n);

	free(buf);
	return refused;
}

/* Head, middle and end of a file, the first chunk of a pipe. */
static bool not_worth(const struct run *r)
{
	const uint8_t *data;
	size_t n = feed_first(&r->feed, &data), whole;
	uint64_t size = (uint64_t)r->in.st.st_size;

	if (!probe_incompressible(data, n))
		return false;
	if (!r->in.regular || feed_whole(&r->feed, &whole))
		return true;
	return sample_refused(&r->in, size / 2) &&
	       sample_refused(&r->in, size - SAMPLE_SIZE);
}

static bool open_input(struct run *r, bool found)
{
	bool to_file = !pack_options.to_stdout && !pack_options.out;
	/* A FIFO that will be skipped must not keep us waiting for its writer. */
	int follow = found || (to_file && !pack_options.force) ? O_NOFOLLOW : 0;
	int wait = to_file && strcmp(r->path, "-") ? O_NONBLOCK : 0;
	int err;

	if (strcmp(r->path, "-") && to_file && !pack_options.force &&
	    filter_by_suffix(r->path)) {
		say_warning(r->path, "already has a packed file's suffix, skipped");
		return false;
	}
	err = input_open(&r->in, r->path, follow | wait);
	if (err == -EISDIR && strcmp(r->path, "-"))
		say_warning(r->path, "is a folder, skipped; -r takes what is below");
	else if (err == -ELOOP && follow)
		say_warning(r->path, "is a symbolic link, skipped; -f follows it");
	else if (err)
		say_errno(r->path, "can't open", -err);
	if (err)
		return false;
	if (to_file && r->in.path && !r->in.regular) {
		say_warning(r->path, "is not a regular file, skipped; -c or -o takes it");
		input_close(&r->in);
		return false;
	}
	return true;
}

/* The output's name, malloc'ed; NULL = standard output. */
static bool output_name(const struct run *r, char **name)
{
	*name = NULL;
	if (pack_options.out)
		*name = strdup(pack_options.out);
	else if (r->in.path && !pack_options.to_stdout) {
		*name = name_packed(r->path, pack_options.filter);
		if (!*name) {
			say_error(r->path, "%s has no suffix; -o or -c says where to",
				  pack_options.filter->name);
			return false;
		}
	}
	if ((!*name || !strcmp(*name, "-")) && stdout_is_terminal() && !pack_options.force) {
		say_error(NULL, "packed data not written to a terminal without -f");
		free(*name);
		return false;
	}
	return true;
}

static bool open_output(struct run *r)
{
	char *name;
	bool done;

	if (!output_name(r, &name))
		return false;
	r->how = (struct output_options){
		.force = pack_options.force,
		.sync = pack_options.sync && pack_options.remove,
		.sparse = SPARSE_NEVER,
		.source = &r->in,
		.ask = r->in.path && !pack_options.stdin_is_list,
	};
	done = !output_open(&r->out, name, &r->how);
	free(name);
	if (done && pack_options.verify && !r->out.tmp) {
		say_error(r->in.name, "--verify needs an output file");
		output_close(&r->out, &r->how, false);
		done = false;
	}
	return done;
}

static void prepare(struct run *r)
{
	struct pack *p = &r->pack;
	size_t whole;
	bool small = feed_whole(&r->feed, &whole);

	p->filter = kept.filter = pack_options.filter;
	p->kept = &kept;
	pack_params(p->filter, &p->params);
	/* What fits into a first chunk needs no look at the machine. */
	if (!small)
		p->params.memory = machine_budget(common.memory);
	p->threads = small ? 1 : machine_threads(common.threads);
	p->params.threads = p->threads;
	p->params.size = small ? whole : r->in.left == SIZE_UNKNOWN ?
			 SIZE_UNKNOWN : r->in.left + whole;
	p->feed = &r->feed;
	p->sink = &r->sink;
	p->budget = p->params.memory ? p->params.memory : UINT64_MAX;
	sink_open(&r->sink, &r->out, p->threads);
	if (pack_options.verify) {
		r->feed.digest = XXH3_createState();
		if (r->feed.digest)
			XXH3_64bits_reset(r->feed.digest);
	}
}

static int verify(struct run *r, struct filter_error *err)
{
	if (!r->out.tmp || !r->feed.digest)
		return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
				   "--verify needs an output file");
	return pack_verify(r->out.tmp, r->pack.filter, r->feed.src.offset,
			   XXH3_64bits_digest(r->feed.digest), err);
}

/* Less than an eighth saved: --refuse drops it while it still can. */
static int judge_size(struct run *r, struct filter_error *err)
{
	uint64_t raw = r->feed.src.offset;

	if (!r->out.tmp || r->out.total <= raw - raw / 8)
		return 0;
	return filter_fail(err, FILTER_E_REFUSED, SIZE_UNKNOWN,
			   "not worth packing: saves less than an eighth");
}

static void pack_and_close(struct run *r)
{
	struct filter_error *err = &r->result.err;
	int code = pack_options.records ?
		   records_pack(&r->pack, pack_options.records, err) :
		   pack_run(&r->pack, err), late;

	if (sink_close(&r->sink) && !code)
		code = sink_failure(&r->sink, err);
	if (!code && pack_options.refuse)
		code = judge_size(r, err);
	if (!code && pack_options.verify)
		code = verify(r, err);
	late = output_close(&r->out, &r->how, !code);
	if (late && !code)
		filter_fail(err, CMD_E_WRITE, (uint64_t)-late, "can't finish the output");
}

static void finish(struct run *r)
{
	struct pack_result *s = &r->result;
	char a[16], b[16];

	progress_stop();
	s->raw = r->feed.src.offset;
	s->packed = r->out.total;
	s->stored = !s->err.code;
	s->seconds = clock_seconds() - s->seconds;
	if (s->err.code)
		say_failure(r->in.name, &s->err);
	else if (say_level >= SAY_NOTES)
		say_note(r->in.name, "%s -> %s (%s %d, %.2f %%)",
			 format_size(a, s->raw), format_size(b, s->packed), s->format,
			 s->level, s->raw ? 100.0 * (double)s->packed / (double)s->raw : 0.0);
	if (common.json)
		pack_report(s, json_stream(r->path));
}

static void remove_source(const struct run *r)
{
	if (pack_options.remove && !r->result.err.code && r->in.path && r->result.output)
		input_delete(&r->in);
}

static void go(struct run *r)
{
	char *output = r->out.path ? strdup(r->out.path) : NULL;

	prepare(r);
	r->result.format = r->pack.filter->name;
	r->result.level = r->pack.params.level;
	r->result.output = output;
	progress_start(r->in.name, r->pack.params.size);
	pack_and_close(r);
	finish(r);
	remove_source(r);
	free(output);
}

/* Input and output are open. */
static void feed_and_go(struct run *r)
{
	int err = feed_open(&r->feed, &r->in, common.threads == 1 ? 1 : 2,
			    pack_options.flush_ms, false);

	if (err) {
		say_errno(r->in.name, "can't read", -err);
		output_close(&r->out, &r->how, false);
	} else if (pack_options.refuse && not_worth(r)) {
		output_close(&r->out, &r->how, false);
		filter_fail(&r->result.err, FILTER_E_REFUSED, SIZE_UNKNOWN,
			    "not worth packing");
		r->result.format = pack_options.filter->name;
		pack_params(pack_options.filter, &r->pack.params);
		r->result.level = r->pack.params.level;
		finish(r);
	} else {
		go(r);
	}
	feed_close(&r->feed);
}

void pack_files_done(void)
{
	pack_kept_close(&kept);
}

void pack_file(const char *path, bool found)
{
	/* In one place, since a kept state reads from the feed in it. */
	static struct run r;

	r = (struct run){ .path = path };

	if (!open_input(&r, found)) {
		if (common.json)
			json_not_begun(json_stream(path), path, "pack");
		return;
	}
	r.result.file = r.in.name;
	r.result.seconds = clock_seconds();
	if (open_output(&r))
		feed_and_go(&r);
	else if (common.json)
		json_not_begun(json_stream(path), r.in.name, "pack");
	input_close(&r.in);
}
