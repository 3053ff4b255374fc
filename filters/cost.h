/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.h - what packing costs and saves: the formulas behind vprobe --for
 *
 * Plain arithmetic on numbers that somebody measured.  Speeds are raw bytes a
 * second, ratios raw/packed, times seconds, bandwidths bytes a second.
 */
#ifndef COST_H
#define COST_H

#include <stdbool.h>

/* A measured value: its median and the least and the most that was seen. */
struct range {
	double low, mid, high;
};

/* Two ranges that share a value can't be told apart. */
bool range_overlap(const struct range *a, const struct range *b);

/* One way to pack some data. */
struct cost_choice {
	double ratio;
	struct range pack, unpack;	/* raw bytes a second */
	bool stored;			/* not packed: ratio 1, speeds don't count */
};

/*
 * The bandwidth below which packing at V bytes a second pays on a pipe where
 * packing and sending overlap: sending S/r must take as long as packing S
 * saves, B* = V (r - 1) / r.  0 when r <= 1.
 */
double cost_break_even(double pack_speed, double ratio);

/*
 * pack + n * unpack swaps its order at n = (pack_b - pack_a) / (unpack_a -
 * unpack_b): from this many reads on b, which packs slower and unpacks faster,
 * is the cheaper one.  INFINITY when b never is, 0 when b always is.
 */
double cost_swap_reads(double pack_a, double unpack_a, double pack_b,
		       double unpack_b);

/* pack + n * unpack, times of the whole input. */
double cost_reads(double pack_time, double unpack_time, double reads);

struct cost_link {
	double bandwidth;	/* bytes a second */
	double rtt;		/* seconds */
};

/*
 * One after the other: RTT + S/C + S/(r BW) + S/D.  An infinite C or D stands
 * for work that was done before, or is not done.
 */
double cost_transfer(const struct cost_link *l, double size, double ratio,
		     double pack_speed, double unpack_speed);

/* Money: what a gigabyte (10^9) costs a month and a CPU an hour. */
struct cost_price {
	double storage;		/* a GB and month */
	double cpu;		/* an hour */
	double months;
};
double cost_money(const struct cost_price *p, double stored_bytes, double cpu_time);

/* What --for asks for. */
enum cost_goal { COST_TRANSPORT, COST_STORAGE, COST_READ_HEAVY, COST_WEB_STATIC,
		 COST_WEB_DYNAMIC };
struct cost_terms {
	enum cost_goal goal;
	struct cost_link link;	/* transport, web; read-heavy: the storage's */
	double reads;		/* storage */
	struct cost_price price;	/* storage */
	double write_budget;	/* read-heavy: least pack speed; 0 = none */
	double size;		/* raw bytes */
};

/*
 * What a choice costs under these terms, in the goal's unit (seconds, or
 * money for COST_STORAGE), as the range that the measured speeds give; the
 * less the better.  false: the choice is ruled out (the write budget).
 */
bool cost_of(const struct cost_terms *t, const struct cost_choice *c,
	     struct range *cost);

#endif
