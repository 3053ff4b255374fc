/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.h - inputs, outputs, signals
 *
 * An input is a file or standard input.  An output is standard output or a
 * file that nobody sees until it is whole: written under a temporary name in
 * the same folder, readable by its owner alone, then given the source's mode,
 * owner and times and renamed.  One boolean at closing decides whether it
 * stays.  A signal that ends the process removes it first.
 *
 * Functions that return int or ptrdiff_t give a negative errno on failure and
 * have said nothing, unless their comment says that they did.
 */
#ifndef IO_H
#define IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define IO_STDIN_NAME "(standard input)"
#define IO_STDOUT_NAME "(standard output)"

struct input {
	int fd;
	const char *name;	/* for messages */
	const char *path;	/* NULL = standard input */
	struct stat st;
	bool regular;
	uint64_t left;		/* regular: bytes to the end as it was at opening */
	int wake;		/* event fd that input_interrupt() uses, or -1 */
	bool interrupted;
};

/* "-" is standard input.  O_NOFOLLOW is for callers that refuse symlinks. */
int input_open(struct input *in, const char *path, int more_flags);

/*
 * Up to n bytes; 0 = the end.  Waits on a non-blocking descriptor, retries
 * after a signal.  What is appended to a regular file after it was opened is
 * not read, so its size is known: input_size().
 */
ptrdiff_t input_read(struct input *in, void *buf, size_t n);

/*
 * n bytes at an offset of a struct input that is a regular file, fewer only at
 * its end; the place where input_read() goes on stays.  A lzv_file's read.
 */
ptrdiff_t input_read_at(void *input, uint64_t at, uint8_t *buf, size_t n);

/* Bytes still to come, SIZE_UNKNOWN for a pipe. */
uint64_t input_size(const struct input *in);

/* Is there something to read (or the end) within ms?  1, 0, -errno. */
int input_wait(struct input *in, int ms);

/* Makes a read that another thread waits in return -ECANCELED, now and later. */
void input_interrupt(struct input *in);
/* Prepares for that; call before the reading thread starts. */
int input_make_interruptible(struct input *in);
void input_close(struct input *in);

/*
 * Deletes a source whose output is safe, unless it isn't the file any more that
 * was read: appended to, rewritten, replaced.  Says what hinders it.
 */
void input_delete(const struct input *in);

/* The whole of a file, malloc'ed; at most max bytes (else -EFBIG). */
int input_load(const char *path, size_t max, uint8_t **data, size_t *len);

struct output {
	int fd;
	const char *name;	/* for messages */
	char *path, *tmp;	/* of a file we make; NULL = standard output */
	int slot;		/* in the table of what a signal removes */
	bool discard;		/* count and forget: -t */
	bool regular;
	bool sparse;		/* leave holes for zeros */
	uint64_t hole;		/* zeros not yet written */
	uint64_t total;		/* bytes given to output_write */
};

enum sparse { SPARSE_NEVER, SPARSE_AUTO, SPARSE_ALWAYS };

struct output_options {
	bool force;		/* -f: overwrite without asking */
	bool sync;		/* fsync before the rename */
	enum sparse sparse;	/* auto: only in files that we make */
	const struct input *source;	/* mode, owner, times come from it; or NULL */
	bool ask;		/* may prompt: standard input isn't data */
	bool in_place;		/* the output takes the source's place */
};

/* May what is at path be replaced?  Asks, or says that it may not. */
bool output_may_replace(const char *path, const struct output_options *o);
/*
 * path NULL or "-" = standard output.  An existing path that isn't a regular
 * file (/dev/null, a FIFO) is opened and written in place.  Says why when it
 * fails, and returns -1.
 */
int output_open(struct output *out, const char *path,
		const struct output_options *o);
/* An output that only counts. */
void output_discard(struct output *out);
/* All of it or -errno. */
int output_write(struct output *out, const void *buf, size_t n);
/*
 * Ends the output.  success: it is complete; the file gets its name.  Else
 * what we made is removed.  -errno when finishing failed; then it is removed
 * too.
 */
int output_close(struct output *out, const struct output_options *o,
		 bool success);

/* Installs handlers; call once, before any output is opened. */
void signals_start(void);
/* The file is removed if a signal ends us; slot for signals_release. */
int signals_guard(const char *path);
void signals_release(int slot);
/* Signals that end the process wait between these two. */
void signals_hold(void);
void signals_let(void);

bool input_is_terminal(const struct input *in);
bool stdout_is_terminal(void);

/*
 * Calls act for every operand, and for the names of a NUL-separated list, and
 * below folders when recurse is set.  Names what it can't read or skips.
 */
struct file_list {
	char **operands;
	int count;
	const char *files0;	/* list file, "-" = standard input, NULL = none */
	bool recurse;
	void (*act)(const char *path, bool found, void *ctx);	/* found: below a
				   folder, not named by the user */
	void *ctx;
};
void files_each(const struct file_list *l);

#endif
