/* front/elab/elab.h - inside elaboration: what its files share, and nobody else sees.
 *
 * An equation goes AST -> Core -> vertices. Making Core resolves names, expands defs, and types every
 * node; it also writes down what each label's extent must be. When the equation is whole, extents are
 * solved (extents.c), and lowering (lower.c) turns Core into scalar expressions and vertices, carrying
 * for each expression where it has a value (domain.c).
 *
 *   symbols.c  names and scopes        types.c    dtype rules        core.c    AST -> Core
 *   calls.c    defs, functions         extents.c  label extents      lower.c   Core -> EinGraph
 *   reduce.c   reducers as vertices    domain.c   what has a value   loops.c   repeat
 *   defs.c     names in a def's body      vertex.c   a vertex in the making
 *   extern.c   C functions
 *   stated.c   adjoints that defs state
 *   monoid.c   users' monoids          grad.c     gradients         elab.c   statements, and the door graph_from_ast */
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

/* ---- types: a dtype and how firmly it is held ------------------------------------------------ */
typedef enum { FIRM, WEAK_LITERAL, WEAK_INDEX, WEAK_REAL } Weak; /* a number; a label, dim or size; a float */
typedef struct Type { DType dtype; Weak weak; } Type;
Type type_firm(DType t);
Type type_settle(Type t);                      /* what an equation of that type stores */
Type type_join(Type a, Type b);                /* operands of arithmetic, branches of an if; bool joins only bool */
Type type_arith(Type t);                       /* bool counts as i64 */
Type type_real(Type t);                        /* argument and result of a real function */
DType type_acc(Reducer r, Type body, int acc); /* what a reducer over such a body accumulates in */
Type type_reduced(Reducer r, Type body, int acc);
Type type_op(Op op, uint32_t n, const Type *arg, Type *operand); /* the result's, and what the operands are converted to */

/* ---- labels ---------------------------------------------------------------------------------- */
typedef struct ExtentFact { const Expr *extent; Span span; const char *from; } ExtentFact;
struct LabelVar {
  Str name;
  Span span;
  LabelVar *same;            /* union-find: towards the root; NULL at a root */
  VEC(ExtentFact) facts;     /* at the root: what says how large it is */
  const Expr *extent;        /* at the root, once solved */
  bool left, used, failed;   /* on an equation's left; occurs in a body; already complained about */
  bool listed;               /* stands in the brackets of a reducer or a call */
  const Ast *reduced;        /* the last reducer that binds it, for messages */
  const struct Frame *frame; /* the def that it was made in, for messages */
  Labels *level;             /* the argument whose own label it is; NULL: the equation's */
  const Expr *value;         /* while lowering: what stands for it in the vertex at hand */
  uint32_t seen;             /* stamp of set operations */
};
LabelVar *label_root(LabelVar *v);
typedef struct GroupFact { LabelVar **part; uint32_t n; const Expr *total; Span span; const char *from; bool divided; } GroupFact;

typedef struct LabelSet { LabelVar **at; uint32_t n; } LabelSet; /* immutable; in order of first occurrence */

/* One flat map of label names: an equation's, a def expansion's, or an argument's. An argument is an equation of its
 * own: each label that it mentions is a new one, linked to the one of that name where it stands. */
struct Labels {
  Map map;                   /* Str -> LabelVar (not for an argument's) */
  Labels *level;             /* a def expansion's: the argument that the call stands in, or NULL */
  Labels *outer;             /* an argument's: the labels where it stands */
  Map link;                  /*   LabelVar there -> LabelVar here */
  VEC(LabelVar *) fresh, origin; /* all made so far, and the label there of each */
};

