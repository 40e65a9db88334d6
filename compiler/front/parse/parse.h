/* front/parse/parse.h - inside parsing: what its files share, and nobody else sees.
 *
 *   scan.re (generated)   bytes -> tokens              parse.c     newlines, brackets, resynchronising
 *   ein.y   (generated)   tokens -> calls to build     build.c     the tree
 *   mistakes*.c           what to say where no token fits
 *
 * Lists between brackets are gathered on stacks of the Parse and copied to their exact size when the
 * bracket closes: a list's value in the grammar is where it begins. */
#ifndef EIN_PARSE_H
#define EIN_PARSE_H

#include "front/ast.h"
#include "scan.h"

typedef enum { OPEN_PLAIN, OPEN_REDUCER, OPEN_COUNT } OpenKind;
typedef struct Open {         /* an open bracket */
  uint32_t at;
  int kind;                   /* TOK_LP, LB or LC */
  OpenKind of;
  Token operand;              /* where the operand begins that it belongs to, as the `X` of `X[i]` */
  uint32_t where;             /* its `where`, + 1 */
  int first;                  /* the first token of the statement that opened it, */
  uint32_t indent;            /*   and the columns before that; */
  bool filled, deeper;        /* of a block: a statement has begun, and the first was indented deeper than that */
} Open;
typedef struct Grammar Grammar; /* Lemon's parser, its stack and all */

enum { NAME_CACHE_BITS = 8 };
typedef struct NameCache { uint64_t key; Str str; } NameCache; /* a name of up to 8 bytes, none of them NUL */

typedef struct Parse {
  Arena *arena;
  Strings *strings;
  Source *src;
  Diags *diags;
  AstFile *file;
  Scanner scan;
  Grammar *grammar;

  /* where we are */
  Token last, before;         /* the last two tokens that the grammar took */
  bool last_ends;             /* a statement could end behind the last one */
  OpenKind closed;            /* if the last is `]`: whose brackets it closed */
  Open shut;                  /* the bracket that was closed last */
  Token operand;              /* the first token of the operand at hand */
  Token reducer_word;         /* the reducer before the brackets that `reach` is about */
  Span reach;                 /* the last brackets of a reducer in the statement; src NULL: none */
  Token slashes;              /* the last `//` of the statement, or kind 0 */
  bool newline;               /* a line ended before the token at hand, or before the one that is held */
  Token held;                 /* read ahead, behind a newline; kind TOK_BAD: none */
  int reducer;                /* how much of `sum:f64` the last tokens were: 1 word, 2 colon, 3 dtype */
  Token stmt_first;           /* of the statement at hand, the first token, */
  uint32_t stmt_indent;       /*   the columns before it, */
  uint32_t stmt_tokens;       /*   and how many of its tokens were taken */
  Token joined;               /* outside brackets, the last token of the line above, or kind 0 */
  bool assigned;              /* its `=` was taken */
  VEC(Open) open;             /* brackets that wait to be closed */

  /* after a mistake */
  uint32_t stuck;             /* where the last unexpected token was, + 1 */
  uint32_t hurt;              /* the innermost block that lost a statement: how many brackets are open in it */
  bool too_deep, stop;
  bool patched;               /* something of the statement at hand was taken for what it is not */
  bool skipping;              /* passing over the rest of a statement that was complained about */
  uint32_t open_string;       /* where the last string begins that does not end on its line, + 1 */
  bool said_return;           /* that a carriage return stood alone */
  Map misnamed;               /* names complained about: keywords, and what is not in normal form */

  /* lists in the making */
  VEC(AstItem) items;
  VEC(Ast *) exprs;
  VEC(AstDecl) decls;
  VEC(AstTake) takes;
  VEC(AstName) names;
  VEC(AstLimit) limits;
  NameCache cache[1 << NAME_CACHE_BITS];
  VEC(Ast *) big;             /* literals 2^63 that no `-` has claimed yet */
} Parse;

typedef struct Brackets { AstItems items; Ast *where; uint32_t end; } Brackets; /* [items where p] */
typedef struct AstBlock { VEC(AstStmt *) stmts; } AstBlock;

/* ---- ein.y's face ---------------------------------------------------------------------------- */
Grammar *grammar_new(Parse *p);
bool grammar_accepts(const Grammar *g, int kind); /* could this token come next? */
void grammar_take(Grammar *g, Token t);           /* only what it accepts */
uint32_t grammar_resync(Grammar *g);              /* back to where a statement may begin; how many `{` are open there */

/* ---- build.c: one call an action ------------------------------------------------------------- */
Span span_at(const Parse *p, uint32_t at, uint32_t end);
Span span_to_here(const Parse *p, uint32_t at); /* to the end of the last token taken */
AstName name_of(Parse *p, Token t);
void complain_too_deep(Parse *p, uint32_t at, uint32_t end);

