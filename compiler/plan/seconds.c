/* plan/seconds.c - the part of a machine that a program uses: how many parts of each level, and how fast a site
 * computes each vertex. */
#include "seconds.h"

/* ---- how many sites ----------------------------------------------------------------------------------------- */

int64_t machine_sites(const Machine *m) {
  int64_t n = 1;
  for (uint32_t k = m->site + 1; k < m->levels.len; k++)
    if (!mul_ok(n, m->levels.at[k].parts, &n)) return INT64_MAX;
  return n;
}

/* Uses as many parts as possible of the innermost level, such that the rest fits in the levels around it. */
static bool use(const Machine *m, uint32_t level, int64_t sites, int64_t *used) {
  if (level == m->levels.len) return sites == 1;
  int64_t parts = m->levels.at[level].parts;
  for (int64_t n = parts < sites ? parts : sites; n > 0; n--) {
    used[level] = n;
    if (sites % n == 0 && use(m, level + 1, sites / n, used)) return true;
  }
  return false;
}

static bool levels_use(const Machine *m, int64_t sites, int64_t *used, Buf *why) {
  int64_t all = machine_sites(m);
  for (uint32_t k = 0; k <= m->site; k++) used[k] = 1;
  if (sites > all) {
    buf_printf(
        why, "%s has %lld site%s, and %lld are needed", m->name, (long long)all, all > 1 ? "s" : "", (long long)sites);
    return false;
  }
  if (use(m, m->site + 1, sites, used)) return true;
  buf_printf(why, "%lld sites do not fill the levels of %s evenly:", (long long)sites, m->name);
  for (uint32_t k = m->site + 1; k < m->levels.len; k++)
    buf_printf(
        why, "%s %lld in a %s", k > m->site + 1 ? "," : "", (long long)m->levels.at[k].parts, m->levels.at[k].name);
  return false;
}

/* ---- rates ----------------------------------------------------------------------------------------------------- */

/* The dtype that it computes in: its result's, or, where that is no float but an operand is, the operand's. */
static DType computes_in(const EinSum *s, DType result, uint32_t n, const DType *read, const SumCount *count) {
  if (dtype_is_float(result) || !count->flops) return result;
  for (uint32_t k = 0; k < n; k++)
    if (dtype_is_float(read[k])) return read[k];
  return dtype_is_float(s->acc) ? s->acc : DT_F32;
}

/* The rate of all that is inside a site together. 0: unknown. */
static double site_rate(const Machine *m, DType t, MachineRate r) {
  double times = 1;
  for (uint32_t k = m->site + 1; k-- > 0;) {
    const MachineLevel *l = &m->levels.at[k];
    if (l->rate[t][r].value > 0) return times * l->rate[t][r].value;
    times *= (double)l->parts;
  }
  return 0;
}

/* A dtype without a rate has that of its accumulator, and small integers that of i32. False: there is no rate at
 * all. */
static bool rate_find(const Machine *m, DType t, Reducer by, Computing *c) {
  DType as[] = {t, dtype_sum(t), DT_I32};
  for (size_t k = 0; k < (dtype_is_float(t) ? 2 : COUNT(as)); k++)
    for (int r = by == RED_MAX || by == RED_MIN ? RATE_ADD_MAX : RATE_MULTIPLY_ADD; r >= 0; r--) {
      double rate = site_rate(m, as[k], (MachineRate)r);
      c->dtype = as[k], c->rate = (MachineRate)r;
      c->seconds = rate > 0 ? c->operations / rate : 0;
      if (rate > 0) return true;
    }
  return false;
}

bool seconds_point(
    const Machine *m, const EinSum *s, DType result, uint32_t n, const DType *read, Computing *c) {
  SumCount count = sum_count(s, NULL);
  c->operations = (double)count.flops + (double)count.integer;
  DType t = computes_in(s, result, n, read, &count);
  if (rate_find(m, t, s->reducer, c) || c->operations <= 0) return true;
  c->dtype = t;
  return false;
}

static bool computing_find(Arena *a, const PartGraph *g, const Machine *m, Computing *c, Buf *why) {
  for (uint32_t i = 0; i < g->vertices.len; i++) {
    const PartVertex *v = &g->vertices.at[i];
    if (v->node->kind != EIN_VERTEX) continue;
    DType *read = NEW_ARRAY(a, DType, v->reads.len + 1);
    for (uint32_t k = 0; k < v->reads.len; k++) read[k] = v->reads.at[k].node->dtype;
    bool known = seconds_point(m, v->sum, v->node->dtype, v->reads.len, read, &c[i]);
    c[i].operations *= v->inner;
    c[i].seconds *= v->inner;
    if (known) continue;
    buf_printf(why,
        "%s does not say how fast a %s computes %s in %s: its operations_per_second, %s, multiply_add is needed",
        m->name, m->levels.at[m->site].name, v->name, dtype_name(c[i].dtype), dtype_name(c[i].dtype));
    return false;
  }
  return true;
}

static bool memory_rate(const Machine *m, double *out, Buf *why) {
  const MachineLevel *l = &m->levels.at[m->site];
  for (uint32_t k = 0; k < l->memories.len; k++)
    if (l->memories.at[k].read.value > 0) *out = l->memories.at[k].read.value;
  if (*out <= 0)
    buf_printf(why,
        "%s does not say how fast a %s reads its memory: read_bytes_per_second of one of its memories is needed",
        m->name, l->name);
  return *out > 0;
}

static bool latencies_known(const Seconds *s, Buf *why) {
  for (uint32_t k = s->machine->site + 1; k < s->machine->levels.len; k++) {
    const MachineLevel *l = &s->machine->levels.at[k];
    if (s->used[k] == 1 || l->link_latency.value > 0) continue;
    buf_printf(why, "%s does not say how long a message takes in a %s: latency_seconds of its link is needed",
        s->machine->name, l->name);
    return false;
  }
  return true;
}

Seconds *seconds_new(Arena *a, const PartGraph *g, const Machine *m, int64_t sites, Buf *why) {
  Seconds *s = NEW(a, Seconds);
  int64_t *used = NEW_ARRAY(a, int64_t, m->levels.len);
  Computing *computing = NEW_ARRAY(a, Computing, g->vertices.len + 1);
  *s = (Seconds){.machine = m, .sites = sites, .used = used, .computing = computing};
  if (!levels_use(m, sites, used, why) || !latencies_known(s, why)) return NULL;
  return memory_rate(m, &s->memory, why) && computing_find(a, g, m, computing, why) ? s : NULL;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static double largest(int64_t extent, uint32_t n) {
  return (double)(extent / n + (extent % n > 0));
}

double seconds_kernels(const Seconds *s, const PartVertex *v, uint32_t vertex, const uint32_t *count) {
  double points = part_points(v, count), result = dtype_size(v->node->dtype), bytes = 0;
  for (uint32_t l = 0; l < v->n_out; l++) result *= largest(v->extent[l], count[l]);
  vec_each(const PartRead, r, v->reads) {
    double block = 1;
    for (uint32_t d = 0; d < r->rank; d++) block *= largest(r->extent[d], r->label[d] < 0 ? 1 : count[r->label[d]]);
    if (r->call) bytes += dtype_size(r->node->dtype) * (points < block ? points : block); /* each point reads one */
  }
  double computing = points * s->computing[vertex].seconds, reading = (bytes + result) / s->memory;
  return computing > reading ? computing : reading;
}
