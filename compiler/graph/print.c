/* graph/print.c - an EinGraph as text, a line a node, in the order in which it is computed; regions
 * are indented blocks. What graph.c derives (shapes of vertices and of a repeat's results) is not
 * said again. The grammar is in docs/languages-inside.md. */
#include <string.h>

#include "inside.h"

typedef struct Printer {
  Buf *out;
  const EinGraph *g;
  Map plain;        /* Str to itself if it can name a label, else to the printer */
  VEC(Str) turn;    /* what the loop variables of the open regions are called */
  const EinNode *n; /* the vertex at hand */
  VEC(Str) label;   /* what its labels are called */
} Printer;

/* ---- names in expressions: the user's, or a stand-in where that would not read back -----------
 */

static bool plain(Printer *p, Str s) {
  if (!s) return false;
  const void *known = map_find(&p->plain, s);
  if (!known) {
    known = word_label(s) ? (const void *)s : p;
    map_put(&p->plain, s, (void *)(uintptr_t)known);
  }
  return known == s;
}

static bool among(Str s, const Str *at, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (at[i] && at[i]->len == s->len && memcmp(at[i]->s, s->s, s->len) == 0) return true;
  return false;
}

/* `_3`, with further `_` until it is none of the names. */
static Str stand_in(Printer *p, uint32_t k, const Str *a, uint32_t n) {
  Buf b = buf_new(p->out->arena);
  buf_printf(&b, "_%u", k);
  for (;;) {
    StrData *s = arena_alloc(b.arena, sizeof *s + b.len + 1);
    memcpy(s->s, b.s, b.len);
    s->len = (uint32_t)b.len;
    if (!among(s, a, n)) return s;
    buf_char(&b, '_');
  }
}

static void name_labels(Printer *p, const EinNode *n) {
  uint32_t labels = n->sum->n_out + n->sum->n_red;
  p->n = n;
  p->label.len = 0;
  for (uint32_t k = 0; k < labels; k++)
    vec_push(p->out->arena, p->label, plain(p, n->label[k]) ? n->label[k] : NULL);
  for (uint32_t k = 0; k < labels; k++)
    if (!p->label.at[k]) p->label.at[k] = stand_in(p, k, p->label.at, labels);
}

static Str label_text(void *ctx, int64_t k) {
  const Printer *p = ctx;
  return p->n && k < (int64_t)p->label.len ? p->label.at[k] : NULL;
}

static Str turn_text(void *ctx, int64_t depth) {
  const Printer *p = ctx;
  return depth < (int64_t)p->turn.len ? p->turn.at[depth] : NULL;
}

static int64_t read_number(void *ctx, int64_t slot) {
  const Printer *p = ctx;
  return p->n && slot < p->n->sum->n_slot && p->n->input[slot] ? (int64_t)p->n->input[slot]->id
                                                               : -1;
}

static void print_expr(Printer *p, const Expr *e) {
  ExprNames names = {.ctx = p, .label = label_text, .turn = turn_text, .node = read_number};
  if (e)
    expr_print(p->out, e, &names);
  else
    buf_char(p->out, '?');
}

/* ---- pieces of lines ------------------------------------------------------------------------- */

static void print_ref(Printer *p, const char *before, const EinNode *n) {
  buf_str(p->out, before);
  if (n)
    buf_printf(p->out, "%%%u", n->id);
  else
    buf_str(p->out, "%?");
}

static void print_shape(Printer *p, const EinNode *n) {
  buf_char(p->out, '[');
  for (uint32_t k = 0; k < n->rank; k++) {
    if (k) buf_str(p->out, ", ");
    print_expr(p, n->dim[k]);
  }
  buf_printf(p->out, "] : %s", dtype_name(n->dtype));
}

/* `s:128`, or `_0="an odd name":128`. */
static void print_label(Printer *p, uint32_t k) {
  Str text = p->label.at[k], name = p->n->label[k];
  buf_add(p->out, text->s, text->len);
  if (text != name) {
    buf_char(p->out, '=');
    string_print(p->out, name ? name->s : "", name ? name->len : 0);
  }
  buf_char(p->out, ':');
  print_expr(p, p->n->bound[k]);
}

