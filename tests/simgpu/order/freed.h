/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that name memory which was freed: each is refused, as memory is not there any more. */
#ifndef SIMGPU_TESTS_ORDER_FREED_H
#define SIMGPU_TESTS_ORDER_FREED_H

#include <cuda.h>

/* So many kinds of calls there are. */
#define FREED_CALLS 14

/* Makes a call of that kind, which names `gone`, and `own`, page-locked memory that is there. The program fails where it is not refused. */
void freed_name(unsigned kind, CUdeviceptr gone, void *own, CUstream stream);

#endif
