/* codegen/loop/check_device.c - what a device requires of a kernel beyond the other invariants: its loops over grids
 * and blocks are outermost and rectangular, one per axis; its threads' places are such as threads can have; and all
 * threads reach each barrier, or none. shared.c then checks what they share. */
#include "text.h"

typedef struct Device {
  SumCheck *c;
  const LoopKernel *k;
  bool *same;                /* by loop variable: it is uniform over a block */
  bool grid[LOOP_AXES], block[LOOP_AXES]; /* of the current launch: the axes so far */
  int64_t threads, shared;   /*   threads of a block, and bytes that they share */
  int64_t beside;            /*   blocks that run side by side */
  const LoopBody *body;      /*   a thread's statements; NULL: the launch is invalid */
  uint32_t deep;             /* loops with barriers around the current statement */
} Device;

enum { DEEP = 8 };           /* of such loops, at most: shared.c walks each twice */

static const char *var_name(const Device *d, const LoopStmt *s) { return d->k->var.at[s->var]->s; }
static const char *place_name(const Device *d, const LoopStmt *s) { return d->k->places.at[s->place].name->s; }
static bool is_bound(const LoopStmt *s) {
  return s->kind == LOOP_FOR && (s->bind == BIND_GRID || s->bind == BIND_BLOCK);
}

static bool has_kind(const LoopBody *b, LoopKind kind) {
  for (uint32_t i = 0; i < b->len; i++)
    if (b->at[i]->kind == kind || has_kind(&b->at[i]->body, kind) || has_kind(&b->at[i]->other, kind)) return true;
  return false;
}

static bool has_across(const LoopBody *b) {
  for (uint32_t i = 0; i < b->len; i++)
    if (loop_is_across(b->at[i]) || has_across(&b->at[i]->body) || has_across(&b->at[i]->other)) return true;
  return false;
}

/* Whether warps do something together. */
static bool has_warps(const LoopBody *b) { return has_kind(b, LOOP_MATRIX) || has_across(b); }

/* Whether it counts or awaits groups of copies. */
static bool has_groups(const LoopBody *b) { return has_kind(b, LOOP_COMMIT) || has_kind(b, LOOP_AWAIT); }

/* Whether threads do something together: a barrier, a matrix, values across a warp; or count groups of copies. */
bool loop_has_barrier(const LoopBody *b) { return has_kind(b, LOOP_BARRIER) || has_warps(b) || has_groups(b); }

/* ---- grids and blocks ------------------------------------------------------------------------------- */

static void extent_check(Device *d, const LoopStmt *s) {
  static const int64_t most[LOOP_AXES] = {LOOP_BLOCK, LOOP_BLOCK, 64};
  if (!expr_is_int(s->lo, 0) || s->step != 1)
    check_fail(d->c, "the loop over %s is bound to a device, and is not from 0 by 1", var_name(d, s));
  if (s->hi->has & ~(unsigned)HAS_DIM)
    check_fail(
        d->c, "the loop over %s is bound to a device, and ends at what is known only as it runs", var_name(d, s));
  if (s->bind != BIND_BLOCK) return;
  bool fits = s->hi->kind == EX_INT && s->hi->i >= 1 && s->hi->i <= most[s->axis];
  if (!fits)
    check_fail(
        d->c, "the loop over %s is no number of threads from 1 to %lld", var_name(d, s), (long long)most[s->axis]);
  else if ((d->threads *= s->hi->i) > LOOP_BLOCK)
    check_fail(d->c, "a block has %lld threads, of %d at most", (long long)d->threads, LOOP_BLOCK);
}

/* Halves are kept as floats, unless they are small. */
int64_t loop_shared_bytes(const LoopPlace *x) {
  int64_t bytes = !x->small && dtype_size(x->dtype) < 4 && dtype_is_float(x->dtype) ? 4 : dtype_size(x->dtype);
  for (uint32_t k = 0; k < x->rank; k++) bytes *= x->dim[k]->i;
  return (bytes ? bytes + LOOP_WIDEST - 1 : LOOP_WIDEST) / LOOP_WIDEST * LOOP_WIDEST;
}

