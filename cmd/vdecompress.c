/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vdecompress.c - unpack, test and list streams and files: options
 *
 * Testing and listing decode everything and write nothing, so what they say
 * is true of the whole input, from a pipe as well.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vdecompress.h"

struct unpack_options unpack_options = {
	.sync = 1, .sparse = SPARSE_AUTO, .trailing = TRAILING_ERROR,
	.max_output = SIZE_UNKNOWN, .size = SIZE_UNKNOWN,
	.part.record = SIZE_UNKNOWN,
};
static struct unpack_options *const uo = &unpack_options;

static int already;	/* -d: it does that anyway */

static const char *const trailings[] = {
	[TRAILING_ERROR] = "error", [TRAILING_WARN] = "warn",
	[TRAILING_IGNORE] = "ignore", NULL,
};

static const struct opt options[] = {
	{ OPT_GROUP, .help = "Unpacking" },
	{ OPT_SET, 'd', "decompress", &already, .help = "unpack (default)", .value = 1 },
	{ OPT_SET, 't', "test", &uo->test, .help = "unpack, write nothing", .value = 1 },
	{ OPT_SET, 'l', "list", &uo->list,
		.help = "tell what is in the inputs, by unpacking them", .value = 1 },
	{ OPT_TEXT, 'F', "format", &uo->format, "NAME",
		.help = "the codec, instead of finding it by content" },
	{ OPT_TEXT, 'D', "dictionary", &uo->dict_path, "DICT", .help = "use a dictionary" },
	{ OPT_SIZE, 0, "size", &uo->size, "N",
		.help = "decoded size of a bare block (lz4-block)", .max = INT64_MAX },
	{ OPT_WORD, 0, "trailing", &uo->trailing, "WHAT",
		.help = "bytes behind the end: error, warn or ignore; zeros are padding",
		.words = trailings },
	{ OPT_SET, 0, "pass-through", &uo->pass_through,
		.help = "copy inputs of no format as they are", .value = 1 },
	{ OPT_SET, 0, "salvage", &uo->salvage,
		.help = "go on behind damage and tell what was lost", .value = 1 },
	{ OPT_SIZE, 0, "max-output", &uo->max_output, "SIZE",
		.help = "give up before more than this is written", .max = INT64_MAX },
	{ OPT_SIZE, 0, "max-ratio", &uo->max_ratio, "N",
		.help = "give up before output passes N times the input", .min = 1,
		.max = INT64_MAX },
	{ OPT_TEXT, 0, "records", &uo->records, "FRAMING",
		.help = "lzv: give records in a framing, see vconvert(1)" },
	{ OPT_SIZE, 0, "record", &uo->part.record, "N",
		.help = "lzv file: only record N, from 0", .max = INT64_MAX },
	{ OPT_TEXT, 0, "key", &uo->part.key, "KEY",
		.help = "lzv file: only the record with this key" },
	{ OPT_TEXT, 0, "range", &uo->part.range, "OFF:LEN",
		.help = "lzv or seekable zstd file: only these decoded bytes" },
	{ OPT_TEXT, 0, "kernel", &uo->kernel, "NAME", .help = "lzvolt kernel to use" },

	{ OPT_GROUP, .help = "Files" },
	{ OPT_TEXT, 'o', "output", &uo->out, "FILE", .help = "write to FILE" },
	{ OPT_SET, 'c', "stdout", &uo->to_stdout, .help = "write to standard output", .value = 1 },
	{ OPT_SET, 'k', "keep", &uo->remove, .help = "keep the inputs (default)", .value = 0 },
	{ OPT_SET, 0, "rm", &uo->remove,
		.help = "delete an input once its output is safe", .value = 1 },
	{ OPT_SET, 0, "no-sync", &uo->sync,
		.help = "don't wait for the disk before --rm", .value = 0 },
	{ OPT_SET, 'f', "force", &uo->force,
		.help = "overwrite; follow links; read from a terminal", .value = 1 },
	{ OPT_SET, 'r', "recursive", &uo->recurse,
		.help = "take the packed files below folders", .value = 1 },
	{ OPT_TEXT, 0, "files0", &uo->files0, "[FILE]",
		.help = "names of inputs, NUL-separated, from FILE or standard input" },
	{ OPT_SET, 0, "sparse", &uo->sparse,
		.help = "holes for zeros, on standard output too", .value = SPARSE_ALWAYS },
	{ OPT_SET, 0, "no-sparse", &uo->sparse, .help = "no holes",
		.value = SPARSE_NEVER },
	OPT_COMMON,
	{ .kind = OPT_END },
};

static void choose_filter(void)
{
	if (!uo->format)
		return;
	uo->filter = filter_by_name(uo->format);
	if (!uo->filter)
		die("no codec '%s'; vdecompress --version lists them", uo->format);
	if (uo->filter->missing)
		die("%s: %s", uo->filter->name, uo->filter->missing);
	if ((uo->filter->flags & FILTER_NEEDS_SIZE) && uo->size == SIZE_UNKNOWN)
		die("%s needs --size=N, the decoded size", uo->filter->name);
	if (uo->dict_path && !(uo->filter->flags & FILTER_DICT))
		die("-D means nothing for %s", uo->filter->name);
}

static void settle_part(void)
{
	const struct records_part *p = &uo->part;
	int wanted = (p->record != SIZE_UNKNOWN) + (p->key != NULL) + (p->range != NULL);

	if (wanted + (uo->records != NULL) > 1)
		die("--record, --key, --range and --records exclude each other");
	if ((wanted || uo->records) && (uo->list || uo->remove))
		die("a part of a file is neither listed nor a reason to delete it");
	if ((wanted || uo->records) && (uo->max_output != SIZE_UNKNOWN || uo->max_ratio))
		die("--max-output and --max-ratio are for whole inputs");
	if ((wanted || uo->records || uo->pass_through) && uo->salvage)
		die("--salvage is for whole packed inputs");
	if (wanted && !uo->out)
		uo->to_stdout = 1;
}

static void settle(int operands)
{
	choose_filter();
	load_dictionary(uo->dict_path, &uo->dict, &uo->dict_len);
	use_kernel(uo->kernel);
	if (uo->out && (operands > 1 || uo->files0 || uo->recurse))
		die("-o takes one input");
	if (uo->out && uo->to_stdout)
		die("-o and -c exclude each other");
	if ((uo->test || uo->list) && (uo->out || uo->to_stdout))
		die("-t and -l write no output");
	if (uo->records)
		records_check(uo->records);
	settle_part();
	if (uo->files0 && !strcmp(uo->files0, "-"))
		uo->stdin_is_list = true;
}

static void act(const char *path, bool found, void *ctx)
{
	(void)ctx;
	unpack_file(path, found);
}

static int vdecompress_main(int argc, char **argv)
{
	static char *standard[] = { "-" };
	struct file_list list = { .operands = argv, .act = act };

	common_from_environment();
	list.count = opt_parse(&vdecompress_applet, argc, argv);
	settle(list.count);
	list.files0 = uo->files0;
	list.recurse = uo->recurse;
	if (!list.count && !list.files0) {
		list.operands = standard;
		list.count = 1;
	}
	files_each(&list);
	free(uo->dict);
	return say_status();
}

const struct applet vdecompress_applet = {
	.name = "vdecompress",
	.main = vdecompress_main,
	.options = options,
	.usage = "[OPTION]... [FILE]...",
	.about = "Unpack standard input to standard output, or each FILE to its name\n"
		 "without suffix.",
	.more = "The format of every member is found by its content.\n"
		"Status: 0 done, 1 error, 2 warning.\n",
};
