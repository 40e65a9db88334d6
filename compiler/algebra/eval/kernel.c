/* algebra/eval/kernel.c - an EinSum over a box: its expressions as lists of steps, its points in row-major order, and
 * reductions, floats pairwise. It has no code in common with the EinGraph's evaluator, on purpose. */
#include "kernel.h"

#include <math.h>
#include <string.h>

#include "ein_rt.h"

/* ---- programs -------------------------------------------------------------------------------------------- */

typedef enum { S_OP, S_ADD_I64, S_MUL_I64, S_ADD_F32, S_MUL_F32, S_CAST, S_AND, S_OR, S_SELECT, S_RANDOM, S_READ } StepCode;

typedef struct Step {
  uint8_t code, op, dtype;
  bool may;                  /* fail: there is a read in it */
  uint32_t dst, level;
  uint32_t n, arg[3];        /* S_READ: n indices */
  const uint32_t *index;
  uint32_t slot;
} Step;

/* Values 0..n_label-1 are the labels, then the turns, the two arguments of a monoid, and all else. Level k + 1 hangs on label k and none
 * behind it; level 0 on none. */
struct Program {
  Value *v;
  uint32_t *fault;           /* by value: the number of the step that failed, plus 1; 0: none did */
  uint32_t n_step, n_label, n_turn;
  Step *step;
  uint32_t *first;           /* by level: its first step, or where it would be */
  uint32_t stale;            /* from this level on, steps are to be done anew */
  uint32_t result;
  DType want;
  uint8_t *asked;            /* NULL, or by element of what is in this slot: 1 where it was read */
  uint32_t asked_slot;
};

typedef struct Making {      /* of a program */
  Arena *arena;
  const char *why;
  Map number;                /* by Expr: its value's number + 1 */
  uint32_t base, levels;
  VEC(Value) values;
  VEC(uint32_t) level;       /* by value */
  VEC(Step) steps;
} Making;

static uint32_t value_new(Making *m, Value v, uint32_t level) {
  vec_push(m->arena, m->values, v);
  vec_push(m->arena, m->level, level);
  return m->values.len - 1;
}

static uint32_t number_of(const Making *m, const Expr *e) {
  return (uint32_t)(uintptr_t)map_find(&m->number, e) - 1;
}

static uint32_t leaf_new(Making *m, const Expr *e, uint32_t n_label, uint32_t n_turn) {
  uint64_t k = (uint64_t)e->i;
  switch ((ExprKind)e->kind) {
  case EX_LABEL: BUG_UNLESS(k < n_label); return (uint32_t)k;
  case EX_TURN: BUG_UNLESS(k < n_turn); return n_label + (uint32_t)k;
  case EX_PARAM:
    BUG_UNLESS(k < 2);
    m->values.at[n_label + n_turn + k].dtype = (DType)e->dtype;
    return n_label + n_turn + (uint32_t)k;
  case EX_INT: return value_new(m, (Value){.dtype = (DType)e->dtype, .i = e->i}, 0);
  case EX_REAL: return value_new(m, (Value){.dtype = (DType)e->dtype, .f = e->f}, 0);
  case EX_DIM: m->why = "has an open size"; break;
  case EX_READ: case EX_OP: break;
  }
  return value_new(m, (Value){.dtype = (DType)e->dtype}, 0);
}

static StepCode code_of(const Expr *e) {
  DType t = (DType)e->dtype;
  if (e->kind == EX_READ) return S_READ;
  switch ((Op)e->op) {
  case OP_ADD: return t == DT_I64 ? S_ADD_I64 : t == DT_F32 ? S_ADD_F32 : S_OP;
  case OP_MUL: return t == DT_I64 ? S_MUL_I64 : t == DT_F32 ? S_MUL_F32 : S_OP;
  case OP_CAST: return S_CAST;
  case OP_AND: return S_AND;
  case OP_OR: return S_OR;
  case OP_SELECT: return S_SELECT;
  case OP_UNIFORM: case OP_NORMAL: case OP_PERMUTE: case OP_UNPERMUTE: return S_RANDOM;
  default: return S_OP;
  }
}

