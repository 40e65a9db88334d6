/* task/check/range.c - checks tasks that were read from text: proves that every index that does not depend on data
 * is in range, where a stage reads and where it stores. See expr/prove/in_range.h. On a mesh this is done site by
 * site, with numbers for all dims; sites for which a kernel is the same are checked once. */
#include <string.h>

#include "expr/prove/in_range.h"
#include "expr/sum/print.h"
#include "task/sites/site.h"
#include "task/text/text.h"

typedef VEC(const Expr *) Form; /* the key of a kernel at a site: its expressions with the site's numbers */

typedef struct Check {
  InRange q;
  const TaskGraph *t;
  Diags *d;
  const Task *task;
  const TaskStage *stage;
  bool ok;
  int64_t site;              /* of a mesh, and */
  uint32_t at[MESH_AXES + 1]; /*  where it is */
  VEC(const Expr *) turns;   /* of the enclosing repeats: the number of turns, NULL if unknown; */
  VEC(Str) turn;             /* the names of their loop variables */
} Check;

/* ---- at one site ------------------------------------------------------------------------------------- */

static const Expr *here(const Check *c, const Expr *e) {
  if (!e || !c->t->mesh.n) return e;
  e = task_here(c->t, e, c->at);
  return e->dtype == DT_I64 ? expr_normal(c->t->exprs, e) : e;
}

static const Expr **all_here(const Check *c, uint32_t n, const Expr *const *e) {
  const Expr **out = NEW_ARRAY(c->q.arena, const Expr *, n + 1);
  for (uint32_t k = 0; k < n; k++) out[k] = here(c, e[k]);
  return out;
}

static SumOf sum_here(const Check *c, const TaskStage *s) {
  EinSum *sum = arena_copy(c->q.arena, s->sum, sizeof *sum);
  sum->body = here(c, sum->body);
  sum->where = here(c, sum->where);
  sum->domain = here(c, sum->domain);
  return (SumOf){sum, all_here(c, sum->n_out + sum->n_red, s->bound)};
}

/* ---- messages -------------------------------------------------------------------------------------- */

static void print_slot(void *ctx, Buf *out, int64_t slot) {
  const TaskStage *s = ((const Check *)ctx)->stage;
  buf_printf(out, "%c%u", s->slot[slot].kept ? '&' : '%', s->slot[slot].index);
}

static void complain(Check *c, const char *what, const Expr *index, const Expr *extent, const Proof *why) {
  const Task *k = c->task;
  const TaskStage *s = c->stage;
  Buf b = buf_new(c->q.arena);
  SumPrinter p = sum_printer(&b, c, print_slot);
  for (uint32_t i = 0; i < c->turn.len; i++) vec_push(c->q.arena, p.turn, c->turn.at[i]);
  print_sum_of(&p, s->sum, s->label, s->bound);
  buf_printf(&b, "%s, ", what);
  print_expr(&p, index);
  buf_printf(&b, ", %s [0, ", why->verdict == REFUTED ? "is not in" : "is not proved to be in");
  print_expr(&p, extent);
  buf_printf(&b, ")%s", in_range_where(c->q.arena, why, s->sum->n_out + s->sum->n_red, s->label, c->turn.at, index));
  if (c->t->mesh.n) buf_printf(&b, ", at site %lld", (long long)c->site);
  c->ok = false;
  diag_add(c->d, D_E917, lines_find(c->t->lines, 2, (const void *const[]){s->sum, k}), "%s %u%s%s, stage %u: %s",
      task_word(k), k->step, k->name ? " " : "", k->name ? k->name->s : "", (unsigned)(s - k->stages.at), b.s);
}

/* ---- writers of a buffer ---------------------------------------------------------------------------- */

typedef struct Writer { const TaskStage *stage; uint32_t n; } Writer;

/* Finds the stage that writes it, if there is only one. */
static void find_writer(const TaskGraph *t, const Tasks *list, uint32_t buffer, Writer *w) {
  vec_each_of(const Task, k, *list) {
    if (!task_writes(t, k, buffer)) continue;
    if (k->kind == TASK_REPEAT) find_writer(t, &k->body, buffer, w);
    bool others = k->kind != TASK_KERNEL && k->kind != TASK_REPEAT;
    for (uint32_t x = 0; x < k->exchange.len; x++)
      others |= k->exchange.at[x].now == buffer || k->exchange.at[x].next == buffer;
    w->n += others || k->turns == (int64_t)buffer || k->unless >= 0 ? 2 : 0;
    for (uint32_t s = 0; s < k->stages.len; s++)
      if (k->stages.at[s].buffer == (int64_t)buffer) w->stage = &k->stages.at[s], w->n++;
  }
}

