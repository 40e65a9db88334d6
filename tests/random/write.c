/* tests/random/write.c - a program as text. Every style means the same: with parentheses around everything, with the
 * operands of + and * changed over, with other names for labels, with labels split into groups, with loops written
 * out turn by turn. */
#include <stdio.h>
#include <string.h>

#include "random.h"

typedef struct Out {
  Arena *arena;
  Buf b;
  const Made *made;
  Style style;
  const Stmt *eq;            /* whose labels these are */
  uint32_t copies;           /* of loops written out */
} Out;

static void put(Out *o, const char *s) {
  buf_str(&o->b, s);
}

static void expr(Out *o, const Node *e, int level);

/* ---- labels ------------------------------------------------------------------------------------ */

static const char *label_name(Out *o, const Label *l) {
  static const char letters[] = "ijklnoqrsuwxyz";
  if (o->style.names == 1) return arena_printf(o->arena, o->style.split ? "lab%u" : "lab%u'", l->number);
  if (o->style.names == 2)
    for (uint32_t i = 0, k = 0; i < o->made->tensors.len; i++)
      if (o->made->tensors.at[i]->rank && k++ == l->number) return o->made->tensors.at[i]->name;
  if (l->number < sizeof letters - 1) return arena_printf(o->arena, "%c", letters[l->number]);
  return arena_printf(o->arena, "z_%u", l->number);
}

static bool is_split(const Out *o, const Label *l) {
  return o->style.split && !l->whole && l->first >= 0;
}

static int64_t rest_of(const Label *l) {
  return l->first ? l->ext->value / l->first : 2;
}

/* Where a label is bound: with its size, unless that is known. */
static void binder(Out *o, Label *l, const char *between) {
  bool size = (!l->bare && !l->said) || !l->quiet || o->style.sizes;
  if (l->param) size = false;
  const char *name = label_name(o, l);
  if (is_split(o, l)) {
    bool known = l->said;
    buf_printf(&o->b, known ? "%s_1" : "%s_1:%lld", name, (long long)l->first);
    buf_printf(&o->b, known ? "%s%s_2" : "%s%s_2:%lld", between, name, (long long)rest_of(l));
  } else if (size) {
    buf_printf(&o->b, "%s:%s", name, l->ext->text);
  } else {
    put(o, name);
  }
  l->said = l->said || size || is_split(o, l);
}

static void binders(Out *o, Label *const *l, uint32_t n, bool group) {
  if (group) put(o, "(");
  for (uint32_t i = 0; i < n; i++) {
    if (i) put(o, group ? " " : ", ");
    binder(o, l[i], group ? " " : ", ");
  }
  if (group) put(o, ")");
}

/* inside: an argument, in which what is bound is another label of that name. */
static void mark(const Node *e, bool inside) {
  bool was[4];
  if (e->kind == E_SUBST) return mark(e->kid[1], inside);
  for (uint32_t i = 0; e->kind == E_GROUP && i < e->n_lab; i++) e->lab[i]->bare = true;
  for (uint32_t i = 0; i < e->n_lab; i++) was[i] = e->lab[i]->bare;
  for (uint32_t i = 0; i < e->n; i++) {
    bool argument = e->kind == E_CALL && i < e->def->n_param;
    if (e->kind == E_READ && e->kid[i]->kind == E_LABEL) e->kid[i]->lab[0]->bare = true;
    if (!argument || (e->def->param[i].stands && e->def->param[i].reaches)) mark(e->kid[i], inside || argument);
  }
  if (!inside || (e->kind != E_CALL && e->kind != E_REDUCE && e->kind != E_MONOID)) return;
  for (uint32_t i = 0; i < e->n_lab; i++) e->lab[i]->bare = was[i];
}

static void mark_bare(const Node *e) {
  mark(e, false);
}

/* An argument, or what is substituted in, is an equation of its own. */
static void apart(Out *o, const Node *e) {
  uint32_t n = o->eq->made.len;
  bool *was = NEW_ARRAY(o->arena, bool, 2 * n + 1);
  for (uint32_t i = 0; i < n; i++) {
    Label *l = o->eq->made.at[i];
    was[2 * i] = l->bare, was[2 * i + 1] = l->said;
    l->bare = l->said = l->param;
  }
  mark_bare(e);
  expr(o, e, 0);
  for (uint32_t i = 0; i < n; i++) o->eq->made.at[i]->bare = was[2 * i], o->eq->made.at[i]->said = was[2 * i + 1];
}

