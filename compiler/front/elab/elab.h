/* front/elab/elab.h - internals of elaboration, private to its files.
 *
 * An equation goes AST -> Core -> vertices. Making Core resolves names, expands defs, types every node, and records
 * facts about each label's extent. When the equation is complete, extents are solved (extents.c), and lowering
 * (lower.c) turns Core into scalar expressions and vertices, tracking for each expression where it has a value
 * (domain.c).
 *
 *   symbols.c  names and scopes        types.c    dtype rules        core.c    AST -> Core
 *   calls.c    defs, functions         extents.c  label extents      lower.c   Core -> EinGraph
 *   reduce.c   reducers as vertices    domain.c   what has a value   loops.c   repeat
 *   defs.c     names in a def's body   vertex.c   a vertex under construction
 *   extern.c   C functions             stated.c   adjoints stated with a def
 *   monoid.c   user-defined monoids    tuple.c    monoids of tuples  tuple_lower.c  their reductions, as maps
 *   grad.c     gradients               list.c     lists of values
 *   elab.c     statements, and graph_from_ast */
#ifndef EIN_ELAB_H
#define EIN_ELAB_H

#include "front/front.h"
#include "expr/prove/prove.h"
#include "graph/grad/grad.h"

typedef struct Elab Elab;
typedef struct Core Core;
typedef struct Bind Bind;
typedef struct LabelVar LabelVar;
typedef struct Labels Labels;

/* ---- types: a dtype and how firmly it is fixed -------------------------------------------------- */
typedef enum { FIRM, WEAK_LITERAL, WEAK_INDEX, WEAK_REAL } Weak; /* a number; a label, dim or size; a float */
typedef struct Type { DType dtype; Weak weak; } Type;
Type type_firm(DType t);
Type type_settle(Type t);                      /* the type that an equation of that type stores */
Type type_join(Type a, Type b);                /* operands of arithmetic, branches of an if; bool joins only bool */
Type type_arith(Type t);                       /* bool counts as i64 */
DType type_acc(Reducer r, Type body, int acc); /* the dtype in which a reducer over such a body accumulates */
Type type_reduced(Reducer r, Type body, int acc);
Type type_op(Op op, uint32_t n, const Type *arg, Type *operand); /* the result's; *operand: the type to which operands
                                                                  * are converted */

/* ---- labels ---------------------------------------------------------------------------------- */
typedef struct ExtentFact { const Expr *extent; Span span; const char *from; } ExtentFact;
struct LabelVar {
  Str name;
  Span span;
  LabelVar *same;            /* union-find: towards the root; NULL at a root */
  VEC(ExtentFact) facts;     /* at the root: facts about its extent */
  const Expr *extent;        /* at the root, once solved */
  bool left, used, failed;   /* on an equation's left; occurs in a body; already complained about */
  bool listed;               /* listed in the brackets of a reducer or a call */
  const Ast *reduced;        /* the last reducer that binds it, for messages */
  const struct Frame *frame; /* the def in which it was made, for messages */
  Labels *level;             /* the argument that owns it; NULL: the equation does */
  const Expr *value;         /* while lowering: its value in the current vertex */
  uint32_t seen;             /* stamp of set operations */
};
LabelVar *label_root(LabelVar *v);
typedef struct GroupFact {
  LabelVar **part;
  uint32_t n;
  const Expr *total;
  Span span;
  const char *from;
  bool divided;
} GroupFact;

typedef struct LabelSet { LabelVar **at; uint32_t n; } LabelSet; /* immutable; in order of first occurrence */

/* A flat map of label names: of an equation, a def expansion, or an argument. An argument is like an equation of its
 * own: each label in it is new, and linked to the one of that name at the place of the argument. */
struct Labels {
  Map map;                   /* Str -> LabelVar (not for an argument's) */
  Labels *level;             /* a def expansion's: the argument that contains the call, or NULL */
  Labels *outer;             /* an argument's: the labels at its place */
  Map link;                  /* LabelVar there -> LabelVar here */
  VEC(LabelVar *) fresh, origin; /* all made so far, and the label there for each */
};

