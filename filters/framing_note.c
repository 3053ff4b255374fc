// SPDX-License-Identifier: Apache-2.0
/*
 * framing_note.c - a container's own bytes as notes, and what readers share
 */
#include "framing.h"

#include <string.h>

int framing_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

ptrdiff_t framing_more(struct framing_in *in, size_t want, const char *what)
{
	in->want = want;
	if (!in->eof)
		return 0;
	return filter_fail(in->err, FILTER_E_TRUNCATED, in->offset + in->n,
			   "the input ends inside %s", what);
}

void framing_note_is(struct frecord *rec, const char *name, const uint8_t *p,
		     size_t n)
{
	rec->what = FRECORD_NOTE;
	rec->name = (const uint8_t *)name;
	rec->name_size = strlen(name);
	rec->text = p;
	rec->text_size = n;
	rec->hex = false;
}

bool framing_note_named(const struct frecord *rec, const char *name)
{
	return rec->name_size == strlen(name) &&
	       !memcmp(rec->name, name, rec->name_size);
}

bool framing_note_bytes(const struct frecord *rec, uint8_t *dst, size_t cap,
			size_t *n)
{
	size_t i;

	*n = rec->hex ? rec->text_size / 2 : rec->text_size;
	if (*n > cap || (rec->hex && rec->text_size % 2))
		return false;
	if (!rec->hex) {
		memcpy(dst, rec->text, *n);
		return true;
	}
	for (i = 0; i < *n; i++) {
		int high = framing_hex_digit((char)rec->text[2 * i]);
		int low = framing_hex_digit((char)rec->text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		dst[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}
