/* front/parse/mistakes_words.c - rules about misplaced words and signs: `=` and `==`, `where`, keywords as names,
 * statements out of place, and words of other languages. */
#include "front/foreign.h"
#include "mistakes.h"

#include <string.h>

/* ---- = and == -------------------------------------------------------------------------------- */

int rule_equals(const Scene *s) {
  if (s->t.kind == TOK_EQ && s->ok[TOK_ASSIGN]) {
    scene_tell(s, D_E019, "`==` compares, and cannot define", "write `=`");
    return TOK_ASSIGN;
  }
  if (s->t.kind == TOK_ASSIGN && s->ok[TOK_EQ] && !s->ok[TOK_COLON]) {
    Diag *g = scene_say(s, D_E019, "`=` defines, and cannot compare");
    const char *a = source_piece(s->p, s->p->stmt.first.at, s->p->stmt.first.end),
               *b = source_piece(s->p, s->last.at, s->last.end);
    if (s->p->stmt.tokens == 3 && s->p->stmt.assigned && s->last.kind == TOK_ID && a && b) { /* `a = b = 2` */
      diag_hint(s->p->diags, g, "each name has an equation of its own: `%s = ...`, and `%s = %s`", b, a, b);
      return TOK_BAD;
    }
    if (s->p->stmt.joined.kind && s->p->stmt.assigned) {
      hint_joined(s, g);
      return TOK_BAD;
    }
    diag_hint(s->p->diags, g, "write `==`");
    return TOK_EQ;
  }
  return PASS;
}

/* ---- signs of other languages in and around brackets ------------------------------------------- */

/* Whether only names and commas come between the current token and the closing bracket. */
static bool names_ahead(const Parse *p, int close) {
  Scanner s = scan_quietly(p);
  for (int i = 0; i < NEAR; i++) {
    Token t = scan(&s);
    if (t.kind == close) return i > 0;
    if (s.newline || (t.kind != TOK_ID && t.kind != TOK_COMMA)) return false;
  }
  return false;
}

/* `sum[i; p] e`, `X[i; j]` */
int rule_semicolon(const Scene *s) {
  const Parse *p = s->p;
  if (s->t.kind != TOK_NEWLINE || s->t.end == s->t.at || *token_text(p, s->t) != ';' || s->in != TOK_LB) return PASS;
  const Open *open = &vec_last(p->open);
  if (open->of == OPEN_LIST) {
    scene_tell(s, D_E001, "unexpected `;` in a list", "a row is a list of its own: `[[1, 2], [3, 4]]`");
    return TOK_COMMA;
  }
  bool names = open->of == OPEN_PLAIN || names_ahead(p, TOK_RB);
  int answer = names ? TOK_COMMA : TOK_WHERE;
  if (!s->ok[answer]) return PASS;
  Diag *g = scene_say(s, D_E001, "unexpected `;` between brackets");
  uint32_t close = bracket_end(p);
  const char *head = source_piece(p, open->operand.at, s->t.at),
             *rest = close ? source_piece(p, s->t.end, close - 1) : NULL;
  if (names) diag_hint(p->diags, g, "labels and indices are parted by commas: `[i, j]`");
  else if (head && rest) diag_hint(p->diags, g, "a condition stands behind `where`: `%s where %s]`", head, rest);
  else diag_hint(p->diags, g, "a condition stands behind `where`: `sum[i where p]`");
  return answer;
}

/* `where(c, a, b)` */
int rule_where_called(const Scene *s) {
  if (s->t.kind != TOK_WHERE || !s->ok[TOK_INT] || s->last.kind == TOK_LB) return PASS;
  Scanner ahead = scan_quietly(s->p);
  if (scan(&ahead).kind != TOK_LP) return PASS;
  return scene_tell(s, D_E001, "there is no function `where`", "a choice is `if c then a else b`");
}

/* The text in the round brackets that the current token opens, and the token after them; NULL: too long. */
static const char *round_inside(const Parse *p, Token open, Token *behind) {
  uint32_t close = bracket_end(p);
  const char *inside = close ? source_piece(p, open.end, close - 1) : NULL;
  Scanner s = scan_quietly(p);
  s.at = p->src->bytes + close;
  if (inside) *behind = scan(&s);
  return inside;
}