/* Its arguments have their numbers. */
static uint32_t step_new(Making *m, const Expr *e) {
  Step s = {.code = (uint8_t)code_of(e), .op = e->op, .dtype = e->dtype, .may = (e->has & HAS_READ) != 0, .n = e->n};
  uint32_t *index = NEW_ARRAY(m->arena, uint32_t, e->n + 1);
  for (uint32_t k = 0; k < e->n; k++) {
    index[k] = number_of(m, e->arg[k]);
    if (m->level.at[index[k]] > s.level) s.level = m->level.at[index[k]];
    if (k < 3) s.arg[k] = index[k];
  }
  if (e->kind == EX_READ) s.index = index, s.slot = (uint32_t)e->i;
  else if (op_info[e->op].laws & LAW_LOOP) m->why = "has an operation that only a schedule makes";
  s.dst = value_new(m, (Value){.dtype = (DType)e->dtype}, s.level);
  vec_push(m->arena, m->steps, s);
  return s.dst;
}

/* Arguments first, by a stack of its own: expressions may be deep. */
static void steps_make(Making *m, const Expr *top, uint32_t n_label, uint32_t n_turn) {
  struct Visit { const Expr *e; uint32_t next; };
  VEC(struct Visit) todo = {0};
  vec_push(m->arena, todo, ((struct Visit){top, 0}));
  while (todo.len) {
    struct Visit *v = &vec_last(todo);
    const Expr *e = v->e;
    if (map_find(&m->number, e)) {
      todo.len--;
    } else if (v->next < e->n) {
      const Expr *arg = e->arg[v->next++];
      vec_push(m->arena, todo, ((struct Visit){arg, 0}));
    } else {
      uint32_t k = e->kind == EX_OP || e->kind == EX_READ ? step_new(m, e) : leaf_new(m, e, n_label, n_turn);
      map_put(&m->number, e, (void *)(uintptr_t)(k + 1));
      todo.len--;
    }
  }
}

/* By level; within one in the order of making. */
static void steps_sort(Making *m, Program *p) {
  p->n_step = m->steps.len;
  p->step = NEW_ARRAY(m->arena, Step, p->n_step + 1);
  p->first = NEW_ARRAY(m->arena, uint32_t, p->n_label + 2);
  uint32_t *from = NEW_ARRAY(m->arena, uint32_t, p->n_label + 2);
  for (uint32_t i = 0; i < p->n_step; i++) from[m->steps.at[i].level]++;
  for (uint32_t l = 0, at = 0; l < p->n_label + 2; l++) {
    uint32_t n = from[l];
    p->first[l] = from[l] = at;
    at += n;
  }
  for (uint32_t i = 0; i < p->n_step; i++) p->step[from[m->steps.at[i].level]++] = m->steps.at[i];
}

static Program *program_new(Arena *a, const Expr *e, DType want, uint32_t n_label, uint32_t n_turn, const char **why) {
  Making m = {.arena = a, .number = map_new(a)};
  Program *p = NEW(a, Program);
  *p = (Program){.n_label = n_label, .n_turn = n_turn, .want = want};
  for (uint32_t k = 0; k < n_label + n_turn; k++) value_new(&m, (Value){.dtype = DT_I64}, k < n_label ? k + 1 : 0);
  for (uint32_t k = 0; k < 2; k++) value_new(&m, (Value){.dtype = DT_I64}, 0);
  steps_make(&m, e, n_label, n_turn);
  steps_sort(&m, p);
  p->v = m.values.at;
  p->fault = NEW_ARRAY(a, uint32_t, m.values.len);
  p->result = number_of(&m, e);
  if (m.why) *why = m.why;
  return p;
}

/* ---- running a program ------------------------------------------------------------------------------------- */

static Value element_random(const Step *s, const Value *v) {
  int64_t a = v[s->arg[0]].i, b = v[s->arg[1]].i, c = s->n > 2 ? v[s->arg[2]].i : 0;
  switch ((Op)s->op) {
  case OP_UNIFORM: return (Value){.dtype = DT_F32, .f = (double)ein_uniform(a, b)};
  case OP_NORMAL: return (Value){.dtype = DT_F32, .f = (double)ein_normal(a, b)};
  case OP_PERMUTE: return (Value){.dtype = DT_I64, .i = ein_permutation(a, b, c)};
  default: return (Value){.dtype = DT_I64, .i = ein_inverse_permutation(a, b, c)};
  }
}

/* Where in its block an element lies; -1: outside. */
static int64_t read_offset(const Step *s, const Value *v, const Block *b) {
  int64_t at = 0;
  for (uint32_t d = 0; d < s->n; d++) {
    int64_t i = v[s->index[d]].i;
    if (i < b->low[d] || i >= b->high[d]) return -1;
    at = at * (b->high[d] - b->low[d]) + (i - b->low[d]);
  }
  return at;
}

