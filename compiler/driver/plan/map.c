/* driver/plan/map.c - ein plan --map n=1..1024,B=1..512: which of the named planners wins where, and how close it is
 * to the plan that is found.
 *
 * Each point is a separate plan, for this many sites and these dims, with its own memory, as made by ein plan -n 8
 * -D B=4 --against=... The planners are those of --against, else the rules of thumb. A point without a plan says
 * why; if no point has one, the map fails with that reason. */
#include "map.h"

#include <math.h>
#include <string.h>

#include "driver/table.h"
#include "page/page.h"
#include "sites.h"

#define USUAL "sqrt,data,sequence,megatron,attention"

enum { MAP_AXES = 2, MAP_POINTS = 4096, MAP_WHYS = 5 };
static const double CELL_W = 66, CELL_H = 34, LEFT = 84, TOP = 58, LEGEND = 22; /* pixels */

typedef struct MapAxis { const char *name; VEC(int64_t) value; } MapAxis;

typedef struct MapPoint {
  const char *why;           /* why there is no plan; NULL: there is one */
  Leave leave;               /*   and as what that counts */
  int32_t first;             /* the winner in --against; -1: there is nothing to win, or none fits this program */
  const char *winners;       /* all of equal cost, separated by commas */
  double ratio;              /* their cost over that of the plan that is found; infinite, if that is 0 */
  const char *title;         /* all costs, in words */
} MapPoint;

typedef struct WinMap {
  Session *s;
  const Args *args;
  const char *against;
  MapAxis axis[MAP_AXES];    /* down, and to the right */
  uint32_t n_axes, rows, columns;
  MapPoint *point;
  const char *by;            /* "moves least", "takes least time" */
  Words rival;               /* --against, by name */
  const char **not_here;     /* by rival: why it fits no point; NULL: it fits some */
  uint32_t *wins;
} WinMap;

/* ---- the request ------------------------------------------------------------------------------------------ */

/* LOW, twice that, and so on, and HIGH. */
static Leave range_read(WinMap *m, const char *word, MapAxis *x) {
  const char *equals = strchr(word, '='), *dots = equals ? strstr(equals, "..") : NULL;
  int64_t low, high;
  size_t n = equals ? (size_t)(equals - word) : 0,
         k = !equals ? 0
      : dots         ? (size_t)(dots - equals) - 1
                     : strlen(equals + 1);
  bool right = n && int64_read(equals + 1, k, &low) && low >= 1;
  high = right ? low : 0;
  if (dots) right = right && int64_read(dots + 2, strlen(dots + 2), &high) && high >= low;
  if (!right)
    return fail(m->s, LEAVE_USAGE, "--map %s: expected a name and from where to where, as n=1..1024 or B=8", word);
  x->name = arena_printf(m->s->arena, "%.*s", (int)n, word);
  for (int64_t v = low; v < high; v = v > high / 2 ? high : 2 * v) vec_push(m->s->arena, x->value, v);
  vec_push(m->s->arena, x->value, high);
  return LEAVE_OK;
}

static Leave axes_read(WinMap *m, const char *said) {
  Session *s = m->s;
  const Words words = commas_of(s->arena, said);
  for (uint32_t i = 0; i < words.len; i++) {
    if (m->n_axes == MAP_AXES)
      return fail(s, LEAVE_USAGE, "--map: a map has two axes at most; -D gives other dims their values");
    Leave l = range_read(m, words.at[i], &m->axis[m->n_axes]);
    if (l) return l;
    m->n_axes++;
  }
  if (m->n_axes == 2 && strcmp(m->axis[0].name, m->axis[1].name) == 0)
    return fail(s, LEAVE_USAGE, "--map: %s stands there twice", m->axis[0].name);
  bool sites = strcmp(m->axis[0].name, "n") == 0 || (m->n_axes == 2 && strcmp(m->axis[1].name, "n") == 0);
  if (sites == arg_has(m->args, OPT_SITES))
    return fail(s, LEAVE_USAGE, "%s", sites ? "--map has n already: without -n, please" :
                "--map: for how many sites? n=1..64 is an axis, and -n 16 one number");
  m->rows = m->axis[0].value.len;
  m->columns = m->n_axes == 2 ? m->axis[1].value.len : 1;
  if ((int64_t)m->rows * m->columns <= MAP_POINTS) return LEAVE_OK;
  return fail(s, LEAVE_USAGE, "--map: these are %u points, and a map has %d at most", m->rows * m->columns, MAP_POINTS);
}

