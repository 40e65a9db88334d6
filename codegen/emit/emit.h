/* codegen/emit/emit.h - Loop to target text. Printers, which decide nothing. */
#ifndef EIN_EMIT_H
#define EIN_EMIT_H

#include "loop/labels.h"
#include "loop/loop.h"

typedef struct EmitOptions {
  const char *prefix;        /* every symbol begins with it: a C identifier */
  const char *source;        /* the program's file name, for comments; no folder */
  const char *version;
  uint64_t hash;             /* of the program's text */
  uint64_t runtime;          /* EIN_RUNTIME_IS of the runtime that it is written for; 0: not looked at */
  const char *tensor;        /* the text of ein_tensor.h, which stands in the header; NULL: that includes it */
  bool beside;               /* the runtime is a file of this library's own, PREFIX-runtime.h; else ein_run.h */
  double worth_threads;      /* kernels of less work (scalar operations, about) have one thread; 0: the runtime's own bound */
  NamedAxesList declared;     /* else labels are those by which a tensor is first read or written */
} EmitOptions;
void emit_c(Buf *c, const LoopProgram *p, const EmitOptions *o);      /* prefix.c */
void emit_header(Buf *h, const LoopProgram *p, const EmitOptions *o); /* prefix.h */
void emit_manifest(Buf *json, const LoopProgram *p, const EmitOptions *o);

#endif
