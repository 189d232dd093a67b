/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of integer_lanes.h for processors with AVX2. */
#define SIM_AVX2 1
#include "simgpu/exec/integer_lanes.h"
#if defined(__clang__) && defined(SIM_HAS_AVX2)
#pragma clang attribute pop
#endif
