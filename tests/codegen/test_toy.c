/* tests/codegen/test_toy.c - what a new target is: a printer of Loop, in a file of its own. This one prints plain C: it
 * knows no lanes, no threads, no strides and no cache, and takes nothing from codegen/emit/. Programs that it prints
 * are compiled, run, and compared with eval, so that whatever a schedule says is said in Loop, and a target may pass
 * over how fast it is to be. (docs/hacking.md, "Add a target") */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/eval/eval.h"
#include "schedule/door.h"
#include "task/from_graph.h"
#include "text.h"

TEXT_FORM("x.graph", EinGraph, graph_read, graph_print, graph_equal, graph_check)

/* ---- expressions: places are p0, p1, variables v0, v1 ------------------------------------------------ */

typedef struct Toy { Buf *out; const LoopProgram *p; const LoopKernel *k; } Toy;

static const char *type_of(DType t) {
  static const char *const of[DTYPES] = {
      [DT_F64] = "double", [DT_F32] = "float", [DT_I64] = "int64_t", [DT_I32] = "int32_t", [DT_BOOL] = "uint8_t"};
  return of[t] ? of[t] : "void"; /* the rest is not in this toy's language */
}

static void expr_toy(Toy *t, const Expr *e);

/* Row-major in what the place says that its extents are. */
static void element_toy(Toy *t, uint32_t place, uint32_t n, const Expr *const *at) {
  const LoopPlace *x = &t->k->places.at[place];
  buf_printf(t->out, "p%u", place);
  if (x->space != SPACE_BUFFER && !x->rank) return;
  buf_str(t->out, "[");
  for (uint32_t k = 0; k < n; k++) buf_str(t->out, "(");
  buf_str(t->out, "0");
  for (uint32_t k = 0; k < n; k++) {
    buf_printf(t->out, ") * %lld + ", (long long)x->dim[k]->i);
    expr_toy(t, at[k]);
  }
  buf_str(t->out, "]");
}

/* ops.def has the text of each operation; its functions are the runtime's. */
static void op_toy(Toy *t, const Expr *e, const char *of) {
  const OpInfo *o = &op_info[e->op];
  bool by_argument = o->rule == RULE_COMPARE || o->rule == RULE_TEST || o->rule == RULE_BITS;
  DType type = (DType)(by_argument ? e->arg[0]->dtype : e->dtype);
  for (const char *s = type == DT_F64 ? o->c_f64 : type == DT_F32 ? o->c_f32 : o->c_int; *s; s++) {
    if (*s == '@') buf_str(t->out, dtype_name((DType)e->arg[0]->dtype));
    else if (*s != '$') buf_char(t->out, *s);
    else if (s++, of) buf_str(t->out, of);
    else expr_toy(t, e->arg[*s - '0']);
  }
}

static void expr_toy(Toy *t, const Expr *e) {
  buf_char(t->out, '(');
  if (e->kind == EX_INT) buf_printf(t->out, "(%s)%lld", type_of((DType)e->dtype), (long long)e->i);
  else if (e->kind == EX_REAL && !isfinite(e->f))
    buf_str(t->out, isnan(e->f) ? "NAN" : e->f < 0 ? "-INFINITY" : "INFINITY");
  else if (e->kind == EX_REAL) buf_printf(t->out, "(%s)%a", type_of((DType)e->dtype), e->f);
  else if (e->kind == EX_LABEL) buf_printf(t->out, "v%lld", (long long)e->i);
  else if (e->kind == EX_READ) element_toy(t, (uint32_t)e->i, e->n, e->arg);
  else if (e->op == OP_CAST) buf_printf(t->out, "(%s)", type_of((DType)e->dtype)), expr_toy(t, e->arg[0]);
  else if (e->op == OP_WITHIN) expr_toy(t, e->arg[0]);
  else op_toy(t, e, NULL);
  buf_char(t->out, ')');
}

/* ---- statements ---------------------------------------------------------------------------------------- */

static void body_toy(Toy *t, const LoopBody *b);

static void set_toy(Toy *t, const Expr *value) {
  if (value) buf_str(t->out, " = "), expr_toy(t, value);
  buf_str(t->out, ";\n");
}

static int64_t count_of(const LoopPlace *x) {
  int64_t n = 1;
  for (uint32_t k = 0; k < x->rank; k++) n *= x->dim[k]->i;
  return n;
}

