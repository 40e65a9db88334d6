/* algebra/simulate/simulate.c - the entry point: turns a region's nodes into operations, runs a few turns of a
 * repeat and extrapolates, and adds up the results. */
#include "inside.h"

enum { TURNS_RUN = 3 };      /* of a repeat */

static const double SAME_TURN = 1e-9; /* turns whose relative difference is less count as equal */

typedef struct Result { SimTurns turns; const SimOp *op; Ran ran; Trail last; } Result;

static bool region_run(Sim *s, const AlgRegion *r, int64_t turns, Result *out);

/* ---- the machine's links -------------------------------------------------------------------------------------- */

static Net net_new(Arena *a, const Seconds *s) {
  const Machine *m = s->machine;
  NetLevel *level = NEW_ARRAY(a, NetLevel, m->levels.len);
  Net net = {.sites = (uint32_t)s->sites, .level = level};
  uint32_t size = 1;
  for (uint32_t k = m->site + 1; k < m->levels.len; k++) {
    if (s->used[k] == 1) continue;
    level[net.n++] = (NetLevel){&m->levels.at[k], size, net.n_link};
    net.n_link += 2 * (net.sites / size);
    size *= (uint32_t)s->used[k];
  }
  double *rate = NEW_ARRAY(a, double, net.n_link + 1);
  for (uint32_t q = 0; q < net.n; q++)
    for (uint32_t k = level[q].base; k < (q + 1 < net.n ? level[q + 1].base : net.n_link); k++)
      rate[k] = level[q].level->link.value;
  net.rate = rate;
  return net;
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

typedef VEC(uint32_t) Numbers;

typedef struct Making { Sim *s; const AlgRegion *region; VEC(SimOp) op; Numbers *now, *before; } Making;
/* by node id, its ops in this turn, and in the last: one for each panel */

static void wait_for_all(Making *m, Numbers *of, const Numbers *ops) {
  for (uint32_t k = 0; k < ops->len; k++) vec_push(m->s->arena, *of, ops->at[k]);
}

/* What is made outside the region is already there. */
static void wait_for(Making *m, Numbers *of, const AlgNode *n) {
  if (n) wait_for_all(m, of, &m->now[n->id]);
}

/* A repeat waits for all that its region and nested ones take from outside. */
static void wait_for_body(Making *m, Numbers *of, const AlgRegion *body) {
  for (uint32_t i = 0; i < body->states.len; i++) wait_for(m, of, body->states.at[i].init);
  wait_for(m, of, body->bound);
  vec_each_of(const AlgNode, n, body->nodes) {
    for (uint32_t k = 0; k < n->n_operand; k++) wait_for(m, of, n->operand[k].node);
    if (n->kind == ALG_REPEAT) wait_for_body(m, of, n->body);
  }
}

static void op_push(Making *m, const AlgNode *n, uint32_t turn, uint32_t panel, const Numbers *of) {
  const Cost *cost = m->s->of[n->id] < 0 ? &m->s->cost[n->id] : &m->s->panel[n->id][panel];
  SimOp o = {n, cost, turn, panel, m->s->of[n->id] < 0 ? 0 : m->s->tasks[m->s->of[n->id]].n, of->len, of->at};
  vec_push(m->s->arena, m->now[n->id], m->op.len);
  vec_push(m->s->arena, m->op, o);
}

static void op_add(Making *m, const AlgNode *n, uint32_t turn) {
  Numbers of = {0};
  if (n->kind == ALG_REPEAT) wait_for_body(m, &of, n->body);
  else if (n->repeat && n->kind != ALG_STATE) wait_for(m, &of, n->repeat);
  else if (n->kind == ALG_STATE && turn) wait_for_all(m, &of, &m->before[m->region->states.at[n->index].next->id]);
  else if (n->kind != ALG_STATE)
    for (uint32_t k = 0; k < n->n_operand; k++) wait_for(m, &of, n->operand[k].node);
  op_push(m, n, turn, 0, &of);
}

/* Of what shares its panels, a node waits for the same panel. A join's panels are made in their order. */
static void panel_add(Making *m, const AlgNode *n, uint32_t turn, uint32_t panel) {
  const int32_t *of = m->s->of;
  Numbers wait = {0};
  for (uint32_t k = 0; k < n->n_operand; k++) {
    const AlgNode *x = n->operand[k].node;
    if (of[x->id] == of[n->id]) vec_push(m->s->arena, wait, m->now[x->id].at[panel]);
    else wait_for(m, &wait, x);
  }
  if (n->kind == ALG_JOIN && panel) vec_push(m->s->arena, wait, m->now[n->id].at[panel - 1]);
  op_push(m, n, turn, panel, &wait);
}

/* A join with all that shares its panels: panel by panel. */
static void panels_add(Making *m, const AlgNode *join, uint32_t turn) {
  for (uint32_t panel = 0; panel < m->s->tasks[join->id].n; panel++)
    for (uint32_t i = 0; i < m->region->nodes.len; i++)
      if (m->s->of[m->region->nodes.at[i]->id] == (int32_t)join->id)
        panel_add(m, m->region->nodes.at[i], turn, panel);
}

/* Adds what an op of this turn waits for because tasks do that before. */
static void wait_for_tasks(Making *m, SimOp *o) {
  const AlgTasks *t = &m->s->tasks[o->node->id];
  const AlgPanel *p = t->panel ? &t->panel[o->panel] : NULL;
  if (!p || !p->n_after) return;
  uint32_t *of = NEW_ARRAY(m->s->arena, uint32_t, o->n_of + p->n_after + 1), n = o->n_of;
  for (uint32_t k = 0; k < n; k++) of[k] = o->of[k];
  for (uint32_t k = 0; k < p->n_after; k++) {
    const Numbers *ops = &m->now[p->after[k].node];
    if (ops->len) of[n++] = ops->at[p->after[k].panel < ops->len ? p->after[k].panel : ops->len - 1];
  }
  o->of = of;
  o->n_of = n;
}

static bool may_follow(const SimOp *o, uint32_t from, const uint32_t *placed) {
  for (uint32_t k = 0; k < o->n_of; k++)
    if (o->of[k] >= from && !placed[o->of[k] - from]) return false;
  return true;
}

/* Numbers this turn's ops, from `from` on, such that each comes after what it waits for, and else in their order:
 * a site's queue has kernels in this order. placed: 1 + the new number. False: some would wait for themselves. */
static bool order_find(uint32_t n, const SimOp *op, uint32_t from, uint32_t *placed) {
  uint32_t done = 0;
  for (uint32_t last = UINT32_MAX; done < n && last != done;) {
    last = done;
    for (uint32_t i = 0; i < n; i++)
      if (!placed[i] && may_follow(&op[i], from, placed)) placed[i] = from + ++done;
  }
  return done == n;
}

static void after_add(Making *m, uint32_t from) {
  Arena *a = m->s->arena;
  uint32_t n = m->op.len - from, *placed = NEW_ARRAY(a, uint32_t, n + 1);
  if (!m->s->tasks || !n) return;
  SimOp *op = NEW_ARRAY(a, SimOp, n), *was = arena_copy(a, m->op.at + from, n * sizeof *was);
  for (uint32_t i = 0; i < n; i++) wait_for_tasks(m, &was[i]);
  if (!order_find(n, was, from, placed)) return;
  for (uint32_t i = 0; i < n; i++) {
    SimOp o = was[i];
    uint32_t *of = NEW_ARRAY(a, uint32_t, o.n_of + 1);
    for (uint32_t k = 0; k < o.n_of; k++) of[k] = o.of[k] < from ? o.of[k] : placed[o.of[k] - from] - 1;
    o.of = of;
    op[placed[i] - 1 - from] = o;
  }
  for (uint32_t i = 0; i < n; i++) m->op.at[from + i] = op[i], m->now[op[i].node->id].at[op[i].panel] = from + i;
}

static void ops_make(Making *m, uint32_t turns) {
  uint32_t all = m->s->program->n_nodes + 1;
  m->now = NEW_ARRAY(m->s->arena, Numbers, all);
  for (uint32_t t = 0; t < turns; t++) {
    m->before = m->now;
    m->now = NEW_ARRAY(m->s->arena, Numbers, all);
    uint32_t from = m->op.len;
    vec_each_of(const AlgNode, n, m->region->nodes) {
      if (m->s->of[n->id] < 0) op_add(m, n, t);
      if (m->s->of[n->id] == (int32_t)n->id) panels_add(m, n, t);
    }
    after_add(m, from);
  }
}

/* ---- durations --------------------------------------------------------------------------------------------------- */

static bool turns_find(Sim *s, const AlgNode *n) {
  Result r;
  const AlgRegion *body = n->body;
  if (!region_run(s, body, body->turns < 0 ? 1 : body->turns, &r)) return false;
  s->out->turns_unknown |= body->turns < 0 || body->stop;
  SimTurns *all = arena_copy(s->arena, &r.turns, sizeof *all);
  s->cost[n->id].turns = all;
  return true;
}

/* Kernels take an equal share of their time in each panel. */
static void panel_costs(Sim *s, const AlgNode *n) {
  uint32_t panels = s->tasks[s->of[n->id]].n, sites = s->net.sites;
  Cost *cost = NEW_ARRAY(s->arena, Cost, panels);
  double *seconds = NEW_ARRAY(s->arena, double, sites + 1);
  const double *all = s->cost[n->id].seconds;
  for (uint32_t i = 0; all && i < sites; i++) seconds[i] = all[i] / panels;
  for (uint32_t k = 0; k < panels; k++) {
    if (n->kind == ALG_MOVE) move_panel(s, n, k, &cost[k]);
    else cost[k] = (Cost){.seconds = all ? seconds : NULL};
  }
  s->panel[n->id] = cost;
}

static bool costs_find(Sim *s, const AlgRegion *r) {
  vec_each_of(const AlgNode, n, r->nodes) {
    if (!(n->kind == ALG_REPEAT ? turns_find(s, n) : cost_find(s, n))) return false;
    if (s->of[n->id] >= 0) panel_costs(s, n);
  }
  return true;
}

/* ---- panels ---------------------------------------------------------------------------------------------------- */

static bool is_view(const AlgNode *n) {
  return n->kind == ALG_MAP || n->kind == ALG_AGGREGATE || n->kind == ALG_FILTER;
}

/* Marks what lies between a node of the join's panels, or the join itself, and the one above it. */
static void between_mark(Sim *s, const AlgNode *from, int32_t join) {
  const AlgNode *n = from;
  while (is_view(n) && s->of[n->id] < 0) n = n->operand[0].node;
  if (s->of[n->id] != join) return;
  for (n = from; s->of[n->id] < 0; n = n->operand[0].node) s->of[n->id] = join;
}

/* Which nodes are done in panels: joins and moves, as tasks do them, and what is between them and after a move. */
static void panels_find(Sim *s, const AlgRegion *r) {
  vec_each_of(const AlgNode, n, r->nodes) {
    int32_t of = s->tasks[n->id].of;
    if (n->kind == ALG_REPEAT) panels_find(s, n->body);
    if (of < 0) continue;
    s->of[n->id] = of;
    if (n->kind == ALG_MOVE) between_mark(s, n->operand[0].node, of);
    for (uint32_t k = 0; n->kind == ALG_JOIN && k < n->n_operand; k++) between_mark(s, n->operand[k].node, of);
  }
  for (uint32_t i = 0; i < r->nodes.len; i++) {
    const AlgNode *n = r->nodes.at[i], *above = is_view(n) ? n->operand[0].node : NULL;
    if (above && s->of[n->id] < 0 && above->kind != ALG_JOIN) s->of[n->id] = s->of[above->id];
  }
}

/* ---- bounds ------------------------------------------------------------------------------------------------------ */

static double group_alone(const Net *net, const Group *g) {
  double most = 0;
  for (uint32_t k = 0; k < g->n_link; k++) {
    double seconds = g->longer * g->load[k] / net->rate[g->link[k]];
    most = seconds > most ? seconds : most;
  }
  return g->latency + most;
}

static double max_of(double a, double b) { return a > b ? a : b; }

/* All sites of a group, or of a repeat, begin when the last one has arrived. */
static void begin_together(const SimOp *o, uint32_t sites, double *at) {
  double all = 0;
  for (uint32_t k = 0; k < o->cost->n_group; k++) {
    const Group *g = &o->cost->group[k];
    double last = 0;
    for (uint32_t i = 0; i < g->n_member; i++) last = max_of(last, at[g->member[i]]);
    for (uint32_t i = 0; i < g->n_member; i++) at[g->member[i]] = last;
  }
  for (uint32_t i = 0; i < sites; i++) all = max_of(all, at[i]);
  for (uint32_t i = 0; o->cost->turns && i < sites; i++) at[i] = all;
}

/* Its duration at each site with free links. */
static void alone_find(const Net *net, const SimOp *o, uint32_t sites, double *alone) {
  for (uint32_t i = 0; i < sites; i++)
    alone[i] = o->cost->turns ? o->cost->turns->chain : o->cost->seconds ? o->cost->seconds[i] : 0;
  for (uint32_t k = 0; k < o->cost->n_group; k++) {
    const Group *g = &o->cost->group[k];
    double takes = group_alone(net, g);
    for (uint32_t i = 0; i < g->n_member; i++) alone[g->member[i]] = takes;
  }
}

/* By turn, when its last operation ends if links are free. */
static void chain_find(const Sim *s, uint32_t n, const SimOp *op, double *by_turn) {
  uint32_t sites = s->net.sites;
  Arena *a = arena_new();
  double *end = NEW_ARRAY(a, double, (size_t)n * sites + 1), *alone = NEW_ARRAY(a, double, sites + 1);
  for (uint32_t i = 0; i < n; i++) {
    double *at = end + (size_t)i * sites;
    for (uint32_t k = 0; k < op[i].n_of; k++)
      for (uint32_t x = 0; x < sites; x++) at[x] = max_of(at[x], end[(size_t)op[i].of[k] * sites + x]);
    begin_together(&op[i], sites, at);
    alone_find(&s->net, &op[i], sites, alone);
    for (uint32_t x = 0; x < sites; x++) {
      at[x] += alone[x];
      by_turn[op[i].turn] = max_of(by_turn[op[i].turn], at[x]);
    }
  }
  arena_free(a);
}

/* All groups of a move at once, with their links. */
static double move_alone(const Net *net, const Cost *c, double *load) {
  double latency = 0, most = 0;
  for (uint32_t k = 0; k < net->n_link; k++) load[k] = 0;
  for (uint32_t k = 0; k < c->n_group; k++) {
    latency = max_of(latency, c->group[k].latency);
    const Group *g = &c->group[k];
    for (uint32_t i = 0; i < g->n_link; i++) load[g->link[i]] += g->longer * g->load[i];
  }
  for (uint32_t k = 0; k < net->n_link; k++) most = max_of(most, load[k] / net->rate[k]);
  return latency + most;
}

static double sequence_find(const Sim *s, uint32_t n, const SimOp *op) {
  double all = 0, *load = NEW_ARRAY(s->arena, double, s->net.n_link + 1);
  for (uint32_t i = 0; i < n; i++) {
    double most = 0;
    for (uint32_t x = 0; op[i].cost->seconds && x < s->net.sites; x++) most = max_of(most, op[i].cost->seconds[x]);
    if (op[i].cost->n_group) most = move_alone(&s->net, op[i].cost, load);
    all += op[i].cost->turns ? op[i].cost->turns->sequence : most;
  }
  return all;
}

/* ---- a region, with its turns ------------------------------------------------------------------------------------ */

/* Finds the ends of turns, and the last end of all. */
static void ends_find(const Sim *s, uint32_t n, Result *r, double *by_turn) {
  double last = -1;
  r->last = (Trail){-1, -1};
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t x = 0; x < s->net.sites; x++) {
      double end = r->ran.end[(size_t)i * s->net.sites + x];
      by_turn[r->op[i].turn] = max_of(by_turn[r->op[i].turn], end);
      if (end > last) last = end, r->last = (Trail){(int32_t)i, (int32_t)x};
    }
}

