/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of integer forms, one per level. */
#ifndef SIMGPU_EXEC_INTEGER_H
#define SIMGPU_EXEC_INTEGER_H

#include "simgpu/exec/form.h"

enum sim_lop3_flags { /* above the truth table in sim_op.flags */
                      SIM_LOP3_AND = 256,
                      SIM_LOP3_NEGATED = 512,
};

enum {
#define ONE(...) +1
#define TWO(...) +1
#define THREE(...) +1
#define FOUR(...) +1
    SIM_INTEGER_FORMS = 0
#include "simgpu/exec/integer.def"
    ,
#undef ONE
#undef TWO
#undef THREE
#undef FOUR
#define CARRY2(...) +1
#define CARRY3(...) +1
    SIM_CARRY_FORMS = 0
#include "simgpu/exec/integer_carry.def"
#undef CARRY2
#undef CARRY3
};

struct sim_integer_table {
    struct sim_form forms[SIM_INTEGER_FORMS];
    struct sim_form carries[SIM_CARRY_FORMS];
    sim_handler lop3;
};
extern const struct sim_integer_table sim_integer_table_any, sim_integer_table_avx2;

#endif
