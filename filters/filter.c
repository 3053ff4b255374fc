/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.c - what every codec shares: parameters, errors, looking up a row
 *
 * The look-ups walk filter_table (table.c) and know no codec by name, so a
 * new codec is a row there and nothing here.
 */
#include "codecs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int filter_fail(struct filter_error *err, int code, uint64_t offset,
		const char *fmt, ...)
{
	va_list ap;

	err->code = code;
	err->offset = offset;
	va_start(ap, fmt);
	vsnprintf(err->what, sizeof(err->what), fmt, ap);
	va_end(ap);
	return code;
}

void filter_params_init(struct filter_params *p)
{
	*p = (struct filter_params){
		.level = LEVEL_DEFAULT,
		.threads = 1,
		.check = -1,
		.probe = true,
		.size = SIZE_UNKNOWN,
		.packed = SIZE_UNKNOWN,
	};
}

const struct filter *filter_by_name(const char *name)
{
	for (size_t i = 0; i < filter_count; i++)
		if (!strcmp(filter_table[i]->name, name))
			return filter_table[i];
	return NULL;
}

/* Whether path ends with one of the suffixes in a list like ".zst .zstd". */
static bool suffix_matches(const char *list, const char *path)
{
	size_t path_len = strlen(path);

	while (*list) {
		size_t len = strcspn(list, " ");

		if (path_len > len && !memcmp(path + path_len - len, list, len))
			return true;
		list += len;
		list += *list == ' ';
	}
	return false;
}

const struct filter *filter_by_suffix(const char *path)
{
	for (size_t i = 0; i < filter_count; i++) {
		const struct filter *f = filter_table[i];

		if (f->suffix && suffix_matches(f->suffix, path))
			return f;
		if (f->tar_suffix && suffix_matches(f->tar_suffix, path))
			return f;
	}
	return NULL;
}

const struct filter *filter_detect(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < filter_count; i++)
		if (filter_table[i]->detect && filter_table[i]->detect(p, n))
			return filter_table[i];
	return NULL;
}

/*
 * Both formats reserve the magic numbers 0x184D2A50 to 0x184D2A5F for frames
 * of 32-bit length that carry no data of theirs.
 */
uint64_t frame_skippable(const uint8_t *p, size_t n)
{
	static const uint8_t magic[] = { 0x2a, 0x4d, 0x18 };

	if (n < 8 || (p[0] & 0xf0) != 0x50 || memcmp(p + 1, magic, 3))
		return 0;
	return 8 + (p[4] | (uint64_t)p[5] << 8 | (uint64_t)p[6] << 16 |
		    (uint64_t)p[7] << 24);
}

int filter_level_check(const struct filter *f, const struct filter_params *p,
		       struct filter_error *err)
{
	int level = filter_level(f, p);

	if (level >= f->level_min && level <= f->level_max)
		return FILTER_OK;
	return filter_fail(err, FILTER_E_OPTION, SIZE_UNKNOWN,
			   "%s has levels %d to %d, not %d", f->name,
			   f->level_min, f->level_max, level);
}
