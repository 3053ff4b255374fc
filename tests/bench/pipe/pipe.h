/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.h - the door between the parts of the pipe benchmark
 *
 * rows.c says what is compared, inputs.c makes the data, run.c runs one command
 * once, stats.c makes figures of the runs, report.c prints them, main.c decides
 * the order.
 */
#ifndef PIPE_H
#define PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PEERS_MAX 5
#define CANDIDATES_MAX (PEERS_MAX + 1)
#define RUNS_MAX 9

enum row_kind { ROW_PACK, ROW_UNPACK, ROW_NOISE, ROW_START };

/*
 * One comparison.  Commands are words without a shell; they read standard input
 * and write standard output.  A peer that starts with '@' reads the raw
 * input also in an unpacking row.
 */
struct row {
	const char *name;
	enum row_kind kind;
	double must;		/* our throughput over the best peer's */
	unsigned megabytes;	/* cut the input to this, for slow codecs; 0 = all */
	const char *packed;	/* ROW_UNPACK: the suffix of a row in packings[] */
	const char *ours;
	const char *peers[PEERS_MAX];
};
extern const struct row rows[];
extern const size_t row_count;

/* How the packed inputs are made, by the peers where they can. */
struct packing {
	const char *suffix;
	const char *command;
};
extern const struct packing packings[];
extern const size_t packing_count;

enum mode { MODE_FILE, MODE_PIPE, MODES };
extern const char *const mode_names[MODES];

/* One run of one command. */
struct sample {
	double wall, cpu;	/* seconds */
	double rss;		/* peak, bytes */
	uint64_t out;		/* bytes written; MODE_PIPE only */
};

struct candidate {
	const char *command;	/* NULL = end of the list */
	const char *input;	/* path */
	struct sample runs[RUNS_MAX];
	size_t count;
	bool failed;
};

/* Median and extremes of a figure over a candidate's runs. */
struct spread {
	double median, min, max;
};

struct cell {
	const struct row *row;
	const char *input;	/* "tar", "ndjson", "noise", "100 bytes" */
	uint64_t raw;		/* bytes of the raw input */
	enum mode mode;
	struct candidate c[CANDIDATES_MAX];	/* ours first */
	size_t count;
};

/* run.c: true if the command ended with status 0; fills *s. */
bool run_command(const char *command, const char *input, enum mode mode,
		 struct sample *s);
/* Runs the command from a file into a new file, for inputs. */
bool run_to_file(const char *command, const char *input, const char *output);
bool command_present(const char *command);
double now_seconds(void);

/* inputs.c: paths live until the end; NULL with a message when it can't. */
const char *input_raw(const char *dir, const char *kind, unsigned megabytes);
const char *input_packed(const char *raw, const char *suffix);
uint64_t file_size(const char *path);

/* stats.c */
enum figure { FIGURE_WALL, FIGURE_CPU, FIGURE_RSS };
struct spread candidate_spread(const struct candidate *c, enum figure f);
/* Index of the peer with the least median wall time; 0 = no peer ran. */
size_t cell_best_peer(const struct cell *cell);
/* Median over the rounds of peer's figure / ours, run beside each other. */
double cell_ratio(const struct cell *cell, size_t peer, enum figure f);

/* report.c */
void report_open(bool json);
void report_cell(const struct cell *cell, bool json);
void report_close(bool json);

#endif
