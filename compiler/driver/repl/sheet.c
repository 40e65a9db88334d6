/* driver/repl/sheet.c - entries by name, sheets that share them, and which of them a name needs: see sheet.h. */
#include <string.h>

#include "sheet.h"

enum {
  UNDO_MOST = 100,
  BITS_EACH = 16,            /* of a sheet's words, for an entry, at least */
  BITS_LEAST = 1024
};
static const uint32_t in_use = 0x9e3779b9; /* tells the bit of a name that is used from that of one that is defined */

static void kept_end(Kept *k) {
  if (k->arena) arena_free(k->arena);
  *k = (Kept){0};
}

static void outlines_end(Entry *e) {
  for (uint32_t i = 0; i < e->n_names; i++) {
    if (e->outline[i]) arena_free(e->outline[i]->arena);
    e->outline[i] = NULL;
  }
}

/* One that no sheet has. */
static void entry_end(Entry *e) {
  if (e->users) return;
  outlines_end(e);
  for (uint32_t i = 0; i < e->n_names; i++) kept_end(&e->value[i]);
  arena_free(e->arena);
}

/* ---- sheets ---------------------------------------------------------------------------------- */

static Sheet *sheet_of(Sheet *before, uint32_t room) {
  Arena *a = arena_new();
  return MAKE(a, Sheet, .arena = a, .before = before, .depth = before ? before->depth + 1 : 0,
      .at = NEW_ARRAY(a, Entry *, room + 1));
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

uint32_t name_hash(const char *name) { return hash_bytes(name, strlen(name), 0); }

static bool is_named(const Entry *e, uint32_t k, const char *name, uint32_t hash) {
  return e->hash[k] == hash && strcmp(e->name[k], name) == 0;
}

static bool defines(const Entry *e, const char *name) {
  uint32_t hash = name_hash(name);
  for (uint32_t i = 0; i < e->n_names; i++)
    if (is_named(e, i, name, hash)) return true;
  return false;
}

/* A later loop may have the counter of an earlier one, as in a program: both stay. */
static bool replaces(const Entry *by, const Entry *old) {
  uint32_t loops = by->kind == STMT_REPEAT && old->kind == STMT_REPEAT;
  for (uint32_t i = 0; i < by->n_names; i++)
    for (uint32_t k = i == 0 ? loops : 0; k < old->n_names; k++)
      if (is_named(old, k, by->name[i], by->hash[i])) return true;
  /* the same words mean another file there */
  bool elsewhere = by->kind == STMT_USE && strcmp(by->folder, old->folder) != 0;
  return !by->n_names && !old->n_names && by->kind == old->kind && !elsewhere && strcmp(by->text, old->text) == 0;
}

static bool sheet_has(const Sheet *s, const Entry *e) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->at[i] == e) return true;
  return false;
}

static void entry_push(Sheet *s, Entry *e) {
  s->at[s->n++] = e;
  e->users++;
}

static void word_set(Sheet *s, uint32_t hash) {
  s->words[hash % s->n_bits / 64] |= (uint64_t)1 << hash % 64;
}

static bool word_may_be(const Sheet *s, uint32_t hash) {
  return s->n_bits && s->words[hash % s->n_bits / 64] >> hash % 64 & 1;
}

static void words_add(Sheet *s, const Entry *e) {
  for (uint32_t k = 0; k < e->n_names; k++) word_set(s, e->hash[k]);
  for (uint32_t k = 0; k < e->n_used; k++) word_set(s, e->used[k].hash ^ in_use);
}

/* Makes its words: those of another sheet, and of n more entries. */
static void words_make(Sheet *s, const Sheet *of, Entry *const *e, uint32_t n) {
  for (s->n_bits = BITS_LEAST; s->n_bits / BITS_EACH < s->n;) s->n_bits *= 2;
  s->words = NEW_ARRAY(s->arena, uint64_t, s->n_bits / 64);
  bool same = of->n_bits == s->n_bits;
  if (same) memcpy(s->words, of->words, s->n_bits / 8);
  for (uint32_t i = 0; i < s->n && !same; i++) words_add(s, s->at[i]);
  for (uint32_t i = 0; i < n && same; i++) words_add(s, e[i]);
}

