// SPDX-License-Identifier: Apache-2.0
/*
 * tar.c - the header blocks of one tar entry: ustar, GNU, pax
 *
 * What we say of an entry are two pax keywords, LZVOLT.encoding and
 * LZVOLT.size, at the end of its pax header, which is made where there is none
 * and goes where nothing else was in it.  Everything else stays.
 */
#include "tar.h"

#include <stdio.h>
#include <string.h>

#include "record.h"

/* Fields of a block. */
#define NAME		0
#define NAME_LEN	100
#define SIZE		124
#define SIZE_LEN	12
#define SUM		148
#define SUM_LEN		8
#define TYPE		156
#define MAGIC		257
#define PREFIX		345
#define PREFIX_LEN	155
#define SPARSE_MORE	482	/* of a GNU sparse header */
#define SPARSE_MORE_EXT	504	/* ... and of the blocks behind it */

static const char *const encodings[] = { "raw", "lz4", "lzvolt" };

bool tar_is_zero(const uint8_t *b)
{
	return !b[0] && !memcmp(b, b + 1, TAR_BLOCK - 1);
}

static bool is_octal(uint8_t c)
{
	return c >= '0' && c <= '7';
}

/* Octal, or GNU's base 256.  TAR_NO_SIZE: neither. */
static uint64_t number_get(const uint8_t *f, size_t n)
{
	uint64_t v = 0;
	size_t i = 0;

	if (f[0] & 0x80) {
		v = f[0] & 0x7f;
		for (i = 1; i < n; i++) {
			if (v >> 54)
				return TAR_NO_SIZE;
			v = v << 8 | f[i];
		}
		return v;
	}
	while (i < n && f[i] == ' ')
		i++;
	for (; i < n && is_octal(f[i]); i++)
		v = v << 3 | (uint64_t)(f[i] - '0');
	return i == n || !f[i] || f[i] == ' ' ? v : TAR_NO_SIZE;
}

/* The digits' last place stays, and zeros or spaces in front of them. */
static bool octal_put(uint8_t *f, size_t end, uint64_t v)
{
	uint8_t fill = f[0] == ' ' ? ' ' : '0';
	size_t i;

	for (i = end; i--; v >>= 3)
		f[i] = v || i == end - 1 ? (uint8_t)('0' + (v & 7)) : fill;
	return !v;
}

static void number_put(uint8_t *f, size_t n, uint64_t v)
{
	size_t end = n;

	while (end && !is_octal(f[end - 1]))
		end--;
	if (end && !(f[0] & 0x80) && octal_put(f, end, v))
		return;
	memset(f, 0, n);
	octal_put(f, n - 1, v);
}

/* By unsigned bytes; *with_sign: as some old programs did it. */
static uint64_t sum_of(const uint8_t *b, uint64_t *with_sign)
{
	uint64_t sum = 0, high = 0;
	size_t i;

	for (i = 0; i < TAR_BLOCK; i++) {
		uint8_t c = i - SUM < SUM_LEN ? ' ' : b[i];

		sum += c;
		high += c >> 7;
	}
	*with_sign = sum - 256 * high;
	return sum;
}

bool tar_is_header(const uint8_t *b)
{
	uint64_t with_sign, sum = sum_of(b, &with_sign);
	uint64_t said = number_get(b + SUM, SUM_LEN);

	return said == sum || said == with_sign;
}

static void set_size(uint8_t *b, uint64_t size)
{
	uint64_t unused;

	number_put(b + SIZE, SIZE_LEN, size);
	number_put(b + SUM, SUM_LEN, sum_of(b, &unused));
}

/* A pax record: "length key=value\n". */
struct pax {
	const uint8_t *key, *value;
	size_t key_size, value_size;
};

