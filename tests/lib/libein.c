/* tests/face/libein.c - Ein as a library, as its users would call it: answers and complaints as data, texts and plans,
 * functions of tensors, threads, and that memory comes back. libein.sh compiles it, against the header alone, and links
 * it with each libein.
 *
 *     libein HOME [asks]      one line a failure; exit 1 if there is any */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <libein.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define OK(c) ((c) ? (void)0 : failed(__LINE__, #c))

static int failures;

static void failed(int line, const char *what) {
  printf("libein.c:%d: %s\n", line, what);
  failures = 1;
}

static const char product[] =
    "dim n, m, p\ninput A[i:n, k:m] : f32\ninput B[k:m, j:p] : f32\noutput C[i,j] = sum[k] A[i,k] * B[k,j]\n";
static const char sized[] =
    "input A[i:64, k:32] : f32\ninput B[k:32, j:48] : f32\noutput C[i,j] = sum[k] A[i,k] * B[k,j]\n";

static ein_file file_of(const char *name, const char *text) {
  ein_file f = {name, text, strlen(text)};
  return f;
}

#define ASK(s, f, ...) ein_ask(s, f, 1, (const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__})))
#define OPEN(s, f, out, ...) \
  ein_function_open(s, f, 1, (const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__})), out)

/* Whether it is done, and says this. */
static int says(ein_answer *a, const char *what) {
  int yes = a->outcome == EIN_DONE && strstr(a->text, what) && strlen(a->text) == a->length;
  if (!yes && a->n_complaints) printf("%s\n", a->complaint[0].text);
  ein_answer_free(a);
  return yes;
}

static void test_texts(ein_session *s) {
  ein_file x = file_of("mm.ein", product), y = file_of("mm.ein", sized);
  OK(says(ASK(s, &x, "build", "mm.ein", "--emit=c"), "mm_run("));
  OK(says(ASK(s, &x, "build", "mm.ein", "--emit=header"), "mm_create("));
  OK(says(ASK(s, &x, "build", "mm.ein", "--emit=manifest"), "\"inputs\""));
  OK(says(ASK(s, &x, "build", "mm.ein", "--emit=runtime"), "EIN_TENSOR_H"));
  OK(says(ASK(s, &y, "build", "mm.ein", "--stop=graph"), "eingraph 1"));
  OK(says(ASK(s, &y, "plan", "mm.ein", "-n", "4", "--format=json"), "\"sites\": 4"));
  OK(says(ASK(s, &y, "plan", "mm.ein", "--format=json"), "\"schema\": \"ein plan 1\""));
  OK(says(ASK(s, &x, "explain", "E060"), "E060"));
  OK(says(ASK(s, &y, "--version"), ein_version()));
}

/* A text of another language, and one that goes with another file. */
static void test_files(ein_session *s) {
  ein_file y = file_of("mm.ein", sized);
  ein_answer *graph = ASK(s, &y, "build", "mm.ein", "--stop=graph"),
             *plan = ASK(s, &y, "plan", "mm.ein", "-n", "4", "-o", "-");
  ein_file g = {"mm.graph", graph->text, graph->length};
  OK(says(ASK(s, &g, "build", "mm.graph", "--stop=task"), "taskgraph 1"));
  ein_file two[] = {y, file_of("cut.plan", "plan 1\nsites 4\nC i=2 j=2\n")};
  const char *const words[] = {"plan", "mm.ein", "--plan=cut.plan", "--format=json"};
  ein_answer *cut = ein_ask(s, two, 2, words, COUNT(words));
  OK(cut->outcome == EIN_DONE ||
      (cut->n_complaints && cut->complaint[0].n_places && strcmp(cut->complaint[0].place[0].file, "cut.plan") == 0));
  ein_answer_free(cut);
  ein_answer_free(graph);
  ein_answer_free(plan);
}

static void test_complaints(ein_session *s) {
  ein_file bad = file_of("bad.ein", "input A[i:4] : f32\ninput B[i:5] : f32\n\noutput C[i] = A[i] + B[i]\n");
  ein_answer *a = ASK(s, &bad, "check", "bad.ein");
  OK(a->outcome == EIN_WRONG_PROGRAM && a->n_complaints >= 1);
  const ein_complaint *c = &a->complaint[0];
  OK(c->is_error && c->code[0] == 'E' && *c->text && c->n_places >= 1);
  OK(strcmp(c->place[0].file, "bad.ein") == 0 && c->place[0].line >= 1 && c->place[0].end > c->place[0].first);
  ein_answer_free(a);
  a = ASK(s, &bad, "biuld", "bad.ein");
  OK(a->outcome == EIN_WRONG_WORDS && a->n_complaints == 1 && strstr(a->complaint[0].text, "build") &&
      !*a->complaint[0].code);
  ein_answer_free(a);
  a = ASK(s, &bad, "check", "/nowhere/x.ein");
  OK(a->outcome == EIN_WRONG_MACHINE && a->n_complaints == 1);
  ein_answer_free(a);
  a = ASK(s, &bad, "repl");
  OK(a->outcome == EIN_WRONG_WORDS && a->n_complaints == 1);
  ein_answer_free(a);
  a = ASK(s, &bad, "check", "-");
  OK(a->outcome != EIN_DONE && a->n_complaints == 1);
  ein_answer_free(a);
}

