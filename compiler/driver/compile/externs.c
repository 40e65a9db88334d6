/* driver/compile/externs.c - the C functions that a program names (`extern def`): what must be compiled and linked
 * for them, and the same as functions of this process, for evaluators.
 *
 * A C source is preprocessed first: so the compiled input is one text, whatever it includes, and serves as the key
 * for the cache. The function follows as the program declares it, on the program's line, so that the compiler
 * reports disagreements there. */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "expr/word.h"
#include "native.h"
#include "driver/table.h"

typedef VEC(Buf) ExternTexts;

typedef enum { FROM_LIBC, FROM_SOURCE, FROM_BINARY, FROM_LIBRARY } FromKind;

/* "" if there is none. */
static const char *file_of(Session *s, const Extern *x) {
  return x->from ? arena_printf(s->arena, "%.*s", (int)extern_file(x->from), x->from->s) : "";
}

static FromKind kind_of(const Extern *x) {
  size_t n = x->from ? extern_file(x->from) : 0;
  if (!n) return x->from ? FROM_LIBRARY : FROM_LIBC;
  return n > 2 && memcmp(x->from->s + n - 2, ".c", 2) == 0 ? FROM_SOURCE : FROM_BINARY;
}

/* Before a complaint about it. */
static const char *place_of(Session *s, const Extern *x) { return place_text(s->arena, NULL, x->place); }

/* One file, or none. */
static bool same_from(const Extern *a, const Extern *b) {
  size_t n = a->from ? extern_file(a->from) : 0, m = b->from ? extern_file(b->from) : 0;
  if (n != m || !a->from != !b->from) return false;
  return n ? memcmp(a->from->s, b->from->s, n) == 0 : a->from == b->from || strcmp(a->from->s, b->from->s) == 0;
}

/* The first one from that file. */
static bool is_first(const Exprs *p, uint32_t k) {
  for (uint32_t i = 0; i < k; i++)
    if (same_from(extern_at(p, i), extern_at(p, k))) return false;
  return true;
}

static Words compiler_begin(Session *s, const Compiler *c) {
  Words w = {0};
  words_add(s->arena, &w, c->command.len, c->command.at);
  words_add(s->arena, &w, COMPILER_LANGUAGE, compiler_language);
  vec_push(s->arena, w, compiler_fuses);
  words_add(s->arena, &w, c->flags.len, c->flags.at);
  vec_push(s->arena, w, "-w");
  return w;
}

/* ---- sources ------------------------------------------------------------------------------------ */

/* Finds a file of the user's own that it includes, from `# 1 "own.h" 1`; system headers have a 3 there. NULL: none. */
static const char *included(Session *s, const char *text, const char *path) {
  for (const char *at = text; at; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (at[0] != '#' || at[1] != ' ' || !strchr("0123456789", at[2])) continue;
    const char *name = at + strcspn(at, "\"\n"), *line = at + strcspn(at, "\n");
    if (*name != '"') continue;
    const char *end = strchr(name + 1, '"');
    if (!end || end > line) continue;
    const char *file = arena_printf(s->arena, "%.*s", (int)(end - name - 1), name + 1),
               *flags = arena_printf(s->arena, "%.*s ", (int)(line - end - 1), end + 1);
    bool system = strstr(flags, " 3 ") != NULL,
         other = file[0] != '<' && strcmp(file, path) != 0 && !ein_ends_in(file, "/");
    if (!system && other && strstr(flags, " 1 ")) return file;
  }
  return NULL;
}

static Leave preprocess(Session *s, const Compiler *c, const Extern *x, const char *work, ExternSource *out) {
  const char *to = arena_printf(s->arena, "%s/source.i", work), *why;
  const char *path = file_of(s, x);
  Buf said = buf_new(s->arena);
  Words w = compiler_begin(s, c);
  const char *more[] = {"-E", "-o", to, path, NULL};
  words_add(s->arena, &w, COUNT(more), more);
  if (access(path, R_OK) != 0)
    return fail(s, LEAVE_PROGRAM, "%sthere is no file %s that can be read", place_of(s, x), path);
  if (!program_ask(s->arena, w.at, &said, &why))
    return fail(s, LEAVE_PROGRAM, "%s%s cannot be compiled: %s\n%s", place_of(s, x), path, why, said.s);
  Source *made = source_read(s->arena, to, &why);
  if (!made) return fail(s, LEAVE_MACHINE, "cannot read %s: %s", to, why);
  *out = (ExternSource){.x = x, .path = path, .text = buf_new(s->arena), .includes = included(s, made->bytes, path)};
  buf_add(&out->text, made->bytes, made->len);
  return LEAVE_OK;
}

