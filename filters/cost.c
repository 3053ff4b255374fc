/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost.c - the cost model
 *
 * Each goal is one formula of size, ratio and two speeds.  A range comes out
 * by putting in the slow ends of both speeds for the high cost and the fast
 * ends for the low one, so whoever compares two costs compares what was seen.
 *
 *	transport	RTT + S/C + S/(r BW) + S/D
 *	web, dynamic	the same: every answer is packed anew
 *	web, static	RTT + S/(r BW) + S/D: packed once, before anybody asks
 *	read-heavy	S/(r BW) + S/D, if C reaches the write budget
 *	storage		price(S/r) and the CPU time of pack + N unpack
 */
#include "cost.h"

#include <math.h>

#define GB 1e9
#define HOUR 3600.0

bool range_overlap(const struct range *a, const struct range *b)
{
	return a->low <= b->high && b->low <= a->high;
}

double cost_break_even(double pack_speed, double ratio)
{
	return ratio > 1 ? pack_speed * (ratio - 1) / ratio : 0;
}

double cost_swap_reads(double pack_a, double unpack_a, double pack_b,
		       double unpack_b)
{
	if (unpack_b >= unpack_a)
		return pack_b < pack_a ? 0 : INFINITY;
	return fmax(0.0, (pack_b - pack_a) / (unpack_a - unpack_b));
}

double cost_reads(double pack_time, double unpack_time, double reads)
{
	return pack_time + reads * unpack_time;
}

double cost_transfer(const struct cost_link *l, double size, double ratio,
		     double pack_speed, double unpack_speed)
{
	return l->rtt + size / pack_speed + size / (ratio * l->bandwidth) +
	       size / unpack_speed;
}

double cost_money(const struct cost_price *p, double stored_bytes, double cpu_time)
{
	return p->storage * p->months * stored_bytes / GB + p->cpu * cpu_time / HOUR;
}

/* The cost at one pair of speeds. */
static double cost_at(const struct cost_terms *t, double ratio, double pack,
		      double unpack)
{
	switch (t->goal) {
	case COST_TRANSPORT:
	case COST_WEB_DYNAMIC:
		return cost_transfer(&t->link, t->size, ratio, pack, unpack);
	case COST_WEB_STATIC:
	case COST_READ_HEAVY:
		return cost_transfer(&t->link, t->size, ratio, INFINITY, unpack);
	case COST_STORAGE:
		return cost_money(&t->price, t->size / ratio,
				  cost_reads(t->size / pack, t->size / unpack, t->reads));
	}
	return INFINITY;
}

bool cost_of(const struct cost_terms *t, const struct cost_choice *c,
	     struct range *cost)
{
	if (c->stored) {
		cost->low = cost_at(t, 1, INFINITY, INFINITY);
		cost->mid = cost->high = cost->low;
		return true;
	}
	cost->low = cost_at(t, c->ratio, c->pack.high, c->unpack.high);
	cost->mid = cost_at(t, c->ratio, c->pack.mid, c->unpack.mid);
	cost->high = cost_at(t, c->ratio, c->pack.low, c->unpack.low);
	return t->goal != COST_READ_HEAVY || c->pack.mid >= t->write_budget;
}
