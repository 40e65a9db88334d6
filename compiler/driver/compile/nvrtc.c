/* driver/compile/nvrtc.c - kernels for a device. In: a program's loops; out: machine code for the local device, or
 * for named ones. Uses NVRTC, which is loaded at run time, and whose functions are declared here. The result is
 * cached like any other compiled code. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/libcublas.h"
#include "cuda/libcuda.h"
#include "nvrtc.h"
#include "texts.h"

/* ---- the library -------------------------------------------------------------------------------- */

/* X(name, parameters), for nvrtcNAME; each returns 0 or an error. */
#define NVRTC(X)                                                                                                     \
  X(Version, (int *major, int *minor))                                                                               \
  X(GetNumSupportedArchs, (int *n))                                                                                  \
  X(GetSupportedArchs, (int *arch))                                                                                  \
  X(CreateProgram,                                                                                                   \
      (void **program, const char *text, const char *name, int n, const char *const *header, const char *const *as)) \
  X(CompileProgram, (void *program, int n, const char *const *option))                                               \
  X(GetProgramLogSize, (void *program, size_t *n))                                                                   \
  X(GetProgramLog, (void *program, char *log))                                                                       \
  X(GetCUBINSize, (void *program, size_t *n))                                                                        \
  X(GetCUBIN, (void *program, char *to))                                                                             \
  X(GetPTXSize, (void *program, size_t *n))                                                                          \
  X(GetPTX, (void *program, char *to))                                                                               \
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
  const char *folders[] = {
      "", home && *home ? arena_printf(s->arena, "%s/lib64/", home) : "", "/usr/local/cuda/lib64/"};
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
#define FIND(name, parameters)                                                                          \
  at = dlsym(library, "nvrtc" #name);                                                                   \
  if (!at)                                                                                              \
    return fail(s, LEAVE_MACHINE,                                                                       \
        "the libnvrtc that was found is too old: it has no nvrtc%s, which came with CUDA 11.2", #name); \
  memcpy(&out->name, &at, sizeof at);
  NVRTC(FIND)
#undef FIND
  out->path =
      dladdr(at, &where) && where.dli_fname ? arena_copy(s->arena, where.dli_fname, strlen(where.dli_fname) + 1) : "";
  if (out->Version(&out->major, &out->minor)) return fail(s, LEAVE_MACHINE, "NVRTC does not say its version");
  return LEAVE_OK;
}

/* ---- for which devices -------------------------------------------------------------------------- */

/* sm_90 is machine code, compute_90 is PTX. */
typedef struct Arch { int number; bool machine; } Arch;
typedef VEC(Arch) Archs;

static const char *arch_name(Session *s, Arch a) {
  return arena_printf(s->arena, "%s_%d", a.machine ? "sm" : "compute", a.number);
}

typedef struct Known { int *at; int n; } Known; /* the architectures that NVRTC compiles for, the oldest first */

static Leave archs_known(Session *s, const Nvrtc *v, Known *out) {
  out->n = 0;
  if (v->GetNumSupportedArchs(&out->n) || out->n < 1)
    return fail(s, LEAVE_MACHINE, "NVRTC does not say for which devices it compiles");
  out->at = NEW_ARRAY(s->arena, int, out->n);
  return v->GetSupportedArchs(out->at) ? fail(s, LEAVE_MACHINE, "NVRTC does not say for which devices it compiles")
                                       : LEAVE_OK;
}

/* Finds the compute capability of the first local device. */
static Leave device_find(Session *s, int *arch) {
  ein_libcuda cu;
  ein_error error = {0};
  int device, major = 0, minor = 0;
  if (!ein_libcuda_open(&cu, &error))
    return fail(s, LEAVE_MACHINE, "%s; ein run without --target=cuda does without one", error.text);
  int e = cu.device_get(&device, 0);
  if (!e) e = cu.device_attribute(&major, EIN_CU_MAJOR, device);
  if (!e) e = cu.device_attribute(&minor, EIN_CU_MINOR, device);
  if (e) return fail(s, LEAVE_MACHINE, "CUDA: the device does not say what it is: %s", ein_libcuda_words(&cu, e).text);
  *arch = 10 * major + minor;
  return LEAVE_OK;
}

Leave devices_count(Session *s, int *n) {
  ein_libcuda cu;
  ein_error error = {0};
  if (!ein_libcuda_open(&cu, &error)) return fail(s, LEAVE_MACHINE, "%s", error.text);
  int e = cu.device_count(n);
  return e ? fail(s, LEAVE_MACHINE, "CUDA: the number of devices: %s", ein_libcuda_words(&cu, e).text) : LEAVE_OK;
}

/* Machine code for it; or, for a device newer than NVRTC, PTX for the newest architecture that NVRTC knows, which
 * the driver compiles further. */
static Leave arch_here(Session *s, const Nvrtc *v, int wanted, Archs *out) {
  Known known;
  int best = 0;
  Leave l = archs_known(s, v, &known);
  if (l) return l;
  for (int i = 0; i < known.n; i++)
    if (known.at[i] <= wanted && known.at[i] > best) best = known.at[i];
  if (!best)
    return fail(s, LEAVE_MACHINE,
        "the device has compute capability %d.%d, and NVRTC %d.%d compiles from %d.%d on: an older CUDA toolkit has it",
        wanted / 10, wanted % 10, v->major, v->minor, known.at[0] / 10, known.at[0] % 10);
  vec_push(s->arena, *out, ((Arch){best, best == wanted}));
  return LEAVE_OK;
}

static bool arch_read(const char *word, Arch *out) {
  char *end;
  out->machine = strncmp(word, "sm_", 3) == 0;
  if (!out->machine && strncmp(word, "compute_", 8) != 0) return false;
  word += out->machine ? 3 : 8;
  long n = *word >= '0' && *word <= '9' ? strtol(word, &end, 10) : 0;
  out->number = n > 0 && n < 10000 && !*end ? (int)n : 0;
  return out->number > 0;
}

static Leave arch_add(Session *s, const Nvrtc *v, const Known *known, const char *word, Archs *out) {
  Arch a;
  Buf have = buf_new(s->arena);
  if (!arch_read(word, &a))
    return fail(s, LEAVE_USAGE,
        "--arch: %s is no architecture; expected sm_90, machine code for devices of compute capability 9.0, or "
        "compute_90, for these "
        "and all newer ones; several with commas between",
        *word ? word : "nothing");
  for (int i = 0; i < known->n; i++) {
    if (known->at[i] == a.number) return vec_push(s->arena, *out, a), LEAVE_OK;
    buf_printf(&have, "%s%d", i ? ", " : "", known->at[i]);
  }
  return fail(s, LEAVE_USAGE, "--arch=%s: NVRTC %d.%d compiles for %s", word, v->major, v->minor, have.s);
}

/* The first with units for products of matrices as runtime/cuda/matrix.h uses them. */
enum { ARCH_MATRIX = 80 };

/* said NULL: PTX for the oldest one, which any device that NVRTC knows accepts; and, if kernels have products for
 * matrix units, for the oldest that has these. */
static Leave archs_said(Session *s, const Nvrtc *v, const Buf *kernels, const char *said, Archs *out) {
  Known known;
  Leave l = archs_known(s, v, &known);
  if (!l && !said) {
    int k = 0;
    vec_push(s->arena, *out, ((Arch){known.at[0], false}));
    while (k < known.n && known.at[k] < ARCH_MATRIX) k++;
    if (k > 0 && k < known.n && strstr(kernels->s, "EIN_MATRIX"))
      vec_push(s->arena, *out, ((Arch){known.at[k], false}));
  }
  const Words words = commas_of(s->arena, said);
  for (uint32_t i = 0; i < words.len && !l; i++) l = arch_add(s, v, &known, words.at[i], out);
  return l;
}

/* ---- compiling ---------------------------------------------------------------------------------- */

/* The text itself decides which operations are fused. */
static const char no_fma[] = "--fmad=false";

static const char *log_of(Session *s, const Nvrtc *v, void *program) {
  size_t n = 0;
  if (v->GetProgramLogSize(program, &n) || !n) return "";
  char *log = arena_alloc(s->arena, n + 1);
  if (v->GetProgramLog(program, log)) return "";
  log[n] = 0;
  return log;
}

static Leave compile(Session *s, const Nvrtc *v, const Buf *text, Arch arch, Bytes *out) {
  const char *option[] = {arena_printf(s->arena, "--gpu-architecture=%s", arch_name(s, arch)), no_fma};
  const char *header[] = {runtime_ein_run}, *as[] = {"ein_run.h"};
  void *program = NULL;
  size_t n = 0;
  if (v->CreateProgram(&program, text->s, "program.cu", 1, header, as))
    return fail(s, LEAVE_MACHINE, "NVRTC makes no program");
  int e = v->CompileProgram(program, COUNT(option), option);
  if (e) {
    const char *log = log_of(s, v, program);
    v->DestroyProgram(&program);
    return fail(s, LEAVE_MACHINE, "NVRTC did not take what ein wrote: %s\n%s", arch_name(s, arch), log);
  }
  e = (arch.machine ? v->GetCUBINSize : v->GetPTXSize)(program, &n);
  char *made = arena_alloc(s->arena, n + 1);
  if (!e) e = (arch.machine ? v->GetCUBIN : v->GetPTX)(program, made);
  v->DestroyProgram(&program);
  *out = (Bytes){made, n};
  return e ? fail(s, LEAVE_MACHINE, "NVRTC does not give what it made") : LEAVE_OK;
}

static CacheKey key_make(Session *s, const Nvrtc *v, const Buf *text, Arch arch) {
  CacheKey k = cache_key_new();
  cache_key_text(&k, EIN_VERSION);
  cache_key_text(&k, runtime_mark);
  cache_key_add(&k, text->s, text->len);
  cache_key_text(&k, arch_name(s, arch));
  cache_key_text(&k, no_fma);
  cache_key_text(&k, arena_printf(s->arena, "%d.%d", v->major, v->minor));
  cache_key_file(s, &k, v->path);
  return k;
}

/* From the cache, or compiled now and cached. */
static Leave image_make(Session *s, const Nvrtc *v, const Buf *text, Arch arch, EmitImage *out, double *seconds) {
  Leave l = LEAVE_OK;
  const char *path = cache_path(s, "device", key_make(s, v, text, arch), arch.machine ? ".cubin" : ".ptx");
  Bytes made = path ? cache_read(s, path) : (Bytes){0};
  if (made.at) detail(s, "compiled before: %s", path);
  else {
    double before = seconds_now();
    l = compile(s, v, text, arch, &made);
    *seconds += seconds_now() - before;
    if (!l && path) cache_keep(s, path, made);
  }
  *out = (EmitImage){
      made.at, made.len, arch.number, arch.machine, arena_printf(s->arena, "NVRTC %d.%d", v->major, v->minor)};
  return l;
}

/* ---- texts -------------------------------------------------------------------------------------- */

typedef VEC(EmitImage) Images;

/* here: the local device's architecture; 0: compiles for those in archs. */
static Leave images_make(Session *s, const Buf *kernels, int here, const char *archs, Images *out, double *seconds) {
  Nvrtc v;
  Archs all = {0};
  Leave l = nvrtc_open(s, &v);
  if (!l) l = here ? arch_here(s, &v, here, &all) : archs_said(s, &v, kernels, archs, &all);
  for (uint32_t i = 0; !l && i < all.len; i++) {
    EmitImage one;
    l = image_make(s, &v, kernels, all.at[i], &one, seconds);
    vec_push(s->arena, *out, one);
  }
  return l;
}

static Leave text_make(
    Session *s, const Job *j, const EmitOptions *o, int here, const char *archs, Buf *text, double *seconds) {
  Buf kernels = buf_new(s->arena);
  EmitOptions apart = *o;
  Images all = {0};
  Leave l = LEAVE_OK;
  apart.beside = NULL; /* NVRTC gets the runtime as ein_run.h */
  if (emit_cuda_kernels(&kernels, j->loops, &apart)) l = images_make(s, &kernels, here, archs, &all, seconds);
  if (!l) emit_cuda_host(text, j->loops, o, all.at, all.len);
  return l;
}

/* Notes who computes the products that the loops leave to a library. */
static void products_tell(Session *s, const Job *j) {
  ein_libcublas b;
  const char *why;
  int major = 0, minor = 0;
  if (!loop_has_products(j->loops)) return;
  if (!ein_libcublas_open(&b, &why)) detail(s, "products: by kernels of ein's own, for %s", why);
  else if (!b.property(0, &major) && !b.property(1, &minor))
    detail(s, "products: by cuBLAS %d.%d%s", major, minor,
        ein_libcublas_tf32() ? ", but for those of f32: NVIDIA_TF32_OVERRIDE is set" : "");
}

Leave device_text(Session *s, const Job *j, const EmitOptions *o, Buf *text, double *seconds) {
  int arch;
  Leave l = device_find(s, &arch); /* also if there is nothing to compile */
  if (!l) products_tell(s, j);
  return l ? l : text_make(s, j, o, arch, NULL, text, seconds);
}

Leave device_text_for(Session *s, const Job *j, const EmitOptions *o, const char *archs, Buf *text) {
  double seconds = 0;
  return text_make(s, j, o, 0, archs, text, &seconds);
}
