/* expr/sum/print.c - prints EinSums and what surrounds them as text; sum/read.c reads it. */
#include "print.h"

#include <string.h>

SumPrinter sum_printer(Buf *out, void *ctx, void (*read)(void *ctx, Buf *out, int64_t slot)) {
  return (SumPrinter){.out = out, .plain = map_new(out->arena), .ctx = ctx, .read = read};
}

/* ---- names in expressions: the user's, or a stand-in where that would not read back ------------ */

static bool names_plain(SumPrinter *p, Str s) {
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

/* `_3`, with more `_` until it differs from all names. */
static Str stand_in(SumPrinter *p, uint32_t k, const Str *a, uint32_t n) {
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

void print_names(SumPrinter *p, uint32_t n, const Str *name) {
  uint32_t from = p->label.len;
  for (uint32_t k = 0; k < n; k++) {
    bool own = names_plain(p, name[k]) && !among(name[k], p->label.at, from + k);
    vec_push(p->out->arena, p->label, own ? name[k] : NULL);
  }
  for (uint32_t k = from; k < from + n; k++)
    if (!p->label.at[k]) p->label.at[k] = stand_in(p, k, p->label.at, from + n);
}

void print_sum_of(SumPrinter *p, const EinSum *s, const Str *name, const Expr *const *bound) {
  p->sum = s;
  p->name = name;
  p->bound = bound;
  p->label.len = 0;
  print_names(p, s ? s->n_out + s->n_red : 0, name);
}

static Str text_of_label(void *ctx, int64_t k) {
  const SumPrinter *p = ctx;
  return k >= 0 && k < (int64_t)p->label.len ? p->label.at[k] : NULL;
}

static Str text_of_turn(void *ctx, int64_t depth) {
  const SumPrinter *p = ctx;
  return depth >= 0 && depth < (int64_t)p->turn.len ? p->turn.at[depth] : NULL;
}

static void text_of_read(void *ctx, Buf *out, int64_t slot) {
  const SumPrinter *p = ctx;
  if (p->read)
    p->read(p->ctx, out, slot);
  else
    buf_str(out, "%-1");
}

void print_expr(SumPrinter *p, const Expr *e) {
  ExprNames names = {.ctx = p, .label = text_of_label, .turn = text_of_turn, .read = text_of_read};
  if (e)
    expr_print(p->out, e, &names);
  else
    buf_char(p->out, '?');
}

void print_exprs(SumPrinter *p, uint32_t n, const Expr *const *e) {
  buf_char(p->out, '[');
  for (uint32_t k = 0; k < n; k++) {
    if (k) buf_str(p->out, ", ");
    print_expr(p, e[k]);
  }
  buf_char(p->out, ']');
}

/* ---- labels and loop variables ----------------------------------------------------------------- */

void print_alias(SumPrinter *p, Str text, Str name) {
  buf_add(p->out, text->s, text->len);
  if (text == name) return;
  buf_char(p->out, '=');
  string_print(p->out, name ? name->s : "", name ? name->len : 0);
}

void print_label(SumPrinter *p, uint32_t k) {
  print_alias(p, p->label.at[k], p->name[k]);
  buf_char(p->out, ':');
  print_expr(p, p->bound[k]);
}

Str turn_text(SumPrinter *p, Str turn) {
  bool keep = names_plain(p, turn) && !among(turn, p->turn.at, p->turn.len);
  return keep ? turn : stand_in(p, p->turn.len, p->turn.at, p->turn.len);
}

/* ---- the EinSum -------------------------------------------------------------------------------- */

/* Quoted if it could be taken for a reducer of the language. */
void print_monoid_name(SumPrinter *p, Str s) {
  Reducer r;
  if (!s || !word_label(s) || reducer_find(s->s, s->len, &r))
    string_print(p->out, s ? s->s : "", s ? s->len : 0);
  else
    buf_add(p->out, s->s, s->len);
}

void print_reducer_name(SumPrinter *p, const EinSum *s) {
  if (s->reducer == RED_MONOID)
    print_monoid_name(p, s->monoid ? s->monoid->name : NULL);
  else
    buf_str(p->out, reducer_info[s->reducer].name);
  buf_printf(p->out, ":%s", dtype_name(s->acc));
}

/* `sum:f32[a:64 where p] `; nothing for a map that keeps its dtype. */
static void print_reducer(SumPrinter *p, const EinSum *s) {
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

void print_sum(SumPrinter *p) {
  buf_printf(p->out, " : %s = ", dtype_name(p->sum->dtype));
  print_reducer(p, p->sum);
  print_expr(p, p->sum->body);
  if (p->sum->domain) buf_str(p->out, " domain "), print_expr(p, p->sum->domain);
  print_by(p, p->sum);
}

void print_by(SumPrinter *p, const EinSum *s) {
  if (s->by) buf_printf(p->out, " by %s", s->by->name->s);
}

/* ---- lines ------------------------------------------------------------------------------------- */

void print_string(SumPrinter *p, Str text) {
  if (!text) return;
  buf_char(p->out, ' ');
  string_print(p->out, text->s, text->len);
}

void print_indent(SumPrinter *p, uint32_t level) {
  for (uint32_t i = 0; i < level; i++) buf_str(p->out, "  ");
}

void print_end(SumPrinter *p, Place place) {
  place_print(p->out, place);
  buf_char(p->out, '\n');
}

void print_dims(SumPrinter *p, const Dims *dims) {
  vec_each(const Dim, d, *dims) {
    buf_str(p->out, "dim ");
    word_print(p->out, d->name);
    if (d->known) buf_printf(p->out, " = %lld", (long long)d->value);
    buf_char(p->out, '\n');
  }
}

void print_externs(SumPrinter *p, const Exprs *pool) {
  for (uint32_t k = 0; k < extern_count(pool); k++) {
    const Extern *x = extern_at(pool, k);
    buf_printf(p->out, "extern %s(", x->name->s);
    for (uint32_t i = 0; i < x->n; i++) {
      buf_printf(p->out, "%s%s", i ? ", " : "", dtype_name(x->arg[i]));
      if (x->block) buf_printf(p->out, " %u", x->rank[i]);
    }
    buf_printf(p->out, ") : %s", dtype_name(x->dtype));
    if (x->block) buf_printf(p->out, " over %u %u", x->n_out, x->n_red);
    buf_str(p->out, " =");
    print_string(p, x->symbol);
    if (x->from) buf_str(p->out, " from"), print_string(p, x->from);
    if (x->cost >= 0) buf_printf(p->out, " cost %lld", (long long)x->cost);
    print_end(p, x->place);
  }
}

static void print_monoid(SumPrinter *p, const Monoid *m) {
  buf_str(p->out, "monoid ");
  print_monoid_name(p, m->name);
  buf_printf(p->out, ":%s = ", dtype_name(m->dtype));
  print_expr(p, m->combine);
  buf_str(p->out, " identity ");
  print_expr(p, m->identity);
  buf_char(p->out, '\n');
}

void print_monoids(SumPrinter *p, const Monoids *monoids) {
  for (uint32_t i = 0; i < monoids->len; i++) print_monoid(p, monoids->at[i]);
}

void print_checks(SumPrinter *p, const DimChecks *checks) {
  vec_each(const DimCheck, c, *checks) {
    buf_str(p->out, "check ");
    print_expr(p, c->cond);
    print_string(p, c->text);
    print_end(p, c->place);
  }
}
