/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe.h - what vprobe's files know of each other
 *
 *	vprobe.c		options, one file after the other
 *	vprobe_input.c		samples, whole scans, --tee
 *	vprobe_report.c		what was found, for people and as JSON
 *	vprobe_codec.c		lists of codecs and levels
 *	vprobe_run.c		a codec run in memory
 *	vprobe_trial.c		estimates from a sample
 *	vprobe_choose.c		--for
 *	vprobe_bench.c		--bench: measuring
 *	vprobe_table.c		... its table, JSON and CSV
 *	vprobe_plot.c		... and its plots
 *	vprobe_records.c	records out of an input, by framing
 *	vprobe_train.c		--train
 *	vprobe_columns.c	--columns
 *	vprobe_blocks.c		--blocks
 */
#ifndef VPROBE_H
#define VPROBE_H

#include "cmd.h"
#include "cost.h"
#include "probe.h"

/* What the user asked for; filled by vprobe.c, read by all. */
struct vprobe {
	int quiet, verbose;
	uint64_t sample;		/* --sample: bytes */
	const char *codecs;		/* --codecs, --bench=LIST */
	const char *records;		/* --records */
};
extern struct vprobe vprobe;

/* A codec at a level. */
struct choice {
	const struct filter *filter;
	int level;
	char name[24];			/* "zstd 3" */
	char option[32];		/* "-F zstd -3": vcompress options */
};
#define CHOICES_MAX 96

/*
 * Reads "zstd:1-19,lz4,brotli:5,lzvolt:1,9": codecs, each with levels or
 * ranges of them; a codec alone means its default level.  Ends the process
 * at a name or a level that isn't one.  Returns how many.
 */
int choices_parse(const char *list, struct choice *c);

/* One codec and direction in memory; the state stays between runs. */
struct coder_run {
	const struct choice *choice;
	const struct stream_ops *ops;
	const struct unpack_ops *blocks;	/* NULL = by the stream */
	struct filter_params params;
	struct memory_source source;
	void *state, *worker;
};
/* Both directions can be had. */
bool run_possible(const struct filter *f);
void run_open(struct coder_run *r, const struct choice *c, bool unpack,
	      const uint8_t *dict, size_t dict_len);
/*
 * Codes n bytes of src into dst.  raw: the decoded size, which a codec may
 * want to know.  Returns the result's bytes; FILTER_E_REFUSED where the codec
 * has nothing to gain; another error.  A result that doesn't fit cap is
 * FILTER_E_MEMORY.
 */
ptrdiff_t run_code(struct coder_run *r, const uint8_t *src, size_t n, size_t raw,
		   uint8_t *dst, size_t cap, struct filter_error *err);
void run_close(struct coder_run *r);

/* Room that any codec's result of n bytes fits, packed or unpacked. */
#define RUN_SLACK (((size_t)4 << 20) + ((size_t)256 << 10))
size_t run_bound(size_t n);

/*
 * A sample: pieces of the input, one behind the other.  All of it where it is
 * no longer than the budget, its first bytes where it can't be seeked; else
 * SAMPLE_PIECES of them: head, tail, and those between at hashed places, so
 * that no period of the data can meet them all.
 */
#define SAMPLE_PIECES 16
struct sample {
	uint8_t *data;
	size_t len;
	unsigned pieces;
	size_t piece;			/* each piece's length */
	uint64_t total;			/* the input's size; SIZE_UNKNOWN */
};
static inline bool sample_whole(const struct sample *s)
{
	return s->len == s->total;
}

/* What is known of one input. */
struct finding {
	const char *name;		/* for messages and reports */
	uint64_t size;
	struct probe_stats stats;
	struct sample sample;
	uint8_t *head;			/* the first bytes, for the formats */
	size_t head_len;
	struct probe_format format[PROBE_LAYERS];
	unsigned formats;		/* find_sample names none */
	bool sampled;			/* the scan saw the sample only */
};

/*
 * Fill a finding from a file or, for "-", standard input; false = failed, and
 * said why.  find_sample looks at the sample only; find_all reads everything
 * in one pass; find_tee also writes it to standard output.
 */
bool find_sample(struct finding *f, const char *path);
bool find_all(struct finding *f, const char *path);
bool find_tee(struct finding *f);
void finding_free(struct finding *f);

/* Reads a whole input into memory for modes that measure it; false = said. */
bool load_all(const char *path, uint8_t **data, size_t *len);

/*
 * Would an eighth or more be saved?  Where the scan alone can't be trusted with
 * that (near an eighth, few bytes, short repeats), zstd's level 3 is tried.
 */
bool finding_worth(const struct finding *f);
/*
 * Blocks of NOISE_BLOCK bytes of the sample, and how many of them the probe
 * calls incompressible that packing itself uses.
 */
#define NOISE_BLOCK ((size_t)64 << 10)
size_t finding_noise(const struct finding *f, size_t *blocks);

struct estimate;
/* e: n estimates to go with it, n may be 0. */
void report_finding(const struct finding *f, const struct estimate *e, int n, FILE *to);
void report_json(const struct finding *f, const struct estimate *e, int n, FILE *to);
/* Numbers for people: "1.2 GB/s", "3.4 ms"; buf of 24 bytes, returned. */
char *format_speed(char *buf, double bytes_a_second);
char *format_bits(char *buf, double bytes_a_second);	/* "1.50 Gbit/s" */
char *format_time(char *buf, double seconds);

/* An estimate of one choice, from the sample. */
struct estimate {
	struct choice choice;
	bool refused;			/* the codec itself finds nothing to gain */
	double ratio, ratio_error;	/* two standard errors; 0 = no sampling */
	struct range pack, unpack;	/* raw bytes a second */
};
/* repeats: measurements of each speed, at least 1. */
int estimate_all(const struct finding *f, const char *list, int repeats,
		 struct estimate *e);
#define ESTIMATE_DEFAULT "lz4:1,gzip:6,zstd:3,brotli:5,lzv:3"

/* --for: which choice costs least. */
struct choose_options {
	unsigned goals;			/* bits, 1 << enum cost_goal */
	const char *bandwidth, *rtt, *reads, *price, *write_budget;
};
void choose(const struct finding *f, const struct choose_options *o);

/*
 * The estimate that costs least to send at 100 Mbit/s among those that save an
 * eighth; NULL when none is better than storing.
 */
const struct estimate *choose_quick(const struct finding *f, const struct estimate *e, int n);
/* "vcompress -F zstd -3 FILE" as a shell takes it. */
void command_print(const struct finding *f, const struct choice *c, FILE *to);

/* --codecs, or else this list without what isn't built in; malloc'ed. */
char *codecs_or(const char *list);

/* The raw records of an input, as a framing tells them apart. */
struct records {
	uint8_t *data;			/* the input */
	size_t len;
	const uint8_t **at;		/* each record */
	size_t *size;
	size_t count, cap;
};
/* framing: NULL = lines.  false = failed and said why. */
bool records_load(struct records *r, const char *path, const char *framing);
void records_free(struct records *r);

struct train_options {
	const char *out;		/* -o DICT */
	uint64_t dict_size;
};
bool train_file(const char *path, const struct train_options *o);

/* malloc that ends the process rather than fail. */
void *need(size_t n);

/* CPU time of the process: some libraries work in threads of their own. */
double cpu_seconds(void);

#endif
