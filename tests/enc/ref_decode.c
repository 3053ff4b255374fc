/* SPDX-License-Identifier: Apache-2.0 */
/* ref_decode.c - see ref_decode.h */
#include "ref_decode.h"

#include <stdbool.h>
#include <string.h>

struct cursor {
	const uint8_t *in;
	size_t at, end;		/* of the section being read */
	uint8_t *out;
	size_t made, declared;
	bool bad;
};

static unsigned next_byte(struct cursor *c)
{
	if (c->at >= c->end) {
		c->bad = true;
		return 0;
	}
	return c->in[c->at++];
}

static size_t chain(struct cursor *c, size_t field, size_t max)
{
	unsigned byte;

	if (field < max)
		return field;
	do {
		byte = next_byte(c);
		field += byte;
	} while (byte == 255 && !c->bad);
	return field;
}

static void literals(struct cursor *c, size_t n)
{
	if (n > c->end - c->at || n > c->declared - c->made) {
		c->bad = true;
		return;
	}
	while (n--)
		c->out[c->made++] = c->in[c->at++];
}

static void match(struct cursor *c, size_t off, size_t n)
{
	if (off == 0 || off > c->made || n > c->declared - c->made) {
		c->bad = true;
		return;
	}
	while (n--) {
		c->out[c->made] = c->out[c->made - off];
		c->made++;
	}
}

/* One section, until `stop` bytes have been made; false: malformed. */
static bool section(struct cursor *c, size_t stop, bool wide,
		    struct ref_info *info)
{
	size_t off = 0;

	while (c->made < stop && !c->bad) {
		unsigned token = next_byte(c);
		size_t lit = wide ? token >> 6 : token >> 4;
		size_t len = wide ? token >> 1 & 31 : token & 15;
		bool repeat = wide && (token & 1);

		*(wide ? &info->wide_blocks : &info->even_blocks) += 1;
		literals(c, chain(c, lit, wide ? 3 : 15));
		if (c->made == c->declared)
			return !c->bad && stop == c->declared;
		if (!repeat) {
			off = next_byte(c);
			off |= next_byte(c) << 8;
		}
		info->repeats += repeat;
		match(c, off, 4 + chain(c, len, wide ? 31 : 15));
	}
	return !c->bad && c->made == stop;
}

static size_t little(const uint8_t *p, size_t n)
{
	return n ? p[0] | little(p + 1, n - 1) << 8 : 0;
}

/* Returns the header's length and fills declared and hybrid; 0: malformed. */
static size_t header(const uint8_t *v, size_t len, size_t *declared, bool *hybrid)
{
	static const size_t low[4] = { 0, 64, 8192, 2097152 };
	size_t n, i;

	if (!len)
		return 0;
	n = (v[0] >> 6) + 1;
	if (n > len)
		return 0;
	*hybrid = n > 1 && (v[0] & 32);
	*declared = v[0] & (n > 1 ? 31 : 63);
	for (i = 1; i < n; i++)
		*declared = *declared << 8 | v[i];
	return *declared < low[n - 1] ? 0 : n;
}

int64_t ref_decode(const uint8_t *value, size_t len, uint8_t *dst, size_t cap,
		   struct ref_info *info)
{
	struct ref_info unused;
	size_t declared, head, w;
	struct cursor c = { 0 };
	bool hybrid;

	info = info ? info : &unused;
	memset(info, 0, sizeof(*info));
	head = header(value, len, &declared, &hybrid);
	if (!head || declared > cap)
		return -1;
	c.in = value + head;
	c.end = len - head;
	c.out = dst;
	c.declared = declared;
	if (hybrid) {
		w = declared <= 65536 ? 2 : 4;
		if (c.end < 2 * w)
			return -1;
		c.end -= 2 * w;
		info->in_at = little(c.in + c.end, w);
		info->out_at = little(c.in + c.end + w, w);
		if (info->in_at > c.end || !info->out_at ||
		    info->out_at >= declared)
			return -1;
		if (!section(&c, info->out_at, false, info) || c.at != info->in_at)
			return -1;
	}
	if (!section(&c, declared, hybrid, info) || c.at != c.end)
		return -1;
	return declared;
}
