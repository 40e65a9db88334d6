/* tests/task/test_split.c - long reductions to few outputs in parts (task/passes/split.c): which are cut, along what and into how
 * many, and that what comes out is sound and says what the old kernel said. The answers are looked at by
 * tests/run/long_*.ein, which `ein verify` compiles. */
#include "task/inside.h"
#include "tap.h"

/* The tasks of `text`, cut; NULL where what comes out is not sound, or does not come back from its text. */
static const char *cut(Arena *a, const char *text) {
  Diags *d = diags_new(a);
  Buf out = buf_new(a), why = buf_new(a), again = buf_new(a);
  TaskGraph *t = task_read(a, strings_new(a), source_new(a, "x.task", text, strlen(text)), d);
  if (t && !d->errors) {
    task_split(t, true);
    task_lifetimes(t);
    task_print(&out, t);
    bool ok = task_check(t, &why);
    TaskGraph *u = task_read(a, strings_new(a), source_new(a, "y.task", out.s, out.len), d);
    if (u) task_print(&again, u);
    if (ok && u && task_equal(t, u, &why) && strcmp(out.s, again.s) == 0) return out.s;
  }
  diags_text(d, &why, false);
  tap_text("why", why.s);
  tap_text("text", out.s);
  return NULL;
}

/* ---- all of it, word by word ---------------------------------------------------------------------------- */

#define SUM_HEAD "taskgraph 1\nbuffer %0 input 0 X[1048576] : f16\nbuffer %1 output 0 S[] : f16\n"
#define SUM_ARGS "input X = %0\noutput S = %1\n"

static const char sum[] = SUM_HEAD SUM_ARGS
    "kernel 0 S outer 0 @\"x.ein\":2:1 {\n"
    "  stage S[] : f16 = sum:f32[i:1048576] f32(%0[i]) to %1[] @\"x.ein\":2:1\n"
    "}\n";
static const char sum_cut[] = SUM_HEAD
    "buffer %2 work S.part[16] : f32 alive 0..1 @\"x.ein\":2:1\n" SUM_ARGS
    "kernel 0 S.part outer 0 @\"x.ein\":2:1 {\n"
    "  stage S.part[part:16] : f32 = sum:f32[i:65536] f32(%0[((part * 65536) + i)]) to %2[part] @\"x.ein\":2:1\n"
    "}\n"
    "kernel 1 S outer 0 @\"x.ein\":2:1 {\n"
    "  stage S[] : f16 = sum:f32[part:16] %2[part] to %1[] @\"x.ein\":2:1\n"
    "}\n";

/* Sizes without value, a predicate, an input that is not always read, and what comes behind the sum. */
#define ROWS_HEAD                                                                                                      \
  "taskgraph 1\ndim N\nbuffer %0 input 0 X[$N, 8] : f32\nbuffer %1 input 1 b[8] : f32\nbuffer %2 output 0 Y[8, 2] : f32\n"
#define ROWS_ARGS "input X = %0\ninput b = %1 optional\noutput Y = %2\n"

static const char rows[] = ROWS_HEAD
    "buffer %3 work b[8] : f32 alive 0..1\n" ROWS_ARGS
    "kernel 0 b outer 1 unless 1 {\n"
    "  stage s[j:8] : f32 = sum:f32[i:$N where (i != 3)] %0[i, j]\n"
    "  stage b[j:8] : f32 = exp(&0[j]) to %3[j]\n"
    "}\n"
    "default 1 input 1 = %3 unless 1\n"
    "kernel 2 Y outer 0 {\n"
    "  stage Y[j:8, k:2] : f32 = %1[j] to %2[j, k]\n"
    "}\n";
