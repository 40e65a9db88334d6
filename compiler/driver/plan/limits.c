/* driver/plan/limits.c - whether plans keep the limits of a program, or of --assert; and the equation that breaks a
 * limit.
 *
 * A limit of memory constrains the search, as --memory does: it is broken only if no plan was found that fits. */
#include "front/limits.h"

#include <stdlib.h>
#include <string.h>

#include "page/page.h"
#include "sites.h"

typedef struct Held {        /* one plan, and its limits */
  Session *s;
  const Args *a;
  const Job *j;
  int64_t sites;
  Limits limits;
  Diags *d;                  /* separate from the session's, which is emptied before each plan */
  bool said;                 /* on the command line, where a limit that cannot be checked is an error */
} Held;

/* ---- places ------------------------------------------------------------------------------------------------ */

static Source *source_of(const Job *j, Str name) {
  if (strcmp(j->program->file->src->name, name->s) == 0) return j->program->file->src;
  for (uint32_t i = 0; i < j->program->modules.len; i++)
    if (strcmp(j->program->modules.at[i].file->src->name, name->s) == 0) return j->program->modules.at[i].file->src;
  return NULL;
}

/* The word that begins there; nowhere in a graph's text, whose sources are not available. */
static Span place_span(const Held *h, Place p) {
  Source *s = h->j->program && p.file ? source_of(h->j, p.file) : NULL;
  uint32_t line = 0, column;
  if (!s || !p.line) return (Span){0};
  source_place(h->s->arena, s, 0, &line, &column); /* which builds the table of lines */
  if (p.line <= s->before || p.line - s->before > s->n_lines) return (Span){0};
  uint32_t at = s->line[p.line - s->before - 1];
  for (column = 1; column < p.column && at < s->len; column++)
    do at++;
    while (at < s->len && ((unsigned char)s->bytes[at] & 0xc0) == 0x80);
  uint32_t end = at + (uint32_t)strcspn(s->bytes + at, " \t\r\n[]()=,:+-*/%^<>");
  return (Span){s, at, end > at ? end : at + 1};
}

/* ---- the cause ----------------------------------------------------------------------------------------------- */

static double value_of(const Sites *p, LimitId id) {
  switch (id) {
  case LIMIT_BYTES: return p->placing->bytes;
  case LIMIT_MEMORY: return p->fit.peak.bytes;
  case LIMIT_TIME: return plan_seconds(p);
  default: return p->report.facts->busiest;
  }
}

static const char *value_text(Arena *a, LimitId id, double x) {
  LimitUnit unit = limit_info[id].unit;
  return unit == UNIT_BYTES ? bytes_of(a, x) : unit == UNIT_SECONDS ? seconds_of(a, x) : count_amount(a, x);
}

static bool keeps(double x, const Limit *l) {
  switch (l->op) {
  case OP_LT: return x < l->amount;
  case OP_LE: return x <= l->amount;
  case OP_GT: return x > l->amount;
  case OP_GE: return x >= l->amount;
  default: return !(x < l->amount) && !(x > l->amount);
  }
}

static double share_of(const Sites *p, LimitId id, uint32_t tensor) {
  const FactTensor *t = &p->report.facts->tensors.at[tensor];
  switch (id) {
  case LIMIT_BYTES: return t->received + t->brought;
  case LIMIT_MEMORY: return (int32_t)tensor == p->fit.peak.at ? p->fit.peak.bytes : 0;
  case LIMIT_TIME: return t->seconds;
  default: return t->busiest;
  }
}

static const char *share_text(const Sites *p, LimitId id, uint32_t tensor) {
  Arena *a = p->s->arena;
  const FactTensor *t = &p->report.facts->tensors.at[tensor];
  const char *most = value_text(a, id, share_of(p, id, tensor));
  if (id == LIMIT_MEMORY) return arena_printf(a, "so much is on a site while %s is computed", t->name);
  if (id != LIMIT_BYTES) return arena_printf(a, "%s takes most: %s", t->name, most);
  if (t->vertex < 0) return arena_printf(a, "most is for copies of %s: %s", t->name, most);
  return arena_printf(a, "most is for %s: %s, %s of operands and %s to bring the result home", t->name, most,
                      bytes_of(a, t->received), bytes_of(a, t->brought));
}

