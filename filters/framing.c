// SPDX-License-Identifier: Apache-2.0
/*
 * framing.c - a framing in words
 *
 * A framing is a comma list: one word that delimits records, then what stands
 * in front of a payload, in that order, and, where no byte says how a record
 * is encoded, the caller's word.  Names of software are presets: rows that stand
 * for such a list.  All words are rows of one table.
 */
#include "framing.h"

#include <stdlib.h>
#include <string.h>

const struct framing_preset framing_presets[] = {
	{ "lz4_flex", "whole,size:u32le,lz4",
	  "lz4_flex compress_prepend_size: size, then one LZ4 block" },
	{ "python-lz4", "whole,size:u32le,lz4",
	  "python-lz4 lz4.block with store_size: the same layout" },
	{ "mozlz4", "magic:6d6f7a4c7a343000,whole,size:u32le,lz4",
	  "Firefox .jsonlz4, .mozlz4: magic, size, one LZ4 block" },
	{ "rocksdb", "whole,size:varint,lz4",
	  "a RocksDB block's contents (format_version 2 on): varint size, LZ4 block" },
	{ "zfs", "len:u32be,size:max=16M,lz4",
	  "ZFS lz4 blocks one after another: big-endian packed size, LZ4 block" },
	{ "linux", "lz4-legacy", "a kernel or initramfs made by lz4 -l" },
	{ NULL, NULL, NULL },
};

/* One word of a list; arg: what may follow the colon. */
struct word {
	const char *text;
	void (*apply)(struct framing *f, int value);
	int value;
};

bool framing_is_foreign(const struct framing *f)
{
	return f->kind == FRAMING_CPIO || f->kind == FRAMING_ZIP;
}

static void set_kind(struct framing *f, int value)
{
	f->kind = value;
}

static void add_field(struct framing *f, enum framing_field field)
{
	f->field[f->fields++] = field;
}

static void set_length(struct framing *f, int value)
{
	f->kind = FRAMING_LENGTH;
	f->length = value;
	add_field(f, FIELD_LENGTH);
}

static void set_size(struct framing *f, int value)
{
	f->size = value;
	add_field(f, FIELD_SIZE);
}

static void set_flag(struct framing *f, int value)
{
	(void)value;
	f->flag = true;
	add_field(f, FIELD_FLAG);
}

static void set_encoding(struct framing *f, int value)
{
	f->encoding = value;
}

static const struct word words[] = {
	{ "len:u32le", set_length, NUMBER_U32LE },
	{ "len:u32be", set_length, NUMBER_U32BE },
	{ "len:varint", set_length, NUMBER_VARINT },
	{ "lines", set_kind, FRAMING_LINES },
	{ "nul", set_kind, FRAMING_NUL },
	{ "whole", set_kind, FRAMING_WHOLE },
	{ "lzv", set_kind, FRAMING_LZV },
	{ "lz4-frame", set_kind, FRAMING_LZ4_FRAME },
	{ "lz4-legacy", set_kind, FRAMING_LZ4_LEGACY },
	{ "hadoop", set_kind, FRAMING_HADOOP },
	{ "lz4-java", set_kind, FRAMING_LZ4_JAVA },
	{ "tar", set_kind, FRAMING_TAR },
	{ "cpio", set_kind, FRAMING_CPIO },
	{ "zip", set_kind, FRAMING_ZIP },
	{ "flag:u8", set_flag, 0 },
	{ "size:u32le", set_size, NUMBER_U32LE },
	{ "size:u32be", set_size, NUMBER_U32BE },
	{ "size:varint", set_size, NUMBER_VARINT },
	{ "raw", set_encoding, LZV_RAW },
	{ "lz4", set_encoding, LZV_LZ4 },
	{ "lzvolt", set_encoding, LZV_LZVOLT },
};

/* "500", "64K", "16M"; false: not a number, zero, or too large. */
static bool number_parse(const char *text, uint64_t max, uint64_t *v)
{
	static const char units[] = "KMG";
	const char *unit;
	char *end;

	*v = strtoull(text, &end, 10);
	if (end == text || *text == '-' || *text == '+' || *v > max)
		return false;
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		*v <<= 10 * (unit - units + 1);
		end++;
	}
	return !*end && *v && *v <= max;
}

static bool magic_parse(struct framing *f, const char *text)
{
	size_t n = strlen(text) / 2, i;

	if (!n || strlen(text) % 2 || n > sizeof(f->magic))
		return false;
	for (i = 0; i < n; i++) {
		int high = framing_hex_digit(text[2 * i]), low = framing_hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		f->magic[i] = (uint8_t)(high << 4 | low);
	}
	f->magic_len = n;
	return true;
}