/* ---- expressions ------------------------------------------------------------------------------- */

enum { IF = 0, OR, AND, NOT, COMPARE, ADD, REACH, MUL, SIGN, POW, ELSE, PRIMARY };

static int op_level(Op op) {
  switch (op) {
    case OP_OR: return OR;
    case OP_AND: return AND;
    case OP_ADD: case OP_SUB: return ADD;
    case OP_POW: return POW;
    case OP_MUL: case OP_DIV: case OP_IDIV: case OP_MOD: return MUL;
    default: return COMPARE;
  }
}

static int level_of(const Out *o, const Node *e) {
  switch (e->kind) {
    case E_INT: return e->i < 0 ? SIGN : PRIMARY;
    case E_REAL: return e->f < 0 ? SIGN : PRIMARY;
    case E_LABEL: case E_SIZE: return is_split(o, e->lab[0]) ? ADD : PRIMARY;
    case E_BINARY: return op_level((Op)e->op);
    case E_NEG: return SIGN;
    case E_NOT: return NOT;
    case E_IF: return IF;
    case E_ELSE: return ELSE;
    case E_REDUCE: return (e->op == RED_COUNT && !e->again) || (e->call && o->style.names != 2) ? PRIMARY : REACH;
    default: return PRIMARY;
  }
}

static void binary(Out *o, const Node *e) {
  int l = op_level((Op)e->op), left = l, right = l + 1;
  if (l == COMPARE) left = right;
  if (l == POW) left = ELSE, right = SIGN;
  if (l == ADD) right = REACH;
  const Node *a = e->kid[0], *b = e->kid[1];
  if (o->style.swap && (e->op == OP_ADD || e->op == OP_MUL)) a = e->kid[1], b = e->kid[0];
  expr(o, a, left);
  buf_printf(&o->b, " %s ", op_info[e->op].sign);
  expr(o, b, right);
}

static void indices(Out *o, const Node *e) {
  for (uint32_t i = 0; i < e->n; i++) {
    const Node *k = e->kid[i];
    put(o, i ? ", " : "[");
    if (k->kind == E_GROUP || (k->kind == E_LABEL && is_split(o, k->lab[0]))) {
      for (uint32_t j = 0; j < k->n_lab; j++) k->lab[j]->bare = false; /* so that it is said here */
      binders(o, k->lab, k->n_lab, true);
      for (uint32_t j = 0; j < k->n_lab; j++) k->lab[j]->bare = true;
    } else expr(o, k, IF);
  }
  if (e->n) put(o, "]");
}

static void args(Out *o, const Node *e, uint32_t from, uint32_t to) {
  put(o, "(");
  for (uint32_t i = from; i < to; i++) {
    if (i > from) put(o, ", ");
    e->kind == E_CALL ? apart(o, e->kid[i]) : expr(o, e->kid[i], IF);
  }
  put(o, ")");
}

static void brackets(Out *o, const Node *e) {
  bool one =
      e->kind == E_REDUCE && (e->op == RED_ARGMAX || e->op == RED_ARGMIN) && e->n_lab == 1 && is_split(o, e->lab[0]);
  if (!e->n_lab) return;
  put(o, "[");
  if (e->again && !o->style.symbolic) e->lab[0]->said = e->lab[0]->bare = e->lab[0]->param; /* said once more */
  binders(o, e->lab, e->n_lab, e->grouped || one);
  if (e->where) {
    put(o, " where ");
    expr(o, e->kid[e->n - 1], IF);
  }
  put(o, "]");
}

static void reduce(Out *o, const Node *e) {
  put(o, reducer_info[e->op].name);
  if (e->acc >= 0) buf_printf(&o->b, ":%s", dtype_name((DType)e->acc));
  /* a tensor's name is a label's once it stood in brackets */
  if (e->call && o->style.names != 2) return args(o, e, 0, 1);
  brackets(o, e);
  if (e->op == RED_COUNT) return;
  put(o, " ");
  expr(o, e->kid[0], MUL);
}

