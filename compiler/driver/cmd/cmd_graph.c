/* driver/cmd/cmd_graph.c - ein graph: prints a program's EinGraph as text, as JSON, or as a picture. */
#include <string.h>

#include "driver/driver.h"
#include "driver/pictures/graph_svg.h"

static Leave svg(Session *s, Buf *b, const EinGraph *g) {
  if (graph_svg(b, g)) return LEAVE_OK;
  return fail(s, LEAVE_USAGE,
      "--svg draws %d boxes at most, and there are more; --dot writes them for Graphviz, which draws as many as you "
      "wait for",
      GRAPH_SVG_MOST);
}

static Leave draw(Session *s, const Args *a, const EinGraph *g, Buf *b) {
  if (arg_has(a, OPT_SVG)) return svg(s, b, g);
  if (arg_has(a, OPT_JSON)) graph_json(b, g);
  else if (arg_has(a, OPT_DOT)) graph_dot(b, g);
  else graph_print(b, g);
  return LEAVE_OK;
}

/* `-o x.svg`: unless an option says it, the file's name does. */
static Leave form_of_name(Session *s, Args *a, const char *to) {
  static const OptionId form[] = {OPT_TEXT, OPT_JSON, OPT_DOT, OPT_SVG};
  static const char *const picture[] = {"png", "pdf", "jpg", "jpeg", "gif"};
  const char *dot = to ? strrchr(to, '.') : NULL;
  for (size_t i = 0; i < COUNT(form); i++)
    if (arg_has(a, form[i])) return LEAVE_OK;
  for (size_t i = 0; dot && i < COUNT(form); i++)
    if (strcmp(dot + 1, options[form[i]].name) == 0) vec_push(s->arena, a->given[form[i]], "");
  for (size_t i = 0; dot && i < COUNT(picture); i++)
    if (strcmp(dot + 1, picture[i]) == 0)
      return fail(s, LEAVE_USAGE, "-o %s: a picture is written as .svg, or as .dot for Graphviz", to);
  return LEAVE_OK;
}

Leave cmd_graph(Session *s, Args *a) {
  const char *to = arg_last(a, OPT_OUTPUT);
  if (arg_has(a, OPT_TEXT) + arg_has(a, OPT_JSON) + arg_has(a, OPT_DOT) + arg_has(a, OPT_SVG) > 1)
    return fail(s, LEAVE_USAGE, "one of --text, --json, --dot and --svg at a time");
  if (data_refuse(s, a, "ein graph")) return LEAVE_USAGE;
  if (a->operands.len != 1) return fail(s, LEAVE_USAGE, "one program, please: ein graph x.ein");
  Job j;
  Buf b = buf_new(s->arena);
  Leave l = form_of_name(s, a, to);
  if (!l) l = job_compile(s, &j, a, a->operands.at[0]);
  if (!l) l = draw(s, a, j.graph, &b);
  return l ? l : file_write(s, to ? to : "-", b.s, b.len);
}