/* Words with a number or bytes behind them: 1 taken, 0 not such a word, -1. */
static int word_with_argument(struct framing *f, const char *w)
{
	if (!strncmp(w, "fixed:", 6)) {
		f->kind = FRAMING_FIXED;
		return number_parse(w + 6, LZV_RAW_MAX, &f->fixed) ? 1 : -1;
	}
	if (!strncmp(w, "size:max=", 9)) {
		f->size = NUMBER_MAX;
		return number_parse(w + 9, LZV_LZ4_MAX, &f->size_max) ? 1 : -1;
	}
	if (!strncmp(w, "magic:", 6))
		return magic_parse(f, w + 6) ? 1 : -1;
	return 0;
}

static const char *word_apply(struct framing *f, const char *w)
{
	int took = word_with_argument(f, w);
	size_t i;

	if (took)
		return took > 0 ? NULL : "a number or hexadecimal bytes are wrong";
	if (f->fields == 3)
		return "too many fields";
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i].text, w)) {
			words[i].apply(f, words[i].value);
			return NULL;
		}
	return "an unknown word";
}

/* A list must make sense as a whole. */
static const char *framing_settle(const struct framing *f, int delimiters)
{
	bool container = f->kind >= FRAMING_LZV;
	int i, flag_at = -1, size_at = -1;

	if (delimiters != 1)
		return "one word has to say how records are delimited";
	if (container && (f->fields || f->flag || f->magic_len ||
			  (!framing_is_foreign(f) &&
			   (f->size || f->encoding != FRAMING_NO_ENCODING))))
		return "a container says all of that itself";
	for (i = 0; i < f->fields; i++) {
		if (f->field[i] == FIELD_FLAG)
			flag_at = i;
		if (f->field[i] == FIELD_SIZE)
			size_at = i;
	}
	if (f->flag && f->encoding != FRAMING_NO_ENCODING)
		return "a flag and one encoding for all exclude each other";
	if (size_at >= 0 && size_at < flag_at)
		return "the flag comes before the size, which only LZ4 blocks have";
	return NULL;
}

static bool is_delimiter(const char *w)
{
	size_t i;

	if (!strncmp(w, "fixed:", 6))
		return true;
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i].text, w))
			return words[i].apply == set_kind ||
			       words[i].apply == set_length;
	return false;
}

static const char *preset_text(const char *text)
{
	const struct framing_preset *p;

	for (p = framing_presets; p->name; p++)
		if (!strcmp(p->name, text))
			return p->text;
	return text;
}

const char *framing_parse(struct framing *f, const char *text)
{
	char word[64];
	int delimiters = 0;
	size_t n;

	memset(f, 0, sizeof(*f));
	memset(f->encoding_of, -1, sizeof(f->encoding_of));
	memset(f->flag_of, -1, sizeof(f->flag_of));
	f->encoding = FRAMING_NO_ENCODING;
	f->limit = LZV_LZ4_MAX;
	for (text = preset_text(text); ; text += n + 1) {
		const char *wrong;

		n = strcspn(text, ",");
		if (!n || n >= sizeof(word))
			return "an unknown word";
		memcpy(word, text, n);
		word[n] = '\0';
		delimiters += is_delimiter(word);
		wrong = word_apply(f, word);
		if (wrong)
			return wrong;
		if (!text[n])
			return framing_settle(f, delimiters);
	}
}

static int encoding_by_name(const char *name, size_t n)
{
	static const char *const names[] = { "raw", "lz4", "lzvolt" };
	int i;

	for (i = 0; i < 3; i++)
		if (strlen(names[i]) == n && !strncmp(names[i], name, n))
			return i;
	return -1;
}

const char *framing_parse_flags(struct framing *f, const char *text)
{
	for (;;) {
		size_t n = strcspn(text, "=");
		int encoding = encoding_by_name(text, n);
		unsigned long value;
		char *end;

		if (!text[n] || encoding < 0)
			return "it is raw=N,lz4=N,lzvolt=N";
		value = strtoul(text + n + 1, &end, 0);
		if (end == text + n + 1 || (*end && *end != ',') || value > 255)
			return "a flag is a number from 0 to 255";
		if (f->encoding_of[value] >= 0 || f->flag_of[encoding] >= 0)
			return "a flag or an encoding is named twice";
		f->encoding_of[value] = (int16_t)encoding;
		f->flag_of[encoding] = (int16_t)value;
		f->flags_known = true;
		if (!*end)
			return NULL;
		text = end + 1;
	}
}

