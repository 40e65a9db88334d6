/* algebra/eval/formula.c - compiles an expression to steps over rows. It deliberately shares no code with the
 * EinGraph's evaluator. */
#include "formula.h"

#include "ein_rt.h"

typedef enum {
  S_OP,
  S_ADD_I64,
  S_SUB_I64,
  S_MUL_I64,
  S_ADD_F32,
  S_SUB_F32,
  S_MUL_F32,
  S_ADD_F64,
  S_SUB_F64,
  S_MUL_F64,
  S_EQ_INT,
  S_NE_INT,
  S_LT_INT,
  S_LE_INT,
  S_GT_INT,
  S_GE_INT,
  S_EQ_REAL,
  S_NE_REAL,
  S_LT_REAL,
  S_LE_REAL,
  S_GT_REAL,
  S_GE_REAL,
  S_CAST,
  S_AND,
  S_OR,
  S_SELECT,
  S_RANDOM,
  S_CALL,
  S_READ
} StepCode;

typedef struct Step {
  uint8_t code, op, dtype;
  bool may;                  /* fail: there is a read in it */
  uint32_t dst, level;
  uint32_t n, arg[3];        /* S_READ: n indices */
  const uint32_t *index;     /* the columns of all arguments */
  const Extern *by;          /* S_CALL */
  uint32_t slot;
} Step;

typedef union Cell { int64_t i; double f; } Cell;

typedef struct Column {      /* a value at the points of a row */
  DType dtype;
  bool row;                  /* one value for each point; else one for all */
  bool failed;               /* at some point, which fault gives */
  Cell *at;
  uint32_t *fault;           /* of what may fail, indexed as `at`: 1 + the number of the failed step; 0: none */
} Column;

/* Columns 0..n_label-1 are the labels, then come the turns, the two arguments of a monoid, and everything else.
 * Level k + 1 depends on label k and on no later label; level 0 on none. */
struct Formula {
  Column *column;
  uint32_t n_step, n_label, n_turn;
  Step *step;
  uint32_t *first;           /* by level: its first step, or where that would be */
  uint32_t stale;            /* steps from this level on must be recomputed */
  uint32_t result;
  DType want;
  uint8_t *asked;            /* NULL, or by element of this slot: 1 where it was read */
  uint32_t asked_slot;
};

/* ---- construction --------------------------------------------------------------------------------------- */

typedef struct Making {      /* of a formula */
  Arena *arena;
  const char *why;
  Map number;                /* by Expr: 1 + its value's number */
  uint32_t n_label;
  VEC(Column) columns;
  VEC(uint32_t) level;       /* by value */
  VEC(Step) steps;
} Making;

static uint32_t column_new(Making *m, DType t, uint32_t level) {
  Column c = {.dtype = t, .row = m->n_label && level == m->n_label};
  c.at = NEW_ARRAY(m->arena, Cell, c.row ? ROW : 1);
  vec_push(m->arena, m->columns, c);
  vec_push(m->arena, m->level, level);
  return m->columns.len - 1;
}

static uint32_t constant_new(Making *m, DType t, Cell x) {
  uint32_t k = column_new(m, t, 0);
  m->columns.at[k].at[0] = x;
  return k;
}

static uint32_t number_of(const Making *m, const Expr *e) {
  return (uint32_t)(uintptr_t)map_find(&m->number, e) - 1;
}

static uint32_t leaf_new(Making *m, const Expr *e, uint32_t n_turn) {
  uint64_t k = (uint64_t)e->i;
  uint32_t param = m->n_label + n_turn;
  switch ((ExprKind)e->kind) {
  case EX_LABEL: BUG_UNLESS(k < m->n_label); return (uint32_t)k;
  case EX_TURN: BUG_UNLESS(k < n_turn); return m->n_label + (uint32_t)k;
  case EX_PARAM:
    BUG_UNLESS(k < 2);
    m->columns.at[param + k].dtype = (DType)e->dtype;
    return param + (uint32_t)k;
  case EX_INT: return constant_new(m, (DType)e->dtype, (Cell){.i = e->i});
  case EX_REAL: return constant_new(m, (DType)e->dtype, (Cell){.f = e->f});
  case EX_DIM: m->why = "has an open size"; break;
  case EX_READ: case EX_OP: break;
  }
  return constant_new(m, (DType)e->dtype, (Cell){0});
}