/* ---- Core: an expression with every name resolved and every type known --------------------------- */
typedef enum {
  CORE_CONST,    /* e: a literal, dim or other label-free exact expression (i64, f64 or bool) */
  CORE_LABEL,    /* label, as a number */
  CORE_SIZE,     /* label's extent */
  CORE_TURN,     /* a loop's counter: depth i */
  CORE_READ,     /* tensor, arg: one index per dimension (CORE_GROUP for a group) */
  CORE_GROUP,    /* labels, merged row-major */
  CORE_OP,       /* op, arg */
  CORE_SELECT,   /* if arg0 then arg1 else arg2 */
  CORE_OR_ELSE,  /* arg0 ?? arg1 */
  CORE_CAST,     /* to type.dtype */
  CORE_REDUCE,   /* reducer over labels of arg0, where arg1 (or NULL) */
  CORE_USE,      /* bind, arg: one index for each of the bind's labels */
  CORE_RESTRICT, /* arg0 where arg1 */
  CORE_RANDOM,   /* op over labels, arg0: seed */
  CORE_TUPLE,    /* component i of a reduction by `tuple` over labels of its components, arg; where arg[tuple->n], if
                  * there are so many */
  CORE_CALL      /* external of arg */
} CoreKind;

struct Core {
  CoreKind kind;
  Span span;
  Type type;
  LabelSet free;
  Op op;
  Reducer reducer;
  const struct MonoidDef *monoid;
  const struct Tuple *tuple;
  const Extern *external;
  int acc;                   /* DType given by sum:f64, or -1 */
  int64_t i;
  const Expr *e;
  LabelVar *label;
  LabelSet labels;
  EinNode *tensor; Str name; /* name: the user's name for it */
  Bind *bind;
  Span op_span;
  const struct Frame *frame; /* the def in which it was made, for messages */
  bool in_def;
  bool covered;              /* on the left of some `??`, which tests whether it has a value */
  uint32_t n;
  Core **arg;
};

/* An argument, a local equation, or (e)[j = ...]: computed once, as its own vertex, when first needed. */
struct Bind {
  Str name;
  Span span;
  Core *body;
  LabelSet labels;           /* its own labels, in the vertex's order */
  LabelVar **outer;          /* for each, the label of the same name where it is used unchanged */
  uint32_t in_line;          /* not 0: a plain read, inlined at each use, without a vertex */
  bool used, covered;        /* covered: one of its uses is */
  enum { BIND_VALUE, BIND_ABOVE, BIND_ADJOINT, BIND_NOTHING } role; /* in a stated adjoint: adjoint of the result; of
                                                                     * a parameter; of an unused result */
  const AstStmt *by;         /* the equation, if a C function computes it; else NULL */
  struct Stated *stated;     /* the Stated that it belongs to, or NULL: the program */
  EinNode *node;             /* once lowered, with the following */
  const Expr *pred;          /* the predicates that apply to it, over its labels by number */
  struct Obligation *range;  /* and what else must hold for it to have a value */
  EinRegion *region;
};

/* A call of a def with a stated adjoint, in a program with gradients. */
typedef struct Stated {
  const AstStmt *def;
  Bind *result, *above;
  uint32_t n;                /* parameters that are float tensors */
  Bind **param, **adjoint;
  EinRegion *region;         /* for the adjoint's vertices, outside the program */
} Stated;

/* ---- where an expression has a value -------------------------------------------------------------- */
typedef enum { NEED_RANGE, NEED_NONEMPTY, NEED_VALUE, NEED_FITS } Need;
typedef struct Obligation Obligation;
struct Obligation {          /* a list; the expression has a value only if each holds */
  Obligation *next;
  const Expr *cond;
  const Expr *plain;         /* cond without the conditions under which it is needed */
  Need need;
  Span span, whole;          /* the position; of a reduction, all of it */
  const struct Frame *frame; /* the def that contains it, for messages */
  Str name; uint32_t axis;   /* NEED_RANGE: which tensor, which dimension */
  Span read; DType dtype;    /* what is read there, and its dtype */
  Str label;                 /* for a substitution, the label replaced; else NULL */
  bool low, high;            /* which bounds are not proved */
  const Expr *index, *extent;
  bool asked;                /* cond reads a vertex that tests everything reduced; then also: */
  Verdict verdict;           /* the prover's verdict on what it tests */
  const Expr *condition;     /* and the condition over dims */
  bool gather;               /* the index comes from data: checked at run time */
};
typedef struct Ex {          /* a lowered expression */
  const Expr *e;
  Type type;
  const Expr *pred;          /* predicates that apply to it; NULL: none */
  Obligation *range;
} Ex;