static void for_toy(Toy *t, const LoopStmt *s) {
  buf_printf(t->out, "for (int64_t v%u", s->var);
  buf_str(t->out, " = "), expr_toy(t, s->lo);
  buf_printf(t->out, "; v%u < ", s->var), expr_toy(t, s->hi);
  buf_printf(t->out, "; v%u += %lld) {\n", s->var, (long long)s->step);
  body_toy(t, &s->body);
  buf_str(t->out, "}\n");
}

static void var_toy(Toy *t, const LoopStmt *s) {
  const LoopPlace *x = &t->k->places.at[s->place];
  buf_printf(t->out, "%s p%u", type_of(x->dtype), s->place);
  if (!x->rank) {
    set_toy(t, s->value);
    return;
  }
  buf_printf(t->out, "[%lld];\n", (long long)count_of(x));
  if (s->value)
    buf_printf(t->out, "for (int i = 0; i < %lld; i++) p%u[i]", (long long)count_of(x), s->place), set_toy(t, s->value);
}

/* However near the caches a schedule wants it: the elements go one after the other. */
static void stream_toy(Toy *t, const LoopStmt *s) {
  buf_str(t->out, "for (int64_t i = 0; i < "), expr_toy(t, s->hi);
  buf_str(t->out, "; i++) (&"), element_toy(t, s->place, s->n_at, s->at);
  buf_str(t->out, ")[i] = (&"), element_toy(t, (uint32_t)s->value->i, s->value->n, s->value->arg);
  buf_str(t->out, ")[i];\n");
}

static void transpose_toy(Toy *t, const LoopStmt *s) {
  const LoopPlace *x = &t->k->places.at[s->place];
  buf_printf(t->out, "for (int i = 0; i < %lld; i++) for (int j = 0; j < i; j++) {\n", (long long)x->dim[0]->i);
  buf_printf(t->out, "%s a = p%u[i * %lld + j];\n", type_of(x->dtype), s->place, (long long)x->dim[0]->i);
  buf_printf(t->out, "p%u[i * %lld + j] = p%u[j * %lld + i];\n", s->place, (long long)x->dim[0]->i, s->place,
      (long long)x->dim[0]->i);
  buf_printf(t->out, "p%u[j * %lld + i] = a;\n}\n", s->place, (long long)x->dim[0]->i);
}

static void lanes_toy(Toy *t, const LoopStmt *s) {
  const LoopPlace *x = &t->k->places.at[s->place];
  Exprs *e = t->p->tasks->exprs;
  const Expr *any = expr_op1(e, s->op, expr_real(e, x->dtype, 0.5));
  buf_printf(t->out, "for (int i = 0; i < %lld; i++) p%u[i] = ", (long long)x->dim[0]->i, s->place);
  op_toy(t, any, arena_printf(t->out->arena, "(p%u[i])", s->place));
  buf_str(t->out, ";\n");
}

static void body_toy(Toy *t, const LoopBody *b) {
  for (uint32_t i = 0; i < b->len; i++) {
    const LoopStmt *s = b->at[i];
    switch (s->kind) {
    case LOOP_FOR: for_toy(t, s); break;
    case LOOP_IF:
      buf_str(t->out, "if "), expr_toy(t, s->cond);
      buf_str(t->out, " {\n"), body_toy(t, &s->body);
      buf_str(t->out, "} else {\n"), body_toy(t, &s->other);
      buf_str(t->out, "}\n");
      break;
    case LOOP_INDEX: buf_printf(t->out, "int64_t v%u", s->var), set_toy(t, s->lo); break;
    case LOOP_LET:
    case LOOP_VAR: var_toy(t, s); break;
    case LOOP_STORE: element_toy(t, s->place, s->n_at, s->at), set_toy(t, s->value); break;
    case LOOP_LANES_OF: lanes_toy(t, s); break;
    case LOOP_TRANSPOSE: transpose_toy(t, s); break;
    case LOOP_FETCH:
    case LOOP_MATRIX:
    case LOOP_PRODUCT:
    case LOOP_GROUP:
    case LOOP_BARRIER: /* of a device */
    case LOOP_COPY:
    case LOOP_COMMIT:
    case LOOP_AWAIT:
    case LOOP_CALL: break; /* of C functions, which these programs have not */
    case LOOP_LEAD: buf_printf(t->out, "int64_t p%u = 0;\n", s->place); break;
    case LOOP_STREAM: stream_toy(t, s); break;
    }
  }
}

