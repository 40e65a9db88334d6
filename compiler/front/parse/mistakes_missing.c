/* front/parse/mistakes_missing.c - rules about what is missing or superfluous: brackets, commas, operators,
 * branches, the end of a statement. */
#include "front/limits.h"
#include "mistakes.h"

#include <string.h>

/* ---- something missing ----------------------------------------------------------------------- */

int rule_missing_bracket(const Scene *s) {
  Parse *p = s->p;
  if (s->in != TOK_LB && s->in != TOK_LP) return PASS;
  if (s->t.kind == TOK_LB || !begins_operand(s->t.kind) || !ends_operand(s) || bracket_closed(p))
    return PASS;
  Open o = vec_last(p->open);
  Diag *g = diag_add(p->diags, D_E006, span_at(p, o.at, o.at + 1), "this `%s` is not closed",
                     bracket_sign(o.kind));
  diag_at(p->diags, g, scene_place(s), "perhaps before this");
  return TOK_BAD;
}

int rule_missing_comma(const Scene *s) {
  if (!s->ok[TOK_COMMA] || s->in == TOK_LC || !s->in || !ends_operand(s)) return PASS;
  if (!begins_operand(s->t.kind) || s->t.kind == TOK_IF || s->t.kind == TOK_NOT) return PASS;
  bool list = s->in == TOK_LB && vec_last(s->p->open).of == OPEN_LIST;
  if (list && token_is(s->p, s->t, "for"))
    return scene_tell(s, D_E001, "a list has elements, and no loop", "labels count: `w[k:3] = 2*k` is 0, 2, 4");
  Diag *g = scene_say(s, D_E001, "unexpected %s: a comma or an operator is missing before it",
                token_shown(s->p, s->t));
  if (list)
    diag_hint(s->p->diags, g, "the elements of a list are parted by commas: `[1, 2, 1]`");
  else if (s->in == TOK_LB)
    diag_hint(s->p->diags, g,
              "labels are parted by commas, `[i, j]`; a group is in parentheses, `[(i j)]`");
  else
    diag_hint(s->p->diags, g, "arguments are parted by commas: `f(a, b)`");
  return ANSWER_INSERT + TOK_COMMA;
}

/* What is known about a name followed by another operand. */
typedef enum { CALLED, READ, UNKNOWN } Callee;

static Callee callee(const Parse *p, Token name) {
  enum { FAR = 1000 };
  Op op;
  const char *text = token_text(p, name);
  bool known = op_find(text, name.end - name.at, &op);
  if (known && (op_info[op].laws & LAW_FUNCTION || op_info[op].rule == RULE_RANDOM)) return CALLED;
  Str s = str_of(p->strings, text, name.end - name.at);
  for (uint32_t i = p->file->stmts.len, k = 0; i-- > 0 && k < FAR; k++) {
    const AstStmt *d = p->file->stmts.at[i];
    if (d->name.s == s && d->kind != STMT_USE)
      return d->kind == STMT_DEF || d->kind == STMT_MONOID || d->kind == STMT_EXTERN ? CALLED : READ;
    for (uint32_t j = 0; j < d->decls.len && j < FAR; j++)
      if (d->decls.at[j].name.s == s) return READ;
  }
  return name.end - name.at > 2 && !p->open.len && p->stmt.first.kind != TOK_DEF ? UNKNOWN : READ;
}

static void hint_two_operands(const Scene *s, Diag *g) {
  const Parse *p = s->p;
  bool named = p->at.operand.kind == TOK_ID && (s->last.kind == TOK_ID || s->last.kind == TOK_RB);
  Callee how = named ? callee(p, p->at.operand) : READ;
  const char *a = source_piece(p, p->at.operand.at, s->last.end), *b = source_piece(p, s->t.at, operand_end(p, s->t));
  if (!a || !b) a = "f", b = "x";
  if (how == CALLED) diag_hint(p->diags, g, "functions, defs and monoids are called with parentheses: `%s(%s)`", a, b);
  else if (*b != '(') diag_hint(p->diags, g, "is an operator missing, as in `%s * %s`?", a, b);
  if (how == UNKNOWN && *b != '(') diag_hint(p->diags, g, "or is it a call, `%s(%s)`?", a, b);
}

