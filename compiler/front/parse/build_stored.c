/* front/parse/build_stored.c - `from "layers.{l}.wq"[(h a), d]`. In: the name as written, the brackets, and their
 * statement; out: an AstStored whose name and axes refer to the tensor's axes. Complains about a label that the
 * tensor lacks, one that occurs twice or never, and a name that is ambiguous. */
#include <string.h>

#include "parse.h"

static Token token_of(Span s) {
  return (Token){s.at, s.end, TOK_ID};
}

AstStored *build_stored(Parse *p, Token word, Token name, Brackets *b) {
  AstStored *x = NEW(p->arena, AstStored);
  uint32_t at = name.at + 1, end = name.end;
  if (end > at && p->src->bytes[end - 1] == '"') end--;
  x->to = word.kind == TOK_TO;
  x->text = str_of(p->strings, p->src->bytes + at, end - at);
  x->text_span = span_at(p, name.at, name.end);
  x->span = span_at(p, word.at, b ? b->end : name.end);
  x->bracketed = b != NULL;
  if (b) x->items = b->items;
  return x;
}

/* ---- the tensor's axes ------------------------------------------------------------------------------------------- */

typedef struct StoredOf { /* what the name is for */
  AstName tensor;
  const AstItems *axis;
  uint8_t *seen;     /* by axis: 1, the name counts it; 2, it is in the brackets; 0, neither */
} StoredOf;

/* Its label, or the name of its size; s NULL: it has none. */
static AstName axis_name(const AstItem *i) {
  if (i->kind == ITEM_SIZED) return i->name;
  if (i->kind == ITEM_EXPR && i->e->kind == AST_NAME) return i->e->name;
  return (AstName){0};
}


static const char *labels_text(Parse *p, const StoredOf *o) {
  Buf b = buf_new(p->arena);
  for (uint32_t i = 0; i < o->axis->len; i++) {
    AstName n = axis_name(&o->axis->at[i]);
    if (n.s) buf_printf(&b, "%s%s", b.len ? ", " : "", n.s->s);
  }
  return b.len ? b.s : "none";
}

/* Finds the only axis of that name; false after a complaint. */
static bool axis_find(Parse *p, const StoredOf *o, DiagCode code, AstName n, uint32_t *out) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < o->axis->len; i++)
    if (axis_name(&o->axis->at[i]).s == n.s && !found++) *out = i;
  if (found == 1) return true;
  Diag *g = diag_add(
      p->diags, code, n.span, found ? "%s has two axes that go by %s" : "%s has no label %s", o->tensor.s->s, n.s->s);
  if (found)
    diag_hint(p->diags, g, "give each a label of its own, as in `%s[i:%s,j:%s]`", o->tensor.s->s, n.s->s, n.s->s);
  else diag_hint(p->diags, g, "its labels are: %s", labels_text(p, o));
  return false;
}

/* ---- the name ---------------------------------------------------------------------------------------------------- */

static void name_text(Parse *p, AstStored *x, uint32_t at, uint32_t end) {
  AstNamePart part = {.text = str_of(p->strings, p->src->bytes + at, end - at)};
  if (end > at) vec_push(p->arena, x->name, part);
}

static void brace_wrong(Parse *p, uint32_t at, uint32_t end, const char *what) {
  Diag *g = diag_add(p->diags, D_E116, span_at(p, at, end), "%s", what);
  diag_hint(
      p->diags, g, "in braces stands a label, as in \"layers.{l}.weight\", or {l+1} where the names count from 1");
}

/* Reads what is between braces: a label, perhaps with `+ 1` or `- 1`. */
static bool brace_read(Parse *p, uint32_t at, uint32_t end, AstName *label, int64_t *plus) {
  const char *s = p->src->bytes;
  while (at < end && s[at] == ' ') at++;
  while (at < end && s[end - 1] == ' ') end--;
  uint32_t stop = at;
  while (stop < end && !strchr(" +-", s[stop])) stop++;
  bool first = stop > at && strchr("0123456789", s[at]) == NULL;
  *label = first ? name_of(p, token_of(span_at(p, at, stop))) : (AstName){0};
  *plus = 0;
  while (stop < end && s[stop] == ' ') stop++;
  if (stop == end) return first;
  bool minus = s[stop] == '-';
  for (stop++; stop < end && s[stop] == ' ';) stop++;
  if (!first || stop == end || strspn(s + stop, "0123456789") < end - stop || !int64_read(s + stop, end - stop, plus) ||
      *plus > INT32_MAX)
    return false;
  if (minus) *plus = -*plus;
  return true;
}

static void brace_take(Parse *p, AstStored *x, const StoredOf *o, uint32_t at, uint32_t end) {
  AstName label;
  AstNamePart part = {0};
  if (!brace_read(p, at + 1, end - 1, &label, &part.plus)) {
    brace_wrong(p, at, end, "these braces hold no label");
    return;
  }
  if (!axis_find(p, o, D_E116, label, &part.axis)) return;
  if (x->name.len && !vec_last(x->name).text)
    brace_wrong(p, at, end, "two numbers side by side could be read in several ways");
  o->seen[part.axis] = 1;
  vec_push(p->arena, x->name, part);
}

