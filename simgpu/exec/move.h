/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of comparisons, selections and moves, one per level. */
#ifndef SIMGPU_EXEC_MOVE_H
#define SIMGPU_EXEC_MOVE_H

#include "simgpu/exec/compare.h"

enum {
#define COMPARE(...) +1
    SIM_COMPARES = 0
#include "simgpu/exec/compare.def"
    ,
#undef COMPARE
};

/* The registers of {a, b, ...}, low part first. */
struct sim_parts {
    uint32_t count, bytes; /* of each part, as in the whole */
    uint32_t at[4];
};

/* Handlers by size of a lane: 2, 4, 8 bytes. */
struct sim_move_table {
    struct sim_compare compares[SIM_COMPARES];
    sim_handler set;
    sim_handler move[3], select[3], choose_signed[3], choose_float[3];
    sim_handler permute;
    sim_handler unpack64, unpack32, pack64, pack32; /* into and from two halves */
};
extern const struct sim_move_table sim_move_table_any, sim_move_table_avx2;

/* Selector nibbles that mode `mode` of prmt (0 = the selector itself) means by selector 0..3. */
enum sim_permute { SIM_PRMT_INDEX, SIM_F4E, SIM_B4E, SIM_RC8, SIM_ECL, SIM_ECR, SIM_RC16 };

#endif
