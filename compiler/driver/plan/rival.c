/* driver/plan/rival.c - the runner-up of a plan by bytes. */
#include "rival.h"

#include <math.h>
#include <string.h>

#include "driver/table.h"

/* ---- the decision ----------------------------------------------------------------------------------------- */

/* The bytes that depend on how each vertex is cut. */
static double *weights(const Sites *p) {
  const PartGraph *g = p->g;
  double *w = NEW_ARRAY(p->s->arena, double, p->places->tensors.len + 1);
  for (uint32_t i = 0; i < g->vertices.len; i++) {
    w[i] += placing_received(p->places, p->placing, i) + placing_brought(p->places, p->placing, i);
    for (uint32_t k = 0; k < g->vertices.at[i].reads.len; k++)
      if (p->places->tensor[i][k] != i) w[p->places->tensor[i][k]] += placing_read(p->places, p->placing, i, k);
  }
  return w;
}

/* All its possible vectors except the current one; none: it has no choice, or too many to examine. */
static PartVectors other_vectors(const Sites *p, uint32_t i) {
  Arena *a = p->s->arena;
  const PartVertex *v = &p->g->vertices.at[i];
  PartVectors all = p->said[i];
  if (!all.n && part_ways(v, p->sites, NULL) <= (double)RIVAL_WAYS) all = part_viable(a, v, p->sites, NULL);
  uint32_t *at = NEW_ARRAY(a, uint32_t, (size_t)all.n * v->n_label + 1), n = 0;
  for (uint32_t k = 0; k < all.n; k++) {
    const uint32_t *d = all.at + (size_t)k * v->n_label;
    if (memcmp(d, p->choice.d[i], v->n_label * sizeof *d) == 0) continue;
    memcpy(at + (size_t)n++ * v->n_label, d, v->n_label * sizeof *d);
  }
  return (PartVectors){n, v->n_label, at};
}

/* ---- why it lost ------------------------------------------------------------------------------------------- */

static void most_more(const Sites *p, RunnerUp *r) {
  r->more = 0;
  for (uint32_t i = 0; i < p->places->tensors.len; i++) {
    bool vertex = p->places->tensors.at[i].vertex >= 0;
    double brought = placing_brought(p->places, r->placing, i) - placing_brought(p->places, p->placing, i);
    double received =
        vertex ? placing_received(p->places, r->placing, i) - placing_received(p->places, p->placing, i) : 0;
    if (brought > r->more) r->more = brought, r->tensor = i, r->operands = false;
    if (received > r->more) r->more = received, r->tensor = i, r->operands = true;
  }
}

/* ---- the search --------------------------------------------------------------------------------------------- */

/* Sums of seconds differ in their last digits. */
static bool as_much(double ours, double its) {
  return fabs(its - ours) <= 1e-9 * ours;
}

/* A plan that moves the same has not lost: it is taken only if there is no other. */
static bool rival_better(double ours, double its, const Placing *best) {
  if (!best) return true;
  if (as_much(ours, its)) return false;
  return as_much(ours, best->cost) || its < best->cost;
}

/* It, its operands, and its readers may be cut anew; all others keep their cuts. */
static PartVectors *near_only(const Sites *p, uint32_t at) {
  const PartGraph *g = p->g;
  uint32_t n = g->vertices.len;
  PartVectors *only = NEW_ARRAY(p->s->arena, PartVectors, n + 1);
  for (uint32_t i = 0; i < n; i++) only[i] = (PartVectors){1, g->vertices.at[i].n_label, p->choice.d[i]};
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < g->vertices.at[i].reads.len; k++) {
      int32_t from = g->vertices.at[i].reads.at[k].from;
      if (from == (int32_t)at) only[i] = p->said[i];
      if (from >= 0 && i == at) only[from] = p->said[from];
    }
  return only;
}

