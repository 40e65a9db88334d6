/* plan/plan.c - plans as text, and what they leave open. */
#include "plan.h"

#include <string.h>

#include "../expr/scan.h"
#include "../expr/word.h"

/* ---- print -------------------------------------------------------------------------------------------- */

static void name_print(Buf *out, Str name) {
  if (name->s[0] == '%') buf_str(out, name->s);
  else word_print(out, name);
}

void plan_print(Buf *out, const Plan *p) {
  buf_printf(out, "plan 1\nsites %lld\n", (long long)p->sites);
  for (uint32_t i = 0; i < p->vertices.len; i++) {
    const PlanVertex *v = &p->vertices.at[i];
    buf_str(out, v->pin ? "pin " : "vertex ");
    name_print(out, v->name);
    for (uint32_t k = 0; k < v->cuts.len; k++) {
      buf_char(out, ' ');
      word_print(out, v->cuts.at[k].label);
      buf_printf(out, "=%u", v->cuts.at[k].count);
    }
    buf_char(out, '\n');
  }
}

Plan *plan_of(Arena *a, Strings *t, const PartGraph *g, int64_t sites, const uint32_t *const *d) {
  Plan *p = NEW(a, Plan);
  p->sites = sites;
  for (uint32_t i = 0; i < g->vertices.len; i++) {
    const PartVertex *v = &g->vertices.at[i];
    PlanVertex x = {.name = str_from(t, v->name)};
    for (uint32_t l = 0; l < v->n_label; l++)
      if (d[i][l] > 1) vec_push(a, x.cuts, ((PlanCut){.label = v->label[l], .count = d[i][l]}));
    vec_push(a, p->vertices, x);
  }
  return p;
}

bool plan_equal(const Plan *a, const Plan *b, Buf *why) {
  if (a->sites != b->sites) return buf_str(why, "sites differ"), false;
  if (a->vertices.len != b->vertices.len) return buf_str(why, "so many vertices differ"), false;
  for (uint32_t i = 0; i < a->vertices.len; i++) {
    const PlanVertex *v = &a->vertices.at[i], *w = &b->vertices.at[i];
    bool same = strcmp(v->name->s, w->name->s) == 0 && v->pin == w->pin && v->cuts.len == w->cuts.len;
    for (uint32_t k = 0; same && k < v->cuts.len; k++)
      same = v->cuts.at[k].count == w->cuts.at[k].count && strcmp(v->cuts.at[k].label->s, w->cuts.at[k].label->s) == 0;
    if (!same) return buf_printf(why, "vertex %u differs", i), false;
  }
  return true;
}

/* ---- read --------------------------------------------------------------------------------------------- */

static Span span_from(const Scan *c, const char *at) {
  return (Span){c->src, (uint32_t)(at - c->src->bytes), (uint32_t)(c->s - c->src->bytes)};
}

static bool want_vertex_name(Scan *c, PlanVertex *v) {
  uint32_t id;
  scan_blanks(c);
  const char *at = c->s;
  bool ok = scan_is(c, '%') ? scan_want_id(c, &id) : scan_want_name(c, &v->name);
  if (!ok) return false;
  if (*at == '%') v->name = strings_printf(c->strings, "%%%u", id);
  v->span = span_from(c, at);
  return true;
}

static bool want_cut(Arena *a, Scan *c, PlanVertex *v) {
  PlanCut x = {0};
  int64_t count;
  scan_blanks(c);
  const char *at = c->s;
  if (!scan_want_name(c, &x.label) || !scan_want(c, '=')) return false;
  if (!scan_want_int(c, 1, PLAN_SITES, "a number of blocks", &count)) return false;
  x.count = (uint32_t)count;
  x.span = span_from(c, at);
  for (uint32_t k = 0; k < v->cuts.len; k++)
    if (v->cuts.at[k].label == x.label) return scan_fail(c, D_E930, "label %s has its count already", x.label->s);
  vec_push(a, v->cuts, x);
  return true;
}

static bool vertex_read(Arena *a, Scan *c, Plan *p, bool pin) {
  PlanVertex v = {.pin = pin};
  if (!want_vertex_name(c, &v)) return false;
  while (!scan_done(c))
    if (!want_cut(a, c, &v)) return false;
  for (uint32_t i = 0; i < p->vertices.len; i++)
    if (p->vertices.at[i].name == v.name && !pin && !p->vertices.at[i].pin)
      return scan_fail(c, D_E930, "%s stands here twice", v.name->s);
  vec_push(a, p->vertices, v);
  return true;
}

