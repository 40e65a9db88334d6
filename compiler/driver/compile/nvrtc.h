/* driver/compile/nvrtc.h - kernels for a device, compiled in this process by NVIDIA's NVRTC, which is opened when there is something to compile. */
#ifndef EIN_DRIVER_NVRTC_H
#define EIN_DRIVER_NVRTC_H

#include "native.h"

/* A program's text in C, with its kernels in it: from the cache, or compiled now and kept there. Of a program without kernels nothing is compiled. */
/* For the device that is here. */
Leave device_text(Session *s, const Job *j, const EmitOptions *o, Buf *text, double *seconds);
/* For those of --arch: "sm_80,sm_90,compute_90", whether they are here or not; NULL: for all that NVRTC knows and those to come. */
Leave device_text_for(Session *s, const Job *j, const EmitOptions *o, const char *archs, Buf *text);

Leave devices_count(Session *s, int *n); /* of this machine, one at least */

#endif
