/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the program's requests for driver entry points are turned into hooks.
 *
 * Three lookup paths lead to the driver: the exported cu* names (PLT), dlsym, and cuGetProcAddress. The
 * last is routed by the pointer the driver returns, never by name: one name has several signatures,
 * chosen by the version asked for.
 */
#ifndef GMT_PRELOAD_LOOKUP_ROUTE_H
#define GMT_PRELOAD_LOOKUP_ROUTE_H

#include "preload/driver/coverage.h"

/* What the program gets instead of `real`, which the driver returned for `name`: our hook, a
 * counting jump for an entry point without one (driver/coverage.h), or `real` itself. `version`: as in
 * gmt_coverage_note. */
void *gmt_route(enum gmt_lookup_path via, const char *name, void *real, int version);

#endif
