/* SPDX-License-Identifier: MIT-0 */
/*
 * Plans of one program for several numbers of sites, and for several sizes, as one model: of them the one that fits is taken. A run is given blocks at
 * each site, or whole tensors at site 0, from where they go to all, and to where outputs come. All functions but block, shape and last_error are
 * called by all sites, in one order. MPI is not known here.
 */
#ifndef EIN_WHOLE_H
#define EIN_WHOLE_H

#include "ein_num.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an input is that is not given: a model for one site, whose output that is. Each stands behind those of the inputs that it hangs on. */
typedef struct ein_whole_default {
  int input;
  const ein_model *model;
  int by_block;                /* its sizes are where a block begins, along each axis, then how long it is; else it makes all of the tensor */
  int n_from;                  /* inputs that it hangs on, as the model takes them: site 0 gathers them, makes all of it, and gives to each its block */
  const int *from;
} ein_whole_default;

typedef struct ein_whole_made {
  const ein_model *const *plans; /* for numbers of sites */
  int n_plans;
  const ein_whole_default *defaults; /* of the first plan, then of the next; as many of each, for the same inputs */
  int n_defaults;              /* of one plan */
  int n_read;                  /* inputs from this one on are read by defaults alone, and stand at site 0 */
  /* Sizes that plans differ by: how many, their names, and of each plan their values, one plan behind the other. */
  int n_dims;
  const char *const *dim;
  const int64_t *dims;
} ein_whole_made;

/* config has the wire. What fails here is known to this site alone. made: stays, as what it points to. */
EIN_API ein_status ein_whole_create(const ein_whole_made *made, const ein_config *config, void **ctx);
EIN_API void ein_whole_destroy(void *ctx);
/* EIN_ERR_ARG at all sites where none of the plans is for so many, or for these sizes; where plans do not differ by sizes, dims are not looked at. */
EIN_API ein_status ein_whole_plan(void *ctx, const int64_t *dims);
EIN_API size_t ein_whole_workspace(const void *ctx);
/* Of the whole tensor. */
EIN_API ein_status ein_whole_shape(const void *ctx, int output, int argument, int64_t *shape);
/* Which part of it a site has: from `low` on, so much. */
EIN_API ein_status ein_whole_block(const void *ctx, int output, int argument, int site, int64_t *low, int64_t *shape);
/* An input whose data is NULL at site 0 takes its default, if it has one: each site makes its block, once, in memory that it keeps until the next plan;
 * what hangs on other inputs is made in each run. */
EIN_API ein_status ein_whole_run_blocks(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
/* With the views of the last run_blocks, which was in order; a default that hangs on them is made again. */
EIN_API ein_status ein_whole_again(void *ctx);
/* Other sites than 0 may give NULL. Takes memory: for blocks, until the next plan, and for what is on its way. */
EIN_API ein_status ein_whole_run(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
/* An output's blocks, as run_blocks has left them in dense memory, as one tensor at site 0. */
EIN_API ein_status ein_whole_collect(void *ctx, int output, const ein_tensor *block, const ein_tensor *whole);
EIN_API const char *ein_whole_last_error(const void *ctx);
EIN_API void ein_whole_cancel(void *ctx);

#ifdef __cplusplus
}
#endif

#endif