static void or_else(Out *o, const Node *e) {
  const Node *b = e->kid[1];
  expr(o, e->kid[0], ELSE);
  put(o, " ?" "? ");
  bool minus = (b->kind == E_INT && b->i < 0) || (b->kind == E_NEG && level_of(o, b->kid[0]) == PRIMARY);
  expr(o, b, minus && !o->style.parens ? SIGN : PRIMARY);
}

static void label_number(Out *o, const Label *l) {
  const char *name = label_name(o, l);
  if (is_split(o, l)) buf_printf(&o->b, "%s_1 * %lld + %s_2", name, (long long)rest_of(l), name);
  else put(o, name);
}

static void label_size(Out *o, const Label *l) {
  const char *name = label_name(o, l);
  buf_printf(&o->b, is_split(o, l) ? "0 + size(%s_1) * size(%s_2)" : "size(%s)", name, name);
}

static void substitution(Out *o, const Node *e, uint32_t kid) {
  buf_printf(&o->b, "[%s = ", label_name(o, e->lab[0]));
  expr(o, e->kid[kid], IF);
  put(o, "]");
}

static void inner(Out *o, const Node *e) {
  switch (e->kind) {
    case E_INT: buf_printf(&o->b, "%lld", (long long)e->i); return;
    case E_REAL: double_print(&o->b, e->f); return;
    case E_TRUTH: put(o, e->i ? "true" : "false"); return;
    case E_CONST: put(o, e->word); return;
    case E_LABEL: label_number(o, e->lab[0]); return;
    case E_SIZE: label_size(o, e->lab[0]); return;
    case E_DIM: put(o, e->ext->text); return;
    case E_TURN: put(o, e->turn->name); return;
    case E_READ: put(o, e->ten->name); indices(o, e); return;
    case E_BINARY: binary(o, e); return;
    case E_NEG: put(o, "-"); expr(o, e->kid[0], POW); return;
    case E_NOT: put(o, "not "); expr(o, e->kid[0], NOT); return;
    case E_FUN: put(o, e->word); args(o, e, 0, e->n); return;
    case E_IF:
      put(o, "if "), expr(o, e->kid[0], IF), put(o, " then "), expr(o, e->kid[1], IF), put(o, " else "),
          expr(o, e->kid[2], IF);
      return;
    case E_ELSE: or_else(o, e); return;
    case E_CAST: put(o, dtype_name((DType)e->op)); args(o, e, 0, 1); return;
    case E_REDUCE: reduce(o, e); return;
    case E_MONOID: put(o, e->monoid->name); brackets(o, e); args(o, e, 0, 1); return;
    case E_CALL: put(o, e->def->name); brackets(o, e); args(o, e, 0, e->def->n_param); return;
    case E_SUBST: put(o, "("), apart(o, e->kid[0]), put(o, ")"), substitution(o, e, 1); return;
    case E_LOCAL: put(o, e->word); if (e->n) substitution(o, e, 0); return;
    case E_RANDOM: put(o, e->word); brackets(o, e); args(o, e, 0, 1); return;
    default: put(o, "?"); return;
  }
}

static void expr(Out *o, const Node *e, int level) {
  int own = level_of(o, e);
  bool parens = own < level || (o->style.parens && own < PRIMARY);
  if (parens) put(o, "(");
  inner(o, e);
  if (parens) put(o, ")");
}

/* ---- statements -------------------------------------------------------------------------------- */

static void labels_begin(Out *o, const Stmt *s) {
  o->eq = s;
  for (uint32_t i = 0; i < s->made.len; i++) {
    Label *l = s->made.at[i];
    bool known = s->type == S_NEXT && i < s->n_left; /* by its state */
    l->bare = l->param || known;
    l->said = l->param || (known && !is_split(o, l));
  }
}

static void left(Out *o, const Stmt *s) {
  uint32_t at = 0;
  put(o, s->ten->name);
  if (!s->rank && !s->stack) return;
  put(o, "[");
  for (uint32_t k = 0; k <= s->rank; k++) {
    bool turn = s->stack && s->turn_axis == k && !o->style.unroll;
    if (turn) buf_printf(&o->b, "%s%s", k ? ", " : "", s->turn->name);
    if (k == s->rank) break;
    if (k || turn) put(o, ", ");
    if (s->unlabelled) put(o, s->left[at]->ext->text);
    else binders(o, s->left + at, s->merge[k], s->merge[k] > 1 || is_split(o, s->left[at]));
    at += s->merge[k];
  }
  put(o, "]");
  if (s->stack && !s->rank && o->style.unroll) o->b.len -= 2, o->b.s[o->b.len] = 0;
}

