/* codegen/schedule/cpu/panels/size.c - chooses the sizes of tiles and blocks of a contraction of two sides. */
#include <math.h>
#include <string.h>

#include "panels.h"

enum {
  NARROW = 64,               /* least rows or lanes of a block, if there are that many */
  BLOCK_OPS = 4000000,       /* there are as many blocks as the square root of the work divided by this */
  PARTS = 4,                 /* of the work, for threads, if a label must be cut for that */
  THIN_OPS = 48,             /* with so few operations per byte of operands, */
  THIN_LEAST = 8 << 20,      /*   and at least so many bytes, there are few blocks */
  PANEL_BYTES = 512 * 1024,  /* of a panel with a partial label: it stays in the second-level cache */
  LARGE_BYTES = 2 << 20,     /* of a panel: it does not, whatever the machine */
  AGAIN = 8,                 /* blocks of lanes that read the same rows of a tensor larger than the second cache */
  FEW = 16,                  /* registers: no tile that keeps a value of each row in these is large enough; */
  VECTORS_FEW = 2,           /*   at most so many vectors of a row, */
  ROWS_FEW = 12,             /*   and rows; */
  BESIDE = 3                 /*   a row's value, a term, and ones (units.c), unless terms are fused with the sums */
};

#define CHAINS 10.0          /* sums in flight, so that none waits for itself */
#define LOAD 0.1             /* cost of a load relative to multiply-adds beside it */

/* ---- sizes ----------------------------------------------------------------------------------------------- */

#define RUN_GAIN 0.9       /* if lines of the result are then whole, and nothing is kept */
#define FLAT_GAIN 1.1      /* in useful lanes: what is kept has to be stored from there */
static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static bool has_few(const Panel *t) { return t->s->target->vector_bytes && t->s->target->vectors <= FEW; }

double pack_product(const StagePlan *p, uint32_t n, const uint32_t *label) {
  double x = 1;
  for (uint32_t k = 0; k < n; k++) x *= (double)p->size[label[k]];
  return x;
}

/* The share of the machine's peak that a tile of adjacent vectors reaches if a row's value is loaded for each of its
 * sums: enough sums are in flight that none waits for itself (a multiply-add takes four cycles, and two issue per
 * cycle), and loads are as cheap as multiply-adds. */
static double shape_worth(int64_t rows, int64_t vectors) {
  double sums = (double)(rows * vectors), loads = (double)(rows + vectors);
  return sums / (fmax(fmax(sums, CHAINS), loads) + LOAD * loads);
}

/* Chooses a tile for few registers: its sums, the lanes, and one row's value. */
static double tile_size_few(Panel *t, int64_t nv) {
  const StagePlan *p = t->p;
  int64_t one = tile_vector(t->s, p->stage->sum->acc), nu = p->size[t->u.tile];
  const RedTerm *term;
  bool fused = p->stage->sum->reducer == RED_SUM &&
      (is_op(t->of, OP_MUL) || red_terms(t->s, p->stage->sum, t->of, &term) > 1);
  int64_t beside = fused ? 1 : BESIDE;
  double best = 0;
  for (int64_t vectors = VECTORS_FEW; vectors > 0; vectors--)
    for (int64_t rows = 1; rows <= ROWS_FEW && rows * vectors + vectors + beside <= tile_vectors(t->s); rows++) {
      int64_t lanes = vectors * one;
      double worth = shape_worth(rows, vectors);
      if (lanes % (SQUARE / 2)) continue;
      if (p->exact[t->v.tile]) worth *= (double)nv / (double)(up(nv, lanes) * lanes);
      if (p->exact[t->u.tile]) worth *= (double)nu / (double)(up(nu, rows) * rows);
      if (worth > best) best = worth, t->v.unit = lanes, t->u.unit = rows;
    }
  return best;
}

/* The number of operands that move along a label. */
static int64_t operands_along(const StagePlan *p, uint32_t label) {
  int64_t n = 0;
  for (uint32_t a = 0; a + 1 < p->n_access; a++) n += plan_move(p, a, label) != MOVE_NONE;
  return n;
}

/* The most rows of so many vectors whose sums, and the values of a product's operands, stay in registers: a sum of
 * several products (of complex numbers) is added product by product. */
static int64_t rows_fit(const Panel *t, int64_t vectors) {
  const RedTerm *term;
  int64_t products = red_terms(t->s, t->p->stage->sum, t->of, &term);
  int64_t values = up(operands_along(t->p, (uint32_t)t->u.tile), products);
  int64_t lanes = up(operands_along(t->p, (uint32_t)t->v.tile), products), registers = t->s->target->registers - 1;
  int64_t rows = (registers - vectors * lanes) / (vectors + values);
  return rows > 1 ? rows : 1;
}