static void print_out_labels(Printer *p) {
  uint32_t l = 0;
  buf_char(p->out, '[');
  for (uint32_t k = 0; k < p->n->rank; k++) {
    uint32_t m = p->n->merge[k];
    if (k) buf_str(p->out, ", ");
    if (m != 1) buf_char(p->out, '(');
    for (uint32_t j = 0; j < m && l < p->n->sum->n_out; j++, l++) {
      if (j) buf_char(p->out, ' ');
      print_label(p, l);
    }
    if (m != 1) buf_char(p->out, ')');
  }
  buf_char(p->out, ']');
}

/* Quoted where it could be taken for a reducer of the language. */
static void print_monoid_name(Printer *p, Str s) {
  Reducer r;
  if (!s || !word_label(s) || reducer_find(s->s, s->len, &r))
    string_print(p->out, s ? s->s : "", s ? s->len : 0);
  else
    buf_add(p->out, s->s, s->len);
}

static void print_reducer_name(Printer *p, const EinSum *s) {
  if (s->reducer == RED_MONOID)
    print_monoid_name(p, s->monoid ? s->monoid->name : NULL);
  else
    buf_str(p->out, reducer_info[s->reducer].name);
  buf_printf(p->out, ":%s", dtype_name(s->acc));
}

/* `sum:f32[a:64 where p] `; nothing for a map that keeps its dtype. */
static void print_reducer(Printer *p, const EinSum *s) {
  if (s->reducer == RED_NONE && s->acc == s->dtype && !s->n_red && !s->where) return;
  print_reducer_name(p, s);
  if (s->reducer != RED_NONE || s->n_red || s->where) {
    buf_char(p->out, '[');
    for (uint32_t k = 0; k < s->n_red; k++) {
      if (k) buf_str(p->out, ", ");
      print_label(p, s->n_out + k);
    }
    if (s->where) {
      buf_str(p->out, s->n_red ? " where " : "where ");
      print_expr(p, s->where);
    }
    buf_char(p->out, ']');
  }
  buf_char(p->out, ' ');
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void print_indent(Printer *p) {
  for (uint32_t i = 0; i < p->turn.len; i++) buf_str(p->out, "  ");
}

static void print_end(Printer *p, Place place) {
  place_print(p->out, place);
  buf_char(p->out, '\n');
}

static void print_vertex(Printer *p, const EinNode *n) {
  name_labels(p, n);
  print_out_labels(p);
  buf_printf(p->out, " : %s = ", dtype_name(n->dtype));
  print_reducer(p, n->sum);
  print_expr(p, n->sum->body);
  if (n->sum->domain) {
    buf_str(p->out, " domain ");
    print_expr(p, n->sum->domain);
  }
  p->n = NULL;
}

static void print_nodes(Printer *p, const EinRegion *r);

static Str turn_name(Printer *p, const EinRegion *r) {
  bool keep = plain(p, r->turn) && !among(r->turn, p->turn.at, p->turn.len);
  return keep ? r->turn : stand_in(p, p->turn.len, p->turn.at, p->turn.len);
}

static void print_block(Printer *p, const EinRegion *r) {
  print_nodes(p, r);
  for (uint32_t i = 0; i < r->states.len; i++) {
    print_indent(p);
    print_ref(p, "next ", r->states.at[i].node);
    print_ref(p, " = ", r->states.at[i].next);
    buf_char(p->out, '\n');
  }
  for (uint32_t i = 0; i < r->stacks.len; i++) {
    print_indent(p);
    buf_str(p->out, "stack ");
    word_print(p->out, r->stacks.at[i].name);
    print_ref(p, " = ", r->stacks.at[i].node);
    buf_printf(p->out, " axis %u\n", r->stacks.at[i].axis);
  }
  if (r->stop) {
    print_indent(p);
    print_ref(p, "until ", r->stop);
    buf_char(p->out, '\n');
  }
}

/* `t < %8 turns $T named L @place {`, the block, and `}`. */
static void print_repeat(Printer *p, const EinNode *n) {
  const EinRegion *r = n->body;
  Str turn = turn_name(p, r);
  buf_add(p->out, turn->s, turn->len);
  if (turn != r->turn) {
    buf_char(p->out, '=');
    string_print(p->out, r->turn ? r->turn->s : "", r->turn ? r->turn->len : 0);
  }
  print_ref(p, " < ", r->bound);
  if (r->turns) {
    buf_str(p->out, " turns ");
    print_expr(p, r->turns);
  }
  if (n->name) {
    buf_str(p->out, " named ");
    word_print(p->out, n->name);
  }
  place_print(p->out, n->place);
  buf_str(p->out, " {\n");
  vec_push(p->out->arena, p->turn, turn);
  print_block(p, r);
  p->turn.len--;
  print_indent(p);
  buf_str(p->out, "}\n");
}

static void print_result(Printer *p, const EinNode *n) {
  print_ref(p, n->name ? " = " : "= ", n->repeat);
  if (n->kind != EIN_TURNS) buf_printf(p->out, ".%u", n->index);
}

static void print_tensor(Printer *p, const EinNode *n) {
  if (n->name) word_print(p->out, n->name);
  if (n->kind == EIN_VERTEX) {
    print_vertex(p, n);
  } else if (n->kind == EIN_INPUT || n->kind == EIN_STATE) {
    print_shape(p, n);
    if (n->kind == EIN_STATE)
      print_ref(p, " = ",
                n->index < n->region->states.len ? n->region->states.at[n->index].init : NULL);
    else if (n->fallback)
      print_ref(p, " default ", n->fallback);
  } else {
    print_result(p, n);
  }
  print_end(p, n->place);
}

static void print_nodes(Printer *p, const EinRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const EinNode *n = r->nodes.at[i];
    print_indent(p);
    buf_printf(p->out, "%s %%%u ", node_word(n), n->id);
    if (n->kind == EIN_REPEAT)
      print_repeat(p, n);
    else
      print_tensor(p, n);
  }
}

