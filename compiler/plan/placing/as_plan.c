/* plan/placing/as_plan.c - turns a placing into a plan, and applies what a plan states to a placing. */
#include <string.h>

#include "as_plan.h"

/* ---- names -------------------------------------------------------------------------------------------- */

typedef struct Names {
  const char **at;           /* by tensor: its vertex's name; an input's own name, or its number where that is taken */
  Memo number;               /* by name: 1 + the tensor's number */
} Names;

static void name_put(Names *n, uint32_t tensor, const char *name) {
  n->at[tensor] = name;
  memo_get(&n->number, name, strlen(name))->value = (void *)((uintptr_t)tensor + 1);
}

static Names names_find(Arena *a, const PlaceGraph *g) {
  Names n = {NEW_ARRAY(a, const char *, g->tensors.len + 1), memo_new(a)};
  for (uint32_t i = 0; i < g->tensors.len; i++) {
    const PlaceTensor *t = &g->tensors.at[i];
    const char *name = t->vertex >= 0 ? g->part->vertices.at[t->vertex].name : t->node->name ? t->node->name->s : NULL;
    bool taken = !name || (t->vertex < 0 && memo_get(&n.number, name, strlen(name))->value);
    name_put(&n, i, taken ? arena_printf(a, "%%%u", t->node->id) : name);
  }
  return n;
}

/* ---- to a plan ------------------------------------------------------------------------------------------- */

static void mesh_say(Plan *p, const Mesh *m) {
  p->meshed = true;
  p->mesh.n = m->n;
  for (uint32_t k = 0; k < m->n; k++) p->mesh.size[k] = m->size[k];
}

/* Uses its number where it has no name, or where an earlier one has the same name. */
static PlanAxis home_axis(Arena *a, Strings *t, const PlaceGraph *g, uint32_t tensor, int8_t on) {
  if (on < 0) return (PlanAxis){0};
  PlanAxis number = {.dimension = (uint32_t)on + 1};
  const char *name = placing_dimension(a, g, tensor, (uint32_t)on);
  if (*name >= '0' && *name <= '9') return number;
  for (uint32_t d = 0; d < (uint32_t)on; d++)
    if (strcmp(placing_dimension(a, g, tensor, d), name) == 0) return number;
  return (PlanAxis){.label = str_from(t, name)};
}

void plan_add_panels(Arena *a, Strings *t, const PlaceGraph *g, const Placing *p, Plan *out) {
  for (uint32_t i = 0; p->panels && i < g->part->vertices.len; i++) {
    const PartVertex *v = &g->part->vertices.at[i];
    const PlacePanels *x = &p->panels[i];
    PlanPanels line = {.name = str_from(t, v->name)};
    if (!x->n) continue;
    line.of = (PlanCut){.label = v->label[x->label], .count = x->n};
    vec_push(a, out->panels, line);
  }
}

Plan *plan_of_placing(Arena *a, Strings *t, const PlaceGraph *g, int64_t sites, const Placing *p) {
  Plan *plan = NEW(a, Plan);
  Names names = names_find(a, g);
  plan->sites = sites;
  mesh_say(plan, &p->mesh);
  for (uint32_t i = 0; i < g->part->vertices.len; i++) {
    const PartVertex *v = &g->part->vertices.at[i];
    PlanVertex x = {.name = str_from(t, v->name), .placed = true};
    for (uint32_t k = 0; k < p->mesh.n; k++)
      vec_push(a, x.axes, ((PlanAxis){.label = p->label[i][k] < 0 ? NULL : v->label[p->label[i][k]]}));
    vec_push(a, plan->vertices, x);
  }
  for (uint32_t i = 0; i < g->tensors.len; i++) {
    PlanHome x = {.name = str_from(t, names.at[i])};
    for (uint32_t k = 0; k < p->mesh.n; k++) vec_push(a, x.axes, home_axis(a, t, g, i, p->home[i].on[k]));
    vec_push(a, plan->homes, x);
  }
  plan_add_panels(a, t, g, p, plan);
  plan->room = p->room;
  return plan;
}

/* ---- from a plan ------------------------------------------------------------------------------------------ */

typedef struct Fixing {
  Arena *arena;
  const PlaceGraph *g;
  const Plan *p;
  Names names;
  Diags *d;
} Fixing;

typedef struct Cuttable {    /* labels of a vertex, or dimensions of a tensor */
  const char *name;
  uint32_t n;
  const char **label;
  const int64_t *most;
  bool numbers;              /* numbers will do */
} Cuttable;

