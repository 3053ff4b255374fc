/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say.h - messages and the exit status
 *
 * Every message is one line on standard error: "applet: file: reason".  What
 * was said decides the exit status, so nothing can fail silently or complain
 * with status 0.  Only the main thread speaks.
 */
#ifndef SAY_H
#define SAY_H

#include "filter.h"

/* What the process ends with; the worst of a run wins. */
enum status {
	STATUS_OK = 0,
	STATUS_ERROR = 1,
	STATUS_WARNING = 2,
	STATUS_REFUSED = 3,	/* not worth packing */
};

/* How much is said; -v and -q move it.  At SAY_NOTHING errors still count. */
enum say_level { SAY_NOTHING, SAY_ERRORS, SAY_WARNINGS, SAY_NOTES, SAY_DEBUG };
extern int say_level;

/* Codes of struct filter_error that only cmd/ gives; the errno is in offset. */
enum cmd_code {
	CMD_E_WRITE = -50,	/* an output failed; err->offset = its errno */
	CMD_E_LIMIT = -51,	/* --max-output, --max-ratio */
	CMD_E_SYSTEM = -52,	/* a thread or a descriptor could not be had */
};

/* Names the applet in all messages to come; the string must stay. */
void say_start(const char *applet);
const char *say_applet(void);

/* file: what the message is about, or NULL.  No full stop, no newline. */
void say_error(const char *file, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void say_warning(const char *file, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Seen with -v only; no influence on the status. */
void say_note(const char *file, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The text of the last error or warning, said or kept quiet; "" = none. */
const char *say_last(void);

/* Control characters of a file's name must not reach the terminal: "?". */
void say_clean(char *text, size_t n);

/*
 * A codec's error with its offset.  FILTER_E_REFUSED becomes STATUS_REFUSED;
 * CMD_E_WRITE is said with its errno, and silent when that is EPIPE.
 */
void say_failure(const char *file, const struct filter_error *err);

/* An errno as an error of the file; EPIPE only sets the status. */
void say_errno(const char *file, const char *what, int error);

/* Makes the status at least this bad: ok < warning < refused < error. */
void say_raise(enum status status);
enum status say_status(void);

/* Ends the process with STATUS_ERROR: no thread running, no output open. */
void die(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

#endif
