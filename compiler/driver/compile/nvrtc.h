/* driver/compile/nvrtc.h - kernels for a device, compiled in this process by NVIDIA's NVRTC, which is opened when there is something to compile. */
#ifndef EIN_DRIVER_NVRTC_H
#define EIN_DRIVER_NVRTC_H

#include "native.h"

/* What runs here: that there is a driver, and a device. *arch: "90" of compute capability 9.0. */
Leave device_find(Session *s, const char **arch);
/* j's kernels, from the cache, or compiled now and kept there. Of none of them nothing is made. */
Leave device_image(Session *s, const Job *j, const EmitOptions *o, const char *arch, EmitImage *out, double *seconds);
/* The text in C around these. */
Leave device_text(Session *s, const Job *j, const EmitOptions *o, Buf *text, double *seconds);

#endif
