/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nights of many programs by what makes their numbers: steps that copy, launch and allocate, a host and a device that are
 * not equally fast each night, nights on which the machine is busy with something else, programs whose work depends on
 * data. A fault is planted as what a commit does (each step copies twice as often), never by what is to be found. Knows
 * nothing of the analyzer.
 */
#ifndef TESTS_TREND_NIGHTS_H
#define TESTS_TREND_NIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum regression {
    REGRESSION_NONE,
    REGRESSION_COPIES,   /* each step copies more often             */
    REGRESSION_KERNELS,  /* kernels take longer                      */
    REGRESSION_HOST,     /* host code takes longer                   */
    REGRESSION_MEMORY,   /* more device memory                       */
    REGRESSION_LAUNCHES, /* each step launches more kernels          */
    REGRESSION_MISTAKE,  /* something that a rule sees               */
    REGRESSIONS
};

enum { NIGHT_MISTAKES = 6 }; /* that any program may have */

struct night {
    double start_s; /* wall clock */
    double program_ns, busy_ns, kernel_ns, copy_ns;
    double calls, launches, copies, copy_bytes, allocations, peak_bytes;
    bool has[NIGHT_MISTAKES];
    double gain_ns[NIGHT_MISTAKES];
    unsigned machine; /* 0, or 1 after another driver was installed */
};

struct nights {
    size_t programs, count;
    struct night *all;     /* [program][night] */
    size_t program, night; /* that the fault is in, and the first that has it */
};

/* strength: 1.3 makes it 1.3 times as much. Free `all`. */
struct nights make_nights(uint64_t seed, enum regression fault, double strength);
/* A seed's own choices, for tests that draw faults. */
double draw_uniform(uint64_t *state, double least, double most);

#endif
