/* driver/plan/device/page.c - a device's plan as a page: its figures, and a picture of what is on the device when. */
#include "device.h"
#include "driver/plan/page/page.h"
#include "driver/table.h"

/* ---- the head ------------------------------------------------------------------------------------------------ */

static void tile(Buf *b, const char *what, const char *value) {
  buf_printf(b, "<div><dt>%s</dt><dd>%s</dd></div>\n", what, html(b->arena, value));
}

static void tile_bus(Buf *b, const DevicePlan *d, const char *what, int64_t bytes) {
  buf_printf(b, "<div><dt>%s</dt><dd>%s</dd>", what, amount(b->arena, bytes, "B"));
  if (d->bus)
    buf_printf(b, "<dd class=\"more\">%s by the link of %s</dd>",
        seconds_of(b->arena, (double)bytes / d->bus->link.value), html(b->arena, shown(b->arena, d->bus->name)));
  buf_str(b, "</div>\n");
}

static void head(const Job *j, const DevicePlan *d, Buf *b) {
  Arena *a = b->arena;
  page_begin(b, j->path, "a device");
  if (d->spills)
    buf_printf(b, "All its tensors take %s of the device, and it may take %s: so some of them are kept on the host "
                  "while no kernel needs them.", amount(a, d->whole, "B"), amount(a, d->limit, "B"));
  else buf_printf(b, "All its tensors are on the device, where they take %s.", amount(a, d->whole, "B"));
  if (d->one_turn) buf_str(b, " Where data decide how many turns a repeat makes, one turn is counted.");
  if (d->not_all) buf_printf(b, " The bus has the bytes of the first %d steps.", DEVICE_STEPS);
  buf_str(b, "</p>\n</header>\n<main>\n<dl class=\"tiles\">\n");
  tile(b, "memory of the device", amount(a, d->takes, "B"));
  tile(b, "at least", device_least(a, j, d));
  tile_bus(b, d, "to the device", d->in);
  tile_bus(b, d, "from the device", d->out);
  buf_str(b, "</dl>\n");
}

/* ---- the picture ---------------------------------------------------------------------------------------------- */

static const double LEFT = 190, WIDE = 1000, STEP = 26; /* pixels; STEP: of a column, at most */
enum { LINE = 18 };

typedef struct DevicePicture {
  const DevicePlan *d;
  uint32_t *column;          /* by row: 1 + its column; 0: it has none */
  uint32_t columns, *line;   /* by buffer: 1 + its line; 0: it is never there */
  uint32_t lines;
  double wide;               /* a column */
} DevicePicture;

static DevicePicture picture_of(Arena *a, const DevicePlan *d) {
  const uint32_t rows = d->rows->rows.len;
  DevicePicture p = {.d = d};
  p.column = NEW_ARRAY(a, uint32_t, rows + 1), p.line = NEW_ARRAY(a, uint32_t, d->n + 1);
  for (uint32_t r = 0; r < rows; r++)
    if (d->rows->rows.at[r].kind == EMIT_STEP && d->rows->rows.at[r].from < 0) p.column[r] = ++p.columns;
  for (uint32_t i = 0; i < d->stays.len; i++)
    if (!p.line[d->stays.at[i].buffer]) p.line[d->stays.at[i].buffer] = ++p.lines;
  p.wide = p.columns && WIDE / p.columns < STEP ? WIDE / p.columns : STEP;
  return p;
}

static double left_of(const DevicePicture *p, uint32_t row) { return LEFT + p->wide * (p->column[row] - 1); }

static void stay_draw(const DevicePicture *p, const DeviceStay *x, const char *name, Buf *b) {
  double left = left_of(p, x->from), right = left_of(p, x->to) + p->wide;
  buf_printf(b,
      "<g><title>%s: steps %u to %u</title>"
      "<rect class=\"band1\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"10\" rx=\"2\"/></g>\n",
      html(b->arena, name), p->d->rows->rows.at[x->from].task->step, p->d->rows->rows.at[x->to].task->step, left,
      (p->line[x->buffer] - 1) * LINE + 24, right - left - 1);
}

