/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_plot.c - ratio against speed: on a terminal and as SVG
 *
 * x is the ratio, y the speed on a logarithmic scale.  On a terminal a row is
 * shown by its number in the table; rows that fall on one place share it, the
 * later ones are named below.  In the SVG, levels of a codec are joined by a
 * line, bars are the least and the most, and a ring marks the Pareto front.
 */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "vprobe_bench.h"

#define COLUMNS 60
#define LINES 18

struct axes {
	double x0, x1;		/* ratio */
	double y0, y1;		/* log10 of MB/s */
};

static const struct bench_side *side_of(const struct bench_row *r, bool unpack)
{
	return unpack ? &r->unpack : &r->pack;
}

static double level(double bytes_a_second)
{
	return log10(fmax(bytes_a_second, 1) / 1e6);
}

/* A little more than what the rows fill. */
static struct axes axes_of(const struct bench_table *t, bool unpack)
{
	struct axes a = { INFINITY, -INFINITY, INFINITY, -INFINITY };
	double dx, dy;

	for (int i = 0; i < t->rows; i++) {
		const struct range *v = &side_of(&t->row[i], unpack)->speed;

		a.x0 = fmin(a.x0, t->row[i].ratio);
		a.x1 = fmax(a.x1, t->row[i].ratio);
		a.y0 = fmin(a.y0, level(v->low));
		a.y1 = fmax(a.y1, level(v->high));
	}
	dx = fmax(a.x1 - a.x0, 0.1) * 0.05;
	dy = fmax(a.y1 - a.y0, 0.1) * 0.05;
	return (struct axes){ a.x0 - dx, a.x1 + dx, a.y0 - dy, a.y1 + dy };
}

static int cell(double v, double from, double to, int cells)
{
	int i = (int)((v - from) / (to - from) * cells);

	return i < 0 ? 0 : i >= cells ? cells - 1 : i;
}

/* A row's sign: 1 to 9, then letters. */
static char sign(int i)
{
	static const char signs[] = "123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return signs[i < (int)sizeof(signs) - 1 ? i : (int)sizeof(signs) - 2];
}

static void grid_fill(const struct bench_table *t, const struct axes *a, bool unpack,
		      char grid[LINES][COLUMNS])
{
	memset(grid, ' ', LINES * COLUMNS);
	for (int i = t->rows - 1; i >= 0; i--) {
		const struct bench_row *r = &t->row[i];
		int x = cell(r->ratio, a->x0, a->x1, COLUMNS);
		int y = cell(level(side_of(r, unpack)->speed.mid), a->y0, a->y1, LINES);

		grid[LINES - 1 - y][x] = sign(i);
	}
}

static void legend(const struct bench_table *t, FILE *to)
{
	for (int i = 0; i < t->rows; i++)
		fprintf(to, "%s%c %-12s", i % 5 ? "  " : i ? "\n          " : "          ",
			sign(i), t->row[i].choice.name);
	fprintf(to, "\n");
}

static void plot_side(const struct bench_table *t, bool unpack, FILE *to)
{
	struct axes a = axes_of(t, unpack);
	char grid[LINES][COLUMNS];

	grid_fill(t, &a, unpack, grid);
	fprintf(to, "\n%s, MB/s\n", unpack ? "unpack" : "pack");
	for (int y = 0; y < LINES; y++) {
		double v = a.y1 - (a.y1 - a.y0) * (y + 0.5) / LINES;

		if (y % 4 == 0)
			fprintf(to, "%8.4g |", pow(10, v));
		else
			fprintf(to, "%8s |", "");
		fprintf(to, "%.*s\n", COLUMNS, grid[y]);
	}
	fprintf(to, "%8s +", "");
	for (int x = 0; x < COLUMNS; x++)
		putc('-', to);
	fprintf(to, "\n%10s%-*.2f%*.2f ratio\n", "", COLUMNS / 2, a.x0, COLUMNS / 2 - 6, a.x1);
}

void bench_plot(const struct bench_table *t, FILE *to)
{
	plot_side(t, false, to);
	plot_side(t, true, to);
	legend(t, to);
}

/* A growing text. */
struct text {
	char *at;
	size_t len, cap;
};

