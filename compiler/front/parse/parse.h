/* front/parse/parse.h - internals of parsing, private to its files.
 *
 *   scan.re (generated)   bytes -> tokens              parse.c     newlines, brackets, resynchronising
 *   ein.y   (generated)   tokens -> calls to build     build.c     the tree
 *   mistakes*.c           messages where no token fits
 *
 * Lists between brackets are collected on stacks of the Parse and copied to their exact size when the bracket closes:
 * in the grammar, a list's value is the position at which it begins. */
#ifndef EIN_PARSE_H
#define EIN_PARSE_H

#include "front/ast.h"
#include "scan.h"

typedef enum { OPEN_PLAIN, OPEN_REDUCER, OPEN_COUNT, OPEN_LIST } OpenKind;
typedef struct Open {         /* an open bracket */
  uint32_t at;
  int kind;                   /* TOK_LP, LB or LC */
  OpenKind of;
  Token operand;              /* the first token of its operand, as the `X` of `X[i]` */
  uint32_t where;             /* the position of its `where`, + 1 */
  int first;                  /* the first token of the statement that opened it */
  uint32_t indent;            /* the columns before that */
  bool assumed;               /* it is not in the text: a message said that it is missing */
  bool filled, deeper;        /* of a block: a statement has begun, and the first was indented deeper than that */
} Open;
typedef struct Grammar Grammar; /* Lemon's parser with its stack */

enum { NAME_CACHE_BITS = 8 };
typedef struct NameCache { uint64_t key; Str str; } NameCache; /* a name of up to 8 bytes, none of them NUL */

typedef struct ParseStmt {    /* what was met of a statement, from its first token on */
  Token first;
  uint32_t indent;            /* the columns before it */
  uint32_t tokens;            /* how many were taken */
  Token joined;               /* outside brackets, the last token of the line above, or kind 0 */
  Token slashes;              /* the last `//`, or kind 0 */
  Span reach;                 /* the last brackets of a reducer; src NULL: none */
  Token reducer_word;         /* the reducer before them */
  bool assigned;              /* its `=` was taken */
  bool patched;               /* some token was taken for another */
} ParseStmt;

typedef struct ParseAt {      /* the current position */
  Token last, before;         /* the last two tokens that the grammar took */
  bool last_ends;             /* a statement could end after the last one */
  OpenKind closed;            /* if the last is `]`: whose brackets it closed */
  Open shut;                  /* the bracket closed last */
  Token operand;              /* the first token of the current operand */
  bool newline;               /* a line ended before the current token, or before the held one */
  Token held;                 /* read ahead, after a newline; kind TOK_BAD: none */
  int reducer;                /* how much of `sum:f64` the last tokens were: 1 word, 2 colon, 3 dtype */
} ParseAt;

typedef struct ParseWrong {   /* what mistakes have left behind */
  uint32_t stuck;             /* the position of the last unexpected token, + 1 */
  uint32_t hurt;              /* the innermost block that lost a statement: the number of its open brackets */
  bool too_deep, stop;
  bool skipping;              /* skipping the rest of a statement after a complaint */
  uint32_t open_string;       /* the position of the last string that does not end on its line, + 1 */
  bool said_return;           /* a lone carriage return was reported */
  Map misnamed;               /* names already reported: keywords, and names that are not in normal form */
} ParseWrong;

typedef struct ParseLists {   /* lists under construction */
  VEC(AstItem) items;
  VEC(Ast *) exprs;
  VEC(AstDecl) decls;
  VEC(AstTake) takes;
  VEC(AstName) names;
  VEC(AstLimit) limits;
  VEC(Ast *) big;             /* literals 2^63 without a `-` so far */
} ParseLists;

typedef struct Parse {
  Arena *arena;
  Strings *strings;
  Source *src;
  Diags *diags;
  AstFile *file;
  Scanner scan;
  Grammar *grammar;
  ParseAt at;
  ParseStmt stmt;             /* the current statement */
  VEC(Open) open;             /* open brackets */
  ParseWrong wrong;
  ParseLists lists;
  NameCache cache[1 << NAME_CACHE_BITS];
} Parse;

