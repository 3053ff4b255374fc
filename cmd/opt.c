/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt.c - options as a table: parsing
 *
 * One pass over argv.  A word is an operand, a long option or a cluster of
 * letters; operands are moved to the front as they come.  A level is an option
 * whose letter is a number ("-19"), which is why clusters read digits as one.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

struct common common = { .progress = -1 };

struct parser {
	const struct applet *applet;
	char **argv;
	int argc, at, operands;
};

static void usage(const char *fmt, ...)
	__attribute__((format(printf, 1, 2), noreturn));

static void usage(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	die("%s; see %s --help", text, say_applet());
}

/* How the user spells the option, for messages. */
static const char *spelled(const struct opt *o)
{
	static char buf[64];

	if (o->kind == OPT_LEVEL)
		snprintf(buf, sizeof(buf), "-LEVEL");
	else if (o->name)
		snprintf(buf, sizeof(buf), "--%s", o->name);
	else
		snprintf(buf, sizeof(buf), "-%c", o->letter);
	return buf;
}

static bool optional_arg(const struct opt *o)
{
	return o->arg && o->arg[0] == '[';
}

/* The power of 1024 that a unit stands for, -1 when it isn't one. */
static int unit_power(const char *unit)
{
	static const char *const tail[] = { "", "B", "iB", "b", "ib" };
	const char *letters = "KMGTkmgt";
	const char *p;

	if (!*unit || !strcmp(unit, "B"))
		return 0;
	p = strchr(letters, *unit);
	if (!p)
		return -1;
	for (size_t i = 0; i < sizeof(tail) / sizeof(*tail); i++)
		if (!strcmp(unit + 1, tail[i]))
			return (int)(p - letters) % 4 + 1;
	return -1;
}

bool opt_size(const char *text, uint64_t *size)
{
	char *end;
	double x;
	int power;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*size = strtoull(text, &end, 10);
	if (errno)
		return false;
	x = (double)*size;
	if (*end == '.')
		x = strtod(text, &end);
	power = unit_power(end);
	if (power < 0 || (x != (double)*size && !power))
		return false;
	for (int i = 0; i < power; i++)
		x *= 1024;
	if (x >= (double)INT64_MAX)
		return false;
	if (power)
		*size = (uint64_t)x;
	return true;
}

static void set_int(const struct opt *o, const char *arg)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(arg, &end, 10);
	if (end == arg || *end || errno)
		usage("%s needs a number, not '%s'", spelled(o), arg);
	if (n < o->min || n > o->max)
		usage("%s takes %lld to %lld, not %s", spelled(o),
		      (long long)o->min, (long long)o->max, arg);
	*(int *)o->dest = (int)n;
}

static void set_size(const struct opt *o, const char *arg)
{
	char least[16], most[16];
	uint64_t n;

	if (!opt_size(arg, &n))
		usage("%s needs a size such as 500, 64K or 2GiB, not '%s'",
		      spelled(o), arg);
	if (n < (uint64_t)o->min || n > (uint64_t)o->max)
		usage("%s takes %s to %s, not %s", spelled(o),
		      format_size(least, (uint64_t)o->min),
		      format_size(most, (uint64_t)o->max), arg);
	*(uint64_t *)o->dest = n;
}

static void set_word(const struct opt *o, const char *arg)
{
	for (int i = 0; o->words[i]; i++)
		if (!strcmp(o->words[i], arg)) {
			*(int *)o->dest = i;
			return;
		}
	usage("%s: '%s' is none of its words", spelled(o), arg);
}

static void apply(const struct opt *o, const char *arg)
{
	bool absent = !arg;

	switch (o->kind) {
	case OPT_SET:
		*(int *)o->dest = (int)o->value;
		break;
	case OPT_ADD:
		*(int *)o->dest += (int)o->value;
		break;
	case OPT_INT:
	case OPT_LEVEL:
		if (absent)
			*(int *)o->dest = (int)o->value;
		else
			set_int(o, arg);
		break;
	case OPT_SIZE:
		if (absent)
			*(uint64_t *)o->dest = (uint64_t)o->value;
		else
			set_size(o, arg);
		break;
	case OPT_TEXT:
		*(const char **)o->dest = absent ? "-" : arg;
		break;
	case OPT_WORD:
		if (absent)
			*(int *)o->dest = (int)o->value;
		else
			set_word(o, arg);
		break;
	case OPT_CALL:
		o->call(o, arg);
		break;
	case OPT_END:
	case OPT_GROUP:
		break;
	}
}

