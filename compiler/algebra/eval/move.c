/* algebra/eval/move.c - moves tuples between sites: the only operation that reads other sites' stores. What a site
 * has already stays; everything else that it wants is received, and counted. */
#include "inside.h"

Tuple *tuples_all(const Shelf *of, uint32_t n_key, Arena *a, uint32_t *count) {
  uint32_t n = 0, kept = 0;
  for (int64_t i = 0; i < of->sites; i++) n += of->site[i].tuples.len;
  Tuple *t = NEW_ARRAY(a, Tuple, n + 1);
  n = 0;
  for (int64_t i = 0; i < of->sites; i++)
    for (uint32_t k = 0; k < of->site[i].tuples.len; k++) t[n++] = of->site[i].tuples.at[k];
  tuples_sort(a, n_key, t, n);
  for (uint32_t i = 0; i < n; i++)
    if (!kept || t[kept - 1].part != t[i].part || key_order(n_key, t[kept - 1].key, t[i].key) != 0) t[kept++] = t[i];
  *count = kept;
  return t;
}

/* Where parts stay parts along an axis, each keeps its place along it. */
static bool wanted(const Run *r, const AlgNode *n, const Tuple *t, int64_t site) {
  const Mesh *m = &r->program->mesh;
  const uint32_t *at = site_place(r, site), *made = site_place(r, t->part);
  for (uint32_t a = 0; a < m->n; a++)
    if (n->at.on[a] == PLACE_PART && at[a] != made[a]) return false;
  return alg_holds(m, &n->at, &n->type, t->key, at);
}

bool move_run(Run *r, const AlgNode *n, Shelf *s) {
  const AlgNode *from = operand_of(n);
  const Shelf *of = held_of(r, from)->shelf;
  uint32_t count, n_key = n->type.n_key;
  for (uint32_t a = 0; a < r->program->mesh.n; a++)
    if (n->at.on[a] == PLACE_PART && from->at.on[a] != PLACE_PART)
      return run_fail(r, n, "makes parts, which a move cannot");
  const Tuple *all = tuples_all(of, n_key, s->arena, &count);
  for (int64_t i = 0; i < s->sites; i++)
    for (uint32_t k = 0; k < count; k++) {
      if (!wanted(r, n, &all[k], i)) continue;
      const Tuple *own = store_part(&of->site[i], n_key, all[k].key, all[k].part), *t = own ? own : &all[k];
      if (!own) r->out->moved[n->id] += block_bytes(&t->block);
      if (!tuple_put(r, n, s, i, t->key, t->part, block_cut(s->arena, &t->block, t->block.low, t->block.high)))
        return false;
    }
  return true;
}
