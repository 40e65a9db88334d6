/* driver/texts.c - texts of the intermediate languages, where a compilation may begin: read, checked, and summarised
 * (names, types and shapes of inputs and outputs) as a graph without contents. A text from elsewhere may be wrong:
 * that is no bug. */
#include <string.h>

#include "algebra/algebra.h"
#include "loop/labels.h"
#include "plan/plan.h"
#include "task/sites/site.h"
#include "driver.h"

/* ---- the summary ------------------------------------------------------------------------------------------ */

/* A vertex with a tensor's name, type and shape; labels are NULL if unknown. */
static EinNode *tensor_vertex(EinGraph *g, DType t, uint32_t rank, const Expr **dim, Str *label, Place at) {
  Exprs *x = g->exprs;
  if (!label) label = NEW_ARRAY(g->arena, Str, rank + 1);
  const Expr *zero = dtype_is_float(t) ? expr_real(x, t, 0) : expr_int(x, t, 0);
  EinSum sum = {.n_out = rank, .acc = t, .dtype = t, .body = zero};
  EinNode *n = graph_vertex(g, g->top, &sum, dim, label, rank, NULL, NULL);
  n->place = at;
  return n;
}

/* On a mesh, the shape of the whole tensor, of which sites have blocks. */
static const Expr **whole_of(Session *s, const TaskGraph *t, const TaskBuffer *b) {
  if (!t->mesh.n) return b->dim;
  int64_t *extent = NEW_ARRAY(s->arena, int64_t, b->rank + 1);
  task_whole(t, b, extent);
  return exprs_ints(s->arena, t->exprs, b->rank, extent);
}

static EinGraph *graph_of_tasks(Session *s, const TaskGraph *t) {
  EinGraph *g = graph_new(s->arena, s->strings, t->exprs);
  AxisLabels labels = axis_labels(s->arena, t, NULL);
  for (uint32_t i = t->mesh.n; i < t->dims.len; i++) vec_push(s->arena, g->dims, t->dims.at[i]);
  vec_each(const TaskArgument, x, t->inputs) {
    const TaskBuffer *b = &t->buffers.at[x->buffer];
    const Expr **dim = whole_of(s, t, b);
    EinNode *fallback = x->optional ? tensor_vertex(g, b->dtype, b->rank, dim, labels.of[b->id], b->place) : NULL;
    EinNode *n = graph_input(g, x->name, b->dtype, b->rank, dim, x->param);
    n->fallback = fallback;
    n->place = b->place;
  }
  for (uint32_t i = 0; i < t->outputs.len; i++) {
    const TaskBuffer *b = &t->buffers.at[t->outputs.at[i].buffer];
    EinNode *n = tensor_vertex(g, b->dtype, b->rank, whole_of(s, t, b), labels.of[b->id], b->place);
    vec_push(s->arena, g->outputs, ((EinOutput){t->outputs.at[i].name, n}));
  }
  return g;
}

static EinGraph *graph_of_relations(Session *s, const Algebra *p) {
  EinGraph *g = graph_new(s->arena, s->strings, s->exprs);
  vec_each_of(const AlgNode, x, p->inputs) {
    int64_t *extent = NEW_ARRAY(s->arena, int64_t, x->type.rank + 1);
    rel_extents(s->arena, &x->type, extent);
    const Expr **dim = exprs_ints(s->arena, s->exprs, x->type.rank, extent);
    graph_input(g, x->name, x->type.dtype, x->type.rank, dim, false)->place = x->place;
  }
  vec_each(const AlgOutput, x, p->outputs) {
    const Expr **dim = exprs_ints(s->arena, s->exprs, x->rank, x->extent);
    EinNode *n = tensor_vertex(g, x->node->type.dtype, x->rank, dim, NULL, x->node->place);
    vec_push(s->arena, g->outputs, ((EinOutput){x->name, n}));
  }
  return g;
}

/* ---- by language -------------------------------------------------------------------------------------------- */

