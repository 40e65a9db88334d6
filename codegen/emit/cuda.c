/* codegen/emit/cuda.c - emits a LoopProgram for a device as one CUDA text: a __global__ function for each launch;
 * then, for the host, the sizes, the run as a list of calls, and the tables, as in C. Or as two texts: the kernels for
 * NVRTC, and the rest in C, with NVRTC's output embedded. It makes no decisions. Both use runtime/cuda/, a part of
 * ein_run.h. */
#include <inttypes.h>

#include "c_inside.h"
#include "c_tables.h"

static const char axis_of[] = "xyz";

/* ---- a launch ---------------------------------------------------------------------------------------- */

/* The bound loops, outermost first, and their body. */
typedef struct Launch {
  const LoopStmt *bound[2 * LOOP_AXES];
  uint32_t n;
  const LoopBody *threads;
} Launch;

static Launch launch_of(const LoopStmt *s) {
  Launch l = {.n = 0};
  for (;; s = vec_last(s->body)) {
    l.bound[l.n++] = s;
    l.threads = &s->body;
    const LoopStmt *in = s->body.len ? vec_last(s->body) : NULL;
    if (!in || in->kind != LOOP_FOR || (in->bind != BIND_GRID && in->bind != BIND_BLOCK)) return l;
  }
}

static void index_print(CPrinter *p, const LoopStmt *s) {
  if (!p->f.var_used[s->var]) return;
  buf_printf(p->out, "  const int64_t %s = %s.%c;\n", c_var(p, s->var), s->bind == BIND_GRID ? "blockIdx" : "threadIdx",
      axis_of[s->axis]);
  if (s->hi->kind == EX_INT) buf_printf(p->out, "  EIN_ENDS(%s, %lld);\n", c_var(p, s->var), (long long)s->hi->i);
}

/* at: where the array is in memory that the launch asks for; negative: it is a plain array. */
static void shared_print(CPrinter *p, const LoopStmt *s, int64_t at) {
  const LoopPlace *x = &p->k->places.at[s->place];
  int64_t n = 1;
  for (uint32_t k = 0; k < x->rank; k++) n *= x->dim[k]->i;
  buf_printf(p->out, "  EIN_SHARED%s(%s, %s, %lld", at < 0 ? "" : "_AT", c_array_type(x), c_place(p, s->place),
      (long long)(n ? n : 1));
  if (at >= 0) buf_printf(p->out, ", %lld", (long long)at);
  buf_str(p->out, ");\n");
}

/* The shared arrays of a launch stand before the loop that ends each body. */
static int64_t shared_of(const CPrinter *p, const LoopBody *b) {
  int64_t bytes = 0;
  for (uint32_t k = 0; k + 1 < b->len; k++) bytes += loop_shared_bytes(&p->k->places.at[b->at[k]->place]);
  return bytes;
}

/* How many bytes a launch asks for: those of all its arrays, if all devices give fewer unasked; else 0. */
static int64_t shared_asked(const CPrinter *p, const Launch *l) {
  int64_t bytes = 0;
  for (uint32_t i = 0; i + 1 < l->n; i++) bytes += shared_of(p, &l->bound[i]->body);
  return bytes > LOOP_SHARED_PLAIN ? bytes : 0;
}

/* Prints a kernel's parameters: the buffers that it uses, sizes, and the context's part on the device. */
static void parameters_print(CPrinter *p) {
  const char *comma = "";
  for (uint32_t i = 0; i < p->k->places.len; i++) {
    const LoopPlace *x = &p->k->places.at[i];
    if (x->space != SPACE_BUFFER || !p->f.place_used[i]) continue;
    buf_printf(
        p->out, "%sEIN_GLOBAL(%s%s) %s", comma, x->written ? "" : "const ", c_store_type(x->dtype), c_place(p, i));
    comma = ", ";
  }
  for (uint32_t i = 0; i < p->f.here.len; i++, comma = ", ")
    buf_printf(p->out, "%sconst int64_t %s", comma, p->f.size_name.at[p->f.here.at[i]]->s);
  if (p->f.uses_ctx) buf_printf(p->out, "%sconst ein_device ein_at", comma);
}

