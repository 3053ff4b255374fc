/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe - our commands and their peers in turn on the same input
 *
 *	pipe [--json] [--quick] [--rows PATTERN] [--dir DIR] [--list]
 *
 * For every row (rows.c), input and mode the commands run one after another,
 * round by round, until the cell's time is used up.  --quick takes a quarter of the
 * input and fewer rounds; --rows takes the rows whose names match a shell
 * pattern.  The data are kept in DIR (build/bench).
 */
#include "pipe.h"

#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_MEGABYTES 200
#define START_RUNS 40	/* start-up is short: one sample is that many runs */

struct settings {
	bool json, quick;
	const char *rows;
	const char *dir;
	double cell_seconds;
	size_t rounds_min, rounds_max;
};

static const char *const corpora[] = { "tar", "ndjson" };

static void cell_add(struct cell *cell, const char *command, const char *input)
{
	cell->c[cell->count++] = (struct candidate){ .command = command, .input = input };
}

static bool cell_fill(struct cell *cell, const char *raw)
{
	const struct row *row = cell->row;
	const char *packed = row->packed ? input_packed(raw, row->packed) : raw;

	if (!packed)
		return false;
	cell->raw = file_size(raw);
	cell_add(cell, row->ours, packed);
	for (size_t i = 0; i < PEERS_MAX && row->peers[i]; i++) {
		const char *peer = row->peers[i];
		const char *own = !strcmp(peer, "@lz4 -dc") ? input_packed(raw, "lz4") : raw;

		/* Into a device cat only reads: between pipes it copies. */
		if (!strcmp(peer, "@cat") && cell->mode == MODE_FILE)
			continue;
		if (command_present(peer))
			cell_add(cell, peer, peer[0] == '@' ? own : packed);
	}
	return true;
}

static bool sample_many(const char *command, const char *input, struct sample *s)
{
	struct sample one;

	*s = (struct sample){ 0 };
	for (int i = 0; i < START_RUNS; i++) {
		if (!run_command(command, input, MODE_FILE, &one))
			return false;
		s->wall += one.wall / START_RUNS;
		s->cpu += one.cpu / START_RUNS;
		s->rss = one.rss;
	}
	return true;
}

static void candidate_run(struct candidate *c, const struct cell *cell)
{
	struct sample s;
	bool ok;

	if (c->failed)
		return;
	if (cell->row->kind == ROW_START)
		ok = sample_many(c->command, c->input, &s);
	else
		ok = run_command(c->command, c->input, cell->mode, &s);
	c->failed = !ok;
	if (ok)
		c->runs[c->count++] = s;
}

static bool cell_run(struct cell *cell, const struct settings *set)
{
	double end = now_seconds() + set->cell_seconds;

	for (size_t round = 0; round < set->rounds_max; round++) {
		if (round >= set->rounds_min && now_seconds() > end)
			break;
		for (size_t i = 0; i < cell->count; i++)
			candidate_run(&cell->c[i], cell);
	}
	report_cell(cell, set->json);
	return !cell->c[0].failed;
}

/* One row over one input, in both modes. */
static bool row_input(const struct row *row, const char *kind, unsigned megabytes,
		      const struct settings *set)
{
	const char *raw = input_raw(set->dir, kind, megabytes);
	bool ok = raw;

	for (int mode = 0; mode < MODES && ok; mode++) {
		struct cell cell = { .row = row, .input = kind, .mode = (enum mode)mode };

		if (row->kind == ROW_START && mode == MODE_PIPE)
			break;
		ok = cell_fill(&cell, raw) && cell_run(&cell, set);
	}
	return ok;
}

static bool row_run(const struct row *row, const struct settings *set)
{
	unsigned megabytes = row->megabytes ? row->megabytes : INPUT_MEGABYTES;
	bool ok = true;

	if (set->quick)
		megabytes /= 4;
	if (row->kind == ROW_START)
		return row_input(row, "text", 0, set);
	if (row->kind == ROW_NOISE)
		return row_input(row, "noise", megabytes, set);
	for (size_t i = 0; i < sizeof(corpora) / sizeof(corpora[0]); i++)
		ok = row_input(row, corpora[i], megabytes, set) && ok;
	return ok;
}

static int list_rows(void)
{
	for (size_t i = 0; i < row_count; i++)
		printf("%s\n", rows[i].name);
	return 0;
}

static int run_all(const struct settings *set)
{
	bool ok = true;

	mkdir(set->dir, 0755);
	report_open(set->json);
	for (size_t i = 0; i < row_count; i++)
		if (!fnmatch(set->rows, rows[i].name, 0))
			ok = row_run(&rows[i], set) && ok;
	report_close(set->json);
	return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "quick", no_argument, NULL, 'q' },
		{ "rows", required_argument, NULL, 'r' },
		{ "dir", required_argument, NULL, 'd' },
		{ "list", no_argument, NULL, 'l' },
		{ NULL, 0, NULL, 0 },
	};
	struct settings set = { .rows = "*", .dir = "build/bench", .cell_seconds = 6,
				.rounds_min = 3, .rounds_max = 7 };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'j': set.json = true; break;
		case 'q': set.quick = true; break;
		case 'r': set.rows = optarg; break;
		case 'd': set.dir = optarg; break;
		case 'l': return list_rows();
		default: return 2;
		}
	}
	if (set.quick)
		set.cell_seconds = 2;
	return run_all(&set);
}
