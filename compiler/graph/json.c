/* graph/json.c - an EinGraph as JSON, complete, for tools. Expressions are strings in the text form.
 *
 *   { "eingraph": 1, "ids": 21,
 *     "dims":     [ { "name", "value": integer or null } ],
 *     "externs":  [ { "name", "symbol", "from", "arguments": [ dtype ], "dtype", "cost" } ],   C functions, if any;
 *                 those of blocks also have "ranks", by argument, and the numbers of labels of the result and of
 *                 reduced ones, "out" and "red"; if "cost" is null, it is counted
 *     "monoids":  [ { "name", "dtype", "combine", "identity" } ],
 *     "nodes":    [ NODE ],                                   in an order in which they can be computed
 *     "outputs":  [ { "name", "node": id } ],
 *     "asserts":  [ { "node": id, "text", "place" } ],
 *     "checks":   [ { "cond", "text", "place" } ] }
 *
 *   NODE: { "id", "kind", "name", "place", "dtype", "shape": [ expression ], and
 *     input:  "param", "default": id or null
 *     vertex: "equation", "labels": [ { "name", "bound", "reduced" } ], "merge": [ labels per dimension ], "reducer",
 *             "monoid", "acc", "inputs": [ id ], "body", "where", "domain", "by" if a C function computes it
 *     repeat: "turn", "bound": id, "turns", "stop": id or null, "states": [ { "node", "init", "next" } ],
 *             "stacks": [ { "name", "node", "axis" } ], "nodes": [ NODE ]
 *     state, final, stack, turns: "repeat": id, "index" }
 *
 *   A place is null or { "file", "line", "column" }; a missing name, text or expression is null. */
#include "base/json.h"
#include "inside.h"

static void put_id(Json *j, const char *key, const EinNode *n) {
  if (n)
    json_int(j, key, n->id);
  else
    json_null(j, key);
}

static void put_expr(Json *j, const char *key, const Expr *e, const EinNode *n) {
  if (!e) {
    json_null(j, key);
    return;
  }
  ExprNames names = node_names(n);
  Buf b = buf_new(j->out->arena);
  expr_print(&b, e, &names);
  json_strn(j, key, b.s, b.len);
}

static void put_labels(Json *j, const EinNode *n) {
  json_objects(j, "labels", k, n->sum->n_out + n->sum->n_red) {
    json_name(j, "name", n->label[k]);
    put_expr(j, "bound", n->bound[k], n);
    json_bool(j, "reduced", k >= n->sum->n_out);
  }
  json_ints(j, "merge", n->rank, n->merge);
}

static void put_vertex(Json *j, const EinNode *n) {
  Buf b = buf_new(j->out->arena);
  graph_equation(&b, n);
  json_strn(j, "equation", b.s, b.len);
  put_labels(j, n);
  json_str(j, "reducer", reducer_info[n->sum->reducer].name);
  json_name(j, "monoid", n->sum->monoid ? n->sum->monoid->name : NULL);
  json_str(j, "acc", dtype_name(n->sum->acc));
  json_each(j, "inputs", k, n->sum->n_slot) put_id(j, NULL, n->input[k]);
  put_expr(j, "body", n->sum->body, n);
  put_expr(j, "where", n->sum->where, n);
  put_expr(j, "domain", n->sum->domain, n);
  if (n->sum->by) json_name(j, "by", n->sum->by->name);
}

static void put_nodes(Json *j, const EinRegion *r);

static void put_repeat(Json *j, const EinNode *n) {
  const EinRegion *r = n->body;
  json_name(j, "turn", r->turn);
  put_id(j, "bound", r->bound);
  put_expr(j, "turns", r->turns, n);
  put_id(j, "stop", r->stop);
  json_objects(j, "states", i, r->states.len) {
    put_id(j, "node", r->states.at[i].node);
    put_id(j, "init", r->states.at[i].init);
    put_id(j, "next", r->states.at[i].next);
  }
  json_objects(j, "stacks", i, r->stacks.len) {
    json_name(j, "name", r->stacks.at[i].name);
    put_id(j, "node", r->stacks.at[i].node);
    json_int(j, "axis", r->stacks.at[i].axis);
  }
  put_nodes(j, r);
}

