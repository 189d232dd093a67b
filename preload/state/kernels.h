/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and launch classes of the program: described once, found by handle at every launch. */
#ifndef GMT_PRELOAD_STATE_KERNELS_H
#define GMT_PRELOAD_STATE_KERNELS_H

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/collector.h"

struct gmt_parameter {
    uint32_t offset;
    uint32_t bytes;
};

struct gmt_kernel_info {
    CUfunction handle;
    CUfunction
        function; /* for queries: one of those behind a CUkernel, which has one in each context */
    uint32_t id;
    _Atomic uint32_t generation; /* of the loaded modules; a stale one is looked at again */
    int32_t registers;
    bool parameters_known;
    bool never_measure; /* waits for other kernels or ranks by its nature */
    uint16_t parameter_count;
    const char *name;
    const struct gmt_parameter *parameters;
};

/* A class of launches. Lives as long as the process. */
struct gmt_class_info {
    struct gmt_collector_class collector; /* id, kernel, shape, what was measured */
    uint32_t dynamic_shared_bytes;
    uint32_t kernel;
};

/* The kernel behind a launch handle (CUfunction or CUkernel); the first sight writes its record.
 * NULL when memory is out or the table full (counted). */
const struct gmt_kernel_info *gmt_kernel_find(CUfunction handle);

/* Its CUfunction in the current context: a CUkernel has one in each. */
CUfunction gmt_kernel_function_here(const struct gmt_kernel_info *kernel);

/* Its class for this shape; the first sight writes its record. NULL as above. */
struct gmt_class_info *gmt_class_find(const struct gmt_kernel_info *kernel, const uint32_t grid[3],
                                      const uint32_t block[3], uint32_t dynamic_shared_bytes,
                                      const uint32_t cluster[3]);

/* `kernel` was handed out by cuLibraryGetKernel: launches may name it in place of a CUfunction. */
void gmt_kernel_note_library_kernel(CUkernel kernel);

/* Modules were unloaded: their handles may come back as other kernels. */
void gmt_kernel_modules_changed(void);
/* Around a call that unloads some: they may come back in another thread before it has returned. */
void gmt_kernel_modules_going(void);
void gmt_kernel_modules_gone(void);

/* In a forked child: nothing has been written. */
void gmt_kernel_reset(void);

#endif
