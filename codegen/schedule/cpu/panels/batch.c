/* codegen/schedule/cpu/panels/batch.c - batched contractions whose batch label lies innermost, so that each line of
 * memory holds only one or a few elements of each pair of matrices. In: a kernel. Out: the same kernel, in which such
 * tensors are first copied with the batch label in front, and such a result is computed in a work buffer of that
 * layout and copied from there:
 *
 *     Y[a,c,e] = sum[d] A[a,d,e] * B[d,c,e]
 *
 * becomes three steps in sequence, with a barrier between them:
 *
 *     A'[e,a,d] = A[a,d,e],  B'[e,d,c] = B[d,c,e];    Y'[e,a,c] = sum[d] A'[e,a,d] * B'[e,d,c];    Y[a,c,e] = Y'[e,a,c]
 *
 * A copy reads whole lines, once; panels would take one element of each line and come back to it for the next pair.
 *
 * The same is done, with or without a batch, for lanes that are contiguous nowhere: the result is contiguous along
 * labels that are strided in what is read, or along too few of them, and the copies cost less than the product:
 *
 *     Y[a,d,e] = sum[f] A[f,a] * B[e,d,f]    becomes    B'[f,d,e] = B[e,d,f];    Y[a,d_e] = sum[f] A[f,a] * B'[f,d_e]
 *
 * Short sums over a batch that is last in the result go along the batch instead, in lanes. The operands, which are
 * small beside the result, are copied with the batch last, and the result is stored as it comes:
 *
 *     Y[c,a,e] = sum[d] A[a,e,d] * B[e,d,c]    becomes    Y[c,a,e] = sum[d] A'[a,d,e] * B'[d,c,e]
 *
 * If extents are unknown, tiles and blocks have one label each and are chosen for long ones, so short ones waste them.
 * Then a contraction of many labels becomes a product of matrices, or of pairs of them, wherever that pays at run time;
 * each matrix has all labels of the rows, of the lanes or of the sum along an axis:
 *
 *     Y[b,a,c] = sum[d,e] A[a,d,e] * B[e,c,b,d]
 *
 * becomes
 *
 *     B'[d_e,b_c] = B[e,c,b,d];    Y'[a,b_c] = sum[d_e] A[a,d_e] * B'[d_e,b_c];    Y[b,a,c] = Y'[a,b_c]
 *
 * A copy is a work buffer of this step alone. Whether there are copies depends on sizes and not on the machine, since
 * panels, and with them the order of sums, may depend on the copies. */
#include <math.h>
#include <string.h>

#include "panels.h"

enum {
  POINTS_LEAST = 1 << 20,    /* of a contraction: with fewer, barriers cost more than copies gain */
  POINTS_EACH = 4,           /* per copied element, if panels would be filled from it otherwise; */
  POINTS_IN_PLACE = 32,      /* if tiles have their lanes along the batch and read everything in place */
  SIDE_LEAST = 16,           /* points of each side and of the sum, for panels to gain on such tiles */
  RUN_LEAST = 8,             /* points of the batch that make lanes */
  ROWS_LEAST = 6,            /* points of a side that make the rows of a tile in registers */
  LINES_LEAST = 1 << 16,     /* points of a contraction whose lanes are copied; smaller ones take no time */
  COPY_MOST = 32 << 20,      /* bytes of a tensor: a larger one would be copied from memory to memory */
  POINTS_MATRIX = 8,         /* per copied element, for a product of matrices with several labels of the sum, */
  RUN_LONG = 16,             /*   if so many are copied at a time; */
  POINTS_SAVED = 32,         /*   with one, that must be saved: tiles without copies have */
  TILE_BYTES = 128,          /*   such lanes, of which the last may be empty, and for each point they take */
  LOSS_ALONG = 11,           /*   so many tenths of the time of a product of matrices, */
  LOSS_ACROSS = 20,          /*   if the lanes' side is contiguous along the sum */
  LOSS_BATCH = 40            /*   or a side along a batch */
};

/* Costs, in multiply-adds of a vector. */
#define STEP 1.5             /* a multiply-add of the product, with its loads; */
#define MOVED 1.0            /* a copied element, */
#define MOVED_FAR 2.0        /*   if the second-level cache does not hold the copies; */
#define STORED 2.0           /* a stored vector, */
#define SCATTERED 3.0        /*   and a single element */
#define GAIN 0.6             /* an estimate must be lower by this factor */

typedef struct Batch {
  Sched *s;
  const TaskStage *st;
  StagePlan p;
  double points, deep;       /* of all labels; of the reduced ones */
  bool *is;                  /* by label: an output label of several points that every read with a reduced label has */
  const Expr **read;         /* by slot: the read; */
  bool *transposed;          /*   whether it is copied first */
  bool result;               /* the result is computed in a work buffer and copied from there */
  uint32_t rows, lanes;      /* slots of the two sides; NOWHERE: there are other reads, or only batches */
  uint32_t n_run, *run;      /* output labels of the lanes' side to be made contiguous, in the result's order */
  bool sorted;               /* copies of the lanes' side and of the result have these labels last */
  bool last;                 /* the run is batch labels, and copies of both sides have them last */
  const uint32_t **order;    /* by slot, the result's last: the labels of its copy, outermost first; NULL: as above */
  const Expr *when;          /* copies are made only if this holds, a condition over dims; NULL: always */
  Task *k;                   /* our own copy of the kernel */
} Batch;