bool framing_detect(struct framing *f, const uint8_t *p, size_t n)
{
	static const struct {
		uint8_t magic[4];
		const char *text;
	} known[] = {
		{ { 0xf5, 'L', 'Z', 'V' }, "lzv" },
		{ { 0x04, 0x22, 0x4d, 0x18 }, "lz4-frame" },
		{ { 0x02, 0x21, 0x4c, 0x18 }, "lz4-legacy" },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (n >= 4 && !memcmp(p, known[i].magic, 4))
			return !framing_parse(f, known[i].text);
	/* a skippable frame, which may stand in front of LZ4's */
	if (n >= 4 && (p[0] & 0xf0) == 0x50 && !memcmp(p + 1, "\x2a\x4d\x18", 3))
		return !framing_parse(f, "lz4-frame");
	return false;
}

static const struct framing_ops *ops_of(const struct framing *f)
{
	switch (f->kind) {
	case FRAMING_LZV:
		return &framing_lzv;
	case FRAMING_LZ4_FRAME:
		return &framing_lz4_frame;
	case FRAMING_LZ4_LEGACY:
		return &framing_lz4_legacy;
	case FRAMING_HADOOP:
		return &framing_hadoop;
	case FRAMING_LZ4_JAVA:
		return &framing_lz4_java;
	case FRAMING_TAR:
		return &framing_tar;
	case FRAMING_CPIO:
	case FRAMING_ZIP:
		return &framing_foreign;
	default:
		return &framing_plain;
	}
}

bool framing_takes(const struct framing *f, unsigned encoding)
{
	unsigned takes = ops_of(f)->takes;

	if (takes && f->encoding == FRAMING_NO_ENCODING)
		return takes >> encoding & 1;
	if (f->flag)
		return encoding < 3 && f->flag_of[encoding] >= 0;
	return f->encoding == (int)encoding;
}

bool framing_has_flag(const struct framing *f)
{
	return f->flag || f->kind == FRAMING_LZV || f->kind == FRAMING_TAR;
}

struct framing_reader *framing_reader_open(const struct framing *f)
{
	struct framing_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->f = *f;
	if (f->kind != FRAMING_LZV)
		return r;
	r->lzv = lzv_reader_open(f->limit);
	if (r->lzv)
		return r;
	free(r);
	return NULL;
}

void framing_reader_close(struct framing_reader *r)
{
	if (!r)
		return;
	lzv_reader_close(r->lzv);
	free(r);
}

ptrdiff_t framing_next(struct framing_reader *r, struct framing_in *in,
		       struct frecord *rec)
{
	memset(rec, 0, sizeof(*rec));
	rec->offset = in->offset;
	return ops_of(&r->f)->next(r, in, rec);
}

struct framing_writer *framing_writer_open(const struct framing *f, bool checked)
{
	struct framing_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->f = *f;
	w->checked = checked;
	if (f->kind != FRAMING_LZV)
		return w;
	w->lzv = lzv_writer_open(LZV_INDEXED | (checked ? LZV_CHECKED : 0));
	if (w->lzv)
		return w;
	free(w);
	return NULL;
}

void framing_writer_close(struct framing_writer *w)
{
	if (!w)
		return;
	lzv_writer_close(w->lzv);
	free(w->held);
	free(w);
}

size_t framing_room(const struct framing_writer *w, const struct frecord *rec)
{
	if (w->f.kind == FRAMING_TAR)
		return framing_tar_room(w, rec);
	if (!rec)
		return FRAMING_ROOM;
	if (rec->what == FRECORD_NOTE)
		return FRAMING_NOTE_ROOM(rec->text_size + rec->name_size);
	return FRAMING_ROOM + rec->it.key_size + rec->dir_size;
}

int framing_begin(struct framing_writer *w, struct framing_out *out)
{
	const struct framing_ops *ops = ops_of(&w->f);

	out->n = 0;
	return ops->begin ? ops->begin(w, out) : 0;
}

bool framing_can_resume(const struct framing *f)
{
	return f->kind == FRAMING_LZV || f->kind <= FRAMING_FIXED;
}

int framing_resume(struct framing_writer *w, const uint8_t *p, size_t n,
		   uint64_t records, struct filter_error *err)
{
	w->records = records;
	return w->lzv ? framing_lzv_resume(w, p, n, err) : 0;
}

int framing_before(struct framing_writer *w, struct frecord *rec,
		   struct framing_out *out)
{
	out->n = 0;
	if (!framing_takes(&w->f, rec->it.encoding))
		return filter_fail(out->err, FILTER_E_UNSUPPORTED, rec->offset,
				   "the target has no place for a record of this encoding");
	return ops_of(&w->f)->before(w, rec, out);
}

int framing_after(struct framing_writer *w, const struct frecord *rec,
		  struct framing_out *out)
{
	const struct framing_ops *ops = ops_of(&w->f);

	out->n = 0;
	w->records++;
	return ops->after ? ops->after(w, rec, out) : 0;
}

int framing_note(struct framing_writer *w, const struct frecord *rec, struct framing_out *out)
{
	const struct framing_ops *ops = ops_of(&w->f);

	out->n = 0;
	out->held = false;
	return ops->note ? ops->note(w, rec, out) : 0;
}

size_t framing_end_room(const struct framing_writer *w)
{
	return w->lzv ? lzv_writer_end_room(w->lzv) : framing_room(w, NULL);
}

int framing_end(struct framing_writer *w, struct framing_out *out)
{
	const struct framing_ops *ops = ops_of(&w->f);

	out->n = 0;
	return ops->end ? ops->end(w, out) : 0;
}
