/* codegen/loop/read.c - reads a LoopProgram from its text. Lines are independent: after a complaint the reader
 * continues with the next line, but reports nothing more in a kernel whose head failed. The result can be walked;
 * loop_check decides whether it is valid. */
#include "expr/scan.h"
#include "expr/sum/law.h"
#include "text.h"

typedef struct Block { LoopStmt *stmt; bool other; } Block;

typedef struct LoopReader {
  Scan c;
  LoopProgram *p;
  LoopKernel *k;             /* the open one, or NULL */
  VEC(Block) open;           /* its open blocks */
  Map vars, places;          /* of the open kernel: name to 1 + its number */
  bool lame;                 /* its head failed, on which the rest depends */
  bool give_up;              /* nothing after this would make sense */
} LoopReader;

static Arena *arena_of(const LoopReader *r) {
  return r->p->arena;
}

/* ---- expressions -------------------------------------------------------------------------------- */

static bool number_of(const Map *names, Str name, int64_t *out) {
  uintptr_t k = (uintptr_t)map_find(names, name);
  *out = (int64_t)k - 1;
  return k != 0;
}

static bool var_number(void *ctx, Str name, int64_t *out) {
  return number_of(&((const LoopReader *)ctx)->vars, name, out);
}

/* `t2` is the turn of the repeat of depth 2. */
static bool turn_depth(void *ctx, Str name, int64_t *out) {
  (void)ctx;
  return name->len > 1 && name->s[0] == 't' && int64_read(name->s + 1, name->len - 1, out) && *out >= 0;
}

static bool place_read(void *ctx, Str name, uint32_t n, const Expr *const *index, DType *dtype, int64_t *place) {
  const LoopReader *r = ctx;
  (void)n;
  (void)index;
  if (!number_of(&r->places, name, place)) return false;
  *dtype = r->k->places.at[*place].dtype;
  return true;
}

static bool want_expr(LoopReader *r, bool dims, int depth, const Expr **out) {
  ExprReader x = {.pool = r->p->tasks->exprs, .strings = r->c.strings, .s = r->c.s, .end = r->c.end, .ctx = r,
      .depth = depth};
  if (!dims) {
    x.label = var_number;
    x.turn = turn_depth;
    x.named = place_read;
  }
  *out = expr_read_text(&x);
  r->c.s = x.s;
  if (!*out) return scan_fail(&r->c, D_E904, "%s", x.error ? x.error : "expected an expression here");
  return !((*out)->has & HAS_PARAM) || scan_fail(&r->c, D_E904, "#0 and #1 stand in monoids only");
}

static bool want_value(LoopReader *r, const Expr **out) {
  return want_expr(r, false, READ_NESTING, out);
}

/* `[a, b]`: indices, or the extents of a place. */
static bool want_list(LoopReader *r, bool dims, uint32_t *n, const Expr ***out) {
  VEC(const Expr *) list = {0};
  if (!scan_want(&r->c, '[')) return false;
  while (!scan_take(&r->c, ']')) {
    const Expr *e;
    if (list.len && !scan_want(&r->c, ',')) return false;
    if (list.len == SUM_RANK) return scan_fail(&r->c, D_E913, "a place has at most %d dimensions", SUM_RANK);
    if (!want_expr(r, dims, dims ? READ_EXTENT_NESTING : READ_NESTING, &e)) return false;
    if (dims && e->dtype != DT_I64) return scan_fail(&r->c, D_E907, "a size is i64");
    vec_push(arena_of(r), list, dims ? extent_normal(r->p->tasks->exprs, e) : e);
  }
  *n = list.len;
  *out = list.at;
  return true;
}

/* ---- the head of a kernel ----------------------------------------------------------------------- */

static bool want_new_name(LoopReader *r, Str *out) {
  const char *at = r->c.s;
  if (!scan_want_name(&r->c, out)) return false;
  if (!map_find(&r->vars, *out) && !map_find(&r->places, *out)) return true;
  r->c.s = at;
  return scan_fail(&r->c, D_E911, "%s stands for something in this kernel already", (*out)->s);
}