/* ---- when it applies --------------------------------------------------------------------------------------------- */

static bool is_reduced(const Batch *b, const Expr *read) {
  for (uint32_t k = 0; k < b->p.n_red; k++)
    if (ex_has_label(read, b->p.red[k])) return true;
  return false;
}

/* Returns false if there are no two sides. */
static bool batch_find(Batch *b) {
  const EinSum *sum = b->st->sum;
  uint32_t sides = 0;
  b->points = pack_product(&b->p, b->p.n_order, b->p.order), b->deep = pack_product(&b->p, b->p.n_red, b->p.red);
  b->points *= b->deep;
  for (uint32_t l = 0; l < sum->n_out; l++) b->is[l] = b->p.size[l] > 1;
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    if (!b->read[a] || !is_reduced(b, b->read[a])) continue;
    sides++;
    for (uint32_t l = 0; l < sum->n_out; l++) b->is[l] &= ex_has_label(b->read[a], l);
  }
  return sides > 1;
}

static double elements(const Batch *b, uint32_t n, const Expr *const *at) {
  double all = 1;
  for (uint32_t k = 0; k < n; k++) all *= (double)b->p.size[at[k]->i];
  return all;
}

/* Whether each index is a different label over its whole axis. */
static bool is_plain(const Batch *b, uint32_t index, uint32_t n, const Expr *const *at) {
  const TaskBuffer *x = buffer_seen(b->s, index);
  for (uint32_t k = 0; k < n; k++) {
    if (at[k]->kind != EX_LABEL || x->dim[k] != b->st->bound[at[k]->i]) return false;
    for (uint32_t j = 0; j < k; j++)
      if (at[j] == at[k]) return false;
  }
  return n > 0;
}

/* Whether, in addition, the tensor is small enough to copy. */
static bool is_whole(const Batch *b, uint32_t index, uint32_t n, const Expr *const *at) {
  return is_plain(b, index, n, at) &&
      elements(b, n, at) * (double)dtype_size(buffer_seen(b->s, index)->dtype) <= (double)COPY_MOST;
}

/* Whether, in addition, the last index is a batch label and some other is not. */
static bool lies_across(const Batch *b, uint32_t index, uint32_t n, const Expr *const *at) {
  bool other = false;
  if (!is_whole(b, index, n, at) || !b->is[at[n - 1]->i]) return false;
  for (uint32_t k = 0; k < n; k++) other |= !b->is[at[k]->i];
  return other;
}

static bool is_free(const Batch *b) {
  const EinSum *sum = b->st->sum;
  if (red_is_arg(sum) || sum->reducer == RED_MONOID || sum->reducer == RED_LSE) return false;
  return b->st->buffer >= 0 && !sum->where && !sum->domain && sum->n_red;
}

static bool is_known(const Batch *b) {
  for (uint32_t l = 0; l < b->p.n_label; l++)
    if (!b->p.exact[l] || !b->p.size[l]) return false;
  return true;
}

/* Whether each side, and the sum, has enough points that are not batch. */
static bool is_deep(const Batch *b) {
  for (uint32_t a = 0; a < b->st->sum->n_slot; a++) {
    double side = 1;
    if (!b->read[a] || !is_reduced(b, b->read[a])) continue;
    for (uint32_t l = 0; l < b->st->sum->n_out; l++)
      side *= !b->is[l] && ex_has_label(b->read[a], l) ? (double)b->p.size[l] : 1;
    if (side < (double)SIDE_LEAST) return false;
  }
  return b->deep >= (double)SIDE_LEAST;
}

/* Chooses what to copy because it lies across the batch. Returns false if copies do not pay. */
static bool batch_transposes(Batch *b) {
  const TaskStage *st = b->st;
  double copied = 0;
  for (uint32_t a = 0; a < st->sum->n_slot; a++) {
    const Expr *x = b->read[a];
    b->transposed[a] = x && !st->slot[a].kept && is_reduced(b, x) && lies_across(b, st->slot[a].index, x->n, x->arg);
    if (b->transposed[a]) copied += elements(b, x->n, x->arg);
  }
  b->result = lies_across(b, (uint32_t)st->buffer, st->n_at, st->at);
  if (b->result) copied += elements(b, st->n_at, st->at);
  if (copied == 0 || b->points < (double)POINTS_LEAST || b->points < copied * (double)POINTS_EACH) return false;
  Env e = {.s = b->s, .stage = st, .label = NEW_ARRAY(b->s->arena, const Expr *, b->p.n_label + 1)};
  return pack_choose(b->s, &b->p, &e) || (b->points >= copied * (double)POINTS_IN_PLACE && is_deep(b));
}

/* ---- lanes ------------------------------------------------------------------------------------------------------- */

