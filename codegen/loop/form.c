/* codegen/loop/form.c - how statements are written, except `for` and `if`: the table that the printer and the reader
 * of Loop follow. A new statement is a row. */
#include "text.h"

#define PLACE {.kind = FORM_PLACE}
#define VAR {.kind = FORM_VAR}
#define AT {.kind = FORM_AT}
#define MAY_AT {.kind = FORM_AT, .may = true}
#define EXPR(before, of) {.kind = FORM_EXPR, .word = before, .field = offsetof(LoopStmt, of)}
#define MAY_EXPR(before, of) {.kind = FORM_EXPR, .word = before, .field = offsetof(LoopStmt, of), .may = true}
#define MAY_INT(before, of, low, high, usual, name) \
  {FORM_INT, before, true, offsetof(LoopStmt, of), low, high, usual, name}
#define INT(before, of, low, high, name) {FORM_INT, before, false, offsetof(LoopStmt, of), low, high, INT64_MIN, name}
#define MAY_WORD(before, of, value) {FORM_WORD, before, true, offsetof(LoopStmt, of), value, value, 0, NULL}
#define OF_MATRIX(before, of) \
  {FORM_MATRIX, before, false, offsetof(LoopMatrix, of), INT64_MIN, INT64_MAX, 0, "a number"}
#define OVER(most, name) {.kind = FORM_OVER, .word = "over", .high = most, .what = name}
#define MAY_OVER(most, name) {.kind = FORM_OVER, .word = "over", .high = most, .what = name, .may = true}

static const LoopForm forms[] = {
    {LOOP_STORE, NULL, {PLACE, AT, EXPR("=", value), MAY_INT("wide", wide, 2, 16, 0, "a number of neighbours")}},
    {LOOP_LET, "let", {PLACE, EXPR("=", value), MAY_INT("across", step, INT64_MIN, INT64_MAX, 0, "a number")}},
    {LOOP_LEAD, "lead", {PLACE, EXPR("=", value)}},
    {LOOP_VAR, "var", {PLACE, MAY_EXPR("=", value)}},
    {LOOP_INDEX, "index", {VAR, EXPR("=", lo)}},
    {LOOP_LANES_OF, "lanes", {PLACE, {.kind = FORM_OP}}},
    {LOOP_TRANSPOSE, "transpose", {PLACE}},
    {LOOP_FETCH, "fetch", {PLACE, AT, MAY_WORD("second", step, FETCH_SECOND)}},
    {LOOP_STREAM, "stream", {PLACE, AT, EXPR("=", value), EXPR("for", hi),
        MAY_INT("over", step, INT64_MIN, INT64_MAX, 1, "a number of axes")}},
    {LOOP_MATRIX, "matrix", {PLACE, OF_MATRIX(NULL, rows), OF_MATRIX("by", lanes), OF_MATRIX("by", deep),
        EXPR("of", value), OF_MATRIX("steps", row_step), OF_MATRIX(NULL, row_deep),
        EXPR("and", other_side), OF_MATRIX("steps", lane_step), OF_MATRIX(NULL, lane_deep)}},
    {LOOP_GROUP, "group", {PLACE, MAY_AT, EXPR("=", value)}},
    {LOOP_CALL, "call", {PLACE, AT, EXPR("=", value), MAY_OVER(EXTERN_LABELS, "a C function is over")}},
    {LOOP_PRODUCT, "product", {PLACE, AT, EXPR("=", value), OVER(PRODUCT_LOOPS, "a product has"),
        {.kind = FORM_BLOCKS}}},
    {LOOP_BARRIER, "barrier", {{.kind = FORM_END}}},
    {LOOP_COPY, "copy", {PLACE, AT, EXPR("=", value), INT("wide", wide, 2, 16, "a number of neighbours")}},
    {LOOP_COMMIT, "commit", {{.kind = FORM_END}}},
    {LOOP_AWAIT, "await", {INT(NULL, step, 0, LOOP_GROUPS, "a number of groups")}},
};

const LoopForm *loop_form(uint32_t i) { return i < COUNT(forms) ? &forms[i] : NULL; }
