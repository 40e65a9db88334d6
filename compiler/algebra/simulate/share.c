/* algebra/simulate/share.c - finds which moves go by shares, and which come in rounds, as the emitted code does
 * (runtime/sites/ein_move.c; task/sites/all_reduce.c). */
#include "algebra/cost.h"
#include "inside.h"

/* ---- readers ----------------------------------------------------------------------------------------------------- */

/* By node id. other: it has a second reader, or is an end. */
typedef struct Readers { const AlgNode **one; bool *other; } Readers;

static void readers_find(Readers *r, const AlgRegion *in) {
  vec_each_of(const AlgNode, n, in->nodes) {
    if (n->kind == ALG_REPEAT) readers_find(r, n->body);
    for (uint32_t k = 0; k < n->n_operand; k++) {
      const AlgNode *of = n->operand[k].node;
      r->other[of->id] |= r->one[of->id] != NULL || of->region != in;
      r->one[of->id] = n;
    }
  }
  for (uint32_t i = 0; alg_region_use(in, i); i++) r->other[alg_region_use(in, i)->id] = true;
}

static const AlgNode *reader_of(const Readers *r, const AlgNode *n, AlgKind kind) {
  const AlgNode *one = r->other[n->id] ? NULL : r->one[n->id];
  return one && one->kind == kind ? one : NULL;
}

/* ---- ways -------------------------------------------------------------------------------------------------------- */

/* Bytes of it that a site has, where it has some. */
static double bytes_at(const Sim *s, const AlgNode *n) {
  double bytes = rel_elements(&n->type) * element_size(&n->type);
  for (uint32_t a = 0; a < s->program->mesh.n; a++)
    if (n->at.on[a] >= 0 && n->type.frontier[n->at.on[a]] > 1) bytes /= s->program->mesh.size[a];
  return bytes;
}

/* Whether only the first place along the axis has it. */
static bool at_first(const AlgNode *n, uint32_t a) {
  return n->at.on[a] >= 0 && n->type.frontier[n->at.on[a]] == 1;
}

static bool groups_by(const AlgNode *aggregate, int8_t key) {
  for (uint32_t k = 0; k < aggregate->n_group; k++)
    if (aggregate->group[k] == (uint32_t)key) return true;
  return false;
}

/* The axes along which the move brings parts together. */
static uint32_t parts_along(const Sim *s, const AlgNode *move, const AlgNode *aggregate) {
  const AlgNode *of = move->operand[0].node;
  uint32_t axes = 0;
  for (uint32_t a = 0; a < s->program->mesh.n; a++) {
    int8_t key = of->at.on[a];
    if (key >= 0 && move->at.on[a] != key && of->type.frontier[key] > 1 && !groups_by(aggregate, key)) axes |= 1u << a;
  }
  return axes;
}

static double sites_along(const Sim *s, uint32_t axes) {
  double n = 1;
  for (uint32_t a = 0; a < s->program->mesh.n; a++) n *= axes >> a & 1 ? s->program->mesh.size[a] : 1;
  return n;
}

/* Whether the next move brings to all along these axes what was combined, for some of them at the first place. */
static bool all_get(const Sim *s, const AlgNode *combined, const AlgNode *next, uint32_t axes) {
  bool first = false;
  for (uint32_t a = 0; a < s->program->mesh.n; a++) {
    if (next->at.on[a] != (axes >> a & 1 ? PLACE_ALL : combined->at.on[a])) return false;
    first |= axes >> a & 1 && at_first(combined, a);
  }
  return first;
}

static void parts_find(Sim *s, const Readers *r, const AlgNode *move) {
  const AlgNode *sum = reader_of(r, move, ALG_AGGREGATE), *next = sum ? reader_of(r, sum, ALG_MOVE) : NULL;
  if (!sum || sum->reducer == RED_NONE) return;
  uint32_t axes = parts_along(s, move, sum);
  double groups = sites_along(s, axes), bytes = bytes_at(s, sum);
  if (groups < 2) return;
  if (next && all_get(s, sum, next, axes)) {
    s->way[move->id] = (Way){SHARE_PARTS, axes, groups, 1, 1, groups};
    s->way[next->id] = (Way){SHARE_COMBINED, axes, groups, 1, 1, 1};
    bytes /= groups;
  }
  double panels = s->tasks && s->tasks[move->id].n > 1 ? s->tasks[move->id].n : 1;
  MoveRounds rounds = move_rounds(bytes / panels, groups, s->program->room);
  s->way[move->id].rounds = rounds.n;
  s->way[move->id].longer = rounds.longer;
  s->way[move->id].groups = groups;
  s->way[sum->id] = s->way[move->id];
}

static void given_find(Sim *s, const AlgNode *move) {
  const AlgNode *of = move->operand[0].node;
  uint32_t axes = 0;
  for (uint32_t a = 0; a < s->program->mesh.n; a++) {
    if (move->at.on[a] == of->at.on[a]) continue;
    if (move->at.on[a] != PLACE_ALL || !at_first(of, a)) return;
    axes |= 1u << a;
  }
  if (s->way[move->id].sharing == SHARE_NONE && move_gives_shares(bytes_at(s, of), sites_along(s, axes)))
    s->way[move->id] = (Way){SHARE_GIVEN, axes, sites_along(s, axes), 2, 1, 1};
}

static void ways_of(Sim *s, const Readers *r, const AlgRegion *in) {
  vec_each_of(const AlgNode, n, in->nodes) {
    if (n->kind == ALG_REPEAT) ways_of(s, r, n->body);
    if (n->kind == ALG_MOVE) parts_find(s, r, n);
    if (n->kind == ALG_MOVE) given_find(s, n);
    if (n->kind == ALG_FETCH) s->way[n->id].rounds = FETCH_ROUNDS;
  }
}

void sharing_find(Sim *s) {
  uint32_t n = s->program->n_nodes;
  Readers r = {NEW_ARRAY(s->arena, const AlgNode *, n + 1), NEW_ARRAY(s->arena, bool, n + 1)};
  s->way = NEW_ARRAY(s->arena, Way, n + 1);
  for (uint32_t i = 0; i < n; i++)
    s->way[i] = (Way){.rounds = 1, .longer = 1, .sites = 1, .groups = 1};
  readers_find(&r, s->program->top);
  for (uint32_t i = 0; i < s->program->outputs.len; i++) r.other[s->program->outputs.at[i].node->id] = true;
  for (uint32_t i = 0; i < s->program->asserts.len; i++) r.other[s->program->asserts.at[i].node->id] = true;
  ways_of(s, &r, s->program->top);
}
