/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test.h - the few words that the C tests of the probe and the cost model share
 *
 * A test is a function; it says what it guards with CHECK(condition, "fact").
 * Output is TAP, one line a test, so that tests/tally counts it.
 */
#ifndef PROBE_TEST_H
#define PROBE_TEST_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int test_bad, test_failed, test_number;

__attribute__((format(printf, 2, 3), unused))
static void test_check(int ok, const char *fmt, ...)
{
	va_list ap;

	if (ok)
		return;
	va_start(ap, fmt);
	printf("# ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
	test_bad++;
}
/* The condition is evaluated before the words are. */
#define CHECK(ok, ...) do { \
		int ok_ = !!(ok); \
		test_check(ok_, __VA_ARGS__); \
	} while (0)

__attribute__((unused))
static void test_run(const char *name, void (*fn)(void))
{
	test_bad = 0;
	fn();
	printf("%sok %d - %s\n", test_bad ? "not " : "", ++test_number, name);
	fflush(stdout);
	test_failed += test_bad != 0;
}

__attribute__((unused))
static void test_skip(const char *name, const char *why)
{
	printf("ok %d - %s # skip %s\n", ++test_number, name, why);
}

__attribute__((unused))
static int test_done(void)
{
	printf("1..%d\n", test_number);
	return test_failed != 0;
}

/* xorshift64*: the same numbers on every machine. */
static uint64_t test_state = 88172645463325252ull;

__attribute__((unused))
static uint64_t test_random(void)
{
	test_state ^= test_state << 13;
	test_state ^= test_state >> 7;
	test_state ^= test_state << 17;
	return test_state * 0x2545f4914f6cdd1dull;
}

__attribute__((unused))
static void test_noise(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(test_random() >> 56);
}

#endif