/* Finds the two sides; false: there are none. The lanes' side has the last result label that is not batch. */
static bool sides_find(Batch *b) {
  const TaskStage *st = b->st;
  uint32_t n = 0, side[2], last = st->n_at;
  for (uint32_t a = 0; a < st->sum->n_slot; a++) {
    if (!b->read[a] || !is_reduced(b, b->read[a])) continue;
    if (n == 2 || st->slot[a].kept) return false;
    side[n++] = a;
  }
  while (last && st->at[last - 1]->kind == EX_LABEL && b->is[st->at[last - 1]->i]) last--;
  if (n < 2 || !last || st->at[last - 1]->kind != EX_LABEL) return false;
  uint32_t label = (uint32_t)st->at[last - 1]->i, v = ex_has_label(b->read[side[0]], label) ? 0 : 1;
  b->lanes = side[v], b->rows = side[1 - v];
  return ex_has_label(b->read[b->lanes], label);
}

/* Finds the last labels of the result that belong to the lanes' side; all: every label of that side. Returns the
 * product of their extents. */
static double run_find(Batch *b, bool all) {
  const TaskStage *st = b->st;
  double points = 1;
  b->n_run = 0;
  for (uint32_t k = st->n_at; k-- > 0;) {
    bool own = st->at[k]->kind == EX_LABEL && !b->is[st->at[k]->i] && ex_has_label(b->read[b->lanes], st->at[k]->i);
    if (!own && !all) break;
    if (!own) continue;
    points *= (double)b->p.size[st->at[k]->i];
    b->run[b->p.n_label - ++b->n_run] = (uint32_t)st->at[k]->i;
  }
  return points;
}

/* Whether the run is contiguous in the lanes' side, and lanes along it are read in place or transposed by squares. */
static bool run_lies(const Batch *b) {
  const Expr *x = b->read[b->lanes];
  const uint32_t *run = b->run + b->p.n_label - b->n_run;
  uint32_t k = 0;
  while (k < x->n && !(x->arg[k]->kind == EX_LABEL && x->arg[k]->i == run[0])) k++;
  for (uint32_t i = 0; i < b->n_run; i++)
    if (k + i >= x->n || x->arg[k + i]->kind != EX_LABEL || x->arg[k + i]->i != run[i]) return false;
  return k + b->n_run == x->n || b->deep >= (double)SIDE_LEAST;
}

static bool is_last(const Batch *b, uint32_t n, const Expr *const *at) {
  return n && at[n - 1]->kind == EX_LABEL && b->is[at[n - 1]->i];
}

/* The cost of a product with these copies and so many lanes; clears *ok if they cannot be made. */
static double transposed_cost(const Batch *b, double lanes, bool *ok) {
  const TaskStage *st = b->st;
  double one = (double)vector_lanes(b->s, st->sum->acc), results = elements(b, st->n_at, st->at);
  double cost = b->points * ceil(lanes / one) / lanes * STEP + results * STORED / one;
  uint32_t n = st->sum->n_slot;
  for (uint32_t a = 0; a <= n; a++) {
    const Expr *x = a < n ? b->read[a] : NULL;
    if (a < n ? !b->transposed[a] : !b->result) continue;
    uint32_t index = a < n ? st->slot[a].index : (uint32_t)st->buffer, axes = a < n ? x->n : st->n_at;
    if (!is_whole(b, index, axes, a < n ? x->arg : st->at)) return *ok = false, 0;
    double all = elements(b, axes, a < n ? x->arg : st->at),
           bytes = all * (double)dtype_size(buffer_seen(b->s, index)->dtype);
    cost += all * (bytes > (double)SECOND_CACHE ? MOVED_FAR : MOVED);
  }
  return cost;
}

/* Makes the other side the lanes', if it has enough rows to take their place, and other labels than batch. */
static bool sides_exchange(Batch *b) {
  const uint32_t rows = b->lanes;
  double points = 1;
  for (uint32_t l = 0; l < b->st->sum->n_out; l++)
    if (!b->is[l] && ex_has_label(b->read[rows], l)) points *= (double)b->p.size[l];
  b->lanes = b->rows, b->rows = rows;
  return points >= (double)ROWS_LEAST && run_find(b, true) > 1;
}

typedef enum Lines {
  LINES_END,                 /* lanes along the result's last labels, as far as these are of one side */
  LINES_WHOLE,               /* along all labels of that side */
  LINES_OTHER                /* along all labels of the other side */
} Lines;

/* Chooses copies that make lanes contiguous along the result: of the lanes' side if it lies otherwise and, but for
 * LINES_END, of the result too if it is contiguous along them for less than a vector. Returns the cost; INFINITY: there
 * are none. */
