/* SPDX-License-Identifier: MIT-0 */
/*
 * Presents several plans of one program, for several numbers of sites and several sizes, as one model, which
 * selects the plan that fits. A run takes blocks at each site, or whole tensors at site 0, which it scatters to
 * all sites and gathers from them. All functions but block, shape, workspace and last_error are collective and
 * are called in the same order. This file does not depend on MPI.
 */
#ifndef EIN_WHOLE_H
#define EIN_WHOLE_H

#include "ein_num.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The default of an input: a model for one site whose output it is. A default comes after those of the inputs
 * that it depends on. */
typedef struct ein_whole_default {
  int input;
  const ein_model *model;
  int by_block;                /* its sizes are where a block begins, along each axis, then the block's extents; else it
                                * computes the whole tensor */
  int n_from;                  /* the inputs that it depends on, in the model's order: site 0 gathers them, computes the
                                * whole, and sends each site its block */
  const int *from;
} ein_whole_default;

typedef struct ein_whole_made {
  const ein_model *const *plans; /* for different numbers of sites */
  int n_plans;
  const ein_whole_default *defaults; /* the first plan's, then the next's; each plan has as many, for the same inputs */
  int n_defaults;              /* per plan */
  int n_read;                  /* inputs from this one on are read only by defaults, and are at site 0 */
  /* The sizes by which plans differ: how many, their names, and their values, for one plan after the other. */
  int n_dims;
  const char *const *dim;
  const int64_t *dims;
  int64_t mark;                /* other plans have another; 0: unknown */
} ein_whole_made;

/* config has the wire. Only this site learns of an error here. `made` and what it points to must remain valid. */
EIN_API ein_status ein_whole_create(const ein_whole_made *made, const ein_config *config, void **ctx);
EIN_API void ein_whole_destroy(void *ctx);
/* Fails with EIN_ERR_ARG at all sites if no plan fits the number of sites or the sizes, or if the sites have different
 * programs or sizes. dims is ignored if the plans do not differ by sizes. */
EIN_API ein_status ein_whole_plan(void *ctx, const int64_t *dims);
EIN_API size_t ein_whole_workspace(const void *ctx);
/* The shape of the whole tensor. */
EIN_API ein_status ein_whole_shape(const void *ctx, int output, int argument, int64_t *shape);
/* The block that a site has: where it begins, and its shape. */
EIN_API ein_status ein_whole_block(const void *ctx, int output, int argument, int site, int64_t *low, int64_t *shape);
/* An input whose data is NULL at site 0 takes its default, if it has one. Each site computes its block once, in
 * memory that it keeps until the next plan; a default that depends on other inputs is computed in each run. */
EIN_API ein_status ein_whole_run_blocks(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
/* Runs with the views of the last run_blocks, which must have succeeded; defaults that depend on them are
 * computed again. */
EIN_API ein_status ein_whole_again(void *ctx);
/* Sites other than 0 may pass NULL. Allocates memory for blocks, until the next plan, and for parcels. */
EIN_API ein_status ein_whole_run(void *ctx, const ein_tensor *inputs, const ein_tensor *outputs);
/* Gathers an output's blocks, left by run_blocks in dense memory, into one tensor at site 0. */
EIN_API ein_status ein_whole_collect(void *ctx, int output, const ein_tensor *block, const ein_tensor *whole);
EIN_API const char *ein_whole_last_error(const void *ctx);
EIN_API void ein_whole_cancel(void *ctx);

#ifdef __cplusplus
}
#endif

#endif
