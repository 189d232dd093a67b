/* SPDX-License-Identifier: Apache-2.0 */
/* Distinguishes the code of runtimes and interpreters from the user's by the names of files and symbols. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/prefix.h"
#include "libtrace/store/symbols/symbolize.h"

static bool starts_with_any(const char *text, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (gmt_starts_with(text, prefixes[i])) {
            return true;
        }
    }
    return false;
}
#define STARTS_WITH_ANY(text, prefixes) \
    starts_with_any(text, prefixes, sizeof(prefixes) / sizeof((prefixes)[0]))

static const char *file_of(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    return slash != NULL ? slash + 1 : path;
}

/* "cuda" and a capital: cudaMemcpy, cudaLaunchKernel. */
static bool is_cuda_name(const char *name)
{
    return gmt_starts_with(name, "cuda") && isupper((unsigned char)name[4]);
}

/* The typed wrappers of cuda_runtime.h are templates with internal linkage: _ZL10cudaMallocIfE...
 * A user's own cudaCheck(...) is neither. */
static bool is_header_wrapper(const char *symbol)
{
    if (!gmt_starts_with(symbol, "_Z")) {
        return false;
    }
    const char *digits = symbol + 2 + (symbol[2] == 'L');
    char *name;
    unsigned long length = strtoul(digits, &name, 10);
    return name != digits && strlen(name) > length && is_cuda_name(name) && name[length] == 'I';
}

bool gmt_symbol_is_runtime(const char *path, const char *symbol)
{
    static const char *const libraries[] = {"libcudart.so", "libcuda.so", "libcudadebugger.so",
                                            "libgmtrace.so"};
    static const char *const prefixes[] = {"__cuda",          "cudart",
                                           "__cudart",        "libcudart_static",
                                           "__device_stub__", "_ZL15__device_stub__",
                                           "_ZN6thrust",      "_ZNK6thrust",
                                           "_ZN3cub",         "_ZNK3cub"};
    const char *file = file_of(path);
    if (file != NULL && STARTS_WITH_ANY(file, libraries)) {
        return true;
    }
    if (symbol == NULL) {
        return false;
    }
    /* nvcc's stub of a kernel, _Z..__device_stub__..., and what it calls in headers of CUDA 13. */
    return STARTS_WITH_ANY(symbol, prefixes) || is_cuda_name(symbol) || is_header_wrapper(symbol) ||
           (gmt_starts_with(symbol, "_Z") && (strstr(symbol, "__device_stub__") != NULL ||
                                              strstr(symbol, "__cudaLaunchKernel_helper") != NULL));
}

bool gmt_symbol_is_library_header(const char *file)
{
    static const char *const marks[] = {"/cuda_runtime.h", "/cuda_runtime_api.h",
                                        "/crt/",           "/targets/x86_64-linux/include/",
                                        "/cuda/include/",  "/include/thrust/",
                                        "/thrust/thrust/", "/include/cub/",
                                        "/cub/cub/",       "/include/cccl/",
                                        "/include/cuda/",  "/libcudacxx/include/",
                                        "/include/c++/"};
    for (size_t i = 0; file != NULL && i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (strstr(file, marks[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* python, python3, python3.12, python3.13t, python3.12d */
static bool is_python_program(const char *file)
{
    if (!gmt_starts_with(file, "python")) {
        return false;
    }
    const char *version = file + strlen("python");
    size_t length = strspn(version, "0123456789.");
    length += strspn(version + length, "dtm");
    return version[length] == '\0';
}

bool gmt_symbol_is_interpreter(const char *path)
{
    /* The interpreter, and what it calls foreign functions through. */
    static const char *const libraries[] = {"libpython", "_ctypes.", "libffi.so", "_cffi_backend."};
    const char *file = file_of(path);
    return file != NULL && (STARTS_WITH_ANY(file, libraries) || is_python_program(file));
}
