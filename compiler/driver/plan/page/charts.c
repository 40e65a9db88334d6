/* driver/plan/page/charts.c - the other pictures on the page: the mesh, who receives from whom, what is at home over
 * time. */
#include <math.h>

#include "page.h"
#include "traffic.h"

/* ---- the mesh --------------------------------------------------------------------------------------------- */

static const double CELL = 38, CELL_GAP = 5; /* pixels */

/* Odd axes go to the right, even ones down; the first ones have the largest steps. */
static void site_at(const Mesh *m, const uint32_t *place, double *x, double *y) {
  double size[2] = {CELL, CELL}, at[2] = {0, 0}, gap[2] = {CELL_GAP, CELL_GAP};
  for (uint32_t a = m->n; a-- > 0;) {
    int way = a % 2 == 0;
    at[way] += place[a] * (size[way] + gap[way]);
    size[way] = m->size[a] * (size[way] + gap[way]) - gap[way];
    gap[way] += 2 * CELL_GAP;
  }
  *x = at[0];
  *y = at[1];
}

/* "h 2, s 0..63"; or "all of it" */
static const char *block_text(const Facts *f, uint32_t tensor, const uint32_t *place) {
  Arena *a = f->p->s->arena;
  const PlaceTensor *t = &f->g->tensors.at[tensor];
  const Placement *home = &f->p->placing->home[tensor];
  int64_t *from = NEW_ARRAY(a, int64_t, t->n + 1), *to = NEW_ARRAY(a, int64_t, t->n + 1);
  Buf b = buf_new(a);
  placement_box(&f->p->placing->mesh, home, t->n, t->extent, place, from, to);
  for (uint32_t d = 0; d < t->n; d++)
    if (from[d] > 0 || to[d] < t->extent[d]) {
      buf_printf(&b, "%s%s %lld", b.len ? ", " : "", placing_dimension(a, f->g, tensor, d), (long long)from[d]);
      if (to[d] - 1 > from[d]) buf_printf(&b, "..%lld", (long long)to[d] - 1);
    }
  return b.len ? b.s : "all of it";
}

static void site_draw(const Facts *f, Buf *b, int64_t site) {
  const Mesh *m = &f->p->placing->mesh;
  uint32_t place[MESH_AXES + 1];
  double x, y;
  mesh_place(m, site, place);
  site_at(m, place, &x, &y);
  buf_printf(b, "<g><title>site %lld", (long long)site);
  for (uint32_t a = 0; a < m->n; a++) buf_printf(b, "%s%u", a ? "," : " at ", place[a]);
  if (f->largest >= 0)
    buf_printf(b, "; of %s at home: %s", html(b->arena, f->tensors.at[f->largest].name),
        html(b->arena, block_text(f, (uint32_t)f->largest, place)));
  buf_printf(b, "</title><rect class=\"site\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" rx=\"5\"/><text "
             "class=\"c\" x=\"%.0f\" y=\"%.0f\">%lld</text></g>\n", x,
             y, CELL, CELL, x + CELL / 2, y + CELL / 2 + 4, (long long)site);
}

static void axes_list(const Facts *f, Buf *b) {
  const Mesh *m = &f->p->placing->mesh;
  buf_str(b, "<ul class=\"axes\">\n");
  for (uint32_t a = 0; a < m->n; a++) {
    int64_t step = 1;
    for (uint32_t k = a + 1; k < m->n; k++) step *= m->size[k];
    buf_printf(b, "<li><b class=\"chip x%u\">%u</b> axis %u, %s: %u sites in each row along it, as ", a % PAGE_COLOURS,
               a + 1, a + 1,
               a % 2 ? "to the right" : "down", m->size[a]);
    for (uint32_t k = 0; k < m->size[a] && k < 4; k++) buf_printf(b, "%s%lld", k ? ", " : "", (long long)(k * step));
    buf_printf(b, "%s</li>\n", m->size[a] > 4 ? ", ..." : "");
  }
  buf_str(b, "</ul>\n");
}

