/* SPDX-License-Identifier: Apache-2.0 */
/* lzvolt_enc_tree.c - see lzvolt_enc_tree.h */
#include "lzvolt_enc_tree.h"

#include "equal.h"

void tree_init(struct tree *t, const uint8_t *base, const uint8_t *end,
	       unsigned depth)
{
	t->base = base;
	t->end = end;
	t->depth = depth;
	memset(t->root, 0, sizeof(t->root));
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

/* One search: where the new node's two subtrees still have to be hung. */
struct walk {
	uint32_t *smaller, *larger;
	size_t smaller_len, larger_len;	/* common with the last node on that side */
};

/* Hangs node q, which has len bytes in common with p, on its side of p. */
static inline uint32_t step(struct tree *t, struct walk *w, const uint8_t *p,
			    uint32_t pos, size_t len)
{
	uint32_t *child = t->child[pos % TREE_WINDOW];

	if (t->base[pos + len] < p[len]) {
		*w->smaller = pos + 1;
		w->smaller = &child[1];
		w->smaller_len = len;
		return child[1];
	}
	*w->larger = pos + 1;
	w->larger = &child[0];
	w->larger_len = len;
	return child[0];
}

size_t tree_find(struct tree *t, const uint8_t *p,
		 struct tree_match m[TREE_MATCHES])
{
	uint32_t pos = p - t->base, next, depth = t->depth;
	uint32_t *root, *child = t->child[pos % TREE_WINDOW];
	size_t max = t->end - p, deep, best = ENC_MIN_MATCH - 1, n = 0;
	struct walk w = { &child[0], &child[1], 0, 0 };

	if (max < 2 * ENC_MIN_MATCH)
		return 0;
	deep = max < TREE_DEEP_LEN ? max : TREE_DEEP_LEN;
	root = &t->root[enc_load32(p) * 2654435761u >> (32 - TREE_HASH_BITS)];
	next = *root;
	*root = pos + 1;
	while (next && pos - (next - 1) < TREE_WINDOW && depth--) {
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
			*w.smaller = t->child[at % TREE_WINDOW][0];
			*w.larger = t->child[at % TREE_WINDOW][1];
			m[n - 1].len = common(p, t->base + at, len, max);
			return n;
		}
		next = step(t, &w, p, at, len);
	}
	*w.smaller = 0;
	*w.larger = 0;
	return n;
}