static Cuttable labels_of(const Fixing *f, uint32_t i) {
  const PartVertex *v = &f->g->part->vertices.at[i];
  Cuttable c = {v->name, v->n_label, NEW_ARRAY(f->arena, const char *, v->n_label + 1), v->most, false};
  for (uint32_t l = 0; l < v->n_label; l++) c.label[l] = v->label[l]->s;
  return c;
}

static Cuttable dimensions_of(const Fixing *f, uint32_t i) {
  const PlaceTensor *t = &f->g->tensors.at[i];
  Cuttable c = {f->names.at[i], t->n, NEW_ARRAY(f->arena, const char *, t->n + 1), t->most, true};
  for (uint32_t d = 0; d < t->n; d++) c.label[d] = placing_dimension(f->arena, f->g, i, d);
  return c;
}

static int32_t axis_find(const Cuttable *c, const PlanAxis *x) {
  if (!x->label) return c->numbers && x->dimension <= c->n ? (int32_t)x->dimension - 1 : -1;
  for (uint32_t l = 0; l < c->n; l++)
    if (strcmp(c->label[l], x->label->s) == 0) return (int32_t)l;
  return -1;
}

static void axis_unknown(Fixing *f, const Cuttable *c, const PlanAxis *x) {
  const char *what = x->label ? x->label->s : arena_printf(f->arena, "%u", x->dimension);
  Buf b = buf_new(f->arena);
  Diag *g =
      diag_add(f->d, D_E931, x->span, "%s has no %s %s to cut", c->name, c->numbers ? "dimension" : "label", what);
  for (uint32_t l = 0; l < c->n; l++) buf_printf(&b, "%s%s", l ? ", " : "", c->label[l]);
  if (c->n) diag_hint(f->d, g, "there are %s; and * for none", b.s);
  else diag_hint(f->d, g, "there are none: expected * for each axis");
}

/* Finds what each axis cuts; complains where it cannot. */
static void axes_fix(Fixing *f, const Cuttable *c, const PlanAxes *axes, int8_t *on) {
  int64_t *count = NEW_ARRAY(f->arena, int64_t, c->n + 1);
  for (uint32_t l = 0; l < c->n; l++) count[l] = 1;
  for (uint32_t k = 0; k < axes->len; k++) {
    const PlanAxis *x = &axes->at[k];
    int32_t l = axis_find(c, x);
    on[k] = PLACE_ALL;
    if (l < 0 && (x->label || x->dimension)) axis_unknown(f, c, x);
    if (l < 0) continue;
    on[k] = (int8_t)l;
    count[l] *= f->p->mesh.size[k];
    if (l <= INT8_MAX && count[l] <= c->most[l]) continue;
    Diag *g = diag_add(
        f->d, D_E931, x->span, "%s of %s has no room for %lld blocks", c->label[l], c->name, (long long)count[l]);
    diag_note(f->d, g, "it can be cut into %lld", (long long)c->most[l]);
  }
}

static void vertex_fix(Fixing *f, const PlanVertex *x, PlaceFixed *out) {
  MemoEntry *e = memo_get(&f->names.number, x->name->s, x->name->len);
  uint32_t i = (uint32_t)(uintptr_t)e->value - 1;
  bool state = i < f->g->part->vertices.len && f->g->part->vertices.at[i].node->kind == EIN_STATE;
  if (x->pin && state) {
    Diag *g = diag_add(
        f->d, D_E931, x->span, "%s is a state, which lies where its home is, and is cut by no pin", x->name->s);
    diag_hint(f->d, g, "pin what is computed; or a plan's line `home %s` says where it lies", x->name->s);
  }
  if (!x->placed) return;
  if (!e->value || i >= f->g->part->vertices.len) {
    diag_add(f->d, D_E931, x->span, "no tensor that is computed is called %s", x->name->s);
    return;
  }
  Cuttable c = labels_of(f, i);
  int8_t *on = NEW_ARRAY(f->arena, int8_t, MESH_AXES);
  for (uint32_t k = 0; k < MESH_AXES; k++) on[k] = PLACE_ALL;
  axes_fix(f, &c, &x->axes, on);
  for (uint32_t k = 0; state && k < x->axes.len; k++)
    if (on[k] >= 0) {
      diag_add(
          f->d, D_E931, x->axes.at[k].span, "%s is a state, which lies where its home is: expected *", x->name->s);
      return;
    }
  out->label[i] = on;
}

static void home_fix(Fixing *f, const PlanHome *x, PlaceFixed *out) {
  MemoEntry *e = memo_get(&f->names.number, x->name->s, x->name->len);
  uint32_t i = (uint32_t)(uintptr_t)e->value - 1;
  if (!e->value) {
    diag_add(f->d, D_E931, x->span, "no tensor is called %s", x->name->s);
    return;
  }
  Cuttable c = dimensions_of(f, i);
  Placement *home = NEW(f->arena, Placement);
  axes_fix(f, &c, &x->axes, home->on);
  out->home[i] = home;
}

