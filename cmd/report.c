/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - JSON lines and numbers for people */
#include <math.h>
#include <string.h>
#include <time.h>

#include "filter.h"
#include "report.h"
#include "say.h"

/* Length of the UTF-8 sequence at s, 0 when it isn't one. */
static int utf8_length(const unsigned char *s)
{
	int n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 :
		(s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;

	for (int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)))
		return 0;
	if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)))
		return 0;
	return n;
}

static void put_string(FILE *to, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', to);
	while (*s) {
		int n = utf8_length(s);

		if (!n)
			fputs("\\ufffd", to);
		else if (*s == '"' || *s == '\\')
			fprintf(to, "\\%c", *s);
		else if (*s < 0x20)
			fprintf(to, "\\u%04x", *s);
		else
			fwrite(s, 1, (size_t)n, to);
		s += n ? n : 1;
	}
	putc('"', to);
}

static void put_key(struct json *j, const char *key)
{
	if (j->comma)
		putc(',', j->to);
	j->comma = true;
	if (!key)
		return;
	put_string(j->to, key);
	putc(':', j->to);
}

void json_begin(struct json *j, FILE *to)
{
	*j = (struct json){ .to = to };
	putc('{', to);
}

void json_end(struct json *j)
{
	fputs("}\n", j->to);
	fflush(j->to);
}

void json_error(struct json *j, const struct filter_error *err)
{
	if (!err->code)
		return;
	json_open(j, "error", '{');
	json_text(j, "reason", err->what);
	json_number(j, "offset", err->code == CMD_E_WRITE ? SIZE_UNKNOWN : err->offset);
	json_close(j, '}');
}

void json_text(struct json *j, const char *key, const char *text)
{
	put_key(j, key);
	if (text)
		put_string(j->to, text);
	else
		fputs("null", j->to);
}

void json_number(struct json *j, const char *key, uint64_t n)
{
	put_key(j, key);
	if (n == SIZE_UNKNOWN)
		fputs("null", j->to);
	else
		fprintf(j->to, "%llu", (unsigned long long)n);
}

void json_signed(struct json *j, const char *key, int64_t n)
{
	put_key(j, key);
	fprintf(j->to, "%lld", (long long)n);
}

void json_real(struct json *j, const char *key, double x, int decimals)
{
	put_key(j, key);
	if (isfinite(x))
		fprintf(j->to, "%.*f", decimals, x);
	else
		fputs("null", j->to);
}

void json_bool(struct json *j, const char *key, bool b)
{
	put_key(j, key);
	fputs(b ? "true" : "false", j->to);
}

void json_open(struct json *j, const char *key, char bracket)
{
	put_key(j, key);
	putc(bracket, j->to);
	j->comma = false;
}

void json_close(struct json *j, char bracket)
{
	putc(bracket, j->to);
	j->comma = true;
}

void json_not_begun(FILE *to, const char *file, const char *action)
{
	struct json j;

	json_begin(&j, to);
	json_text(&j, "file", file);
	json_text(&j, "output", NULL);
	json_text(&j, "action", action);
	json_bool(&j, "ok", false);
	json_open(&j, "error", '{');
	json_text(&j, "reason", say_last());
	json_text(&j, "offset", NULL);
	json_close(&j, '}');
	json_end(&j);
}

double clock_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

char *format_size(char buf[16], uint64_t n)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double x = (double)n;
	int u = 0;

	while (x >= 1024 && u < 6) {
		x /= 1024;
		u++;
	}
	snprintf(buf, 16, u && x < 100 ? "%.1f %s" : "%.0f %s", x, unit[u]);
	return buf;
}
