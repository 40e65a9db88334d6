/* codegen/emit/header.c - emits PREFIX.h. In: a LoopProgram. Out: what a caller of the library reads: types,
 * functions, and a comment on each argument. PREFIX.c has the same declarations without the comments. */
#include <string.h>

#include "c_tables.h"
#include "loop/names.h"
#include "task/sites/site.h"

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

/* ---- text for readers --------------------------------------------------------------------------- */

void c_extent_text(Buf *b, const Expr *e) {
  Buf t = buf_new(b->arena);
  expr_print(&t, e, NULL);
  const char *from = t.s, *end = t.s + t.len;
  if (e->kind == EX_OP && op_info[e->op].sign && *from == '(') from++, end--;
  for (; from < end; from++)
    if (*from != '$') buf_char(b, *from);
}

void c_comment_text(Buf *b, const char *s) {
  for (; *s; s++) {
    buf_char(b, (unsigned char)*s < 0x20 ? ' ' : *s);
    if ((*s == '*' && s[1] == '/') || (*s == '/' && s[1] == '*')) buf_char(b, ' ');
  }
}

/* "f32 [s: 128, a: K]" */
static void type_text(Buf *b, const TaskGraph *g, const TaskBuffer *x, Str *const label) {
  Buf t = buf_new(b->arena);
  int64_t *whole = NEW_ARRAY(b->arena, int64_t, x->rank + 1);
  if (g->mesh.n) task_whole(g, x, whole);
  buf_printf(&t, "%s", dtype_name(x->dtype));
  for (uint32_t k = 0; k < x->rank; k++) {
    buf_str(&t, k ? ", " : " [");
    if (label && label[k]) buf_printf(&t, "%s: ", label[k]->s);
    if (g->mesh.n) buf_printf(&t, "%lld", (long long)whole[k]);
    else c_extent_text(&t, x->dim[k]);
  }
  if (x->rank) buf_char(&t, ']');
  c_comment_text(b, t.s);
}

/* ---- types -------------------------------------------------------------------------------------- */

static void note(Buf *b, bool comments, const char *text) {
  if (comments) buf_printf(b, "\n/* %s */\n", text);
}

static void sizes_type(Buf *b, const TaskGraph *t, const CMembers *m, const char *x, bool comments) {
  uint32_t n = 0;
  note(b, comments, "The sizes that callers choose.");
  buf_printf(b, "typedef struct %s_sizes {\n", x);
  for (uint32_t i = 0; i < t->dims.len; i++) {
    if (t->dims.at[i].known || i < t->mesh.n) continue;
    buf_printf(b, "  int64_t %s;", m->size[i]->s);
    if (comments && strcmp(m->size[i]->s, t->dims.at[i].name->s) != 0) {
      buf_str(b, " /* ");
      c_comment_text(b, t->dims.at[i].name->s);
      buf_str(b, " */");
    }
    buf_char(b, '\n');
    n++;
  }
  if (!n) buf_printf(b, "  int none;%s\n", comments ? " /* all sizes are known: pass NULL */" : "");
  buf_printf(b, "} %s_sizes;\n", x);
}

