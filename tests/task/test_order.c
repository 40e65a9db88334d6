/* tests/task/test_order.c - tests task/passes/order.c: which tasks are done earlier or later, and which stay; and that
 * reordered random lists compute the same, need no more memory, and fail in the same order. */
#include "task/inside.h"
#include "tap.h"

/* ---- texts ---------------------------------------------------------------------------------------------- */

static TaskGraph *graph_of(Arena *a, const char *text) {
  Diags *d = diags_new(a);
  TaskGraph *t = task_read(a, strings_new(a), source_new(a, "x.task", text, strlen(text)), d);
  Buf why = buf_new(a);
  diags_text(d, &why, false);
  if (d->errors) tap_text("why", why.s);
  return d->errors ? NULL : t;
}

/* Prints the names of a list's tasks, as "A B C", with a repeat's list in parentheses. */
static void names(Buf *out, const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    if (i) buf_str(out, " ");
    buf_str(out, k->name ? k->name->s : "-");
    if (k->kind != TASK_REPEAT) continue;
    buf_str(out, "(");
    names(out, &k->body);
    buf_str(out, ")");
  }
}

#define BIG "[65536] : f32"
#define KERNEL(step, name, to, of) \
  "kernel " step " " name " outer 0 {\n  stage " name "[i:65536] : f32 = (" of ") to %" to "[i]\n}\n"
#define HEAD "taskgraph 1\n"

/* As in a training step: G is used only at the end, so it and what it depends on stay alive until then. */
#define STEP(size)                                                                                                 \
  "buffer %0 input 0 X" size "\nbuffer %1 output 0 N" size "\nbuffer %2 output 1 M" size "\nbuffer %3 work G" size \
  " alive 0..3\n"                                                                                                  \
  "buffer %4 work H" size " alive 1..2\nbuffer %5 work K" size                                                     \
  " alive 2..4\ninput X = %0\noutput N = %1\noutput M = %2\n"

typedef struct Case { const char *what, *text, *order; } Case;