/* `X[i] // the data`: a division by words. */
int rule_slashes(const Scene *s) {
  const Parse *p = s->p;
  Token t = s->t.kind == TOK_IDIV ? s->t : p->stmt.slashes;
  uint32_t line = p->scan.line_start;
  bool star = s->t.kind == TOK_STAR && s->last.kind == TOK_SLASH && s->last.end == s->t.at;
  if (star) t = s->last;
  if (!star && (!t.kind || t.at < line)) return PASS;
  if (!star && s->t.kind != TOK_IDIV && !(ends_operand(s) && begins_operand(s->t.kind))) return PASS;
  if (s->t.kind == TOK_IF && line_has(p, TOK_ELSE, TOK_EOF)) return PASS; /* `a // b if c else d` */
  Diag *g = diag_add(p->diags, D_E001, span_at(p, t.at, star ? s->t.end : t.end),
      "unexpected `%s`, which begins no comment", star ? "/*" : "//");
  diag_hint(p->diags, g, "a comment begins with `#`");
  return s->t.kind == TOK_IDIV && !(p->open.len && bracket_closed(p)) ? ANSWER_LINE : TOK_BAD;
}

/* A `then` or `else` that is missing on the line. */
int rule_missing_branch(const Scene *s) {
  int k = s->ok[TOK_THEN] ? TOK_THEN : TOK_ELSE;
  if (!s->ok[k] || !ends_operand(s) || !begins_operand(s->t.kind)) return PASS;
  if (line_has(s->p, k, k == TOK_THEN ? TOK_ELSE : TOK_THEN)) return PASS;
  Diag *g = scene_unexpected(s);
  const char *x = source_piece(s->p, s->t.at, operand_end(s->p, s->t)), *word = k == TOK_THEN ? "then" : "else";
  diag_hint(s->p->diags, g, "is `%s` missing before it, as in `%s %s`?", word, word, x ? x : "...");
  return ANSWER_INSERT + k;
}

/* The string that comes next, perhaps the current token; NULL: something else comes next. */
static const char *text_next(const Scene *s) {
  Scanner ahead = scan_quietly(s->p);
  Token t = s->t.kind == TOK_STRING ? s->t : scan(&ahead);
  if (t.kind != TOK_STRING || ahead.newline) return NULL;
  const char *text = source_piece(s->p, t.at, t.end);
  return text ? text : "\"...\"";
}

/* `assert N >= 2 "too small"`, `assert N >= 2: "too small"`, `assert(N >= 2, "too small")`, `assert "too small", N >=
 * 2` */
int rule_assert(const Scene *s) {
  const Parse *p = s->p;
  if (p->stmt.first.kind != TOK_ASSERT || s->start) return PASS;
  const char *text = text_next(s);
  bool first = s->t.kind == TOK_STRING && p->stmt.tokens == 1,
       behind = s->ok[TOK_COMMA] && !p->open.len && ends_operand(s);
  bool called = s->t.kind == TOK_COMMA && p->open.len == 1 && vec_last(p->open).at == p->stmt.first.end;
  if (!text || !(first || called || (behind && (s->t.kind == TOK_STRING || s->t.kind == TOK_COLON)))) return PASS;
  uint32_t at = called ? vec_last(p->open).at + 1 : p->stmt.first.end;
  const char *claim = first ? NULL : source_piece(p, at, s->last.end);
  const char *why = first ? "the condition comes first"
      : called            ? "assert is no function"
                          : "a comma stands before the text";
  scene_refuse(s, "%s: `assert %s, %s`", why, claim ? claim : "e", text);
  return !first && s->t.kind == TOK_STRING ? ANSWER_INSERT + TOK_COMMA : TOK_BAD;
}

/* `assert on 16: bytes <= 3 GB`, `assert bytes <= 3 GB`: almost a plan's limits. */
int rule_limits(const Scene *s) {
  const Parse *p = s->p;
  double factor;
  if (p->stmt.first.kind != TOK_ASSERT || s->start) return PASS;
  const char *rest = p->src->bytes + p->stmt.first.end, *word = source_piece(p, s->t.at, s->t.end);
  rest += strspn(rest, " \t");
  bool on = strncmp(rest, "on", 2) == 0 && strspn(rest + 2, " \t") > 0;
  bool unit = s->t.kind == TOK_ID && (s->last.kind == TOK_INT || s->last.kind == TOK_REAL) && word &&
              (unit_find(UNIT_BYTES, word, &factor) || unit_find(UNIT_SECONDS, word, &factor));
  if (!on && !unit) return PASS;
  return scene_refuse(s, "a plan is held to limits by `assert on 16 sites: bytes <= 3 GB, memory <= 24 GB`");
}

