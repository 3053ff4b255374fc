/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.c - CPUs and memory that this process may use
 *
 * Limits come from the affinity mask, from RLIMIT_AS and from every cgroup
 * between ours and the root (version 2: cpu.max, memory.max; version 1:
 * cpu.cfs_quota_us, memory.limit_in_bytes).  In a container the path in
 * /proc/self/cgroup may name folders that aren't there; the root is asked in
 * any case.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "machine.h"

static bool read_small(const char *path, char *buf, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, cap - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	buf[n] = 0;
	return true;
}

/* Calls see(folder, most) for every folder from root/path up to root. */
static void climb(const char *root, const char *path,
		  void (*see)(const char *folder, uint64_t *most), uint64_t *most)
{
	char folder[1024];
	size_t base = strlen(root);
	char *slash;

	if (snprintf(folder, sizeof(folder), "%s%s", root, path) >= (int)sizeof(folder))
		folder[base] = 0;
	for (;;) {
		see(folder, most);
		slash = strrchr(folder, '/');
		if (!slash || slash < folder + base)
			return;
		*slash = 0;
	}
}

static void least(uint64_t *most, uint64_t n)
{
	if (n < *most)
		*most = n;
}

static bool small_file(const char *folder, const char *file, char buf[64])
{
	char path[1100];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	return read_small(path, buf, 64);
}

typedef void see_fn(const char *folder, uint64_t *most);

static void see_share(double quota, double period, uint64_t *most)
{
	if (quota > 0 && period > 0)
		least(most, (uint64_t)(quota / period + 0.999));
}

static void see_cpu(const char *folder, uint64_t *most)
{
	char buf[64];
	double quota, period;

	/* "max" isn't two numbers. */
	if (small_file(folder, "cpu.max", buf) &&
	    sscanf(buf, "%lf %lf", &quota, &period) == 2)
		see_share(quota, period, most);
}

static void see_cpu_v1(const char *folder, uint64_t *most)
{
	char quota[64], period[64];

	if (small_file(folder, "cpu.cfs_quota_us", quota) &&
	    small_file(folder, "cpu.cfs_period_us", period))
		see_share(atof(quota), atof(period), most);
}

static void see_bytes(const char *folder, const char *file, uint64_t *most)
{
	char buf[64];

	if (small_file(folder, file, buf) && buf[0] >= '0' && buf[0] <= '9')
		least(most, strtoull(buf, NULL, 10));
}

static void see_memory(const char *folder, uint64_t *most)
{
	see_bytes(folder, "memory.max", most);
}

static void see_memory_v1(const char *folder, uint64_t *most)
{
	see_bytes(folder, "memory.limit_in_bytes", most);
}

/* Is word one of the names between commas? */
static bool listed(const char *names, const char *word)
{
	size_t n = strlen(word);

	for (; names; names = strchr(names, ',')) {
		names += *names == ',';
		if (!strncmp(names, word, n) && (!names[n] || names[n] == ','))
			return true;
	}
	return false;
}

/* One line of /proc/self/cgroup: number ":" controllers ":" path. */
static void see_line(char *line, const char *controller, see_fn *see,
		     see_fn *see_v1, uint64_t *most)
{
	char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
	char root[128];

	if (!path)
		return;
	*path++ = 0;
	names++;
	if (!*names) {
		climb("/sys/fs/cgroup", path, see, most);
	} else if (listed(names, controller)) {
		snprintf(root, sizeof(root), "/sys/fs/cgroup/%.100s", names);
		climb(root, path, see_v1, most);
	}
}

static void see_cgroups(const char *controller, see_fn *see, see_fn *see_v1,
			uint64_t *most)
{
	char text[4096], *save, *line;

	if (!read_small("/proc/self/cgroup", text, sizeof(text)))
		return;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		see_line(line, controller, see, see_v1, most);
}

int machine_cpus(void)
{
	static uint64_t cpus;
	cpu_set_t set;

	if (cpus)
		return (int)cpus;
	cpus = 1;
	if (!sched_getaffinity(0, sizeof(set), &set))
		cpus = (uint64_t)CPU_COUNT(&set);
	else if (sysconf(_SC_NPROCESSORS_ONLN) > 0)
		cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	see_cgroups("cpu", see_cpu, see_cpu_v1, &cpus);
	if (!cpus)
		cpus = 1;
	return (int)cpus;
}

uint64_t machine_memory(void)
{
	static uint64_t most;
	struct rlimit as;

	if (most)
		return most;
	most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	if (!getrlimit(RLIMIT_AS, &as) && as.rlim_cur != RLIM_INFINITY)
		least(&most, as.rlim_cur);
	see_cgroups("memory", see_memory, see_memory_v1, &most);
	return most;
}

int machine_threads(int wanted)
{
	return wanted > 0 ? wanted : machine_cpus();
}

uint64_t machine_budget(uint64_t wanted)
{
	return wanted ? wanted : machine_memory() / 2;
}
