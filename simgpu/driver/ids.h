/* SPDX-License-Identifier: Apache-2.0 */
/* A number for each exported entry point of functions.def. */
#ifndef SIMGPU_DRIVER_IDS_H
#define SIMGPU_DRIVER_IDS_H

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

#endif
