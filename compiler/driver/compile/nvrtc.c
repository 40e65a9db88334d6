/* driver/compile/nvrtc.c - kernels for a device: in come a program's loops, out goes machine code for the device that is here, by NVRTC, which is in
 * no way linked, and whose functions are declared here. The result is kept like any other that was compiled. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/libcuda.h"
#include "nvrtc.h"
#include "texts.h"

/* ---- the library -------------------------------------------------------------------------------- */

/* X(name, parameters), of nvrtcNAME; each gives 0 or what went wrong. */
#define NVRTC(X)                                                                                                                  \
  X(Version, (int *major, int *minor))                                                                                            \
  X(GetNumSupportedArchs, (int *n))                                                                                               \
  X(GetSupportedArchs, (int *arch))                                                                                               \
  X(CreateProgram, (void **program, const char *text, const char *name, int n, const char *const *header, const char *const *as)) \
  X(CompileProgram, (void *program, int n, const char *const *option))                                                            \
  X(GetProgramLogSize, (void *program, size_t *n))                                                                                \
  X(GetProgramLog, (void *program, char *log))                                                                                    \
  X(GetCUBINSize, (void *program, size_t *n))                                                                                     \
  X(GetCUBIN, (void *program, char *to))                                                                                          \
  X(GetPTXSize, (void *program, size_t *n))                                                                                       \
  X(GetPTX, (void *program, char *to))                                                                                            \
  X(DestroyProgram, (void **program))

typedef struct Nvrtc {
#define FIELD(name, parameters) int(*name) parameters;
  NVRTC(FIELD)
#undef FIELD
  int major, minor;
  const char *path;
} Nvrtc;

static void *library_find(Session *s) {
  static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
  const char *home = getenv("CUDA_HOME");
  const char *folders[] = {"", home && *home ? arena_printf(s->arena, "%s/lib64/", home) : "", "/usr/local/cuda/lib64/"};
  for (size_t f = 0; f < COUNT(folders); f++)
    for (size_t i = 0; i < COUNT(names); i++) {
      void *at = dlopen(arena_printf(s->arena, "%s%s", folders[f], names[i]), RTLD_NOW | RTLD_LOCAL);
      if (at) return at;
    }
  return NULL;
}

