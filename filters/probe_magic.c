/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_magic.c - what a piece of data is, by its first bytes
 *
 * Packed streams are named by the codecs' own detection, and their head is
 * decoded by the same codecs, so that "gzip > tar archive" is what vdecompress
 * would find.  Everything else is a row of a table.  brotli has no magic: it is
 * only ever called possible, when nothing else claims the bytes and its decoder
 * gets somewhere with them.
 */
#include "probe.h"

#include <string.h>

/* Fewer bytes than these may begin a text as well. */
#define MAGIC_STRONG 4

struct magic {
	const char *name;
	enum probe_kind kind;
	bool packed;
	unsigned at;		/* offset of the bytes */
	unsigned len;
	const char *bytes;
	unsigned also_at;	/* a second run of bytes; also_len 0 = none */
	unsigned also_len;
	const char *also;
};

#define MAGIC2(name, kind, packed, at, bytes, also_at, also) \
	{ name, kind, packed, at, sizeof(bytes) - 1, bytes, \
	  also_at, sizeof(also) - 1, also }
#define MAGIC(name, kind, packed, at, bytes) \
	MAGIC2(name, kind, packed, at, bytes, 0, "")

/* The more particular row first. */
static const struct magic magics[] = {
	MAGIC("ELF program", KIND_PROGRAM, false, 0, "\x7f" "ELF"),
	MAGIC("Mach-O program", KIND_PROGRAM, false, 0, "\xcf\xfa\xed\xfe"),
	MAGIC("Mach-O program", KIND_PROGRAM, false, 0, "\xce\xfa\xed\xfe"),
	MAGIC("Java class or universal Mach-O", KIND_PROGRAM, false, 0, "\xca\xfe\xba\xbe"),
	MAGIC("WebAssembly module", KIND_PROGRAM, false, 0, "\0asm"),
	MAGIC("Android DEX program", KIND_PROGRAM, false, 0, "dex\n"),
	MAGIC2("Debian package", KIND_ARCHIVE, true, 0, "!<arch>\n",
	       8, "debian-binary"),
	MAGIC("ar archive", KIND_ARCHIVE, false, 0, "!<arch>\n"),
	MAGIC("RPM package", KIND_ARCHIVE, true, 0, "\xed\xab\xee\xdb"),
	MAGIC2("office document (zip)", KIND_DOCUMENT, true, 0, "PK\3\4",
	       30, "[Content_Types].xml"),
	MAGIC2("open document or EPUB (zip)", KIND_DOCUMENT, true, 0, "PK\3\4",
	       30, "mimetype"),
	MAGIC("zip archive", KIND_ARCHIVE, true, 0, "PK\3\4"),
	MAGIC("empty zip archive", KIND_ARCHIVE, false, 0, "PK\5\6"),
	MAGIC("7z archive", KIND_ARCHIVE, true, 0, "7z\xbc\xaf\x27\x1c"),
	MAGIC("RAR archive", KIND_ARCHIVE, true, 0, "Rar!\x1a\7"),
	MAGIC("Cabinet archive", KIND_ARCHIVE, true, 0, "MSCF\0\0\0\0"),
	MAGIC("xar archive", KIND_ARCHIVE, true, 0, "xar!"),
	MAGIC("tar archive", KIND_ARCHIVE, false, 257, "ustar"),
	MAGIC("cpio archive", KIND_ARCHIVE, false, 0, "070701"),
	MAGIC("cpio archive", KIND_ARCHIVE, false, 0, "070702"),
	MAGIC("cpio archive", KIND_ARCHIVE, false, 0, "070707"),
	MAGIC("squashfs image", KIND_ARCHIVE, true, 0, "hsqs"),
	MAGIC("ISO 9660 image", KIND_ARCHIVE, false, 32769, "CD001"),
	MAGIC("git pack", KIND_ARCHIVE, true, 0, "PACK\0\0\0\2"),
	MAGIC("PNG image", KIND_IMAGE, true, 0, "\x89PNG\r\n\x1a\n"),
	MAGIC("JPEG image", KIND_IMAGE, true, 0, "\xff\xd8\xff"),
	MAGIC("JPEG XL image", KIND_IMAGE, true, 0, "\0\0\0\x0cJXL \r\n\x87\n"),
	MAGIC("GIF image", KIND_IMAGE, true, 0, "GIF8"),
	MAGIC2("WebP image", KIND_IMAGE, true, 0, "RIFF",
	       8, "WEBP"),
	MAGIC("AVIF image", KIND_IMAGE, true, 4, "ftypavif"),
	MAGIC("HEIF image", KIND_IMAGE, true, 4, "ftypheic"),
	MAGIC("HEIF image", KIND_IMAGE, true, 4, "ftypmif1"),
	MAGIC("TIFF image", KIND_IMAGE, false, 0, "II*\0"),
	MAGIC("TIFF image", KIND_IMAGE, false, 0, "MM\0*"),
	MAGIC("Photoshop image", KIND_IMAGE, false, 0, "8BPS"),
	MAGIC2("BMP image", KIND_IMAGE, false, 0, "BM",
	       6, "\0\0\0\0"),
	MAGIC("MP3 audio", KIND_MEDIA, true, 0, "ID3"),
	MAGIC("FLAC audio", KIND_MEDIA, true, 0, "fLaC"),
	MAGIC("Ogg media", KIND_MEDIA, true, 0, "OggS"),
	MAGIC2("WAV audio", KIND_MEDIA, false, 0, "RIFF",
	       8, "WAVE"),
	MAGIC2("AVI video", KIND_MEDIA, true, 0, "RIFF",
	       8, "AVI "),
	MAGIC("MPEG-4 media", KIND_MEDIA, true, 4, "ftyp"),
	MAGIC("Matroska or WebM video", KIND_MEDIA, true, 0, "\x1a\x45\xdf\xa3"),
	MAGIC("MPEG video", KIND_MEDIA, true, 0, "\0\0\1\xba"),
	MAGIC("SQLite database", KIND_DATABASE, false, 0, "SQLite format 3\0"),
	MAGIC("Parquet table", KIND_DATABASE, false, 0, "PAR1"),
	MAGIC("ORC table", KIND_DATABASE, false, 0, "ORC"),
	MAGIC("HDF5 data", KIND_DATABASE, false, 0, "\x89HDF\r\n\x1a\n"),
	MAGIC("packet capture", KIND_DATA, false, 0, "\xd4\xc3\xb2\xa1"),
	MAGIC("packet capture", KIND_DATA, false, 0, "\x0a\x0d\x0d\x0a"),
	MAGIC("PDF document", KIND_DOCUMENT, false, 0, "%PDF-"),
	MAGIC("PostScript document", KIND_DOCUMENT, false, 0, "%!PS"),
	MAGIC("old office document", KIND_DOCUMENT, false, 0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
	MAGIC("WOFF2 font", KIND_DATA, true, 0, "wOF2"),
	MAGIC("WOFF font", KIND_DATA, true, 0, "wOFF"),
	MAGIC("age encrypted data", KIND_DATA, true, 0, "age-encryption.org"),
	MAGIC("LUKS encrypted volume", KIND_DATA, true, 0, "LUKS\xba\xbe"),
	MAGIC("Windows program", KIND_PROGRAM, false, 0, "MZ"),
};

static bool stands(const uint8_t *p, size_t n, unsigned at, unsigned len,
		   const char *bytes)
{
	return n >= at && n - at >= len && !memcmp(p + at, bytes, len);
}

static const struct magic *magic_find(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		const struct magic *m = &magics[i];

		if (stands(p, n, m->at, m->len, m->bytes) &&
		    stands(p, n, m->also_at, m->also_len, m->also))
			return m;
	}
	return NULL;
}