/* Its size; 0: malformed. */
static size_t pax_get(const uint8_t *p, size_t n, struct pax *x)
{
	const uint8_t *eq;
	size_t len = 0, i;

	for (i = 0; i < n && i < 7 && p[i] >= '0' && p[i] <= '9'; i++)
		len = 10 * len + (p[i] - '0');
	if (!i || i == n || p[i] != ' ' || len > n || len < i + 4 || p[len - 1] != '\n')
		return 0;
	x->key = p + i + 1;
	eq = memchr(x->key, '=', len - i - 2);
	if (!eq)
		return 0;
	x->key_size = (size_t)(eq - x->key);
	x->value = eq + 1;
	x->value_size = (size_t)(p + len - 1 - x->value);
	return len;
}

static bool key_is(const struct pax *x, const char *key)
{
	return x->key_size == strlen(key) && !memcmp(x->key, key, x->key_size);
}

static bool key_begins(const struct pax *x, const char *key)
{
	return x->key_size >= strlen(key) && !memcmp(x->key, key, strlen(key));
}

static size_t pax_put(uint8_t *dst, const char *key, const void *value, size_t n)
{
	size_t bare = strlen(key) + n + 3, len = bare + 1, at;
	char number[24];

	while (len != bare + (size_t)snprintf(number, sizeof(number), "%zu", len))
		len++;
	at = (size_t)snprintf((char *)dst, len + 1, "%s %s=", number, key);
	memcpy(dst + at, value, n);
	dst[at + n] = '\n';
	return len;
}

static size_t pax_put_number(uint8_t *dst, const char *key, uint64_t v)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)v);

	return pax_put(dst, key, text, (size_t)n);
}

static uint64_t decimal(const struct pax *x)
{
	uint64_t v = 0;
	size_t i;

	for (i = 0; i < x->value_size; i++) {
		if (x->value[i] < '0' || x->value[i] > '9' || v >> 58)
			return TAR_NO_SIZE;
		v = 10 * v + (x->value[i] - '0');
	}
	return i ? v : TAR_NO_SIZE;
}

static int encoding_get(const struct pax *x)
{
	int i;

	for (i = 0; i < 3; i++)
		if (x->value_size == strlen(encodings[i]) &&
		    !memcmp(x->value, encodings[i], x->value_size))
			return i;
	return -1;
}

/* A head that is being read. */
struct cut {
	const uint8_t *p;
	struct tar_entry *e;
	uint64_t pax_length;	/* its "size", or TAR_NO_SIZE */
	bool sparse;
	const char *wrong;
};

static bool apply(struct cut *c, const struct pax *x)
{
	struct tar_entry *e = c->e;

	if (key_is(x, "path")) {
		e->name = x->value;
		e->name_size = x->value_size;
	} else if (key_is(x, "size")) {
		c->pax_length = decimal(x);
		if (c->pax_length == TAR_NO_SIZE)
			c->wrong = "a pax size that is no number";
	} else if (key_begins(x, "GNU.sparse.")) {
		c->sparse = true;
	} else if (key_is(x, "LZVOLT.encoding")) {
		e->encoding = encoding_get(x);
		if (e->encoding < 0)
			c->wrong = "LZVOLT.encoding is none of raw, lz4, lzvolt";
	} else if (key_is(x, "LZVOLT.size")) {
		e->raw_size = decimal(x);
		if (e->raw_size == TAR_NO_SIZE)
			c->wrong = "an LZVOLT.size that is no number";
	}
	return !c->wrong;
}

/* What holds for all entries to come mustn't say what we say of one. */
static bool apply_global(struct cut *c, const struct pax *x)
{
	if (key_is(x, "size") || key_begins(x, "LZVOLT."))
		c->wrong = "a global pax header that holds a size or an encoding";
	return !c->wrong;
}

static bool pax_read(struct cut *c, size_t at, size_t n,
		     bool (*apply_to)(struct cut *, const struct pax *))
{
	size_t end = at + n, took;
	struct pax x;

	for (; at < end; at += took) {
		took = pax_get(c->p + at, end - at, &x);
		if (!took)
			c->wrong = "a malformed pax record";
		if (!took || !apply_to(c, &x))
			return false;
	}
	return true;
}

