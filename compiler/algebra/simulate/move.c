/* algebra/simulate/move.c - finds who sends what to whom, level by level of the machine, and which sites take part
 * in each exchange. */
#include <stdlib.h>

#include "algebra/cost.h"
#include "inside.h"

typedef struct Message { uint32_t from, to, level; double bytes; } Message;

/* Bytes over the links of groups, by group * links + link. */
typedef struct Loads {
  uint64_t *at;
  double *bytes;
  uint32_t n, room;          /* a power of two */
} Loads;

/* There are many messages, so they are enumerated twice instead of stored: to group the sites that exchange data,
 * then to load the links. */
typedef struct Moving {
  Sim *s;
  Arena *arena;
  const AlgPanel *panel;     /* of the move; NULL: all of it */
  double share;              /* of its bytes, if that is all that is known of a panel */
  uint32_t *parent;          /* by site: its parent in its group's tree */
  bool *some;                /*   it sends or receives */
  int32_t *in;               /* its group; NULL: not known yet */
  Group *group;
  bool *crossed;             /* by group, by level */
  Loads loads;               /* of links between larger parts; */
  double *site;              /*   of a site's own two, by link: both its ends are in one group */
  bool *met;                 /*   that carry some */
  uint32_t *wanter;
  uint32_t *place;           /* by site and axis */
} Moving;

/* ---- groups: trees of sites, each with its least site as root ---------------------------------------------------- */

static uint32_t root(Moving *m, uint32_t site) {
  while (m->parent[site] != site) {
    m->parent[site] = m->parent[m->parent[site]];
    site = m->parent[site];
  }
  return site;
}

static void join_trees(Moving *m, uint32_t x, uint32_t y) {
  uint32_t a = root(m, x), b = root(m, y);
  if (a < b) m->parent[b] = a;
  else m->parent[a] = b;
}

/* ---- loads of links ---------------------------------------------------------------------------------------------- */

static void load_add(Loads *l, uint64_t key, double bytes) {
  uint32_t i = (uint32_t)(key * 0x9E3779B97F4A7C15u >> 32) & (l->room - 1);
  while (l->at[i] && l->at[i] != key + 1) i = (i + 1) & (l->room - 1);
  l->n += !l->at[i];
  l->at[i] = key + 1;
  l->bytes[i] += bytes;
}

static void loads_grow(Arena *a, Loads *l) {
  Loads old = *l;
  l->n = 0, l->room = old.room ? 2 * old.room : 1024;
  l->at = NEW_ARRAY(a, uint64_t, l->room);
  l->bytes = NEW_ARRAY(a, double, l->room);
  for (uint32_t i = 0; i < old.room; i++)
    if (old.at[i]) load_add(l, old.at[i] - 1, old.bytes[i]);
}

static void message(Moving *m, const Message *x) {
  const Net *net = &m->s->net;
  if (!m->in) {
    join_trees(m, x->from, x->to);
    m->some[x->from] = m->some[x->to] = true;
    return;
  }
  uint64_t first = (uint64_t)m->in[x->to] * net->n_link;
  uint32_t out = 2 * x->from, in = 2 * x->to + 1;
  m->site[out] += x->bytes, m->site[in] += x->bytes;
  m->met[out] = m->met[in] = true;
  for (uint32_t q = 1; q <= x->level; q++) {
    const NetLevel *v = &net->level[q];
    if (2 * (m->loads.n + 2) > m->loads.room) loads_grow(m->arena, &m->loads);
    load_add(&m->loads, first + v->base + 2 * (x->from / v->size), x->bytes);
    load_add(&m->loads, first + v->base + 2 * (x->to / v->size) + 1, x->bytes);
  }
  m->crossed[(uint32_t)m->in[x->to] * net->n + x->level] = true;
}

/* ---- one block --------------------------------------------------------------------------------------------------- */

static uint32_t site_at(const Mesh *m, const uint32_t *at) {
  uint32_t site = 0;
  for (uint32_t a = 0; a < m->n; a++) site = site * m->size[a] + at[a];
  return site;
}