static const char rows_cut[] = ROWS_HEAD
    "buffer %3 work b[8] : f32 alive 2..4\n"
    "buffer %4 work s.part[(($N // 6144) + 1), 8] : f32 alive 0..2\n" ROWS_ARGS
    "kernel 0 b.part outer 0 unless 1 {\n"
    "  stage s.part[part:($N // 6144), j:8] : f32 = "
    "sum:f32[i:6144 where (((part * 6144) + i) != 3)] %0[((part * 6144) + i), j] to %4[part, j]\n"
    "}\n"
    "kernel 1 b.rest outer 0 unless 1 {\n"
    "  stage s.rest[j:8] : f32 = sum:f32[i:($N % 6144) where (((($N // 6144) * 6144) + i) != 3)] "
    "%0[((($N // 6144) * 6144) + i), j] to %4[($N // 6144), j]\n"
    "}\n"
    "kernel 2 b outer 1 unless 1 {\n"
    "  stage s[j:8] : f32 = sum:f32[part:(($N // 6144) + 1)] %4[part, j]\n"
    "  stage b[j:8] : f32 = exp(&0[j]) to %3[j]\n"
    "}\n"
    "default 3 input 1 = %3 unless 1\n"
    "kernel 4 Y outer 0 {\n"
    "  stage Y[j:8, k:2] : f32 = %1[j] to %2[j, k]\n"
    "}\n";

/* A place among the points of two labels, in a loop, with something behind it that reads two stages. */
#define ARG_HEAD "taskgraph 1\nbuffer %0 input 0 X[8192, 64] : f32\nbuffer %1 output 0 Y[1] : i64\n"
#define ARG_ARGS "input X = %0\noutput Y = %1\n"

static const char arg[] = ARG_HEAD
    "buffer %2 work n[] : i64 alive 0..1\n" ARG_ARGS
    "kernel 0 n outer 0 {\n"
    "  stage n[] : i64 = 3 to %2[]\n"
    "}\n"
    "repeat 1..3 t < %2 {\n"
    "  kernel 2 Y outer 1 {\n"
    "    stage p[o:1] : i64 = argmax:f32[i:8192, j:64 where (j <= i)] %0[i, j]\n"
    "    stage q[o:1] : i64 = (&0[o] + o)\n"
    "    stage Y[o:1] : i64 = (&0[o] - &1[o]) to %1[o]\n"
    "  }\n"
    "}\n";
static const char arg_cut[] = ARG_HEAD
    "buffer %2 work n[] : i64 alive 0..1\n"
    "buffer %3 work p.part[8, 1] : i64 alive 2..3\n" ARG_ARGS
    "kernel 0 n outer 0 {\n"
    "  stage n[] : i64 = 3 to %2[]\n"
    "}\n"
    "repeat 1..4 t < %2 {\n"
    "  kernel 2 Y.part outer 0 {\n"
    "    stage p.part[part:8, o:1] : i64 = argmax:f32[i:1024, j:64 where (j <= ((part * 1024) + i))] "
    "%0[((part * 1024) + i), j] to %3[part, o]\n"
    "  }\n"
    "  kernel 3 Y outer 1 {\n"
    "    stage p.part[o:1] : i64 = argmax:f32[part:8 where (0 <= %3[part, o])] "
    "%0[((part * 1024) + (%3[part, o] // 64)), (%3[part, o] % 64)]\n"
    "    stage p[o:1] : i64 = select((0 <= &0[o]), ((&0[o] * 65536) + %3[&0[o], o]), &0[o])\n"
    "    stage q[o:1] : i64 = (&1[o] + o)\n"
    "    stage Y[o:1] : i64 = (&1[o] - &2[o]) to %1[o]\n"
    "  }\n"
    "}\n";

/* Columns, whose parts surely have a place each: values are kept beside the places. */
#define COLUMNS_HEAD "taskgraph 1\nbuffer %0 input 0 X[2049, 1024] : f32\nbuffer %1 output 0 Y[1024] : i64\n"
static const char columns[] = COLUMNS_HEAD ARG_ARGS
    "kernel 0 Y outer 1 {\n"
    "  stage p[m:1024] : i64 = argmin:f32[n:2049] %0[n, m]\n"
    "  stage Y[m:1024] : i64 = (&0[m] - m) to %1[m]\n"
    "}\n";