/* The length of the UTF-8 character at p, 0 = none; cut off at the end: n. */
static size_t utf8_length(const uint8_t *p, size_t n)
{
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 :
		     p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < len && i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return len < n ? len : n;
}

static bool control(uint8_t c)
{
	return c < 0x20 && !(c >= '\t' && c <= '\r') && c != 0x1b;
}

#define TEXT_LOOK ((size_t)64 << 10)

static bool is_text(const uint8_t *p, size_t n)
{
	size_t i = 0;

	n = n < TEXT_LOOK ? n : TEXT_LOOK;
	while (i < n) {
		size_t len = utf8_length(p + i, n - i);

		if (!len || control(p[i]))
			return false;
		i += len;
	}
	return n > 0;
}

static bool begins(const uint8_t *p, size_t n, const char *word)
{
	return n >= strlen(word) && !memcmp(p, word, strlen(word));
}

static size_t count_in_line(const uint8_t *p, size_t n, char c)
{
	size_t k = 0;

	for (size_t i = 0; i < n && p[i] != '\n'; i++)
		k += p[i] == (uint8_t)c;
	return k;
}

/* The first two lines have as many separators, and some. */
static bool is_table(const uint8_t *p, size_t n, char separator)
{
	const uint8_t *line = memchr(p, '\n', n);
	size_t k = count_in_line(p, n, separator);

	if (!line || !k)
		return false;
	line++;
	n -= (size_t)(line - p);
	return n && memchr(line, '\n', n) && count_in_line(line, n, separator) == k;
}

