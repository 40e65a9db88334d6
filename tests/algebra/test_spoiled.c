/* tests/algebra/test_spoiled.c - what no text can say: a sound program with one field spoiled by hand, and the
 * checker's line about it. */
#include "algebra/algebra.h"
#include "algebra/text/text.h"
#include "tap.h"

static const char tra[] =
    "tra 1\nmonoid plus:f32 = (#0 + #1) identity 0.0:f32\n"
    "input %0 X {i:2, j:2} [4/i, 6/j] : f32\n"
    "join %1 {i:2, j:2} [a:4/i; b:6/j] : f32 places of %0{i, j} = argmax:f32 &0[a, b]\n"
    "aggregate %2 {i:2} [4/i] : f32 places of %1 by {i} argmax\n"
    "transform %3 {i:2} [4/i] : i64 of %2 place\n"
    "tile %4 {i:2, j:2, t:1} [4/i, 6/j] : f32 of %0 into {t:1} [4, 6]\n"
    "rekey %5 {j:2, i:2} [4/i, 6/j] : f32 of %0 to [j, i]\n"
    "filter %6 {i:2, j:2} [4/i, 6/j] : f32 of %0 keep (i < 2)\n"
    "join %7 n {} [] : i64 = 5\n"
    "repeat %8 t < %7 turns 5 {\n"
    "  state %9 W {i:2, j:2} [4/i, 6/j] : f32 = %0\n"
    "  join %10 s {} [] : bool = true\n"
    "  next %9 = %6\n  stack L = %10 axis 0\n  until %10\n}\n"
    "final %11 W {i:2, j:2} [4/i, 6/j] : f32 = %8.0\nstacked %12 L {} [5] : bool = %8.0\nturns %13 t {} [] : i64 = %8\n"
    "concat %14 {j:2} [4, 6/j] : f32 of %11 by {j}\n"
    "output Y [4, 6] = %14\n";

static const char ia[] =
    "ia 1\nmesh 2\ninput %0 X {i:2} [4/i] : f32 at 0\njoin %1 n {} [] : i64 at * = 5\n"
    "repeat %2 t < %1 {\n  state %3 W {i:2} [4/i] : f32 at 0 = %0\n  next %3 = %3\n}\n"
    "final %4 W {i:2} [4/i] : f32 at 0 = %2.0\nbroadcast %5 {i:2} [4/i] : f32 at * of %0\n"
    "tile %6 {i:2, t:2} [4/i] : f32 at 0 of %0 into {t:2} [4]\n";

typedef struct Sound { Arena *a; Algebra *g; Exprs *p; Strings *t; AlgNode *n[16]; AlgRegion *body; } Sound;

static void nodes_of(Sound *s, AlgRegion *r) {
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    s->n[r->nodes.at[i]->id] = r->nodes.at[i];
    if (r->nodes.at[i]->body) s->body = r->nodes.at[i]->body, nodes_of(s, s->body);
  }
}

static EinSum *own_sum(Sound *s, uint32_t k) {
  EinSum *e = arena_copy(s->a, s->n[k]->sum, sizeof *e);
  s->n[k]->sum = e;
  return e;
}

static RelDim *own_dim(Sound *s, uint32_t k) {
  RelDim *d = arena_copy(s->a, s->n[k]->type.dim, s->n[k]->type.rank * sizeof *d);
  s->n[k]->type.dim = d;
  return d;
}

static const Expr *read_with(Sound *s, DType t, const Expr *i) {
  const Expr *index[2] = {i, expr_label(s->p, 1)};
  return expr_read(s->p, t, 0, 2, index);
}

/* ---- the spoilers ------------------------------------------------------------------------------------------- */

#define SPOIL(name, ...) static void name(Sound *s) { __VA_ARGS__; }

