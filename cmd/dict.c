/* SPDX-License-Identifier: Apache-2.0 */
/* dict.c - the dictionary that -D names */
#include <string.h>

#include "cmd.h"
#include "code.h"

#define DICT_MAX ((size_t)128 << 20)

void load_dictionary(const char *path, uint8_t **dict, size_t *len)
{
	int err;

	if (!path)
		return;
	err = input_load(path, DICT_MAX, dict, len);
	if (err)
		die("%s: can't read the dictionary: %s", path, strerror(-err));
	if (!*len)
		die("%s: the dictionary is empty", path);
}