static const Case cases[] = {
    {"what only waits is done as soon as that leaves less",
        HEAD STEP(BIG) KERNEL("0", "G", "3", "%0[i] * 2.0:f32") KERNEL("1", "H", "4", "%3[i] * 3.0:f32") KERNEL("2",
            "K", "5", "%4[i] * 5.0:f32") KERNEL("3", "N", "1", "%3[i] + %0[i]") KERNEL("4", "M", "2", "%5[i] + %0[i]"),
        "G H N K M"},
    {"a gain of less than a page is none",
        HEAD
        "buffer %0 input 0 X[9] : f32\nbuffer %1 output 0 N[9] : f32\nbuffer %2 output 1 M[9] : f32\n"
        "buffer %3 work G[9] : f32 alive 0..3\n"
        "buffer %4 work H[9] : f32 alive 1..2\nbuffer %5 work K[9] : f32 alive 2..4\ninput X = %0\noutput N = %1\n"
        "output M = %2\n"
        "kernel 0 G outer 0 {\n  stage G[i:9] : f32 = exp(%0[i]) to %3[i]\n}\nkernel 1 H outer 0 {\n"
        "  stage H[i:9] : f32 = exp(%3[i]) to %4[i]\n}\n"
        "kernel 2 K outer 0 {\n  stage K[i:9] : f32 = exp(%4[i]) to %5[i]\n}\nkernel 3 N outer 0 {\n"
        "  stage N[i:9] : f32 = exp(%3[i]) to %1[i]\n}\n"
        "kernel 4 M outer 0 {\n  stage M[i:9] : f32 = exp(%5[i]) to %2[i]\n}\n",
        "G H K N M"},
    {"what is made long before it is wanted is put off",
        HEAD "buffer %0 input 0 X" BIG "\nbuffer %1 output 0 M" BIG "\nbuffer %2 work W" BIG
             " alive 0..4\nbuffer %3 work H" BIG " alive 1..2\nbuffer %4 work K" BIG " alive 2..3\nbuffer %5 work L" BIG
             " alive 3..4\ninput X = %0\noutput M = %1\n" KERNEL("0", "W", "2", "%0[i] * 2.0:f32")
                 KERNEL("1", "H", "3", "%0[i] * 3.0:f32") KERNEL("2", "K", "4", "%3[i] * 5.0:f32")
                     KERNEL("3", "L", "5", "%4[i] + %0[i]") KERNEL("4", "M", "1", "%2[i] + %5[i]"),
        "H K L W M"},
    {"what may fail stays in its order",
        HEAD
        "buffer %0 input 0 X" BIG "\nbuffer %1 output 0 N" BIG "\nbuffer %2 output 1 M" BIG "\nbuffer %3 work G" BIG
        " alive 0..3\nbuffer %4 work H" BIG " alive 1..2\nbuffer %5 work K" BIG
        " alive 2..4\nbuffer %6 input 1 at[65536] : i64\ninput X = %0\ninput at = %6\noutput N = %1\n"
        "output M = %2\n" KERNEL(
            "0", "G", "3", "%0[i] * 2.0:f32") KERNEL("1", "H", "4", "%3[i] * 3.0:f32")
            KERNEL("2", "K", "5", "%4[i] + %0[%6[i]]") KERNEL("3", "N", "1", "%3[i] + %0[(%6[i] + 1)]")
                KERNEL("4", "M", "2", "%5[i] + %0[i]"),
        "G H K N M"},
    {"a size without value leaves all as it is",
        HEAD "dim N\n" STEP(
            "[$N] : f32") "kernel 0 G outer 0 {\n  stage G[i:$N] : f32 = exp(%0[i]) to %3[i]\n}\n"
            "kernel 1 H outer 0 {\n  stage H[i:$N] : f32 = exp(%3[i]) to %4[i]\n}\n"
                          "kernel 2 K outer 0 {\n  stage K[i:$N] : f32 = exp(%4[i]) to %5[i]\n}\n"
                          "kernel 3 N outer 0 {\n  stage N[i:$N] : f32 = exp(%3[i]) to %1[i]\n}\n"
                          "kernel 4 M outer 0 {\n  stage M[i:$N] : f32 = exp(%5[i]) to %2[i]\n}\n",
        "G H K N M"},
    {"in a repeat too",
        HEAD
            STEP(BIG) "buffer %6 work n[] : i64 alive 0..1\nkernel 0 n outer 0 {\n  stage n[] : i64 = 3 to %6[]\n}\n"
                "repeat 1..7 t < %6 named R {\n" KERNEL(
                "2", "G", "3", "%0[i] * 2.0:f32") KERNEL("3", "H", "4", "%3[i] * 3.0:f32") KERNEL("4", "K", "5",
                "%4[i] * 5.0:f32") KERNEL("5", "N", "1", "%3[i] + %0[i]") KERNEL("6", "M", "2", "%5[i] + %0[i]") "}\n",
        "n R(G H N K M)"},
};

static int64_t peak_of(const TaskGraph *t) {
  int64_t *now = NEW_ARRAY(t->arena, int64_t, t->n_steps + 2), live = 0, most = 0;
  for (uint32_t i = 0; i < t->buffers.len; i++) {
    const TaskBuffer *b = &t->buffers.at[i];
    int64_t bytes = dtype_size(b->dtype);
    for (uint32_t d = 0; d < b->rank; d++) bytes *= task_size_guess(t, b->dim[d]);
    if (b->space == BUF_WORK) now[b->first] += bytes, now[b->last + 1] -= bytes;
  }
  for (uint32_t s = 0; s < t->n_steps; s++) {
    live += now[s];
    if (live > most) most = live;
  }
  return most;
}

static void check_case(const Case *c) {
  Arena *a = arena_new();
  Buf got = buf_new(a), why = buf_new(a);
  TaskGraph *t = graph_of(a, c->text);
  if (OK(t != NULL, "%s: it is read", c->what)) {
    int64_t was = peak_of(t);
    task_order(t);
    task_lifetimes(t);
    names(&got, &t->tasks);
    OK_STR(got.s, c->order, "%s", c->what);
    OK(peak_of(t) <= was, "%s: it takes no more", c->what);
    if (!OK(task_check(t, &why), "%s: it is sound", c->what)) tap_text("why", why.s);
  }
  arena_free(a);
}

/* ---- random lists --------------------------------------------------------------------------------------------- */

enum { PAGE = 1024, INPUT = 0, OUTPUT = 1, FIRST = 2, BUFFERS = 200, TURNS = 3 };

