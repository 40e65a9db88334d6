/* front/parse/mistakes_near.c - rules about near misses: a misspelt keyword, an operator that is a word elsewhere,
 * several things in a statement that takes one. */
#include "mistakes.h"

#include <string.h>

/* The keyword in the quotes of its name. */
static const char *keyword(int kind, uint32_t *n) {
  const char *name = token_name(kind) + 1;
  return *n = (uint32_t)strcspn(name, "`"), name;
}

/* The possible keyword that is nearest to the name; 0: none is near. Ignores case. */
static int near_keyword(const Scene *s, Token t, const bool *meant) {
  enum { LONG = 12 };
  char name[LONG];
  uint32_t n = t.end - t.at, least, m;
  int best = 0;
  if (t.kind != TOK_ID || n > LONG || n < 2) return 0;
  for (uint32_t i = 0; i < n; i++) name[i] = char_lower(token_text(s->p, t)[i]);
  least = n < 3 ? 2 : n / 3 + 1;
  for (int k = 0; k < TOK_RESYNC; k++) {
    if (!meant[k] || !(token_facts(k) & WORD)) continue;
    const char *word = keyword(k, &m);
    uint32_t d = str_distance(name, n, word, m, least);
    if (d < least && d < m) least = d, best = k;
  }
  return best;
}

/* `inptu X[i:3]` at the beginning of a statement, `if a thn b` inside one. */
int rule_misspelt(const Scene *s) {
  const Parse *p = s->p;
  bool heads[TOKEN_KINDS] = {false}, within[TOKEN_KINDS] = {false};
  for (int k = 0; k < TOK_RESYNC; k++) {
    heads[k] = token_facts(k) & HEADS;
    within[k] = s->ok[k] && !(token_facts(k) & (BEGINS | HEADS)) && k != TOK_OR;
  }
  within[TOK_WHERE] = s->ok[TOK_WHERE];
  bool first = p->stmt.tokens == 1 && !p->at.newline && (begins_operand(s->t.kind) || s->t.kind == TOK_STRING) &&
      s->t.kind != TOK_LP;
  int k = first ? near_keyword(s, p->stmt.first, heads) : 0;
  if (k) {
    Diag *g = diag_add(p->diags, D_E001, span_at(p, p->stmt.first.at, p->stmt.first.end),
        "no statement begins with `%.*s`", (int)(p->stmt.first.end - p->stmt.first.at), token_text(p, p->stmt.first));
    diag_hint(p->diags, g, "did you mean %s?", token_name(k));
    return TOK_BAD;
  }
  bool capital = s->last.kind == TOK_ID && (token_is(p, s->last, "If") || token_is(p, s->last, "IF"));
  if (capital && begins_operand(s->t.kind)) {
    Diag *g = diag_add(p->diags, D_E001, span_at(p, s->last.at, s->last.end), "no expression begins with `%s`",
        token_copy(p, s->last));
    diag_hint(p->diags, g, "did you mean `if`?");
    return TOK_BAD;
  }
  k = ends_operand(s) ? near_keyword(s, s->t, within) : 0;
  if (!k) return PASS;
  Diag *g = scene_unexpected(s);
  diag_hint(p->diags, g, "did you mean %s?", token_name(k));
  return k;
}

/* ---- operators that are words, or signs of bits ------------------------------------------------ */

typedef struct Operator { const char *word; int meant; const char *hint; } Operator;

static bool is_shift(const Scene *s) {
  int k = s->t.kind;
  return (k == TOK_LT || k == TOK_GT) && s->last.kind == k && s->last.end == s->t.at;
}

