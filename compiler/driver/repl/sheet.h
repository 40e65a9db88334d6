/* driver/repl/sheet.h - what a session at the prompt holds: the statements that were typed, by the names that they define, and the
 * values that were computed or loaded. Of a compilation nothing lives here: texts, names and numbers alone. A turn is compiled anew from
 * the texts that it needs (turn.h), and what it computes comes back here, so that no later turn computes it again.
 *
 * A sheet never changes but for the values in it: what defines something gives another sheet, and the one before it is kept for :undo.
 * They share entries. An entry, a value and a sheet each lie in an arena of their own, which goes with them. */
#ifndef EIN_REPL_SHEET_H
#define EIN_REPL_SHEET_H

#include "front/ast.h"
#include "graph/eval/eval.h"

typedef struct Kept {        /* a tensor's value */
  Arena *arena;              /* NULL: there is none */
  EvalArray array;
  const char *const *axis;   /* what its axes are called, as report_axes gives it */
} Kept;

typedef struct Used { const char *name; bool bare; } Used; /* bare: a label, where that tensor has dimensions */
typedef struct Bound { const char *dim; int64_t value; } Bound;

typedef struct Entry {       /* one statement, which defines one name; a `repeat` several, a `use` or an `assert` none */
  Arena *arena;
  uint32_t users;            /* sheets that have it */
  StmtKind kind;
  const char *text, *file;   /* as it was typed, and in which file it stands, */
  uint32_t line;             /*   at which line */
  const char *module;        /* of a `use`: the file that it names, NULL if it is one of the standard library, */
  const char *folder;        /*   and from which folder */
  const char **name;
  Kept *value;               /* of each name */
  uint32_t n_names, n_used, n_bound;
  Used *used;
  uint32_t rank;             /* of an equation's or input's tensor */
  bool open_size;            /* a dim without a value */
  bool has_default;          /* an input with one */
  bool *output;              /* of each name: it is said to be one */
  const char *source;        /* an input whose value was loaded: from where; */
  Bound *bound;              /*   and what that said of dims */
} Entry;

typedef struct Sheet Sheet;
struct Sheet {
  Arena *arena;
  Sheet *before;             /* what :undo goes back to */
  uint32_t turns;            /* how many that are */
  Entry **at;
  uint32_t n;
};

Sheet *sheet_new(void);
void sheet_end(Sheet *s);    /* with all before it */
/* The sheet with these entries, which take the places of those that define one of their names; s stands behind it. */
Sheet *sheet_with(Sheet *s, Entry *const *e, uint32_t n);
Sheet *sheet_apart(Sheet *s); /* the same entries, with nothing behind it */
Sheet *sheet_over(Sheet *s, const Sheet *with); /* the entries of the one, with s behind it */
Sheet *sheet_undo(Sheet *s); /* the one before it; NULL: there is none */
/* The entry that defines a name, and as which of its names; NULL: none does. */
Entry *sheet_find(const Sheet *s, const char *name, uint32_t *which);
/* Values that were computed by way of a name, or of any: they are so no more. */
void sheet_forget(Sheet *s, const char *name);
void sheet_forget_all(Sheet *s);

/* What the names hang on, they themselves included, each before what uses it; and the asserts about nothing else. A name that nobody
 * defines is passed over. *circle: names that hang on themselves, NULL if none does. */
typedef VEC(Entry *) Entries;
typedef VEC(const char *) Texts;
Texts sheet_uses(Arena *a, const Sheet *s, const Used *used, uint32_t n); /* what the names mean that are defined here */
Entries sheet_needs(Arena *a, const Sheet *s, const Texts *names, const char **circle);

/* ---- entries ----------------------------------------------------------------------------------- */
/* One of each name that a parsed statement defines; `file` and `line` say where the statement's text stands, `folder` from where a `use` sees files. */
Entries entries_of(Arena *a, const AstStmt *s, const char *file, const char *folder, uint32_t line);
Used *names_used(Arena *a, const AstStmt *s, uint32_t *n); /* by a statement, but for those that are its own */
Entry *entry_input(const char *name, uint32_t rank, const char *declaration, const char *file, uint32_t line); /* without a default */
Entry *entry_again(const Entry *e); /* the same statement, without its value */
void entry_end(Entry *e);    /* one that no sheet has */
bool entry_is_tensor(const Entry *e);
void kept_end(Kept *k);

#endif