/* `Z(i) = e`, `input X(i:3)` */
int rule_round_left(const Scene *s) {
  const Parse *p = s->p;
  int first = p->stmt.first.kind;
  bool declares = first == TOK_INPUT || first == TOK_PARAM;
  bool left = declares || first == TOK_ID || first == TOK_OUTPUT || first == TOK_STATE || first == TOK_NEXT;
  if (s->t.kind != TOK_LP || !left || s->last.kind != TOK_ID || p->stmt.assigned || s->in == TOK_LB || s->in == TOK_LP)
    return PASS;
  Token behind = {0};
  const char *inside = round_inside(p, s->t, &behind), *name = source_piece(p, s->last.at, s->last.end);
  bool defines = behind.kind == TOK_ASSIGN || behind.kind == TOK_COLON;
  if (!inside || !name || !s->ok[TOK_LB] || (!defines && !declares)) return PASS;
  Diag *g = scene_unexpected(s);
  diag_hint(p->diags, g, "labels stand in square brackets: `%s[%s]`", name, inside);
  const char *e = first == TOK_ID && behind.kind == TOK_ASSIGN ? value_ahead(p) : NULL;
  if (e) diag_hint(p->diags, g, "or is it a def, `def %s(%s) = %s`?", name, inside, e);
  return TOK_BAD;
}

/* `sum(j) X[i,j]` */
int rule_round_reducer(const Scene *s) {
  const Parse *p = s->p;
  if (s->last.kind != TOK_RP || p->at.operand.kind != TOK_REDUCER || !s->ok[TOK_STAR] || !begins_operand(s->t.kind))
    return PASS;
  const char *inside = source_piece(p, p->at.shut.at + 1, s->last.at),
             *word = source_piece(p, p->at.operand.at, p->at.operand.end);
  const char *body = source_piece(p, s->t.at, operand_end(p, s->t));
  if (!inside || !word || strpbrk(inside, "[(+-*/<>=")) return PASS;
  return scene_refuse(s, "labels stand in square brackets: `%s[%s] %s`", word, inside, body ? body : "...");
}

/* ---- words in the wrong place ---------------------------------------------------------------- */

static bool is_connective(int k) {
  return k == TOK_UNTIL || k == TOK_IDENTITY || k == TOK_WHERE || k == TOK_THEN || k == TOK_ELSE ||
         k == TOK_AND || k == TOK_OR;
}

int rule_where_first(const Scene *s) {
  const Parse *p = s->p;
  Scanner ahead = scan_quietly(p);
  int next = scan(&ahead).kind;
  bool comma = s->last.kind == TOK_COMMA && s->in == TOK_LB && next != TOK_RB && next != TOK_COMMA && next != TOK_COLON;
  if (s->t.kind != TOK_WHERE || (s->last.kind != TOK_LB && !comma)) return PASS;
  const char *head = comma ? source_piece(p, vec_last(p->open).operand.at, s->last.at) : NULL;
  return scene_tell(s, D_E001, comma ? "unexpected `where` behind a comma" : "a label comes before `where`",
      "write `%s where p]%s`", head ? head : "sum[i", head ? "" : " e");
}

/* `sum[i] x[i] where p`, `sum[i] (x[i] where p)` */
static void hint_where(const Scene *s, Diag *g) {
  const Parse *p = s->p;
  Span r = p->stmt.reach;
  uint32_t n = p->open.len, depth = 0;
  while (r.src && depth < n && p->open.at[n - 1 - depth].at >= r.end) depth++; /* the body's open brackets */
  bool round = depth == 1 && s->in == TOK_LP, plain = depth == 0 && s->in != TOK_LC;
  uint32_t end = n && (round || plain) ? bracket_end(p) : line_rest(p, s->t);
  const char *q = end ? source_piece(p, s->t.end, n && (round || plain) ? end - 1 : end) : NULL;
  const char *head = r.src ? source_piece(p, p->stmt.reducer_word.at, r.end - 1) : NULL,
             *body = r.src ? source_piece(p, r.end, s->t.at) : NULL;
  if (head && body && q && depth <= round)
    diag_hint(p->diags, g, "a predicate stands in the reducer's brackets: `%s%s %s] %s%s`", head,
              strstr(head, " where ") ? " and" : " where", q, body, round ? ")" : "");
  else
    diag_hint(p->diags, g, "a predicate stands in a reducer, `sum[i where p] e`; `if p then a else b` chooses");
}

