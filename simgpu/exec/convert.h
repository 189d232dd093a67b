/* SPDX-License-Identifier: Apache-2.0 */
/* cvt: one number at a time, and the commonest forms for all lanes at once. */
#ifndef SIMGPU_EXEC_CONVERT_H
#define SIMGPU_EXEC_CONVERT_H

#include "simgpu/exec/form.h"

#define SIM_SATFINITE SIM_FLAGS_END
#define SIM_TIES_AWAY (SIM_FLAGS_END << 1) /* .rna */

struct sim_conversion {
    enum ptx_type to, from;
    unsigned to_bytes, from_bytes; /* of the registers: may be wider than the types */
    uint32_t flags;
    uint64_t (*convert)(const struct sim_conversion *conversion, uint64_t bits);
};

/* The number in `bits`, as it lies in a register of to_bytes. One of these serves the types. */
uint64_t sim_convert_integer(const struct sim_conversion *conversion, uint64_t bits);
uint64_t sim_convert_to_float(const struct sim_conversion *conversion, uint64_t bits);
uint64_t sim_convert_to_integer(const struct sim_conversion *conversion, uint64_t bits);
uint64_t sim_convert_float(const struct sim_conversion *conversion, uint64_t bits);

/* An 8-bit number from a value, and the f16 that it stands for. */
uint32_t sim_to_f8(enum ptx_type to, double value, uint32_t flags);
uint16_t sim_from_f8(enum ptx_type from, uint32_t bits);

/* Narrowing and extending integers: ((x & mask) ^ sign) - sign, of the source, then of the result. */
struct sim_extension {
    uint64_t from_mask, from_sign, to_mask, to_sign;
};

enum { SIM_CONVERT_FORMS = 10 };
struct sim_convert_table {
    struct sim_form forms[SIM_CONVERT_FORMS];
    sim_handler extend[3][3]; /* by size of the registers: [from][to] */
};
extern const struct sim_convert_table sim_convert_table_any, sim_convert_table_avx2;

#endif