static ein_tensor view(void *data, int64_t *shape, int ndim) {
  ein_tensor t = {0};
  t.data = data;
  t.device_type = 1;
  t.ndim = ndim;
  t.dtype = EIN_F32;
  t.shape = shape;
  return t;
}

/* n by 3 times 3 by 2, A by columns; by that target. */
static void product_with(ein_function *f, int64_t n) {
  float a[12], b[6] = {1, 2, 3, 4, 5, 6}, c[8] = {0};
  int64_t sa[] = {n, 3}, by_columns[] = {1, n}, sb[] = {3, 2}, sc[] = {n, 2};
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < 3; k++) a[i + k * n] = (float)(i + 10 * k);
  ein_tensor in[] = {view(a, sa, 2), view(b, sb, 2)}, out[] = {view(c, sc, 2)}, room[1] = {{0}};
  in[0].strides = by_columns;
  OK(ein_function_call(f, in, out) == EIN_DONE);
  for (int64_t i = 0; i < n; i++) OK(c[2 * i] == 9 * (float)i + 130 && c[2 * i + 1] == 12 * (float)i + 160);
  OK(ein_function_call(f, in, room) == EIN_DONE);
  OK(room[0].data && room[0].shape[0] == n && memcmp(room[0].data, c, (size_t)n * 8) == 0);
  in[1].dtype = EIN_F64;
  OK(ein_function_call(f, in, out) != EIN_DONE);
  OK(ein_function_answer(f)->n_complaints == 1 && strstr(ein_function_answer(f)->complaint[0].text, "B"));
  in[1].dtype = EIN_F32;
  sb[0] = 2;
  OK(ein_function_call(f, in, out) != EIN_DONE);
}

static void test_function(ein_session *s, const char *target) {
  ein_file x = file_of("mm.ein", product);
  ein_function *f;
  ein_answer *a = OPEN(s, &x, &f, "mm.ein", target);
  OK(a->outcome == EIN_DONE && f);
  for (int i = 0; i < a->n_complaints; i++) printf("%s\n", a->complaint[i].text);
  ein_answer_free(a);
  if (!f) return;
  int n;
  const ein_argument *in = ein_function_inputs(f, &n);
  OK(n == 2 && strcmp(in[0].name, "A") == 0 && in[1].ndim == 2 && in[0].dtype == EIN_F32 && !in[0].optional);
  OK(strcmp(ein_function_outputs(f, &n)[0].name, "C") == 0 && n == 1);
  product_with(f, 4);
  product_with(f, 2);
  product_with(f, 4);
  ein_function_close(f);
}

static void test_function_refused(ein_session *s) {
  ein_file x = file_of("mm.ein", product);
  ein_function *f;
  ein_answer *a = OPEN(s, &x, &f, "mm.ein", "-o", "C=c.npy");
  OK(a->outcome == EIN_WRONG_WORDS && !f);
  ein_answer_free(a);
  ein_file bad = file_of("bad.ein", "output C = X[0]\n");
  a = OPEN(s, &bad, &f, "bad.ein");
  OK(a->outcome == EIN_WRONG_PROGRAM && !f && a->n_complaints);
  ein_answer_free(a);
}

/* What a complaint's data say, and more, as the command writes it. */
static void test_message(ein_session *s) {
  ein_file bad = file_of("bad.ein", "input A[i:4] : f32\noutput C[i] = A[i] + B[i]\n");
  ein_answer *a = ASK(s, &bad, "check", "bad.ein");
  OK(strstr(a->message, "bad.ein:2:22: error[E070]: ") == a->message &&
      strstr(a->message, "|                      ^") && strstr(a->message, "1 error\n"));
  ein_answer_free(a);
  a = ASK(s, &bad, "biuld", "bad.ein");
  OK(strstr(a->message, "ein: error: ") == a->message);
  ein_answer_free(a);
  a = ASK(s, &bad, "--version");
  OK(*a->message == 0);
  ein_answer_free(a);
}

