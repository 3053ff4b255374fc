/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_stats.c - from counts to statements: entropies, windows, the verdict
 *
 * Entropies are those of the counted bytes themselves (the plug-in estimate),
 * thus exact when all bytes were counted.  Where few symbols make a histogram
 * look more orderly than its source is, the expected shortfall is
 * (cells - 1) / (2 N ln 2) bits (Miller, 1955): windows have it added, for
 * order 1 it is told beside the figure.
 *
 * The expected saving is a model, not a trial: long repeats shrink to a
 * fifteenth, short ones to less than half, the rest to its order-0 entropy.
 * It is made to be right about "an eighth or not"; what a codec really saves,
 * trials tell.
 */
#include "probe.h"

#include <math.h>
#include <string.h>

#define WORTH		0.125	/* an eighth saved */
#define MATCH_COST	0.067	/* of a byte, for a byte inside a long match */
#define SHORT_COST	0.45	/* ... inside one of 4 to 7 bytes */
#define TOO_SHORT	32	/* bytes: any frame is longer than what it saves */
#define PART_SHARE	16	/* a part is a sixteenth of the input at least */

double probe_entropy(const uint64_t *count, unsigned n)
{
	double sum = 0, total = 0;

	for (unsigned i = 0; i < n; i++) {
		total += (double)count[i];
		if (count[i] > 1)
			sum += (double)count[i] * log2((double)count[i]);
	}
	return total > 0 ? fmax(0.0, log2(total) - sum / total) : 0;
}

static unsigned cells_used(const uint64_t *count)
{
	unsigned used = 0;

	for (unsigned i = 0; i < 256; i++)
		used += count[i] != 0;
	return used;
}

static double shortfall(double cells, double n)
{
	return n > 0 ? (cells - 1) / (2 * n * M_LN2) : 0;
}

static double entropy_corrected(const struct probe_counts *c)
{
	unsigned used = cells_used(c->hist);
	double h = probe_entropy(c->hist, 256) + shortfall(used, (double)c->bytes);

	return fmin(h, used ? 8.0 : 0.0);
}

/* Share of positions seen before: runs exactly, the others by their sample. */
static double match_share(const struct probe_counts *c, uint64_t seen)
{
	double runs = c->places ? (double)c->runs / (double)c->places : 0;

	return runs + (1 - runs) * (c->grams ? (double)seen / (double)c->grams : 0);
}

static double saving_expected(double entropy, double match4, double match8)
{
	double plain = entropy / 8;

	return 1 - (match8 * MATCH_COST + (match4 - match8) * fmin(plain, SHORT_COST) +
		    (1 - match4) * plain);
}

static void window_fill(struct probe_window *w, const struct probe_counts *c,
			uint64_t offset)
{
	w->offset = offset;
	w->size = c->bytes;
	w->entropy = (float)entropy_corrected(c);
	w->match4 = (float)match_share(c, c->seen4);
	w->match8 = (float)match_share(c, c->seen8);
	w->saving = (float)saving_expected(w->entropy, w->match4, w->match8);
}

static void windows_fill(struct probe_scan *s, struct probe_stats *r,
			 struct probe_counts *all)
{
	uint64_t offset = 0;

	if (s->now.bytes)
		s->window[s->windows++] = s->now;
	for (unsigned i = 0; i < s->windows; i++) {
		window_fill(&r->window[i], &s->window[i], offset);
		offset += s->window[i].bytes;
		probe_counts_add(all, &s->window[i]);
	}
	r->windows = s->windows;
}

/* H(second | first) = H(pair) - H(first), over the pairs that were counted. */
static void order1_fill(const struct probe_scan *s, struct probe_stats *r)
{
	double sum = 0, cells = 0, contexts = 0;

	r->order1_pairs = s->pairs;
	if (!s->pairs)
		return;
	for (unsigned a = 0; a < 256; a++) {
		double row = 0;

		for (unsigned b = 0; b < 256; b++) {
			double n = s->pair[a << 8 | b];

			row += n;
			cells += n > 0;
			sum -= n > 1 ? n * log2(n) : 0;
		}
		sum += row > 1 ? row * log2(row) : 0;
		contexts += row > 0;
	}
	r->order1 = fmax(0.0, sum / (double)s->pairs);
	r->order1_bias = shortfall(cells - contexts + 1, (double)s->pairs);
}

