/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen - the tests' own data: any number of bytes of a kind, the same each time
 *
 *	gen KIND BYTES [SEED]	write them to standard output
 *	gen -c KIND BYTES [SEED]	succeed if standard input is just that
 *
 * BYTES may end in K, M or G (powers of 1024).  Kinds are rows of kinds[]; each
 * fills a chunk of CHUNK bytes from a random state, so that a stream of any
 * length costs one chunk of memory.  Chunks repeat with a period of PERIOD and
 * are stamped with their number, so that a long stream costs little more than
 * copying, and a lost, doubled or swapped chunk still shows.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 20)
#define PERIOD 48	/* chunks; far above every default window */

struct rng {
	uint64_t s;
};

static uint64_t rng_next(struct rng *r)
{
	r->s ^= r->s << 13;	/* xorshift64, Marsaglia's first triple */
	r->s ^= r->s >> 7;
	r->s ^= r->s << 17;
	return r->s;
}

static uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

static void fill_zero(uint8_t *p, size_t n, struct rng *r)
{
	(void)r;
	memset(p, 0, n);
}

static void fill_noise(uint8_t *p, size_t n, struct rng *r)
{
	for (size_t i = 0; i + 8 <= n; i += 8) {
		uint64_t v = rng_next(r) * 0x9E3779B97F4A7C15u;

		memcpy(p + i, &v, 8);
	}
}

static const char *const words[] = {
	"the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was",
	"with", "be", "by", "on", "not", "he", "his", "but", "at", "are", "this",
	"have", "from", "or", "had", "an", "they", "which", "one", "you", "were",
	"all", "her", "she", "there", "would", "their", "we", "him", "been", "has",
	"when", "who", "will", "no", "more", "if", "out", "stream", "window",
	"offset", "literal", "match", "buffer", "reader", "writer", "checksum",
	"record", "compression", "dictionary", "throughput", "latency", "kernel",
};
#define WORDS (sizeof(words) / sizeof(words[0]))

/* Appends to a chunk; what doesn't fit is cut. */
struct sink {
	uint8_t *p;
	size_t n, at;
};

static void sink_put(struct sink *s, const void *p, size_t n)
{
	if (n > s->n - s->at)
		n = s->n - s->at;
	memcpy(s->p + s->at, p, n);
	s->at += n;
}

static void sink_word(struct sink *s, struct rng *r)
{
	/* the product of two draws makes low numbers frequent, as in language */
	uint32_t i = rng_below(r, WORDS) * (rng_below(r, 1000) + 1) / 1000;

	sink_put(s, words[i], strlen(words[i]));
}

static void fill_text(uint8_t *p, size_t n, struct rng *r)
{
	struct sink s = { .p = p, .n = n };

	for (int i = 1; s.at < n; i++) {
		sink_word(&s, r);
		if (rng_below(r, 9) == 0)
			sink_put(&s, ", ", 2);
		else
			sink_put(&s, i % 12 ? " " : ".\n", i % 12 ? 1 : 2);
	}
}

static void fill_ndjson(uint8_t *p, size_t n, struct rng *r)
{
	static const char *const level[] = { "info", "info", "info", "warn", "error" };
	struct sink s = { .p = p, .n = n };
	uint64_t t = 1700000000000u + rng_below(r, 100000000);
	char line[256];

	while (s.at < n) {
		t += rng_below(r, 900);
		sink_put(&s, line, (size_t)snprintf(line, sizeof(line),
			"{\"ts\":%llu,\"level\":\"%s\",\"host\":\"node-%02u\","
			"\"user\":%u,\"path\":\"/api/v1/%s/%u\",\"ms\":%u.%u,\"text\":\"",
			(unsigned long long)t, level[rng_below(r, 5)],
			rng_below(r, 24), rng_below(r, 100000),
			words[rng_below(r, WORDS)], rng_below(r, 5000),
			rng_below(r, 300), rng_below(r, 10)));
		for (uint32_t i = rng_below(r, 6) + 1; i > 0; i--) {
			sink_word(&s, r);
			sink_put(&s, " ", i > 1);
		}
		sink_put(&s, "\"}\n", 3);
	}
}

/* Records of 64 bytes as a store keeps them: counters, small numbers, a name. */
static void fill_records(uint8_t *p, size_t n, struct rng *r)
{
	struct sink s = { .p = p, .n = n };
	uint32_t id = rng_below(r, 1 << 20);
	uint8_t rec[64];

	while (s.at < n) {
		uint32_t v = rng_below(r, 4096);

		memset(rec, 0, sizeof(rec));
		id++;
		memcpy(rec, &id, 4);
		memcpy(rec + 8, &v, 4);
		rec[16] = (uint8_t)rng_below(r, 8);
		memcpy(rec + 24, "account", 7);
		rec[40] = (uint8_t)rng_next(r);
		sink_put(&s, rec, sizeof(rec));
	}
}

