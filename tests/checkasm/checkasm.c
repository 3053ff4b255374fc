/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkasm - every decode kernel against the careful step alone
 *
 * usage: checkasm [--seed=N] [--rounds=N] [--round=N] [--kernel=NAME] [--shared=DIR] [--bench]
 *
 * For each row of the kernel table that this CPU can run:
 *  - same verdict and same bytes as with a kernel that does nothing, on own values,
 *    liblz4's blocks, hand-built blocks and overlaps, the vectors, and all of
 *    these damaged;
 *  - input and output stand against a PROT_NONE page, behind them and before
 *    them in turn, so a byte read or written outside is a signal; the handler
 *    names kernel, seed and round;
 *  - callee-saved registers, stack, canary, vector state (call_ARCH.S);
 *  - the contract of kernel.h: the run stops on a block boundary, inside its
 *    limits; and nearly all bytes of plain data are the kernel's own work: a
 *    kernel that does nothing would pass everything else;
 *  - lzvolt_decompress_lz4_safe() answers as LZ4_decompress_safe() does.
 * And for every subset of the CPU's bits: the row chosen needs nothing else.
 *
 * Ends with "N passed, N failed, N skipped"; status 1 if one failed.
 */
#include "checkasm.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lzvolt.h"
#include "lzvolt_kernel.h"

#define SLACK	64		/* what lzvolt_decompress_bound() adds */

static struct arena in_arena, out_arena, ref_arena;

static const struct kernel *row;	/* under test */
static struct kernel wrapped;		/* its bodies, each called by checked_call() */
static uint64_t seed_start;
static unsigned round_now;
static const char *doing = "start";
static unsigned passed, failed, skipped;
static unsigned broke;			/* CALL bits of this decode */
static size_t by_kernel;		/* bytes that the kernel gave in this decode */
static sigjmp_buf after_signal;

/* call_x86_64.S reads it: XGETBV with ECX = 1 says what is dirty. */
int checked_call_xinuse;

static void fail(const char *what)
{
	failed++;
	printf("FAILED %s: %s: %s (--kernel=%s --seed=%llu --round=%u)\n",
	       row ? row->name : "-", doing, what, row ? row->name : "-",
	       (unsigned long long)seed_start, round_now);
	fflush(stdout);
	if (failed > 20) {
		printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
		exit(1);
	}
}

static void on_signal(int number)
{
	static char text[200];
	int n = snprintf(text, sizeof(text), "signal %d in %s: %s, --seed=%llu --round=%u\n",
			 number, row ? row->name : "-", doing,
			 (unsigned long long)seed_start, round_now);

	if (write(STDOUT_FILENO, text, (size_t)n) < 0)
		_exit(2);
	siglongjmp(after_signal, number);
}

static void signals_catch(void)
{
	static const int numbers[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };
	static uint8_t stack[64 << 10];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	sigaltstack(&alt, NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &act, NULL);
}

static void none(struct kernel_run *run)
{
	(void)run;
}

static const struct kernel careful = { "none", 0, CPU_LINE_ANY, none, none, none, "" };

static void wrap(kernel_fn *fn, struct kernel_run *run)
{
	struct kernel_run was = *run;
	unsigned bits = checked_call(fn, run);

	broke |= bits;
	if (run->out < was.out || run->out > was.goal || run->in < was.in ||
	    run->in > was.in_end + 32 || run->in_end != was.in_end || run->goal != was.goal ||
	    run->out_end != was.out_end || run->base != was.base)
		broke |= 16;
	if (run->out > was.out)
		by_kernel += (size_t)(run->out - was.out);
}

static void wrap_even(struct kernel_run *run)
{
	wrap(row->even, run);
}

static void wrap_wide(struct kernel_run *run)
{
	wrap(row->wide, run);
}

static void wrap_lz4(struct kernel_run *run)
{
	wrap(row->lz4, run);
}