static void share_say(const Held *h, const Sites *p, LimitId id, Diag *g) {
  uint32_t most = 0, n = p->report.facts->tensors.len;
  for (uint32_t i = 1; i < n; i++)
    if (share_of(p, id, i) > share_of(p, id, most)) most = i;
  if (!n || share_of(p, id, most) <= 0) return;
  const char *text = share_text(p, id, most);
  Span at = place_span(h, p->places->tensors.at[most].node->place);
  if (at.src) diag_at(h->d, g, at, "%s", text);
  else diag_hint(h->d, g, "%s", text);
}

static const char *limit_text(Arena *a, const Limit *l) {
  return arena_printf(a, "%s %s %s", limit_info[l->id].word, op_info[l->op].sign, value_text(a, l->id, l->amount));
}

static void limit_broken(const Held *h, const Sites *p, const Limit *l) {
  Arena *a = h->s->arena;
  const char *best = bytes_best(p, a);
  Diag *g = diag_add(h->d, D_E932, l->span, "%s does not hold on %lld site%s: %s", limit_text(a, l),
      (long long)h->sites, h->sites > 1 ? "s" : "", value_text(a, l->id, value_of(p, l->id)));
  share_say(h, p, l->id, g);
  bool least = p->asked.in_seconds ? l->id == LIMIT_TIME : l->id == LIMIT_BYTES;
  if (best && least && !p->asked.in_elements && (l->op == OP_LT || l->op == OP_LE)) diag_hint(h->d, g, "%s", best);
}

static void unfit_say(const Held *h, const Sites *p, Span limit) {
  Diag *g = diag_add(h->d, D_E932, limit, "%s", p->fit.unfit);
  Span at = p->fit.binds ? place_span(h, p->places->tensors.at[p->fit.binds - 1].node->place) : (Span){0};
  if (at.src) diag_at(h->d, g, at, "this takes most of it");
}

/* ---- one plan -------------------------------------------------------------------------------------------------- */

/* A site's memory; that of the strictest limit. */
static const Limit *memory_limit(const Limits *all) {
  const Limit *least = NULL;
  vec_each(const Limit, l, *all)
    if (l->id == LIMIT_MEMORY && (l->op == OP_LE || l->op == OP_LT) && (!least || l->amount < least->amount)) least = l;
  return least;
}

static Leave unchecked(Held *h, Span at, const char *what) {
  if (h->said) return fail(h->s, LEAVE_USAGE, "--assert: %s", what);
  diag_add(h->d, D_W008, at, "the plan is not looked at: %s", what);
  return LEAVE_OK;
}

/* False: the plan cannot be made here, or none of its limits can be checked. */
static bool checkable(Held *h, Leave *l) {
  Buf why = buf_new(h->s->arena);
  const char *costs = arg_last(h->a, OPT_COSTS), *env = getenv("EIN_MACHINE");
  bool timed = arg_has(h->a, OPT_MACHINE) || (costs && strcmp(costs, "seconds") == 0 && env && *env);
  uint32_t n = 0;
  for (uint32_t i = 0; !*l && i < h->limits.len; i++) {
    if (h->limits.at[i].id != LIMIT_TIME || timed) h->limits.at[n++] = h->limits.at[i];
    else *l = unchecked(h, h->limits.at[i].span, "time is that of a machine file, by --machine");
  }
  h->limits.len = n;
  if (*l || !n) return false;
  if (part_from_graph(h->s->arena, h->j->graph, &why)) return true;
  *l = unchecked(h, h->limits.at[0].span, arena_printf(h->s->arena, "%s; -D gives a dim its value", why.s));
  return false;
}

/* The machine's, or --memory, if that is less. */
static void memory_limit_take(Sites *p, const Limit *l) {
  double most = l ? l->op == OP_LT ? l->amount - 1 : l->amount : 0;
  if (l && (p->asked.memory <= 0 || most < p->asked.memory)) p->asked.memory = most > 1 ? most : 1;
}