/* Prints that each buffer is aligned to 16 bytes, the widest load or store. */
static void aligned_print(CPrinter *p) {
  for (uint32_t i = 0; i < p->k->places.len; i++) {
    const LoopPlace *x = &p->k->places.at[i];
    if (x->space != SPACE_BUFFER || !p->f.place_used[i] || !x->rank) continue;
    buf_printf(p->out, "  EIN_AT_16(%s%s, %s);\n", x->written ? "" : "const ", c_store_type(x->dtype), c_place(p, i));
  }
}

/* number: the launch's; places, sizes: in the order of its parameters. */
typedef struct CudaLaunch {
  Str name;
  uint32_t number;
  VEC(uint32_t) places;
  VEC(const Expr *) sizes;
  bool device;
} CudaLaunch;

static CudaLaunch *launch_keep(CPrinter *p, Str name, int64_t shared) {
  CudaLaunch *c = MAKE(p->arena, CudaLaunch, .name = name, .number = p->launch.names.len);
  vec_push(p->arena, p->launch.names, name);
  vec_push(p->arena, p->launch.shared, shared);
  c->device = p->f.uses_ctx;
  for (uint32_t i = 0; i < p->k->places.len; i++)
    if (p->k->places.at[i].space == SPACE_BUFFER && p->f.place_used[i]) vec_push(p->arena, c->places, i);
  for (uint32_t i = 0; i < p->f.here.len; i++) vec_push(p->arena, c->sizes, p->own->at.at[p->f.here.at[i]]);
  return c;
}

/* The threads of a block: the kernel is compiled for as many registers per thread as that leaves. */
static int64_t threads_of(const Launch *l) {
  int64_t n = 1;
  for (uint32_t i = 0; i < l->n; i++)
    if (l->bound[i]->bind == BIND_BLOCK) n *= l->bound[i]->hi->i;
  return n;
}

static CudaLaunch *launch_print(CPrinter *p, const LoopStmt *s) {
  Launch l = launch_of(s);
  Buf *out = p->out, body = buf_new(p->arena);
  c_kernel_begin(p, p->k, NULL);
  p->out = &body;
  c_body(p, l.threads, 1);
  p->out = out;
  Str base = strings_printf(p->strings, "%s_k_%s", p->o->prefix, p->k->name->s);
  Str name = c_scope_name(&p->functions.names, base, "step");
  buf_printf(out, "extern \"C\" __launch_bounds__(%lld", (long long)threads_of(&l));
  if (s->beside) buf_printf(out, ", %lld", (long long)s->beside);
  buf_printf(out, ") __global__ void %s(", name->s);
  parameters_print(p);
  buf_str(out, ") {\n");
  aligned_print(p);
  if (p->f.uses_ctx) buf_str(out, "  const ein_device *const ctx = &ein_at;\n");
  int64_t shared = shared_asked(p, &l), at = 0;
  for (uint32_t i = 0; i < l.n; i++) {
    index_print(p, l.bound[i]);
    for (uint32_t k = 0; i + 1 < l.n && k + 1 < l.bound[i]->body.len; k++) {
      const LoopStmt *array = l.bound[i]->body.at[k];
      shared_print(p, array, shared ? at : -1);
      at += loop_shared_bytes(&p->k->places.at[array->place]);
    }
  }
  buf_add(out, body.s, body.len);
  buf_str(out, "}\n\n");
  return launch_keep(p, name, shared);
}

/* ---- kernels and their calls --------------------------------------------------------------------------- */

/* Adds all launches, including those after a library's product or in its place. */
static void launches_add(CPrinter *p, const LoopBody *b, LoopBody *all) {
  vec_each_of(LoopStmt, s, *b) {
    if (s->kind != LOOP_PRODUCT) vec_push(p->arena, *all, s);
    if (s->kind == LOOP_PRODUCT && p->launch.library) launches_add(p, &s->body, all);
    if (s->kind == LOOP_PRODUCT) launches_add(p, &s->other, all);
  }
}