static int64_t decode(const struct kernel *kernel, const struct input *in,
		      const uint8_t *packed, uint8_t *out, size_t cap)
{
	if (in->kind == KIND_VALUE)
		return lzvolt_decompress_by(kernel, packed, in->packed_len, out, cap);
	return lzvolt_lz4_by(kernel, packed, in->packed_len, out, cap, in->plain_len);
}

/* Compares one decode, buffers at the high or the low guard. */
static bool try_at(const struct input *in, bool high, size_t slack, int64_t want,
		   size_t declared)
{
	size_t cap = declared + slack;
	uint8_t *packed = high ? in_arena.high - in->packed_len : in_arena.low;
	uint8_t *out = high ? out_arena.high - cap : out_arena.low;
	uint8_t *edge = high ? out - 64 : out + cap;
	int64_t got;

	memcpy(packed, in->packed, in->packed_len);
	memset(edge, 0xa5, 64);
	memset(out, 0x5a, cap);
	broke = 0;
	by_kernel = 0;
	got = decode(&wrapped, in, packed, out, cap);
	if (broke & 16)
		fail("a run left its limits or changed them");
	if (broke & 15)
		fail(broke & 1 ? "a callee-saved register changed" :
		     broke & 2 ? "the stack changed" :
		     broke & 4 ? "upper vector halves are dirty" : "direction flag set");
	if (got != want) {
		fail("another verdict than the careful step alone");
		return false;
	}
	for (int i = 0; i < 64; i++)
		if (edge[i] != 0xa5) {
			fail("wrote outside the buffer");
			return false;
		}
	if (want < 0 || !memcmp(out, ref_arena.low, (size_t)want))
		return true;
	fail("other bytes than the careful step alone");
	return false;
}

/* The call that doesn't know the size, by the kernel and without one. */
static void safe_same(const struct input *in, size_t cap)
{
	uint8_t *packed = in_arena.high - in->packed_len, *out = out_arena.high - cap;
	int want, got;

	memcpy(packed, in->packed, in->packed_len);
	want = lzvolt_lz4_safe_by(&careful, (char *)packed, (char *)ref_arena.low,
				  (int)in->packed_len, (int)cap, 0);
	got = lzvolt_lz4_safe_by(&wrapped, (char *)packed, (char *)out,
				 (int)in->packed_len, (int)cap, 0);
	if (got != want || (got > 0 && memcmp(out, ref_arena.low, (size_t)got)))
		fail("lz4_safe: not what the careful step alone says");
}

/* One input in every position.  ok: what it must be, -1 = unknown. */
static void input_check(const struct input *in, int ok)
{
	size_t declared = in->plain_len;
	int64_t want;
	bool good = true;

	doing = in->name;
	if (in->kind == KIND_VALUE) {
		int64_t n = lzvolt_declared_size(in->packed, in->packed_len);

		declared = n < 0 ? 0 : (size_t)n;
	}
	if (declared > ARENA - 4096)
		return;
	want = decode(&careful, in, in->packed, ref_arena.low, declared);
	if (ok >= 0 && (want >= 0) != ok)
		fail("the careful step's verdict is wrong");
	if (want >= 0 && in->plain && memcmp(in->plain, ref_arena.low, (size_t)want))
		fail("the careful step's bytes are wrong");
	good &= try_at(in, true, 0, want, declared);
	good &= try_at(in, true, SLACK, want, declared);
	good &= try_at(in, false, 0, want, declared);
	good &= try_at(in, true, rnd_below(100), want, declared);
	if (in->kind == KIND_LZ4)
		safe_same(in, declared);
	if (good)
		passed++;
	if (good && in->plain_data && by_kernel < declared - declared / 20 - 64)
		fail("the kernel is asleep: too much was left to the careful step");
}

