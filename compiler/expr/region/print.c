/* expr/region/print.c - prints regions as text: one line per node; the blocks of repeats are indented. */
#include "text.h"

uint32_t region_ids(const RegionFace *f, Exprs *p, const void *region) {
  uint32_t end = 0, n = f->region(p, region).n_node;
  for (uint32_t i = 0; i < n; i++) {
    NodeView x = f->nth(region, i);
    if (x.id >= end) end = x.id + 1;
    uint32_t in = x.role == NODE_REPEAT ? region_ids(f, p, x.body) : 0; /* REGION_DEPTH deep at most */
    if (in > end) end = in;
  }
  return end;
}

void print_ref(Buf *out, const char *before, NodeView n) {
  buf_str(out, before);
  if (n.at)
    buf_printf(out, "%%%u", n.id);
  else
    buf_str(out, "%?");
}

static void print_state(const RegionPrinter *p, StateView s) {
  print_indent(p->p, p->p->turn.len);
  print_ref(p->p->out, "next ", s.node);
  print_ref(p->p->out, " = ", s.next);
  buf_char(p->p->out, '\n');
}

static void print_stack(const RegionPrinter *p, StackView s) {
  print_indent(p->p, p->p->turn.len);
  buf_str(p->p->out, "stack ");
  word_print(p->p->out, s.name);
  print_ref(p->p->out, " = ", s.node);
  buf_printf(p->p->out, " axis %u\n", s.axis);
}

static void print_block(const RegionPrinter *p, const RegionView *r) {
  print_nodes(p, r->at);
  for (uint32_t i = 0; i < r->n_state; i++) print_state(p, p->face->state(r->at, i));
  for (uint32_t i = 0; i < r->n_stack; i++) print_stack(p, p->face->stack(r->at, i));
  if (!r->stop.at) return;
  print_indent(p->p, p->p->turn.len);
  print_ref(p->p->out, "until ", r->stop);
  buf_char(p->p->out, '\n');
}

/* `t < %8 turns $T named L @place {`, the block, and `}`. */
static void print_repeat(const RegionPrinter *p, NodeView n) {
  RegionView r = p->face->region(p->exprs, n.body);
  Buf *out = p->p->out;
  Str turn = turn_text(p->p, r.turn);
  print_alias(p->p, turn, r.turn);
  print_ref(out, " < ", r.bound);
  if (r.turns) {
    buf_str(out, " turns ");
    print_expr(p->p, r.turns);
  }
  if (n.name) {
    buf_str(out, " named ");
    word_print(out, n.name);
  }
  place_print(out, n.place);
  buf_str(out, " {\n");
  vec_push(out->arena, p->p->turn, turn);
  print_block(p, &r);
  p->p->turn.len--;
  print_indent(p->p, p->p->turn.len);
  buf_str(out, "}\n");
}

void print_nodes(const RegionPrinter *p, const void *region) {
  uint32_t n = p->face->region(p->exprs, region).n_node;
  for (uint32_t i = 0; i < n; i++) {
    NodeView x = p->face->nth(region, i);
    print_indent(p->p, p->p->turn.len);
    buf_printf(p->p->out, "%s %%%u ", p->word(p->ctx, x.at), x.id);
    if (x.role == NODE_REPEAT)
      print_repeat(p, x);
    else
      p->line(p->ctx, x.at);
  }
}