static Leave held_check(Held *h) {
  Leave l = LEAVE_OK;
  if (!checkable(h, &l)) return l;
  const Limit *memory = memory_limit(&h->limits);
  Sites p = {.s = h->s, .j = *h->j, .sites = h->sites, .asked.held = true};
  memory_limit_take(&p, memory);
  l = sites_find(&p, h->a);
  if (l && !p.fit.unfit) return l;
  if (p.fit.unfit) unfit_say(h, &p, memory ? memory->span : h->limits.at[0].span);
  for (uint32_t i = 0; !l && i < h->limits.len; i++)
    if (!keeps(value_of(&p, h->limits.at[i].id), &h->limits.at[i])) limit_broken(h, &p, &h->limits.at[i]);
  return LEAVE_OK;
}

/* ---- everything together ----------------------------------------------------------------------------------------- */

/* Limits on the command line: for one plan. */
static Leave said_check(Session *s, const Args *a, const Job *j, Diags *d) {
  Held h = {.s = s, .a = a, .j = j, .d = d, .said = true};
  const Words *w = &a->given[OPT_ASSERT];
  bool ok = true;
  if (!w->len) return LEAVE_OK;
  if (!arg_has(a, OPT_SITES)) return fail(s, LEAVE_USAGE, "--assert is for plans for many sites; -n says for how many");
  Leave l = sites_read(s, a, &h.sites);
  for (uint32_t i = 0; !l && i < w->len; i++)
    ok &= limits_read(s->arena, s->strings, source_new(s->arena, "--assert", w->at[i], strlen(w->at[i])), d, &h.limits);
  return l || !ok ? l : held_check(&h);
}

static Leave line_check(Session *s, const Args *a, const Job *j, const AstStmt *line, Diags *d) {
  Held h = {.s = s, .a = a, .j = j, .d = d};
  bool known = line->e->kind == AST_INT;
  if (known) h.sites = line->e->i;
  else known = line->e->kind == AST_NAME && job_dim(j, line->e->name.s, &h.sites);
  limits_of(s->arena, line, d, &h.limits);
  if (!known) return unchecked(&h, line->e->span, arena_printf(s->arena, "-D gives %s its value", line->e->name.s->s));
  if (h.sites >= 1 && h.sites <= PLAN_SITES) return held_check(&h);
  diag_add(d, D_E114, line->e->span, "plans are for 1 to %d sites", PLAN_SITES);
  return LEAVE_OK;
}

Leave limits_check(Session *s, const Args *a, const Job *j) {
  const AstFile *f = job_file(j);
  bool any = arg_has(a, OPT_ASSERT);
  const char *costs = arg_last(a, OPT_COSTS);
  for (uint32_t i = 0; f && i < f->stmts.len; i++) any |= f->stmts.at[i]->kind == STMT_LIMITS;
  if (!any && arg_has(a, OPT_SITES))
    return fail(s, LEAVE_USAGE, "-n: nothing is said of a plan; --assert says what it must keep to");
  static const OptionId about[] = {OPT_PLAN_FILE, OPT_PIN, OPT_PLANNER, OPT_COSTS, OPT_BUDGET};
  for (size_t k = 0; k < COUNT(about) && !any; k++)
    if (arg_has(a, about[k]))
      return fail(s, LEAVE_USAGE, "--%s: nothing is said of a plan; --assert says what it must keep to",
          options[about[k]].name);
  if (any && costs && strcmp(costs, "eindecomp") == 0)
    return fail(s, LEAVE_USAGE, "limits are for plans on a mesh, by any cost but eindecomp");
  Diags *d = diags_new(s->arena);
  Leave l = said_check(s, a, j, d);
  for (uint32_t i = 0; !l && f && i < f->stmts.len; i++)
    if (f->stmts.at[i]->kind == STMT_LIMITS) l = line_check(s, a, j, f->stmts.at[i], d);
  s->diags = d;
  Leave told = session_report(s);
  return l ? l : told;
}