/* lz4_safe against liblz4: valid blocks, at the exact, a larger, a smaller size. */
static void safe_check(const struct input *in)
{
	static const int more[] = { 0, 1, 13, 64, 300, -1, -5, -13 };
	uint8_t *packed = in_arena.high - in->packed_len;

	doing = "lz4_safe";
	if (!peer_there)
		return;
	memcpy(packed, in->packed, in->packed_len);
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		int cap = (int)in->plain_len + more[i], got, want;
		uint8_t *out;

		if (cap < 0)
			continue;
		out = out_arena.high - cap;
		want = peer_unpack(packed, ref_arena.low, (int)in->packed_len, cap);
		got = lzvolt_lz4_safe_by(&wrapped, (char *)packed, (char *)out,
					 (int)in->packed_len, cap, 0);
		if ((got < 0) != (want < 0) || (want >= 0 && got != want))
			fail("another result than LZ4_decompress_safe");
		else if (got > 0 && memcmp(out, ref_arena.low, (size_t)got))
			fail("other bytes than LZ4_decompress_safe");
		else
			passed++;
	}
}

/* liblz4 accepts it: then so must lz4_safe, unless it has a zero offset. */
static void safe_mutant_check(const struct input *in)
{
	int cap = (int)in->plain_len;
	uint8_t *packed = in_arena.high - in->packed_len, *out = out_arena.high - cap;
	int got, want;

	doing = "lz4_safe, damaged";
	if (!peer_there)
		return;
	memcpy(packed, in->packed, in->packed_len);
	want = peer_unpack(packed, ref_arena.low, (int)in->packed_len, cap);
	got = lzvolt_lz4_safe_by(&wrapped, (char *)packed, (char *)out,
				 (int)in->packed_len, cap, 0);
	if (want >= 0 && got >= 0 && (got != want || memcmp(out, ref_arena.low, (size_t)got)))
		fail("other bytes than LZ4_decompress_safe");
	else
		passed++;
}

static void mutants_check(struct input *in, int n)
{
	struct input bad = *in;
	uint8_t *packed = malloc(in->packed_len);

	while (n--) {
		memcpy(packed, in->packed, in->packed_len);
		bad = *in;
		bad.plain = NULL;
		bad.packed = packed;
		gen_mutate(&bad);
		input_check(&bad, -1);
		if (bad.kind == KIND_LZ4 && bad.packed_len && bad.plain_len < ARENA / 2)
			safe_mutant_check(&bad);
	}
	free(packed);
}

/* All offsets 1..40 with all lengths to 300, thinned by the round. */
static void overlaps_check(unsigned every)
{
	unsigned n = rnd_below(every);

	for (uint32_t offset = 1; offset <= 40; offset++)
		for (uint32_t length = 4; length <= 300; length++) {
			struct input in;

			if (n++ % every)
				continue;
			gen_overlap(&in, n & 1, offset, length, rnd_below(rnd() & 1 ? 4 : 40));
			input_check(&in, 1);
			input_free(&in);
		}
}

/* Plain data: long text with far matches; the kernel must do nearly all. */
static void asleep_check(void)
{
	struct input in = { .name = "plain value", .kind = KIND_VALUE, .plain_len = 65536 };
	size_t cap = lzvolt_compress_bound(in.plain_len);
	static const char *const words[] = {
		"record", "tenant", "region", "2026-09-0", "created", "active", "\":\"", "},{",
	};

	in.plain = malloc(in.plain_len + 32);
	for (size_t at = 0; at < in.plain_len;) {
		const char *w = words[rnd_below(8)];

		at += (size_t)snprintf((char *)in.plain + at, 32, "%s%u", w, rnd() % 1000);
	}
	in.packed = malloc(cap);
	in.plain_data = true;
	for (int level = 1; level <= 3; level += 2) {
		int64_t n = lzvolt_compress_level(NULL, in.plain, in.plain_len, in.packed, cap,
						  level | (level == 3 ? LZVOLT_FAVOR_SIZE : 0));

		in.packed_len = (size_t)n;
		if (n > 0)
			input_check(&in, 1);
		else
			fail("plain data could not be packed");
	}
	in.kind = KIND_LZ4;
	in.name = "plain LZ4 block";
	in.packed_len = peer_pack(in.plain, in.plain_len, in.packed, cap, 0);
	input_check(&in, 1);
	input_free(&in);
}