void page_mesh(const Facts *f, Buf *b) {
  const Mesh *m = &f->p->placing->mesh;
  int64_t sites = mesh_sites(m);
  uint32_t place[MESH_AXES + 1];
  double w, h;
  if (!m->n) buf_str(b, "<p>There is one site, which does everything.</p>\n");
  buf_str(b, "<div class=\"side\">\n");
  mesh_place(m, sites - 1, place);
  site_at(m, place, &w, &h);
  if (sites <= MESH_MOST) {
    buf_printf(b,
        "<svg class=\"mesh\" role=\"img\" aria-labelledby=\"mesh-t\" width=\"%.0f\" height=\"%.0f\" viewBox=\"-2 "
        "-2 %.0f %.0f\">\n<title id=\"mesh-t\">",
        w + CELL + 4, h + CELL + 4, w + CELL + 4, h + CELL + 4);
    buf_printf(b, "%lld sites as squares with their numbers, in a mesh of %s</title>\n", (long long)sites,
               times_text(b->arena, m, "x"));
    for (int64_t s = 0; s < sites; s++) site_draw(f, b, s);
    buf_str(b, "</svg>\n");
  } else buf_printf(b, "<p>The picture is left out, as there are more than %d sites.</p>\n", MESH_MOST);
  axes_list(f, b);
  buf_str(b, "</div>\n");
  if (f->largest < 0 || sites < 2) return;
  mesh_place(m, sites / 2, place);
  buf_printf(b, "<p>For example, of the largest intermediate, <a href=\"#t%d\">%s</a>, site %lld keeps %s.</p>\n",
      f->largest, html(b->arena, f->tensors.at[f->largest].name), (long long)(sites / 2),
      html(b->arena, block_text(f, (uint32_t)f->largest, place)));
}

/* ---- traffic between sites ---------------------------------------------------------------------------------- */

static const char *class_name(Arena *a, const Traffic *x, uint32_t i, int64_t sites) {
  int64_t from = (int64_t)i * x->each, to = from + x->each - 1;
  if (to >= sites) to = sites - 1;
  return from == to ? arena_printf(a, "%lld", (long long)from)
                    : arena_printf(a, "%lld..%lld", (long long)from, (long long)to);
}

static void heat_cells(Buf *b, const Traffic *x, int64_t sites, int cell) {
  Arena *a = b->arena;
  for (uint32_t to = 0; to < x->n; to++)
    for (uint32_t from = 0; from < x->n; from++) {
      double bytes = x->at[(size_t)to * x->n + from];
      if (bytes <= 0) continue;
      buf_printf(b, "<rect class=\"q%.0f\" x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\"><title>%s from %s: %s "
                 "(%.0f)</title></rect>\n", ceil(bytes / x->most * 8),
                 from * (uint32_t)cell, to * (uint32_t)cell, cell - 1, cell - 1, class_name(a, x, to, sites),
                 class_name(a, x, from, sites), bytes_of(a, bytes), bytes);
    }
}

static void heat_numbers(Buf *b, const Traffic *x, int cell) {
  uint32_t each = cell >= 18 ? 1 : 4;
  for (uint32_t i = 0; i < x->n; i += each) {
    double at = i * (double)cell + cell / 2.0;
    buf_printf(b, "<text class=\"r\" x=\"-6\" y=\"%.1f\">%u</text><text class=\"c\" x=\"%.1f\" y=\"-6\">%u</text>\n",
               at + 3.5, i * x->each, at, i * x->each);
  }
}

static void heat_scale(Buf *b, const Traffic *x) {
  buf_str(b, "<p class=\"scale\">none <i class=\"q0\"></i>");
  for (int k = 1; k <= 8; k++) buf_printf(b, "<i class=\"q%d\"></i>", k);
  buf_printf(b, " %s</p>\n", bytes_of(b->arena, x->most));
}

