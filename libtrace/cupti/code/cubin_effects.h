/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions of a cubin can do what no copy of memory takes back.
 *
 * As ptxas and nvlink of CUDA 13.0 write it for sm_75 to sm_120, with and without -G, -lineinfo and -rdc=true
 * (docs/cupti-notes.md):
 *
 * - .nv.callgraph holds pairs of 32-bit numbers. (0, -1) begins pairs of a function and one that it calls, those of the
 *   driver included; (0, -2) functions whose address is taken, with a prototype; (0, -3) functions that call through
 *   pointers, with a prototype; (0, -4) functions and those whose address they take.
 * - .nv.info.FUNCTION holds attributes; one of them lists the functions without a body that FUNCTION uses, after
 *   linking also those that it uses by others.
 * - In a whole program each kernel's section holds copies of the functions it calls, $kernel$function, and of all
 *   whose address is taken if it calls through a pointer; what they call is called by the kernel.
 *
 * An effect reaches a function by any of these pairs and attributes. Nothing is said of single functions (all may have
 * effects) where a call through a pointer may lead into code with an effect, where a driver's function with an effect
 * is called by nobody, and where a section is missing or of another form.
 */
#ifndef GMT_CUPTI_CODE_CUBIN_EFFECTS_H
#define GMT_CUPTI_CODE_CUBIN_EFFECTS_H

#include "libtrace/cupti/code/cubin_symbols.h"

/*
 * Returns a flag for each of `symbols->sections.count` sections: can code in it print, allocate or free memory, or
 * launch kernels? The caller frees it. NULL: all code of the cubin may (or there is no memory). `symbols` are those of a
 * cubin that gmt_cubin_symbols_read has taken.
 */
bool *gmt_cubin_effects(const struct gmt_cubin_symbols *symbols);

#endif
