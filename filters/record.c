// SPDX-License-Identifier: Apache-2.0
/*
 * record.c - one item of an .lzv stream: sizes first, then bytes
 *
 * An item is parsed in two steps, so that a reader that can seek may hop from
 * item to item by their heads.  Every size is checked against a bound before
 * anything is added to a pointer; a declared size that no payload of that
 * length can decode to is refused here, before a buffer is made for it.
 */
#include "record.h"

#include <string.h>
#include <xxhash.h>

#include "digest.h"
#include "mem.h"

static const uint8_t magic[5] = { 0xf5, 'L', 'Z', 'V', 1 };

size_t varint_put(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	while (v > 127) {
		p[n++] = (uint8_t)(v | 128);
		v >>= 7;
	}
	p[n++] = (uint8_t)v;
	return n;
}

int varint_get(const uint8_t *p, size_t n, uint64_t *v)
{
	size_t i;

	*v = 0;
	for (i = 0; i < n && i < 10; i++) {
		*v |= (uint64_t)(p[i] & 127) << 7 * i;
		if (p[i] & 128)
			continue;
		if ((i && !p[i]) || (i == 9 && p[i] > 1))
			return -1;
		return (int)i + 1;
	}
	return i == 10 ? -1 : 0;
}

void lzv_header_put(uint8_t *p, unsigned flags)
{
	memcpy(p, magic, sizeof(magic));
	p[5] = (uint8_t)flags;
	store_le16(p + 6, XXH3_64bits(p, 6) & 0xffff);
}

int lzv_header_get(const uint8_t *p, uint64_t offset, struct filter_error *err)
{
	if (memcmp(p, magic, 4))
		return filter_fail(err, FILTER_E_CORRUPT, offset, "not an lzv stream");
	if (p[4] != magic[4])
		return filter_fail(err, FILTER_E_UNSUPPORTED, offset + 4,
				   "lzv version %u", p[4]);
	if (load_le16(p + 6) != (XXH3_64bits(p, 6) & 0xffff))
		return filter_fail(err, FILTER_E_CHECK, offset,
				   "lzv header doesn't match its check");
	if (p[5] & ~(LZV_CHECKED | LZV_INDEXED))
		return filter_fail(err, FILTER_E_UNSUPPORTED, offset + 5,
				   "lzv flags 0x%02x", p[5]);
	return p[5];
}

uint32_t lzv_check(const uint8_t *p, size_t n)
{
	return (uint32_t)digest64(p, n);
}

/* A head that is being read; at: bytes used of n. */
struct head {
	const uint8_t *p;
	size_t n, at;
	uint64_t offset;
	struct filter_error *err;
};

/* Reads one size, at most `max`: 1, 0 = needs more, or an error. */
static int head_size(struct head *h, uint64_t *v, uint64_t max, const char *what)
{
	int n = varint_get(h->p + h->at, h->n - h->at, v);

	if (n < 0)
		return filter_fail(h->err, FILTER_E_CORRUPT, h->offset + h->at,
				   "malformed %s", what);
	if (n && *v > max)
		return filter_fail(h->err, FILTER_E_CORRUPT, h->offset + h->at,
				   "%s %llu, at most %llu is possible", what,
				   (unsigned long long)*v, (unsigned long long)max);
	h->at += n;
	return n > 0;
}

/* The most that n payload bytes of an encoding can decode to. */
static uint64_t decoded_max(unsigned encoding, uint64_t n)
{
	if (!n)
		return 0;
	if (encoding == LZV_LZ4 || encoding == LZV_LZVOLT)
		return n * 255 + 64;
	return LZV_RAW_MAX;
}

static int record_head(struct head *h, struct lzv_item *it)
{
	uint64_t most;
	int got;

	got = head_size(h, &it->raw_size,
			it->encoding == LZV_LZ4 ? LZV_LZ4_MAX : LZV_RAW_MAX, "record size");
	if (got <= 0)
		return got;
	it->body_size = it->raw_size;
	if (it->encoding != LZV_RAW) {
		most = it->raw_size + it->raw_size / 16 + 1024;
		got = head_size(h, &it->body_size, most, "stored size");
		if (got <= 0)
			return got;
	}
	if (it->raw_size > decoded_max(it->encoding, it->body_size))
		return filter_fail(h->err, FILTER_E_CORRUPT, h->offset,
				   "%llu stored bytes can't be a record of %llu",
				   (unsigned long long)it->body_size,
				   (unsigned long long)it->raw_size);
	return it->has_key ? head_size(h, &it->key_size, LZV_KEY_MAX, "key size") : 1;
}

