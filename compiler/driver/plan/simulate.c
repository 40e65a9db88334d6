/* driver/plan/simulate.c - ein plan -n P --machine m.json --simulate: a run of the plan on the machine, without data
 * (algebra/simulate/simulate.h).
 *
 * In --format=json, of "ein placing 1":
 *
 *   "simulated": { "seconds": of a run, "idle": the share of the sites' time in which they compute nothing, "waiting":
 *                  the share in which they also have a move in progress, "kernel_seconds": of the site that computes
 *                  longest, "chain_seconds": with all links free, "sequence_seconds": one operation after the other,
 *                  "received_bytes": by sites, in all, "turns_cut": a repeat has more turns than were simulated,
 *                  "turns_differ": these did not take equally long, "turns_unknown": one turn was assumed, or the
 *                  maximum,
 *                  "busiest": null, or the link { "level": between its parts, "part": number, "into": or else out of
 *                  it, "bytes", "seconds" },
 *                  "path": [ { "operation", "name", "place", "site": or the first of "sites", "begins",
 *                  "seconds" } ] } */
#include "algebra/simulate/simulate.h"
#include "task/sites/from_ia.h"
#include "page/page.h"
#include "sites.h"
#include "driver/table.h"

enum { STEPS = 10 };

/* Without tasks moves begin as soon as they can. */
Leave simulation_find(Sites *p, const Algebra *ia) {
  Buf why = buf_new(p->s->arena);
  Arena *work = arena_new();
  const TaskGraph *t = task_from_ia(work, ia, &why);
  const AlgTasks *tasks = t ? nodes_in_tasks(p->s->arena, t, ia) : NULL;
  arena_free(work);
  why = buf_new(p->s->arena);
  p->report.simulated = simulate(p->s->arena, ia, p->seconds, tasks, &why);
  return p->report.simulated ? LEAVE_OK : fail(p->s, LEAVE_PROGRAM, "--simulate: %s", why.s);
}

/* ---- text ------------------------------------------------------------------------------------------------ */

/* "12.3 %" */
static const char *share_of(Arena *a, double x) {
  return arena_printf(a, "%.1f %%", 100 * x);
}

static const char *part_of(const Sites *p, const MachineLevel *level) {
  const Machine *m = p->asked.machine;
  for (uint32_t k = 1; k < m->levels.len; k++)
    if (&m->levels.at[k] == level) return m->levels.at[k - 1].name;
  return level->name;
}

/* The longest steps of a path; of equals the earlier ones. */
static void longest_find(const Simulated *x, bool *shown_as) {
  for (uint32_t n = 0; n < STEPS && n < x->n_step; n++) {
    uint32_t most = UINT32_MAX;
    for (uint32_t i = 0; i < x->n_step; i++)
      if (!shown_as[i] && (most == UINT32_MAX || x->step[i].seconds > x->step[most].seconds)) most = i;
    shown_as[most] = true;
  }
}

static const char *sites_text(Arena *a, const SimStep *s) {
  return s->sites == 1 ? arena_printf(a, "%lld", (long long)s->site)
                       : arena_printf(a, "%lld and %lld more", (long long)s->site, (long long)s->sites - 1);
}

enum { COL_STEP, COL_SITES, COL_BEGIN, COL_SECONDS, COL_LINE, COLUMNS };

/* The critical path, with a header as its first row. */
static Table path_table(const Sites *p, Arena *a) {
  const Simulated *x = p->report.simulated;
  Table t = {.columns = COLUMNS, .clipped = COL_STEP, .left = 1u << COL_STEP | 1u << COL_SITES | 1u << COL_LINE};
  bool *named = NEW_ARRAY(a, bool, x->n_step + 1);
  double rest = 0;
  longest_find(x, named);
  vec_push(
      a, t.rows, ((TableRow){.cell = {"what the time depends on", "sites", "begins", "takes", "line"}, .tail = ""}));
  for (uint32_t i = 0; i < x->n_step; i++) {
    const SimStep *s = &x->step[i];
    Buf words = buf_new(a);
    rest += named[i] ? 0 : s->seconds;
    if (!named[i]) continue;
    alg_equation(&words, s->node);
    const char *step = shown(a, words.s);
    if (s->panels) step = arena_printf(a, "%s, panel %u of %u", step, s->panel + 1, s->panels);
    TableRow r = {.cell = {step, sites_text(a, s), seconds_of(a, s->begin), seconds_of(a, s->seconds)}, .tail = ""};
    r.cell[COL_LINE] = line_text(a, p->j.path, s->node->place);
    vec_push(a, t.rows, r);
  }
  if (x->n_step > STEPS)
    vec_push(a, t.rows,
        ((TableRow){.cell = {arena_printf(a, "%u more, shorter", x->n_step - STEPS), "", "", seconds_of(a, rest), ""},
            .tail = ""}));
  return t;
}

typedef struct SimWords { const char *what, *value; } SimWords;
typedef VEC(SimWords) SimLines;

static void turns_say(const Simulated *x, SimLines *l, Arena *a) {
  if (x->turns_unknown)
    vec_push(a, *l, ((SimWords){"", "the number of turns depends on data: counted as the most there may be, or one"}));
  if (x->turns_cut && x->turns_differ)
    vec_push(a, *l, ((SimWords){"", "three turns were simulated, which differ; the others go as the last"}));
  if (x->turns_cut && !x->turns_differ)
    vec_push(a, *l, ((SimWords){"", "three turns were simulated; they are alike, and so are the others"}));
}