static bool line_note(LoopReader *r) {
  Str s;
  if (!scan_want_string(&r->c, &s) || !scan_want_end(&r->c, NULL)) return false;
  vec_push(arena_of(r), r->k->note, s);
  return true;
}

static bool line_how(LoopReader *r) {
  Str s;
  if (!scan_want_string(&r->c, &s) || !scan_want_end(&r->c, NULL)) return false;
  vec_push(arena_of(r), r->k->how, s);
  return true;
}

static bool want_place(LoopReader *r, LoopPlace *x) {
  if (!want_new_name(r, &x->name)) return false;
  if (x->space == SPACE_BUFFER && (!scan_want(&r->c, '=') || !scan_want_id(&r->c, &x->buffer))) return false;
  VEC(uint32_t) axes = {0};
  if (x->space == SPACE_BUFFER && scan_take_word(&r->c, "axes")) {
    do {
      int64_t n;
      if (!scan_want_int(&r->c, 1, SUM_RANK, "a number of axes", &n)) return false;
      vec_push(arena_of(r), axes, (uint32_t)n);
    } while (!scan_take(&r->c, ':'));
  } else if (!scan_want(&r->c, ':')) return false;
  if (!scan_want_dtype(&r->c, &x->dtype)) return false;
  if (!want_list(r, true, &x->rank, &x->dim)) return false;
  x->axes = axes.at;
  if (axes.len && axes.len != x->rank) return scan_fail(&r->c, D_E910, "expected as many axes as extents");
  x->small = scan_take_word(&r->c, "small");
  x->written = scan_take_word(&r->c, "written");
  return scan_want_end(&r->c, NULL);
}

static bool read_place(LoopReader *r, LoopSpace space) {
  LoopPlace x = {.space = space};
  if (!want_place(r, &x)) {
    r->lame = true;
    return false;
  }
  vec_push(arena_of(r), r->k->places, x);
  map_put(&r->places, x.name, (void *)(uintptr_t)r->k->places.len);
  return true;
}

static bool line_dense(LoopReader *r) {
  r->k->dense = true;
  return scan_want_end(&r->c, NULL);
}

static bool line_loops(LoopReader *r) {
  while (!scan_done(&r->c)) {
    Str s;
    if (!want_new_name(r, &s)) {
      r->lame = true;
      return false;
    }
    vec_push(arena_of(r), r->k->var, s);
    map_put(&r->vars, s, (void *)(uintptr_t)r->k->var.len);
  }
  return true;
}

/* ---- statements --------------------------------------------------------------------------------- */

static LoopStmt *stmt_begin(LoopReader *r, LoopKind kind) {
  LoopStmt *s = NEW(arena_of(r), LoopStmt);
  s->kind = kind;
  return s;
}

static void stmt_put(LoopReader *r, LoopStmt *s) {
  LoopBody *to = &r->k->body;
  if (r->open.len) {
    Block *b = &vec_last(r->open);
    to = b->other ? &b->stmt->other : &b->stmt->body;
  }
  vec_push(arena_of(r), *to, s);
}

/* Adds a statement whose line opens a block. */
static bool stmt_open(LoopReader *r, LoopStmt *s, bool well) {
  r->give_up = !well;
  if (!well) return false;
  stmt_put(r, s);
  vec_push(arena_of(r), r->open, ((Block){s, false}));
  return true;
}

static bool want_block(LoopReader *r) {
  if (r->open.len == LOOP_NESTING)
    return scan_fail(&r->c, D_E913, "blocks are nested at most %d deep", LOOP_NESTING);
  return scan_want(&r->c, '{') && scan_want_end(&r->c, NULL);
}

/* The name of a place, or of a loop variable. */
static bool want_known(LoopReader *r, bool place, uint32_t *out) {
  Str s;
  int64_t k;
  const char *at = r->c.s;
  if (!scan_want_name(&r->c, &s)) return false;
  if (!(place ? number_of(&r->places, s, &k) : var_number(r, s, &k))) {
    r->c.s = at;
    return scan_fail(&r->c, D_E905, "%s is none of this kernel's %s", s->s, place ? "places" : "loop variables");
  }
  *out = (uint32_t)k;
  return true;
}