/* `param W[i:3] from model.weight`, `output Z[i] to model.z = W[i]` */
int rule_stored_unquoted(const Scene *s) {
  const Parse *p = s->p;
  const char *word = p->stmt.first.kind == TOK_PARAM ? "from" : p->stmt.first.kind == TOK_OUTPUT ? "to" : NULL;
  bool ends = s->last.kind == TOK_ID || s->last.kind == TOK_RB || s->last.kind == TOK_DTYPE;
  const char *met = word && s->t.kind == TOK_ID && ends && !p->open.len ? source_piece(p, s->t.at, s->t.end) : NULL;
  if (!met || strcmp(met, word) != 0) return PASS;
  return scene_refuse(s, "the name in a checkpoint stands in quotes: `%s \"layer.weight\"`", word);
}

/* `dim N 4`, `dim N = 3 M = 4`, `input X[3] Y[4]` */
int rule_missing_in_list(const Scene *s) {
  const Parse *p = s->p;
  int k = p->stmt.first.kind;
  bool list = k == TOK_DIM || k == TOK_INPUT || k == TOK_PARAM || k == TOK_OUTPUT;
  if (!list || p->open.len || !ends_operand(s)) return PASS;
  int n = (int)(s->last.end - s->last.at), m = (int)(s->t.end - s->t.at);
  if (k == TOK_DIM && (s->t.kind == TOK_INT || s->t.kind == TOK_LP) && s->last.kind == TOK_ID && s->ok[TOK_ASSIGN]) {
    Diag *g = scene_unexpected(s);
    if (n + m < SHOWN)
      diag_hint(p->diags, g, "is `=` missing, as in `%.*s = %.*s`?", n, token_text(p, s->last), m, token_text(p, s->t));
    return ANSWER_INSERT + TOK_ASSIGN;
  }
  if (s->t.kind != TOK_ID || !s->ok[TOK_COMMA]) return PASS;
  Diag *g = scene_unexpected(s);
  const char *a = source_piece(p, s->last.kind == TOK_RB ? p->at.operand.at : s->last.at, s->last.end);
  diag_hint(p->diags, g, "the names in a list are parted by commas: `%s, %.*s`", a ? a : "...", m < SHOWN ? m : 0,
            token_text(p, s->t));
  return ANSWER_INSERT + TOK_COMMA;
}

/* `param a : f64 = 1, b : f64 = 2` */
int rule_list_goes_on(const Scene *s) {
  const Parse *p = s->p;
  int k = p->stmt.first.kind;
  if ((k != TOK_INPUT && k != TOK_PARAM) || p->open.len || s->t.kind != TOK_COMMA || !p->stmt.assigned) return PASS;
  return scene_refuse(s,
      "a default is of all names of the statement; one with another default gets a statement of its own");
}

/* `Y[i] 2 * X[i]` */
int rule_missing_equals(const Scene *s) {
  const Parse *p = s->p;
  if (!s->ok[TOK_ASSIGN] || p->stmt.assigned || p->open.len || !ends_operand(s) || !begins_operand(s->t.kind))
    return PASS;
  if (p->stmt.first.kind == TOK_INPUT || p->stmt.first.kind == TOK_PARAM) return PASS;
  Diag *g = scene_unexpected(s);
  const char *a = source_piece(p, s->last.kind == TOK_RB ? p->at.operand.at : s->last.at, s->last.end);
  const char *b = source_piece(p, s->t.at, line_rest(p, s->t));
  if (a) diag_hint(p->diags, g, "is `=` missing, as in `%s = %s`?", a, b ? b : "...");
  return TOK_BAD;
}

/* `def half x = x / 2` */
int rule_def_parameters(const Scene *s) {
  const Parse *p = s->p;
  bool named = p->stmt.tokens == 2 || (s->last.kind == TOK_RB && p->at.shut.operand.at == p->at.operand.at);
  if (p->stmt.first.kind != TOK_DEF || p->open.len || !named || p->stmt.assigned || !s->ok[TOK_LP]) return PASS;
  if (s->t.kind != TOK_ID && s->t.kind != TOK_ASSIGN) return PASS;
  Buf list = buf_new(p->arena);
  Scanner ahead = scan_quietly(p);
  Token t = s->t;
  for (int i = 0; t.kind == TOK_ID && i < 10; t = scan(&ahead), i++)
    buf_printf(&list, "%s%.*s", i ? ", " : "", (int)(t.end - t.at < SHOWN ? t.end - t.at : SHOWN), token_text(p, t));
  const char *head = source_piece(p, p->stmt.first.at, s->last.end);
  return scene_refuse(s, "parameters stand in parentheses: `%s(%s) = ...`", head ? head : "def f",
      list.len ? list.s : "x");
}

