/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about copies share. */
#ifndef SIMGPU_DRIVER_COPY_BOX_H
#define SIMGPU_DRIVER_COPY_BOX_H

#include "simgpu/driver/driver.h"

/* One side of a 2-D or 3-D copy as the driver's structs describe it. */
struct sim_side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x_bytes, y, z, pitch, height; /* pitch and height 0 = as large as the box */
};

/* Widths are in bytes. */
CUresult sim_copy_box(const struct sim_side *dst, const struct sim_side *src, size_t width,
                      size_t height, size_t depth, CUstream stream, bool blocking);
/* What the addresses are is found out. */
CUresult sim_copy_any(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream,
                      bool blocking);

#endif
