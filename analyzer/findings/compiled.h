/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that XLA makes itself, while it runs a function that jax.jit has compiled. */
#ifndef GMT_ANALYZER_FINDINGS_COMPILED_H
#define GMT_ANALYZER_FINDINGS_COMPILED_H

#include "reports/model/finding.h"

/* What a stack shows, as bits. */
enum gmt_compiled {
    /* Inside of the execution of a compiled function; of a loop or a condition in it, too. */
    GMT_COMPILED_RUNS = 1U << 0,
    GMT_COMPILED_NESTED = 1U << 1,
    /* XLA's frames have no names, and no function of JAX's that reads an array is on the stack. */
    GMT_COMPILED_DOUBT = 1U << 2,
};

/*
 * Of the frames of a call, innermost first. What is further in than Python, or than native code of the program's own, which
 * a compiled function can call back, was asked for there. 0: none of these.
 */
unsigned gmt_compiled_of_stack(const struct gmt_report_frame *frames, size_t n);

#endif
