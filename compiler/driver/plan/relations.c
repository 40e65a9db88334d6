/* driver/plan/relations.c - ein plan x.ia, x.tra: checks the text of a program over relations; for an Ia, reports what
 * each move costs.
 *
 * With --format=json:
 *
 *   { "schema": "ein moves 1", "program", "mesh": [ int ],
 *     "elements": in all, as the TRA paper counts them (a broadcast f*s, a shuffle f), "bytes": that sites receive;
 *                 null: too many tuples,
 *     "moves":    [ { "id", "name", "kind": "broadcast", "shuffle" or "fetch", "times", "elements", "bytes" } ] } */
#include <string.h>

#include "algebra/cost.h"
#include "sites.h"
#include "driver/table.h"

typedef struct Moves {
  Session *s;
  const char *path;
  const Algebra *g;
  VEC(const AlgNode *) all;
} Moves;

static void moves_find(Moves *m, const AlgRegion *r) {
  vec_each_of(const AlgNode, n, r->nodes) {
    if (n->kind == ALG_REPEAT) moves_find(m, n->body);
    if (alg_moves(n)) vec_push(m->s->arena, m->all, n);
  }
}

static AlgCost cost_of(const Moves *m, const AlgNode *n) {
  AlgCost c = alg_move_cost(m->g, n);
  c.paper *= alg_times(n->region);
  c.bytes *= alg_times(n->region);
  return c;
}

static const char *kind_of(const Moves *m, const AlgNode *n) {
  return n->kind == ALG_FETCH ? "fetch" : alg_is_broadcast(m->g, n) ? "broadcast" : "shuffle";
}

static const char *name_of(const Moves *m, const AlgNode *n) {
  return n->name ? shown(m->s->arena, n->name->s) : arena_printf(m->s->arena, "%%%u", n->id);
}

enum { COL_TENSOR, COL_MOVE, COL_TIMES, COL_PAPER, COL_BYTES, COLUMNS };

static void row_add(const Moves *m, Table *t, const AlgNode *n) {
  Arena *a = m->s->arena;
  AlgCost c = cost_of(m, n);
  TableRow r = {.cell = {name_of(m, n), kind_of(m, n)}, .tail = ""};
  r.cell[COL_TIMES] = arena_printf(a, "%.0f", alg_times(n->region));
  r.cell[COL_PAPER] = c.known ? amount(a, (int64_t)c.paper, "") : "?";
  r.cell[COL_BYTES] = c.known ? amount(a, (int64_t)c.bytes, "B") : "?";
  vec_push(a, t->rows, r);
}

static void moves_text(const Moves *m, Buf *b) {
  Arena *a = m->s->arena;
  AlgCost c = algebra_cost(m->g);
  Table t = {.columns = COLUMNS, .clipped = COL_TENSOR, .left = 1u << COL_TENSOR | 1u << COL_MOVE};
  if (!m->g->placed) {
    buf_printf(b,
        "%s: a sound program over relations, which are nowhere in particular; ein plan -n P --format=ia says where\n",
        m->path);
    return;
  }
  buf_printf(b, "%s, on %lld sites\n", m->path, (long long)mesh_sites(&m->g->mesh));
  if (c.known)
    buf_printf(b, "  %-22s%s elements (%.0f)\n  %-22s%s in all\n", "the paper's cost", amount(a, (int64_t)c.paper, ""),
        c.paper, "received", amount(a, (int64_t)c.bytes, "B"));
  buf_char(b, '\n');
  vec_push(a, t.rows, ((TableRow){.cell = {"tensor", "move", "times", "the paper's cost", "received"}, .tail = ""}));
  for (uint32_t i = 0; i < m->all.len; i++) row_add(m, &t, m->all.at[i]);
  table_print(b, &t);
}

static void put_cost(Json *j, const AlgCost *c) {
  if (json_has(j, "elements", c->known)) put_count(j, "elements", c->paper);
  if (json_has(j, "bytes", c->known)) put_count(j, "bytes", c->bytes);
}

static void moves_json(const Moves *m, Buf *out) {
  Json j = json_new(out);
  AlgCost c = algebra_cost(m->g);
  json_object(&j, NULL);
  json_str(&j, "schema", "ein moves 1");
  json_str(&j, "program", m->path);
  json_ints(&j, "mesh", m->g->mesh.n, m->g->mesh.size);
  put_cost(&j, &c);
  json_each(&j, "moves", i, m->all.len) {
    c = cost_of(m, m->all.at[i]);
    json_object(&j, NULL);
    json_int(&j, "id", m->all.at[i]->id);
    json_str(&j, "name", name_of(m, m->all.at[i]));
    json_str(&j, "kind", kind_of(m, m->all.at[i]));
    put_count(&j, "times", alg_times(m->all.at[i]->region));
    put_cost(&j, &c);
    json_end(&j, '}');
  }
  json_end(&j, '}');
}

/* Refuses other options: this text has already decided what they set. */
static Leave options_check(Session *s, const Args *a) {
  for (OptionId o = 0; o < OPTIONS; o++) {
    bool fits = o == OPT_PLAN_FORMAT || o == OPT_OUTPUT || o == OPT_ROUNDTRIP || o == OPT_COLOR || o == OPT_VERBOSE;
    if (!fits && o != OPT_SITES && arg_has(a, o))
      return fail(s, LEAVE_USAGE, "--%s is for programs, not for %s", options[o].name, a->operands.at[0]);
  }
  return LEAVE_OK;
}

Leave plan_relations(Session *s, Args *a) {
  Moves m = {.s = s, .path = a->operands.at[0]};
  Job j;
  const char *format = arg_last(a, OPT_PLAN_FORMAT), *to = arg_last(a, OPT_OUTPUT);
  Buf out = buf_new(s->arena);
  Leave l = options_check(s, a);
  if (!l && arg_has(a, OPT_SITES)) l = fail(s, LEAVE_USAGE, "-n: %s itself says on how many sites it runs", m.path);
  bool json = format && strcmp(format, "json") == 0, known = !format || json || strcmp(format, "text") == 0;
  if (!l && !known) l = fail(s, LEAVE_USAGE, "--format=%s is for programs, not for %s", format, m.path);
  if (!l) l = job_read(s, &j, a, m.path);
  if (l) return l;
  m.g = language_made(s, j.from, m.path, j.relations, arg_has(a, OPT_ROUNDTRIP));
  moves_find(&m, m.g->top);
  if (json) moves_json(&m, &out);
  else moves_text(&m, &out);
  return file_write(s, to ? to : "-", out.s, out.len);
}