static void input_left(Out *o, const Stmt *s) {
  bool split = o->style.split;
  o->style.split = false;
  for (uint32_t i = 0; i < s->made.len; i++) s->made.at[i]->bare = false, s->made.at[i]->quiet = false;
  left(o, s);
  o->style.split = split;
}

static void equation(Out *o, const Stmt *s) {
  static const char *const head[] = {[S_INPUT] = "input ", [S_EQUATION] = "", [S_STATE] = "state ", [S_NEXT] = "next "};
  labels_begin(o, s);
  mark_bare(s->e);
  bool split = o->style.split;
  if (s->type == S_INPUT) o->style.split = false;
  put(o, s->type == S_INPUT && s->param ? "param " : s->output ? "output " : head[s->type]);
  s->type == S_INPUT ? input_left(o, s) : left(o, s);
  if (s->typed) buf_printf(&o->b, " : %s", dtype_name(s->ten->dtype));
  put(o, " = ");
  expr(o, s->e, IF);
  put(o, "\n");
  o->style.split = split;
}

static void def_head(Out *o, const Def *d) {
  buf_printf(&o->b, "def %s", d->name);
  for (uint32_t k = 0; k < d->n_label; k++) buf_printf(&o->b, "%s%s", k ? ", " : "[", label_name(o, d->label[k]));
  put(o, d->n_label ? "](" : "(");
  for (uint32_t k = 0; k < d->n_param; k++) buf_printf(&o->b, "%s%s", k ? ", " : "", d->param[k].name);
  put(o, ")");
}

/* A local equation has labels of the def, and sizes are said once in each. */
static void def_expr(Out *o, const Stmt *s, const Node *e) {
  labels_begin(o, s);
  mark_bare(e);
  size_t at = o->b.len;
  expr(o, e, IF);
  if (o->b.s[at] != '-') return;
  const char *text = arena_printf(o->arena, "(%s)", o->b.s + at);
  o->b.len = at;
  put(o, text);
}

static void def(Out *o, const Stmt *s) {
  const Def *d = s->def;
  labels_begin(o, s);
  def_head(o, d);
  put(o, s->block ? " {\n" : " = ");
  for (uint32_t k = 0; k < d->n_local; k++) {
    buf_printf(&o->b, "  %s = ", d->local[k].name);
    def_expr(o, s, d->local[k].value);
    put(o, "\n");
  }
  if (s->block) put(o, "  ");
  def_expr(o, s, d->e);
  put(o, s->block ? "\n}\n" : "\n");
}

static void stmt(Out *o, const Stmt *s);
static void unroll(Out *o, const Stmt *s, bool top);

static void repeat(Out *o, const Stmt *s) {
  labels_begin(o, s);
  mark_bare(s->e);
  buf_printf(&o->b, "repeat %s < ", s->turn->name);
  expr(o, s->e, IF);
  if (s->until) {
    put(o, " until ");
    labels_begin(o, s);
    mark_bare(s->until);
    expr(o, s->until, IF);
  }
  put(o, " {\n");
  for (uint32_t i = 0; i < s->body.len; i++) stmt(o, s->body.at[i]);
  put(o, "}\n");
}

static void dim(Out *o, const Extent *e) {
  bool open = o->style.symbolic && e->define[0] >= '0' && e->define[0] <= '9' && !strchr(e->define, '*');
  buf_printf(&o->b, open ? "dim %s\n" : "dim %s = %s\n", e->text, e->define);
}

