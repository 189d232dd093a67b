/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the program a call was made: the first return address outside of the CUDA libraries and of gmtrace. */
#include <dlfcn.h>
#include <execinfo.h>
#include <string.h>

#include "simgpu/driver/late.h"

#define MOST_FRAMES 24

static bool is_library(const char *path)
{
    static const char *const names[] = {"libcuda.so", "libcudart", "libgmtrace"};
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strncmp(name, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

const void *sim_late_caller(void)
{
    void *frames[MOST_FRAMES];
    Dl_info info;
    int count = backtrace(frames, MOST_FRAMES);
    for (int i = 0; i < count; i++) {
        if (dladdr(frames[i], &info) != 0 && info.dli_fname != NULL &&
            !is_library(info.dli_fname)) {
            return frames[i];
        }
    }
    return NULL;
}