/* NULL: several stages do, or another kind of task. */
static const TaskStage *writer_of(const TaskGraph *t, uint32_t buffer) {
  Writer w = {NULL, 0};
  find_writer(t, &t->tasks, buffer, &w);
  return w.n == 1 ? w.stage : NULL;
}

/* ---- stages ---------------------------------------------------------------------------------------- */

/* Indices from data are checked where they are read; those of a fetch's table by its sites. */
static const Expr *extent_of(void *ctx, const Expr *read, uint32_t k) {
  const Check *c = ctx;
  const TaskSlot *slot = &c->stage->slot[read->i];
  bool table = c->task->kind == TASK_FETCH && read->i == (int64_t)c->stage->sum->n_slot - 1;
  if (index_is_data(read->arg[k])) return NULL;
  if (slot->kept) return k < c->task->n_outer ? NULL : here(c, c->task->stages.at[slot->index].bound[k]);
  return table ? NULL : here(c, c->t->buffers.at[slot->index].dim[k]);
}

/* The meaning of a buffer that one stage alone computes completely, label by label. */
static const Expr *meaning_of(void *ctx, const Expr *read) {
  const Check *c = ctx;
  const TaskStage *s = c->stage;
  TaskSlot slot = s->slot[read->i];
  const TaskStage *made = slot.kept ? &c->task->stages.at[slot.index] : writer_of(c->t, slot.index);
  bool plain = made && (slot.kept || made->n_at == made->sum->n_out);
  for (uint32_t k = 0; plain && !slot.kept && k < made->n_at; k++)
    plain = made->at[k]->kind == EX_LABEL && made->at[k]->i == k;
  return plain ? sum_meaning(c->q.arena, c->q.exprs, sum_here(c, made), sum_here(c, s), read) : NULL;
}

static void say_open(void *ctx, int64_t slot, uint32_t k, const Expr *index, const Proof *why) {
  Check *c = ctx;
  const TaskSlot *of = &c->stage->slot[slot];
  const Expr *extent = of->kept ? c->task->stages.at[of->index].bound[k] : c->t->buffers.at[of->index].dim[k];
  complain(
      c, arena_printf(c->q.arena, "index %u of %c%u", k, of->kept ? '&' : '%', of->index), index, here(c, extent), why);
}

static void check_store(Check *c, const TaskStage *s, SumOf of) {
  InRange q = c->q;
  q.facts.label = of.bound;
  q.facts.n_label = of.sum->n_out;
  for (uint32_t k = 0; s->buffer >= 0 && k < s->n_at; k++) {
    const Expr *dim = here(c, c->t->buffers.at[s->buffer].dim[k]), *at = here(c, s->at[k]);
    Proof why = in_range_prove(&q, of.sum->domain, at, dim);
    if (why.verdict != PROVED) complain(c, arena_printf(q.arena, "index %u of where it is put", k), at, dim, &why);
  }
}

static void check_kernel_here(Check *c, const Task *k) {
  c->q.facts.turn = all_here(c, c->turns.len, c->turns.at);
  c->q.facts.n_turn = c->turns.len;
  for (uint32_t i = 0; i < k->stages.len; i++) {
    c->stage = &k->stages.at[i];
    SumOf s = sum_here(c, c->stage);
    in_range_sum(&c->q, s.sum, s.bound);
    check_store(c, c->stage, s);
  }
}

static void form_add(const Check *c, Form *f, uint32_t n, const Expr *const *e) {
  for (uint32_t k = 0; k < n; k++) vec_push(c->q.arena, *f, here(c, e[k]));
}

static Form form_here(const Check *c, const Task *k) {
  Form f = {0};
  form_add(c, &f, c->turns.len, c->turns.at);
  vec_each(const TaskStage, s, k->stages) {
    const Expr *const all[] = {s->sum->body, s->sum->where, s->sum->domain};
    form_add(c, &f, COUNT(all), all);
    form_add(c, &f, s->sum->n_out + s->sum->n_red, s->bound);
    form_add(c, &f, s->n_at, s->at);
    for (uint32_t j = 0; j <= s->sum->n_slot; j++) {
      int64_t b = j < s->sum->n_slot ? s->slot[j].kept ? -1 : (int64_t)s->slot[j].index : s->buffer;
      if (b >= 0) form_add(c, &f, c->t->buffers.at[b].rank, c->t->buffers.at[b].dim);
    }
  }
  return f;
}