typedef struct Make {
  Arena *a;
  Buf tasks;
  uint64_t seed;
  uint32_t n, step;          /* the numbers of buffers and of steps so far */
  bool there[BUFFERS];
  uint32_t pages[BUFFERS];   /* 0: a scalar i64 */
} Make;

static uint32_t any(Make *m, uint32_t below) {
  m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(m->seed >> 33) % below;
}

/* Returns a buffer that has a value, preferably a recent one. */
static uint32_t buffer_any(Make *m) {
  for (uint32_t tries = 0; tries < 8; tries++) {
    uint32_t near = m->n > 12 && any(m, 3) ? m->n - 12 : 0, b = near + any(m, m->n - near);
    if (m->there[b] && m->pages[b]) return b;
  }
  return INPUT;
}

static uint32_t buffer_new(Make *m, uint32_t pages) {
  m->pages[m->n] = pages;
  return m->n++;
}

/* Adds a kernel that computes a buffer from others, or updates it in place; some read at an index from data. */
static void kernel_make(Make *m, uint32_t to) {
  uint32_t x = buffer_any(m), y = buffer_any(m), z = buffer_any(m);
  buf_printf(&m->tasks, "kernel %u k%u outer 0 {\n  stage [i:%u] : i64 = ", m->step, m->step, m->pages[to] * PAGE);
  if (m->there[to]) buf_printf(&m->tasks, "(%%%u[i] + ", to);
  if (z != to && y != to && any(m, 8) == 0) buf_printf(&m->tasks, "(%%%u[%%%u[2]] - ", y, z);
  else buf_printf(&m->tasks, "(%%%u[1] - ", y == to ? INPUT : y);
  buf_printf(&m->tasks, "%%%u[0])%s to %%%u[i]\n}\n", x == to ? INPUT : x, m->there[to] ? ")" : "", to);
  m->there[to] = true;
  m->step++;
}

static void kernel_any(Make *m) {
  uint32_t old = buffer_any(m);
  kernel_make(m, old > OUTPUT && any(m, 8) == 0 ? old : buffer_new(m, 1 + any(m, 9)));
}

/* Adds a repeat over some kernels, with a state in two buffers. Other values made in a turn are not used outside. */
static void repeat_make(Make *m) {
  uint32_t bound = buffer_new(m, 0), now = buffer_new(m, 1 + any(m, 5)), next = buffer_new(m, m->pages[now]);
  buf_printf(&m->tasks, "kernel %u k%u outer 0 {\n  stage [] : i64 = 3 to %%%u[]\n}\n", m->step, m->step, bound);
  m->step++;
  kernel_make(m, now);
  uint32_t first = m->step++, inner = m->n;
  Buf outside = m->tasks;
  m->tasks = buf_new(m->a);
  for (uint32_t i = 0, n = 1 + any(m, 8); i < n; i++) kernel_any(m);
  kernel_make(m, next);
  for (uint32_t b = inner; b < m->n; b++) m->there[b] = false;
  m->there[next] = false;
  buf_printf(&outside, "repeat %u..%u t%u < %%%u {\n%sexchange %%%u %%%u\n}\n", first, m->step, first, bound,
      m->tasks.s, now, next);
  m->tasks = outside;
  m->step++;
}

static const char *list_make(Arena *a, uint64_t seed) {
  Make *m = NEW(a, Make);
  *m = (Make){.a = a, .tasks = buf_new(a), .seed = seed, .n = FIRST};
  m->pages[INPUT] = m->pages[OUTPUT] = 1;
  m->there[INPUT] = true;
  for (uint32_t i = 0, n = 4 + any(m, 30); i < n; i++) {
    if (any(m, 12) == 0) repeat_make(m);
    else kernel_any(m);
  }
  kernel_make(m, OUTPUT);
  Buf out = buf_new(a);
  buf_printf(&out, "taskgraph 1\nbuffer %%0 input 0 X[%u] : i64\nbuffer %%1 output 0 Y[%u] : i64\n", PAGE, PAGE);
  for (uint32_t b = FIRST; b < m->n; b++) {
    buf_printf(&out, "buffer %%%u work [", b);
    if (m->pages[b]) buf_printf(&out, "%u", m->pages[b] * PAGE);
    buf_str(&out, "] : i64 alive 0..0\n");
  }
  buf_printf(&out, "input X = %%0\noutput Y = %%1\n%s", m->tasks.s);
  return out.s;
}

