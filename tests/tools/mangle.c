/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mangle - damage a packed file in every place and watch the unpacker
 *
 *	mangle [-j N] [-s STRIDE] [-f SUFFIX] [-u] [-e] cut|flip PACKED PLAIN COMMAND...
 *
 * cut keeps the first i bytes of PACKED, flip turns one bit of byte i over, for
 * every STRIDE-th i.  COMMAND gets the damaged bytes on standard input, or with
 * -f as a file of that suffix in a folder of its own.  What must hold:
 *
 *	no signal ends the command, and its status is 0 or 1
 *	status 0: the output is PLAIN (a flip may have hit a byte that carries no
 *		data, and a cut the optional end); not asked of flips with -u, for
 *		formats without a check, and with -e a cut may give a start of
 *		PLAIN, for formats without an end mark
 *	status 1: a message; after a cut the output is a start of PLAIN
 *	-f and status 1: no file beside the source is left
 *
 * N processes share the work.  Prints what fell short, the number of runs, and
 * fails if any did.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct bytes {
	uint8_t *p;
	size_t n;
};

struct job {
	bool flip;		/* else cut */
	bool unchecked;
	bool endless;		/* no end mark */
	const char *suffix;	/* NULL: by standard input */
	struct bytes packed, plain;
	char **argv;		/* with two free places at its end */
	int argc;
	size_t first, step;
	char dir[64];		/* this worker's folder, for -f */
};

/* One run's result. */
struct outcome {
	int status;		/* as from waitpid */
	struct bytes out, err;
	int extra_files;
};

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(125);
}

static struct bytes fd_bytes(int fd)
{
	struct stat st;
	struct bytes b;

	if (fstat(fd, &st))
		die("mangle: fstat");
	b.n = (size_t)st.st_size;
	b.p = malloc(b.n + 1);
	if (!b.p || pread(fd, b.p, b.n, 0) != (ssize_t)b.n)
		die("mangle: read");
	return b;
}

static struct bytes file_bytes(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct bytes b;

	if (fd < 0)
		die(path);
	b = fd_bytes(fd);
	close(fd);
	return b;
}

static int memory_file(const uint8_t *p, size_t n)
{
	int fd = memfd_create("mangle", MFD_CLOEXEC);

	if (fd < 0 || (n && pwrite(fd, p, n, 0) != (ssize_t)n))
		die("mangle: memfd");
	return fd;
}

static int spawn_and_wait(char **argv, int in, int out, int err)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		die("mangle: fork");
	if (pid == 0) {
		dup2(in, 0);
		dup2(out, 1);
		dup2(err, 2);
		execvp(argv[0], argv);
		die(argv[0]);
	}
	if (waitpid(pid, &status, 0) < 0)
		die("mangle: wait");
	return status;
}

/* Removes every file of the folder but `keep`; says how many there were. */
static int folder_clear(const char *dir, const char *keep)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	if (!d)
		die(dir);
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    (keep && !strcmp(e->d_name, keep)))
			continue;
		unlinkat(dirfd(d), e->d_name, 0);
		n++;
	}
	closedir(d);
	return n;
}

static void run_by_stdin(struct job *j, const uint8_t *p, size_t n, struct outcome *o)
{
	int in = memory_file(p, n), out = memory_file(NULL, 0), err = memory_file(NULL, 0);

	j->argv[j->argc] = NULL;
	o->status = spawn_and_wait(j->argv, in, out, err);
	o->out = fd_bytes(out);
	o->err = fd_bytes(err);
	o->extra_files = 0;
	close(in);
	close(out);
	close(err);
}

static void run_by_file(struct job *j, const uint8_t *p, size_t n, struct outcome *o)
{
	char src[160], dst[160];
	int fd, err = memory_file(NULL, 0), null = open("/dev/null", O_RDWR | O_CLOEXEC);

	snprintf(src, sizeof(src), "%s/x%s", j->dir, j->suffix);
	snprintf(dst, sizeof(dst), "%s/x", j->dir);
	fd = open(src, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, p, n) != (ssize_t)n || close(fd))
		die(src);
	j->argv[j->argc] = src;
	j->argv[j->argc + 1] = NULL;
	o->status = spawn_and_wait(j->argv, null, null, err);
	o->err = fd_bytes(err);
	o->out = access(dst, F_OK) ? (struct bytes){ calloc(1, 1), 0 } : file_bytes(dst);
	o->extra_files = folder_clear(j->dir, strrchr(src, '/') + 1);
	close(err);
	close(null);
}

