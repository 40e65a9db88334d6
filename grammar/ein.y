/* grammar/ein.y - the grammar of Ein, for Lemon with -c (no default reductions). In come tokens with
 * newlines already decided (front/parse/parse.c); out go calls to front/parse/build.c, one an action. There are no
 * conflicts. RESYNC is a token that never comes: a state that could take it is one where a statement
 * may begin, and there the parser goes on after a mistake. */
%include {
#define NDEBUG 1 /* Lemon's tracing keeps a global */
#define YYNOERRORRECOVERY 1
#define EinParse_ENGINEALWAYSONSTACK 1
#include "front/parse/parse.h"
}

%name EinParse
%token_prefix T_
%token_type {Token}
%extra_context {Parse *p}
%default_type {Ast *}
%stack_size 20000
%start_symbol file

// as in front/parse/token.h, which the assertions at the end make sure of
%token NEWLINE ID INT REAL STRING CONST DTYPE REDUCER COUNT.
%token DIM INPUT PARAM OUTPUT STATE NEXT REPEAT UNTIL DEF MONOID IDENTITY EXTERN ADJOINT USE ASSERT FROM TO.
%token WHERE IF THEN ELSE OR AND NOT EQ NE LT LE GT GE PLUS MINUS STAR SLASH IDIV PERCENT CARET ORELSE.
%token ASSIGN COLON COMMA LP RP LB RB LC RC RESYNC.

// loosest first; REDUCER is the reach of a reducer, SIGN the unary minus
%right    ELSE.
%left     OR.
%left     AND.
%right    NOT.
%left     EQ NE LT LE GT GE.
%left     PLUS MINUS.
%right    REDUCER.
%left     STAR SLASH IDIV PERCENT.
%right    SIGN.
%right    CARET.
%left     ORELSE.

%stack_overflow { p->wrong.too_deep = true; }

// ---- a file

file ::= lines.
lines ::= .
lines ::= lines RESYNC.
lines ::= lines line(S) NEWLINE.                        { file_add(p, S); }

%type line {AstStmt *}
line(S) ::= DIM(F) dims(D).                             { S = build_decls(p, STMT_DIM, F, D, (Token){0}, NULL); }
line(S) ::= INPUT(F) decls(D) dtype(T) stored(R) default(E).
                                                        { S = build_decls(p, STMT_INPUT, F, D, T, E); stored_take(p, S, R); }
line(S) ::= PARAM(F) decls(D) dtype(T) stored(R) default(E).
                                                        { S = build_decls(p, STMT_PARAM, F, D, T, E); stored_take(p, S, R); }
line(S) ::= left(L) dtype(T) ASSIGN e(E) by(B).         { S = build_equation(p, STMT_EQUATION, (Token){0}, L, T, E); by_take(p, S, B); }
line(S) ::= sides(L) ASSIGN e(E).                       { S = build_sides(p, STMT_EQUATION, (Token){0}, L, E); }
line(S) ::= OUTPUT(F) left(L) dtype(T) stored(R) ASSIGN e(E) by(B).
                                                        { S = build_equation(p, STMT_EQUATION, F, L, T, E); stored_take(p, S, R); by_take(p, S, B); }
line(S) ::= OUTPUT(F) outputs(D).                       { S = build_decls(p, STMT_OUTPUT, F, D, (Token){0}, NULL); }
line(S) ::= repeat(R).                                  { S = R; }
line(S) ::= def(D).                                     { S = D; }
line(S) ::= def(D) ADJOINT(F) LP above(A) RP ASSIGN e(E).
                                                        { S = build_adjoint(p, D, F, A, NULL, E); }
line(S) ::= def(D) ADJOINT(F) LP above(A) RP ASSIGN results(E).
                                                        { S = build_adjoint(p, D, F, A, NULL, E); }
line(S) ::= def(D) ADJOINT(F) LP above(A) RP LC locals(B) e(E) NEWLINE RC.
                                                        { S = build_adjoint(p, D, F, A, B, E); }
