/* algebra/eval/fetch.c - what a site requests of tables at other sites. It has the data of the indices, and gets
 * each requested element from wherever it is. What the site has itself does not move. Each other place is requested
 * once per tuple of the result, and answered with the whole slice (expr/prove/asked.h), as real sites do. */
#include "inside.h"

#include "expr/prove/asked.h"

typedef struct Table {
  const AlgNode *node;
  const Tuple *tuple;        /* of each one */
  uint32_t n;
  Block whole;               /* all of them; elements that no site has are undefined */
  Asked asked;
} Table;

static bool table_lay(Run *r, const AlgNode *n, Table *t, Arena *a) {
  uint32_t rank = t->node->type.rank;
  int64_t *low = NEW_ARRAY(a, int64_t, rank + 1), *high = NEW_ARRAY(a, int64_t, rank + 1);
  for (uint32_t i = 0; i < t->n; i++)
    for (uint32_t d = 0; d < rank; d++)
      if (t->tuple[i].block.high[d] > high[d]) high[d] = t->tuple[i].block.high[d];
  if (!room_ask(r, n, rank, low, high)) return false;
  t->whole = block_make(a, t->node->type.dtype, false, rank, low, high);
  t->whole.has = NEW_ARRAY(a, uint8_t, t->whole.count);
  for (uint32_t i = 0; i < t->n; i++)
    if (!block_paste(a, &t->whole, &t->tuple[i].block, NULL))
      return run_fail(r, n, "fetches from a block before the first place");
  return true;
}

static bool tuple_fetch(Run *r, const AlgNode *n, Shelf *s, const Table *t, int64_t site, const int64_t *key,
    const Block *const *operand, Arena *a) {
  uint32_t labels = n->sum->n_out;
  const Store *own = &held_of(r, t->node)->shelf->site[site];
  int64_t *low = NEW_ARRAY(s->arena, int64_t, labels + 1), *high = NEW_ARRAY(s->arena, int64_t, labels + 1);
  rel_ranges(labels, n->range, n->type.n_key, key, low, high);
  if (!room_ask(r, n, labels, low, high)) return false;
  Block out = block_make(s->arena, n->sum->acc, false, labels, low, high);
  KernelCall c = {.low = low, .high = high, .turn = r->turn, .operand = operand, .out = &out, .arena = s->arena,
      .gaps = true, .asked = NEW_ARRAY(a, uint8_t, t->whole.count + 1), .slot = n->n_operand - 1};
  if (!kernel_run(held_of(r, n)->kernel, &c)) bug("algebra: a fetch fails");
  int64_t *from = NEW_ARRAY(a, int64_t, t->whole.rank + 1), *to = NEW_ARRAY(a, int64_t, t->whole.rank + 1);
  asked_box(&t->asked, low, high, t->whole.high, from, to);
  block_ask_slices(a, &t->whole, c.asked, t->asked.place, from, to);
  for (uint32_t i = 0; i < t->n; i++) {
    const Block *b = &t->tuple[i].block;
    if (!store_part(own, t->node->type.n_key, t->tuple[i].key, t->tuple[i].part))
      r->out->moved[n->id] += block_asked(a, &t->whole, c.asked, b->low, b->high, t->asked.place);
  }
  return tuple_put(r, n, s, site, key, 0, out);
}

static bool site_fetch(Run *r, const AlgNode *n, Shelf *s, const Table *table, int64_t site) {
  const Relation *t = &n->type;
  uint32_t last = n->n_operand - 1;
  int64_t *key = NEW_ARRAY(s->arena, int64_t, t->n_key + 1);
  const Block **operand = NEW_ARRAY(s->arena, const Block *, n->n_operand);
  operand[last] = &table->whole;
  do {
    bool missing = false, ok = true;
    if (!alg_holds(&r->program->mesh, &n->at, t, key, site_place(r, site))) continue;
    for (uint32_t i = 0; ok && i < last; i++) ok = operand_find(r, n, i, site, key, &operand[i], &missing);
    if (!ok) return false;
    if (missing) return run_fail(r, n, "has no operand%s", run_key(r, n, key));
    Arena *a = arena_new();
    ok = tuple_fetch(r, n, s, table, site, key, operand, a);
    arena_free(a);
    if (!ok) return false;
  } while (rel_next_key(t->n_key, t->frontier, key));
  return true;
}

bool fetch_run(Run *r, const AlgNode *n, Shelf *s) {
  Table t = {.node = alg_table(n)};
  Arena *a = arena_new();
  const Expr *read = n->sum->body;
  bool ok = join_start(r, n, held_of(r, n));
  if (ok) {
    t.tuple = tuples_all(held_of(r, t.node)->shelf, t.node->type.n_key, a, &t.n);
    asked_of(a, n->sum->n_out, read->n, read->arg, &t.asked);
    ok = table_lay(r, n, &t, a);
  }
  for (int64_t i = 0; ok && i < s->sites; i++) ok = site_fetch(r, n, s, &t, i);
  arena_free(a);
  return ok;
}
