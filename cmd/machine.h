/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - what this process may use of the machine */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

/* CPUs after affinity and the cgroup's quota, at least 1; asked once. */
int machine_cpus(void);

/* Bytes of memory: the machine's, the cgroup's limit, RLIMIT_AS: the least. */
uint64_t machine_memory(void);

/* What -T and -M come to: 0 = all CPUs, half of the memory. */
int machine_threads(int wanted);
uint64_t machine_budget(uint64_t wanted);

#endif
