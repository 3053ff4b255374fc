/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.h - functions of shared libraries that are looked up when first called
 *
 * A shared library costs each start of the program 0.1 ms and more, wanted or
 * not: three of them were a third of a start.  So those that have no archive to
 * be linked in from are loaded here, behind functions of the same names, which
 * serve archives that are linked in as well (libbrotlienc's logarithms).  The
 * compiler checks each against the library's own declaration.
 *
 * A library that isn't there would have kept the program from starting if it had
 * been linked, and there is nothing that its callers could do: late_missing() gets
 * the loader's message and ends the program.
 */
#ifndef LATE_H
#define LATE_H

/* Must not return.  Until the program sets it, a trap. */
extern void (*late_missing)(const char *why);

/* so's NAME; so is loaded once and stays.  Never NULL. */
void *late_function(const char *so, const char *name);

/* LATE(library's name, result, function, (parameters), (arguments)) */
#define LATE(so, result, name, params, args) \
	result name params \
	{ \
		static __typeof__(&name) bound; \
		__typeof__(&name) f = __atomic_load_n(&bound, __ATOMIC_ACQUIRE); \
		if (!f) { \
			*(void **)&f = late_function(so, #name); \
			__atomic_store_n(&bound, f, __ATOMIC_RELEASE); \
		} \
		return f args; \
	}

#endif