static Leave options_fit(WinMap *m) {
  static const OptionId others[] = {OPT_WHY, OPT_CERTIFICATE, OPT_SIMULATE, OPT_DERIVATION, OPT_THREADS};
  const char *format = arg_last(m->args, OPT_PLAN_FORMAT), *to = arg_last(m->args, OPT_OUTPUT);
  for (size_t k = 0; k < COUNT(others); k++)
    if (arg_has(m->args, others[k]))
      return fail(m->s, LEAVE_USAGE, "--%s is about one plan, and --map about many", options[others[k]].name);
  if (format && strcmp(format, "text") != 0 && strcmp(format, "svg") != 0)
    return fail(m->s, LEAVE_USAGE, "--map is written as text or svg, not as %s", format);
  if (!format && to && language_of(to) == LANG_PLAN)
    return fail(m->s, LEAVE_USAGE, "--map makes many plans, and %s would be one", to);
  return LEAVE_OK;
}

/* ---- a point ---------------------------------------------------------------------------------------------- */

static bool is_there(const Sites *p, const Rival *r) {
  return p->asked.by_bytes ? r->placing != NULL : r->why == NULL;
}

static double its_of(const Sites *p, const Rival *r) {
  return p->asked.by_bytes ? r->placing->cost : r->choice.cost.all;
}

/* Sums of seconds differ in their last digits. */
static bool as_little(double x, double least) {
  return x <= least * (1 + 1e-9);
}

static void winner_find(WinMap *m, const Sites *p, MapPoint *x, const char *where) {
  double least = -1, ours = p->asked.by_bytes ? p->placing->cost : p->choice.cost.all;
  Buf names = buf_new(m->s->arena), title = buf_new(m->s->arena);
  for (uint32_t i = 0; i < p->against.len; i++)
    if (is_there(p, &p->against.at[i]) && (least < 0 || its_of(p, &p->against.at[i]) < least))
      least = its_of(p, &p->against.at[i]);
  buf_printf(&title, "%s: the plan that is found: %s", where, cost_text(p, title.arena, ours));
  for (uint32_t i = 0; i < p->against.len; i++) {
    const Rival *r = &p->against.at[i];
    if (!is_there(p, r)) {
      if (!m->not_here[i]) m->not_here[i] = arena_printf(m->s->arena, "%s", r->why ? r->why : "it has no plan");
      continue;
    }
    m->not_here[i] = "";
    buf_printf(&title, "; %s %s", planner_info[r->who].name, cost_text(p, title.arena, its_of(p, r)));
    if (least <= 0 || !as_little(its_of(p, r), least)) continue;
    buf_printf(&names, "%s%s", names.len ? "," : "", planner_info[r->who].name);
    if (x->first < 0) x->first = (int32_t)i;
    m->wins[i]++;
  }
  x->winners = names.len ? names.s : "";
  x->title = title.s;
  x->ratio = ours > 0 ? least / ours : least > 0 ? HUGE_VAL : 1;
}

/* The complaints of a point, as one line. */
static const char *reason(WinMap *m, const Session *s) {
  const char *text = s->refused && s->refused->all.len ? s->refused->all.at[0]->text
      : s->captured.len                                ? s->captured.at[0]
                                                       : "there is no plan";
  return arena_printf(m->s->arena, "%.*s", (int)strcspn(text, "\n"), text);
}

/* The options of ein plan at a point, and its position, for people. */
static Args point_args(WinMap *m, Arena *own, uint32_t row, uint32_t column, Buf *where) {
  Args a = *m->args;
  a.given[OPT_AGAINST] = (Words){&m->against, 1, 1};
  a.given[OPT_DIM] = (Words){0};
  for (uint32_t i = 0; i < m->args->given[OPT_DIM].len; i++)
    vec_push(own, a.given[OPT_DIM], m->args->given[OPT_DIM].at[i]);
  for (uint32_t i = 0; i < m->n_axes; i++) {
    const char *value = arena_printf(own, "%lld", (long long)m->axis[i].value.at[i ? column : row]),
               *name = m->axis[i].name;
    const char *said = arena_printf(own, "%s=%s", name, value);
    buf_printf(where, "%s%s", i ? ", " : "", said);
    if (strcmp(name, "n") != 0) vec_push(own, a.given[OPT_DIM], said);
    else {
      a.given[OPT_SITES] = (Words){0};
      vec_push(own, a.given[OPT_SITES], value);
    }
  }
  return a;
}

