/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vprobe_input.c - samples, whole scans, and the scan beside a pipe
 *
 * --tee passes standard input on by splice(2) wherever one side is a pipe and
 * looks only at part of what goes by: all of the first TEE_WHOLE bytes, then
 * TEE_LOOK of every TEE_STRIDE.  A part that is looked at is duplicated by
 * tee(2) into standard output and then read from standard input, so it is
 * copied once, as cat would do twice.  Without a pipe it is read and written.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vprobe.h"

#define READ_SIZE	((size_t)1 << 20)
#define HEAD_SIZE	((size_t)1 << 20)
#define TEE_WHOLE	((uint64_t)8 << 20)
#define TEE_LOOK	((uint64_t)64 << 10)
#define TEE_STRIDE	((uint64_t)2 << 20)
#define PIPE_SIZE	(1 << 20)

static bool open_input(struct input *in, const char *path)
{
	int r = input_open(in, path, 0);

	if (!r && S_ISDIR(in->st.st_mode)) {
		input_close(in);
		r = -EISDIR;
	}
	if (r)
		say_errno(path, "can't open", -r);
	return !r;
}

/* Head and tail have fixed places, the others one in their stride. */
static uint64_t piece_place(const struct sample *s, unsigned i)
{
	uint64_t room = s->total - s->piece, stride = room / (s->pieces - 1);
	uint64_t hash = (i * 0x9e3779b97f4a7c15ull) >> 32;

	if (i == 0)
		return 0;
	if (i == s->pieces - 1)
		return room;
	return i * stride + hash * (stride > s->piece ? stride - s->piece : 0) / UINT32_MAX;
}

static int sample_pieces(struct sample *s, struct input *in)
{
	for (unsigned i = 0; i < s->pieces; i++) {
		uint64_t at = s->pieces > 1 ? piece_place(s, i) : 0;
		ptrdiff_t got = input_read_at(in, at, s->data + s->len, s->piece);

		if (got < 0)
			return (int)got;
		s->len += (size_t)got;
	}
	return 0;
}

/* From a regular file, without moving its offset. */
static int sample_seekable(struct sample *s, struct input *in)
{
	s->total = (uint64_t)in->st.st_size;
	s->pieces = s->total > vprobe.sample ? SAMPLE_PIECES : 1;
	s->piece = s->pieces > 1 ? vprobe.sample / SAMPLE_PIECES : (size_t)s->total;
	s->data = need(s->pieces * s->piece);
	return sample_pieces(s, in);
}

/* From a pipe: the first bytes. */
static int sample_first(struct sample *s, struct input *in)
{
	ptrdiff_t got = 1;

	s->pieces = 1;
	s->data = need(vprobe.sample + 1);
	s->total = SIZE_UNKNOWN;
	while (s->len <= vprobe.sample && got > 0) {
		got = input_read(in, s->data + s->len, vprobe.sample + 1 - s->len);
		if (got < 0)
			return (int)got;
		s->len += (size_t)got;
	}
	if (s->len <= vprobe.sample)
		s->total = s->len;
	else
		s->len--;
	s->piece = s->len;
	return 0;
}

static void formats_fill(struct finding *f)
{
	uint8_t *room = need(PROBE_ROOM);

	f->formats = probe_formats(f->head, f->head_len, room, f->format);
	free(room);
}

static struct probe_scan *scan_new(void)
{
	struct probe_scan *s = need(sizeof(*s));

	probe_scan_begin(s);
	return s;
}

static void scan_sample(struct finding *f)
{
	struct probe_scan *scan = scan_new();
	const struct sample *s = &f->sample;

	for (size_t at = 0; at < s->len; at += s->piece) {
		size_t n = s->len - at < s->piece ? s->len - at : s->piece;

		if (at)
			probe_scan_gap(scan);
		probe_scan_feed(scan, s->data + at, n);
	}
	probe_scan_end(scan, &f->stats);
	free(scan);
}