int rule_missing_operator(const Scene *s) {
  if (!s->ok[TOK_STAR] || !ends_operand(s) || !begins_operand(s->t.kind)) return PASS;
  const Parse *p = s->p;
  if (s->last.kind == TOK_RB && p->at.closed == OPEN_COUNT) {
    Diag *g = scene_say(s, D_E001, "unexpected %s: `count` takes no expression", token_shown(p, s->t));
    const char *labels = p->at.shut.where ? NULL : source_piece(p, p->at.shut.at + 1, s->last.at),
               *e = labels ? source_piece(p, s->t.at, line_rest(p, s->t)) : NULL;
    if (e && strpbrk(e, "<>=!") && !strchr(e, ')'))
      diag_hint(p->diags, g, "what is counted stands behind `where`: `count[%s where %s]`", labels, e);
    else
      diag_hint(p->diags, g, "`count[i where p]` is how many `i` there are; `sum[i where p] e` adds up");
    return TOK_BAD;
  }
  Diag *g = scene_unexpected(s);
  if (s->t.kind != TOK_IF && s->t.kind != TOK_NOT) hint_two_operands(s, g);
  return TOK_BAD;
}

/* `2 * +x` */
int rule_unary_plus(const Scene *s) {
  if (s->t.kind != TOK_PLUS || !s->ok[TOK_INT]) return PASS;
  const Parse *p = s->p;
  Scanner ahead = scan_quietly(p);
  Token t = scan(&ahead);
  if (ahead.newline || (!begins_operand(t.kind) && t.kind != TOK_MINUS)) return PASS;
  Parse at = *p;
  at.scan = ahead;
  uint32_t end = t.kind == TOK_MINUS ? 0 : operand_end(&at, t);
  const char *x = end ? source_piece(p, t.at, end) : NULL;
  Diag *g = scene_say(s, D_E001, "there is no sign `+`");
  diag_hint(p->diags, g, x ? "leave it out: `%s`" : "leave it out", x ? x : "");
  return ANSWER_DROP;
}

int rule_bare_reducer(const Scene *s) {
  if (s->last.kind != TOK_REDUCER && s->last.kind != TOK_COUNT) return PASS;
  const char *word = token_copy(s->p, s->last);
  if (s->last.kind == TOK_COUNT) return scene_refuse(s, "write `count[i where p]`");
  return scene_refuse(s, "write `%s[k] e`, or `%s(e)` over all labels", word, word);
}

static const char *name_alone(const Scene *s) {
  const Parse *p = s->p;
  const char *name = source_piece(p, p->stmt.first.at, p->stmt.first.end),
             *left = source_piece(p, p->stmt.first.at, s->last.end);
  if (!name || !left) return NULL;
  return arena_printf(p->arena, "`output %s` makes a result of it; `%s = ...` defines it", name, left);
}

static const char *state_alone(const Scene *s) {
  const char *state = source_piece(s->p, s->p->stmt.first.at, s->last.end);
  return arena_printf(
      s->p->arena, "a state says what it is before the first turn: `%s = 0`", state ? state : "state x");
}

static const char *assert_alone(const Scene *s) {
  const char *claim = source_piece(s->p, s->p->stmt.first.at, s->last.end);
  return arena_printf(s->p->arena, "say what it means when it fails: `%s, \"...\"`", claim ? claim : "assert e");
}