static void read_do(Program *p, const Step *s, const Block *b) {
  uint32_t failed = 0;
  for (uint32_t d = 0; d < s->n && !failed; d++) failed = p->fault[s->index[d]];
  p->fault[s->dst] = failed;
  if (failed) return;
  int64_t at = b ? read_offset(s, p->v, b) : -1;
  if (at >= 0 && p->asked && s->slot == p->asked_slot) p->asked[at] = 1;
  if (at < 0 || !block_has(b, at)) p->fault[s->dst] = (uint32_t)(s - p->step) + 1;
  else p->v[s->dst] = element_load(b->data, (DType)s->dtype, at);
}

static void op_do(Program *p, const Step *s) {
  Value arg[3];
  for (uint32_t k = 0; k < s->n; k++) arg[k] = p->v[s->arg[k]];
  p->v[s->dst] = op_value((Op)s->op, (DType)s->dtype, s->n, arg);
}

/* The one of its arguments that a lazy operation's value is. */
static uint32_t lazy_value(const Program *p, const Step *s) {
  bool first = p->v[s->arg[0]].i != 0;
  if (s->code == S_SELECT) return s->arg[first ? 1 : 2];
  return s->arg[(s->code == S_AND) == first ? 1 : 0];
}

static void step_fault(Program *p, const Step *s) {
  uint32_t failed = p->fault[s->arg[0]];
  if (s->code == S_AND || s->code == S_OR || s->code == S_SELECT) {
    if (!failed) failed = p->fault[lazy_value(p, s)];
  } else {
    for (uint32_t k = 1; k < s->n && !failed; k++) failed = p->fault[s->arg[k]];
  }
  p->fault[s->dst] = failed;
}

static void program_run(Program *p, const Block *const *operand) {
  Value *v = p->v;
  const Step *end = p->step + p->n_step;
  for (const Step *s = p->step + p->first[p->stale]; s < end; s++) {
    Value *to = &v[s->dst];
    switch ((StepCode)s->code) {
    case S_ADD_I64: to->i = (int64_t)((uint64_t)v[s->arg[0]].i + (uint64_t)v[s->arg[1]].i); break;
    case S_MUL_I64: to->i = (int64_t)((uint64_t)v[s->arg[0]].i * (uint64_t)v[s->arg[1]].i); break;
    case S_ADD_F32: to->f = (double)((float)v[s->arg[0]].f + (float)v[s->arg[1]].f); break;
    case S_MUL_F32: to->f = (double)((float)v[s->arg[0]].f * (float)v[s->arg[1]].f); break;
    case S_CAST: *to = value_cast(v[s->arg[0]], (DType)s->dtype); break;
    case S_AND: case S_OR: case S_SELECT: *to = v[lazy_value(p, s)]; break;
    case S_RANDOM: *to = element_random(s, v); break;
    case S_READ: read_do(p, s, operand[s->slot]); continue;
    case S_OP: op_do(p, s); break;
    }
    if (s->may) step_fault(p, s);
  }
  p->stale = p->n_label + 1;
}

static Value program_value(const Program *p) {
  Value v = p->v[p->result];
  return v.dtype == p->want ? v : value_cast(v, p->want);
}

/* Labels from k on have new values. */
static void program_labels(Program *p, uint32_t k, const int64_t *at) {
  if (!p) return;
  if (k + 1 < p->stale) p->stale = k + 1;
  for (; k < p->n_label; k++) p->v[k].i = at[k];
}

/* ---- combining values ---------------------------------------------------------------------------------------- */

static Value identity_of(Reducer r, DType t) {
  const char *text = reducer_info[r].identity;
  if (!text) return (Value){.dtype = t};
  bool minus = *text == '-';
  if (strstr(text, "inf") && t != DT_BOOL) return value_cast((Value){.dtype = DT_F64, .f = minus ? -(double)INFINITY : (double)INFINITY}, t);
  bool one = strcmp(text, "1") == 0 || strcmp(text, "true") == 0 || strcmp(text, "inf") == 0;
  return value_cast((Value){.dtype = DT_I64, .i = one}, t);
}

Fold fold_of(Arena *a, Reducer reducer, const Monoid *monoid, DType acc) {
  const char *why = NULL;
  Fold f = {.reducer = reducer, .acc = acc, .identity = identity_of(reducer, acc)};
  if (reducer != RED_MONOID) return f;
  BUG_UNLESS(monoid && monoid->dtype == acc);
  Program *identity = program_new(a, monoid->identity, acc, 0, 0, &why);
  program_run(identity, NULL);
  f.identity = program_value(identity);
  f.monoid = program_new(a, monoid->combine, acc, 0, 0, &why);
  BUG_UNLESS(!why);
  return f;
}

