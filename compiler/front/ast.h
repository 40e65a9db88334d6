/* front/ast.h - the program as written: what the parser makes, fmt prints, the AST evaluator runs and elaboration
 * reads. It holds only what is in the text: no extents, no inferred dtypes, no expanded defs. Every node has its
 * span. */
#ifndef EIN_AST_H
#define EIN_AST_H

#include "base/diag.h"
#include "expr/expr.h"

typedef struct Ast Ast;
typedef struct AstStmt AstStmt;
typedef struct AstName { Str s; Span span; } AstName; /* s NULL: absent */

/* ---- items: the content of [ ] ------------------------------------------------------------------
 *
 *   X[i, 2*j+1, (h d), k:K, (h:H d), x = x + r]     sum[i, (h d), r:2 where p]
 *
 * A bare identifier is ITEM_EXPR of AST_NAME: elaboration decides whether it is a label, a loop variable, a dim or a
 * rank-0 tensor (rule 4). */
typedef enum { ITEM_EXPR, ITEM_SIZED, ITEM_GROUP, ITEM_BIND } AstItemKind;
typedef struct AstItem AstItem;
typedef VEC(AstItem) AstItems;
struct AstItem {
  AstItemKind kind;
  Span span;
  AstName name;      /* SIZED: the label; BIND: the label substituted */
  Ast *e;            /* EXPR: the index; SIZED: the size; BIND: the replacement */
  AstItems part;     /* GROUP: each ITEM_EXPR of a bare name or ITEM_SIZED */
};

/* ---- expressions ----------------------------------------------------------------------------- */
typedef enum {
  AST_INT,   /* i (overflow of u64 is an error of the parser; 2^63 only under `-`: stored as i = INT64_MIN with big
              * set) */
  AST_REAL,  /* f */
  AST_BOOL,  /* i */
  AST_CONST, /* f, name: inf nan pi */
  AST_NAME,  /* name: without brackets: a dim, label, rank-0 tensor, parameter, loop variable */
  AST_INDEX, /* name[items]: a read; or a substitution if the items are ITEM_BIND */
  AST_SUBST, /* (a)[items], all ITEM_BIND: substitution in a parenthesised expression */
  AST_NEG,
  AST_NOT,     /* a */
  AST_BINARY,  /* op, a, b: op of ops.def (ADD SUB MUL DIV IDIV MOD POW EQ NE LT LE GT GE AND OR); op_span */
  AST_OR_ELSE, /* a ?? b */
  AST_IF,      /* a: condition, b: then, c: else */
  AST_REDUCE,  /* reducer, acc, items, where, a: body (NULL for count); call_form: sum(e) with no brackets */
  AST_CALL, /* name[items where p](args): functions, defs, monoids, uniform..., max(a, b); bracketed: [ ] were written
             */
  AST_CAST, /* dtype(a) */
  AST_SIZE, /* size(label): name is the label */
  AST_GRAD, /* grad(a, name[items]) */
  AST_LIST, /* [args]: one value for each element of label `name`, the first of op_span's left side that no list
             * around it goes along; name.s NULL: there is none; op_span.src NULL: it is no right side, nor an
             * element of one */
  AST_RESULTS, /* (args): the results of a def with several, at its end; the components of a monoid over tuples */
  AST_PAREN    /* (a): kept, because it limits what a reducer covers, and fmt prints it */
} AstKind;

struct Ast { /* 144 bytes: there are many */
  AstKind kind;
  DType dtype;              /* AST_CAST */
  bool big, call_form, bracketed;
  uint8_t op;               /* Op; for AST_REDUCE the Reducer */
  int8_t acc;               /* DType of `sum:f64`, or -1 */
  uint16_t depth;           /* how deep its parts nest, at most AST_DEPTH; a chain of binary operators to the left (`a
                             * + b + c ...`, unparenthesised) counts once: walk it with a loop */
  Span span;
  AstName name;
  union {
    int64_t i;
    double f;
    struct { uint32_t result, results; }; /* AST_CALL: which result, counted from 1, of how many; 0: of a def that has
                                           * one */
  };
  Span op_span;             /* the operator, or the reducer's word */
  Ast *a, *b, *c;
  AstItems items;
  Ast *where;               /* predicate of a reducer's or call's brackets, or NULL */
  VEC(Ast *) args;
};

