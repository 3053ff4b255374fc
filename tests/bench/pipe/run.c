/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.c - run one command once and take its time
 *
 * MODE_FILE: standard input is the file, standard output is /dev/null.
 * MODE_PIPE: a feeder process copies the file into one pipe and a drain process
 * empties the other, both with cat's 128 KiB; the clock stops when the drain
 * has seen the end.  CPU time and peak memory are those of the command alone.
 * This process stays small, because a child's peak starts at its parent's.
 */
#include "pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COPY_BYTES ((size_t)128 << 10)	/* what cat reads and writes */
#define WORDS_MAX 16

struct words {
	char text[256];
	char *argv[WORDS_MAX + 1];
};

static void words_split(struct words *w, const char *command)
{
	size_t n = 0;

	snprintf(w->text, sizeof(w->text), "%s", command + (command[0] == '@'));
	for (char *p = strtok(w->text, " "); p && n < WORDS_MAX; p = strtok(NULL, " "))
		w->argv[n++] = p;
	w->argv[n] = NULL;
}

double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool command_present(const char *command)
{
	struct words w;
	char path[512], *dirs = strdup(getenv("PATH") ? getenv("PATH") : "");
	bool found = false;

	words_split(&w, command);
	for (char *d = strtok(dirs, ":"); d && !found; d = strtok(NULL, ":")) {
		snprintf(path, sizeof(path), "%s/%s", d, w.argv[0]);
		found = !access(path, X_OK);
	}
	free(dirs);
	return found;
}

static void exec_command(const char *command, int in, int out)
{
	struct words w;
	int null = open("/dev/null", O_WRONLY);

	words_split(&w, command);
	dup2(in, 0);
	dup2(out, 1);
	dup2(null, 2);
	execvp(w.argv[0], w.argv);
	_exit(127);
}

/* Copies all of in to out and returns how much; out < 0 = nowhere. */
static uint64_t copy_all(int in, int out)
{
	static char buf[COPY_BYTES];
	uint64_t sum = 0;
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)) {
		sum += n > 0 ? (uint64_t)n : 0;
		for (ssize_t at = 0, w; out >= 0 && at < n; at += w)
			if ((w = write(out, buf + at, (size_t)(n - at))) <= 0)
				return sum;
	}
	return sum;
}

static bool wait_ok(pid_t pid, struct rusage *u)
{
	int status;

	return pid > 0 && wait4(pid, &status, 0, u) == pid &&
		WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void sample_usage(struct sample *s, const struct rusage *u)
{
	s->cpu = (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
		 (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e-6;
	s->rss = (double)u->ru_maxrss * 1024;
}

static bool run_on_file(const char *command, int in, int out, struct sample *s)
{
	struct rusage u;
	double start = now_seconds();
	pid_t pid = fork();
	bool ok;

	if (pid == 0)
		exec_command(command, in, out);
	ok = wait_ok(pid, &u);
	s->wall = now_seconds() - start;
	sample_usage(s, &u);
	s->out = 0;
	return ok;
}

struct plumbing {
	int in[2], out[2];	/* pipes before and behind the command */
	pid_t feeder, drain;
	uint64_t *drained;	/* shared with the drain */
};

static bool plumbing_start(struct plumbing *p, int file)
{
	p->drained = mmap(NULL, sizeof(*p->drained), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->drained == MAP_FAILED || pipe2(p->in, O_CLOEXEC) || pipe2(p->out, O_CLOEXEC))
		return false;
	p->feeder = fork();
	if (p->feeder == 0) {
		close(p->in[0]);
		close(p->out[0]);
		close(p->out[1]);
		copy_all(file, p->in[1]);
		_exit(0);
	}
	p->drain = fork();
	if (p->drain == 0) {
		close(p->in[0]);
		close(p->in[1]);
		close(p->out[1]);
		*p->drained = copy_all(p->out[0], -1);
		_exit(0);
	}
	return p->feeder > 0 && p->drain > 0;
}

static bool run_in_pipes(const char *command, int file, struct sample *s)
{
	struct plumbing p;
	struct rusage u;
	double start = now_seconds();
	pid_t pid;
	bool ok;

	if (!plumbing_start(&p, file))
		return false;
	pid = fork();
	if (pid == 0)
		exec_command(command, p.in[0], p.out[1]);
	close(p.in[0]);
	close(p.in[1]);
	close(p.out[0]);
	close(p.out[1]);
	ok = wait_ok(pid, &u);
	waitpid(p.drain, NULL, 0);
	s->wall = now_seconds() - start;
	waitpid(p.feeder, NULL, 0);
	sample_usage(s, &u);
	s->out = *p.drained;
	munmap(p.drained, sizeof(*p.drained));
	return ok;
}

bool run_command(const char *command, const char *input, enum mode mode,
		 struct sample *s)
{
	int in = open(input, O_RDONLY | O_CLOEXEC);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	bool ok = in >= 0 && null >= 0;

	if (ok)
		ok = mode == MODE_FILE ? run_on_file(command, in, null, s) :
					 run_in_pipes(command, in, s);
	close(in);
	close(null);
	return ok;
}

bool run_to_file(const char *command, const char *input, const char *output)
{
	int in = open(input, O_RDONLY | O_CLOEXEC);
	int out = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct sample s;
	bool ok = in >= 0 && out >= 0 && run_on_file(command, in, out, &s);

	close(in);
	close(out);
	if (!ok)
		unlink(output);
	return ok;
}