static void test_einsum(ein_session *s) {
  int64_t two[] = {2, 3}, other[] = {3, 4}, one[] = {1, 4};
  ein_tensor op[] = {view(NULL, two, 2), view(NULL, other, 2)};
  op[0].dtype = EIN_I8;
  OK(says(ein_einsum(s, "ij,jk", op, 2, -1),
      "input A[2,3] : i8\ninput B[3,4] : f32\noutput Z[i,k] = sum[j] A[i,j] * B[j,k]\n"));
  OK(says(ein_einsum(s, "ij,jk", op, 2, EIN_I16), "output Z[i,k] = i16(sum[j] i16(A[i,j]) * i16(B[j,k]))\n"));
  OK(says(ein_einsum(s, "ij,jk", op, 2, EIN_BOOL), "output Z[i,k] = any[j] (bool(A[i,j]) and bool(B[j,k]))\n"));
  op[1].shape = one;
  OK(says(ein_einsum(s, "Aj,jk->Ak", op, 2, EIN_F64),
      "input A_[2,3] : i8\ninput B[1,4] : f32\noutput Z[A,k] = sum[j] f64(A_[A,j]) * f64(B[0,k])\n"));
  other[0] = 5;
  op[1].shape = other;
  ein_answer *a = ein_einsum(s, "ij,jk", op, 2, -1);
  OK(a->outcome == EIN_WRONG_PROGRAM &&
      strstr(a->message, "label j is 3 by dimension 2 of operand 1, but 5 by dimension 1 of operand 2"));
  ein_answer_free(a);
  a = ein_einsum(s, "ij", op, 2, -1);
  OK(a->outcome == EIN_WRONG_WORDS && a->n_complaints == 1);
  ein_answer_free(a);
  a = ein_einsum(s, "ij,jk", op, 2, 77);
  OK(a->outcome == EIN_WRONG_WORDS);
  ein_answer_free(a);
}

/* What a call gave stays when it is kept, whatever comes then. */
static void test_keep(ein_session *s) {
  ein_file x = file_of("sum.ein", "input A[i:3] : f32\noutput B[i] = A[i] + 1\n");
  float data[] = {1, 2, 3};
  int64_t shape[] = {3};
  ein_tensor in = view(data, shape, 1), out = {0}, again = {0};
  ein_function *f;
  ein_answer_free(OPEN(s, &x, &f, "sum.ein"));
  OK(f && !ein_function_keep(f) && ein_function_call(f, &in, &out) == EIN_DONE);
  ein_kept *k = ein_function_keep(f);
  data[0] = 10;
  OK(k && ein_function_call(f, &in, &again) == EIN_DONE && again.data != out.data);
  ein_function_close(f);
  OK(((float *)out.data)[0] == 2 && ((float *)out.data)[2] == 4 && out.ndim == 1 && out.shape[0] == 3);
  ein_kept_free(k);
  ein_kept_free(NULL);
}

typedef struct Long { ein_function *f; ein_outcome outcome; volatile int over; } Long;

static void *long_call(void *own) {
  Long *l = own;
  ein_tensor in = {0};
  ein_tensor out = {0};
  l->outcome = ein_function_call(l->f, &in, &out);
  l->over = 1;
  return NULL;
}

/* A call that would take minutes ends when another thread says so; and the function is as good as before. */
static void test_cancel(ein_session *s, const char *target, const char *sites) {
  ein_file x = file_of("long.ein",
      "dim N = 4\ninput k : i64 = 2000000000\nrepeat t < k {\n  state a[i:N] : i64 = i\n"
      "  next a[i] = a[i] * 3 + sum[j:N] a[j]\n}\noutput y[i] = a[i]\n");
  Long l = {0};
  ein_answer *a = OPEN(s, &x, &l.f, "long.ein", target, sites);
  if (!l.f) printf("%s\n", a->message);
  ein_answer_free(a);
  pthread_t t;
  OK(l.f != NULL && pthread_create(&t, NULL, long_call, &l) == 0);
  if (!l.f) return;
  for (int i = 0; !l.over && i < 2000; i++) {
    usleep(i ? 10000 : 200000);
    ein_function_cancel(l.f);
  }
  pthread_join(t, NULL);
  if (l.outcome != EIN_WRONG_PROGRAM) printf("%s: %s\n", target, ein_function_answer(l.f)->message);
  OK(l.outcome == EIN_WRONG_PROGRAM && strstr(ein_function_answer(l.f)->message, "interrupted"));
  ein_function_close(l.f);
}

