/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_train.c - --train: a dictionary, and what it is worth
 *
 * The first half of the records is trained on, the second half judges: a
 * dictionary that is judged by what it was made of always looks good.  Each
 * held-out record is packed on its own, with and without the dictionary, then
 * two together, four and so on, which shows the size where the gain ends.
 * No checksums are packed, as a store of small messages wouldn't.
 */
#include <stdlib.h>
#include <string.h>

#include "vprobe.h"

#define TRAIN_BYTES_MAX	((size_t)64 << 20)
#define JUDGED_MAX	4000	/* messages of each size */
#define SIZES_MAX	16
#define GAIN_ENDS	1.05	/* a gain below 5 % is none */

struct judged {
	size_t message;		/* bytes, mean */
	double without, with;	/* ratios */
};

struct trained {
	const struct records *r;
	size_t first_held;	/* records from here on weren't trained on */
	uint8_t *dict;
	size_t dict_len;
};

/* Trains on the first half, or as much of it as is reasonable. */
static bool train(struct trained *t, size_t cap, struct filter_error *err)
{
	const struct records *r = t->r;
	size_t half = r->count / 2, used = 0, bytes = 0;
	uint8_t *samples = need(TRAIN_BYTES_MAX);
	ptrdiff_t n;

	while (used < half && r->size[used] <= TRAIN_BYTES_MAX - bytes) {
		memcpy(samples + bytes, r->at[used], r->size[used]);
		bytes += r->size[used++];
	}
	t->first_held = half;
	t->dict = need(cap);
	n = probe_dict_train(t->dict, cap, samples, r->size, (unsigned)used, err);
	free(samples);
	t->dict_len = n > 0 ? (size_t)n : 0;
	return n >= 0;
}

/* Packed bytes of a message; what can't be made smaller counts as it is. */
static size_t packed_size(struct coder_run *run, const uint8_t *p, size_t n, uint8_t *room)
{
	struct filter_error err;
	ptrdiff_t got = run_code(run, p, n, n, room, run_bound(n), &err);

	if (got < 0 && got != FILTER_E_REFUSED)
		die("%s: %s", run->choice->name, err.what);
	return got < 0 ? n : (size_t)got;
}

/* Copies `group` records from record i on; returns their bytes. */
static size_t message_join(const struct records *r, size_t i, size_t group, uint8_t *to)
{
	size_t n = 0;

	for (size_t k = i; k < i + group; k++) {
		memcpy(to + n, r->at[k], r->size[k]);
		n += r->size[k];
	}
	return n;
}

static size_t message_max(const struct records *r, size_t from, size_t group)
{
	size_t most = 0;

	for (size_t i = from; i + group <= r->count; i += group) {
		size_t n = 0;

		for (size_t k = i; k < i + group; k++)
			n += r->size[k];
		most = n > most ? n : most;
	}
	return most;
}

/* Held-out records in groups, each group a message. */
static struct judged judge(const struct trained *t, const struct choice *c, size_t group)
{
	const struct records *r = t->r;
	size_t messages = (r->count - t->first_held) / group;
	size_t step = messages / JUDGED_MAX + 1, raw = 0, plain = 0, helped = 0, n = 0;
	size_t most = message_max(r, t->first_held, group);
	uint8_t *message = need(most), *room = need(run_bound(most));
	struct coder_run without, with;

	run_open(&without, c, false, NULL, 0);
	run_open(&with, c, false, t->dict, t->dict_len);
	without.params.check = with.params.check = 0;
	for (size_t m = 0; m < messages; m += step) {
		size_t len = message_join(r, t->first_held + m * group, group, message);

		raw += len;
		plain += packed_size(&without, message, len, room);
		helped += packed_size(&with, message, len, room);
		n++;
	}
	run_close(&without);
	run_close(&with);
	free(message);
	free(room);
	return (struct judged){ raw / n, (double)raw / (double)plain,
				(double)raw / (double)helped };
}

static int judge_all(const struct trained *t, const struct choice *c, struct judged *j)
{
	size_t held = t->r->count - t->first_held;
	int n = 0;

	for (size_t group = 1; n < SIZES_MAX && group * 8 <= held; group *= 2) {
		j[n] = judge(t, c, group);
		if (j[n++].message > (size_t)1 << 20)
			break;
	}
	return n;
}

