/* SPDX-License-Identifier: Apache-2.0 */
/* listing.c - what is in a packed input: for -l, -v and --json */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vdecompress.h"

static void add_format(struct listing *l, const char *name)
{
	size_t n = strlen(l->formats), len = strlen(name);
	const char *at = l->formats;

	while ((at = strstr(at, name))) {
		bool begins = at == l->formats || at[-1] == '+';

		if (begins && (at[len] == '+' || !at[len]))
			return;
		at += len;
	}
	snprintf(l->formats + n, sizeof(l->formats) - n, "%s%s", n ? "+" : "", name);
}

static void keep(struct listing *l, const struct member *m)
{
	if (l->each_len == l->each_cap) {
		size_t cap = l->each_cap ? 2 * l->each_cap : 16;
		struct member *more = realloc(l->each, cap * sizeof(*more));

		if (!more) {
			l->keep = false;	/* the totals stay right */
			return;
		}
		l->each = more;
		l->each_cap = cap;
	}
	l->each[l->each_len++] = *m;
}

void listing_add(struct listing *l, const struct member *m)
{
	const char *check = m->check ? m->check : "none";

	l->packed += m->packed;
	if (l->keep)
		keep(l, m);
	if (m->skipped) {
		l->skipped++;
		l->seek_frames += m->blocks;
		return;
	}
	l->members++;
	l->raw += m->raw;
	l->blocks += m->blocks;
	l->declared = m->declared;
	if (m->window > l->window)
		l->window = m->window;
	if (m->dict_id)
		l->dict_id = m->dict_id;
	if (!l->check)
		l->check = check;
	else if (strcmp(l->check, check))
		l->check = "mixed";
	add_format(l, m->format);
}

void listing_lost(struct listing *l, const char *name, const struct loss *loss)
{
	char unchecked[64] = "";

	if (loss->unchecked)
		snprintf(unchecked, sizeof(unchecked), ", the last %llu unchecked",
			 (unsigned long long)loss->unchecked);
	say_error(name, "lost: bytes %llu to %llu of the input, behind %llu of output%s: %s",
		  (unsigned long long)loss->from, (unsigned long long)loss->to,
		  (unsigned long long)loss->output, unchecked, loss->err.what);
	if (common.json && !l->lost)
		l->lost = malloc(LOSSES_KEPT * sizeof(*l->lost));
	if (l->lost && l->losses < LOSSES_KEPT)
		l->lost[l->losses] = *loss;
	l->losses++;
	l->lost_bytes += loss->to - loss->from;
}

void listing_free(struct listing *l)
{
	free(l->each);
	free(l->lost);
	l->each = NULL;
	l->lost = NULL;
}

static double ratio(uint64_t raw, uint64_t packed)
{
	return packed ? (double)raw / (double)packed : 0;
}

static void print_member(const struct member *m)
{
	char w[16];

	printf("  at %-14llu %-12s %14llu %14llu  %-8s %s%s\n",
	       (unsigned long long)m->offset, m->format,
	       (unsigned long long)m->packed, (unsigned long long)m->raw,
	       m->check ? m->check : "none",
	       m->window ? format_size(w, m->window) : "-",
	       m->skipped ? "  skipped" : "");
}

void listing_print(const struct listing *l, const char *name)
{
	static bool headed;
	char w[16], dict[24] = "-";

	if (!headed)
		printf("%-12s %8s %14s %14s %8s  %-8s %-10s %-10s %s\n", "format",
		       "members", "packed", "raw", "ratio", "check", "window",
		       "dictionary", "name");
	headed = true;
	if (l->dict_id)
		snprintf(dict, sizeof(dict), "%llu", (unsigned long long)l->dict_id);
	printf("%-12s %8llu %14llu %14llu %8.3f  %-8s %-10s %-10s %s\n",
	       l->formats[0] ? l->formats : "-", (unsigned long long)l->members,
	       (unsigned long long)l->packed, (unsigned long long)l->raw,
	       ratio(l->raw, l->packed), l->check ? l->check : "none",
	       l->window ? format_size(w, l->window) : "-", dict, name);
	if (l->seek_frames)
		printf("  seekable: %llu frames\n", (unsigned long long)l->seek_frames);
	for (size_t i = 0; i < l->each_len; i++)
		print_member(&l->each[i]);
}

static void json_member(struct json *j, const struct member *m)
{
	json_open(j, NULL, '{');
	json_text(j, "format", m->format);
	json_number(j, "offset", m->offset);
	json_number(j, "packed", m->packed);
	json_number(j, "raw", m->raw);
	json_number(j, "declared", m->skipped ? SIZE_UNKNOWN : m->declared);
	json_text(j, "check", m->check);
	json_number(j, "window", m->window);
	json_number(j, "blocks", m->blocks);
	json_number(j, "dictionary", m->dict_id);
	json_bool(j, "skipped", m->skipped);
	json_close(j, '}');
}

static void json_losses(const struct listing *l, struct json *j)
{
	json_number(j, "losses", l->losses);
	json_number(j, "lost_bytes", l->lost_bytes);
	json_open(j, "lost", '[');
	for (size_t i = 0; l->lost && i < l->losses && i < LOSSES_KEPT; i++) {
		json_open(j, NULL, '{');
		json_number(j, "from", l->lost[i].from);
		json_number(j, "to", l->lost[i].to);
		json_number(j, "output", l->lost[i].output);
		json_number(j, "unchecked", l->lost[i].unchecked);
		json_text(j, "reason", l->lost[i].err.what);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void listing_json(const struct listing *l, struct json *j)
{
	json_text(j, "format", l->formats[0] ? l->formats : NULL);
	json_number(j, "members", l->members);
	json_number(j, "skipped", l->skipped);
	json_number(j, "seek_frames", l->seek_frames);
	json_number(j, "packed", l->packed);
	json_number(j, "raw", l->raw);
	json_real(j, "ratio", ratio(l->raw, l->packed), 4);
	json_text(j, "check", l->check);
	json_number(j, "window", l->window);
	json_number(j, "dictionary", l->dict_id);
	if (unpack_options.salvage)
		json_losses(l, j);
	if (!l->keep)
		return;
	json_open(j, "list", '[');
	for (size_t i = 0; i < l->each_len; i++)
		json_member(j, &l->each[i]);
	json_close(j, ']');
}
