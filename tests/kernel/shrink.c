/* tests/kernel/shrink.c - what may be left out of a failing program: equations go, arguments take the place of terms,
 * predicates go, sizes shrink. */
#include <string.h>

#include "kernels.h"

static void shrink_equations(Shrink *s) {
  Case *c = s->program;
  Equation **at = c->equations.at;
  for (uint32_t i = c->equations.len; i-- > 0;) {
    Equation *was = at[i];
    uint32_t n = c->equations.len;
    if (n < 2) return;
    memmove(at + i, at + i + 1, (n - 1 - i) * sizeof *at);
    c->equations.len--;
    bool output = n > 1 && at[n - 2]->output;
    at[n - 2]->output = true;
    if (still(s)) continue;
    at[n - 2]->output = output;
    memmove(at + i + 1, at + i, (n - 1 - i) * sizeof *at);
    at[i] = was;
    c->equations.len = n;
  }
}

static bool put(Shrink *s, Term **slot, Term *instead) {
  Term *was = *slot;
  *slot = instead;
  if (still(s)) return true;
  *slot = was;
  return false;
}

static bool may_stand_for(const Shrink *s, const Term *x, const Term *y) {
  const Case *c = s->program;
  return x->t == y->t || (c->loose && (x->t == DT_BOOL) == (y->t == DT_BOOL));
}

static void shrink_term(Shrink *s, Term **slot) {
  Term *x = *slot;
  if (x->index || x->kind == TERM_TEXT || x->kind == TERM_LABEL) return;
  Term *one = x->t == DT_BOOL ? term_text(s->program, "true", DT_BOOL, 1)
                              : term_cast(s->program, x->t, term_int(s->program, 1));
  if (!(x->kind == TERM_FORM && x->arg[0]->kind == TERM_TEXT) && put(s, slot, one)) return;
  for (uint32_t k = 0; x->kind != TERM_READ && k < x->n; k++)
    if (x->arg[k] && may_stand_for(s, x, x->arg[k]) && put(s, slot, x->arg[k])) return shrink_term(s, slot);
  if (x->kind == TERM_REDUCE && x->arg[1]) put(s, &x->arg[1], NULL);
  if (x->kind == TERM_READ) return;
  for (uint32_t k = 0; k < x->n; k++)
    if (x->arg[k]) shrink_term(s, &x->arg[k]);
}

static void shrink_size(Shrink *s, Size *z) {
  static const int64_t some[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 18, 20, 24, 31, 32, 33, 36, 40, 48, 63, 64,
      65, 72, 96, 127, 128, 129, 256, 257, 512, 1024, 1025, 2048, 2049, 4096, 8192};
  Size was = *z;
  if (z->open) {
    z->open = false, z->other = z->value;
    if (!still(s)) *z = was;
    else was = *z;
  }
  for (size_t k = 0; k < COUNT(some) && some[k] < was.value; k++) {
    z->value = some[k];
    if (!z->open) z->other = z->value;
    if (still(s)) return;
    *z = was;
  }
}

static bool is_used(const Case *c, const Size *z) {
  const char *text;
  Size *was = (Size *)(uintptr_t)z;
  Size kept = *was;
  Arena *a = arena_new();
  text = case_text(a, c);
  was->value++, was->open = false;
  bool used = strcmp(text, case_text(a, c)) != 0;
  *was = kept;
  arena_free(a);
  return used;
}

static void shrink_flags(Shrink *s, Equation *q) {
  if (q->typed) {
    q->typed = false;
    if (!still(s)) q->typed = true;
  }
}

void case_shrink(Shrink *s) {
  Case *c = s->program;
  if (!c->loose) c->loose = true, c->loose = still(s);
  shrink_equations(s);
  for (uint32_t i = 0; i < c->equations.len; i++) shrink_term(s, &c->equations.at[i]->value);
  for (uint32_t i = 0; i < c->sizes.len; i++)
    if (is_used(c, c->sizes.at[i])) shrink_size(s, c->sizes.at[i]);
  for (uint32_t i = 0; i < c->equations.len; i++) shrink_flags(s, c->equations.at[i]);
}
