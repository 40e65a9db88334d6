/* algebra/rules/rules.c - reads the table of rules: rules.def in, terms out. A malformed rule is a bug. */
#include <string.h>

#include "inside.h"

static const Rule table[] = {
#define RULE(name, pattern, result, conditions, about) \
  {name, pattern, result, conditions, about, NULL, NULL, 0, {NULL}},
#include "rules.def"
#undef RULE
};

typedef struct Scan { Arena *arena; const char *s; const char *rule; } Scan;

static void scan_spaces(Scan *s) {
  while (*s->s == ' ') s->s++;
}

static bool scan_char(Scan *s, char c) {
  scan_spaces(s);
  if (*s->s != c) return false;
  s->s++;
  return true;
}

static bool scan_each(Scan *s) {
  if (strncmp(s->s, "...", 3)) return false;
  s->s += 3;
  return true;
}

static RuleSort letter_sort(char c) {
  if (c >= 'A' && c <= 'Z') return SORT_RELATION;
  switch (c) {
    case 'p': case 'q': return SORT_KEEP;
    case 'f': case 'h': return SORT_MAP;
    case 'g': case 'k': return SORT_GROUP;
    case 'o': case 'u': return SORT_REDUCER;
    case 'j': return SORT_JOIN;
    case 'x': case 'y': case 'd': return SORT_PLACE;
    default: bug("rules: no variable is called %c", c);
  }
}

static const struct { const char *name; AlgKind op; const char *attr; bool bcast, shuf;
} operations[] = {
    {"filter", ALG_FILTER, "p", false, false},
    {"map", ALG_MAP, "f", false, false},
    {"agg", ALG_AGGREGATE, "go", false, false},
    {"join", ALG_JOIN, "j", false, false},
    {"move", ALG_MOVE, "x", false, false},
    {"bcast", ALG_MOVE, "x", true, false},
    {"shuf", ALG_MOVE, "x", false, true},
    {"fetch", ALG_FETCH, "j", false, false},
};

static const RuleTerm *scan_term(Scan *s, bool test);

/* Scans arguments after the opening parenthesis. */
static void scan_arguments(Scan *s, RuleTerm *t) {
  VEC(const RuleTerm *) args = {0};
  if (!scan_char(s, ')')) {
    do {
      const RuleTerm *arg = scan_term(s, false);
      vec_push(s->arena, args, arg);
    } while (scan_char(s, ','));
    if (!scan_char(s, ')')) bug("rules: %s: ) is missing at \"%s\"", s->rule, s->s);
  }
  t->n = args.len;
  t->arg = args.at;
}

static bool takes(const RuleTerm *t, const char *sorts) {
  bool same = strlen(sorts) == t->n;
  for (uint32_t k = 0; same && k < t->n; k++) same = (char)t->arg[k]->sort == sorts[k];
  return same;
}

static void term_resolve(Scan *s, RuleTerm *t, const char *name, bool test) {
  for (size_t k = 0; k < COUNT(operations); k++) {
    if (strcmp(name, operations[k].name)) continue;
    t->kind = TERM_NODE, t->sort = SORT_RELATION, t->op = operations[k].op;
    t->bcast = operations[k].bcast, t->shuf = operations[k].shuf;
    t->n_attr = (uint32_t)strlen(operations[k].attr);
    for (uint32_t i = 0; i < t->n_attr; i++)
      if (t->n <= i || (char)t->arg[i]->sort != operations[k].attr[i])
        bug("rules: %s: attribute %u of %s", s->rule, i, name);
    return;
  }
  for (const RuleFnInfo *f = rule_fns; !test && f->name; f++)
    if (!strcmp(name, f->name) && takes(t, f->takes)) {
      t->kind = TERM_CALL, t->sort = f->gives, t->fn = f;
      return;
    }
  for (const RuleTestInfo *f = rule_tests; test && f->name; f++)
    if (!strcmp(name, f->name) && takes(t, f->takes)) {
      t->kind = TERM_TEST, t->sort = SORT_TEST, t->test = f;
      return;
    }
  bug("rules: %s: there is no %s of such arguments", s->rule, name);
}