/* Chooses lanes and rows that fit the registers and waste least at the end. */
static double tile_size(Panel *t, int64_t nv) {
  if (t->fitted && has_few(t)) return tile_size_few(t, nv);
  static const struct { int64_t vectors, rows; double worth; } shape[] = {{2, 8, 1}, {3, 6, 0.96}, {1, 12, 0.88}};
  const StagePlan *p = t->p;
  int64_t one = vector_lanes(t->s, p->stage->sum->acc), nu = p->size[t->u.tile];
  double best = 0;
  for (size_t k = 0; k < COUNT(shape); k++) {
    int64_t lanes = shape[k].vectors * one, rows = shape[k].rows, most = rows_fit(t, shape[k].vectors);
    if (rows > most && shape[k].vectors > 2) continue; /* gains nothing over two vectors then, and clang holds those */
    if (rows > most) rows = most;
    if (p->exact[t->u.tile] && nu < rows) rows = nu;
    double worth = shape[k].worth * (double)rows / (double)shape[k].rows;
    if (p->exact[t->v.tile]) worth *= (double)nv / (double)(up(nv, lanes) * lanes);
    if (p->exact[t->u.tile]) rows = up(nu, up(nu, rows)), worth *= (double)nu / (double)(up(nu, rows) * rows);
    if (worth <= best) continue;
    best = worth;
    t->v.unit = lanes, t->u.unit = rows;
  }
  return best;
}

/* Whether a predicate depends on the label. */
static bool decides(const StagePlan *p, uint32_t label) {
  const EinSum *sum = p->stage->sum;
  return (sum->where && ex_has_label(sum->where, label)) || (sum->domain && ex_has_label(sum->domain, label));
}

/* Whether a stage of the kernel stores to the buffer, which can then not be seen with other axes. */
static bool is_stored(const Panel *t, uint32_t buffer) {
  const Sched *s = t->s;
  for (uint32_t i = 0; i < s->task->stages.len; i++) {
    int32_t to = s->task->stages.at[i].buffer;
    if (to >= 0 && buffer_seen(s, (uint32_t)to)->id == buffer) return true;
  }
  return false;
}

/* Whether the pack is a tensor read along other axes than that of the lanes, with plain indices. */
static bool is_transposable(const Panel *t, const Pack *k) {
  const Expr *of = k->of;
  if (!k->lanes || of->kind != EX_READ || t->p->stage->slot[of->i].kept) return false;
  if (is_stored(t, buffer_seen(t->s, t->p->stage->slot[of->i].index)->id)) return false;
  for (uint32_t a = 0; a < of->n; a++)
    if (of->arg[a]->has & HAS_READ) return false;
  return pack_moves(of, t->v.tile) <= 0;
}

/* Whether the label of lanes is whole in each block. */
static bool is_near(const Panel *t, int64_t label) {
  const Side *x = &t->v;
  for (uint32_t k = 0; k < x->n_near; k++)
    if (x->near[k] == label) return !pack_is_part(x, label);
  return false;
}

/* The label, reduced or whole in a block of lanes, that covers the whole axis of the pack's tensor and is in no other
 * index; NO_LABEL: none. */
static int64_t label_of_axis(const Panel *t, const Pack *k, uint32_t axis) {
  const Expr *at = k->of->arg[axis];
  const TaskBuffer *b = buffer_seen(t->s, t->p->stage->slot[k->of->i].index);
  bool whole = at->kind == EX_LABEL && b->dim[axis] == t->p->stage->bound[at->i] &&
      (at->i >= t->p->stage->sum->n_out || is_near(t, at->i));
  for (uint32_t a = 0; whole && a < k->of->n; a++) whole = a == axis || !ex_has_label(k->of->arg[a], at->i);
  return whole ? at->i : NO_LABEL;
}

/* The last labels of the pack's tensor, if they are such ones, and shorter together than a square: how many there
 * are. */
static uint32_t short_run(const Panel *t, const Pack *k) {
  uint32_t n = 0;
  for (int64_t points = 1; n < k->of->n; n++) {
    int64_t label = label_of_axis(t, k, k->of->n - 1 - n);
    if (label == NO_LABEL) return 0;
    points *= t->p->size[label];
    if (!t->p->exact[label] || points >= (int64_t)SQUARE) break;
  }
  return n < k->of->n ? n : 0;
}

/* The reduced label before such a run of *n, with which it makes squares; NO_LABEL: there is none. */
static int64_t transposed_run(const Panel *t, const Pack *k, uint32_t *n) {
  *n = is_transposable(t, k) && t->v.unit % (SQUARE / 2) == 0 ? short_run(t, k) : 0;
  int64_t points = 1, label = NO_LABEL;
  uint32_t own = 0;
  for (uint32_t i = 0; *n && i <= *n; i++) {
    label = k->of->arg[k->of->n - 1 - i]->i;
    points *= pack_depth(t, (uint32_t)label);
    for (uint32_t j = 0; j < k->n_red; j++)
      own += k->red[j] == label && (i == *n || pack_depth(t, (uint32_t)label) == t->p->size[label]);
    own += i < *n && is_near(t, label);
  }
  if (own == *n + 1 && points >= (int64_t)SQUARE) return label;
  return *n = 0, NO_LABEL;
}

