/* codegen/header.c - PREFIX.h: in comes a LoopProgram, out goes what a caller of the library reads: types, functions,
 * and a word about each argument. The same declarations, without the words, stand in PREFIX.c. */
#include <string.h>

#include "c_tables.h"
#include "names.h"

/* ---- names -------------------------------------------------------------------------------------- */

static Str *members(Arena *a, const TaskGraph *t, const TaskArgument *x, uint32_t n, const char *otherwise) {
  CScope s = c_scope(a, t->strings);
  Str *out = NEW_ARRAY(a, Str, n + 1);
  for (uint32_t i = 0; i < n; i++) out[i] = c_scope_name(&s, x[i].name, otherwise);
  return out;
}

CMembers c_members(Arena *a, const TaskGraph *t) {
  CMembers m = {.size = NEW_ARRAY(a, Str, t->dims.len + 1)};
  CScope s = c_scope(a, t->strings);
  for (uint32_t i = 0; i < t->dims.len; i++)
    if (!t->dims.at[i].known) m.size[i] = c_scope_name(&s, t->dims.at[i].name, "size");
  m.input = members(a, t, t->inputs.at, t->inputs.len, "input");
  m.output = members(a, t, t->outputs.at, t->outputs.len, "output");
  return m;
}

/* ---- labels ------------------------------------------------------------------------------------- */

typedef struct Reads {
  const TaskGraph *t;
  const TaskStage *s;
  CLabels *l;
  Arena *a;
  Map turn;                  /* EX_TURN: its name */
} Reads;

/* "(h d)", where labels from the first one in e on make one row-major axis; else NULL. */
static Str group_label(const Reads *r, const Expr *e) {
  Exprs *p = r->t->exprs;
  const TaskStage *s = r->s;
  uint32_t n = s->sum->n_out, first = 0;
  while (first < n && first < 63 && !(e->labels >> first & 1)) first++;
  if (e->kind != EX_OP || first + 1 >= n || first == 63 || !s->label[first]) return NULL;
  const Expr *all = expr_label(p, first);
  Buf b = buf_new(r->a);
  buf_printf(&b, "(%s", s->label[first]->s);
  for (uint32_t k = first + 1; k < n && s->label[k]; k++) {
    all = expr_op2(p, OP_ADD, expr_op2(p, OP_MUL, all, s->bound[k]), expr_label(p, k));
    buf_printf(&b, " %s", s->label[k]->s);
    if (all == e) return strings_printf(r->t->strings, "%s)", b.s);
  }
  return NULL;
}

static Str index_label(const Reads *r, const Expr *e) {
  if (e->kind == EX_LABEL) return r->s->label[e->i];
  return e->kind == EX_TURN ? map_find(&r->turn, e) : group_label(r, e);
}

/* Axis k of the buffer is called like what stands alone as its index: a label, a turn, a group. */
static void axis_label(Reads *r, const TaskBuffer *b, uint32_t n, const Expr *const *at) {
  if (n != b->rank) return;
  if (!r->l->of[b->id]) r->l->of[b->id] = NEW_ARRAY(r->a, Str, n + 1);
  Str *label = r->l->of[b->id];
  for (uint32_t k = 0; k < n; k++)
    if (!label[k]) label[k] = index_label(r, at[k]);
}

static const Expr *read_seen(void *env, Exprs *p, const Expr *leaf) {
  (void)p;
  Reads *r = env;
  if (leaf->kind != EX_READ || r->s->slot[leaf->i].kept) return leaf;
  axis_label(r, &r->t->buffers.at[r->s->slot[leaf->i].index], leaf->n, leaf->arg);
  return leaf;
}

static void stage_labels(Reads *r) {
  const EinSum *sum = r->s->sum;
  const Expr *const all[] = {sum->body, sum->where, sum->domain};
  if (r->s->buffer >= 0) axis_label(r, &r->t->buffers.at[r->s->buffer], r->s->n_at, r->s->at);
  for (uint32_t i = 0; i < COUNT(all); i++)
    if (all[i]) expr_map(r->t->exprs, all[i], read_seen, r);
}

static void list_labels(Reads *r, const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    for (uint32_t s = 0; s < k->stages.len; s++) {
      r->s = &k->stages.at[s];
      stage_labels(r);
    }
    if (k->kind == TASK_REPEAT) map_put(&r->turn, expr_turn(r->t->exprs, k->depth), (void *)(uintptr_t)k->turn);
    list_labels(r, &k->body);
  }
}