/* "mine.c" is the text extern0_mine. */
static const char *source_name(Session *s, const char *path, uint32_t k) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char *own = arena_printf(s->arena, "extern%u_%.*s", k, (int)(strlen(name) - 2), name);
  for (char *c = own; *c; c++)
    if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *c)) *c = '_';
  return own;
}

static Leave part_add(Session *s, const Compiler *c, const Extern *x, const char *work, ExternParts *out) {
  ExternSource one;
  switch (kind_of(x)) {
  case FROM_LIBC: return LEAVE_OK;
  case FROM_LIBRARY: return LEAVE_OK;
  case FROM_SOURCE: {
    Leave l = preprocess(s, c, x, work, &one);
    if (l) return l;
    one.name = source_name(s, one.path, out->sources.len);
    vec_push(s->arena, out->sources, one);
    return LEAVE_OK;
  }
  case FROM_BINARY: break;
  }
  const char *path = file_of(s, x);
  if (!ein_ends_in(path, ".o") && !ein_ends_in(path, ".a") && !ein_ends_in(path, ".so"))
    return fail(s, LEAVE_PROGRAM, "%s%s is no C source, object, archive or shared library: .c, .o, .a, .so",
        place_of(s, x), path);
  const char *real = path_real(s->arena, path);
  if (!real) return fail(s, LEAVE_PROGRAM, "%sthere is no file %s that can be read", place_of(s, x), path);
  vec_push(s->arena, out->link, real);
  vec_push(s->arena, out->files, real);
  if (!out->binary) out->binary = x;
  return LEAVE_OK;
}

/* After all files, each once. */
static void libraries_add(Session *s, const Extern *x, Words *link) {
  const char *at = x->from ? strchr(x->from->s + extern_file(x->from), '-') : NULL;
  while (at) {
    size_t n = strcspn(at, " ");
    const char *word = arena_printf(s->arena, "%.*s", (int)n, at);
    bool there = false;
    for (uint32_t i = 0; i < link->len; i++) there |= strcmp(link->at[i], word) == 0;
    if (!there) vec_push(s->arena, *link, word);
    at = at[n] ? at + n + 1 : NULL;
  }
}

Leave externs_parts(Session *s, const Compiler *c, const Exprs *p, ExternParts *out) {
  *out = (ExternParts){0};
  if (!extern_count(p)) return LEAVE_OK;
  const char *work = folder_work(s);
  Leave l = work ? LEAVE_OK : LEAVE_MACHINE;
  for (uint32_t k = 0; k < extern_count(p) && !l; k++)
    if (is_first(p, k)) l = part_add(s, c, extern_at(p, k), work, out);
  for (uint32_t k = 0; k < extern_count(p); k++) libraries_add(s, extern_at(p, k), &out->link);
  if (work) folder_remove(s->arena, work);
  return l;
}

/* ---- for evaluators ----------------------------------------------------------------------------- */

/* The bits of values of f16 and bf16. */
static const char halves[] =
    "static unsigned ein_f32(double x) { union { float f; unsigned u; } a; a.f = (float)x; return a.u; }\n"
    "static unsigned ein_bf16(double x) { return ein_f32(x) >> 16; }\n"
    "static unsigned ein_f16(double x) {\n"
    "  unsigned u = ein_f32(x), sign = u >> 16 & 0x8000, e = u >> 23 & 255, m = u & 0x7fffff;\n"
    "  if (e == 255) return sign | 0x7c00 | m >> 13;\n"
    "  if (e > 112) return sign | (e - 112) << 10 | m >> 13;\n"
    "  return sign | (e > 102 ? (m | 0x800000) >> (126 - e) : 0);\n"
    "}\n";

