/* expr/sum/slots.c - maps and compares EinSums, and puts their slots in their normal order. */
#include "law.h"

#include "expr/prove/prove.h"

const Expr *extent_normal(Exprs *p, const Expr *e) {
  return e->kind == EX_INT || e->kind == EX_DIM ? e : expr_normal(p, e);
}

uint32_t sum_hash(const EinSum *s) {
  uint32_t h = hash_mix(s->n_out, s->n_red);
  h = hash_mix(h, s->n_slot);
  h = hash_mix(h, (uint64_t)s->reducer << 32 | (uint64_t)s->acc << 16 | (uint64_t)s->dtype);
  h = hash_mix(h, s->monoid ? s->monoid->name->hash : 0);
  h = hash_mix(h, s->body ? s->body->hash : 0);
  h = hash_mix(h, s->where ? s->where->hash : 0);
  h = hash_mix(h, s->by ? s->by->name->hash : 0);
  return hash_mix(h, s->domain ? s->domain->hash : 0);
}

bool sum_same(const EinSum *a, const EinSum *b) {
  return a->n_out == b->n_out && a->n_red == b->n_red && a->n_slot == b->n_slot &&
         a->reducer == b->reducer && a->monoid == b->monoid && a->acc == b->acc &&
         a->dtype == b->dtype && a->body == b->body && a->where == b->where &&
         a->domain == b->domain && a->by == b->by;
}

void sum_map(Exprs *p, EinSum *s, ExprLeaf *f, void *env) {
  s->body = expr_map(p, s->body, f, env);
  if (s->where) s->where = expr_map(p, s->where, f, env);
  if (s->domain) s->domain = expr_map(p, s->domain, f, env);
}

void sum_leaves(Exprs *p, const EinSum *s, ExprLeaf *f, void *env) {
  EinSum made = *s;
  sum_map(p, &made, f, env);
}

ExprNodes sum_reads(Arena *a, const EinSum *s) {
  ExprNodes reads = expr_nodes(a, s->body, HAS_READ);
  expr_nodes_add(&reads, s->where);
  expr_nodes_add(&reads, s->domain);
  return reads;
}

void sum_relabel(Exprs *p, EinSum *s, uint32_t n, const Expr *const *to) {
  s->body = expr_relabel(p, s->body, n, to);
  if (s->where) s->where = expr_relabel(p, s->where, n, to);
  if (s->domain) s->domain = expr_relabel(p, s->domain, n, to);
}

/* ---- reads by operand and index list: a map from hash to the chain of what has it --------------- */

typedef struct ReadLink {
  uint32_t slot;
  uint64_t operand;
  const Expr *read;
  struct ReadLink *next;
} ReadLink;

static const void *hash_key(uint32_t h) {
  return (const void *)((uintptr_t)h + 1);
}

static uint32_t read_hash(uint64_t operand, const Expr *read) {
  uint32_t h = hash_mix(read->n, operand);
  for (uint32_t i = 0; i < read->n; i++) h = hash_mix(h, read->arg[i]->id);
  return h;
}

static bool read_same(const Expr *a, const Expr *b) {
  return a->n == b->n && a->dtype == b->dtype && exprs_same(a->n, a->arg, b->arg);
}

uint32_t read_slot(ReadTable *t, uint64_t operand, const Expr *read) {
  const void *key = hash_key(read_hash(operand, read));
  ReadLink *first = map_find(&t->chains, key);
  for (ReadLink *l = first; l; l = l->next)
    if (l->operand == operand && read_same(l->read, read)) return l->slot;
  ReadLink *l = MAKE(t->arena, ReadLink, .slot = t->from.len, .operand = operand, .read = read, .next = first);
  map_put(&t->chains, key, l);
  vec_push(t->arena, t->from, (uint32_t)read->i);
  return l->slot;
}

typedef struct Renumber {
  ReadTable reads;
  uint64_t (*operand)(void *ctx, uint32_t slot);
  void *ctx;
} Renumber;

/* expr_map calls this once for each distinct read, arguments first, from left to right. */
static const Expr *renumbered(void *env, Exprs *p, const Expr *e) {
  Renumber *r = env;
  if (e->kind != EX_READ) return e;
  uint64_t operand = r->operand ? r->operand(r->ctx, (uint32_t)e->i) : (uint64_t)e->i;
  uint32_t slot = read_slot(&r->reads, operand, e);
  return expr_read(p, (DType)e->dtype, (int64_t)slot, e->n, e->arg);
}

const uint32_t *sum_canonical_slots(
    Arena *a, Exprs *p, EinSum *s, uint64_t (*operand)(void *ctx, uint32_t slot), void *ctx) {
  Renumber r = {.reads = {.arena = a, .chains = map_new(a)}, .operand = operand, .ctx = ctx};
  sum_map(p, s, renumbered, &r);
  s->n_slot = r.reads.from.len;
  return r.reads.from.at;
}