/* ---- symbols ---------------------------------------------------------------------------------- */
typedef enum { SYM_DIM, SYM_TENSOR, SYM_TURN, SYM_DEF, SYM_MONOID, SYM_EXTERN, SYM_STACK } SymKind;
typedef struct Symbol {
  SymKind kind;
  Str name;
  Span span;
  uint32_t order;            /* visible from its definition on */
  bool used, output, quiet;  /* quiet: no warning if unused */
  Span outputs, next;        /* where it is declared an output; a state's next */
  bool turns;                /* TENSOR: the number of turns of a loop; a later loop may reuse the name */
  const AstItems *axes;      /* TENSOR: as written at its definition, or NULL */
  struct Symbol *older;      /* the previous one of the same name in the same table; statements in between still see
                              * it */
  const Expr *size;          /* DIM */
  EinNode *node;             /* TENSOR */
  int64_t depth;             /* TURN */
  const AstStmt *stmt;       /* DEF, MONOID, EXTERN, STATE */
  const Extern *external;    /* EXTERN; NULL: its declaration has a complaint */
  const struct MonoidDef *monoid;
  struct Block *block;       /* TENSOR that is a state: its block */
  int32_t state;             /* its number there, or -1 */
} Symbol;
typedef struct SymTable { Map map; struct SymTable *parent; VEC(Symbol *) all; } SymTable;

typedef struct MonoidDef { const AstStmt *stmt; Map made; } MonoidDef; /* made: Monoid or Tuple, by the dtypes' names */

/* A monoid over tuples of n components, at their dtypes. combine is over #0 to #(n-1), the components of the first
 * operand, and #n to #(2n-1); range, what holds of each operand, is over the former. */
enum { TUPLE_PARTS = EXPR_PARAMS / 2 }; /* the most components */
typedef struct Tuple {
  const MonoidDef *def;
  uint32_t n;
  DType *dtype;
  const Expr **combine, **identity;
  const Expr *range;         /* NULL: anything */
} Tuple;

typedef struct Block {       /* a repeat being elaborated */
  struct Block *parent;
  EinNode *repeat;
  EinRegion *region;
  const AstStmt *stmt;
  SymTable syms;
  Symbol *turn;
  VEC(Symbol *) states;
  VEC(Symbol *) stacks;
  VEC(EinNode *) stack_nodes;
} Block;

/* What is visible inside a def's body: its parameters and local equations. */
typedef struct Local { Str name; Span span; Bind *bind; Core *direct; bool used; } Local;
typedef struct Frame {
  struct Frame *parent;      /* the def whose expansion contains this one (for messages and depth) */
  const AstStmt *def;
  const Ast *result;         /* its value; of several results the one that is taken */
  uint32_t order;            /* symbols later than the def are not visible */
  VEC(Local) locals;
  struct { LabelSet labels; Bind *pred; } restricted; /* f[t where p]: pred NULL if none */
  Span call;
  uint32_t depth;
} Frame;

/* The context in which an expression becomes Core. */
typedef struct Scope {
  Labels *labels;
  Frame *frame;              /* NULL at top level */
  LabelSet reduced;          /* labels bound by enclosing reducers, for sum(e) and the reach rule */
  const Span *reach;         /* the word of the enclosing unparenthesised reducer, or NULL */
  bool index;                /* between [ ]: a bare name is a label rather than a tensor */
  const struct Scope *outside; /* of an argument: the scope at its place */
  uint32_t depth;
} Scope;

typedef struct Guard { Core *cond; bool not; const struct Guard *outer; } Guard;

typedef struct NamedExtern { const Extern *is; Span at; Str axes; bool in_def; } NamedExtern; /* extern.c: agrees */

/* The current equation; equation_begin begins it. */
typedef struct ElabEquation {
  Str name;                  /* its anonymous vertices are named after it */
  uint32_t first_node;       /* its own vertices have this number or larger ones */
  VEC(LabelVar *) vars;
  VEC(GroupFact) groups;
  VEC(Bind *) binds;         /* each after those that it uses */
  VEC(Stated *) stated;
  Stated *stating;           /* the one whose adjoint is being made, or NULL */
  bool failed;               /* it has an error: do not lower it */
} ElabEquation;

