/* driver/plan/device/device.h - ein plan for a device: whether a run fits its memory, what of it is there when, and
 * what crosses the bus. The planner is the runtime's own (runtime/cuda/spill.h), with the table that it gets in a run;
 * so a run moves these bytes. */
#ifndef EIN_PLAN_DEVICE_H
#define EIN_PLAN_DEVICE_H

#include "base/json.h"
#include "emit/emit.h"
#include "plan/machine.h"
#include "task/cost.h"
#include "task/sites/site.h"
#include "driver/driver.h"

/* For a row, a tensor comes, or has to go to the host before; or it is moved on the device. Its buffer is the one in
 * which the program has it then. */
typedef enum { DEVICE_IN, DEVICE_OUT, DEVICE_WITHIN } DeviceMoveKind;
typedef struct DeviceMove {
  uint32_t row;
  int32_t buffer;
  DeviceMoveKind kind;
  int64_t times, bytes;      /* bytes: of all times */
} DeviceMove;

/* Of a buffer: rows, from the first to the last, during and between which it is on the device the first time. */
typedef struct DeviceStay { uint32_t buffer, from, to; } DeviceStay;

typedef struct DevicePlan {
  const EmitRows *rows;
  uint32_t n;                /* buffers, and behind them the memory of each move */
  const int64_t *bytes;      /* of each */
  int64_t limit;             /* the most bytes of its memory; 0: none */
  int64_t takes;             /* what the run takes */
  int64_t whole;             /* what it takes if all of it is on the device */
  int64_t least;             /* the least with which it runs */
  const EmitRow *binds;      /* the row that takes the least; NULL: none */
  bool spills;
  int64_t in, out;           /* bytes over the bus */
  int64_t moved_in, moved_out; /* those of them that moves bring from other sites, or send there */
  bool fetches;              /* what fetches at indices from data bring over the bus is not counted */
  bool one_turn;             /* of repeats whose turns depend on data, one turn is counted */
  bool not_all;              /* there are more than DEVICE_STEPS steps, and they are not counted */
  const MachineLevel *bus;   /* its link is the bus; NULL: not known */
  VEC(DeviceMove) moves;     /* only if it spills */
  VEC(DeviceStay) stays;
} DevicePlan;

enum { DEVICE_STEPS = 1 << 20 };

/* What a run on a device is made of. */
typedef struct DeviceRun {
  const CostDims *dims;
  uint32_t n;                /* as in DevicePlan */
  const int64_t *bytes;      /* of each */
  const bool *given;         /* by buffer: an input that the run is given */
  int64_t work;              /* the bytes of all that is the run's own, laid out as if it is on the device */
  uint32_t n_moves;          /* by move, in the order of rows: */
  const StagingBus *move;    /*   bytes over the bus for one execution */
} DeviceRun;
/* out: with its rows, limit and bus. Fails if that limit is too small; at: the site, for that message, or NULL. */
Leave device_plan_make(Session *s, const Job *j, const DeviceRun *run, const char *at, DevicePlan *out);

/* The bytes of buffers of the run's own and of moves (NULL: none), as the runtime lays them out; -1: they overflow 64
 * bits. bytes: of buffers, and behind them of moves; to: where each buffer lies, or NULL (sites.c). */
int64_t work_layout(Arena *a, const TaskGraph *t, const Stagings *moves, const int64_t *bytes, int64_t *to);
/* work: the bytes of buffers of the run's own, as they are laid out if all of them are on the device. */
Leave device_plan_find(Session *s, const Job *j, const Args *a, const GraphCost *cost, const CostDims *dims,
    int64_t work, DevicePlan *out);
void device_plan_text(const Job *j, const DevicePlan *d, Buf *b); /* lines of the head */
/* A line for each tensor, if it spills. */
void device_plan_table(const Job *j, const DevicePlan *d, Buf *b);
void device_plan_json(const DevicePlan *d, Json *j);              /* "device" */

/* Of a plan for several sites, one device for each (sites.c). Sites with the same plan are listed together. */
typedef struct DeviceGroup { const DevicePlan *plan; VEC(int64_t) sites; } DeviceGroup;
typedef struct DevicePlans { Job job; VEC(DeviceGroup) groups; } DevicePlans;
enum { DEVICE_SITES = 256 };                                      /* at most */
/* j: with the plan's tasks and loops. limit: the most bytes of each device's memory; 0: none */
Leave device_plans_find(Session *s, const Job *j, int64_t limit, DevicePlans *out);
void device_plans_text(const DevicePlans *x, Buf *b);
void device_plans_json(const DevicePlans *x, Json *j);            /* "devices" */

void device_plan_page(const Job *j, const DevicePlan *d, Buf *b); /* device_page.c: HTML */

/* ---- shared by these reports ---- */
typedef struct DeviceTotal { int64_t times[2]; } DeviceTotal; /* of a buffer: in, out */
DeviceTotal *device_totals(Arena *a, const DevicePlan *d);
const char *device_buffer(Arena *a, const Job *j, const DevicePlan *d, uint32_t buffer); /* its name */
const char *device_stays(Arena *a, const DevicePlan *d, uint32_t buffer); /* "3-5, 9": steps; "": it is never there */
const char *device_least(Arena *a, const Job *j, const DevicePlan *d); /* "12.5 kB (12544 bytes), for C (line 4)" */

#endif