static const struct opt *find_long(const struct applet *a, const char *name,
				   size_t n)
{
	for (const struct opt *o = a->options; o->kind != OPT_END; o++)
		if (o->name && strlen(o->name) == n && !memcmp(o->name, name, n))
			return o;
	usage("no option --%.*s", (int)n, name);
}

static const struct opt *look_up(const struct applet *a, char letter)
{
	for (const struct opt *o = a->options; o->kind != OPT_END; o++)
		if (letter && o->letter == letter)
			return o;
	return NULL;
}

static const struct opt *find_letter(const struct applet *a, char letter)
{
	const struct opt *o = look_up(a, letter);

	if (!o)
		usage("no option -%c", letter);
	return o;
}

static const struct opt *find_level(const struct applet *a)
{
	for (const struct opt *o = a->options; o->kind != OPT_END; o++)
		if (o->kind == OPT_LEVEL)
			return o;
	return NULL;
}

static const char *next_word(struct parser *p, const struct opt *o)
{
	if (p->at >= p->argc)
		usage("%s needs an argument (%s)", spelled(o), o->arg);
	return p->argv[p->at++];
}

void common_from_environment(void)
{
	const char *text = getenv("VOLTBOX_THREADS");
	char *end;
	long n;

	if (!text || !*text)
		return;
	n = strtol(text, &end, 10);
	if (*end || n < 0 || n > 256)
		die("VOLTBOX_THREADS is not a number from 0 to 256: '%s'", text);
	common.threads = (int)n;
}

int applet_switch(const struct applet *a, int argc, char **argv)
{
	say_start(a->name);
	return a->main(argc, argv);
}

/* In a cluster: up to the first letter that takes an argument. */
static bool cluster_asks(const struct applet *a, const char *w, const char *letters,
			 bool *takes_next)
{
	for (; *w; w++) {
		const struct opt *o = look_up(a, *w);

		if (strchr(letters, *w))
			return true;
		if (o && o->arg && !optional_arg(o)) {
			*takes_next = !w[1];
			return false;
		}
	}
	return false;
}

bool opt_asks(const struct applet *a, int argc, char **argv, const char *letters)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const char *w = argv[i];
		bool skip = false;

		if (w[0] == '-' && w[1] == '-') {
			for (const char *l = letters; *l; l++)
				if (!strcmp(look_up(a, *l)->name, w + 2))
					return true;
		} else if (w[0] == '-') {
			if (cluster_asks(a, w + 1, letters, &skip))
				return true;
			i += skip;
		}
	}
	return false;
}

static void parse_long(struct parser *p, const char *word)
{
	const char *value = strchr(word, '=');
	size_t n = value ? (size_t)(value - word) : strlen(word);
	const struct opt *o;

	if (!strcmp(word, "help")) {
		opt_help(p->applet);
		exit(say_status());
	}
	if (!strcmp(word, "version")) {
		version_print();
		exit(say_status());
	}
	o = find_long(p->applet, word, n);
	if (value && !o->arg)
		usage("--%s takes no argument", o->name);
	if (value)
		apply(o, value + 1);
	else if (!o->arg || optional_arg(o))
		apply(o, NULL);
	else
		apply(o, next_word(p, o));
}

/* "-19" in a cluster: returns behind the digits. */
static const char *parse_level(struct parser *p, const char *w)
{
	const struct opt *o = find_level(p->applet);
	char number[8] = { 0 };
	size_t n = strspn(w, "0123456789");

	if (!o || n >= sizeof(number))
		usage("no option -%s", w);
	memcpy(number, w, n);
	apply(o, number);
	return w + n;
}

static void parse_cluster(struct parser *p, const char *w)
{
	while (*w) {
		const struct opt *o;

		if (*w >= '0' && *w <= '9') {
			w = parse_level(p, w);
			continue;
		}
		if (*w == 'h') {
			opt_help(p->applet);
			exit(say_status());
		}
		o = find_letter(p->applet, *w++);
		if (!o->arg || optional_arg(o)) {
			apply(o, NULL);
			continue;
		}
		apply(o, *w ? w : next_word(p, o));
		return;
	}
}

int opt_parse(const struct applet *a, int argc, char **argv)
{
	struct parser p = { .applet = a, .argv = argv, .argc = argc, .at = 1 };
	bool options = true;

	while (p.at < argc) {
		char *w = argv[p.at++];

		if (!options || w[0] != '-' || !w[1])
			argv[p.operands++] = w;
		else if (!strcmp(w, "--"))
			options = false;
		else if (w[1] == '-')
			parse_long(&p, w + 2);
		else
			parse_cluster(&p, w + 1);
	}
	return p.operands;
}