/* The vertex being lowered. Vertices nest: who begins one inside another restores this. */
typedef struct ElabVertex {
  LabelSet out, red;         /* its labels, numbered in this order */
  const struct Guard *guard; /* the conditions of the `if`s around the expression being lowered, the innermost first */
} ElabVertex;

/* What is around the current statement: the repeats that contain it, if any. block_enter and block_leave change it. */
typedef struct ElabAround {
  SymTable *syms;            /* the innermost */
  Block *block;              /* NULL at top level */
  EinRegion *region;         /* new vertices go here; while a bind is lowered, its own */
  VEC(const Expr *) turns;   /* extents of the enclosing loops' counters (NULL: unknown) */
} ElabAround;

/* All of a program. */
struct Elab {
  Front *front;
  const Program *program;
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  Diags *diags;
  EinGraph *graph;
  const DimValues *dims;
  SymTable top;
  Map lost;                  /* Str -> Symbol: what statements that did not parse may have defined; uses get no
                              * complaint */
  VEC(const Expr *) hold;    /* asserts over dims */
  VEC(NamedExtern) named;    /* C functions, and where they are named */
  VEC(EinNode *) by_id;      /* while lowering, a read's slot is its node's id */
  Gradients *gradients;      /* NULL until the first gradient */
  bool asks_gradients;       /* there is a `grad` somewhere */
  bool module;               /* the current statements come from a used file */
  const AstStmt *spoiled;    /* an equation written together with one that has a complaint; NULL: none */
  const Frame *frame;        /* the def being expanded, or NULL */
  uint32_t stamp, order, expansions;
  ElabAround around;
  ElabEquation equation;
  ElabVertex vertex;
};

/* symbols.c */
Symbol *symbol_find(Elab *x, Str name, uint32_t before_order);
Symbol *symbol_add(Elab *x, SymKind kind, AstName name); /* complains if the name is taken; the symbol is usable
                                                          * anyway */
bool name_is_builtin(Str name);
const char *source_text(Elab *x, Span s);                    /* as written; "..." if that is long */
bool diag_unknown(Elab *x, Diag *d, AstName name, const Frame *f); /* adds what is known about an unknown name */
bool span_holds(Span all, Span one);                              /* whether one lies inside all */
bool complain_truth(Elab *x, AstName name);                  /* unknown.c: about `True` and the like; false: it is not
                                                              * one */
bool hint_constant(Elab *x, Diag *d, Str name);              /* unknown.c: what other languages call so */
bool hint_name(Elab *x, Diag *d, AstName name);              /* unknown.c: what it may be elsewhere */
bool hint_matrix_power(Elab *x, Diag *d, const Symbol *y, Span name); /* likewise, for `A^-1` */
bool hint_foreign(Elab *x, Diag *d, const Ast *call);        /* likewise, for a function */
bool hint_call(Elab *x, Diag *d, const Ast *call);           /* or which module has it */
const char *size_elsewhere(Elab *x, Str label);             /* likewise, a label's size; NULL: none, or they differ */
bool hint_turn(Elab *x, Diag *d, Str name, Span at);         /* likewise, for a loop variable outside its loop */
void diag_called(Elab *x, Diag *d, const Frame *f);          /* adds where the def with the mistake is called */
void warn_unused(Elab *x, const SymTable *t);
void warn_narrow(Elab *x);                                   /* narrow.c: inputs that round their default needlessly */

/* labels: extents.c */
LabelVar *label_new(Elab *x, Str name, Span span);
LabelVar *label_get(Elab *x, Labels *l, Str name, Span span);   /* creates it if missing */
LabelVar *label_find(Labels *l, Str name);                       /* NULL if it was not mentioned yet */
bool label_known(const Labels *l, Str name);                     /* mentioned, here or around an argument */
LabelVar *label_here(Elab *x, Labels *l, LabelVar *v);           /* v, of the defs or equation around, as seen from
                                                                  * here */
void label_unify(LabelVar *a, LabelVar *b, Arena *arena);
void label_sized_outside(Elab *x, LabelVar *outside, LabelVar *v); /* v, an argument's own, if nothing inside
                                                                    * determines its size */
