/* SPDX-License-Identifier: Apache-2.0 */
/* A number for each exported entry point of functions.def. */
#ifndef SIMGPU_DRIVER_IDS_H
#define SIMGPU_DRIVER_IDS_H

#include <cuda.h>

#include "simgpu/simgpu.h"

enum sim_id {
#define SIM(symbol, base, since, params, args) ID_##symbol,
#define SIM_PTDS(symbol, base, since, since_pt, params, args) ID_##symbol, ID_##symbol##_ptds,
#define SIM_PTSZ(symbol, base, since, since_pt, params, args) ID_##symbol, ID_##symbol##_ptsz,
#include "simgpu/driver/functions.def"
    ID_COUNT
};

/* tally.c: one call of the entry point has been made. */
void sim_tally(unsigned id);
/* tally.c */
extern const char *const sim_names[ID_COUNT];

/* watch.c: the tool that calls are reported to (NULL: none), and reporting one. */
extern _Atomic(simgpu_watcher *) sim_watcher;
void sim_watch(simgpu_watcher *watcher);
struct simgpu_call sim_watch_begin(unsigned id, const void *parameters);
void sim_watch_end(struct simgpu_call *call, CUresult *result);

#endif