int rule_where_behind(const Scene *s) {
  if (s->t.kind != TOK_WHERE || s->ok[TOK_WHERE]) return PASS;
  const Parse *p = s->p;
  if (s->in == TOK_LB && !p->stmt.assigned && (p->stmt.first.kind == TOK_ID || p->stmt.first.kind == TOK_OUTPUT)) {
    const char *what = "`where` cannot stand on the left: an equation defines all elements";
    uint32_t close = bracket_end(p);
    const char *x = source_piece(p, p->open.len == 1 ? vec_last(p->open).operand.at : s->t.at, s->t.at);
    const char *q = close ? source_piece(p, s->t.end, close - 1) : NULL, *e = close ? value_ahead(p) : NULL;
    if (!x || !q) return scene_tell(s, D_E001, what, "choose on the right: `Y[i] = if p then a else b`");
    return scene_tell(s, D_E001, what, "choose on the right: `%s] = if %s then %s else 0`", x, q, e ? e : "...");
  }
  if (!ends_operand(s) || !s->ok[TOK_STAR]) return PASS;
  Diag *g = scene_unexpected(s);
  if (s->in == TOK_LB && vec_last(p->open).where) diag_hint(p->diags, g, "conditions are joined by `and`");
  else hint_where(s, g);
  return TOK_BAD;
}

/* `softmax[j where p] X[i,j]` */
static int call_without_parentheses(const Scene *s) {
  const Parse *p = s->p;
  const char *f = source_piece(p, p->at.operand.at, s->last.end),
             *x = source_piece(p, s->t.at, s->t.kind == TOK_REDUCER ? line_rest(p, s->t) : operand_end(p, s->t));
  Diag *g = scene_say(s, D_E001, "the argument of a call stands in parentheses");
  if (f && x) diag_hint(p->diags, g, "write `%s(%s)`", f, x);
  return TOK_BAD;
}

/* `X[i where p]`: only a call or a reducer takes a predicate. */
int rule_where_in_read(const Scene *s) {
  const Parse *p = s->p;
  if (s->last.kind != TOK_RB || p->at.closed != OPEN_PLAIN || !p->at.shut.where || s->ok[TOK_STAR] || !s->ok[TOK_LP])
    return PASS;
  if (begins_operand(s->t.kind)) return call_without_parentheses(s);
  uint32_t at = p->at.shut.where - 1;
  const char *x = source_piece(p, p->at.operand.at, at), *q = source_piece(p, at + 5, s->last.at);
  Diag *g = diag_add(p->diags, D_E001, span_at(p, at, at + 5), "`where` cannot stand in a read");
  if (x && q) diag_hint(p->diags, g, "`if` chooses: `if %s then %s] else 0`", q, x);
  diag_hint(p->diags, g, "a reducer leaves points out: `sum[i where p] e`");
  return TOK_BAD;
}

/* Once per word, however often it is used as a name. */
static Diag *say_misnamed(const Scene *s, Token t) {
  if (misnamed(s->p, t, true)) return NULL;
  return diag_add(s->p->diags, D_E017, span_at(s->p, t.at, t.end),
      "%s is a word of the language and cannot name anything", token_shown(s->p, t));
}

static int word_names(const Scene *s, Token t, int answer) {
  Diag *g = say_misnamed(s, t);
  if (g && t.kind == TOK_INPUT && s->last.kind == TOK_ASSIGN) /* X = input(3, 4) */
    diag_hint(s->p->diags, g, "data is declared by `input X[i:8] : f32`");
  else if (g && token_facts(t.kind) & WORD && (unsigned char)*token_text(s->p, t) < 0x80)
    diag_hint(s->p->diags, g, "another name is needed here, such as `%.*s_`", (int)(t.end - t.at), token_text(s->p, t));
  return answer;
}