static void put_node(Json *j, const EinNode *n) {
  static const char *const kind[] = {
      [EIN_INPUT] = "input", [EIN_VERTEX] = "vertex", [EIN_REPEAT] = "repeat",
      [EIN_STATE] = "state", [EIN_FINAL] = "final",   [EIN_STACK] = "stack",
      [EIN_TURNS] = "turns",
  };
  json_object(j, NULL);
  json_int(j, "id", n->id);
  json_str(j, "kind", kind[n->kind]);
  json_name(j, "name", n->name);
  json_place(j, n->place);
  json_str(j, "dtype", dtype_name(n->dtype));
  json_each(j, "shape", k, n->rank) put_expr(j, NULL, n->dim[k], n);
  if (n->kind == EIN_INPUT) {
    json_bool(j, "param", n->param);
    put_id(j, "default", n->fallback);
  } else if (n->kind == EIN_VERTEX) {
    put_vertex(j, n);
  } else if (n->kind == EIN_REPEAT) {
    put_repeat(j, n);
  } else {
    put_id(j, "repeat", n->repeat);
    json_int(j, "index", n->index);
  }
  json_end(j, '}');
}

static void put_nodes(Json *j, const EinRegion *r) {
  json_each(j, "nodes", i, r->nodes.len) put_node(j, r->nodes.at[i]);
}

static void put_externs(Json *j, const Exprs *p) {
  if (!extern_count(p)) return;
  json_each(j, "externs", k, extern_count(p)) {
    const Extern *x = extern_at(p, k);
    json_object(j, NULL);
    json_name(j, "name", x->name);
    json_name(j, "symbol", x->symbol);
    json_name(j, "from", x->from);
    json_each(j, "arguments", i, x->n) json_str(j, NULL, dtype_name(x->arg[i]));
    json_str(j, "dtype", dtype_name(x->dtype));
    if (x->block) {
      json_ints(j, "ranks", x->n, x->rank);
      json_int(j, "out", x->n_out);
      json_int(j, "red", x->n_red);
    }
    if (json_has(j, "cost", !x->block || x->cost >= 0)) json_int(j, "cost", extern_cost(x));
    json_end(j, '}');
  }
}

static void put_head(Json *j, const EinGraph *g) {
  json_int(j, "eingraph", 1);
  json_int(j, "ids", g->n_nodes);
  json_objects(j, "dims", i, g->dims.len) {
    json_name(j, "name", g->dims.at[i].name);
    if (json_has(j, "value", g->dims.at[i].known)) json_int(j, "value", g->dims.at[i].value);
  }
  put_externs(j, g->exprs);
  json_array(j, "monoids");
  vec_each_of(const Monoid, m, g->monoids) {
    json_object(j, NULL);
    json_name(j, "name", m->name);
    json_str(j, "dtype", dtype_name(m->dtype));
    put_expr(j, "combine", m->combine, NULL);
    put_expr(j, "identity", m->identity, NULL);
    json_end(j, '}');
  }
  json_end(j, ']');
}

static void put_foot(Json *j, const EinGraph *g) {
  json_objects(j, "outputs", i, g->outputs.len) {
    json_name(j, "name", g->outputs.at[i].name);
    put_id(j, "node", g->outputs.at[i].node);
  }
  json_objects(j, "asserts", i, g->asserts.len) {
    put_id(j, "node", g->asserts.at[i].node);
    json_name(j, "text", g->asserts.at[i].text);
    json_place(j, g->asserts.at[i].place);
  }
  json_objects(j, "checks", i, g->checks.len) {
    put_expr(j, "cond", g->checks.at[i].cond, NULL);
    json_name(j, "text", g->checks.at[i].text);
    json_place(j, g->checks.at[i].place);
  }
}

void graph_json(Buf *out, const EinGraph *g) {
  Json j = json_new(out);
  json_object(&j, NULL);
  put_head(&j, g);
  put_nodes(&j, g->top);
  put_foot(&j, g);
  json_end(&j, '}');
}