Value fold_pair(const Fold *f, Value a, Value b) {
  Program *p = f->monoid;
  if (!p) {
    if (f->reducer == RED_SUM && f->acc == DT_F32) return (Value){.dtype = DT_F32, .f = (double)((float)a.f + (float)b.f)};
    return op_value(reducer_info[f->reducer].combine, f->acc, 2, (Value[]){a, b});
  }
  p->v[0] = a;
  p->v[1] = b;
  p->stale = 0;
  program_run(p, NULL);
  return program_value(p);
}

bool fold_beats(const Fold *f, Value x, Value best) {
  bool most = f->reducer == RED_ARGMAX;
  if (!dtype_is_float(f->acc)) return most ? x.i > best.i : x.i < best.i;
  return !isnan(best.f) && (isnan(x.f) || (most ? x.f > best.f : x.f < best.f));
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

struct Kernel {
  const EinSum *sum;
  uint32_t n_label, n_turn;
  Program *domain, *where, *body; /* NULL: not there */
  Fold fold;
  int64_t *at;               /* the labels' values */
};

Kernel *kernel_new(Arena *a, const EinSum *s, uint32_t n_turn, const char **why) {
  Kernel *k = NEW(a, Kernel);
  const char *wrong = NULL;
  *k = (Kernel){.sum = s, .n_label = s->n_out + s->n_red, .n_turn = n_turn};
  k->at = NEW_ARRAY(a, int64_t, k->n_label + 1);
  if (s->domain) k->domain = program_new(a, s->domain, DT_BOOL, k->n_label, n_turn, &wrong);
  if (s->where) k->where = program_new(a, s->where, DT_BOOL, k->n_label, n_turn, &wrong);
  k->body = program_new(a, s->body, s->acc, k->n_label, n_turn, &wrong);
  k->fold = fold_of(a, s->reducer, s->monoid, s->acc);
  *why = wrong;
  return wrong ? NULL : k;
}

static bool program_reads(const Program *p, uint32_t slot, DType t, uint32_t rank) {
  for (uint32_t i = 0; p && i < p->n_step; i++) {
    const Step *s = &p->step[i];
    if (s->code == S_READ && s->slot == slot && (s->dtype != t || s->n != rank)) return false;
  }
  return true;
}

bool kernel_reads(const Kernel *k, uint32_t slot, DType t, uint32_t rank) {
  return program_reads(k->domain, slot, t, rank) && program_reads(k->where, slot, t, rank) && program_reads(k->body, slot, t, rank);
}

static void labels_changed(Kernel *k, uint32_t from) {
  program_labels(k->domain, from, k->at);
  program_labels(k->where, from, k->at);
  program_labels(k->body, from, k->at);
}

static void kernel_start(Kernel *k, const KernelCall *c) {
  Program *const all[] = {k->domain, k->where, k->body};
  for (uint32_t l = 0; l < k->n_label; l++) k->at[l] = c->low[l];
  labels_changed(k, 0);
  for (uint32_t i = 0; i < COUNT(all); i++) {
    if (!all[i]) continue;
    all[i]->stale = 0;
    all[i]->asked = c->asked;
    all[i]->asked_slot = c->slot;
    for (uint32_t t = 0; t < k->n_turn; t++) all[i]->v[k->n_label + t].i = c->turn[t];
  }
}

/* The next point of labels from..to-1, the last fastest; false behind the last one, all being at their lows again. */
static bool point_next(Kernel *k, const KernelCall *c, uint32_t from, uint32_t to) {
  uint32_t l = to;
  bool more = false;
  while (!more && l-- > from) {
    more = ++k->at[l] < c->high[l];
    if (!more) k->at[l] = c->low[l];
  }
  if (to > from) labels_changed(k, more ? l : from);
  return more;
}

static bool no_points(const KernelCall *c, uint32_t from, uint32_t to) {
  for (; from < to; from++)
    if (c->high[from] <= c->low[from]) return true;
  return false;
}

static bool fault_tell(Kernel *k, KernelCall *c, const Program *p) {
  const Step *s = &p->step[p->fault[p->result] - 1];
  const Block *b = c->operand[s->slot];
  int64_t *index = NEW_ARRAY(c->arena, int64_t, s->n + 1);
  for (uint32_t d = 0; d < s->n; d++) index[d] = p->v[s->index[d]].i;
  c->slot = s->slot;
  c->rank = s->n;
  c->index = index;
  c->at = k->at;
  for (c->dim = 0; b && c->dim < s->n; c->dim++)
    if (index[c->dim] < b->low[c->dim] || index[c->dim] >= b->high[c->dim]) break;
  return false;
}

static inline bool point_value(Kernel *k, KernelCall *c, Program *p, Value *out) {
  program_run(p, c->operand);
  if (p->fault[p->result]) return !c->gaps && fault_tell(k, c, p);
  *out = program_value(p);
  return true;
}

/* A reduction under way. Of floats partial k stands for 2^k points that follow each other, so that rounding errors stay small. */
typedef struct Partials {
  Value at[64];
  uint64_t n;                /* points so far; the bits say which partials are there */
  int64_t best;              /* argmax: where the best was met */
} Partials;

static void partials_add(Kernel *k, Partials *p, Value x) {
  uint64_t n = p->n++;
  if (!dtype_is_float(k->fold.acc)) {
    p->at[0] = fold_pair(&k->fold, n ? p->at[0] : k->fold.identity, x);
    return;
  }
  uint32_t i = 0;
  if (!n) x = fold_pair(&k->fold, k->fold.identity, x);
  for (; n & 1; n >>= 1) x = fold_pair(&k->fold, p->at[i++], x);
  p->at[i] = x;
}

static Value partials_end(const Kernel *k, const Partials *p) {
  Value x = k->fold.identity;
  bool any = false;
  if (!dtype_is_float(k->fold.acc)) return p->n ? p->at[0] : x;
  for (uint32_t i = 0; i < 64 && p->n >> i; i++) {
    if (!(p->n >> i & 1)) continue;
    x = any ? fold_pair(&k->fold, p->at[i], x) : p->at[i];
    any = true;
  }
  return x;
}

/* Row-major over the whole extents of the reduced labels. */
static int64_t point_place(const Kernel *k, const KernelCall *c) {
  uint64_t place = 0;
  for (uint32_t l = 0; l < k->sum->n_red; l++) place = place * (uint64_t)c->whole[l] + (uint64_t)k->at[k->sum->n_out + l];
  return (int64_t)place;
}

static void partials_meet(Kernel *k, const KernelCall *c, Partials *p, Value x) {
  if (!reducer_is_arg(k->fold.reducer)) {
    partials_add(k, p, x);
  } else if (!p->n++ || fold_beats(&k->fold, x, p->at[0])) {
    p->at[0] = x;
    p->best = point_place(k, c);
  }
}

static bool point_reduce(Kernel *k, KernelCall *c, int64_t to) {
  uint32_t n_out = k->sum->n_out;
  Partials p;
  Value x;
  p.n = 0;
  p.best = 0;
  if (!no_points(c, n_out, k->n_label)) do {
    if (k->where && !point_value(k, c, k->where, &x)) return false;
    if (k->where && !x.i) continue;
    if (!point_value(k, c, k->body, &x)) return false;
    partials_meet(k, c, &p, x);
  } while (point_next(k, c, n_out, k->n_label));
  if (!reducer_is_arg(k->fold.reducer)) {
    element_store(c->out->data, k->sum->acc, to, partials_end(k, &p));
  } else if (p.n) {
    element_store(c->out->data, k->sum->acc, to, p.at[0]);
    c->out->place[to] = p.best;
  } else {
    block_mask(c->arena, c->out);
    c->out->has[to] = HAS_EMPTY;
  }
  return true;
}

static bool point_do(Kernel *k, KernelCall *c, int64_t to) {
  Value x;
  if (k->domain) {
    if (!point_value(k, c, k->domain, &x)) return false;
    if (!x.i) {
      block_mask(c->arena, c->out);
      c->out->has[to] = HAS_NONE;
      return true;
    }
  }
  if (k->sum->reducer != RED_NONE) return point_reduce(k, c, to);
  if (point_value(k, c, k->body, &x)) {
    element_store(c->out->data, k->sum->acc, to, x);
    return true;
  }
  if (!c->gaps) return false;
  block_mask(c->arena, c->out);
  c->out->has[to] = HAS_MISSED;
  return true;
}

bool kernel_run(Kernel *k, KernelCall *c) {
  uint32_t n_out = k->sum->n_out;
  int64_t to = 0;
  if (no_points(c, 0, n_out)) return true;
  kernel_start(k, c);
  do
    if (!point_do(k, c, to++)) return false;
  while (point_next(k, c, 0, n_out));
  return true;
}
