/* driver/compile/nvrtc.h - compiles kernels for a device in this process, with NVIDIA's NVRTC, which is opened when
 * first needed. */
#ifndef EIN_DRIVER_NVRTC_H
#define EIN_DRIVER_NVRTC_H

#include "native.h"

/* A program's C text with its kernels in it, from the cache, or compiled now and cached. A program without kernels
 * needs no compilation. device_text: for this machine's device. */
Leave device_text(Session *s, const Job *j, const EmitOptions *o, Buf *text, double *seconds);
/* For the devices of --arch: "sm_80,sm_90,compute_90", whether they are here or not; NULL: all that NVRTC knows, and
 * later ones. */
Leave device_text_for(Session *s, const Job *j, const EmitOptions *o, const char *archs, Buf *text);

Leave devices_count(Session *s, int *n); /* of this machine, at least one */

#endif
