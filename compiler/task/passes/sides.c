/* task/passes/sides.c - how many blocks a product of two sides gives threads. In: a stage that reduces. Out: a
 * number.
 *
 * Of `sum[k] A[i,k] * B[k,j]` one side has rows i, the other lanes j, and a thread gets a block of both
 * (codegen/schedule/cpu/panels/size.c). Smaller blocks read one side more often, so where rows and lanes are few
 * there are few blocks: 64 by 64 outputs are one. This file estimates how many there can be; only the size of parts
 * depends on it. */
#include "task/inside.h"
#include "expr/sum/law.h"

enum {
  LEAST = 16,                /* rows, lanes and points: panels need at least this many of each, */
  NARROW = 64,               /* rows, and lanes, of the smallest block, */
  TILE = 8,                  /* at least this many of its own label, */
  NEAR = 1024,               /* rows of other labels: they stay whole in a block of at most this many */
  CUT = 256                  /* if its own label is shorter than this */
};

typedef struct ReadLabels { bool has[SUM_RANK]; } ReadLabels;

typedef struct Sides {
  TaskGraph *t;
  const TaskStage *s;
  ReadLabels *read;          /* by slot: the labels in its indices */
} Sides;

static double points_of(const Sides *d, uint32_t label) { return (double)task_size_guess(d->t, d->s->bound[label]); }

/* Whether some read has both. */
static bool together(const Sides *d, uint32_t a, uint32_t b) {
  for (uint32_t k = 0; k < d->s->sum->n_slot; k++)
    if (d->read[k].has[a] && d->read[k].has[b]) return true;
  return false;
}

static bool reduces_with(const Sides *d, uint32_t label) {
  for (uint32_t r = 0; r < d->s->sum->n_red; r++)
    if (together(d, label, d->s->sum->n_out + r)) return true;
  return false;
}

/* The last label of the output with a length is the lanes'. Of the labels that share no read with it, the longest is
 * the rows'. */
static bool tile_find(const Sides *d, uint32_t *rows, uint32_t *lanes) {
  uint32_t n = d->s->sum->n_out;
  bool found = false;
  while (n && points_of(d, n - 1) <= 1) n--;
  if (!n || !reduces_with(d, n - 1)) return false;
  *lanes = n - 1;
  for (uint32_t l = 0; l < n - 1; l++) {
    if (together(d, l, *lanes) || !reduces_with(d, l) || (found && points_of(d, l) < points_of(d, *rows))) continue;
    *rows = l;
    found = true;
  }
  return found;
}

/* The number of blocks into which a side can be cut; `other`: the other side's label. *all: the side's points. */
static double side_blocks(const Sides *d, uint32_t tile, uint32_t other, double *all) {
  double n = points_of(d, tile), room = n < (double)CUT ? (double)NEAR / n : 1, near = 1, far = 1;
  for (uint32_t l = 0; l < d->s->sum->n_out; l++) {
    if (l == tile || l == other || !together(d, l, tile) || together(d, l, other)) continue;
    double more = points_of(d, l);
    *(near * more <= room ? &near : &far) *= more;
  }
  double least = near * (double)TILE > (double)NARROW ? near * (double)TILE : (double)NARROW;
  *all = n * near * far;
  return n * near > least ? far * n * near / least : far;
}

/* The points of labels that belong to both sides, or to neither. */
static double common(const Sides *d, uint32_t rows, uint32_t lanes) {
  double n = 1;
  for (uint32_t l = 0; l < d->s->sum->n_out; l++)
    if (l != rows && l != lanes && together(d, l, rows) == together(d, l, lanes)) n *= points_of(d, l);
  return n;
}

/* Returns false if it is no product of two sides. */
static bool sides_find(Sides *d, uint32_t *rows, uint32_t *lanes) {
  const EinSum *sum = d->s->sum;
  d->read = NEW_ARRAY(d->t->arena, ReadLabels, sum->n_slot + 1);
  if (sum->reducer == RED_NONE || reducer_is_arg(sum->reducer) ||
      sum->reducer == RED_MONOID || sum->reducer == RED_LSE || (sum->where && sum->n_red > 1))
    return false;
  ExprNodes nodes = expr_nodes(d->t->arena, sum->body, HAS_READ);
  expr_nodes_add(&nodes, sum->where);
  for (const Expr *e; (e = expr_node(&nodes));)
    if (e->kind == EX_READ) expr_labels(e, sum->n_out + sum->n_red, d->read[e->i].has);
  return tile_find(d, rows, lanes);
}

double task_rows_bytes(TaskGraph *t, const TaskStage *s) {
  Sides d = {t, s, NULL};
  uint32_t rows = 0, lanes = 0;
  double bytes = 0;
  if (!sides_find(&d, &rows, &lanes)) return 0;
  for (uint32_t k = 0; k < s->sum->n_slot; k++)
    if (!s->slot[k].kept && d.read[k].has[rows] && !d.read[k].has[lanes])
      bytes += task_buffer_bytes(t, s->slot[k].index);
  return bytes;
}

double task_side_blocks(TaskGraph *t, const TaskStage *s) {
  const EinSum *sum = s->sum;
  Sides d = {t, s, NULL};
  uint32_t rows = 0, lanes = 0;
  double u, v, deep = 1;
  if (!sides_find(&d, &rows, &lanes)) return 0;
  double blocks = common(&d, rows, lanes) * side_blocks(&d, rows, lanes, &u) * side_blocks(&d, lanes, rows, &v);
  for (uint32_t r = 0; r < sum->n_red; r++) deep *= points_of(&d, sum->n_out + r);
  return u < (double)LEAST || v < (double)LEAST || deep < (double)LEAST ? 0 : blocks;
}