static void point_plan(WinMap *m, uint32_t row, uint32_t column, MapPoint *x) {
  Arena *own = arena_new();
  Session s = *m->s;
  s.arena = own;
  s.strings = strings_new(own);
  s.exprs = exprs_new(own);
  s.captured = (Words){0};
  s.capture = true;
  s.refused = NULL;
  session_fresh(&s);
  Sites p = {.s = &s, .asked.held = true};
  Buf where = buf_new(m->s->arena);
  Args a = point_args(m, own, row, column, &where);
  *x = (MapPoint){.first = -1, .winners = ""};
  x->leave = sites_read(&s, &a, &p.sites);
  if (!x->leave) x->leave = sites_find(&p, &a);
  if (x->leave) x->why = p.fit.unfit ? arena_printf(m->s->arena, "%s", p.fit.unfit) : reason(m, &s);
  else winner_find(m, &p, x, where.s);
  if (!x->leave) m->by = p.asked.in_seconds ? "takes least time" : "moves least";
  if (x->why) x->title = arena_printf(m->s->arena, "%s: %s", where.s, x->why);
  arena_free(own);
}

static const MapPoint *point_at(const WinMap *m, uint32_t row, uint32_t column) {
  return &m->point[(size_t)row * m->columns + column];
}

static Leave points_find(WinMap *m) {
  uint32_t n = m->rows * m->columns, none = 0;
  m->point = NEW_ARRAY(m->s->arena, MapPoint, n + 1);
  for (uint32_t i = 0; i < n; i++) {
    point_plan(m, i / m->columns, i % m->columns, &m->point[i]);
    none += m->point[i].why != NULL;
  }
  return none == n ? fail(m->s, m->point[0].leave, "%s", m->point[0].title) : LEAVE_OK;
}

static Leave rivals_name(WinMap *m) {
  const char *said = arg_last(m->args, OPT_AGAINST);
  Arena *a = m->s->arena;
  m->against = said ? said : USUAL;
  Sites p = {.s = m->s};
  Args x = *m->args;
  x.given[OPT_AGAINST] = (Words){&m->against, 1, 1};
  Leave l = rivals_read(&p, &x);
  for (uint32_t i = 0; i < p.against.len; i++) vec_push(a, m->rival, planner_info[p.against.at[i].who].name);
  m->wins = NEW_ARRAY(a, uint32_t, m->rival.len + 1);
  m->not_here = NEW_ARRAY(a, const char *, m->rival.len + 1);
  return l;
}

/* ---- text ---------------------------------------------------------------------------------------------------- */

static const char *ratio_text(Arena *a, const MapPoint *x) {
  return x->first < 0   ? "-"
      : x->ratio < 99.5 ? arena_printf(a, "%.2f", x->ratio)
      : x->ratio < 1e6  ? arena_printf(a, "%.0f", x->ratio)
                        : "inf";
}

static const char *cell_text(Arena *a, const MapPoint *x) {
  if (x->why) return "no plan";
  return x->first < 0 ? "-" : arena_printf(a, "%s %s", x->winners, ratio_text(a, x));
}

static const char *value_text(const WinMap *m, uint32_t axis, uint32_t k) {
  return arena_printf(m->s->arena, "%s=%lld", m->axis[axis].name, (long long)m->axis[axis].value.at[k]);
}

static void grid_text(const WinMap *m, Buf *b) {
  size_t wide = 0, head = 0;
  for (uint32_t r = 0; r < m->rows; r++)
    for (uint32_t c = 0; c < m->columns; c++) {
      size_t n = strlen(cell_text(b->arena, point_at(m, r, c))), v = m->n_axes == 2 ? strlen(value_text(m, 1, c)) : 0;
      if (n > wide) wide = n;
      if (v > wide) wide = v;
      if (strlen(value_text(m, 0, r)) > head) head = strlen(value_text(m, 0, r));
    }
  if (m->n_axes == 2) buf_printf(b, "  %*s", (int)head, "");
  for (uint32_t c = 0; m->n_axes == 2 && c < m->columns; c++)
    buf_printf(b, "  %-*s", c + 1 < m->columns ? (int)wide : 0, value_text(m, 1, c));
  if (m->n_axes == 2) buf_char(b, '\n');
  for (uint32_t r = 0; r < m->rows; r++) {
    buf_printf(b, "  %-*s", (int)head, value_text(m, 0, r));
    for (uint32_t c = 0; c < m->columns; c++)
      buf_printf(b, "  %-*s", c + 1 < m->columns ? (int)wide : 0, cell_text(b->arena, point_at(m, r, c)));
    buf_char(b, '\n');
  }
}

static void map_text(const WinMap *m, Buf *b) {
  uint32_t said = 0, more = 0, idle = 0;
  buf_printf(b, "%s: which strategy %s, and how many times as much as the plan that is found\n",
      shown(b->arena, m->args->operands.at[0]), m->by);
  grid_text(m, b);
  for (uint32_t i = 0; i < m->rows * m->columns; i++) idle += !m->point[i].why && m->point[i].first < 0;
  if (idle) buf_str(b, "  -: no strategy moves anything, or none is for this program\n");
  for (uint32_t i = 0; i < m->rival.len; i++)
    if (m->not_here[i] && *m->not_here[i])
      buf_printf(b, "  %s is not for this program: %s\n", m->rival.at[i], m->not_here[i]);
  for (uint32_t i = 0; i < m->rows * m->columns; i++) {
    if (!m->point[i].why) continue;
    if (said++ < MAP_WHYS) buf_printf(b, "  no plan: %s\n", m->point[i].title);
    else more++;
  }
  if (more) buf_printf(b, "  and %u more\n", more);
}