static bool want_var(LoopReader *r, uint32_t *out) { return want_known(r, false, out); }

/* `grid x`, `block y` */
static bool want_axis(LoopReader *r, LoopStmt *s) {
  static const char *const axes[LOOP_AXES] = {"x", "y", "z"};
  for (s->axis = 0; s->axis < LOOP_AXES; s->axis++)
    if (scan_take_word(&r->c, axes[s->axis])) return true;
  s->axis = 0;
  return scan_fail(&r->c, D_E903, "expected the axis here: x, y or z");
}

static bool want_for(LoopReader *r, LoopStmt *s) {
  if (!want_var(r, &s->var) || !scan_want(&r->c, '<') || !want_value(r, &s->hi)) return false;
  s->lo = expr_int(r->p->tasks->exprs, DT_I64, 0);
  s->step = 1;
  if (scan_take_word(&r->c, "from") && !want_value(r, &s->lo)) return false;
  if (scan_take_word(&r->c, "step") && !scan_want_int(&r->c, INT64_MIN, INT64_MAX, "a step", &s->step)) return false;
  for (uint32_t b = BIND_BLOCK; b && !s->bind; b--)
    if (scan_take_word(&r->c, loop_binds[b])) s->bind = (LoopBind)b;
  if (s->bind >= BIND_GRID && !want_axis(r, s)) return false;
  if (s->bind == BIND_GRID && scan_take_word(&r->c, "beside") &&
      !scan_want_int(&r->c, 1, LOOP_BESIDE, "a number of blocks", &s->beside))
    return false;
  if (scan_take_word(&r->c, "polled") && !scan_want_int(&r->c, 1, LOOP_POLLED, "a number of turns", &s->polled))
    return false;
  return want_block(r);
}

static bool line_for(LoopReader *r) {
  LoopStmt *s = stmt_begin(r, LOOP_FOR);
  return stmt_open(r, s, want_for(r, s));
}

static bool line_if(LoopReader *r) {
  LoopStmt *s = stmt_begin(r, LOOP_IF);
  bool well = want_value(r, &s->cond);
  s->maybe = well && scan_take_word(&r->c, "maybe");
  return stmt_open(r, s, well && want_block(r));
}

static bool want_over(LoopReader *r, LoopStmt *s, uint32_t most, const char *what) {
  VEC(LoopOver) over = {0};
  do {
    LoopOver one;
    if (over.len == most) return scan_fail(&r->c, D_E913, "%s at most %u loops", what, most);
    if (!want_var(r, &one.var) || !scan_want(&r->c, '<') || !want_expr(r, true, READ_EXTENT_NESTING, &one.extent))
      return false;
    one.extent = extent_normal(r->p->tasks->exprs, one.extent);
    vec_push(arena_of(r), over, one);
  } while (scan_take(&r->c, ','));
  s->n_over = over.len, s->over = over.at;
  return true;
}

static bool want_op(LoopReader *r, Op *out) {
  Str op;
  if (!scan_want_name(&r->c, &op)) return false;
  return op_find(op->s, op->len, out) || scan_fail(&r->c, D_E905, "%s is no operation", op->s);
}

/* Takes the word before a part; false: the part is missing, and if it may be, nothing is said. */
static bool part_follows(LoopReader *r, const LoopPart *x) {
  if (!x->word) return !x->may || (r->c.s < r->c.end && *r->c.s == '[');
  if (*x->word == '=') return x->may ? scan_take(&r->c, '=') : scan_want(&r->c, '=');
  return x->may ? scan_take_word(&r->c, x->word) : scan_want_word(&r->c, x->word);
}

static bool want_part(LoopReader *r, LoopStmt *s, LoopMatrix *m, const LoopPart *x) {
  void *field = (x->kind == FORM_MATRIX ? (char *)m : (char *)s) + x->field;
  if (x->kind == FORM_INT) *(int64_t *)field = x->usual;
  if (!part_follows(r, x)) return x->may;
  switch (x->kind) {
  case FORM_PLACE: return want_known(r, true, &s->place);
  case FORM_VAR: return want_var(r, &s->var);
  case FORM_AT: return want_list(r, false, &s->n_at, &s->at);
  case FORM_EXPR: return want_value(r, field);
  case FORM_INT: case FORM_MATRIX: return scan_want_int(&r->c, x->low, x->high, x->what, field);
  case FORM_WORD: return *(int64_t *)field = x->high, true;
  case FORM_OP: return want_op(r, &s->op);
  case FORM_OVER: return want_over(r, s, (uint32_t)x->high, x->what);
  case FORM_BLOCKS: return want_block(r);
  case FORM_END: break;
  }
  return true;
}