/* A mark where a transfer is for a step: it comes, or has gone to the host before. */
static void move_draw(const DevicePicture *p, const DeviceMove *x, Buf *b) {
  if (x->kind == DEVICE_WITHIN || x->buffer < 0 || x->row >= p->d->rows->rows.len || !p->line[x->buffer]) return;
  buf_printf(b, "<rect class=\"%s\" x=\"%.1f\" y=\"%u\" width=\"3\" height=\"14\"/>\n",
      x->kind == DEVICE_IN ? "q5" : "band0", left_of(p, x->row) - (x->kind == DEVICE_IN ? 0 : 4),
      (p->line[x->buffer] - 1) * LINE + 22);
}

static void picture(const Job *j, const DevicePlan *d, Buf *b) {
  DevicePicture p = picture_of(b->arena, d);
  buf_printf(b,
      "<div class=\"scroll\"><svg width=\"%.0f\" height=\"%u\" role=\"img\" aria-labelledby=\"there\">\n"
      "<title id=\"there\">Which tensors are on the device, by step</title>\n",
      LEFT + p.wide * p.columns + 20, p.lines * LINE + 34);
  for (uint32_t r = 0, last = 0; r < d->rows->rows.len; r++) {
    if (!p.column[r] || (last && p.wide * (p.column[r] - last) < STEP)) continue;
    last = p.column[r];
    buf_printf(b, "<text class=\"c\" x=\"%.1f\" y=\"14\">%u</text>\n", left_of(&p, r) + p.wide / 2,
        d->rows->rows.at[r].task->step);
  }
  for (uint32_t k = 0; k < d->n; k++) {
    const char *name = p.line[k] ? text_short(b->arena, device_buffer(b->arena, j, d, k), 24) : NULL;
    if (name) buf_printf(b, "<text x=\"0\" y=\"%u\">%s</text>\n", (p.line[k] - 1) * LINE + 33, html(b->arena, name));
  }
  for (uint32_t i = 0; i < d->stays.len; i++)
    stay_draw(&p, &d->stays.at[i], device_buffer(b->arena, j, d, d->stays.at[i].buffer), b);
  for (uint32_t i = 0; i < d->moves.len; i++) move_draw(&p, &d->moves.at[i], b);
  buf_str(b, "</svg></div>\n");
}

/* ---- the table ------------------------------------------------------------------------------------------------ */

static void number(Buf *b, int64_t x, const char *text) {
  buf_printf(b, "<td class=\"num%s\" data-v=\"%lld\">%s</td>", x ? "" : " zero", (long long)x, text);
}

static void table(const Job *j, const DevicePlan *d, Buf *b) {
  static const char *const column[] = {"tensor", "bytes", "comes", "goes", "on the device at steps"};
  Arena *a = b->arena;
  const DeviceTotal *all = device_totals(a, d);
  buf_str(b, "<div class=\"scroll\"><table class=\"sort\">\n<thead><tr>");
  for (size_t k = 0; k < COUNT(column); k++) buf_printf(b, "<th scope=\"col\">%s</th>", column[k]);
  buf_str(b, "</tr></thead>\n<tbody>\n");
  for (uint32_t i = 0; i < d->n; i++) {
    const char *stays = device_stays(a, d, i);
    if (!*stays) continue;
    buf_printf(b, "<tr id=\"t%u\"><th scope=\"row\">%s</th>", i, html(a, device_buffer(a, j, d, i)));
    number(b, d->bytes[i], amount(a, d->bytes[i], "B"));
    for (int k = 0; k < 2; k++) number(b, all[i].times[k], arena_printf(a, "%lld", (long long)all[i].times[k]));
    buf_printf(b, "<td>%s</td></tr>\n", stays);
  }
  buf_str(b, "</tbody>\n</table></div>\n");
}

void device_plan_page(const Job *j, const DevicePlan *d, Buf *b) {
  head(j, d, b);
  if (d->spills) {
    buf_str(b, "<section id=\"memory\">\n<h2>What is on the device, step by step</h2>\n<p>A blue bar is a tensor on "
               "the device. At an <i class=\"key q5\"></i> orange mark it comes from the host for that step, at a "
               "<i class=\"key band0\"></i> grey one it has gone there before the step, to make room. Tensors that are "
               "on the host too leave without a transfer. Of a repeat, bars show the first turn; marks and the table "
               "are of all.</p>\n");
    picture(j, d, b);
    table(j, d, b);
    buf_str(b, "</section>\n");
  }
  page_end(b);
}
