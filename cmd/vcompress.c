/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vcompress.c - pack streams and files: options
 *
 * What the options mean is settled here, once, before any file is touched:
 * which codec, whether it can honour what was asked, the dictionary.  Then
 * every input goes through pack_file() (vcompress_file.c) or, with --sidecar,
 * side_file() (vcompress_side.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lzvolt.h"
#include "records.h"
#include "vcompress.h"

#define WINDOW_LOG_LONG 27	/* what --long means without a number, as in zstd */
/* Large enough to pack as well as one frame within 1 or 2 %. */
#define SEEK_FRAME (1 << 20)

struct pack_options pack_options = {
	.format = "zstd", .level = LEVEL_DEFAULT, .check = -1, .probe = 1,
	.flush_ms = -1, .sync = 1, .sparse = SPARSE_NEVER,
};
static struct pack_options *const po = &pack_options;

static const char *const favors[] = { "speed", "balance", "size", NULL };
static int favor_word = 1;

static void set_fast(const struct opt *o, const char *arg)
{
	char *end;
	long n = arg ? strtol(arg, &end, 10) : 1;

	(void)o;
	if (arg && (end == arg || *end || n < 1 || n > 1000000))
		die("--fast needs a number from 1, not '%s'", arg);
	po->level = (int)-n;
}

static const struct opt options[] = {
	{ OPT_GROUP, .help = "Packing" },
	{ OPT_TEXT, 'F', "format", &po->format, "NAME",
		.help = "codec: zstd (default), lz4, gzip, brotli, lzv ...; see --version" },
	{ OPT_LEVEL, .dest = &po->level, .max = 22,
		.help = "level, in the codec's own numbers" },
	{ OPT_CALL, 0, "fast", NULL, "[N]", "levels below 1: faster (zstd, lz4)",
		.call = set_fast },
	{ OPT_TEXT, 'D', "dictionary", &po->dict_path, "DICT", .help = "use a dictionary" },
	{ OPT_INT, 0, "long", &po->window_log, "[N]",
		"window of 2^N bytes (without N: 27)",
		.value = WINDOW_LOG_LONG, .min = 10, .max = 31 },
	{ OPT_SET, 0, "check", &po->check, NULL, "add a check of the content", .value = 1 },
	{ OPT_SET, 0, "no-check", &po->check, NULL, "add none", .value = 0 },
	{ OPT_SIZE, 0, "block-size", &po->block_size, "SIZE",
		"raw bytes of a block", .min = 1024, .max = 1 << 30 },
	{ OPT_SIZE, 0, "seekable", &po->seek_frame, "[SIZE]",
		"zstd: frames of SIZE raw bytes (1M) and a seek table",
		.value = SEEK_FRAME, .min = 1024, .max = 1 << 30 },
	{ OPT_WORD, 0, "favor", &favor_word, "WHAT",
		"lzvolt: speed, balance or size", .words = favors },
	{ OPT_INT, 0, "transpose", &po->transpose, "N",
		"lzv: records of N bytes, column by column", .min = 1, .max = 65536 },
	{ OPT_TEXT, 0, "records", &po->records, "FRAMING",
		.help = "lzv: pack records one by one, cut as vconvert(1) says" },
	{ OPT_SET, 0, "no-probe", &po->probe, NULL,
		"code incompressible blocks too instead of storing them", .value = 0 },
	{ OPT_SET, 0, "refuse", &po->refuse, NULL,
		"not worth packing: write nothing, end with status 3", .value = 1 },
	{ OPT_INT, 0, "flush-interval", &po->flush_ms, "MS",
		"hand out after MS milliseconds at most what came in",
		.min = 0, .max = 3600000 },
	{ OPT_TEXT, 0, "kernel", &po->kernel, "NAME", .help = "lzvolt kernel to use" },

	{ OPT_GROUP, .help = "Files" },
	{ OPT_TEXT, 'o', "output", &po->out, "FILE", .help = "write to FILE" },
	{ OPT_SET, 'c', "stdout", &po->to_stdout, NULL,
		"write to standard output", .value = 1 },
	{ OPT_SET, 'k', "keep", &po->remove, NULL,
		"keep the inputs (default)", .value = 0 },
	{ OPT_SET, 0, "rm", &po->remove, NULL,
		"delete an input once its output is safe", .value = 1 },
	{ OPT_SET, 0, "no-sync", &po->sync, NULL,
		"don't wait for the disk before --rm", .value = 0 },
	{ OPT_SET, 'f', "force", &po->force, NULL,
		"overwrite; follow links; write to a terminal", .value = 1 },
	{ OPT_SET, 'r', "recursive", &po->recurse, NULL,
		"take the files below folders", .value = 1 },
	{ OPT_TEXT, 0, "files0", &po->files0, "[FILE]",
		.help = "names of inputs, NUL-separated, from FILE or standard input" },
	{ OPT_SET, 0, "verify", &po->verify, NULL,
		"decode the output and compare before it gets its name", .value = 1 },
	{ OPT_TEXT, 0, "sidecar", &po->sidecar, "LIST",
		.help = "br,gz,zst: such a file next to each input, where it is smaller" },

	{ OPT_GROUP, .help = "Unpacking, as vdecompress does it" },
	{ OPT_SET, 'd', "decompress", NULL, NULL, .help = "unpack" },
	{ OPT_SET, 't', "test", NULL, NULL, .help = "unpack, write nothing" },
	{ OPT_SET, 'l', "list", NULL, NULL, .help = "tell what is in packed inputs" },
	OPT_COMMON,
	{ .kind = OPT_END },
};

void pack_params(const struct filter *f, struct filter_params *p)
{
	filter_params_init(p);
	p->level = po->level == LEVEL_DEFAULT ? f->level_default : po->level;
	p->window_log = po->window_log;
	p->check = po->check;
	p->probe = po->probe;
	p->refuse = po->refuse;
	p->block_size = (size_t)po->block_size;
	p->dict = po->dict;
	p->dict_len = po->dict_len;
	p->seek_frame = (size_t)po->seek_frame;
	p->favor = po->favor;
	p->transpose = po->transpose;
	p->memory = common.memory;
}

/* Every option that not every codec has: refused where it means nothing. */
void pack_refuse_options(const struct filter *f)
{
	const struct {
		bool given;
		unsigned flag;
		const char *name;
	} rule[] = {
		{ po->dict_path != NULL, FILTER_DICT, "-D" },
		{ po->window_log != 0, FILTER_LONG, "--long" },
		{ po->check == 1, FILTER_CHECK, "--check" },
		{ po->check == 0, FILTER_CHECK, "--no-check" },
		{ po->block_size != 0, FILTER_BLOCK_SIZE, "--block-size" },
		{ po->favor != 0, FILTER_FAVOR, "--favor" },
		{ po->transpose != 0, FILTER_TRANSPOSE, "--transpose" },
	};

	for (size_t i = 0; i < sizeof(rule) / sizeof(*rule); i++)
		if (rule[i].given && !(f->flags & rule[i].flag))
			die("%s means nothing for %s", rule[i].name, f->name);
	if (po->seek_frame && !f->pack_seekable)
		die("--seekable means nothing for %s", f->name);
	if (po->level == LEVEL_DEFAULT)
		return;
	if (!f->level_min && !f->level_max)
		die("%s has no levels", f->name);
	if (po->level < f->level_min || po->level > f->level_max)
		die("%s has levels %d to %d, not %d", f->name, f->level_min,
		    f->level_max, po->level);
}

static void choose_filter(void)
{
	const struct filter *f = filter_by_name(po->format);

	if (!f)
		die("no codec '%s'; vcompress --version lists them", po->format);
	if (f->missing)
		die("%s: %s", f->name, f->missing);
	if (!f->pack && !f->pack_blocks)
		die("%s can be unpacked, not packed", f->name);
	po->filter = f;
}

/* VOLTBOX_LEVEL counts where no level was given, as near as the codec has it. */
static void level_from_environment(const struct filter *f)
{
	const char *text = getenv("VOLTBOX_LEVEL");
	char *end;
	long n;

	if (!text || !*text || po->level != LEVEL_DEFAULT || (!f->level_min && !f->level_max))
		return;
	n = strtol(text, &end, 10);
	if (*end)
		die("VOLTBOX_LEVEL is not a number: '%s'", text);
	po->level = n < f->level_min ? f->level_min : n > f->level_max ?
		    f->level_max : (int)n;
}

void use_kernel(const char *name)
{
	if (!name)
		return;
	setenv("VOLTBOX_KERNEL", name, 1);
	if (strcmp(lzvolt_backend(), name))
		die("no kernel '%s' here; in use would be %s", name, lzvolt_backend());
}

static void settle(int operands)
{
	choose_filter();
	level_from_environment(po->filter);
	po->favor = favor_word - 1;
	if (!po->sidecar)
		pack_refuse_options(po->filter);
	load_dictionary(po->dict_path, &po->dict, &po->dict_len);
	use_kernel(po->kernel);
	if (po->out && (operands > 1 || po->files0 || po->recurse))
		die("-o takes one input");
	if (po->out && po->to_stdout)
		die("-o and -c exclude each other");
	if (po->sidecar && (po->out || po->to_stdout))
		die("--sidecar names its outputs itself");
	if (po->sidecar)
		side_check(po->sidecar);
	if (po->records) {
		if (strcmp(po->filter->name, "lzv"))
			die("--records means nothing for %s", po->filter->name);
		if (po->transpose || po->block_size || po->sidecar || po->refuse)
			die("--records cuts records as they are: no --transpose, "
			    "--block-size, --sidecar or --refuse");
		records_check(po->records);
	}
	if (po->files0 && !strcmp(po->files0, "-"))
		po->stdin_is_list = true;
}

static void act(const char *path, bool found, void *ctx)
{
	(void)ctx;
	if (po->sidecar)
		side_file(path, po->sidecar);
	else
		pack_file(path, found);
}

static int vcompress_main(int argc, char **argv)
{
	static char *standard[] = { "-" };
	struct file_list list = { .operands = argv, .act = act };

	if (opt_asks(&vcompress_applet, argc, argv, "dtl"))
		return applet_switch(&vdecompress_applet, argc, argv);
	common_from_environment();
	list.count = opt_parse(&vcompress_applet, argc, argv);
	settle(list.count);
	list.files0 = po->files0;
	list.recurse = po->recurse;
	if (!list.count && !list.files0) {
		list.operands = standard;
		list.count = 1;
	}
	files_each(&list);
	pack_files_done();
	free(po->dict);
	return say_status();
}

const struct applet vcompress_applet = {
	.name = "vcompress",
	.main = vcompress_main,
	.options = options,
	.usage = "[OPTION]... [FILE]...",
	.about = "Pack standard input to standard output, or each FILE to FILE.suffix.",
	.more = "Status: 0 done, 1 error, 2 warning, 3 not worth packing (--refuse).\n",
};
