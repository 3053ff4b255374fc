/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.h - options as a table
 *
 * An applet's options are one array of struct opt, ended by OPT_END.  Parsing,
 * the help text and the completions of three shells come from it and from
 * nowhere else.  Spelling: -k, clusters (-kf), -T4, -T 4, --threads=4,
 * --threads 4, --long and --long=27 for optional arguments; options and
 * operands in any order; "--" ends options; "-" is an operand.  Abbreviations
 * are refused, because scripts that use them break with the next release.
 */
#ifndef OPT_H
#define OPT_H

#include <stdbool.h>
#include <stdint.h>

enum opt_kind {
	OPT_END,
	OPT_GROUP,	/* a heading in the help text */
	OPT_SET,	/* int *dest = value; no argument */
	OPT_ADD,	/* int *dest += value; no argument */
	OPT_INT,	/* int *dest, min .. max */
	OPT_SIZE,	/* uint64_t *dest: 500, 64K, 64KiB, 1.5M, 2g; min .. max */
	OPT_TEXT,	/* const char **dest; "-" when [X] is absent */
	OPT_WORD,	/* int *dest = index of the argument in words */
	OPT_CALL,	/* call(o, argument or NULL) */
	OPT_LEVEL,	/* int *dest: -1 -19 as an option of digits; min .. max */
};

struct opt {
	enum opt_kind kind;
	char letter;		/* 0 = none */
	const char *name;	/* long name without dashes, NULL = none */
	void *dest;
	const char *arg;	/* its argument in help: "N"; "[N]" = optional,
				   only as --name=N; NULL = no argument */
	const char *help;	/* what it does; NULL = not in the help text */
	int64_t value;		/* OPT_SET, OPT_ADD; the rest: when [N] is absent */
	int64_t min, max;
	const char *const *words;	/* NULL-ended; also used by completions */
	void (*call)(const struct opt *o, const char *arg);
};

/* Options that mean the same in every applet; first thing after a GROUP. */
struct common {
	int threads;		/* -T; 0 = all usable CPUs */
	uint64_t memory;	/* -M; 0 = a share of the machine's */
	int json;
	int progress;		/* -1 = if standard error is a terminal */
};
extern struct common common;

#define OPT_COMMON \
	{ OPT_GROUP, .help = "Common" }, \
	{ OPT_INT, 'T', "threads", &common.threads, "N", \
		"worker threads; 0 = all usable CPUs (default)", \
		.min = 0, .max = 256 }, \
	{ OPT_SIZE, 'M', "memory", &common.memory, "SIZE", \
		"memory limit (default: half of what the machine or cgroup has)", \
		.min = 1 << 20, .max = INT64_MAX }, \
	{ OPT_SET, 0, "json", &common.json, NULL, \
		"a line of JSON for each file", .value = 1 }, \
	{ OPT_SET, 0, "progress", &common.progress, NULL, \
		"show progress (default on a terminal)", .value = 1 }, \
	{ OPT_SET, 0, "no-progress", &common.progress, NULL, \
		"don't", .value = 0 }, \
	{ OPT_ADD, 'v', "verbose", &say_level, NULL, "say more", .value = 1 }, \
	{ OPT_ADD, 'q', "quiet", &say_level, NULL, \
		"say less: no warnings, twice: no errors either", .value = -1 }

/* One applet: a row of main.c's table. */
struct applet {
	const char *name;
	int (*main)(int argc, char **argv);	/* returns say_status() */
	const struct opt *options;
	const char *usage;	/* "[OPTION]... [FILE]..." */
	const char *about;	/* one line */
	const char *more;	/* text after the options in --help, or NULL */
};
extern const struct applet vcompress_applet, vdecompress_applet, vprobe_applet,
	vconvert_applet;

/*
 * Parses; leaves the operands in argv[0] ... argv[n - 1] and returns n.
 * --help, --version and errors end the process; the strings are argv's own.
 */
int opt_parse(const struct applet *a, int argc, char **argv);

/*
 * Does the command line hold one of these letters or the long name of their
 * options?  Changes nothing; for an applet that hands over to another.
 */
bool opt_asks(const struct applet *a, int argc, char **argv, const char *letters);

/* VOLTBOX_THREADS, before the options are parsed. */
void common_from_environment(void);

/* Goes on as another applet. */
int applet_switch(const struct applet *a, int argc, char **argv);

/* "64K" and the like; false when it isn't a size.  K = KiB = 1024. */
bool opt_size(const char *text, uint64_t *size);

/* The program's, every library's version and the decode kernel (main.c). */
void version_print(void);
/* Flushes and closes standard output; a failure is said and counted. */
void stdout_close(void);

/* The help text; completion scripts for "bash", "zsh" or "fish". */
void opt_help(const struct applet *a);
bool opt_completion(const char *shell, const struct applet *const *applets);

#endif