/* The reduced label along which the lanes' pack is read, to be transposed, together with *n labels behind it. */
static int64_t transposed_label(const Panel *t, const Pack *k, uint32_t *n) {
  uint32_t r = k->n_red ? k->red[k->n_red - 1] : NOWHERE;
  *n = 0;
  if (t->depth.cut_too != NO_LABEL && pack_moves(k->of, t->depth.cut) > 0) r = (uint32_t)t->depth.cut;
  if (r == NOWHERE || t->p->size[r] < (int64_t)SQUARE || pack_depth(t, r) < (int64_t)SQUARE || t->v.unit % (SQUARE / 2))
    return transposed_run(t, k, n);
  return pack_moves(k->of, r) > pack_moves(k->of, t->v.tile) ? (int64_t)r : transposed_run(t, k, n);
}

/* Takes labels of constant size whole into the block while there is room, those of the result's smallest strides
 * first. */
static void near_take(Panel *t, Side *x, double room) {
  const StagePlan *p = t->p;
  uint32_t first = x->n_far, kept = x->n_far;
  double taken = 1;
  for (uint32_t k = x->n_far; k-- > 0;) {
    uint32_t l = x->far[k];
    if (!decides(p, l) && p->exact[l] && taken * (double)p->size[l] <= room)
      taken *= (double)p->size[l], x->near[--first] = l;
    else x->far[--kept] = l;
  }
  x->n_near = x->n_far - first;
  memmove(x->near, x->near + first, x->n_near * sizeof *x->near);
  memmove(x->far, x->far + kept, (x->n_far -= kept) * sizeof *x->far);
}

static int64_t balanced(int64_t size, int64_t most, int64_t unit) {
  return up(up(size, up(size, most)), unit);
}

Part *pack_part(Side *x, int64_t label) {
  for (uint32_t k = 0; k < x->n_part; k++)
    if (x->part[k].label == label) return &x->part[k];
  return NULL;
}

bool pack_is_part(const Side *x, int64_t label) {
  for (uint32_t k = 0; k < x->n_part; k++)
    if (x->part[k].label == label) return true;
  return false;
}

int64_t pack_near_size(const Panel *t, const Side *x, uint32_t near) {
  for (uint32_t k = 0; k < x->n_part; k++)
    if (x->part[k].label == x->near[near]) return x->part[k].slots;
  return t->p->size[x->near[near]];
}

double pack_near_all(const Panel *t, const Side *x) {
  double n = 1;
  for (uint32_t k = 0; k < x->n_near; k++) n *= (double)pack_near_size(t, x, k);
  return n;
}

/* The number of elements to pack that are contiguous along this label, and along none by which squares or lines can
 * already be read. */
static double part_gain(const Panel *t, uint32_t label) {
  const StagePlan *p = t->p;
  double all = 0;
  for (uint32_t i = 0; i < t->n_pack; i++) {
    const Pack *k = &t->pack[i];
    double n = 1;
    uint32_t run;
    if (!k->lanes || pack_moves(k->of, label) <= 0 || pack_moves(k->of, t->v.tile) >= 0 ||
        transposed_label(t, k, &run) != NO_LABEL)
      continue;
    for (uint32_t l = 0; l < p->n_label; l++) n *= ex_has_label(k->of, l) ? (double)p->size[l] : 1;
    all += n;
  }
  return all;
}

double pack_lane_bytes(const Panel *t) {
  double widest = 1;
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (t->pack[k].lanes) widest = fmax(widest, (double)dtype_size((DType)t->pack[k].of->dtype));
  return widest * pack_points(t);
}

/* Sorts the lanes' outer labels by their order in the pack that is contiguous along `part`: neighbouring blocks then
 * soon reuse its lines and pages. */
static void far_sort(Panel *t, uint32_t part) {
  const Expr *of = NULL;
  for (uint32_t i = 0; i < t->n_pack && !of; i++)
    if (t->pack[i].lanes && pack_moves(t->pack[i].of, part) > 0) of = t->pack[i].of;
  for (uint32_t k = 1; of && k < t->v.n_far; k++) {
    uint32_t label = t->v.far[k], at = k;
    for (; at && pack_axis(of, t->v.far[at - 1]) > pack_axis(of, label); at--) t->v.far[at] = t->v.far[at - 1];
    t->v.far[at] = label;
  }
}

/* The points of the label in a block: all, if that leaves room for a tile of lanes, because long runs read faster than
 * scattered lines; else a few lines of each. */
static int64_t slots_lines(const Panel *t, int64_t n, bool exact) {
  int64_t unit = t->v.unit, lanes = up(t->p->size[t->v.tile], unit) * unit, few = lanes < NARROW ? lanes : NARROW;
  double room = (double)PANEL_BYTES / pack_lane_bytes(t);
  if (exact && n <= NARROW && (double)(n * unit) <= room) return n;
  room /= (double)few;
  int64_t slots = room < (double)SQUARE ? SQUARE
      : room > (double)NARROW           ? NARROW
                                        : (int64_t)room,
          blocks = up(n, slots);
  if (blocks > 1 && up(n, blocks) < SQUARE) blocks--; /* keeps squares whole */
  return exact ? up(n, blocks) : slots < 2 * SQUARE ? SQUARE : 2 * SQUARE;
}