PlaceFixed *plan_fixed(Arena *a, const PlaceGraph *g, const Plan *p, Diags *d) {
  Fixing f = {a, g, p, names_find(a, g), d};
  uint32_t errors = d->errors;
  PlaceFixed *x = NEW(a, PlaceFixed);
  x->mesh = p->meshed ? &p->mesh : NULL;
  x->label = NEW_ARRAY(a, const int8_t *, g->part->vertices.len + 1);
  x->home = NEW_ARRAY(a, const Placement *, g->tensors.len + 1);
  for (uint32_t i = 0; i < p->vertices.len; i++) vertex_fix(&f, &p->vertices.at[i], x);
  for (uint32_t i = 0; i < p->homes.len; i++) home_fix(&f, &p->homes.at[i], x);
  return d->errors > errors ? NULL : x;
}

/* A panel has at least one point of what some site makes. */
static void panels_fix(Fixing *f, const PlanPanels *x, PlacePanels *out) {
  MemoEntry *e = memo_get(&f->names.number, x->name->s, x->name->len);
  uint32_t i = (uint32_t)(uintptr_t)e->value - 1;
  if (!e->value || i >= f->g->part->vertices.len) {
    diag_add(f->d, D_E931, x->span, "no tensor that is computed is called %s", x->name->s);
    return;
  }
  const PartVertex *v = &f->g->part->vertices.at[i];
  Cuttable c = labels_of(f, i);
  int32_t l = axis_find(&c, &(PlanAxis){.label = x->of.label});
  if (v->node->kind == EIN_STATE || !sum_panels(v->node->sum)) {
    diag_add(f->d, D_E931, x->span,
        v->node->kind == EIN_STATE ? "%s is a state: what is computed can be done in panels"
            : v->node->sum->by     ? "%s is made by a C function, which makes all of a block at once, in no panels"
                                   : "%s is the place of a greatest or least value, which is looked for in no panels",
        x->name->s);
    return;
  }
  if (l < 0) {
    axis_unknown(f, &c, &(PlanAxis){.label = x->of.label, .span = x->of.span});
    return;
  }
  out[i] = (PlacePanels){.label = (uint32_t)l, .n = x->of.count};
  if (x->of.count <= v->extent[l]) return;
  Diag *g = diag_add(f->d, D_E931, x->of.span, "%s of %s has no room for %u panels", c.label[l], c.name, x->of.count);
  diag_note(f->d, g, "it has %lld points", (long long)v->extent[l]);
}

const PlacePanels *plan_panels(Arena *a, const PlaceGraph *g, const Plan *p, Diags *d) {
  Fixing f = {.arena = a, .g = g, .p = p, .d = d};
  if (!p || !p->panels.len) return NULL;
  f.names = names_find(a, g);
  PlacePanels *x = NEW_ARRAY(a, PlacePanels, g->part->vertices.len + 1);
  for (uint32_t i = 0; i < p->panels.len; i++) panels_fix(&f, &p->panels.at[i], x);
  return x;
}

static bool unsaid(Diags *d, const char *what, const char *name) {
  diag_add(d, D_E931, (Span){0}, "the plan does not say %s%s", what, name);
  return false;
}

Placing *placing_from_plan(Arena *a, const PlaceGraph *g, const Plan *p, Diags *d) {
  const PlaceFixed *fixed = plan_fixed(a, g, p, d);
  uint32_t vertices = g->part->vertices.len, errors = d->errors;
  if (!fixed) return NULL;
  Names names = names_find(a, g);
  bool whole = fixed->mesh || unsaid(d, "the mesh", "");
  Placing *x = MAKE(a, Placing, .mesh = p->mesh,
      .label = NEW_ARRAY(a, int8_t *, vertices + 1),
      .home = NEW_ARRAY(a, Placement, g->tensors.len + 1));
  for (uint32_t i = 0; whole && i < vertices; i++) {
    whole = fixed->label[i] || unsaid(d, "the axes of ", names.at[i]);
    if (whole) x->label[i] = arena_copy(a, fixed->label[i], MESH_AXES);
  }
  for (uint32_t i = 0; whole && i < g->tensors.len; i++) {
    whole = fixed->home[i] || unsaid(d, "the home of ", names.at[i]);
    if (whole) x->home[i] = *fixed->home[i];
  }
  if (!whole) return NULL;
  x->panels = plan_panels(a, g, p, d);
  x->room = p->room;
  if (d->errors > errors) return NULL;
  x->bytes = x->cost = placing_bytes(g, x);
  return x;
}
