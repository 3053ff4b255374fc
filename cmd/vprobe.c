/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe.c - is it worth packing, with what, and how fast really
 *
 * This file has the options and decides what happens to each input; the work
 * of each mode is in a file of its own, see vprobe.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vprobe.h"
#include "vprobe_bench.h"
#include "vprobe_blocks.h"

struct vprobe vprobe;

#define SAMPLE ((uint64_t)1 << 20)
#define ROUNDS 5

/* What to do with an input; one bit each, at most one may be asked for. */
enum mode {
	MODE_PROBE = 1, MODE_QUIET = 2, MODE_TEE = 4, MODE_CHOOSE = 8, MODE_BENCH = 16,
	MODE_TRAIN = 32, MODE_COLUMNS = 64, MODE_BLOCKS = 128,
};
static int tee, train_asked, columns, blocks_asked, bench_asked;
static unsigned mode;
static struct choose_options terms;
static struct bench_options bench = { .rounds = 0 };
/* zstd's own default; more is seldom better (zstd(1)). */
#define DICT_SIZE 112640
static struct train_options train;
static int goal = -1;

static struct blocks_options blocks;
static int width;

static const char *const goal_words[] = {
	"transport", "storage", "read-heavy", "web", "web-static", "web-dynamic", NULL
};
/* What each word stands for. */
static const unsigned goal_bits[] = {
	1u << COST_TRANSPORT, 1u << COST_STORAGE, 1u << COST_READ_HEAVY,
	1u << COST_WEB_STATIC | 1u << COST_WEB_DYNAMIC,
	1u << COST_WEB_STATIC, 1u << COST_WEB_DYNAMIC,
};

static void take_bench(const struct opt *o, const char *list)
{
	(void)o;
	bench_asked = 1;
	if (list)
		vprobe.codecs = list;
}

static const struct opt options[] = {
	{ OPT_GROUP, .help = "What to do" },
	{ OPT_SET, 'q', "quiet", &vprobe.quiet, NULL,
		"say nothing: status 0 = worth packing, 3 = not", .value = 1 },
	{ OPT_SET, 0, "tee", &tee, NULL,
		"pass standard input on while probing it", .value = 1 },
	{ OPT_WORD, 0, "for", &goal, "GOAL",
		"choose: transport, storage, read-heavy, web, web-static, web-dynamic",
		.words = goal_words },
	{ OPT_CALL, 0, "bench", NULL, "[LIST]",
		"measure codecs in memory on all of the file", .call = take_bench },
	{ OPT_SET, 0, "train", &train_asked, NULL,
		"train a zstd dictionary on a file's records", .value = 1 },
	{ OPT_SET, 0, "columns", &columns, NULL,
		"compare rows and columns of fixed-width records", .value = 1 },
	{ OPT_SET, 0, "blocks", &blocks_asked, NULL,
		"count what LZ4 and lzvolt data consist of", .value = 1 },
	{ OPT_GROUP, .help = "For a choice" },
	{ OPT_TEXT, 0, "bandwidth", &terms.bandwidth, "RATE",
		"of the link or the storage: 1Gbit, 200MB/s", .value = 0 },
	{ OPT_TEXT, 0, "rtt", &terms.rtt, "TIME", "round trip: 10ms", .value = 0 },
	{ OPT_TEXT, 0, "reads", &terms.reads, "N", "how often it is read", .value = 0 },
	{ OPT_TEXT, 0, "price", &terms.price, "LIST",
		"storage=A GB AND MONTH,cpu=AN HOUR,months=N (0.02, 0.05, 12)", .value = 0 },
	{ OPT_TEXT, 0, "write-budget", &terms.write_budget, "RATE",
		"packing must be as fast as this", .value = 0 },
	{ OPT_GROUP, .help = "For --bench" },
	{ OPT_SIZE, 0, "block", &bench.block, "SIZE", "pack blocks of this size one by one",
		.min = 64, .max = (int64_t)1 << 40 },
	{ OPT_INT, 0, "rounds", &bench.rounds, "N", "measurements of each (5)",
		.min = 3, .max = BENCH_ROUNDS_MAX },
	{ OPT_TEXT, 0, "seed", &bench.seed, "N", "order as in an earlier run", .value = 0 },
	{ OPT_SET, 0, "csv", &bench.csv, NULL, "the table as CSV", .value = 1 },
	{ OPT_SET, 0, "plot", &bench.plot, NULL, "draw ratio against speed", .value = 1 },
	{ OPT_TEXT, 0, "svg", &bench.svg, "FILE", "the same as a picture", .value = 0 },
	{ OPT_GROUP, .help = "For --train" },
	{ OPT_TEXT, 'o', "output", &train.out, "DICT", "where the dictionary goes", .value = 0 },
	{ OPT_SIZE, 0, "dict-size", &train.dict_size, "SIZE", "its largest size (110 KiB)",
		.min = 256, .max = (int64_t)64 << 20 },
	{ OPT_GROUP, .help = "For --columns and --blocks" },
	{ OPT_INT, 0, "width", &width, "N", "bytes of a record (guessed)",
		.min = 2, .max = 65535 },
	{ OPT_TEXT, 'F', "format", &blocks.format, "NAME",
		"the whole file is one lzvolt value or one lz4-block", .value = 0 },
	{ OPT_SET, 0, "each", &blocks.each, NULL, "a line for each record", .value = 1 },
	{ OPT_TEXT, 0, "records", &vprobe.records, "FRAMING",
		"how --train and --blocks tell records apart: lines, len:u32le,lz4 ...",
		.value = 0 },
	{ OPT_GROUP, .help = "How" },
	{ OPT_TEXT, 0, "codecs", &vprobe.codecs, "LIST",
		"codecs and levels to try: zstd:1-9,lz4,brotli:5,11", .value = 0 },
	{ OPT_SIZE, 0, "sample", &vprobe.sample, "SIZE",
		"bytes that -q and estimates look at (1 MiB)",
		.min = 4096, .max = (int64_t)1 << 32 },
	{ OPT_SET, 0, "json", &common.json, NULL,
		"a line of JSON for each file", .value = 1 },
	{ OPT_SET, 'v', "verbose", &vprobe.verbose, NULL, "list every window too",
		.value = 1 },
	{ .kind = OPT_END },
};

