/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opt_help.c - what is printed from the option tables: help and completions
 *
 * Completions are kept in completions/ (make completions prints them anew; a
 * test compares), one file a shell for all applets.
 */
#include <stdio.h>
#include <string.h>

#include "cmd.h"

/* --help and --version belong to every applet and stand in no table. */
static const struct opt always[] = {
	{ OPT_SET, 'h', "help", .help = "show this and end" },
	{ OPT_SET, 0, "version", .help = "show versions and end" },
	{ .kind = OPT_END },
};

/* Where the description begins. */
#define HELP_COLUMN 27

static int print_spelling(const struct opt *o)
{
	const char *eq = "=", *arg = o->arg ? o->arg : "";
	int n = 0;

	if (o->kind == OPT_LEVEL)
		return printf("  -%lld .. -%lld", (long long)o->min, (long long)o->max);
	if (o->letter)
		n += printf("  -%c", o->letter);
	else
		n += printf("    ");
	if (!o->name)
		return n + (o->arg ? printf(" %s", o->arg) : 0);
	if (!o->arg || o->arg[0] == '[')
		eq = "";
	return n + printf("%s--%s%s%s", o->letter ? ", " : "  ", o->name, eq, arg);
}

static void print_option(const struct opt *o)
{
	int n;

	if (!o->help)
		return;
	if (o->kind == OPT_GROUP) {
		printf("\n%s:\n", o->help);
		return;
	}
	n = print_spelling(o);
	if (n >= HELP_COLUMN - 1) {
		putchar('\n');
		n = 0;
	}
	printf("%*s%s\n", HELP_COLUMN - n, "", o->help);
}

void opt_help(const struct applet *a)
{
	printf("Usage: %s %s\n%s\n", a->name, a->usage, a->about);
	for (const struct opt *o = a->options; o->kind != OPT_END; o++)
		print_option(o);
	for (const struct opt *o = always; o->kind != OPT_END; o++)
		print_option(o);
	if (a->more)
		printf("\n%s", a->more);
	stdout_close();
}

/* Calls print for every option that completions show. */
static void each(const struct applet *a,
		 void (*print)(const struct applet *a, const struct opt *o))
{
	const struct opt *lists[] = { a->options, always };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		for (const struct opt *o = lists[i]; o->kind != OPT_END; o++)
			if (o->help && o->kind != OPT_GROUP && o->kind != OPT_LEVEL)
				print(a, o);
}

static bool needs_arg(const struct opt *o)
{
	return o->arg && o->arg[0] != '[';
}

static void bash_word(const struct applet *a, const struct opt *o)
{
	(void)a;
	if (o->name)
		printf(" --%s%s", o->name, needs_arg(o) ? "=" : "");
	if (o->letter)
		printf(" -%c", o->letter);
}

static void bash_values(const struct applet *a, const struct opt *o)
{
	(void)a;
	if (!o->words)
		return;
	printf("\t\t");
	if (o->letter)
		printf("-%c|", o->letter);
	printf("--%s) COMPREPLY=($(compgen -W '", o->name);
	for (int i = 0; o->words[i]; i++)
		printf("%s%s", i ? " " : "", o->words[i]);
	printf("' -- \"$cur\")); return;;\n");
}

static void bash_print(const struct applet *a)
{
	printf("_%s()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	       "\tif [ \"$cur\" = = ]; then cur=; fi\n"
	       "\tif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
	       "\tCOMPREPLY=()\n\tcase $prev in\n", a->name);
	each(a, bash_values);
	printf("\tesac\n\tcase $cur in\n\t-*) COMPREPLY=($(compgen -W '");
	each(a, bash_word);
	printf("' -- \"$cur\"))\n"
	       "\t\tcase ${COMPREPLY[0]} in *=) compopt -o nospace;; esac;;\n"
	       "\t*) COMPREPLY=($(compgen -f -- \"$cur\")); compopt -o filenames;;\n"
	       "\tesac\n}\ncomplete -F _%s %s\n", a->name, a->name);
}

/* Text inside a zsh spec: what would end it is escaped. */
static void zsh_text(const char *s)
{
	for (; *s; s++) {
		if (strchr("[]:\\", *s))
			putchar('\\');
		if (*s == '\'')
			printf("'\\'");
		putchar(*s);
	}
}

static void zsh_spec(const struct opt *o, bool is_long)
{
	printf(" \\\n\t'");
	if (is_long)
		printf("--%s%s", o->name, o->arg ? "=" : "");
	else
		printf("-%c%s", o->letter, needs_arg(o) ? "+" : "");
	if (o->arg && !needs_arg(o) && is_long)
		printf("-");
	printf("[");
	zsh_text(o->help);
	printf("]");
	if (o->arg && (is_long || needs_arg(o))) {
		printf("%s", needs_arg(o) ? ":" : "::");
		zsh_text(o->arg);
		printf(":");
		if (o->words) {
			printf("(");
			for (int i = 0; o->words[i]; i++)
				printf("%s%s", i ? " " : "", o->words[i]);
			printf(")");
		} else {
			printf("_files");
		}
	}
	printf("'");
}

static void zsh_option(const struct applet *a, const struct opt *o)
{
	(void)a;
	if (o->name)
		zsh_spec(o, true);
	if (o->letter)
		zsh_spec(o, false);
}

static void zsh_print(const struct applet *a)
{
	printf("_%s()\n{\n\t_arguments -s -S", a->name);
	each(a, zsh_option);
	printf(" \\\n\t'*:file:_files'\n}\n");
}

static void fish_option(const struct applet *a, const struct opt *o)
{
	printf("complete -c %s", a->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	if (o->name)
		printf(" -l %s", o->name);
	if (needs_arg(o))
		printf(" -r");
	if (o->words) {
		printf(" -f -a '");
		for (int i = 0; o->words[i]; i++)
			printf("%s%s", i ? " " : "", o->words[i]);
		printf("'");
	}
	printf(" -d '");
	for (const char *s = o->help; *s; s++)
		printf(*s == '\'' ? "\\%c" : "%c", *s);
	printf("'\n");
}

static void fish_print(const struct applet *a)
{
	each(a, fish_option);
}

struct shell {
	const char *name;
	const char *head;
	void (*print)(const struct applet *a);
};

static const struct shell shells[] = {
	{ "bash", "# bash completion, printed by: voltbox --completion bash\n",
	  bash_print },
	{ "zsh", "# printed by: voltbox --completion zsh\n", zsh_print },
	{ "fish", "# fish completion, printed by: voltbox --completion fish\n",
	  fish_print },
};

/* zsh wants the applets' names first and one function that picks at the end. */
static void zsh_frame(const struct applet *const *applets, bool head)
{
	if (head)
		printf("#compdef");
	else
		printf("case $service in\n");
	for (; *applets; applets++)
		printf(head ? " %s" : "%s) ", (*applets)->name),
		head ? 0 : printf("_%s \"$@\";;\n", (*applets)->name);
	printf(head ? "\n" : "esac\n");
}

bool opt_completion(const char *shell, const struct applet *const *applets)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		bool zsh = !strcmp(shells[i].name, "zsh");

		if (strcmp(shells[i].name, shell))
			continue;
		if (zsh)
			zsh_frame(applets, true);
		printf("%s", shells[i].head);
		for (const struct applet *const *a = applets; *a; a++)
			shells[i].print(*a);
		if (zsh)
			zsh_frame(applets, false);
		return true;
	}
	return false;
}
