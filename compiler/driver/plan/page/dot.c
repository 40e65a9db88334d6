/* driver/plan/page/dot.c - the graph of a plan for Graphviz: a box per tensor with its cut and its home, an arrow per
 * read with what it moves. */
#include <math.h>

#include "page.h"

/* Escapes text inside a quoted string. */
static void dot_text(Buf *b, const char *s) {
  for (; *s; s++) {
    if (*s == '"' || *s == '\\') buf_char(b, '\\');
    buf_char(b, *s);
  }
}

static void dot_box(const Facts *f, Buf *b, uint32_t i) {
  static const char *const look[] = {"style=\"rounded,filled\", fillcolor=\"#eaf2fb\"",
      "style=\"filled\", fillcolor=\"#fff4d6\"", "style=\"filled,bold\", fillcolor=\"#e9f6ec\"",
      "style=\"filled\", fillcolor=\"#ffffff\""};
  const FactTensor *t = &f->tensors.at[i];
  buf_printf(b, "  t%u [%s, label=\"", i, look[t->vertex < 0 ? 0 : t->state ? 1 : t->output ? 2 : 3]);
  dot_text(b, t->equation);
  if (t->vertex < 0) dot_text(b, arena_printf(b->arena, " %s", t->name));
  if (*t->cut) {
    buf_str(b, "\\ncut ");
    dot_text(b, t->cut);
  }
  if (*t->home) {
    buf_str(b, "\\nhome ");
    dot_text(b, t->home);
  }
  if (t->brought > 0)
    buf_printf(b, "\\n%s %s", facts_moved(b->arena, f, t->brought),
        f->p->asked.by_bytes ? (t->vertex < 0 ? "for copies" : "to bring it home") : "to be reduced");
  buf_str(b, "\"];\n");
}

static void dot_arrow(const Facts *f, Buf *b, const FactRead *r, double most) {
  buf_printf(b, "  t%u -> t%u [", r->tensor, r->vertex);
  if (r->back) buf_str(b, "style=dashed, constraint=false, ");
  if (r->moved > 0)
    buf_printf(b, "label=\"%s%s\", color=\"#b3261e\", fontcolor=\"#b3261e\", penwidth=%.1f];\n",
        facts_moved(b->arena, f, r->moved), r->asked < r->whole ? "\\nasked for" : "", 1.6 + 5 * sqrt(r->moved / most));
  else buf_str(b, "color=\"#8a939c\"];\n");
}

void picture_dot(const Facts *f, Buf *b) {
  double most = 0;
  for (uint32_t i = 0; i < f->reads.len; i++)
    if (f->reads.at[i].moved > most) most = f->reads.at[i].moved;
  buf_str(b, "digraph plan {\n  label=\"");
  dot_text(b,
      arena_printf(b->arena, "%s on %lld site%s", f->p->j.path, (long long)f->p->sites, f->p->sites == 1 ? "" : "s"));
  if (f->p->asked.by_bytes) buf_printf(b, ", a mesh of %s: %s a site", times_text(b->arena, &f->p->placing->mesh, "x"),
                                 facts_moved(b->arena, f, f->moved / (double)f->p->sites));
  buf_str(b, "\";\n  labelloc=t;\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n  edge "
          "[fontname=\"monospace\", fontsize=9];\n");
  for (uint32_t i = 0; i < f->tensors.len; i++) dot_box(f, b, i);
  for (uint32_t i = 0; i < f->reads.len; i++) dot_arrow(f, b, &f->reads.at[i], most);
  buf_str(b, "}\n");
}