static double lines_transpose(Batch *b, Lines along) {
  const TaskStage *st = b->st;
  const bool whole = along != LINES_END;
  bool ok = b->points >= (double)LINES_LEAST && sides_find(b) && (along != LINES_OTHER || sides_exchange(b));
  if (!ok) return INFINITY;
  for (uint32_t k = 0; k < st->n_at; k++)
    if (st->at[k]->kind != EX_LABEL) return INFINITY;
  memset(b->transposed, 0, st->sum->n_slot * sizeof *b->transposed);
  double one = (double)vector_lanes(b->s, st->sum->acc), lanes = run_find(b, false), all;
  b->result = is_last(b, st->n_at, st->at);
  if (b->result > whole || (whole && !b->result && lanes >= one)) return INFINITY;
  if (whole) all = run_find(b, true), b->result |= all > lanes, lanes = all;
  b->transposed[b->lanes] = !run_lies(b) || is_last(b, b->read[b->lanes]->n, b->read[b->lanes]->arg);
  b->transposed[b->rows] = is_last(b, b->read[b->rows]->n, b->read[b->rows]->arg);
  if (!b->result && !b->transposed[b->lanes] && !b->transposed[b->rows]) return INFINITY;
  double cost = transposed_cost(b, lanes, &ok);
  return ok ? cost : INFINITY;
}

/* The cost of copying for the batch alone when lanes then run along other labels than the result and elements are
 * stored one by one: short sums have no panels, which would transpose them. 0: not the case. */
static double scattered_cost(const Batch *b) {
  bool ok = true;
  if (b->result || b->rows == NOWHERE || !b->n_run || run_lies(b)) return 0;
  double cost = transposed_cost(b, (double)vector_lanes(b->s, b->st->sum->acc), &ok) +
      elements(b, b->st->n_at, b->st->at) * SCATTERED;
  return ok ? cost : 0;
}

/* Whether the read ends with the run's labels, in its order. */
static bool ends_with_run(const Batch *b, const Expr *x) {
  const uint32_t *run = b->run + b->p.n_label - b->n_run;
  if (x->n < b->n_run) return false;
  for (uint32_t i = 0; i < b->n_run; i++) {
    const Expr *at = x->arg[x->n - b->n_run + i];
    if (at->kind != EX_LABEL || at->i != run[i]) return false;
  }
  return true;
}

/* Chooses copies of both sides, as far as they lie otherwise, with the batch labels last that end the result. Longer
 * sums have panels. Returns the cost; INFINITY: there are none. */
static double last_transpose(Batch *b) {
  const TaskStage *st = b->st;
  double lanes = 1;
  bool ok = b->points >= (double)LINES_LEAST && b->deep < (double)SIDE_LEAST && sides_find(b), any = false;
  if (!ok) return INFINITY;
  for (uint32_t k = 0; k < st->n_at; k++)
    if (st->at[k]->kind != EX_LABEL) return INFINITY;
  b->n_run = 0, b->result = false;
  for (uint32_t k = st->n_at; k-- > 0 && b->is[st->at[k]->i]; lanes *= (double)b->p.size[st->at[k]->i])
    b->run[b->p.n_label - ++b->n_run] = (uint32_t)st->at[k]->i;
  memset(b->transposed, 0, st->sum->n_slot * sizeof *b->transposed);
  const uint32_t side[] = {b->lanes, b->rows};
  for (size_t i = 0; i < COUNT(side); i++) any |= b->transposed[side[i]] = !ends_with_run(b, b->read[side[i]]);
  if (!any || lanes < (double)RUN_LEAST) return INFINITY;
  double cost = transposed_cost(b, lanes, &ok);
  return ok ? cost : INFINITY;
}

/* Chooses the copies; false: none. */
static bool copies_choose(Batch *b) {
  const size_t flags = b->st->sum->n_slot * sizeof *b->transposed;
  Env e = {.s = b->s, .stage = b->st, .label = NEW_ARRAY(b->s->arena, const Expr *, b->p.n_label + 1)};
  double last = last_transpose(b), other = lines_transpose(b, LINES_OTHER), end = lines_transpose(b, LINES_END),
         lines = lines_transpose(b, LINES_WHOLE);
  if (end <= lines && end < (double)INFINITY) lines = lines_transpose(b, LINES_END);
  if (other < lines) lines = lines_transpose(b, LINES_OTHER);
  double least = last < lines ? last : lines;
  b->sorted = least < (double)INFINITY && least < pack_cost(b->s, &b->p, &e) * GAIN;
  b->last = b->sorted && last < lines;
  if (b->last) last_transpose(b);
  if (b->sorted) return true;
  const bool result = b->result, *transposed = arena_copy(b->s->arena, b->transposed, flags);
  if (!batch_transposes(b)) return false;
  b->sorted = lines < scattered_cost(b) * GAIN;
  if (b->sorted) b->result = result, memcpy(b->transposed, transposed, flags);
  return true;
}

/* ---- matrices, if extents are unknown ---------------------------------------------------------------------------- */

typedef enum Kind { KIND_BATCH, KIND_ROWS, KIND_LANES, KIND_SUM, KINDS } Kind;
/* The labels of a contraction by what they are. */
typedef struct Matrices { uint32_t n[KINDS], *label[KINDS]; } Matrices;

static uint32_t axis_of(uint32_t n, const Expr *const *at, uint32_t label) {
  for (uint32_t k = 0; k < n; k++)
    if (at[k]->i == (int64_t)label) return k;
  return NOWHERE;
}

