/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes.c - the published value shapes, as an endless stream of values
 *
 * Value 0 has the bytes of make_shapes.py; the following ones start with a new
 * object where the generator stands, so that they are distinct.
 */
#include "bench.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OBJECT_MAX	256

static uint64_t xorshift64(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static int put_record(uint64_t *state, char *dst)
{
	uint64_t i = (*state)++;

	return snprintf(dst, OBJECT_MAX,
			"{\"id\":%" PRIu64 ",\"tenant\":\"tenant42\",\"active\":true,"
			"\"role\":\"member\",\"created\":\"2026-09-0%dT1%d:0%d:00Z\","
			"\"score\":%d,\"region\":\"eu-central-1\"}",
			i, (int)(i % 9), (int)(i % 10), (int)(i % 10),
			(int)(i % 1000));
}

static int put_varied(uint64_t *state, char *dst)
{
	static const char *const regions[] = {
		"eu-central-1", "us-east-1", "ap-south-1", "sa-east-1"
	};
	static const char *const roles[] = {
		"member", "admin", "viewer", "owner", "billing"
	};
	uint64_t a = xorshift64(state);
	uint32_t tenant = (uint32_t)xorshift64(state);
	int score = xorshift64(state) % 100000;
	int seen = xorshift64(state) % 1700000000;
	uint64_t token = xorshift64(state);

	return snprintf(dst, OBJECT_MAX,
			"{\"id\":\"%016" PRIx64 "\",\"tenant\":\"%08x\",\"role\":\"%s\","
			"\"region\":\"%s\",\"score\":%d,\"seen\":%d,"
			"\"token\":\"%016" PRIx64 "\"}",
			a, tenant, roles[a % 5], regions[a % 4], score, seen, token);
}

void shape_start(struct shape_stream *s, int kind)
{
	s->kind = kind;
	s->state = kind == 'r' ? 0 : 0x2545F4914F6CDD1DULL;
}

void shape_next(struct shape_stream *s, uint8_t *dst, size_t size)
{
	char object[OBJECT_MAX];
	size_t at = 0;

	while (s->kind == 'n' && at < size)
		dst[at++] = xorshift64(&s->state);
	while (at < size) {
		size_t n = s->kind == 'r' ? put_record(&s->state, object) :
					    put_varied(&s->state, object);

		if (n > size - at)
			n = size - at;
		memcpy(dst + at, object, n);
		at += n;
	}
}
