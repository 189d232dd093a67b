/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of floating-point forms, one per level. */
#ifndef SIMGPU_EXEC_FLOATING_H
#define SIMGPU_EXEC_FLOATING_H

#include "simgpu/exec/form.h"

enum {
#define FAST(...) +1
#define FLUSH(...) +1
#define RAW(...) +1
#define ANY(...) +1
#define SMALL(...) +1
#define EACH(...) +1
#define PAIR(...) +1
    SIM_FLOATING_FORMS = 8 /* fma, mad */
#include "simgpu/exec/floating.def"
#undef FAST
#undef FLUSH
#undef RAW
#undef ANY
#undef SMALL
#undef EACH
#undef PAIR
};
#define SIM_ABSOLUTE SIM_FLAGS_END /* .abs without .xorsign */

extern const struct sim_form sim_floating_forms_any[SIM_FLOATING_FORMS];
extern const struct sim_form sim_floating_forms_avx2[SIM_FLOATING_FORMS];

#endif