int rule_foreign_operator(const Scene *s) {
  static const Operator known[] = {
    {"mod", TOK_PERCENT, "a remainder is `a % b`"},
    {"rem", TOK_PERCENT, "a remainder is `a % b`, which has the sign of b"},
    {"div", TOK_IDIV, "a quotient that is floored is `a // b`"},
    {"xor", TOK_NE, "one of two conditions is `a != b`; nothing works on bits"},
    {"is", TOK_EQ, "write `==`"},
  };
  const Parse *p = s->p;
  if (is_shift(s)) {
    return scene_tell(
        s, D_E001, "there are no shifts of bits", s->t.kind == TOK_LT ? "write `x * 2^k`" : "write `x // 2^k`");
  }
  if (!ends_operand(s) || !s->ok[TOK_STAR]) return PASS;
  for (size_t i = 0; s->t.kind == TOK_ID && i < COUNT(known); i++) {
    if (!token_is(s->p, s->t, known[i].word)) continue;
    Diag *g = scene_say(s, D_E016, "there is no operator `%s`", known[i].word);
    Scanner ahead = scan_quietly(p);
    Token of = scan(&ahead);
    bool nan = known[i].meant == TOK_EQ && of.kind == TOK_CONST && token_is(s->p, of, "nan");
    const char *a = nan ? source_piece(p, p->at.operand.at, s->last.end) : NULL;
    diag_hint(p->diags, g, "%s", a ? arena_printf(p->arena, "write `isnan(%s)`", a) : known[i].hint);
    return s->ok[known[i].meant] ? known[i].meant : TOK_BAD;
  }
  return PASS;
}

/* `a if c else b`, `sum[j if c] a` */
int rule_choice_behind(const Scene *s) {
  if (s->t.kind != TOK_IF || (!ends_operand(s) && s->last.kind != TOK_RB)) return PASS;
  bool predicate = s->ok[TOK_WHERE];
  scene_refuse(s, predicate ? "a predicate stands behind `where`: `sum[i where p] e`"
                            : "the condition comes first: `if c then a else b`");
  return predicate ? TOK_WHERE : TOK_BAD;
}

/* ---- several things instead of one ------------------------------------------------------------- */

/* `1,000`: the number without its comma; NULL: it is none. */
static const char *thousands(const Scene *s) {
  const Parse *p = s->p;
  Scanner ahead = scan_quietly(p);
  Token next = scan(&ahead);
  bool digits = s->last.kind == TOK_INT && next.kind == TOK_INT && next.end - next.at == 3 &&
      s->last.end - s->last.at <= 3;
  if (!digits || s->last.end != s->t.at || s->t.end != next.at) return NULL;
  return arena_printf(p->arena, "digits are written without gaps: write `%.*s%.*s`", (int)(s->last.end - s->last.at),
      token_text(p, s->last), (int)(next.end - next.at), token_text(p, next));
}

static const char *too_many_hint(const Scene *s) {
  const Parse *p = s->p;
  int k = p->stmt.first.kind, t = s->t.kind;
  bool data = k == TOK_INPUT || k == TOK_PARAM, typed = s->last.kind == TOK_DTYPE;
  if (typed && t == TOK_LB) return "sizes stand at the name: `X[i:3,j:4] : f32`";
  if (data && typed && t == TOK_COMMA)
    return "a dtype is of all names of the statement; one with another dtype gets a statement of its own";
  if (k == TOK_USE && p->stmt.tokens == 2 && t == TOK_COMMA) return "each module has a `use` of its own";
  if (k == TOK_USE && p->stmt.tokens == 2 && token_is(s->p, s->t, "as"))
    return "a module's names are known as they are: leave `as` out";
  bool listed = k == TOK_OUTPUT && !p->stmt.assigned && p->stmt.tokens > 1;
  if (listed && ((t == TOK_ASSIGN && s->ok[TOK_COMMA]) || (t == TOK_COMMA && s->ok[TOK_ASSIGN])))
    return "an equation defines one tensor; another one gets a statement of its own, and of a def's results `output "
        "a, b` stands behind";
  if (t == TOK_COMMA && k == TOK_STATE && !p->stmt.assigned) return "each state has a statement of its own";
  if (t == TOK_COMMA && thousands(s)) return thousands(s);
  if (t == TOK_COMMA && p->stmt.assigned && (k == TOK_ID || k == TOK_STATE || k == TOK_NEXT || k == TOK_OUTPUT))
    return "an equation has one value; statements on one line are parted by `;`";
  if (k == TOK_DEF && p->stmt.assigned && t == TOK_IDENTITY)
    return "with an identity it is a monoid, `monoid f(a, b) = e identity e0`, called as `f[i](x[i])`";
  if (k == TOK_DEF && p->stmt.assigned && t == TOK_COMMA && s->ok[TOK_NEWLINE])
    return "several results stand in parentheses: `(a, b)`";
  return NULL;
}

int rule_many_in_one(const Scene *s) {
  const char *hint = s->p->open.len && s->in != TOK_LC ? NULL : too_many_hint(s);
  if (!hint) return PASS;
  return scene_refuse(s, "%s", hint);
}
