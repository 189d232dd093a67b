/* SPDX-License-Identifier: Apache-2.0 */
/* Distinguishes a CUDA runtime that is part of a file from one that the file is linked with. */
#include "libtrace/store/symbols/elf_cuda.h"

#include <string.h>

/* The names that the runtime has for tools, and for errors: in both its forms, in no other code. */
static bool holds_runtime(const struct gmt_elf *image)
{
    static const char name[] = "cudaRuntimeGetVersion", error[] = "cudaErrorInsufficientDriver";
    size_t bytes = 0;
    const char *texts = gmt_elf_section(image, ".rodata", &bytes);
    return texts != NULL && memmem(texts, bytes, name, sizeof(name)) != NULL &&
           memmem(texts, bytes, error, sizeof(error)) != NULL;
}

/* With -rdc=true the second section holds what was compiled, the first what was linked of it. */
bool gmt_elf_has_device_code(const struct gmt_elf *image)
{
    size_t linked = 0, compiled = 0;
    return (gmt_elf_section(image, ".nv_fatbin", &linked) != NULL && linked > 0) ||
           (gmt_elf_section(image, "__nv_relfatbin", &compiled) != NULL && compiled > 0);
}

static const char *needed_runtime(const struct gmt_elf *image)
{
    static const char prefix[] = GMT_CUDA_RUNTIME_FILE ".";
    const char *name, *found = NULL;
    for (size_t i = 0; (name = gmt_elf_dynamic_text(image, DT_NEEDED, i)) != NULL; i++) {
        found = strncmp(name, prefix, sizeof(prefix) - 1) == 0 ? name : found;
    }
    return found;
}

/* What the symbols say of it. */
struct signs {
    bool imports;   /* functions of the runtime                            */
    bool registers; /* device code with a runtime that is elsewhere        */
    bool exports;   /* the runtime itself                                  */
    bool looks_up;  /* with dlsym: how a static runtime finds the driver   */
};

static struct signs read_signs(const struct gmt_elf *image)
{
    struct gmt_elf_symbols symbols = gmt_elf_symbols(image);
    struct signs signs = {false};
    bool is_import;
    const char *name;
    while ((name = gmt_elf_next_symbol(&symbols, &is_import)) != NULL) {
        if (strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0) {
            signs.imports |= is_import;
            signs.registers |= is_import && strcmp(name, "__cudaRegisterFatBinary") == 0;
            signs.exports |= !is_import && strcmp(name, "cudaRuntimeGetVersion") == 0;
        }
        signs.looks_up |= is_import && strcmp(name, "dlsym") == 0;
    }
    return signs;
}

enum gmt_cuda_runtime gmt_elf_cuda_runtime(const struct gmt_elf *image, const char *path,
                                           const char **needed)
{
    const struct signs signs = read_signs(image);
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    *needed = needed_runtime(image);
    if (signs.exports) {
        return strncmp(file, GMT_CUDA_RUNTIME_FILE, strlen(GMT_CUDA_RUNTIME_FILE)) == 0
                   ? GMT_CUDA_ITSELF
                   : GMT_CUDA_STATIC;
    }
    if (signs.registers || (signs.imports && *needed != NULL)) {
        return GMT_CUDA_SHARED;
    }
    if (gmt_elf_has_device_code(image) || (signs.looks_up && holds_runtime(image))) {
        return GMT_CUDA_STATIC;
    }
    return signs.imports || *needed != NULL ? GMT_CUDA_SHARED : GMT_CUDA_NONE;
}