static Leave graph_begin(Session *s, Job *j, Source *src) {
  EinGraph *g = graph_read(s->arena, s->strings, src, s->diags);
  Leave l = session_report(s);
  if (l || !g) return l ? l : LEAVE_PROGRAM;
  if (!graph_check_text(g, s->diags) || !graph_check_ranges(g, s->diags)) return session_report(s);
  j->graph = g;
  return LEAVE_OK;
}

static Leave relations_begin(Session *s, Job *j, Source *src) {
  j->relations = algebra_read(s->arena, s->strings, src, s->diags);
  if (!j->relations || !algebra_check_text(j->relations, s->diags)) return session_report(s);
  j->past = true;
  j->graph = graph_of_relations(s, j->relations);
  return LEAVE_OK;
}

static void tasks_begin(Session *s, Job *j) {
  j->past = true;
  j->graph = graph_of_tasks(s, j->tasks);
}

static Leave task_begin(Session *s, Job *j, Source *src) {
  j->tasks = task_read(s->arena, s->strings, src, s->diags);
  Leave l = session_report(s);
  if (l || !j->tasks) return l ? l : LEAVE_PROGRAM;
  if (!task_check_text(j->tasks, s->diags) || !task_check_ranges(j->tasks, s->diags)) return session_report(s);
  tasks_begin(s, j);
  return LEAVE_OK;
}

static Leave loop_source(Session *s, Job *j, Source *src) {
  j->loops = loop_read(s->arena, s->strings, src, s->diags);
  Leave l = session_report(s);
  if (l || !j->loops) return l ? l : LEAVE_PROGRAM;
  Buf why = buf_new(s->arena);
  j->tasks = j->loops->tasks;
  if (!loop_check(j->loops, &why)) return fail(s, LEAVE_PROGRAM, "%s is no correct text of loops:\n%s", j->path, why.s);
  tasks_begin(s, j);
  return LEAVE_OK;
}

/* What is not proved of its loops is tested at run time from here on. */
static Leave loops_guarded(Session *s, Job *j) {
  Buf open = buf_new(s->arena);
  if (!task_check_ranges(j->tasks, s->diags)) return session_report(s);
  loop_guard(j->loops, &open);
  if (open.len) say(s, "%s: not proved to be in range, and looked at while it runs:\n%s", j->path, open.s);
  j->loops = language_made(s, LANG_LOOP, j->path, j->loops, false);
  return LEAVE_OK;
}

static Leave loop_begin(Session *s, Job *j, Source *src) {
  Leave l = loop_source(s, j, src);
  return l ? l : loops_guarded(s, j);
}

Leave job_from_loops(Session *s, Job *j, const char *name, const char *text) {
  *j = (Job){.path = name};
  return loop_source(s, j, source_new(s->arena, name, text, strlen(text)));
}

/* A plan alone is no program: it is only read. */
static Leave plan_begin(Session *s, Job *j, const Args *a, Source *src) {
  if (a->command != CMD_CHECK)
    return fail(s, LEAVE_USAGE,
        "%s is a plan; the program that it is for is what ein %s wants: ein plan x.ein --plan=%s", j->path,
        commands[a->command].name, j->path);
  plan_read(s->arena, s->strings, src, s->diags);
  j->past = true;
  j->graph = graph_new(s->arena, s->strings, s->exprs);
  return session_report(s);
}

Leave text_begin(Session *s, Job *j, const Args *a) {
  if (a->command == CMD_GRAPH && j->from != LANG_GRAPH && j->from != LANG_PLAN)
    return fail(s, LEAVE_USAGE, "%s is past the graph, which is what ein graph wants", j->path);
  Source *src = file_read(s, j->path);
  if (!src) return LEAVE_MACHINE;
  switch (j->from) {
  case LANG_GRAPH: return graph_begin(s, j, src);
  case LANG_PLAN: return plan_begin(s, j, a, src);
  case LANG_TRA: case LANG_IA: return relations_begin(s, j, src);
  case LANG_TASK: return task_begin(s, j, src);
  case LANG_LOOP: return loop_begin(s, j, src);
  case LANG_PROGRAM: case LANGUAGES: break;
  }
  bug("a program is no text on the way");
}