void label_fact(Elab *x, LabelVar *v, const Expr *extent, Span span, const char *from);
void group_fact(Elab *x, LabelSet parts, const Expr *total, Span span, const char *from);
const char *extent_text(Elab *x, const Expr *e);                 /* for a user */
bool extents_solve(Elab *x);  /* of all labels of the current equation; complains */
LabelSet set_one(Elab *x, LabelVar *v);
LabelSet set_union(Elab *x, LabelSet a, LabelSet b);
LabelSet set_minus(Elab *x, LabelSet a, LabelSet b);
bool set_has(LabelSet s, const LabelVar *v);
LabelSet set_joined(Elab *x, LabelSet a, LabelSet b); /* a, then b, whatever they share */

/* core.c */
Core *core_failed(Elab *x);                                    /* after a complaint: NULL */
Core *core_new(Elab *x, CoreKind k, Span span, Type t, LabelSet free);
/* Its free labels are its arguments'. */
Core *core_with(Elab *x, CoreKind k, Span span, Type t, uint32_t n, Core **arg);
Core *core_from_ast(Elab *x, Scope *s, const Ast *a);          /* NULL after a complaint */
Core *core_label(Elab *x, LabelVar *v, Span span);
Core *core_const(Elab *x, const Expr *e, Type t, Span span);
Core *core_op(Elab *x, Op op, Span span, uint32_t n, Core **arg); /* checks types */
Core *core_chosen(Elab *x, Span span, const char *what, Core **arg); /* if arg0 then arg1 else arg2; what the last two
                                                                * are, for messages */
Symbol *scope_symbol(Elab *x, const Scope *s, Str name);       /* as seen from there; NULL: there is none */
const Expr *size_from_ast(Elab *x, Scope *s, const Ast *a);    /* a dim expression; NULL after a complaint */
bool item_is_size(Elab *x, Scope *s, const Ast *a);            /* consists only of numbers, dims and such parameters */
const char *type_name(Type t);                                 /* for a user */
bool want_bool(Elab *x, const Core *c, Span op, const char *what); /* complains; op: the word that requires it, or
                                                                    * nowhere */
bool want_integer(Elab *x, const Core *c, const char *what);   /* complains */
const char *shape_form(Elab *x, const Symbol *y);              /* "X[i, j]", with its labels if it has some */
Span free_place(const Core *c, const LabelVar *v);             /* where v is used and not bound */
bool labels_from_items(Elab *x, Scope *s, const AstItems *items, LabelSet *out, const char *who, bool groups);
Local *frame_find(Frame *f, Str name);

Core *core_tensor(Elab *x, Scope *s, const Symbol *y, const Ast *a); /* y, read at a's items */
/* `next z[k] = e`, where k is no label: how to change one element. */
void hint_element(Elab *x, Diag *d, const AstStmt *s, const Symbol *y, Labels *labels);
void complain_unread(Elab *x, const Symbol *y, Span span);   /* a tensor with dimensions stands without its labels */
Core *complain_rank(Elab *x, const Symbol *y, const Ast *a); /* the number of indices differs from its dimensions */

/* elab.c */
EinNode *scalar_made(Elab *x, const Ast *e);                   /* an equation without labels or name; NULL after a
                                                                * complaint */

/* grad.c */
Core *core_grad(Elab *x, Scope *s, const Ast *a);

/* list.c */
Core *core_list(Elab *x, Scope *s, const Ast *a);

/* core_reduce.c */
Core *core_reduce(Elab *x, Scope *s, const Ast *a);

/* calls.c */
bool wants_brackets(Elab *x, const Ast *a, bool wanted, const char *form);
bool wants_args(Elab *x, const Ast *a, uint32_t n, const char *form);
const char *call_form(Elab *x, const AstStmt *d);              /* "softmax[j](x)", of a def or monoid */
bool complain_function(Elab *x, AstName n);                    /* where it is used without its arguments; false: it is
                                                                * not a function */
Core *core_from_call(Elab *x, Scope *s, const Ast *a);
Core *core_from_subst(Elab *x, Scope *s, const Ast *a);
Core *core_use(Elab *x, Scope *s, Bind *b, Span span);         /* unchanged */
Core *core_restrict(Elab *x, Scope *s, Core *c);               /* by the label predicates of the defs around */
Core *reduce_restrict(Elab *x, Scope *s, LabelSet labels, Core *where, Span span);