bool find_sample(struct finding *f, const char *path)
{
	struct input in;
	int r;

	memset(f, 0, sizeof(*f));
	if (!open_input(&in, path))
		return false;
	f->name = in.name;
	r = in.regular && !lseek(in.fd, 0, SEEK_CUR) ? sample_seekable(&f->sample, &in) :
						       sample_first(&f->sample, &in);
	input_close(&in);
	if (r) {
		say_errno(f->name, "can't read", -r);
		finding_free(f);
		return false;
	}
	f->size = f->sample.total;
	f->sampled = !sample_whole(&f->sample);
	scan_sample(f);
	return true;
}

/* Appends what there is room for. */
static void keep(uint8_t *to, size_t *len, size_t cap, const uint8_t *p, size_t n)
{
	n = n < cap - *len ? n : cap - *len;
	memcpy(to + *len, p, n);
	*len += n;
}

/* Bytes of a pass in order: to the scan, the head and, of a pipe, the sample. */
static void pass(struct finding *f, struct probe_scan *scan, const uint8_t *p, size_t n,
		 bool sample)
{
	probe_scan_feed(scan, p, n);
	keep(f->head, &f->head_len, HEAD_SIZE, p, n);
	if (!sample)
		return;
	keep(f->sample.data, &f->sample.len, vprobe.sample, p, n);
	f->sample.piece = f->sample.len;
}

static int scan_input(struct finding *f, struct input *in, struct probe_scan *scan,
		      bool sample)
{
	uint8_t *buf = need(READ_SIZE);
	ptrdiff_t n;

	while ((n = input_read(in, buf, READ_SIZE)) > 0) {
		pass(f, scan, buf, (size_t)n, sample);
		f->size += (uint64_t)n;
	}
	free(buf);
	return (int)n;
}

bool find_all(struct finding *f, const char *path)
{
	struct probe_scan *scan;
	struct input in;
	bool seekable;
	int r = 0;

	memset(f, 0, sizeof(*f));
	if (!open_input(&in, path))
		return false;
	f->name = in.name;
	seekable = in.regular && !lseek(in.fd, 0, SEEK_CUR);
	scan = scan_new();
	f->head = need(HEAD_SIZE);
	if (seekable)
		r = sample_seekable(&f->sample, &in);
	else
		f->sample = (struct sample){ .data = need(vprobe.sample), .pieces = 1 };
	if (!r)
		r = scan_input(f, &in, scan, !seekable);
	input_close(&in);
	f->sample.total = f->size;
	probe_scan_end(scan, &f->stats);
	free(scan);
	if (r)
		say_errno(f->name, "can't read", -r);
	else
		formats_fill(f);
	return !r;
}

bool load_all(const char *path, uint8_t **data, size_t *len)
{
	int r = input_load(path, SIZE_MAX / 4, data, len);

	if (r)
		say_errno(path, "can't read", -r);
	return !r;
}

/* --tee: one descriptor pair and what was seen. */
struct tee {
	struct finding *f;
	struct probe_scan *scan;
	uint8_t *buf;
	bool splice, tee;	/* what the kernel can do with these two */
	uint64_t done;		/* bytes passed on */
};

/* A descriptor that doesn't block: until there is something to do again. */
static void wait_ready(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	poll(&in, 1, -1);
	poll(&out, 1, -1);
}

static int write_all(const uint8_t *p, size_t n)
{
	while (n) {
		ssize_t k = write(STDOUT_FILENO, p, n);

		if (k < 0 && errno == EAGAIN)
			wait_ready();
		else if (k < 0 && errno != EINTR)
			return -errno;
		if (k > 0) {
			p += k;
			n -= (size_t)k;
		}
	}
	return 0;
}

static void tee_look(struct tee *t, const uint8_t *p, size_t n)
{
	if (t->done < TEE_WHOLE)
		pass(t->f, t->scan, p, n, t->f->sample.len == t->done);
	else
		probe_scan_feed(t->scan, p, n);
}