static void argument_member(Buf *b, const TaskGraph *t, const AxisLabels *l, const TaskArgument *x, Str member,
                            bool comments) {
  buf_printf(b, "  ein_tensor %s;", member->s);
  if (comments) {
    buf_str(b, " /* ");
    if (strcmp(member->s, x->name->s) != 0) {
      c_comment_text(b, x->name->s);
      buf_str(b, ": ");
    }
    type_text(b, t, &t->buffers.at[x->buffer], l->of[x->buffer]);
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

static void arguments_type(Buf *b, const TaskGraph *t, const AxisLabels *l, Struct s, bool comments) {
  buf_printf(b, "typedef struct %s_%s {\n", s.prefix, s.name);
  for (uint32_t i = 0; i < s.n; i++) argument_member(b, t, l, &s.at[i], s.member[i], comments);
  if (!s.n) buf_printf(b, "  int none;%s\n", comments ? " /* there are none: pass NULL */" : "");
  buf_printf(b, "} %s_%s;\n", s.prefix, s.name);
}

/* ---- functions ---------------------------------------------------------------------------------- */

void c_with_prefix(Buf *b, const char *text, const char *prefix) {
  for (; *text; text++) {
    if (*text == '$') buf_str(b, prefix);
    else buf_char(b, *text);
  }
}

/* Which libraries have it: for one site, for several, for one on a device. */
enum { ONE = 1, SITES = 2, DEVICE = 4, BOTH = 7 };

static const struct { int of; const char *note, *text;
} functions[] = {
    {BOTH,
        "Creates a context, which holds a plan, its memory and its last error. Only one thread at a time\n"
        " * may use it. A config of NULL means the defaults. *ctx is NULL if there is no memory for a\n"
        " * context.",
        "ein_status $_create(const ein_config *config, $_ctx **ctx);\n"},
    {BOTH, "ctx may be NULL.", "void $_destroy($_ctx *ctx);\n"},
    {BOTH,
        "Sets the sizes, checks the program's conditions on them, and reserves the memory that a run\n"
        " * needs. May be called again, with other sizes.",
        "ein_status $_plan($_ctx *ctx, const $_sizes *sizes);\n"},
    {BOTH, "The bytes of memory that a run of this plan uses, not counting its arguments.",
        "size_t $_workspace_bytes(const $_ctx *ctx);\n"},
    {SITES,
        "Returns the block that a site has of an argument: along each axis, low is its first index and\n"
        " * extent its length. argument is the number of an input (output 0) or of an output (output 1), from\n"
        " * 0.",
        "ein_status $_local_extent(const $_ctx *ctx, int output, int argument, int site, int64_t *low,\n"
        "    int64_t *extent);\n"},
    {SITES,
        "Computes each site's blocks of the outputs. Each site passes views of its blocks, with any\n"
        " * strides; their shapes are those that local_extent returns. The data of an input that has a\n"
        " * default may be NULL: each site then computes its block of the default once, and keeps it until\n"
        " * the next plan. A run allocates no other memory, except for elements that it reads from other\n"
        " * sites at indices from data.",
        "ein_status $_run($_ctx *ctx, const $_inputs *inputs, const $_outputs *outputs);\n"},
    {ONE,
        "Computes the outputs. The caller provides all views: their shapes are those of the plan, with any\n"
        " * strides. Outputs may not overlap anything. The data of an input that has a default may be NULL.\n"
        " * Allocates no memory.",
        "ein_status $_run($_ctx *ctx, const $_inputs *inputs, const $_outputs *outputs);\n"},
    {DEVICE,
        "Computes the outputs. The caller provides all views, with the shapes of the plan: in host memory\n"
        " * (device_type 1) or on the context's device (device_type 2), with any strides.\n"
        " * Outputs may not overlap anything. The data of an input that has a default may be NULL. Tensors in\n"
        " * host memory, and those not in row-major order, are copied: the memory for that is allocated unless\n"
        " * an earlier run has done so. In a stream of the caller's, results on the device are ready for work\n"
        " * submitted to that stream after the run; otherwise, when the run returns.",
        "ein_status $_run($_ctx *ctx, const $_inputs *inputs, const $_outputs *outputs);\n"},
    {BOTH,
        "Runs again with the views of the last run since the plan, and does not check them: this saves\n"
        " * time if a run is very short. The memory of the views must still be valid.",
        "ein_status $_again($_ctx *ctx);\n"},
    {SITES,
        "Computes whole outputs from whole inputs, all of which are at site 0. Other sites may pass NULL:\n"
        " * what they pass is ignored.",
        "ein_status $_run_whole($_ctx *ctx, const $_inputs *inputs, const $_outputs *outputs);\n"},
    {BOTH, "Why the last call failed, or \"\" if it did not. Valid until the next call.",
        "const char *$_last_error(const $_ctx *ctx);\n"},
    {BOTH, "Called from another thread: the run in progress ends soon, with EIN_ERR_CANCEL.",
        "void $_cancel($_ctx *ctx);\n"},
    {BOTH, "All of the above as data, for callers that handle any program.",
        "extern const ein_model $_model;\n"},
};

void c_declarations(Buf *b, const LoopProgram *p, const EmitOptions *o, bool comments) {
  const TaskGraph *t = p->tasks;
  CMembers m = c_members(b->arena, t);
  AxisLabels l = axis_labels(b->arena, t, &o->declared);
  buf_printf(b, "typedef struct %s_ctx %s_ctx;\n", o->prefix, o->prefix);
  sizes_type(b, t, &m, o->prefix, comments);
  note(b, comments, "Views of the inputs, in the order of the program.");
  arguments_type(b, t, &l, (Struct){o->prefix, "inputs", t->inputs.at, t->inputs.len, m.input}, comments);
  note(b, comments, "Views of memory for the outputs.");
  arguments_type(b, t, &l, (Struct){o->prefix, "outputs", t->outputs.at, t->outputs.len, m.output}, comments);
  for (size_t i = 0; i < COUNT(functions); i++) {
    if (!(functions[i].of & (t->mesh.n ? SITES : o->device ? DEVICE : ONE))) continue;
    note(b, comments, functions[i].note);
    c_with_prefix(b, functions[i].text, o->prefix);
  }
}

/* ---- the file ----------------------------------------------------------------------------------- */

void emit_header(Buf *h, const LoopProgram *p, const EmitOptions *o) {
  buf_printf(h, "/* %s.h - from ", o->prefix);
  c_comment_text(h, o->source);
  buf_printf(h, ", by ein %s. Create a context, plan, run; see below. */\n", o->version);
  buf_printf(h, "#ifndef %s_H\n#define %s_H\n\n%s\n", o->prefix, o->prefix,
      o->tensor ? o->tensor : "#include \"ein_tensor.h\"\n");
  buf_str(h, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
  c_declarations(h, p, o, true);
  buf_str(h, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
