/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - outputs that are whole or not there
 *
 * The order matters.  Opening: look at what stands at the path, refuse or ask,
 * make the temporary file (0600) with signals held until it is guarded.
 * Closing with success: end of a hole, owner, mode, times, fsync if wanted,
 * close, rename, and only then the guard goes.  Owner comes before mode,
 * because chown clears set-id bits; times come last, because all else touches
 * them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "io.h"
#include "say.h"

/* Zeros are looked for in pieces of the usual file system block. */
#define HOLE_UNIT ((size_t)4096)

/* On a terminal, with standard input not the data: may the file go? */
static bool ask_overwrite(const char *path)
{
	char answer[16] = { 0 };
	int c;

	fprintf(stderr, "%s: %s exists; overwrite? [y/N] ", say_applet(), path);
	if (!fgets(answer, sizeof(answer), stdin))
		return false;
	if (!strchr(answer, '\n'))
		while ((c = getchar()) != EOF && c != '\n')
			;
	return answer[0] == 'y' || answer[0] == 'Y';
}

bool output_may_replace(const char *path, const struct output_options *o)
{
	if (o->force)
		return true;
	if (o->ask && isatty(STDIN_FILENO) && isatty(STDERR_FILENO) &&
	    ask_overwrite(path))
		return true;
	say_error(path, "exists already; not overwritten without -f");
	return false;
}

static int failed(const char *path, const char *what, int error)
{
	say_errno(path, what, error);
	return -1;
}

/* A device or FIFO: written where it is. */
static int open_in_place(struct output *out, const char *path)
{
	out->path = strdup(path);
	out->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (out->fd < 0 || !out->path) {
		int err = errno;

		if (out->fd >= 0)
			close(out->fd);
		free(out->path);
		out->path = NULL;
		return failed(path, "can't open", err);
	}
	out->name = out->path;
	return 0;
}

/* dir/.name.XXXXXX; a name near NAME_MAX is cut. */
static char *temporary_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	int dir = slash ? (int)(slash + 1 - path) : 0;
	char *tmp;

	if (asprintf(&tmp, "%.*s.%.200s.XXXXXX", dir, path, path + dir) < 0)
		return NULL;
	return tmp;
}