/* ---- Core: an expression with every name resolved and every type known ------------------------ */
typedef enum {
  CORE_CONST,    /* e: a literal, dim or other label-free exact expression (i64, f64 or bool) */
  CORE_LABEL,    /* label, as a number */
  CORE_SIZE,     /* label's extent */
  CORE_TURN,     /* a loop's counter: depth i */
  CORE_READ,     /* tensor, arg: one index a dimension (CORE_GROUP for a group) */
  CORE_GROUP,    /* labels, merged row-major */
  CORE_OP,       /* op, arg */
  CORE_SELECT,   /* if arg0 then arg1 else arg2 */
  CORE_OR_ELSE,  /* arg0 ?? arg1 */
  CORE_CAST,     /* to type.dtype */
  CORE_REDUCE,   /* reducer over labels of arg0, where arg1 (or NULL) */
  CORE_USE,      /* bind, arg: one index for each of the bind's labels */
  CORE_RESTRICT, /* arg0 where arg1 */
  CORE_RANDOM,   /* op over labels, arg0: seed */
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
  const Extern *external;
  int acc;                   /* DType said by sum:f64, or -1 */
  int64_t i;
  const Expr *e;
  LabelVar *label;
  LabelSet labels;
  EinNode *tensor; Str name; /* name: what the user calls it */
  Bind *bind;
  Span op_span;
  const struct Frame *frame; /* the def that it was made in, for messages */
  bool in_def;
  bool covered;              /* left of some `??`, which asks where it has no value */
  uint32_t n;
  Core **arg;
};

/* An argument, a local equation, or (e)[j = ...]: computed once, as a vertex of its own, when first needed. */
struct Bind {
  Str name;
  Span span;
  Core *body;
  LabelSet labels;           /* its own labels, in the order of the vertex's */
  LabelVar **outer;          /* for each, the label of the same name where it is used as it stands */
  uint32_t in_line;          /* not 0: a plain read, put in wherever it is used, no vertex */
  bool used, covered;        /* covered: one of its uses is */
  enum { BIND_VALUE, BIND_ABOVE, BIND_ADJOINT, BIND_NOTHING } role; /* in a stated adjoint: of the result; of a parameter; of a result not taken */
  struct Stated *stated;     /* what it belongs to, or NULL: to the program */
  EinNode *node;             /* once lowered, with */
  const Expr *pred;          /*   the predicates that travel with it, over its labels by number, */
  struct Obligation *range;  /*   and what else must hold for it to have a value */
  EinRegion *region;
};

/* A call of a def that states its adjoint, where the program asks for gradients. */
typedef struct Stated {
  const AstStmt *def;
  Bind *result, *above;
  uint32_t n;                /* parameters that are float tensors: */
  Bind **param, **adjoint;
  EinRegion *region;         /* where the adjoint's vertices go: apart from the program */
} Stated;

/* ---- where there is a value ------------------------------------------------------------------- */
typedef enum { NEED_RANGE, NEED_NONEMPTY, NEED_VALUE, NEED_FITS } Need;
typedef struct Obligation Obligation;
struct Obligation {          /* a list; each holds or the expression has no value */
  Obligation *next;
  const Expr *cond;
  const Expr *plain;         /* cond without the conditions under which it is needed */
  Need need;
  Span span, whole;          /* the place; of a reduction, all of it */
  const struct Frame *frame; /* the def that it stands in, for messages */
  Str name; uint32_t axis;   /* NEED_RANGE: which tensor, which dimension; what is read there, */
  Span read; DType dtype;    /*   and its dtype; */
  Str label;                 /*   for a substitution, what it is put for; else NULL */
  bool low, high;            /*   which bounds are not proved */
  const Expr *index, *extent;
  bool asked;                /* cond reads a vertex that looks at all that is reduced; then also */
  Verdict verdict;           /*   what the prover said of what it looks at, */
  const Expr *condition;     /*   and the condition over dims */
  bool gather;               /* the index comes from data: checked when it runs */
};
typedef struct Ex {          /* a lowered expression */
  const Expr *e;
  Type type;
  const Expr *pred;          /* predicates travelling with it; NULL: none */
  Obligation *range;
} Ex;