/* Passes up to n bytes on and looks at them if asked; 0 = end, -errno. */
static ptrdiff_t tee_copy(struct tee *t, size_t n, bool look)
{
	ssize_t got;
	int r;

	got = read(STDIN_FILENO, t->buf, n < READ_SIZE ? n : READ_SIZE);
	if (got < 0)
		return -errno;
	r = write_all(t->buf, (size_t)got);
	if (r)
		return r;
	if (look)
		tee_look(t, t->buf, (size_t)got);
	return got;
}

/* The same with tee(2): what was duplicated is then read, so it is consumed. */
static ptrdiff_t tee_duplicate(struct tee *t, size_t n)
{
	ssize_t got = tee(STDIN_FILENO, STDOUT_FILENO, n < READ_SIZE ? n : READ_SIZE, 0);
	size_t at = 0;

	if (got <= 0)
		return got < 0 ? -errno : 0;
	while (at < (size_t)got) {
		ssize_t k = read(STDIN_FILENO, t->buf + at, (size_t)got - at);

		if (k < 0 && errno != EINTR)
			return -errno;
		at += k > 0 ? (size_t)k : 0;
	}
	tee_look(t, t->buf, (size_t)got);
	return got;
}

static ptrdiff_t tee_splice(size_t n)
{
	ssize_t got = splice(STDIN_FILENO, NULL, STDOUT_FILENO, NULL, n, SPLICE_F_MOVE);

	return got < 0 ? -errno : got;
}

/* One step by the cheapest way that works; a way that doesn't is not tried again. */
static ptrdiff_t tee_step(struct tee *t, size_t n, bool look)
{
	bool *way = look ? &t->tee : &t->splice;
	ptrdiff_t r;

	for (;;) {
		r = !*way ? tee_copy(t, n, look) :
		    look ? tee_duplicate(t, n) : tee_splice(n);
		if (r == -EINVAL && *way)
			*way = false;
		else if (r == -EAGAIN)
			wait_ready();
		else if (r != -EINTR)
			return r;
	}
}

static int tee_run(struct tee *t)
{
	for (;;) {
		uint64_t at = t->done % TEE_STRIDE;
		bool look = t->done < TEE_WHOLE || at < TEE_LOOK;
		uint64_t n = t->done < TEE_WHOLE ? TEE_WHOLE - t->done :
			     look ? TEE_LOOK - at : TEE_STRIDE - at;
		ptrdiff_t r;

		if (look && !at && t->done >= TEE_WHOLE)
			probe_scan_gap(t->scan);
		r = tee_step(t, n, look);
		if (r <= 0)
			return (int)r;
		t->done += (uint64_t)r;
	}
}

bool find_tee(struct finding *f)
{
	struct tee t = { .f = f, .splice = true, .tee = true };
	int r;

	memset(f, 0, sizeof(*f));
	f->name = IO_STDIN_NAME;
	f->sample = (struct sample){ .data = need(vprobe.sample), .pieces = 1 };
	f->head = need(HEAD_SIZE);
	t.scan = scan_new();
	t.buf = need(READ_SIZE);
	/* A larger pipe means fewer turns; where it can't be had, nothing is lost. */
	fcntl(STDIN_FILENO, F_SETPIPE_SZ, PIPE_SIZE);
	fcntl(STDOUT_FILENO, F_SETPIPE_SZ, PIPE_SIZE);
	r = tee_run(&t);
	f->size = f->sample.total = t.done;
	probe_scan_end(t.scan, &f->stats);
	f->sampled = f->stats.bytes != f->size;
	free(t.scan);
	free(t.buf);
	if (r)
		say_errno(IO_STDIN_NAME, "can't pass on", -r);
	else
		formats_fill(f);
	return !r;
}

void finding_free(struct finding *f)
{
	free(f->sample.data);
	free(f->head);
	f->sample.data = f->head = NULL;
}