line(S) ::= def(D) ADJOINT(F) LP above(A) RP LC locals(B) results(E) NEWLINE RC.
                                                        { S = build_adjoint(p, D, F, A, B, E); }
line(S) ::= def ADJOINT LP above RP LC locals RESYNC RC.
                                                        { S = NULL; } // likewise
line(S) ::= DEF ID labels LP params RP LC locals RESYNC RC.
                                                        { S = NULL; } // its last line was a mistake
line(S) ::= MONOID(F) ID(N) LP operand(A) COMMA operand(B) RP ASSIGN value(E) IDENTITY value(I) range(R).
                                                        { S = build_monoid(p, F, N, A, B, E, I, R); }
line(S) ::= EXTERN(F) DEF ID(N) LP takes(P) RP COLON DTYPE(T) ASSIGN STRING(C) source(I) cost(K).
                                                        { S = build_extern(p, F, N, P, T, C, I, K); }
line(S) ::= USE(F) ID|STRING(W).                        { S = build_use(p, F, W); }
line(S) ::= ASSERT(F) e(E) COMMA STRING(T).             { S = build_assert(p, F, E, T); }
line(S) ::= ASSERT(F) ID(O) sites(N) ID(W) COLON limits(L).
                                                        { S = build_limits(p, F, O, N, W, L); }

sites(A) ::= INT(N).                                    { A = build_number(p, N); }
sites(A) ::= ID(N).                                     { A = build_name(p, N); }
%type limits {uint32_t}
%type limit {AstLimit *}
limits(A) ::= limit(L).                                 { A = limits_first(p, L); }
limits(A) ::= limits(A) COMMA limit(L).                 { limits_add(p, L); }
limit(L) ::= ID(N) EQ|LT|LE|GT|GE(O) INT|REAL(X).       { L = build_limit(p, N, O, X, (Token){0}); }
limit(L) ::= ID(N) EQ|LT|LE|GT|GE(O) INT|REAL(X) ID(U). { L = build_limit(p, N, O, X, U); }

%type left {AstLeft *}
left(L) ::= ID(N).                                      { L = build_left(p, N, NULL); }
left(L) ::= ID(N) brackets(B).                          { L = build_left(p, N, B); }

%type sides {AstSide *}
sides(A) ::= left(L) dtype(T) COMMA left(M) dtype(U).   { A = side_first(p, L, T); side_add(p, A, M, U); }
sides(A) ::= sides(A) COMMA left(L) dtype(T).           { side_add(p, A, L, T); }

%type dtype {Token}
dtype(T) ::= .                                          { T = (Token){0}; }
dtype(T) ::= COLON DTYPE(D).                            { T = D; }

%type stored {AstStored *}
stored(R) ::= .                                         { R = NULL; }
stored(R) ::= FROM|TO(W) STRING(N).                     { R = build_stored(p, W, N, NULL); }
stored(R) ::= FROM|TO(W) STRING(N) brackets(B).         { R = build_stored(p, W, N, B); }

default(E) ::= .                                        { E = NULL; }
default(E) ::= ASSIGN e(A).                             { E = A; }

%type decls {uint32_t}
%type decl {AstDecl *}
decls(A) ::= decl(D).                                   { A = decls_first(p, D); }
decls(A) ::= decls(A) COMMA decl(D).                    { decls_add(p, D); }
decl(D) ::= ID(N).                                      { D = decl_of(p, N, NULL, NULL); }
decl(D) ::= ID(N) brackets(B).                          { D = decl_of(p, N, B, NULL); }

%type dims {uint32_t}
%type dim {AstDecl *}
dims(A) ::= dim(D).                                     { A = decls_first(p, D); }
dims(A) ::= dims(A) COMMA dim(D).                       { decls_add(p, D); }
dim(D) ::= ID(N).                                       { D = decl_of(p, N, NULL, NULL); }
dim(D) ::= ID(N) ASSIGN e(E).                           { D = decl_of(p, N, NULL, E); }

%type outputs {uint32_t}
outputs(A) ::= ID(N).                                   { A = decls_first(p, decl_of(p, N, NULL, NULL)); }
outputs(A) ::= outputs(A) COMMA ID(N).                  { decls_add(p, decl_of(p, N, NULL, NULL)); }