/* Extrapolates: the remaining turns take as long as the last one. */
static double go_on(const double *end, uint32_t run, int64_t turns) {
  double last = run ? max_of(end[run - 1], run > 1 ? end[run - 2] : 0) : 0, step = run > 1 ? last - end[run - 2] : last;
  return last + (double)(turns - run) * step;
}

static bool turns_same(const double *end) {
  double second = end[1] - end[0], third = end[2] - end[1], off = third > second ? third - second : second - third;
  return off <= SAME_TURN * end[2];
}

static bool region_run(Sim *s, const AlgRegion *r, int64_t turns, Result *out) {
  uint32_t run = turns < TURNS_RUN ? (uint32_t)turns : TURNS_RUN;
  double end[TURNS_RUN] = {0}, chain[TURNS_RUN] = {0};
  Making m = {.s = s, .region = r};
  if (!costs_find(s, r)) return false;
  ops_make(&m, run);
  *out = (Result){.op = m.op.at, .ran = ops_run(s->arena, &s->net, m.op.len, m.op.at)};
  ends_find(s, m.op.len, out, end);
  chain_find(s, m.op.len, m.op.at, chain);
  if (turns > TURNS_RUN) s->out->turns_cut = true;
  if (turns > TURNS_RUN && !turns_same(end)) s->out->turns_differ = true;
  double times = run ? (double)turns / run : 0, ran = run ? end[run - 1] : 0;
  out->turns = (SimTurns){go_on(end, run, turns), go_on(chain, run, turns), times * sequence_find(s, m.op.len, m.op.at),
      out->ran.busy, out->ran.waiting, out->ran.carried};
  for (uint32_t i = 0; i < s->net.sites; i++) {
    out->ran.busy[i] *= times;
    if (ran > 0) out->ran.waiting[i] *= out->turns.seconds / ran;
  }
  for (uint32_t i = 0; i < s->net.n_link; i++) out->ran.carried[i] *= times;
  return true;
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* Follows the critical path back from the end: each operation to what it waited for last. */
static void steps_find(Sim *s, Arena *a, const Result *r) {
  VEC(SimStep) step = {0};
  for (Trail x = r->last; x.op >= 0;) {
    size_t at = (size_t)x.op * s->net.sites + (size_t)x.site;
    const SimOp *o = &r->op[x.op];
    Trail from = r->ran.from[at];
    double begin = from.op < 0 ? 0 : r->ran.end[(size_t)from.op * s->net.sites + (size_t)from.site];
    int32_t in = o->cost->in ? o->cost->in[x.site] : -1;
    SimStep y = {o->node, x.site, 1, o->panel, o->panels, begin, r->ran.end[at] - begin};
    if (in >= 0) y.site = o->cost->group[in].member[0], y.sites = o->cost->group[in].n_member;
    if (o->cost->turns) y.site = 0, y.sites = s->net.sites;
    if (y.seconds > 0) vec_push(a, step, y);
    x = from;
  }
  for (uint32_t i = 0; i + i + 1 < step.len; i++) {
    SimStep other = step.at[i];
    step.at[i] = step.at[step.len - 1 - i];
    step.at[step.len - 1 - i] = other;
  }
  s->out->n_step = step.len;
  s->out->step = step.at;
}

static SimLink busiest_find(const Net *net, const double *carried) {
  SimLink x = {0};
  for (uint32_t q = 0; q < net->n; q++)
    for (uint32_t k = 0; k < 2 * (net->sites / net->level[q].size); k++) {
      uint32_t link = net->level[q].base + k;
      double seconds = carried[link] / net->rate[link];
      if (seconds > x.seconds) x = (SimLink){net->level[q].level, k / 2, k % 2, carried[link], seconds};
    }
  return x;
}

/* Bytes into sites: data that enters a larger part enters at one of its sites. */
static double received(const Net *net, const double *carried) {
  double bytes = 0;
  for (uint32_t i = 0; net->n && i < net->sites; i++) bytes += carried[net->level[0].base + 2 * i + 1];
  return bytes;
}

static void result_tell(Sim *s, Arena *a, const Result *r) {
  Simulated *out = s->out;
  double busy = 0, waiting = 0;
  for (uint32_t i = 0; i < s->net.sites; i++) {
    busy += r->turns.busy[i];
    waiting += r->turns.waiting[i];
    out->kernels = max_of(out->kernels, r->turns.busy[i]);
  }
  out->seconds = r->turns.seconds;
  double all = out->seconds * s->net.sites;
  out->idle = all > busy ? (all - busy) / all : 0; /* the sum of busy seconds may slightly exceed the total */
  out->waiting = all > 0 ? waiting / all : 0;
  out->chain = r->turns.chain;
  out->sequence = r->turns.sequence;
  out->received = received(&s->net, r->turns.carried);
  out->busiest = busiest_find(&s->net, r->turns.carried);
  steps_find(s, a, r);
}

Simulated *simulate(Arena *a, const Algebra *ia, const Seconds *seconds, const AlgTasks *tasks, Buf *why) {
  Simulated *out = NEW(a, Simulated);
  Result r;
  BUG_UNLESS(ia->placed && mesh_sites(&ia->mesh) == seconds->sites);
  if (seconds->sites > SIM_SITES) {
    buf_printf(why, "%lld sites are too many to simulate: %d at most", (long long)seconds->sites, SIM_SITES);
    return NULL;
  }
  Sim s = {.arena = arena_new(),
      .program = ia,
      .seconds = seconds,
      .tasks = tasks,
      .out = out,
      .why = why};
  s.net = net_new(s.arena, seconds);
  s.cost = NEW_ARRAY(s.arena, Cost, ia->n_nodes + 1);
  s.of = NEW_ARRAY(s.arena, int32_t, ia->n_nodes + 1);
  s.panel = NEW_ARRAY(s.arena, const Cost *, ia->n_nodes + 1);
  for (uint32_t i = 0; i < ia->n_nodes; i++) s.of[i] = -1;
  if (tasks) panels_find(&s, ia->top);
  kept_find(&s);
  sharing_find(&s);
  bool ok = region_run(&s, ia->top, 1, &r);
  if (ok) result_tell(&s, a, &r);
  arena_free(s.arena);
  return ok ? out : NULL;
}
