/* driver/plan/why.c - the best plan under further pins, and the edges where it loses. */
#include "why.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rival.h"
#include "driver/table.h"

/* ---- edges ---------------------------------------------------------------------------------------------------- */

static double brought_cost(const Sites *p, const Placing *x, uint32_t tensor) {
  if (p->asked.in_seconds) return placing_brought_seconds(p->places, p->seconds, x, tensor);
  return p->asked.in_elements ? placing_brought_elements(p->places, x, tensor) : placing_brought(p->places, x, tensor);
}

static double read_cost(const Sites *p, const Placing *x, uint32_t vertex, uint32_t read) {
  if (p->asked.in_elements) return placing_read_elements(p->places, x, vertex, read);
  return placing_read(p->places, x, vertex, read);
}

static void edge_add(const Sites *p, Why *w, EdgeKind kind, uint32_t tensor, int32_t reader, double its, double ours) {
  if (fabs(its - ours) <= 1e-9 * p->placing->cost) return;
  vec_push(p->s->arena, w->edges, ((WhyEdge){kind, tensor, reader, its - ours}));
}

/* By seconds the reads of a vertex are one wait, and its kernels count too. */
static void vertex_edges(const Sites *p, Why *w, uint32_t i) {
  const Placing *x = w->placing, *ours = p->placing;
  if (p->asked.in_seconds) {
    edge_add(p, w, EDGE_OPERANDS, i, -1, placing_received_seconds(p->places, p->seconds, x, i),
             placing_received_seconds(p->places, p->seconds, ours, i));
    edge_add(p, w, EDGE_KERNELS, i, -1, placing_kernels(p->places, p->seconds, x, i),
        placing_kernels(p->places, p->seconds, ours, i));
    return;
  }
  for (uint32_t k = 0; k < p->g->vertices.at[i].reads.len; k++)
    edge_add(p, w, EDGE_READ, p->places->tensor[i][k], (int32_t)i, read_cost(p, x, i, k), read_cost(p, ours, i, k));
}

static int edge_order(const void *a, const void *b) {
  const WhyEdge *x = a, *y = b;
  if (x->more > y->more || x->more < y->more) return x->more < y->more ? 1 : -1;
  if (x->tensor != y->tensor) return x->tensor < y->tensor ? -1 : 1;
  return x->reader < y->reader ? -1 : x->reader > y->reader;
}

static void edges_find(const Sites *p, Why *w) {
  for (uint32_t i = 0; i < p->places->tensors.len; i++) {
    if (i < p->g->vertices.len) vertex_edges(p, w, i);
    edge_add(p, w, EDGE_HOME, i, -1, brought_cost(p, w->placing, i), brought_cost(p, p->placing, i));
  }
  if (w->edges.len) qsort(w->edges.at, w->edges.len, sizeof *w->edges.at, edge_order);
}

/* ---- the search ------------------------------------------------------------------------------------------------- */

/* The plan's file, the pins, and this one. */
static Plan *pinned(const Sites *p, const char *pin) {
  Session *s = p->s;
  Plan *with = arena_copy(s->arena, p->asked.plan, sizeof *with);
  with->vertices.at = arena_copy(s->arena, with->vertices.at, sizeof *with->vertices.at * with->vertices.len);
  with->vertices.cap = with->vertices.len;
  plan_read_pin(s->arena, s->strings, source_new(s->arena, "--why", pin, strlen(pin)), with, s->diags);
  return with;
}

/* Whether the plan itself is among what `said` allows. */
static bool has_already(const Sites *p, const PartVectors *said) {
  for (uint32_t i = 0; i < p->g->vertices.len; i++) {
    bool has = !said[i].n;
    for (uint32_t k = 0; !has && k < said[i].n; k++)
      has = memcmp(said[i].at + (size_t)k * said[i].n_label, p->choice.d[i], said[i].n_label * sizeof *said[i].at) == 0;
    if (!has) return false;
  }
  return true;
}

static Leave why_find(const Sites *p, Why *w) {
  Session *s = p->s;
  Sites q = *p;
  Plan *with = pinned(p, w->pin);
  if (s->diags->errors) return session_report(s);
  q.asked.plan = with;
  q.asked.held = true;
  q.fit.unfit = NULL;
  q.against.len = 0;
  q.said = plan_said(s->arena, p->g, p->sites, with, s->diags);
  if (q.said && p->vectors) q.vectors = plan_vectors(s->arena, p->g, p->sites, with, &q.narrow, s->diags);
  if (!q.said || (p->vectors && !q.vectors)) return session_report(s);
  if (has_already(p, q.said)) return w->none = "the plan has it", LEAVE_OK;
  Leave l = bytes_find(&q);
  w->none = q.fit.unfit;
  if (w->none) return LEAVE_OK;
  w->placing = q.placing;
  if (!l) edges_find(p, w);
  return l;
}