/* Takes the lanes' other label along which most is contiguous into the block, at least in part, so that whole lines
 * are read and whole vectors written: an element moved by squares takes a quarter of a cycle, one by one several. */
static void part_take(Panel *t) {
  const StagePlan *p = t->p;
  Side *x = &t->v;
  uint32_t best = NOWHERE;
  double most = 0;
  for (uint32_t k = 0; k < x->n_far; k++) {
    double gain = decides(p, x->far[k]) || p->size[x->far[k]] < SQUARE / 2 ? 0 : part_gain(t, x->far[k]);
    if (gain > most) best = k, most = gain;
  }
  if (best == NOWHERE || x->unit % (SQUARE / 2)) return;
  uint32_t label = x->far[best];
  x->part[x->n_part++] = (Part){.label = label, .slots = slots_lines(t, p->size[label], p->exact[label])};
  memmove(x->far + best, x->far + best + 1, (--x->n_far - best) * sizeof *x->far);
  far_sort(t, label);
}

/* The number of blocks that cutting rows and lanes can give. */
static double blocks_most(const Panel *t) {
  const StagePlan *p = t->p;
  double rows = (double)p->size[t->u.tile] / (double)NARROW, lanes = (double)p->size[t->v.tile] / (double)NARROW;
  double far = pack_product(p, t->n_common, t->common) * pack_product(p, t->u.n_far, t->u.far) *
      pack_product(p, t->v.n_far, t->v.far);
  return far * fmax(1, rows) * fmax(1, lanes);
}

/* The points of the label in each of PARTS parts: a little more than an equal share, if tiles that also go over it
 * then leave fewer lanes empty. */
static int64_t slots_choose(const Panel *t, const Side *x, uint32_t label) {
  int64_t n = t->p->size[label], lanes = t->p->size[x->tile], share = up(n, PARTS), best = share, fewest = INT64_MAX;
  if (x != &t->v || !t->p->exact[x->tile]) return share;
  for (int64_t slots = share; slots <= share + share / 4; slots++) {
    int64_t tiles = n / slots * up(slots * lanes, x->unit) + up(n % slots * lanes, x->unit);
    if (tiles < fewest) best = slots, fewest = tiles;
  }
  return best;
}

/* If there is much work, cuts the first label that is whole in a side's blocks into parts for threads; not if
 * something is contiguous along it. */
static void part_for_threads(Panel *t, Side *x) {
  const StagePlan *p = t->p;
  if (!x->n_near) return;
  uint32_t label = x->near[0];
  double work = 2;
  for (uint32_t l = 0; l < p->n_label; l++) work *= (double)p->size[l];
  if (p->size[label] < 2 * PARTS || work < (double)(BLOCK_OPS * PARTS * PARTS)) return;
  for (uint32_t k = 0; k < t->n_pack; k++)
    if (pack_moves(t->pack[k].of, label) > 0) return;
  x->part[x->n_part++] = (Part){.label = label, .slots = slots_choose(t, x, label)};
}

/* Bytes of the lanes' panel with all of their label. */
static double near_bytes(const Panel *t) {
  return pack_lane_bytes(t) * (double)t->p->size[t->v.tile] * pack_near_all(t, &t->v);
}

/* Cuts labels for threads if there would be too few blocks, or if the lanes' panel exceeds one core's cache. Few rows
 * would otherwise be cut into pieces of lines. */
static void parts_for_threads(Panel *t) {
  if (blocks_most(t) >= (double)PARTS && near_bytes(t) <= (double)LARGE_BYTES) return;
  part_for_threads(t, &t->v);
  if (t->v.n_part && t->p->size[t->u.tile] < NARROW) part_for_threads(t, &t->u);
}

/* The most rows in a block; rows of few bytes may be twice as many. The lanes' panel is filled for each block. */
static double rows_room(const Panel *t) {
  double bytes = (double)dtype_size(t->p->stage->sum->acc) * pack_points(t);
  return (double)PACK_WIDE * (bytes * 4 * (double)PACK_WIDE <= (double)PANEL_BYTES ? 4 : 2);
}

/* ---- longer runs ---- */

/* The lanes' label before this one among the indices, if it is walked over around the panels; NOWHERE: it is not. */
static uint32_t far_before(const Panel *t, uint32_t n, const Expr *const *at, int64_t label) {
  if (n < 2 || at[n - 1]->kind != EX_LABEL || at[n - 1]->i != label || at[n - 2]->kind != EX_LABEL) return NOWHERE;
  uint32_t before = (uint32_t)at[n - 2]->i;
  for (uint32_t k = 0; k < t->v.n_far; k++)
    if (t->v.far[k] == before && t->p->exact[before] && !decides(t->p, before)) return before;
  return NOWHERE;
}