static int open_temporary(struct output *out)
{
	int err = 0;

	out->tmp = temporary_name(out->path);
	if (!out->tmp)
		return -ENOMEM;
	signals_hold();
	out->fd = mkostemp(out->tmp, O_CLOEXEC);
	if (out->fd < 0)
		err = -errno;
	else
		out->slot = signals_guard(out->tmp);
	if (!err && out->slot < 0) {
		err = out->slot;
		unlink(out->tmp);
		close(out->fd);
	}
	signals_let();
	return err;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static int open_file(struct output *out, const char *path,
		     const struct output_options *o)
{
	struct stat st;
	bool is_there = !lstat(path, &st), is_link = is_there && S_ISLNK(st.st_mode);
	int err;

	if (is_there && (!is_link || !stat(path, &st))) {
		if (o->source && !o->in_place && S_ISREG(st.st_mode) &&
		    same_file(&st, &o->source->st)) {
			say_error(path, "is both input and output");
			return -1;
		}
		if (S_ISDIR(st.st_mode))
			return failed(path, "can't write", EISDIR);
		if (!S_ISREG(st.st_mode))
			return open_in_place(out, path);
	}
	if (is_there && !output_may_replace(path, o))
		return -1;
	/* Through a symbolic link, so that the link stays one. */
	if (is_link)
		out->path = realpath(path, NULL);
	if (!out->path)
		out->path = strdup(path);
	err = out->path ? open_temporary(out) : -ENOMEM;
	if (err) {
		free(out->path);
		free(out->tmp);
		out->path = out->tmp = NULL;
		return failed(path, "can't create", -err);
	}
	out->name = out->path;
	out->regular = true;
	out->sparse = o->sparse != SPARSE_NEVER;
	return 0;
}

static int open_stdout(struct output *out, const struct output_options *o)
{
	struct stat st;
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	out->fd = STDOUT_FILENO;
	out->name = IO_STDOUT_NAME;
	if (flags < 0 || fstat(STDOUT_FILENO, &st))
		return failed(out->name, "can't write", errno);
	out->regular = S_ISREG(st.st_mode);
	if (out->regular && o->source && o->source->regular &&
	    same_file(&st, &o->source->st) && st.st_size) {
		say_error(o->source->name, "is both input and output");
		return -1;
	}
	/* A hole over old bytes would show them; in O_APPEND seeking is void. */
	out->sparse = o->sparse == SPARSE_ALWAYS && out->regular &&
		      !(flags & O_APPEND) &&
		      lseek(STDOUT_FILENO, 0, SEEK_CUR) >= st.st_size;
	return 0;
}

int output_open(struct output *out, const char *path,
		const struct output_options *o)
{
	*out = (struct output){ .fd = -1, .slot = -1 };
	if (!path || !strcmp(path, "-"))
		return open_stdout(out, o);
	return open_file(out, path, o);
}

void output_discard(struct output *out)
{
	*out = (struct output){
		.fd = -1, .slot = -1, .discard = true, .name = IO_STDOUT_NAME,
	};
}

static int write_all(int fd, const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t put = write(fd, p, n);

		if (put >= 0) {
			p += put;
			n -= (size_t)put;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			struct pollfd w = { .fd = fd, .events = POLLOUT };

			if (poll(&w, 1, -1) < 0 && errno != EINTR)
				return -errno;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

static bool all_zero(const uint8_t *p, size_t n)
{
	return !p[0] && !memcmp(p, p + 1, n - 1);
}

/* Leading bytes of p, in whole units, that are (zero) or aren't zeros. */
static size_t run_length(const uint8_t *p, size_t n, bool zero)
{
	size_t i = 0;

	while (n - i >= HOLE_UNIT && all_zero(p + i, HOLE_UNIT) == zero)
		i += HOLE_UNIT;
	return !zero && n - i < HOLE_UNIT ? n : i;
}

static int write_sparse(struct output *out, const uint8_t *p, size_t n)
{
	while (n) {
		size_t run = run_length(p, n, true);
		int err;

		out->hole += run;
		p += run;
		n -= run;
		run = run_length(p, n, false);
		if (!run)
			continue;
		if (out->hole && lseek(out->fd, (off_t)out->hole, SEEK_CUR) < 0)
			return -errno;
		out->hole = 0;
		err = write_all(out->fd, p, run);
		if (err)
			return err;
		p += run;
		n -= run;
	}
	return 0;
}

int output_write(struct output *out, const void *buf, size_t n)
{
	out->total += n;
	if (out->discard)
		return 0;
	if (out->sparse)
		return write_sparse(out, buf, n);
	return write_all(out->fd, buf, n);
}

/* A hole at the end: the file must grow over it. */
static int end_hole(struct output *out)
{
	off_t at;

	if (!out->hole)
		return 0;
	at = lseek(out->fd, (off_t)out->hole, SEEK_CUR);
	out->hole = 0;
	if (at < 0 || ftruncate(out->fd, at))
		return -errno;
	return 0;
}

static mode_t umask_now(void)
{
	mode_t mask = umask(077);

	umask(mask);
	return mask;
}

/* Owner, mode and times of the source, as far as we may. */
static int take_after(int fd, const struct input *source)
{
	struct timespec times[2];
	mode_t mode;

	if (!source || !source->path || !source->regular)
		return fchmod(fd, 0666 & ~umask_now()) ? -errno : 0;
	mode = source->st.st_mode & 0777;
	if (fchown(fd, source->st.st_uid, source->st.st_gid)) {
		if (fchown(fd, (uid_t)-1, source->st.st_gid))
			mode &= (mode >> 3) | 0707;	/* what others may, our group may */
		if (fchown(fd, source->st.st_uid, (gid_t)-1) && errno != EPERM)
			return -errno;
	}
	if (fchmod(fd, mode))
		return -errno;
	times[0] = source->st.st_atim;
	times[1] = source->st.st_mtim;
	return futimens(fd, times) ? -errno : 0;
}

/* The name itself must be on the disk before a source is deleted. */
static int sync_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
	int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	int err = 0;

	free(dir);
	if (fd < 0)
		return -errno;
	/* Some file systems can't sync a folder and say so: nothing to do. */
	if (fsync(fd) && errno != EINVAL && errno != EROFS)
		err = -errno;
	close(fd);
	return err;
}

static int finish(struct output *out, const struct output_options *o)
{
	int err = end_hole(out);

	if (err || !out->path)
		return err;
	if (out->tmp)
		err = take_after(out->fd, o->source);
	if (!err && out->tmp && o->sync && fsync(out->fd))
		err = -errno;
	if (close(out->fd) && !err)
		err = -errno;
	out->fd = -1;
	if (!err && out->tmp && rename(out->tmp, out->path))
		err = -errno;
	if (!err && out->tmp && o->sync)
		err = sync_folder(out->path);
	return err;
}

int output_close(struct output *out, const struct output_options *o,
		 bool success)
{
	int err = 0;

	if (out->discard)
		return 0;
	if (success)
		err = finish(out, o);
	if (out->path && out->fd >= 0)
		close(out->fd);
	if (out->tmp && (!success || err))
		unlink(out->tmp);
	signals_release(out->slot);
	free(out->tmp);
	free(out->path);
	out->tmp = out->path = NULL;
	out->fd = -1;
	return err;
}
