/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the program's requests for driver entry points are turned into hooks.
 *
 * Three doors lead to the driver: the exported cu* names (PLT), dlsym, and cuGetProcAddress. The
 * last is routed by the pointer the driver returns, never by name: one name has several signatures,
 * chosen by the version asked for.
 */
#ifndef GMT_PRELOAD_LOOKUP_RESOLVE_H
#define GMT_PRELOAD_LOOKUP_RESOLVE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

#include "preload/lookup/coverage.h"

/* Look up what the driver has of what is hooked, once it is loaded. `candidate`: a handle that may be
 * of one which has another name than libcuda.so.1, or NULL. False: there is none yet. */
bool gmt_resolve(void *candidate);

/* dlopen handle of the driver in use; NULL before it is loaded. */
void *gmt_libcuda(void);

/* Some address in libc. */
void *gmt_resolve_in_libc(void);

/* A driver entry point itself, bypassing the hooks; NULL if this driver has none of that name. */
void *gmt_real_symbol(const char *name);

/* What the program gets instead of `real`, which the driver returned for `name`: our hook, a
 * counting jump for an entry point without one (coverage.h), or `real` itself. `version`: as in
 * gmt_coverage_note. */
void *gmt_route(enum gmt_door door, const char *name, void *real, int version);

/* The driver's own functions that hooks call; members are NULL where the driver is too old. */
struct gmt_driver {
#define GMT_DRIVER(symbol, parameters) CUresult(*symbol) parameters;
#include "preload/hooks/driver.def"
#undef GMT_DRIVER
};
extern struct gmt_driver gmt_driver;
extern bool gmt_driver_is_software; /* it is the software device's */
/* In a forked child: another thread may have held the lock. */
void gmt_resolve_reset(void);
/* Fill gmt_driver and gmt_driver_is_software, which the trace is told; called once when recording
 * starts. */
void gmt_driver_load(void);

#endif