/* ---- statements ------------------------------------------------------------------------------ */
typedef enum {
  STMT_DIM,       /* dims */
  STMT_INPUT, STMT_PARAM, /* decls, dtype, e: default */
  STMT_EQUATION,  /* [output] name[items] [: dtype] = e [extern "text" from "source" cost]; a next may have the extern
                   * too */
  STMT_OUTPUT,    /* output Z (names: decls with name only) */
  STMT_STATE, STMT_NEXT, /* as an equation; inside a repeat */
  STMT_REPEAT,    /* name: loop variable, e: bound, until, body */
  STMT_DEF,       /* name[items](params) = e, or { body e }; e may be AST_RESULTS; adjoint */
  STMT_ADJOINT,   /* of a def: adjoint(items) = e, or { body e }: for each result the name of its adjoint, as
                   * ITEM_EXPR, or as ITEM_SIZED with the result's own name first; e: AST_RESULTS if the def has
                   * several parameters */
  STMT_MONOID,    /* name(params) = e identity until [where range]: two params; over tuples of `parts` components those
                   * of the first operand, then those of the second, and e and until are AST_RESULTS */
  STMT_EXTERN,    /* name(params: each with its dtype) : dtype = "text" from "source" cost */
  STMT_USE,       /* name (use nn) or path (use "x.ein") */
  STMT_ASSERT,    /* e, text */
  STMT_LIMITS     /* assert on e sites: limits, for a plan; e is a number or a name */
} StmtKind;

typedef struct AstLimit { /* memory <= 24 GB */
  AstName what, unit;       /* unit.s: NULL if there is none */
  Op op;
  double amount; Span amount_span;
  Span span;
} AstLimit;

typedef struct AstDecl { /* one of dim N = e; input X[items] */
  AstName name;
  bool bracketed;
  AstItems items;           /* each ITEM_SIZED (label:size) or ITEM_EXPR (a bare size) */
  Ast *e;                   /* dim: its value, or NULL */
  Span span;
} AstDecl;

/* Where a tensor lies in a checkpoint: `from "layers.{l}.wq"[(h a), d]` of a param, `to ...` of an output. An axis is
 * named by its label, or by the name of its size if it has no label. Each axis is either counted in the name or
 * listed in the brackets. */
typedef struct AstNamePart { /* of the name: a text; or, if text is NULL, the number along an axis, plus `plus` */
  Str text;
  uint32_t axis;
  int64_t plus;
} AstNamePart;
typedef struct AstStoredAxis { uint32_t axis; bool joined; } AstStoredAxis; /* joined: merged into one stored axis
                                                                             * with the one before it */
typedef struct AstStored {
  Span span, text_span;
  Str text;                 /* the name as written */
  bool to;                  /* `to`, not `from` */
  bool bracketed;
  AstItems items;
  VEC(AstNamePart) name;    /* the same in terms of the tensor's axes */
  VEC(AstStoredAxis) axes;  /* in the file's order */
} AstStored;

typedef struct AstTake { AstName name; DType dtype; Span span; } AstTake; /* x : f64, of a C function */
typedef struct AstCost { int64_t amount; Span span; } AstCost;

struct AstStmt {
  StmtKind kind;
  Span span;
  bool output;              /* `output` was written before an equation */
  bool bracketed;           /* name[...] on the left, not a bare name */
  AstName name;
  AstItems items;           /* labels on the left; a def's label parameters */
  int8_t dtype; Span dtype_span; /* written dtype, or -1 */
  Ast *e, *until;           /* until: condition of a repeat, identity of a monoid */
  VEC(AstDecl) decls;
  VEC(AstName) params;      /* of a def or monoid */
  uint32_t parts;           /* of a monoid: the components of its first operand; 1: it is no tuple */
  Ast *range;               /* of a monoid: what holds of each operand, in the first one's names; or NULL */
  VEC(AstTake) takes;       /* of a C function */
  Str source; Span source_span; /* the C file, or NULL; also for an equation computed by a C function, whose symbol is
                                 * `text` */
  AstCost *cost;            /*   or NULL */
  VEC(AstLimit) limits;
  VEC(AstStmt *) body;      /* of a repeat; the local equations of a def's block */
  bool block;               /* the def was written with { } */
  bool broken;              /* of a file's statements: the parser complained about part of it */
  bool open;                /* of an equation: no left side is written; its labels are the free ones on its right */
  AstStmt *adjoint;         /* of a def: its adjoint as written, or NULL */
  AstStmt *also;            /* of an equation or a next: the next one written together with it, as in `m, v = f(x)`;
                             * it follows in the list; NULL: none */
  bool behind;              /* it is another's `also` */
  AstStored *stored;        /* of a param or an output; NULL: not given */
  Str text; Span text_span; /* assert's message, use's path, the symbol of a C function, also of one that computes an
                             * equation */
};

