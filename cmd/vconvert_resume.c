// SPDX-License-Identifier: Apache-2.0
/*
 * vconvert_resume.c - going on where a killed run was
 *
 * The output grows as OUT.part and a journal says, line by line, how many
 * records and notes of the input are whole in how many of its bytes.  A line
 * is written only when those bytes are on the disk: a point is remembered when
 * its bytes are given to the sink, and noted at a later one, when the file is
 * that long and was synced.  So whatever kills a run, the last whole line is
 * true.  The next run cuts the input again (which is cheap), converts nothing
 * of what is done, cuts OUT.part off where the line says, lets the target's
 * writer learn its state from it and goes on.
 *
 * The journal's first line names the job: other options or another input are
 * refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vconvert.h"

#define NOTE_EVERY ((uint64_t)16 << 20)

/* What decides over the bytes of the output. */
static char *job_line(const struct input *in)
{
	const struct vconvert_options *o = &vconvert_options;
	char *line = NULL;

	if (asprintf(&line, "vconvert journal 1 size %jd mtime %jd.%09ld from %s into %s "
		     "flags %s shard %s to %d assume %d mode %d exact %d recompress %d "
		     "check %d level %d favor %d on-error %d",
		     (intmax_t)in->st.st_size, (intmax_t)in->st.st_mtim.tv_sec,
		     in->st.st_mtim.tv_nsec, o->from ? o->from : "-",
		     o->into ? o->into : "-", o->flags ? o->flags : "-",
		     o->shard ? o->shard : "-", o->to, o->assume, o->mode, o->exact,
		     o->recompress, o->check, o->level, o->favor, o->on_error) < 0)
		return NULL;
	return line;
}

static bool failed(const char *path, const char *what, int error)
{
	say_errno(path, what, error);
	return false;
}

/* The last whole line whose bytes are in the file. */
static void journal_scan(struct resume *s, uint64_t size)
{
	struct progress p;
	char line[256];

	while (fgets(line, sizeof(line), s->journal)) {
		if (sscanf(line, "done %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
			   &p.events, &p.records, &p.failed, &p.bytes) != 4 ||
		    !strstr(line, " .\n"))
			break;
		if (p.bytes > size)
			break;
		s->done = p;
	}
}

/* Reads the journal, if it is this job's: 1, 0 = there is none, -1 said. */
static int journal_read(struct resume *s, const char *job, uint64_t size)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	bool same;

	s->journal = fopen(s->journal_path, "r");
	if (!s->journal)
		return errno == ENOENT ? 0 :
		       (failed(s->journal_path, "can't open", errno), -1);
	n = getline(&line, &cap, s->journal);
	same = n > 0 && line[n - 1] == '\n' && !strncmp(line, job, (size_t)n - 1) &&
	       strlen(job) == (size_t)n - 1;
	/* killed before the first line was whole: nothing was done */
	if (!same && n > 0 && line[n - 1] == '\n')
		say_error(s->journal_path, "belongs to another job or another input");
	else if (same)
		journal_scan(s, size);
	n = same ? 1 : n > 0 && line[n - 1] == '\n' ? -1 : 0;
	free(line);
	fclose(s->journal);
	s->journal = NULL;
	return (int)n;
}

static void journal_line(struct resume *s, const struct progress *p)
{
	fprintf(s->journal, "done %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " .\n",
		p->events, p->records, p->failed, p->bytes);
}

/*
 * Writes the journal anew, with the one line that counts, under a name of its
 * own first: a power cut in between must not cost the hours that are noted.
 */
static bool journal_start(struct resume *s, const char *job)
{
	char *fresh = NULL;
	bool good;

	if (asprintf(&fresh, "%s.new", s->journal_path) < 0)
		return failed(s->journal_path, "can't write", ENOMEM);
	s->journal = fopen(fresh, "w");
	good = s->journal && fprintf(s->journal, "%s\n", job) > 0;
	if (good && s->done.events)
		journal_line(s, &s->done);
	good = good && !fflush(s->journal) && !fdatasync(fileno(s->journal)) &&
	       !rename(fresh, s->journal_path);
	if (!good)
		failed(s->journal_path, "can't write", errno);
	free(fresh);
	return good;
}