static const NamedAxes *declared_find(const NamedAxesList *all, Str name, bool input, uint32_t rank) {
  for (uint32_t i = 0; all && i < all->len; i++)
    if (all->at[i].name == name && all->at[i].input == input) return all->at[i].rank == rank ? &all->at[i] : NULL;
  return NULL;
}

static void declared_labels(Reads *r, const NamedAxesList *all, const TaskArgument *x, uint32_t n, bool input) {
  for (uint32_t i = 0; i < n; i++) {
    const TaskBuffer *b = &r->t->buffers.at[x[i].buffer];
    const NamedAxes *d = declared_find(all, x[i].name, input, b->rank);
    if (!r->l->of[b->id]) r->l->of[b->id] = NEW_ARRAY(r->a, Str, b->rank + 1);
    for (uint32_t k = 0; d && k < b->rank; k++)
      if (d->label[k]) r->l->of[b->id][k] = d->label[k];
  }
}

CLabels c_labels(Arena *a, const TaskGraph *t, const NamedAxesList *declared) {
  CLabels l = {NEW_ARRAY(a, Str *, t->buffers.len + 1)};
  Reads r = {.t = t, .l = &l, .a = a, .turn = map_new(a)};
  list_labels(&r, &t->tasks);
  declared_labels(&r, declared, t->outputs.at, t->outputs.len, false);
  declared_labels(&r, declared, t->inputs.at, t->inputs.len, true);
  return l;
}

/* ---- text for people ---------------------------------------------------------------------------- */

void c_extent_text(Buf *b, const Expr *e) {
  Buf t = buf_new(b->arena);
  expr_print(&t, e, NULL);
  const char *from = t.s, *end = t.s + t.len;
  if (e->kind == EX_OP && op_info[e->op].sign && *from == '(') from++, end--;
  for (; from < end; from++)
    if (*from != '$') buf_char(b, *from);
}

/* What stands in a comment may not end it. */
static void comment_text(Buf *b, const char *s) {
  for (; *s; s++) {
    buf_char(b, (unsigned char)*s < 0x20 ? ' ' : *s);
    if ((*s == '*' && s[1] == '/') || (*s == '/' && s[1] == '*')) buf_char(b, ' ');
  }
}

/* "f32 [s: 128, a: K]" */
static void type_text(Buf *b, const TaskBuffer *x, Str *const label) {
  Buf t = buf_new(b->arena);
  buf_printf(&t, "%s", dtype_name(x->dtype));
  for (uint32_t k = 0; k < x->rank; k++) {
    buf_str(&t, k ? ", " : " [");
    if (label && label[k]) buf_printf(&t, "%s: ", label[k]->s);
    c_extent_text(&t, x->dim[k]);
  }
  if (x->rank) buf_char(&t, ']');
  comment_text(b, t.s);
}

/* ---- types -------------------------------------------------------------------------------------- */

static void note(Buf *b, bool comments, const char *text) {
  if (comments) buf_printf(b, "\n/* %s */\n", text);
}

static void sizes_type(Buf *b, const TaskGraph *t, const CMembers *m, const char *x, bool comments) {
  uint32_t n = 0;
  note(b, comments, "The symbolic sizes.");
  buf_printf(b, "typedef struct %s_sizes {\n", x);
  for (uint32_t i = 0; i < t->dims.len; i++) {
    if (t->dims.at[i].known) continue;
    buf_printf(b, "  int64_t %s;", m->size[i]->s);
    if (comments && strcmp(m->size[i]->s, t->dims.at[i].name->s) != 0) {
      buf_str(b, " /* ");
      comment_text(b, t->dims.at[i].name->s);
      buf_str(b, " */");
    }
    buf_char(b, '\n');
    n++;
  }
  if (!n) buf_printf(b, "  int none;%s\n", comments ? " /* all sizes are known; NULL may be given for this */" : "");
  buf_printf(b, "} %s_sizes;\n", x);
}

static void argument_member(Buf *b, const TaskGraph *t, const CLabels *l, const TaskArgument *x, Str member,
                            bool comments) {
  buf_printf(b, "  ein_tensor %s;", member->s);
  if (comments) {
    buf_str(b, " /* ");
    if (strcmp(member->s, x->name->s) != 0) {
      comment_text(b, x->name->s);
      buf_str(b, ": ");
    }
    type_text(b, &t->buffers.at[x->buffer], l->of[x->buffer]);
    buf_printf(b, "%s%s */", x->param ? "; a param" : "", x->optional ? "; has a default" : "");
  }
  buf_char(b, '\n');
}