/* ---- symbols ---------------------------------------------------------------------------------- */
typedef enum { SYM_DIM, SYM_TENSOR, SYM_TURN, SYM_DEF, SYM_MONOID, SYM_EXTERN, SYM_STACK } SymKind;
typedef struct Symbol {
  SymKind kind;
  Str name;
  Span span;
  uint32_t order;            /* known from its definition on */
  bool used, output, quiet;  /* quiet: no warning if unused */
  Span outputs, next;        /* where it is said to be an output; a state's next */
  bool turns;                /* TENSOR: the number of turns that a loop made; a later loop may take the name again */
  const AstItems *axes;      /* TENSOR: as written where it is defined, or NULL */
  struct Symbol *older;      /* the first of the same name in the same table: what stands between still sees it */
  const Expr *size;          /* DIM */
  EinNode *node;             /* TENSOR */
  int64_t depth;             /* TURN */
  const AstStmt *stmt;       /* DEF, MONOID, EXTERN, STATE */
  const Extern *external;    /* EXTERN; NULL: what is said of it was complained about */
  const struct MonoidDef *monoid;
  struct Block *block;       /* TENSOR that is a state: its block */
  int32_t state;             /*   its number there, or -1 */
} Symbol;
typedef struct SymTable { Map map; struct SymTable *parent; VEC(Symbol *) all; } SymTable;

typedef struct MonoidDef { const AstStmt *stmt; Map made; } MonoidDef;

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
  struct Frame *parent;      /* the def being expanded around it (for messages and depth) */
  const AstStmt *def;
  const Ast *result;         /* what it gives; of several results the one that is taken */
  uint32_t order;            /* symbols later than the def are not visible */
  VEC(Local) locals;
  struct { LabelSet labels; Bind *pred; } restricted; /* f[t where p]: pred NULL if none */
  Span call;
  uint32_t depth;
} Frame;

/* The context of one expression being made into Core. */
typedef struct Scope {
  Labels *labels;
  Frame *frame;              /* NULL at top level */
  LabelSet reduced;          /* labels bound by reducers around, for sum(e) and the reach rule */
  const Span *reach;         /* the enclosing unparenthesised reducer's word, or NULL */
  bool index;                /* between [ ]: a bare name is a label sooner than a tensor */
  const struct Scope *outside; /* of an argument: where it stands */
  uint32_t depth;
} Scope;

typedef struct Guard { Core *cond; bool not; const struct Guard *outer; } Guard;

typedef struct NamedExtern { const Extern *is; Span at; } NamedExtern;

struct Elab {
  Front *front;
  const Program *program;
  Arena *arena;
  Strings *strings;
  Exprs *exprs;
  Diags *diags;
  EinGraph *graph;
  const DimValues *dims;
  SymTable top, *syms;       /* syms: the innermost */
  Map lost;                  /* Str -> Symbol: what statements that did not parse may have defined; silent wherever used */
  const AstStmt *spoiled;    /* an equation that is written with one that has been complained about; NULL: none */
  Block *block;              /* NULL at top level */
  EinRegion *region;         /* where vertices go now */
  VEC(const Expr *) hold;    /* asserts over dims */
  VEC(const Expr *) turns;   /* extents of the enclosing loops' counters (NULL: unknown) */
  VEC(NamedExtern) named;    /* C functions, and where they are named */
  VEC(LabelVar *) vars;      /* of the equation at hand */
  VEC(GroupFact) groups;     /* likewise */
  VEC(Bind *) binds;         /*   and its binds, each after those it uses */
  VEC(Stated *) stated;      /* likewise */
  Stated *stating;           /* whose adjoint is being made, or NULL */
  VEC(EinNode *) by_id;      /* while lowering, a read's slot is its node's id */
  LabelSet out, red;         /* labels of the vertex being lowered, numbered in this order */
  Gradients *gradients;      /* NULL until the first is asked for */
  bool asks_gradients;       /* there is a `grad` somewhere */
  const struct Guard *guard; /* the conditions of the `if`s around what is being lowered, the innermost first */
  uint32_t stamp, order, expansions;
  uint32_t first_node;       /* the equation's own vertices have this number, or larger ones */
  Str equation;              /* name of the equation at hand: its anonymous vertices are called after it */
  const Frame *frame;        /* the def being expanded, or NULL */
  bool module;               /* the statements at hand come from a used file */
  bool failed;               /* the equation at hand has an error: do not lower it */
};