static void adapter_print(Buf *b, const Extern *x, uint32_t k) {
  if (x->place.file) {
    buf_printf(b, "# %u ", x->place.line);
    string_print(b, x->place.file->s, x->place.file->len);
    buf_char(b, '\n');
  }
  emit_extern_prototype(b, x);
  if (x->block) { /* evaluators do without it: they compute the equation */
    buf_printf(b, ";\n# 1 \"<ein>\"\nvoid *ein_extern_%u(void) { return (void *)%s; }\n", k, x->symbol->s);
    return;
  }
  buf_printf(b, ";\n# 1 \"<ein>\"\nvoid ein_extern_%u(const union ein_cell *a, union ein_cell *r) { r->f = (double)%s(",
      k, x->symbol->s);
  for (uint32_t i = 0; i < x->n; i++) {
    bool half = dtype_is_half(x->arg[i]);
    const char *to = half ? arena_printf(b->arena, "ein_%s", dtype_name(x->arg[i])) : "";
    buf_printf(b, "%s(%s)%s(a[%u].%c)", i ? ", " : "", emit_extern_type(x->arg[i]), to, i,
        dtype_is_float(x->arg[i]) ? 'f' : 'i');
  }
  buf_str(b, "); }\n");
}

/* The text for all functions from the same file as the first of them. */
static Buf adapters(Session *s, const Exprs *p, uint32_t first, const ExternParts *parts) {
  const Extern *x = extern_at(p, first);
  Buf b = buf_new(s->arena);
  bool source = kind_of(x) == FROM_SOURCE;
  if (!source) buf_str(&b, "#include <math.h>\n#include <stdlib.h>\n#include <string.h>\n");
  for (uint32_t i = 0; i < parts->sources.len; i++)
    if (source && same_from(parts->sources.at[i].x, x))
      buf_add(&b, parts->sources.at[i].text.s, parts->sources.at[i].text.len);
  buf_str(&b, "\n# 1 \"<ein>\"\n"); /* its own <stdint.h> was included here, and its guard is gone */
  static const char *const types[] = {
      "int64_t", "INT64", "int32_t", "INT32", "int16_t", "INT16", "int8_t", "INT8", "uint16_t", "UINT16", "uint8_t",
      "UINT8"};
  for (size_t i = 0; i < COUNT(types); i += 2)
    buf_printf(&b, "#undef %s\n#define %s __%s_TYPE__\n", types[i], types[i], types[i + 1]);
  buf_str(&b, "union ein_cell { int64_t i; double f; };\n");
  buf_str(&b, halves);
  for (uint32_t k = first; k < extern_count(p); k++)
    if (same_from(extern_at(p, k), x)) adapter_print(&b, extern_at(p, k), k);
  return b;
}

static Leave not_there(Session *s, const Exprs *p, const char *why) {
  for (uint32_t k = 0; k < extern_count(p); k++) {
    const Extern *x = extern_at(p, k);
    const char *at = strstr(why, x->symbol->s);
    size_t n = x->symbol->len;
    if (!at || !strstr(why, "undefined symbol") ||
        strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at[n] ? at[n] : ' '))
      continue;
    if (!x->from)
      return fail(s, LEAVE_PROGRAM, "%slibc and libm have no function %s; `from` says where it is", place_of(s, x),
          x->symbol->s);
    return fail(s, LEAVE_PROGRAM, "%sthere is no function %s in %s", place_of(s, x), x->symbol->s, x->from->s);
  }
  return fail(s, LEAVE_PROGRAM, "%sthe C functions cannot be loaded: %s", place_of(s, extern_at(p, 0)), why);
}

static Leave object_make(
    Session *s, const Compiler *c, const Extern *x, const Buf *text, const char *path, const char *to) {
  Buf said = buf_new(s->arena);
  Words w = compiler_begin(s, c);
  const char *why, *more[] = {"-fPIC", "-c", "-o", to, path, NULL};
  words_add(s->arena, &w, COUNT(more), more);
  Leave l = file_write(s, path, text->s, text->len);
  if (l || program_ask(s->arena, w.at, &said, &why)) return l;
  Buf type = buf_new(s->arena);
  emit_extern_prototype(&type, x);
  return fail(s, LEAVE_PROGRAM, "%sthe C function %s does not compile as it is declared, %s: %s\n%s", place_of(s, x),
      x->block ? x->symbol->s : x->name->s, type.s, why, said.s);
}

static Leave objects_link(
    Session *s, const Compiler *c, const Exprs *p, const Words *objects, const ExternParts *parts, const char *to) {
  Buf said = buf_new(s->arena);
  Words w = compiler_begin(s, c);
  const char *why, *more[] = {"-shared", "-Wl,-Bsymbolic", "-o", to};
  words_add(s->arena, &w, COUNT(more), more);
  words_add(s->arena, &w, objects->len, objects->at);
  words_add(s->arena, &w, parts->link.len, parts->link.at);
  vec_push(s->arena, w, "-lm");
  vec_push(s->arena, w, NULL);
  if (program_ask(s->arena, w.at, &said, &why)) return LEAVE_OK;
  return fail(s, LEAVE_PROGRAM, "%sthe C functions cannot be linked: %s\n%s", place_of(s, extern_at(p, 0)), why,
      said.s);
}

