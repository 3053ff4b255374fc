/* SPDX-License-Identifier: Apache-2.0 */
/* lzvolt_enc_path.c - from the last node to sequences and out, see lzvolt_enc_opt.c */
#include "lzvolt_enc_opt.h"

static void push(struct path *p, uint32_t len, uint32_t off)
{
	p->first--;
	*p->first = (struct enc_seq){ 0, len, off };
}

void path_find(struct opt *o, uint32_t id, struct path *p)
{
	size_t room = sizeof(o->seq) / sizeof(o->seq[0]);

	*p = (struct path){ .first = o->seq + room, .last = o->seq + room };
	if (o->node[id].lit)
		id = o->node[id].from;
	while (id >= NODES) {
		/* cppcheck-suppress arrayIndexOutOfBoundsCond ; id is a node made */
		const struct node *n = &o->node[id];
		uint32_t pos = id / NODES;

		if (n->gap == SWITCH) {
			p->switch_at = p->first;
			id = n->from;
			continue;
		}
		if (n->gap) {
			push(p, pos - n->from / NODES - n->len - n->gap, n->off);
			p->first->lit = n->gap;
		}
		push(p, n->len, n->off);
		id = n->from;
		p->first->lit = o->node[id].lit;
		if (o->node[id].lit)
			id = o->node[id].from;
	}
}

void path_write(struct enc_out *out, const struct path *p, bool final)
{
	const struct enc_seq *from = p->first;

	if (p->switch_at) {
		enc_write_as_is(out, from, p->switch_at - from);
		enc_switch(out);
		from = p->switch_at;
	}
	enc_write_as_is(out, from, p->last - from);
	if (final)
		enc_finish(out);
}