typedef struct Struct {
  const char *prefix, *name;
  const TaskArgument *at;
  uint32_t n;
  const Str *member;
} Struct;

static void arguments_type(Buf *b, const TaskGraph *t, const CLabels *l, Struct s, bool comments) {
  buf_printf(b, "typedef struct %s_%s {\n", s.prefix, s.name);
  for (uint32_t i = 0; i < s.n; i++) argument_member(b, t, l, &s.at[i], s.member[i], comments);
  if (!s.n) buf_printf(b, "  int none;%s\n", comments ? " /* there are none; NULL may be given for this */" : "");
  buf_printf(b, "} %s_%s;\n", s.prefix, s.name);
}

/* ---- functions ---------------------------------------------------------------------------------- */

/* $ stands for the prefix. */
static void with_prefix(Buf *b, const char *text, const char *prefix) {
  for (; *text; text++) {
    if (*text == '$') buf_str(b, prefix);
    else buf_char(b, *text);
  }
}

static const struct { const char *note, *text; } functions[] = {
  {"A context holds a plan, its memory and its last error; one thread at a time may use it. config NULL: the usual.\n"
   " * *ctx is NULL if there is no memory for one.",
   "ein_status $_create(const ein_config *config, $_ctx **ctx);\n"},
  {"ctx may be NULL.", "void $_destroy($_ctx *ctx);\n"},
  {"Binds the sizes, checks what the program says about them, and takes the memory that a run needs. May be called\n"
   " * again, with other sizes.",
   "ein_status $_plan($_ctx *ctx, const $_sizes *sizes);\n"},
  {"The memory that a planned run takes, apart from its arguments.", "size_t $_workspace_bytes(const $_ctx *ctx);\n"},
  {"Computes the outputs. All views are the caller's, of the sizes planned, with any strides; outputs overlap nothing.\n"
   " * The data of an input that has a default may be NULL. No memory is taken.",
   "ein_status $_run($_ctx *ctx, const $_inputs *inputs, const $_outputs *outputs);\n"},
  {"The same with the views of the last run since the plan, which are not looked at again: for calls so short that looking\n"
   " * counts. They must still be there.",
   "ein_status $_again($_ctx *ctx);\n"},
  {"What went wrong in the last call; \"\" if nothing. It stands until the next call.",
   "const char *$_last_error(const $_ctx *ctx);\n"},
  {"From another thread: a run that is going on ends soon, with EIN_ERR_CANCEL.", "void $_cancel($_ctx *ctx);\n"},
  {"All of the above as data, for callers that know nothing about this program.", "extern const ein_model $_model;\n"},
};

void c_declarations(Buf *b, const LoopProgram *p, const EmitOptions *o, bool comments) {
  const TaskGraph *t = p->tasks;
  CMembers m = c_members(b->arena, t);
  CLabels l = c_labels(b->arena, t, &o->declared);
  buf_printf(b, "typedef struct %s_ctx %s_ctx;\n", o->prefix, o->prefix);
  sizes_type(b, t, &m, o->prefix, comments);
  note(b, comments, "Views of the inputs, in the order of the program.");
  arguments_type(b, t, &l, (Struct){o->prefix, "inputs", t->inputs.at, t->inputs.len, m.input}, comments);
  note(b, comments, "Views of memory for the outputs.");
  arguments_type(b, t, &l, (Struct){o->prefix, "outputs", t->outputs.at, t->outputs.len, m.output}, comments);
  for (size_t i = 0; i < COUNT(functions); i++) {
    note(b, comments, functions[i].note);
    with_prefix(b, functions[i].text, o->prefix);
  }
}

/* ---- the file ----------------------------------------------------------------------------------- */

void emit_header(Buf *h, const LoopProgram *p, const EmitOptions *o) {
  buf_printf(h, "/* %s.h - from ", o->prefix);
  comment_text(h, o->source);
  buf_printf(h, ", by ein %s. Create a context, plan, run; see below. */\n", o->version);
  buf_printf(h, "#ifndef %s_H\n#define %s_H\n\n#include \"ein_tensor.h\"\n\n", o->prefix, o->prefix);
  buf_str(h, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  c_declarations(h, p, o, true);
  buf_str(h, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