/* Compiles each source file separately, so that errors are attributed to the right one. */
static Leave externs_compile(Session *s, const Compiler *c, const Exprs *p, const ExternTexts *texts,
    const ExternParts *parts, const char *work, const char *to) {
  Words objects = {0};
  Leave l = LEAVE_OK;
  for (uint32_t k = 0; k < extern_count(p) && !l; k++) {
    if (!is_first(p, k)) continue;
    uint32_t i = objects.len;
    vec_push(s->arena, objects, arena_printf(s->arena, "%s/externs%u.o", work, i));
    l = object_make(
        s, c, extern_at(p, k), &texts->at[i], arena_printf(s->arena, "%s/externs%u.c", work, i), objects.at[i]);
  }
  return l ? l : objects_link(s, c, p, &objects, parts, to);
}

static const char *externs_path(Session *s, const Compiler *c, const ExternTexts *texts, const ExternParts *parts) {
  CacheKey key = cache_key_new();
  cache_key_text(&key, EIN_VERSION);
  cache_key_words(&key, &c->command);
  cache_key_words(&key, &c->flags);
  for (uint32_t i = 0; i < texts->len; i++) cache_key_add(&key, texts->at[i].s, texts->at[i].len);
  cache_key_words(&key, &parts->link);
  for (uint32_t i = 0; i < parts->files.len; i++) cache_key_file(s, &key, parts->files.at[i]);
  cache_key_file(s, &key, c->command.at[0]);
  cache_key_machine(&key);
  return cache_path(s, "externs", key, ".so");
}

static Leave externs_open(Session *s, const Compiler *c, const Exprs *p, void **handle) {
  ExternParts parts;
  Leave l = externs_parts(s, c, p, &parts);
  ExternTexts texts = {0};
  for (uint32_t k = 0; k < extern_count(p) && !l; k++)
    if (is_first(p, k)) vec_push(s->arena, texts, adapters(s, p, k, &parts));
  if (l) return l;
  const char *path = externs_path(s, c, &texts, &parts), *why;
  *handle = path && cache_read(s, path).at ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
  if (*handle) return LEAVE_OK;
  const char *work = folder_work(s), *object = work ? arena_printf(s->arena, "%s/externs.so", work) : NULL;
  if (!work) return LEAVE_MACHINE;
  l = externs_compile(s, c, p, &texts, &parts, work, object);
  Source *made = l ? NULL : source_read(s->arena, object, &why);
  if (!l && !(*handle = dlopen(object, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE))) l = not_there(s, p, dlerror());
  if (!l && path && made) cache_keep(s, path, (Bytes){made->bytes, made->len});
  folder_remove(s->arena, work);
  return l;
}

static bool calls(const Expr *e) { return e && (e->has & HAS_CALL); }

static bool region_calls(const EinRegion *r) {
  vec_each_of(const EinNode, n, r->nodes) {
    const EinSum *x = n->sum;
    if (x && (calls(x->body) || calls(x->where) || calls(x->domain))) return true;
    if (x && x->reducer == RED_MONOID && calls(x->monoid->combine)) return true;
    if (n->body && region_calls(n->body)) return true;
  }
  return false;
}

Leave externs_load_called(Session *s, const EinGraph *g) {
  return region_calls(g->top) ? externs_load(s, g->exprs, NULL) : LEAVE_OK;
}

Leave externs_load(Session *s, Exprs *p, void **handle) {
  Compiler c;
  void *opened = NULL;
  bool all = true;
  if (handle) *handle = NULL;
  for (uint32_t k = 0; k < extern_count(p); k++) all &= extern_at(p, k)->call != NULL || extern_at(p, k)->block;
  if (all && (!handle || !extern_count(p))) return LEAVE_OK;
  Leave l = compiler_find(s, NULL, NULL, &c);
  if (!l) l = externs_open(s, &c, p, &opened);
  for (uint32_t k = 0; k < extern_count(p) && !l; k++) {
    if (extern_at(p, k)->block) continue;
    void *at = dlsym(opened, arena_printf(s->arena, "ein_extern_%u", k));
    if (!at) bug("a C function that was compiled is not there");
    memcpy(&extern_at(p, k)->call, &at, sizeof at);
  }
  if (!l && handle) *handle = opened;
  return l;
}