typedef struct Values {      /* hashes that stand for the values of buffers */
  TaskGraph *t;
  uint64_t of[BUFFERS], failed; /* failed: a hash of all stages that may fail, in order */
} Values;

static uint64_t mix(uint64_t a, uint64_t b) {
  return (a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccdu;
}

static void list_do(Values *v, const Tasks *list) {
  for (uint32_t i = 0; i < list->len; i++) {
    const Task *k = list->at[i];
    for (uint32_t j = 0; j < k->stages.len; j++) {
      const TaskStage *s = &k->stages.at[j];
      uint64_t got = (uint64_t)(uintptr_t)k;
      for (uint32_t m = 0; m < s->sum->n_slot; m++) got = mix(got, v->of[s->slot[m].index]);
      if (stage_may_fail(v->t, s)) v->failed = mix(v->failed, got);
      v->of[s->buffer] = got;
    }
    for (uint32_t n = 0; k->kind == TASK_REPEAT && n < TURNS; n++) {
      list_do(v, &k->body);
      for (uint32_t x = 0; x < k->exchange.len; x++) {
        uint64_t was = v->of[k->exchange.at[x].now];
        v->of[k->exchange.at[x].now] = v->of[k->exchange.at[x].next];
        v->of[k->exchange.at[x].next] = was;
      }
    }
  }
}

static Values *values_of(TaskGraph *t) {
  Values *v = NEW(t->arena, Values);
  v->t = t;
  list_do(v, &t->tasks);
  return v;
}

/* Reorders one random list. Returns whether its peak fell; *ok: all conditions hold. */
static bool random_one(uint64_t seed, bool *ok) {
  Arena *a = arena_new();
  Buf why = buf_new(a);
  const char *text = list_make(a, seed);
  TaskGraph *t = graph_of(a, text);
  *ok = t != NULL;
  if (*ok) task_lifetimes(t);
  *ok = *ok && task_check(t, &why);
  bool less = false;
  if (*ok) {
    const Values *was = values_of(t);
    int64_t peak = peak_of(t);
    task_order(t);
    task_lifetimes(t);
    const Values *now = values_of(t);
    less = peak_of(t) < peak;
    *ok = task_check(t, &why) && peak_of(t) <= peak && !memcmp(was->of, now->of, sizeof was->of) &&
        was->failed == now->failed;
  }
  if (!*ok) tap_text("why", why.s), tap_text("text", text);
  arena_free(a);
  return less;
}

static void check_random(void) {
  uint32_t less = 0, n = 0;
  bool ok = true;
  for (; ok && n < 3000; n++) less += random_one(n, &ok);
  OK(ok, "%u random lists compute the same, and take no more", n);
  OK(less > n / 4, "%u of them take less", less);
}

/* A long list, for which quadratic work would take too long. */
static void check_long(void) {
  Arena *a = arena_new();
  enum { N = 20000 };
  Buf b = buf_new(a), tasks = buf_new(a);
  buf_str(&b, "taskgraph 1\nbuffer %0 input 0 X[2048] : f32\nbuffer %1 output 0 Y[2048] : f32\n");
  for (uint32_t i = 0; i < N; i++) {
    uint32_t before = i < 7 ? 0 : i - (i % 5 == 0 ? 5 : 1) + 2, to = i + 1 == N ? 1 : i + 2;
    if (i + 1 < N) buf_printf(&b, "buffer %%%u work [2048] : f32 alive 0..0\n", i + 2);
    buf_printf(&tasks, "kernel %u outer 0 {\n  stage [i:2048] : f32 = (%%%u[i] + %%%u[0]) to %%%u[i]\n}\n", i, before,
        i / 2 > 0 ? i / 2 + 1 : 0, to);
  }
  buf_printf(&b, "input X = %%0\noutput Y = %%1\n%s", tasks.s);
  TaskGraph *t = graph_of(a, b.s);
  if (OK(t != NULL, "20,000 kernels are read")) {
    task_lifetimes(t);
    int64_t was = peak_of(t);
    task_order(t);
    task_lifetimes(t);
    OK(peak_of(t) <= was, "the order takes no more memory");
  }
  arena_free(a);
}

int main(void) {
  for (size_t i = 0; i < COUNT(cases); i++) check_case(&cases[i]);
  check_random();
  check_long();
  return DONE();
}