/* `input f32 X[i:4]` */
int rule_dtype_first(const Scene *s) {
  if (s->t.kind != TOK_DTYPE || !s->ok[TOK_ID] || s->in || token_facts(s->last.kind) & ENDS) return PASS;
  Scanner ahead = scan_quietly(s->p);
  Token name = scan(&ahead);
  if (name.kind != TOK_ID || ahead.newline) return PASS;
  Diag *g = scene_say(s, D_E017, "%s is a word of the language and cannot name anything", token_shown(s->p, s->t));
  Parse p = *s->p;
  p.scan = ahead;
  const char *x = source_piece(s->p, name.at, operand_end(&p, name));
  diag_hint(s->p->diags, g, "a dtype stands behind a colon: `%s%.*s`", x ? arena_printf(p.arena, "%s : ", x) : ": ",
            (int)(s->t.end - s->t.at), token_text(s->p, s->t));
  return ANSWER_DROP;
}

/* `x[i-1] ?? if p then a else b`, `x[i-1] ?? sum[k] y[k]` */
int rule_default(const Scene *s) {
  int k = s->t.kind;
  if (s->last.kind != TOK_ORELSE || (k != TOK_IF && k != TOK_NOT)) return PASS;
  const char *e = source_piece(s->p, s->t.at, line_rest(s->p, s->t));
  return scene_refuse(s, "what stands right of `?" "?` is short; more goes into parentheses: `?" "? (%s)`",
      e ? e : "...");
}

int rule_keyword_as_name(const Scene *s) {
  int k = s->t.kind;
  if (!(token_facts(k) & WORD)) return PASS;
  if (s->start && s->ok[TOK_ID]) {
    int then = token_behind_brackets(s->p).kind;
    bool one_of = then == TOK_COMMA && line_has(s->p, TOK_ASSIGN, TOK_EOF); /* `mean[i], v[i] = f[j](x[i,j])` */
    return then == TOK_ASSIGN || one_of ? word_names(s, s->t, TOK_ID) : PASS;
  }
  if (!s->ok[TOK_ID]) return PASS;
  if (s->p->at.newline && token_facts(k) & HEADS) return PASS;
  bool listed = s->in == TOK_LB && (s->last.kind == TOK_LB || s->last.kind == TOK_COMMA);
  if (is_connective(k) && s->ok[TOK_INT] && !listed) return PASS;
  Scanner ahead = scan_quietly(s->p);
  if (scan(&ahead).kind == TOK_ID && !ahead.newline && !misnamed(s->p, s->t, false)) {
    Diag *g = scene_say(s, D_E017, "%s is a word of the language and cannot stand here", token_shown(s->p, s->t));
    diag_hint(s->p->diags, g, "leave it out");
    return ANSWER_DROP;
  }
  return word_names(s, s->t, TOK_ID);
}

/* `state = 3`, `input[i] = 3`: the word was read as the beginning of such a statement. */
int rule_keyword_defined(const Scene *s) {
  if (s->p->stmt.tokens != 1 || !(token_facts(s->last.kind) & HEADS)) return PASS;
  if (s->t.kind != TOK_ASSIGN && s->t.kind != TOK_LB) return PASS;
  return word_names(s, s->last, TOK_BAD);
}

/* In brackets the grammar takes `max` and `pi` as the beginning of an expression. */
static bool word_is_name(const Scene *s, bool item, bool known) {
  Scanner ahead = scan_quietly(s->p);
  int k = s->t.kind, next = scan(&ahead).kind;
  bool line = ahead.newline, typed = next == TOK_COLON && scan(&ahead).kind == TOK_DTYPE;
  bool left = !s->p->stmt.assigned && (s->p->stmt.first.kind == TOK_ID || s->p->stmt.first.kind == TOK_OUTPUT);
  bool binds = item && (left || vec_last(s->p->open).of != OPEN_PLAIN);
  if (item && (next == TOK_RB || next == TOK_COMMA || next == TOK_WHERE)) return k != TOK_CONST || known || binds;
  if (item && (next == TOK_COLON || next == TOK_ASSIGN)) return k != TOK_REDUCER || !typed;
  if (!known) return false;
  if (k == TOK_DTYPE) return next != TOK_LP;
  if (k == TOK_CONST) return next == TOK_LB;
  if (next == TOK_LB && k == TOK_REDUCER && !line) return !begins_operand(token_behind_brackets(s->p).kind);
  return next != TOK_LP && next != TOK_LB && next != TOK_COLON;
}