static LoopBody launches_all(CPrinter *p, const LoopKernel *k) {
  LoopBody all = {0};
  launches_add(p, &k->body, &all);
  return all;
}

typedef struct CudaLaunches { CudaLaunch **at; uint32_t n; } CudaLaunches;

static CudaLaunches launches_print(CPrinter *p, const LoopKernel *k) {
  p->k = k;
  p->own = &p->sizes;
  LoopBody body = launches_all(p, k);
  CudaLaunches all = {NEW_ARRAY(p->arena, CudaLaunch *, body.len + 1), body.len};
  for (uint32_t i = 0; i < body.len; i++) all.at[i] = launch_print(p, body.at[i]);
  return all;
}

/* Prints the kernel without names, with sizes of its own. */
static CudaLaunches nameless_print(const CPrinter *p, const LoopKernel *k, Buf *text) {
  CPrinter own = {.out = text, .p = p->p, .o = p->o, .arena = p->arena, .strings = p->strings,
      .sizes.of = map_new(p->arena), .axes = p->axes, .device = true, .launch.library = p->launch.library,
      .functions = {.names = c_scope(p->arena, p->strings), .shared = p->functions.shared, .nameless = true}};
  return launches_print(&own, c_nameless(p, k));
}

/* Prints the kernel's functions, or takes those of the first kernel whose text without names is the same. Seeds and
 * sites are part of the text. */
static void c_device_kernel(CPrinter *p, Map *texts, uint32_t number) {
  const LoopKernel *k = p->p->kernels.at[number];
  Buf text = buf_new(p->arena);
  CudaLaunches own = nameless_print(p, k, &text);
  Str whole = str_of(p->strings, text.s, text.len);
  CudaLaunches *first = map_find(texts, whole);
  if (!first) {
    first = NEW(p->arena, CudaLaunches);
    c_note(p, k);
    *first = launches_print(p, k);
    map_put(texts, whole, first);
  }
  for (uint32_t i = 0; i < own.n; i++) own.at[i]->name = first->at[i]->name, own.at[i]->number = first->at[i]->number;
  map_put(&p->functions.of, k, own.at);
}

static void extent_print(CPrinter *p, const Expr *e) {
  if (e->kind == EX_INT) buf_printf(p->out, "%lld", (long long)e->i);
  else buf_printf(p->out, "ctx->size[%u]", c_size_number(p, e));
}

/* Prints the extents along x, y and z; 1 if there is no loop. */
static void extents_print(CPrinter *p, const Launch *l, LoopBind bind) {
  for (uint32_t axis = 0; axis < LOOP_AXES; axis++) {
    const Expr *e = expr_int(p->p->tasks->exprs, DT_I64, 1);
    for (uint32_t i = 0; i < l->n; i++)
      if (l->bound[i]->bind == bind && l->bound[i]->axis == axis) e = l->bound[i]->hi;
    buf_str(p->out, ", ");
    extent_print(p, e);
  }
}

static void by_nvcc_print(CPrinter *p, const CudaLaunch *x, const LoopKernel *k, const Launch *l, const char *indent) {
  buf_printf(p->out, "%sEIN_LAUNCH(ctx, %s, %lld", indent, x->name->s, (long long)shared_asked(p, l));
  extents_print(p, l, BIND_GRID);
  extents_print(p, l, BIND_BLOCK);
  for (uint32_t i = 0; i < x->places.len; i++) {
    const LoopPlace *place = &k->places.at[x->places.at[i]];
    buf_printf(p->out, ", EIN_ARGUMENT(%s%s, ctx, %u)", place->written ? "" : "const ", c_store_type(place->dtype),
        place->buffer);
  }
  for (uint32_t i = 0; i < x->sizes.len; i++)
    buf_printf(p->out, ", ctx->size[%u]", c_size_number(p, x->sizes.at[i]));
  buf_printf(p->out, "%s);\n", x->device ? ", ein_cuda_now(ctx)" : "");
}

