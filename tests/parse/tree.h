/* tests/parse/tree.h - a syntax tree as text. In: an AstFile; out: one line per statement (the contents of blocks are
 * indented), with expressions in prefix form. Prints all of the tree except spans: equal texts are equal trees. A loop
 * walks left-deep chains of operators; everything else is at most AST_DEPTH deep. */
#ifndef EIN_TEST_TREE_H
#define EIN_TEST_TREE_H

#include "front/ast.h"

#include <inttypes.h>

static void print_expr(Buf *b, const Ast *e);

static void print_items(Buf *b, const AstItems *v);

static void print_item(Buf *b, const AstItem *i) {
  switch (i->kind) {
  case ITEM_EXPR: print_expr(b, i->e); break;
  case ITEM_SIZED:
    buf_printf(b, "%s:", i->name.s->s);
    print_expr(b, i->e);
    break;
  case ITEM_BIND:
    buf_printf(b, "%s=", i->name.s->s);
    print_expr(b, i->e);
    break;
  case ITEM_GROUP:
    buf_str(b, "(group");
    for (uint32_t k = 0; k < i->part.len; k++) {
      buf_char(b, ' ');
      print_item(b, &i->part.at[k]);
    }
    buf_char(b, ')');
    break;
  }
}

static void print_items(Buf *b, const AstItems *v) {
  buf_char(b, '[');
  for (uint32_t i = 0; i < v->len; i++) {
    if (i) buf_char(b, ' ');
    print_item(b, &v->at[i]);
  }
  buf_char(b, ']');
}

/* [items] or [items where p] */
static void print_brackets(Buf *b, const Ast *e) {
  print_items(b, &e->items);
  if (!e->where) return;
  b->len--;
  buf_str(b, " where ");
  print_expr(b, e->where);
  buf_char(b, ']');
}

/* " a", if there is one. */
static void print_part(Buf *b, const Ast *e) {
  if (!e) return;
  buf_char(b, ' ');
  print_expr(b, e);
}

static const char *chain_sign(const Ast *e) {
  return e->kind == AST_OR_ELSE ? "?\?" : op_info[e->op].sign;
}

static void print_chain(Buf *b, const Ast *e) {
  uint32_t n = 0;
  const Ast *first = e;
  for (; ast_is_chain(first); first = first->a) n++;
  const Ast **link = NEW_ARRAY(b->arena, const Ast *, n);
  for (uint32_t i = n; i-- > 0; e = e->a) link[i] = e;
  for (uint32_t i = n; i-- > 0;) buf_printf(b, "(%s ", chain_sign(link[i]));
  print_expr(b, first);
  for (uint32_t i = 0; i < n; i++) {
    print_part(b, link[i]->b);
    buf_char(b, ')');
  }
}

static void print_call(Buf *b, const Ast *e) {
  buf_printf(b, "(%s", e->name.s->s);
  if (e->result) buf_printf(b, ".%u/%u", e->result, e->results);
  if (e->bracketed) print_brackets(b, e);
  for (uint32_t i = 0; i < e->args.len; i++) print_part(b, e->args.at[i]);
  buf_char(b, ')');
}

static void print_reduce(Buf *b, const Ast *e) {
  buf_printf(b, "(%s", reducer_info[e->op].name);
  if (e->acc >= 0) buf_printf(b, ":%s", dtype_name((DType)e->acc));
  if (e->call_form)
    buf_str(b, " all:");
  else
    print_brackets(b, e);
  print_part(b, e->a);
  buf_char(b, ')');
}

static void print_prefix(Buf *b, const char *op, const Ast *e) {
  buf_printf(b, "(%s", op);
  print_part(b, e->a);
  print_part(b, e->b);
  print_part(b, e->c);
  buf_char(b, ')');
}

static void print_expr(Buf *b, const Ast *e) {
  switch (e->kind) {
  case AST_INT:
    if (e->big)
      buf_str(b, "9223372036854775808");
    else
      buf_printf(b, "%" PRId64, e->i);
    break;
  case AST_REAL: double_print(b, e->f); break;
  case AST_BOOL: buf_str(b, e->i ? "true" : "false"); break;
  case AST_CONST: buf_str(b, e->name.s->s); break;
  case AST_NAME: buf_str(b, e->name.s->s); break;
  case AST_INDEX:
    buf_str(b, e->name.s->s);
    print_items(b, &e->items);
    break;
  case AST_SUBST:
    buf_str(b, "(subst");
    print_part(b, e->a);
    buf_char(b, ' ');
    print_items(b, &e->items);
    buf_char(b, ')');
    break;
  case AST_NEG: print_prefix(b, "neg", e); break;
  case AST_NOT: print_prefix(b, "not", e); break;
  case AST_BINARY:
  case AST_OR_ELSE: print_chain(b, e); break;
  case AST_IF: print_prefix(b, "if", e); break;
  case AST_REDUCE: print_reduce(b, e); break;
  case AST_CALL: print_call(b, e); break;
  case AST_CAST: print_prefix(b, dtype_name(e->dtype), e); break;
  case AST_SIZE: buf_printf(b, "(size %s)", e->name.s->s); break;
  case AST_GRAD:
    buf_str(b, "(grad");
    print_part(b, e->a);
    buf_printf(b, " %s", e->name.s->s);
    if (e->bracketed) print_items(b, &e->items);
    buf_char(b, ')');
    break;
  case AST_LIST: case AST_RESULTS:
    buf_str(b, e->kind == AST_LIST ? "(list" : "(results");
    if (e->kind == AST_LIST) buf_printf(b, " %s:", e->name.s ? e->name.s->s : "?");
    for (uint32_t i = 0; i < e->args.len; i++) print_part(b, e->args.at[i]);
    buf_char(b, ')');
    break;
  case AST_PAREN: print_prefix(b, "paren", e); break;
  }
}