/* Adds the labels of this kind, in the order of the indices; false: a label is of no kind. */
static bool kinds_add(Batch *b, Matrices *m, uint32_t n, const Expr *const *at, bool reduced) {
  for (uint32_t k = 0; k < n; k++) {
    uint32_t l = (uint32_t)at[k]->i;
    bool rows = ex_has_label(b->read[b->rows], l), lanes = ex_has_label(b->read[b->lanes], l),
         sum = l >= b->st->sum->n_out;
    if (sum != reduced) continue;
    if (sum ? !rows || !lanes : !rows && !lanes) return false;
    Kind kind = sum ? KIND_SUM : rows && lanes ? KIND_BATCH : rows ? KIND_ROWS : KIND_LANES;
    m->label[kind][m->n[kind]++] = l;
  }
  return true;
}

/* Whether the labels are adjacent, in this order. */
static bool lie_together(uint32_t n, const Expr *const *at, uint32_t n_label, const uint32_t *label) {
  uint32_t first = n_label ? axis_of(n, at, label[0]) : 0;
  for (uint32_t k = 1; k < n_label; k++)
    if (axis_of(n, at, label[k]) != first + k) return false;
  return true;
}

/* Whether a tensor is a matrix along these two kinds, or a stack of them. */
static bool lies_as_matrix(const Matrices *m, uint32_t n, const Expr *const *at, Kind a, Kind c) {
  const uint32_t last = (uint32_t)at[n - 1]->i;
  for (uint32_t k = 0; k < m->n[KIND_BATCH]; k++)
    if (m->label[KIND_BATCH][k] == last) return false;
  return lie_together(n, at, m->n[a], m->label[a]) && lie_together(n, at, m->n[c], m->label[c]);
}

/* Finds both sides and the kinds of all labels; false: there are others, or no kind has several labels. */
static bool matrices_find(Batch *b, Matrices *m) {
  const TaskStage *st = b->st;
  const EinSum *sum = st->sum;
  bool open = false;
  if (sum->n_slot != 2 || !is_plain(b, (uint32_t)st->buffer, st->n_at, st->at) || st->n_at != sum->n_out) return false;
  for (uint32_t a = 0; a < 2; a++)
    if (!b->read[a] || st->slot[a].kept || !is_plain(b, st->slot[a].index, b->read[a]->n, b->read[a]->arg))
      return false;
  b->rows = 0, b->lanes = 1;
  if (ex_has_label(b->read[0], (uint32_t)st->at[st->n_at - 1]->i)) b->rows = 1, b->lanes = 0;
  for (int k = 0; k < KINDS; k++) m->label[k] = NEW_ARRAY(b->s->arena, uint32_t, b->p.n_label + 1);
  const Expr *rows = b->read[b->rows], *lanes = b->read[b->lanes];
  if (!kinds_add(b, m, st->n_at, st->at, false) || !kinds_add(b, m, lanes->n, lanes->arg, true)) return false;
  if (m->n[KIND_SUM] != sum->n_red || !m->n[KIND_ROWS] || !m->n[KIND_LANES]) return false;
  if (!lies_as_matrix(m, lanes->n, lanes->arg, KIND_LANES, KIND_SUM)) { /* the order of the rows' side may suit it */
    m->n[KIND_SUM] = 0;
    if (!kinds_add(b, m, rows->n, rows->arg, true)) return false;
  }
  for (int k = KIND_ROWS; k < KINDS; k++)
    for (uint32_t i = 0; i < m->n[k]; i++) open |= m->n[k] > 1 && !b->p.exact[m->label[k][i]];
  return open;
}

/* The labels of a copy: those of a batch, then of these two kinds. */
static const uint32_t *order_new(const Batch *b, const Matrices *m, Kind a, Kind c) {
  uint32_t *order = NEW_ARRAY(b->s->arena, uint32_t, b->p.n_label + 1), n = 0;
  const Kind kind[] = {KIND_BATCH, a, c};
  for (size_t i = 0; i < COUNT(kind); i++)
    for (uint32_t k = 0; k < m->n[kind[i]]; k++) order[n++] = m->label[kind[i]][k];
  return order;
}

/* A copy of a side: contiguous along the label along which the side is, if that is the last one of its kind. */
static const uint32_t *order_of_side(const Batch *b, const Matrices *m, const Expr *x, Kind own) {
  const uint32_t last = (uint32_t)x->arg[x->n - 1]->i;
  bool along = m->label[own][m->n[own] - 1] == last, across = m->label[KIND_SUM][m->n[KIND_SUM] - 1] == last;
  bool lanes = across ? false : along || own == KIND_LANES;
  return lanes ? order_new(b, m, KIND_SUM, own) : order_new(b, m, own, KIND_SUM);
}

static const Expr *elements_unknown(const Batch *b, uint32_t n, const Expr *const *at) {
  const Expr *all = ex_int(b->s, 1);
  for (uint32_t k = 0; k < n; k++) all = ex_mul(b->s, all, b->st->bound[at[k]->i]);
  return all;
}

