/* codegen/jit/object.h - loads an ELF object, as a C compiler writes it, from memory as functions of this process. It
 * needs no file, process or linker, so it works where those must not be used, as after MPI_Init. The object must be
 * position independent (-fPIC) and for this machine: x86-64 or AArch64. */
#ifndef EIN_OBJECT_H
#define EIN_OBJECT_H

#include "base/base.h"

/* Finds a symbol that an object needs; NULL: there is none. */
typedef struct ObjectWorld { void *(*find)(void *ctx, const char *name); void *ctx; } ObjectWorld;

typedef struct ObjectSymbol { const char *name; void *at; } ObjectSymbol;
typedef struct Object {
  char *memory;              /* all of it; its code is read-only */
  size_t size;
  VEC(ObjectSymbol) symbols; /* the global ones */
} Object;
/* Returns NULL, or why it fails: the bytes are no such object, or a symbol is missing. Runs nothing of it. */
const char *object_load(Arena *a, const char *bytes, size_t len, ObjectWorld world, Object *out);
void *object_find(const Object *o, const char *name); /* NULL: there is none of that name */
void object_unload(Object *o);                        /* none of its functions may be running, or be called later */

#endif