static void name_read(Parse *p, AstStored *x, const StoredOf *o) {
  const char *s = p->src->bytes;
  uint32_t at = x->text_span.at + 1, end = at + (uint32_t)x->text->len, from = at;
  if (at == end) diag_add(p->diags, D_E116, x->text_span, "a stored tensor has a name");
  for (; at < end; at++) {
    if (s[at] == '}') brace_wrong(p, at, at + 1, "a `}` without a `{` before it");
    if (s[at] != '{') continue;
    const char *close = memchr(s + at, '}', end - at);
    name_text(p, x, from, at);
    if (!close) {
      brace_wrong(p, at, end, "a `{` without a `}` behind it");
      return;
    }
    from = (uint32_t)(close - s) + 1;
    brace_take(p, x, o, at, from);
    at = from - 1;
  }
  name_text(p, x, from, end);
}

/* ---- the brackets ------------------------------------------------------------------------------------------------ */

static void axis_take(Parse *p, AstStored *x, const StoredOf *o, const AstItem *i, bool joined) {
  AstStoredAxis a = {.joined = joined};
  if (i->kind != ITEM_EXPR || i->e->kind != AST_NAME) {
    Diag *g = diag_add(p->diags, D_E117, i->span, "the axes of a stored tensor are labels, or several in parentheses");
    diag_hint(p->diags, g, "the labels of %s are: %s", o->tensor.s->s, labels_text(p, o));
    return;
  }
  AstName n = i->e->name;
  if (!axis_find(p, o, D_E117, n, &a.axis)) return;
  if (o->seen[a.axis] == 2)
    diag_add(p->diags, D_E117, n.span, "%s stands twice among the stored tensor's axes", n.s->s);
  if (o->seen[a.axis] == 1) {
    Diag *g = diag_add(p->diags, D_E117, n.span, "%s is counted by the name, so no stored tensor has it", n.s->s);
    diag_at(p->diags, g, x->text_span, "here");
  }
  o->seen[a.axis] = 2;
  vec_push(p->arena, x->axes, a);
}

static void axes_read(Parse *p, AstStored *x, const StoredOf *o) {
  vec_each(const AstItem, item, x->items) {
    if (item->kind != ITEM_GROUP) axis_take(p, x, o, item, false);
    for (uint32_t k = 0; item->kind == ITEM_GROUP && k < item->part.len; k++)
      axis_take(p, x, o, &item->part.at[k], k > 0);
  }
  for (uint32_t i = 0; i < o->axis->len && !x->bracketed; i++)
    if (!o->seen[i]) vec_push(p->arena, x->axes, ((AstStoredAxis){.axis = i}));
}

/* Each axis must occur once; unknown if some could not be read. */
static void axes_complete(Parse *p, const AstStored *x, const StoredOf *o) {
  for (uint32_t i = 0; i < o->axis->len; i++) {
    const AstItem *item = &o->axis->at[i];
    AstName n = axis_name(item);
    if (item->kind == ITEM_GROUP)
      diag_add(p->diags, D_E117, item->span,
          "on the left each label has an axis of its own; the parentheses belong behind the stored name");
    else if (x->bracketed && !n.s)
      diag_add(p->diags, D_E117, item->span,
          "this axis has no label, and so no place among the stored tensor's axes: write `i:%.*s`",
          (int)(item->span.end - item->span.at), p->src->bytes + item->span.at);
    else if (x->bracketed && !o->seen[i]) {
      Diag *g = diag_add(p->diags, D_E117, x->span, "%s of %s is missing", n.s->s, o->tensor.s->s);
      diag_hint(p->diags, g,
          "in the brackets stands each label along the stored tensor's axes, and in the name {%s} where each %s has "
          "a tensor",
          n.s->s, n.s->s);
    }
  }
}

void stored_take(Parse *p, AstStmt *s, AstStored *x) {
  if (!x) return;
  bool output = s->kind == STMT_EQUATION, several = !output && s->decls.len != 1;
  s->stored = x;
  if (s->kind == STMT_INPUT)
    diag_add(
        p->diags, D_E118, x->span, "an input comes from NAME=SOURCE; a param may say where it lies in a checkpoint");
  else if (output != x->to)
    diag_add(p->diags, D_E118, x->span,
        x->to ? "a param is read `from` a checkpoint" : "an output is written `to` a checkpoint");
  else if (several) {
    Diag *g = diag_add(
        p->diags, D_E118, x->span, "a name in a checkpoint belongs to one param, and here are %u", s->decls.len);
    diag_hint(p->diags, g, "declare each param on a line of its own");
  } else {
    StoredOf o = {output ? s->name : s->decls.at[0].name, output ? &s->items : &s->decls.at[0].items, NULL};
    uint32_t errors = p->diags->errors;
    o.seen = NEW_ARRAY(p->arena, uint8_t, o.axis->len + 1);
    name_read(p, x, &o);
    axes_read(p, x, &o);
    if (p->diags->errors == errors) axes_complete(p, x, &o);
  }
}
