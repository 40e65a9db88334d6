/* algebra/text/print.c - prints a Tra or an Ia as text, one line per node; regions are indented blocks. A line has
 * two kinds of expressions: over keys (boxes, new keys, a filter's predicate), and over the labels of a kernel. The
 * grammar is in docs/languages-inside.md. */
#include "expr/region/text.h"
#include "text.h"

typedef struct Printer {
  SumPrinter p;              /* the current kernel's labels, and loop variables */
  SumPrinter k;              /* keys */
  Buf *out;
  const Algebra *g;
} Printer;

static void operand_text(void *ctx, Buf *out, int64_t slot) {
  (void)ctx;
  buf_printf(out, "&%lld", (long long)slot);
}

/* ---- words ------------------------------------------------------------------------------------------- */

AlgNode *alg_of(const AlgNode *n) {
  return n->n_operand ? n->operand[0].node : NULL;
}

bool alg_is_tensor(const AlgNode *n) {
  return n->kind != ALG_REPEAT;
}

static const char *map_word(const AlgNode *n) {
  if ((n->piece != NULL) + (n->rekey != NULL) + (n->n_fn != 0) != 1) return "map";
  return n->piece ? "tile" : n->rekey ? "rekey" : "transform";
}

const char *alg_word(const Algebra *p, const AlgNode *n) {
  switch (n->kind) {
  case ALG_INPUT: return "input";
  case ALG_JOIN: return "join";
  case ALG_AGGREGATE: return n->reducer == RED_NONE ? "concat" : "aggregate";
  case ALG_MAP: return map_word(n);
  case ALG_FILTER: return "filter";
  case ALG_MOVE: return alg_of(n) && alg_is_broadcast(p, n) ? "broadcast" : "shuffle";
  case ALG_FETCH: return "fetch";
  case ALG_REPEAT: return "repeat";
  case ALG_STATE: return "state";
  case ALG_FINAL: return "final";
  case ALG_STACK: return "stacked";
  case ALG_TURNS: return "turns";
  }
  return "node";
}

/* ---- keys, boxes, types -------------------------------------------------------------------------------- */

static void keys_begin(Printer *p) {
  p->k.label.len = 0;
}

static void keys_of(Printer *p, const Relation *t) {
  keys_begin(p);
  print_names(&p->k, t->n_key, t->key);
}

/* `{s:4, _1="odd name":2}`: the last n of the keys that have names now. */
static void print_keys(Printer *p, uint32_t n, const Str *name, const int64_t *frontier) {
  uint32_t from = p->k.label.len - n;
  buf_char(p->out, '{');
  for (uint32_t k = 0; k < n; k++) {
    if (k) buf_str(p->out, ", ");
    print_alias(&p->k, p->k.label.at[from + k], name[k]);
    buf_printf(p->out, ":%lld", (long long)frontier[k]);
  }
  buf_char(p->out, '}');
}

static void print_range(Printer *p, uint32_t n_key, const int64_t *frontier, const RelDim *d) {
  Relation r = {.n_key = n_key, .frontier = frontier, .rank = 1, .dim = d};
  int64_t extent;
  uint32_t key;
  if (rel_is_whole(d, &extent) && extent >= 0) {
    buf_printf(p->out, "%lld", (long long)extent);
  } else if (rel_is_cut(p->g->exprs, &r, 0, &key, &extent)) {
    buf_printf(p->out, "%lld/%s", (long long)extent, p->k.label.at[key]->s);
  } else {
    print_expr(&p->k, d->low);
    buf_str(p->out, "..");
    print_expr(&p->k, d->high);
  }
}

static void print_ranges(Printer *p, uint32_t n_key, const int64_t *frontier, uint32_t n, const RelDim *dim) {
  buf_char(p->out, '[');
  for (uint32_t d = 0; d < n; d++) {
    if (d) buf_str(p->out, ", ");
    print_range(p, n_key, frontier, &dim[d]);
  }
  buf_char(p->out, ']');
}

/* ` : f32 places holes at 0 *` */
static void print_rest(Printer *p, const AlgNode *n) {
  buf_printf(
      p->out, " : %s%s%s", dtype_name(n->type.dtype), n->type.places ? " places" : "", n->type.holes ? " holes" : "");
  if (!p->g->placed || !p->g->mesh.n) return;
  buf_str(p->out, " at ");
  placement_print(p->out, &p->g->mesh, &n->at);
}

static void print_type(Printer *p, const AlgNode *n) {
  const Relation *t = &n->type;
  keys_of(p, t);
  print_keys(p, t->n_key, t->key, t->frontier);
  buf_char(p->out, ' ');
  print_ranges(p, t->n_key, t->frontier, t->rank, t->dim);
  print_rest(p, n);
}

static void put_ref(Printer *p, const char *before, const AlgNode *n) {
  print_ref(p->out, before, algebra_face.node(n));
}

/* ---- functions of the array ------------------------------------------------------------------------------ */

