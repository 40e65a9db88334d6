/* graph/word.c - the name of a node: its word in the text, and the names in its expressions. */
#include "inside.h"

const char *node_word(const EinNode *n) {
  switch (n->kind) {
  case EIN_INPUT: return n->param ? "param" : "input";
  case EIN_VERTEX: return "vertex";
  case EIN_REPEAT: return "repeat";
  case EIN_STATE: return "state";
  case EIN_FINAL: return "final";
  case EIN_STACK: return "stacked";
  case EIN_TURNS: return "turns";
  }
  return "node";
}

/* ---- names of a node's expressions ----------------------------------------------------------- */

static Str name_of_label(void *ctx, int64_t k) {
  const EinNode *n = ctx;
  if (!n || n->kind != EIN_VERTEX || !n->sum || !n->label) return NULL;
  return k < (int64_t)n->sum->n_out + n->sum->n_red ? n->label[k] : NULL;
}

static Str name_of_turn(void *ctx, int64_t depth) {
  const EinNode *n = ctx;
  for (const EinRegion *r = n ? n->region : NULL; r && r->parent; r = r->parent)
    if (r->depth == depth) return r->turn;
  return NULL;
}

static int64_t number_of_read(void *ctx, int64_t slot) {
  const EinNode *n = ctx;
  if (!n || n->kind != EIN_VERTEX || !n->sum || slot < 0 || slot >= n->sum->n_slot ||
      !n->input[slot])
    return -1;
  return (int64_t)n->input[slot]->id;
}

ExprNames node_names(const EinNode *n) {
  return (ExprNames){.ctx = (void *)(uintptr_t)n,
                     .label = name_of_label,
                     .turn = name_of_turn,
                     .node = number_of_read};
}