/* A block that stands in front of the entry's own, with n bytes behind it. */
static bool leader(struct cut *c, size_t at, size_t n)
{
	const uint8_t *b = c->p + at;
	struct tar_entry *e = c->e;

	if (b[TYPE] == 'g')
		return pax_read(c, at + TAR_BLOCK, n, apply_global);
	if (b[TYPE] == 'x') {
		if (e->pax_size || !n)
			e->file = false;
		e->pax = at;
		e->pax_size = n;
		return pax_read(c, at + TAR_BLOCK, n, apply);
	}
	if (b[TYPE] == 'L' && !e->name) {
		e->name = b + TAR_BLOCK;
		e->name_size = strnlen((const char *)e->name, n);
	}
	return true;
}

static size_t field_len(const uint8_t *f, size_t n)
{
	return strnlen((const char *)f, n);
}

static void take_name(struct tar_entry *e, const uint8_t *b)
{
	if (e->name)
		return;
	e->name = b + NAME;
	e->name_size = field_len(b + NAME, NAME_LEN);
	if (memcmp(b + MAGIC, "ustar", 6))
		return;
	e->dir = b + PREFIX;
	e->dir_size = field_len(e->dir, PREFIX_LEN);
}

/* The entry's own block: 1, 0, -1. */
static int own_block(struct cut *c, size_t at, size_t n, size_t *want)
{
	const uint8_t *b = c->p + at;
	struct tar_entry *e = c->e;
	bool more = b[TYPE] == 'S' && b[SPARSE_MORE];

	e->last = at;
	e->head = at + TAR_BLOCK;
	e->size = number_get(b + SIZE, SIZE_LEN);
	take_name(e, b);
	if (c->pax_length != TAR_NO_SIZE)
		e->size = c->pax_length;
	if (b[TYPE] == '1')
		e->size = 0;
	if (e->size == TAR_NO_SIZE)
		c->wrong = "a size that is no number";
	if (b[TYPE] != '0' && b[TYPE] != 0 && b[TYPE] != '7')
		e->file = false;
	if (c->sparse || (e->name_size && e->name[e->name_size - 1] == '/'))
		e->file = false;
	if (e->encoding > LZV_RAW && e->raw_size == TAR_NO_SIZE)
		c->wrong = "LZVOLT.encoding without LZVOLT.size";
	for (; more && !c->wrong; e->head += TAR_BLOCK) {
		*want = e->head + TAR_BLOCK;
		if (n < *want)
			return 0;
		more = c->p[e->head + SPARSE_MORE_EXT];
		if (*want > TAR_HEAD_MAX)
			c->wrong = "a sparse map that is too long";
	}
	return c->wrong ? -1 : 1;
}

static bool leads(uint8_t type)
{
	return type == 'x' || type == 'g' || type == 'L' || type == 'K' || type == 'X';
}

int tar_entry_get(const uint8_t *p, size_t n, struct tar_entry *e, size_t *want,
		  const char **wrong)
{
	struct cut c = { .p = p, .e = e, .pax_length = TAR_NO_SIZE };
	size_t at = 0;
	uint64_t size;
	int got = -1;

	*e = (struct tar_entry){ .file = true, .raw_size = TAR_NO_SIZE };
	for (;;) {
		*want = at + TAR_BLOCK;
		if (n < *want)
			return 0;
		*want = at;
		*wrong = "expected a tar header, its checksum is wrong";
		if (!tar_is_header(p + at))
			return -1;
		if (!leads(p[at + TYPE]))
			break;
		size = number_get(p + at + SIZE, SIZE_LEN);
		*wrong = "headers in front of an entry are too long";
		if (size > TAR_HEAD_MAX || at + TAR_BLOCK + size > TAR_HEAD_MAX)
			return -1;
		*want = at + TAR_BLOCK + size + tar_padding(size);
		if (n < *want)
			return 0;
		if (!leader(&c, at, size))
			break;
		at = *want;
	}
	if (!c.wrong)
		got = own_block(&c, at, n, want);
	*wrong = c.wrong;
	if (got < 0)
		*want = at;
	return got;
}