static void print_fn(Printer *p, const AlgFn *f) {
  if (f->kind == FN_CAST) {
    buf_printf(p->out, "cast %s", dtype_name(f->to));
  } else if (f->kind == FN_PLACE) {
    buf_str(p->out, "place");
  } else if (f->kind == FN_SHIFT) {
    buf_printf(p->out, "shift %u by %lld %s", f->n, (long long)f->by,
        f->key < p->k.label.len ? p->k.label.at[f->key]->s : "-");
  } else {
    buf_str(p->out, "merge [");
    for (uint32_t k = 0; k < f->n; k++) buf_printf(p->out, "%s%u", k ? ", " : "", f->merge[k]);
    buf_char(p->out, ']');
  }
}

static void print_fns(Printer *p, const char *before, const AlgNode *n) {
  for (uint32_t k = 0; k < n->n_fn; k++) {
    buf_str(p->out, k ? ", " : before);
    print_fn(p, &n->fn[k]);
  }
}

/* ---- join -------------------------------------------------------------------------------------------------- */

/* `[s:128/s, h:4/h; a:64/a]`, and ` to [...]` where functions after the kernel change the box. */
static void print_labels(Printer *p, const AlgNode *n) {
  const Relation *t = &n->type;
  uint32_t labels = n->sum->n_out + n->sum->n_red;
  bool same = t->rank == n->sum->n_out;
  buf_char(p->out, '[');
  for (uint32_t l = 0; l < labels; l++) {
    buf_str(p->out, l == n->sum->n_out ? "; " : l ? ", " : "");
    print_alias(&p->p, p->p.label.at[l], n->label[l]);
    buf_char(p->out, ':');
    print_range(p, t->n_key, t->frontier, &n->range[l]);
  }
  buf_char(p->out, ']');
  for (uint32_t d = 0; same && d < t->rank; d++)
    same = t->dim[d].low == n->range[d].low && t->dim[d].high == n->range[d].high;
  if (same) return;
  buf_str(p->out, " to ");
  print_ranges(p, t->n_key, t->frontier, t->rank, t->dim);
}

/* `%0{s, -} wanted`; a fetch's table has no keys here */
static void print_operand(Printer *p, const AlgNode *n, uint32_t i) {
  const AlgOperand *o = &n->operand[i];
  put_ref(p, "", o->node);
  if (alg_is_table(n, i)) return;
  buf_char(p->out, '{');
  for (uint32_t k = 0; o->node && k < o->node->type.n_key; k++) {
    bool known = o->on[k] >= 0 && o->on[k] < (int64_t)p->k.label.len;
    buf_printf(p->out, "%s%s", k ? ", " : "", known ? p->k.label.at[o->on[k]]->s : "-");
  }
  buf_str(p->out, o->wanted ? "} wanted" : "}");
}

static void print_kernel(Printer *p, const AlgNode *n) {
  const EinSum *s = n->sum;
  buf_str(p->out, " = ");
  if (s->reducer != RED_NONE || s->where || s->acc != n->type.dtype) {
    print_reducer_name(&p->p, s);
    if (s->where) {
      buf_str(p->out, "[where ");
      print_expr(&p->p, s->where);
      buf_char(p->out, ']');
    }
    buf_char(p->out, ' ');
  }
  print_expr(&p->p, s->body);
  if (s->domain) {
    buf_str(p->out, " domain ");
    print_expr(&p->p, s->domain);
  }
  if (s->dtype != (reducer_is_arg(s->reducer) ? DT_I64 : s->acc)) buf_printf(p->out, " gives %s", dtype_name(s->dtype));
  print_by(&p->p, s);
}

static void print_join(Printer *p, const AlgNode *n) {
  keys_of(p, &n->type);
  print_keys(p, n->type.n_key, n->type.key, n->type.frontier);
  buf_char(p->out, ' ');
  print_sum_of(&p->p, n->sum, n->label, NULL);
  print_labels(p, n);
  print_rest(p, n);
  if (n->panels)
    buf_printf(p->out, " panels %s:%u", n->panel < p->p.label.len ? p->p.label.at[n->panel]->s : "-", n->panels);
  for (uint32_t i = 0; i < n->n_operand; i++) {
    buf_str(p->out, i ? ", " : " of ");
    print_operand(p, n, i);
  }
  print_kernel(p, n);
  print_sum_of(&p->p, NULL, NULL, NULL);
  print_fns(p, " then ", n);
}

/* ---- the other operations ------------------------------------------------------------------------------------ */

