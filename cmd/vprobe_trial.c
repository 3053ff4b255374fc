/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_trial.c - estimates: each codec tried on the sample
 *
 * Ratio: the sample's pieces packed as one input.  Where the sample isn't all
 * of it, the even and the odd pieces are packed too: half the difference of
 * two halves estimates the standard error of the whole, twice that is told.
 *
 * Speed: CPU time.  Choices take turns, so that a machine that changes its
 * pace meets all of them.  The first packing only warms up, unless it takes
 * longer than SLOW: then it counts, and one more is all there is.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "vprobe.h"

#define SLOW		0.1	/* seconds */
#define SLOW_ROUNDS	2
#define SPAN		0.002	/* a measurement lasts so long at least */
#define ROUNDS_MAX	16

/* One choice's states, bytes and what was measured. */
struct trial {
	struct estimate *e;
	struct coder_run pack, unpack;
	uint8_t *packed;
	size_t packed_len;
	double pack_time[ROUNDS_MAX], unpack_time[ROUNDS_MAX];
	unsigned packs, unpacks;	/* measured */
};

struct bench {
	const struct sample *s;
	uint8_t *room;		/* for packed and for unpacked bytes */
	size_t cap;
};

static bool trial_pack(struct trial *t, const struct bench *b, const uint8_t *src,
		       size_t n, size_t *len)
{
	struct filter_error err;
	ptrdiff_t got = run_code(&t->pack, src, n, n, b->room, b->cap, &err);

	*len = got >= 0 ? (size_t)got : n;
	if (got == FILTER_E_REFUSED)
		t->e->refused = true;
	else if (got < 0)
		die("%s: can't pack the sample: %s", t->e->choice.name, err.what);
	return got >= 0;
}

/* Every second piece, from the first or from the second on, as one input. */
static size_t half_packed(struct trial *t, const struct bench *b, unsigned first)
{
	const struct sample *s = b->s;
	uint8_t *half = need(s->len);
	size_t n = 0, len;

	for (unsigned i = first; i < s->pieces; i += 2) {
		memcpy(half + n, s->data + i * s->piece, s->piece);
		n += s->piece;
	}
	trial_pack(t, b, half, n, &len);
	free(half);
	return len;
}

static void trial_ratio(struct trial *t, const struct bench *b)
{
	const struct sample *s = b->s;
	struct estimate *e = t->e;
	double start = cpu_seconds(), spent;

	if (!trial_pack(t, b, s->data, s->len, &t->packed_len)) {
		e->ratio = 1;
		return;
	}
	spent = cpu_seconds() - start;
	if (spent > SLOW)
		t->pack_time[t->packs++] = spent;
	t->packed = need(t->packed_len);
	memcpy(t->packed, b->room, t->packed_len);
	e->ratio = (double)s->len / (double)t->packed_len;
	if (s->pieces > 1 && !e->refused) {
		double even = (double)half_packed(t, b, 0);
		double odd = (double)half_packed(t, b, 1);

		e->ratio_error = e->ratio * 2 * fabs(even - odd) / (even + odd);
	}
}

/* Seconds a run, from as many runs as fill a span. */
static double timed(struct coder_run *r, const uint8_t *src, size_t n, size_t raw,
		    const struct bench *b)
{
	double start = cpu_seconds(), spent;
	struct filter_error err;
	unsigned runs = 0;

	do {
		if (run_code(r, src, n, raw, b->room, b->cap, &err) < 0)
			die("%s: %s", r->choice->name, err.what);
		runs++;
		spent = cpu_seconds() - start;
	} while (spent < SPAN);
	return spent / runs;
}

static void trial_round(struct trial *t, const struct bench *b)
{
	const struct sample *s = b->s;

	if (!t->packed)
		return;
	if (t->packs < SLOW_ROUNDS || t->pack_time[0] < SLOW)
		t->pack_time[t->packs++] = timed(&t->pack, s->data, s->len, s->len, b);
	t->unpack_time[t->unpacks++] = timed(&t->unpack, t->packed, t->packed_len, s->len, b);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static struct range speeds(double *time, unsigned n, size_t bytes)
{
	struct range r = { INFINITY, INFINITY, INFINITY };

	if (!n)
		return r;
	qsort(time, n, sizeof(*time), by_value);
	r.low = (double)bytes / time[n - 1];
	r.mid = (double)bytes / ((time[(n - 1) / 2] + time[n / 2]) / 2);
	r.high = (double)bytes / time[0];
	return r;
}

static void trial_end(struct trial *t, const struct bench *b)
{
	t->e->pack = speeds(t->pack_time, t->packs, b->s->len);
	t->e->unpack = speeds(t->unpack_time, t->unpacks, b->s->len);
	run_close(&t->pack);
	run_close(&t->unpack);
	free(t->packed);
}

/*
 * The scan is trusted far from an eighth.  Between, and where four bytes repeat
 * but eight don't or there are few bytes, a codec has the last word; that
 * takes 10 ms on 1 MiB.
 */
#define TRUST_BELOW	0.02
#define TRUST_ABOVE	0.40
#define TRUST_BYTES	4096
#define SHORT_REPEATS	0.05

static bool scan_is_sure(const struct probe_stats *s)
{
	if (s->bytes < TRUST_BYTES)
		return false;
	return s->saving > TRUST_ABOVE ||
	       (s->saving < TRUST_BELOW && s->match4 < SHORT_REPEATS);
}

bool finding_worth(const struct finding *f)
{
	size_t n = f->sample.len, cap = run_bound(n);
	struct filter_error err;
	struct choice zstd;
	struct coder_run run;
	uint8_t *room;
	ptrdiff_t got;

	if (!n || scan_is_sure(&f->stats))
		return n && f->stats.saving >= 0.125;
	choices_parse("zstd:3", &zstd);
	room = need(cap);
	run_open(&run, &zstd, false, NULL, 0);
	got = run_code(&run, f->sample.data, n, n, room, cap, &err);
	run_close(&run);
	free(room);
	return got > 0 && (size_t)got <= n - n / 8;
}

size_t finding_noise(const struct finding *f, size_t *blocks)
{
	const struct sample *s = &f->sample;
	size_t noise = 0;

	*blocks = 0;
	for (size_t at = 0; at < s->len; at += NOISE_BLOCK) {
		size_t n = s->len - at < NOISE_BLOCK ? s->len - at : NOISE_BLOCK;

		noise += probe_incompressible(s->data + at, n);
		++*blocks;
	}
	return noise;
}

int estimate_all(const struct finding *f, const char *list, int repeats,
		 struct estimate *e)
{
	static struct choice choice[CHOICES_MAX];
	int n = choices_parse(list, choice);
	struct bench b = { .s = &f->sample, .cap = run_bound(f->sample.len) };
	struct trial *t = need((size_t)n * sizeof(*t));

	b.room = need(b.cap);
	memset(t, 0, (size_t)n * sizeof(*t));
	for (int i = 0; i < n; i++) {
		e[i] = (struct estimate){ .choice = choice[i] };
		t[i].e = &e[i];
		run_open(&t[i].pack, &e[i].choice, false, NULL, 0);
		run_open(&t[i].unpack, &e[i].choice, true, NULL, 0);
		trial_ratio(&t[i], &b);
	}
	for (int round = 0; round < repeats; round++)
		for (int i = 0; i < n; i++)
			trial_round(&t[i], &b);
	for (int i = 0; i < n; i++)
		trial_end(&t[i], &b);
	free(t);
	free(b.room);
	return n;
}