static double windows_variance(const struct probe_stats *r)
{
	double mean = 0, square = 0;

	for (unsigned i = 0; i < r->windows; i++)
		mean += r->window[i].entropy / r->windows;
	for (unsigned i = 0; i < r->windows; i++)
		square += pow(r->window[i].entropy - mean, 2);
	return r->windows > 1 ? square / (r->windows - 1) : 0;
}

/*
 * Two standard errors.  A sample with gaps: windows vary as a sample would.
 * A long scan that thinned out: as many units were drawn as were counted.
 */
static double order0_error(const struct probe_scan *s, const struct probe_stats *r)
{
	if (s->gaps > 1)
		return 2 * sqrt(windows_variance(r) / r->windows);
	if (s->weight > 1)
		return 2 * sqrt(windows_variance(r) / ((double)s->units / s->weight));
	return 0;
}

/*
 * Windows of one kind in a row make a part.  Parts below a sixteenth of the
 * input are taken for the kind around them, shortest first.
 */
static unsigned parts_list(const bool *packs, const struct probe_stats *r,
			   struct probe_part *part)
{
	unsigned n = 0;

	for (unsigned i = 0; i < r->windows; i++) {
		const struct probe_window *w = &r->window[i];

		if (n && part[n - 1].packs == packs[i]) {
			part[n - 1].size += w->size;
			continue;
		}
		part[n++] = (struct probe_part){ w->offset, w->size, packs[i] };
	}
	return n;
}

static unsigned part_shortest(const struct probe_part *part, unsigned n)
{
	unsigned least = 0;

	for (unsigned i = 1; i < n; i++)
		if (part[i].size < part[least].size)
			least = i;
	return least;
}

/* Part i joins its neighbours, which are of the other kind, thus alike. */
static unsigned part_dissolve(struct probe_part *part, unsigned n, unsigned i)
{
	unsigned from = i ? i - 1 : 0, to = i + 1 < n ? i + 1 : i;
	struct probe_part joined = part[i ? from : to];

	joined.offset = part[from].offset;
	joined.size = 0;
	for (unsigned k = from; k <= to; k++)
		joined.size += part[k].size;
	part[from] = joined;
	memmove(part + from + 1, part + to + 1, (n - to - 1) * sizeof(*part));
	return n - (to - from);
}

static void parts_fill(struct probe_stats *r)
{
	struct probe_part part[PROBE_WINDOWS + 1];
	bool packs[PROBE_WINDOWS + 1];
	unsigned n, i;

	for (i = 0; i < r->windows; i++)
		packs[i] = r->window[i].saving >= WORTH;
	n = parts_list(packs, r, part);
	while (n > 1) {
		i = part_shortest(part, n);
		if (part[i].size >= r->bytes / PART_SHARE && n <= PROBE_PARTS_MAX)
			break;
		n = part_dissolve(part, n, i);
	}
	memcpy(r->part, part, n * sizeof(*part));
	r->parts = n;
}

static void verdict_fill(struct probe_stats *r)
{
	if (r->bytes < TOO_SHORT) {
		r->verdict = PROBE_STORE;
		r->reason = r->bytes ? "too short to save anything" : "empty";
	} else if (r->parts > 1) {
		r->verdict = PROBE_MIXED;
		r->reason = "parts of it pack and parts don't";
	} else if (r->parts && r->part[0].packs) {
		r->verdict = PROBE_COMPRESS;
		r->reason = r->order0 > 7 ? "bytes look even, but stretches repeat" :
			    r->match8 > 0.25 ? "uneven bytes and repeated stretches" :
			    "some bytes are far more frequent than others";
	} else {
		r->verdict = PROBE_STORE;
		r->reason = "even bytes, next to no repeats";
	}
}

void probe_scan_end(struct probe_scan *s, struct probe_stats *r)
{
	struct probe_counts all = { .bytes = 0 };

	probe_scan_gap(s);
	probe_scan_fold(s);
	memset(r, 0, sizeof(*r));
	windows_fill(s, r, &all);
	r->bytes = all.bytes;
	r->order0 = probe_entropy(all.hist, 256);
	r->order0_error = order0_error(s, r);
	r->distinct = cells_used(all.hist);
	r->match4 = match_share(&all, all.seen4);
	r->match8 = match_share(&all, all.seen8);
	r->runs = all.places ? (double)all.runs / (double)all.places : 0;
	r->saving = r->bytes ? saving_expected(entropy_corrected(&all), r->match4, r->match8) : 0;
	order1_fill(s, r);
	parts_fill(r);
	verdict_fill(r);
}
