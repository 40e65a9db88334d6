/* front/modules.c - from a file name to a Program: the file, the prelude, and every module used.
 *
 * `use nn` means a file of the standard library, `use "../blocks.ein"` a file relative to the using one. A module is
 * identified by its real path, so links and detours do not read it twice, and a link out of the project is not
 * followed. */
#include <dirent.h>
#include <errno.h>
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
  vec_each(const AstDecl, d, s->decls) {
    if (d->e) continue;
    Diag *g =
        diag_add(r->f->diags, D_E044, d->span, "dim %s of a module has no value", d->name.s->s);
    diag_hint(r->f->diags, g, "give it one here, or declare it in the program");
  }
}

static void module_check(ModuleReader *r, const AstFile *file) {
  Diag *g = NULL; /* one for all */
  vec_each_of(const AstStmt, s, file->stmts) {
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
  else if (r->stdlib && is_there(arena_printf(r->arena, "%s/%s.ein", r->stdlib, s->text->s)))
    diag_hint(r->f->diags, g, "the standard library has a module of this name: write `use %s`", s->text->s);
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
