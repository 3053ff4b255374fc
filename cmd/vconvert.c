// SPDX-License-Identifier: Apache-2.0
/*
 * vconvert.c - stored records from one encoding to another, and back
 *
 * The rules are enforced here, before a byte is written: nothing is guessed
 * (a framing with neither a flag nor a word for all records is refused), and
 * a target without a place for a flag takes lzvolt values only if the caller
 * says that all of them are.  A file is replaced only by its whole successor.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "archive_tar.h"
#include "lzvolt.h"
#include "vconvert.h"

struct vconvert_options vconvert_options = {
	.to = -1, .mode = -1, .assume = -1, .verify = 1, .check = 1, .sync = 1,
	.level = LEVEL_DEFAULT,
	.favor = 2,		/* what is stored is to be small */
};
static struct vconvert_options *const vo = &vconvert_options;

static const char *const encodings[] = { "raw", "lz4", "lzvolt", NULL };
static const char *const modes[] = {
	[CONVERT_REPACK] = "repack", [CONVERT_RETOKEN] = "retoken",
	[CONVERT_WRAP] = "wrap", NULL,
};
static const char *const on_errors[] = {
	[ON_ERROR_STOP] = "stop", [ON_ERROR_KEEP] = "keep",
	[ON_ERROR_SKIP] = "skip", NULL,
};
static const char *const favors[] = { "speed", "balance", "size", NULL };

static void list_framings(const struct opt *o, const char *arg)
{
	const struct framing_preset *p;

	(void)o;
	(void)arg;
	for (p = framing_presets; p->name; p++)
		printf("%-12s %s\n             = %s\n", p->name, p->about, p->text);
	stdout_close();
	exit(say_status());
}

static const struct opt options[] = {
	{ OPT_GROUP, .help = "Records" },
	{ OPT_TEXT, 0, "from", &vo->from, "FRAMING",
		.help = "how records stand in the input (default: by a container's magic)" },
	{ OPT_TEXT, 0, "into", &vo->into, "FRAMING",
		.help = "how they stand in the output (default: as they came, or lzv)" },
	{ OPT_WORD, 0, "assume", &vo->assume, "ENCODING",
		.help = "what every record is, where the framing doesn't say", .words = encodings },
	{ OPT_TEXT, 0, "flag", &vo->flags, "raw=N,lz4=N,lzvolt=N",
		.help = "values of a flag:u8" },
	{ OPT_CALL, 0, "framings", .help = "list framings that have names",
		.call = list_framings },

	{ OPT_GROUP, .help = "Conversion" },
	{ OPT_WORD, 0, "to", &vo->to, "ENCODING",
		.help = "raw, lz4 or lzvolt", .words = encodings },
	{ OPT_WORD, 0, "mode", &vo->mode, "MODE",
		.help = "LZ4 to lzvolt: repack (default), retoken, wrap", .words = modes },
	{ OPT_SET, 0, "exact", &vo->exact,
		.help = "the way back must give the same LZ4 blocks", .value = 1 },
	{ OPT_SET, 0, "recompress", &vo->recompress,
		.help = "try raw and packed records again", .value = 1 },
	{ OPT_LEVEL, 0, NULL, &vo->level, .help = "level of repack (3)",
		.min = LZVOLT_LEVEL_MIN, .max = LZVOLT_LEVEL_MAX },
	{ OPT_WORD, 0, "favor", &vo->favor, "WHAT",
		.help = "speed, balance or size (default)", .words = favors },
	{ OPT_SET, 0, "no-verify", &vo->verify,
		.help = "don't read every result back", .value = 0 },
	{ OPT_SET, 0, "no-check", &vo->check,
		.help = "no checksum for each record of an .lzv stream", .value = 0 },
	{ OPT_WORD, 0, "on-error", &vo->on_error, "WHAT",
		.help = "a record that fails: stop (default), keep, skip", .words = on_errors },
	{ OPT_SET, 0, "dry-run", &vo->dry_run,
		.help = "count and time both ways, write nothing", .value = 1 },
	{ OPT_TEXT, 0, "report", &vo->report, "FILE",
		.help = "totals as JSON to FILE, or - for standard output" },
	{ OPT_SET, 0, "report-records", &vo->report_records,
		.help = "... and a line for each record", .value = 1 },
	{ OPT_TEXT, 0, "kernel", &vo->kernel, "NAME", .help = "lzvolt kernel to use" },

	{ OPT_GROUP, .help = "Files" },
	{ OPT_TEXT, 0, "resume", &vo->resume, "JOURNAL",
		.help = "go on where a killed run with this journal was; with -o" },
	{ OPT_TEXT, 0, "shard", &vo->shard, "I/N",
		.help = "the I-th of N parts of an .lzv file, without reading the rest" },
	{ OPT_TEXT, 'o', "output", &vo->out, "FILE", .help = "write to FILE" },
	{ OPT_SET, 'c', "stdout", &vo->to_stdout, .help = "write to standard output", .value = 1 },
	{ OPT_SET, 'f', "force", &vo->force, .help = "overwrite", .value = 1 },
	{ OPT_SET, 0, "no-sync", &vo->sync,
		.help = "don't wait for the disk before a file is replaced", .value = 0 },
	OPT_COMMON,
	{ .kind = OPT_END },
};