SPOIL(no_kind, s->n[3]->kind = (AlgKind)99)
SPOIL(id_twice, s->n[5]->id = 3)
SPOIL(id_large, s->n[14]->id = 99)
SPOIL(other_region, s->n[5]->region = s->body)
SPOIL(sum_elsewhere, s->n[3]->sum = s->n[1]->sum)
SPOIL(no_sum, s->n[1]->sum = NULL)
SPOIL(body_elsewhere, s->n[3]->body = s->body)
SPOIL(group_elsewhere, s->n[3]->n_group = 1)
SPOIL(piece_elsewhere, s->n[6]->n_piece = 1)
SPOIL(keep_elsewhere, s->n[3]->keep = expr_bool(s->p, true))
SPOIL(fn_elsewhere, s->n[6]->n_fn = 1; s->n[6]->fn = s->n[3]->fn)
SPOIL(fn_missing, s->n[3]->fn = NULL)
SPOIL(fn_none, AlgFn *f = NEW(s->a, AlgFn); f->kind = (AlgFnKind)9; s->n[3]->fn = f)
SPOIL(cast_none, AlgFn *f = NEW(s->a, AlgFn); f->to = (DType)99; s->n[3]->fn = f)
SPOIL(repeat_elsewhere, s->n[3]->repeat = s->n[8])
SPOIL(empty_name, s->n[3]->name = str_from(s->t, ""))
SPOIL(no_operand, s->n[3]->n_operand = 0)
SPOIL(operand_missing, s->n[3]->operand[0].node = NULL)
SPOIL(operand_later, s->n[3]->operand[0].node = s->n[5])
SPOIL(operand_repeat, s->n[14]->operand[0].node = s->n[8])
SPOIL(move_in_tra, s->n[6]->kind = ALG_MOVE; s->n[6]->keep = NULL)
SPOIL(input_not_listed, s->g->inputs.len = 0)
SPOIL(input_twice, vec_push(s->a, s->g->inputs, s->n[0]))
SPOIL(input_inside, s->n[10]->kind = ALG_INPUT; s->n[10]->sum = NULL)
SPOIL(state_of_other, s->n[9]->repeat = NULL)
SPOIL(state_index, s->n[9]->index = 1)
SPOIL(result_of_none, s->n[11]->repeat = NULL)
SPOIL(result_before, s->n[11]->id = 7; s->n[7]->id = 11)
SPOIL(turns_index, s->n[13]->index = 1)
SPOIL(final_index, s->n[11]->index = 1)
SPOIL(block_parent, s->body->parent = NULL)
SPOIL(turn_name, s->body->turn = NULL)
SPOIL(turns_negative, s->body->turns = -7)
SPOIL(state_missing, s->body->states.at[0].node = NULL)
SPOIL(state_unlisted, s->body->states.len = 0)
SPOIL(next_missing, s->body->states.at[0].next = NULL)
SPOIL(stack_name, s->body->stacks.at[0].name = NULL)
SPOIL(stop_outside, s->body->stop = s->n[7]; s->n[7]->type.dtype = DT_BOOL)
SPOIL(node_missing, s->g->top->nodes.at[5] = NULL)
SPOIL(top_repeat, s->g->top->turns = 3)
SPOIL(extent_negative, int64_t *e = arena_copy(s->a, s->g->outputs.at[0].extent, 2 * sizeof *e); e[0] = -4;
      s->g->outputs.at[0].extent = e)
SPOIL(output_name, s->g->outputs.at[0].name = NULL)
SPOIL(type_none, s->n[3]->type.dtype = (DType)99)
SPOIL(frontier_zero, int64_t *f = arena_copy(s->a, s->n[3]->type.frontier, 2 * sizeof *f); f[0] = 0;
      s->n[3]->type.frontier = f)
SPOIL(box_missing, s->n[3]->type.dim = NULL)
SPOIL(bound_missing, own_dim(s, 3)[0].low = NULL)
SPOIL(rank_other, s->n[6]->type.rank = 1)
SPOIL(read_dtype, EinSum *e = own_sum(s, 1); e->body = read_with(s, DT_F64, expr_label(s->p, 0)); e->acc = DT_F64;
      s->n[1]->type.dtype = DT_F64)
