/* codegen/schedule_fetch.c - tiles of rows that lie one behind the other, each read once and from far: while one is at work,
 * those that come next are brought near. The processor sees as many short streams as a tile has rows, and does not guess
 * where they go on. */
#include "schedule.h"

#include <string.h>

enum {
  LINE = 64,                 /* bytes that come near together */
  AHEAD = 4096,              /* so many bytes are on their way, where a tile has fewer */
  TILE_LEAST = 2048,         /* bytes of a tile's rows: less lies where the last one's neighbours were fetched, */
  TILE_MOST = 32768,         /*   of more, the first would be gone when they are wanted */
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

/* A read by rows, which the lanes share: they lie apart, and each goes to the next element along the last of the reduced labels.
 * Where two labels move an index, rows have points in common, and most of them are near. */
static bool is_of_rows(const FetchRows *f, uint32_t access, const Expr *read) {
  const StagePlan *p = f->p;
  if (plan_move(p, access, f->u) != MOVE_FAR || plan_move(p, access, f->v) != MOVE_NONE) return false;
  if (plan_move(p, access, p->red[p->n_red - 1]) != MOVE_UNIT) return false;
  for (uint32_t k = 0; k < read->n; k++)
    if (read->arg[k]->kind != EX_LABEL) return false;
  return true;
}

/* Bytes of a tile's rows. */
static int64_t tile_bytes(const FetchRows *f, uint32_t access, DType t) {
  const StagePlan *p = f->p;
  int64_t bytes = f->rows * dtype_size(t);
  for (uint32_t k = 0; k < p->n_red && bytes <= TILE_MOST; k++)
    if (plan_move(p, access, p->red[k]) != MOVE_NONE) bytes *= p->size[p->red[k]];
  return bytes;
}

static void loop_open(Sched *s, const FetchRows *f, Env *e, uint32_t label, int64_t step) {
  uint32_t v = var_new(s, f->p->stage->label[label], "r");
  into(s, &for_add(s, v, ex_int(s, 0), f->p->stage->bound[label], step, BIND_SEQ)->body);
  e->label[label] = var_read(s, v);
}

/* What the tile has that is `ahead` tiles further on, a line after the other. */
static void fetch_tile(Sched *s, const FetchRows *f, Env *e, const Expr *read, int64_t ahead) {
  const StagePlan *p = f->p;
  const Expr *end = ex_sub(s, p->stage->bound[f->u], ex_int(s, 1)), **was = NEW_ARRAY(s->arena, const Expr *, p->n_label + 1);
  LoopBody *around = s->body;
  memcpy(was, e->label, p->n_label * sizeof *was);
  if (f->when) into(s, &if_add(s, f->when)->body);
  for (uint32_t k = 0; k < p->n_red; k++) {
    bool last = k + 1 == p->n_red;
    if (ex_has_label(read, p->red[k])) loop_open(s, f, e, p->red[k], last ? LINE / dtype_size((DType)read->dtype) : 1);
  }
  for (int64_t k = 0; k < f->rows; k++) {
    e->label[f->u] = ex_min(s, ex_add(s, f->u0, ex_int(s, ahead * f->rows + k)), end);
    const Expr *at = ex_of(e, read);
    if (map_find(&s->safe, at)) fetch_add(s, at);
  }
  memcpy(e->label, was, p->n_label * sizeof *was);
  into(s, around);
}

void rows_fetch(Sched *s, const FetchRows *f, Env *e) {
  const StagePlan *p = f->p;
  const EinSum *sum = p->stage->sum;
  if (sum->where || sum->domain) return;
  const Expr **read = NEW_ARRAY(s->arena, const Expr *, sum->n_slot + 1);
  expr_map(s->x, sum->body, leaf_note, (void *)read);
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    TaskSlot slot = p->stage->slot[a];
    if (!read[a] || slot.kept || !is_of_rows(f, a, read[a])) continue;
    const TaskBuffer *b = &s->t->buffers.at[slot.index];
    int64_t tile = tile_bytes(f, a, b->dtype), ahead = tile ? (AHEAD + tile - 1) / tile : 1;
    if (tile < TILE_LEAST || tile > TILE_MOST || bytes_of(b) < (double)ALL_LEAST || p->size[f->u] < 3 * ahead * f->rows) continue;
    fetch_tile(s, f, e, read[a], ahead);
  }
}
