/* codegen/emit/c_alone.c - emits one kernel as a C file of its own. In: a program's kernel. Out: a text that is the
 * same for the same loops in any program, and the arguments with which this program calls it. So compiled code can be
 * cached and shared. */
#include "c_inside.h"
#include "c_tables.h"

/* The kernel without names: variables and places are named by their numbers. */
static LoopKernel *kernel_nameless(CPrinter *p, const LoopKernel *k) {
  LoopKernel *own = arena_copy(p->arena, k, sizeof *own);
  own->name = str_from(p->strings, "loops");
  own->note.len = own->how.len = 0;
  own->from = (Place){0};
  own->var.at = NEW_ARRAY(p->arena, Str, k->var.len + 1);
  own->places.at = NEW_ARRAY(p->arena, LoopPlace, k->places.len + 1);
  for (uint32_t i = 0; i < k->var.len; i++) own->var.at[i] = strings_printf(p->strings, "i%u", i);
  for (uint32_t i = 0; i < k->places.len; i++) {
    own->places.at[i] = k->places.at[i];
    own->places.at[i].name = strings_printf(p->strings, "t%u", i);
  }
  return own;
}

static void parts_find(EmitKernel *out, Arena *a, const LoopKernel *k) {
  CParts parts = c_parts(a, k);
  for (uint32_t i = 0; i < parts.len; i++) {
    const CPart *x = &parts.at[i];
    EmitPart part = {.points = x->thread ? x->thread->hi : NULL,
        .streams = x->thread && c_streams(&x->thread->body),
        .together = c_round(&parts, i),
        .rounds = x->round ? x->round->hi->i : 1};
    vec_push(a, out->parts, part);
  }
}

void emit_kernel(Buf *c, const LoopProgram *lp, uint32_t number, const EmitOptions *o, EmitKernel *out) {
  static const uint32_t first[] = {0};
  bool shared[] = {true};
  CPrinter p = {.out = c, .o = o, .arena = lp->arena, .strings = lp->tasks->strings, .size_of = map_new(lp->arena)};
  LoopKernel *k = kernel_nameless(&p, lp->kernels.at[number]);
  LoopProgram one = {.arena = lp->arena, .tasks = lp->tasks, .kernels = {&k, 1, 1}, .sites = lp->sites};
  p.p = &one;
  p.axes = c_axes(lp->arena, lp->tasks);
  p.functions.names = c_scope(lp->arena, p.strings);
  p.functions.of = map_new(lp->arena);
  p.functions.same = first;
  p.functions.shared = shared;
  p.functions.alone = true;
  *out = (EmitKernel){.scratch = loop_scratch(lp->tasks->exprs, k), .numbers = loop_numbers(lp->arena, k)};
  buf_str(c, "#define EIN_STATIC\n");
  c_runtime(c, o);
  Buf rest = buf_new(lp->arena);
  p.out = &rest;
  c_kernel(&p, 0);
  c_parts_table(&p);
  c_externs(&p, c);
  buf_add(c, rest.s, rest.len);
  parts_find(out, lp->arena, k);
  for (uint32_t i = 0; i < p.sizes.len; i++) vec_push(lp->arena, out->sizes, p.sizes.at[i].e);
}
