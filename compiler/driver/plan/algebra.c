/* driver/plan/algebra.c - ein plan for many sites as a program over relations: --format=tra and ia; and
 * --derivation, from Table 1 of the TRA paper to the plan. */
#include "algebra/cost.h"
#include "sites.h"
#include "driver/table.h"

static Cutting cutting(const Sites *p) {
  Cutting c = cutting_of_placing(p->s->arena, p->places, p->placing);
  c.memory = (int64_t)p->memory;
  return c;
}

static const Algebra *ia_of(const Sites *p, bool again) {
  Cutting c = cutting(p);
  return relations_made(p->s, &p->j, p->keys, &c, true, again);
}

Leave algebra_text(const Sites *p, bool ia, bool reread, Buf *out) {
  Cutting c = ia || p->by_bytes ? cutting(p) : cutting_of_counts(p->places, p->choice.d);
  algebra_print(out, relations_made(p->s, &p->j, p->keys, &c, ia, reread));
  return LEAVE_OK;
}

Leave sites_tasks(const Sites *p, bool reread, TaskGraph **out) {
  Buf why = buf_new(p->s->arena);
  *out = tasks_of_sites(p->s, p->j.path, ia_of(p, reread), reread, &why);
  return *out ? LEAVE_OK : fail(p->s, LEAVE_PROGRAM, "this plan cannot be one list of tasks yet: %s", why.s);
}

Leave job_sites(Session *s, Job *j, const Args *a, Language as) {
  Sites p = {.s = s, .j = *j};
  Leave l = sites_read(s, a, &p.sites);
  if (l || p.sites == 1) return l;
  if (j->past && !job_unplaced(j)) return fail(s, LEAVE_USAGE, "-n: %s says itself on how many sites it is", j->path);
  l = sites_find(&p, a);
  if (l) return l;
  detail(s, "%s: the plan's sites receive %.0f bytes", j->path, p.placing->bytes);
  Cutting c = cutting(&p);
  if (as == LANG_TRA || as == LANG_IA || p.keys)
    j->relations = relations_made(s, &p.j, p.keys, &c, as != LANG_TRA, arg_has(a, OPT_ROUNDTRIP));
  else l = sites_tasks(&p, arg_has(a, OPT_ROUNDTRIP), &j->tasks);
  return l;
}

bool task_text_try(const Sites *p, bool reread, Buf *out, Buf *why) {
  const TaskGraph *t = tasks_of_sites(p->s, p->j.path, ia_of(p, false), reread, why);
  if (t) task_print(out, t);
  return t != NULL;
}

Leave task_text(const Sites *p, bool reread, Buf *out) {
  TaskGraph *t;
  Leave l = sites_tasks(p, reread, &t);
  if (!l) task_print(out, t);
  return l;
}

Leave algebra_simulation(Sites *p) {
  return simulation_find(p, ia_of(p, false));
}

/* ---- the derivation ------------------------------------------------------------------------------------- */

enum { COL_TENSOR, COL_STEP, COL_PAPER, COL_BYTES, COLUMNS };

/* Steps that leave the program unchanged are skipped. */
static void row_add(const Sites *p, Table *t, const Cutting *c, uint32_t steps, AlgCost *before) {
  Arena *a = p->s->arena, *work = arena_new();
  AlgCost cost = algebra_cost(ia_from_graph(work, p->j.graph, c, steps));
  TableRow r = {.cell = {"", "as in Table 1"}, .tail = ""};
  bool same = steps && cost.known && cost.paper == before->paper && cost.bytes == before->bytes;
  arena_free(work);
  *before = cost;
  if (same) return;
  if (steps) ia_step_says(a, c, steps - 1, &r.cell[COL_TENSOR], &r.cell[COL_STEP]);
  r.cell[COL_PAPER] = cost.known ? amount(a, (int64_t)cost.paper, "") : "?";
  r.cell[COL_BYTES] = cost.known ? amount(a, (int64_t)cost.bytes, "B") : "?";
  vec_push(a, t->rows, r);
}

Leave algebra_derivation(const Sites *p, Buf *out) {
  if (p->keys)
    return fail(p->s, LEAVE_USAGE, "--derivation is of a program's equations, and %s is past them", p->j.path);
  Cutting c = cutting(p);
  Table t = {.columns = COLUMNS, .clipped = COL_STEP, .left = 1u << COL_TENSOR | 1u << COL_STEP};
  AlgCost before = {0};
  vec_push(p->s->arena, t.rows, ((TableRow){.cell = {"tensor", "step", "the paper's cost", "received"}, .tail = ""}));
  for (uint32_t k = 0; k <= ia_steps(&c); k++) row_add(p, &t, &c, k, &before);
  table_print(out, &t);
  return LEAVE_OK;
}