static FILE *report_to;
static unsigned shard_i, shard_n;

static void parse_framing(struct framing *f, const char *option, const char *text)
{
	const char *wrong = framing_parse(f, text);

	if (wrong)
		die("--%s=%s: %s", option, text, wrong);
	if (f->flag && !vo->flags)
		die("--%s=%s: --flag=raw=N,lz4=N,lzvolt=N has to say what the flags mean",
		    option, text);
	wrong = f->flag ? framing_parse_flags(f, vo->flags) : NULL;
	if (wrong)
		die("--flag=%s: %s", vo->flags, wrong);
}

/* LZ4 blocks may come, and their decoded size stands nowhere. */
static bool lacks_size(const struct framing *f)
{
	bool lz4 = f->encoding == LZV_LZ4 || (f->flag && f->flag_of[LZV_LZ4] >= 0);

	return (f->kind < FRAMING_LZV || framing_is_foreign(f)) && lz4 &&
	       f->size == NUMBER_NONE;
}

/* Rule 3: what a record is stands beside it, or the caller says it. */
static void settle_from(struct framing *f)
{
	bool says = (f->kind >= FRAMING_LZV && !framing_is_foreign(f)) || f->flag ||
		    f->encoding != FRAMING_NO_ENCODING;

	/* plain files, unless the caller says otherwise */
	if (framing_is_foreign(f) && !says && vo->assume < 0) {
		f->encoding = LZV_RAW;
		says = true;
	}

	if (says && vo->assume >= 0)
		die("--assume: the framing says itself what a record is");
	if (!says && vo->assume < 0)
		die("nothing says how the records are encoded, and it is never guessed "
		    "(lzvolt-migration(7), rule 3): add flag:u8, or raw, lz4 or lzvolt");
	if (!says)
		f->encoding = vo->assume;
	if (lacks_size(f))
		die("an LZ4 block doesn't say its decoded size: add size:u32le, "
		    "size:u32be, size:varint or size:max=N");
}

/* The framing of the input, by the caller's word or a container's magic. */
static bool choose_from(struct convert_run *r, const uint8_t *data, size_t n)
{
	if (vo->from) {
		parse_framing(&r->from, "from", vo->from);
	} else if (r->part) {
		framing_parse(&r->from, "lzv");
	} else if (!framing_detect(&r->from, data, n)) {
		say_error(r->name, "neither an .lzv stream nor an LZ4 container; "
			  "--from says how its records stand");
		return false;
	}
	settle_from(&r->from);
	if (framing_is_foreign(&r->from) && archive_tar_missing())
		die("--from=%s: %s", vo->from, archive_tar_missing());
	return true;
}

