/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vcompress_side.c - side-cars: FILE.br, FILE.gz, FILE.zst next to FILE
 *
 * For web servers that send a packed file as it is.  The input is read once,
 * into memory; every codec packs those same bytes, so the side-cars can't
 * disagree.  Each gets the input's times (servers compare them) and is kept
 * only when it is smaller.  Levels are the highest that browsers can unpack,
 * since a side-car is packed once and sent often; -LEVEL changes them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vcompress.h"

/* zstd 19 is the last level whose window every browser accepts (8 MiB). */
static const struct side {
	const char *name;	/* also the suffix */
	const char *codec;
	int level;
} sides[] = {
	{ "br", "brotli", 11 },
	{ "gz", "gzip", 9 },
	{ "zst", "zstd", 19 },
};

static const struct side *side_find(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(sides) / sizeof(*sides); i++)
		if (strlen(sides[i].name) == n && !memcmp(sides[i].name, name, n))
			return &sides[i];
	return NULL;
}

/* Calls f for every name of the list. */
static void each(const char *list, void (*f)(const struct side *s, void *ctx), void *ctx)
{
	while (*list) {
		size_t n = strcspn(list, ",");
		const struct side *s = side_find(list, n);

		if (!s)
			die("--sidecar: '%.*s' is none of br, gz, zst", (int)n, list);
		f(s, ctx);
		list += n + (list[n] == ',');
	}
}

static void check(const struct side *s, void *ctx)
{
	const struct filter *f = filter_by_name(s->codec);

	(void)ctx;
	if (!f || f->missing)
		die("--sidecar: %s isn't built in", s->codec);
	pack_refuse_options(f);
}

void side_check(const char *list)
{
	if (!*list)
		die("--sidecar needs a list such as br,gz,zst");
	if (pack_options.remove || pack_options.dict || pack_options.refuse)
		die("--rm, -D and --refuse mean nothing for --sidecar");
	each(list, check, NULL);
}

struct side_run {
	struct input in;
	uint8_t *data;
	size_t len;
};

static int pack_one(struct side_run *r, struct pack *p, struct output *out,
		    struct filter_error *err)
{
	struct feed feed;
	struct sink sink;
	int code;

	feed_open_memory(&feed, &r->in, r->data, r->len);
	sink_open(&sink, out, 1);
	/* Both are used up before this returns. */
	/* cppcheck-suppress autoVariables */
	p->feed = &feed;
	/* cppcheck-suppress autoVariables */
	p->sink = &sink;
	p->threads = machine_threads(common.threads);
	p->params.threads = p->threads;
	p->params.size = r->len;
	p->params.memory = machine_budget(common.memory);
	p->budget = p->params.memory;
	code = pack_run(p, err);
	if (sink_close(&sink) && !code)
		code = sink_failure(&sink, err);
	feed_close(&feed);
	if (!code && pack_options.verify)
		code = pack_verify(out->tmp, p->filter, r->len,
				   XXH3_64bits(r->data, r->len), err);
	return code;
}

/* With -f an old side-car goes too: it would be served for the new file. */
static void not_kept(const char *name)
{
	say_note(name, "not smaller, not kept");
	if (pack_options.force && unlink(name) && errno != ENOENT)
		say_errno(name, "can't delete", errno);
}

static void make(const struct side *s, void *ctx)
{
	struct side_run *r = ctx;
	struct output_options how = {
		.force = pack_options.force, .sparse = SPARSE_NEVER,
		.source = &r->in, .ask = true,
	};
	struct pack p = { .filter = filter_by_name(s->codec) };
	struct pack_result res = { .file = r->in.name, .format = s->codec, .raw = r->len };
	struct output out;
	char *name;
	int late;

	if (asprintf(&name, "%s.%s", r->in.path, s->name) < 0)
		die("out of memory");
	if (output_open(&out, name, &how))
		goto out_free;
	pack_params(p.filter, &p.params);
	if (pack_options.level == LEVEL_DEFAULT)
		p.params.level = s->level;
	res.seconds = clock_seconds();
	pack_one(r, &p, &out, &res.err);
	res.packed = out.total;
	res.stored = !res.err.code && out.total < r->len;
	late = output_close(&out, &how, res.stored);
	if (late)
		filter_fail(&res.err, CMD_E_WRITE, (uint64_t)-late, "can't finish the output");
	if (res.err.code)
		say_failure(name, &res.err);
	res.seconds = clock_seconds() - res.seconds;
	res.level = p.params.level;
	res.output = name;
	if (!res.stored && !res.err.code)
		not_kept(name);
	if (common.json)
		pack_report(&res, stdout);
out_free:
	free(name);
}

/* Opens it; false where side-cars can't be made of it, which is said. */
static bool open_input(struct side_run *r, const char *path)
{
	int err;

	if (!strcmp(path, "-")) {
		say_error(path, "--sidecar writes beside files, not beside standard input");
		return false;
	}
	err = input_open(&r->in, path, 0);
	if (err == -EISDIR)
		say_warning(path, "is a folder, skipped; -r takes what is below");
	else if (err)
		say_errno(path, "can't open", -err);
	return !err;
}

/* The whole of it into memory; false where it can't be, which is said. */
static bool load(struct side_run *r, const char *path)
{
	int err;

	if (!r->in.regular) {
		say_error(path, "side-cars are made of regular files only");
		return false;
	}
	err = input_load(path, machine_budget(common.memory), &r->data, &r->len);
	if (err)
		say_errno(path, "can't read", -err);
	return !err;
}

void side_file(const char *path, const char *list)
{
	struct side_run r = { .in.fd = -1 };
	bool open;

	/* A second run over a folder meets the first one's side-cars. */
	if (filter_by_suffix(path)) {
		say_note(path, "has a packed file's suffix, skipped");
		return;
	}
	open = open_input(&r, path);
	if (open && load(&r, path))
		each(list, make, &r);
	else if (common.json)
		json_not_begun(stdout, path, "pack");
	free(r.data);
	if (open)
		input_close(&r.in);
}
