/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_blocks.c - --blocks: what LZ4 and lzvolt data consist of
 *
 * Records come from a container with a magic (LZ4 frame, legacy file, .lzv), or
 * from a framing that the caller names; -F lzvolt and -F lz4-block say that the
 * whole input is one value or one block.  Nothing is guessed from a payload.
 *
 * Beside the counts: what every LZ4 block would be after retokening, and what
 * every record would be after a new search at lzvolt level REPACK_LEVEL.  Blocks
 * that need the block before them are counted and left out of both.
 */
#include <stdlib.h>
#include <string.h>

#include "framing.h"
#include "lzvolt.h"
#include "vprobe_blocks.h"

#define REPACK_LEVEL LZVOLT_LEVEL_DEFAULT

struct census {
	const char *name;
	bool each;
	struct probe_blocks lz4, lzvolt;
	uint64_t records, stored, stored_bytes, other, linked;
	uint64_t compared;		/* packed bytes that the next two stand for */
	uint64_t retoken, repack;	/* their bytes afterwards */
	uint64_t lz4_compared, lz4_repack;	/* the LZ4 part of it */
	void *state;			/* lzvolt's */
	uint8_t *raw, *room;
	size_t cap;
};

static void census_room(struct census *c, size_t raw)
{
	if (raw <= c->cap)
		return;
	free(c->raw);
	free(c->room);
	c->cap = raw;
	c->raw = need(lzvolt_decompress_bound(raw));
	c->room = need(lzvolt_compress_bound(raw) + raw / 8 + 64);
}

/* The raw bytes packed anew; raw where that isn't smaller. */
static uint64_t repacked(struct census *c, size_t raw)
{
	int64_t r = lzvolt_compress_level(c->state, c->raw, raw, c->room,
					  lzvolt_compress_bound(raw), REPACK_LEVEL);

	return r > 0 && (uint64_t)r < raw ? (uint64_t)r : raw;
}

static void compare_lz4(struct census *c, const uint8_t *p, size_t n, size_t raw)
{
	int64_t r;

	if (raw > LZVOLT_MAX_SIZE)
		return;
	census_room(c, raw);
	if (lzvolt_decompress_lz4(p, n, c->raw, raw, raw) != (int64_t)raw)
		return;
	r = lzvolt_from_lz4(p, n, raw, c->room, n + 4);
	c->compared += n;
	c->lz4_compared += n;
	c->retoken += r > 0 ? (uint64_t)r : n;
	r = (int64_t)repacked(c, raw);
	c->repack += (uint64_t)r;
	c->lz4_repack += (uint64_t)r;
}

static void compare_lzvolt(struct census *c, const uint8_t *p, size_t n, size_t raw)
{
	census_room(c, raw);
	if (lzvolt_decompress(p, n, c->raw, lzvolt_decompress_bound(raw)) != (int64_t)raw)
		return;
	c->compared += n;
	c->retoken += n;
	c->repack += repacked(c, raw);
}

static void each_print(const struct census *c, const char *kind,
		       const struct probe_blocks *b, uint64_t offset)
{
	struct json j;

	if (!common.json) {
		printf("  record %llu at %llu: %s, %llu of %llu bytes, %llu sequences\n",
		       (unsigned long long)c->records, (unsigned long long)offset, kind,
		       (unsigned long long)b->packed, (unsigned long long)b->raw,
		       (unsigned long long)b->sequences);
		return;
	}
	json_begin(&j, stdout);
	json_number(&j, "record", c->records);
	json_number(&j, "offset", offset);
	json_text(&j, "encoding", kind);
	json_number(&j, "packed", b->packed);
	json_number(&j, "raw", b->raw);
	json_number(&j, "sequences", b->sequences);
	json_number(&j, "repeats", b->repeats);
	json_number(&j, "switch", b->hybrid ? b->switched : SIZE_UNKNOWN);
	json_end(&j);
}

static void blocks_add(struct probe_blocks *a, const struct probe_blocks *b)
{
	uint64_t *to = (uint64_t *)a;
	const uint64_t *from = (const uint64_t *)b;

	_Static_assert(sizeof(*a) % sizeof(uint64_t) == 0, "counts alone");
	for (size_t i = 0; i < sizeof(*a) / sizeof(uint64_t); i++)
		to[i] += from[i];
}

