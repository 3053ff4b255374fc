/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.c - messages and the exit status
 *
 * A message is put together in one buffer and written by one write, so that
 * lines of several processes on one terminal don't mix.  A progress line that
 * stands on the terminal is cleared first.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "say.h"

int say_level = SAY_WARNINGS;

static const char *applet = "voltbox";
static enum status worst;
static char last[1024];	/* for JSON */

void say_start(const char *name)
{
	applet = name;
}

const char *say_last(void)
{
	return last;
}

const char *say_applet(void)
{
	return applet;
}

void say_raise(enum status status)
{
	static const int rank[] = {
		[STATUS_OK] = 0, [STATUS_WARNING] = 1,
		[STATUS_REFUSED] = 2, [STATUS_ERROR] = 3,
	};

	if (rank[status] > rank[worst])
		worst = status;
}

enum status say_status(void)
{
	return worst;
}

void say_clean(char *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
}

static size_t add(char *line, size_t used, size_t cap, const char *text)
{
	size_t n = strlen(text);

	if (n > cap - used)
		n = cap - used;
	memcpy(line + used, text, n);
	return used + n;
}

static void say(const char *file, const char *text)
{
	char line[4096];
	size_t n = 0, cap = sizeof(line) - 1;

	n = add(line, n, cap, applet);
	n = add(line, n, cap, ": ");
	if (file) {
		n = add(line, n, cap, file);
		n = add(line, n, cap, ": ");
	}
	n = add(line, n, cap, text);
	say_clean(line, n);
	line[n++] = '\n';
	progress_clear();
	if (write(STDERR_FILENO, line, n) < 0)
		return;		/* nowhere to complain */
}

void say_error(const char *file, const char *fmt, ...)
{
	va_list ap;

	say_raise(STATUS_ERROR);
	va_start(ap, fmt);
	vsnprintf(last, sizeof(last), fmt, ap);
	va_end(ap);
	if (say_level >= SAY_ERRORS)
		say(file, last);
}

void say_warning(const char *file, const char *fmt, ...)
{
	va_list ap;

	say_raise(STATUS_WARNING);
	va_start(ap, fmt);
	vsnprintf(last, sizeof(last), fmt, ap);
	va_end(ap);
	if (say_level >= SAY_WARNINGS)
		say(file, last);
}

void say_note(const char *file, const char *fmt, ...)
{
	char text[sizeof(last)];
	va_list ap;

	if (say_level < SAY_NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(file, text);
}

void say_errno(const char *file, const char *what, int error)
{
	if (error == EPIPE)
		say_raise(STATUS_ERROR);
	else
		say_error(file, "%s: %s", what, strerror(error));
}

static void say_refused(const char *file, const struct filter_error *err)
{
	say_raise(STATUS_REFUSED);
	say_note(file, "%s", err->what);
}

void say_failure(const char *file, const struct filter_error *err)
{
	if (err->code == FILTER_E_REFUSED)
		say_refused(file, err);
	else if (err->code == CMD_E_WRITE)
		say_errno(file, err->what, (int)err->offset);
	else if (err->offset == SIZE_UNKNOWN)
		say_error(file, "%s", err->what);
	else
		say_error(file, "%s (offset %llu)", err->what,
			  (unsigned long long)err->offset);
}

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(last, sizeof(last), fmt, ap);
	va_end(ap);
	if (say_level >= SAY_ERRORS)
		say(NULL, last);
	exit(STATUS_ERROR);
}