static Leave nvrtc_open(Session *s, Nvrtc *out) {
  Dl_info where;
  void *library = library_find(s), *at = NULL;
  if (!library)
    return fail(s, LEAVE_MACHINE, "--target=cuda compiles kernels by NVRTC, and there is no libnvrtc: it comes with "
                "NVIDIA's CUDA toolkit; $CUDA_HOME may say where that is");
#define FIND(name, parameters)                                                                                                     \
  at = dlsym(library, "nvrtc" #name);                                                                                              \
  if (!at) return fail(s, LEAVE_MACHINE, "the libnvrtc that was found is too old: it has no nvrtc%s, which came with CUDA 11.2", #name); \
  memcpy(&out->name, &at, sizeof at);
  NVRTC(FIND)
#undef FIND
  out->path = dladdr(at, &where) && where.dli_fname ? arena_copy(s->arena, where.dli_fname, strlen(where.dli_fname) + 1) : "";
  if (out->Version(&out->major, &out->minor)) return fail(s, LEAVE_MACHINE, "NVRTC does not say its version");
  return LEAVE_OK;
}

/* ---- the device --------------------------------------------------------------------------------- */

Leave device_find(Session *s, const char **arch) {
  ein_libcuda cu;
  ein_error error = {0};
  int device, major = 0, minor = 0;
  if (!ein_libcuda_open(&cu, &error)) return fail(s, LEAVE_MACHINE, "%s; ein run without --target=cuda does without one", error.text);
  int e = cu.device_get(&device, 0);
  if (!e) e = cu.device_attribute(&major, EIN_CU_MAJOR, device);
  if (!e) e = cu.device_attribute(&minor, EIN_CU_MINOR, device);
  if (e) return fail(s, LEAVE_MACHINE, "CUDA: the device does not say what it is: %s", ein_libcuda_words(&cu, e).text);
  *arch = arena_printf(s->arena, "%d%d", major, minor);
  return LEAVE_OK;
}

/* "sm_90", whose machine code it makes; or, of a device that is newer than NVRTC, "compute_90", the newest that it knows, from which the driver
 * goes on. */
static Leave arch_choose(Session *s, const Nvrtc *v, const char *arch, const char **out) {
  int n = 0, wanted = atoi(arch), best = 0;
  if (v->GetNumSupportedArchs(&n) || n < 1) return fail(s, LEAVE_MACHINE, "NVRTC does not say for which devices it compiles");
  int *all = NEW_ARRAY(s->arena, int, n);
  if (v->GetSupportedArchs(all)) return fail(s, LEAVE_MACHINE, "NVRTC does not say for which devices it compiles");
  for (int i = 0; i < n; i++)
    if (all[i] <= wanted && all[i] > best) best = all[i];
  if (!best)
    return fail(s, LEAVE_MACHINE, "the device has compute capability %d.%d, and NVRTC %d.%d compiles from %d.%d on: an older CUDA toolkit has it",
                wanted / 10, wanted % 10, v->major, v->minor, all[0] / 10, all[0] % 10);
  *out = arena_printf(s->arena, "%s_%d", best == wanted ? "sm" : "compute", best);
  return LEAVE_OK;
}

/* ---- compiling ---------------------------------------------------------------------------------- */

/* What is one rounding and what are two stands in the text. */
static const char no_fma[] = "--fmad=false";

static const char *log_of(Session *s, const Nvrtc *v, void *program) {
  size_t n = 0;
  if (v->GetProgramLogSize(program, &n) || !n) return "";
  char *log = arena_alloc(s->arena, n + 1);
  if (v->GetProgramLog(program, log)) return "";
  log[n] = 0;
  return log;
}

static Leave compile(Session *s, const Nvrtc *v, const Buf *text, const char *arch, Bytes *out) {
  const char *option[] = {arena_printf(s->arena, "--gpu-architecture=%s", arch), no_fma};
  const char *header[] = {runtime_ein_run}, *as[] = {"ein_run.h"};
  bool machine = arch[0] == 's';
  void *program = NULL;
  size_t n = 0;
  if (v->CreateProgram(&program, text->s, "program.cu", 1, header, as)) return fail(s, LEAVE_MACHINE, "NVRTC makes no program");
  int e = v->CompileProgram(program, COUNT(option), option);
  if (e) {
    const char *log = log_of(s, v, program);
    v->DestroyProgram(&program);
    return fail(s, LEAVE_MACHINE, "NVRTC did not take what ein wrote: %s\n%s", arch, log);
  }
  e = (machine ? v->GetCUBINSize : v->GetPTXSize)(program, &n);
  char *made = arena_alloc(s->arena, n + 1);
  if (!e) e = (machine ? v->GetCUBIN : v->GetPTX)(program, made);
  v->DestroyProgram(&program);
  *out = (Bytes){made, n};
  return e ? fail(s, LEAVE_MACHINE, "NVRTC does not give what it made") : LEAVE_OK;
}

static CacheKey key_make(Session *s, const Nvrtc *v, const Buf *text, const char *arch) {
  CacheKey k = cache_key_new();
  cache_key_text(&k, EIN_VERSION);
  cache_key_text(&k, runtime_mark);
  cache_key_add(&k, text->s, text->len);
  cache_key_text(&k, arch);
  cache_key_text(&k, no_fma);
  cache_key_text(&k, arena_printf(s->arena, "%d.%d", v->major, v->minor));
  cache_key_file(s, &k, v->path);
  return k;
}

Leave device_image(Session *s, const Job *j, const EmitOptions *o, const char *arch, EmitImage *out, double *seconds) {
  Buf text = buf_new(s->arena);
  Nvrtc v;
  *out = (EmitImage){0};
  if (!emit_cuda_kernels(&text, j->loops, o)) return LEAVE_OK;
  Leave l = nvrtc_open(s, &v);
  if (!l) l = arch_choose(s, &v, arch, &arch);
  if (l) return l;
  const char *path = cache_path(s, "device", key_make(s, &v, &text, arch), arch[0] == 's' ? ".cubin" : ".ptx");
  Bytes made = path ? cache_read(s, path) : (Bytes){0};
  if (made.at) detail(s, "compiled before: %s", path);
  else {
    double before = seconds_now();
    l = compile(s, &v, &text, arch, &made);
    *seconds += seconds_now() - before;
    if (!l && path) cache_keep(s, path, made);
  }
  *out = (EmitImage){made.at, made.len, arena_printf(s->arena, "the kernels for %s, by NVRTC %d.%d", arch, v.major, v.minor)};
  return l;
}

Leave device_text(Session *s, const Job *j, const EmitOptions *o, Buf *text, double *seconds) {
  const char *arch = "";
  EmitImage image;
  Leave l = device_find(s, &arch);
  if (!l) l = device_image(s, j, o, arch, &image, seconds);
  if (!l) emit_cuda_host(text, j->loops, o, &image);
  return l;
}