static void stmt(Out *o, const Stmt *s) {
  switch (s->type) {
    case S_DIM: dim(o, s->ext); return;
    case S_INPUT: case S_EQUATION: case S_STATE: case S_NEXT: equation(o, s); return;
    case S_OUTPUT: buf_printf(&o->b, "output %s\n", s->ten->name); return;
    case S_DEF: def(o, s); return;
    case S_MONOID:
      buf_printf(
          &o->b, "monoid %s(a, b) = %s identity %s\n", s->monoid->name, s->monoid->function, s->monoid->identity);
      return;
    case S_ASSERT:
      labels_begin(o, s);
      mark_bare(s->e);
      put(o, "assert "), expr(o, s->e, IF), put(o, ", \"equal to itself\"\n");
      return;
    case S_REPEAT: o->style.unroll ? unroll(o, s, true) : repeat(o, s); return;
  }
}

/* ---- loops, turn by turn ----------------------------------------------------------------------- */

static const char *plain_labels(Out *o, const Tensor *t, uint32_t skip) {
  Buf b = buf_new(o->arena);
  for (uint32_t k = 0, n = 0; k < t->rank; k++)
    if (k != skip) buf_printf(&b, "%sq%u", n++ ? ", " : "[", k);
  if (b.len) buf_str(&b, "]");
  return b.len ? b.s : "";
}

typedef struct Unrolled { const Stmt *s; uint32_t id, turns; VEC(const char *) names; } Unrolled;

static const char *turn_name(Out *o, const char *name, const Unrolled *u, uint32_t k) {
  return arena_printf(o->arena, "%s_u%u_%u", name, u->id, k);
}

static void unroll_next(Out *o, const Unrolled *u, const Stmt *s, const char *name, uint32_t k) {
  labels_begin(o, s);
  Tensor *t = s->ten;
  const char *now = t->name;
  t->name = turn_name(o, name, u, k + 1);
  left(o, s);
  buf_printf(&o->b, " : %s = if go_u%u_%u then %s(", dtype_name(t->dtype), u->id, k, dtype_name(t->dtype));
  t->name = now;
  mark_bare(s->e);
  expr(o, s->e, IF);
  buf_printf(&o->b, ") else %s", now);
  for (uint32_t i = 0; i < s->n_left; i++) buf_printf(&o->b, "%s%s", i ? ", " : "[", label_name(o, s->left[i]));
  put(o, s->n_left ? "]\n" : "\n");
}

static void unroll_until(Out *o, const Unrolled *u, uint32_t k) {
  if (u->s->until) {
    labels_begin(o, u->s);
    mark_bare(u->s->until);
    buf_printf(&o->b, "stop_u%u_%u = ", u->id, k);
    expr(o, u->s->until, IF);
    put(o, "\n");
  }
  buf_printf(&o->b, "go_u%u_%u = go_u%u_%u and %u < bound_u%u", u->id, k + 1, u->id, k, k + 1, u->id);
  if (u->s->until) buf_printf(&o->b, " and not stop_u%u_%u", u->id, k);
  put(o, "\n");
}

static void unroll_turn(Out *o, Unrolled *u, uint32_t k) {
  const Stmt *s = u->s;
  s->turn->name = arena_printf(o->arena, "turn_u%u_%u", u->id, k);
  buf_printf(&o->b, "dim %s = %u\n", s->turn->name, k);
  for (uint32_t i = 0; i < s->body.len; i++)
    if (s->body.at[i]->type == S_STATE) s->body.at[i]->ten->name = turn_name(o, u->names.at[i], u, k);
  for (uint32_t i = 0; i < s->body.len; i++) {
    const Stmt *b = s->body.at[i];
    if (b->type == S_EQUATION) b->ten->name = turn_name(o, u->names.at[i], u, k), equation(o, b);
    if (b->type == S_REPEAT) unroll(o, b, false);
    if (b->type != S_NEXT) continue;
    for (uint32_t j = 0; j < s->body.len; j++)
      if (s->body.at[j]->type == S_STATE && s->body.at[j]->ten == b->ten) unroll_next(o, u, b, u->names.at[j], k);
  }
  unroll_until(o, u, k);
}

