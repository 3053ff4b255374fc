/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vconvert.h - what the files of vconvert share
 *
 *	vconvert.c		options, framings, one input after the other
 *	vconvert_run.c		records through the pipeline
 *	vconvert_emit.c		... and out of it
	vconvert_resume.c	going on where a killed run was
	vconvert_shard.c	a part of an .lzv file
	vconvert_report.c	totals for people and machines
 */
#ifndef VCONVERT_H
#define VCONVERT_H

#include "cmd.h"
#include "code.h"
#include "record_convert.h"
#include "record_find.h"

enum on_error { ON_ERROR_STOP, ON_ERROR_KEEP, ON_ERROR_SKIP };

struct vconvert_options {
	const char *shard, *resume;
	const char *from, *into, *flags, *out, *report, *kernel;
	int to, mode, assume, exact, recompress, verify, check, level, favor;
	int on_error, dry_run, report_records, force, to_stdout, sync;
};
extern struct vconvert_options vconvert_options;

/* What was counted. */
struct convert_totals {
	uint64_t records, notes, raw;
	uint64_t in, out;		/* payload bytes */
	uint64_t outcome[CONVERT_OUTCOMES];
	uint64_t came[16], left[16];	/* by encoding */
	uint64_t failed, skipped, kept_bad;
	uint64_t notes_dropped;
	uint64_t forward_ns, back_ns;	/* thread CPU time; dry run only */
};

/* One input's conversion. */
struct convert_run {
	const char *name;		/* for messages */
	struct framing from, into;
	struct convert_options convert;
	struct feed *feed;
	struct sink *sink;
	int threads;
	uint64_t budget;
	struct resume *resume;		/* or NULL */
	struct lzv_part *part;		/* of an .lzv file, or NULL: all */
	unsigned part_flags;		/* its header's */
	bool part_open;			/* no end item behind it */
	bool timed;			/* measure forward and back */
	FILE *records_to;		/* a line of JSON a record, or NULL */
	struct convert_totals total;
	uint64_t in_bytes, out_bytes;	/* whole streams */
};

/*
 * --shard=i/n: makes the input end where the part does and begin where it
 * does.  False: said why not.
 */
bool shard_parse(const char *text, unsigned *i, unsigned *n);
bool shard_open(struct convert_run *r, struct input *in, unsigned i, unsigned n,
		struct lzv_part *part);

/*
 * --resume=JOURNAL.  resume_open() makes the output, new or as far as an
 * earlier run got; false: said why not.  resume_note() is told after each job
 * how far the output is whole.  resume_close() gives the file its name, or
 * leaves all as it is for the next run.
 */
struct resume {
	const char *journal_path;
	FILE *journal;
	char *part;			/* the unfinished output */
	struct progress {
		uint64_t events;	/* records and notes of the input */
		uint64_t records, failed;
		uint64_t bytes;		/* of the output */
	} done, next;			/* by an earlier run; to be noted, once
					   it is in the file */
	uint64_t noted;			/* bytes at the last line */
	int fd;
};
bool resume_open(struct resume *s, const char *out_path, const struct input *in,
		 struct output *out);
int resume_note(struct resume *s, const struct progress *now);
/* The earlier run's output, mapped; resume_unmap() it. */
const uint8_t *resume_map(const struct resume *s);
void resume_unmap(const struct resume *s, const uint8_t *p);
void resume_close(struct resume *s, struct output *out,
		  const struct output_options *how, struct filter_error *err);

/* Runs it; 0, or the error's code with *err filled.  Says failed records. */
int convert_run(struct convert_run *r, struct filter_error *err);

/* A line of JSON about one record. */
void report_record(const struct convert_run *r, const struct frecord *in,
		   const struct frecord *out, const char *outcome,
		   const char *reason);
/* The totals: JSON to a stream, a few lines for people. */
void report_totals(const struct convert_run *r, const struct filter_error *err,
		   double seconds, FILE *to);
void report_people(const struct convert_run *r, double seconds);
const char *encoding_name(unsigned encoding);

#endif