/* Takes so many points of the label, a divisor of its extent, into a block. */
static void run_take(Panel *t, uint32_t label, int64_t slots) {
  Side *x = &t->v;
  uint32_t kept = 0;
  for (uint32_t k = 0; k < x->n_far; k++)
    if (x->far[k] != label) x->far[kept++] = x->far[k];
  x->n_far = kept;
  x->part[x->n_part++] = (Part){.label = label, .slots = slots};
}

/* The lanes that fit, with all of one label in a panel. */
static double run_room(const Panel *t) { return (double)PACK_AHEAD / (pack_lane_bytes(t) * pack_near_all(t, &t->v)); }

/* Takes the label along which the result continues behind its lanes: the fewest points that make whole lines, if the
 * result bypasses the cache; false: there are none. */
static bool run_stored(Panel *t) {
  const TaskStage *st = t->p->stage;
  uint32_t label = pack_may_hold(t) ? far_before(t, st->n_at, st->at, t->v.tile) : NOWHERE;
  if (label == NOWHERE) return false;
  int64_t n = t->p->size[label], lanes = t->p->size[t->v.tile], bytes = lanes * dtype_size(st->sum->dtype);
  for (int64_t slots = 2; slots < n && (double)(slots * lanes) <= run_room(t); slots++) {
    if (n % slots || slots * bytes % PACK_LINE) continue;
    run_take(t, label, slots);
    return true;
  }
  return false;
}

/* Takes the label along which the source of squares continues behind the first part: as many points as fit; false:
 * there are none. */
static bool run_read(Panel *t) {
  uint32_t label = NOWHERE;
  if (t->v.part[0].slots != t->p->size[t->v.part[0].label]) return false;
  for (uint32_t i = 0; i < t->n_pack && label == NOWHERE; i++) {
    const Expr *of = t->pack[i].of;
    if (t->pack[i].lanes && of->kind == EX_READ) label = far_before(t, of->n, of->arg, t->v.part[0].label);
  }
  if (label == NOWHERE) return false;
  for (int64_t slots = t->p->size[label] / 2; slots > 1; slots--) {
    if (t->p->size[label] % slots || (double)(slots * t->p->size[t->v.tile]) > run_room(t)) continue;
    run_take(t, label, slots);
    return true;
  }
  return false;
}

/* Makes the runs that squares read and results write longer: to the near labels, adds a part of what follows in the
 * source, the first part itself, and a part of what follows the lanes in the result, over which tiles also go. */
static void runs_take(Panel *t) {
  Side *x = &t->v;
  uint32_t first = x->n_near++;
  x->near[first] = x->part[0].label;
  if (!t->p->exact[x->tile] || t->p->size[x->tile] >= NARROW) return;
  if (run_stored(t)) x->near[x->n_near++] = x->part[x->n_part - 1].label;
  if (!run_read(t)) return;
  memmove(x->near + first + 1, x->near + first, (x->n_near++ - first) * sizeof *x->near);
  x->near[first] = x->part[x->n_part - 1].label;
}

/* The points of the lanes' other labels that lie behind the lanes in the result, if those of a line are not all of one
 * lane: a block without them would store each line several times. */
static double lanes_behind(const Panel *t) {
  const TaskStage *st = t->p->stage;
  double points = 1, stride = (double)dtype_size(st->sum->dtype);
  for (uint32_t k = st->n_at; k-- > 0 && stride < (double)PACK_LINE;) {
    if (st->at[k]->kind != EX_LABEL) return 1;
    if (st->at[k]->i == t->v.tile) return points;
    for (uint32_t i = 0; i < t->v.n_far; i++)
      if (t->v.far[i] == st->at[k]->i) points *= (double)t->p->size[st->at[k]->i];
    stride *= (double)t->p->size[st->at[k]->i];
  }
  return 1;
}

static void block_near(Panel *t) {
  const StagePlan *p = t->p;
  int64_t nu = t->p->size[t->u.tile], nv = t->p->size[t->v.tile];
  part_take(t);
  double room = nv < PACK_WIDE / 2 ? 2.0 * (double)PACK_WIDE / (double)nv : 1;
  if (t->v.n_part) room = fmin(room, (double)PANEL_BYTES / (pack_lane_bytes(t) * (double)(nv * t->v.part[0].slots)));
  near_take(t, &t->u, nu < PACK_WIDE / 2 ? rows_room(t) / (double)nu : 1);
  near_take(t, &t->v, fmax(room, lanes_behind(t)));
  if (!t->v.n_part) {
    parts_for_threads(t);
    return;
  }
  runs_take(t);
  if (blocks_most(t) * (double)up(p->size[t->v.part[0].label], t->v.part[0].slots) < (double)PARTS)
    part_for_threads(t, &t->u);
}

/* Two narrow tiles, of which the second is cut off, are not separated: tiles can then go over two labels. */
static bool stays_whole(const Panel *t) {
  int64_t n = t->p->size[t->v.tile], unit = t->v.unit;
  return t->fitted && has_few(t) && n <= 2 * unit && n % unit != 0;
}