SPOIL(read_index, EinSum *e = own_sum(s, 1); Expr *x = arena_copy(s->a, e->body, sizeof *x + 2 * sizeof x->arg[0]);
      x->arg[0] = expr_int(s->p, DT_I32, 1); e->body = x)
SPOIL(read_slot, EinSum *e = own_sum(s, 1); const Expr *i[2] = {expr_label(s->p, 0), expr_label(s->p, 1)};
      e->body = expr_read(s->p, DT_F32, 3, 2, i))
SPOIL(wanted_elsewhere, s->n[3]->operand[0].wanted = true)
SPOIL(slots, own_sum(s, 1)->n_slot = 2)
SPOIL(on_missing, s->n[1]->operand[0].on = NULL)
SPOIL(on_large, static const int32_t on[2] = {0, 7}; s->n[1]->operand[0].on = on)
SPOIL(concat_merge, static const uint8_t m[2] = {1, 1}; AlgFn *f = NEW(s->a, AlgFn);
      *f = (AlgFn){.kind = FN_MERGE, .to = DT_F32, .n = 2, .merge = m}; s->n[14]->n_fn = 1; s->n[14]->fn = f;
      s->g->placed = true)
SPOIL(reducer_none, s->n[2]->reducer = (Reducer)99)
SPOIL(piece_key, s->n[4]->key = NULL)
SPOIL(piece_frontier, static const int64_t f[1] = {0}; s->n[4]->frontier = f)
SPOIL(state_holes, s->n[9]->type.holes = true)
SPOIL(state_rank, s->n[9]->type.rank = 1)
SPOIL(many_keys, s->n[3]->type.n_key = REL_KEYS + 1)

static void deep(Sound *s) {
  AlgRegion *r = s->body;
  for (uint32_t i = 0; i < REGION_DEPTH; i++) {
    AlgNode *n = NEW(s->a, AlgNode);
    *n = (AlgNode){.kind = ALG_REPEAT, .id = s->g->n_nodes++, .region = r};
    n->body = NEW(s->a, AlgRegion);
    *n->body =
        (AlgRegion){.parent = r, .repeat = n, .depth = r->depth + 1, .turn = r->turn, .bound = r->bound, .turns = -1};
    vec_push(s->a, r->nodes, n);
    r = n->body;
  }
}

SPOIL(mesh_zero, s->g->mesh.size[0] = 0)
SPOIL(final_place, s->n[4]->at.on[0] = PLACE_ALL)
SPOIL(place_none, s->n[5]->at.on[0] = -3)
SPOIL(tile_place, s->n[6]->at.on[0] = 1)

typedef struct Case { const char *text; void (*spoil)(Sound *); const char *want; } Case;