static void quiet_one(const char *path)
{
	struct finding f;

	if (!find_sample(&f, path))
		return;
	if (!finding_worth(&f))
		say_raise(STATUS_REFUSED);
	finding_free(&f);
}

static unsigned mode_asked(void)
{
	const struct { int asked; unsigned mode; } rows[] = {
		{ tee, MODE_TEE }, { goal >= 0, MODE_CHOOSE }, { bench_asked, MODE_BENCH },
		{ train_asked, MODE_TRAIN }, { columns, MODE_COLUMNS },
		{ blocks_asked, MODE_BLOCKS },
	};
	unsigned asked = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (asked && rows[i].asked)
			die("one of --tee, --for, --bench, --train, --columns, --blocks at a time");
		asked |= rows[i].asked ? rows[i].mode : 0;
	}
	return asked ? asked : vprobe.quiet ? MODE_QUIET : MODE_PROBE;
}

/* An option that would do nothing in this mode is refused. */
static void options_check(void)
{
	unsigned goals = goal < 0 ? 0 : goal_bits[goal];
	const unsigned timed = ~(1u << COST_STORAGE);
	const struct { bool given; unsigned modes; const char *words; } rows[] = {
		{ vprobe.quiet, MODE_QUIET | MODE_TEE, "-q: nothing else but --tee" },
		{ vprobe.verbose, MODE_PROBE | MODE_TEE, "-v belongs to a plain probe" },
		{ terms.reads || terms.price, goals == 1u << COST_STORAGE ? MODE_CHOOSE : 0,
		  "--reads and --price belong to --for storage" },
		{ terms.write_budget, goals == 1u << COST_READ_HEAVY ? MODE_CHOOSE : 0,
		  "--write-budget belongs to --for read-heavy" },
		{ terms.bandwidth || terms.rtt, goals & timed ? MODE_CHOOSE : 0,
		  "--bandwidth and --rtt belong to --for transport, read-heavy and web" },
		{ bench.block || bench.rounds || bench.seed || bench.csv || bench.plot ||
		  bench.svg, MODE_BENCH,
		  "--block, --rounds, --seed, --csv, --plot and --svg belong to --bench" },
		{ bench.csv && common.json, 0, "--csv or --json" },
		{ bench.plot && (common.json || bench.csv), 0, "--plot goes with the table" },
		{ train.out || train.dict_size, MODE_TRAIN,
		  "--output and --dict-size belong to --train" },
		{ vprobe.records, MODE_TRAIN | MODE_BLOCKS,
		  "--records belongs to --train and --blocks" },
		{ vprobe.records && blocks.format, 0, "--records or --format" },
		{ width, MODE_COLUMNS, "--width belongs to --columns" },
		{ blocks.format || blocks.each, MODE_BLOCKS,
		  "--format and --each belong to --blocks" },
		{ vprobe.codecs, MODE_PROBE | MODE_TEE | MODE_CHOOSE | MODE_BENCH | MODE_TRAIN |
		  MODE_COLUMNS, "--codecs: nothing is tried here" },
		{ vprobe.sample, MODE_PROBE | MODE_QUIET | MODE_TEE | MODE_CHOOSE,
		  "--sample: all of the input is used here" },
		{ vprobe.quiet && common.json, 0, "-q says nothing, not even JSON" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].given && !(rows[i].modes & mode))
			die("%s", rows[i].words);
	terms.goals = goals;
}