/* `history` bytes of `before` in front of both outputs: the same from both? */
static void linked_same(const struct input *in, const uint8_t *before, size_t history,
			int want)
{
	size_t cap = in->plain_len;
	uint8_t *out = out_arena.high - cap, *ref = ref_arena.high - cap;
	uint8_t *packed = in_arena.high - in->packed_len;
	int got, said;

	memcpy(packed, in->packed, in->packed_len);
	memcpy(out - history, before, history);
	memcpy(ref - history, before, history);
	said = lzvolt_lz4_safe_by(&careful, (char *)packed, (char *)ref, (int)in->packed_len,
				  (int)cap, history);
	broke = 0;
	got = lzvolt_lz4_safe_by(&wrapped, (char *)packed, (char *)out, (int)in->packed_len,
				 (int)cap, history);
	if (broke)
		fail("linked block: the kernel broke its contract");
	if (got != said || (want >= 0 && got != want))
		fail("linked block: another verdict");
	else if (got > 0 && memcmp(out, ref, (size_t)got))
		fail("linked block: other bytes than the careful step alone");
	else if (want >= 0 && memcmp(out, in->plain, cap))
		fail("linked block: wrong bytes");
	else if (memcmp(out - history, before, history))
		fail("linked block: the history changed");
	else
		passed++;
}

/* A block that liblz4 packed with history; also with too little of it, damaged. */
static void linked_check(void)
{
	size_t history = 1 + rnd_below(65536), n = 1 + rnd_below(rnd() & 1 ? 600 : 80000);
	uint8_t *plain = malloc(history + n + 64);
	struct input in = { .name = "linked block", .kind = KIND_LZ4, .plain_len = n };
	size_t cap = n + n / 200 + 64;

	doing = in.name;
	gen_text(plain, history + n);
	in.plain = plain + history;
	in.packed = malloc(cap);
	in.packed_len = peer_pack_linked(plain, history, n, in.packed, cap);
	if (in.packed_len) {
		linked_same(&in, plain, history, (int)n);
		linked_same(&in, plain + history / 2, history - history / 2, -1);
		for (int i = 0; i < 4; i++) {
			in.packed[rnd_below((uint32_t)in.packed_len)] ^= 1u << rnd_below(8);
			linked_same(&in, plain, history, -1);
		}
	}
	free(in.packed);
	free(plain);
}

/* A round depends on the seed and its own number alone. */
static void round_check(unsigned round)
{
	struct input in;

	doing = "make inputs";
	round_now = round;
	seed_now = (seed_start + round) * 0x9E3779B97F4A7C15;
	seed_now += !seed_now;
	switch (round % 4) {
	case 0:
		gen_value(&in, 65536);
		input_check(&in, 1);
		break;
	case 1:
		gen_lz4(&in, 65536);
		input_check(&in, 1);
		safe_check(&in);
		break;
	case 2:
		gen_blocks(&in, KIND_VALUE);
		input_check(&in, 1);
		break;
	default:
		gen_blocks(&in, KIND_LZ4);
		input_check(&in, 1);
	}
	mutants_check(&in, 3);
	linked_check();
	input_free(&in);
}

static void vector_check(struct input *in, bool ok)
{
	input_check(in, ok);
	mutants_check(in, in->packed_len < 2000 ? 20 : 2);
}

/* Round 0 is everything that isn't random. */
static void round_fixed(unsigned rounds, const char *shared)
{
	round_now = 0;
	seed_now = seed_start;
	asleep_check();
	overlaps_check(rounds >= 2000 ? 1 : 7);
	if (!vectors_each(shared, vector_check)) {
		printf("skipped: no vectors in %s\n", shared);
		skipped++;
	}
}

