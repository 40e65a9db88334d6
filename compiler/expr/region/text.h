/* expr/region/text.h - prints and reads the lines of regions: see region.h. The grammar is in
 * docs/languages-inside.md. */
#ifndef EIN_EXPR_REGION_TEXT_H
#define EIN_EXPR_REGION_TEXT_H

#include "expr/lines.h"
#include "region.h"
#include "expr/sum/print.h"
#include "expr/sum/read.h"

/* ---- printing: region/print.c ------------------------------------------------------------------------------------ */

typedef struct RegionPrinter {
  SumPrinter *p;
  Exprs *exprs;
  const RegionFace *face;
  void *ctx;
  const char *(*word)(void *ctx, const void *node); /* the first word of its line */
  void (*line)(void *ctx, const void *node);        /* prints the rest of the line after the id, for a node that is
                                                     * not a repeat */
} RegionPrinter;

void print_ref(Buf *out, const char *before, NodeView n);
void print_nodes(const RegionPrinter *p, const void *region);

/* ---- reading: region/read.c --------------------------------------------------------------------------------------
 * Lines are independent: after a complaint the reader continues with the next one, and ignores lines that depend on a
 * failed one. */

typedef struct TextBlock TextBlock;

/* A node that a line defined. */
typedef struct TextNode {
  uint32_t id;
  void *node;                /* the language's node */
  TextBlock *in, *body;      /* the block that contains it; REPEAT: its own block */
  uint32_t state;            /* 1 + its number among the states of that block; 0: not a state */
} TextNode;

struct TextBlock {
  TextBlock *parent;         /* NULL: the program itself */
  TextNode *repeat;
  VEC(TextNode *) states;
  VEC(bool) next;            /* by state: whether its next value is given */
  uint32_t stacks;
  bool stop, closed;
  bool broken;               /* one of its stacks failed, so their numbers are unknown */
};

typedef struct RepeatHead {
  uint32_t id;
  Str text, turn, name;
  void *bound;
  const Expr *turns;         /* in normal form; NULL: not given */
  Place place;
} RepeatHead;

typedef struct RegionReader RegionReader;

typedef enum { ANYWHERE, PROGRAM, BLOCK } LineWhere;
typedef struct RegionLine {
  const char *word;
  LineWhere where;
  bool (*read)(RegionReader *r, int which); /* reads the rest of the line after the word */
  int which;                 /* for a function that reads several lines */
} RegionLine;

/* The callbacks of a language. A callback gets what is sound as far as texts go, and records it. */
typedef struct RegionMaker {
  const char *noun, *word;   /* for a node that is not a repeat: "tensor"; and an example of a line's word: "vertex" */
  bool sized;                /* `turns` is a number, not an expression */
  const RegionLine *line;    /* the language's own lines */
  size_t n_line;
  void *(*repeat)(void *ctx, const RepeatHead *h); /* makes the node, and enters its block */
  void (*next)(void *ctx, uint32_t state, void *node);
  void (*stack)(void *ctx, Str name, void *node, uint32_t axis);
  void (*until)(void *ctx, void *node);
  void (*close)(void *ctx);
  void (*assert)(void *ctx, void *node, Str text, Place place);
} RegionMaker;

struct RegionReader {
  SumReader *x;
  const RegionMaker *make;
  void *ctx;
  Arena *arena;
  TextBlock *block;          /* the current one */
  Map nodes, failed;         /* id + 1 to the TextNode; those whose line failed */
  TextLines *lines;
  Dims *dims;                /* the program's, */
  Monoids *monoids;          /*   as far as the language has them */
  DimChecks *checks;
  uint32_t asserts;          /* their number */
  uint32_t defining;         /* the id that the current line defines, or READ_IDS */
  uint32_t ids;              /* the expected number of ids */
  bool open_said;            /* it has reported a block left open in the wrong place, and ignores what follows from
                              * that */
  bool give_up;              /* the rest would make no sense */
};

RegionReader region_reader(SumReader *x, const RegionMaker *make, void *ctx);
TextNode *node_of(RegionReader *r, uint32_t id); /* NULL: none; if its line failed, the rest of this line is quiet */
void *want_node(RegionReader *r);                /* `%3`, not a repeat; NULL: complained */
bool want_new_id(RegionReader *r, uint32_t *id); /* the id that the line defines */
/* Called when the node's line is read; the node belongs to the current block. */
void node_made(RegionReader *r, uint32_t id, void *node, bool state);
/* `= %8.0` of a final, a stack or turns: a repeat whose block is closed, and the number of its state or stack. */
TextNode *want_result(RegionReader *r, NodeRole role, uint32_t *index);
/* Lines of a program that languages share, for their tables. */
bool line_dim(RegionReader *r, int which);
bool line_monoid(RegionReader *r, int which);
bool line_extern(RegionReader *r, int which);
bool line_check(RegionReader *r, int which);
bool line_assert(RegionReader *r, int which);
/* Reads the lines after `at`; false: complained. */
bool region_lines(RegionReader *r, const char *at);

#endif
