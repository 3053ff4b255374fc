/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.c - the table of kernels, the choice and forcing one by name
 *
 * The rows come from ARCH/kernels.def, best first, and portable C closes the
 * table with a row that every CPU can use, so the search always ends.  Nothing
 * is measured at start-up: a choice that depends on what else the machine was
 * doing can't be repeated.
 *
 * The one thing that changes is kernel_cached: written by whoever comes first
 * (every thread would write the same) or by kernel_force(), read by each call.
 */
#include "kernel.h"

#include <stdlib.h>

kernel_fn portable_even, portable_wide, portable_lz4;

#if defined(__has_include) && __has_include("kernels.def")
#define HAVE_ROWS
#endif

#ifdef HAVE_ROWS
#define KERNEL(name_, ...) \
	kernel_fn name_##_even, name_##_wide, name_##_lz4;
#include "kernels.def"
#undef KERNEL
#define KERNEL(name_, need_, line_, avx_, blend_, why_) \
	{ #name_, need_, line_, name_##_even, name_##_wide, name_##_lz4, why_ },
#endif

static const struct kernel rows[] = {
#ifdef HAVE_ROWS
#include "kernels.def"
#endif
	{ "portable", 0, CPU_LINE_ANY, portable_even, portable_wide, portable_lz4,
	  "plain C, for every machine; what the others are tested against" },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

_Static_assert(offsetof(struct kernel_run, in) == 0, "recipes know it");
_Static_assert(offsetof(struct kernel_run, out) == 8, "recipes know it");
_Static_assert(offsetof(struct kernel_run, in_end) == 16, "recipes know it");
_Static_assert(offsetof(struct kernel_run, out_end) == 24, "recipes know it");
_Static_assert(offsetof(struct kernel_run, goal) == 32, "recipes know it");
_Static_assert(offsetof(struct kernel_run, base) == 40, "recipes know it");
_Static_assert(offsetof(struct kernel_run, offset) == 48, "recipes know it");
_Static_assert(offsetof(struct kernel_run, ended) == 56, "recipes know it");

const struct kernel *kernel_cached;

const struct kernel *kernel_table(size_t *count)
{
	*count = ROWS;
	return rows;
}

static _Bool row_runs(const struct kernel *row, struct cpu cpu)
{
	return (row->need & ~cpu.have) == 0;
}

const struct kernel *kernel_pick(struct cpu cpu)
{
	const struct kernel *row = rows;

	while (!row_runs(row, cpu) ||
	       (row->line != CPU_LINE_ANY && row->line != (uint32_t)cpu.line))
		row++;
	return row;
}

static _Bool name_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* The row of that name if this CPU can run it, else null. */
static const struct kernel *row_named(const char *name, struct cpu cpu)
{
	for (size_t i = 0; i < ROWS; i++)
		if (name_equal(rows[i].name, name))
			return row_runs(&rows[i], cpu) ? &rows[i] : NULL;
	return NULL;
}

static const struct kernel *choose(void)
{
	struct cpu cpu = cpu_read();
	const char *name = getenv("VOLTBOX_KERNEL");
	const struct kernel *row = name ? row_named(name, cpu) : NULL;

	return row ? row : kernel_pick(cpu);
}

const struct kernel *kernel_decide(void)
{
	const struct kernel *row = choose();

	__atomic_store_n(&kernel_cached, row, __ATOMIC_RELAXED);
	return row;
}

_Bool kernel_force(const char *name)
{
	const struct kernel *row = NULL;

	if (name && !name_equal(name, "auto")) {
		row = row_named(name, cpu_read());
		if (!row)
			return 0;
	}
	__atomic_store_n(&kernel_cached, row, __ATOMIC_RELAXED);
	return 1;
}
