/* SPDX-License-Identifier: Apache-2.0 */
/* lzvolt_enc_tree.c - see lzvolt_enc_tree.h */
#include "lzvolt_enc_tree.h"

#include "equal.h"

static bool is_near(const struct tree *t)
{
	return t->end - t->base <= TREE_NEAR_MAX;
}

void tree_init(struct tree *t, const uint8_t *base, const uint8_t *end,
	       unsigned depth)
{
	unsigned bits = 9;

	t->base = base;
	t->end = end;
	t->depth = depth;
	while (bits < TREE_HASH_BITS && (size_t)1 << bits < (size_t)(end - base))
		bits++;
	t->shift = 32 - bits;
	if (is_near(t))
		memset(t->root.near, 0, sizeof(t->root.near[0]) << bits);
	else
		memset(t->root.far, 0, sizeof(t->root.far[0]) << bits);
}

static inline size_t common(const uint8_t *p, const uint8_t *q, size_t len,
			    size_t max)
{
	while (len + 32 <= max) {
		size_t n = equal32(p + len, q + len);

		len += n;
		if (n < 32)
			return len;
	}
	return len + enc_count(p + len, q + len, p + max);
}

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t child_get(const struct tree *t, uint32_t i, bool near)
{
	return near ? t->child.near[i] : t->child.far[i];
}

INLINE void child_set(struct tree *t, uint32_t i, uint32_t link, bool near)
{
	if (near)
		t->child.near[i] = (uint16_t)link;
	else
		t->child.far[i] = link;
}

INLINE uint32_t root_swap(struct tree *t, uint32_t i, uint32_t link, bool near)
{
	uint32_t old = near ? t->root.near[i] : t->root.far[i];

	if (near)
		t->root.near[i] = (uint16_t)link;
	else
		t->root.far[i] = link;
	return old;
}

/* One search: where the new node's two subtrees still have to be hung. */
struct walk {
	uint32_t smaller, larger;	/* index of a child */
	size_t smaller_len, larger_len;	/* common with the last node on that side */
};

/* Hangs node pos, which has len bytes in common with p, on its side of p. */
INLINE uint32_t step(struct tree *t, struct walk *w, const uint8_t *p,
		     uint32_t pos, size_t len, bool near)
{
	uint32_t child = pos % TREE_WINDOW * 2;

	if (t->base[pos + len] < p[len]) {
		child_set(t, w->smaller, pos + 1, near);
		w->smaller = child + 1;
		w->smaller_len = len;
		return child_get(t, child + 1, near);
	}
	child_set(t, w->larger, pos + 1, near);
	w->larger = child;
	w->larger_len = len;
	return child_get(t, child, near);
}

INLINE size_t find(struct tree *t, const uint8_t *p,
		   struct tree_match m[TREE_MATCHES], bool near)
{
	uint32_t pos = p - t->base, depth = t->depth;
	uint32_t child = pos % TREE_WINDOW * 2;
	uint32_t hash = enc_load32(p) * 2654435761u >> t->shift;
	uint32_t next = root_swap(t, hash, pos + 1, near);
	size_t max = t->end - p, best = ENC_MIN_MATCH - 1, n = 0;
	size_t deep = max < TREE_DEEP_LEN ? max : TREE_DEEP_LEN;
	struct walk w = { child, child + 1, 0, 0 };

	while (next && (near || pos - (next - 1) < TREE_WINDOW) && depth--) {
		uint32_t at = next - 1;
		size_t len = w.smaller_len < w.larger_len ? w.smaller_len : w.larger_len;

		len = common(p, t->base + at, len, deep);
		if (len > best) {
			best = len;
			n += n < TREE_MATCHES;
			m[n - 1] = (struct tree_match){ len, pos - at };
		}
		if (len == deep) {
			/* As good as equal: the new node takes its place. */
			child = at % TREE_WINDOW * 2;
			child_set(t, w.smaller, child_get(t, child, near), near);
			child_set(t, w.larger, child_get(t, child + 1, near), near);
			m[n - 1].len = common(p, t->base + at, len, max);
			return n;
		}
		next = step(t, &w, p, at, len, near);
	}
	child_set(t, w.smaller, 0, near);
	child_set(t, w.larger, 0, near);
	return n;
}

size_t tree_find(struct tree *t, const uint8_t *p,
		 struct tree_match m[TREE_MATCHES])
{
	if (t->end - p < 2 * ENC_MIN_MATCH)
		return 0;
	return is_near(t) ? find(t, p, m, true) : find(t, p, m, false);
}