/* A bit of everything, in stretches of 16 KiB to 128 KiB. */
static void fill_mixed(uint8_t *p, size_t n, struct rng *r)
{
	static void (*const part[])(uint8_t *, size_t, struct rng *) = {
		fill_text, fill_ndjson, fill_records, fill_noise, fill_text, fill_zero,
	};

	for (size_t at = 0; at < n;) {
		size_t len = ((size_t)rng_below(r, 8) + 1) << 14;

		if (len > n - at)
			len = n - at;
		part[rng_below(r, 6)](p + at, len, r);
		at += len;
	}
}

static const struct kind {
	const char *name;
	void (*fill)(uint8_t *p, size_t n, struct rng *r);
	bool stamp;		/* number the first PERIOD chunks too */
} kinds[] = {
	{ "zero", fill_zero, false },
	{ "noise", fill_noise, true },
	{ "text", fill_text, false },
	{ "ndjson", fill_ndjson, false },
	{ "records", fill_records, true },
	{ "mixed", fill_mixed, true },
};

static bool write_all(const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t w = write(1, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return false;
		p += w;
		n -= (size_t)w;
	}
	return true;
}

static size_t read_all(uint8_t *p, size_t n)
{
	size_t got = 0;

	while (got < n) {
		ssize_t r = read(0, p + got, n - got);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			break;
		got += (size_t)r;
	}
	return got;
}

static bool check(const uint8_t *want, size_t n, uint64_t offset)
{
	static uint8_t buf[CHUNK];
	size_t got = read_all(buf, n), i = 0;

	while (i < got && buf[i] == want[i])
		i++;
	if (i < n)
		fprintf(stderr, "gen: %s at byte %llu\n",
			i < got ? "other data" : "ends early",
			(unsigned long long)(offset + i));
	return i == n;
}

/* Puts chunk number i of the stream into buf; cache holds one period. */
static void make_chunk(const struct kind *k, uint64_t i, uint64_t seed,
		       uint8_t *cache, uint8_t *buf)
{
	uint8_t *kept = cache + (i % PERIOD) * CHUNK;

	if (i < PERIOD) {
		struct rng r = { (seed * 1000003 + i + 1) * 0x9E3779B97F4A7C15u };

		rng_next(&r);
		k->fill(kept, CHUNK, &r);
	}
	memcpy(buf, kept, CHUNK);
	if (k->stamp || (i >= PERIOD && k->fill != fill_zero))
		memcpy(buf + CHUNK / 2, &i, sizeof(i));
}

static uint64_t parse_bytes(const char *s)
{
	char *end;
	uint64_t n = strtoull(s, &end, 10);

	n <<= *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
	if (end == s || (*end && (end[1] || !strchr("KMG", *end)))) {
		fprintf(stderr, "gen: not a size: %s\n", s);
		exit(1);
	}
	return n;
}

static int run(const struct kind *k, uint64_t bytes, uint64_t seed, bool compare)
{
	static uint8_t buf[CHUNK];
	uint64_t chunks = (bytes + CHUNK - 1) / CHUNK;
	uint8_t *cache = malloc((size_t)(chunks < PERIOD ? chunks : PERIOD) * CHUNK + 1);

	if (!cache)
		return 1;
	for (uint64_t i = 0; i < chunks; i++) {
		uint64_t at = i * CHUNK;
		size_t n = bytes - at < CHUNK ? (size_t)(bytes - at) : CHUNK;

		make_chunk(k, i, seed, cache, buf);
		if (compare ? !check(buf, n, at) : !write_all(buf, n))
			return 1;
	}
	free(cache);
	if (compare && read_all(buf, 1)) {
		fprintf(stderr, "gen: more than %llu bytes\n", (unsigned long long)bytes);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	bool compare = argc > 1 && !strcmp(argv[1], "-c");

	argc -= compare;
	argv += compare;
	if (argc == 3 || argc == 4)
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (!strcmp(argv[1], kinds[i].name))
				return run(&kinds[i], parse_bytes(argv[2]),
					   argc == 4 ? parse_bytes(argv[3]) : 1, compare);
	fprintf(stderr, "usage: gen [-c] KIND BYTES [SEED]\nkinds:");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		fprintf(stderr, " %s", kinds[i].name);
	fprintf(stderr, "\n");
	return 2;
}
