/* driver/plan/page/html.c - a plan for many sites as a page: its sentences, its table, and a glossary. */
#include "page.h"

#include <string.h>

#include "driver/plan/rival.h"
#include "driver/plan/why.h"
#include "driver/table.h"

/* ---- texts -------------------------------------------------------------------------------------------------- */

const char *html(Arena *a, const char *s) {
  Buf b = buf_new(a);
  for (; *s; s++) switch (*s) {
    case '&': buf_str(&b, "&amp;"); break;
    case '<': buf_str(&b, "&lt;"); break;
    case '>': buf_str(&b, "&gt;"); break;
    case '"': buf_str(&b, "&quot;"); break;
    case '\'': buf_str(&b, "&#39;"); break;
    default: buf_char(&b, *s);
    }
  return b.s;
}

const char *text_short(Arena *a, const char *s, size_t most) {
  size_t n = 0, room = 0;
  for (const char *c = s; *c; c++) {
    if (((unsigned char)*c & 0xc0) == 0x80) continue;
    if (n == most - 3) room = (size_t)(c - s);
    n++;
  }
  return n <= most ? s : arena_printf(a, "%.*s...", (int)room, s);
}

const char *times_text(Arena *a, const Mesh *m, const char *times) {
  Buf b = buf_new(a);
  for (uint32_t k = 0; k < m->n; k++) buf_printf(&b, "%s%u", k ? arena_printf(a, " %s ", times) : "", m->size[k]);
  return b.len ? b.s : "1";
}

AxisUse axis_cuts(const Facts *f, uint32_t vertex, uint32_t axis) {
  const PartVertex *v = &f->g->part->vertices.at[vertex];
  int8_t l = f->p->placing->label[vertex][axis];
  if (l < 0) return (AxisUse){"-", false};
  return (AxisUse){shown(f->p->s->arena, v->label[l]->s), l >= (int)v->n_out};
}

AxisUse axis_home(const Facts *f, uint32_t tensor, uint32_t axis) {
  int8_t d = f->p->placing->home[tensor].on[axis];
  return (AxisUse){
      d < 0 ? "*" : shown(f->p->s->arena, placing_dimension(f->p->s->arena, f->g, tensor, (uint32_t)d)), false};
}

/* ---- the head ------------------------------------------------------------------------------------------------ */

static void names_list(const Facts *f, Buf *b, uint32_t n) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    if (!f->tensors.at[i].output) continue;
    buf_str(b, !k ? "" : k + 1 == n ? " and " : ", ");
    if (++k > 6) {
      buf_printf(b, "%u others", n - 6);
      return;
    }
    buf_printf(b, "<code>%s</code>", html(b->arena, f->tensors.at[i].name));
  }
}

static void sentence_program(const Facts *f, Buf *b) {
  uint32_t inputs = 0, outputs = 0;
  for (uint32_t i = 0; i < f->tensors.len; i++) {
    inputs += f->tensors.at[i].vertex < 0;
    outputs += f->tensors.at[i].output;
  }
  buf_printf(b, "This program computes %u tensor%s, one an equation, from %u input%s, and gives ", f->steps,
             f->steps == 1 ? "" : "s", inputs, inputs == 1 ? " or param" : "s and params");
  if (outputs) names_list(f, b, outputs);
  else buf_str(b, "its inputs back");
  buf_str(b, ". ");
}

static void sentence_work(const Facts *f, Buf *b) {
  Arena *a = b->arena;
  long long sites = (long long)f->p->sites,
            used = f->p->asked.by_bytes ? (long long)mesh_sites(&f->p->placing->mesh) : sites;
  const char *most = count_amount(a, f->busiest), *all = count_amount(a, f->flops + f->integer);
  if (sites == 1) buf_printf(b, "There is one site, and it does all of the %s operations. ", all);
  else if (used < sites)
    buf_printf(b,
        "Of %lld sites %lld are used: each computes one block of every equation, at most %s "
        "of the %s operations. ",
        sites, used, most, all);
  else
    buf_printf(b, "Each of %lld sites computes one block of every equation, at most %s of the %s operations. ", sites,
        most, all);
}

