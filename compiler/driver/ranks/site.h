/* driver/ranks/site.h - a site of a plan as a context of its model: whole tensors in and out, of which it has blocks (here.c). */
#ifndef EIN_DRIVER_SITE_H
#define EIN_DRIVER_SITE_H

#include "task/sites/site.h"
#include "driver/compile/native.h"

/* The block of a whole tensor that the site has in that buffer, where it lies. */
ein_tensor site_block(Arena *a, const TaskGraph *t, uint32_t buffer, const uint32_t *at, const EvalArray *whole);
/* Those of its inputs, in the order of t->inputs. */
Leave site_inputs(Session *s, const TaskGraph *t, const Eval *e, const uint32_t *at, ein_tensor *in);
/* Whole outputs, in e->output, those of which some[k] is set (NULL: all); of which task argument k's is: */
Leave site_outputs_new(Session *s, const TaskGraph *t, Eval *e, const char *some);
EvalArray *site_output(const TaskGraph *t, const Eval *e, uint32_t k);
/* A context over that wire. It is planned by the place of its site. */
/* profile NULL: nobody asks where its time goes. */
ein_status site_make(const Session *s, const ein_model *m, const ein_wire *wire, int threads, struct ProfileSite *profile, void **ctx);
ein_status site_plan(Arena *a, const ein_model *m, void *ctx, const TaskGraph *t, int site);
/* What a site's context has failed by itself, not because another one did; LEAVE_OK: it has not. */
Leave site_failed(Session *s, const ein_model *m, void *ctx, int site, ein_status status);

#endif