static StepCode code_of(const Expr *e) {
  DType t = (DType)e->dtype;
  if (e->kind == EX_READ) return S_READ;
  bool real = e->n && dtype_is_float((DType)e->arg[0]->dtype);
  switch ((Op)e->op) {
  case OP_ADD: return t == DT_I64 ? S_ADD_I64 : t == DT_F32 ? S_ADD_F32 : t == DT_F64 ? S_ADD_F64 : S_OP;
  case OP_SUB: return t == DT_I64 ? S_SUB_I64 : t == DT_F32 ? S_SUB_F32 : t == DT_F64 ? S_SUB_F64 : S_OP;
  case OP_MUL: return t == DT_I64 ? S_MUL_I64 : t == DT_F32 ? S_MUL_F32 : t == DT_F64 ? S_MUL_F64 : S_OP;
  case OP_EQ: return real ? S_EQ_REAL : S_EQ_INT;
  case OP_NE: return real ? S_NE_REAL : S_NE_INT;
  case OP_LT: return real ? S_LT_REAL : S_LT_INT;
  case OP_LE: return real ? S_LE_REAL : S_LE_INT;
  case OP_GT: return real ? S_GT_REAL : S_GT_INT;
  case OP_GE: return real ? S_GE_REAL : S_GE_INT;
  case OP_CAST: return S_CAST;
  case OP_EXTERN: return S_CALL;
  case OP_AND: return S_AND;
  case OP_OR: return S_OR;
  case OP_SELECT: return S_SELECT;
  case OP_UNIFORM: case OP_NORMAL: case OP_PERMUTE: case OP_UNPERMUTE: return S_RANDOM;
  default: return S_OP;
  }
}

/* Its arguments are numbered already. */
static uint32_t step_new(Making *m, const Expr *e) {
  Step s = {.code = (uint8_t)code_of(e), .op = e->op, .dtype = e->dtype, .may = (e->has & HAS_READ) != 0, .n = e->n};
  uint32_t *index = NEW_ARRAY(m->arena, uint32_t, e->n + 1);
  for (uint32_t k = 0; k < e->n; k++) {
    index[k] = number_of(m, e->arg[k]);
    if (m->level.at[index[k]] > s.level) s.level = m->level.at[index[k]];
    if (k < 3) s.arg[k] = index[k];
  }
  s.index = index;
  if (e->kind == EX_READ) s.slot = (uint32_t)e->i;
  else if (e->op == OP_EXTERN) {
    s.by = e->by;
    if (!e->by->call)
      m->why = arena_printf(m->arena, "calls the C function %s, which has not been loaded", e->by->name->s);
  }
  else if (op_info[e->op].laws & LAW_LOOP) m->why = "has an operation that only a schedule makes";
  s.dst = column_new(m, (DType)e->dtype, s.level);
  Column *to = &m->columns.at[s.dst];
  if (s.may) to->fault = NEW_ARRAY(m->arena, uint32_t, to->row ? ROW : 1);
  vec_push(m->arena, m->steps, s);
  return s.dst;
}

/* Arguments first, with an explicit stack: expressions may be deep. */
static void steps_make(Making *m, const Expr *top, uint32_t n_turn) {
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
      uint32_t k = e->kind == EX_OP || e->kind == EX_READ ? step_new(m, e) : leaf_new(m, e, n_turn);
      map_put(&m->number, e, (void *)(uintptr_t)(k + 1));
      todo.len--;
    }
  }
}

