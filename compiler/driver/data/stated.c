/* driver/data/stated.c - whether the adjoints that a program's defs state agree with those of their bodies: computes
 * its outputs by eval again for each of them, without that one. A def may intend a difference (straight through a
 * step, clipped), so differences are reported, but are no failure. */
#include "driver/compile/native.h"

typedef struct Compared {
  Session *s;
  const Job *job;
  const Eval *with;
  Buf *out;
  bool any;
} Compared;

static void head(Compared *c) {
  if (!c->any) buf_str(c->out, "  adjoints that are stated, beside what follows from the bodies\n");
  c->any = true;
}

static void def_told(Compared *c, const AstStmt *def, const Eval *without) {
  const EinGraph *g = c->with->graph;
  head(c);
  buf_printf(c->out, "    %-12s ", def->name.s->s);
  for (uint32_t k = 0; k < g->outputs.len; k++) {
    const EvalArray *stated = &c->with->output[k], *body = &without->output[k];
    if (!dtype_is_float(stated->dtype)) continue;
    double floor = rounding_floor(c->s->arena, c->with, g->outputs.at[k].node);
    Distance d = distance(stated, body, distance_bound(c->s->arena, g, g->outputs.at[k].node), floor, NULL, NULL);
    if (!d.wrong) continue;
    buf_printf(c->out, "ANOTHER: %s", g->outputs.at[k].name->s);
    report_place(c->out, stated, d.first);
    buf_str(c->out, " is ");
    double_print(c->out, eval_real(stated, d.first));
    buf_str(c->out, ", by the body ");
    double_print(c->out, eval_real(body, d.first));
    buf_printf(c->out, " (%s:%u)\n", def->span.src->name, span_line(c->s->arena, def->span));
    return;
  }
  buf_str(c->out, "the same\n");
}

static void def_compare(Compared *c, const AstStmt *def) {
  Session *s = c->s;
  Front front = s->front;
  Eval e = *c->with;
  const char *error;
  Place at;
  Buf why = buf_new(s->arena);
  front.diags = diags_new(s->arena);
  front.unstated = def->name.s;
  front.keep = c->job->keep;
  e.graph = graph_from_ast(&front, c->job->program, &c->job->dims);
  if (e.graph && graph_equal(e.graph, c->with->graph, &why)) return; /* it is not called */
  e.output = NULL;
  if (e.graph && graph_eval(&e, &error, &at) == EVAL_OK) {
    def_told(c, def, &e);
    return;
  }
  head(c);
  buf_printf(c->out, "    %-12s not compared: %s\n", def->name.s->s,
      e.graph ? "the other run fails" : "its body has no gradient");
}

static void file_compare(Compared *c, const AstFile *f) {
  for (uint32_t i = 0; i < f->stmts.len; i++)
    if (f->stmts.at[i]->kind == STMT_DEF && f->stmts.at[i]->adjoint) def_compare(c, f->stmts.at[i]);
}

void stated_compare(Session *s, const Job *j, const Eval *with, Buf *out) {
  Compared c = {.s = s, .job = j, .with = with, .out = out};
  if (!j->program) return;
  for (uint32_t i = 0; i < j->program->modules.len; i++)
    if (!j->program->modules.at[i].prelude) file_compare(&c, j->program->modules.at[i].file);
  file_compare(&c, j->program->file);
}
