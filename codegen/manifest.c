/* codegen/manifest.c - PREFIX.json: what a library is, for programs that build, bind or measure it. Extents and amounts
 * of work are formulas over the symbolic sizes, as text. */
#include <string.h>

#include "../compiler/base/json.h"
#include "../compiler/expr/prove.h"
#include "c_tables.h"

/* ---- how much is computed ----------------------------------------------------------------------- */

/* The kernel that gives a rank-0 buffer its value outside of any data: a bound that is known when sizes are. */
static const Expr *value_of(const Tasks *list, uint32_t buffer) {
  for (uint32_t i = 0; i < list->len; i++)
    for (uint32_t s = 0; s < list->at[i]->stages.len; s++) {
      const TaskStage *x = &list->at[i]->stages.at[s];
      if (x->buffer != (int32_t)buffer) continue;
      bool plain = x->sum->reducer == RED_NONE && !(x->sum->body->has & (HAS_READ | HAS_TURN | HAS_LABEL));
      return plain ? x->sum->body : NULL;
    }
  return NULL;
}

/* times[step]: how often the kernel of that step is run. NULL: that hangs on data, or on an outer turn. */
static void times_of(const TaskGraph *t, const Tasks *list, const Expr *outer, const Expr **times) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    if (k->kind == TASK_KERNEL) times[k->step] = outer;
    if (k->kind != TASK_REPEAT) continue;
    bool known = outer && k->stop < 0; /* one that may stop early makes as many turns as data say */
    const Expr *n = known ? value_of(list, k->buffer) : NULL;
    if (!n && known) n = value_of(&t->tasks, k->buffer);
    times_of(t, &k->body, n ? expr_op2(t->exprs, OP_MUL, outer, n) : NULL, times);
  }
}

static const Expr **times_all(Arena *a, const LoopProgram *p) {
  const Expr **times = NEW_ARRAY(a, const Expr *, p->tasks->n_steps + 1);
  times_of(p->tasks, &p->tasks->tasks, expr_int(p->tasks->exprs, DT_I64, 1), times);
  return times;
}

/* Operations on floats in an expression, each once however often its value is used. Casts and choices are none. */
static uint32_t float_operations(Arena *a, const Expr *e) {
  VEC(const Expr *) todo = {0};
  Map seen = map_new(a);
  uint32_t n = 0;
  if (e) vec_push(a, todo, e);
  while (todo.len) {
    const Expr *x = vec_pop(todo);
    if (map_find(&seen, x)) continue;
    map_put(&seen, x, (void *)(uintptr_t)1);
    bool of_floats = x->kind == EX_OP && x->n && dtype_is_float((DType)x->arg[x->n - 1]->dtype);
    n += of_floats && x->op != OP_CAST && x->op != OP_SELECT;
    for (uint32_t k = 0; k < x->n; k++) vec_push(a, todo, x->arg[k]);
  }
  return n;
}

/* At every point of a stage: its body's operations, and one that takes the value into the reducer. */
static const Expr *stage_flops(Arena *a, Exprs *p, const TaskStage *s) {
  uint32_t n = float_operations(a, s->sum->body) + float_operations(a, s->sum->where);
  if (s->sum->reducer != RED_NONE && dtype_is_float(s->sum->acc)) n++;
  const Expr *e = expr_int(p, DT_I64, n);
  for (uint32_t k = 0; n && k < s->sum->n_out + s->sum->n_red; k++) e = expr_op2(p, OP_MUL, e, s->bound[k]);
  return e;
}

/* Of a run that is given all inputs: no default is made. NULL where a loop's turns are not known. */
static const Expr *list_flops(Arena *a, const TaskGraph *t, const Tasks *list, const Expr *const *times) {
  const Expr *sum = expr_int(t->exprs, DT_I64, 0), *inner;
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    if (k->unless >= 0) continue;
    for (uint32_t s = 0; s < k->stages.len; s++) {
      const Expr *one = stage_flops(a, t->exprs, &k->stages.at[s]);
      if (!times[k->step] && !expr_is_int(one, 0)) return NULL;
      if (times[k->step]) sum = expr_op2(t->exprs, OP_ADD, sum, expr_op2(t->exprs, OP_MUL, times[k->step], one));
    }
    if (k->kind != TASK_REPEAT) continue;
    inner = list_flops(a, t, &k->body, times);
    if (!inner) return NULL;
    sum = expr_op2(t->exprs, OP_ADD, sum, inner);
  }
  return sum;
}

const Expr *loop_flops(const LoopProgram *p) {
  const TaskGraph *t = p->tasks;
  const Expr *all = list_flops(p->arena, t, &t->tasks, times_all(p->arena, p));
  return all ? expr_normal(t->exprs, all) : NULL;
}