/* symbols.c */
Symbol *symbol_find(Elab *x, Str name, uint32_t before_order);
Symbol *symbol_add(Elab *x, SymKind kind, AstName name); /* complains if taken; the symbol is usable anyway */
bool name_is_builtin(Str name);
const char *nearest_name(Elab *x, Str name, const Frame *f); /* NULL if nothing is near */
const char *source_text(Elab *x, Span s);                    /* as written; "..." if that is long */
bool diag_unknown(Elab *x, Diag *d, AstName name, const Frame *f); /* what is known about a name that is not known here */
bool span_holds(Span all, Span one);                              /* is one inside of all? */
bool complain_truth(Elab *x, AstName name);                  /* unknown.c: of `True` and the like; false: it is none */
bool hint_name(Elab *x, Diag *d, AstName name);              /* unknown.c: what it may be elsewhere */
bool hint_matrix_power(Elab *x, Diag *d, const Symbol *y, Span name); /*   likewise, of `A^-1` */
bool hint_foreign(Elab *x, Diag *d, const Ast *call);        /*   likewise, of a function */
bool hint_call(Elab *x, Diag *d, const Ast *call);           /*   or in which module */
const char *size_elsewhere(Elab *x, Str label);             /*   likewise, of a label's size; NULL: nothing, or one thing here and another there */
bool hint_turn(Elab *x, Diag *d, Str name, Span at);         /*   likewise, of a loop variable out of its turns */
void diag_called(Elab *x, Diag *d, const Frame *f);          /* where the def is called that the complaint is about */
void warn_unused(Elab *x, const SymTable *t);
void warn_narrow(Elab *x);                                   /* narrow.c: inputs that round their default for no reason */

/* labels: extents.c */
LabelVar *label_new(Elab *x, Str name, Span span);
LabelVar *label_get(Elab *x, Labels *l, Str name, Span span);   /* made where it is not there */
LabelVar *label_find(Labels *l, Str name);                       /* NULL where it was not mentioned yet */
bool label_known(const Labels *l, Str name);                     /* mentioned, here or around an argument */
LabelVar *label_here(Elab *x, Labels *l, LabelVar *v);           /* v, of the defs or equation around, as seen from here */
void label_unify(LabelVar *a, LabelVar *b, Arena *arena);
void label_sized_outside(Elab *x, LabelVar *outside, LabelVar *v); /* v, an argument's own, where nothing in there says its size */
void label_fact(Elab *x, LabelVar *v, const Expr *extent, Span span, const char *from);
void group_fact(Elab *x, LabelSet parts, const Expr *total, Span span, const char *from);
const char *extent_text(Elab *x, const Expr *e);                 /* to a user */
bool extents_solve(Elab *x);  /* of all labels of the equation at hand; complains */
LabelSet set_one(Elab *x, LabelVar *v);
LabelSet set_union(Elab *x, LabelSet a, LabelSet b);
LabelSet set_minus(Elab *x, LabelSet a, LabelSet b);
bool set_has(LabelSet s, const LabelVar *v);

/* core.c */
Core *core_new(Elab *x, CoreKind k, Span span, Type t, LabelSet free);
Core *core_with(Elab *x, CoreKind k, Span span, Type t, uint32_t n, Core **arg); /* the labels of its arguments */
Core *core_from_ast(Elab *x, Scope *s, const Ast *a);          /* NULL after a complaint */
Core *core_label(Elab *x, LabelVar *v, Span span);
Core *core_const(Elab *x, const Expr *e, Type t, Span span);
Core *core_op(Elab *x, Op op, Span span, uint32_t n, Core **arg); /* checks types */
const Expr *size_from_ast(Elab *x, Scope *s, const Ast *a);    /* a dim expression; NULL after a complaint */
bool item_is_size(Elab *x, Scope *s, const Ast *a);            /* made of numbers, dims and such parameters only */
const char *type_name(Type t);                                 /* to a user */
bool want_bool(Elab *x, const Core *c, Span op, const char *what); /* complains; op: the word that wants it, or nowhere */
bool want_integer(Elab *x, const Core *c, const char *what);   /* complains */
bool literal_fits(Elab *x, const Core *c, Type with, Span beside); /* complains */
const char *shape_form(Elab *x, const Symbol *y);              /* "X[i, j]", with its labels where it has some */
Span free_place(const Core *c, const LabelVar *v);             /* where v is used and not bound */
Str item_label(const AstItem *it);                             /* NULL: it is none */
bool labels_from_items(Elab *x, Scope *s, const AstItems *items, LabelSet *out, const char *who, bool groups);
Local *frame_find(Frame *f, Str name);

