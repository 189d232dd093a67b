/* SPDX-License-Identifier: Apache-2.0 */
/* Where an ELF file has its CUDA runtime from. */
#ifndef GMT_STORE_SYMBOLS_ELF_CUDA_H
#define GMT_STORE_SYMBOLS_ELF_CUDA_H

#include "libtrace/store/symbols/elf_image.h"

#define GMT_CUDA_RUNTIME_FILE "libcudart.so"

/* GMT_CUDA_RUNTIME(id, name in the trace) */
#define GMT_CUDA_RUNTIMES \
    GMT_CUDA_RUNTIME(NONE, "none") /* it uses none */ \
    GMT_CUDA_RUNTIME(SHARED, "shared") \
    GMT_CUDA_RUNTIME(STATIC, "static") \
    GMT_CUDA_RUNTIME(ITSELF, "is the runtime")

enum gmt_cuda_runtime {
#define GMT_CUDA_RUNTIME(id, name) GMT_CUDA_##id,
    GMT_CUDA_RUNTIMES
#undef GMT_CUDA_RUNTIME
};

/* `path`: the file's. *needed: the shared runtime that it names, inside the image, or NULL. */
enum gmt_cuda_runtime gmt_elf_cuda_runtime(const struct gmt_elf *image, const char *path,
                                           const char **needed);
/* Was device code compiled into it? */
bool gmt_elf_has_device_code(const struct gmt_elf *image);

#endif