/* Adds a tensor to those copied, and the condition that it is small enough. order: of the copy. An element counts more
 * if runs of them are short, here or there. */
static void copied_add(
    Batch *b, const Expr **copied, uint32_t index, uint32_t n, const Expr *const *at, const uint32_t *order) {
  Sched *s = b->s;
  const Expr *all = elements_unknown(b, n, at), *most = ex_int(s, COPY_MOST / dtype_size(buffer_seen(s, index)->dtype));
  const Expr *run = ex_min(s, b->st->bound[at[n - 1]->i], b->st->bound[order[n - 1]]);
  *copied = ex_add(s, *copied, ex_mul(s, all, ex_div_up(s, ex_int(s, RUN_LONG), ex_max(s, run, ex_int(s, 1)))));
  b->when = expr_and(s->x, b->when, expr_op2(s->x, OP_LE, all, most));
}

/* How many tenths of the time of a product of matrices tiles without copies take for a point. */
static int tenths(const Batch *b, const Matrices *m) {
  int loss = LOSS_ALONG;
  for (uint32_t a = 0; a < 2; a++) {
    const uint32_t last = (uint32_t)b->read[a]->arg[b->read[a]->n - 1]->i;
    if (a == b->lanes && last >= b->st->sum->n_out && loss < LOSS_ACROSS) loss = LOSS_ACROSS;
    for (uint32_t k = 0; k < m->n[KIND_BATCH]; k++)
      if (m->label[KIND_BATCH][k] == last) loss = LOSS_BATCH;
  }
  return loss;
}

/* Whether a product of matrices is faster than tiles without copies, whose lanes go along the result's last label and
 * whose sums go along one label at a time. */
static const Expr *matrices_pay(const Batch *b, const Matrices *m, const Expr *copied) {
  Sched *s = b->s;
  const TaskStage *st = b->st;
  const uint32_t along = (uint32_t)st->at[st->n_at - 1]->i;
  const Expr *lanes = ex_int(s, TILE_BYTES / dtype_size(st->sum->acc)), *others = ex_int(s, 1);
  for (uint32_t l = 0; l < b->p.n_label; l++)
    if (l != along) others = ex_mul(s, others, st->bound[l]);
  const Expr *points = ex_mul(s, others, st->bound[along]);
  const Expr *many = expr_op2(s->x, OP_LE, ex_int(s, LINES_LEAST), points);
  if (m->n[KIND_SUM] > 1)
    return expr_and(s->x, many, expr_op2(s->x, OP_LE, ex_mul(s, copied, ex_int(s, POINTS_MATRIX)), points));
  const Expr *filled = ex_mul(s, ex_div_up(s, st->bound[along], lanes), lanes);
  const Expr *tiles = ex_mul(s, filled, ex_int(s, tenths(b, m)));
  const Expr *saved = ex_mul(s, others, ex_sub(s, tiles, ex_mul(s, st->bound[along], ex_int(s, 10))));
  return expr_and(s->x, many, expr_op2(s->x, OP_LE, ex_mul(s, copied, ex_int(s, 10 * POINTS_SAVED)), saved));
}