/* The most lanes in a block if it has a partial label. */
static int64_t lanes_most(const Panel *t, int64_t most) {
  if (!t->v.n_part) return most;
  int64_t least = stays_whole(t) ? 2 * t->v.unit : t->v.unit;
  double room = (double)PANEL_BYTES / (pack_lane_bytes(t) * pack_near_all(t, &t->v));
  while (most > least && (double)most > room) most /= 2;
  return most;
}

/* All rows or lanes if they are few: with several blocks, each would fill the other side again. */
static int64_t whole_or(int64_t n, int64_t most, int64_t unit) {
  return n > most ? most : n < NARROW ? n : up(n, unit) * unit;
}

static int64_t halved(int64_t n, int64_t most) {
  while (most > n) most = n < NARROW ? n : most / 2;
  return most;
}

/* Whether there is so little work per byte that reading again costs more than a few more blocks would gain. */
static bool is_thin(const Panel *t, double work) {
  const StagePlan *p = t->p;
  double bytes = 0;
  for (uint32_t i = 0; i < t->n_pack; i++) {
    double n = (double)dtype_size((DType)t->pack[i].of->dtype);
    if (!read_is_far(t->s, p, t->pack[i].of)) continue;
    for (uint32_t l = 0; l < p->n_label; l++) n *= ex_has_label(t->pack[i].of, l) ? (double)p->size[l] : 1;
    bytes += n;
  }
  return t->keep.sums && bytes >= (double)THIN_LEAST && work < bytes * (double)THIN_OPS;
}

/* Chooses the rows and lanes of a block, at most `most` of each. */
static void block_size(Panel *t, int64_t most) {
  const StagePlan *p = t->p;
  int64_t nu = p->size[t->u.tile], nv = p->size[t->v.tile];
  double near_u = pack_near_all(t, &t->u), near_v = pack_near_all(t, &t->v);
  double all = pack_product(p, t->n_common, t->common) * pack_product(p, t->u.n_far, t->u.far) *
      pack_product(p, t->v.n_far, t->v.far);
  for (uint32_t k = 0; k < t->v.n_part; k++) all *= (double)up(p->size[t->v.part[k].label], t->v.part[k].slots);
  for (uint32_t k = 0; k < t->u.n_part; k++) all *= (double)up(p->size[t->u.part[k].label], t->u.part[k].slots);
  double work = all * (double)nu * near_u * (double)nv * near_v * pack_product(p, p->n_red, p->red) * 2;
  t->thin = is_thin(t, work);
  int64_t most_v = lanes_most(t, most), wide_u = whole_or(nu, most, t->u.unit),
          wide_v = whole_or(nv, most_v, t->v.unit);
  double blocks = all * (double)up(nu, wide_u) * (double)up(nv, wide_v);
  if (blocks * blocks * (double)BLOCK_OPS < work) {
    wide_u = t->thin && nu <= PACK_WIDE / 2 ? nu : halved(nu, most);
    wide_v = t->thin && nv <= PACK_WIDE / 2 ? nv : halved(nv, most_v);
  }
  for (;;) {
    blocks = all * (double)up(nu, wide_u) * (double)up(nv, wide_v);
    double u = (double)wide_u * near_u, v = (double)wide_v * near_v;
    if (blocks * blocks * (double)BLOCK_OPS >= work || (t->thin && blocks >= (double)PARTS)) break;
    bool cut_u = u > (double)NARROW && wide_u > t->u.unit,
         cut_v = v > (double)NARROW && wide_v > t->v.unit && !stays_whole(t);
    if (cut_u && (u > v || (!cut_v && blocks < 2 * (double)PARTS))) wide_u /= 2;
    else if (cut_v) wide_v /= 2;
    else break;
  }
  t->u.units = p->exact[t->u.tile] ? balanced(nu, wide_u, t->u.unit) : up(wide_u, t->u.unit);
  t->v.units = p->exact[t->v.tile] ? balanced(nv, wide_v, t->v.unit) : up(wide_v, t->v.unit);
}

int64_t pack_depth(const Panel *t, uint32_t label) {
  return label == t->depth.cut ? t->depth.deep : label == t->depth.cut_too ? t->depth.deep_too : t->p->size[label];
}

double pack_points(const Panel *t) {
  double n = (double)t->depth.deep;
  for (uint32_t k = 0; k < t->depth.n_inner; k++) n *= (double)pack_depth(t, t->depth.inner[k]);
  return n;
}

/* Lanes that are contiguous along the cut label would be moved one by one if a block had few points of it: it then
 * gets more of them, and fewer of the inner label. */
static void depth_both(Panel *t, int64_t room) {
  const StagePlan *p = t->p;
  PanelDepth *d = &t->depth;
  uint32_t inner = d->n_inner == 1 ? d->inner[0] : NOWHERE;
  int64_t few = 2 * SQUARE, rest = 2 * room / few;
  bool along = false;
  for (uint32_t k = 0; k < t->n_pack; k++) along |= t->pack[k].lanes && pack_moves(t->pack[k].of, d->cut) > 0;
  if (!along || inner == NOWHERE || d->deep >= SQUARE || !p->exact[d->cut] || p->size[d->cut] < few ||
      p->size[inner] < 2 * rest)
    return;
  d->deep = up(p->size[d->cut], up(p->size[d->cut], few));
  d->cut_too = inner;
  d->deep_too = up(p->size[inner], up(p->size[inner], rest));
}

