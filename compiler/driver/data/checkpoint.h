/* driver/data/checkpoint.h - what --params names: files of tensors, of which each has a name and a place; and which of them a param is, by its
 * `from "layers.{l}.wq"[(h a), d]` or by its own name. Headers are read once; elements where they are wanted. */
#ifndef EIN_DRIVER_CHECKPOINT_H
#define EIN_DRIVER_CHECKPOINT_H

#include "driver/driver.h"

typedef struct Stored { /* a tensor of a checkpoint */
  Str name;
  const char *file;
  const char *other;         /* a dtype that cannot be read; NULL: it can */
  ein_stored at;
  bool used;
} Stored;

typedef struct Checkpoint {
  const char *path;          /* as the user named it */
  VEC(Stored *) all;         /* in the order of the files, each by place */
  Map by_name;
} Checkpoint;

/* A .safetensors or .npz file, a .safetensors.index.json, or a folder with one of these or with several .safetensors. */
Leave checkpoint_open(Session *s, const char *path, Checkpoint *out);

typedef struct Bound { /* a param in a checkpoint */
  const Checkpoint *from;
  Str param;
  uint32_t rank;
  const AstStored *how;      /* of a param that does not say it, its own name: never NULL */
  bool said;
  bool missing;              /* bound_resolve found that one is not there */
  Stored **piece;            /* after bound_resolve: along the axes that the name counts, row by row */
} Bound;

Bound *bound_new(Session *s, const Job *j, const Checkpoint *c, Str param, uint32_t rank);
/* Of the tensor at these numbers along the param's axes its name, and itself; NULL: there is none. */
Str bound_name(Session *s, const Bound *b, const int64_t *at);
Stored *bound_find(Session *s, const Bound *b, const int64_t *at);
Stored *bound_claim(const Bound *b, bool use);  /* the first that is called as the param's are; and all of them are said to be used */
bool bound_counts(const Bound *b, uint32_t axis); /* the name does, and so no stored tensor has it */
bool bound_next(const Bound *b, const int64_t *shape, int64_t *at);  /* the next of these places; false: that was the last */
/* What the checkpoint's names and shapes say about the sizes of params; each dim of the program that has none yet is bound. */
void bound_sizes(Session *s, Job *j, Bound *const *b, uint32_t n);
/* "[32 * 128, 4096]": what a stored tensor is for a param of that shape; "?" stands where a size is -1. */
const char *bound_shape(Arena *a, const Bound *b, const int64_t *shape);
const char *stored_shape(Arena *a, const Stored *x);
/* Finds all tensors for a param of that shape; false, and why: one is not there or not as it is wanted. */
bool bound_resolve(Session *s, Bound *b, const int64_t *shape, Buf *why);

void bound_missing(Session *s, const Bound *b, Str name, Buf *why); /* that there is none of that name */
const char *bound_source(Arena *a, const Bound *b); /* for messages: "model/:layers.{l}.wq" */

/* After bound_resolve: as given_block and given_sound. */
ein_status bound_block(const Bound *b, DType t, const int64_t *whole, const int64_t *low, const int64_t *shape, void *dst, ein_error *err);
ein_status bound_sound(const Bound *b, const int64_t *shape, ein_error *err);
/* Its elements where the file has them; NULL: they are not there as the program wants them. */
const void *bound_map(const Bound *b, DType t, const int64_t *shape, ein_error *err);

/* ---- outputs that say where they go: bound_write.c ------------------------------------------------------------------------ */
typedef VEC(ein_named_tensor) NamedTensors;
void stored_tensors(Session *s, const AstStored *how, const EvalArray *x, NamedTensors *out);

#endif