Ast *build_number(Parse *p, Token t);
Ast *build_constant(Parse *p, Token t);
Ast *build_name(Parse *p, Token name);
Ast *build_index(Parse *p, Token name, Brackets *b);
Ast *build_call(Parse *p, Token name, Brackets *b, uint32_t args);
Ast *build_paren(Parse *p, Token open, Ast *e);
Ast *build_subst(Parse *p, Token open, Ast *e, Brackets *b);
Ast *build_cast(Parse *p, Token dtype, Ast *e);
Ast *build_reduce(Parse *p, Token word, Token acc, Brackets *b, Ast *body);
Ast *build_reduce_call(Parse *p, Token word, Token acc, uint32_t args);
Ast *build_prefix(Parse *p, AstKind kind, Token op, Ast *e);
Ast *build_binary(Parse *p, Ast *a, Token op, Ast *b);
Op op_of(int kind);                         /* of a token that is an operator of two operands */
Ast *build_or_else(Parse *p, Ast *a, Token op, Ast *b);
Ast *build_if(Parse *p, Token word, Ast *c, Ast *a, Ast *b);

uint32_t args_none(Parse *p);
uint32_t args_first(Parse *p, Ast *e);
void args_add(Parse *p, Ast *e);
/* Each pushes its item; the answer is where it lies. A group takes those from `parts` on into itself. */
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

typedef struct AstLeft { AstName name; Brackets *b; } AstLeft; /* the left of an equation */
typedef struct AstSide AstSide; /* one of several left sides: m[n] : f32 */
struct AstSide { AstLeft *left; Token dtype; AstSide *next; };
AstSide *side_first(Parse *p, AstLeft *l, Token dtype);
void side_add(Parse *p, AstSide *first, AstLeft *l, Token dtype);
/* An equation, or a next, for each of them, the first of which has the others behind it. */
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
typedef struct AstBy { Token symbol, source; AstCost *cost; } AstBy; /* behind an equation: the C function that computes it */
AstBy *build_by(Parse *p, Token symbol, Token source, AstCost *cost);
void by_take(Parse *p, AstStmt *s, const AstBy *by); /* NULL: nothing is said */
AstStmt *build_extern(Parse *p, Token first, Token name, uint32_t takes, Token dtype, Token symbol, Token source, AstCost *cost);
/* items: what stands in the parentheses, `dy` or `y: dy`. */
AstStmt *build_adjoint(Parse *p, AstStmt *def, Token word, uint32_t items, AstBlock *body, Ast *e);
AstStmt *build_monoid(Parse *p, Token first, Token name, Token a, Token b, Ast *e, Ast *identity);
AstStmt *build_use(Parse *p, Token first, Token what);
AstStmt *build_assert(Parse *p, Token first, Ast *e, Token text);
AstStored *build_stored(Parse *p, Token word, Token name, Brackets *b); /* build_stored.c */
void stored_take(Parse *p, AstStmt *s, AstStored *x); /* x may be NULL; complains where it does not fit the statement */
AstLimit *build_limit(Parse *p, Token what, Token op, Token amount, Token unit);
uint32_t limits_first(Parse *p, AstLimit *l);
void limits_add(Parse *p, AstLimit *l);
AstStmt *build_limits(Parse *p, Token first, Token on, Ast *sites, Token word, uint32_t limits);
AstBlock *block_new(Parse *p);
void block_add(Parse *p, AstBlock *b, AstStmt *s);
void file_add(Parse *p, AstStmt *s);
void check_labels(Parse *p, const AstItems *v, const char *what); /* brackets that bind */
void complain_bind(Parse *p, const AstItem *i, const char *what); /* x = e where nothing is substituted */

/* ---- mistakes*.c, slips.c ----------------------------------------------------------------------- */
/* What helps: a token's kind to take in the token's place, or one of these. TOK_BAD: nothing will do, go on with
 * the next statement. */
enum {
  ANSWER_DROP = 256, /* go on without the token */
  ANSWER_LINE,       /* go on without it and the rest of its line */
  ANSWER_CLOSE,      /* close the block, then try again */
  ANSWER_INSERT      /* + kind: take a token of that kind first */
};
int complain_unexpected(Parse *p, Token t); /* the token cannot come next: complains, and answers what helps */
int complain_word(Parse *p, Token t);       /* its kind, or TOK_ID where a keyword stands for a name: complains */
void complain_unclosed(Parse *p, const Open *o, Token t);
void complain_mismatch(Parse *p, Token t);  /* a closing bracket that closes nothing of its kind */
bool complain_sign_line(Parse *p, Token t); /* a line that begins with + or -; true: it is meant as a comment */

bool complain_no_program(Parse *p); /* a file of another kind: one complaint for all of it; p->stop */
void complain_fault(Parse *p, Fault f, uint32_t at, uint32_t end);
void complain_name(Parse *p, Token t, uint32_t at, uint32_t size); /* not in normal form */
bool misnamed(Parse *p, Token t, bool add); /* was this name complained about already? */
Scanner scan_quietly(const Parse *p);       /* a copy, to look ahead with */
int complain_slip(Parse *p, Token t);       /* the kind that was meant, or TOK_BAD */

/* ident.c: where in an identifier's bytes (known to be UTF-8) the first character stands that keeps it
 * from being in Unicode's normal form C whatever stands around it, and how long it is; false: none. */
bool ident_flaw(const char *s, uint32_t len, uint32_t *at, uint32_t *size);

#endif
