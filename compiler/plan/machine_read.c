/* plan/machine_read.c - reads a machine from JSON. Only members that docs/machine.md describes are allowed: an
 * unknown name may be a misspelling, which would otherwise be ignored silently. */
#include <string.h>

#include "base/json.h"
#include "machine.h"

typedef struct MachineReader { Arena *arena; Diags *d; Machine *m; bool ok; } MachineReader;

/* A member that an object may have; the last of a list has no name. */
typedef struct Field Field;
struct Field {
  const char *name;
  JsonKind kind;
  bool wanted;
  void (*take)(MachineReader *r, const JsonValue *v, void *to, const Field *f);
  size_t at;                 /* where in the struct it goes */
};

static void wrong(MachineReader *r, Span at, const char *what, const char *why) {
  r->ok = false;
  diag_add(r->d, D_E921, at, "%s: %s", what, why);
}

static const char *words(const MachineReader *r, const char *a, const char *b) {
  return arena_printf(r->arena, "%s%s", a, b);
}

static void object_take(MachineReader *r, const JsonValue *v, const char *what, const Field *fields, void *to) {
  if (v->kind != JSON_OBJECT) {
    wrong(r, v->span, what, words(r, "expected an object, not ", json_kind_name(v->kind)));
    return;
  }
  vec_each(const JsonMember, m, v->members) {
    const Field *f = fields;
    while (f->name && strcmp(f->name, m->name) != 0) f++;
    if (!f->name) wrong(r, m->span, words(r, what, ""), arena_printf(r->arena, "there is no member \"%s\"", m->name));
    else if (f->kind != JSON_NULL && f->kind != m->value->kind)
      wrong(r, m->value->span, f->name,
            arena_printf(r->arena, "expected %s, not %s", json_kind_name(f->kind), json_kind_name(m->value->kind)));
    else f->take(r, m->value, (char *)to + f->at, f);
  }
  for (const Field *f = fields; f->name; f++)
    if (f->wanted && !json_member(v, f->name))
      wrong(r, v->span, what, arena_printf(r->arena, "the member \"%s\" is missing", f->name));
}

/* ---- what members hold ---------------------------------------------------------------------- */

static void text_take(MachineReader *r, const JsonValue *v, void *to, const Field *f) {
  if (!*v->text) wrong(r, v->span, f->name, "this text is empty");
  *(const char **)to = v->text;
}

static void int_take(MachineReader *r, const JsonValue *v, void *to, const Field *f) {
  if (!v->whole || v->integer < 1) wrong(r, v->span, f->name, "expected a whole number, at least 1");
  else *(int64_t *)to = v->integer;
}

static void positive_take(MachineReader *r, const JsonValue *v, void *to, const Field *f) {
  if (!(v->number > 0)) wrong(r, v->span, f->name, "expected a positive number");
  else *(double *)to = v->number;
}

static const Field measure_fields[] = {
  {"value", JSON_NUMBER, true, positive_take, offsetof(Measure, value)},
  {"median", JSON_NUMBER, true, positive_take, offsetof(Measure, median)},
  {"worst", JSON_NUMBER, true, positive_take, offsetof(Measure, worst)},
  {0}};

/* A number, or a number with its spread. */
static void measure_take(MachineReader *r, const JsonValue *v, void *to, const Field *f) {
  if (v->kind == JSON_NUMBER) positive_take(r, v, &((Measure *)to)->value, f);
  else if (v->kind == JSON_OBJECT) object_take(r, v, f->name, measure_fields, to);
  else
    wrong(r, v->span, f->name,
        words(r, "expected a number or {\"value\", \"median\", \"worst\"}, not ", json_kind_name(v->kind)));
}

static const Field memory_fields[] = {
  {"name", JSON_STRING, true, text_take, offsetof(MachineMemory, name)},
  {"bytes", JSON_NUMBER, false, int_take, offsetof(MachineMemory, bytes)},
  {"latency_seconds", JSON_NULL, false, measure_take, offsetof(MachineMemory, latency)},
  {"read_bytes_per_second", JSON_NULL, false, measure_take, offsetof(MachineMemory, read)},
  {"copy_bytes_per_second", JSON_NULL, false, measure_take, offsetof(MachineMemory, copy)},
  {0}};

static void memories_take(MachineReader *r, const JsonValue *v, void *to, const Field *f) {
  MachineLevel *l = to;
  (void)f;
  for (uint32_t i = 0; i < v->items.len; i++) {
    MachineMemory x = {.name = "", .span = v->items.at[i]->span};
    object_take(r, v->items.at[i], "a memory", memory_fields, &x);
    vec_push(r->arena, l->memories, x);
  }
}

static const Field rate_fields[] = {
  {"multiply_add", JSON_NULL, false, measure_take, RATE_MULTIPLY_ADD * sizeof(Measure)},
  {"add_max", JSON_NULL, false, measure_take, RATE_ADD_MAX * sizeof(Measure)},
  {0}};

