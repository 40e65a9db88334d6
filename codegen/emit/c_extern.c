/* codegen/emit/c_extern.c - C functions that a program calls: their prototypes, and a function of ours around each, so
 * that a tensor may have the same name, and halves are passed as their bits. */
#include "c_inside.h"

const char *emit_extern_type(DType t) { return t == DT_BOOL ? "_Bool" : c_store_type(t); }

/* Prints the parameters of a C function of blocks: extents, result, arguments; with types, or as a call's arguments. */
static void block_parameters(Buf *c, const Extern *x, bool types) {
  const char *sign = "";
  for (uint32_t l = 0; l < x->n_out + x->n_red; l++, sign = ", ")
    buf_printf(c, "%s%sn%u", sign, types ? "int64_t " : "", l);
  for (uint32_t k = 0; k <= x->n; k++, sign = ", ") {
    DType t = k ? x->arg[k - 1] : x->dtype;
    char name = k ? (char)('a' + k - 1) : 'z';
    if (types) buf_printf(c, "%s%s%s *%c", sign, k ? "const " : "", emit_extern_type(t), name);
    else buf_printf(c, "%s%c", sign, name);
    for (uint32_t d = 0; d < (k ? x->rank[k - 1] : x->n_out); d++)
      buf_printf(c, ", %s%c%u", types ? "int64_t " : "", name, d);
  }
}

void emit_extern_prototype(Buf *c, const Extern *x) {
  if (x->block) {
    buf_printf(c, "void (%s)(", x->symbol->s);
    block_parameters(c, x, true);
    buf_char(c, ')');
    return;
  }
  buf_printf(c, "%s (%s)(", emit_extern_type(x->dtype), x->symbol->s);
  for (uint32_t k = 0; k < x->n; k++) buf_printf(c, "%s%s", k ? ", " : "", emit_extern_type(x->arg[k]));
  buf_char(c, ')');
}

/* Notes a called function. It gets a name of ours, because a tensor may have the same name. */
void c_called(CPrinter *p, const Extern *x) {
  bool known = false;
  for (uint32_t k = 0; k < p->called.len; k++) known |= p->called.at[k]->symbol == x->symbol;
  if (!known) vec_push(p->arena, p->called, x);
}

/* They are extern "C" in C++, which has no _Bool. */
static void prototypes(CPrinter *p, Buf *c) {
  buf_str(c, "#ifdef __cplusplus\n#ifndef _Bool\n#define _Bool bool\n#endif\nextern \"C\" {\n#endif\n");
  for (uint32_t i = 0; i < p->called.len; i++) {
    emit_extern_prototype(c, p->called.at[i]);
    buf_str(c, ";\n");
  }
  buf_str(c, "#ifdef __cplusplus\n}\n#endif\n");
}

void c_externs(CPrinter *p, Buf *c) {
  if (p->called.len) prototypes(p, c);
  vec_each_of(const Extern, x, p->called) {
    if (x->block) {
      buf_printf(c, "static inline void ein_extern_%s(", x->symbol->s);
      block_parameters(c, x, true);
      buf_printf(c, ") { %s(", x->symbol->s);
      block_parameters(c, x, false);
      buf_str(c, "); }\n");
      continue;
    }
    buf_printf(c, "static inline %s ein_extern_%s(", emit_extern_type(x->dtype), x->symbol->s);
    for (uint32_t k = 0; k < x->n; k++) {
      DType t = x->arg[k];
      buf_printf(c, "%s%s a%u", k ? ", " : "", dtype_is_half(t) ? c_value_type(t) : emit_extern_type(t), k);
    }
    buf_printf(c, ") { return %s(", x->symbol->s);
    for (uint32_t k = 0; k < x->n; k++) {
      const char *half = dtype_is_half(x->arg[k]) ? arena_printf(p->arena, "ein_f32_to_%s", dtype_name(x->arg[k])) : "";
      buf_printf(c, "%s%s(a%u)", k ? ", " : "", half, k);
    }
    buf_str(c, "); }\n");
  }
  if (p->called.len) buf_char(c, '\n');
}