/* ---- a program: buffers that are there, kernels in their order, what comes out as text ---------------- */

static int64_t buffer_count(const TaskBuffer *b) {
  int64_t n = 1;
  for (uint32_t k = 0; k < b->rank; k++) n *= b->dim[k]->i;
  return n;
}

static double given(int64_t buffer, int64_t at) { return (double)((at * 7 + buffer * 3) % 9 - 4); }

static void kernel_toy(Toy *t, uint32_t number) {
  t->k = t->p->kernels.at[number];
  buf_printf(t->out, "static void k%u(void) {\n", number);
  for (uint32_t i = 0; i < t->k->places.len; i++) {
    const LoopPlace *x = &t->k->places.at[i];
    if (x->space == SPACE_BUFFER) buf_printf(t->out, "%s *p%u = b%u;\n", type_of(x->dtype), i, x->buffer);
    if (x->space == SPACE_SCRATCH)
      buf_printf(t->out, "static %s p%u[%lld];\n", type_of(x->dtype), i, (long long)count_of(x));
  }
  body_toy(t, &t->k->body);
  buf_str(t->out, "}\n");
}

static void program_toy(Buf *out, const LoopProgram *p) {
  Toy t = {out, p, NULL};
  buf_str(out, "#define EIN_STATIC\n#include \"ein_run.h\"\n#include <stdio.h>\n");
  for (uint32_t b = 0; b < p->tasks->buffers.len; b++)
    buf_printf(out, "static %s b%u[%lld];\n", type_of(p->tasks->buffers.at[b].dtype), b,
        (long long)buffer_count(&p->tasks->buffers.at[b]));
  for (uint32_t i = 0; i < p->kernels.len; i++) kernel_toy(&t, i);
  buf_str(out, "int main(void) {\n");
  for (uint32_t i = 0; i < p->tasks->inputs.len; i++) {
    uint32_t b = p->tasks->inputs.at[i].buffer;
    buf_printf(out, "for (int i = 0; i < %lld; i++) b%u[i] = (i * 7 + %u * 3) %% 9 - 4;\n",
        (long long)buffer_count(&p->tasks->buffers.at[b]), b, i);
  }
  for (uint32_t i = 0; i < p->kernels.len; i++) buf_printf(out, "k%u();\n", i);
  for (uint32_t i = 0; i < p->tasks->outputs.len; i++) {
    uint32_t b = p->tasks->outputs.at[i].buffer;
    buf_printf(out, "for (int i = 0; i < %lld; i++) printf(\"%%.17g\\n\", (double)b%u[i]);\n",
        (long long)buffer_count(&p->tasks->buffers.at[b]), b);
  }
  buf_str(out, "return 0;\n}\n");
}

/* ---- against eval ---------------------------------------------------------------------------------------- */

static bool evaluated(Eval *e, const LoopProgram *p) {
  EvalInput *in = NEW_ARRAY(e->arena, EvalInput, p->tasks->inputs.len + 1);
  for (uint32_t i = 0; i < p->tasks->inputs.len; i++) {
    const TaskBuffer *b = &p->tasks->buffers.at[p->tasks->inputs.at[i].buffer];
    float *data = NEW_ARRAY(e->arena, float, (size_t)buffer_count(b) + 1);
    int64_t *shape = NEW_ARRAY(e->arena, int64_t, b->rank + 1);
    for (uint32_t k = 0; k < b->rank; k++) shape[k] = b->dim[k]->i;
    for (int64_t k = 0; k < buffer_count(b); k++) data[k] = (float)given(i, k);
    in[i] = (EvalInput){p->tasks->inputs.at[i].name,
        {.dtype = DT_F32, .rank = b->rank, .shape = shape, .count = buffer_count(b), .data = data}};
  }
  const char *error;
  Place place;
  e->input = in, e->n_input = p->tasks->inputs.len;
  return graph_eval(e, &error, &place) == EVAL_OK;
}