static const char columns_cut[] = COLUMNS_HEAD
    "buffer %2 work p.part[9, 1024] : i64 alive 0..2\n"
    "buffer %3 work p.value[9, 1024] : f32 alive 0..2\n" ARG_ARGS
    "kernel 0 Y.part outer 2 {\n"
    "  stage p.part[part:8, m:1024] : i64 = argmin:f32[n:256] %0[((part * 256) + n), m] to %2[part, m]\n"
    "  stage p.value[part:8, m:1024] : f32 = %0[((part * 256) + &0[part, m]), m] to %3[part, m]\n"
    "}\n"
    "kernel 1 Y.rest outer 1 {\n"
    "  stage p.rest[m:1024] : i64 = argmin:f32[n:1] %0[(2048 + n), m] to %2[8, m]\n"
    "  stage p.value[m:1024] : f32 = %0[(2048 + &0[m]), m] to %3[8, m]\n"
    "}\n"
    "kernel 2 Y outer 1 {\n"
    "  stage p.part[m:1024] : i64 = argmin:f32[part:9] %3[part, m]\n"
    "  stage p[m:1024] : i64 = ((&0[m] * 256) + %2[&0[m], m])\n"
    "  stage Y[m:1024] : i64 = (&1[m] - m) to %1[m]\n"
    "}\n";

static void check_whole(const char *what, const char *from, const char *to) {
  Arena *a = arena_new();
  const char *got = cut(a, from);
  OK(got, "%s: sound", what);
  OK_STR(got ? got : "", to, "%s", what);
  arena_free(a);
}

/* ---- one kernel, and whether it is cut ------------------------------------------------------------------- */

typedef struct Case {
  const char *what;
  const char *head;          /* dims and monoids */
  const char *buffers;
  const char *stage;         /* the kernel's stages, the last stored */
  const char *has;           /* NULL: it stays as it is */
} Case;

#define ONE(in, out) "buffer %0 input 0 X" in "\nbuffer %1 output 0 Y" out "\n"