static void unroll_stack(Out *o, const Unrolled *u, const Stmt *b, const char *name) {
  const Tensor *t = b->ten;
  const char *axis = arena_printf(o->arena, "q%u", b->turn_axis),
             *zero = t->dtype == DT_BOOL ? "false" : arena_printf(o->arena, "%s(0)", dtype_name(t->dtype));
  const char *labels = plain_labels(o, t, b->turn_axis);
  buf_printf(&o->b, "%s[", t->name);
  for (uint32_t k = 0; k < t->rank; k++) buf_printf(&o->b, "%sq%u:%s", k ? ", " : "", k, t->dim[k]->text);
  put(o, "] = ");
  for (uint32_t k = 0; k < u->turns; k++)
    buf_printf(&o->b, "if %s == %u then (if go_u%u_%u then %s%s else %s) else ", axis, k, u->id, k,
        turn_name(o, name, u, k), labels, zero);
  buf_printf(&o->b, "%s\n", zero);
}

static void unroll_results(Out *o, const Unrolled *u, bool top) {
  const Stmt *s = u->s;
  for (uint32_t i = 0; i < s->body.len; i++) {
    const Stmt *b = s->body.at[i];
    if (b->type != S_STATE && !b->stack) continue;
    b->ten->name = top ? u->names.at[i] : arena_printf(o->arena, "%s_u%u", u->names.at[i], u->id);
    const char *labels = plain_labels(o, b->ten, 9);
    if (b->stack) unroll_stack(o, u, b, u->names.at[i]);
    else buf_printf(&o->b, "%s%s = %s%s\n", b->ten->name, labels, turn_name(o, u->names.at[i], u, u->turns), labels);
  }
  s->ten->name = top ? vec_last(u->names) : arena_printf(o->arena, "%s_u%u", vec_last(u->names), u->id);
  buf_printf(&o->b, "%s = i64(0)", s->ten->name);
  for (uint32_t k = 0; k < u->turns; k++) buf_printf(&o->b, " + i64(go_u%u_%u)", u->id, k);
  put(o, "\n");
}

static const char *name_root(Out *o, const char *name) {
  const char *end = strstr(name, "_u");
  return end ? arena_printf(o->arena, "%.*s", (int)(end - name), name) : name;
}

static void unroll(Out *o, const Stmt *s, bool top) {
  Unrolled u = {.s = s, .id = o->copies++, .turns = (uint32_t)s->turn->most};
  for (uint32_t i = 0; i < s->body.len; i++)
    vec_push(o->arena, u.names, s->body.at[i]->ten ? name_root(o, s->body.at[i]->ten->name) : "");
  vec_push(o->arena, u.names, name_root(o, s->ten->name));
  labels_begin(o, s);
  mark_bare(s->e);
  buf_printf(&o->b, "bound_u%u = ", u.id);
  expr(o, s->e, IF);
  buf_printf(&o->b, "\ngo_u%u_0 = 0 < bound_u%u\n", u.id, u.id);
  for (uint32_t i = 0; i < s->body.len; i++) {
    Stmt b = *s->body.at[i];
    if (b.type != S_STATE) continue;
    b.type = S_EQUATION;
    b.ten->name = turn_name(o, u.names.at[i], &u, 0);
    equation(o, &b);
    b.ten->name = u.names.at[i];
  }
  for (uint32_t k = 0; k < u.turns; k++) unroll_turn(o, &u, k);
  unroll_results(o, &u, top);
  s->turn->name = vec_last(u.names);
}

/* ---- the door ---------------------------------------------------------------------------------- */

static void split_labels(const Made *m, const Stmt *s) {
  for (uint32_t i = 0; i < s->made.len; i++) {
    Label *l = s->made.at[i];
    int64_t v = l->ext->value;
    uint32_t pick = (i * 7 + m->extents.len) % 3;
    l->first = v == 0 ? 0 : pick == 0 ? 1 : pick == 1 ? v : v % 2 == 0 ? 2 : v % 3 == 0 ? 3 : 1;
  }
  for (uint32_t i = 0; i < s->body.len; i++) split_labels(m, s->body.at[i]);
}

const char *program_text(Arena *a, const Made *m, Style style) {
  Out o = {.arena = m->arena, .b = buf_new(a), .made = m, .style = style};
  for (uint32_t i = 0; i < m->stmts.len; i++) {
    if (style.split) split_labels(m, m->stmts.at[i]);
    stmt(&o, m->stmts.at[i]);
  }
  for (uint32_t i = 0; i < m->tensors.len; i++) m->tensors.at[i]->name = name_root(&o, m->tensors.at[i]->name);
  return o.b.len ? o.b.s : "";
}