static bool line_read(Arena *a, Scan *c, Plan *p) {
  if (scan_done(c) || scan_is(c, '#')) return true;
  if (scan_take_word(c, "vertex")) return vertex_read(a, c, p, false);
  if (scan_take_word(c, "pin")) return vertex_read(a, c, p, true);
  return scan_fail(c, D_E930, "wanted is `vertex` or `pin`, with a tensor's name and its cuts: vertex T h=4 s=4");
}

static bool head_read(Scan *c, const char **at, Plan *p) {
  int64_t version;
  *at = scan_line(c, *at);
  if (!scan_take_word(c, "plan") || !scan_want_int(c, 1, 1, "the version 1", &version) || !scan_done(c))
    return scan_fail(c, D_E930, "this is no plan: its first line is `plan 1`");
  if (!*at) return scan_fail(c, D_E930, "wanted on the second line is `sites` with their number");
  *at = scan_line(c, *at);
  if (!scan_want_word(c, "sites") || !scan_want_int(c, 1, PLAN_SITES, "a number of sites", &p->sites)) return false;
  return scan_done(c) || scan_fail(c, D_E930, "wanted is the end of the line");
}

Plan *plan_read(Arena *a, Strings *t, Source *src, Diags *d) {
  Plan *p = NEW(a, Plan);
  Scan c = {.src = src, .strings = t, .d = d, .noun = "vertex"};
  const char *at = src->bytes;
  uint32_t errors = d->errors;
  bool ok = head_read(&c, &at, p);
  while (ok && at) {
    at = scan_line(&c, at);
    line_read(a, &c, p);
  }
  return d->errors == errors ? p : NULL;
}

bool plan_read_pin(Arena *a, Strings *t, Source *src, Plan *p, Diags *d) {
  Scan c = {.src = src, .strings = t, .d = d, .noun = "vertex"};
  PlanVertex v = {.pin = true};
  if (scan_line(&c, src->bytes)) return scan_fail(&c, D_E930, "a pin is one line");
  bool ok = want_vertex_name(&c, &v) && scan_want(&c, ':') && want_cut(a, &c, &v);
  while (ok && scan_take(&c, ',')) ok = want_cut(a, &c, &v);
  if (ok && !scan_done(&c)) return scan_fail(&c, D_E930, "wanted is a comma or the end: T:h=4,s=2");
  if (ok) vec_push(a, p->vertices, v);
  return ok;
}

enum { WAYS_MOST = 50000 };  /* of one tensor */

/* ---- what is left to choose from ----------------------------------------------------------------------- */

typedef struct Pins {
  Arena *arena;
  const PartGraph *g;
  int64_t sites;
  uint32_t **count;          /* by vertex, by label; 0: free. NULL: all are */
  const PlanVertex **who;    /* by vertex: the last that said something */
  Diags *d;
} Pins;

static uint32_t vertex_find(const PartGraph *g, Str name) {
  uint32_t i = 0;
  while (i < g->vertices.len && strcmp(g->vertices.at[i].name, name->s) != 0) i++;
  return i;
}

static uint32_t label_find(const PartVertex *v, Str label) {
  uint32_t l = 0;
  while (l < v->n_label && strcmp(v->label[l]->s, label->s) != 0) l++;
  return l;
}

static void labels_say(Pins *p, Diag *g, const PartVertex *v) {
  Buf b = buf_new(p->arena);
  for (uint32_t l = 0; l < v->n_label; l++) buf_printf(&b, "%s%s", l ? ", " : "", v->label[l]->s);
  diag_hint(p->d, g, v->n_label ? "its labels are %s" : "it has none", b.s);
}

static void cut_apply(Pins *p, uint32_t vertex, const PlanCut *c) {
  const PartVertex *v = &p->g->vertices.at[vertex];
  uint32_t l = label_find(v, c->label);
  if (l == v->n_label) {
    labels_say(p, diag_add(p->d, D_E931, c->span, "%s has no label %s", v->name, c->label->s), v);
    return;
  }
  if (c->count > v->most[l]) {
    Diag *g = diag_add(p->d, D_E931, c->span, "%s of %s cannot be cut into %u blocks", c->label->s, v->name, c->count);
    if (v->most[l] == v->extent[l]) diag_note(p->d, g, "its extent is %lld", (long long)v->extent[l]);
    else diag_note(p->d, g, "it stands inside of a group, whose first label alone is cut");
    return;
  }
  if (p->count[vertex][l] > 1 && p->count[vertex][l] != c->count)
    diag_add(p->d, D_E931, c->span, "%s of %s is to be cut into %u blocks already", c->label->s, v->name, p->count[vertex][l]);
  p->count[vertex][l] = c->count;
}

