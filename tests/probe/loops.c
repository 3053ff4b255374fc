/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loops.c - vprobe --bench beside plain loops around the libraries
 *
 * usage: probe-loops FILE.  Runs the bench of zstd 3, lz4 1 and brotli 5 and,
 * before and after it, loops of the libraries' own calls that write the same
 * frames: ZSTD_compress2 with one worker and a checksum, LZ4F_compressFrame
 * with a checksum, BrotliEncoderCompress.  CPU seconds a GB must agree: the
 * bench's figure lies between the loops' least and most, widened by TOLERANCE
 * for a machine that has other work.
 */
#include <brotli/encode.h>
#include <lz4frame.h>
#include <time.h>
#include <zstd.h>

#include "test.h"

#define TOLERANCE 1.3
#define LOOP 0.15	/* seconds */

static uint8_t *raw, *packed;
static size_t len, cap;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void once_zstd(void)
{
	static ZSTD_CCtx *c;

	if (!c) {
		c = ZSTD_createCCtx();
		ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, 3);
		ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
		ZSTD_CCtx_setParameter(c, ZSTD_c_nbWorkers, 1);
	}
	ZSTD_compress2(c, packed, cap, raw, len);
}

static void once_lz4(void)
{
	LZ4F_preferences_t p = { .frameInfo = {
		.blockSizeID = LZ4F_max4MB, .blockMode = LZ4F_blockIndependent,
		.contentChecksumFlag = LZ4F_contentChecksumEnabled,
	} };

	LZ4F_compressFrame(packed, cap, raw, len, &p);
}

static void once_brotli(void)
{
	size_t n = cap;

	BrotliEncoderCompress(5, 22, BROTLI_MODE_GENERIC, len, raw, &n, packed);
}

static struct loop {
	const char *name;
	void (*once)(void);
	double low, high, bench;	/* CPU seconds a GB */
} loops[] = {
	{ "zstd 3", once_zstd, 1e9, 0, 0 },
	{ "lz4 1", once_lz4, 1e9, 0, 0 },
	{ "brotli 5", once_brotli, 1e9, 0, 0 },
};
#define LOOPS (sizeof(loops) / sizeof(loops[0]))

static void loop_measure(struct loop *l)
{
	double start, t;
	int runs = 0;

	l->once();
	start = now();
	do {
		l->once();
		runs++;
		t = now() - start;
	} while (t < LOOP);
	t = t / runs / ((double)len / 1e9);
	l->low = t < l->low ? t : l->low;
	l->high = t > l->high ? t : l->high;
}

static void bench_read(const char *file)
{
	char command[4096], line[512];
	FILE *p;

	snprintf(command, sizeof(command),
		 "vprobe --bench=zstd:3,lz4:1,brotli:5 --rounds 3 --csv '%s'", file);
	p = popen(command, "r");
	while (p && fgets(line, sizeof(line), p))
		for (size_t i = 0; i < LOOPS; i++) {
			size_t n = strlen(loops[i].name);

			if (!strncmp(line, loops[i].name, n) && line[n] == ',')
				sscanf(line + n, ",%*[^,],%*[^,],%*[^,],%*[^,],%*[^,],%*[^,],"
				       "%*[^,],%lf", &loops[i].bench);
		}
	if (p)
		pclose(p);
}

static const struct loop *checked;

static void test_agrees(void)
{
	const struct loop *l = checked;

	printf("# %s: loops %.2f to %.2f, bench %.2f CPU seconds a GB\n", l->name, l->low,
	       l->high, l->bench);
	CHECK(l->bench > l->low / TOLERANCE && l->bench < l->high * TOLERANCE,
	      "they don't agree");
}

int main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "rb") : NULL;

	if (!f)
		return 2;
	raw = malloc((size_t)64 << 20);
	len = fread(raw, 1, (size_t)64 << 20, f);
	fclose(f);
	cap = len + len / 8 + 65536;
	packed = malloc(cap);
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < LOOPS; i++)
			loop_measure(&loops[i]);
		if (!k)
			bench_read(argv[1]);
	}
	for (size_t i = 0; i < LOOPS; i++) {
		checked = &loops[i];
		test_run(loops[i].name, test_agrees);
	}
	return test_done();
}
