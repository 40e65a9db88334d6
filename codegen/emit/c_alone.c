/* codegen/emit/c_alone.c - emits one kernel by itself. In: a program's kernel. Out: a text that is the same for the
 * same loops in any program, and the arguments with which this program calls it. So compiled code can be cached, and
 * kernels of one program share functions. */
#include "c_inside.h"
#include "c_tables.h"

LoopKernel *c_nameless(const CPrinter *p, const LoopKernel *k) {
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
  if (k->narrow) own->narrow = c_nameless(p, k->narrow);
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

/* A printer of the kernel by itself, as the only one of `one`. */
static CPrinter printer_alone(Arena *a, LoopProgram *one, const LoopProgram *lp, uint32_t number,
    const EmitOptions *o, const uint32_t *axes) {
  static const uint32_t first[] = {0};
  static const bool shared[] = {true}, any[] = {false};
  CPrinter p = {.o = o, .arena = a, .strings = lp->tasks->strings, .sizes.of = map_new(a), .axes = axes, .p = one};
  LoopKernel **k = NEW_ARRAY(a, LoopKernel *, 1);
  *k = c_nameless(&p, lp->kernels.at[number]);
  *one = (LoopProgram){.arena = a, .tasks = lp->tasks, .kernels = {k, 1, 1}, .sites = lp->sites};
  p.functions = (CFunctions){.names = c_scope(a, p.strings), .of = map_new(a), .same = first, .shared = shared,
      .any = any, .sizes = NEW_ARRAY(a, CSizes, 2), .nameless = true};
  for (uint32_t narrow = 0; narrow < 2; narrow++) p.functions.sizes[narrow].of = map_new(a);
  return p;
}

void emit_kernel(Buf *c, const LoopProgram *lp, uint32_t number, const EmitOptions *o, EmitKernel *out) {
  LoopProgram one;
  CPrinter p = printer_alone(lp->arena, &one, lp, number, o, c_axes(lp->arena, lp->tasks));
  const LoopKernel *k = one.kernels.at[0];
  *out = (EmitKernel){.numbers = loop_numbers(lp->arena, k), .scratch = loop_scratch(lp->tasks->exprs, k)};
  buf_str(c, "#define EIN_STATIC\n");
  c_runtime(c, o);
  Buf rest = buf_new(lp->arena);
  p.out = &rest;
  c_kernel(&p, 0);
  c_parts_table(&p);
  c_externs(&p, c);
  buf_add(c, rest.s, rest.len);
  parts_find(out, lp->arena, k);
  vec_each_of(const Expr, e, p.functions.sizes[0].at) vec_push(lp->arena, out->sizes, e);
}

/* The text of kernel i without names, and its sizes. any: as in CFunctions. */
static Str text_alone(CPrinter *p, uint32_t i, bool any, CSizes *sizes) {
  Arena *a = arena_new();
  LoopProgram one;
  CPrinter alone = printer_alone(a, &one, p->p, i, p->o, p->axes);
  Buf text = buf_new(a);
  alone.functions.any = &any;
  alone.out = &text;
  c_kernel(&alone, 0);
  for (uint32_t narrow = 0; narrow < 2; narrow++) {
    sizes[narrow] = (CSizes){.of = map_new(p->arena)};
    vec_each_of(const Expr, e, alone.functions.sizes[narrow].at) c_sizes_number(p->arena, &sizes[narrow], e);
  }
  Str whole = str_of(p->strings, text.s, text.len);
  arena_free(a);
  return whole;
}

/* The first kernel with this text. */
static uint32_t text_first(Map *first, Str text, uint32_t i) {
  uintptr_t known = (uintptr_t)map_find(first, text);
  if (!known) map_put(first, text, (void *)(known = i + 1));
  return (uint32_t)known - 1;
}

/* Kernels share functions if their texts without names are the same; or if they would be if all buffers had strides. */
void c_twins(CPrinter *p) {
  uint32_t n = p->p->kernels.len, *same = NEW_ARRAY(p->arena, uint32_t, n + 1);
  Map first = map_new(p->arena), of_any = map_new(p->arena);
  CSizes *sizes = NEW_ARRAY(p->arena, CSizes, 2 * n + 1), unused[2];
  bool *any = NEW_ARRAY(p->arena, bool, n + 1), *shared = NEW_ARRAY(p->arena, bool, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t twin = text_first(&first, text_alone(p, i, false, &sizes[2 * i]), i);
    same[i] = twin == i ? text_first(&of_any, text_alone(p, i, true, unused), i) : same[twin];
    any[same[i]] |= twin == i && same[i] != i;
    shared[same[i]] |= same[i] != i;
  }
  for (uint32_t i = 0; i < n; i++)
    if (any[same[i]]) text_alone(p, i, true, &sizes[2 * i]);
  p->functions.same = same, p->functions.shared = shared, p->functions.any = any, p->functions.sizes = sizes;
}
