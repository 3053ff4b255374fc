/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - JSON lines, progress, numbers for people
 *
 * JSON is one object a line.  The writer keeps track of commas and escapes;
 * bytes of names that aren't UTF-8 become \ufffd, as JSON has no bytes.
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "filter.h"

struct json {
	FILE *to;
	bool comma;		/* something stands before the next value */
};
/* A line begins and ends; in between fields.  key NULL inside an array. */
void json_begin(struct json *j, FILE *to);
void json_end(struct json *j);
/* "error": its reason and its offset in the input; nothing where there is none. */
void json_error(struct json *j, const struct filter_error *err);
void json_text(struct json *j, const char *key, const char *text); /* NULL: null */
void json_number(struct json *j, const char *key, uint64_t n); /* SIZE_UNKNOWN: null */
void json_signed(struct json *j, const char *key, int64_t n);
void json_real(struct json *j, const char *key, double x, int decimals); /* not finite: null */
void json_bool(struct json *j, const char *key, bool b);
void json_open(struct json *j, const char *key, char bracket);	/* '{' or '[' */
void json_close(struct json *j, char bracket);			/* '}' or ']' */

/* The line of an input that was never begun: why is what was said last. */
void json_not_begun(FILE *to, const char *file, const char *action);

/* Seconds of a clock that doesn't jump. */
double clock_seconds(void);

/* "1.5 MiB"; buf of 16 bytes, returned. */
char *format_size(char buf[16], uint64_t n);

/*
 * Progress: one line on standard error, redrawn at most ten times a second,
 * on a terminal only; and one plain line whenever SIGUSR1 comes, anywhere.
 */
void progress_listen(void);	/* from the start: SIGUSR1 never ends us */
void progress_start(const char *file, uint64_t expected);	/* SIZE_UNKNOWN */
/* Cheap; from the main thread.  Totals so far. */
void progress_tick(uint64_t in, uint64_t out);
/* Clears the line before other messages come, and at the end. */
void progress_clear(void);
void progress_stop(void);

#endif