static void sentence_bytes(const Facts *f, Buf *b) {
  Arena *a = b->arena;
  const Placing *x = f->p->placing;
  const char *best = x->cost > 0 ? bytes_best(f->p, a) : NULL;
  if (x->bytes <= 0) buf_str(b, "Nothing moves between sites");
  else
    buf_printf(b, "For that, a site receives %s from others in a run on average, %s over all sites",
               bytes_of(a, x->bytes / (double)f->p->sites), bytes_of(a, x->bytes));
  if (f->p->asked.in_elements)
    buf_printf(b, "; by the paper&#39;s count %s elements move", count_amount(a, x->elements));
  if (f->p->seconds)
    buf_printf(b, ", and a run takes %s on %s", seconds_of(a, plan_seconds(f->p)),
        html(a, shown(a, f->p->asked.machine->name)));
  buf_printf(b, "%s%s.", best ? "; " : "", best ? best : "");
  if (f->p->report.strategy) buf_printf(b, " It is %s.", html(a, f->p->report.strategy));
}

static void sentence_elements(const Facts *f, Buf *b) {
  Arena *a = b->arena;
  const PartChoice *c = &f->p->choice;
  const char *given = among_given(f->p);
  buf_printf(b, "By the paper&#39;s count %s elements move", count_amount(a, c->cost.all));
  if (c->bound > 0 && c->bound >= c->cost.all) buf_printf(b, ", and %sno plan moves less.", given);
  else if (c->bound > 0) buf_printf(b, "; %sno plan moves less than %s.", given, count_amount(a, c->bound));
  else buf_str(b, ".");
  buf_printf(b, " On a mesh of %s, a site then receives %s from others, %s over all sites.",
             times_text(a, &f->p->placing->mesh, "x"), bytes_of(a, f->p->placing->bytes / (double)f->p->sites),
             bytes_of(a, f->p->placing->bytes));
}

static void sentence_usual(const Sites *p, Buf *b) {
  const Sites *u = p->report.usual;
  Arena *a = b->arena;
  if (!u) return;
  buf_printf(b,
      " Its sums have the same bits on any number of sites; without that %s would move, and %s operations be done",
      bytes_of(a, u->placing->bytes), count_amount(a, u->report.facts->flops + u->report.facts->integer));
  if (u->seconds) buf_printf(b, " in %s", seconds_of(a, plan_seconds(u)));
  buf_char(b, '.');
}

static void tile(Buf *b, const char *what, const char *value, const char *more) {
  buf_printf(b, "<div><dt>%s</dt><dd>%s</dd><dd class=\"more\">%s</dd></div>\n", what, html(b->arena, value),
      html(b->arena, more));
}

static void tiles_bytes(const Facts *f, Buf *b) {
  Arena *a = b->arena;
  const Sites *p = f->p;
  tile(b, "a site receives", bytes_of(a, p->placing->bytes / (double)p->sites),
       arena_printf(a, "on average; %s in all", bytes_of(a, p->placing->bytes)));
  if (p->asked.in_elements)
    tile(b, "elements moved", count_amount(a, p->placing->elements), "as the TRA paper counts them");
  if (p->seconds) tile(b, "time of a run", seconds_of(a, plan_seconds(p)), seconds_shares(p, a));
  tile(b, "memory of a site", bytes_of(a, p->fit.peak.bytes), arena_printf(a, "at most%s", memory_most(p, a)));
}

static void tiles_elements(const Facts *f, Buf *b) {
  Arena *a = b->arena;
  const PartCost *c = &f->p->choice.cost;
  tile(b, "elements moved", count_amount(a, c->all),
       arena_printf(a, "%s to kernels, %s to be reduced, %s cut anew", count_amount(a, c->join),
                    count_amount(a, c->aggregate), count_amount(a, c->repartition)));
  tile(b, "a site receives", bytes_of(a, f->p->placing->bytes / (double)f->p->sites),
      arena_printf(a, "on average; %s in all, on a mesh of %s", bytes_of(a, f->p->placing->bytes),
          times_text(a, &f->p->placing->mesh, "x")));
}

static void page_tiles(const Facts *f, Buf *b) {
  Arena *a = b->arena;
  buf_str(b, "<dl class=\"tiles\">\n");
  tile(b, "sites", arena_printf(a, "%lld", (long long)f->p->sites),
       f->p->asked.by_bytes ? arena_printf(a, "mesh %s", times_text(a, &f->p->placing->mesh, "x")) : "");
  f->p->asked.by_bytes ? tiles_bytes(f, b) : tiles_elements(f, b);
  tile(b, "operations of a site", count_amount(a, f->busiest),
       arena_printf(a, "at most; %s in all", count_amount(a, f->flops + f->integer)));
  if (f->largest >= 0) {
    const FactTensor *t = &f->tensors.at[f->largest];
    const char *home =
        f->p->asked.by_bytes ? arena_printf(a, ", at most %s a site", bytes_of(a, t->at_home * t->kept)) : "";
    tile(b, "largest intermediate", bytes_of(a, t->size * t->kept), arena_printf(a, "%s%s", t->name, home));
  }
  buf_str(b, "</dl>\n");
}