static void entry_push_once(Sheet *s, Entry *e) {
  if (!sheet_has(s, e)) entry_push(s, e);
}

static Sheet *sheet_make(Sheet *s, Entry *const *e, uint32_t n, bool in_place) {
  Sheet *to = sheet_of(s, s->n + n);
  for (uint32_t i = 0; i < s->n; i++) {
    bool stays = true;
    for (uint32_t k = 0; k < n; k++)
      if (replaces(e[k], s->at[i])) {
        if (in_place) entry_push_once(to, e[k]);
        stays = false;
      }
    if (stays) entry_push(to, s->at[i]);
  }
  for (uint32_t k = 0; k < n; k++) entry_push_once(to, e[k]);
  words_make(to, s, e, n);
  return to;
}

/* Whether a loop stands before one with the same counter that it needs: the counter is that of the last. */
static bool stands_too_early(const Sheet *s, const Entry *e) {
  Arena *a = arena_new();
  const Texts names = {e->name, e->n_names, e->n_names};
  const char *circle = NULL;
  if (!sheet_shows(s, e, 0)) sheet_needs(a, s, &names, WHOLE, &circle);
  arena_free(a);
  return circle != NULL;
}

Sheet *sheet_with(Sheet *s, Entry *const *e, uint32_t n) {
  Sheet *to = sheet_make(s, e, n, true);
  if (n == 1 && e[0]->kind == STMT_REPEAT && stands_too_early(to, e[0])) {
    Sheet *in_place = to;
    to = sheet_make(s, e, n, false);
    sheet_drop(in_place);
  }
  sheet_trim(to);
  return to;
}

static Sheet *sheet_copy(Sheet *before, const Sheet *of) {
  Sheet *to = sheet_of(before, of->n);
  for (uint32_t i = 0; i < of->n; i++) entry_push(to, of->at[i]);
  words_make(to, of, NULL, 0);
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
  uint32_t hash = name_hash(name);
  if (!word_may_be(s, hash)) return NULL;
  for (uint32_t i = s->n; i-- > 0;)
    for (uint32_t k = 0; k < s->at[i]->n_names; k++)
      if (is_named(s->at[i], k, name, hash)) {
        if (which) *which = k;
        return s->at[i];
      }
  return NULL;
}

bool sheet_shows(const Sheet *s, const Entry *e, uint32_t k) { return sheet_find(s, e->name[k], NULL) == e; }

/* ---- dependencies ---------------------------------------------------------------------------- */

bool entry_is_tensor(const Entry *e) {
  return e->kind == STMT_EQUATION || e->kind == STMT_INPUT || e->kind == STMT_PARAM || e->kind == STMT_REPEAT;
}

/* A bare name means a tensor only if it has no dimensions; for a loop's result, that is unknown here. */
static Entry *used_entry(const Sheet *s, const Used *u, uint32_t *which) {
  Entry *e = sheet_find(s, u->name, which);
  return e && u->bare && e->kind != STMT_REPEAT && entry_is_tensor(e) && e->rank ? NULL : e;
}