static void by_driver_print(
    CPrinter *p, const CudaLaunch *x, const LoopKernel *k, const Launch *l, const char *indent) {
  uint32_t n = x->places.len + x->sizes.len;
  buf_printf(p->out, "%s{\n%s  const int given[] = {", indent, indent);
  for (uint32_t i = 0; i < x->places.len; i++)
    buf_printf(p->out, "%s%u", i ? ", " : "", k->places.at[x->places.at[i]].buffer);
  for (uint32_t i = 0; i < x->sizes.len; i++)
    buf_printf(p->out, "%s~%u", i || x->places.len ? ", " : "", c_size_number(p, x->sizes.at[i]));
  buf_printf(p->out, "%s};\n%s  ein_cuda_launch(ctx, %u", n ? "" : "0", indent, x->number);
  extents_print(p, l, BIND_GRID);
  extents_print(p, l, BIND_BLOCK);
  buf_printf(p->out, ", %u, given, %d); /* %s */\n%s}\n", n, x->device, x->name->s, indent);
}

/* ---- products --------------------------------------------------------------------------------------------- */

/* Prints `first`, plus the stride of each turn. */
static void first_print(CPrinter *p, const LoopProduct *x, int which) {
  extent_print(p, x->first[which]);
  for (uint32_t d = 0; d < PRODUCT_TURNS; d++) {
    if (expr_is_int(x->turn[which][d], 0)) continue;
    buf_printf(p->out, " + ctx->turn[%u] * ", d);
    extent_print(p, x->turn[which][d]);
  }
}

/* Calls the library, which returns whether it has computed the product. */
static void product_print(CPrinter *p, const LoopStmt *s, const char *name, const char *in) {
  LoopProduct x;
  Buf *out = p->out;
  if (!loop_product(p->p->tasks->exprs, p->k, s, &x, NULL)) bug("no product: %s", name);
  buf_printf(out, "%sint by_library;\n%s{\n%s  const int64_t size[] = {", in, in, in);
  for (uint32_t i = 0; i < s->n_over; i++) buf_str(out, i ? ", " : ""), extent_print(p, s->over[i].extent);
  for (int which = 0; which < 3; which++) {
    buf_printf(out, "}, %s[] = {", which == 0 ? "result" : which == 1 ? "rows" : "lanes");
    for (uint32_t i = 0; i < s->n_over; i++) buf_str(out, i ? ", " : ""), extent_print(p, x.step[which][i]);
  }
  buf_printf(out, "};\n%s  const ein_cuda_product x = {\"%s\", %u, size, {", in, name, s->n_over);
  for (int which = 0; which < 3; which++) {
    buf_printf(out, "%s{%u, ", which ? ", " : "", p->k->places.at[x.place[which]].buffer);
    first_print(p, &x, which);
    buf_printf(out, ", %s}", which == 0 ? "result" : which == 1 ? "rows" : "lanes");
  }
  buf_str(out, "}, ");
  double_print(out, x.scale);
  buf_printf(out, "};\n%s  by_library = ein_cuda_multiply(ctx, &x);\n%s}\n", in, in);
}

/* Returns the end of its launches in `all`. */
static CudaLaunch **calls_print(CPrinter *p, const LoopBody *b, CudaLaunch **all, const char *in) {
  vec_each_of(const LoopStmt, s, *b) {
    Launch l;
    if (s->kind != LOOP_PRODUCT) {
      l = launch_of(s);
      (p->launch.driver ? by_driver_print : by_nvcc_print)(p, *all++, p->k, &l, in);
    } else if (!p->launch.library) {
      all = calls_print(p, &s->other, all, in);
    } else {
      const char *inner = arena_printf(p->arena, "%s  ", in), *more = arena_printf(p->arena, "%s  ", inner);
      buf_printf(p->out, "%s{\n", in);
      product_print(p, s, all[s->body.len]->name->s, inner);
      if (s->body.len) {
        buf_printf(p->out, "%sif (by_library) {\n", inner);
        all = calls_print(p, &s->body, all, more);
        buf_printf(p->out, "%s}\n", inner);
      }
      buf_printf(p->out, "%sif (!by_library) {\n", inner);
      all = calls_print(p, &s->other, all, more);
      buf_printf(p->out, "%s}\n%s}\n", inner, in);
    }
  }
  return all;
}

