/* front/modules.c - from a file name to a Program: the file, the prelude, and every module used.
 *
 * `use nn` means a file of the standard library, `use "../blocks.ein"` a file relative to the using one. A module is
 * identified by its real path, so links and detours do not read it twice, and a link out of the project is not
 * followed. Also here: what the shape of an input's file says about sizes. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "front.h"

enum { MODULES_MOST = 1000, MODULES_DEEP = 200, NAMES_SHOWN = 12 };

typedef struct Open {
  const char *real, *shown;
} Open;

typedef struct ModuleReader {
  Front *f;
  Arena *arena;
  Program *program;
  const char *root, *stdlib; /* real paths; NULL: there is none */
  bool lost;                 /* a missing standard library was reported */
  VEC(Open) open;            /* the files being read, outermost first */
} ModuleReader;

/* ---- paths ---------------------------------------------------------------------------------- */

/* Everything before the last slash; "." if there is none. */
static const char *folder_of(Arena *a, const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash) return ".";
  size_t n = slash == path ? 1 : (size_t)(slash - path);
  return arena_printf(a, "%.*s", (int)n, path);
}

static const char *path_join(Arena *a, const char *folder, const char *name) {
  if (*name == '/' || strcmp(folder, ".") == 0) return name;
  return arena_printf(a, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
}

static bool is_there(const char *path) {
  struct stat st;
  return stat(path, &st) == 0;
}

static bool inside(const char *folder, const char *real) {
  if (!folder) return false;
  size_t n = strlen(folder);
  return strncmp(folder, real, n) == 0 && (real[n] == '/' || (n == 1 && folder[0] == '/'));
}

/* The project: the nearest enclosing folder with an ein.root or a .git, else the file's own. */
static const char *root_find(Arena *a, const char *real) {
  const char *own = folder_of(a, real);
  for (const char *at = own;; at = folder_of(a, at)) {
    if (is_there(path_join(a, at, "ein.root")) || is_there(path_join(a, at, ".git"))) return at;
    if (strcmp(at, "/") == 0) return own;
  }
}

/* ---- one module ----------------------------------------------------------------------------- */

static const char *statement_word(StmtKind k) {
  static const char *const word[] = {[STMT_DIM] = "a `dim`",
      [STMT_INPUT] = "an `input`",
      [STMT_PARAM] = "a `param`",
      [STMT_EQUATION] = "an equation",
      [STMT_OUTPUT] = "an `output`",
      [STMT_STATE] = "a `state`",
      [STMT_NEXT] = "a `next`",
      [STMT_REPEAT] = "a `repeat`",
      [STMT_DEF] = "a `def`",
      [STMT_MONOID] = "a `monoid`",
      [STMT_EXTERN] = "an `extern def`",
      [STMT_USE] = "a `use`",
      [STMT_ASSERT] = "an `assert`",
      [STMT_LIMITS] = "an `assert`"};
  return word[k];
}

static void module_dims(ModuleReader *r, const AstStmt *s) {
  for (uint32_t i = 0; i < s->decls.len; i++) {
    const AstDecl *d = &s->decls.at[i];
    if (d->e) continue;
    Diag *g =
        diag_add(r->f->diags, D_E044, d->span, "dim %s of a module has no value", d->name.s->s);
    diag_hint(r->f->diags, g, "give it one here, or declare it in the program");
  }
}

static void module_check(ModuleReader *r, const AstFile *file) {
  Diag *g = NULL; /* one for all */
  for (uint32_t i = 0; i < file->stmts.len; i++) {
    const AstStmt *s = file->stmts.at[i];
    if (s->kind == STMT_DIM)
      module_dims(r, s);
    else if (s->kind == STMT_DEF || s->kind == STMT_MONOID || s->kind == STMT_EXTERN || s->kind == STMT_USE)
      continue;
    else if (g)
      diag_at(r->f->diags, g, s->span, "nor %s", statement_word(s->kind));
    else
      g = diag_add(r->f->diags, D_E043, s->span,
                   "%s cannot stand in a module, which holds def, monoid, dim and use",
                   statement_word(s->kind));
  }
}

static void uses_read(ModuleReader *r, const AstFile *file, const char *real, const char *shown);

static const char *circle_text(ModuleReader *r, uint32_t from) {
  Buf b = buf_new(r->arena);
  for (uint32_t i = from; i < r->open.len; i++) buf_printf(&b, "%s -> ", r->open.at[i].shown);
  buf_str(&b, r->open.at[from].shown);
  return b.s;
}

static bool circle_found(ModuleReader *r, const char *real, Span use) {
  for (uint32_t i = 0; i < r->open.len; i++) {
    if (strcmp(r->open.at[i].real, real) != 0) continue;
    if (i + 1 == r->open.len)
      diag_add(r->f->diags, D_E042, use, "%s uses itself", r->open.at[i].shown);
    else
      diag_add(r->f->diags, D_E042, use, "these files use each other in a circle: %s",
               circle_text(r, i));
    return true;
  }
  return false;
}

static bool module_known(const ModuleReader *r, const char *real) {
  for (uint32_t i = 0; i < r->program->modules.len; i++)
    if (strcmp(r->program->modules.at[i].path, real) == 0) return true;
  return false;
}

/* real is inside the roots; `use` is nowhere for the prelude. */
static void module_read(ModuleReader *r, const char *real, const char *shown, Span use) {
  if (circle_found(r, real, use) || module_known(r, real)) return;
  if (r->open.len >= MODULES_DEEP || r->program->modules.len >= MODULES_MOST) {
    diag_add(r->f->diags, D_E047, use, "too many modules: at most %d, in chains of at most %d",
             MODULES_MOST, MODULES_DEEP);
    return;
  }
  const char *why;
  Source *src = source_read(r->arena, real, &why);
  if (!src) { /* an unreadable prelude is the machine's fault, not the program's */
    diag_add(r->f->diags, use.src ? D_E040 : D_E009, use, "cannot read the module %s: %s", use.src ? shown : real, why);
    return;
  }
  src->name = shown;
  AstFile *file = parse_file(r->arena, r->f->strings, src, r->f->diags);
  vec_push(r->arena, r->open, ((Open){real, shown}));
  module_check(r, file);
  uses_read(r, file, real, shown);
  (void)vec_pop(r->open);
  Module m = {file, real, use.src == NULL};
  vec_push(r->arena, r->program->modules, m);
}

/* ---- use ------------------------------------------------------------------------------------ */

static int is_module_file(const struct dirent *e) {
  size_t n = strlen(e->d_name);
  return n > 4 && e->d_name[0] != '.' && strcmp(e->d_name + n - 4, ".ein") == 0 &&
         strcmp(e->d_name, "prelude.ein") != 0;
}

/* "nn, optim", the modules of the standard library; NULL if there are none. */
static const char *stdlib_names(ModuleReader *r) {
  struct dirent **list;
  int n = r->stdlib ? scandir(r->stdlib, &list, is_module_file, alphasort) : -1;
  if (n < 0) return NULL;
  Buf b = buf_new(r->arena);
  for (int i = 0; i < n; i++) {
    if (i < NAMES_SHOWN)
      buf_printf(&b, "%s%.*s", i ? ", " : "", (int)strlen(list[i]->d_name) - 4, list[i]->d_name);
    free(list[i]);
  }
  if (n > NAMES_SHOWN) buf_str(&b, ", ...");
  free(list);
  return n ? b.s : NULL;
}

const AstStmt *module_find(Front *f, Str name, const char **module) {
  struct dirent **list;
  const AstStmt *found = NULL;
  int n = f->stdlib ? scandir(f->stdlib, &list, is_module_file, alphasort) : -1;
  for (int i = 0; i < n; i++) {
    const char *why, *path = arena_printf(f->arena, "%s/%s", f->stdlib, list[i]->d_name);
    Source *src = found ? NULL : source_read(f->arena, path, &why);
    AstFile *file = src ? parse_file(f->arena, f->strings, src, diags_new(f->arena)) : NULL;
    for (uint32_t k = 0; file && !found && k < file->stmts.len; k++) {
      const AstStmt *s = file->stmts.at[k];
      if (s->name.s != name || (s->kind != STMT_DEF && s->kind != STMT_MONOID)) continue;
      found = s;
      *module = arena_printf(f->arena, "%.*s", (int)strlen(list[i]->d_name) - 4, list[i]->d_name);
    }
    free(list[i]);
  }
  if (n >= 0) free(list);
  return found;
}

static void use_named(ModuleReader *r, const AstStmt *s) {
  if (r->lost) return;
  const char *shown = arena_printf(r->arena, "stdlib/%s.ein", s->name.s->s);
  const char *real =
      r->stdlib ? path_real(r->arena, arena_printf(r->arena, "%s/%s.ein", r->stdlib, s->name.s->s))
                : NULL;
  if (real && inside(r->stdlib, real)) {
    module_read(r, real, shown, s->name.span);
    return;
  }
  Diag *g = diag_add(r->f->diags, D_E040, s->name.span, "the standard library has no module %s",
                     s->name.s->s);
  const char *names = stdlib_names(r);
  if (names) diag_hint(r->f->diags, g, "it has %s", names);
  diag_hint(r->f->diags, g, "a file of your own is used by its path: `use \"%s.ein\"`", s->name.s->s);
}

static void use_missing(ModuleReader *r, const AstStmt *s, const char *path, const char *why) {
  Diag *g =
      diag_add(r->f->diags, D_E040, s->text_span, "cannot read the module %s: %s", s->text->s, why);
  if (is_there(arena_printf(r->arena, "%s.ein", path)))
    diag_hint(r->f->diags, g, "write `use \"%s.ein\"`", s->text->s);
}

/* The root relative to a file's folder: ".", "..", "../.." */
static const char *folder_upwards(ModuleReader *r, const char *real) {
  Buf b = buf_new(r->arena);
  const char *at = folder_of(r->arena, real);
  for (; inside(r->root, at) && strcmp(at, r->root) != 0; at = folder_of(r->arena, at))
    buf_str(&b, b.len ? "/.." : "..");
  return b.len ? b.s : ".";
}

static void use_path(ModuleReader *r, const AstStmt *s, const char *using_real, const char *using_shown) {
  const char *text = s->text->s;
  if (!*text || strlen(text) != s->text->len) {
    diag_add(r->f->diags, D_E040, s->text_span, "this is no file name");
    return;
  }
  if (!r->root && !inside(r->stdlib, using_real)) {
    diag_add(r->f->diags, D_E041, s->text_span,
             "this program is not in a file, so it can use the standard library only");
    return;
  }
  const char *path = path_join(r->arena, folder_of(r->arena, using_real), text);
  const char *real = path_real(r->arena, path);
  if (!real) {
    use_missing(r, s, path, strerror(errno));
    return;
  }
  if (!inside(r->root, real) && !inside(r->stdlib, real)) {
    Diag *g = diag_add(r->f->diags, D_E041, s->text_span, "%s lies outside of the project", text);
    diag_hint(r->f->diags, g,
        "the project is the folder `%s`, as seen from here; a file `ein.root` in a folder above makes that the project",
        folder_upwards(r, using_real));
    return;
  }
  module_read(r, real, path_join(r->arena, folder_of(r->arena, using_shown), text), s->text_span);
}

static void use_read(ModuleReader *r, const AstStmt *s, const char *real, const char *shown) {
  if (s->kind != STMT_USE || s->broken) return;
  if (s->text)
    use_path(r, s, real, shown);
  else if (s->name.s)
    use_named(r, s);
}

static void uses_read(ModuleReader *r, const AstFile *file, const char *real, const char *shown) {
  for (uint32_t i = 0; i < file->stmts.len; i++) use_read(r, file->stmts.at[i], real, shown);
}

/* ---- programs ------------------------------------------------------------------------------- */

static void prelude_missing(ModuleReader *r) {
  Diag *g = diag_add(r->f->diags, D_E009, (Span){0},
                     "the standard library is not where it should be: no prelude.ein in %s",
                     r->f->stdlib ? r->f->stdlib : "any place known");
  diag_hint(
      r->f->diags, g, "set EIN_STDLIB to the folder that holds prelude.ein; where it is installed with ein, unset it");
  r->lost = true;
}

/* `main`, relative to the program: the prelude itself may be checked like any file. */
static void prelude_read(ModuleReader *r, const char *main) {
  const char *real =
      r->stdlib ? path_real(r->arena, path_join(r->arena, r->stdlib, "prelude.ein")) : NULL;
  if (real && main && strcmp(real, main) == 0) return;
  if (real)
    module_read(r, real, "stdlib/prelude.ein", (Span){0});
  else
    prelude_missing(r);
}

static Program *program_over(Front *f, Source *src, const char *real) {
  Program *p = NEW(f->arena, Program);
  ModuleReader r = {.f = f, .arena = f->arena, .program = p};
  if (f->stdlib) r.stdlib = path_real(f->arena, f->stdlib);
  prelude_read(&r, real);
  p->file = parse_file(f->arena, f->strings, src, f->diags);
  if (real) r.root = root_find(f->arena, real);
  vec_push(f->arena, r.open, ((Open){real ? real : "", src->name}));
  uses_read(&r, p->file, real ? real : "", src->name);
  return p;
}

Program *program_read(Front *f, const char *path) {
  const char *why;
  Source *src = source_read(f->arena, path, &why);
  if (src) return program_over(f, src, path_real(f->arena, path));
  diag_add(f->diags, D_E009, (Span){0}, "cannot read %s: %s", path, why);
  Program *p = NEW(f->arena, Program);
  p->file = parse_file(f->arena, f->strings, source_new(f->arena, path, "", 0), f->diags);
  p->file->broken = true;
  return p;
}

Program *program_from_text(Front *f, const char *name, const char *bytes, size_t len) {
  return program_over(f, source_new(f->arena, name, bytes, len), NULL);
}

/* The file's name does not matter, only its folder, and that folder's project. */
static void use_read_from(ModuleReader *r, const AstStmt *s, const char *folder) {
  const char *real = s->text ? path_real(r->arena, folder) : NULL;
  if (real) real = path_join(r->arena, real, "-");
  r->root = real ? root_find(r->arena, real) : NULL;
  use_read(r, s, real ? real : "", path_join(r->arena, folder, "-"));
}

Program *program_from_file(Front *f, AstFile *file, const char *const *folder) {
  Program *p = NEW(f->arena, Program);
  ModuleReader r = {.f = f, .arena = f->arena, .program = p};
  if (f->stdlib) r.stdlib = path_real(f->arena, f->stdlib);
  prelude_read(&r, NULL);
  p->file = file;
  vec_push(f->arena, r.open, ((Open){"", file->src->name}));
  for (uint32_t i = 0; i < file->stmts.len; i++) use_read_from(&r, file->stmts.at[i], folder[i]);
  return p;
}

/* ---- inputs and sizes ----------------------------------------------------------------------- */

static const AstDecl *input_find(const Program *p, Str name, const AstStmt **stmt) {
  for (uint32_t i = 0; i < p->file->stmts.len; i++) {
    const AstStmt *s = p->file->stmts.at[i];
    if (s->kind != STMT_INPUT && s->kind != STMT_PARAM) continue;
    for (uint32_t k = 0; k < s->decls.len; k++)
      if (s->decls.at[k].name.s == name) {
        if (stmt) *stmt = s;
        return &s->decls.at[k];
      }
  }
  return NULL;
}

bool program_input(const Program *p, Str input, DType *t, uint32_t *rank, Span *span) {
  const AstStmt *s;
  const AstDecl *d = input_find(p, input, &s);
  if (!d) return false;
  if (t) *t = s->dtype < 0 ? DT_F32 : (DType)s->dtype;
  if (rank) *rank = d->items.len;
  if (span) *span = d->span;
  return true;
}

/* Sizes as far as they are known: Str -> DimValue, or -> &unknown for a declared dim without a value. */
typedef struct Sizes {
  Arena *arena;
  Map known;
} Sizes;
static DimValue unknown;

static bool size_binary(Op op, int64_t a, int64_t b, int64_t *out) {
  switch (op) {
  case OP_ADD: return add_ok(a, b, out);
  case OP_SUB: return sub_ok(a, b, out);
  case OP_MUL: return mul_ok(a, b, out);
  case OP_IDIV: return b > 0 && (*out = floor_div(a, b), true);
  case OP_MOD: return b > 0 && (*out = floor_mod(a, b), true);
  default: return false;
  }
}

static bool size_of(const Sizes *z, const Ast *e, int64_t *out);

/* a + b + c + ...: may be as long as a file allows, so a list holds the way back from the first operand. */
static bool size_of_chain(const Sizes *z, const Ast *e, int64_t *out) {
  VEC(const Ast *) above = {0};
  for (; e->kind == AST_BINARY; e = e->a) vec_push(z->arena, above, e);
  bool ok = size_of(z, e, out);
  while (ok && above.len) {
    int64_t b;
    e = vec_pop(above);
    ok = size_of(z, e->b, &b) && size_binary((Op)e->op, *out, b, out);
  }
  return ok;
}

static bool size_of(const Sizes *z, const Ast *e, int64_t *out) {
  switch (e->kind) {
  case AST_INT: *out = e->i; return !e->big;
  case AST_PAREN: return size_of(z, e->a, out);
  case AST_NEG: return size_of(z, e->a, out) && sub_ok(0, *out, out);
  case AST_BINARY: return size_of_chain(z, e, out);
  case AST_NAME: {
    const DimValue *v = map_find(&z->known, e->name.s);
    if (!v || v == &unknown) return false;
    *out = v->value;
    return true;
  }
  default: return false;
  }
}

static void sizes_of_file(Sizes *z, const AstFile *file) {
  for (uint32_t i = 0; i < file->stmts.len; i++) {
    const AstStmt *s = file->stmts.at[i];
    for (uint32_t k = 0; s->kind == STMT_DIM && k < s->decls.len; k++) {
      const AstDecl *d = &s->decls.at[k];
      int64_t value;
      if (map_find(&z->known, d->name.s)) continue; /* given, or declared twice */
      DimValue *v = &unknown;
      if (d->e && size_of(z, d->e, &value)) {
        v = NEW(z->arena, DimValue);
        *v = (DimValue){d->name.s, value, d->span, NULL};
      }
      map_put(&z->known, d->name.s, v);
    }
  }
}

static Sizes sizes_now(Arena *a, const Program *p, const DimValues *dims) {
  Sizes z = {a, map_new(a)};
  for (uint32_t i = 0; i < dims->len; i++) map_put(&z.known, dims->at[i].name, &dims->at[i]);
  for (uint32_t i = 0; i < p->modules.len; i++) sizes_of_file(&z, p->modules.at[i].file);
  sizes_of_file(&z, p->file);
  return z;
}

static const Ast *bare(const Ast *e) {
  while (e && e->kind == AST_PAREN) e = e->a;
  return e;
}

static void dims_bind(
    Front *f, const Program *p, const AstDecl *d, const int64_t *shape, const char *const *what, DimValues *dims) {
  Sizes z = sizes_now(f->arena, p, dims);
  for (uint32_t k = 0; k < d->items.len; k++) {
    const Ast *e = bare(d->items.at[k].e);
    if (shape[k] < 0 || !e || e->kind != AST_NAME || map_find(&z.known, e->name.s) != &unknown) continue;
    DimValue v = {e->name.s, shape[k], d->items.at[k].span, what[k]};
    vec_push(f->arena, *dims, v);
    map_put(&z.known, v.name, arena_copy(f->arena, &v, sizeof v));
  }
}

void program_bind_some(
    Front *f, const Program *p, Str input, const int64_t *shape, const char *const *what, DimValues *dims) {
  const AstDecl *d = input_find(p, input, NULL);
  if (d) dims_bind(f, p, d, shape, what, dims);
}

void program_sizes(Front *f, const Program *p, Str input, const DimValues *dims, int64_t *shape) {
  const AstDecl *d = input_find(p, input, NULL);
  Sizes z = sizes_now(f->arena, p, dims);
  for (uint32_t k = 0; d && k < d->items.len; k++)
    if (!d->items.at[k].e || !size_of(&z, d->items.at[k].e, &shape[k])) shape[k] = -1;
}

const AstStored *program_stored(const Program *p, Str name) {
  const AstStmt *s = NULL;
  if (input_find(p, name, &s)) return s->stored;
  for (uint32_t i = 0; i < p->file->stmts.len; i++) {
    s = p->file->stmts.at[i];
    if (s->kind == STMT_EQUATION && s->output && s->name.s == name) return s->stored;
  }
  return NULL;
}

/* Why the size has this value, if it is a single dim. */
static void size_reason(Front *f, Diag *g, const Sizes *z, const Ast *e) {
  e = bare(e);
  const DimValue *v = e->kind == AST_NAME ? map_find(&z->known, e->name.s) : NULL;
  if (!v || v == &unknown) return;
  if (v->why)
    diag_hint(f->diags, g, "%s is %lld by %s", v->name->s, (long long)v->value, v->why);
  else
    diag_at(f->diags, g, v->from, "%s is %lld", v->name->s, (long long)v->value);
}

static bool sizes_agree(Front *f, const Program *p, const AstDecl *d, const int64_t *shape,
                        const char *what, const DimValues *dims) {
  Sizes z = sizes_now(f->arena, p, dims);
  bool all = true;
  for (uint32_t k = 0; k < d->items.len; k++) {
    const AstItem *item = &d->items.at[k];
    int64_t want;
    if (!item->e || !size_of(&z, item->e, &want) || want == shape[k]) continue;
    Diag *g = diag_add(f->diags, D_E046, item->span, "axis %u of %s is %lld long, but %s says %lld",
                       (unsigned)k + 1, what, (long long)shape[k], d->name.s->s, (long long)want);
    diag_note(f->diags, g, "%lld", (long long)want);
    size_reason(f, g, &z, item->e);
    all = false;
  }
  return all;
}

bool program_bind(Front *f, const Program *p, Str input, uint32_t rank, const int64_t *shape,
                  const char *what, DimValues *dims) {
  const AstDecl *d = input_find(p, input, NULL);
  if (!d) return true;
  if (d->items.len != rank) {
    diag_add(f->diags, D_E045, d->span, "%s has %u %s, but %s is declared with %u", what, rank,
             rank == 1 ? "axis" : "axes", input->s, d->items.len);
    return false;
  }
  const char **axis = NEW_ARRAY(f->arena, const char *, rank + 1);
  for (uint32_t k = 0; k < rank; k++) axis[k] = arena_printf(f->arena, "axis %u of %s", k + 1, what);
  dims_bind(f, p, d, shape, axis, dims);
  return sizes_agree(f, p, d, shape, what, dims);
}
