/* expr/region/same.c - whether two regions agree in all fields. */
#include "law.h"

bool eq_ref(Same *q, const char *what, NodeView a, NodeView b) {
  if (!a.at || !b.at) return a.at == b.at || differ(q, "%s is there in one only", what);
  return eq_int(q, what, a.id, b.id);
}

static bool eq_states(const RegionSame *q, const RegionView *a, const RegionView *b) {
  if (!eq_int(q->q, "the number of states", a->n_state, b->n_state)) return false;
  for (uint32_t i = 0; i < a->n_state; i++) {
    StateView x = q->face->state(a->at, i), y = q->face->state(b->at, i);
    if (!eq_ref(q->q, "a state", x.node, y.node) || !eq_ref(q->q, "a state's init", x.init, y.init) ||
        !eq_ref(q->q, "a state's next", x.next, y.next))
      return false;
  }
  return true;
}

static bool eq_stacks(const RegionSame *q, const RegionView *a, const RegionView *b) {
  if (!eq_int(q->q, "the number of stacks", a->n_stack, b->n_stack)) return false;
  for (uint32_t i = 0; i < a->n_stack; i++) {
    StackView x = q->face->stack(a->at, i), y = q->face->stack(b->at, i);
    if (!eq_str(q->q, "a stack's name", x.name, y.name) || !eq_ref(q->q, "a stack", x.node, y.node) ||
        !eq_int(q->q, "a stack's axis", x.axis, y.axis))
      return false;
  }
  return true;
}

static bool eq_node(const RegionSame *q, NodeView a, NodeView b) {
  q->at(q->ctx, a.at);
  bool ok = eq_int(q->q, "the id", a.id, b.id) && q->node(q->ctx, a.at, b.at) &&
      eq_str(q->q, "the name", a.name, b.name) && eq_place(q->q, a.place, b.place) &&
      eq_ref(q->q, "the repeat", q->face->node(a.repeat), q->face->node(b.repeat)) &&
      eq_int(q->q, "the index", a.index, b.index) && (a.role != NODE_REPEAT || eq_region(q, a.body, b.body));
  q->at(q->ctx, NULL);
  return ok;
}

bool eq_region(const RegionSame *q, const void *a, const void *b) {
  RegionView x = q->face->region(q->a, a), y = q->face->region(q->b, b);
  if (!eq_int(q->q, "the depth", x.depth, y.depth) || !eq_str(q->q, "the loop variable", x.turn, y.turn) ||
      !eq_ref(q->q, "the region's repeat", q->face->node(x.repeat), q->face->node(y.repeat)) ||
      !eq_ref(q->q, "the bound", x.bound, y.bound) || !eq_expr(q->q, "the number of turns", x.turns, y.turns) ||
      !eq_ref(q->q, "the stop", x.stop, y.stop) || !eq_states(q, &x, &y) || !eq_stacks(q, &x, &y) ||
      !eq_int(q->q, "the number of nodes", x.n_node, y.n_node))
    return false;
  for (uint32_t i = 0; i < x.n_node; i++)
    if (!eq_node(q, q->face->nth(a, i), q->face->nth(b, i))) return false;
  return true;
}