// ---- defs

%type def {AstStmt *}
def(S) ::= DEF(F) ID(N) labels(L) LP params(P) RP ASSIGN e(E).
                                                        { S = build_def(p, F, N, L, P, NULL, E); }
def(S) ::= DEF(F) ID(N) labels(L) LP params(P) RP ASSIGN results(E).
                                                        { S = build_def(p, F, N, L, P, NULL, E); }
def(S) ::= DEF(F) ID(N) labels(L) LP params(P) RP LC locals(B) results(E) NEWLINE RC.
                                                        { S = build_def(p, F, N, L, P, B, E); }
def(S) ::= DEF(F) ID(N) labels(L) LP params(P) RP LC locals(B) e(E) NEWLINE RC.
                                                        { S = build_def(p, F, N, L, P, B, E); }

%type above {uint32_t}
%type result {uint32_t}
above(A) ::= result(R).                                 { A = R; }
above(A) ::= above(A) COMMA result.
result(A) ::= ID(N).                                    { A = item_expr(p, build_name(p, N)); }
result(A) ::= ID(N) COLON ID(M).                        { A = item_sized(p, N, build_name(p, M)); }

%type labels {uint32_t}
labels(A) ::= .                                         { A = names_none(p); }
labels(A) ::= LB names(N) RB.                           { A = N; }
%type params {uint32_t}
params(A) ::= .                                         { A = names_none(p); }
params(A) ::= names(N).                                 { A = N; }
%type names {uint32_t}
names(A) ::= ID(N).                                     { A = names_first(p, N); }
names(A) ::= names(A) COMMA ID(N).                      { names_add(p, N); }

results(A) ::= LP(F) e(B) COMMA list(L) RP.             { A = build_results(p, F, B, L); }

// ---- monoids: of values, or of tuples

%type operand {uint32_t}
operand(A) ::= ID(N).                                   { A = names_first(p, N); }
operand(A) ::= LP names(N) RP.                          { A = N; }
value(A) ::= e(E).                                      { A = E; }
value(A) ::= results(E).                                { A = E; }
range(A) ::= .                                          { A = NULL; }
range(A) ::= WHERE e(E).                                { A = E; }

%type locals {AstBlock *}
locals(B) ::= .                                         { B = block_new(p); }
locals(B) ::= locals(B) RESYNC.
locals(B) ::= locals(B) local(S) NEWLINE.               { block_add(p, B, S); }
%type local {AstStmt *}
local(S) ::= left(L) dtype(T) ASSIGN e(E) by(B).        { S = build_equation(p, STMT_EQUATION, (Token){0}, L, T, E); by_take(p, S, B); }
local(S) ::= sides(L) ASSIGN e(E).                      { S = build_sides(p, STMT_EQUATION, (Token){0}, L, E); }

// ---- C functions

%type takes {uint32_t}
takes(A) ::= ID(N) COLON DTYPE(T).                      { A = takes_first(p, N, T); }
takes(A) ::= takes(A) COMMA ID(N) COLON DTYPE(T).       { takes_add(p, N, T); }
%type source {Token}
source(T) ::= .                                           { T = (Token){0}; }
source(T) ::= FROM STRING(S).                             { T = S; }
%type cost {AstCost *}
cost(K) ::= .                                           { K = NULL; }
cost(K) ::= ID(W) INT(N).                               { K = build_cost(p, W, N); }

%type by {AstBy *}
by(B) ::= .                                             { B = NULL; }
by(B) ::= EXTERN STRING(C) source(I) cost(K).           { B = build_by(p, C, I, K); }

// ---- loops

%type repeat {AstStmt *}
repeat(S) ::= REPEAT(F) ID(N) LT e(E) until(U) LC steps(B) RC.
                                                        { S = build_repeat(p, F, N, E, U, B); }
until(U) ::= .                                          { U = NULL; }
until(U) ::= UNTIL e(E).                                { U = E; }