/* The outermost level at which they are in different parts. */
static uint32_t level_of(const Net *net, uint32_t from, uint32_t to) {
  uint32_t q = net->n - 1;
  while (q > 0 && from / net->level[q].size == to / net->level[q].size) q--;
  return q;
}

static void send(Moving *m, uint32_t from, uint32_t to, double bytes) {
  Message x = {from, to, level_of(&m->s->net, from, to), m->share * bytes};
  message(m, &x);
}

/* Each site gets it directly from one that has it: of equal copies from that at its own place. `gave`: as in is;
 * the site there needs none. NULL: there is no such site. */
static void block_send(Moving *m, const int32_t *is, const int32_t *to, const int32_t *gave, double bytes) {
  const Mesh *mesh = &m->s->program->mesh;
  uint32_t n = sites_at(mesh, to, m->wanter);
  for (uint32_t i = 0; i < n; i++) {
    bool has = true, all = gave != NULL;
    const uint32_t *place = &m->place[m->wanter[i] * mesh->n];
    uint32_t from = 0;
    for (uint32_t a = 0; a < mesh->n; a++) {
      all &= !gave || gave[a] < 0 || gave[a] == (int32_t)place[a];
      has &= is[a] < 0 || is[a] == (int32_t)place[a];
      from = from * mesh->size[a] + (is[a] >= 0 ? (uint32_t)is[a] : place[a]);
    }
    if (!has && !all) send(m, from, m->wanter[i], bytes);
  }
}

/* From each site along the axes of its way, its share. */
static void shares_send(
    Moving *m, const Way *way, uint32_t axis, int32_t *is, const int32_t *to, const int32_t *gave, double bytes) {
  const Mesh *mesh = &m->s->program->mesh;
  while (axis < mesh->n && !(way->axes >> axis & 1)) axis++;
  if (axis == mesh->n) {
    block_send(m, is, to, gave, bytes);
    return;
  }
  for (uint32_t k = 0; k < mesh->size[axis]; k++) {
    is[axis] = (int32_t)k;
    shares_send(m, way, axis + 1, is, to, gave, bytes);
  }
}

/* As the move goes. */
static void way_send(Moving *m, const Way *way, const int32_t *is, const int32_t *to, double bytes) {
  int32_t from[MESH_AXES], all[MESH_AXES];
  for (uint32_t a = 0; a < m->s->program->mesh.n; a++) {
    from[a] = is[a];
    all[a] = way->sharing != SHARE_NONE && way->axes >> a & 1 ? -1 : to[a];
  }
  if (way->sharing != SHARE_COMBINED) block_send(m, is, all, NULL, bytes / way->sites);
  if (way->sharing == SHARE_COMBINED) shares_send(m, way, 0, from, all, NULL, bytes / way->sites);
  if (way->sharing == SHARE_GIVEN) shares_send(m, way, 0, from, all, is, bytes / way->sites);
}

/* Sends each part separately: along axes that have parts, in each place. */
static void parts_send(Moving *m, const AlgNode *n, int32_t *is, int32_t *to, uint32_t axis, double bytes) {
  const Mesh *mesh = &m->s->program->mesh;
  const Placement *from = &n->operand[0].node->at;
  while (axis < mesh->n && from->on[axis] != PLACE_PART) axis++;
  if (axis == mesh->n) {
    way_send(m, &m->s->way[n->id], is, to, bytes);
    return;
  }
  for (uint32_t k = 0; k < mesh->size[axis]; k++) {
    is[axis] = (int32_t)k;
    if (n->at.on[axis] == PLACE_PART) to[axis] = (int32_t)k;
    parts_send(m, n, is, to, axis + 1, bytes);
  }
}