static void shared_check(Device *d, const LoopStmt *s) {
  const LoopPlace *x = &d->k->places.at[s->place];
  if (s->kind != LOOP_VAR || x->space != SPACE_SHARED) {
    check_fail(d->c, "between a grid and its blocks stands what is no shared array");
    return;
  }
  if (s->value) check_fail(d->c, "%s is shared and begins with a value", place_name(d, s));
  d->shared += loop_shared_bytes(x);
  if (d->shared > LOOP_SHARED)
    check_fail(d->c, "a block shares %lld bytes, of %d at most", (long long)d->shared, LOOP_SHARED);
}

/* Checks a bound loop and those in it, down to a thread's statements. */
static void launch_check(Device *d, const LoopStmt *s) {
  bool *axes = s->bind == BIND_GRID ? d->grid : d->block;
  uint32_t last = s->body.len - 1;
  if (axes[s->axis])
    check_fail(d->c, "two loops of one launch are bound to %s %c", s->bind == BIND_GRID ? "grid" : "block",
        loop_axis[s->axis]);
  axes[s->axis] = true;
  extent_check(d, s);
  d->same[s->var] = s->bind == BIND_GRID;
  if (s->beside > d->beside) d->beside = s->beside;
  bool inner = s->body.len && is_bound(s->body.at[last]);
  if (s->bind == BIND_BLOCK && (!inner || s->body.len > 1)) {
    d->body = &s->body;
    return;
  }
  if (!inner) {
    check_fail(d->c, "in the grid over %s stands no block", var_name(d, s));
    return;
  }
  if (s->bind == BIND_BLOCK && s->body.at[last]->bind == BIND_GRID)
    check_fail(d->c, "the grid over %s stands in a block", var_name(d, s->body.at[last]));
  for (uint32_t i = 0; i < last; i++) shared_check(d, s->body.at[i]);
  launch_check(d, s->body.at[last]);
}

/* ---- a thread's statements -------------------------------------------------------------------------- */

/* Whether e is uniform over a block: it has no reads, and no variable that differs among threads. */
static bool is_same(const Device *d, const Expr *e) {
  if (e->kind == EX_LABEL) return d->same[e->i];
  if (e->has & HAS_READ) return false;
  for (uint32_t k = 0; k < e->n && e->has & HAS_LABEL; k++)
    if (!is_same(d, e->arg[k])) return false;
  return true;
}

static void thread_for(Device *d, const LoopStmt *s) {
  bool order = s->bind == BIND_SEQ || s->bind == BIND_UNROLL || s->bind == BIND_ROLL;
  if (is_bound(s)) check_fail(d->c, "the loop over %s is bound to a device, and is not outermost", var_name(d, s));
  else if (!order || s->polled)
    check_fail(d->c, "the loop over %s is in order for no thread of a device", var_name(d, s));
  d->same[s->var] = is_same(d, s->lo) && is_same(d, s->hi);
  if (!d->same[s->var] && loop_has_barrier(&s->body))
    check_fail(d->c, "what threads do together stands in the loop over %s, whose threads go round differently often",
        var_name(d, s));
}

