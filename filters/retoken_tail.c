// SPDX-License-Identifier: Apache-2.0
/*
 * retoken_tail.c - a block's last decoded bytes, from its sequences alone
 *
 * Each wanted byte is followed backwards: a match says at which earlier place the
 * same byte stands, a literal is the byte.  Places only become smaller, so one
 * pass over the sequences from the last to the first serves them all, and costs
 * a fraction of decoding: where no wanted byte lies, a comparison a sequence.
 */
#include "retoken.h"

struct place {
	size_t at;		/* the byte is the decoded one there */
	uint8_t *to;
};

struct places {
	struct place place[LZ4_MATCH_START];
	size_t count, highest;
};

/* Follows what lies in s, which begins behind `start` decoded bytes. */
static void follow(struct places *p, const struct sequence *s, size_t start)
{
	size_t i = 0, highest = 0;

	while (i < p->count) {
		size_t in = p->place[i].at - start;

		if (p->place[i].at >= start && in >= s->literal_len) {
			in = s->literal_len - s->offset +
			     (in - s->literal_len) % s->offset;
			p->place[i].at = start + in;
		}
		if (p->place[i].at >= start) {
			*p->place[i].to = s->literals[in];
			p->place[i] = p->place[--p->count];
			continue;
		}
		if (p->place[i].at > highest)
			highest = p->place[i].at;
		i++;
	}
	p->highest = highest;
}

/* Literals and offset of a sequence that this program wrote. */
static void written_read(const uint8_t *at, struct sequence *s)
{
	uint8_t more;

	s->literal_len = *at++ >> 4;
	if (s->literal_len == 15)
		do {
			more = *at++;
			s->literal_len += more;
		} while (more == 255);
	s->literals = at;
	at += s->literal_len;
	s->offset = load_le16(at);
}

void retoken_tail_find(const struct retoken_tail *t, size_t end, uint8_t *dst, size_t n)
{
	struct places p = { .count = n };
	const uint8_t *e = t->log;
	struct sequence s;
	uint32_t start, at;
	size_t i;

	for (i = 0; i < n; i++)
		p.place[i] = (struct place){ end - n + i, dst + i };
	for (i = t->count; i--; )
		follow(&p, &t->seq[i], t->start[i]);
	for (; p.count && e != t->log_end; e += RETOKEN_LOG) {
		memcpy(&start, e, 4);
		if (start > p.highest)
			continue;
		memcpy(&at, e + 4, 4);
		at -= (uint32_t)(uintptr_t)t->block;
		written_read(t->block + at, &s);
		follow(&p, &s, start);
	}
}