Texts sheet_uses(Arena *a, const Sheet *s, const Used *used, uint32_t n) {
  Texts all = {0};
  for (uint32_t i = 0; i < n; i++)
    if (used_entry(s, &used[i], NULL)) vec_push(a, all, used[i].name);
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

/* Whether an entry mentions a name, even as what may be a label: it may have been a size before, or be one next. */
static bool mentions(const Entry *e, const char *name, uint32_t hash) {
  for (uint32_t k = 0; k < e->n_used; k++)
    if (e->used[k].hash == hash && strcmp(e->used[k].name, name) == 0) return true;
  return false;
}

/* Visits what depends on a name, whether it is defined or not: `of` an entry that uses it, directly or not; `own` the
 * one that defines it. */
static void dependents_visit(Sheet *s, const char *name, void (*own)(Entry *e), void (*of)(Entry *e)) {
  Arena *a = arena_new();
  Texts todo = {0};
  Entries seen = {0};
  vec_push(a, todo, name);
  while (todo.len) {
    const char *at = vec_pop(todo);
    uint32_t hash = name_hash(at);
    Entry *its = sheet_find(s, at, NULL), **all = s->at;
    uint32_t n = s->n;
    if (!word_may_be(s, hash ^ in_use)) all = &its, n = its != NULL;
    for (uint32_t i = 0; i < n; i++) {
      Entry *e = all[i];
      if ((e != its && !mentions(e, at, hash)) || entries_have(&seen, e)) continue;
      vec_push(a, seen, e);
      (defines(e, name) ? own : of)(e);
      for (uint32_t k = 0; k < e->n_names; k++)
        if (sheet_shows(s, e, k)) vec_push(a, todo, e->name[k]);
    }
  }
  arena_free(a);
}

static void entry_forget(Entry *e) {
  computed_drop(e);
  outlines_end(e);
}

static void entry_leave(Entry *e) { (void)e; }

void sheet_forget(Sheet *s, const char *name) { dependents_visit(s, name, computed_drop, entry_forget); }

void sheet_forget_outlines(Sheet *s, const char *name) { dependents_visit(s, name, entry_leave, outlines_end); }

void sheet_forget_replaced(Sheet *to, const Sheet *from, const Entry *e, void (*forget)(Sheet *s, const char *name)) {
  for (uint32_t k = 0; k < e->n_bound; k++) forget(to, e->bound[k].dim);
  for (uint32_t k = 0; k < e->n_names; k++) {
    const Entry *old = sheet_find(from, e->name[k], NULL);
    forget(to, e->name[k]);
    for (uint32_t j = 0; old && j < old->n_names; j++)
      if (!sheet_shows(to, old, j)) forget(to, old->name[j]);
    for (uint32_t j = 0; old && j < old->n_bound; j++) forget(to, old->bound[j].dim);
  }
}

void sheet_forget_all(Sheet *s) {
  for (uint32_t i = 0; i < s->n; i++) entry_forget(s->at[i]);
}

static void forget_new(Sheet *in, Sheet *other) {
  for (uint32_t i = 0; i < in->n; i++) {
    const Entry *e = in->at[i];
    if (sheet_has(other, e)) continue;
    for (uint32_t k = 0; k < e->n_names; k++) sheet_forget(in, e->name[k]), sheet_forget(other, e->name[k]);
    for (uint32_t k = 0; k < e->n_bound; k++) sheet_forget(in, e->bound[k].dim), sheet_forget(other, e->bound[k].dim);
    if (e->kind == STMT_USE) sheet_forget_all(in), sheet_forget_all(other);
  }
}

void sheet_forget_apart(Sheet *a, Sheet *b) {
  forget_new(a, b);
  forget_new(b, a);
}

/* What is needed of names: entries, and outlines of others. */
typedef struct Needed {
  const Sheet *sheet;
  const Texts *names;
  Outlines outlines;
  uint32_t whole;            /* so many first ones of `wanted` define the names themselves */
  Entries wanted, done;
} Needed;

static bool has_outline(const Entry *e, Outlines which) {
  for (uint32_t k = 0; k < e->n_names; k++)
    if (!e->outline[k] || (which == OUTLINE_KNOWN && !e->value[k].arena)) return false;
  return which != WHOLE;
}

/* What stands for an operand; NULL: it is no name of the sheet. */
static Entry *operand(const Needed *n, const Used *u) {
  uint32_t which = 0;
  Entry *e = used_entry(n->sheet, u, &which);
  if (!e || !has_outline(e, n->outlines)) return e;
  for (uint32_t i = 0; i < n->whole; i++)
    if (n->wanted.at[i] == e) return e;
  return e->outline[which];
}

static void names_reach(Arena *a, Needed *n, const Texts *names) {
  for (uint32_t i = 0; i < names->len; i++) {
    Entry *e = sheet_find(n->sheet, names->at[i], NULL);
    if (e && !entries_have(&n->wanted, e)) vec_push(a, n->wanted, e);
  }
  n->whole = n->wanted.len;
  for (uint32_t i = 0; i < n->wanted.len; i++)
    for (uint32_t k = 0; k < n->wanted.at[i]->n_used; k++) {
      Entry *e = operand(n, &n->wanted.at[i]->used[k]);
      if (e && !entries_have(&n->wanted, e)) vec_push(a, n->wanted, e);
    }
}

/* Whether a counter is asked for, or mentioned outside of its loops. */
static bool counter_asked(const Needed *n, const char *counter) {
  uint32_t hash = name_hash(counter);
  for (uint32_t i = 0; i < n->names->len; i++)
    if (strcmp(n->names->at[i], counter) == 0) return true;
  for (uint32_t i = 0; i < n->wanted.len; i++)
    if (mentions(n->wanted.at[i], counter, hash)) return true;
  return false;
}

/* Whether its counter is meant, and an earlier loop with the same is wanted, and not there: the name is the last's. */
static bool waits_for_loop(const Needed *n, const Entry *e) {
  if (e->kind != STMT_REPEAT || !sheet_shows(n->sheet, e, 0) || !counter_asked(n, e->name[0])) return false;
  for (uint32_t i = 0; i < n->sheet->n && n->sheet->at[i] != e; i++) {
    const Entry *before = n->sheet->at[i];
    if (before->kind == STMT_REPEAT && strcmp(before->name[0], e->name[0]) == 0 && entries_have(&n->wanted, before) &&
        !entries_have(&n->done, before))
      return true;
  }
  return false;
}

/* Whether everything wanted that it uses is there already. */
static bool is_ready(const Needed *n, const Entry *e) {
  if (waits_for_loop(n, e)) return false;
  for (uint32_t k = 0; k < e->n_used; k++) {
    Entry *u = operand(n, &e->used[k]);
    if (u && entries_have(&n->wanted, u) && !entries_have(&n->done, u)) return false;
  }
  return true;
}

/* An assert counts if everything that it mentions is there anyway. */
static bool assert_counts(const Needed *n, const Entry *e) {
  if (e->kind != STMT_ASSERT) return false;
  for (uint32_t k = 0; k < e->n_used; k++) {
    Entry *u = operand(n, &e->used[k]);
    if (u && !entries_have(&n->done, u)) return false;
  }
  return true;
}

/* Adds it if its turn has come. */
static bool entry_done(Arena *a, Needed *n, Entry *e, bool wanted) {
  if (entries_have(&n->done, e) || !(wanted ? is_ready(n, e) : assert_counts(n, e))) return false;
  vec_push(a, n->done, e);
  return true;
}

Entries sheet_needs(Arena *a, const Sheet *s, const Texts *names, Outlines outlines, const char **circle) {
  Needed n = {.sheet = s, .names = names, .outlines = outlines};
  names_reach(a, &n, names);
  *circle = NULL;
  for (uint32_t i = 0; i < s->n; i++)
    if (s->at[i]->kind == STMT_USE) vec_push(a, n.done, s->at[i]);
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < n.wanted.len; i++)
      if (n.wanted.at[i]->outlines) more |= entry_done(a, &n, n.wanted.at[i], true);
    for (uint32_t i = 0; i < s->n; i++) more |= entry_done(a, &n, s->at[i], entries_have(&n.wanted, s->at[i]));
  }
  Buf b = buf_new(a);
  for (uint32_t i = 0; i < n.wanted.len; i++)
    if (!entries_have(&n.done, n.wanted.at[i]))
      buf_printf(&b, "%s%s", b.len ? ", " : "", n.wanted.at[i]->n_names ? n.wanted.at[i]->name[0] : "assert");
  if (b.len) *circle = b.s;
  return n.done;
}