void c_device_call(CPrinter *p, uint32_t number, const char *indent) {
  p->k = p->p->kernels.at[number];
  calls_print(p, &p->k->body, map_find(&p->functions.of, p->k), indent);
}

/* ---- moves -------------------------------------------------------------------------------------------- */

/* Kernels that move boxes of elements of 1, 2, 4 and 8 bytes: all of them in a text for several sites, and those for
 * arguments of a text that packs them. */
static const struct {
  int bytes;
  const char *type;
} boxed[] = {{1, "uint8_t"}, {2, "uint16_t"}, {4, "uint32_t"}, {8, "uint64_t"}};

static bool is_packed(const CPrinter *p, int bytes) {
  const TaskGraph *t = p->p->tasks;
  for (uint32_t b = 0; b < t->buffers.len && p->o->packs; b++) {
    const TaskBuffer *x = &t->buffers.at[b];
    if (x->space != BUF_WORK && x->rank && dtype_size(x->dtype) == bytes) return true;
  }
  return t->mesh.n > 0;
}

static void boxes_kernels(CPrinter *p) {
  for (uint32_t k = 0; k < COUNT(boxed); k++) {
    p->launch.boxes[k] = -1;
    if (!is_packed(p, boxed[k].bytes)) continue;
    p->launch.boxes[k] = (int32_t)p->launch.names.len;
    Str base = strings_printf(p->strings, "%s_boxes_%d", p->o->prefix, boxed[k].bytes);
    Str name = c_scope_name(&p->functions.names, base, "kernel");
    buf_printf(p->out,
        "extern \"C\" __launch_bounds__(EIN_BOXES_THREADS) __global__ void %s(EIN_GLOBAL(%s) to, EIN_GLOBAL(const "
        "%s) from, EIN_GLOBAL(const int64_t) begins, "
        "const ein_boxes_are are) {\n  EIN_BOXES_BODY(to, from, begins, are)\n}\n\n",
        name->s, boxed[k].type, boxed[k].type);
    vec_push(p->arena, p->launch.names, name);
    vec_push(p->arena, p->launch.shared, 0);
  }
}

static const char *sites_word(const LoopProgram *lp) { return lp->tasks->mesh.n ? "#define EIN_SITES\n" : ""; }

/* Prints the head of a text and its kernels. Returns the printer. */
static CPrinter kernels_print(Buf *c, const LoopProgram *lp, const EmitOptions *o, bool library) {
  CPrinter p = c_printer(c, lp, o);
  uint32_t turns = c_turns(lp->tasks);
  p.device = true, p.launch.library = library;
  c_file_head(
      c, o, arena_printf(lp->arena, "#define EIN_CUDA\n%s#define EIN_TURNS %u\n", sites_word(lp), turns ? turns : 1));
  p.functions.shared = NEW_ARRAY(lp->arena, bool, lp->kernels.len + 1);
  Map texts = map_new(lp->arena);
  for (uint32_t i = 0; i < lp->kernels.len; i++) c_device_kernel(&p, &texts, i);
  boxes_kernels(&p);
  return p;
}

void emit_cuda(Buf *c, const LoopProgram *lp, const EmitOptions *o) {
  CPrinter p = kernels_print(c, lp, o, false);
  buf_str(c, "#if !defined(__CUDACC_RTC__)\n\n");
  c_host(&p);
  emit_tables(c, lp, o, arena_printf(lp->arena, "%s_ready", o->prefix));
  buf_str(c, "#endif\n");
}

