/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dribble - run a command whose standard input hands out crumbs
 *
 *	dribble [-n SIZE] FILE COMMAND [ARG]...
 *
 * The command reads FILE through a pipe in pieces of SIZE bytes (default 1) for
 * the first 48 KiB, then in uneven ones of up to 4 KiB, so that large files end
 * soon too.  Single bytes go through a pipe in packet mode (O_DIRECT), where one
 * read gets one write.  A read that is shorter than a packet would lose the rest
 * of it, so larger pieces are written plainly, each once the pipe is empty.
 * Ends as the command ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOW_BYTES (48 * 1024)

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(125);
}

/* The size of the piece that starts at offset. */
static size_t piece(size_t offset, size_t size)
{
	if (offset < SLOW_BYTES)
		return size;
	return offset * 2654435761u % 4096 + 1;
}

/* Waits until the pipe is empty or nobody reads it any more. */
static void wait_empty(int out)
{
	struct pollfd p = { .fd = out };
	int held;

	while (!ioctl(out, FIONREAD, &held) && held > 0) {
		if (poll(&p, 1, 0) < 0 || (p.revents & POLLERR))
			return;
		usleep(20);
	}
}

static void feed(int in, int out, size_t size)
{
	uint8_t buf[4096];
	size_t offset = 0;
	bool packets = size == 1 && !fcntl(out, F_SETFL, O_DIRECT);

	for (;;) {
		ssize_t n = read(in, buf, piece(offset, size));

		if (n < 0)
			die("dribble: read");
		if (n == 0)
			return;
		if (n > 1 && packets)
			packets = fcntl(out, F_SETFL, 0);
		if (n > 1)
			wait_empty(out);
		if (write(out, buf, (size_t)n) != n)
			return;	/* the command doesn't read on: its affair */
		offset += (size_t)n;
	}
}

int main(int argc, char **argv)
{
	size_t size = 1;
	int in, fds[2], status;
	pid_t pid;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		size = strtoul(argv[2], NULL, 10);
		argv += 2;
		argc -= 2;
	}
	if (argc < 3 || size < 1 || size > 4096) {
		fprintf(stderr, "usage: dribble [-n SIZE] FILE COMMAND [ARG]...\n");
		return 125;
	}
	in = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (in < 0)
		die(argv[1]);
	if (pipe2(fds, O_CLOEXEC))
		die("dribble: pipe");
	pid = fork();
	if (pid < 0)
		die("dribble: fork");
	if (pid == 0) {
		dup2(fds[0], 0);
		execvp(argv[2], argv + 2);
		die(argv[2]);
	}
	close(fds[0]);
	signal(SIGPIPE, SIG_IGN);
	feed(in, fds[1], size);
	close(fds[1]);
	if (waitpid(pid, &status, 0) < 0)
		die("dribble: wait");
	if (WIFSIGNALED(status)) {
		fprintf(stderr, "dribble: signal %d\n", WTERMSIG(status));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}