static const char *text_name(const uint8_t *p, size_t n)
{
	const uint8_t *line = memchr(p, '\n', n);

	if (begins(p, n, "<?xml"))
		return "XML text";
	if (begins(p, n, "<!DOCTYPE html") || begins(p, n, "<!doctype html") ||
	    begins(p, n, "<html"))
		return "HTML text";
	if (begins(p, n, "#!"))
		return "script";
	if (p[0] == '{' && line && line + 1 < p + n && line[-1] == '}' && line[1] == '{')
		return "JSON lines";
	if (p[0] == '{' || begins(p, n, "[{") || begins(p, n, "[["))
		return "JSON text";
	if (is_table(p, n, ','))
		return "CSV text";
	return is_table(p, n, '\t') ? "tab-separated text" : "text";
}

static ptrdiff_t memory_pull(struct source *s, const uint8_t **data)
{
	struct memory_source *m = (struct memory_source *)s;
	size_t n = m->n;

	*data = m->p;
	m->n = 0;
	return (ptrdiff_t)n;
}

void memory_source_set(struct memory_source *m, const uint8_t *p, size_t n)
{
	source_init(&m->src, memory_pull);
	m->p = p;
	m->n = n;
}

/* A record of .lzv has 512 KiB. */
#define HEAD_DECODED (PROBE_ROOM / 2)

static void *head_open(const struct filter *f, struct memory_source *m,
		       const uint8_t *p, size_t n)
{
	struct filter_params params;
	struct filter_error err;

	filter_params_init(&params);
	params.memory = (uint64_t)256 << 20;
	memory_source_set(m, p, n);
	/* cppcheck-suppress returnDanglingLifetime ; a state keeps neither */
	return f->unpack->open(&params, &m->src, &err);
}

static size_t head_by_stream(const struct filter *f, const uint8_t *p, size_t n,
			     uint8_t *out)
{
	struct memory_source m;
	struct filter_error err;
	ptrdiff_t got = 0;
	void *state = head_open(f, &m, p, n);

	if (state) {
		got = f->unpack->read(state, out, HEAD_DECODED, &err);
		f->unpack->close(state);
	}
	return got > 0 ? (size_t)got : 0;
}

/* The first block that holds something; 0 where it can't be had from n bytes. */
static size_t first_block(const struct unpack_ops *ops, void *state, void *worker,
			  const uint8_t *p, size_t n, uint8_t *out)
{
	struct filter_error err;
	size_t at = 0, want;

	while (at < n) {
		struct block b = { .dst = out, .dst_cap = HEAD_DECODED, .offset = at };
		ptrdiff_t got = ops->split(state, p + at, n - at, at, &want, &b, &err);

		if (got <= 0 || b.raw > HEAD_DECODED)
			return 0;
		if (b.src_len && ops->block(worker, &b, &err))
			return 0;
		if (b.dst_len || b.end)
			return b.dst_len;
		at += (size_t)got;
	}
	return 0;
}