/* ---- a file ---------------------------------------------------------------------------------- */
typedef struct AstFile {
  Source *src;
  VEC(AstStmt *) stmts;
  VEC(Span) comments;       /* in order; each from '#' to before the newline */
  bool broken;              /* the parser complained; then the following apply */
  VEC(Str) lost;            /* names that the unreadable parts may have defined */
  bool lost_head;           /* perhaps others too */
  bool lost_all;            /* or anything at all */
} AstFile;

/* Never returns NULL; what cannot be parsed is left out and complained about. Identifiers are NFC. Nesting deeper
 * than AST_DEPTH is an error, not a crash, and so is a file of more than PROGRAM_BYTES. */
enum { AST_DEPTH = 1000, PROGRAM_BYTES = 16 << 20 };
AstFile *parse_file(Arena *a, Strings *t, Source *src, Diags *d);
/* The same for a text that is one expression: the file has an open equation for it, with this name. */
AstFile *parse_expression(Arena *a, Strings *t, Source *src, Str name, Diags *d);

/* The formatter: prints the whole file with its comments, and with ASCII for the papers' signs. Only for files that
 * parsed. It is idempotent, and parse(fmt(x)) is parse(x) up to spans. */
void fmt_print(Buf *out, const AstFile *f);

/* The label that an item names; NULL: it does not name one. */
static inline Str ast_item_label(const AstItem *it) {
  return it->kind == ITEM_SIZED ? it->name.s : it->kind == ITEM_EXPR && it->e->kind == AST_NAME ? it->e->name.s : NULL;
}
static inline bool ast_is_chain(const Ast *a) { return a->kind == AST_BINARY || a->kind == AST_OR_ELSE; }

/* The name that a stated adjoint gives to the adjoint of result k, and to the result itself (s NULL: none). */
static inline AstName ast_above(const AstStmt *adjoint, uint32_t k) { return adjoint->items.at[k].e->name; }
static inline AstName ast_result_name(const AstStmt *adjoint, uint32_t k) {
  return adjoint->items.at[k].kind == ITEM_SIZED ? adjoint->items.at[k].name : (AstName){0};
}

/* The value of a def: its e, or of several results the one that the call takes. The call must fit. */
static inline const Ast *ast_result(const AstStmt *def, const Ast *call) {
  return def->e->kind == AST_RESULTS ? def->e->args.at[call->result - 1] : def->e;
}
static inline uint32_t ast_results(const AstStmt *def) { return def->e->kind == AST_RESULTS ? def->e->args.len : 1; }

/* Whether a call has the labels that a def takes: one for each, or several for the only one, which stand for a group
 * of them. */
static inline bool ast_labels_fit(const AstStmt *def, const Ast *call) {
  return call->items.len == def->items.len || (def->items.len == 1 && call->items.len);
}

/* Rewrites a def, and a call of it whose labels fit, to a label for each part of a group and a call without groups;
 * returns them unchanged if there are no groups. `wrong` is a substitution for a label that is a group (s NULL: there
 * is none). */
typedef struct AstOfGroups { const AstStmt *def; const Ast *call; AstName wrong; } AstOfGroups;
Ast *ast_copy(Arena *arena, Strings *strings, const Ast *a); /* a deep copy */
AstOfGroups ast_of_groups(Arena *arena, Strings *strings, const AstStmt *def, const Ast *call);

#endif