static const Case cases[] = {
    {tra, no_kind, "it has no kind"},
    {tra, id_twice, "its id is another node's too"},
    {tra, id_large, "its id is not below 15"},
    {tra, other_region, "it does not stand where it says"},
    {tra, sum_elsewhere, "a kernel is what a join or a fetch has, and only those"},
    {tra, no_sum, "a kernel is what a join or a fetch has"},
    {tra, no_sum, "its kernel is not filled in"},
    {tra, body_elsewhere, "a block is what a repeat has, and only a repeat"},
    {tra, group_elsewhere, "it has what only an aggregate has"},
    {tra, piece_elsewhere, "it has what only a map has"},
    {tra, keep_elsewhere, "it keeps some keys and is no filter"},
    {tra, fn_elsewhere, "it has functions of the array"},
    {tra, fn_missing, "its functions are not filled in"},
    {tra, fn_none, "a function is none"},
    {tra, cast_none, "it casts to no dtype"},
    {tra, repeat_elsewhere, "it is of a repeat and has no part in it"},
    {tra, empty_name, "its name is empty"},
    {tra, no_operand, "it has 0 operands"},
    {tra, operand_missing, "operand is missing"},
    {tra, operand_later, "operand %5 is not defined before"},
    {tra, operand_repeat, "operand %8 is a repeat, not a relation"},
    {tra, move_in_tra, "a Tra has no moves"},
    {tra, input_not_listed, "it is not in its place in the list of inputs"},
    {tra, input_twice, "1 inputs stand in it and 2 in its list"},
    {tra, input_inside, "it stands in a repeat"},
    {tra, state_of_other, "it is not of the repeat in which it stands"},
    {tra, state_index, "it is not in its place in the list of states"},
    {tra, result_of_none, "it is not of a repeat before it"},
    {tra, result_before, "its repeat %8 has a larger id"},
    {tra, turns_index, "it has an index"},
    {tra, final_index, "%8 has no number 1"},
    {tra, block_parent, "its block does not stand in it"},
    {tra, turn_name, "its loop variable has no name"},
    {tra, turns_negative, "its number of turns is -7"},
    {tra, state_missing, "state 0 is not in its block"},
    {tra, state_unlisted, "1 states stand in its block and 0 in its list"},
    {tra, next_missing, "its next is missing"},
    {tra, stack_name, "stack 0 has no name"},
    {tra, stop_outside, "the stop stands outside of its block"},
    {tra, node_missing, "node 5 of its block is missing"},
    {tra, top_repeat, "the program itself is no repeat"},
    {tra, extent_negative, "output 0 has a negative extent"},
    {tra, output_name, "output 0 has no name"},
    {tra, type_none, "its type is none"},
    {tra, many_keys, "its type is none"},
    {tra, frontier_zero, "the frontier of key 0 is 0"},
    {tra, box_missing, "a box is missing"},
    {tra, bound_missing, "a box is missing"},
    {tra, rank_other, "its arrays have rank 1 and not 2"},
    {tra, read_dtype, "&0 is f32 and is read as f64"},
    {tra, read_index, "an index of &0 is not i64"},
    {tra, read_slot, "operand 3 is read, of 1"},
    {tra, slots, "it has 1 operands and its kernel 2"},
    {tra, wanted_elsewhere, "its operand is wanted, and it is no join"},
    {tra, on_missing, "operand 0 does not say which keys agree"},
    {tra, on_large, "operand 0 agrees in key number 7, of 2"},
    {tra, concat_merge, "behind a concat nothing is merged"},
    {tra, reducer_none, "its reducer is none"},
    {tra, piece_key, "its new keys are not filled in"},
    {tra, piece_frontier, "the frontier of new key 0 is 0"},
    {tra, state_holes, "differs in `places` or `holes`"},
    {tra, state_rank, "its next has rank 2 and not 1"},
    {tra, deep, "repeats are nested more than 200 deep"},
    {ia, mesh_zero, "its mesh has no size, or too large a one"},
    {ia, final_place, "the state is at another place"},
    {ia, place_none, "axis 0 cuts key number -3, and there are 1"},
    {ia, tile_place, "its keys are cut otherwise than those of its operand"},
};

static void check_case(const char *text, void (*spoil)(Sound *), const char *want) {
  Sound s = {.a = arena_new()};
  Buf out = buf_new(s.a);
  s.t = strings_new(s.a);
  s.g = algebra_read(s.a, s.t, source_new(s.a, "x.tra", text, strlen(text)), diags_new(s.a));
  if (!OK(s.g, "it reads")) return;
  s.p = s.g->exprs;
  nodes_of(&s, s.g->top);
  if (spoil) spoil(&s);
  bool ok = algebra_check(s.g, &out);
  if (!OK(want ? !ok && strstr(out.s, want) : ok && !out.len, "%s", want ? want : "a sound one"))
    tap_text("got", out.s);
  arena_free(s.a);
}

int main(void) {
  check_case(tra, NULL, NULL);
  check_case(ia, NULL, NULL);
  for (size_t i = 0; i < COUNT(cases); i++) check_case(cases[i].text, cases[i].spoil, cases[i].want);
  return DONE();
}
