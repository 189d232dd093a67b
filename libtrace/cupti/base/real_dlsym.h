/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader's dlsym itself. Where this code is part of libgmtrace.so, the name dlsym is our own look-up
 * (preload/lookup/dlsym.S), which stands on what is here.
 */
#ifndef GMT_CUPTI_BASE_REAL_DLSYM_H
#define GMT_CUPTI_BASE_REAL_DLSYM_H

typedef void *gmt_dlsym_function(void *, const char *);

/* NULL until it is asked for first. Used by dlsym.S. */
extern __attribute__((visibility("hidden"))) gmt_dlsym_function *gmt_real_dlsym;
/* ... and that, asked for. */
__attribute__((visibility("hidden"))) gmt_dlsym_function *gmt_find_real_dlsym(void);

/* The loader's dlsym, without our filter. */
void *gmt_dlsym_past_us(void *handle, const char *name);

#endif