/* extern.c */
void elab_extern(Elab *x, const AstStmt *s);
Core *call_extern(Elab *x, Scope *s, const Symbol *y, const Ast *a);
/* n is the vertex of equation s, of the program or in a def, whose nodes have this number or larger ones; NULL after a
 * complaint */
EinNode *elab_by(Elab *x, const AstStmt *s, EinNode *n, bool in_def, uint32_t first);
bool type_fits(Elab *x, const Core *c, int dtype, Span typed, Str state); /* elab.c: converts to that dtype
                                                                           * implicitly; state: the state it is for,
                                                                           * or NULL */
Bind *bind_new(Elab *x, Str name, Span span, Core *body, LabelSet labels, LabelVar **outer);
Bind *bind_apart(Elab *x, Scope *s, const Ast *a, Str name);
bool frame_equation(Elab *x, Scope *s, const AstStmt *e, Frame *f);
bool check_closed(Elab *x, const Core *c, const Frame *f, const Labels *own, uint32_t n_labels);

/* stated.c */
bool stated_fits(Elab *x, const AstStmt *def);                 /* checks the text, before any call; complains */
Core *stated_result(Elab *x, Scope *in, Core *c, uint32_t n_labels); /* a use of c, which becomes its own vertex */
bool is_stated(const Elab *x, const Frame *f, const Core *c);  /* whether c, an argument or the result, belongs to a
                                                                * call with a stated adjoint */
void stated_above(Elab *x, Bind *b);
void stated_adjoint(Elab *x, Bind *b);
void stated_rules(Elab *x);                                    /* for the current equation, once everything is
                                                                * lowered */

/* A reduction in the numbering of the vertex under construction. carried: what its reader must meet; own: what the
 * predicate needs. */
typedef struct Parts { const Expr *body, *where; DType acc; Obligation *carried, *own; } Parts;

/* monoid.c */
Core *monoid_side(Elab *x, const MonoidDef *m, const Ast *a, const DType *t); /* part of its definition, with operands
                                                                              * of these dtypes (NULL: it has none);
                                                                              * NULL after a complaint */
void monoid_complain_reads(Elab *x, const MonoidDef *m);
bool monoid_range(Elab *x, const MonoidDef *m, const DType *t, const Expr **out); /* over #0 to #(parts - 1); *out
                                                                * NULL: there is none; false after a complaint */
/* The operands of a reduction under construction must lie in the range: proved, or an assert. */
void monoid_range_check(
    Elab *x, const MonoidDef *m, const Expr *range, const Expr *const *body, const Parts *p, Span use);
bool monoid_type(Elab *x, const MonoidDef *m, Type body, Span use, DType *out); /* *out: the dtype over which it is
                                                                                 * closed */
const Monoid *monoid_at(Elab *x, const MonoidDef *m, DType t);

/* laws.c */
void monoid_laws(Elab *x, const Tuple *m);                    /* complains; of a monoid over values too: n is 1 */

/* lower.c */
Ex lower(Elab *x, Core *c, int widen);                        /* widen: a DType to which narrower reads are widened,
                                                               * or -1 */
EinNode *lower_equation(Elab *x, Str name, Core *body, LabelSet out, const uint8_t *merge, uint32_t rank,
                        int dtype, Span span);                 /* total; complains */
Ex ex_convert(Elab *x, Ex a, DType t);
const Expr *restriction(Elab *x, Ex p);                       /* the meaning of a lowered predicate */
const Expr *total(Elab *x, const Expr *pred, const Obligation *range);
Ex ex_read_of(Elab *x, EinNode *n, LabelSet labels, int widen, Span span); /* n at the current values of the labels */

/* tuple.c */
const Tuple *tuple_at(Elab *x, const MonoidDef *m, Core *const *body, Span use); /* NULL after a complaint */

/* tuple_lower.c */
Ex lower_tuple(Elab *x, Core *c);

/* reduce.c */
Ex lower_reduce(Elab *x, Core *c, int widen);
/* carried: pred and range of the result, by number of `out`; total: for an equation, which must have a value
 * everywhere */
EinNode *reduce_vertex(
    Elab *x, Core *c, LabelSet out, const uint8_t *merge, uint32_t rank, int dtype, Str name, bool total, Ex *carried);
