/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c - the table and the JSON form of it
 *
 * One line a command: throughput of raw bytes (median and range), CPU seconds a
 * GB, peak memory, packed size.  Our own line ends with the ratios to the best
 * peer: throughput (higher is better), CPU and memory (lower is better), and
 * "MISS" where the throughput is below what the row must reach.
 */
#include "pipe.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool first;

static void machine_name(char *name, size_t cap)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	snprintf(name, cap, "unknown CPU");
	while (f && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (colon && !strncmp(line, "model name", 10)) {
			line[strcspn(line, "\n")] = 0;
			snprintf(name, cap, "%s", colon + 2);
			break;
		}
	}
	if (f)
		fclose(f);
}

void report_open(bool json)
{
	char name[200];

	machine_name(name, sizeof(name));
	first = true;
	if (json)
		printf("{\"cpu\": \"%s\", \"cpus\": %ld, \"cells\": [", name,
		       sysconf(_SC_NPROCESSORS_ONLN));
	else
		printf("%s, %ld CPUs\n", name, sysconf(_SC_NPROCESSORS_ONLN));
	fflush(stdout);
}

/* The other way round: ours over the peer's; 0 when there is no peer. */
static double inverse(double ratio)
{
	return ratio > 0 ? 1 / ratio : 0;
}

static void json_spread(const char *name, struct spread s)
{
	printf(", \"%s\": {\"median\": %.6g, \"min\": %.6g, \"max\": %.6g}", name,
	       s.median, s.min, s.max);
}

static void json_candidate(const struct candidate *c)
{
	printf("{\"command\": \"%s\", \"failed\": %s, \"runs\": %zu", c->command,
	       c->failed ? "true" : "false", c->count);
	json_spread("wall_seconds", candidate_spread(c, FIGURE_WALL));
	json_spread("cpu_seconds", candidate_spread(c, FIGURE_CPU));
	json_spread("peak_rss_bytes", candidate_spread(c, FIGURE_RSS));
	printf(", \"output_bytes\": %llu}", (unsigned long long)c->runs[0].out);
}

static void json_cell(const struct cell *cell, size_t peer)
{
	printf("%s\n{\"row\": \"%s\", \"input\": \"%s\", \"mode\": \"%s\", "
	       "\"raw_bytes\": %llu, \"must\": %g, \"best_peer\": \"%s\", "
	       "\"throughput_ratio\": %.4g, \"cpu_ratio\": %.4g, \"rss_ratio\": %.4g, "
	       "\"commands\": [", first ? "" : ",", cell->row->name, cell->input,
	       mode_names[cell->mode], (unsigned long long)cell->raw, cell->row->must,
	       peer ? cell->c[peer].command : "", cell_ratio(cell, peer, FIGURE_WALL),
	       inverse(cell_ratio(cell, peer, FIGURE_CPU)),
	       inverse(cell_ratio(cell, peer, FIGURE_RSS)));
	for (size_t i = 0; i < cell->count; i++) {
		printf("%s", i ? ", " : "");
		json_candidate(&cell->c[i]);
	}
	printf("]}");
}

static void text_candidate(const struct cell *cell, const struct candidate *c)
{
	struct spread wall = candidate_spread(c, FIGURE_WALL);
	double raw = (double)cell->raw;

	if (c->failed || !c->count) {
		printf("  %-24s %s", c->command, c->failed ? "FAILED" : "not run");
		return;
	}
	if (cell->row->kind == ROW_START)
		printf("  %-24s %6.2f ms   (%5.2f..%5.2f)", c->command, 1e3 * wall.median,
		       1e3 * wall.min, 1e3 * wall.max);
	else
		printf("  %-24s %6.0f MB/s (%4.0f..%4.0f) %6.2f s/GB", c->command,
		       raw / wall.median / 1e6, raw / wall.max / 1e6, raw / wall.min / 1e6,
		       candidate_spread(c, FIGURE_CPU).median / raw * 1e9);
	printf(" %6.1f MB", candidate_spread(c, FIGURE_RSS).median / 1e6);
	if (cell->mode == MODE_PIPE && cell->row->kind != ROW_UNPACK)
		printf(" %10llu", (unsigned long long)c->runs[0].out);
}

static void text_cell(const struct cell *cell, size_t peer)
{
	printf("%s, %s, %s\n", cell->row->name, cell->input, mode_names[cell->mode]);
	for (size_t i = 0; i < cell->count; i++) {
		text_candidate(cell, &cell->c[i]);
		if (i == 0 && peer && !cell->c[0].failed) {
			double r = cell_ratio(cell, peer, FIGURE_WALL);

			printf("   x %.2f, CPU %.2f, memory %.2f%s", r,
			       inverse(cell_ratio(cell, peer, FIGURE_CPU)),
			       inverse(cell_ratio(cell, peer, FIGURE_RSS)),
			       r < cell->row->must ? "  MISS" : "");
		}
		printf("\n");
	}
}

void report_cell(const struct cell *cell, bool json)
{
	size_t peer = cell_best_peer(cell);

	(json ? json_cell : text_cell)(cell, peer);
	first = false;
	fflush(stdout);
}

void report_close(bool json)
{
	if (json)
		printf("\n]}\n");
}