/* Chooses copies that make matrices of the sides and of the result, and the condition for them; false: none. */
static bool matrices_choose(Batch *b) {
  const TaskStage *st = b->st;
  Matrices m = {0};
  Sched *s = b->s;
  const Expr *copied = ex_int(s, 0), *deep = ex_int(s, 1);
  const uint32_t n = st->sum->n_slot;
  if (!matrices_find(b, &m)) return false;
  b->order = NEW_ARRAY(s->arena, const uint32_t *, n + 1);
  for (uint32_t a = 0; a < n; a++) {
    const Expr *x = b->read[a];
    Kind own = a == b->rows ? KIND_ROWS : KIND_LANES;
    b->transposed[a] = !lies_as_matrix(&m, x->n, x->arg, own, KIND_SUM);
    b->order[a] = order_of_side(b, &m, x, own);
    if (b->transposed[a]) copied_add(b, &copied, st->slot[a].index, x->n, x->arg, b->order[a]);
  }
  b->result = !lies_as_matrix(&m, st->n_at, st->at, KIND_ROWS, KIND_LANES);
  b->order[n] = order_new(b, &m, KIND_ROWS, KIND_LANES);
  if (b->result) copied_add(b, &copied, (uint32_t)st->buffer, st->n_at, st->at, b->order[n]);
  if (!b->when) return false;
  for (uint32_t k = 0; k < b->p.n_red; k++) deep = ex_mul(s, deep, st->bound[b->p.red[k]]);
  b->when = expr_and(s->x, b->when, expr_op2(s->x, OP_LE, ex_int(s, PACK_FEW), deep));
  b->when = expr_and(s->x, b->when, matrices_pay(b, &m, copied));
  how_add(s, st, "as a product of matrices, if that pays");
  return true;
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

/* A work buffer, the tensor whose elements it holds, and the contraction's indices of that tensor. */
typedef struct Copy {
  uint32_t id, other, n;
  const Expr *const *at;
  uint32_t *of;              /* by index of the tensor: its axis in the buffer if each label had an axis of its own; */
  uint32_t rank, *axes;      /*   how many of these each axis joins */
} Copy;

/* A copy with its labels in this order or, if there is none, with the batch in front and the run, if it is sorted,
 * last. The run may be of the batch. */
static Copy *copy_new(
    Batch *b, uint32_t index, uint32_t n, const Expr *const *at, const uint32_t *order, bool sorted) {
  Sched *s = b->s;
  Copy *c = MAKE(s->arena, Copy, .other = index,
      .n = n,
      .at = at,
      .of = NEW_ARRAY(s->arena, uint32_t, n + 1),
      .rank = n,
      .axes = NEW_ARRAY(s->arena, uint32_t, n + 1));
  const Expr **dim = NEW_ARRAY(s->arena, const Expr *, n + 1);
  uint32_t to = 0, n_run = sorted ? b->n_run : 0;
  const uint32_t *run = b->run + b->p.n_label - n_run;
  for (; order && to < n; to++) c->of[axis_of(n, at, order[to])] = to;
  for (uint32_t l = 0; l < b->st->sum->n_out && !order; l++)
    if (b->is[l] && axis_of(n, at, l) != NOWHERE && !number_among(n_run, run, l)) c->of[axis_of(n, at, l)] = to++;
  for (uint32_t k = 0; k < n && !order; k++)
    if (!b->is[at[k]->i] && !number_among(n_run, run, (uint32_t)at[k]->i)) c->of[k] = to++;
  for (uint32_t i = 0; i < n_run; i++) c->of[axis_of(n, at, run[i])] = to++;
  for (uint32_t k = 0; k < n; k++) dim[c->of[k]] = b->st->bound[at[k]->i], c->axes[k] = 1;
  c->id = buffer_shared(s, "transposed", buffer_seen(s, index)->dtype, n, dim);
  return c;
}

static const Expr **transposed_at(Batch *b, const Copy *c) {
  const Expr **to = NEW_ARRAY(b->s->arena, const Expr *, c->n + 1);
  for (uint32_t k = 0; k < c->n; k++) to[c->of[k]] = c->at[k];
  return to;
}

/* Gives the buffer the axes that the contraction sees of the tensor. Returns the buffer's number. */
static uint32_t copy_seen(Batch *b, Copy *c, uint32_t index) {
  const uint32_t *axes = buffer_axes(b->s, index);
  if (!axes) return index;
  const TaskBuffer *x = buffer_seen(b->s, index);
  TaskBuffer *own = &b->s->t->buffers.at[c->id];
  own->rank = c->rank = x->rank, own->dim = x->dim;
  memcpy(c->axes, axes, c->rank * sizeof *axes);
  return c->id;
}

/* By axis: whether it shares a joined axis with the one before, all of whose labels are adjacent in the tensor. */
static bool *axes_joined(const Batch *b, const Copy *c, const uint32_t *index) {
  bool *joined = NEW_ARRAY(b->s->arena, bool, c->n + 1);
  for (uint32_t j = 0, first = 0; j < c->rank; first += c->axes[j++]) {
    bool all = true;
    for (uint32_t u = first + 1; u < first + c->axes[j]; u++) all &= index[u] == index[u - 1] + 1;
    for (uint32_t u = first + 1; u < first + c->axes[j]; u++) joined[u] = all;
  }
  return joined;
}

/* Adds a stage that fills the buffer from the tensor (ahead), or the tensor from the buffer. */
static void copy_add(Batch *b, const Copy *c, bool ahead) {
  Sched *s = b->s;
  DType t = buffer_seen(s, c->other)->dtype;
  uint32_t *index = NEW_ARRAY(s->arena, uint32_t, c->n + 1), *label = NEW_ARRAY(s->arena, uint32_t, c->n + 1),
           n_out = 0, n_other = 0, other = c->other;
  for (uint32_t k = 0; k < c->n; k++) index[c->of[k]] = k;
  const bool *joined = axes_joined(b, c, index);
  TaskStage st = {.name = buffer_seen(s, other)->name, .place = b->st->place};
  const Expr **work = NEW_ARRAY(s->arena, const Expr *, c->n + 1), **at = NEW_ARRAY(s->arena, const Expr *, c->n + 1);
  st.bound = NEW_ARRAY(s->arena, const Expr *, c->n + 1), st.label = NEW_ARRAY(s->arena, Str, c->n + 1);
  for (uint32_t i = 0; i < c->n; i++) { /* labels in the order of what is stored */
    uint32_t u = ahead ? i : c->of[i], of = (uint32_t)c->at[index[u]]->i;
    label[u] = joined[u] ? label[u - 1] : n_out;
    st.bound[label[u]] = joined[u] ? ex_mul(s, st.bound[label[u]], b->st->bound[of]) : b->st->bound[of];
    if (!joined[u]) st.label[n_out++] = b->st->label[of];
  }
  for (uint32_t k = 0; k < c->n; k++) {
    if (joined[c->of[k]]) other = view_joined(s, other, n_other - 1);
    else at[n_other++] = expr_label(s->x, label[c->of[k]]);
  }
  for (uint32_t j = 0, u = 0; j < c->rank; j++)
    for (uint32_t end = u + c->axes[j], first = u; u < end; u++) {
      const Expr *own = expr_label(s->x, label[u]), *size = b->st->bound[c->at[index[u]]->i];
      if (!joined[u]) work[j] = u == first ? own : ex_add(s, ex_mul(s, work[j], size), own);
    }
  st.slot = NEW_ARRAY(s->arena, TaskSlot, 1);
  st.slot[0] = (TaskSlot){false, ahead ? other : c->id};
  st.buffer = (int32_t)(ahead ? c->id : other), st.n_at = ahead ? c->rank : n_other, st.at = ahead ? work : at;
  EinSum *sum = NEW(s->arena, EinSum);
  const Expr *body = expr_read(s->x, t, 0, ahead ? n_other : c->rank, ahead ? at : work);
  *sum = (EinSum){.n_out = n_out, .n_slot = 1, .reducer = RED_NONE, .acc = t, .dtype = t, .body = body};
  st.sum = sum;
  vec_push(s->arena, b->k->stages, st);
}

static const Expr *leaf_transposed(void *env, Exprs *x, const Expr *leaf) {
  const Batch *b = env;
  (void)x;
  return leaf->kind == EX_READ && b->transposed[leaf->i] ? b->read[leaf->i] : leaf;
}

/* The contraction over copies, in which each label is an axis and labels that are now adjacent become one. copy: by
 * slot, the result's last. */
static TaskStage product_new(Batch *b, Copy **copy) {
  Sched *s = b->s;
  TaskStage st = *b->st;
  EinSum *sum = arena_copy(s->arena, st.sum, sizeof *sum);
  st.slot = arena_copy(s->arena, st.slot, sum->n_slot * sizeof *st.slot);
  for (uint32_t a = 0; a < sum->n_slot; a++) {
    const Expr *x = b->read[a];
    if (!b->transposed[a]) continue;
    copy[a] = copy_new(b, st.slot[a].index, x->n, x->arg, b->order ? b->order[a] : NULL,
        b->last || (b->sorted && a == b->lanes));
    st.slot[a].index = copy[a]->id;
    b->read[a] = expr_read(s->x, (DType)x->dtype, a, x->n, transposed_at(b, copy[a]));
  }
  sum->body = expr_map(s->x, sum->body, leaf_transposed, b);
  st.sum = sum;
  if (b->result) {
    Copy *c = copy[sum->n_slot] = copy_new(b, (uint32_t)st.buffer, st.n_at, st.at,
        b->order ? b->order[sum->n_slot] : NULL, b->sorted);
    st.buffer = (int32_t)c->id, st.at = transposed_at(b, c);
  }
  Task one = *b->k;
  vec_push(s->arena, one.stages, st);
  return merge_more(s, &one)->stages.at[0];
}

static void product_add(Batch *b) {
  Sched *s = b->s;
  uint32_t n = b->st->sum->n_slot;
  Copy **copy = NEW_ARRAY(s->arena, Copy *, n + 1);
  TaskStage st = product_new(b, copy);
  for (uint32_t a = 0; a < n; a++)
    if (copy[a]) st.slot[a].index = copy_seen(b, copy[a], st.slot[a].index);
  if (copy[n]) st.buffer = (int32_t)copy_seen(b, copy[n], (uint32_t)st.buffer);
  for (uint32_t a = 0; a <= n; a++)
    if (copy[a]) place_of_buffer(s, copy[a]->id, true);
  for (uint32_t a = 0; a < n; a++)
    if (copy[a]) copy_add(b, copy[a], true);
  vec_push(s->arena, b->k->stages, st);
  if (copy[n]) copy_add(b, copy[n], false);
}

/* ---- entry points ------------------------------------------------------------------------------------------------ */

const Task *batch_task(Sched *s, const Task *k, const Expr **when) {
  *when = NULL;
  if (k->stages.len != 1 || !k->stages.at[0].sum->n_red) return k;
  Batch b = {.s = s, .st = &k->stages.at[0]};
  const EinSum *sum = b.st->sum;
  b.p = stage_plan(s, b.st);
  b.is = NEW_ARRAY(s->arena, bool, b.p.n_label + 1);
  b.read = body_reads(s, sum);
  b.transposed = NEW_ARRAY(s->arena, bool, sum->n_slot + 1);
  b.run = NEW_ARRAY(s->arena, uint32_t, b.p.n_label + 1);
  b.rows = b.lanes = NOWHERE;
  if (!is_free(&b) || !batch_find(&b) || !(is_known(&b) ? copies_choose : matrices_choose)(&b)) return k;
  *when = b.when;
  b.k = arena_copy(s->arena, k, sizeof *k);
  b.k->n_outer = 0;
  b.k->stages.at = NULL, b.k->stages.len = b.k->stages.cap = 0;
  s->follow.in_turn = true;
  product_add(&b);
  return b.k;
}
