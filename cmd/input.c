/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - files, pipes and standard input as inputs
 *
 * A regular file's length is taken once, when it is opened: the codec may
 * write it into a header, so bytes that are appended while we read would make
 * it a lie.  A length of zero is not believed (/proc), those are read as pipes
 * are.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "filter.h"
#include "io.h"

static int input_look(struct input *in)
{
	off_t at;

	if (fstat(in->fd, &in->st))
		return -errno;
	if (S_ISDIR(in->st.st_mode))
		return -EISDIR;
	in->regular = S_ISREG(in->st.st_mode);
	at = in->regular ? lseek(in->fd, 0, SEEK_CUR) : -1;
	if (at >= 0 && in->st.st_size > 0)
		in->left = at < in->st.st_size ? (uint64_t)(in->st.st_size - at) : 0;
	return 0;
}

int input_open(struct input *in, const char *path, int more_flags)
{
	int err;

	*in = (struct input){
		.fd = STDIN_FILENO, .name = IO_STDIN_NAME,
		.left = SIZE_UNKNOWN, .wake = -1,
	};
	if (strcmp(path, "-")) {
		in->name = in->path = path;
		in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | more_flags);
		if (in->fd < 0)
			return -errno;
	}
	err = input_look(in);
	if (err)
		input_close(in);
	return err;
}

/* Waits for the descriptor or the interruption.  1, 0 = time is up, -errno. */
static int wait_readable(struct input *in, int ms)
{
	struct pollfd p[2] = {
		{ .fd = in->fd, .events = POLLIN },
		{ .fd = in->wake, .events = POLLIN },
	};
	int n;

	do
		n = poll(p, in->wake >= 0 ? 2 : 1, ms);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (p[1].revents)
		return -ECANCELED;
	return p[0].revents != 0;
}

ptrdiff_t input_read(struct input *in, void *buf, size_t n)
{
	ptrdiff_t got;

	if (n > in->left)
		n = (size_t)in->left;
	if (!n)
		return 0;
	if (in->wake >= 0) {
		int err = wait_readable(in, -1);

		if (err < 0)
			return err;
	}
	for (;;) {
		got = read(in->fd, buf, n);
		if (got >= 0)
			break;
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			int err = wait_readable(in, -1);

			if (err < 0)
				return err;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	if (in->left != SIZE_UNKNOWN)
		in->left -= (uint64_t)got;
	return got;
}

ptrdiff_t input_read_at(void *input, uint64_t at, uint8_t *buf, size_t n)
{
	const struct input *in = input;
	size_t have = 0;

	while (have < n) {
		ssize_t got = pread(in->fd, buf + have, n - have, (off_t)(at + have));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		have += (size_t)got;
	}
	return (ptrdiff_t)have;
}

uint64_t input_size(const struct input *in)
{
	return in->left;
}

int input_wait(struct input *in, int ms)
{
	if (in->regular)
		return 1;
	return wait_readable(in, ms);
}

int input_make_interruptible(struct input *in)
{
	if (in->regular || in->wake >= 0)
		return 0;
	in->wake = eventfd(0, EFD_CLOEXEC);
	return in->wake < 0 ? -errno : 0;
}

void input_interrupt(struct input *in)
{
	static const uint64_t one = 1;

	if (in->wake >= 0 && write(in->wake, &one, sizeof(one)) < 0)
		return;		/* the counter is full: it is interrupted */
}

void input_close(struct input *in)
{
	if (in->wake >= 0)
		close(in->wake);
	if (in->path && in->fd >= 0)
		close(in->fd);
	in->fd = in->wake = -1;
}

bool input_is_terminal(const struct input *in)
{
	return S_ISCHR(in->st.st_mode) && isatty(in->fd);
}

bool stdout_is_terminal(void)
{
	return isatty(STDOUT_FILENO);
}

/* Reads to the end into a buffer that doubles. */
static int load_all(struct input *in, size_t max, uint8_t **data, size_t *len)
{
	uint64_t size = input_size(in);
	size_t cap = size == SIZE_UNKNOWN ? 64 << 10 : (size_t)size + 1;
	uint8_t *buf = malloc(cap);
	ptrdiff_t n = buf ? 0 : -ENOMEM;

	*len = 0;
	while (n >= 0) {
		uint8_t *more;

		n = input_read(in, buf + *len, cap - *len);
		if (n <= 0)
			break;
		*len += (size_t)n;
		if (*len > max) {
			n = -EFBIG;
		} else if (*len == cap) {
			more = realloc(buf, cap *= 2);
			if (more)
				buf = more;
			else
				n = -ENOMEM;
		}
	}
	if (n < 0)
		free(buf);
	else
		*data = buf;
	return (int)n;
}

int input_load(const char *path, size_t max, uint8_t **data, size_t *len)
{
	struct input in;
	int err = input_open(&in, path, 0);

	if (err)
		return err;
	if (input_size(&in) != SIZE_UNKNOWN && input_size(&in) > max)
		err = -EFBIG;
	else
		err = load_all(&in, max, data, len);
	input_close(&in);
	return err;
}
