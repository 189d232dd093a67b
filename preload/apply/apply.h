/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applies fixes to the program in place of recording it. Off, and nothing of it is reached, unless GMTRACE_APPLY names a plan.
 *
 * It starts where recording would start, and recording is refused then: hooks pass straight through to what
 * gmt_hook_real names. There the functions of calls.c are put in place of the driver's.
 */
#ifndef GMT_PRELOAD_APPLY_APPLY_H
#define GMT_PRELOAD_APPLY_APPLY_H

#include <cuda.h>
#include <stdbool.h>

/* Does the environment ask for it? Then nothing is recorded in this process. */
bool gmt_apply_is_wanted(void);
/* Read the plan, say on standard error what will be done, and do it from the next call on. Once; the driver is loaded. */
void gmt_apply_start(void);

/* Gives memory back to the driver that fixes have kept, if they have any. True: there was some. */
bool gmt_apply_make_room(void);
/* Is the call that returned `result` to be made again, since there was no memory, and now there is more? */
static inline bool gmt_apply_made_room(CUresult result)
{
    return __builtin_expect(result == CUDA_ERROR_OUT_OF_MEMORY, 0) && gmt_apply_make_room();
}

#endif