/* ---- statements ------------------------------------------------------------------------------ */

static void print_stmt(Buf *b, const AstStmt *s, int indent);

static void print_decls(Buf *b, const AstStmt *s) {
  vec_each(const AstDecl, d, s->decls) {
    buf_printf(b, " %s", d->name.s->s);
    if (d->bracketed) print_items(b, &d->items);
    if (d->e) buf_char(b, '=');
    if (d->e) print_expr(b, d->e);
  }
}

static void print_params(Buf *b, const AstStmt *s) {
  buf_char(b, '(');
  for (uint32_t i = 0; i < s->params.len; i++)
    buf_printf(b, "%s%s", !i ? "" : s->parts > 1 && i == s->parts ? ", " : " ", s->params.at[i].s->s);
  buf_char(b, ')');
}

static void print_limits(Buf *b, const AstStmt *s) {
  vec_each(const AstLimit, l, s->limits) {
    buf_printf(b, " (%s %s %.17g%s%s)", op_info[l->op].name, l->what.s->s, l->amount, l->unit.s ? " " : "",
        l->unit.s ? l->unit.s->s : "");
  }
}

static void print_head(Buf *b, const AstStmt *s) {
  static const char *const word[] = {
      [STMT_DIM] = "dim",           [STMT_INPUT] = "input",   [STMT_PARAM] = "param",
      [STMT_EQUATION] = "equation", [STMT_OUTPUT] = "output", [STMT_STATE] = "state",
      [STMT_NEXT] = "next",         [STMT_REPEAT] = "repeat", [STMT_DEF] = "def",
      [STMT_MONOID] = "monoid",     [STMT_EXTERN] = "extern", [STMT_USE] = "use",
      [STMT_ASSERT] = "assert",     [STMT_LIMITS] = "limits", [STMT_ADJOINT] = "adjoint",
  };
  buf_str(b, word[s->kind]);
  if (s->output) buf_str(b, " output");
  if (s->name.s) buf_printf(b, " %s", s->name.s->s);
  if (s->bracketed || s->kind == STMT_ADJOINT) print_items(b, &s->items);
  if (s->kind == STMT_DEF || s->kind == STMT_MONOID) print_params(b, s);
  for (uint32_t i = 0; i < s->takes.len; i++)
    buf_printf(b, "%s%s : %s%s", i ? ", " : "(", s->takes.at[i].name.s->s, dtype_name(s->takes.at[i].dtype),
        i + 1 < s->takes.len ? "" : ")");
  print_decls(b, s);
  if (s->dtype >= 0) buf_printf(b, " : %s", dtype_name((DType)s->dtype));
  if (s->stored) buf_printf(b, " %s \"%s\"", s->stored->to ? "to" : "from", s->stored->text->s);
  if (s->stored && s->stored->bracketed) print_items(b, &s->stored->items);
  if (s->text) buf_printf(b, " \"%s\"", s->text->s);
  if (s->source) buf_printf(b, " from \"%s\"", s->source->s);
  if (s->cost) buf_printf(b, " cost %lld", (long long)s->cost->amount);
}

static void print_body(Buf *b, const AstStmt *s, int indent) {
  for (uint32_t i = 0; i < s->body.len; i++) print_stmt(b, s->body.at[i], indent + 2);
}

static void print_stmt(Buf *b, const AstStmt *s, int indent) {
  buf_printf(b, "%*s", indent, "");
  print_head(b, s);
  bool last = (s->kind == STMT_DEF || s->kind == STMT_ADJOINT) && s->block; /* the value comes after the equations */
  if (!last) print_part(b, s->e);
  if (s->until) buf_str(b, s->kind == STMT_MONOID ? " identity" : " until");
  print_part(b, s->until);
  if (s->range) buf_str(b, " where");
  print_part(b, s->range);
  if (s->block) buf_str(b, " {");
  print_limits(b, s);
  buf_char(b, '\n');
  print_body(b, s, indent);
  if (last) buf_printf(b, "%*s=> ", indent + 2, "");
  if (last) print_expr(b, s->e);
  if (last) buf_char(b, '\n');
  if (s->adjoint) print_stmt(b, s->adjoint, indent + 2);
}

static inline void ast_print(Buf *out, const AstFile *f) {
  for (uint32_t i = 0; i < f->stmts.len; i++) print_stmt(out, f->stmts.at[i], 0);
}

#endif
