/* expr/region/text.h - the lines of regions, printed and read: see region.h. The grammar is in docs/languages-inside.md. */
#ifndef EIN_EXPR_REGION_TEXT_H
#define EIN_EXPR_REGION_TEXT_H

#include "expr/lines.h"
#include "region.h"
#include "expr/sum/print.h"
#include "expr/sum/read.h"

/* ---- printed: region/print.c ---------------------------------------------------------------------------------- */

typedef struct RegionPrinter {
  SumPrinter *p;
  Exprs *exprs;
  const RegionFace *face;
  void *ctx;
  const char *(*word)(void *ctx, const void *node); /* that its line begins with */
  void (*line)(void *ctx, const void *node);        /* what stands behind the id of one that is no repeat, with the end of the line */
} RegionPrinter;

void print_ref(Buf *out, const char *before, NodeView n);
void print_nodes(const RegionPrinter *p, const void *region);

/* ---- read: region/read.c --------------------------------------------------------------------------------------
 * Every line stands for itself: after a complaint the reader goes on with the next one, and says nothing about lines that hang on one
 * that failed. */

typedef struct TextBlock TextBlock;

/* A node that a line defined. */
typedef struct TextNode {
  uint32_t id;
  void *node;                /* the language's */
  TextBlock *in, *body;      /* the block it stands in; REPEAT: and has */
  uint32_t state;            /* 1 + its number among the states of that block; 0: it is none */
} TextNode;

struct TextBlock {
  TextBlock *parent;         /* NULL: the program itself */
  TextNode *repeat;
  VEC(TextNode *) states;
  VEC(bool) next;            /* of each of them, whether it is said */
  uint32_t stacks;
  bool stop, closed;
  bool broken;               /* one of its stacks failed, so their numbers are not known */
};

typedef struct RepeatHead {
  uint32_t id;
  Str text, turn, name;
  void *bound;
  const Expr *turns;         /* in normal form; NULL: not said */
  Place place;
} RepeatHead;

typedef enum { ANYWHERE, PROGRAM, BLOCK } LineWhere;
typedef struct RegionLine {
  const char *word;
  LineWhere where;
  bool (*read)(void *ctx);   /* what stands behind the word */
} RegionLine;

/* What is the language's. A function is given what is well as far as texts go, and takes note of it. */
typedef struct RegionMaker {
  const char *noun, *word;   /* of a node that is no repeat: "tensor"; and a word of a line, as an example: "vertex" */
  bool sized;                /* `turns` is a number, and no expression */
  const RegionLine *line;    /* those that are the language's own */
  size_t n_line;
  void *(*repeat)(void *ctx, const RepeatHead *h); /* gives the node, and goes into its block */
  void (*next)(void *ctx, uint32_t state, void *node);
  void (*stack)(void *ctx, Str name, void *node, uint32_t axis);
  void (*until)(void *ctx, void *node);
  void (*close)(void *ctx);
} RegionMaker;

typedef struct RegionReader {
  SumReader *x;
  const RegionMaker *make;
  void *ctx;
  Arena *arena;
  TextBlock *block;          /* at hand */
  Map nodes, failed;         /* id + 1 to the TextNode; those whose line failed */
  TextLines *lines;
  uint32_t defining;         /* the id that the line at hand defines, or READ_IDS */
  uint32_t ids;              /* how many are due */
  bool open_said;            /* that a block is open where it should not be: all that follows from it is not said */
  bool give_up;              /* nothing that follows would make sense */
} RegionReader;

RegionReader region_reader(SumReader *x, const RegionMaker *make, void *ctx);
TextNode *node_of(RegionReader *r, uint32_t id); /* NULL, and silent from here on if its line failed */
void *want_node(RegionReader *r);                /* `%3`, and it is no repeat; NULL: complained */
bool want_new_id(RegionReader *r, uint32_t *id); /* that the line defines */
/* The node's line is read; it stands in the block at hand. */
void node_made(RegionReader *r, uint32_t id, void *node, bool state);
/* `= %8.0` of a final, a stack or turns: a repeat whose block is closed, and which of its states or stacks. */
TextNode *want_result(RegionReader *r, NodeRole role, uint32_t *index);
bool want_assert(RegionReader *r, void **node, Str *text, Place *place); /* the rest of the line */
/* The lines from the one behind `at` on; false: complained. */
bool region_lines(RegionReader *r, const char *at);

#endif
