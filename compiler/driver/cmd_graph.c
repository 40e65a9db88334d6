/* driver/cmd_graph.c - ein graph: a program's EinGraph as text, as JSON, or as a picture. */
#include <string.h>

#include "driver.h"

static Leave svg(Session *s, Buf *text) {
  const char *dot = program_on_path(s->arena, "dot"), *why;
  if (!dot)
    return fail(s, LEAVE_MACHINE,
                "--svg needs Graphviz's dot, which is not on the PATH\n"
                "  get it (Debian: apt install graphviz), or write --dot and draw it elsewhere");
  const char *const argv[] = {dot, "-Tsvg", NULL};
  Buf out = buf_new(s->arena);
  if (!program_run(s->arena, argv, text->s, text->len, &out, &why))
    return fail(s, LEAVE_MACHINE, "%s: %s", dot, why);
  *text = out;
  return LEAVE_OK;
}

static Leave draw(Session *s, const Args *a, const EinGraph *g, Buf *b) {
  if (arg_has(a, OPT_JSON))
    graph_json(b, g);
  else if (arg_has(a, OPT_DOT) || arg_has(a, OPT_SVG))
    graph_dot(b, g);
  else
    graph_print(b, g);
  return arg_has(a, OPT_SVG) ? svg(s, b) : LEAVE_OK;
}

Leave cmd_graph(Session *s, Args *a) {
  const char *to = arg_last(a, OPT_OUTPUT);
  if (arg_has(a, OPT_TEXT) + arg_has(a, OPT_JSON) + arg_has(a, OPT_DOT) + arg_has(a, OPT_SVG) > 1)
    return fail(s, LEAVE_USAGE, "one of --text, --json, --dot and --svg at a time");
  if (a->operands.len != 1) return fail(s, LEAVE_USAGE, "one program, please: ein graph x.ein");
  Job j;
  Buf b = buf_new(s->arena);
  Leave l = job_compile(s, &j, a, a->operands.at[0]);
  if (!l) l = draw(s, a, j.graph, &b);
  return l ? l : file_write(s, to ? to : "-", b.s, b.len);
}
