/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_columns.c - --columns: do fixed-width records pack better by column?
 *
 * Each codec packs the input as it stands and once more with the first bytes
 * of all records side by side, then the second ones, and so on.  lzv does that
 * itself (vcompress --transpose), a block at a time; its row is measured so.
 */
#include <stdlib.h>
#include <string.h>

#include "vprobe_blocks.h"

struct columns {
	const char *name;
	uint8_t *raw, *turned, *room;
	size_t len;
	unsigned width;
	bool guessed;
};

static double ratio_of(const struct columns *c, const struct choice *choice,
		       const uint8_t *p, int transpose)
{
	struct filter_error err;
	struct coder_run run;
	ptrdiff_t got;

	run_open(&run, choice, false, NULL, 0);
	run.params.transpose = transpose;
	got = run_code(&run, p, c->len, c->len, c->room, run_bound(c->len), &err);
	run_close(&run);
	if (got < 0 && got != FILTER_E_REFUSED)
		die("%s: %s", choice->name, err.what);
	return got > 0 ? (double)c->len / (double)got : 1;
}

static void row(const struct columns *c, const struct choice *choice, struct json *j)
{
	bool own = choice->filter->flags & FILTER_TRANSPOSE;
	double rows = ratio_of(c, choice, c->raw, 0);
	double turned = own ? ratio_of(c, choice, c->raw, (int)c->width) :
			      ratio_of(c, choice, c->turned, 0);

	if (!j) {
		printf("  %-10s %8.3f %8.3f %+7.1f %%%s\n", choice->name, rows, turned,
		       100 * (rows / turned - 1), own ? "  by its own --transpose" : "");
		return;
	}
	json_open(j, NULL, '{');
	json_text(j, "choice", choice->name);
	json_real(j, "rows", rows, 4);
	json_real(j, "columns", turned, 4);
	json_close(j, '}');
}

static void head_print(const struct columns *c)
{
	printf("%s: %zu bytes, records of %u bytes (%s)", c->name, c->len, c->width,
	       c->guessed ? "guessed from how bytes repeat" : "as you say");
	if (c->len % c->width)
		printf(", %zu bytes left over", c->len % c->width);
	printf("\n  %-10s %8s %8s %9s\n", "ratio", "rows", "columns", "size");
}

static void columns_show(const struct columns *c)
{
	static struct choice choice[CHOICES_MAX];
	char *list = codecs_or(ESTIMATE_DEFAULT);
	int n = choices_parse(list, choice);
	struct json j;

	free(list);
	if (common.json) {
		json_begin(&j, stdout);
		json_text(&j, "file", c->name);
		json_number(&j, "bytes", c->len);
		json_number(&j, "width", c->width);
		json_bool(&j, "guessed", c->guessed);
		json_open(&j, "choices", '[');
	} else {
		head_print(c);
	}
	for (int i = 0; i < n; i++)
		row(c, &choice[i], common.json ? &j : NULL);
	if (common.json) {
		json_close(&j, ']');
		json_end(&j);
	}
}

bool columns_file(const char *path, int width)
{
	struct columns c = { .name = strcmp(path, "-") ? path : IO_STDIN_NAME };

	if (!load_all(path, &c.raw, &c.len))
		return false;
	c.guessed = !width;
	c.width = width ? (unsigned)width : probe_width(c.raw, c.len);
	if (!c.width || c.len < 2 * c.width) {
		if (c.width)
			say_error(c.name, "%zu bytes are less than two records of %u",
				  c.len, c.width);
		else
			say_error(c.name, "no record width stands out; give one by --width");
		free(c.raw);
		return false;
	}
	c.turned = need(c.len);
	c.room = need(run_bound(c.len));
	probe_transpose(c.turned, c.raw, c.len, c.width);
	columns_show(&c);
	free(c.raw);
	free(c.turned);
	free(c.room);
	return true;
}
