/* graph/inside.h - what the files of graph/ share among themselves and with nobody else. */
#ifndef EIN_GRAPH_INSIDE_H
#define EIN_GRAPH_INSIDE_H

#include "graph.h"

/* ---- graph.c */
const EinSum *sum_find(const EinGraph *g,
                       const EinSum *s);   /* the interned one with these fields, or NULL */
uint32_t region_level(const EinRegion *r); /* how many repeats it stands in: 0 for the program */
const Expr *extent_normal(Exprs *p,
                          const Expr *e); /* expr_normal with a short way for numbers and dims */

/* Reads by (node, index list), whatever slot they stand with: finds the slot, or makes it the next
 * one. */
typedef struct ReadTable {
  Arena *arena;
  Map chains;           /* hash to the newest of its reads */
  VEC(EinNode *) nodes; /* one a slot */
} ReadTable;
uint32_t read_slot(ReadTable *t, EinNode *node, const Expr *read);

/* ---- word.c: names, strings and places as text */
bool word_plain(Str s);           /* can stand as it is where a name is wanted */
bool word_label(Str s);           /* so too inside of expressions */
void word_print(Buf *out, Str s); /* as it is, else quoted; NULL as "" */
void string_print(Buf *out, const char *s, size_t n);
void place_print(Buf *out, Place p); /* ` @"file":line:column`, or nothing */
ExprNames
node_names(const EinNode *n); /* its own labels, loop variables and operands; NULL: none */

/* The word that a node's line begins with. */
const char *node_word(const EinNode *n);

#endif
