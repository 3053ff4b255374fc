// SPDX-License-Identifier: Apache-2.0
/*
 * mkkeys.c - lines "key TAB value" as an .lzv stream of keyed records
 *
 *	mkkeys < lines > keyed.lzv
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

static void give(const uint8_t *p, size_t n)
{
	if (fwrite(p, 1, n, stdout) != n)
		exit(1);
}

static void record(struct lzv_writer *w, char *line)
{
	char *tab = strchr(line, '\t');
	struct lzv_item it = { .encoding = LZV_RAW, .has_key = tab != NULL };
	const char *value = tab ? tab + 1 : line;
	static uint8_t buf[1 << 17];
	size_t n;

	it.key = (const uint8_t *)line;
	it.key_size = tab ? (size_t)(tab - line) : 0;
	it.body = (const uint8_t *)value;
	it.raw_size = it.body_size = strlen(value);
	it.check = lzv_check(it.body, it.body_size);
	n = lzv_item_put(buf, &it, true);
	if (lzv_writer_item(w, buf, &it))
		exit(1);
	n += lzv_writer_mark(w, buf + n);
	give(buf, n);
}

int main(void)
{
	struct lzv_writer *w = lzv_writer_open(LZV_CHECKED | LZV_INDEXED);
	static char line[1 << 16];
	uint8_t head[LZV_HEADER_ROOM], *end;

	if (!w)
		return 1;
	give(head, lzv_writer_head(w, head, 0));
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		record(w, line);
	}
	end = malloc(lzv_writer_end_room(w));
	if (!end)
		return 1;
	give(end, lzv_writer_end(w, end));
	free(end);
	lzv_writer_close(w);
	return fflush(stdout) ? 1 : 0;
}
