/* tests/random/shrink.c - a failing program is made small: statements go, parts take the place of the whole, literals
 * that of parts, sizes shrink; what no longer fails in the same way is taken back. Each try runs in a process of its
 * own, since what is looked for may be a crash. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random.h"

typedef struct Shrink { Made *m; Gen gen; uint64_t seed; Judgement v; uint32_t tries; bool smaller; } Shrink;

enum { MOST_TRIES = 3000 };

static void judge_apart(const Made *m, uint64_t seed, Judgement *v) {
  int fd[2];
  *v = (Judgement){0};
  if (pipe(fd) != 0) exit(4);
  fflush(stdout), fflush(stderr);
  pid_t child = fork();
  if (child < 0) exit(4);
  if (!child) {
    Tally t = {0};
    close(fd[0]);
    if (!freopen("/dev/null", "w", stderr)) _exit(4);
    alarm(20);
    judge_make(m, seed, v, &t);
    _exit(write(fd[1], v, sizeof *v) == (ssize_t)sizeof *v ? 0 : 4);
  }
  close(fd[1]);
  int status = 0;
  ssize_t n = read(fd[0], v, sizeof *v);
  close(fd[0]);
  waitpid(child, &status, 0);
  if (n == (ssize_t)sizeof *v) return;
  *v = (Judgement){0};
  if (WIFSIGNALED(status)) snprintf(v->what, sizeof v->what, "crash: signal %d", WTERMSIG(status));
  else snprintf(v->what, sizeof v->what, "crash: exit %d", WEXITSTATUS(status));
}

static bool still(Shrink *s) {
  Judgement v;
  if (s->tries++ > MOST_TRIES) return false;
  judge_apart(s->m, s->seed, &v);
  if (strcmp(v.what, s->v.what) != 0) return false;
  s->v = v;
  return s->smaller = true;
}

static void shrink_stmts(Shrink *s, Stmt ***at, uint32_t *len) {
  for (uint32_t i = *len; i-- > 0;) {
    Stmt *was = (*at)[i];
    for (uint32_t k = i; k + 1 < *len; k++) (*at)[k] = (*at)[k + 1];
    --*len;
    if (still(s)) continue;
    for (uint32_t k = (*len)++; k > i; k--) (*at)[k] = (*at)[k - 1];
    (*at)[i] = was;
  }
}

static bool literal(const Node *n) {
  return n->kind == E_INT || n->kind == E_REAL || n->kind == E_TRUTH || (n->kind == E_CAST && n->kid[0]->kind == E_INT);
}

static bool put_instead(Shrink *s, Node **slot, Node *n) {
  Node *was = *slot;
  *slot = n;
  if (still(s)) return true;
  *slot = was;
  return false;
}

static void shrink_node(Shrink *s, Node **slot) {
  Node *n = *slot;
  if (s->tries > MOST_TRIES || literal(n) || n->kind == E_LABEL) return;
  if (n->kind != E_GROUP && put_instead(s, slot, node_default(&s->gen, n->ty))) return;
  for (uint32_t i = 0; i < n->n && n->kind != E_READ; i++) {
    Node *k = n->kid[i];
    if ((k->ty.t == DT_BOOL) != (n->ty.t == DT_BOOL) || dtype_is_float(k->ty.t) != dtype_is_float(n->ty.t)) continue;
    if (put_instead(s, slot, k)) return shrink_node(s, slot);
  }
  if (n->where && n->kind == E_REDUCE && n->n > 1) {
    n->where = false, n->n--;
    if (!still(s)) n->where = true, n->n++;
  }
  uint32_t most = n->kind == E_CALL && n->where ? n->n - 1u : n->n; /* which labels a call restricts depends on its predicate */
  for (uint32_t i = 0; i < most; i++) shrink_node(s, &n->kid[i]);
}

static void shrink_parts(Shrink *s, Stmt *t) {
  if (t->type == S_EQUATION && t->output) {
    t->output = false;
    if (!still(s)) t->output = true;
  }
  if (t->typed && t->type == S_EQUATION) {
    t->typed = false;
    if (!still(s)) t->typed = true;
  }
  if (t->until) {
    Node *was = t->until;
    t->until = NULL;
    if (!still(s)) t->until = was;
  }
  if (t->def) {
    shrink_node(s, &t->def->e);
    for (uint32_t k = 0; k < t->def->n_local; k++) shrink_node(s, &t->def->local[k].value);
  }
  if (t->e && t->type != S_REPEAT && t->type != S_INPUT) shrink_node(s, &t->e);
  if (t->type == S_INPUT && !literal(t->e)) put_instead(s, &t->e, node_default(&s->gen, (Ty){t->ten->dtype, HELD}));
  shrink_stmts(s, &t->body.at, &t->body.len);
  for (uint32_t i = 0; i < t->body.len; i++) shrink_parts(s, t->body.at[i]);
}

static void shrink_extent(Shrink *s, Extent *e) {
  Extent was = *e;
  for (int64_t v = 1; v < was.value; v++) {
    e->value = v;
    if (e->define) e->define = arena_printf(s->m->arena, "%lld", (long long)v);
    else snprintf(e->text, sizeof e->text, "%lld", (long long)v);
    if (still(s)) return;
  }
  *e = was;
}

void shrink(Made *m, uint64_t seed, Judgement *v) {
  Shrink s = {.m = m, .seed = seed, .v = *v, .gen = {.arena = m->arena, .made = m, .rng = {1}}};
  judge_apart(m, seed, &s.v);
  if (!s.v.what[0]) return; /* it does not happen again */
  do {
    s.smaller = false;
    shrink_stmts(&s, &m->stmts.at, &m->stmts.len);
    for (uint32_t i = 0; i < m->stmts.len; i++) shrink_parts(&s, m->stmts.at[i]);
    for (uint32_t i = 0; i < m->extents.len; i++) shrink_extent(&s, m->extents.at[i]);
  } while (s.smaller && s.tries < MOST_TRIES);
  *v = s.v;
}