uint32_t emit_cuda_kernels(Buf *c, const LoopProgram *lp, const EmitOptions *o) {
  return kernels_print(c, lp, o, true).launch.names.len;
}

/* Prints the image as 64-bit words, which compilers read fastest, and which align it for the driver. */
static void image_print(Buf *c, const EmitImage *image, const char *prefix, uint32_t number) {
  buf_printf(c,
      "/* the kernels for %s_%d, compiled by %s, as 64-bit words, lowest byte first */\n"
      "static const uint64_t %s_image_%u[] = {",
      image->machine ? "sm" : "compute", image->arch, image->by, prefix, number);
  for (size_t i = 0; i <= image->len / 8; i++) { /* and a 0 at the end, which PTX needs */
    uint64_t word = 0;
    for (size_t k = 0; k < 8 && i * 8 + k < image->len; k++)
      word |= (uint64_t)((const unsigned char *)image->at)[i * 8 + k] << (8 * k);
    buf_printf(c, "%s0x%" PRIx64 "u,", i % 8 ? " " : "\n  ", word);
  }
  buf_str(c, "\n};\n");
}

static void code_print(Buf *c, const CPrinter *p, const EmitImage *image, uint32_t n, const char *prefix) {
  const CLaunches *l = &p->launch;
  if (!l->names.len) {
    buf_printf(c, "static const ein_cuda_code %s_code = {NULL, 0, NULL, NULL, 0, {-1, -1, -1, -1}};\n\n", prefix);
    return;
  }
  for (uint32_t i = 0; i < n; i++) image_print(c, &image[i], prefix, i);
  buf_printf(c, "static const ein_cuda_image %s_images[] = {\n", prefix);
  for (uint32_t i = 0; i < n; i++)
    buf_printf(c, "  {%d, %d, %s_image_%u},\n", image[i].arch, image[i].machine, prefix, i);
  buf_printf(c, "};\nstatic const char *const %s_kernel[] = {\n", prefix);
  for (uint32_t i = 0; i < l->names.len; i++) buf_printf(c, "  \"%s\",\n", l->names.at[i]->s);
  buf_printf(c, "};\nstatic const unsigned %s_shared[] = {", prefix);
  for (uint32_t i = 0; i < l->shared.len; i++) buf_printf(c, "%s%lld", i ? ", " : "", (long long)l->shared.at[i]);
  buf_printf(c,
      "};\nstatic const ein_cuda_code %s_code = {%s_images, %u, %s_kernel, %s_shared, %u, {%d, %d, %d, %d}};\n\n",
      prefix, prefix, n, prefix, prefix, l->names.len, l->boxes[0], l->boxes[1], l->boxes[2], l->boxes[3]);
}

/* What the run does, with everything that it needs of the host. */
static void host_part(CPrinter *p) {
  p->launch.driver = true;
  p->device = false; /* moves are described and combined on the host */
  c_sites(p);
  p->device = true;
  c_host(p);
}

void emit_cuda_host(Buf *c, const LoopProgram *lp, const EmitOptions *o, const EmitImage *image, uint32_t n_images) {
  Buf kernels = buf_new(lp->arena);
  CPrinter p = kernels_print(&kernels, lp, o, true);
  uint32_t turns = c_turns(lp->tasks);
  p.out = c;
  c_file_head(c, o,
      arena_printf(lp->arena, "#define EIN_DRIVER\n%s%s#define EIN_TURNS %u\n", sites_word(lp),
          loop_has_products(lp) ? "#define EIN_PRODUCTS\n" : "", turns ? turns : 1));
  code_print(c, &p, image, n_images, o->prefix);
  host_part(&p);
  emit_tables(c, lp, o, arena_printf(lp->arena, "%s_ready", o->prefix));
}

const EmitRows *emit_cuda_rows(const LoopProgram *lp, const EmitOptions *o) {
  Buf nowhere = buf_new(lp->arena);
  CPrinter p = kernels_print(&nowhere, lp, o, true);
  host_part(&p);
  return p.launch.rows;
}
