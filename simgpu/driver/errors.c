/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of results, and the device's own line on standard error. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "simgpu/driver/driver.h"

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
#define ERROR(name, text) {CUDA_##name, "CUDA_" #name, text},
#include "simgpu/driver/errors.def"
#undef ERROR
};

static CUresult describe(CUresult error, const char **out, bool name)
{
    if (out == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
        if (errors[i].code == error) {
            *out = name ? errors[i].name : errors[i].text;
            return CUDA_SUCCESS;
        }
    }
    *out = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult sim_cuGetErrorName(CUresult error, const char **pStr)
{
    return describe(error, pStr, true);
}

CUresult sim_cuGetErrorString(CUresult error, const char **pStr)
{
    return describe(error, pStr, false);
}

/* One write, so that lines of several threads and processes do not mix. */
void sim_say(const char *format, ...)
{
    char line[2048];
    va_list arguments;
    int used = snprintf(line, sizeof line, "gmtrace software device: ");
    va_start(arguments, format);
    int more = vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
    va_end(arguments);
    size_t bytes = (size_t)used + (more > 0 ? (size_t)more : 0);
    if (bytes > sizeof line - 2) {
        bytes = sizeof line - 2;
    }
    line[bytes++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, bytes);
    (void)written; /* there is nobody to report it to */
}