/* Why this outcome falls short, or NULL. */
static const char *outcome_fault(const struct job *j, const struct outcome *o)
{
	bool start = o->out.n <= j->plain.n && !memcmp(o->out.p, j->plain.p, o->out.n);
	bool equal = start && o->out.n == j->plain.n;

	if (!WIFEXITED(o->status))
		return "a signal ended it";
	if (WEXITSTATUS(o->status) == 0 && j->flip)
		return equal || j->unchecked ? NULL : "status 0, wrong output";
	if (WEXITSTATUS(o->status) == 0)
		return equal || (start && j->endless) ? NULL : "status 0, wrong output";
	if (WEXITSTATUS(o->status) != 1)
		return "a status that isn't 0 or 1";
	if (o->err.n == 0)
		return "no message";
	if (j->suffix)
		return o->extra_files ? "a partial file is left" : NULL;
	if (!j->flip && !start)
		return "output isn't a start of the original";
	return NULL;
}

static bool damage_one(struct job *j, size_t i)
{
	struct outcome o;
	const char *fault;

	j->packed.p[i] ^= (uint8_t)(j->flip << i % 8);
	(j->suffix ? run_by_file : run_by_stdin)(j, j->packed.p,
						 j->flip ? j->packed.n : i, &o);
	j->packed.p[i] ^= (uint8_t)(j->flip << i % 8);
	fault = outcome_fault(j, &o);
	if (fault)
		fprintf(stderr, "%s at %zu of %zu: %s (status %#x; %.*s)\n",
			j->flip ? "flip" : "cut", i, j->packed.n, fault,
			(unsigned)o.status, (int)(o.err.n < 300 ? o.err.n : 300),
			(const char *)o.err.p);
	free(o.out.p);
	free(o.err.p);
	return !fault;
}

/* One worker's share; its status is the number of faults, at most 100. */
static int worker(struct job *j)
{
	int bad = 0;

	if (j->suffix && !mkdtemp(strcpy(j->dir, "mangle.XXXXXX")))
		die("mangle: mkdtemp");
	for (size_t i = j->first; i < j->packed.n && bad < 100; i += j->step)
		bad += !damage_one(j, i);
	if (j->suffix) {
		folder_clear(j->dir, NULL);
		rmdir(j->dir);
	}
	return bad;
}

static int run_workers(struct job *j, size_t workers, size_t stride)
{
	int bad = 0, status;

	j->step = workers * stride;
	for (size_t w = 0; w < workers; w++) {
		j->first = w * stride;
		switch (fork()) {
		case -1:
			die("mangle: fork");
		case 0:
			_exit(worker(j));
		}
	}
	while (wait(&status) > 0)
		bad += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
	printf("%s: %zu runs, %d fell short\n", j->flip ? "flip" : "cut",
	       (j->packed.n + stride - 1) / stride, bad);
	return bad ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct job j = { 0 };
	size_t workers = 2, stride = 1;
	int c, status;

	while ((c = getopt(argc, argv, "+j:s:f:ue")) != -1) {
		switch (c) {
		case 'j': workers = strtoul(optarg, NULL, 10); break;
		case 's': stride = strtoul(optarg, NULL, 10); break;
		case 'f': j.suffix = optarg; break;
		case 'u': j.unchecked = true; break;
		case 'e': j.endless = true; break;
		default: return 125;
		}
	}
	argv += optind;
	argc -= optind;
	if (argc < 4 || !workers || !stride ||
	    (strcmp(argv[0], "cut") && strcmp(argv[0], "flip"))) {
		fprintf(stderr, "usage: mangle [-j N] [-s STRIDE] [-f SUFFIX] [-u] [-e] "
			"cut|flip PACKED PLAIN COMMAND...\n");
		return 125;
	}
	j.flip = argv[0][0] == 'f';
	j.packed = file_bytes(argv[1]);
	j.plain = file_bytes(argv[2]);
	j.argc = argc - 3;
	j.argv = calloc((size_t)j.argc + 2, sizeof(*j.argv));
	if (!j.argv)
		die("mangle");
	memcpy(j.argv, argv + 3, (size_t)j.argc * sizeof(*j.argv));
	status = run_workers(&j, workers, stride);
	free(j.argv);
	free(j.packed.p);
	free(j.plain.p);
	return status;
}
