/* SPDX-License-Identifier: MIT-0 */
/*
 * Lists of values. Two passes: the first finds the shape and whether all values are integers, the second the values.
 */
#include "list.h"
#include "number.h"

#include <stdlib.h>
#include <string.h>

typedef struct list_text {
  const char *who, *at;
  ein_list *out;
  int known[EIN_MAX_AXES]; /* whether shape[depth] is known */
  int leaf;                /* the depth of values; -1: none was met */
  int real;
  int64_t count;
  ein_error *err;
} list_text;

static ein_status list_bad(const list_text *t, const char *what) {
  return ein_error_set(t->err, EIN_ERR_ARG, "source %s: %s", t->who, what);
}

static void skip_blanks(list_text *t) {
  t->at += strspn(t->at, " \t\n");
}

/* One value; stored in the second pass. */
static ein_status value_read(list_text *t) {
  const size_t length = strcspn(t->at, "[], \t\n");
  const int yes = length == 4 && memcmp(t->at, "true", 4) == 0, no = length == 5 && memcmp(t->at, "false", 5) == 0;
  int64_t whole = yes;
  double real = 0;
  ein_status status = yes || no ? EIN_OK : ein_read_i64(t->at, length, &whole);
  const int is_whole = status == EIN_OK;
  if (status != EIN_ERR_RANGE && !(yes || no)) status = ein_read_f64(t->at, length, &real);
  if (status == EIN_ERR_RANGE) return list_bad(t, "a number of the list is too large");
  if (status != EIN_OK)
    return ein_error_set(t->err, EIN_ERR_ARG, "source %s: `%.*s` is no number", t->who,
        (int)(length < 40 ? length : 40), t->at);
  t->real |= !is_whole;
  if (t->out->real) t->out->real[t->count] = yes || no ? (double)whole : real;
  if (t->out->whole) t->out->whole[t->count] = whole;
  t->count++;
  t->at += length;
  return EIN_OK;
}

static ein_status list_walk(list_text *t, int depth) {
  ein_list *out = t->out;
  int64_t n = 0;
  if (depth == EIN_MAX_AXES) return list_bad(t, "the lists are nested too deeply");
  t->at++; /* the bracket */
  for (skip_blanks(t); *t->at != ']'; skip_blanks(t), n++) {
    if (n && *t->at != ',') return list_bad(t, *t->at ? "a comma is missing in the list" : "a `]` is missing");
    if (n) t->at++, skip_blanks(t);
    const int inner = *t->at == '[';
    const int deeper = depth + 1 < EIN_MAX_AXES && t->known[depth + 1];
    if (t->leaf >= 0 ? (depth == t->leaf) == inner : !inner && deeper)
      return list_bad(t, "numbers and lists stand in one list");
    if (!inner) t->leaf = depth;
    ein_status status = inner ? list_walk(t, depth + 1) : value_read(t);
    if (status != EIN_OK) return status;
  }
  t->at++;
  if (t->known[depth] && out->shape[depth] != n)
    return ein_error_set(t->err, EIN_ERR_ARG, "source %s: a list of %lld beside one of %lld", t->who, (long long)n,
        (long long)out->shape[depth]);
  t->known[depth] = 1, out->shape[depth] = n;
  if (out->ndim <= depth) out->ndim = depth + 1;
  return EIN_OK;
}

static ein_status list_pass(list_text *t, const char *text) {
  t->at = text, t->leaf = -1, t->count = 0;
  ein_status status = list_walk(t, 0);
  if (status != EIN_OK) return status;
  skip_blanks(t);
  return *t->at ? list_bad(t, "something stands behind the list") : EIN_OK;
}

ein_status ein_list_read(const char *who, const char *text, ein_list *out, ein_error *err) {
  list_text t = {.who = who, .out = out, .err = err};
  *out = (ein_list){.ndim = 0};
  ein_status status = list_pass(&t, text);
  if (status != EIN_OK) return status;
  out->count = t.count;
  void *room = malloc((size_t)t.count * sizeof(int64_t) + 1);
  if (!room) return ein_error_set(err, EIN_ERR_MEMORY, "source %s: out of memory", who);
  if (t.real) out->real = room;
  else out->whole = room;
  return list_pass(&t, text);
}

void ein_list_end(ein_list *list) {
  free(list->real);
  free(list->whole);
  list->real = NULL, list->whole = NULL;
}