/* ---- a picture -------------------------------------------------------------------------------------------------- */

static void cell_svg(const WinMap *m, Buf *b, uint32_t row, uint32_t column) {
  const MapPoint *x = point_at(m, row, column);
  double left = LEFT + column * CELL_W, top = TOP + row * CELL_H;
  const char *colour = x->first < 0 ? "none" : arena_printf(b->arena, "x%d", x->first % PAGE_COLOURS);
  buf_printf(b,
      "<g><title>%s</title><rect class=\"chip %s\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" rx=\"3\"/>"
      "<text class=\"c %s\" x=\"%.0f\" y=\"%.0f\">%s</text></g>\n",
      html(b->arena, x->title), colour, left + 1, top + 1, CELL_W - 2, CELL_H - 2, colour, left + CELL_W / 2,
      top + CELL_H / 2 + 4, x->why ? "no plan" : ratio_text(b->arena, x));
}

static void axes_svg(const WinMap *m, Buf *b) {
  for (uint32_t r = 0; r < m->rows; r++)
    buf_printf(b, "<text class=\"r\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", LEFT - 8, TOP + r * CELL_H + CELL_H / 2 + 4,
        html(b->arena, value_text(m, 0, r)));
  for (uint32_t c = 0; m->n_axes == 2 && c < m->columns; c++)
    buf_printf(b, "<text class=\"k\" text-anchor=\"middle\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
        LEFT + c * CELL_W + CELL_W / 2, TOP - 8, html(b->arena, value_text(m, 1, c)));
}

static void legend_svg(const WinMap *m, Buf *b, double top) {
  for (uint32_t i = 0; i < m->rival.len; i++) {
    double y = top + i * LEGEND;
    bool here = !m->not_here[i] || !*m->not_here[i];
    buf_printf(b, "<rect class=\"chip x%u\" x=\"%.0f\" y=\"%.0f\" width=\"14\" height=\"14\" rx=\"3\"/>"
               "<text x=\"%.0f\" y=\"%.0f\">%s, ", i % PAGE_COLOURS, LEFT, y,
               LEFT + 22, y + 11, m->rival.at[i]);
    if (here) buf_printf(b, "at %u of %u points", m->wins[i], m->rows * m->columns);
    else buf_str(b, "not for this program");
    buf_str(b, "</text>\n");
  }
}

static void map_svg(const WinMap *m, Buf *b) {
  double bottom = TOP + m->rows * CELL_H + 18, w = LEFT + m->columns * CELL_W + 24,
         h = bottom + m->rival.len * LEGEND + 8;
  if (w < 560) w = 560;
  buf_printf(b,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"dag\" role=\"img\" aria-labelledby=\"map-t\" "
      "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
      "<title id=\"map-t\">Which strategy %s, by point</title>\n<style>svg{background:var(--bg)}\n",
      w, h, w, h, m->by);
  for (uint32_t i = 0; page_style[i]; i++) buf_printf(b, "%s\n", page_style[i]);
  buf_printf(b,
      "</style>\n<text class=\"name\" x=\"%.0f\" y=\"20\">%s: which strategy %s; how many times as much as the plan "
      "found</text>\n",
      LEFT, html(b->arena, m->args->operands.at[0]), m->by);
  axes_svg(m, b);
  for (uint32_t i = 0; i < m->rows * m->columns; i++) cell_svg(m, b, i / m->columns, i % m->columns);
  legend_svg(m, b, bottom);
  buf_str(b, "</svg>\n");
}

/* ---- the option -------------------------------------------------------------------------------------------------- */

Leave plan_map(Session *s, const Args *a) {
  WinMap m = {.s = s, .args = a, .by = "moves least"};
  const char *format = arg_last(a, OPT_PLAN_FORMAT), *to = arg_last(a, OPT_OUTPUT);
  Leave l = options_fit(&m);
  if (!l) l = axes_read(&m, arg_last(a, OPT_MAP));
  if (!l) l = rivals_name(&m);
  if (!l) l = points_find(&m);
  if (l) return l;
  Buf out = buf_new(s->arena);
  format && strcmp(format, "svg") == 0 ? map_svg(&m, &out) : map_text(&m, &out);
  return file_write(s, to ? to : "-", out.s, out.len);
}
