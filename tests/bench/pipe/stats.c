/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.c - figures of the runs
 *
 * The machine may change its speed between rounds, so commands are compared
 * round by round, where they ran beside each other, and the median of those
 * ratios is taken.
 */
#include "pipe.h"

#include <stdlib.h>

static double sample_figure(const struct sample *s, enum figure f)
{
	return f == FIGURE_WALL ? s->wall : f == FIGURE_CPU ? s->cpu : s->rss;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_sorted(const double *v, size_t n)
{
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct spread candidate_spread(const struct candidate *c, enum figure f)
{
	double v[RUNS_MAX];

	if (!c->count)
		return (struct spread){ 0 };
	for (size_t i = 0; i < c->count; i++)
		v[i] = sample_figure(&c->runs[i], f);
	qsort(v, c->count, sizeof(v[0]), by_value);
	return (struct spread){ median_sorted(v, c->count), v[0], v[c->count - 1] };
}

size_t cell_best_peer(const struct cell *cell)
{
	size_t best = 0;
	double least = 0;

	for (size_t i = 1; i < cell->count; i++) {
		double wall = candidate_spread(&cell->c[i], FIGURE_WALL).median;

		if (cell->c[i].failed || !cell->c[i].count)
			continue;
		if (!best || wall < least) {
			best = i;
			least = wall;
		}
	}
	return best;
}

double cell_ratio(const struct cell *cell, size_t peer, enum figure f)
{
	const struct candidate *a = &cell->c[0], *b = &cell->c[peer];
	size_t n = a->count < b->count ? a->count : b->count;
	double v[RUNS_MAX];

	if (!peer || !n)
		return 0;
	for (size_t i = 0; i < n; i++)
		v[i] = sample_figure(&b->runs[i], f) /
		       (sample_figure(&a->runs[i], f) + 1e-9);
	qsort(v, n, sizeof(v[0]), by_value);
	return median_sorted(v, n);
}