/* A block of ours: an ordinary file of the superuser's, of 1970. */
static void block_new(uint8_t *b, uint8_t type, const void *name, size_t n)
{
	memset(b, 0, TAR_BLOCK);
	memcpy(b + NAME, name, n < NAME_LEN ? n : NAME_LEN);
	memcpy(b + 100, "0000644\0000000000\0000000000", 24);
	memset(b + SIZE, '0', SIZE_LEN - 1);
	memset(b + SIZE + SIZE_LEN, '0', 11);
	memcpy(b + SUM, "000000\0 ", SUM_LEN);
	b[TYPE] = type;
	memcpy(b + MAGIC, "ustar\00000", 8);
	set_size(b, 0);
}

/* The pax header's data as they are to be: their size. */
static size_t pax_edit(const uint8_t *p, const struct tar_entry *e, int encoding,
		       uint64_t raw_size, uint64_t size, uint8_t *dst)
{
	const uint8_t *from = p + e->pax + TAR_BLOCK;
	size_t at, took, n = 0;
	struct pax x;

	for (at = 0; at < e->pax_size; at += took) {
		took = pax_get(from + at, e->pax_size - at, &x);
		if (!took)
			break;
		if (key_is(&x, "size")) {
			n += pax_put_number(dst + n, "size", size);
		} else if (!key_begins(&x, "LZVOLT.")) {
			memcpy(dst + n, from + at, took);
			n += took;
		}
	}
	if (encoding == LZV_RAW)
		return n;
	n += pax_put(dst + n, "LZVOLT.encoding", encodings[encoding],
		     strlen(encodings[encoding]));
	return n + pax_put_number(dst + n, "LZVOLT.size", raw_size);
}

size_t tar_entry_edit(const uint8_t *p, const struct tar_entry *e, int encoding,
		      uint64_t raw_size, uint64_t size, uint8_t *dst)
{
	size_t at = e->pax_size ? e->pax : e->last;
	size_t next = at, n;
	uint8_t *b = dst + at;

	if (encoding == e->encoding && size == e->size &&
	    (encoding == LZV_RAW || raw_size == e->raw_size)) {
		memcpy(dst, p, e->head);
		return e->head;
	}
	memcpy(dst, p, at);
	if (e->pax_size)
		next += TAR_BLOCK + e->pax_size + tar_padding(e->pax_size);
	n = pax_edit(p, e, encoding, raw_size, size, b + TAR_BLOCK);
	if (n) {
		if (e->pax_size)
			memcpy(b, p + at, TAR_BLOCK);
		else
			block_new(b, 'x', "PaxHeaders/lzvolt", 17);
		set_size(b, n);
		memset(b + TAR_BLOCK + n, 0, tar_padding(n));
		b += TAR_BLOCK + n + tar_padding(n);
	}
	memcpy(b, p + next, e->head - next);
	b += e->last - next;
	if (number_get(b + SIZE, SIZE_LEN) == e->size)
		set_size(b, size);
	return (size_t)(b + TAR_BLOCK - dst);
}

size_t tar_entry_new(const uint8_t *name, size_t n, uint8_t *dst)
{
	size_t at = 0;

	if (n > NAME_LEN) {
		at = pax_put(dst + TAR_BLOCK, "path", name, n);
		block_new(dst, 'x', "PaxHeaders/lzvolt", 17);
		set_size(dst, at);
		memset(dst + TAR_BLOCK + at, 0, tar_padding(at));
		at += TAR_BLOCK + tar_padding(at);
	}
	block_new(dst + at, '0', name, n);
	return at + TAR_BLOCK;
}