Leave whys_find(Sites *p, const Args *a) {
  Session *s = p->s;
  const Words *said = &a->given[OPT_WHY];
  Leave l = LEAVE_OK;
  if (said->len && !p->asked.by_bytes)
    return fail(s, LEAVE_USAGE, "--why is for plans on a mesh, by any cost but eindecomp");
  for (uint32_t i = 0; !l && i < said->len; i++) {
    Why *w = NEW(s->arena, Why);
    w->pin = said->at[i];
    l = why_find(p, w);
    vec_push(s->arena, p->report.whys, w);
  }
  return l;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static const char *edge_text(const Sites *p, const WhyEdge *e, Arena *a) {
  const char *name = tensor_called(p, a, e->tensor);
  bool input = p->places->tensors.at[e->tensor].vertex < 0;
  switch (e->kind) {
  case EDGE_READ: return arena_printf(a, "for %s, which reads %s", tensor_called(p, a, (uint32_t)e->reader), name);
  case EDGE_OPERANDS: return arena_printf(a, "for the operands of %s", name);
  case EDGE_KERNELS: return arena_printf(a, "in the kernels of %s", name);
  default: return arena_printf(a, input ? "for copies of %s" : "to bring %s home", name);
  }
}

/* What it loses and gains on all edges except the first. */
static void edges_sum(const Why *w, double *more, double *less) {
  *more = *less = 0;
  for (uint32_t i = 0; i < w->edges.len; i++) {
    double x = w->edges.at[i].more;
    if (x < 0) *less -= x;
    else if (i) *more += x;
  }
}

static void lost_text(const Sites *p, const Why *w, Buf *b) {
  const char *moves = p->asked.in_seconds ? "takes" : "moves";
  double more, less;
  if (!w->edges.len || w->edges.at[0].more <= 0) return;
  edges_sum(w, &more, &less);
  buf_printf(b, "; it %s %s more %s", moves, cost_text(p, b->arena, w->edges.at[0].more),
      edge_text(p, &w->edges.at[0], b->arena));
  if (more > 0) buf_printf(b, ", %s more elsewhere", cost_text(p, b->arena, more));
  if (less > 0) buf_printf(b, ", and %s less", cost_text(p, b->arena, less));
}

void why_text(const Sites *p, const Why *w, Buf *b) {
  if (w->none) {
    buf_str(b, w->none);
    return;
  }
  rival_cost_text(p, w->placing->cost, b);
  if (!w->edges.len) buf_str(b, "; it moves the same everywhere");
  lost_text(p, w, b);
}

void whys_print(const Sites *p, Buf *b) {
  for (uint32_t i = 0; i < p->report.whys.len; i++) {
    Buf words = buf_new(b->arena);
    why_text(p, p->report.whys.at[i], &words);
    rival_line(arena_printf(b->arena, "why not %s", shown(b->arena, p->report.whys.at[i]->pin)), &words, "; it ", b);
  }
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static void put_edge(const Sites *p, Json *j, const WhyEdge *e) {
  static const char *const kind[] = {"read", "operands", "home", "kernels"};
  json_object(j, NULL);
  json_str(j, "kind", kind[e->kind]);
  json_int(j, "tensor", e->tensor);
  if (json_has(j, "reader", e->reader >= 0)) json_int(j, "reader", p->g->vertices.at[e->reader].node->id);
  json_num(j, "more", e->more);
  json_end(j, '}');
}

void whys_json(const Sites *p, Json *j) {
  if (!p->report.whys.len) return;
  json_array(j, "why");
  vec_each_of(const Why, w, p->report.whys) {
    json_object(j, NULL);
    json_str(j, "pin", w->pin);
    if (w->none) json_str(j, "why", w->none);
    else {
      json_ints(j, "mesh", w->placing->mesh.n, w->placing->mesh.size);
      put_placing(j, p, w->placing);
      json_each(j, "edges", k, w->edges.len) put_edge(p, j, &w->edges.at[k]);
    }
    json_end(j, '}');
  }
  json_end(j, ']');
}
