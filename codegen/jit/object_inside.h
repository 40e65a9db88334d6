/* codegen/jit/object_inside.h - what differs between processors: object_machine.c. */
#ifndef EIN_OBJECT_INSIDE_H
#define EIN_OBJECT_INSIDE_H

#include "object.h"

enum { OBJECT_STUB = 16 };   /* bytes of a stub */
extern const int object_machine; /* of the ELF header */

/* The addresses of symbols. A symbol beyond the reach of a call is called through its stub, which jumps to the
 * address in `address`. */
typedef struct ObjectPlaces {
  void **symbol;             /* NULL: it does not exist */
  void **address;            /* a table of them, near the code */
  char *stub;                /* a stub for each symbol */
} ObjectPlaces;
void object_stub(const ObjectPlaces *o, uint32_t symbol);
uint32_t object_width(uint32_t kind); /* bytes that a relocation changes */
/* Returns NULL, or why it fails. */
const char *object_relocate(const ObjectPlaces *o, uint32_t kind, char *at, uint32_t symbol, int64_t addend);

#endif