static int packed_take(struct census *c, bool lz4, const uint8_t *p, size_t n, bool linked,
		       uint64_t offset, struct filter_error *err)
{
	struct probe_blocks b = { .blocks = 0 };
	int64_t raw = lz4 ? probe_blocks_lz4(&b, p, n, linked, err) :
			    probe_blocks_lzvolt(&b, p, n, err);

	if (raw < 0) {
		err->offset += offset;
		return (int)raw;
	}
	blocks_add(lz4 ? &c->lz4 : &c->lzvolt, &b);
	if (c->each)
		each_print(c, !lz4 ? "lzvolt" : linked ? "lz4, linked" : "lz4", &b, offset);
	c->linked += linked;
	if (lz4 && !linked)
		compare_lz4(c, p, n, (size_t)raw);
	else if (!lz4)
		compare_lzvolt(c, p, n, (size_t)raw);
	return 0;
}

/* A container's own block, kept with its length field because it is linked. */
static int kept_take(struct census *c, const struct frecord *rec, uint64_t offset,
		     struct filter_error *err)
{
	const uint8_t *p = rec->it.body;
	size_t n = (size_t)rec->it.body_size;

	if (n > 4 && !(p[3] & 0x80))
		return packed_take(c, true, p + 4, n - 4, true, offset + 4, err);
	c->stored++;
	c->stored_bytes += n > 4 ? n - 4 : 0;
	return 0;
}

/* at: where the payload stands in the input. */
static int record_take(struct census *c, const struct frecord *rec, uint64_t at,
		       struct filter_error *err)
{
	size_t n = (size_t)rec->it.body_size;

	c->records++;
	if (rec->verbatim)
		return kept_take(c, rec, at, err);
	switch (rec->it.encoding) {
	case LZV_RAW:
		c->stored++;
		c->stored_bytes += n;
		return 0;
	case LZV_LZ4:
		return packed_take(c, true, rec->it.body, n, false, at, err);
	case LZV_LZVOLT:
		return packed_take(c, false, rec->it.body, n, false, at, err);
	}
	c->other++;
	return 0;
}

static bool census_run(struct census *c, const struct framing *f, const uint8_t *p, size_t n,
		       struct filter_error *err)
{
	struct framing_reader *reader = framing_reader_open(f);
	struct framing_in in = { .p = p, .n = n, .eof = true, .err = err };
	struct frecord rec;
	ptrdiff_t got = 0;