static void defaults_set(void)
{
	vprobe.sample = vprobe.sample ? vprobe.sample : SAMPLE;
	bench.rounds = bench.rounds ? bench.rounds : ROUNDS;
	train.dict_size = train.dict_size ? train.dict_size : DICT_SIZE;
}

static void choose_of(const char *path)
{
	struct finding f;

	if (!find_sample(&f, path))
		return;
	if (f.sample.len)
		choose(&f, &terms);
	else
		say_error(f.name, "nothing to choose for: it is empty");
	finding_free(&f);
}

/* Trials cost a tenth of a second, so not where the verdict is to store. */
static void report(const struct finding *f, FILE *to)
{
	static struct estimate e[CHOICES_MAX];
	int n = 0;

	if (f->sample.len && (vprobe.codecs || f->stats.verdict != PROBE_STORE)) {
		char *list = codecs_or(ESTIMATE_DEFAULT);

		n = estimate_all(f, list, 1, e);
		free(list);
	}
	if (common.json)
		report_json(f, e, n, to);
	else
		report_finding(f, e, n, to);
}

static void probe_one(const char *path)
{
	struct finding f;

	if (find_all(&f, path))
		report(&f, stdout);
	finding_free(&f);
}

static void tee_run(int operands)
{
	struct finding f;

	if (operands)
		die("--tee probes standard input and takes no file");
	if (find_tee(&f) && !vprobe.quiet)
		report(&f, stderr);
	if (vprobe.quiet && !finding_worth(&f))
		say_raise(STATUS_REFUSED);
	finding_free(&f);
}

static void input_take(const char *path)
{
	switch ((enum mode)mode) {
	case MODE_PROBE:
		probe_one(path);
		break;
	case MODE_QUIET:
		quiet_one(path);
		break;
	case MODE_CHOOSE:
		choose_of(path);
		break;
	case MODE_BENCH:
		bench_file(path, &bench);
		break;
	case MODE_TRAIN:
		train_file(path, &train);
		break;
	case MODE_COLUMNS:
		columns_file(path, width);
		break;
	case MODE_BLOCKS:
		blocks_file(path, &blocks);
		break;
	case MODE_TEE:
		break;
	}
}

static int vprobe_main(int argc, char **argv)
{
	static char *standard_input[] = { "-" };
	int n = opt_parse(&vprobe_applet, argc, argv);

	mode = mode_asked();
	options_check();
	defaults_set();
	if (mode == MODE_TRAIN && n > 1)
		die("--train makes one dictionary of one file");
	if (mode == MODE_BENCH && bench.svg && n > 1)
		die("--svg is one picture of one file");
	if (mode == MODE_TEE) {
		tee_run(n);
		return say_status();
	}
	if (!n) {
		argv = standard_input;
		n = 1;
	}
	for (int i = 0; i < n; i++)
		input_take(argv[i]);
	return say_status();
}

const struct applet vprobe_applet = {
	.name = "vprobe",
	.main = vprobe_main,
	.options = options,
	.usage = "[OPTION]... [FILE]...",
	.about = "say whether data are worth packing, with what, and how fast",
};
