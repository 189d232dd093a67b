/* SPDX-License-Identifier: Apache-2.0 */
/* The real driver: what it has of what is hooked, and of what gmtrace itself calls. */
#ifndef GMT_PRELOAD_DRIVER_RESOLVE_H
#define GMT_PRELOAD_DRIVER_RESOLVE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/driver/hook_ids.h"

/* Look up what the driver has of what is hooked, once it is loaded. `candidate`: a handle that may be
 * of one which has another name than libcuda.so.1, or NULL. False: there is none yet. */
bool gmt_resolve(void *candidate);

/* dlopen handle of the driver in use; NULL before it is loaded. */
void *gmt_libcuda(void);

/* Some address in libc. */
void *gmt_resolve_in_libc(void);

/* A driver entry point itself, bypassing the hooks; NULL if this driver has none of that name. */
void *gmt_real_symbol(const char *name);

/* Which hook stands for the driver function at `real`: its gmt_hook_id; GMT_HOOK_COUNT: none. */
unsigned gmt_hook_of(const void *real);

/* The driver's own functions that hooks call; members are NULL where the driver is too old. */
struct gmt_driver {
#define GMT_DRIVER(symbol, parameters) CUresult(*symbol) parameters;
#include "preload/driver/driver.def"
#undef GMT_DRIVER
};
extern struct gmt_driver gmt_driver;
extern bool gmt_driver_is_software; /* it is the software device's */

/* Real entry points by gmt_hook_id, NULL until looked up. */
extern void *gmt_hook_real[GMT_HOOK_COUNT];
/* Look one up now; NULL if this driver has none. */
void *gmt_hook_find_real(enum gmt_hook_id id);

/* In a forked child: another thread may have held the lock. */
void gmt_resolve_reset(void);
/* Fill gmt_driver and gmt_driver_is_software, which the trace records; called once when recording
 * starts. */
void gmt_driver_load(void);

#endif