%type steps {AstBlock *}
steps(B) ::= .                                          { B = block_new(p); }
steps(B) ::= steps(B) RESYNC.
steps(B) ::= steps(B) step(S) NEWLINE.                  { block_add(p, B, S); }
%type step {AstStmt *}
step(S) ::= left(L) dtype(T) ASSIGN e(E) by(B).         { S = build_equation(p, STMT_EQUATION, (Token){0}, L, T, E); by_take(p, S, B); }
step(S) ::= sides(L) ASSIGN e(E).                       { S = build_sides(p, STMT_EQUATION, (Token){0}, L, E); }
step(S) ::= NEXT(F) sides(L) ASSIGN e(E).               { S = build_sides(p, STMT_NEXT, F, L, E); }
step(S) ::= STATE(F) left(L) dtype(T) ASSIGN e(E).      { S = build_equation(p, STMT_STATE, F, L, T, E); }
step(S) ::= NEXT(F) left(L) dtype(T) ASSIGN e(E) by(B). { S = build_equation(p, STMT_NEXT, F, L, T, E); by_take(p, S, B); }
step(S) ::= repeat(R).                                  { S = R; }

// ---- brackets

%type brackets {Brackets *}
brackets(B) ::= LB items(I) RB.                         { B = brackets_of(p, I, NULL); }
%type restricted {Brackets *}
restricted(B) ::= LB items(I) WHERE e(E) RB.            { B = brackets_of(p, I, E); }

%type items {uint32_t}
items(A) ::= item(I).                                   { A = I; }
items(A) ::= items(A) COMMA item.

%type item {uint32_t}
item(A) ::= e(E).                                       { A = item_expr(p, E); }
item(A) ::= ID(N) COLON e(E).                           { A = item_sized(p, N, E); }
item(A) ::= ID(N) ASSIGN e(E).                          { A = item_bind(p, N, E); }
item(A) ::= LP(F) group(G) RP.                          { A = item_group(p, F, G); }

%type group {uint32_t}
%type part {uint32_t}
group(G) ::= part(A) part.                              { G = A; }
group(G) ::= group(G) part.
part(A) ::= ID(N).                                      { A = item_expr(p, build_name(p, N)); }
part(A) ::= ID(N) COLON e(E).                           { A = item_sized(p, N, E); }

// ---- expressions

e(A) ::= primary(P).                                    { A = P; }
e(A) ::= e(B) ORELSE(O) fallback(C).                    { A = build_or_else(p, B, O, C); }
e(A) ::= e(B) CARET(O) e(C).                            { A = build_binary(p, B, O, C); }
e(A) ::= MINUS(O) e(B). [SIGN]                          { A = build_prefix(p, AST_NEG, O, B); }
e(A) ::= e(B) STAR|SLASH|IDIV|PERCENT(O) e(C).          { A = build_binary(p, B, O, C); }
e(A) ::= REDUCER(R) reach(B) e(C). [REDUCER]            { A = build_reduce(p, R, (Token){0}, B, C); }
e(A) ::= REDUCER(R) COLON DTYPE(T) reach(B) e(C). [REDUCER]
                                                        { A = build_reduce(p, R, T, B, C); }
e(A) ::= e(B) PLUS|MINUS(O) e(C).                       { A = build_binary(p, B, O, C); }
e(A) ::= e(B) EQ|NE|LT|LE|GT|GE(O) e(C).                { A = build_binary(p, B, O, C); }
e(A) ::= NOT(O) e(B).                                   { A = build_prefix(p, AST_NOT, O, B); }
e(A) ::= e(B) AND(O) e(C).                              { A = build_binary(p, B, O, C); }
e(A) ::= e(B) OR(O) e(C).                               { A = build_binary(p, B, O, C); }
e(A) ::= IF(F) e(C) THEN e(B) ELSE e(D). [ELSE]         { A = build_if(p, F, C, B, D); }

fallback(A) ::= primary(P).                             { A = P; }
fallback(A) ::= MINUS(O) primary(P).                    { A = build_prefix(p, AST_NEG, O, P); }