	while (reader) {
		memset(&rec, 0, sizeof(rec));
		got = framing_next(reader, &in, &rec);
		if (got < 0 || (!got && rec.what == FRECORD_NOTHING))
			break;
		in.p += got;
		in.n -= (size_t)got;
		in.offset += (uint64_t)got;
		if (rec.what == FRECORD_ITEM &&
		    record_take(c, &rec, (uint64_t)(rec.it.body - p), err) < 0) {
			got = -1;
			break;
		}
	}
	framing_reader_close(reader);
	return reader && got >= 0;
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void classes_print(const char *what, const char *const *names, const uint64_t *class)
{
	uint64_t sum = 0;

	for (int i = 0; i < PROBE_CLASSES; i++)
		sum += class[i];
	printf("  %-9s", what);
	for (int i = 0; i < PROBE_CLASSES; i++)
		printf(" %s: %.1f %%%s", names[i], share(class[i], sum),
		       i + 1 < PROBE_CLASSES ? "," : "\n");
}

static const char *const literal_names[] = { "0", "1-2", "3-14", "15-269", "270+" };
static const char *const match_names[] = { "4-7", "8-18", "19-34", "35-273", "274+" };

static void blocks_print(const char *kind, const struct probe_blocks *b)
{
	if (!b->blocks)
		return;
	printf("  %-9s %llu, %llu bytes of %llu raw (ratio %.3f)\n", kind,
	       (unsigned long long)b->blocks, (unsigned long long)b->packed,
	       (unsigned long long)b->raw, (double)b->raw / (double)b->packed);
	printf("  sequences %llu, %.1f raw bytes each; %.1f %% of the bytes are literals\n",
	       (unsigned long long)b->sequences,
	       (double)b->raw / (double)(b->sequences ? b->sequences : 1),
	       share(b->literals, b->raw));
	classes_print("literals", literal_names, b->literal_class);
	classes_print("matches", match_names, b->match_class);
	printf("  offsets   %.1f %% repeat the one before, %.1f %% are written as a repeat\n",
	       share(b->repeats, b->sequences), share(b->coded_repeats, b->sequences));
	if (b->hybrid)
		printf("  hybrid    %llu, they switch at %.1f %% of their bytes\n",
		       (unsigned long long)b->hybrid, share(b->switched, b->hybrid_raw));
}

static void census_print(const struct census *c)
{
	printf("%s: %llu records", c->name, (unsigned long long)c->records);
	if (c->stored)
		printf(", %llu stored (%llu bytes)", (unsigned long long)c->stored,
		       (unsigned long long)c->stored_bytes);
	if (c->linked)
		printf(", %llu need the block before them", (unsigned long long)c->linked);
	if (c->other)
		printf(", %llu in other encodings", (unsigned long long)c->other);
	printf("\n");
	blocks_print("lz4", &c->lz4);
	blocks_print("lzvolt", &c->lzvolt);
	if (!c->compared)
		return;
	if (c->lz4_compared)
		printf("  retoken   %llu bytes of %llu (%+.1f %%)\n",
		       (unsigned long long)c->retoken, (unsigned long long)c->compared,
		       share(c->retoken, c->compared) - 100);
	printf("  repack    %llu bytes of %llu (%+.1f %%) at level %d\n",
	       (unsigned long long)c->repack, (unsigned long long)c->compared,
	       share(c->repack, c->compared) - 100, REPACK_LEVEL);
}

static void classes_json(struct json *j, const char *key, const char *const *names,
			 const uint64_t *class)
{
	json_open(j, key, '{');
	for (int i = 0; i < PROBE_CLASSES; i++)
		json_number(j, names[i], class[i]);
	json_close(j, '}');
}

static void blocks_json(struct json *j, const char *kind, const struct probe_blocks *b)
{
	json_open(j, kind, '{');
	json_number(j, "blocks", b->blocks);
	json_number(j, "raw", b->raw);
	json_number(j, "packed", b->packed);
	json_number(j, "sequences", b->sequences);
	json_number(j, "literals", b->literals);
	json_number(j, "matched", b->matched);
	classes_json(j, "literal_runs", literal_names, b->literal_class);
	classes_json(j, "match_lengths", match_names, b->match_class);
	json_number(j, "repeats", b->repeats);
	json_number(j, "coded_repeats", b->coded_repeats);
	json_number(j, "hybrid", b->hybrid);
	json_number(j, "switched", b->switched);
	json_close(j, '}');
}

static void census_json(const struct census *c)
{
	struct json j;

	json_begin(&j, stdout);
	json_text(&j, "file", c->name);
	json_number(&j, "records", c->records);
	json_number(&j, "stored", c->stored);
	json_number(&j, "linked", c->linked);
	json_number(&j, "other", c->other);
	blocks_json(&j, "lz4", &c->lz4);
	blocks_json(&j, "lzvolt", &c->lzvolt);
	json_number(&j, "compared", c->compared);
	json_number(&j, "retoken", c->retoken);
	json_number(&j, "repack", c->repack);
	json_end(&j);
}

/* The caller's framing, or a container's by its magic; false = said. */
static bool framing_of(struct framing *f, const struct blocks_options *o, const char *name,
		       const uint8_t *p, size_t n)
{
	const char *text = vprobe.records, *wrong;

	if (o->format)
		text = !strcmp(o->format, "lzvolt") ? "whole,lzvolt" :
		       !strcmp(o->format, "lz4-block") ? "whole,lz4,size:max=512M" : NULL;
	if (o->format && !text)
		die("-F %s: a census is of lzvolt or lz4-block", o->format);
	if (!text) {
		if (framing_detect(f, p, n))
			return true;
		say_error(name, "no LZ4 frame, legacy file or .lzv stream; say what it is by "
			  "-F lzvolt, -F lz4-block or --records=FRAMING");
		return false;
	}
	wrong = framing_parse(f, text);
	if (wrong)
		die("--records=%s: %s", text, wrong);
	return true;
}

bool blocks_file(const char *path, const struct blocks_options *o)
{
	struct census c = { .each = o->each };
	struct filter_error err = { .code = FILTER_OK };
	struct framing f;
	uint8_t *data;
	size_t n;
	bool done;

	c.name = strcmp(path, "-") ? path : IO_STDIN_NAME;
	if (!load_all(path, &data, &n))
		return false;
	done = framing_of(&f, o, c.name, data, n);
	if (done) {
		f.limit = machine_budget(0);
		c.state = need(lzvolt_state_size(REPACK_LEVEL));
		done = census_run(&c, &f, data, n, &err);
		if (!done)
			say_failure(c.name, &err);
		else if (common.json)
			census_json(&c);
		else
			census_print(&c);
	}
	free(c.state);
	free(c.raw);
	free(c.room);
	free(data);
	return done;
}