static size_t head_by_blocks(const struct filter *f, const uint8_t *p, size_t n,
			     uint8_t *out)
{
	const struct unpack_ops *ops = f->unpack_blocks;
	struct filter_params params;
	struct filter_error err;
	void *state, *worker = NULL;
	size_t got = 0;

	filter_params_init(&params);
	if (!ops->suits(p, n, &params))
		return 0;
	state = ops->open(&params, &err);
	if (state)
		worker = ops->worker_open(&params, &err);
	if (worker) {
		got = first_block(ops, state, worker, p, n, out);
		ops->worker_close(worker);
	}
	if (state)
		ops->close(state);
	return got;
}

/* What the decoder gives of the head before it ends, fails or out is full. */
static size_t head_decode(const struct filter *f, const uint8_t *p, size_t n, uint8_t *out)
{
	if (f->missing)
		return 0;
	return f->unpack ? head_by_stream(f, p, n, out) :
	       f->unpack_blocks ? head_by_blocks(f, p, n, out) : 0;
}

/*
 * Random bytes often begin like a brotli block that is stored as it is, so
 * the head must also decode to an eighth more than it is, without an error.
 */
#define BROTLI_LOOK ((size_t)32 << 10)

static bool brotli_decodes(const struct filter *f, const uint8_t *p, size_t n,
			   uint8_t *room)
{
	struct memory_source m;
	struct filter_error err;
	ptrdiff_t got = 1;
	size_t sum = 0;
	void *state = head_open(f, &m, p, n);

	while (state && got > 0 && sum < n + n / 8) {
		got = f->unpack->read(state, room, HEAD_DECODED, &err);
		sum += got > 0 ? (size_t)got : 0;
	}
	if (state)
		f->unpack->close(state);
	return sum >= n + n / 8 && got >= 0;
}

static const struct filter *brotli_possible(const uint8_t *p, size_t n, uint8_t *room)
{
	const struct filter *f = filter_by_name("brotli");

	n = n < BROTLI_LOOK ? n : BROTLI_LOOK;
	if (n < 16 || !f || f->missing || !f->unpack || !brotli_decodes(f, p, n, room))
		return NULL;
	return f;
}

static void name_by_content(const uint8_t *p, size_t n, uint8_t *room,
			    struct probe_format *f)
{
	const struct magic *m = magic_find(p, n);
	const struct filter *brotli;

	if (m && m->len >= MAGIC_STRONG)
		*f = (struct probe_format){ m->name, m->kind, m->packed, true, NULL };
	else if (is_text(p, n))
		*f = (struct probe_format){ text_name(p, n), KIND_TEXT, false, true, NULL };
	else if (m)
		*f = (struct probe_format){ m->name, m->kind, m->packed, true, NULL };
	else if ((brotli = brotli_possible(p, n, room)))
		*f = (struct probe_format){ brotli->name, KIND_PACKED, true, false, brotli };
	else
		*f = (struct probe_format){ n ? "data" : "nothing", KIND_DATA, false,
					    true, NULL };
}

/* Behind the skippable frames that p begins with, as far as p reaches. */
static size_t skippables(const uint8_t *p, size_t n)
{
	size_t at = 0;

	while (at < n) {
		uint64_t len = frame_skippable(p + at, n - at);

		if (!len || len > n - at)
			break;
		at += (size_t)len;
	}
	return at;
}

unsigned probe_formats(const uint8_t *p, size_t n, uint8_t *room,
		       struct probe_format f[PROBE_LAYERS])
{
	unsigned layers = 0;

	for (;;) {
		size_t skip = skippables(p, n);
		const struct filter *codec = filter_detect(p + skip, n - skip);
		uint8_t *half = room + (layers % 2) * HEAD_DECODED;

		if (!codec) {
			name_by_content(p + skip, n - skip, half, &f[layers]);
			return layers + 1;
		}
		f[layers++] = (struct probe_format){ codec->name, KIND_PACKED, true,
						     true, codec };
		n = layers < PROBE_LAYERS ? head_decode(codec, p + skip, n - skip, half) : 0;
		p = half;
		if (!n)
			return layers;
	}
}
