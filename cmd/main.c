/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c - one program, its applets by name
 *
 * The applet is chosen by the name the program was called by, or by the first
 * argument after "voltbox".  Start-up, in this order: the three standard
 * descriptors, before any file could take the number of one; the applet's name,
 * so that messages carry it; signal handlers, before any output can exist; then
 * the applet.  At the end standard output is closed and its error counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive_tar.h"
#include "cmd.h"
#include "late.h"
#include "lzvolt.h"

/* Every applet; a new one is one row here. */
static const struct applet *const applets[] = {
	&vcompress_applet,
	&vdecompress_applet,
	&vprobe_applet,
	&vconvert_applet,
	NULL,
};

/*
 * A standard descriptor that the parent closed is filled with one that fails as
 * the closed one would: reading 0 and writing 1 or 2 is EBADF.  Else the first
 * file we open would get that number, and messages would go into it.
 */
static void descriptors_fill(void)
{
	static const int wrong_way[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way[fd]) != fd)
			exit(STATUS_ERROR);
}

static const struct applet *applet_find(const char *name)
{
	for (size_t i = 0; applets[i]; i++)
		if (!strcmp(applets[i]->name, name))
			return applets[i];
	return NULL;
}

/* The one message that a worker may give: nothing comes behind it. */
static void library_missing(const char *why)
{
	die("%s", why);
}

static int applet_run(const struct applet *a, int argc, char **argv)
{
	say_start(a->name);
	signals_start();
	progress_listen();
	say_raise((enum status)a->main(argc, argv));
	stdout_close();
	return say_status();
}

void stdout_close(void)
{
	int error = 0;

	errno = 0;
	if (ferror(stdout) || fflush(stdout))
		error = errno ? errno : EIO;
	if (error)
		say_errno(IO_STDOUT_NAME, "can't write", error);
	/* /dev/full and NFS tell some errors only here. */
	else if (close(STDOUT_FILENO) && errno != EBADF)
		say_errno(IO_STDOUT_NAME, "can't close", errno);
}

void version_print(void)
{
	printf("voltbox %s\nkernel %s\n", VERSION, lzvolt_backend());
	for (size_t i = 0; i < filter_count; i++) {
		const struct filter *f = filter_table[i];
		bool seen = false;

		for (size_t k = 0; f->library && k < i; k++)
			seen |= filter_table[k]->library &&
				!strcmp(filter_table[k]->library, f->library);
		if (f->library && f->version && !seen)
			printf("%s %s\n", f->library, f->version());
	}
	if (archive_tar_version())
		printf("%s\n", archive_tar_version());
	for (size_t i = 0; i < filter_count; i++)
		if (filter_table[i]->missing)
			printf("without %s: %s\n", filter_table[i]->name,
			       filter_table[i]->missing);
	stdout_close();
}

static void list_print(void)
{
	for (size_t i = 0; applets[i]; i++)
		printf("%s\n", applets[i]->name);
}

/* A link in dir for every applet to this program. */
static void install(const char *dir)
{
	char self[4096], link[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		die("can't find the program's own path: %s", strerror(errno));
	self[n] = 0;
	for (size_t i = 0; applets[i]; i++) {
		if (snprintf(link, sizeof(link), "%s/%s", dir,
			     applets[i]->name) >= (int)sizeof(link))
			die("%s: name too long", dir);
		if (symlink(self, link))
			say_errno(link, "can't make the link", errno);
	}
}

static void help_print(void)
{
	printf("Usage: voltbox APPLET [OPTION]... [FILE]...\n"
	       "   or: voltbox --list | --version | --install DIR"
	       " | --completion SHELL\n\nApplets:\n");
	for (size_t i = 0; applets[i]; i++)
		printf("  %-14s%s\n", applets[i]->name, applets[i]->about);
}

static void own_option(int argc, char **argv)
{
	const char *w = argc > 1 ? argv[1] : "--help";
	const char *arg = argc > 2 ? argv[2] : NULL;

	if (!strcmp(w, "--help") || !strcmp(w, "-h"))
		help_print();
	else if (!strcmp(w, "--version"))
		version_print();
	else if (!strcmp(w, "--list"))
		list_print();
	else if (!strcmp(w, "--install") && arg)
		install(arg);
	else if (!strcmp(w, "--completion") && arg) {
		if (!opt_completion(arg, applets))
			die("no completion for '%s'; bash, zsh, fish", arg);
	} else
		die("no applet or option '%s'; see voltbox --help", w);
}

int main(int argc, char **argv)
{
	const char *slash = argc ? strrchr(argv[0], '/') : NULL;
	const struct applet *a;

	if (!argc)
		return STATUS_ERROR;
	descriptors_fill();
	late_missing = library_missing;
	a = applet_find(slash ? slash + 1 : argv[0]);
	if (a)
		return applet_run(a, argc, argv);
	a = argc > 1 ? applet_find(argv[1]) : NULL;
	if (a)
		return applet_run(a, argc - 1, argv + 1);
	own_option(argc, argv);
	stdout_close();
	return say_status();
}