static SimLines sim_lines(const Sites *p, Arena *a) {
  const Simulated *x = p->report.simulated;
  const SimLink *l = &x->busiest;
  double sum = placing_seconds(p->places, p->seconds, p->placing);
  SimLines out = {0};
  const char *than =
      sum > 0 ? arena_printf(a, ", %.2f times the plan's sum of %s", x->seconds / sum, seconds_of(a, sum)) : "";
  vec_push(a, out, ((SimWords){"time", arena_printf(a, "%s%s", seconds_of(a, x->seconds), than)}));
  vec_push(a, out,
      ((SimWords){"longest chain",
          arena_printf(a, "%s with all links free; %s one operation after the other", seconds_of(a, x->chain),
              seconds_of(a, x->sequence))}));
  vec_push(a, out,
      ((SimWords){"idle",
          arena_printf(a, "%s of the sites' time, %s while moves are under way; a site has %s of kernels at most",
              share_of(a, x->idle), share_of(a, x->waiting), seconds_of(a, x->kernels))}));
  if (l->level)
    vec_push(a, out,
        ((SimWords){"busiest link",
            arena_printf(a, "%s %s %lld: %s, %s, %s of the time", l->in ? "into" : "out of", part_of(p, l->level),
                (long long)l->part, bytes_of(a, l->bytes), seconds_of(a, l->seconds),
                share_of(a, x->seconds > 0 ? l->seconds / x->seconds : 0))}));
  turns_say(x, &out, a);
  return out;
}

void simulation_text(const Sites *p, Buf *b) {
  if (!p->report.simulated) return;
  SimLines lines = sim_lines(p, b->arena);
  Table path = path_table(p, b->arena);
  buf_str(b, "\nsimulated\n");
  for (uint32_t i = 0; i < lines.len; i++) buf_printf(b, "  %-22s%s\n", lines.at[i].what, lines.at[i].value);
  if (path.rows.len > 1) buf_char(b, '\n'), table_print(b, &path);
}

/* ---- the page ------------------------------------------------------------------------------------------------ */

void simulation_page(const Sites *p, Buf *b) {
  if (!p->report.simulated) return;
  SimLines lines = sim_lines(p, b->arena);
  Table path = path_table(p, b->arena);
  Arena *a = b->arena;
  buf_str(b,
      "<section id=\"simulated\">\n<h2>A run, simulated</h2>\n"
      "<p>The plan was run on the machine without data: moves beside kernels, on "
      "links that are shared.</p>\n<table>\n<tbody>\n");
  for (uint32_t i = 0; i < lines.len; i++)
    buf_printf(b, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", html(a, lines.at[i].what),
        html(a, lines.at[i].value));
  buf_str(b, "</tbody>\n</table>\n");
  if (path.rows.len > 1) buf_str(b, "<div class=\"scroll\"><table>\n");
  for (uint32_t r = 0; path.rows.len > 1 && r < path.rows.len; r++) {
    buf_str(b, r ? "<tr>" : "<thead><tr>");
    for (int c = 0; c < path.columns; c++)
      buf_printf(b, r ? "<td>%s</td>" : "<th scope=\"col\">%s</th>", html(a, path.rows.at[r].cell[c]));
    buf_str(b, r ? "</tr>\n" : "</tr></thead>\n<tbody>\n");
  }
  if (path.rows.len > 1) buf_str(b, "</tbody>\n</table></div>\n");
  buf_str(b, "</section>\n");
}

/* ---- JSON ---------------------------------------------------------------------------------------------------- */

static void put_link(const Sites *p, Json *j, const SimLink *l) {
  if (!json_has(j, "busiest", l->level)) return;
  json_object(j, "busiest");
  json_str(j, "level", part_of(p, l->level));
  json_int(j, "part", l->part);
  json_bool(j, "into", l->in);
  put_count(j, "bytes", l->bytes);
  json_num(j, "seconds", l->seconds);
  json_end(j, '}');
}

static void put_step(Json *j, const SimStep *s) {
  Buf words = buf_new(j->out->arena);
  alg_equation(&words, s->node);
  json_object(j, NULL);
  json_strn(j, "operation", words.s, words.len);
  json_name(j, "name", s->node->name);
  json_place(j, s->node->place);
  json_int(j, "site", s->site);
  json_int(j, "sites", s->sites);
  json_num(j, "begins", s->begin);
  json_num(j, "seconds", s->seconds);
  json_end(j, '}');
}

void simulation_json(const Sites *p, Json *j) {
  const Simulated *x = p->report.simulated;
  if (!x) return;
  json_object(j, "simulated");
  json_num(j, "seconds", x->seconds);
  json_num(j, "idle", x->idle);
  json_num(j, "waiting", x->waiting);
  json_num(j, "kernel_seconds", x->kernels);
  json_num(j, "chain_seconds", x->chain);
  json_num(j, "sequence_seconds", x->sequence);
  put_count(j, "received_bytes", x->received);
  json_bool(j, "turns_cut", x->turns_cut);
  json_bool(j, "turns_differ", x->turns_differ);
  json_bool(j, "turns_unknown", x->turns_unknown);
  put_link(p, j, &x->busiest);
  json_each(j, "path", i, x->n_step) put_step(j, &x->step[i]);
  json_end(j, '}');
}
