/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd_memory.c - what packing by libzstd will take
 *
 * For one context the library tells; with its workers it doesn't, so that is
 * added up as they work: every worker has a context of its own and packs
 * sections of the input, which stand in one ring with what is being filled and
 * the overlap; every section in work or waiting to go out has a buffer.  --long
 * adds a table of matches over the whole window.
 *
 * Threads are lowered to what fits, because they don't change the bytes.  The
 * window and the length of a section would, so they stay, and what doesn't fit
 * with one thread is refused: the same command gives the same bytes wherever it
 * runs at all.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include "codecs.h"
#include "coder.h"
#include "zstd_codec.h"

#include <inttypes.h>
#include <zstd.h>

/* Up to this size libzstd starts no worker. */
#define WORKERS_FROM ((uint64_t)512 << 10)

static ZSTD_compressionParameters cparams(const struct filter_params *p)
{
	uint64_t size = p->size == SIZE_UNKNOWN ? ZSTD_CONTENTSIZE_UNKNOWN : p->size;
	ZSTD_compressionParameters c = ZSTD_getCParams(filter_level(&filter_zstd, p),
						       size, p->dict_len);

	if (p->window_log) {
		c.windowLog = (unsigned)p->window_log;
		c = ZSTD_adjustCParams(c, size, p->dict_len);
	}
	return c;
}

uint64_t zstd_context_memory(const struct filter_params *p)
{
	return ZSTD_estimateCCtxSize_usingCParams(cparams(p));
}

/* Entries of 8 bytes, one for each 128 bytes of the window. */
static uint64_t long_table(const struct filter_params *p, unsigned window_log)
{
	return p->window_log ? ((uint64_t)8 << window_log) / 128 : 0;
}

/*
 * A section, as libzstd chooses it: four windows, and a MiB at least; with --long
 * eight times what the level's tables span.
 */
static uint64_t section_size(const struct filter_params *p,
			     const ZSTD_compressionParameters *c, size_t job_size)
{
	unsigned log = c->windowLog + 2, least = 20;

	if (job_size)
		return job_size;
	if (p->window_log) {
		log = c->chainLog - (c->strategy >= ZSTD_btlazy2) + 3;
		least = 21;
	}
	log = log < least ? least : log > 30 ? 30 : log;
	return (uint64_t)1 << log;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t workers_memory(const struct filter_params *p, unsigned threads,
			       size_t job_size)
{
	ZSTD_compressionParameters c = cparams(p);
	uint64_t section = section_size(p, &c, job_size);
	uint64_t ring = threads * section, window = (uint64_t)1 << c.windowLog;

	if (p->size != SIZE_UNKNOWN && p->size <= WORKERS_FROM)
		return ZSTD_estimateCStreamSize_usingCParams(c);
	if (p->window_log && ring < window)
		ring = window;
	/* What isn't there isn't held. */
	return threads * (uint64_t)ZSTD_estimateCCtxSize_usingCParams(c) +
	       least_of(ring + 3 * section, p->size) +
	       (threads + 1) * least_of(section, p->size) +
	       long_table(p, c.windowLog);
}

int zstd_fit_threads(const struct filter_params *p, size_t job_size,
		     struct filter_error *err)
{
	unsigned threads = p->threads > 1 ? (unsigned)p->threads : 1;
	uint64_t need = workers_memory(p, threads, job_size);

	if (!p->memory)
		return p->threads;
	while (threads > 1 && need > p->memory)
		need = workers_memory(p, --threads, job_size);
	if (need <= p->memory)
		return p->threads > 1 ? (int)threads : p->threads;
	return filter_fail(err, FILTER_E_MEMORY, SIZE_UNKNOWN,
			   "level %d with a window of %" PRIu64 " bytes needs %" PRIu64
			   " bytes of memory, the budget is %" PRIu64
			   "; less at a lower level or a smaller --long",
			   filter_level(&filter_zstd, p),
			   (uint64_t)1 << cparams(p).windowLog, need, p->memory);
}