static void choose_into(struct convert_run *r)
{
	struct framing *f = &r->into;

	if (vo->into)
		parse_framing(f, "into", vo->into);
	else if (framing_has_flag(&r->from) || framing_is_foreign(&r->from))
		*f = r->from;
	else
		framing_parse(f, "lzv");
	if (framing_is_foreign(f) && f->encoding == FRAMING_NO_ENCODING)
		f->encoding = LZV_RAW;
	if (framing_is_foreign(f) && archive_tar_missing())
		die("--into=%s: %s", vo->into, archive_tar_missing());
	if (framing_takes(f, (unsigned)vo->to) && !lacks_size(f))
		return;
	if (lacks_size(f))
		die("the target has no place for an LZ4 block's decoded size");
	if (f->flag)
		die("--flag gives %s records no value", encodings[vo->to]);
	die("the target has no place that says a record is %s (lzvolt-migration(7), "
	    "rule 3): take one with a flag, such as lzv, or say that all are: "
	    "--into=...,%s", encodings[vo->to], encodings[vo->to]);
}

static void check_options(int operands)
{
	if (vo->to < 0)
		die("--to=lzvolt, --to=lz4 or --to=raw says what to convert to");
	if (vo->to != LZV_LZVOLT && (vo->mode >= 0 || vo->exact))
		die("--mode and --exact are for --to=lzvolt");
	if (vo->out && operands > 1)
		die("-o takes one input");
	if (vo->out && vo->to_stdout)
		die("-o and -c exclude each other");
	if (vo->dry_run && (vo->out || vo->to_stdout))
		die("--dry-run writes no output");
	if (vo->resume && (!vo->out || operands != 1 || !strcmp(vo->out, "-")))
		die("--resume takes one FILE and -o OUT");
	if (vo->shard && !shard_parse(vo->shard, &shard_i, &shard_n))
		die("--shard=%s: it is I/N, from 1/N to N/N", vo->shard);
	if (vo->shard && !vo->out && !vo->to_stdout && !vo->dry_run)
		die("--shard: -o or -c says where the part goes");
	if (vo->report && !strcmp(vo->report, "-") && !vo->dry_run &&
	    (vo->to_stdout || (vo->out ? !strcmp(vo->out, "-") : !operands)))
		die("--report=-: standard output has the records already");
	if (vo->report_records && !vo->report)
		die("--report-records goes with --report=FILE");
	use_kernel(vo->kernel);
}

static void settle_run(struct convert_run *r)
{
	struct convert_options *c = &r->convert;
	uint64_t jobs;

	r->threads = machine_threads(common.threads);
	r->budget = machine_budget(common.memory);
	/* a job has two buffers, a worker two more, and both may be growing */
	jobs = (uint64_t)r->threads * 2 + 4;
	r->from.limit = r->budget / (2 * jobs);
	if (r->from.limit > LZV_LZ4_MAX)
		r->from.limit = LZV_LZ4_MAX;
	c->to = (unsigned)vo->to;
	c->mode = vo->mode >= 0 ? (enum convert_mode)vo->mode :
		  vo->exact ? CONVERT_RETOKEN : CONVERT_REPACK;
	c->exact = vo->exact;
	c->recompress = vo->recompress;
	c->verify = vo->verify;
	c->check = r->into.kind == FRAMING_LZV && vo->check;
	c->sum = r->into.kind == FRAMING_LZ4_JAVA;
	c->into = &r->into;
	filter_params_init(&c->params);
	c->params.level = vo->level;
	c->params.favor = vo->favor - 1;
	r->timed = vo->dry_run;
	r->records_to = vo->report_records ? report_to : NULL;
}

struct file {
	struct input in;
	struct feed feed;
	struct output out;
	struct output_options how;
	struct sink sink;
	struct resume resume;
};

/* Where the result goes: nowhere, -o, standard output, the input's place. */
static bool open_output(struct file *f, struct convert_run *r)
{
	const char *path = vo->out;

	if (vo->dry_run) {
		output_discard(&f->out);
		return true;
	}
	if (!path && f->in.path && !vo->to_stdout) {
		path = f->in.path;
		f->how.in_place = true;
	}
	if (f->how.in_place && !f->in.regular) {
		say_error(f->in.name, "is not a regular file; -o or -c says where to");
		return false;
	}
	f->how.sync = vo->sync;
	f->how.source = &f->in;
	if (vo->resume) {
		if (!framing_can_resume(&r->into))
			die("--resume can't go on in the middle of this target; .lzv can");
		r->resume = &f->resume;
		f->resume.journal_path = vo->resume;
		return resume_open(&f->resume, path, &f->in, &f->out);
	}
	f->how.force = vo->force || f->how.in_place;
	f->how.ask = f->in.path != NULL;
	return !output_open(&f->out, path, &f->how);
}