typedef struct Brackets { AstItems items; Ast *where; uint32_t end; } Brackets; /* [items where p] */
typedef struct AstBlock { VEC(AstStmt *) stmts; } AstBlock;

/* ---- interface to ein.y -------------------------------------------------------------------------- */
Grammar *grammar_new(Parse *p);
bool grammar_accepts(const Grammar *g, int kind); /* whether this token could come next */
void grammar_take(Grammar *g, Token t);           /* only a token that it accepts */
uint32_t grammar_resync(Grammar *g);              /* back to where a statement may begin; returns the number of open
                                                   * `{` there */

/* ---- build.c: one function per action ------------------------------------------------------------- */
Span span_at(const Parse *p, uint32_t at, uint32_t end);
Span span_to_here(const Parse *p, uint32_t at); /* to the end of the last token taken */
AstName name_of(Parse *p, Token t);
void complain_too_deep(Parse *p, uint32_t at, uint32_t end);

Ast *build_number(Parse *p, Token t);
Ast *build_constant(Parse *p, Token t);
Ast *build_name(Parse *p, Token name);
Ast *build_index(Parse *p, Token name, Brackets *b);
Ast *build_call(Parse *p, Token name, Brackets *b, uint32_t args);
Ast *build_list(Parse *p, Token open, uint32_t args);
Ast *build_paren(Parse *p, Token open, Ast *e);
Ast *build_subst(Parse *p, Token open, Ast *e, Brackets *b);
Ast *build_cast(Parse *p, Token dtype, Ast *e);
Ast *build_reduce(Parse *p, Token word, Token acc, Brackets *b, Ast *body);
Ast *build_reduce_call(Parse *p, Token word, Token acc, uint32_t args);
Ast *build_prefix(Parse *p, AstKind kind, Token op, Ast *e);
Ast *build_binary(Parse *p, Ast *a, Token op, Ast *b);
Op op_of(int kind);                         /* the operation of a binary operator's token */
Ast *build_or_else(Parse *p, Ast *a, Token op, Ast *b);
Ast *build_if(Parse *p, Token word, Ast *c, Ast *a, Ast *b);

uint32_t args_none(Parse *p);
uint32_t args_first(Parse *p, Ast *e);
void args_add(Parse *p, Ast *e);
/* Each pushes its item and returns its position. A group takes the items from `parts` on. */
uint32_t item_expr(Parse *p, Ast *e);
uint32_t item_sized(Parse *p, Token name, Ast *size);
uint32_t item_bind(Parse *p, Token name, Ast *e);
uint32_t item_group(Parse *p, Token open, uint32_t parts);
Brackets *brackets_of(Parse *p, uint32_t items, Ast *where);

uint32_t names_none(Parse *p);
uint32_t names_first(Parse *p, Token t);
void names_add(Parse *p, Token t);
uint32_t decls_first(Parse *p, AstDecl *d);
void decls_add(Parse *p, AstDecl *d);
AstDecl *decl_of(Parse *p, Token name, Brackets *b, Ast *e);

typedef struct AstLeft { AstName name; Brackets *b; } AstLeft; /* the left side of an equation */
typedef struct AstSide AstSide; /* one of several left sides: m[n] : f32 */
struct AstSide { AstLeft *left; Token dtype; AstSide *next; };
AstSide *side_first(Parse *p, AstLeft *l, Token dtype);
void side_add(Parse *p, AstSide *first, AstLeft *l, Token dtype);
/* Makes an equation, or a next, for each of the sides; the first one's `also` leads to the others. */
AstStmt *build_sides(Parse *p, StmtKind kind, Token first, AstSide *side, Ast *e);
Ast *build_results(Parse *p, Token open, Ast *first, uint32_t others); /* others: as args */
AstLeft *build_left(Parse *p, Token name, Brackets *b);
AstStmt *build_equation(Parse *p, StmtKind kind, Token first, AstLeft *left, Token dtype, Ast *e);
AstStmt *build_decls(Parse *p, StmtKind kind, Token first, uint32_t decls, Token dtype, Ast *e);
AstStmt *build_repeat(Parse *p, Token first, Token name, Ast *bound, Ast *until, AstBlock *body);
AstStmt *build_def(Parse *p, Token first, Token name, uint32_t labels, uint32_t params, AstBlock *body, Ast *e);
uint32_t takes_first(Parse *p, Token name, Token dtype);
void takes_add(Parse *p, Token name, Token dtype);
AstCost *build_cost(Parse *p, Token word, Token amount);
typedef struct AstBy { Token symbol, source; AstCost *cost; } AstBy; /* after an equation: the C function that
                                                                      * computes it */
