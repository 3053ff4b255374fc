/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uu.c - uuencoded text, and its base64 variant (POSIX uuencode)
 *
 *	begin 644 name		begin-base64 644 name
 *	M...			base64 lines
 *	`
 *	end			====
 *
 * A uu line begins with the number of bytes in it as 32 + n; every three
 * bytes are four characters of 32 + six bits, with ` for the space.  Packing
 * writes that variant.  Text before the begin line is passed over.
 *
 * Our own code, because libarchive's lets a text end without its end line.
 */
#include "codecs.h"
#include "coder.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_LEN ((size_t)1024)
#define LINE_RAW ((size_t)45)		/* what a packed line holds */

/* --- unpacking --- */

enum uu_state { UU_BEFORE, UU_LINES, UU_ZERO, UU_BASE64, UU_ENDED };

struct uu_unpack {
	struct coder c;		/* first, so that the two cast */
	enum uu_state state;
	char line[LINE_MAX_LEN];
	size_t len;
	uint64_t at;		/* the line's offset */
	bool closed;		/* base64: padding was seen */
	uint8_t raw[LINE_MAX_LEN];
	size_t raw_pos, raw_len;
};

static void *uu_unpack_open(const struct filter_params *p, struct source *src,
			    struct filter_error *err)
{
	struct uu_unpack *u = calloc(1, sizeof(*u));

	(void)p;
	if (u)
		coder_start(&u->c, src);
	else
		coder_no_memory(err);
	return u;
}

static int uu_unpack_reset(void *state, const struct filter_params *p,
			   struct filter_error *err)
{
	struct uu_unpack *u = state;
	struct source *src = u->c.src;

	(void)p;
	(void)err;
	memset(u, 0, sizeof(*u));
	coder_start(&u->c, src);
	return FILTER_OK;
}

static int uu_corrupt(const struct uu_unpack *u, const char *what,
		      struct filter_error *err)
{
	return filter_fail(err, FILTER_E_CORRUPT, u->at, "corrupt uu text: %s", what);
}

/* Gathers a line without its end; false where there is none yet. */
static bool uu_line(struct uu_unpack *u)
{
	struct coder *c = &u->c;

	if (!u->len)
		u->at = coder_offset(c);
	while (c->in_len) {
		char ch = (char)*c->in++;

		c->in_len--;
		if (ch == '\n') {
			if (u->len && u->len < LINE_MAX_LEN &&
			    u->line[u->len - 1] == '\r')
				u->len--;
			return true;
		}
		if (u->len < LINE_MAX_LEN)
			u->line[u->len] = ch;
		u->len += u->len <= LINE_MAX_LEN;
	}
	return false;
}

static bool uu_is(const struct uu_unpack *u, const char *text)
{
	return u->len == strlen(text) && !memcmp(u->line, text, u->len);
}

static int uu_decode_line(struct uu_unpack *u, struct filter_error *err)
{
	unsigned n = ((unsigned char)u->line[0] - 32) & 63;
	size_t need = 1 + (n + 2) / 3 * 4;

	if (!u->len || u->len > LINE_MAX_LEN)
		return uu_corrupt(u, "a line of impossible length", err);
	for (size_t i = 0; i < u->len; i++)
		if (u->line[i] < 32 || u->line[i] > 96)
			return uu_corrupt(u, "a character outside the alphabet", err);
	if (!n)
		u->state = UU_ZERO;
	if (u->len < need)
		return uu_corrupt(u, "a line is shorter than it says", err);
	for (size_t i = 1; i < need; i += 4) {
		uint32_t v = 0;

		for (size_t k = 0; k < 4; k++)
			v = v << 6 | (((unsigned char)u->line[i + k] - 32) & 63);
		u->raw[u->raw_len++] = (uint8_t)(v >> 16);
		u->raw[u->raw_len++] = (uint8_t)(v >> 8);
		u->raw[u->raw_len++] = (uint8_t)v;
	}
	u->raw_len = n;
	return FILTER_OK;
}

static int base64_value(char ch)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = ch ? strchr(alphabet, ch) : NULL;

	return at ? (int)(at - alphabet) : -1;
}

/* One group of four characters; the padded one is the last. */
static bool base64_group(struct uu_unpack *u, const char *p)
{
	uint32_t v = 0;
	size_t pad = p[3] != '=' ? 0 : p[2] != '=' ? 1 : 2;

	for (size_t k = 0; k < 4; k++) {
		int six = k < 4 - pad ? base64_value(p[k]) : 0;

		if (six < 0)
			return false;
		v = v << 6 | (uint32_t)six;
	}
	for (size_t k = 0; k < 3 - pad; k++)
		u->raw[u->raw_len++] = (uint8_t)(v >> (16 - 8 * k));
	u->closed = pad;
	return true;
}

static int base64_decode_line(struct uu_unpack *u, struct filter_error *err)
{
	if (u->len > LINE_MAX_LEN || u->len % 4)
		return uu_corrupt(u, "a line of impossible length", err);
	for (size_t i = 0; i < u->len; i += 4)
		if (u->closed || !base64_group(u, u->line + i))
			return uu_corrupt(u, "not base64", err);
	return FILTER_OK;
}

static int uu_take_line(struct uu_unpack *u, struct filter_error *err)
{
	u->raw_pos = u->raw_len = 0;
	switch (u->state) {
	case UU_BEFORE:
		if (u->len <= LINE_MAX_LEN &&
		    filter_uu.detect((const uint8_t *)u->line, u->len))
			u->state = u->line[5] == '-' ? UU_BASE64 : UU_LINES;
		return FILTER_OK;
	case UU_BASE64:
		if (!uu_is(u, "===="))
			return base64_decode_line(u, err);
		u->state = UU_ENDED;
		return FILTER_OK;
	case UU_ZERO:
		if (!uu_is(u, "end"))
			return uu_corrupt(u, "no end behind the empty line", err);
		u->state = UU_ENDED;
		return FILTER_OK;
	default:
		return uu_decode_line(u, err);
	}
}