void page_begin(Buf *b, const char *path, const char *on) {
  const char *of = html(b->arena, shown(b->arena, path));
  buf_str(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
          "content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n");
  buf_printf(b, "<title>%s on %s</title>\n<style>\n", of, on);
  for (const char *const *s = page_style; *s; s++) buf_printf(b, "%s\n", *s);
  buf_printf(b, "</style>\n</head>\n<body>\n<header>\n<h1><code>%s</code> on %s</h1>\n<p class=\"lead\">", of, on);
}

void page_end(Buf *b) {
  buf_str(b, "</main>\n<script>\n");
  for (const char *const *s = page_script; *s; s++) buf_printf(b, "%s\n", *s);
  buf_str(b, "</script>\n</body>\n</html>\n");
}

static void page_head(const Facts *f, Buf *b) {
  const Sites *p = f->p;
  page_begin(b, p->j.path, arena_printf(b->arena, "%lld site%s", (long long)p->sites, p->sites == 1 ? "" : "s"));
  sentence_program(f, b);
  sentence_work(f, b);
  p->asked.by_bytes ? sentence_bytes(f, b) : sentence_elements(f, b);
  sentence_usual(p, b);
  buf_printf(b,
      "</p>\n<p class=\"by\">Planned by <em>%s</em>: %s. <a href=\"#words\">What the words mean</a> stands at "
      "the end.</p>\n</header>\n<main>\n",
      planner_info[p->asked.who].name, sites_planned(p));
  page_tiles(f, b);
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void cell_number(Buf *b, double x, const char *text) {
  buf_printf(b, "<td class=\"num%s\" data-v=\"%.17g\">%s</td>", x > 0 ? "" : " zero", x, text);
}

static void chip_number(Buf *b, uint32_t axis, bool parts) {
  buf_printf(b, "<b class=\"chip x%u%s\">%u</b>", axis % PAGE_COLOURS, parts ? " parts" : "", axis + 1);
}

/* "s=4" and the axes that cut it; in the order of labels. */
static void cell_cut(const Facts *f, Buf *b, uint32_t i) {
  const PartVertex *v = &f->g->part->vertices.at[i];
  bool any = false;
  buf_str(b, "<td class=\"at\">");
  for (uint32_t l = 0; l < v->n_label; l++) {
    if (f->p->choice.d[i][l] < 2) continue;
    any = true;
    buf_printf(b, "<span class=\"cut\">%s=%u", html(b->arena, shown(b->arena, v->label[l]->s)), f->p->choice.d[i][l]);
    for (uint32_t a = 0; f->p->asked.by_bytes && a < f->p->placing->mesh.n; a++)
      if (f->p->placing->label[i][a] == (int)l) chip_number(b, a, l >= v->n_out);
    buf_str(b, "</span> ");
  }
  buf_str(b, any ? "</td>" : "<span class=\"zero\">whole</span></td>");
}

static void cell_home(const Facts *f, Buf *b, uint32_t i) {
  const Mesh *m = &f->p->placing->mesh;
  const Placement *home = &f->p->placing->home[i];
  int64_t copies = placement_copies(m, home);
  buf_str(b, "<td class=\"at\">");
  for (uint32_t d = 0; d < f->g->tensors.at[i].n && d < INT8_MAX; d++) {
    uint32_t n = placement_count(m, home, (int8_t)d);
    if (n < 2) continue;
    const char *label = shown(b->arena, placing_dimension(b->arena, f->g, i, d));
    buf_printf(b, "<span class=\"cut\">%s=%u", html(b->arena, label), n);
    for (uint32_t a = 0; a < m->n; a++)
      if (home->on[a] == (int8_t)d) chip_number(b, a, false);
    buf_str(b, "</span> ");
  }
  if (copies == mesh_sites(m)) buf_str(b, "everywhere</td>");
  else if (copies > 1) buf_printf(b, "%lld times</td>", (long long)copies);
  else buf_str(b, "</td>");
}

static void cells_bytes(const Facts *f, Buf *b, const FactTensor *t) {
  Arena *a = b->arena;
  cell_number(b, t->at_home, bytes_of(a, t->at_home));
  if (t->vertex < 0) buf_str(b, "<td></td>");
  else cell_number(b, t->memory, bytes_of(a, t->memory));
  if (f->p->seconds) cell_number(b, t->seconds, seconds_of(a, t->seconds));
}

static void row(const Facts *f, Buf *b, uint32_t i) {
  Arena *a = b->arena;
  const FactTensor *t = &f->tensors.at[i];
  buf_printf(b, "<tr id=\"t%u\"%s><th scope=\"row\">", i, t->vertex < 0 ? " class=\"in\"" : "");
  if (f->tensors.len <= PICTURE_MOST) buf_printf(b, "<a href=\"#n%u\">", i);
  buf_printf(b, "%s%s</th><td><code>%s</code></td>", html(a, *t->name ? t->name : "(no name)"),
      f->tensors.len <= PICTURE_MOST ? "</a>" : "", html(a, t->equation));
  if (t->vertex >= 0 && !(t->state && f->p->asked.by_bytes)) cell_cut(f, b, i);
  else buf_str(b, "<td></td>");
  if (f->p->asked.by_bytes) cell_home(f, b, i);
  cell_number(b, t->received, facts_moved(a, f, t->received));
  cell_number(b, t->brought, facts_moved(a, f, t->brought));
  cell_number(b, t->flops + t->integer, count_amount(a, t->flops + t->integer));
  cell_number(b, t->size, bytes_of(a, t->size));
  if (f->p->asked.by_bytes) cells_bytes(f, b, t);
  buf_printf(b, "<td>%s</td></tr>\n", html(a, t->line));
}

static void page_table(const Facts *f, Buf *b) {
  static const char *const of_bytes[] = {"tensor", "equation", "cut", "home", "operands", "result", "operations",
      "size", "block", "memory", "time", "line", NULL};
  static const char *const of_elements[] = {"tensor", "equation", "cut", "to kernels and cut anew", "reduced",
                                            "operations", "size", "line", NULL};
  buf_str(b, "<section id=\"tensors\">\n<h2>Tensor by tensor</h2>\n");
  if (f->p->asked.by_bytes)
    buf_printf(b,
        "<p><em>Operands</em> are bytes that sites receive to compute it, <em>result</em> those that bring it home "
        "(for an input: further copies), "
        "<em>block</em> is the largest at home, <em>memory</em> all that is on a site while the tensor is "
        "computed%s. The small numbers are axes of the mesh; an outlined one cuts a "
        "label that is reduced, so what comes out is in parts.</p>\n",
        f->p->seconds ? ", <em>time</em> what its kernels and all that moves for it take" : "");
  else buf_str(b, "<p>Amounts are in elements, as the EinDecomp paper counts them.</p>\n");
  buf_str(b, "<div class=\"scroll\"><table class=\"sort\">\n<thead><tr>");
  for (const char *const *s = f->p->asked.by_bytes ? of_bytes : of_elements; *s; s++)
    if (f->p->seconds || strcmp(*s, "time") != 0) buf_printf(b, "<th scope=\"col\">%s</th>", *s);
  buf_str(b, "</tr></thead>\n<tbody>\n");
  for (uint32_t i = 0; i < f->tensors.len; i++) row(f, b, i);
  buf_str(b, "</tbody>\n</table></div>\n</section>\n");
}

/* ---- alternatives ------------------------------------------------------------------------------------------------ */

static void against_rows(const Facts *f, Buf *b) {
  const Sites *p = f->p;
  vec_each(const Rival, r, p->against) {
    Buf words = buf_new(b->arena);
    against_text(p, r, &words);
    buf_printf(b, "<li>by <em>%s</em>: %s</li>\n", planner_info[r->who].name, html(b->arena, words.s));
  }
}

static void rivals_list(const Sites *p, Buf *b) {
  const RunnerUp *second = p->report.second;
  Buf words = buf_new(b->arena), its = buf_new(b->arena);
  rival_text(p, second, &words);
  buf_printf(b,
      "<li>The runner-up: %s. It is the best plan in which one of the tensors that most bytes depend on is cut "
      "differently.</li>\n", html(b->arena, words.s));
  if (!second->other) return;
  rival_text(p, second->other, &its);
  buf_printf(b, "<li>The next best for another such tensor: %s.</li>\n", html(b->arena, its.s));
}

static void page_others(const Facts *f, Buf *b) {
  Arena *a = b->arena;
  if (!f->p->asked.by_bytes && !f->p->against.len) return;
  buf_str(b, "<section id=\"others\">\n<h2>What else could be</h2>\n<ul>\n");
  if (f->p->asked.by_bytes) rivals_list(f->p, b);
  for (uint32_t i = 0; i < f->p->report.whys.len; i++) {
    Buf words = buf_new(a);
    why_text(f->p, f->p->report.whys.at[i], &words);
    buf_printf(b, "<li>Why not <code>%s</code>: %s.</li>\n", html(a, shown(a, f->p->report.whys.at[i]->pin)),
        html(a, words.s));
  }
  for (uint32_t i = 0; i < f->reads.len; i++) {
    const char *way = facts_way(a, f, &f->reads.at[i]), *to = f->tensors.at[f->reads.at[i].vertex].name;
    if (way) buf_printf(b, "<li>Read at data: %s receives %s.</li>\n", html(a, to), html(a, way));
  }
  against_rows(f, b);
  buf_str(b, "</ul>\n</section>\n");
}

/* ---- the words --------------------------------------------------------------------------------------------------- */

static const char *const words_bytes[][2] = {
    {"site",
        "A machine, or a part of one, with a memory of its own: a node, a GPU. It computes on what it has; the rest "
        "it must receive from other sites, and "
        "that is what a plan saves."},
    {"mesh",
        "The sites as points of a grid with a few axes. It says who is in a row with whom, and gives the sites their "
        "numbers: the last axis runs fastest."},
    {"axis",
        "A direction of the mesh. In each equation it either cuts one label, so that the sites along it have its "
        "blocks one after the other, or is idle (-), and "
        "they all do the same."},
    {"cut",
        "s=4: the indices of label s are shared out in four even blocks. An equation is cut in as many blocks as there "
        "are sites, and each site computes one."},
    {"home",
        "Where a tensor stays for all that read it, cut in its own way; * says that the sites along an axis all have "
        "the same. A reader with another cut "
        "fetches what it lacks."},
    {"parts",
        "Where an axis cuts a label that is summed over, each site has a sum over its block alone: a part. The parts "
        "are added up on the way home, which moves "
        "bytes."},
};

static const char *const words_elements[][2] = {
    {"site",
        "A machine, or a part of one, with a memory of its own. It computes on what it has; the rest must be "
        "brought there."},
    {"cut",
        "s=4: the indices of label s are shared out in four blocks. The product of an equation&#39;s cuts is the "
        "number of its calls."},
    {"call", "A kernel on one block of each operand. What goes to kernels is the blocks of all calls."},
    {"reduced",
        "Where a label that is summed over is cut, each call gives a sum over its block alone. These are brought "
        "to one place."},
    {"cut anew", "What moves where a tensor was made with other cuts than its reader wants."},
};

static void page_words(const Facts *f, Buf *b) {
  buf_str(b, "<section id=\"words\">\n<h2>How to read this</h2>\n<dl class=\"words\">\n");
  size_t n = f->p->asked.by_bytes ? COUNT(words_bytes) : COUNT(words_elements);
  for (size_t i = 0; i < n; i++) {
    const char *const *w = f->p->asked.by_bytes ? words_bytes[i] : words_elements[i];
    buf_printf(b, "<dt>%s</dt><dd>%s</dd>\n", w[0], w[1]);
  }
  buf_str(b, "</dl>\n</section>\n");
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

static void section(Buf *b, const char *id, const char *title) {
  buf_printf(b, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
}

void page_html(const Facts *f, Buf *b) {
  bool bytes = f->p->asked.by_bytes;
  page_head(f, b);
  if (bytes) {
    section(b, "mesh", "The mesh");
    page_mesh(f, b);
    buf_str(b, "</section>\n");
  }
  section(b, "graph", "The graph");
  if (bytes)
    buf_str(b, "<p>A box is a tensor; rounded ones are inputs. Its chips say, axis by axis, which label the axis cuts "
            "while the tensor is computed, and at home. A red "
            "arrow moves bytes to its reader, the wider the more; over a thin grey one nothing moves, as the reader "
            "finds at home what it needs.</p>\n");
  else buf_str(b, "<p>A box is a tensor with its cuts; a red arrow is a tensor that is cut anew for its reader.</p>\n");
  page_graph(f, b);
  buf_str(b, "</section>\n");
  page_table(f, b);
  if (bytes) {
    section(b, "traffic", "Who receives from whom");
    page_traffic(f, b);
    buf_str(b, "</section>\n");
    section(b, "memory", "What is kept, over time");
    page_memory(f, b);
    buf_str(b, "</section>\n");
  }
  simulation_page(f->p, b);
  page_others(f, b);
  page_words(f, b);
  page_end(b);
}
