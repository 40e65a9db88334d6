/* driver/plan_bytes.c - ein plan for many sites by bytes: the mesh, what its axes cut, where tensors stay (plan/placing.h).
 *
 * With --format=json:
 *
 *   { "schema": "ein placing 1", "program", "sites", "measure": "bytes", "planner",
 *     "dims":     { NAME: value },
 *     "mesh":     [ int ]: the sizes of its axes; further sites are idle,
 *     "bytes":    that sites receive, added over sites and over a run,
 *     "bound":    nothing on such a mesh moves less, as if all blocks were equal; null: of some tensors not all labels were
 *                 looked at,
 *     "vertices": [ { "id", "name", "place", "equation", "times", "labels": as in "ein partition 1",
 *                     "axes": [ int ] by axis the number of the label that it cuts; -1: it is idle,
 *                     "received": bytes of operands } ],
 *     "tensors":  [ { "name", "vertex": id of its maker; null: an input, "bytes": its size,
 *                     "home": [ int ] by axis the dimension (of a vertex: the number of its label) that is cut; -1: all have it,
 *                     "brought": bytes to reduce it and bring it home; of an input, those of its copies } ],
 *     "against":  [ { "planner", "bytes"; or "why": it is not for this program } ] } */
#include <string.h>

#include "plan_sites.h"
#include "table.h"

/* ---- plans -------------------------------------------------------------------------------------------------- */

/* The planner's vectors are what is left; the axes that cut so, and homes, are found for them. */
static Placing *placing_by(Sites *p, Planner who, PartChoice *choice, const char **why) {
  Session *s = p->s;
  const PartVectors *only = p->said;
  uint32_t which, n = p->g->vertices.len;
  Buf words = buf_new(s->arena);
  if (who != PLANNER_EXACT) {
    if (!part_plan(s->arena, p->g, p->vectors, who, p->budget, choice, &words)) return *why = words.s, NULL;
    PartVectors *its = NEW_ARRAY(s->arena, PartVectors, n + 1);
    for (uint32_t i = 0; i < n; i++) its[i] = (PartVectors){1, p->g->vertices.at[i].n_label, choice->d[i]};
    only = its;
  }
  Placing *x = placing_search(s->arena, p->places, p->sites, only, p->budget, &which);
  if (!x) *why = arena_printf(s->arena, "%s cannot be cut so along axes of a mesh of %lld sites", p->g->vertices.at[which].name, (long long)p->sites);
  return x;
}