/*
 * An output that is there already is an earlier run's, which was killed with
 * its journal not yet deleted, or somebody's.
 */
static bool may_replace(const struct resume *s, const char *path,
			const struct input *in)
{
	struct stat st;

	if (stat(path, &st))
		return true;
	if (st.st_dev == in->st.st_dev && st.st_ino == in->st.st_ino) {
		say_error(path, "is both input and output");
		return false;
	}
	return output_may_replace(path, &(struct output_options){
		.force = vconvert_options.force || !access(s->journal_path, F_OK),
	});
}

static bool part_open(struct resume *s, const char *job)
{
	struct stat st;
	int got;

	s->fd = open(s->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->fd < 0 || fstat(s->fd, &st))
		return failed(s->part, "can't open", errno);
	if (flock(s->fd, LOCK_EX | LOCK_NB)) {
		say_error(s->part, "another run is writing it");
		return false;
	}
	got = journal_read(s, job, (uint64_t)st.st_size);
	if (got < 0)
		return false;
	if (ftruncate(s->fd, (off_t)s->done.bytes) ||
	    lseek(s->fd, (off_t)s->done.bytes, SEEK_SET) < 0)
		return failed(s->part, "can't cut off", errno);
	s->next = s->done;
	s->noted = s->done.bytes;
	return journal_start(s, job);
}

bool resume_open(struct resume *s, const char *out_path, const struct input *in,
		 struct output *out)
{
	char *job = job_line(in);
	bool good;

	if (!in->regular) {
		say_error(in->name, "--resume needs a regular file");
		free(job);
		return false;
	}
	s->fd = -1;
	if (!may_replace(s, out_path, in)) {
		free(job);
		return false;
	}
	if (asprintf(&s->part, "%s.part", out_path) < 0)
		s->part = NULL;
	good = job && s->part && part_open(s, job);
	free(job);
	if (!good)
		return false;
	if (s->done.events)
		say_note(out_path, "goes on behind %" PRIu64 " records", s->done.records);
	*out = (struct output){
		.fd = s->fd, .slot = -1, .regular = true, .name = out_path,
		.path = strdup(out_path), .tmp = s->part,
	};
	return out->path;
}

int resume_note(struct resume *s, const struct progress *now)
{
	struct stat st;

	if (now->bytes - s->noted < NOTE_EVERY)
		return 0;
	if (s->next.bytes == s->noted)
		s->next = *now;
	if (fstat(s->fd, &st))
		return -errno;
	if ((uint64_t)st.st_size < s->next.bytes)
		return 0;
	if (fdatasync(s->fd))
		return -errno;
	s->noted = s->next.bytes;
	journal_line(s, &s->next);
	return fflush(s->journal) || fdatasync(fileno(s->journal)) ? -errno : 0;
}

const uint8_t *resume_map(const struct resume *s)
{
	void *p = mmap(NULL, s->done.bytes, PROT_READ, MAP_SHARED, s->fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

void resume_unmap(const struct resume *s, const uint8_t *p)
{
	munmap((void *)(uintptr_t)p, s->done.bytes);
}

void resume_close(struct resume *s, struct output *out,
		  const struct output_options *how, struct filter_error *err)
{
	int late;

	fclose(s->journal);
	if (err->code) {
		close(out->fd);
		free(out->path);
		free(s->part);
		return;
	}
	late = output_close(out, how, true);
	if (late)
		filter_fail(err, CMD_E_WRITE, (uint64_t)-late, "can't finish the output");
	else if (unlink(s->journal_path))
		say_errno(s->journal_path, "can't delete", errno);
}
