/* driver/defaults.c - defaults of inputs that are not given, made as if they were: for what wants all inputs to be there before it begins. */
#include <string.h>

#include "graph/passes/passes.h"
#include "native.h"

/* The graph whose outputs are the defaults of what is not given; false: there are none. */
static bool defaults_graph(Session *s, const Job *j, const Eval *e, EinGraph *only) {
  const EinGraph *g = j->graph;
  if (j->past) return false;
  *only = *g;
  memset(&only->outputs, 0, sizeof only->outputs);
  memset(&only->asserts, 0, sizeof only->asserts);
  for (uint32_t i = 0; i < g->inputs.len; i++) {
    const EinNode *n = g->inputs.at[i];
    bool given = !n->fallback;
    for (uint32_t k = 0; k < e->n_input; k++) given |= e->input[k].name == n->name;
    if (!given) vec_push(s->arena, only->outputs, ((EinOutput){n->name, n->fallback}));
  }
  return only->outputs.len > 0;
}

/* On one of many ranks inputs are not read; what defaults hang on is. */
static Leave wanted_read(Session *s, const Job *j, const EinGraph *only, Eval *made) {
  const EinGraph *g = graph_dead(s->arena, only, NULL);
  EvalInput *in = NEW_ARRAY(s->arena, EvalInput, made->n_input + 1);
  Leave l = LEAVE_OK;
  memcpy(in, made->input, made->n_input * sizeof *in);
  made->graph = g;
  made->input = in;
  for (uint32_t k = 0; k < made->n_input && !l; k++)
    for (uint32_t i = 0; i < g->inputs.len && !l; i++)
      if (g->inputs.at[i]->name == in[k].name) l = given_values(s, made, g->inputs.at[i], given_of(j->given, in[k].name), &in[k].array);
  return l;
}

static Leave by_c(Session *s, const Args *a, Job *job, Compiler *c, int threads, Eval *made) {
  Library lib = {0};
  ein_status status;
  Leave l = job_loops(s, job, a);
  if (!l) l = library_open(s, job, c, threads, &lib);
  if (!l) l = library_plan(s, &lib, job, made, &status);
  if (!l) l = library_run(s, &lib, made, &status);
  library_close(&lib);
  return l;
}

Leave defaults_make(Session *s, const Args *a, const Job *j, Compiler *c, int threads, Eval *e) {
  EinGraph only;
  EvalStatus status;
  Job job = {.path = j->path, .program = j->program, .graph = &only, .dims = j->dims};
  Eval made = *e;
  if (!defaults_graph(s, j, e, &only)) return LEAVE_OK;
  made.graph = &only;
  Leave l = s->ranks ? wanted_read(s, j, &only, &made) : LEAVE_OK;
  if (l) return l;
  l = c ? by_c(s, a, &job, c, threads, &made) : run_eval(s, &made, &status);
  EvalInput *all = NEW_ARRAY(s->arena, EvalInput, j->graph->inputs.len + 1);
  memcpy(all, e->input, e->n_input * sizeof *all);
  for (uint32_t i = 0; i < only.outputs.len && !l; i++) all[e->n_input++] = (EvalInput){only.outputs.at[i].name, made.output[i]};
  e->input = all;
  return l;
}