int complain_word(Parse *p, Token t) {
  if (t.kind != TOK_REDUCER && t.kind != TOK_COUNT && t.kind != TOK_DTYPE && t.kind != TOK_CONST) return t.kind;
  Scene s = {.p = p, .t = t, .last = p->at.last};
  int last = p->at.last.kind;
  bool item = p->open.len && vec_last(p->open).kind == TOK_LB && vec_last(p->open).of != OPEN_LIST &&
      (last == TOK_LB || last == TOK_COMMA);
  bool known = p->diags->errors && misnamed(p, t, false);
  if ((!item && !known) || !grammar_accepts(p->grammar, TOK_ID)) return t.kind;
  return word_is_name(&s, item, known) ? word_names(&s, t, TOK_ID) : t.kind;
}

int rule_wrong_place(const Scene *s) {
  if (!s->start || !(token_facts(s->t.kind) & HEADS)) return PASS;
  const char *word = token_shown(s->p, s->t);
  bool step = s->t.kind == TOK_STATE || s->t.kind == TOK_NEXT;
  if (s->ok[TOK_DIM]) {
    Diag *g = scene_say(s, D_E022, "%s stands outside of any `repeat`", word);
    diag_hint(s->p->diags, g, "`repeat t < T { state x = ...; next x = ... }`");
  } else if (s->ok[TOK_NEXT]) {
    Diag *g =
        scene_say(s, D_E022, "%s cannot stand in a `repeat`, which holds equations, states, nexts and loops", word);
    diag_hint(s->p->diags, g, "%s", s->t.kind == TOK_OUTPUT ? "an output is stated after the block: `output x`"
                                                            : "move it out of the block");
  } else if (s->in == TOK_LC && s->ok[TOK_INT]) {
    diag_hint(s->p->diags, scene_say(s, D_E022, "%s cannot stand in a def", word), step ? "a def has no loops"
        : "a def's block holds equations and ends with an expression");
  } else {
    return PASS;
  }
  return TOK_BAD;
}

/* The first word of the line at the prompt, where an expression may stand alone. */
static bool begins_prompt(const Parse *p, Token t) {
  if (p->stmt.first.end > p->stmt.first.at) return false; /* what the prompt inserts has no position */
  uint32_t at = t.at;
  while (at && (p->src->bytes[at - 1] == ' ' || p->src->bytes[at - 1] == '\t')) at--;
  return !at || strchr("\n;", p->src->bytes[at - 1]);
}

int rule_foreign(const Scene *s) {
  const Parse *p = s->p;
  const char *hint = NULL;
  if (s->t.kind == TOK_ID) hint = foreign_word(token_text(p, s->t), s->t.end - s->t.at);
  if (hint && !s->ok[TOK_THEN] && !s->ok[TOK_ELSE] && p->stmt.first.kind != TOK_REPEAT) hint = NULL;
  if (!hint && p->stmt.tokens == 1 && p->stmt.first.kind == TOK_ID)
    hint = foreign_word(token_text(p, p->stmt.first), p->stmt.first.end - p->stmt.first.at);
  if (!hint && s->last.kind == TOK_ID && begins_operand(s->t.kind) && begins_prompt(p, s->last))
    hint = foreign_word(token_text(p, s->last), s->last.end - s->last.at);
  if (!hint) return PASS;
  return scene_refuse(s, "%s", hint);
}

/* `repeat until c {`, `} until c` */
int rule_until(const Scene *s) {
  const Parse *p = s->p;
  bool first = p->stmt.first.kind == TOK_REPEAT && s->last.kind == TOK_REPEAT, behind = s->last.kind == TOK_RC;
  if (s->t.kind != TOK_UNTIL || !(first || behind)) return PASS;
  const char *what = first ? "a loop has a bound before its `until`" : "`until` stands before the block",
             *c = source_piece(p, s->t.end, line_rest(p, s->t));
  bool brace = c && c[strlen(c) - 1] == '{';
  scene_tell(s, D_E001, what, "write `repeat t < 100 until %.*s%s", c ? (int)(strlen(c) - brace) : 2, c ? c : "c ",
      brace ? "{ ... }`" : " { ... }`");
  return behind ? ANSWER_LINE : TOK_BAD;
}

