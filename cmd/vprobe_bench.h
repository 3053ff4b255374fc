/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_bench.h - one measured table: made by vprobe_bench.c, shown by
 * vprobe_table.c and vprobe_plot.c
 */
#ifndef VPROBE_BENCH_H
#define VPROBE_BENCH_H

#include "vprobe.h"

#define BENCH_ROUNDS_MAX 99

struct bench_options {
	uint64_t block;			/* --block; 0 = the whole input at once */
	int rounds;			/* counted ones */
	const char *seed;		/* of the order; NULL = from the clock */
	const char *svg;		/* --svg FILE, "-" = standard output */
	int csv, plot;
};

/* One direction of one row. */
struct bench_side {
	double wall[BENCH_ROUNDS_MAX];	/* seconds a run, one a round */
	double cpu[BENCH_ROUNDS_MAX];
	struct range speed;		/* raw bytes a second of wall time */
	double cpu_gb;			/* CPU seconds a GB (10^9) of raw bytes, median */
	uint64_t memory;		/* peak bytes beside input and output; or unknown */
	bool front;			/* on the Pareto front of ratio and speed */
};

struct bench_row {
	struct choice choice;
	size_t packed;			/* bytes */
	double ratio;
	unsigned stored;		/* blocks that the codec refused */
	struct bench_side pack, unpack;
};

struct bench_table {
	const char *name;		/* of the input */
	const char *cpu;		/* the processor's name */
	size_t bytes, block;		/* block 0 = whole */
	uint64_t seed;
	int rounds, rows;
	struct bench_row row[CHOICES_MAX];
};

/* Measures, prints and plots; false = failed and said why. */
bool bench_file(const char *path, const struct bench_options *o);

void bench_print(const struct bench_table *t, FILE *to);
void bench_json(const struct bench_table *t, FILE *to);
void bench_csv(const struct bench_table *t, FILE *to);
/* Ratio against speed, on 72 columns. */
void bench_plot(const struct bench_table *t, FILE *to);
/* The same as a malloc'ed SVG document; *len its bytes. */
char *bench_svg(const struct bench_table *t, size_t *len);

#endif
