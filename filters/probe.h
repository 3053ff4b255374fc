/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - what bytes are like: statistics, formats, dictionaries, columns
 *
 * Everything vprobe(1) knows about data comes from here.  No function opens,
 * prints or keeps anything; states are the caller's.  The yes-or-no probe that
 * packing codecs use, probe_incompressible(), is in filter.h.
 */
#ifndef PROBE_H
#define PROBE_H

#include "filter.h"

/*
 * The scan: one pass, any number of bytes, fixed memory.  Bytes are taken in
 * units of PROBE_UNIT; windows are equal groups of units, at first one unit
 * each, and are joined two by two whenever PROBE_WINDOWS of them are full.
 * The result doesn't depend on how the bytes were cut into calls.
 */
#define PROBE_UNIT ((size_t)1024)
#define PROBE_WINDOWS 128
#define PROBE_GRAM_BITS 17

/* Counts over a stretch of input; two of them add up. */
struct probe_counts {
	uint64_t hist[256];
	uint64_t bytes;
	uint64_t runs;		/* positions whose next 4 bytes are all equal */
	uint64_t places;	/* positions looked at for runs */
	uint64_t grams;		/* sampled positions */
	uint64_t seen4;		/* ... whose 4 bytes were met before */
	uint64_t seen8;		/* ... whose 8 bytes were */
};

struct probe_scan {
	struct probe_counts window[PROBE_WINDOWS];
	unsigned windows;		/* complete ones */
	uint64_t window_size;
	struct probe_counts now;	/* the window being filled */
	uint32_t lane[4][256];		/* its histograms: interleaved for speed */
	uint8_t unit[PROBE_UNIT];	/* the unit being gathered */
	size_t unit_len;
	uint64_t units;			/* taken so far */
	uint64_t gaps;			/* probe_scan_gap() calls */
	unsigned weight;		/* a counted byte stands for so many */
	int before;			/* the byte before, -1 = none */
	uint64_t pairs;			/* counted in pair[] */
	uint32_t pair[65536];		/* [first << 8 | second] */
	uint32_t gram4[1 << PROBE_GRAM_BITS];
	uint32_t gram8[1 << PROBE_GRAM_BITS];
};

/* The state is large (1.5 MiB): allocate it. */
void probe_scan_begin(struct probe_scan *s);
void probe_scan_feed(struct probe_scan *s, const uint8_t *p, size_t n);
/* What comes next doesn't stand behind what came: the unit ends here. */
void probe_scan_gap(struct probe_scan *s);

/* For the end of the scan: a += b; the lanes go into s->now. */
void probe_counts_add(struct probe_counts *a, const struct probe_counts *b);
void probe_scan_fold(struct probe_scan *s);

enum probe_verdict { PROBE_COMPRESS, PROBE_STORE, PROBE_MIXED };

/* A stretch of windows of one kind, in bytes of what was scanned. */
struct probe_part {
	uint64_t offset, size;
	bool packs;
};
#define PROBE_PARTS_MAX 16

struct probe_window {
	uint64_t offset, size;
	float entropy;		/* order 0, corrected for the window's size */
	float match4, match8;	/* shares, 0 .. 1 */
	float saving;		/* expected share saved, 0 .. 1 */
};

struct probe_stats {
	uint64_t bytes;		/* scanned */
	double order0;		/* bits a byte */
	double order0_error;	/* two standard errors; 0 = all were counted */
	double order1;		/* given the byte before */
	uint64_t order1_pairs;	/* what that was counted on */
	double order1_bias;	/* bits by which so few pairs look too orderly */
	unsigned distinct;	/* byte values that occur */
	double match4, match8;	/* share of positions seen before */
	double runs;		/* share inside runs of one byte */
	double saving;		/* expected share saved by a good codec */
	enum probe_verdict verdict;
	const char *reason;	/* for the verdict, static */
	unsigned windows;
	struct probe_window window[PROBE_WINDOWS + 1];
	unsigned parts;		/* one when the verdict isn't mixed */
	struct probe_part part[PROBE_PARTS_MAX];
};