static bool read_form(LoopReader *r, const LoopForm *f) {
  LoopStmt *s = stmt_begin(r, f->kind);
  LoopMatrix *m = f->kind == LOOP_MATRIX ? NEW(arena_of(r), LoopMatrix) : NULL;
  const LoopPart *x = f->part;
  s->matrix = m;
  while (x->kind != FORM_END && want_part(r, s, m, x)) x++;
  if (f->kind == LOOP_PRODUCT) return stmt_open(r, s, x->kind == FORM_END);
  if (x->kind != FORM_END) return false;
  stmt_put(r, s);
  return scan_want_end(&r->c, NULL);
}

/* `}` or `} else {` */
static bool line_close(LoopReader *r) {
  if (!r->open.len) {
    r->k = NULL;
    return scan_want_end(&r->c, NULL);
  }
  Block *b = &vec_last(r->open);
  if (!scan_take_word(&r->c, "else")) {
    r->open.len--;
    return scan_want_end(&r->c, NULL);
  }
  if ((b->stmt->kind != LOOP_IF && b->stmt->kind != LOOP_PRODUCT) || b->other)
    return scan_fail(&r->c, D_E909, "there is no `if` for this `else`");
  b->other = true;
  return scan_want(&r->c, '{') && scan_want_end(&r->c, NULL);
}

/* ---- lines of the program ----------------------------------------------------------------------- */

static bool line_site(LoopReader *r) {
  LoopSite s = {0};
  int64_t number, next = r->p->sites.len;
  if (!scan_want_int(&r->c, next, next, "the next site's number", &number)) return false;
  s.asked = scan_take_word(&r->c, "asked");
  if (!scan_want_string(&r->c, &s.text) || !scan_want_end(&r->c, &s.place)) return false;
  vec_push(arena_of(r), r->p->sites, s);
  return true;
}

static bool want_kernel(LoopReader *r, LoopKernel *k) {
  if (!scan_want_name(&r->c, &k->name) || !scan_want_word(&r->c, "step")) return false;
  if (!scan_want_number(&r->c, "a step", &k->task)) return false;
  if (scan_take_word(&r->c, "work") && !want_expr(r, true, READ_NESTING, &k->work)) return false;
  return scan_place(&r->c, &k->from) && scan_want(&r->c, '{') && scan_want_end(&r->c, NULL);
}

/* Begins a kernel; NULL: its head failed. */
static LoopKernel *kernel_begin(LoopReader *r) {
  LoopKernel *k = NEW(arena_of(r), LoopKernel);
  if (!want_kernel(r, k)) {
    r->give_up = true;
    return NULL;
  }
  r->k = k;
  r->vars = r->places = map_new(arena_of(r));
  r->lame = false;
  return k;
}

static bool line_kernel(LoopReader *r) {
  LoopKernel *k = kernel_begin(r);
  if (k) vec_push(arena_of(r), r->p->kernels, k);
  return k;
}

/* The kernel before it, for narrow registers. */
static bool line_narrow(LoopReader *r) {
  LoopKernel *wide = r->p->kernels.len ? vec_last(r->p->kernels) : NULL;
  if (!wide || wide->narrow) return scan_fail(&r->c, D_E909, "`narrow` does not follow a kernel");
  LoopKernel *k = kernel_begin(r);
  wide->narrow = k;
  return k;
}

/* ---- the file ----------------------------------------------------------------------------------- */

typedef enum { PROGRAM = 1, KERNEL = 2, BLOCK = 4 } Where;

typedef struct Line {
  const char *word;
  unsigned where;
  bool (*read)(LoopReader *);
} Line;

