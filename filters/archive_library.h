/* SPDX-License-Identifier: Apache-2.0 */
/* archive_library.h - libarchive, looked up when the first archive is met */
#ifndef ARCHIVE_LIBRARY_H
#define ARCHIVE_LIBRARY_H

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name that all of its versions 3 have. */
#define ARCHIVE_LIBRARY "libarchive.so.13"

#define ARCHIVE_CALLS(X) \
	X(read_new) X(read_support_format_zip_streamable) X(read_support_format_cpio) \
	X(read_support_format_tar) X(read_open) X(read_open_memory) \
	X(read_next_header) X(read_data) X(read_free) X(write_new) \
	X(write_set_format_pax_restricted) X(write_set_format_cpio_newc) \
	X(write_set_format_zip) X(write_set_options) X(write_set_bytes_per_block) \
	X(write_set_bytes_in_last_block) X(write_open) X(write_header) X(write_data) \
	X(write_finish_entry) X(write_close) X(write_free) X(error_string) X(format) \
	X(version_string) X(entry_pathname) X(entry_pathname_utf8) \
	X(entry_copy_pathname) X(entry_size) X(entry_size_is_set) X(entry_set_size) \
	X(entry_filetype) X(entry_hardlink) X(entry_set_hardlink) X(entry_nlink) \
	X(entry_set_nlink)

/* la.NAME is archive_NAME. */
struct archive_library {
#define X(name) __typeof__(&archive_##name) name;
	ARCHIVE_CALLS(X)
#undef X
};

bool archive_library_load(struct archive_library *la);
/* The name as it stands, whatever the locale can say; false: none. */
bool archive_fix_name(const struct archive_library *la, struct archive_entry *e);
/*
 * The locale in which libarchive reads and writes names as UTF-8, for
 * uselocale() around its calls; 0: not to be had.  In "C" it refuses them.
 */
locale_t archive_utf8(void);
/* Bytes that grow; all zero at first, the owner frees p. */
struct archive_bytes {
	uint8_t *p;
	size_t size, cap;
	bool no_memory;		/* there was none for more */
};
/* Room for n bytes in all; false: out of memory. */
bool archive_room(struct archive_bytes *b, size_t n);
/* Opens the writer, unpadded: what it writes is appended to b. */
bool archive_write_to(const struct archive_library *la, struct archive *out,
		      struct archive_bytes *b);

#endif
