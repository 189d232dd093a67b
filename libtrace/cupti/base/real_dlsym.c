/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the loader's dlsym (real_dlsym.h). */
#define _GNU_SOURCE
#include "libtrace/cupti/base/real_dlsym.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

gmt_dlsym_function *gmt_real_dlsym;

/* glibc moved dlsym into libc.so with 2.34; older symbol versions stay for older programs. Asking
 * by dlvsym, never by dlsym, keeps us out of other interposers' wrappers. */
gmt_dlsym_function *gmt_find_real_dlsym(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17" /* aarch64 */, "GLIBC_2.2.5"};
    for (size_t i = 0; gmt_real_dlsym == NULL && i < sizeof(versions) / sizeof(versions[0]); i++) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        memcpy(&gmt_real_dlsym, &found, sizeof(found));
    }
    return gmt_real_dlsym;
}

void *gmt_dlsym_past_us(void *handle, const char *name)
{
    return gmt_find_real_dlsym()(handle, name);
}