static RunnerUp *rival_try(const Sites *p, uint32_t i, double budget) {
  Arena *a = p->s->arena;
  uint32_t which;
  PartVectors *only = near_only(p, i);
  only[i] = other_vectors(p, i);
  if (!only[i].n) return NULL;
  PlaceGraph limited = *p->places; /* with no more work than the plan may have */
  limited.work = p->placing->allowed;
  Placing *x = placing_find(a, &limited, &p->placing->mesh, only, budget, HUGE_VAL, &which);
  if (!x) return NULL;
  uint32_t *d = NEW_ARRAY(a, uint32_t, p->g->vertices.at[i].n_label + 1);
  placing_counts(p->places, x, i, d);
  RunnerUp *r = MAKE(a, RunnerUp, .vertex = i, .d = d, .placing = x);
  most_more(p, r);
  return r;
}

static const char *rival_none(const Sites *p) {
  if (p->asked.who != PLANNER_EXACT) return "a rule of thumb has no second choice";
  if (p->fit.unlimited) return "not looked for where memory decides";
  if (p->g->vertices.len > RIVAL_MOST)
    return arena_printf(p->s->arena, "not looked for among more than %d tensors", RIVAL_MOST);
  return NULL;
}

RunnerUp *rival_find(const Sites *p) {
  RunnerUp *r = NEW(p->s->arena, RunnerUp);
  const char *none = rival_none(p);
  uint32_t n = p->g->vertices.len, most = n <= RIVAL_SMALL ? 2 : 1;
  double *w = none ? NULL : weights(p);
  for (uint32_t tries = 0; !none && tries < most; tries++) {
    uint32_t at = n;
    for (uint32_t i = 0; i < n; i++)
      if (p->g->vertices.at[i].node->kind == EIN_VERTEX && w[i] >= 0 && (at == n || w[i] > w[at])) at = i;
    if (at == n) break;
    w[at] = -1;
    RunnerUp *its = rival_try(p, at, p->asked.budget / most);
    if (its && rival_better(p->placing->cost, its->placing->cost, r->placing))
      its->other = r->placing ? r : NULL, r = its;
    else if (its) r->other = its;
  }
  r->why = none ? none : r->placing ? NULL : "the tensors that matter most can be cut in no other way";
  return r;
}

/* ---- words ---------------------------------------------------------------------------------------------------- */

void rival_cost_text(const Sites *p, double its, Buf *b) {
  Arena *a = b->arena;
  double ours = p->placing->cost;
  if (p->asked.in_seconds) buf_str(b, seconds_of(a, its));
  else if (p->asked.in_elements) buf_printf(b, "%s elements", cost_text(p, a, its));
  else buf_printf(b, "%s a site", bytes_of(a, its / (double)p->sites));
  if (as_much(ours, its)) buf_printf(b, ", as %s", p->asked.in_seconds ? "long" : "much");
  else if (its > ours && its < 1.0005 * ours) buf_str(b, ", less than 0.1 % more");
  else if (its > ours && its < 1.1 * ours) buf_printf(b, ", %.1f %% more", 100 * (its / ours - 1));
  else if (ours > 0) buf_printf(b, ", %.2f times as %s", its / ours, p->asked.in_seconds ? "long" : "much");
}

void rival_text(const Sites *p, const RunnerUp *r, Buf *b) {
  Arena *a = b->arena;
  if (r->why) {
    buf_str(b, r->why);
    return;
  }
  const PartVertex *v = &p->g->vertices.at[r->vertex];
  rival_cost_text(p, r->placing->cost, b);
  buf_printf(b, ": %s cut %s", shown(a, v->name), sites_cut(a, v, v->n_label, r->d));
  if (r->more <= 0) return;
  bool input = p->places->tensors.at[r->tensor].vertex < 0;
  const char *what = r->operands ? "for the operands of" : input ? "for copies of" : "to bring home";
  buf_printf(b, "; it would move %s more %s %s", bytes_of(a, r->more), what, tensor_called(p, a, r->tensor));
}

void rival_line(const char *head, const Buf *words, const char *lost, Buf *b) {
  enum { FIRST = 24, WIDTH = 120 };
  const char *at = FIRST + words->len > WIDTH ? strstr(words->s, lost) : NULL;
  if (!at) buf_printf(b, "  %-21s %s\n", head, words->s);
  else buf_printf(b, "  %-21s %.*s;\n%*s%s\n", head, (int)(at - words->s), words->s, FIRST, "", at + 2);
}