Leave bytes_find(Sites *p) {
  const char *why = NULL;
  uint32_t n = p->g->vertices.len;
  PlaceGraph *places = place_graph(p->s->arena, p->g);
  places->fixed = plan_fixed(p->s->arena, places, p->plan, p->s->diags);
  if (!places->fixed) return session_report(p->s);
  p->places = places;
  p->placing = placing_by(p, p->who, &p->choice, &why);
  if (!p->placing) return fail(p->s, LEAVE_PROGRAM, "%s", why);
  const uint32_t **d = NEW_ARRAY(p->s->arena, const uint32_t *, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    uint32_t *count = NEW_ARRAY(p->s->arena, uint32_t, p->g->vertices.at[i].n_label + 1);
    placing_counts(p->places, p->placing, i, count);
    d[i] = count;
  }
  p->choice.d = d;
  for (uint32_t i = 0; i < p->against.len; i++) {
    Rival *r = &p->against.at[i];
    r->placing = placing_by(p, r->who, &r->choice, &r->why);
  }
  return LEAVE_OK;
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

static const char *bytes_of(Arena *a, double x) {
  return x < 9e18 ? amount(a, (int64_t)(x + 0.5), "B") : arena_printf(a, "%.3g B", x);
}

static void against_print(const Sites *p, Buf *b) {
  for (uint32_t i = 0; i < p->against.len; i++) {
    const Rival *r = &p->against.at[i];
    buf_printf(b, "  %-22s", arena_printf(b->arena, "by %s", planner_info[r->who].name));
    if (!r->placing) buf_printf(b, "not here: %s\n", r->why);
    else if (p->placing->bytes > 0)
      buf_printf(b, "%s, %.2f times as much\n", bytes_of(b->arena, r->placing->bytes), r->placing->bytes / p->placing->bytes);
    else buf_printf(b, "%s\n", bytes_of(b->arena, r->placing->bytes));
  }
}

static void head_print(const Sites *p, Buf *b) {
  Arena *a = b->arena;
  const Placing *x = p->placing;
  sites_head(p, b);
  buf_printf(b, "  %-22s", "mesh");
  for (uint32_t k = 0; k < x->mesh.n; k++) buf_printf(b, "%s%u", k ? " x " : "", x->mesh.size[k]);
  int64_t idle = p->sites - mesh_sites(&x->mesh);
  buf_str(b, x->mesh.n ? "" : "1");
  if (idle) buf_printf(b, ", %lld site%s idle", (long long)idle, idle > 1 ? "s" : "");
  buf_printf(b, "\n  %-22s%s in all, %s a site\n", "received", bytes_of(a, x->bytes), bytes_of(a, x->bytes / (double)p->sites));
  if (x->narrow) buf_str(b, "  of tensors with many labels, only the longest were looked at; so this says nothing of other plans\n");
  else if (x->bytes <= x->bound * (1 + 1e-9)) buf_str(b, "  no plan on such a mesh moves less\n");
  else if (x->bound > 0 && p->who == PLANNER_EXACT)
    buf_printf(b, "  no plan on such a mesh moves less than %s: this one is within %.1f %% of the best\n", bytes_of(a, x->bound),
               100 * (x->bytes - x->bound) / x->bound);
  against_print(p, b);
}

enum { COL_NAME, COL_EQUATION, COL_CUT, COL_HOME, COL_RECEIVED, COL_BROUGHT, COL_LINE, COLUMNS };

/* "s=4", "s=4 on 2" of which there are two copies, "everywhere". */
static const char *home_text(Arena *a, const Sites *p, uint32_t tensor) {
  const PlaceTensor *t = &p->places->tensors.at[tensor];
  const Placement *home = &p->placing->home[tensor];
  Buf b = buf_new(a);
  for (uint32_t d = 0; d < t->n && d < 127; d++) {
    uint32_t n = placement_count(&p->placing->mesh, home, (int8_t)d);
    if (n > 1) buf_printf(&b, "%s%s=%u", b.len ? " " : "", placing_dimension(a, p->places, tensor, d), n);
  }
  int64_t copies = placement_copies(&p->placing->mesh, home);
  if (!b.len) return "everywhere";
  if (copies > 1) buf_printf(&b, ", %lld times", (long long)copies);
  return b.s;
}

static void vertex_row(const Sites *p, uint32_t i, TableRow *r, Arena *a) {
  const PartVertex *v = &p->g->vertices.at[i];
  r->cell[COL_NAME] = shown(a, v->name);
  r->cell[COL_EQUATION] = sites_equation(a, v);
  r->cell[COL_CUT] = v->node->kind == EIN_STATE ? "" : sites_cut(a, v, v->n_label, p->choice.d[i]);
  r->cell[COL_RECEIVED] = bytes_of(a, placing_received(p->places, p->placing, i));
  r->cell[COL_LINE] = line_text(a, p->j.path, v->node->place);
}

static void tensors_print(const Sites *p, Buf *b) {
  Arena *a = b->arena;
  Table t = {.columns = COLUMNS, .clipped = COL_EQUATION,
             .left = 1u << COL_NAME | 1u << COL_EQUATION | 1u << COL_CUT | 1u << COL_HOME | 1u << COL_LINE};
  vec_push(a, t.rows, ((TableRow){.cell = {"tensor", "equation", "cut", "home", "operands", "result", "line"}, .tail = ""}));
  for (uint32_t i = 0; i < p->places->tensors.len; i++) {
    const PlaceTensor *x = &p->places->tensors.at[i];
    TableRow r = {.tail = ""};
    if (x->vertex >= 0) vertex_row(p, (uint32_t)x->vertex, &r, a);
    else {
      r.cell[COL_NAME] = x->node->name ? shown(a, x->node->name->s) : "";
      r.cell[COL_EQUATION] = arena_printf(a, "%s of %s", x->node->param ? "param" : "input", bytes_of(a, x->bytes));
      r.cell[COL_CUT] = r.cell[COL_RECEIVED] = "";
      r.cell[COL_LINE] = line_text(a, p->j.path, x->node->place);
    }
    r.cell[COL_HOME] = home_text(a, p, i);
    r.cell[COL_BROUGHT] = bytes_of(a, placing_brought(p->places, p->placing, i));
    vec_push(a, t.rows, r);
  }
  table_print(b, &t);
}

void bytes_text(const Sites *p, Buf *b) {
  head_print(p, b);
  buf_char(b, '\n');
  tensors_print(p, b);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void put_axes(Json *j, const char *key, uint32_t n, const int8_t *on) {
  json_array(j, key);
  for (uint32_t k = 0; k < n; k++) json_int(j, NULL, on[k]);
  json_end(j, ']');
}

static void put_vertex(Json *j, const Sites *p, uint32_t i) {
  const PartVertex *v = &p->g->vertices.at[i];
  json_object(j, NULL);
  json_int(j, "id", v->node->id);
  json_str(j, "name", v->name);
  put_place(j, v->node->place);
  json_str(j, "equation", sites_equation(p->s->arena, v));
  put_count(j, "times", v->times);
  put_labels(j, v, p->choice.d[i]);
  put_axes(j, "axes", p->placing->mesh.n, p->placing->label[i]);
  put_count(j, "received", placing_received(p->places, p->placing, i));
  json_end(j, '}');
}

static void put_tensor(Json *j, const Sites *p, uint32_t i) {
  const PlaceTensor *t = &p->places->tensors.at[i];
  json_object(j, NULL);
  if (t->vertex >= 0) json_str(j, "name", p->g->vertices.at[t->vertex].name);
  else json_str(j, "name", t->node->name ? t->node->name->s : "");
  if (t->vertex >= 0) json_int(j, "vertex", t->node->id);
  else json_null(j, "vertex");
  put_count(j, "bytes", t->bytes);
  put_axes(j, "home", p->placing->mesh.n, p->placing->home[i].on);
  put_count(j, "brought", placing_brought(p->places, p->placing, i));
  json_end(j, '}');
}

void bytes_json(const Sites *p, Buf *out) {
  Json j = json_new(out);
  json_object(&j, NULL);
  put_head(&j, p, "ein placing 1", "bytes");
  json_array(&j, "mesh");
  for (uint32_t k = 0; k < p->placing->mesh.n; k++) json_int(&j, NULL, p->placing->mesh.size[k]);
  json_end(&j, ']');
  put_count(&j, "bytes", p->placing->bytes);
  if (p->placing->narrow) json_null(&j, "bound");
  else put_count(&j, "bound", p->placing->bound);
  json_array(&j, "vertices");
  for (uint32_t i = 0; i < p->g->vertices.len; i++) put_vertex(&j, p, i);
  json_end(&j, ']');
  json_array(&j, "tensors");
  for (uint32_t i = 0; i < p->places->tensors.len; i++) put_tensor(&j, p, i);
  json_end(&j, ']');
  put_rivals(&j, p);
  json_end(&j, '}');
}