static void sums_table(Buf *b, const Traffic *x, int64_t sites) {
  Arena *a = b->arena;
  buf_printf(b, "<details><summary>The same as numbers</summary>\n<div class=\"scroll\"><table><thead><tr><th "
             "scope=\"col\">site%s</th><th scope=\"col\">receives</th>"
             "<th scope=\"col\">sends</th><th scope=\"col\">receives most "
             "from</th></tr></thead><tbody>\n", x->each > 1 ? "s" : "");
  for (uint32_t i = 0; i < x->n; i++) {
    double in = 0, out = 0, most = 0;
    uint32_t who = 0;
    for (uint32_t k = 0; k < x->n; k++) {
      double from = x->at[(size_t)i * x->n + k];
      in += from;
      out += x->at[(size_t)k * x->n + i];
      if (from > most) most = from, who = k;
    }
    buf_printf(b, "<tr><th scope=\"row\">%s</th><td>%s</td><td>%s</td><td>", class_name(a, x, i, sites),
        bytes_of(a, in), bytes_of(a, out));
    if (most > 0) buf_printf(b, "%s: %s", class_name(a, x, who, sites), bytes_of(a, most));
    buf_str(b, "</td></tr>\n");
  }
  buf_str(b, "</tbody></table></div></details>\n");
}

void page_traffic(const Facts *f, Buf *b) {
  Traffic x = traffic_find(f->p);
  int64_t sites = mesh_sites(&f->p->placing->mesh);
  if (!x.n) {
    buf_printf(b, "<p>Who receives from whom is not worked out for more than %d sites.</p>\n", TRAFFIC_LOOKED);
    return;
  }
  if (x.most <= 0) {
    buf_str(b, "<p>Nothing moves between sites.</p>\n");
    return;
  }
  int cell = x.n <= 16 ? 24 : x.n <= 32 ? 18 : 11, side = cell * (int)x.n;
  buf_printf(b,
      "<p>A row receives from the columns%s. The plan says what a site must have; here it comes from the nearest "
      "site that has it: the one whose number "
      "differs least, of two the lower. Parts to be reduced come from every site of their group.</p>\n",
      x.each > 1 ? arena_printf(b->arena, "; %u sites with numbers in order stand together", x.each) : "");
  buf_printf(b, "<div class=\"scroll\"><svg class=\"heat\" role=\"img\" aria-labelledby=\"heat-t\" width=\"%d\" "
             "height=\"%d\" viewBox=\"-40 -22 %d %d\">\n", side + 48, side + 30,
             side + 48, side + 30);
  buf_str(b,
      "<title id=\"heat-t\">Bytes that each site receives from each other; the table below gives the sums</title>\n");
  buf_printf(b, "<rect class=\"q0\" x=\"0\" y=\"0\" width=\"%d\" height=\"%d\"/>\n", side, side);
  heat_cells(b, &x, sites, cell);
  heat_numbers(b, &x, cell);
  buf_str(b, "</svg></div>\n");
  heat_scale(b, &x);
  sums_table(b, &x, sites);
}

/* ---- what is at home over time ---------------------------------------------------------------------------------- */

enum { NAMED_STEPS = 48 };
static const double CHART_H = 190, CHART_W = 860, CHART_LEFT = 74, CHART_BELOW = 96;

static double home_bytes(const Facts *f, uint32_t step, bool inputs) {
  double bytes = 0;
  vec_each(const FactTensor, t, f->tensors)
    if ((t->vertex < 0) == inputs && t->first <= step && step <= t->last) bytes += t->at_home * t->kept;
  return bytes;
}

/* A stacked step curve. */
static void steps_draw(Buf *b, const char *colour, uint32_t n, const double *low, const double *high, double most) {
  double w = CHART_W / n;
  buf_printf(b, "<path class=\"%s\" d=\"M0 %.1f", colour, CHART_H - CHART_H * low[0] / most);
  for (uint32_t i = 0; i < n; i++) buf_printf(b, "V%.1fH%.1f", CHART_H - CHART_H * high[i] / most, w * (i + 1));
  for (uint32_t i = n; i-- > 0;) buf_printf(b, "V%.1fH%.1f", CHART_H - CHART_H * low[i] / most, w * i);
  buf_str(b, "Z\"/>\n");
}

