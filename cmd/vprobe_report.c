/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_report.c - what was found, for people and as JSON
 *
 * For people: a few lines, each a word and what it says; on a terminal the
 * windows are drawn too.  JSON: one object a line with everything.
 */
#include <stdio.h>
#include <unistd.h>

#include "vprobe.h"

static const char *const verdicts[] = { "compress", "store", "mixed" };

char *format_speed(char *buf, double x)
{
	if (x >= 1e9)
		snprintf(buf, 24, "%.2f GB/s", x / 1e9);
	else
		snprintf(buf, 24, "%.*f MB/s", x >= 100e6 ? 0 : x >= 10e6 ? 1 : 2, x / 1e6);
	return buf;
}

char *format_bits(char *buf, double x)
{
	if (x >= 125e6)
		snprintf(buf, 24, "%.2f Gbit/s", x / 125e6);
	else
		snprintf(buf, 24, "%.*f Mbit/s", x >= 12.5e6 ? 0 : 1, x / 125e3);
	return buf;
}

char *format_time(char *buf, double s)
{
	if (s >= 3600)
		snprintf(buf, 24, "%.1f h", s / 3600);
	else if (s >= 1)
		snprintf(buf, 24, "%.2f s", s);
	else if (s >= 1e-3)
		snprintf(buf, 24, "%.2f ms", s * 1e3);
	else
		snprintf(buf, 24, "%.1f us", s * 1e6);
	return buf;
}

static void say_noise(const struct finding *f, FILE *to)
{
	size_t blocks, noise = finding_noise(f, &blocks);

	if (blocks)
		fprintf(to, "  packing   %zu of %zu blocks of 64 KiB would be stored as they are\n",
			noise, blocks);
}

static void format_names(const struct finding *f, FILE *to)
{
	for (unsigned i = 0; i < f->formats; i++)
		fprintf(to, "%s%s%s", i ? " > " : "",
			f->format[i].certain ? "" : "possibly ", f->format[i].name);
}