static const RuleTerm *scan_term(Scan *s, bool test) {
  RuleTerm *t = NEW(s->arena, RuleTerm);
  char name[32];
  uint32_t n = 0;
  scan_spaces(s);
  for (char c = *s->s; (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; c = *++s->s) {
    BUG_UNLESS(n + 1 < sizeof name);
    name[n++] = c;
  }
  name[n] = 0;
  t->maybe = *s->s == '?' && s->s++;
  if (scan_char(s, '(')) {
    scan_arguments(s, t);
    term_resolve(s, t, name, test);
  } else if (n == 1) {
    t->kind = TERM_VAR, t->letter = name[0], t->sort = letter_sort(name[0]);
  } else {
    bug("rules: %s: a term at \"%s\"", s->rule, s->s);
  }
  t->each = scan_each(s);
  if (t->each && t->kind == TERM_VAR) t->sort = SORT_ALL;
  return t;
}

static const RuleTerm *term_read(Arena *a, const Rule *r, const char *text) {
  Scan s = {a, text, r->name};
  const RuleTerm *t = scan_term(&s, false);
  if (*s.s) bug("rules: %s: \"%s\" is left over", r->name, s.s);
  return t;
}

static void conditions_read(Arena *a, Rule *r) {
  Scan s = {a, r->conditions, r->name};
  while (*s.s) {
    BUG_UNLESS(r->n_if < RULE_CONDITIONS);
    r->test[r->n_if++] = scan_term(&s, true);
    if (*s.s && !scan_char(&s, ',')) bug("rules: %s: \"%s\" is left over", r->name, s.s);
  }
}

Rules *alg_rules_new(Arena *a) {
  Rules *out = NEW(a, Rules);
  Rule *at = arena_copy(a, table, sizeof table);
  for (size_t k = 0; k < COUNT(table); k++) {
    at[k].from = term_read(a, &at[k], at[k].pattern);
    at[k].to = term_read(a, &at[k], at[k].result);
    conditions_read(a, &at[k]);
  }
  *out = (Rules){COUNT(table), at};
  return out;
}

const Rule *rule_find(const Rules *r, const char *name) {
  for (uint32_t k = 0; k < r->n; k++)
    if (!strcmp(r->at[k].name, name)) return &r->at[k];
  return NULL;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

void rule_print(Buf *out, const RuleTerm *t) {
  if (t->kind == TERM_VAR) buf_char(out, t->letter);
  if (t->kind == TERM_CALL) buf_str(out, t->fn->name);
  if (t->kind == TERM_TEST) buf_str(out, t->test->name);
  for (size_t k = 0; t->kind == TERM_NODE && k < COUNT(operations); k++)
    if (operations[k].op == t->op && operations[k].bcast == t->bcast && operations[k].shuf == t->shuf)
      buf_str(out, operations[k].name);
  if (t->maybe) buf_char(out, '?');
  if (t->kind != TERM_VAR) {
    buf_char(out, '(');
    for (uint32_t k = 0; k < t->n; k++) buf_str(out, k ? ", " : ""), rule_print(out, t->arg[k]);
    buf_char(out, ')');
  }
  if (t->each) buf_str(out, "...");
}

static void row_print(Buf *out, const char *name, const char *takes, const char *about) {
  buf_printf(out, "| `%s` | ", name);
  for (const char *c = takes; *c; c++)
    buf_printf(out, "%s%s", c > takes ? ", " : "", *c == SORT_ALL ? "R..." : (char[]){*c, 0});
  buf_printf(out, " | %s |\n", about);
}

static void words_print(Buf *out) {
  buf_str(out, "\n| function | of | is |\n|---|---|---|\n");
  for (const RuleFnInfo *f = rule_fns; f->name; f++) row_print(out, f->name, f->takes, f->about);
  buf_str(out, "\n| condition | of | holds if |\n|---|---|---|\n");
  for (const RuleTestInfo *f = rule_tests; f->name; f++) row_print(out, f->name, f->takes, f->about);
}

void rules_print(Buf *out, const Rules *r) {
  buf_str(out, "| rule | | is the same as | if |\n|---|---|---|---|\n");
  for (uint32_t k = 0; k < r->n; k++) {
    const Rule *x = &r->at[k];
    buf_printf(out, "| **%s**: %s | `%s` | `%s` |", x->name, x->about, x->pattern, x->result);
    buf_printf(out, x->n_if ? " `%s` |\n" : "%s |\n", x->n_if ? x->conditions : "");
  }
  words_print(out);
}
