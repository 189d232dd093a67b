/* SPDX-License-Identifier: Apache-2.0 */
/* What fixes did in the programs of copies.c: sums, as lines. */
#ifndef SIMGPU_TESTS_ORDER_COUNTS_H
#define SIMGPU_TESTS_ORDER_COUNTS_H

#include <stdio.h>

#include "preload/apply/note.h"

static const char *const counts_reasons[] = {
#define GMT_REFUSAL(id, text) text,
#include "preload/apply/refusals.def"
#undef GMT_REFUSAL
};

static inline void counts_print(const struct gmt_fix_counts *counts)
{
    printf("applied %llu of %llu bytes, %llu left to the driver\n",
           (unsigned long long)counts->calls, (unsigned long long)counts->bytes,
           (unsigned long long)counts->passed_bytes);
    for (unsigned i = 0; i < GMT_REFUSAL_COUNT; i++) {
        printf("refused %llu: %s\n", (unsigned long long)counts->refused[i], counts_reasons[i]);
    }
}

static inline void counts_add(struct gmt_fix_counts *sum, const struct gmt_fix_counts *counts)
{
    sum->calls += counts->calls;
    sum->bytes += counts->bytes;
    sum->passed_bytes += counts->passed_bytes;
    for (unsigned i = 0; i < GMT_REFUSAL_COUNT; i++) {
        sum->refused[i] += counts->refused[i];
    }
}

#endif