static bool form_met(const Form *f, uint32_t n, const Form *met) {
  for (uint32_t i = 0; i < n; i++)
    if (memcmp(met[i].at, f->at, f->len * sizeof *f->at) == 0) return true;
  return false;
}

/* Stops at the first site with an error. */
static void check_kernel_at_sites(Check *c, const Task *k) {
  VEC(Form) met = {0};
  bool others = c->ok;
  const TaskBuffer *made = &c->t->buffers.at[vec_last(k->stages).buffer];
  int64_t sites = mesh_sites(&c->t->mesh);
  c->ok = true;
  for (int64_t s = 0; c->ok && s < sites; s++) {
    c->site = s;
    mesh_place(&c->t->mesh, c->site, c->at);
    if (!task_has(c->t, made, c->at)) continue;
    Form f = form_here(c, k);
    if (form_met(&f, met.len, met.at)) continue;
    vec_push(c->q.arena, met, f);
    check_kernel_here(c, k);
  }
  c->ok &= others;
}

static void check_kernel(Check *c, const Task *k) {
  c->task = k;
  if (c->t->mesh.n) check_kernel_at_sites(c, k);
  else check_kernel_here(c, k);
}

/* ---- repeats --------------------------------------------------------------------------------------- */

static const Expr *turns_over(const TaskGraph *t, const Task *repeat, unsigned has) {
  const TaskStage *s = writer_of(t, repeat->buffer);
  const EinSum *sum = s ? s->sum : NULL;
  bool plain = sum && sum->reducer == RED_NONE && !sum->domain && !(sum->body->has & ~has);
  return plain ? expr_normal(t->exprs, sum->body) : NULL;
}

const Expr *task_turns(const TaskGraph *t, const Task *repeat) { return turns_over(t, repeat, HAS_DIM); }

/* Whether a kernel before the repeat computes its number of turns, in the same turn of the enclosing repeats: a kernel
 * of its list, or of one around it. */
static bool made_in_turn(const TaskGraph *t, const Task *repeat) {
  const Task *around;
  for (const Tasks *list = &t->tasks; list; list = around ? &around->body : NULL) {
    around = NULL;
    for (uint32_t i = 0; i < list->len && list->at[i]->step < repeat->step; i++) {
      const Task *k = list->at[i];
      if (k->kind == TASK_KERNEL && task_writes(t, k, repeat->buffer)) return true;
      if (k->kind == TASK_REPEAT && k->end > repeat->step) around = k;
    }
  }
  return false;
}

const Expr *task_turns_within(const TaskGraph *t, const Task *repeat) {
  const Expr *e = turns_over(t, repeat, HAS_DIM | HAS_TURN);
  return e && e->has & HAS_TURN && !made_in_turn(t, repeat) ? NULL : e;
}

static void check_tasks(Check *c, const Tasks *list) {
  vec_each_of(const Task, k, *list) {
    if (task_has_stages(k)) check_kernel(c, k);
    if (k->kind != TASK_REPEAT) continue;
    vec_push(c->q.arena, c->turns, task_turns(c->t, k));
    vec_push(c->q.arena, c->turn, k->turn);
    check_tasks(c, &k->body);
    c->turn.len = --c->turns.len;
  }
}

bool task_check_ranges(const TaskGraph *t, Diags *d) {
  Arena *a = arena_new();
  Check c = {.t = t,
      .d = d,
      .ok = true,
      .q = {.exprs = t->exprs, .arena = a, .extent = extent_of, .meaning = meaning_of, .open = say_open}};
  const Expr **hold = NEW_ARRAY(a, const Expr *, t->checks.len + 1);
  for (uint32_t i = 0; i < t->checks.len; i++) hold[i] = t->checks.at[i].cond;
  c.q.ctx = &c;
  c.q.facts.hold = hold;
  c.q.facts.n_hold = t->checks.len;
  check_tasks(&c, &t->tasks);
  arena_free(a);
  return c.ok;
}