static int uu_unpack_step(struct coder *c, enum coder_mode mode,
			  struct filter_error *err)
{
	struct uu_unpack *u = (struct uu_unpack *)c;

	(void)mode;
	for (;;) {
		size_t n = u->raw_len - u->raw_pos;

		if (n > c->out_len)
			n = c->out_len;
		memcpy(c->out, u->raw + u->raw_pos, n);
		u->raw_pos += n;
		c->out += n;
		c->out_len -= n;
		if (u->state == UU_ENDED)
			return CODER_DONE;
		if (u->raw_pos < u->raw_len || !uu_line(u))
			return CODER_MORE;
		if (uu_take_line(u, err))
			return err->code;
		u->len = 0;
	}
}

static ptrdiff_t uu_unpack_read(void *state, uint8_t *dst, size_t cap,
				struct filter_error *err)
{
	return coder_unpack(state, uu_unpack_step, dst, cap, err);
}

static void uu_describe(const void *state, struct member *m)
{
	coder_describe(state, m);
	m->format = "uu";
	m->declared = SIZE_UNKNOWN;
}

/* --- packing --- */

struct uu_pack {
	struct coder c;		/* first, so that the two cast */
	uint8_t raw[LINE_RAW];
	size_t raw_len;
	char line[80];		/* text not yet handed out stands at pos */
	size_t pos, len;
	bool headed, finished;
};

static void uu_text(struct uu_pack *u, const char *text)
{
	u->pos = 0;
	u->len = strlen(text);
	memcpy(u->line, text, u->len);
}

static void *uu_pack_open(const struct filter_params *p, struct source *src,
			  struct filter_error *err)
{
	struct uu_pack *u = calloc(1, sizeof(*u));

	(void)p;
	if (!u) {
		coder_no_memory(err);
		return NULL;
	}
	coder_start(&u->c, src);
	return u;
}

static char uu_char(uint32_t six)
{
	return (char)(six ? 32 + six : '`');
}

static void uu_encode_line(struct uu_pack *u)
{
	char *to = u->line;

	*to++ = uu_char((uint32_t)u->raw_len);
	memset(u->raw + u->raw_len, 0, LINE_RAW - u->raw_len);
	for (size_t i = 0; i < u->raw_len; i += 3) {
		uint32_t v = (uint32_t)u->raw[i] << 16 |
			(uint32_t)u->raw[i + 1] << 8 | u->raw[i + 2];

		for (int shift = 18; shift >= 0; shift -= 6)
			*to++ = uu_char(v >> shift & 63);
	}
	*to++ = '\n';
	u->pos = 0;
	u->len = (size_t)(to - u->line);
	u->raw_len = 0;
}

/* Readies the next line; false where input is wanted or all is done. */
static bool uu_next(struct uu_pack *u, enum coder_mode mode)
{
	struct coder *c = &u->c;
	size_t n = LINE_RAW - u->raw_len;

	if (!u->headed) {
		uu_text(u, "begin 644 -\n");
		u->headed = true;
		return true;
	}
	if (n > c->in_len)
		n = c->in_len;
	if (n)
		memcpy(u->raw + u->raw_len, c->in, n);
	u->raw_len += n;
	c->in += n;
	c->in_len -= n;
	if (u->raw_len == LINE_RAW || (u->raw_len && mode != CODER_RUN)) {
		uu_encode_line(u);
		return true;
	}
	if (mode != CODER_FINISH || u->finished)
		return false;
	uu_text(u, "`\nend\n");
	u->finished = true;
	return true;
}

static int uu_pack_step(struct coder *c, enum coder_mode mode,
			struct filter_error *err)
{
	struct uu_pack *u = (struct uu_pack *)c;

	(void)err;
	do {
		size_t n = u->len - u->pos;

		if (n > c->out_len)
			n = c->out_len;
		memcpy(c->out, u->line + u->pos, n);
		u->pos += n;
		c->out += n;
		c->out_len -= n;
		if (u->pos < u->len)
			return CODER_MORE;
	} while (uu_next(u, mode));
	return mode == CODER_RUN ? CODER_MORE : CODER_DONE;
}

static ptrdiff_t uu_pack_read(void *state, uint8_t *dst, size_t cap,
			      struct filter_error *err)
{
	return coder_pack(state, uu_pack_step, dst, cap, err);
}

/* --- the row --- */

/* "begin 644 " or "begin-base64 644 ", with three or four octal digits. */
static bool uu_detect(const uint8_t *p, size_t n)
{
	size_t i, digits = 0;

	if (n >= 13 && !memcmp(p, "begin-base64 ", 13))
		i = 13;
	else if (n >= 6 && !memcmp(p, "begin ", 6))
		i = 6;
	else
		return false;
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
		digits++;
	return (digits == 3 || digits == 4) && i < n && p[i] == ' ';
}

static const struct stream_ops uu_pack_ops = {
	.open = uu_pack_open,
	.read = uu_pack_read,
	.close = free,
};

static const struct stream_ops uu_unpack_ops = {
	.open = uu_unpack_open,
	.read = uu_unpack_read,
	.reset = uu_unpack_reset,
	.describe = uu_describe,
	.close = free,
};

const struct filter filter_uu = {
	.name = "uu",
	.suffix = ".uu .uue",
	.peek = 18,
	.detect = uu_detect,
	.pack = &uu_pack_ops,
	.unpack = &uu_unpack_ops,
};