static void rates_take(MachineReader *r, const JsonValue *v, void *to, const Field *f) {
  MachineLevel *l = to;
  (void)f;
  vec_each(const JsonMember, m, v->members) {
    DType t;
    if (!dtype_find(m->name, strlen(m->name), &t))
      wrong(r, m->span, "operations_per_second", arena_printf(r->arena, "there is no dtype %s", m->name));
    else object_take(r, m->value, m->name, rate_fields, l->rate[t]);
  }
}

static const Field link_fields[] = {
  {"latency_seconds", JSON_NULL, false, measure_take, offsetof(MachineLevel, link_latency)},
  {"bytes_per_second", JSON_NULL, true, measure_take, offsetof(MachineLevel, link)},
  {0}};

static void link_take(MachineReader *r, const JsonValue *v, void *to, const Field *f) {
  object_take(r, v, f->name, link_fields, to);
}

static const Field level_fields[] = {
  {"name", JSON_STRING, true, text_take, offsetof(MachineLevel, name)},
  {"parts", JSON_NUMBER, true, int_take, offsetof(MachineLevel, parts)},
  {"memories", JSON_ARRAY, false, memories_take, 0},
  {"operations_per_second", JSON_OBJECT, false, rates_take, 0},
  {"link", JSON_OBJECT, false, link_take, 0},
  {0}};

static void levels_take(MachineReader *r, const JsonValue *v, void *to, const Field *f) {
  Machine *m = to;
  if (!v->items.len) wrong(r, v->span, f->name, "there is none; the first is the core");
  for (uint32_t i = 0; i < v->items.len; i++) {
    MachineLevel l = {.name = "", .parts = 1, .span = v->items.at[i]->span};
    object_take(r, v->items.at[i], "a level", level_fields, &l);
    vec_push(r->arena, m->levels, l);
  }
}

/* Read after the levels, so that its level can be looked up. */
typedef struct Site { const char *level; int64_t bytes; Span span; } Site;

static void site_level_take(MachineReader *r, const JsonValue *v, void *to, const Field *f) {
  text_take(r, v, &((Site *)to)->level, f);
  ((Site *)to)->span = v->span;
}

static const Field site_fields[] = {
  {"level", JSON_STRING, true, site_level_take, 0},
  {"bytes", JSON_NUMBER, false, int_take, offsetof(Site, bytes)},
  {0}};

static void site_find(MachineReader *r, const JsonValue *v) {
  Site site = {0};
  Machine *m = r->m;
  object_take(r, v, "site", site_fields, &site);
  m->site_bytes = site.bytes;
  for (m->site = 0; site.level && m->site < m->levels.len; m->site++)
    if (strcmp(m->levels.at[m->site].name, site.level) == 0) return;
  if (site.level) wrong(r, site.span, "site", arena_printf(r->arena, "there is no level %s", site.level));
  m->site = 0;
}

static void later_take(MachineReader *r, const JsonValue *v, void *to, const Field *f) {
  (void)r, (void)v, (void)to, (void)f;
}

static const Field price_fields[] = {
  {"run_seconds", JSON_NULL, false, measure_take, offsetof(Machine, run)},
  {"kernel_seconds", JSON_NULL, false, measure_take, offsetof(Machine, kernel)},
  {"parallel_seconds", JSON_NULL, false, measure_take, offsetof(Machine, parallel)},
  {"wake_seconds", JSON_NULL, false, measure_take, offsetof(Machine, wake)},
  {"worth_threads_operations", JSON_NUMBER, false, positive_take, offsetof(Machine, worth_threads)},
  {0}};

static void prices_take(MachineReader *r, const JsonValue *v, void *to, const Field *f) {
  object_take(r, v, f->name, price_fields, to);
}

static const Field machine_fields[] = {
  {"format", JSON_STRING, true, later_take, 0},
  {"name", JSON_STRING, true, text_take, offsetof(Machine, name)},
  {"made", JSON_STRING, false, text_take, offsetof(Machine, made)},
  {"site", JSON_OBJECT, true, later_take, 0},
  {"line_bytes", JSON_NUMBER, false, int_take, offsetof(Machine, line_bytes)},
  {"levels", JSON_ARRAY, true, levels_take, 0},
  {"prices", JSON_OBJECT, false, prices_take, 0},
  {0}};

/* Another version has another form, so nothing else is reported. */
static bool format_known(MachineReader *r, const JsonValue *v) {
  const JsonValue *f = json_member(v, "format");
  if (!f || f->kind != JSON_STRING)
    wrong(r, f ? f->span : v->span, "format", "a machine file has a member \"format\": \"ein machine 1\"");
  else if (strcmp(f->text, "ein machine 1") != 0)
    wrong(r, f->span, "format", arena_printf(r->arena, "expected \"ein machine 1\", not \"%s\"", f->text));
  return r->ok;
}

Machine *machine_read(Arena *a, Source *src, Diags *d) {
  MachineReader r = {.arena = a, .d = d, .m = NEW(a, Machine), .ok = true};
  const JsonValue *v = json_read(a, src, d);
  if (!v || !format_known(&r, v)) return NULL;
  object_take(&r, v, "a machine", machine_fields, r.m);
  const JsonValue *site = json_member(v, "site");
  if (site && site->kind == JSON_OBJECT) site_find(&r, site);
  return r.ok ? r.m : NULL;
}
