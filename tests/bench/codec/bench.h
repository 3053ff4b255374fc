/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h - what the parts of the codec benchmark share
 *
 * Rows are sets of values (values.c), columns are coders (columns.c); a cell
 * is the time of one column over one row, taken in turn with the row's other
 * columns so that the machine's changes of speed hit all of them alike
 * (measure.c); report.c prints cells as ratios to the group's first column.
 */
#ifndef CODEC_BENCH_H
#define CODEC_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROUNDS_MAX	32
#define COLUMNS_MAX	24

/* Values of one size, one behind the other. */
struct set {
	char name[48];		/* "records-4096", "csv/zipcodes.csv-65536" */
	const char *family;	/* over which means are taken */
	uint8_t *raw;
	size_t size, count;
};

/* Bytes of distinct values in a set: four times an L2 cache. */
#define SET_BYTES	((size_t)2 << 20)

/*
 * Fills *sets (malloc) with the nine shapes and, where the corpus folder is
 * there, its files in 4 and 64 KiB cuts.  pattern: fnmatch over names, or
 * null.  Returns the number.
 */
size_t sets_make(struct set **sets, const char *corpus, const char *pattern);

/* dst gets value number n of the shape's stream: as make_shapes.py for n = 0. */
struct shape_stream {
	int kind;		/* 'r'ecords, 'v'aried, 'n'oise */
	uint64_t state;
};

void shape_start(struct shape_stream *s, int kind);
void shape_next(struct shape_stream *s, uint8_t *dst, size_t size);

/* A packer and, unless packing is what is measured, an unpacker. */
typedef int64_t coder(const uint8_t *src, size_t len, uint8_t *dst, size_t cap,
		      size_t declared, int arg);

enum group { UNPACK, LZ4_BLOCKS, PACK, GROUPS };

struct column {
	const char *name;
	enum group group;
	coder *pack;
	coder *unpack;		/* null in the PACK group */
	int arg;
};

/*
 * The columns of one group, baseline first.  level: whose values the UNPACK
 * group reads; peers: path of libpeers.so or null.
 */
struct columns_wish {
	int level;		/* flags allowed */
	bool hc;		/* LZ4 blocks of LZ4HC 12 instead of the default */
	bool slow;		/* PACK: also levels 5-9 and HC 12 */
	bool tight;		/* output buffers of exactly the decoded size */
	const char *only;	/* fnmatch over names, the baseline stays */
};

size_t columns_get(enum group group, const struct columns_wish *wish,
		   struct column *col);
bool peers_load(const char *path);
const char *peers_backend(void);

struct cell {
	double rate;		/* GB/s of raw bytes, median */
	double ratio[3];	/* to the baseline: median, lowest, highest */
	size_t packed;		/* mean bytes of a value; raw where refused */
	size_t refused;
	bool broken;		/* what came back isn't what went in */
};

struct measure_wish {
	double span_ms;
	int rounds;
	bool rotating;
	bool tight;
};

/* Measures every column over one set; cells[i] belongs to col[i]. */
void measure(const struct set *set, const struct column *col, size_t columns,
	     const struct measure_wish *wish, struct cell *cells);

/* Sizes alone, nothing timed. */
void measure_sizes(const struct set *set, const struct column *col,
		   size_t columns, struct cell *cells);

#endif
