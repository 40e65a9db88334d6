/* driver/ranks/site.h - a site of a plan as a context of its model: it takes its blocks of whole inputs and outputs
 * (here.c). */
#ifndef EIN_DRIVER_SITE_H
#define EIN_DRIVER_SITE_H

#include "task/sites/site.h"
#include "driver/compile/native.h"

/* The block of a whole tensor that the site has in that buffer, as a view. */
ein_tensor site_block(Arena *a, const TaskGraph *t, uint32_t buffer, const uint32_t *at, const EvalArray *whole);
/* Allocates whole outputs in e->output, those with some[k] set (NULL: all). site_output: the one of task argument k. */
Leave site_outputs_new(Session *s, const TaskGraph *t, Eval *e, const char *some);
/* Makes a context over that wire, and plans it for the place of its site. profile NULL: no profile. counts: to which
 * it adds what it asks of a device. */
ein_status site_make(const Session *s, const Library *lib, const ein_wire *wire, int threads,
    struct ProfileSite *profile, ein_counts *counts, void **ctx);
ein_status site_plan(Arena *a, const ein_model *m, void *ctx, const TaskGraph *t, int site);
/* The failure of a site's own context, not one caused by another site; LEAVE_OK: none. */
Leave site_failed(Session *s, const ein_model *m, void *ctx, int site, ein_status status);

#endif