/* Ends the scan.  s can only be begun again after it. */
void probe_scan_end(struct probe_scan *s, struct probe_stats *r);

/* Order-0 entropy of a histogram, bits a symbol; 0 when it is empty. */
double probe_entropy(const uint64_t *count, unsigned n);

/* A block of memory as a codec's source; it must stay where it is. */
struct memory_source {
	struct source src;	/* first */
	const uint8_t *p;
	size_t n;
};
void memory_source_set(struct memory_source *m, const uint8_t *p, size_t n);

/* What a piece of data is, by its first bytes. */
enum probe_kind { KIND_DATA, KIND_TEXT, KIND_PACKED, KIND_ARCHIVE, KIND_IMAGE,
		  KIND_MEDIA, KIND_PROGRAM, KIND_DATABASE, KIND_DOCUMENT };
struct probe_format {
	const char *name;	/* "gzip", "PNG image", static */
	enum probe_kind kind;
	bool packed;		/* its body is compressed already */
	bool certain;		/* false: nothing contradicts it, no more */
	const struct filter *filter;	/* the codec that undoes it, or NULL */
};
#define PROBE_LAYERS 5

/*
 * Names p's format and, as far as the codecs can decode its head, what is
 * inside, outermost first.  Returns how many of f[] it filled (at least 1).
 * p: the first bytes, 1 MiB is plenty; room: PROBE_ROOM bytes to work in.
 */
#define PROBE_ROOM ((size_t)2 << 20)
unsigned probe_formats(const uint8_t *p, size_t n, uint8_t *room,
		       struct probe_format f[PROBE_LAYERS]);

/*
 * Trains a zstd dictionary of at most cap bytes on n samples that stand one
 * behind the other.  Its length, or an error that says what is wrong with them.
 */
ptrdiff_t probe_dict_train(uint8_t *dict, size_t cap, const uint8_t *samples,
			   const size_t *size, unsigned n, struct filter_error *err);
uint32_t probe_dict_id(const uint8_t *dict, size_t n);

/*
 * The width of fixed-width records, guessed from how bytes equal those a lag
 * before; 0 = no width stands out.
 */
#define PROBE_WIDTH_MAX 1024
unsigned probe_width(const uint8_t *p, size_t n);
/* dst: all first bytes of the rows, all second ones ...; a rest as it is. */
void probe_transpose(uint8_t *dst, const uint8_t *src, size_t n, size_t width);

/* What LZ4 blocks and lzvolt values consist of; sums over any number of them. */
#define PROBE_CLASSES 5
struct probe_blocks {
	uint64_t blocks, raw, packed;
	uint64_t sequences;		/* with a match */
	uint64_t literals, matched;	/* bytes */
	uint64_t literal_class[PROBE_CLASSES];	/* runs of 0, 1-2, 3-14, 15-269, more */
	uint64_t match_class[PROBE_CLASSES];	/* of 4-7, 8-18, 19-34, 35-273, more */
	uint64_t repeats;		/* matches at the offset of the one before */
	uint64_t coded_repeats;		/* those written without their offset */
	uint64_t hybrid, hybrid_raw;	/* values with a switch point; their raw bytes */
	uint64_t switched;		/* sum of the switch points, in raw bytes */
};
/*
 * Count one LZ4 block or lzvolt value in *b; its decoded size, or an error
 * with an offset inside it.  linked: matches may reach before the block.
 */
int64_t probe_blocks_lz4(struct probe_blocks *b, const uint8_t *p, size_t n, bool linked,
			 struct filter_error *err);
int64_t probe_blocks_lzvolt(struct probe_blocks *b, const uint8_t *p, size_t n,
			    struct filter_error *err);

#endif