AstBy *build_by(Parse *p, Token symbol, Token source, AstCost *cost);
void by_take(Parse *p, AstStmt *s, const AstBy *by); /* by NULL: none is given */
AstStmt *build_extern(
    Parse *p, Token first, Token name, uint32_t takes, Token dtype, Token symbol, Token source, AstCost *cost);
/* items: the content of the parentheses, `dy` or `y: dy`. */
AstStmt *build_adjoint(Parse *p, AstStmt *def, Token word, uint32_t items, AstBlock *body, Ast *e);
AstStmt *build_monoid( /* a, b: its operands, as names; range: NULL if there is none */
    Parse *p, Token first, Token name, uint32_t a, uint32_t b, Ast *e, Ast *identity, Ast *range);
AstStmt *build_use(Parse *p, Token first, Token what);
AstStmt *build_assert(Parse *p, Token first, Ast *e, Token text);
AstStored *build_stored(Parse *p, Token word, Token name, Brackets *b); /* build_stored.c */
void stored_take(Parse *p, AstStmt *s, AstStored *x); /* x may be NULL; complains if it does not fit the statement */
AstLimit *build_limit(Parse *p, Token what, Token op, Token amount, Token unit);
uint32_t limits_first(Parse *p, AstLimit *l);
void limits_add(Parse *p, AstLimit *l);
AstStmt *build_limits(Parse *p, Token first, Token on, Ast *sites, Token word, uint32_t limits);
AstBlock *block_new(Parse *p);
void block_add(Parse *p, AstBlock *b, AstStmt *s);
void file_add(Parse *p, AstStmt *s);
void complain_bind(Parse *p, const AstItem *i, const char *what); /* x = e where nothing is substituted */

/* ---- mistakes*.c, slips.c ----------------------------------------------------------------------- */
/* What helps: the kind of a token to take instead, or one of these. TOK_BAD: nothing helps, continue with the next
 * statement. */
enum {
  ANSWER_DROP = 256, /* continue without the token */
  ANSWER_LINE,       /* continue without it and the rest of its line */
  ANSWER_CLOSE,      /* close the block, then try again */
  ANSWER_INSERT      /* + kind: take a token of that kind first */
};
int complain_unexpected(Parse *p, Token t); /* complains that the token cannot come next; returns what helps */
int complain_word(Parse *p, Token t);       /* its kind; or complains and returns TOK_ID if a keyword is used as a
                                             * name */
void complain_mismatch(Parse *p, Token t);  /* a closing bracket without an opening one of its kind */
bool complain_sign_line(Parse *p, Token t); /* a line that begins with + or -; true: it was meant as a comment */

bool complain_no_program(Parse *p); /* a file of another kind: one complaint for all of it; sets p->wrong.stop */
void complain_fault(Parse *p, Fault f, uint32_t at, uint32_t end);
void complain_name(Parse *p, Token t, uint32_t at, uint32_t size); /* not in normal form */
bool misnamed(Parse *p, Token t, bool add); /* whether this name was already reported */
Scanner scan_quietly(const Parse *p);       /* a copy, to look ahead with */
int complain_slip(Parse *p, Token t);       /* the kind that was meant, or TOK_BAD */

/* ident.c: finds the position and length of the first character in an identifier (valid UTF-8) that alone prevents
 * Unicode's normal form C, whatever surrounds it. Returns false if there is none. */
bool ident_flaw(const char *s, uint32_t len, uint32_t *at, uint32_t *size);

#endif
