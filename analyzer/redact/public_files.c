/* SPDX-License-Identifier: Apache-2.0 */
/* Headers that are the same on every machine: the toolkit's, the C++ library's, the compiler's. */
#include <stdbool.h>
#include <string.h>

#include "analyzer/redact/public_names.h"
#include "libtrace/base/prefix.h"

/* Of the toolkit's folder of headers. */
static const char *const toolkit_folders[] = {"cccl/",  "cooperative_groups/", "crt/", "cub/",
                                              "cuda/",  "libcudacxx/",         "nv/",  "nvtx3/",
                                              "thrust/"};
static const char *const toolkit_headers[] = {
    "channel_descriptor.h",
    "common_functions.h",
    "cooperative_groups.h",
    "cuda_bf16.h",
    "cuda_bf16.hpp",
    "cuda_device_runtime_api.h",
    "cuda_fp16.h",
    "cuda_fp16.hpp",
    "cuda_fp8.h",
    "cuda_fp8.hpp",
    "cuda_pipeline.h",
    "cuda_pipeline_helpers.h",
    "cuda_pipeline_primitives.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "curand_kernel.h",
    "device_atomic_functions.h",
    "device_atomic_functions.hpp",
    "device_functions.h",
    "math_functions.h",
    "mma.h",
    "sm_20_atomic_functions.hpp",
    "sm_20_intrinsics.hpp",
    "sm_30_intrinsics.hpp",
    "sm_32_atomic_functions.hpp",
    "sm_32_intrinsics.hpp",
    "sm_35_intrinsics.h",
    "sm_60_atomic_functions.hpp",
    "sm_61_intrinsics.hpp",
    "vector_functions.hpp",
};

static const struct {
    const char *folder, *name;
} headers[] = {
#define GMT_PUBLIC_HEADER(folder, name) {folder, name},
#include "analyzer/redact/public_headers.def"
#undef GMT_PUBLIC_HEADER
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* ---- the toolkit's ------------------------------------------------------------------------------- */

/* Below the folder of headers. */
static bool is_toolkit_header(const char *header)
{
    if (strstr(header, "/..") != NULL) {
        return false;
    }
    for (size_t i = 0; i < COUNT(toolkit_folders); i++) {
        if (gmt_starts_with(header, toolkit_folders[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < COUNT(toolkit_headers); i++) {
        if (strcmp(header, toolkit_headers[i]) == 0) {
            return true;
        }
    }
    return false;
}

const char *gmt_public_toolkit_part(const char *path)
{
    static const char *const targets[] = {"/targets/x86_64-linux/include/",
                                          "/targets/aarch64-linux/include/",
                                          "/targets/sbsa-linux/include/"};

    for (size_t i = 0; i < COUNT(targets); i++) {
        const char *part = strstr(path, targets[i]);

        if (part != NULL && is_toolkit_header(part + strlen(targets[i]))) {
            return part;
        }
    }
    return NULL;
}

/* What follows the place where installations put a toolkit, with or without its version; or NULL. */
static const char *below_toolkit(const char *path)
{
    static const char *const places[] = {"/usr/local/cuda", "/opt/cuda"};

    for (size_t i = 0; i < COUNT(places); i++) {
        const char *rest = path + strlen(places[i]);

        if (!gmt_starts_with(path, places[i])) {
            continue;
        }
        if (*rest == '-') {
            rest += 1 + strspn(rest + 1, "0123456789.");
        }
        if (*rest == '/') {
            return rest;
        }
    }
    return NULL;
}

static char *toolkit_file(const char *path)
{
    const char *part = gmt_public_toolkit_part(path), *below = below_toolkit(path);

    if (below != NULL && (below == part || (gmt_starts_with(below, "/include/") &&
                                            is_toolkit_header(below + strlen("/include/"))))) {
        return strdup(path);
    }
    return part != NULL ? strdup(part) : NULL;
}

/* ---- the system's -------------------------------------------------------------------------------- */

static const char *const machines[] = {"x86_64-linux-gnu/", "aarch64-linux-gnu/",
                                       "x86_64-redhat-linux/", "aarch64-redhat-linux/"};

static const char *behind_machine(const char *path)
{
    for (size_t i = 0; i < COUNT(machines); i++) {
        if (gmt_starts_with(path, machines[i])) {
            return path + strlen(machines[i]);
        }
    }
    return NULL;
}

static const char *behind_version(const char *path)
{
    size_t digits = strspn(path, "0123456789.");

    return digits > 0 && digits < 10 && path[digits] == '/' ? path + digits + 1 : NULL;
}

static bool is_header_of(const char *folder, const char *name)
{
    for (size_t i = 0; i < COUNT(headers); i++) {
        if (strcmp(headers[i].folder, folder) == 0 && strcmp(headers[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_system_header(const char *path)
{
    static const char cpp[] = "/usr/include/c++/", gcc[] = "/usr/lib/gcc/", c[] = "/usr/include/";
    const char *rest = NULL;

    if (gmt_starts_with(path, cpp)) {
        rest = behind_version(path + strlen(cpp));
        return rest != NULL && is_header_of("c++", rest);
    }
    if (gmt_starts_with(path, gcc)) {
        rest = behind_machine(path + strlen(gcc));
        rest = rest != NULL ? behind_version(rest) : NULL;
        return rest != NULL && gmt_starts_with(rest, "include/") &&
               is_header_of("gcc", rest + strlen("include/"));
    }
    rest = gmt_starts_with(path, c) ? behind_machine(path + strlen(c)) : NULL;
    return rest != NULL && gmt_starts_with(rest, "bits/") &&
           is_header_of("bits", rest + strlen("bits/"));
}

char *gmt_public_file(const char *text)
{
    if (is_system_header(text) || strcmp(text, "cuda_runtime.h") == 0) {
        return strdup(text);
    }
    return toolkit_file(text);
}
