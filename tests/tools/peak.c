/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peak - run a command and write its peak memory in KiB to a file
 *
 *	peak FILE COMMAND [ARG]...
 *
 * Ends as the command ended.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage u;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3) {
		fprintf(stderr, "usage: peak FILE COMMAND [ARG]...\n");
		return 125;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &u) != pid) {
		perror("peak");
		return 125;
	}
	f = fopen(argv[1], "w");
	if (!f || fprintf(f, "%ld\n", u.ru_maxrss) < 0 || fclose(f)) {
		perror(argv[1]);
		return 125;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