/* Distributes the reduced labels: from the last on, whole while there is room; the first that does not fit is cut. */
static void depth_in_order(Panel *t, uint32_t *red) {
  const StagePlan *p = t->p;
  PanelDepth *d = &t->depth;
  int64_t bytes = dtype_size(p->stage->sum->acc), room = PANEL_BLOCK_BYTES / (bytes < 4 ? 4 : bytes), k = p->n_red;
  d->red = red;
  d->inner = red + p->n_red;
  d->outer = red;
  d->n_inner = 0;
  while (k-- > 0 && p->exact[red[k]] && p->size[red[k]] <= room && k > 0) {
    d->inner--, d->n_inner++;
    room /= p->size[red[k]] ? p->size[red[k]] : 1;
  }
  d->cut = red[k];
  d->n_outer = (uint32_t)k;
  int64_t n = p->size[d->cut];
  bool whole = p->exact[d->cut] && n <= 2 * room;
  d->deep = whole ? (n ? n : 1) : p->exact[d->cut] ? up(n, up(n, room)) : room;
  t->keep.sums = !whole || d->n_outer;
  d->cut_too = NO_LABEL;
  if (!whole) depth_both(t, PANEL_BLOCK_BYTES / (bytes < 4 ? 4 : bytes));
}

/* Whether a block has all points of the reduced label. */
static bool is_deep(const Panel *t, uint32_t label) {
  for (uint32_t k = 0; k < t->depth.n_outer; k++)
    if (t->depth.outer[k] == label) return false;
  return pack_depth(t, label) >= t->p->size[label];
}

/* A block has all points of the short labels along which lanes lie, so that squares can go along them and what is
 * before: these labels come last if they would not fit otherwise. */
static void depth_size(Panel *t) {
  const StagePlan *p = t->p;
  uint32_t *red = NEW_ARRAY(t->s->arena, uint32_t, p->n_red + 1), n = 0;
  bool *last = NEW_ARRAY(t->s->arena, bool, p->n_label + 1), fits = true;
  depth_in_order(t, p->red);
  for (uint32_t i = 0; i < t->n_pack; i++) {
    uint32_t run = is_transposable(t, &t->pack[i]) ? short_run(t, &t->pack[i]) : 0;
    for (uint32_t j = 1; j <= run; j++) last[t->pack[i].of->arg[t->pack[i].of->n - j]->i] = true;
  }
  for (uint32_t k = 0; k < p->n_red; k++) fits &= !last[p->red[k]] || is_deep(t, p->red[k]);
  if (fits) return;
  for (int late = 0; late < 2; late++)
    for (uint32_t k = 0; k < p->n_red; k++)
      if (last[p->red[k]] == late) red[n++] = p->red[k];
  depth_in_order(t, red);
}

/* Lists each pack's reduced labels. */
static void packs_red(Panel *t) {
  for (uint32_t i = 0; i < t->n_pack; i++) {
    Pack *k = &t->pack[i];
    k->red = NEW_ARRAY(t->s->arena, uint32_t, t->p->n_red + 1);
    k->lies = NEW_ARRAY(t->s->arena, uint32_t, t->p->n_red + 1);
    for (uint32_t r = t->depth.n_outer; r < t->p->n_red; r++) {
      uint32_t label = t->depth.red[r], at = k->n_red;
      if (!ex_has_label(k->of, label)) continue;
      for (; at && pack_axis(k->of, k->lies[at - 1]) > pack_axis(k->of, label); at--) k->lies[at] = k->lies[at - 1];
      k->lies[at] = k->red[k->n_red++] = label;
    }
  }
}

/* Whether an index depends on data, which tiles would read again at each point. */
static bool is_at_data(const Expr *of) {
  for (uint32_t k = 0; k < of->n; k++)
    if (of->kind == EX_READ && of->arg[k]->has & HAS_READ) return true;
  return false;
}

/* Chooses each pack's panel layout, or that it is read in place. */
static void packs_choose(Panel *t) {
  const StagePlan *p = t->p;
  double panels = (double)t->v.units * pack_near_all(t, &t->v);
  for (uint32_t i = 0; i < t->n_pack; i++) {
    Pack *k = &t->pack[i];
    const Side *x = k->lanes ? &t->v : &t->u;
    int along = k->n_red ? pack_moves(k->of, k->red[k->n_red - 1]) : -1, tile = pack_moves(k->of, x->tile);
    k->transposed = k->lanes ? transposed_label(t, k, &k->n_run) : NO_LABEL;
    k->run = NEW_ARRAY(t->s->arena, uint32_t, k->n_run + 1);
    for (uint32_t j = 0; j < k->n_run; j++) k->run[j] = (uint32_t)k->of->arg[k->of->n - k->n_run + j]->i;
    if (k->lanes && k->transposed == NO_LABEL && t->v.n_part && pack_moves(k->of, t->v.part[0].label) > 0 && tile < 0)
      k->transposed = t->v.part[0].label;
    k->across = k->lanes ? k->transposed != NO_LABEL : tile > along;
    bool plain = k->of->kind == EX_READ,
         steps = k->across && !p->stage->slot[k->of->i].kept && pack_product(p, p->n_red, p->red) > 64;
    if (k->lanes) continue;
    if (t->guard || pack_is_tested(t, k->of) || is_at_data(k->of)) continue;
    bool far = plan_bytes(t->s, p, (uint32_t)k->of->i) > (double)SECOND_CACHE &&
        (pack_is_far(t->s, p, k->of, (uint32_t)x->tile) || pack_product(p, t->v.n_far, t->v.far) >= (double)AGAIN);
    bool product = is_op(k->of, OP_MUL) && t->v.unit >= 2 * tile_vector(t->s, p->stage->sum->acc);
    if (plain ? pack_overlaps(t, k->of) || (panels < (far ? 2 : 4) && !steps) : panels < 2 && !product)
      k->place = NOWHERE;
  }
}

