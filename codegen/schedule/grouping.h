/* codegen/schedule/grouping.h - how float sums are grouped: every number that their bits hang on, beside the sizes of the program.
 *
 * A float sum is never one long chain. Points go into an accumulator, or into the lanes of one, for a block; blocks are added to a total in
 * their order, lanes are folded by halves (docs/semantics.md). Whoever changes a number here changes last digits of answers everywhere. */
#ifndef EIN_GROUPING_H
#define EIN_GROUPING_H

/* On processors: points of a block. */
enum {
  SUM_BLOCK = 2048,          /* one output, one point after the other; or lanes along the innermost label */
  DOT_BLOCK = 8192,          /* lanes along a reduced label, for several outputs at once */
  STRIP_BLOCK = 4096,        /* rows that go into a strip of sums */
  TILE_BLOCK = 1024,         /* tiles of outputs that are read where they lie */
  SCAN_BLOCK = 1024,         /* running sums, */
  SCAN_GROUP = 8,            /*   whose own sums are known, so many at a time, before what came before them is added, */
  SCAN_CHAIN = 4,            /*   each of them after at most so many others */
  PANEL_BLOCK_BYTES = 2048   /* of a packed panel's row: so many reduced points */
};

/* Groups of lanes that hold one sum: as many chains as additions are deep. A group has LoopTarget's lanes_bytes. */
enum { LANE_CHAINS = 4 };

/* On devices: points that one register takes. Longer sums are cut into parts, which are added in their order. */
enum { DEVICE_BLOCK = 8192 };

#endif
