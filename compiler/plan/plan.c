/* plan/plan.c - reads and prints plans, and finds what they leave open. */
#include "plan.h"

#include <string.h>

#include "expr/scan.h"
#include "expr/word.h"

/* ---- print -------------------------------------------------------------------------------------------- */

static void name_print(Buf *out, Str name) {
  if (name->s[0] == '%') buf_str(out, name->s);
  else word_print(out, name);
}

static void axes_print(Buf *out, const PlanAxes *x) {
  for (uint32_t k = 0; k < x->len; k++) {
    buf_char(out, ' ');
    if (x->at[k].label) word_print(out, x->at[k].label);
    else if (x->at[k].dimension) buf_printf(out, "%u", x->at[k].dimension);
    else buf_char(out, '*');
  }
}

static void cut_print(Buf *out, const PlanCut *x) {
  buf_char(out, ' ');
  word_print(out, x->label);
  buf_printf(out, "=%u", x->count);
}

void plan_print(Buf *out, const Plan *p) {
  buf_printf(out, "plan 1\nsites %lld\n", (long long)p->sites);
  if (p->by_moves) buf_str(out, "orders by moves\n");
  if (p->meshed) buf_str(out, "mesh");
  for (uint32_t k = 0; p->meshed && k < p->mesh.n; k++) buf_printf(out, " %u", p->mesh.size[k]);
  if (p->meshed) buf_char(out, '\n');
  vec_each(const PlanVertex, v, p->vertices) {
    buf_str(out, v->pin ? "pin " : "vertex ");
    name_print(out, v->name);
    for (uint32_t k = 0; k < v->cuts.len; k++) cut_print(out, &v->cuts.at[k]);
    if (v->placed) buf_str(out, " axes");
    axes_print(out, &v->axes);
    buf_char(out, '\n');
  }
  for (uint32_t i = 0; i < p->homes.len; i++) {
    buf_str(out, "home ");
    name_print(out, p->homes.at[i].name);
    axes_print(out, &p->homes.at[i].axes);
    buf_char(out, '\n');
  }
  for (uint32_t i = 0; i < p->panels.len; i++) {
    buf_str(out, "panels ");
    name_print(out, p->panels.at[i].name);
    cut_print(out, &p->panels.at[i].of);
    buf_char(out, '\n');
  }
  if (p->room) buf_printf(out, "room %lld\n", (long long)p->room);
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

static bool axes_equal(const PlanAxes *a, const PlanAxes *b) {
  bool same = a->len == b->len;
  for (uint32_t k = 0; same && k < a->len; k++) {
    Str x = a->at[k].label, y = b->at[k].label;
    same = a->at[k].dimension == b->at[k].dimension && !x == !y && (!x || strcmp(x->s, y->s) == 0);
  }
  return same;
}

static bool cut_equal(const PlanCut *a, const PlanCut *b) {
  return a->count == b->count && strcmp(a->label->s, b->label->s) == 0;
}

bool plan_equal(const Plan *a, const Plan *b, Buf *why) {
  if (a->sites != b->sites) return buf_str(why, "sites differ"), false;
  if (a->by_moves != b->by_moves) return buf_str(why, "orders of products differ"), false;
  if (a->meshed != b->meshed || !mesh_equal(&a->mesh, &b->mesh)) return buf_str(why, "meshes differ"), false;
  if (a->homes.len != b->homes.len) return buf_str(why, "so many homes differ"), false;
  for (uint32_t i = 0; i < a->homes.len; i++)
    if (strcmp(a->homes.at[i].name->s, b->homes.at[i].name->s) != 0 ||
        !axes_equal(&a->homes.at[i].axes, &b->homes.at[i].axes))
      return buf_printf(why, "home %u differs", i), false;
  if (a->panels.len != b->panels.len) return buf_str(why, "so many have panels that differ"), false;
  for (uint32_t i = 0; i < a->panels.len; i++)
    if (strcmp(a->panels.at[i].name->s, b->panels.at[i].name->s) != 0 ||
        !cut_equal(&a->panels.at[i].of, &b->panels.at[i].of))
      return buf_printf(why, "panels %u differ", i), false;
  if (a->room != b->room) return buf_str(why, "the room for parts differs"), false;
  if (a->vertices.len != b->vertices.len) return buf_str(why, "so many vertices differ"), false;
  for (uint32_t i = 0; i < a->vertices.len; i++) {
    const PlanVertex *v = &a->vertices.at[i], *w = &b->vertices.at[i];
    bool same = strcmp(v->name->s, w->name->s) == 0 && v->pin == w->pin && v->cuts.len == w->cuts.len &&
        v->placed == w->placed && axes_equal(&v->axes, &w->axes);
    for (uint32_t k = 0; same && k < v->cuts.len; k++) same = cut_equal(&v->cuts.at[k], &w->cuts.at[k]);
    if (!same) return buf_printf(why, "vertex %u differs", i), false;
  }
  return true;
}

/* ---- read --------------------------------------------------------------------------------------------- */

static Span span_from(const Scan *c, const char *at) {
  return (Span){c->src, (uint32_t)(at - c->src->bytes), (uint32_t)(c->s - c->src->bytes)};
}

/* Reports a second occurrence: here, and at `first` before. */
static bool fail_twice(Scan *c, Span again, Span first, const char *before, Str name, const char *behind) {
  Diag *g = diag_add(c->d, D_E930, again, "%s%s %s", before, name->s, behind);
  diag_at(c->d, g, first, "here for the first time");
  return false;
}

static bool want_tensor_name(Scan *c, Str *name, Span *span) {
  uint32_t id;
  scan_blanks(c);
  const char *at = c->s;
  bool ok = scan_is(c, '%') ? scan_want_id(c, &id) : scan_want_name(c, name);
  if (!ok) return false;
  if (*at == '%') *name = strings_printf(c->strings, "%%%u", id);
  *span = span_from(c, at);
  return true;
}

/* `k=4` */
static bool want_count(Scan *c, int64_t least, int64_t most, const char *what, PlanCut *out) {
  int64_t count;
  scan_blanks(c);
  const char *at = c->s;
  if (!scan_want_name(c, &out->label) || !scan_want(c, '=') || !scan_want_int(c, least, most, what, &count))
    return false;
  out->count = (uint32_t)count;
  out->span = span_from(c, at);
  return true;
}

static bool want_cut(Arena *a, Scan *c, PlanVertex *v) {
  PlanCut x = {0};
  if (!want_count(c, 1, PLAN_SITES, "a number of blocks", &x)) return false;
  for (uint32_t k = 0; k < v->cuts.len; k++)
    if (v->cuts.at[k].label == x.label)
      return fail_twice(c, x.span, v->cuts.at[k].span, "label ", x.label, "has its count already");
  vec_push(a, v->cuts, x);
  return true;
}

/* Reads one word for each axis of the mesh. */
static bool want_axes(Arena *a, Scan *c, const Plan *p, Str name, PlanAxes *axes) {
  if (!p->meshed) return scan_fail(c, D_E930, "a line `mesh` with the sizes of its axes stands before this one");
  while (!scan_done(c)) {
    PlanAxis x = {0};
    scan_blanks(c);
    const char *at = c->s;
    if (*at >= '0' && *at <= '9') {
      int64_t dimension;
      if (!scan_want_int(c, 1, PLAN_RANK, "the number of a dimension", &dimension)) return false;
      x.dimension = (uint32_t)dimension;
    } else if (!scan_take(c, '*') && !scan_want_name(c, &x.label)) return false;
    x.span = span_from(c, at);
    vec_push(a, *axes, x);
  }
  if (axes->len != p->mesh.n)
    return scan_fail(
        c, D_E930, "expected a word for each of the mesh's axes: %u, and %s has %u", p->mesh.n, name->s, axes->len);
  return true;
}

/* A label may also be called `axes`. */
static bool take_axes(Scan *c) {
  const char *at = c->s;
  if (scan_take_word(c, "axes") && !scan_is(c, '=')) return true;
  c->s = at;
  return false;
}

static bool mesh_read(Scan *c, Plan *p) {
  int64_t sites = 1, size;
  if (p->meshed) return scan_fail(c, D_E930, "the mesh stands here twice");
  p->meshed = true;
  while (!scan_done(c)) {
    if (p->mesh.n == MESH_AXES) return scan_fail(c, D_E930, "a mesh has at most %d axes", (int)MESH_AXES);
    if (!scan_want_int(c, 1, PLAN_SITES, "the size of an axis", &size)) return false;
    p->mesh.size[p->mesh.n++] = (uint32_t)size;
    if (!mul_ok(sites, size, &sites) || sites > p->sites)
      return scan_fail(c, D_E930, "the mesh has more than the %lld sites", (long long)p->sites);
  }
  return true;
}

static bool orders_read(Scan *c, Plan *p) {
  if (!scan_want_word(c, "by") || !scan_want_word(c, "moves")) return false;
  p->by_moves = true;
  return scan_done(c) || scan_fail(c, D_E930, "expected the end of the line");
}

static bool home_read(Arena *a, Scan *c, Plan *p) {
  PlanHome h = {0};
  if (!want_tensor_name(c, &h.name, &h.span) || !want_axes(a, c, p, h.name, &h.axes)) return false;
  for (uint32_t i = 0; i < p->homes.len; i++)
    if (p->homes.at[i].name == h.name)
      return fail_twice(c, h.span, p->homes.at[i].span, "the home of ", h.name, "stands here twice");
  vec_push(a, p->homes, h);
  return true;
}

static bool panels_read(Arena *a, Scan *c, Plan *p) {
  PlanPanels x = {0};
  if (!want_tensor_name(c, &x.name, &x.span) || !want_count(c, 2, PANELS_MOST, "a number of panels", &x.of))
    return false;
  if (!scan_done(c))
    return scan_fail(c, D_E930, "expected the end of the line: %s is done in panels of one label", x.name->s);
  for (uint32_t i = 0; i < p->panels.len; i++)
    if (p->panels.at[i].name == x.name)
      return fail_twice(c, x.span, p->panels.at[i].span, "", x.name, "has its panels already");
  vec_push(a, p->panels, x);
  return true;
}

static bool room_read(Scan *c, Plan *p) {
  if (p->room) return scan_fail(c, D_E930, "the room for parts stands here twice");
  if (!scan_want_int(c, 1, MOVE_ROOM, "bytes of parts that arrive at once", &p->room)) return false;
  return scan_done(c) || scan_fail(c, D_E930, "expected the end of the line");
}

static bool vertex_read(Arena *a, Scan *c, Plan *p, bool pin) {
  PlanVertex v = {.pin = pin};
  if (!want_tensor_name(c, &v.name, &v.span)) return false;
  v.placed = !pin && take_axes(c);
  if (v.placed && !want_axes(a, c, p, v.name, &v.axes)) return false;
  while (!scan_done(c))
    if (!want_cut(a, c, &v)) return false;
  for (uint32_t i = 0; i < p->vertices.len; i++)
    if (p->vertices.at[i].name == v.name && !pin && !p->vertices.at[i].pin)
      return fail_twice(c, v.span, p->vertices.at[i].span, "", v.name, "stands here twice");
  vec_push(a, p->vertices, v);
  return true;
}

static bool line_read(Arena *a, Scan *c, Plan *p) {
  if (scan_done(c) || scan_is(c, '#')) return true;
  if (scan_take_word(c, "vertex")) return vertex_read(a, c, p, false);
  if (scan_take_word(c, "pin")) return vertex_read(a, c, p, true);
  if (scan_take_word(c, "mesh")) return mesh_read(c, p);
  if (scan_take_word(c, "orders")) return orders_read(c, p);
  if (scan_take_word(c, "home")) return home_read(a, c, p);
  if (scan_take_word(c, "panels")) return panels_read(a, c, p);
  if (scan_take_word(c, "room")) return room_read(c, p);
  return scan_fail(c, D_E930,
      "expected `vertex` or `pin`, with a tensor's name and its cuts: vertex T h=4 s=4; or `mesh`, `home`, `panels`, "
      "`room` or `orders by moves`");
}

static bool head_read(Scan *c, const char **at, Plan *p) {
  *at = scan_line(c, *at);
  bool plan = scan_take_word(c, "plan");
  scan_blanks(c);
  if (!plan || !scan_take(c, '1') || !scan_done(c))
    return scan_fail(c, D_E930,
        plan ? "expected `plan 1`: plans of another version are not read"
             : "this is no plan: its first line is `plan 1`");
  if (!*at) return scan_fail(c, D_E930, "expected `sites` with their number on the second line");
  *at = scan_line(c, *at);
  if (!scan_want_word(c, "sites") || !scan_want_int(c, 1, PLAN_SITES, "a number of sites", &p->sites)) return false;
  return scan_done(c) || scan_fail(c, D_E930, "expected the end of the line");
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
  uint32_t before = d->all.len;
  if (scan_line(&c, src->bytes)) return scan_fail(&c, D_E930, "a pin is one line");
  bool ok = want_tensor_name(&c, &v.name, &v.span) && scan_want(&c, ':') && want_cut(a, &c, &v);
  while (ok && scan_take(&c, ',')) ok = want_cut(a, &c, &v);
  if (ok && !scan_done(&c)) return scan_fail(&c, D_E930, "expected a comma or the end: T:h=4,s=2");
  if (ok) vec_push(a, p->vertices, v);
  else if (d->all.len > before && d->all.at[before]->code == D_E903)
    diag_hint(d, d->all.at[before], "a pin is a tensor, and for some of its labels how many blocks: T:h=4,s=2; "
                                    "another tensor has a --pin of its own");
  return ok;
}

enum { WAYS_MOST = 50000 };    /* of one tensor */

/* ---- remaining choices --------------------------------------------------------------------------------- */

typedef struct Pins {
  Arena *arena;
  const PartGraph *g;
  int64_t sites;
  uint32_t **count;          /* by vertex, by label; 0: free. NULL: all are free */
  const PlanVertex **who;    /* by vertex: the last that stated something */
  bool *placed;              /* by vertex: its axes are stated */
  Diags *d;
  const Mesh *mesh;
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

/* Points to where x, which was applied before, states the label. */
static void first_say(Pins *p, Diag *g, const PlanVertex *x, Str label) {
  for (uint32_t k = 0; x && k < x->cuts.len; k++)
    if (strcmp(x->cuts.at[k].label->s, label->s) == 0) {
      diag_at(p->d, g, x->cuts.at[k].span, "here");
      return;
    }
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
  bool held = p->count[vertex][l] > 1 || (p->count[vertex][l] && p->placed[vertex]);
  if (held && p->count[vertex][l] != c->count) {
    Diag *g = diag_add(p->d, D_E931, c->span, "%s of %s is to be cut into %u block%s already", c->label->s, v->name,
        p->count[vertex][l], p->count[vertex][l] == 1 ? "" : "s");
    first_say(p, g, p->who[vertex], c->label);
  }
  p->count[vertex][l] = c->count;
}

/* The first of the axes that cut a label reports for all of them. */
static void axis_apply(Pins *p, uint32_t vertex, const PlanVertex *x, uint32_t k) {
  PlanCut c = {.label = x->axes.at[k].label, .count = 1, .span = x->axes.at[k].span};
  if (!c.label && x->axes.at[k].dimension)
    diag_add(p->d, D_E931, c.span, "expected a label of %s, or `*`", x->name->s);
  for (uint32_t j = 0; c.label && j < x->axes.len; j++) {
    if (x->axes.at[j].label != c.label) continue;
    if (j < k) return;
    c.count = (uint32_t)((int64_t)c.count * p->mesh->size[j]);
  }
  if (c.label) cut_apply(p, vertex, &c);
}

static bool is_input(const PartGraph *g, Str name) {
  for (uint32_t i = 0; i < g->vertices.len; i++)
    vec_each(const PartRead, r, g->vertices.at[i].reads) {
      if (r->from < 0 && r->node->name && strcmp(r->node->name->s, name->s) == 0) return true;
    }
  return false;
}

static void name_unknown(Pins *p, const PlanVertex *x) {
  enum { NAMED = 8 };
  Diag *g = diag_add(p->d, D_E931, x->span, "no tensor that is computed is called %s", x->name->s);
  uint32_t n = p->g->vertices.len;
  Buf b = buf_new(p->arena);
  for (uint32_t i = 0; i < n && i < NAMED; i++) buf_printf(&b, "%s%s", i ? ", " : "", p->g->vertices.at[i].name);
  if (n > NAMED) buf_printf(&b, " and %u others", n - NAMED);
  if (is_input(p->g, x->name))
    diag_hint(p->d, g, "inputs and params have no cuts of their own: each reader has them as it wants them");
  else if (n) diag_hint(p->d, g, "there are %s", b.s);
}

static void vertex_apply(Pins *p, const PlanVertex *x) {
  uint32_t i = vertex_find(p->g, x->name);
  if (i == p->g->vertices.len) {
    name_unknown(p, x);
    return;
  }
  const PartVertex *v = &p->g->vertices.at[i];
  if (!p->count[i]) p->count[i] = NEW_ARRAY(p->arena, uint32_t, v->n_label + 1);
  for (uint32_t k = 0; k < x->cuts.len; k++) cut_apply(p, i, &x->cuts.at[k]);
  p->placed[i] |= x->placed;
  for (uint32_t k = 0; k < x->axes.len; k++) axis_apply(p, i, x, k);
  for (uint32_t l = 0; !x->pin && l < v->n_label; l++)
    if (!p->count[i][l]) p->count[i][l] = 1;
  p->who[i] = x;
}

/* Vertices whose labels have the same choice of counts share their vectors, which are numerous for many sites. */
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

static PartVectors *vectors_find(
    Arena *a, const PartGraph *g, int64_t sites, const Plan *plan, bool free, bool *narrow, Diags *d) {
  uint32_t n = g->vertices.len, errors = d->errors;
  Pins p = {a, g, sites, NEW_ARRAY(a, uint32_t *, n + 1), NEW_ARRAY(a, const PlanVertex *, n + 1),
      NEW_ARRAY(a, bool, n + 1), d, NULL};
  if (plan) p.mesh = &plan->mesh;
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
      Diag *c = diag_add(d, D_E931, p.who[i] ? p.who[i]->span : nowhere,
          "%s can be cut in more than %d ways on %lld sites", g->vertices.at[i].name, WAYS_MOST, (long long)sites);
      diag_hint(d, c, "pin some of its labels: --pin %s:LABEL=1", g->vertices.at[i].name);
    } else if (!all[i].n)
      diag_add(d, D_E931, p.who[i]->span, "%s is cut into more blocks than there are sites, %lld",
          g->vertices.at[i].name, (long long)sites);
  }
  return d->errors > errors ? NULL : all;
}

PartVectors *plan_vectors(Arena *a, const PartGraph *g, int64_t sites, const Plan *p, bool *narrow, Diags *d) {
  return vectors_find(a, g, sites, p, true, narrow, d);
}

PartVectors *plan_said(Arena *a, const PartGraph *g, int64_t sites, const Plan *p, Diags *d) {
  return vectors_find(a, g, sites, p, false, NULL, d);
}
