/* driver/compile/build.h - what the two halves of ein build share: for one site (cmd_build.c), for several (build_sites.c). */
#ifndef EIN_DRIVER_BUILD_H
#define EIN_DRIVER_BUILD_H

#include "native.h"

/* That it is said where a program goes, and that it is no folder. */
Leave program_goes(Session *s, const Args *a, const char *prefix, const char *to);
/* That it is said where a library goes; the folder is there then. */
Leave folder_goes(Session *s, const Args *a, const char *to, const char **folder);
/* Into a file of it, unless that is there and somebody else's. */
Leave write_ours(Session *s, const char *folder, const char *name, const Buf *b);
/* The runtime of a library, beside it. */
Leave runtime_write(Session *s, const char *folder, const EmitOptions *o);
/* --target=mpi. */
Leave build_sites(Session *s, const Args *a, const char *prefix, const char *to);

#endif