int rule_statement_over(const Scene *s) {
  const Parse *p = s->p;
  if (s->t.kind != TOK_NEWLINE) return PASS;
  const char *hint = NULL;
  if (s->start)
    hint = "`;` parts two statements on one line; one is enough";
  else if (s->ok[TOK_ELSE])
    hint = "an `if` always has its `else`";
  else if (s->ok[TOK_THEN])
    hint = "write `if c then a else b`";
  else if (s->ok[TOK_IDENTITY])
    hint = "a monoid says what its neutral element is: `identity 0`";
  else if (p->stmt.first.kind == TOK_ASSERT && s->ok[TOK_COMMA])
    hint = assert_alone(s);
  else if (p->stmt.first.kind == TOK_ID && s->ok[TOK_ASSIGN] && !p->stmt.assigned && !p->open.len)
    hint = name_alone(s);
  else if (p->stmt.first.kind == TOK_STATE && s->ok[TOK_ASSIGN])
    hint = state_alone(s);
  else if (p->stmt.first.kind == TOK_OUTPUT && p->stmt.tokens > 2 && !p->stmt.assigned)
    hint = "`output Z` makes a result of what is defined already; `output Z[i] = e` defines it too";
  bool block = p->stmt.first.kind == TOK_REPEAT && s->ok[TOK_LC] && p->at.newline &&
               p->at.held.at - p->scan.line_start > p->stmt.indent;
  if (block) hint = "a block begins with `{`";
  Diag *g = scene_unexpected(s);
  if (hint) diag_hint(p->diags, g, "%s", hint);
  return block ? ANSWER_INSERT + TOK_LC : TOK_BAD;
}

int rule_def_without_value(const Scene *s) {
  if (s->t.kind != TOK_RC || s->in != TOK_LC || !s->ok[TOK_INT] || !s->start) return PASS;
  return scene_tell(s, D_E001, "this def's block has no value",
      "its last line is an expression: `{ m = max[j] x; exp(x - m) }`");
}

int rule_def_goes_on(const Scene *s) {
  if (!s->ok[TOK_RC] || s->ok[TOK_ID] || s->last.kind != TOK_NEWLINE) return PASS;
  Diag *g = scene_say(s, D_E001, "unexpected %s behind the value of a def's block", token_shown(s->p, s->t));
  diag_at(s->p->diags, g, span_at(s->p, s->p->at.before.at, s->p->at.before.end), "the value ends");
  diag_hint(s->p->diags, g,
            "only the last line is an expression; the lines before it are equations");
  return TOK_BAD;
}

/* `X[(h d):8]`. */
static int tell_group_sized(const Scene *s) {
  const Parse *p = s->p;
  const char *group = source_piece(p, p->at.shut.at, p->at.last.end);
  if (!group) group = "(i j)";
  int first = vec_last(p->open).first;
  if (first == TOK_INPUT || first == TOK_PARAM)
    return scene_tell(s, D_E001, "unexpected `:` behind a group",
        "a dimension has one label, `X[n:8]`; where it is read, a group splits it: `X[%s]`", group);
  return scene_tell(s, D_E001, "unexpected `:` behind a group",
      "leave the size out: that of %s is the product of its labels' sizes", group);
}

int rule_slice(const Scene *s) {
  if (s->t.kind != TOK_COLON || s->in != TOK_LB) return PASS;
  if (s->last.kind == TOK_RP && s->p->at.shut.kind == TOK_LP && s->p->at.shut.at > vec_last(s->p->open).at)
    return tell_group_sized(s);
  Scanner ahead = scan_quietly(s->p);
  int next = scan(&ahead).kind;
  bool whole = (s->last.kind == TOK_LB || s->last.kind == TOK_COMMA) && (next == TOK_COMMA || next == TOK_RB);
  return scene_tell(s, D_E001, "unexpected `:` in an index",
      whole ? "a whole axis is read by its label, as in `X[i, j]`"
            : "there are no slices: `Y[i:4] = X[i + 1]` takes four from the second on");
}

bool complain_sign_line(Parse *p, Token t) {
  char c = *token_text(p, t);
  bool block = p->open.len && vec_last(p->open).first == TOK_DEF; /* whose value it may be */
  Diag *g = diag_add(p->diags, D_E015, span_at(p, t.at, t.end),
                     "a line begins with `%c` behind a complete expression", c);
  diag_at(p->diags, g, span_at(p, p->at.last.at, p->at.last.end), "complete here");
  if (c == '-' && p->src->bytes[t.end] == '-') {
    diag_hint(p->diags, g, "a comment begins with `#`");
    return true;
  }
  diag_hint(p->diags, g, "to go on with it, put the `%c` at the end of the line above", c);
  if (!block) return false;
  const char *e = source_piece(p, c == '+' ? t.end : t.at, line_rest(p, t));
  if (c == '-') diag_hint(p->diags, g, "to begin a new expression, put it in parentheses: `(%s)`", e ? e : "-x");
  else diag_hint(p->diags, g, "to begin a new expression, leave the `+` out: `%s`", e ? e : "x");
  p->wrong.hurt = p->open.len;
  return false;
}