/* By level; within a level in order of creation. */
static void steps_sort(Making *m, Formula *p) {
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

Formula *formula_new(Arena *a, const Expr *e, DType want, uint32_t n_label, uint32_t n_turn, const char **why) {
  Making m = {.arena = a, .number = map_new(a), .n_label = n_label};
  Formula *p = MAKE(a, Formula, .n_label = n_label, .n_turn = n_turn, .want = want);
  for (uint32_t k = 0; k < n_label + n_turn; k++) column_new(&m, DT_I64, k < n_label ? k + 1 : 0);
  for (uint32_t k = 0; k < 2; k++) column_new(&m, DT_I64, 0);
  steps_make(&m, e, n_turn);
  steps_sort(&m, p);
  p->column = m.columns.at;
  p->result = number_of(&m, e);
  if (m.why) *why = m.why;
  return p;
}

bool formula_reads(const Formula *p, uint32_t slot, DType t, uint32_t rank) {
  for (uint32_t i = 0; p && i < p->n_step; i++) {
    const Step *s = &p->step[i];
    if (s->code == S_READ && s->slot == slot && (s->dtype != t || s->n != rank)) return false;
  }
  return true;
}

/* ---- columns -------------------------------------------------------------------------------------------- */

static inline Cell cell_at(const Column *c, uint32_t j) { return c->at[c->row ? j : 0]; }
static inline uint32_t fault_at(const Column *c, uint32_t j) { return c->failed ? c->fault[c->row ? j : 0] : 0; }
static inline Cell cell_of(Value v) { return (Cell){.i = v.i}; } /* all of its bits, an f too */

static inline Value column_value(const Column *c, uint32_t j) {
  return (Value){.dtype = c->dtype, .i = cell_at(c, j).i};
}

/* ---- reads ---------------------------------------------------------------------------------------------- */

/* The offset of each element in its block; -1: outside. */
static void places_find(const Formula *p, const Step *s, const Block *b, uint32_t n, int64_t *at) {
  for (uint32_t j = 0; j < n; j++) at[j] = b ? 0 : -1;
  for (uint32_t d = 0; b && d < s->n; d++) {
    const Column *c = &p->column[s->index[d]];
    int64_t low = b->low[d], high = b->high[d];
    for (uint32_t j = 0; j < n; j++) {
      int64_t i = cell_at(c, j).i;
      at[j] = at[j] < 0 || i < low || i >= high ? -1 : at[j] * (high - low) + (i - low);
    }
  }
}

static void elements_load(const Block *b, DType t, uint32_t n, const int64_t *at, Cell *to) {
  switch (t) {
  case DT_F64: for (uint32_t j = 0; j < n; j++) to[j].f = ((const double *)b->data)[at[j]]; return;
  case DT_F32: for (uint32_t j = 0; j < n; j++) to[j].f = (double)((const float *)b->data)[at[j]]; return;
  case DT_I64: for (uint32_t j = 0; j < n; j++) to[j].i = ((const int64_t *)b->data)[at[j]]; return;
  default: for (uint32_t j = 0; j < n; j++) to[j] = cell_of(element_load(b->data, t, at[j]));
  }
}

/* Whether all of them are there, and nobody asks which were read. */
static bool row_plain(const Formula *p, const Step *s, const Block *b, uint32_t n, const int64_t *at) {
  bool plain = b && !b->has && !(p->asked && s->slot == p->asked_slot);
  for (uint32_t d = 0; d < s->n; d++) plain = plain && !p->column[s->index[d]].failed;
  for (uint32_t j = 0; j < n; j++) plain &= at[j] >= 0;
  return plain;
}

static uint32_t read_fault(const Formula *p, const Step *s, const Block *b, uint32_t j, int64_t at) {
  for (uint32_t d = 0; d < s->n; d++) {
    uint32_t failed = fault_at(&p->column[s->index[d]], j);
    if (failed) return failed;
  }
  return at < 0 || !block_has(b, at) ? (uint32_t)(s - p->step) + 1 : 0;
}

static bool index_failed(const Formula *p, const Step *s, uint32_t j) {
  for (uint32_t d = 0; d < s->n; d++)
    if (fault_at(&p->column[s->index[d]], j)) return true;
  return false;
}

static void read_do(Formula *p, const Step *s, const Block *b, uint32_t n, const uint8_t *active) {
  Column *to = &p->column[s->dst];
  bool asked = p->asked && s->slot == p->asked_slot;
  int64_t at[ROW];
  places_find(p, s, b, n, at);
  to->failed = false;
  if (row_plain(p, s, b, n, at)) {
    elements_load(b, (DType)s->dtype, n, at, to->at);
    return;
  }
  for (uint32_t j = 0; j < n; j++) {
    if (asked && at[j] >= 0 && (!active || active[j]) && !index_failed(p, s, j)) p->asked[at[j]] = 1;
    to->fault[j] = read_fault(p, s, b, j, at[j]);
    to->failed |= to->fault[j] != 0;
    if (!to->fault[j]) to->at[j] = cell_of(element_load(b->data, (DType)s->dtype, at[j]));
  }
}

/* ---- arithmetic ----------------------------------------------------------------------------------------- */

static Value element_random(const Step *s, const Value *v) {
  int64_t a = v[0].i, b = v[1].i, c = s->n > 2 ? v[2].i : 0;
  switch ((Op)s->op) {
  case OP_UNIFORM: return (Value){.dtype = DT_F32, .f = (double)ein_uniform(a, b)};
  case OP_NORMAL: return (Value){.dtype = DT_F32, .f = (double)ein_normal(a, b)};
  case OP_PERMUTE: return (Value){.dtype = DT_I64, .i = ein_permutation(a, b, c)};
  default: return (Value){.dtype = DT_I64, .i = ein_inverse_permutation(a, b, c)};
  }
}

static void op_do(const Formula *p, const Step *s, Cell *to, uint32_t n) {
  Value arg[3];
  for (uint32_t j = 0; j < n; j++) {
    for (uint32_t k = 0; k < s->n; k++) arg[k] = column_value(&p->column[s->arg[k]], j);
    to[j] = cell_of(s->code == S_RANDOM ? element_random(s, arg) : op_value((Op)s->op, (DType)s->dtype, s->n, arg));
  }
}

static void call_do(const Formula *p, const Step *s, Cell *to, uint32_t n) {
  for (uint32_t j = 0; j < n; j++) {
    CallCell arg[EXTERN_ARGS], r = {.i = 0};
    for (uint32_t k = 0; k < s->n; k++) {
      const Cell x = cell_at(&p->column[s->index[k]], j);
      if (dtype_is_float(s->by->arg[k])) arg[k].f = x.f;
      else arg[k].i = x.i;
    }
    s->by->call(arg, &r);
    to[j].f = r.f;
  }
}

static void cast_do(const Column *from, DType t, Cell *to, uint32_t n) {
  for (uint32_t j = 0; j < n; j++) to[j] = cell_of(value_cast(column_value(from, j), t));
}

/* Returns the argument that is the value of a lazy operation. */
static const Column *lazy_column(const Formula *p, const Step *s, uint32_t j) {
  bool first = cell_at(&p->column[s->arg[0]], j).i != 0;
  if (s->code == S_SELECT) return &p->column[s->arg[first ? 1 : 2]];
  return &p->column[s->arg[(s->code == S_AND) == first ? 1 : 0]];
}

static void faults_do(Formula *p, const Step *s, uint32_t n) {
  Column *to = &p->column[s->dst];
  bool lazy = s->code == S_AND || s->code == S_OR || s->code == S_SELECT, some = false;
  to->failed = false;
  for (uint32_t k = 0; k < s->n; k++) some |= p->column[s->index[k]].failed;
  for (uint32_t j = 0; some && j < n; j++) {
    uint32_t failed = fault_at(&p->column[s->index[0]], j);
    if (lazy && !failed) failed = fault_at(lazy_column(p, s, j), j);
    for (uint32_t k = 1; !lazy && k < s->n && !failed; k++) failed = fault_at(&p->column[s->index[k]], j);
    to->fault[j] = failed;
    to->failed |= failed != 0;
  }
}

#define EACH(member, x) \
  for (uint32_t j = 0; j < n; j++) { Cell a = left[j * la], b = right[j * ra]; to[j].member = (x); } \
  break

static void step_do(const Formula *p, const Step *s, Cell *to, uint32_t n) {
  const Column *l = &p->column[s->arg[0]], *r = &p->column[s->arg[s->n > 1]];
  const Cell *left = l->at, *right = r->at;
  uint32_t la = l->row, ra = r->row;
  switch ((StepCode)s->code) {
  case S_ADD_I64: EACH(i, (int64_t)((uint64_t)a.i + (uint64_t)b.i));
  case S_SUB_I64: EACH(i, (int64_t)((uint64_t)a.i - (uint64_t)b.i));
  case S_MUL_I64: EACH(i, (int64_t)((uint64_t)a.i * (uint64_t)b.i));
  case S_ADD_F32: EACH(f, (double)((float)a.f + (float)b.f));
  case S_SUB_F32: EACH(f, (double)((float)a.f - (float)b.f));
  case S_MUL_F32: EACH(f, (double)((float)a.f * (float)b.f));
  case S_ADD_F64: EACH(f, a.f + b.f);
  case S_SUB_F64: EACH(f, a.f - b.f);
  case S_MUL_F64: EACH(f, a.f * b.f);
  case S_EQ_INT: EACH(i, a.i == b.i);
  case S_NE_INT: EACH(i, a.i != b.i);
  case S_LT_INT: EACH(i, a.i < b.i);
  case S_LE_INT: EACH(i, a.i <= b.i);
  case S_GT_INT: EACH(i, a.i > b.i);
  case S_GE_INT: EACH(i, a.i >= b.i);
  case S_EQ_REAL: EACH(i, a.f == b.f);
  case S_NE_REAL: EACH(i, a.f != b.f);
  case S_LT_REAL: EACH(i, a.f < b.f);
  case S_LE_REAL: EACH(i, a.f <= b.f);
  case S_GT_REAL: EACH(i, a.f > b.f);
  case S_GE_REAL: EACH(i, a.f >= b.f);
  case S_CAST: cast_do(l, (DType)s->dtype, to, n); break;
  case S_AND: case S_OR: case S_SELECT:
    for (uint32_t j = 0; j < n; j++) to[j] = cell_at(lazy_column(p, s, j), j);
    break;
  case S_CALL: call_do(p, s, to, n); break;
  case S_RANDOM: case S_OP: op_do(p, s, to, n); break;
  case S_READ: break;
  }
}

#undef EACH

/* ---- running -------------------------------------------------------------------------------------------- */

void formula_start(Formula *p, const int64_t *turn, uint8_t *asked, uint32_t slot) {
  p->stale = 0;
  p->asked = asked;
  p->asked_slot = slot;
  for (uint32_t t = 0; t < p->n_turn; t++) p->column[p->n_label + t].at[0].i = turn[t];
}

void formula_labels(Formula *p, uint32_t k, const int64_t *at) {
  if (k + 1 < p->stale) p->stale = k + 1;
  for (; k < p->n_label; k++) p->column[k].at[0].i = at[k];
}

void formula_row(Formula *p, int64_t from, uint32_t n) {
  if (p->n_label < p->stale) p->stale = p->n_label;
  for (uint32_t j = 0; j < n; j++) p->column[p->n_label - 1].at[j].i = from + j;
}

void formula_params(Formula *p, Value a, Value b) {
  Column *to = &p->column[p->n_label + p->n_turn];
  p->stale = 0;
  to[0].at[0] = cell_of(a);
  to[1].at[0] = cell_of(b);
}

void formula_run(Formula *p, const Block *const *operand, uint32_t n, const uint8_t *active) {
  const Step *end = p->step + p->n_step;
  for (const Step *s = p->step + p->first[p->stale]; s < end; s++) {
    const Column *to = &p->column[s->dst];
    uint32_t points = to->row ? n : 1;
    if (s->code == S_READ) {
      read_do(p, s, operand[s->slot], points, to->row ? active : NULL);
      continue;
    }
    step_do(p, s, to->at, points);
    if (s->may) faults_do(p, s, points);
  }
  p->stale = p->n_label + 1;
}

void formula_values(const Formula *p, uint32_t n, Value *to) {
  const Column *c = &p->column[p->result];
  bool same = c->dtype == p->want;
  for (uint32_t j = 0; j < n; j++) to[j] = same ? column_value(c, j) : value_cast(column_value(c, j), p->want);
}

bool formula_fails(const Formula *p) { return p->column[p->result].failed; }
bool formula_failed(const Formula *p, uint32_t point) { return fault_at(&p->column[p->result], point) != 0; }

Fault formula_fault(const Formula *p, uint32_t point, Arena *a) {
  const Step *s = &p->step[fault_at(&p->column[p->result], point) - 1];
  int64_t *index = NEW_ARRAY(a, int64_t, s->n + 1);
  for (uint32_t d = 0; d < s->n; d++) index[d] = cell_at(&p->column[s->index[d]], point).i;
  return (Fault){.slot = s->slot, .rank = s->n, .index = index};
}