/* The message size at which the gain ends; 0 = not among those judged. */
static size_t gain_ends(const struct judged *j, int n)
{
	for (int i = 0; i < n; i++)
		if (j[i].with < j[i].without * GAIN_ENDS)
			return j[i].message;
	return 0;
}

static void judged_print(const struct choice *c, const struct judged *j, int n)
{
	size_t end = gain_ends(j, n);

	printf("  %-8s %12s %9s %9s %7s\n", c->name, "message", "without", "with", "gain");
	for (int i = 0; i < n; i++)
		printf("  %8s %12zu %9.3f %9.3f %6.2fx\n", "", j[i].message, j[i].without,
		       j[i].with, j[i].with / j[i].without);
	if (end)
		printf("  %8s the gain has ended at messages of %zu bytes\n", "", end);
	else
		printf("  %8s the gain has not ended at messages of %zu bytes\n", "",
		       j[n - 1].message);
}

static void judged_json(struct json *out, const struct choice *c, const struct judged *j, int n)
{
	json_open(out, NULL, '{');
	json_text(out, "choice", c->name);
	json_number(out, "gain_ends", gain_ends(j, n) ? gain_ends(j, n) : SIZE_UNKNOWN);
	json_open(out, "messages", '[');
	for (int i = 0; i < n; i++) {
		json_open(out, NULL, '{');
		json_number(out, "size", j[i].message);
		json_real(out, "without", j[i].without, 4);
		json_real(out, "with", j[i].with, 4);
		json_close(out, '}');
	}
	json_close(out, ']');
	json_close(out, '}');
}

static void report_head(const struct trained *t, const char *name)
{
	printf("%s: dictionary of %zu bytes, id %lu, from records 1 to %zu; judged on "
	       "records %zu to %zu\n", name, t->dict_len,
	       (unsigned long)probe_dict_id(t->dict, t->dict_len), t->first_held,
	       t->first_held + 1, t->r->count);
}

static void report(const struct trained *t, const char *name)
{
	static struct choice choice[CHOICES_MAX];
	char *list = codecs_or("zstd:3,lz4:1");
	int n = choices_parse(list, choice);
	struct json out;

	free(list);
	if (common.json) {
		json_begin(&out, stdout);
		json_text(&out, "file", name);
		json_number(&out, "dictionary", t->dict_len);
		json_number(&out, "id", probe_dict_id(t->dict, t->dict_len));
		json_number(&out, "trained", t->first_held);
		json_number(&out, "held_out", t->r->count - t->first_held);
		json_open(&out, "choices", '[');
	} else {
		report_head(t, name);
	}
	for (int i = 0; i < n; i++) {
		struct judged j[SIZES_MAX];
		int sizes;

		if (!(choice[i].filter->flags & FILTER_DICT))
			die("%s takes no dictionary", choice[i].filter->name);
		sizes = judge_all(t, &choice[i], j);
		if (common.json)
			judged_json(&out, &choice[i], j, sizes);
		else
			judged_print(&choice[i], j, sizes);
		if (!i && gain_ends(j, 1))
			say_warning(name, "the dictionary gains next to nothing on these records");
	}
	if (common.json) {
		json_close(&out, ']');
		json_end(&out);
	}
}

static bool dict_write(const struct trained *t, const char *path)
{
	struct output_options oo = { .force = true, .sync = true };
	struct output out;
	int r, closed;

	if (output_open(&out, path, &oo))
		return false;
	r = output_write(&out, t->dict, t->dict_len);
	closed = output_close(&out, &oo, !r);
	if (r || closed)
		say_errno(path, "can't write", r ? -r : -closed);
	return !r && !closed;
}

bool train_file(const char *path, const struct train_options *o)
{
	const char *name = strcmp(path, "-") ? path : IO_STDIN_NAME;
	struct filter_error err = { .code = FILTER_OK };
	struct records r;
	struct trained t = { .r = &r };
	bool done;

	if (!o->out)
		die("--train needs -o DICT");
	if (!records_load(&r, path, vprobe.records))
		return false;
	done = train(&t, (size_t)o->dict_size, &err);
	if (!done)
		say_failure(name, &err);
	else if ((done = dict_write(&t, o->out)))
		report(&t, name);
	free(t.dict);
	records_free(&r);
	return done;
}