/* The expected saving of each window as a bar of eight heights. */
static void sparkline(const struct probe_stats *s, FILE *to)
{
	static const char *const bar[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	unsigned step = (s->windows + 63) / 64;

	for (unsigned i = 0; i < s->windows; i += step) {
		float most = 0;

		for (unsigned k = i; k < i + step && k < s->windows; k++)
			most = s->window[k].saving > most ? s->window[k].saving : most;
		fputs(bar[most >= 1 ? 7 : (int)(most * 8)], to);
	}
}

static void say_windows(const struct finding *f, FILE *to)
{
	const struct probe_stats *s = &f->stats;
	char buf[16];

	if (s->windows < 2)
		return;
	fprintf(to, "  windows   ");
	if (isatty(fileno(to)))
		sparkline(s, to);
	fprintf(to, "%s%u of %s%s\n", isatty(fileno(to)) ? "  " : "", s->windows,
		format_size(buf, s->window[0].size), f->sampled ? " of the sample" : "");
}

/* -v: a line for each window. */
static void list_windows(const struct probe_stats *s, FILE *to)
{
	for (unsigned i = 0; i < s->windows; i++) {
		const struct probe_window *w = &s->window[i];

		fprintf(to, "  %12llu  %6.3f bits, %5.1f %% seen before, saves %5.1f %%\n",
			(unsigned long long)w->offset, w->entropy, 100 * w->match8,
			100 * w->saving);
	}
}

static void say_parts(const struct finding *f, FILE *to)
{
	const struct probe_stats *s = &f->stats;

	if (s->verdict != PROBE_MIXED)
		return;
	if (f->sampled) {
		fprintf(to, "  cut       where can't be said from a sample\n");
		return;
	}
	for (unsigned i = 0; i < s->parts; i++)
		fprintf(to, "  cut       bytes %llu to %llu: %s\n",
			(unsigned long long)s->part[i].offset,
			(unsigned long long)(s->part[i].offset + s->part[i].size),
			s->part[i].packs ? "compress" : "store");
}

static void say_entropy(const struct finding *f, FILE *to)
{
	const struct probe_stats *s = &f->stats;

	fprintf(to, "  entropy   %.3f", s->order0);
	if (s->order0_error > 0)
		fprintf(to, " +- %.3f", s->order0_error);
	fprintf(to, " bits a byte, %.3f given the byte before", s->order1);
	if (s->order1_bias >= 0.01)
		fprintf(to, " (up to %.2f too low, for want of bytes)", s->order1_bias);
	fprintf(to, "; %u distinct\n", s->distinct);
}

static void say_estimates(const struct finding *f, const struct estimate *e, int n, FILE *to)
{
	const struct estimate *best = choose_quick(f, e, n);
	const struct sample *s = &f->sample;
	char a[24], b[24];

	if (!sample_whole(s))
		fprintf(to, "  estimates from %s %s of it\n",
			s->pieces > 1 ? "a sample of" : "the first",
			format_size((char[16]){ 0 }, s->len));
	for (int i = 0; i < n; i++) {
		if (e[i].refused) {
			fprintf(to, "  estimate  %-9s finds too little to save\n",
				e[i].choice.name);
			continue;
		}
		fprintf(to, "  estimate  %-9s ratio %.2f", e[i].choice.name, e[i].ratio);
		if (e[i].ratio_error > 0)
			fprintf(to, " +- %.2f", e[i].ratio_error);
		fprintf(to, ", packs %s, unpacks %s\n", format_speed(a, e[i].pack.mid),
			format_speed(b, e[i].unpack.mid));
	}
	if (!best) {
		fprintf(to, "  to send   at 100 Mbit/s: nothing is faster than as it is\n");
		return;
	}
	fprintf(to, "  to send   at 100 Mbit/s: ");
	command_print(f, &best->choice, to);
}

void report_finding(const struct finding *f, const struct estimate *e, int n, FILE *to)
{
	const struct probe_stats *s = &f->stats;
	char buf[16];

	fprintf(to, "%s: ", f->name);
	format_names(f, to);
	if (f->size == SIZE_UNKNOWN)
		fprintf(to, ", size unknown\n");
	else
		fprintf(to, ", %s (%llu bytes)\n", format_size(buf, f->size),
			(unsigned long long)f->size);
	if (f->sampled)
		fprintf(to, "  sample    %s of it\n", format_size(buf, s->bytes));
	if (!s->bytes)
		return;
	say_entropy(f, to);
	fprintf(to, "  repeats   %.1f %% of places have their next 8 bytes from before, "
		"%.1f %% their next 4\n", 100 * s->match8, 100 * s->match4);
	say_windows(f, to);
	if (vprobe.verbose)
		list_windows(s, to);
	say_noise(f, to);
	fprintf(to, "  verdict   %s: %s\n", verdicts[s->verdict], s->reason);
	say_parts(f, to);
	if (n)
		say_estimates(f, e, n, to);
}

static void json_formats(struct json *j, const struct finding *f)
{
	json_open(j, "formats", '[');
	for (unsigned i = 0; i < f->formats; i++) {
		json_open(j, NULL, '{');
		json_text(j, "name", f->format[i].name);
		json_bool(j, "packed", f->format[i].packed);
		json_bool(j, "certain", f->format[i].certain);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_windows(struct json *j, const struct probe_stats *s)
{
	json_open(j, "windows", '[');
	for (unsigned i = 0; i < s->windows; i++) {
		const struct probe_window *w = &s->window[i];

		json_open(j, NULL, '{');
		json_number(j, "offset", w->offset);
		json_number(j, "size", w->size);
		json_real(j, "entropy", w->entropy, 4);
		json_real(j, "match8", w->match8, 4);
		json_real(j, "saving", w->saving, 4);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_parts(struct json *j, const struct finding *f)
{
	const struct probe_stats *s = &f->stats;

	json_open(j, "parts", '[');
	for (unsigned i = 0; i < s->parts && !f->sampled; i++) {
		json_open(j, NULL, '{');
		json_number(j, "offset", s->part[i].offset);
		json_number(j, "size", s->part[i].size);
		json_text(j, "verdict", verdicts[!s->part[i].packs]);
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* Without the closing brace: the caller may have more. */
static void json_stats(struct json *j, const struct finding *f)
{
	const struct probe_stats *s = &f->stats;
	size_t blocks;

	json_text(j, "file", f->name);
	json_number(j, "size", f->size);
	json_number(j, "scanned", s->bytes);
	json_bool(j, "sampled", f->sampled);
	json_formats(j, f);
	json_real(j, "order0", s->order0, 6);
	json_real(j, "order0_error", s->order0_error, 6);
	json_real(j, "order1", s->order1, 6);
	json_real(j, "order1_bias", s->order1_bias, 6);
	json_number(j, "order1_pairs", s->order1_pairs);
	json_number(j, "distinct", s->distinct);
	json_real(j, "match4", s->match4, 4);
	json_real(j, "match8", s->match8, 4);
	json_real(j, "runs", s->runs, 4);
	json_real(j, "saving", s->saving, 4);
	json_text(j, "verdict", verdicts[s->verdict]);
	json_text(j, "reason", s->reason);
	json_bool(j, "worth", finding_worth(f));
	json_number(j, "noise_blocks", finding_noise(f, &blocks));
	json_number(j, "blocks", blocks);
	json_parts(j, f);
	json_windows(j, s);
}

static void json_estimates(struct json *j, const struct estimate *e, int n)
{
	json_open(j, "estimates", '[');
	for (int i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		json_text(j, "choice", e[i].choice.name);
		json_bool(j, "refused", e[i].refused);
		json_real(j, "ratio", e[i].ratio, 4);
		json_real(j, "ratio_error", e[i].ratio_error, 4);
		json_real(j, "pack_speed", e[i].pack.mid, 0);
		json_real(j, "unpack_speed", e[i].unpack.mid, 0);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void report_json(const struct finding *f, const struct estimate *e, int n, FILE *to)
{
	const struct estimate *best = choose_quick(f, e, n);
	struct json j;

	json_begin(&j, to);
	json_stats(&j, f);
	json_estimates(&j, e, n);
	json_text(&j, "command", best ? best->choice.option : NULL);
	json_end(&j);
}
