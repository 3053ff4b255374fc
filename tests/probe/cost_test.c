/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost_test.c - the cost model against worked examples
 *
 * The times are published ones for one file: gzip levels 1 and 9, brotli 1 and
 * 11, a zstd level.  The results were worked out by hand.
 */
#include "cost.h"
#include "test.h"

#include <math.h>

static int near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance;
}

/* gzip 1 and 9: (1420.5 - 94.7) / (74.1 - 50.7) = 56.66, so 57 reads. */
static void test_swap_gzip(void)
{
	double n = cost_swap_reads(94.7, 74.1, 1420.5, 50.7);

	CHECK(ceil(n) == 57, "swap at %g, not 57", n);
	CHECK(cost_reads(94.7, 74.1, 56) < cost_reads(1420.5, 50.7, 56),
	      "level 1 is not the cheaper one at 56 reads");
	CHECK(cost_reads(94.7, 74.1, 57) > cost_reads(1420.5, 50.7, 57),
	      "level 9 is not the cheaper one at 57 reads");
}

static void test_swap_brotli(void)
{
	double n = cost_swap_reads(159.1, 134.3, 84885.4, 75.4);

	CHECK(n >= 1438 && n <= 1440, "swap at %g, not 1,438 to 1,440", n);
}

static void test_swap_never(void)
{
	CHECK(isinf(cost_swap_reads(1, 5, 2, 5)), "equal readers swap");
	CHECK(isinf(cost_swap_reads(1, 5, 2, 6)), "slower in both swaps");
	CHECK(cost_swap_reads(2, 5, 1, 4) == 0, "faster in both isn't always cheaper");
	CHECK(cost_swap_reads(2, 5, 1, 6) == 0, "packs faster isn't cheaper at 0 reads");
}

/* 218.1 MB/s * 6.2716 / 7.2716 = 188.1064 MB/s = 1,504.85 Mbit/s. */
static void test_break_even(void)
{
	double mbit = cost_break_even(218.1e6, 7.2716) * 8 / 1e6;

	CHECK(near(mbit, 1504.85, 0.005), "break-even at %.4f Mbit/s", mbit);
	CHECK(cost_break_even(218.1e6, 1) == 0, "ratio 1 pays");
	CHECK(cost_break_even(218.1e6, 0.9) == 0, "ratio below 1 pays");
}

/* 1 MB at 1 MB/s behind 10 ms: 1.010 s plain; at ratio 4, 100 and 500 MB/s:
   0.010 + 0.010 + 0.250 + 0.002 = 0.272 s. */
static void test_transfer(void)
{
	struct cost_link link = { 1e6, 0.010 };
	double plain = cost_transfer(&link, 1e6, 1, INFINITY, INFINITY);
	double packed = cost_transfer(&link, 1e6, 4, 100e6, 500e6);

	CHECK(near(plain, 1.010, 1e-9), "plain %.6f s", plain);
	CHECK(near(packed, 0.272, 1e-9), "packed %.6f s", packed);
}

/* 100 GB at 0.02 for 12 months = 24; 10 CPU hours at 0.05 = 0.5. */
static void test_money(void)
{
	struct cost_price price = { 0.02, 0.05, 12 };

	CHECK(near(cost_money(&price, 100e9, 36000), 24.5, 1e-9), "money");
}

static void test_ranges(void)
{
	struct range a = { 1, 2, 3 }, b = { 3, 4, 5 }, c = { 3.1, 4, 5 };

	CHECK(range_overlap(&a, &b) && range_overlap(&b, &a), "touching ranges differ");
	CHECK(!range_overlap(&a, &c) && !range_overlap(&c, &a), "apart ranges overlap");
}

/* The slow ends give the high cost; a budget above the speed rules out. */
static void test_goals(void)
{
	struct cost_choice c = { 4, { 50e6, 100e6, 200e6 }, { 400e6, 500e6, 600e6 }, false };
	struct cost_choice none = { .stored = true };
	struct cost_terms t = { .goal = COST_TRANSPORT, .link = { 1e6, 0.01 }, .size = 1e6 };
	struct range r;

	CHECK(cost_of(&t, &c, &r) && near(r.mid, 0.272, 1e-9), "transport %g", r.mid);
	CHECK(near(r.high, 0.01 + 0.02 + 0.25 + 0.0025, 1e-9), "high end %g", r.high);
	CHECK(near(r.low, 0.01 + 0.005 + 0.25 + 1e6 / 600e6, 1e-9), "low end %g", r.low);
	CHECK(cost_of(&t, &none, &r) && near(r.mid, 1.01, 1e-9), "stored %g", r.mid);
	t.goal = COST_WEB_STATIC;
	CHECK(cost_of(&t, &c, &r) && near(r.mid, 0.262, 1e-9), "static %g", r.mid);
	t.goal = COST_READ_HEAVY;
	t.write_budget = 99e6;
	CHECK(cost_of(&t, &c, &r), "a write budget that is met rules out");
	t.write_budget = 101e6;
	CHECK(!cost_of(&t, &c, &r), "a write budget that is missed doesn't rule out");
	t.goal = COST_STORAGE;
	t.price = (struct cost_price){ 0.02, 0.05, 12 };
	t.reads = 10;
	t.size = 400e9;
	CHECK(cost_of(&t, &c, &r), "storage ruled out");
	CHECK(near(r.mid, 0.24 * 100 + 0.05 * (4000 + 10 * 800) / 3600, 1e-9),
	      "storage %g", r.mid);
}

int main(void)
{
	test_run("cost: gzip 1 and 9 swap at 57 reads", test_swap_gzip);
	test_run("cost: brotli 1 and 11 swap at 1,438 to 1,440 reads", test_swap_brotli);
	test_run("cost: choices that never swap", test_swap_never);
	test_run("cost: break-even bandwidth 1,504.85 Mbit/s", test_break_even);
	test_run("cost: transfer of 1 MB at 1 MB/s behind 10 ms", test_transfer);
	test_run("cost: money", test_money);
	test_run("cost: ranges that touch are not different", test_ranges);
	test_run("cost: every goal", test_goals);
	return test_done();
}
