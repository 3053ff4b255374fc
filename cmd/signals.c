/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.c - what happens to our outputs when a signal ends us, or an exit()
 *
 * The handler removes every guarded file, puts the default action back and
 * sends the signal again, so that the parent sees how we ended.  A signal that
 * the parent had ignored (nohup) stays ignored.  SIGPIPE is always ignored:
 * the write then fails with EPIPE, outputs are removed by the usual way, and
 * the status is an ordinary 1.
 *
 * Slots are filled and emptied by the main thread with the signals held, the
 * handler only reads them; no lock is needed.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"

#define SLOTS 16

static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGXFSZ };
#define DEADLY (sizeof(deadly) / sizeof(*deadly))

static char guarded[SLOTS][PATH_MAX];
static volatile sig_atomic_t in_use[SLOTS];

static void deadly_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < DEADLY; i++)
		sigaddset(set, deadly[i]);
}

static void guarded_remove(void)
{
	for (int i = 0; i < SLOTS; i++)
		if (in_use[i])
			unlink(guarded[i]);
}

static void on_signal(int sig)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	sigset_t set;

	guarded_remove();
	sigaction(sig, &dfl, NULL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
}

void signals_start(void)
{
	struct sigaction now, ours = { .sa_handler = on_signal };

	atexit(guarded_remove);
	deadly_set(&ours.sa_mask);
	for (size_t i = 0; i < DEADLY; i++)
		if (!sigaction(deadly[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaction(deadly[i], &ours, NULL);
	signal(SIGPIPE, SIG_IGN);
}

void signals_hold(void)
{
	sigset_t set;

	deadly_set(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void signals_let(void)
{
	sigset_t set;

	deadly_set(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int signals_guard(const char *path)
{
	size_t n = strlen(path);

	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	for (int i = 0; i < SLOTS; i++) {
		if (in_use[i])
			continue;
		memcpy(guarded[i], path, n + 1);
		in_use[i] = 1;
		return i;
	}
	return -ENFILE;
}

void signals_release(int slot)
{
	if (slot >= 0)
		in_use[slot] = 0;
}