static void print_group(Printer *p, const AlgNode *n) {
  const AlgNode *of = alg_of(n);
  keys_begin(p);
  if (of) keys_of(p, &of->type);
  buf_str(p->out, " by {");
  for (uint32_t k = 0; k < n->n_group; k++)
    buf_printf(p->out, "%s%s", k ? ", " : "", n->group[k] < p->k.label.len ? p->k.label.at[n->group[k]]->s : "-");
  buf_char(p->out, '}');
  if (n->reducer == RED_MONOID) {
    buf_char(p->out, ' ');
    print_monoid_name(&p->p, n->monoid ? n->monoid->name : NULL);
    if (n->monoid) buf_printf(p->out, ":%s", dtype_name(n->monoid->dtype));
  } else if (n->reducer != RED_NONE) {
    buf_printf(p->out, " %s", reducer_info[n->reducer].name);
  }
  print_fns(p, " then ", n);
}

static void print_map(Printer *p, const AlgNode *n) {
  const AlgNode *of = alg_of(n);
  bool alone = n->n_fn && !n->piece && !n->rekey;
  keys_begin(p);
  if (of) keys_of(p, &of->type);
  if (n->piece && of) {
    uint32_t n_key = of->type.n_key + n->n_piece;
    int64_t *frontier = NEW_ARRAY(p->out->arena, int64_t, n_key + 1);
    for (uint32_t k = 0; k < n_key; k++)
      frontier[k] = k < of->type.n_key ? of->type.frontier[k] : n->frontier[k - of->type.n_key];
    print_names(&p->k, n->n_piece, n->key);
    buf_str(p->out, " into ");
    print_keys(p, n->n_piece, n->key, n->frontier);
    buf_char(p->out, ' ');
    print_ranges(p, n_key, frontier, of->type.rank, n->piece);
  }
  if (n->rekey) {
    buf_str(p->out, " to ");
    print_exprs(&p->k, n->type.n_key, n->rekey);
  }
  print_fns(p, alone ? " " : " then ", n);
}

static void print_state(Printer *p, const AlgNode *n) {
  put_ref(p, " = ", n->index < n->region->states.len ? n->region->states.at[n->index].init : NULL);
}

static void print_relation(Printer *p, const AlgNode *n) {
  if (n->name) {
    word_print(p->out, n->name);
    buf_char(p->out, ' ');
  }
  if (alg_has_kernel(n)) {
    print_join(p, n);
  } else {
    print_type(p, n);
    if (n->n_operand) put_ref(p, " of ", alg_of(n));
    if (n->kind == ALG_AGGREGATE) print_group(p, n);
    if (n->kind == ALG_MAP) print_map(p, n);
    if (n->kind == ALG_STATE) print_state(p, n);
    if (n->kind == ALG_FILTER) {
      buf_str(p->out, " keep ");
      print_expr(&p->k, n->keep);
    }
    if (n->kind == ALG_FINAL || n->kind == ALG_STACK || n->kind == ALG_TURNS) put_ref(p, " = ", n->repeat);
    if (n->kind == ALG_FINAL || n->kind == ALG_STACK) buf_printf(p->out, ".%u", n->index);
  }
  print_end(&p->p, n->place);
}

static const char *word_of(void *ctx, const void *node) {
  return alg_word(((const Printer *)ctx)->g, node);
}

static void print_line(void *ctx, const void *node) {
  print_relation(ctx, node);
}

/* ---- the program ------------------------------------------------------------------------------------------------- */

static void print_head(Printer *p) {
  const Algebra *g = p->g;
  buf_str(p->out, g->placed ? "ia 1\nmesh" : "tra 1\n");
  for (uint32_t a = 0; g->placed && a < g->mesh.n; a++) buf_printf(p->out, " %u", g->mesh.size[a]);
  if (g->placed) buf_char(p->out, '\n');
  if (g->room) buf_printf(p->out, "room %lld\n", (long long)g->room);
  print_externs(&p->p, g->exprs);
  print_monoids(&p->p, &g->monoids);
}

static void print_foot(Printer *p) {
  vec_each(const AlgOutput, o, p->g->outputs) {
    buf_str(p->out, "output ");
    word_print(p->out, o->name);
    buf_str(p->out, " [");
    for (uint32_t d = 0; d < o->rank; d++) buf_printf(p->out, "%s%lld", d ? ", " : "", (long long)o->extent[d]);
    put_ref(p, "] = ", o->node);
    buf_char(p->out, '\n');
  }
  for (uint32_t i = 0; i < p->g->asserts.len; i++) {
    put_ref(p, "assert ", p->g->asserts.at[i].node);
    print_string(&p->p, p->g->asserts.at[i].text);
    print_end(&p->p, p->g->asserts.at[i].place);
  }
}

void algebra_print(Buf *out, const Algebra *g) {
  Printer p = {.out = out, .g = g};
  RegionPrinter r = {&p.p, g->exprs, &algebra_face, &p, word_of, print_line};
  p.p = sum_printer(out, &p, operand_text);
  p.k = sum_printer(out, &p, NULL);
  print_head(&p);
  if (region_ids(&algebra_face, g->exprs, g->top) != g->n_nodes) buf_printf(out, "ids %u\n", g->n_nodes);
  print_nodes(&r, g->top);
  print_foot(&p);
}
