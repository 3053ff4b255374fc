/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.c - how far the run is
 *
 * Two readers of the same counters: the line on a terminal, drawn by the main
 * thread as it passes by, and SIGUSR1's line, written by the handler itself,
 * so that it comes even while everything waits.  The handler uses write() and
 * integer arithmetic alone.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "opt.h"
#include "report.h"
#include "say.h"

#define REDRAW_SECONDS 0.1

static _Atomic uint64_t bytes_in, bytes_out, bytes_expected = SIZE_UNKNOWN;
static char current[128];		/* the file's name, cut */
static bool drawn, drawing;
static double started, last_drawn;

static char *put_number(char *p, uint64_t n)
{
	char digits[20];
	int k = 0;

	do
		digits[k++] = (char)('0' + n % 10);
	while (n /= 10);
	while (k)
		*p++ = digits[--k];
	return p;
}

static char *put_text(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

static void on_usr1(int sig)
{
	char line[512], *p = line;
	uint64_t expected = bytes_expected;
	int saved = errno;

	(void)sig;
	p = put_text(p, say_applet());
	p = put_text(p, ": ");
	if (*current) {
		p = put_text(p, current);
		p = put_text(p, ": ");
	}
	p = put_number(p, bytes_in);
	if (expected != SIZE_UNKNOWN) {
		p = put_text(p, " of ");
		p = put_number(p, expected);
	}
	p = put_text(p, " bytes in, ");
	p = put_number(p, bytes_out);
	p = put_text(p, " out\n");
	if (write(STDERR_FILENO, line, (size_t)(p - line)) < 0)
		p = line;	/* nowhere to complain */
	errno = saved;
}

static bool wanted(void)
{
	static int terminal = -1;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal || !common.progress)
		return false;
	return common.progress > 0 || say_level >= SAY_WARNINGS;
}

void progress_listen(void)
{
	struct sigaction now, ours = { .sa_handler = on_usr1, .sa_flags = SA_RESTART };

	if (!sigaction(SIGUSR1, NULL, &now) && now.sa_handler != SIG_IGN)
		sigaction(SIGUSR1, &ours, NULL);
}

void progress_start(const char *file, uint64_t expected)
{
	size_t n = strnlen(file, sizeof(current) - 1);

	memcpy(current, file, n);
	current[n] = 0;
	say_clean(current, n);
	bytes_in = bytes_out = 0;
	bytes_expected = expected;
	drawing = wanted();
	if (drawing)
		started = last_drawn = clock_seconds();
}

static void draw(double now)
{
	uint64_t in = bytes_in, out = bytes_out, expected = bytes_expected;
	double rate = (double)in / (now - started + 1e-9);
	char a[16], b[16], c[16];

	fprintf(stderr, "\r\033[K%.40s  %s -> %s  %s/s", current, format_size(a, in),
		format_size(b, out), format_size(c, (uint64_t)rate));
	if (expected != SIZE_UNKNOWN && expected && in)
		fprintf(stderr, "  %.0f%%  %.0f s left", 100.0 * (double)in / (double)expected,
			(double)(expected > in ? expected - in : 0) / rate);
	drawn = true;
}

void progress_tick(uint64_t in, uint64_t out)
{
	double now;

	atomic_store_explicit(&bytes_in, in, memory_order_relaxed);
	atomic_store_explicit(&bytes_out, out, memory_order_relaxed);
	if (!drawing)
		return;
	now = clock_seconds();
	if (now - last_drawn < REDRAW_SECONDS)
		return;
	last_drawn = now;
	draw(now);
}

void progress_clear(void)
{
	if (drawn)
		fprintf(stderr, "\r\033[K");
	drawn = false;
}

void progress_stop(void)
{
	progress_clear();
}
