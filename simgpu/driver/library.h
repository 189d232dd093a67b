/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and libraries: what their files share. */
#ifndef SIMGPU_DRIVER_LIBRARY_H
#define SIMGPU_DRIVER_LIBRARY_H

#include "simgpu/driver/driver.h"
#include "simgpu/ptx/ptx.h"

/* Options of a load, for what they say about logs. */
struct sim_jit {
    unsigned count;
    CUjit_option *options;
    void **values;
};

/* image.c: the PTX (malloc'ed) in an image of `bytes` bytes, SIZE_MAX = unknown. */
CUresult sim_image_ptx(const void *image, size_t bytes, const struct sim_jit *jit, char **ptx,
                       size_t *ptx_bytes);
CUresult sim_image_new(const char *ptx, size_t ptx_bytes, struct sim_library *library,
                       const struct sim_jit *jit, struct sim_image **image);
/* Its variables become memory of the context. */
CUresult sim_image_enter(struct sim_image *image, struct sim_context *context);
CUresult sim_image_global(const struct sim_image *image, const char *name, bool managed_only,
                          CUdeviceptr *dptr, size_t *bytes);
struct sim_function *sim_image_function(const struct sim_image *image, const char *name);
char *sim_read_file(const char *path, size_t *bytes); /* malloc'ed, NUL-terminated; NULL: none */

/* library_shared.c: the lists of images change with the lock held. */
void sim_library_lock(void);
void sim_library_unlock(void);
void sim_library_forget(struct sim_image *image);
/* Managed variables have one place for all images of a library. */
CUresult sim_library_share(struct sim_library *library, struct sim_image *image);
void sim_library_unshare(struct sim_library *library); /* no image is left */

/* library.c: the image of a library in a context (NULL = any), made at need. */
CUresult sim_library_image(struct sim_library *library, struct sim_context *context,
                           struct sim_image **image);
/* Set an attribute in all images of the device, and in those to come. */
CUresult sim_library_set(struct sim_library_kernel *kernel, CUdevice device,
                         CUfunction_attribute attribute, int value,
                         CUresult (*set)(struct sim_function *, CUfunction_attribute, int));

#endif
