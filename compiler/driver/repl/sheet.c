/* driver/repl/sheet.c - entries by name, sheets that share them, and which of them a name needs: see sheet.h. */
#include <string.h>

#include "sheet.h"

enum { UNDO_MOST = 100 };

static void kept_end(Kept *k) {
  if (k->arena) arena_free(k->arena);
  *k = (Kept){0};
}

/* One that no sheet has. */
static void entry_end(Entry *e) {
  if (e->users) return;
  for (uint32_t i = 0; i < e->n_names; i++) kept_end(&e->value[i]);
  arena_free(e->arena);
}

/* ---- sheets ---------------------------------------------------------------------------------- */

static Sheet *sheet_of(Sheet *before, uint32_t room) {
  Arena *a = arena_new();
  Sheet *s = NEW(a, Sheet);
  *s = (Sheet){
      .arena = a, .before = before, .turns = before ? before->turns + 1 : 0, .at = NEW_ARRAY(a, Entry *, room + 1)};
  return s;
}

static void sheet_drop(Sheet *s) {
  for (uint32_t i = 0; i < s->n; i++) {
    s->at[i]->users--;
    entry_end(s->at[i]);
  }
  arena_free(s->arena);
}

Sheet *sheet_new(void) {
  return sheet_of(NULL, 0);
}

void sheet_end(Sheet *s) {
  while (s) {
    Sheet *before = s->before;
    sheet_drop(s);
    s = before;
  }
}

/* Drops sheets further back than anyone goes. */
static void sheet_trim(Sheet *s) {
  for (uint32_t i = 0; s && i < UNDO_MOST; i++) s = s->before;
  if (!s) return;
  sheet_end(s->before);
  s->before = NULL;
}

static bool defines(const Entry *e, const char *name) {
  for (uint32_t i = 0; i < e->n_names; i++)
    if (strcmp(e->name[i], name) == 0) return true;
  return false;
}

static bool replaces(const Entry *by, const Entry *old) {
  for (uint32_t i = 0; i < by->n_names; i++)
    if (defines(old, by->name[i])) return true;
  /* the same words mean another file there */
  bool elsewhere = by->kind == STMT_USE && strcmp(by->folder, old->folder) != 0;
  return !by->n_names && !old->n_names && by->kind == old->kind && !elsewhere && strcmp(by->text, old->text) == 0;
}

static void entry_push(Sheet *s, Entry *e) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->at[i] == e) return;
  s->at[s->n++] = e;
  e->users++;
}

Sheet *sheet_with(Sheet *s, Entry *const *e, uint32_t n) {
  Sheet *to = sheet_of(s, s->n + n);
  for (uint32_t i = 0; i < s->n; i++) {
    bool stays = true;
    for (uint32_t k = 0; k < n; k++)
      if (replaces(e[k], s->at[i])) entry_push(to, e[k]), stays = false;
    if (stays) entry_push(to, s->at[i]);
  }
  for (uint32_t k = 0; k < n; k++) entry_push(to, e[k]);
  sheet_trim(to);
  return to;
}

static Sheet *sheet_copy(Sheet *before, const Sheet *of) {
  Sheet *to = sheet_of(before, of->n);
  for (uint32_t i = 0; i < of->n; i++) entry_push(to, of->at[i]);
  sheet_trim(to);
  return to;
}

Sheet *sheet_apart(Sheet *s) { return sheet_copy(NULL, s); }

Sheet *sheet_over(Sheet *s, const Sheet *with) { return sheet_copy(s, with); }

Sheet *sheet_undo(Sheet *s) {
  Sheet *before = s->before;
  if (!before) return NULL;
  sheet_drop(s);
  return before;
}

Entry *sheet_find(const Sheet *s, const char *name, uint32_t *which) {
  for (uint32_t i = 0; i < s->n; i++)
    for (uint32_t k = 0; k < s->at[i]->n_names; k++)
      if (strcmp(s->at[i]->name[k], name) == 0) {
        if (which) *which = k;
        return s->at[i];
      }
  return NULL;
}

/* ---- dependencies ---------------------------------------------------------------------------- */

bool entry_is_tensor(const Entry *e) {
  return e->kind == STMT_EQUATION || e->kind == STMT_INPUT || e->kind == STMT_PARAM || e->kind == STMT_REPEAT;
}