static void print_head(Printer *p) {
  buf_str(p->out, "eingraph 1\n");
  for (uint32_t i = 0; i < p->g->dims.len; i++) {
    const EinDim *d = &p->g->dims.at[i];
    buf_str(p->out, "dim ");
    word_print(p->out, d->name);
    if (d->known) buf_printf(p->out, " = %lld", (long long)d->value);
    buf_char(p->out, '\n');
  }
  for (uint32_t i = 0; i < p->g->monoids.len; i++) {
    const Monoid *m = p->g->monoids.at[i];
    buf_str(p->out, "monoid ");
    print_monoid_name(p, m->name);
    buf_printf(p->out, ":%s = ", dtype_name(m->dtype));
    print_expr(p, m->combine);
    buf_str(p->out, " identity ");
    print_expr(p, m->identity);
    buf_char(p->out, '\n');
  }
}

static void print_text(Printer *p, Str text) {
  if (!text) return;
  buf_char(p->out, ' ');
  string_print(p->out, text->s, text->len);
}

static void print_foot(Printer *p) {
  for (uint32_t i = 0; i < p->g->outputs.len; i++) {
    buf_str(p->out, "output ");
    word_print(p->out, p->g->outputs.at[i].name);
    print_ref(p, " = ", p->g->outputs.at[i].node);
    buf_char(p->out, '\n');
  }
  for (uint32_t i = 0; i < p->g->asserts.len; i++) {
    print_ref(p, "assert ", p->g->asserts.at[i].node);
    print_text(p, p->g->asserts.at[i].text);
    print_end(p, p->g->asserts.at[i].place);
  }
  for (uint32_t i = 0; i < p->g->checks.len; i++) {
    buf_str(p->out, "check ");
    print_expr(p, p->g->checks.at[i].cond);
    print_text(p, p->g->checks.at[i].text);
    print_end(p, p->g->checks.at[i].place);
  }
}

/* One more than the largest id, which is what the reader takes for n_nodes if nothing is said. */
static uint32_t ids_end(const EinRegion *r) {
  uint32_t end = 0;
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const EinNode *n = r->nodes.at[i];
    if (n->id >= end) end = n->id + 1;
    uint32_t in = n->kind == EIN_REPEAT ? ids_end(n->body) : 0;
    if (in > end) end = in;
  }
  return end;
}

void graph_print(Buf *out, const EinGraph *g) {
  Printer p = {.out = out, .g = g, .plain = map_new(out->arena)};
  print_head(&p);
  if (ids_end(g->top) != g->n_nodes) buf_printf(out, "ids %u\n", g->n_nodes);
  print_nodes(&p, g->top);
  print_foot(&p);
}
