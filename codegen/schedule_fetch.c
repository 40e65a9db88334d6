/* codegen/schedule_fetch.c - tiles of rows that lie one behind the other, each read once and from far: while one is at work,
 * those that come next are brought near. The processor sees as many short streams as a tile has rows, and does not guess
 * where they go on. */
#include "schedule.h"

enum {
  LINE = 64,                 /* bytes that come near together */
  AHEAD = 4096,              /* so many bytes are on their way, where a tile has fewer */
  TILE_LEAST = 2048,         /* bytes of a tile's rows: less lies where the last one's neighbours were fetched, */
  TILE_MOST = 16384,         /*   of more, the first would be gone when they are wanted */
  ALL_LEAST = 1 << 20        /* and of the tensor: less is near anyway */
};

static const Expr *leaf_note(void *env, Exprs *x, const Expr *leaf) {
  (void)x;
  if (leaf->kind == EX_READ) ((const Expr **)env)[leaf->i] = leaf;
  return leaf;
}

static double bytes_of(const TaskBuffer *b) {
  double all = (double)dtype_size(b->dtype);
  for (uint32_t k = 0; k < b->rank; k++) all *= b->dim[k]->kind == EX_INT ? (double)b->dim[k]->i : 1e6;
  return all;
}

/* A read by rows: they lie apart, each goes along the reduced label to the next element, and the lanes share it. */
static bool is_of_rows(const FetchRows *f, uint32_t access) {
  const StagePlan *p = f->p;
  return plan_move(p, access, f->u) == MOVE_FAR && plan_move(p, access, f->v) == MOVE_NONE && plan_move(p, access, p->red[0]) == MOVE_UNIT;
}

/* What the tile has that is `ahead` tiles further on, a line after the other. */
static void fetch_tile(Sched *s, const FetchRows *f, Env *e, const Expr *read, int64_t ahead) {
  const StagePlan *p = f->p;
  uint32_t r = p->red[0], v = var_new(s, p->stage->label[r], "r");
  const Expr *last = ex_sub(s, p->stage->bound[f->u], ex_int(s, 1));
  const Expr *was_u = e->label[f->u], *was_r = e->label[r];
  LoopBody *was = s->body;
  if (f->when) into(s, &if_add(s, f->when)->body);
  into(s, &for_add(s, v, ex_int(s, 0), p->stage->bound[r], LINE / dtype_size((DType)read->dtype), BIND_SEQ)->body);
  e->label[r] = var_read(s, v);
  for (int64_t k = 0; k < f->rows; k++) {
    e->label[f->u] = ex_min(s, ex_add(s, f->u0, ex_int(s, ahead * f->rows + k)), last);
    const Expr *at = ex_of(e, read);
    if (map_find(&s->safe, at)) fetch_add(s, at);
  }
  e->label[f->u] = was_u, e->label[r] = was_r;
  into(s, was);
}

void rows_fetch(Sched *s, const FetchRows *f, Env *e) {
  const StagePlan *p = f->p;
  const EinSum *sum = p->stage->sum;
  if (p->n_red != 1 || sum->where || sum->domain) return;
  const Expr **read = NEW_ARRAY(s->arena, const Expr *, sum->n_slot + 1);
  expr_map(s->x, sum->body, leaf_note, (void *)read);
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    TaskSlot slot = p->stage->slot[a];
    if (!read[a] || slot.kept || !is_of_rows(f, a)) continue;
    const TaskBuffer *b = &s->t->buffers.at[slot.index];
    int64_t tile = f->rows * p->size[p->red[0]] * dtype_size(b->dtype), ahead = tile ? (AHEAD + tile - 1) / tile : 1;
    if (tile < TILE_LEAST || tile > TILE_MOST || bytes_of(b) < (double)ALL_LEAST || p->size[f->u] < 4 * ahead * f->rows) continue;
    fetch_tile(s, f, e, read[a], ahead);
  }
}