static int control_head(struct head *h, struct lzv_item *it)
{
	uint64_t most = LZV_NOTE_MAX;

	if (h->at == h->n)
		return 0;
	it->kind = h->p[h->at++];
	if (it->kind == 0 || (it->kind > LZV_TRANSPOSE && it->kind < LZV_OPTIONAL))
		return filter_fail(h->err, FILTER_E_UNSUPPORTED, h->offset + 1,
				   "unknown control item %u", it->kind);
	if (it->kind == LZV_INDEX)
		most = LZV_INDEX_MAX;
	else if (it->kind < LZV_OPTIONAL && it->kind != LZV_NOTE)
		most = 64;
	return head_size(h, &it->body_size, most, "control size");
}

static bool tag_is_known(unsigned tag)
{
	if (tag == LZV_CONTROL)
		return true;
	return !(tag & 0xc0) && (tag & 15) <= LZV_DEFLATE;
}

int lzv_item_head(const uint8_t *p, size_t n, bool checked, struct lzv_item *it,
		  uint64_t offset, struct filter_error *err)
{
	struct head h = { .p = p, .n = n, .at = 1, .offset = offset, .err = err };
	int got;

	memset(it, 0, sizeof(*it));
	if (!n)
		return 0;
	if (!tag_is_known(p[0]))
		return filter_fail(err, FILTER_E_CORRUPT, offset,
				   "unknown item tag 0x%02x", p[0]);
	it->encoding = p[0] & 15;
	it->has_key = p[0] & LZV_KEY;
	it->more = p[0] & LZV_MORE;
	got = it->encoding == LZV_CONTROL ? control_head(&h, it) : record_head(&h, it);
	if (got <= 0)
		return got;
	it->head_size = h.at;
	it->size = h.at + it->key_size + it->body_size;
	if (checked && it->encoding != LZV_CONTROL)
		it->size += 4;
	return 1;
}

ptrdiff_t lzv_item_get(const uint8_t *p, size_t n, bool checked,
		       struct lzv_item *it, size_t *want, uint64_t offset,
		       struct filter_error *err)
{
	int got = lzv_item_head(p, n, checked, it, offset, err);

	if (got < 0)
		return got;
	if (!got) {
		*want = n + 1;
		return 0;
	}
	if (it->size > n) {
		*want = it->size;
		return 0;
	}
	it->key = p + it->head_size;
	it->body = it->key + it->key_size;
	if (checked && it->encoding != LZV_CONTROL)
		it->check = load_le32(it->body + it->body_size);
	return (ptrdiff_t)it->size;
}

static size_t head_put(uint8_t *p, const struct lzv_item *it)
{
	size_t n = 1;

	p[0] = (uint8_t)(it->encoding | (it->has_key ? LZV_KEY : 0) |
			 (it->more ? LZV_MORE : 0));
	n += varint_put(p + n, it->raw_size);
	if (it->encoding != LZV_RAW)
		n += varint_put(p + n, it->body_size);
	if (it->has_key)
		n += varint_put(p + n, it->key_size);
	return n;
}

size_t lzv_item_body(const struct lzv_item *it)
{
	uint8_t head[LZV_ITEM_HEAD + 10];

	return head_put(head, it) + it->key_size;
}

size_t lzv_item_put_head(uint8_t *p, struct lzv_item *it)
{
	it->head_size = head_put(p, it);
	if (it->key_size)
		memcpy(p + it->head_size, it->key, it->key_size);
	return it->head_size + it->key_size;
}

size_t lzv_item_put(uint8_t *p, struct lzv_item *it, bool checked)
{
	size_t n = lzv_item_put_head(p, it);

	if (it->body_size && it->body != p + n)
		memmove(p + n, it->body, it->body_size);
	it->body = p + n;
	n += it->body_size;
	if (checked) {
		store_le32(p + n, it->check);
		n += 4;
	}
	it->size = n;
	return n;
}

size_t lzv_control_put(uint8_t *p, unsigned kind, const uint8_t *body, size_t n)
{
	size_t at = 2;

	p[0] = LZV_CONTROL;
	p[1] = (uint8_t)kind;
	at += varint_put(p + at, n);
	if (n && body != p + at)
		memmove(p + at, body, n);
	return at + n;
}

bool lzv_note_get(const struct lzv_item *it, const uint8_t **name,
		  size_t *name_size, const uint8_t **text, size_t *text_size)
{
	uint64_t n;
	int got = varint_get(it->body, it->body_size, &n);

	if (got <= 0 || n > it->body_size - got)
		return false;
	*name = it->body + got;
	*name_size = n;
	*text = *name + n;
	*text_size = it->body_size - got - n;
	return true;
}