static void row_check(const struct kernel *kernel, unsigned first, unsigned last,
		      const char *shared)
{
	unsigned before = failed;

	row = kernel;
	wrapped = (struct kernel){ row->name, 0, CPU_LINE_ANY,
				   wrap_even, wrap_wide, wrap_lz4, "" };
	if (sigsetjmp(after_signal, 1)) {
		fail("signal");
		return;
	}
	if (!first)
		round_fixed(last, shared);
	for (unsigned i = first ? first : 1; i <= last; i++)
		round_check(i);
	printf("%-10s %s\n", row->name, failed == before ? "ok" : "FAILED");
	row = NULL;
}

/* Whatever bits are peeled off, the row chosen needs none of them. */
static void subsets_check(void)
{
	struct cpu cpu = cpu_read();

	doing = "choice";
	for (uint32_t have = 0; have < 32; have++)
		for (uint32_t line = 0; line <= CPU_LINE_NEOVERSE; line++) {
			struct cpu less = { have & cpu.have, (enum cpu_line)line };
			const struct kernel *chosen = kernel_pick(less);

			if (chosen->need & ~less.have)
				fail("chose a row that this CPU can't run");
			else if (chosen->line != CPU_LINE_ANY && chosen->line != line)
				fail("chose another line's row");
			else
				passed++;
		}
	if (kernel_force("no such kernel") || kernel_force(""))
		fail("forced a kernel that isn't");
	if (!kernel_force("portable") || strcmp(lzvolt_backend(), "portable"))
		fail("could not force portable");
	if (!kernel_force("auto"))
		fail("could not go back to the own choice");
}

static const char *option(const char *arg, const char *name)
{
	size_t n = strlen(name);

	return strncmp(arg, name, n) ? NULL : arg + n;
}

int main(int argc, char **argv)
{
	const char *only = NULL, *shared = getenv("VOLTBOX_SHARED"), *v;
	unsigned first = 0, last = 400;
	bool with_bench = false;
	size_t count;
	const struct kernel *rows = kernel_table(&count);

	shared = shared ? shared : "../shared";
	seed_start = (uint64_t)time(NULL) << 16 ^ (uint64_t)getpid();
	for (int i = 1; i < argc; i++) {
		if ((v = option(argv[i], "--seed=")))
			seed_start = strtoull(v, NULL, 0);
		else if ((v = option(argv[i], "--rounds=")))
			last = (unsigned)strtoul(v, NULL, 0);
		else if ((v = option(argv[i], "--round=")))
			first = last = (unsigned)strtoul(v, NULL, 0);
		else if ((v = option(argv[i], "--kernel=")))
			only = v;
		else if ((v = option(argv[i], "--shared=")))
			shared = v;
		else if (!strcmp(argv[i], "--bench"))
			with_bench = true;
		else
			return fprintf(stderr, "checkasm: %s: no such option\n", argv[i]), 2;
	}
	seed_start |= !seed_start;
	printf("checkasm --seed=%llu (own choice here: %s)\n",
	       (unsigned long long)seed_start, kernel_pick(cpu_read())->name);
	fflush(stdout);
	in_arena = arena_make(ARENA);
	out_arena = arena_make(ARENA);
	ref_arena = arena_make(ARENA);
	checked_call_xinuse = checked_call_knows_vectors();
	signals_catch();
	subsets_check();
	for (size_t i = 0; i < count; i++) {
		if (only && strcmp(only, rows[i].name))
			continue;
		if (lzvolt_kernel_runs(i)) {
			row_check(&rows[i], first, last, shared);
		} else {
			printf("%-10s skipped: not for this CPU\n", rows[i].name);
			skipped++;
		}
	}
	if (with_bench)
		bench_rows(seed_start);
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed != 0;
}