Core *core_tensor(Elab *x, Scope *s, const Symbol *y, const Ast *a); /* y, read at a's items */
Core *complain_rank(Elab *x, const Symbol *y, const Ast *a); /* it has other dimensions than indices stand there */

/* elab.c */
EinNode *scalar_made(Elab *x, const Ast *e);                   /* an equation without labels or name; NULL after a complaint */

/* grad.c */
Core *core_grad(Elab *x, Scope *s, const Ast *a);

/* core_reduce.c */
Core *core_reduce(Elab *x, Scope *s, const Ast *a);

/* calls.c */
bool wants_brackets(Elab *x, const Ast *a, bool wanted, const char *form);
bool wants_args(Elab *x, const Ast *a, uint32_t n, const char *form);
const char *call_form(Elab *x, const AstStmt *d);              /* "softmax[j](x)", of a def or monoid */
bool complain_function(Elab *x, AstName n);                    /* where it stands without its arguments; false: it is no function */
Core *core_from_call(Elab *x, Scope *s, const Ast *a);
Core *core_from_subst(Elab *x, Scope *s, const Ast *a);
Core *core_use(Elab *x, Scope *s, Bind *b, Span span);         /* as it stands */
Core *core_restrict(Elab *x, Scope *s, Core *c);               /* by the label predicates of the defs around */
Core *reduce_restrict(Elab *x, Scope *s, LabelSet labels, Core *where, Span span);

/* extern.c */
void elab_extern(Elab *x, const AstStmt *s);
Core *call_extern(Elab *x, Scope *s, const Symbol *y, const Ast *a);
EinNode *elab_by(Elab *x, const AstStmt *s, EinNode *n); /* n is an equation's vertex; NULL after a complaint */
bool type_fits(Elab *x, const Core *c, int dtype, Span typed, Str state); /* elab.c: becomes that dtype by itself; state: what it is for, or NULL */
Bind *bind_new(Elab *x, Str name, Span span, Core *body, LabelSet labels, LabelVar **outer);
Bind *bind_apart(Elab *x, Scope *s, const Ast *a, Str name);
bool frame_equation(Elab *x, Scope *s, const AstStmt *e, Frame *f);
bool check_closed(Elab *x, const Core *c, const Frame *f, const Labels *own, uint32_t n_labels);

/* stated.c */
bool stated_fits(Elab *x, const AstStmt *def);                 /* what is written, before any call; complains */
Core *stated_result(Elab *x, Scope *in, Core *c, uint32_t n_labels); /* a use of c, which then is a vertex of its own */
bool is_stated(const Elab *x, const Frame *f, const Core *c);  /* is c, an argument or the result, one that it is about? */
void stated_above(Elab *x, Bind *b);
void stated_adjoint(Elab *x, Bind *b);
void stated_rules(Elab *x);                                    /* of the equation at hand, once all is lowered */

/* monoid.c */
bool monoid_type(Elab *x, const MonoidDef *m, Type body, Span use, DType *out); /* the dtype that it is closed over */
const Monoid *monoid_at(Elab *x, const MonoidDef *m, DType t);

/* lower.c */
Ex lower(Elab *x, Core *c, int widen);                        /* widen: a DType that narrower reads are widened to, or -1 */
EinNode *lower_equation(Elab *x, Str name, Core *body, LabelSet out, const uint8_t *merge, uint32_t rank,
                        int dtype, Span span);                 /* total; complains */