bool reduce_is_one_vertex(const Core *c);
Parts parts_of_tuple(Elab *x, Core *c, const Expr **body); /* body: gets that of each component. Left of `??`, where
                                                            * includes that its reads are in range */
const Expr *domain_from(Elab *x, const Obligation *o);     /* all of them as one condition; NULL: none */

/* a vertex under construction (vertex.c) */
typedef struct Frozen { const Expr **was; LabelSet out, red, was_out, was_red; } Frozen;
Frozen labels_number(Elab *x, LabelSet out, LabelSet red);     /* gives labels their numbers in a new vertex */
void labels_restore(Elab *x, Frozen f);
/* Makes a vertex over x->out, x->red. */
EinNode *vertex_new(Elab *x, EinSum *draft, const uint8_t *merge, uint32_t rank, Str name, Span span);
const Expr *read_node(Elab *x, EinNode *n, uint32_t rank, const Expr *const *index);
Place place_of(Elab *x, Span s);
const Expr *at_labels(Elab *x, const Expr *e, LabelSet labels);         /* replaces label k by the current value of
                                                                         * labels.at[k] */
Obligation *needs_at_labels(Elab *x, const Obligation *o, LabelSet labels);

/* domain.c */
const Expr *implies(Elab *x, const Expr *guard, const Expr *cond); /* NULL: true everywhere */
const Expr *both(Elab *x, const Expr *a, const Expr *b);           /* a and b, without repetition */
Obligation *need(Elab *x, Obligation *rest, const Expr *cond, Need n, Span span);
Obligation *need_all(Elab *x, Obligation *a, Obligation *b);       /* a before b */
Obligation *need_guarded(Elab *x, const Expr *guard, Obligation *list);
const Expr *domain_of(Elab *x, Ex a);                              /* pred and every obligation, as one condition */
Facts facts_here(Elab *x, const Expr *hold);                       /* of the vertex being lowered */
bool mentions(const Expr *e, uint32_t from, uint32_t to);          /* whether it contains a label with a number in
                                                                    * [from, to) */
/* Turns obligations that hold for some sizes into checks, leaves those that depend on data to run time, and complains
 * about the rest that is not proved. */
void discharge_all(Elab *x, Obligation *list, Facts f, const char *what);
/* Returns the unproved obligations without reduced labels. Discharges the others, or returns them in *inside if it is
 * not NULL. */
Obligation *discharge(Elab *x, Obligation *list, Facts f, Obligation **inside);

/* defs.c */
void def_locals_check(Elab *x, const AstStmt *s);              /* `z[i] = e` in a def: the labels of z are those of e */
void def_names_check(Elab *x, const Symbol *y);                /* a def of the main file that nobody calls */
void adjoint_names_use(Elab *x, const Symbol *y);              /* what a stated adjoint that is ignored names is used */

/* loops.c, elab.c */
void elab_repeat(Elab *x, const AstStmt *s);
bool adjoint_names(const AstStmt *def, Str name); /* likewise, in a def's stated adjoint */
bool ast_names(const Ast *a, Str name); /* whether the name occurs anywhere in it */
/* For several left sides. elab_spoiled: whether the previous one has a complaint, so this one is skipped. elab_done:
 * records the outcome of this one. */
bool elab_spoiled(Elab *x, const AstStmt *s);
void elab_done(Elab *x, const AstStmt *s, uint32_t errors_before);
void elab_equation(Elab *x, const AstStmt *s);
typedef struct Left {
  Labels labels;
  LabelSet out;
  uint8_t *merge;
  uint32_t rank;
  Symbol *turn;
  uint32_t turn_axis;
  bool open;                 /* nothing is written: the labels are the free ones of the body */
  Span typed;                /* what determines the dtype, for messages */
  Str state;                 /* the state whose next it is, or NULL */
} Left;
bool left_from_items(Elab *x, const AstItems *items, Left *out, bool stacks);
void equation_begin(Elab *x, Str name);
/* Complains. name: NULL without a left side. */
bool core_closed(Elab *x, const Core *c, const Ast *e, LabelSet out, const char *name);
EinNode *elab_body(Elab *x, Str name, Left *l, const Ast *e, int dtype, Span span);

#endif