%type reach {Brackets *}
reach(A) ::= brackets(B).                               { A = B; }
reach(A) ::= restricted(B).                             { A = B; }

primary(A) ::= INT|REAL(T).                             { A = build_number(p, T); }
primary(A) ::= CONST(T).                                { A = build_constant(p, T); }
primary(A) ::= ID(N).                                   { A = build_name(p, N); }
primary(A) ::= ID(N) brackets(B).                       { A = build_index(p, N, B); }
primary(A) ::= ID(N) LP args(X) RP.                     { A = build_call(p, N, NULL, X); }
primary(A) ::= ID(N) brackets(B) LP args(X) RP.         { A = build_call(p, N, B, X); }
primary(A) ::= ID(N) restricted(B) LP args(X) RP.       { A = build_call(p, N, B, X); }
primary(A) ::= LB(F) list(L) RB.                        { A = build_list(p, F, L); }
primary(A) ::= LB(F) list(L) COMMA RB.                  { A = build_list(p, F, L); }
primary(A) ::= LP(F) e(E) RP.                           { A = build_paren(p, F, E); }
primary(A) ::= LP(F) e(E) RP brackets(B).               { A = build_subst(p, F, E, B); }
primary(A) ::= DTYPE(T) LP e(E) RP.                     { A = build_cast(p, T, E); }
primary(A) ::= REDUCER(R) LP args(X) RP.                { A = build_reduce_call(p, R, (Token){0}, X); }
primary(A) ::= REDUCER(R) COLON DTYPE(T) LP args(X) RP. { A = build_reduce_call(p, R, T, X); }
primary(A) ::= COUNT(R) reach(B).                       { A = build_reduce(p, R, (Token){0}, B, NULL); }

%type args {uint32_t}
%type list {uint32_t}
args(A) ::= .                                           { A = args_none(p); }
args(A) ::= list(L).                                    { A = L; }
list(A) ::= e(E).                                       { A = args_first(p, E); }
list(A) ::= list(A) COMMA e(E).                         { args_add(p, E); }

%code {
#define SAME(id, name, facts) _Static_assert((int)T_##id == (int)TOK_##id, "the order of front/parse/token.h");
TOKENS(SAME)
#undef SAME

struct Grammar { yyParser lemon; };

Grammar *grammar_new(Parse *p) {
  Grammar *g = NEW(p->arena, Grammar);
  EinParseInit(&g->lemon, p);
  return g;
}

/* Plays the token on a copy of the stack's top: reductions pop states of the true stack, and pushed
 * ones live in `over` above what is left of it. */
bool grammar_accepts(const Grammar *g, int kind) {
  enum { MOST = 64 };
  YYACTIONTYPE over[MOST];
  const yyStackEntry *base = g->lemon.yytos;
  for (int n = 0;;) {
    YYACTIONTYPE act = yy_find_shift_action((YYCODETYPE)kind, n ? over[n - 1] : base->stateno);
    if (act < YY_MIN_REDUCE) return act <= YY_MAX_SHIFTREDUCE || act == YY_ACCEPT_ACTION;
    unsigned rule = act - YY_MIN_REDUCE;
    for (int pop = -yyRuleInfoNRhs[rule]; pop > 0; pop--) n ? (void)n-- : (void)base--;
    if (n == MOST) return false;
    YYACTIONTYPE below = n ? over[n - 1] : base->stateno;
    over[n++] = yy_find_reduce_action(below, yyRuleInfoLhs[rule]);
  }
}

void grammar_take(Grammar *g, Token t) {
  EinParse(&g->lemon, t.kind, t);
}

uint32_t grammar_resync(Grammar *g) {
  yyParser *y = &g->lemon;
  while (y->yytos > y->yystack) {
    if (y->yytos->stateno <= YY_MAX_SHIFT && grammar_accepts(g, T_RESYNC)) break;
    y->yytos--;
  }
  uint32_t braces = 0;
  for (const yyStackEntry *s = y->yystack; s <= y->yytos; s++) braces += s->major == T_LC;
  return braces;
}
}
