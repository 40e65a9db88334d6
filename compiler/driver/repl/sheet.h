/* driver/repl/sheet.h - the content of a session at the prompt: the typed statements, by the names that they define,
 * and the values that were computed or loaded. It holds only texts, names and numbers, nothing of a compilation. Each
 * query compiles the texts that it needs again (query.h), and stores its values here, so that no later query computes
 * them again.
 *
 * Only the values in a sheet change. A definition makes a new sheet, and the one before is kept for :undo. Sheets
 * share entries. An entry, a value and a sheet each have their own arena. */
#ifndef EIN_REPL_SHEET_H
#define EIN_REPL_SHEET_H

#include "front/ast.h"
#include "graph/eval/eval.h"

typedef struct Kept {        /* a tensor's value */
  Arena *arena;              /* NULL: there is no value */
  EvalArray array;
  const char *const *axis;   /* names of its axes, from report_axes */
} Kept;

uint32_t name_hash(const char *name); /* equal names have equal ones: it spares most comparisons of texts */
typedef struct Used { const char *name; uint32_t hash; bool bare; } Used; /* bare: it may be a label if that tensor has
                                                                           * dimensions */
typedef struct Bound { const char *dim; int64_t value; } Bound;

typedef struct Entry Entry;
struct Entry {               /* one statement, which defines one name; a `repeat` defines several, first its counter, a
                              * `use` or an `assert` none */
  Arena *arena;
  uint32_t users;            /* sheets that contain it */
  StmtKind kind;
  const char *text, *file;   /* as typed, and its file */
  uint32_t line;             /* its line there */
  const char *module;        /* of a `use`: the file that it names; NULL for one of the standard library */
  const char *folder;        /* the folder from which it names it */
  const char **name;
  uint32_t *hash;            /* by name */
  Kept *value;               /* by name */
  Entry **outline;           /* by name: an input of that shape and dtype, which stands for a tensor where only these
                              * count; NULL: none was made */
  uint32_t n_names, n_used, n_bound;
  Used *used;
  uint32_t rank;             /* of an equation's or input's tensor */
  bool open_size;            /* a dim without a value */
  bool has_default;          /* an input with one */
  bool outlines;             /* it is an outline, and in no sheet */
  bool *output;              /* by name: it is an output */
  const char *source;        /* an input whose value was loaded: from where */
  Bound *bound;              /* and the dims that this determined */
};

typedef struct Sheet Sheet;
struct Sheet {
  Arena *arena;
  Sheet *before;             /* for :undo */
  uint32_t depth;            /* how many sheets are before it */
  Entry **at;
  uint32_t n;
  uint64_t *words;           /* a bit for each name that its entries define or use, by hash: without it, none does */
  uint32_t n_bits;
};

Sheet *sheet_new(void);
void sheet_end(Sheet *s);    /* with all before it */
/* The sheet with these entries, which replace those that define one of their names; s is kept before it. */
Sheet *sheet_with(Sheet *s, Entry *const *e, uint32_t n);
Sheet *sheet_apart(Sheet *s); /* the same entries, with nothing before it */
Sheet *sheet_over(Sheet *s, const Sheet *with); /* the entries of `with`, with s before it */
Sheet *sheet_undo(Sheet *s); /* the one before it; NULL: there is none */
/* The entry that defines a name, and which of its names it is; NULL: none does. Of loops with one counter, the last. */
Entry *sheet_find(const Sheet *s, const char *name, uint32_t *which);
bool sheet_shows(const Sheet *s, const Entry *e, uint32_t k); /* whether its k-th name means this entry */
/* Drops values computed from a name, or all computed values; and the outlines of what depends on it, or all. */
void sheet_forget(Sheet *s, const char *name);
void sheet_forget_all(Sheet *s);
/* The same for all that one of two sheets defines and the other does not, in both: they may share entries. */
void sheet_forget_apart(Sheet *a, Sheet *b);
void sheet_forget_outlines(Sheet *s, const char *name); /* of what depends on a name; values stay */
/* Forgets so what depends on an entry's names, on what it has replaced, or on sizes that came with either. */
void sheet_forget_replaced(Sheet *to, const Sheet *from, const Entry *e, void (*forget)(Sheet *s, const char *name));

/* What stands for an operand: always its definition; its outline, if its value is known; or its outline, if there is
 * one. */
typedef enum { WHOLE, OUTLINE_KNOWN, OUTLINE_ANY } Outlines;
/* The entries on which the names depend, including their own, each before its users; and the asserts about only
 * these. An outline replaces an entry and what only that one needs, except of the names themselves. Unknown names are
 * skipped. *circle: a name that depends on itself, NULL if none does. */
typedef VEC(Entry *) Entries;
bool entries_have(const Entries *v, const Entry *e);
typedef VEC(const char *) Texts;
Texts sheet_uses(Arena *a, const Sheet *s, const Used *used, uint32_t n); /* of these names, those defined here */
Entries sheet_needs(Arena *a, const Sheet *s, const Texts *names, Outlines outlines, const char **circle);

/* ---- entries ----------------------------------------------------------------------------------- */
/* One entry for each name that a parsed statement defines. `file` and `line`: the position of its text; `folder`:
 * from where a `use` sees files. */
Entries entries_of(Arena *a, const AstStmt *s, const char *file, const char *folder, uint32_t line);
Used *names_used(Arena *a, const AstStmt *s, uint32_t *n); /* by a statement, except its own names */
/* An entry for an input without a default. */
Entry *entry_input(const char *name, uint32_t rank, const char *declaration, const char *file, uint32_t line);
/* Makes an outline of one of its names; the declaration uses these dims. */
void entry_outline(Entry *e, uint32_t which, const char *declaration, const Texts *dims);
Entry *entry_again(const Entry *e); /* the same statement, without its value */
bool entry_is_tensor(const Entry *e);

#endif