static const Line lines[] = {
    {"for", KERNEL | BLOCK, line_for}, {"if", KERNEL | BLOCK, line_if},
    {"note", KERNEL, line_note},       {"how", KERNEL, line_how},
    {"dense", KERNEL, line_dense},     {"loops", KERNEL, line_loops},
    {"site", PROGRAM, line_site},      {"kernel", PROGRAM, line_kernel},
    {"narrow", PROGRAM, line_narrow},
};

/* Whether a store follows: a place with `[` right behind it, whatever its name. */
static bool store_follows(const LoopReader *r) {
  Scan look = r->c;
  const char *at;
  return scan_word(&look, true, &at) && look.s < look.end && *look.s == '[';
}

/* `at`: where the word is, if it stands there wrongly. */
static bool misplaced(LoopReader *r, const char *word, Where here, const char *at) {
  r->c.s = at;
  return scan_fail(&r->c, D_E909, "`%s` does not stand %s", word,
      here == PROGRAM ? "outside of kernels" : here == KERNEL ? "in a kernel" : "in a block");
}

static bool read_line(LoopReader *r) {
  Scan *c = &r->c;
  Where here = !r->k ? PROGRAM : r->open.len ? BLOCK : KERNEL;
  c->quiet = r->k && r->lame;
  if (scan_done(c) || *c->s == '#') return true;
  if (r->k && scan_take(c, '}')) return line_close(r);
  const char *at = c->s;
  bool store = r->k && store_follows(r);
  for (size_t i = 0; i < COUNT(lines) && !store; i++)
    if (scan_take_word(c, lines[i].word))
      return lines[i].where & here ? lines[i].read(r) : misplaced(r, lines[i].word, here, at);
  for (uint32_t i = 0; i <= SPACE_SHARED && !store; i++)
    if (scan_take_word(c, loop_spaces[i]))
      return here == KERNEL ? read_place(r, (LoopSpace)i) : misplaced(r, loop_spaces[i], here, at);
  const LoopForm *f;
  for (uint32_t i = 0; (f = loop_form(i)); i++)
    if (f->word ? !store && scan_take_word(c, f->word) : store)
      return here != PROGRAM ? read_form(r, f) : misplaced(r, f->word, here, at);
  return scan_fail(c, D_E902, "expected a line that begins with %s",
      here == PROGRAM ? "kernel, narrow or site" : "for, let, a place or the like");
}

static bool read_header(LoopReader *r) {
  if (scan_take_word(&r->c, "loop") && scan_take(&r->c, '1') && scan_done(&r->c)) return true;
  return scan_fail(&r->c, D_E901, "expected the line `loop 1` first");
}

/* Reads the line `tasks {`, preceded only by comments, and everything up to its `}`. */
static bool read_tasks(LoopReader *r, const char **at) {
  for (;;) {
    if (!*at) return scan_fail(&r->c, D_E902, "expected the line `tasks {`");
    *at = scan_line(&r->c, *at);
    if (scan_done(&r->c) || *r->c.s == '#') continue;
    if (!scan_want_word(&r->c, "tasks") || !scan_want(&r->c, '{') || !scan_want_end(&r->c, NULL)) return false;
    break;
  }
  if (!*at) return scan_fail(&r->c, D_E902, "expected the line `taskgraph 1`");
  r->p->tasks = task_read_part(arena_of(r), r->c.strings, r->c.src, r->c.d, at);
  return r->p->tasks != NULL;
}

LoopProgram *loop_read(Arena *a, Strings *t, Source *src, Diags *d) {
  LoopReader r = {.c = {.src = src, .strings = t, .d = d, .noun = "buffer"}, .p = NEW(a, LoopProgram)};
  r.p->arena = a;
  r.vars = r.places = map_new(a);
  const char *at = scan_line(&r.c, src->bytes);
  if (!read_header(&r) || !read_tasks(&r, &at)) return NULL;
  bool ok = true;
  while (at && !r.give_up) {
    at = scan_line(&r.c, at);
    ok &= read_line(&r);
  }
  if (r.k && !r.give_up) ok = scan_fail(&r.c, D_E909, "expected `}` for kernel %s", r.k->name->s);
  return ok ? r.p : NULL;
}
