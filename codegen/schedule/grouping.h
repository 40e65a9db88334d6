/* codegen/schedule/grouping.h - how float sums are grouped: all numbers, besides the program's sizes, on which their
 * bits depend.
 *
 * A float sum is never one long chain. Points are added to an accumulator, or to its lanes, for one block; blocks are
 * added to a total in order, and lanes are folded by halves (docs/semantics.md). Changing a number here changes the
 * last digits of results everywhere. */
#ifndef EIN_GROUPING_H
#define EIN_GROUPING_H

/* On processors: points per block. */
enum {
  SUM_BLOCK = 2048,          /* one output, one point after the other; or lanes along the innermost label */
  DOT_BLOCK = 8192,          /* lanes along a reduced label, for several outputs at once */
  STRIP_BLOCK = 4096,        /* rows added into a strip of sums */
  TILE_BLOCK = 1024,         /* tiles of outputs whose operands are read in place */
  SCAN_BLOCK = 1024,         /* running sums */
  SCAN_GROUP = 8,            /* computed in groups of this many, before the preceding total is added */
  SCAN_CHAIN = 4,            /* in chains of this many */
  PANEL_BLOCK_BYTES = 2048   /* of a packed panel's row: this many bytes of reduced points */
};

/* Groups of lanes that hold one sum: enough chains to cover the latency of an addition. A group has LoopTarget's
 * lanes_bytes. */
enum { LANE_CHAINS = 4 };

/* On devices: points per register. Longer sums are cut into parts, which are added in order. */
enum { DEVICE_BLOCK = 8192 };

#endif