/* ---- memory, threads ------------------------------------------------------------------------- */

static long resident(void) {
  long all = 0, here = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%ld %ld", &all, &here) != 2) here = 0;
  if (f) fclose(f);
  return here * (sysconf(_SC_PAGESIZE) / 1024);
}

static void some_asked(ein_session *s, int n) {
  ein_file good = file_of("mm.ein", product), bad = file_of("bad.ein", "output C[i] = X[i]\n");
  for (int i = 0; i < n; i++) {
    ein_answer *a = i % 4 == 3 ? ASK(s, &bad, "check", "bad.ein")
                               : ASK(s, &good, "build", "mm.ein", i % 4 == 2 ? "--stop=graph" : "--stop=loop");
    if ((a->outcome == EIN_DONE) != (i % 4 != 3)) failed(__LINE__, "an answer is another one");
    ein_answer_free(a);
  }
}

static void test_growth(ein_session *s, int n) {
  some_asked(s, n / 20 + 50);
  long before = resident();
  some_asked(s, n);
  long after = resident();
  if (after > before + before / 100 + 64) printf("%d asks: %ld kB, then %ld\n", n, before, after), failures = 1;
}

/* The pages that the process has; the next ask finds no more than so many kB beside them. */
static void room_left(long kb, struct rlimit *was) {
  long all = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%ld", &all) != 1) all = 0;
  if (f) fclose(f);
  getrlimit(RLIMIT_AS, was);
  struct rlimit less = *was;
  less.rlim_cur = (rlim_t)(all * sysconf(_SC_PAGESIZE) + kb * 1024);
  setrlimit(RLIMIT_AS, &less);
}

/* A program of many equations, each of the one before it. */
static char *long_program(int n) {
  size_t room = 64 + 64 * (size_t)n, at;
  char *s = malloc(room);
  at = (size_t)sprintf(s, "input x0[i:8] : f32\n");
  for (int i = 1; i <= n; i++) at += (size_t)sprintf(s + at, "x%d[i] = x%d[i] * 2 + x%d[7 - i]\n", i, i - 1, i - 1);
  sprintf(s + at, "output y[i] = x%d[i]\n", n);
  return s;
}

/* Wherever memory runs out, the call comes back, and the next one finds all as it was. */
static void test_no_memory(ein_session *s) {
  char *text = long_program(4000);
  ein_file x = file_of("long.ein", text);
  struct rlimit was;
  int without = 0;
  for (long kb = 0; kb < 96000; kb += 4800) {
    room_left(kb, &was);
    ein_answer *a = ASK(s, &x, "build", "long.ein", "--stop=task");
    setrlimit(RLIMIT_AS, &was);
    OK(a->outcome == EIN_DONE || (a->outcome == EIN_WRONG_MACHINE && a->n_complaints == 1));
    without += a->outcome == EIN_WRONG_MACHINE && strstr(a->complaint[0].text, "memory") != NULL;
    ein_answer_free(a);
  }
  OK(without >= 3);
  OK(says(ASK(s, &x, "build", "long.ein", "--stop=task"), "taskgraph 1"));
  free(text);
}

static void *in_thread(void *own) {
  ein_file y = file_of("mm.ein", sized);
  for (int i = 0; i < 40; i++) OK(says(ASK(own, &y, "build", "mm.ein", "--emit=c"), "mm_run("));
  test_complaints(own);
  return NULL;
}

static void test_threads(const ein_settings *settings) {
  pthread_t t[3];
  ein_session *one = ein_open(settings), *two = ein_open(settings); /* one of them for two threads */
  for (int i = 0; i < 3; i++) OK(pthread_create(&t[i], NULL, in_thread, i ? one : two) == 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
  ein_close(one);
  ein_close(two);
}

int main(int argc, char **argv) {
  ein_settings settings = {sizeof settings, argc > 1 ? argv[1] : NULL};
  ein_session *s = ein_open(&settings);
  OK(s != NULL);
  test_texts(s);
  test_files(s);
  test_complaints(s);
  test_function(s, "--target=eval");
  test_function(s, "--target=c");
  test_function_refused(s);
  test_message(s);
  test_einsum(s);
  test_keep(s);
  test_cancel(s, "--target=eval", "-v");
  test_cancel(s, "--target=c", "-v");
  test_cancel(s, "--target=c", "-n2");
  test_threads(&settings);
  test_no_memory(s);
  test_growth(s, argc > 2 ? atoi(argv[2]) : 400);
  ein_close(s);
  if (!failures) puts("ok");
  return failures;
}
