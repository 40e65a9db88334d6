/* driver/compile/build.h - shared by the two halves of ein build: for one site (cmd_build.c), for several
 * (build_sites.c). */
#ifndef EIN_DRIVER_BUILD_H
#define EIN_DRIVER_BUILD_H

#include "native.h"

/* Checks that the program's path is given and is not a folder. */
Leave program_goes(Session *s, const Args *a, const char *prefix, const char *to);
/* Says if the names that the program states for params and outputs mean nothing to what is built. */
void names_warn(Session *s, const Job *j);
/* Checks that the library's folder is given, and makes it. */
Leave folder_goes(Session *s, const Args *a, const char *to, const char **folder);
/* Writes a file into the folder, unless a file of somebody else is there. */
Leave write_ours(Session *s, const char *folder, const char *name, const Buf *b);
/* Writes the runtime next to a library, without what the library does not use. sites: it is for several. */
Leave runtime_write(Session *s, const char *folder, const EmitOptions *o, bool sites);
/* Prints the runtime's text without what is only for devices, or only for several sites. */
void runtime_part(Buf *out, const char *text, bool device, bool sites);
/* --target=mpi. */
Leave build_sites(Session *s, const Args *a, const char *prefix, const char *to);

#endif
