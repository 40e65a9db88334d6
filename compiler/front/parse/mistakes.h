/* front/parse/mistakes.h - shared by the files of rules about misplaced tokens. A rule looks at the scene. It either
 * complains and answers as complain_unexpected does, or it passes. */
#ifndef EIN_MISTAKES_H
#define EIN_MISTAKES_H

#include "parse.h"

enum { PASS = -1 };              /* this rule does not apply */
enum { SHOWN = 60, NEAR = 100 }; /* bytes in a message, tokens to look at */

typedef struct Scene { /* the input of the rules */
  Parse *p;
  Token t, last;
  bool ok[TOKEN_KINDS];  /* by kind: it could have come */
  int in;                /* the innermost bracket: TOK_LP, LB, LC, or 0 */
  bool start;            /* the token would begin a statement */
  bool over;             /* the file ends */
} Scene;

typedef int Rule(const Scene *);

/* mistakes_words.c */
Rule rule_equals, rule_semicolon, rule_where_called, rule_round_left, rule_round_reducer, rule_where_first,
    rule_where_behind, rule_where_in_read, rule_keyword_defined, rule_dtype_first, rule_keyword_as_name,
    rule_wrong_place, rule_foreign, rule_loop_head, rule_until, rule_default, rule_if_statement,
    rule_colon_block, rule_late_accumulator, rule_reducer_called, rule_bare_expression;

/* mistakes_missing.c */
Rule rule_slashes, rule_assert, rule_limits, rule_unary_plus, rule_bare_reducer, rule_missing_bracket,
    rule_missing_comma, rule_def_parameters, rule_stored_unquoted, rule_missing_in_list, rule_list_goes_on,
    rule_missing_equals, rule_missing_branch, rule_missing_operator, rule_def_without_value, rule_def_goes_on,
    rule_statement_over, rule_slice;

/* mistakes_near.c */
Rule rule_misspelt, rule_foreign_operator, rule_choice_behind, rule_many_in_one;

/* mistakes_signs.c */
Rule rule_foreign_sign, rule_comment_c;

/* mistakes_calls.c */
Rule rule_named_argument, rule_parameter, rule_lambda, rule_comprehension, rule_range, rule_colon_alone,
    rule_word_in_value, rule_cast, rule_typed_first, rule_colon_branch, rule_comment_sign, rule_subscript,
    rule_subscripts, rule_braces,
    rule_product_by_bracket, rule_arrow_left;

/* ---- mistakes.c: messages ------------------------------------------------------------------------ */
const char *token_text(const Parse *p, Token t);   /* its text in the source */
const char *token_copy(const Parse *p, Token t);   /* a copy of it */
bool token_is(const Parse *p, Token t, const char *word);
const char *token_shown(const Parse *p, Token t);  /* "`x`", or its description */
Span scene_place(const Scene *s);
#define scene_say(s, code, ...) diag_add((s)->p->diags, (code), scene_place(s), __VA_ARGS__)
Diag *scene_unexpected(const Scene *s);            /* with all that could have come */
/* The same with a hint; and drops the statement's rest. */
int scene_refuse(const Scene *s, const char *hint, ...) EIN_PRINTF(2, 3);
/* Says what is wrong, with a hint; and drops the statement's rest. */
int scene_tell(const Scene *s, DiagCode code, const char *what, const char *hint, ...) EIN_PRINTF(4, 5);
void hint_joined(const Scene *s, Diag *g);         /* says that the line continues the one above, if it does */
const char *bracket_sign(int kind);

/* ---- mistakes.c: looking ahead, without consuming tokens ------------------------------------------- */
bool begins_operand(int kind);
bool ends_operand(const Scene *s);
const char *source_piece(const Parse *p, uint32_t at, uint32_t end); /* without surrounding blanks; NULL: long or
                                                                      * empty */
uint32_t operand_end(const Parse *p, Token t);     /* with its brackets; 0: not on this line */
uint32_t line_rest(const Parse *p, Token t);       /* the end of the statement's part on this line; 0: far away */
bool line_has(const Parse *p, int kind, int before); /* outside brackets, and before a token of that kind */
bool bracket_closed(const Parse *p);               /* whether the innermost one is closed on this line */
uint32_t bracket_end(const Parse *p);              /* where; 0: it is not closed */
const char *value_ahead(const Parse *p);           /* the text after the next `=` of this line, or NULL */
Token token_behind_brackets(const Parse *p);       /* the token after the brackets that come next, or the next token
                                                    * if none do */

#endif