/* Whether gcc keeps such a tile in registers: its sums, a value of each row, and one of lanes. It unrolls loops of two
 * vectors, and three if there are more than 16 lanes. */
static bool tile_fits(const Sched *s, int64_t rows, int64_t lanes, int64_t one) {
  int64_t vectors = lanes / one;
  return lanes % one == 0 && vectors <= (lanes > 16 ? 3 : 2) && rows * vectors + rows + 1 <= tile_vectors(s);
}

void pack_cut(Panel *t) {
  int64_t one = tile_vector(t->s, t->p->stage->sum->acc), rows = t->u.unit, lanes = t->v.unit, best = 0;
  int64_t line = t->keep.held ? 64 / dtype_size(t->p->stage->sum->acc) : 1;
  bool transposed = false;
  if (t->fitted && has_few(t)) return;
  for (uint32_t k = 0; k < t->n_pack; k++) transposed |= t->pack[k].lanes && t->pack[k].across;
  for (int64_t r = rows; r > 0; r--)
    for (int64_t l = lanes; l >= one; l--) {
      if (rows % r || lanes % l || (transposed && l % (SQUARE / 2)) || l % line || !tile_fits(t->s, r, l, one) ||
          r * l <= best)
        continue;
      best = r * l;
      t->u.unit = r, t->v.unit = l;
    }
  t->u.units *= rows / t->u.unit;
  t->v.units *= lanes / t->v.unit;
}

int64_t pack_flat_size(const Panel *t, const Side *x) {
  for (uint32_t k = 0; k < x->n_part; k++)
    if (x->part[k].label == x->flat) return t->p->size[x->tile] * x->part[k].slots;
  return t->p->size[x->tile] * t->p->size[x->flat];
}

const Expr *pack_flat(const Panel *t, const Side *x) {
  const Expr *n = t->p->stage->bound[x->flat];
  for (uint32_t k = 0; k < x->n_part; k++)
    if (x->part[k].label == x->flat) n = x->part[k].slot_n;
  return ex_mul(t->s, n, t->p->stage->bound[x->tile]);
}

/* Tiles that are cut off at the end waste lanes. If all lanes and all of another of the side's labels are in the
 * block, tiles may go over both. */
static void flat_choose(Panel *t, double worth) {
  const StagePlan *p = t->p;
  Side *x = &t->v;
  const EinSum *sum = p->stage->sum;
  int64_t lanes = p->size[x->tile], unit = x->unit, units = t->u.units, rows = t->u.unit;
  if (!x->n_near || !p->exact[x->tile] || t->guard || sum->where || sum->domain || lanes < SQUARE / 2 ||
      x->units * unit < lanes)
    return;
  x->flat = x->near[x->n_near - 1];
  bool run = x->n_part > 1 && pack_is_part(x, x->flat) && x->flat != x->part[0].label;
  if (p->exact[x->flat] && tile_size(t, pack_flat_size(t, x)) > worth * (run ? RUN_GAIN : FLAT_GAIN)) {
    t->u.units = up(units * rows, t->u.unit);
    x->units = up(lanes, x->unit);
    return;
  }
  x->flat = NO_LABEL, x->unit = unit, t->u.unit = rows;
}

/* ---- entry points ----------------------------------------------------------------------------------------- */

bool pack_fits(const Panel *t) {
  return !t->p->stage->sum->where || pack_is_gate(t->p);
}

void pack_sizes(Panel *t) {
  double worth = tile_size(t, t->p->size[t->v.tile]);
  depth_size(t);
  packs_red(t);
  block_near(t);
  block_size(t, PACK_WIDE);
  packs_choose(t);
  if (t->fitted && t->s->target->wide) block_size(t, t->s->target->wide);
  Side u = t->u, v = t->v;
  flat_choose(t, worth);
  if (!pack_line_choose(t) && t->v.flat != NO_LABEL) {
    t->u = u, t->v = v; /* one more copy costs more than the lanes left empty */
    pack_line_choose(t);
  }
  pack_body(t);
  pack_zeros_find(t);
}