static void blocks_send(Moving *m, const AlgNode *n) {
  const AlgNode *of = n->operand[0].node;
  const Relation *t = &of->type;
  const Mesh *mesh = &m->s->program->mesh;
  int32_t is[MESH_AXES], to[MESH_AXES];
  RelTables ranges = ranges_of(m->arena, t);
  for (Tuples x = {.type = t, .keys = m->s->cost[of->id].there}; tuple_next(&x);) {
    double bytes = rel_block_in(&ranges, x.key) * element_size(t);
    if (bytes <= 0) continue;
    alg_places(mesh, &of->at, t, x.key, is);
    alg_places(mesh, &n->at, t, x.key, to);
    parts_send(m, n, is, to, 0, bytes);
  }
}

/* ---- a fetch ----------------------------------------------------------------------------------------------------- */

/* Fetches for one site, each tuple of the table from one of its holders; requests are counted with the answers. */
static void site_fetches(Moving *m, const AlgNode *n, const AlgFetch *f, uint32_t site) {
  const Mesh *mesh = &m->s->program->mesh;
  const AlgNode *table = alg_table(n);
  uint32_t at[MESH_AXES + 1], from[MESH_AXES + 1];
  int32_t is[MESH_AXES];
  Arena *a = arena_new();
  double *by = NEW_ARRAY(a, double, (size_t)rel_keys(&table->type) + 1);
  mesh_place(mesh, site, at);
  alg_fetch_at(f, at, by);
  for (Tuples x = {.type = &table->type}; tuple_next(&x); by++) {
    if (*by <= 0) continue;
    alg_places(mesh, &table->at, &table->type, x.key, is);
    for (uint32_t k = 0; k < mesh->n; k++) from[k] = is[k] < 0 ? at[k] : (uint32_t)is[k];
    send(m, site_at(mesh, from), site, *by);
  }
  arena_free(a);
}

static bool fetch_send(Moving *m, const AlgNode *n) {
  AlgFetch *f = alg_fetch_begin(m->arena, m->s->program, n);
  if (!f)
    return buf_printf(m->s->why, "%s is fetched from too many blocks to be simulated",
               n->name ? n->name->s : "a value without a name"),
           false;
  for (uint32_t s = 0; s < m->s->net.sites; s++) site_fetches(m, n, f, s);
  return true;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* Orders groups by their smallest site. */
static uint32_t groups_number(Moving *m, int32_t *in) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < m->s->net.sites; i++) {
    uint32_t r = root(m, i);
    in[i] = !m->some[i] ? -1 : r == i ? (int32_t)n++ : in[r];
  }
  return n;
}

/* Lists the members of all groups, group by group. */
static void members_find(Sim *s, const int32_t *in, uint32_t n, Group *g) {
  uint32_t *member = NEW_ARRAY(s->arena, uint32_t, s->net.sites), *at = NEW_ARRAY(s->arena, uint32_t, n + 1);
  for (uint32_t i = 0; i < s->net.sites; i++)
    if (in[i] >= 0) at[in[i] + 1]++;
  for (uint32_t k = 0; k < n; k++) {
    at[k + 1] += at[k];
    g[k].member = member + at[k];
  }
  for (uint32_t i = 0; i < s->net.sites; i++)
    if (in[i] >= 0) member[at[in[i]] + g[in[i]].n_member++] = i;
}

/* For this all messages are enumerated once. */
static void groups_find(Moving *m, Cost *c) {
  Sim *s = m->s;
  int32_t *in = NEW_ARRAY(s->arena, int32_t, s->net.sites);
  c->n_group = groups_number(m, in);
  m->group = NEW_ARRAY(s->arena, Group, c->n_group + 1);
  m->crossed = NEW_ARRAY(m->arena, bool, (size_t)c->n_group * s->net.n + 1);
  m->in = in;
  m->site = NEW_ARRAY(m->arena, double, 2 * s->net.sites);
  m->met = NEW_ARRAY(m->arena, bool, 2 * s->net.sites);
  members_find(s, in, c->n_group, m->group);
  c->group = m->group;
  c->in = in;
}

static int by_key(const void *x, const void *y) {
  uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return (a > b) - (a < b);
}

