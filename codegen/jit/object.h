/* codegen/jit/object.h - machine code from bytes: an ELF object, as a C compiler writes it, becomes functions of this process. It wants no
 * file, no process and no linker; so it can be done where those must not be started, as after MPI_Init. The object must be position
 * independent (-fPIC), and of this machine's kind: x86-64 and AArch64 are known. */
#ifndef EIN_OBJECT_H
#define EIN_OBJECT_H

#include "base/base.h"

/* Where a symbol is that an object wants; NULL: nowhere. */
typedef struct ObjectWorld { void *(*find)(void *ctx, const char *name); void *ctx; } ObjectWorld;

typedef struct ObjectSymbol { const char *name; void *at; } ObjectSymbol;
typedef struct Object {
  char *memory;              /* all of it; code in it is read-only */
  size_t size;
  VEC(ObjectSymbol) symbols; /* that others may see */
} Object;
/* NULL; or why it cannot be: bytes that are no such object, or a symbol that is nowhere. Nothing of it has run. */
const char *object_load(Arena *a, const char *bytes, size_t len, ObjectWorld world, Object *out);
void *object_find(const Object *o, const char *name); /* NULL: it has none of that name */
void object_unload(Object *o);                        /* none of its functions is running, or will be called */

#endif