static bool is_near(const Eval *e, FILE *said) {
  char line[64];
  for (uint32_t i = 0; i < e->graph->outputs.len; i++)
    for (int64_t k = 0; k < e->output[i].count; k++) {
      if (!fgets(line, sizeof line, said)) return false;
      double want = eval_real(&e->output[i], k), got = strtod(line, NULL), size = want < 0 ? -want : want;
      if (!(got >= want - 1e-5 * (1 + size) && got <= want + 1e-5 * (1 + size))) return false;
    }
  return !fgets(line, sizeof line, said);
}

static void check_toy(const char *says, const char *graph) {
  Arena *a = arena_new();
  EinGraph *g = text_well(a, graph);
  if (!OK(g, "%s: its graph reads", says)) return;
  LoopTarget target = {.lanes_bytes = 64, .registers = 32};
  Eval e = {.arena = a, .graph = g};
  LoopProgram *p = loop_from_task(task_from_graph(a, g, false), &target);
  Buf out = buf_new(a);
  program_toy(&out, p);
  char folder[] = "/tmp/ein-toy-XXXXXX";
  if (!OK(mkdtemp(folder), "a folder")) return;
  FILE *f = fopen(arena_printf(a, "%s/toy.c", folder), "w");
  if (!OK(f && fputs(out.s, f) >= 0 && fclose(f) == 0, "%s: is written", says)) return;
  const char *cc = getenv("CC");
  const char *line = arena_printf(a,
      "root=$PWD && cd %s && %s -std=gnu99 -w -I \"$root/runtime\" toy.c -o toy -lm -pthread -ldl && ./toy", folder,
      cc && !strchr(cc, ' ') ? cc : "cc");
  FILE *said = popen(line, "r");
  OK(evaluated(&e, p), "%s: eval has an answer", says);
  OK(said && is_near(&e, said), "%s: plain C has the same", says);
  if (said) pclose(said);
  OK(system(arena_printf(a, "rm -r %s", folder)) == 0, "%s: leaves nothing behind", says);
  arena_free(a);
}

int main(void) {
  check_toy("products, borders, exponentials, a transposition",
      "eingraph 1\n"
      "input %0 A[33, 41] : f32\n"
      "input %1 B[41, 70] : f32\n"
      "vertex %2 Y[i:33, j:70] : f32 = sum:f32[k:41] (%0[i, k] * %1[k, j])\n"
      "vertex %3 m[i:33] : f32 = max:f32[j:70] %2[i, j]\n"
      "vertex %4 e[i:33, j:70] : f32 = exp((%2[i, j] - %3[i]))\n"
      "vertex %5 s[i:33] : f32 = sum:f32[j:70] %4[i, j]\n"
      "vertex %6 P[i:33, j:70] : f32 = (%4[i, j] / %5[i])\n"
      "vertex %7 T[j:70, i:41] : f32 = sin(%1[i, j])\n"
      "vertex %8 D[i:41, j:70] : f32 = select(((0 < j) and (j < 69)), (%1[i, (j - 1)] + %1[i, (j + 1)]), %1[i, j])\n"
      "vertex %9 c[j:70] : f32 = sum:f32[i:41 where (i <= j)] %1[i, j]\n"
      "output Y = %2\noutput P = %6\noutput T = %7\noutput D = %8\noutput c = %9\n");
  check_toy("panels, tiles, squares that are transposed, a running sum",
            "eingraph 1\n"
            "input %0 A[160, 192] : f32\n"
            "input %1 B[192, 144] : f32\n"
            "input %2 C[300, 200] : f32\n"
            "vertex %3 Y[i:160, j:144] : f32 = sum:f32[k:192] (%0[i, k] * %1[k, j])\n"
            "vertex %4 Z[j:144, i:160] : f32 = sum:f32[k:192] (%0[i, k] * %1[k, j])\n"
            "vertex %5 T[j:200, i:300] : f32 = (%2[i, j] * 2.0:f32)\n"
            "vertex %6 r[i:300, j:200] : f32 = sum:f32[k:200 where (k <= j)] %2[i, k]\n"
            "vertex %7 m[j:200] : f32 = max:f32[i:300] %2[i, j]\n"
            "vertex %8 S[i:300, j:200] : f32 = exp((%2[i, j] - %7[j]))\n"
            "output Y = %3\noutput Z = %4\noutput T = %5\noutput r = %6\noutput S = %8\n");
  return DONE();
}
