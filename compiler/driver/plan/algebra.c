/* driver/plan/algebra.c - ein plan for many sites as a program over relations: --format=tra and ia; and
 * --derivation, from Table 1 of the TRA paper to the plan. */
#include "algebra/cost.h"
#include "algebra/rules/derive.h"
#include "sites.h"
#include "driver/table.h"

static Cutting cutting(const Sites *p) {
  Cutting c = cutting_of_placing(p->s->arena, p->places, p->placing);
  c.memory = (int64_t)p->asked.memory;
  return c;
}

static const Algebra *ia_of(const Sites *p, bool again) {
  Cutting c = cutting(p);
  return relations_made(p->s, &p->j, p->keys, &c, true, again);
}

Leave algebra_text(const Sites *p, bool ia, bool reread, Buf *out) {
  Cutting c = ia || p->asked.by_bytes ? cutting(p) : cutting_of_counts(p->places, p->choice.d);
  algebra_print(out, relations_made(p->s, &p->j, p->keys, &c, ia, reread));
  return LEAVE_OK;
}

Leave sites_tasks(const Sites *p, bool reread, TaskGraph **out) {
  Buf why = buf_new(p->s->arena);
  *out = tasks_of_sites(p->s, p->j.path, ia_of(p, reread), reread, &why);
  return *out ? LEAVE_OK : fail(p->s, LEAVE_PROGRAM, "this plan cannot be one list of tasks yet: %s", why.s);
}

Leave job_sites(Session *s, Job *j, const Args *a, Language as) {
  Sites p = {.s = s, .j = *j, .asked = {.all_sites = true}};
  Leave l = sites_read(s, a, &p.sites);
  if (l || p.sites == 1) return l;
  if (j->past && !job_unplaced(j)) return fail(s, LEAVE_USAGE, "-n: %s itself says on how many sites it runs", j->path);
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

typedef struct Derived {     /* rules applied to one tensor, one after the other, are a row */
  Arena *arena;
  const Algebra *ia;
  Table table;
  Str tensor;                /* of the last row */
  Buf rules;                 /* their names */
} Derived;

static void row_say(Derived *x, const char *tensor, const char *step, const Algebra *ia) {
  TableRow *r = &x->table.rows.at[x->table.rows.len - 1];
  AlgCost cost = algebra_cost(ia);
  *r = (TableRow){.cell = {tensor, step}, .tail = ""};
  r->cell[COL_PAPER] = cost.known ? amount(x->arena, (int64_t)cost.paper, "") : "?";
  r->cell[COL_BYTES] = cost.known ? amount(x->arena, (int64_t)cost.bytes, "B") : "?";
}

static void row_add(Derived *x, const char *tensor, const char *step, const Algebra *ia) {
  vec_push(x->arena, x->table.rows, (TableRow){.tail = ""});
  row_say(x, tensor, step, ia);
}

static void rule_applied(void *ctx, const Rule *rule, const AlgNode *at) {
  Derived *x = ctx;
  const char *tensor = at->name ? at->name->s : "";
  if (!x->rules.len || at->name != x->tensor) x->rules = buf_new(x->arena), row_add(x, tensor, "", x->ia);
  buf_printf(&x->rules, "%s%s", x->rules.len ? ", " : "", rule->name);
  x->tensor = at->name;
  row_say(x, tensor, x->rules.s, x->ia);
}

Leave algebra_derivation(const Sites *p, Buf *out) {
  if (p->keys)
    return fail(p->s, LEAVE_USAGE, "--derivation is of a program's equations, and %s is past them", p->j.path);
  Arena *a = p->s->arena;
  Cutting c = cutting(p);
  Algebra *ia = ia_plain_from_graph(a, p->j.graph, &c);
  const Algebra *plan = ia_of(p, false);
  Derived x = {.arena = a, .ia = ia, .table = {.columns = COLUMNS, .clipped = COL_STEP}, .rules = buf_new(a)};
  x.table.left = 1u << COL_TENSOR | 1u << COL_STEP;
  vec_push(a, x.table.rows, ((TableRow){.cell = {"tensor", "step", "the paper's cost", "received"}, .tail = ""}));
  row_add(&x, "", "as in Table 1", ia);
  Derivation how = {alg_rules_new(a), rule_applied, &x};
  if (!algebra_derive(ia, plan, &how)) row_add(&x, "", "the plan, to which these rules do not lead", plan);
  table_print(out, &x.table);
  return LEAVE_OK;
}