/* For this all messages are enumerated twice. Messages go at once, so of the levels that they cross the slowest
 * counts. */
static void groups_load(Moving *m, const Way *way, uint32_t n) {
  const Net *net = &m->s->net;
  Loads *l = &m->loads;
  typedef struct Pair { uint64_t key; double bytes; } Pair;
  uint32_t most_links = l->n + 2 * net->sites, *link = NEW_ARRAY(m->s->arena, uint32_t, most_links + 1), len = 0;
  Pair *all = NEW_ARRAY(m->arena, Pair, most_links + 1);
  double *load = NEW_ARRAY(m->s->arena, double, most_links + 1);
  for (uint32_t i = 0; i < 2 * net->sites; i++)
    if (m->met[i]) all[len++] = (Pair){(uint64_t)m->in[i / 2] * net->n_link + i, m->site[i]};
  for (uint32_t i = 0; i < l->room; i++)
    if (l->at[i]) all[len++] = (Pair){l->at[i] - 1, l->bytes[i]};
  qsort(all, len, sizeof *all, by_key);
  for (uint32_t i = 0; i < len; i++) {
    Group *g = &m->group[all[i].key / net->n_link];
    if (!g->n_link++) g->link = link + i, g->load = load + i;
    link[i] = (uint32_t)(all[i].key % net->n_link);
    load[i] = all[i].bytes;
  }
  for (uint32_t k = 0; k < n; k++) {
    double most = 0;
    for (uint32_t q = 0; q < net->n; q++) {
      double latency = m->crossed[k * net->n + q] ? net->level[q].level->link_latency.value : 0;
      most = latency > most ? latency : most;
    }
    m->group[k].latency = way->rounds * most;
    m->group[k].longer = way->longer;
  }
}

static bool messages_go(Moving *m, const AlgNode *n) {
  for (uint32_t i = 0; m->panel && i < m->panel->n_message; i++)
    send(m, m->panel->message[i].from, m->panel->message[i].to, m->panel->message[i].bytes);
  if (m->panel) return true;
  if (n->kind == ALG_FETCH) return fetch_send(m, n);
  if (n->kind == ALG_MOVE) blocks_send(m, n);
  return true;
}

static bool find(Sim *s, const AlgNode *n, const AlgPanel *panel, double share, Cost *c) {
  Moving m = {.s = s, .arena = arena_new(), .panel = panel, .share = share};
  const Mesh *mesh = &s->program->mesh;
  m.parent = NEW_ARRAY(m.arena, uint32_t, s->net.sites);
  m.some = NEW_ARRAY(m.arena, bool, s->net.sites);
  m.wanter = NEW_ARRAY(m.arena, uint32_t, s->net.sites);
  m.place = NEW_ARRAY(m.arena, uint32_t, (size_t)s->net.sites * mesh->n + 1);
  for (uint32_t i = 0; i < s->net.sites; i++) {
    uint32_t at[MESH_AXES + 1];
    m.parent[i] = i;
    mesh_place(mesh, i, at);
    for (uint32_t x = 0; x < mesh->n; x++) m.place[i * mesh->n + x] = at[x];
  }
  bool ok = messages_go(&m, n);
  if (ok) groups_find(&m, c);
  if (ok && c->n_group) {
    messages_go(&m, n);
    groups_load(&m, &s->way[n->id], c->n_group);
  }
  arena_free(m.arena);
  return ok;
}

bool move_find(Sim *s, const AlgNode *n, Cost *c) {
  return find(s, n, NULL, 1, c);
}

/* Shares are not among the messages of tasks. */
void move_panel(Sim *s, const AlgNode *n, uint32_t panel, Cost *c) {
  const AlgTasks *t = &s->tasks[n->id];
  bool told = t->panel[panel].message && s->way[n->id].sharing == SHARE_NONE;
  find(s, n, told ? &t->panel[panel] : NULL, told ? 1 : 1.0 / t->n, c);
}