static void chart_axes(const Facts *f, Buf *b, double most) {
  double w = CHART_W / f->steps;
  for (int k = 0; k <= 4; k++) {
    double y = CHART_H - CHART_H * k / 4.0;
    buf_printf(b, "<path class=\"grid\" d=\"M0 %.1fH%.0f\"/><text class=\"r\" x=\"-6\" y=\"%.1f\">%s</text>\n", y,
               CHART_W, y + 3.5, bytes_of(b->arena, most * k / 4));
  }
  for (uint32_t i = 0; f->steps <= NAMED_STEPS && i < f->steps; i++) {
    double x = w * (i + 0.5);
    buf_printf(b, "<text class=\"r\" transform=\"translate(%.1f %.0f) rotate(-60)\">%s</text>\n", x + 4, CHART_H + 14,
        html(b->arena, text_short(b->arena, f->tensors.at[i].name, 12)));
  }
}

/* Tooltips: a column per step. */
static void chart_words(const Facts *f, Buf *b, const double *inputs, const double *all) {
  Arena *a = b->arena;
  double w = CHART_W / f->steps;
  for (uint32_t i = 0; i < f->steps; i++)
    buf_printf(b,
        "<rect class=\"hit\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%.0f\"><title>%s: %s, inputs %s of it"
        "</title></rect>\n",
        w * i, w, CHART_H, html(a, f->tensors.at[i].name), bytes_of(a, all[i]), bytes_of(a, inputs[i]));
}

void page_memory(const Facts *f, Buf *b) {
  Arena *a = b->arena;
  double *zero = NEW_ARRAY(a, double, f->steps + 1), *inputs = NEW_ARRAY(a, double, f->steps + 1);
  double *all = NEW_ARRAY(a, double, f->steps + 1);
  uint32_t peak = 0;
  for (uint32_t i = 0; i < f->steps; i++) {
    inputs[i] = home_bytes(f, i, true);
    all[i] = inputs[i] + home_bytes(f, i, false);
    if (all[i] > all[peak]) peak = i;
  }
  if (!f->steps || all[peak] <= 0) {
    buf_str(b, "<p>Nothing is computed, or nothing kept.</p>\n");
    return;
  }
  buf_printf(b,
      "<p>Equation after equation, what is kept on a site that has the largest blocks: at most <strong>%s</strong>, "
      "when %s is computed; <span class=\"key band0\"></span> inputs and params, <span class=\"key band1\"></span> "
      "what was computed and will be read. Blocks that are fetched for one equation, and parts before they are "
      "reduced, come on top; with them it is at most %s.</p>\n",
      bytes_of(a, all[peak]), html(a, f->tensors.at[peak].name), bytes_of(a, f->p->fit.peak.bytes));
  buf_printf(b,
      "<div class=\"scroll\"><svg class=\"memory\" role=\"img\" aria-labelledby=\"mem-t\" width=\"%.0f\" "
      "height=\"%.0f\" viewBox=\"%.0f -10 %.0f %.0f\">\n",
      CHART_W + CHART_LEFT + 20, CHART_H + CHART_BELOW, -CHART_LEFT, CHART_W + CHART_LEFT + 20, CHART_H + CHART_BELOW);
  buf_printf(
      b, "<title id=\"mem-t\">Bytes at home over %u steps, at most %s</title>\n", f->steps, bytes_of(a, all[peak]));
  chart_axes(f, b, all[peak]);
  steps_draw(b, "band0", f->steps, zero, inputs, all[peak]);
  steps_draw(b, "band1", f->steps, inputs, all, all[peak]);
  chart_words(f, b, inputs, all);
  buf_str(b, "</svg></div>\n");
}