static void report(struct convert_run *r, const struct filter_error *err,
		   double seconds)
{
	if (err->code)
		say_failure(r->name, err);
	else if (r->total.failed)
		say_error(r->name, "%llu of %llu records failed",
			  (unsigned long long)r->total.failed,
			  (unsigned long long)(r->total.records + r->total.failed));
	if (report_to)
		report_totals(r, err, seconds, report_to);
	if (common.json && report_to != stdout)
		report_totals(r, err, seconds, vo->dry_run || vo->out ? stdout : stderr);
	else if (vo->dry_run || say_level > SAY_WARNINGS)
		report_people(r, seconds);
}

static void convert_and_close(struct file *f, struct convert_run *r,
			      struct filter_error *err)
{
	int code, late;

	sink_open(&f->sink, &f->out, r->threads);
	r->feed = &f->feed;
	r->sink = &f->sink;
	progress_start(r->name, f->in.left == SIZE_UNKNOWN ? SIZE_UNKNOWN :
		       (uint64_t)f->in.st.st_size);
	code = convert_run(r, err);
	if (sink_close(&f->sink) && !code)
		code = sink_failure(&f->sink, err);
	if (r->resume) {
		if (code && !err->code)
			err->code = code;
		resume_close(r->resume, &f->out, &f->how, err);
		progress_stop();
		return;
	}
	/* A file is replaced only if all of its records got through. */
	late = output_close(&f->out, &f->how,
			    !code && !(f->how.in_place && r->total.failed));
	if (late && !code)
		filter_fail(err, CMD_E_WRITE, (uint64_t)-late, "can't finish the output");
	progress_stop();
}

static void convert_file(const char *path)
{
	struct filter_error err = { 0 };
	struct convert_run r = { 0 };
	struct file f = { 0 };
	struct lzv_part part;
	double start = clock_seconds();
	const uint8_t *data;
	int bad = input_open(&f.in, path, 0);
	size_t n;

	if (bad) {
		say_errno(path, "can't open", -bad);
		return;
	}
	r.name = f.in.name;
	if (shard_n && !shard_open(&r, &f.in, shard_i, shard_n, &part)) {
		input_close(&f.in);
		return;
	}
	bad = feed_open(&f.feed, &f.in, common.threads == 1 ? 1 : 2, -1, true);
	if (bad) {
		say_errno(r.name, "can't read", -bad);
	} else {
		n = feed_first(&f.feed, &data);
		if (choose_from(&r, data, n)) {
			choose_into(&r);
			settle_run(&r);
			if (open_output(&f, &r)) {
				convert_and_close(&f, &r, &err);
				report(&r, &err, clock_seconds() - start);
			}
		}
	}
	feed_close(&f.feed);
	input_close(&f.in);
}

static void open_report(void)
{
	if (!vo->report)
		return;
	report_to = strcmp(vo->report, "-") ? fopen(vo->report, "w") : stdout;
	if (!report_to)
		die("%s: can't write: %s", vo->report, strerror(errno));
}

static void close_report(void)
{
	bool bad;

	if (report_to == stdout)
		stdout_close();
	if (!report_to || report_to == stdout)
		return;
	errno = 0;
	bad = ferror(report_to);
	if (fclose(report_to) || bad)
		say_errno(vo->report, "can't write", errno ? errno : EIO);
}

static int vconvert_main(int argc, char **argv)
{
	int n;

	common_from_environment();
	n = opt_parse(&vconvert_applet, argc, argv);
	check_options(n);
	open_report();
	if (!n)
		convert_file("-");
	for (int i = 0; i < n; i++)
		convert_file(argv[i]);
	close_report();
	return say_status();
}

const struct applet vconvert_applet = {
	.name = "vconvert",
	.main = vconvert_main,
	.options = options,
	.usage = "--to=ENCODING [OPTION]... [FILE]...",
	.about = "Convert stored records between raw, LZ4 and lzvolt: "
		 "standard input to standard output, or each FILE in its place.",
	.more = "A framing is a list, such as len:u32le,flag:u8,size:u32le; "
		"vconvert(1) has them\n"
		"all. Status: 0 done, 1 error or a record failed, 2 warning.\n",
};