int rule_loop_head(const Scene *s) {
  if (s->p->stmt.first.kind != TOK_REPEAT || s->p->stmt.tokens > 2 || s->start) return PASS;
  return scene_refuse(s, "a loop is written `repeat t < T { ... }`; `t` counts from 0");
}

/* ---- branches and blocks of other languages ----------------------------------------------------- */

/* What a branch sets: `y = 2`, `next y = 2`. */
typedef struct Branch { const char *left, *value; bool next; } Branch;

/* Reads a branch after the token that opens it. *t: the token after the branch. */
static bool branch_read(const Parse *p, Scanner *s, Token *t, Branch *b) {
  *t = scan(s);
  b->next = t->kind == TOK_NEXT;
  if (b->next || t->kind == TOK_OUTPUT) *t = scan(s);
  uint32_t at = t->at, end = t->end, last = 0;
  if (t->kind != TOK_ID) return false;
  for (int i = 0; i < NEAR && (*t = scan(s)).kind != TOK_ASSIGN; i++) {
    if (s->newline || t->kind == TOK_EOF) return false;
    end = t->end;
  }
  uint32_t from = t->end;
  for (int i = 0; i < NEAR; i++) {
    *t = scan(s);
    bool over = t->kind == TOK_EOF || t->kind == TOK_RC || t->kind == TOK_SEMI || t->kind == TOK_ELSE;
    if (over || (last && s->newline)) break;
    last = t->end;
  }
  b->left = source_piece(p, at, end);
  b->value = source_piece(p, from, last);
  return b->left && b->value;
}

/* `if x > 1 { y = 2 } else { y = 3 }` in place of a statement. */
int rule_if_statement(const Scene *s) {
  const Parse *p = s->p;
  if (s->t.kind != TOK_IF || !s->start || !(s->ok[TOK_DIM] || s->ok[TOK_NEXT])) return PASS;
  Diag *g = scene_say(s, D_E001, "unexpected `if`, which chooses between values and begins no statement");
  Scanner ahead = scan_quietly(p);
  Token t = s->t;
  for (int i = 0; i < NEAR && t.kind != TOK_LC && t.kind != TOK_COLON && t.kind != TOK_THEN && t.kind != TOK_EOF; i++)
    t = scan(&ahead);
  const char *c = source_piece(p, s->t.end, t.at);
  Branch a = {0}, b = {0};
  bool set = c && branch_read(p, &ahead, &t, &a);
  if (set && t.kind == TOK_RC) t = scan(&ahead);
  Scanner behind = ahead;
  int opens = set && t.kind == TOK_ELSE ? scan(&behind).kind : TOK_EOF;
  if (opens == TOK_LC || opens == TOK_COLON) ahead = behind;
  bool both = opens != TOK_EOF && branch_read(p, &ahead, &t, &b) && strcmp(a.left, b.left) == 0;
  const char *line = source_piece(p, s->t.end, line_rest(p, s->t));
  if (!set && s->ok[TOK_NEXT] && line && strstr(line, "break"))
    diag_hint(p->diags, g, "a loop ends early by `repeat t < T until c { ... }`");
  else if (set)
    diag_hint(p->diags, g, "an equation has one value for each case: `%s%s = if %s then %s else %s`",
        a.next ? "next " : "", a.left, c, a.value, both ? b.value : a.next ? a.left : "...");
  else diag_hint(p->diags, g, "an equation has one value for each case: `y = if c then a else b`");
  return TOK_BAD;
}

