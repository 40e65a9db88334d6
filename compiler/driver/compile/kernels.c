/* driver/compile/kernels.c - compiles a program to machine code, kernel by kernel. A kernel's text does not depend
 * on its program, names or positions (emit_kernel): so one that was compiled for another program, or at an earlier
 * query of the prompt, is not recompiled. The code around the kernels is not compiled at all (jit/model.h). */
#include <dlfcn.h>
#include <string.h>

#include "jit/model.h"
#include "native.h"

static const JitRuntime *runtime_find(Session *s, void *handle) {
  JitRuntime *r = NEW(s->arena, JitRuntime);
  void *at;
  bool all = true;
#define X(name) at = dlsym(handle, #name), all &= at != NULL, memcpy(&r->name, &at, sizeof at);
  JIT_RUNTIME(X)
#undef X
  return all ? r : NULL;
}

typedef struct Kernels {
  JitKernel *kernel;         /* of the program, */
  uint32_t *text;            /*   and the number of its text */
  VEC(NativeText) texts;     /* different ones */
} Kernels;

static void kernels_emit(Session *s, const LoopProgram *p, const EmitOptions *o, Kernels *out) {
  uint32_t n = p->kernels.len;
  Map seen = map_new(s->arena);
  out->kernel = NEW_ARRAY(s->arena, JitKernel, n + 1);
  out->text = NEW_ARRAY(s->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    Buf *c = NEW(s->arena, Buf);
    *c = buf_new(s->arena);
    emit_kernel(c, p, i, o, &out->kernel[i].made);
    Str whole = str_of(s->strings, c->s, c->len);
    uintptr_t known = (uintptr_t)map_find(&seen, whole);
    if (!known) {
      vec_push(s->arena, out->texts, ((NativeText){"kernel", c}));
      map_put(&seen, whole, (void *)(known = out->texts.len));
    }
    out->text[i] = (uint32_t)known - 1;
  }
}

static void kernels_tell(Session *s, const LoopProgram *p, const Kernels *k, const Native *n) {
  detail(s, "%u kernel%s, %u different: %u compiled now, %u compiled before", p->kernels.len,
      p->kernels.len == 1 ? "" : "s", k->texts.len, n->fresh, k->texts.len - n->fresh);
}

Leave kernels_load(Session *s, const Job *j, const Compiler *c, const EmitOptions *o, const NativeSet *like,
    Native *out, ByKernels *made, bool *there) {
  const LoopProgram *p = j->loops;
  Kernels k = {0};
  void *handle;
  *there = c->in_process && !j->tasks->mesh.n && !s->ranks;
  if (!*there) return LEAVE_OK;
  kernels_emit(s, p, o, &k);
  NativeSet set = {.text = k.texts.at, .n_texts = k.texts.len, .flags = like->flags, .symbols = like->symbols};
  Leave l = native_load_each(s, c, "kernel", &set, EMIT_PARTS, out, &handle, there);
  if (l || !*there) return l;
  kernels_tell(s, p, &k, out);
  made->runtime = runtime_find(s, handle);
  if (!made->runtime) bug("the runtime lacks a function");
  for (uint32_t i = 0; i < p->kernels.len; i++) k.kernel[i].part = object_find(&out->objects.at[k.text[i]], EMIT_PARTS);
  made->model = jit_model(s->arena, p, o, k.kernel, c->dense, made->runtime);
  return LEAVE_OK;
}

/* ---- for people ------------------------------------------------------------------------------- */

static void shown_print(
    const LoopProgram *p, const Kernels *k, uint32_t text, const char *comment, Bytes made, Buf *out) {
  for (uint32_t i = 0; i < p->kernels.len; i++)
    if (k->text[i] == text) buf_printf(out, "%s kernel %s\n", comment, p->kernels.at[i]->name->s);
  buf_add(out, made.at, made.len);
}

Leave kernels_show(Session *s, const Job *j, const Compiler *c, JitForm form, Buf *out) {
  EmitOptions o = job_emit(s, j, "program");
  Kernels k = {0};
  Words words = {0};
  bool there = c->in_process;
  if (there) kernels_emit(s, j->loops, &o, &k);
  const NativeText **text = NEW_ARRAY(s->arena, const NativeText *, k.texts.len + 1);
  Bytes *made = NEW_ARRAY(s->arena, Bytes, k.texts.len + 1);
  for (uint32_t i = 0; i < k.texts.len; i++) text[i] = &k.texts.at[i];
  vec_push(s->arena, words, "-DEIN_APART");
  if (c->dense && !j->tasks->mesh.n) vec_push(s->arena, words, "-DEIN_DENSE");
  Leave l = there && k.texts.len ? jit_compile(s, c, text, k.texts.len, &words, form, made, &there) : LEAVE_OK;
  if (!l && !there)
    l = fail(s, LEAVE_USAGE, "it takes Clang in this process, --target=jit; ein doctor tells whether this ein has it");
  for (uint32_t i = 0; i < k.texts.len && !l; i++)
    shown_print(j->loops, &k, i, form == JIT_IR ? ";" : "#", made[i], out);
  return l;
}