static void threads_check(Device *d, const LoopBody *b) {
  vec_each_of(const LoopStmt, s, *b) {
    bool makes = s->kind == LOOP_VAR || s->kind == LOOP_LET;
    LoopSpace space = makes ? d->k->places.at[s->place].space : SPACE_REGISTER;
    bool around = s->kind == LOOP_FOR && loop_has_barrier(&s->body);
    if (s->kind == LOOP_FOR) thread_for(d, s);
    if ((d->deep += around) > DEEP) check_fail(d->c, "a barrier stands in more than %d loops", DEEP);
    if (s->kind == LOOP_INDEX) d->same[s->var] = is_same(d, s->lo);
    if (s->kind == LOOP_IF && (has_kind(&s->body, LOOP_BARRIER) || has_kind(&s->other, LOOP_BARRIER)))
      check_fail(d->c, "a barrier stands in a condition");
    if (s->kind == LOOP_IF && (has_groups(&s->body) || has_groups(&s->other)))
      check_fail(d->c, "groups of copies are counted in a condition");
    if (s->kind == LOOP_IF && !is_same(d, s->cond) &&
        (has_warps(&s->body) || has_warps(&s->other)))
      check_fail(d->c, "what warps do together stands in a condition that is not the same for all threads");
    if ((s->kind == LOOP_MATRIX || loop_is_across(s)) && d->threads % 32)
      check_fail(d->c, "a block of %lld threads is no number of warps, and these do something together",
          (long long)d->threads);
    if (space == SPACE_SCRATCH)
      check_fail(d->c, "%s is of a worker's memory, which threads of a device have not", place_name(d, s));
    if (space == SPACE_SHARED) check_fail(d->c, "%s is shared and comes to be in a thread", place_name(d, s));
    if (s->kind == LOOP_LANES_OF || s->kind == LOOP_TRANSPOSE || s->kind == LOOP_FETCH || s->kind == LOOP_LEAD ||
        s->kind == LOOP_STREAM)
      check_fail(d->c, "a statement about lanes or lines stands in a thread of a device");
    threads_check(d, &s->body);
    threads_check(d, &s->other);
    d->deep -= around;
  }
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

static bool has_device_parts(const LoopKernel *k, const LoopBody *b) {
  vec_each_of(const LoopStmt, s, *b) {
    bool shared = s->kind == LOOP_VAR && k->places.at[s->place].space == SPACE_SHARED;
    if (is_bound(s) || shared || s->kind == LOOP_BARRIER || s->kind == LOOP_GROUP ||
        s->kind == LOOP_COPY || s->kind == LOOP_COMMIT || s->kind == LOOP_AWAIT || s->kind == LOOP_MATRIX ||
        loop_is_across(s) || s->kind == LOOP_PRODUCT || has_device_parts(k, &s->body) || has_device_parts(k, &s->other))
      return true;
  }
  return false;
}

static bool are_launches(const LoopBody *b) {
  vec_each_of(const LoopStmt, s, *b) {
    bool launch = s->kind == LOOP_FOR && s->bind == BIND_GRID;
    if (s->kind == LOOP_PRODUCT ? !are_launches(&s->body) || !are_launches(&s->other) : !launch) return false;
  }
  return true;
}

static bool has_products(const LoopBody *b) {
  for (uint32_t i = 0; i < b->len; i++)
    if (b->at[i]->kind == LOOP_PRODUCT || has_products(&b->at[i]->body) || has_products(&b->at[i]->other)) return true;
  return false;
}

static void launches_check(SumCheck *c, const LoopKernel *k, const LoopBody *b) {
  vec_each_of(LoopStmt, s, *b) {
    if (s->kind == LOOP_PRODUCT) {
      if (has_products(&s->body) || has_products(&s->other)) check_fail(c, "a product stands in another one");
      if (!s->other.len) check_fail(c, "a product has no launches in its stead, for where there is no library");
      launches_check(c, k, &s->body);
      launches_check(c, k, &s->other);
      continue;
    }
    if (has_products(&s->body)) check_fail(c, "a product stands in a launch");
    Device d = {.c = c, .k = k, .same = NEW_ARRAY(c->arena, bool, k->var.len + 1), .threads = 1};
    launch_check(&d, s);
    if (d.beside < 0 || d.beside * d.threads > LOOP_BESIDE)
      check_fail(c, "%lld blocks of %lld threads are beside each other, of %d threads at most", (long long)d.beside,
          (long long)d.threads, LOOP_BESIDE);
    if (d.body) threads_check(&d, d.body);
    LoopBody launch = {.at = &s, .len = 1};
    if (c->ok) loop_check_shared(c, k, &launch, d.body);
  }
}

void loop_check_device(SumCheck *c, const LoopKernel *k) {
  if (!has_device_parts(k, &k->body)) return;
  if (!are_launches(&k->body)) {
    check_fail(c, "what is bound to a device, shared, a group, or what threads do together stands in no grid");
    return;
  }
  if (k->dense) check_fail(c, "it is for a device, where all is in row-major order, and dense");
  launches_check(c, k, &k->body);
}