/* `repeat t < 9:`, `repeat t < 9 until c:` */
int rule_colon_block(const Scene *s) {
  const Parse *p = s->p;
  Scanner ahead = scan_quietly(p);
  if (p->stmt.first.kind != TOK_REPEAT || s->t.kind != TOK_COLON || !s->ok[TOK_LC]) return PASS;
  Token next = scan(&ahead);
  if (!ahead.newline && next.kind != TOK_EOF) return PASS;
  const char *head = source_piece(p, p->stmt.first.at, s->t.at);
  scene_tell(s, D_E001, "unexpected `:`: a block stands in braces", "write `%s { ... }`", head ? head : "repeat t < T");
  return TOK_LC;
}

/* `sum[k]:f64 e` */
int rule_late_accumulator(const Scene *s) {
  const Parse *p = s->p;
  if (s->t.kind != TOK_COLON || s->last.kind != TOK_RB || p->at.closed != OPEN_REDUCER) return PASS;
  Scanner ahead = scan_quietly(p);
  Token t = scan(&ahead);
  const char *word = source_piece(p, p->stmt.reducer_word.at, p->stmt.reducer_word.end),
             *labels = source_piece(p, p->stmt.reach.at, p->stmt.reach.end), *dtype = source_piece(p, t.at, t.end);
  if (t.kind != TOK_DTYPE || !word || !labels) return PASS;
  return scene_refuse(s, "what a reducer accumulates in stands at its word: `%s:%s%s`", word, dtype, labels);
}

/* `max[x[i], 0]`: brackets where a function has parentheses, with nothing behind them to reduce. */
int rule_reducer_called(const Scene *s) {
  const Parse *p = s->p;
  bool bare = s->last.kind == TOK_RB && p->at.closed == OPEN_REDUCER && s->ok[TOK_INT] && !begins_operand(s->t.kind);
  const char *word = bare ? source_piece(p, p->stmt.reducer_word.at, p->stmt.reducer_word.end) : NULL,
             *inside = bare ? source_piece(p, p->stmt.reach.at + 1, p->stmt.reach.end - 1) : NULL;
  if (!word || !inside || !strpbrk(inside, "[(+-*/<>=!") || s->t.kind == TOK_MINUS) return PASS;
  uint32_t where = p->at.shut.where;
  const char *labels = where ? source_piece(p, p->stmt.reach.at + 1, where - 1) : NULL,
             *q = where ? source_piece(p, where + 4, p->stmt.reach.end - 1) : NULL;
  if (where && (!labels || !q)) return PASS;
  Diag *g = diag_add(p->diags, D_E001, p->stmt.reach, "nothing stands behind the brackets for `%s` to reduce", word);
  if (!where) diag_hint(p->diags, g, "arguments stand in parentheses: `%s(%s)`", word, inside);
  else diag_hint(p->diags, g, "write `%s[%s] (%s)` of a condition, `%s[%s where %s] e` of some values", word, labels, q,
      word, labels, q);
  return TOK_BAD;
}

/* `X[i] * 2`, `2 * x`: an expression in place of a statement. */
int rule_bare_expression(const Scene *s) {
  const Parse *p = s->p;
  if (s->start && s->ok[TOK_DIM] && (begins_operand(s->t.kind) || s->t.kind == TOK_MINUS || s->t.kind == TOK_PLUS)) {
    Diag *g = scene_say(s, D_E001, "unexpected %s, expected a statement", token_shown(p, s->t));
    const char *e = source_piece(p, s->t.at, line_rest(p, s->t));
    diag_hint(p->diags, g, "give the value a name: `output y = %s`", e ? e : "...");
    return TOK_BAD;
  }
  bool operator = token_facts(s->t.kind) & BINARY || s->t.kind == TOK_MINUS || s->t.kind == TOK_LP;
  if (!operator || !s->ok[TOK_ASSIGN] || p->stmt.assigned || p->open.len || p->stmt.first.kind != TOK_ID) return PASS;
  if (s->t.kind == TOK_EQ) return PASS;
  if (line_has(p, TOK_SLIP, TOK_EOF)) /* an arrow */
    return scene_refuse(s, "an equation says first what it defines: `Z[i,k] = sum[j] A[i,j] * B[j,k]`");
  const char *e = source_piece(p, p->stmt.first.at, line_rest(p, s->t));
  return scene_refuse(s, "an equation says first what it defines: `output y = %s`", e ? e : "...");
}