static void vertex_apply(Pins *p, const PlanVertex *x) {
  uint32_t i = vertex_find(p->g, x->name);
  if (i == p->g->vertices.len) {
    Diag *g = diag_add(p->d, D_E931, x->span, "no tensor that is computed is called %s", x->name->s);
    diag_hint(p->d, g, "inputs and params have no cuts of their own: each reader has them as it wants them");
    return;
  }
  const PartVertex *v = &p->g->vertices.at[i];
  if (!p->count[i]) p->count[i] = NEW_ARRAY(p->arena, uint32_t, v->n_label + 1);
  for (uint32_t k = 0; k < x->cuts.len; k++) cut_apply(p, i, &x->cuts.at[k]);
  for (uint32_t l = 0; !x->pin && l < v->n_label; l++)
    if (!p->count[i][l]) p->count[i][l] = 1;
  p->who[i] = x;
}

/* Vertices with the same labels' counts to choose from share their vectors, which are many for many sites. */
static PartVectors vectors_of(const Pins *p, Memo *seen, uint32_t vertex) {
  const PartVertex *v = &p->g->vertices.at[vertex];
  int64_t *key = NEW_ARRAY(p->arena, int64_t, 2 * v->n_label + 1);
  for (uint32_t l = 0; l < v->n_label; l++) {
    key[2 * l] = v->most[l] < p->sites ? v->most[l] : p->sites;
    key[2 * l + 1] = p->count[vertex] ? p->count[vertex][l] : 0;
  }
  MemoEntry *e = memo_get(seen, key, 2 * v->n_label * sizeof *key);
  if (part_ways(v, p->sites, p->count[vertex]) > (double)WAYS_MOST) return (PartVectors){UINT32_MAX, v->n_label, NULL};
  if (!e->value) {
    PartVectors x = part_viable(p->arena, v, p->sites, p->count[vertex]);
    e->value = arena_copy(p->arena, &x, sizeof x);
  }
  return *(const PartVectors *)e->value;
}

static PartVectors *vectors_find(Arena *a, const PartGraph *g, int64_t sites, const Plan *plan, bool free, bool *narrow, Diags *d) {
  uint32_t n = g->vertices.len, errors = d->errors;
  Pins p = {a, g, sites, NEW_ARRAY(a, uint32_t *, n + 1), NEW_ARRAY(a, const PlanVertex *, n + 1), d};
  Memo seen = memo_new(a);
  PartVectors *all = NEW_ARRAY(a, PartVectors, n + 1);
  for (uint32_t k = 0; plan && k < plan->vertices.len; k++) vertex_apply(&p, &plan->vertices.at[k]);
  if (d->errors > errors) return NULL;
  if (free) *narrow = part_narrow(a, g, sites, (double)WAYS_MOST, p.count);
  for (uint32_t i = 0; i < n; i++) {
    if (!free && !p.who[i]) continue;
    all[i] = vectors_of(&p, &seen, i);
    if (all[i].n == UINT32_MAX) {
      Span nowhere = {0};
      Diag *c = diag_add(d, D_E931, p.who[i] ? p.who[i]->span : nowhere, "%s can be cut in more than %d ways on %lld sites", g->vertices.at[i].name,
                         WAYS_MOST, (long long)sites);
      diag_hint(d, c, "pin some of its labels: --pin %s:LABEL=1", g->vertices.at[i].name);
    } else if (!all[i].n)
      diag_add(d, D_E931, p.who[i]->span, "%s is cut into more blocks than there are sites, %lld", g->vertices.at[i].name, (long long)sites);
  }
  return d->errors > errors ? NULL : all;
}

PartVectors *plan_vectors(Arena *a, const PartGraph *g, int64_t sites, const Plan *p, bool *narrow, Diags *d) {
  return vectors_find(a, g, sites, p, true, narrow, d);
}

PartVectors *plan_said(Arena *a, const PartGraph *g, int64_t sites, const Plan *p, Diags *d) {
  return vectors_find(a, g, sites, p, false, NULL, d);
}