/* ---- parts -------------------------------------------------------------------------------------- */

static void json_extent(Json *j, const char *key, const Expr *e) {
  if (!e) {
    json_null(j, key);
    return;
  }
  Buf b = buf_new(j->out->arena);
  c_extent_text(&b, e);
  json_strn(j, key, b.s, b.len);
}

/* All that is over sizes may be large: one that does not fit 64 bits cannot be planned either. */
static const Expr *bytes_of(const TaskGraph *t, const TaskBuffer *b) {
  const Expr *e = expr_int(t->exprs, DT_I64, dtype_size(b->dtype));
  for (uint32_t k = 0; k < b->rank; k++) e = expr_op2(t->exprs, OP_MUL, e, b->dim[k]);
  return expr_normal(t->exprs, e);
}

static void argument(Json *j, const TaskGraph *t, const TaskArgument *x, Str member, Str *const label, bool input) {
  const TaskBuffer *b = &t->buffers.at[x->buffer];
  json_object(j, NULL);
  json_str(j, "name", x->name->s);
  json_str(j, "member", member->s);
  json_str(j, "dtype", dtype_name(b->dtype));
  json_array(j, "labels");
  for (uint32_t k = 0; k < b->rank; k++) {
    if (label && label[k]) json_str(j, NULL, label[k]->s);
    else json_null(j, NULL);
  }
  json_end(j, ']');
  json_array(j, "extents");
  for (uint32_t k = 0; k < b->rank; k++) json_extent(j, NULL, b->dim[k]);
  json_end(j, ']');
  json_extent(j, "bytes", bytes_of(t, b));
  if (input) json_bool(j, "param", x->param);
  if (input) json_bool(j, "default", x->optional);
  json_end(j, '}');
}

static void arguments(Json *j, const TaskGraph *t, const EmitOptions *o) {
  CMembers m = c_members(j->out->arena, t);
  CLabels l = c_labels(j->out->arena, t, &o->declared);
  json_array(j, "sizes");
  for (uint32_t i = 0; i < t->dims.len; i++) {
    if (t->dims.at[i].known) continue;
    json_object(j, NULL);
    json_str(j, "name", t->dims.at[i].name->s);
    json_str(j, "member", m.size[i]->s);
    json_end(j, '}');
  }
  json_end(j, ']');
  json_array(j, "inputs");
  for (uint32_t i = 0; i < t->inputs.len; i++)
    argument(j, t, &t->inputs.at[i], m.input[i], l.of[t->inputs.at[i].buffer], true);
  json_end(j, ']');
  json_array(j, "outputs");
  for (uint32_t i = 0; i < t->outputs.len; i++)
    argument(j, t, &t->outputs.at[i], m.output[i], l.of[t->outputs.at[i].buffer], false);
  json_end(j, ']');
}

static void entry_points(Json *j, const char *prefix) {
  static const char *const name[] = {"create", "destroy",    "plan",   "workspace_bytes", "run",
                                     "again",  "last_error", "cancel", "model"};
  json_object(j, "entry_points");
  for (size_t i = 0; i < COUNT(name); i++) json_str(j, name[i], arena_printf(j->out->arena, "%s_%s", prefix, name[i]));
  json_end(j, '}');
}

static void kernels(Json *j, const LoopProgram *p) {
  const Expr **times = times_all(j->out->arena, p);
  json_array(j, "kernels");
  for (uint32_t i = 0; i < p->kernels.len; i++) {
    const LoopKernel *k = p->kernels.at[i];
    json_object(j, NULL);
    json_str(j, "name", k->name->s);
    json_array(j, "equations");
    for (uint32_t n = 0; n < k->note.len; n++) json_str(j, NULL, k->note.at[n]->s);
    json_end(j, ']');
    json_extent(j, "operations", k->work);
    json_extent(j, "times", times[k->task]);
    json_end(j, '}');
  }
  json_end(j, ']');
}

/* ---- the file ----------------------------------------------------------------------------------- */

void emit_manifest(Buf *json, const LoopProgram *p, const EmitOptions *o) {
  Json j = json_new(json);
  json_object(&j, NULL);
  json_str(&j, "format", "ein manifest 1");
  json_str(&j, "name", o->prefix);
  json_str(&j, "source", o->source);
  json_str(&j, "hash", arena_printf(json->arena, "%016llx", (unsigned long long)o->hash));
  json_str(&j, "compiler", arena_printf(json->arena, "ein %s", o->version));
  json_str(&j, "target", "c");
  entry_points(&j, o->prefix);
  arguments(&j, p->tasks, o);
  json_extent(&j, "flops", loop_flops(p));
  kernels(&j, p);
  json_end(&j, '}');
  if (json->len && json->s[json->len - 1] != '\n') buf_char(json, '\n');
}