static const Case cases[] = {
    {"a short sum", "", ONE("[262143] : f32", "[] : f32"), "stage Y[] : f32 = sum:f32[i:262143] %0[i] to %1[]", NULL},
    {"a sum that is just long enough", "", ONE("[262144] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[i:262144] %0[i] to %1[]", "[part:4] : f32 = sum:f32[i:65536]"},
    {"no more parts than are of use", "", ONE("[1073741824] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[i:1073741824] %0[i] to %1[]", "[part:128] : f32 = sum:f32[i:8388608]"},
    {"a prime leaves little behind", "", ONE("[1000003] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[i:1000003] %0[i] to %1[]", "sum:f32[i:3] %0[(1000000 + i)] to %2[25]"},
    {"whole lanes where there is a choice", "", ONE("[1000000] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[i:1000000] %0[i] to %1[]", "[part:25] : f32 = sum:f32[i:40000]"},
    {"nothing to add up", "", ONE("[0, 4] : f32", "[4] : f32"), "stage Y[j:4] : f32 = sum:f32[i:0] %0[i, j] to %1[j]", NULL},
    {"no outputs", "", ONE("[9000000, 0] : f32", "[0] : f32"),
     "stage Y[j:0] : f32 = sum:f32[i:9000000] %0[i, j] to %1[j]", NULL},
    {"a map", "", ONE("[9000000] : f32", "[9000000] : f32"), "stage Y[i:9000000] : f32 = exp(%0[i]) to %1[i]", NULL},
    {"rows enough for threads", "", ONE("[64, 100000] : f32", "[64] : f32"),
     "stage Y[i:64] : f32 = sum:f32[j:100000] %0[i, j] to %1[i]", NULL},
    {"few rows", "", ONE("[4, 1048576] : f32", "[4] : f32"), "stage Y[i:4] : f32 = sum:f32[j:1048576] %0[i, j] to %1[i]",
     "[part:64, i:4] : f32 = sum:f32[j:16384] %0[i, ((part * 16384) + j)] to %2[part, i]"},
    {"rows, not what lies in them", "", ONE("[4096, 4096] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[i:4096, j:4096] %0[i, j] to %1[]", "sum:f32[i:32, j:4096] %0[((part * 32) + i), j]"},
    {"rows, wherever they stand", "", ONE("[4096, 4096] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[j:4096, i:4096] %0[i, j] to %1[]", "sum:f32[j:4096, i:32] %0[((part * 32) + i), j]"},
    {"not rows where there are few", "", ONE("[3, 1048576] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[i:3, j:1048576] %0[i, j] to %1[]", "sum:f32[i:3, j:"},
    {"columns", "", ONE("[1048576, 8] : f64", "[8] : f64"), "stage Y[j:8] : f64 = max:f64[i:1048576] %0[i, j] to %1[j]",
     "[part:128, j:8] : f64 = max:f64[i:8192] %0[((part * 8192) + i), j] to %2[part, j]"},
    {"columns enough for strips", "", ONE("[65536, 4096] : f32", "[4096] : f32"),
     "stage Y[j:4096] : f32 = sum:f32[i:65536] %0[i, j] to %1[j]", NULL},
    {"a long product of matrices with a small result", "",
     "buffer %0 input 0 X[1048576, 8] : f32\nbuffer %1 output 0 Y[8, 8] : f32\n",
     "stage Y[i:8, j:8] : f32 = sum:f32[k:1048576] (%0[k, i] * %0[k, j]) to %1[i, j]",
     "[part:128, i:8, j:8] : f32 = sum:f32[k:8192]"},
    {"a product of matrices with one block of both sides", "",
     "buffer %0 input 0 X[64, 262144] : f32\nbuffer %1 output 0 Y[64, 64] : f32\n",
     "stage Y[i:64, j:64] : f32 = sum:f32[k:262144] (%0[i, k] * %0[j, k]) to %1[i, j]",
     "[part:32, i:64, j:64] : f32 = sum:f32[k:8192] (%0[i, ((part * 8192) + k)] * %0[j, ((part * 8192) + k)]) to %2[part, i, j]"},
    {"one whose rows lie next to each other", "",
     "buffer %0 input 0 X[100000, 64] : f64\nbuffer %1 output 0 Y[64, 64] : f64\n",
     "stage Y[i:64, j:64] : f64 = max:f64[k:100000] (%0[k, i] + %0[k, j]) to %1[i, j]",
     "[part:32, i:64, j:64] : f64 = max:f64[k:3125]"},
    {"one of four blocks", "",
     "buffer %0 input 0 X[131072, 128] : f32\nbuffer %1 output 0 Y[128, 128] : f32\n",
     "stage Y[i:128, j:128] : f32 = sum:f32[k:131072] (%0[k, i] * %0[k, j]) to %1[i, j]", "[part:8, i:128, j:128] : f32 = sum:f32[k:16384]"},
    {"blocks enough", "",
     "buffer %0 input 0 X[131072, 256] : f32\nbuffer %1 output 0 Y[256, 128] : f32\n",
     "stage Y[i:256, j:128] : f32 = sum:f32[k:131072] (%0[k, i] * %0[k, j]) to %1[i, j]", NULL},
    {"products enough", "",
     "buffer %0 input 0 X[8, 32768, 64] : f32\nbuffer %1 output 0 Y[8, 64, 64] : f32\n",
     "stage Y[b:8, i:64, j:64] : f32 = sum:f32[k:32768] (%0[b, k, i] * %0[b, k, j]) to %1[b, i, j]", NULL},
    {"few products", "",
     "buffer %0 input 0 X[2, 32768, 64] : f32\nbuffer %1 output 0 Y[2, 64, 64] : f32\n",
     "stage Y[b:2, i:64, j:64] : f32 = sum:f32[k:32768] (%0[b, k, i] * %0[b, k, j]) to %1[b, i, j]",
     "[part:16, b:2, i:64, j:64] : f32 = sum:f32[k:2048]"},
    {"rows of two labels", "",
     "buffer %0 input 0 X[32768, 8, 8] : f32\nbuffer %1 output 0 Y[8, 8, 8, 8] : f32\n",
     "stage Y[i:8, a:8, j:8, b:8] : f32 = sum:f32[k:32768] (%0[k, i, a] * %0[k, j, b]) to %1[i, a, j, b]", "[part:32, "},
    {"a sum of products that is not long enough", "",
     "buffer %0 input 0 X[4095, 64] : f32\nbuffer %1 output 0 Y[64, 64] : f32\n",
     "stage Y[i:64, j:64] : f32 = sum:f32[k:4095] (%0[k, i] * %0[k, j]) to %1[i, j]", NULL},
    {"a sum of products that just is", "",
     "buffer %0 input 0 X[4096, 64] : f32\nbuffer %1 output 0 Y[64, 64] : f32\n",
     "stage Y[i:64, j:64] : f32 = sum:f32[k:4096] (%0[k, i] * %0[k, j]) to %1[i, j]", "[part:4, i:64, j:64] : f32 = sum:f32[k:1024]"},
    {"a sum of products of no known length", "dim N\n",
     "buffer %0 input 0 X[$N, 64] : f32\nbuffer %1 output 0 Y[64, 64] : f32\n",
     "stage Y[i:64, j:64] : f32 = sum:f32[k:$N] (%0[k, i] * %0[k, j]) to %1[i, j]", NULL},
    {"products of no known number", "dim N\n",
     "buffer %0 input 0 X[131072, $N] : f32\nbuffer %1 output 0 Y[64, $N] : f32\n",
     "stage Y[i:64, j:$N] : f32 = sum:f32[k:131072] (%0[k, i] * %0[k, j]) to %1[i, j]", NULL},
    {"products that a monoid takes, which have no panels", "monoid plus:f32 = (#0 + #1) identity 0.0:f32\n",
     "buffer %0 input 0 X[131072, 64] : f32\nbuffer %1 output 0 Y[64, 64] : f32\n",
     "stage Y[i:64, j:64] : f32 = plus:f32[k:131072] (%0[k, i] * %0[k, j]) to %1[i, j]", NULL},
    {"a product of matrices", "", ONE("[1024, 1024] : f32", "[1024, 1024] : f32"),
     "stage Y[i:1024, j:1024] : f32 = sum:f32[k:1024] (%0[i, k] * %0[k, j]) to %1[i, j]", NULL},
    {"a histogram", "", "buffer %0 input 0 X[4194304] : i64\nbuffer %1 output 0 Y[256] : i64\n",
     "stage Y[b:256] : i64 = sum:i64[i:4194304 where (%0[i] == b)] 1 to %1[b]",
     "[part:64, b:256] : i64 = sum:i64[i:65536 where (%0[((part * 65536) + i)] == b)] 1 to %2[part, b]"},
    {"a histogram with more bins than points", "",
     "buffer %0 input 0 X[1048576] : i64\nbuffer %1 output 0 Y[1048576] : i64\n",
     "stage Y[b:1048576] : i64 = sum:i64[i:1048576 where (%0[i] == b)] 1 to %1[b]", NULL},
    {"a gather", "", "buffer %0 input 0 X[1048576] : i64\nbuffer %1 output 0 Y[] : i64\n",
     "stage Y[] : i64 = sum:i64[i:1048576] %0[%0[i]] to %1[]", "%0[%0[((part * 65536) + i)]]"},
    {"a step that is not one", "", ONE("[1048577] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[i:524288] %0[((2 * i) + 1)] to %1[]", "%0[((2 * ((part * 32768) + i)) + 1)]"},
    {"a monoid", "monoid plus:f32 = (#0 + #1) identity 0.0:f32\n", ONE("[1048576] : f32", "[] : f32"),
     "stage Y[] : f32 = plus:f32[i:1048576] %0[i] to %1[]", "stage Y[] : f32 = plus:f32[part:16] %2[part] to %1[]"},
    {"argmin, which is cut along its first label alone", "", ONE("[2, 1048576] : f32", "[] : i64"),
     "stage Y[] : i64 = argmin:f32[i:2, j:1048576] %0[i, j] to %1[]", NULL},
    {"argmax of columns of any length has places alone", "dim N\n", ONE("[$N, 8] : f32", "[8] : i64"),
     "stage Y[j:8] : i64 = argmax:f32[i:$N] %0[i, j] to %1[j]", "argmax:f32[part:(($N // 8192) + 1) where (0 <= %2[part, j])]"},
    {"and so has argmax of some of them", "", ONE("[65536, 8] : f32", "[8] : i64"),
     "stage Y[j:8] : i64 = argmax:f32[i:65536 where (i != j)] %0[i, j] to %1[j]", "where (0 <= %2[part, j])]"},
    {"and argmax of rows", "", ONE("[4, 1048576] : f32", "[4] : i64"),
     "stage Y[i:4] : i64 = argmax:f32[j:1048576] %0[i, j] to %1[i]", "where (0 <= %2[part, i])]"},
    {"where there is a value only for some", "", ONE("[1048576] : f32", "[4] : f32"),
     "stage Y[j:4] : f32 = sum:f32[i:1048573] %0[(i + j)] domain (j < 3) to %1[j]", "domain (j < 3) to %1[j]"},
    {"what is read behind a condition", "", ONE("[2, 1048576] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[i:1048576] select((%0[0, i] > 0.0:f32), %0[1, i], 0.0:f32) to %1[]", NULL},
    {"what is read in front of one", "", ONE("[1048576] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[i:1048576] select((%0[i] > 0.0:f32), %0[i], 0.0:f32) to %1[]", "[part:32] : f32"},
    {"what the condition does not hang on", "", ONE("[1024, 1024] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[i:1024, j:1024] select((%0[i, j] > 0.0:f32), %0[0, j], 0.0:f32) to %1[]",
     "sum:f32[i:32, j:1024]"},
    {"a size without value, and outputs without either", "dim N\ndim M\n", ONE("[$N, $M] : f32", "[$M] : f32"),
     "stage Y[j:$M] : f32 = sum:f32[i:$N] %0[i, j] to %1[j]", NULL},
    {"outputs without a value, of a long sum", "dim M\n", ONE("[65536, $M] : f32", "[$M] : f32"),
     "stage Y[j:$M] : f32 = sum:f32[i:65536] %0[i, j] to %1[j]", "[part:128, j:$M] : f32 = sum:f32[i:512]"},
    {"a size that is known to be whole", "dim N\n", ONE("[(65536 * $N)] : f32", "[] : f32"),
     "stage Y[] : f32 = sum:f32[i:(65536 * $N)] %0[i] to %1[]", "part:$N] : f32 = sum:f32[i:65536]"},
    {"rows that stages share", "", ONE("[16, 1048576] : f32", "[16, 2] : f32"),
     "stage m[i:16] : f32 = max:f32[j:1048576] %0[i, j]\n  stage Y[i:16, k:2] : f32 = (&0[i] + %0[i, k]) to %1[i, k]", NULL},
};

static void check_case(const Case *c) {
  Arena *a = arena_new();
  bool shares = strstr(c->stage, "&0") != NULL;
  const char *text = arena_printf(a, "taskgraph 1\n%s%sinput X = %%0\noutput Y = %%1\nkernel 0 Y outer %d {\n  %s\n}\n",
                                  c->head, c->buffers, shares, c->stage);
  const char *got = cut(a, text);
  bool ok = got && (c->has ? strstr(got, c->has) != NULL : strcmp(got, text) == 0);
  if (!OK(ok, "%s", c->what)) tap_text("got", got);
  arena_free(a);
}

int main(void) {
  check_whole("a sum", sum, sum_cut);
  check_whole("columns of any length", rows, rows_cut);
  check_whole("a place", arg, arg_cut);
  check_whole("places of columns", columns, columns_cut);
  for (size_t i = 0; i < COUNT(cases); i++) check_case(&cases[i]);
  return DONE();
}
