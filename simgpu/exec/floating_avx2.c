/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of floating_lanes.h for processors with AVX2. */
#define SIM_AVX2 1
#include "simgpu/exec/floating_lanes.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
