/* driver/data/checkpoint.h - the files of --params: tensors with names and places; and which of them belong to a
 * param, by its `from "layers.{l}.wq"[(h a), d]` or by its own name. Headers are read once, elements when needed. */
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
  const char *path;          /* as the user gave it */
  VEC(Stored *) all;         /* in the order of the files, within a file by place */
  Map by_name;
  const char *lacks;         /* without an index: a shard that is not among its files; NULL: none */
} Checkpoint;

/* A .safetensors or .npz file, a .safetensors.index.json, or a folder with one of these or with several .safetensors.
 */
Leave checkpoint_open(Session *s, const char *path, Checkpoint *out);

typedef struct Bound { /* a param in a checkpoint */
  const Checkpoint *from;
  Str param;
  uint32_t rank;
  const AstStored *how;      /* never NULL: a param without it uses its own name */
  bool said;
  bool missing;              /* bound_resolve found that a tensor is missing */
  Stored **piece;            /* after bound_resolve: along the axes that the name counts, row-major */
} Bound;

Bound *bound_new(Session *s, const Job *j, const Checkpoint *c, Str param, uint32_t rank);
/* The name of the tensor at these numbers along the param's axes, and the tensor; NULL: there is none. */
Str bound_name(Session *s, const Bound *b, const int64_t *at);
Stored *bound_find(Session *s, const Bound *b, const int64_t *at);
Stored *bound_claim(const Bound *b, bool use);  /* the first tensor with a name of the param's; use: marks all of them
                                                 * as used */
bool bound_counts(const Bound *b, uint32_t axis); /* the name counts this axis, so no stored tensor has it */
bool bound_next(const Bound *b, const int64_t *shape, int64_t *at);  /* the next of these places; false: that was the
                                                                      * last */
/* Binds each unbound dim of the program that the checkpoint's names and shapes determine. Fails if shards are missing
 * whose names might say more. */
Leave bound_sizes(Session *s, Job *j, Bound *const *b, uint32_t n);
/* "[32 * 128, 4096]" */
const char *stored_shape(Arena *a, const Stored *x);
/* Finds all tensors for a param of that shape. Returns false and says why if one is missing or does not fit. */
bool bound_resolve(Session *s, Bound *b, const int64_t *shape, Buf *why);

void bound_missing(Session *s, const Bound *b, Str name, Buf *why); /* says that there is none of that name */
const char *bound_source(Arena *a, const Bound *b); /* for messages: "model/:layers.{l}.wq" */

/* After bound_resolve: as given_block and given_sound. */
ein_status bound_block(
    const Bound *b, DType t, const int64_t *whole, const int64_t *low, const int64_t *shape, void *dst, ein_error *err);
ein_status bound_sound(const Bound *b, const int64_t *shape, ein_error *err);
/* Its elements in the mapped file; NULL: the file does not have them as the program needs them. */
const void *bound_map(const Bound *b, DType t, const int64_t *shape, ein_error *err);

/* ---- outputs that name their place in a file: bound_write.c
 * ------------------------------------------------------------------ */
typedef VEC(ein_named_tensor) NamedTensors;
/* The tensors of an output with these extents, without data, in the order of their numbers. */
void stored_tensors(
    Session *s, const AstStored *how, DType t, uint32_t rank, const int64_t *whole, NamedTensors *out);
/* What a block of the output has of tensor `number`, as a block of that tensor with none of its axes merged. Returns
 * false if the block has none of it. */
bool stored_block(Session *s, const AstStored *how, const ein_block *x, int64_t number, ein_block *out);

#endif