Ex ex_convert(Elab *x, Ex a, DType t);
const Expr *restriction(Elab *x, Ex p);                       /* what a lowered predicate says */
const Expr *total(Elab *x, const Expr *pred, const Obligation *range);
Ex ex_read_of(Elab *x, EinNode *n, LabelSet labels, int widen, Span span); /* n at the labels' values here */

/* reduce.c */
Ex lower_reduce(Elab *x, Core *c, int widen);
/* carried: pred and range of the result, by number of `out`; total: an equation's, where nothing may be without value */
EinNode *reduce_vertex(Elab *x, Core *c, LabelSet out, const uint8_t *merge, uint32_t rank, int dtype, Str name, bool total,
                       Ex *carried);
bool reduce_is_one_vertex(const Core *c);

/* a vertex under construction (vertex.c) */
typedef struct Frozen { const Expr **was; LabelSet out, red, was_out, was_red; } Frozen;
Frozen labels_number(Elab *x, LabelSet out, LabelSet red);     /* labels get their numbers in a new vertex */
void labels_restore(Elab *x, Frozen f);
EinNode *vertex_new(Elab *x, EinSum *draft, const uint8_t *merge, uint32_t rank, Str name, Span span); /* over x->out, x->red */
const Expr *read_node(Elab *x, EinNode *n, uint32_t rank, const Expr *const *index);
Place place_of(Elab *x, Span s);
const Expr *at_labels(Elab *x, const Expr *e, LabelSet labels);         /* label k becomes the value of labels.at[k] here */
Obligation *needs_at_labels(Elab *x, const Obligation *o, LabelSet labels);

/* domain.c */
const Expr *implies(Elab *x, const Expr *guard, const Expr *cond); /* NULL: true, everywhere */
const Expr *both(Elab *x, const Expr *a, const Expr *b);           /* a and b, without saying anything twice */
Obligation *need(Elab *x, Obligation *rest, const Expr *cond, Need n, Span span);
Obligation *need_all(Elab *x, Obligation *a, Obligation *b);       /* a before b */
Obligation *need_guarded(Elab *x, const Expr *guard, Obligation *list);
const Expr *domain_of(Elab *x, Ex a);                              /* pred and every obligation, as one condition */
Facts facts_here(Elab *x, const Expr *hold);                       /* of the vertex being lowered */
bool mentions(const Expr *e, uint32_t from, uint32_t to);          /* a label with number in [from, to) */
/* What holds for some sizes becomes a check, what data decide is left to the run, what else is not proved is complained about. */
void discharge_all(Elab *x, Obligation *list, Facts f, const char *what);
/* What is not proved and mentions no reduced label. The rest is discharged like that, but with `inside` it is left there. */
Obligation *discharge(Elab *x, Obligation *list, Facts f, Obligation **inside);

/* defs.c */
void def_names_check(Elab *x, const Symbol *y);                /* a def of the main file that nobody calls */

/* loops.c, elab.c */
void elab_repeat(Elab *x, const AstStmt *s);
bool adjoint_names(const AstStmt *def, Str name); /* likewise, in a def's stated adjoint */
bool ast_names(const Ast *a, Str name); /* does it stand in it anywhere? */
/* Of several left sides: whether the one before this has been complained about, and so this is left alone; and what came of this one. */
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
  bool open;                 /* nothing is written: the labels are those that the body leaves free */
  Span typed;                /* what says the dtype, for messages; */
  Str state;                 /*   the state whose next it is, or NULL */
} Left;
bool left_from_items(Elab *x, const AstItems *items, Left *out, bool stacks);
void equation_begin(Elab *x, Str name);
bool core_closed(Elab *x, const Core *c, const Ast *e, LabelSet out, const char *name); /* complains; name: NULL without a left side */
EinNode *elab_body(Elab *x, Str name, Left *l, const Ast *e, int dtype, Span span);

#endif
