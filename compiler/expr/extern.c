/* expr/extern.c - the C functions of a pool: interns them, finds them by name, and checks them. */
#include <string.h>

#include "pool.h"

bool extern_same_type(const Extern *a, const Extern *b) {
  if (a->n != b->n || a->dtype != b->dtype || a->block != b->block || a->n_out != b->n_out || a->n_red != b->n_red)
    return false;
  return memcmp(a->arg, b->arg, a->n * sizeof a->arg[0]) == 0 && memcmp(a->rank, b->rank, a->n) == 0;
}

static bool alike(const Extern *a, const Extern *b) {
  if (!str_same(a->symbol, b->symbol) || !str_same(a->from, b->from) || a->n != b->n || a->dtype != b->dtype ||
      a->cost != b->cost)
    return false;
  if (!extern_same_type(a, b)) return false;
  if (!str_same(a->place.file, b->place.file) || a->place.line != b->place.line || a->place.column != b->place.column)
    return false;
  return true;
}

uint32_t extern_count(const Exprs *p) { return p->externs.len; }

Extern *extern_at(const Exprs *p, uint32_t k) { return p->externs.at[k]; }

const Extern *extern_find(const Exprs *p, Str name) {
  for (uint32_t k = 0; k < p->externs.len; k++)
    if (str_same(p->externs.at[k]->name, name)) return p->externs.at[k];
  return NULL;
}

/* Another program of the same session may use the name for something else. */
static Str free_name(Exprs *p, Str name) {
  for (uint32_t k = 2;; k++) {
    const char *text = arena_printf(p->arena, "%s~%u", name->s, k);
    Strings *t = strings_new(p->arena);
    Str other = str_of(t, text, strlen(text));
    if (!extern_find(p, other)) return other;
  }
}

const Extern *extern_add(Exprs *p, const Extern *x) {
  vec_each_of(const Extern, old, p->externs) {
    bool called = str_same(old->name, x->name) ||
        (strncmp(old->name->s, x->name->s, x->name->len) == 0 && old->name->s[x->name->len] == '~');
    if (called && alike(old, x)) return old;
  }
  Extern *own = arena_copy(p->arena, x, sizeof *x);
  own->call = NULL;
  if (extern_find(p, own->name)) own->name = free_name(p, own->name);
  vec_push(p->arena, p->externs, own);
  return own;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

static bool is_identifier(Str s) {
  for (uint32_t k = 0; k < s->len; k++)
    if (!is_letter(s->s[k]) && !(k && s->s[k] >= '0' && s->s[k] <= '9')) return false;
  return s->len > 0 && s->len < 200;
}

static bool is_word_of_c(Str s) {
  static const char *const words[] = {"auto", "break", "case", "char", "const", "continue", "default", "do", "double",
      "else", "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "main", "register", "restrict",
      "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
      "volatile", "while"};
  for (size_t k = 0; k < COUNT(words); k++)
    if (strcmp(words[k], s->s) == 0) return true;
  return false;
}

size_t extern_file(Str from) {
  const char *libraries = from->s[0] == '-' ? from->s : strstr(from->s, " -l");
  return libraries ? (size_t)(libraries - from->s) : from->len;
}

/* `-lname`, separated by single blanks. */
static bool are_libraries(const char *s) {
  while (s[0] == '-' && s[1] == 'l' && s[2] && s[2] != ' ') {
    for (s += 2; *s && *s != ' '; s++)
      if (!is_letter(*s) && !(*s >= '0' && *s <= '9') && !strchr("+.-", *s)) return false;
    if (!*s++) return true;
  }
  return false;
}

/* A file's name, or -l with the name of a library; or one followed by the other. */
static const char *from_wrong(Str s) {
  if (s->len == 0 || strlen(s->s) != s->len || strchr(s->s, '\n')) return "this is no file name";
  size_t file = extern_file(s);
  if (file == s->len || are_libraries(s->s + file + (file > 0))) return NULL;
  return "expected a file, or a library as the linker takes it, \"-lm\", or both";
}

static bool begins(Str s, const char *with) { return strncmp(s->s, with, strlen(with)) == 0; }

const char *extern_wrong(const Extern *x, int *part) {
  *part = EXTERN_SYMBOL;
  if (!is_identifier(x->symbol) || is_word_of_c(x->symbol)) return "this is no name that a function of C can have";
  if (begins(x->symbol, "ein_") || begins(x->symbol, "program_"))
    return "names that begin with ein_ and program_ are those of what ein writes";
  *part = EXTERN_DTYPE;
  if (!x->block && x->dtype != DT_F64 && x->dtype != DT_F32) return "a C function gives f64 or f32 here";
  *part = EXTERN_NAME;
  if (!x->n) return "a C function takes an argument";
  if (x->block && x->n_out + x->n_red > EXTERN_LABELS) return "a C function of blocks has at most 32 labels";
  for (uint32_t k = 0; x->block && k < x->n; k++)
    if (x->rank[k] > x->n_out + x->n_red) return "an argument has more dimensions than there are labels";
  *part = EXTERN_FROM;
  return x->from ? from_wrong(x->from) : NULL;
}