__attribute__((format(printf, 2, 3)))
static void put(struct text *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (s->cap - s->len < 512) {
		s->cap = s->cap * 2 + 4096;
		s->at = realloc(s->at, s->cap);
		if (!s->at)
			die("no memory for the picture");
	}
	va_start(ap, fmt);
	n = vsnprintf(s->at + s->len, s->cap - s->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		s->len += (size_t)n < s->cap - s->len ? (size_t)n : s->cap - s->len - 1;
}

/* Text for XML, byte by byte; other than ASCII as it is. */
static void put_escaped(struct text *s, const char *p)
{
	for (; *p; p++) {
		if (strchr("<>&\"", *p))
			put(s, "&#%d;", *p);
		else if ((unsigned char)*p >= ' ')
			put(s, "%c", *p);
	}
}

#define WIDTH 560.0
#define HEIGHT 380.0
#define LEFT 70.0
#define TOP 60.0
#define PANEL (WIDTH + 130)

static double place_x(const struct axes *a, double ratio)
{
	return LEFT + (ratio - a->x0) / (a->x1 - a->x0) * WIDTH;
}

static double place_y(const struct axes *a, double log_speed)
{
	return TOP + (a->y1 - log_speed) / (a->y1 - a->y0) * HEIGHT;
}

/* One colour a codec, told apart by most eyes (Okabe and Ito's set). */
static const char *colour(const struct filter *f)
{
	static const char *const set[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7",
					   "#e69f00", "#56b4e9", "#000000", "#999933" };

	for (size_t i = 0; i < filter_count; i++)
		if (filter_table[i] == f)
			return set[i % 8];
	return set[6];
}

static void svg_axes(struct text *s, const struct axes *a, bool unpack)
{
	static const double steps[] = { 1, 2, 5 };

	put(s, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"none\" "
	    "stroke=\"#888\"/>\n", LEFT, TOP, WIDTH, HEIGHT);
	put(s, "<text x=\"%g\" y=\"%g\">%s, MB/s (log)</text>\n", LEFT, TOP - 8,
	    unpack ? "unpacking" : "packing");
	for (int e = -3; e < 6; e++)
		for (int k = 0; k < 3; k++) {
			double v = e + log10(steps[k]), y = place_y(a, v);

			if (v < a->y0 || v > a->y1)
				continue;
			put(s, "<path d=\"M%g %.1fh%g\" stroke=\"#ddd\"/>\n", LEFT, y, WIDTH);
			put(s, "<text x=\"%g\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			    LEFT - 6, y + 4, pow(10, v));
		}
	for (int k = 0; k <= 8; k++) {
		double r = a->x0 + (a->x1 - a->x0) * k / 8;

		put(s, "<text x=\"%.1f\" y=\"%g\" text-anchor=\"middle\">%.2f</text>\n",
		    place_x(a, r), TOP + HEIGHT + 18, r);
	}
	put(s, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">ratio</text>\n",
	    LEFT + WIDTH / 2, TOP + HEIGHT + 36);
}

/* Levels of one codec stand next to each other in the table. */
static void svg_lines(struct text *s, const struct bench_table *t, const struct axes *a,
		      bool unpack)
{
	for (int i = 1; i < t->rows; i++) {
		const struct bench_row *p = &t->row[i - 1], *q = &t->row[i];

		if (p->choice.filter != q->choice.filter)
			continue;
		put(s, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" opacity=\".5\"/>\n",
		    place_x(a, p->ratio), place_y(a, level(side_of(p, unpack)->speed.mid)),
		    place_x(a, q->ratio), place_y(a, level(side_of(q, unpack)->speed.mid)),
		    colour(q->choice.filter));
	}
}

static void svg_point(struct text *s, const struct bench_row *r, const struct axes *a, bool unpack)
{
	const struct bench_side *side = side_of(r, unpack);
	double x = place_x(a, r->ratio), y = place_y(a, level(side->speed.mid));
	const char *c = colour(r->choice.filter);

	put(s, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\"/>\n", x,
	    place_y(a, level(side->speed.low)), place_y(a, level(side->speed.high)), c);
	put(s, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x, y, c);
	if (side->front)
		put(s, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"6\" fill=\"none\" stroke=\"%s\"/>\n",
		    x, y, c);
	put(s, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">", x + 8, y + 4, c);
	put_escaped(s, r->choice.name);
	put(s, "</text>\n");
}

static void svg_side(struct text *s, const struct bench_table *t, bool unpack)
{
	struct axes a = axes_of(t, unpack);

	put(s, "<g transform=\"translate(%g 0)\">\n", unpack ? PANEL : 0);
	svg_axes(s, &a, unpack);
	svg_lines(s, t, &a, unpack);
	for (int i = 0; i < t->rows; i++)
		svg_point(s, &t->row[i], &a, unpack);
	put(s, "</g>\n");
}

char *bench_svg(const struct bench_table *t, size_t *len)
{
	struct text s = { .len = 0 };

	put(&s, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
	    "font-family=\"sans-serif\" font-size=\"11\">\n", 2 * PANEL, HEIGHT + TOP + 60);
	put(&s, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n<text x=\"%g\" y=\"20\" "
	    "font-size=\"14\">", LEFT);
	put_escaped(&s, t->name);
	put(&s, ", %zu bytes; bars: least and most of %d rounds; rings: Pareto front</text>\n",
	    t->bytes, t->rounds);
	svg_side(&s, t, false);
	svg_side(&s, t, true);
	put(&s, "</svg>\n");
	*len = s.len;
	return s.at;
}