/* A bare name means a tensor only if it has no dimensions; for a loop's result, that is unknown here. */
static Entry *used_entry(const Sheet *s, const Used *u) {
  Entry *e = sheet_find(s, u->name, NULL);
  return e && u->bare && e->kind != STMT_REPEAT && entry_is_tensor(e) && e->rank ? NULL : e;
}

Texts sheet_uses(Arena *a, const Sheet *s, const Used *used, uint32_t n) {
  Texts all = {0};
  for (uint32_t i = 0; i < n; i++)
    if (used_entry(s, &used[i])) vec_push(a, all, used[i].name);
  return all;
}

bool entries_have(const Entries *v, const Entry *e) {
  for (uint32_t i = 0; i < v->len; i++)
    if (v->at[i] == e) return true;
  return false;
}

static void computed_drop(Entry *e) {
  for (uint32_t k = 0; k < e->n_names && !e->source; k++) kept_end(&e->value[k]);
}

void sheet_forget(Sheet *s, const char *name) {
  Arena *a = arena_new();
  Texts todo = {0};
  Entries seen = {0};
  vec_push(a, todo, name);
  while (todo.len) {
    const char *at = vec_pop(todo);
    for (uint32_t i = 0; i < s->n; i++) {
      Entry *e = s->at[i];
      bool hit = defines(e, at);
      for (uint32_t k = 0; k < e->n_used && !hit; k++)
        hit = strcmp(e->used[k].name, at) == 0 && used_entry(s, &e->used[k]);
      if (!hit || entries_have(&seen, e)) continue;
      vec_push(a, seen, e);
      computed_drop(e);
      for (uint32_t k = 0; k < e->n_names; k++) vec_push(a, todo, e->name[k]);
    }
  }
  arena_free(a);
}

void sheet_forget_all(Sheet *s) {
  for (uint32_t i = 0; i < s->n; i++) computed_drop(s->at[i]);
}

static Entries reached(Arena *a, const Sheet *s, const Texts *names) {
  Entries all = {0};
  for (uint32_t i = 0; i < names->len; i++) {
    Entry *e = sheet_find(s, names->at[i], NULL);
    if (e && !entries_have(&all, e)) vec_push(a, all, e);
  }
  for (uint32_t i = 0; i < all.len; i++)
    for (uint32_t k = 0; k < all.at[i]->n_used; k++) {
      Entry *e = used_entry(s, &all.at[i]->used[k]);
      if (e && !entries_have(&all, e)) vec_push(a, all, e);
    }
  return all;
}

/* Whether everything wanted that it uses is there already. */
static bool is_ready(const Sheet *s, const Entry *e, const Entries *wanted, const Entries *done) {
  for (uint32_t k = 0; k < e->n_used; k++) {
    Entry *u = used_entry(s, &e->used[k]);
    if (u && entries_have(wanted, u) && !entries_have(done, u)) return false;
  }
  return true;
}

/* An assert counts if everything that it mentions is there anyway. */
static bool assert_counts(const Sheet *s, const Entry *e, const Entries *done) {
  bool any = false;
  for (uint32_t k = 0; e->kind == STMT_ASSERT && k < e->n_used; k++) {
    Entry *u = used_entry(s, &e->used[k]);
    if (u && !entries_have(done, u)) return false;
    any |= u != NULL;
  }
  return any;
}

Entries sheet_needs(Arena *a, const Sheet *s, const Texts *names, const char **circle) {
  Entries wanted = reached(a, s, names), done = {0};
  *circle = NULL;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->at[i]->kind == STMT_USE) vec_push(a, done, s->at[i]);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < s->n; i++) {
      Entry *e = s->at[i];
      bool ready = entries_have(&wanted, e) ? is_ready(s, e, &wanted, &done) : assert_counts(s, e, &done);
      if (entries_have(&done, e) || !ready) continue;
      vec_push(a, done, e);
      more = true;
    }
  }
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < wanted.len; i++)
    if (!entries_have(&done, wanted.at[i]))
      buf_printf(&b, "%s%s", b.len ? ", " : "", wanted.at[i]->n_names ? wanted.at[i]->name[0] : "assert");
  if (b.len) *circle = b.s;
  return done;
}
