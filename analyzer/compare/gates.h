/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace has to hold to, and what it did not hold to: --fail-on, --budget, --baseline. */
#ifndef GMT_ANALYZER_COMPARE_GATES_H
#define GMT_ANALYZER_COMPARE_GATES_H

#include <stdio.h>

#include "reports/model/comparison.h"

enum gmt_level { GMT_LEVEL_OFF, GMT_LEVEL_WARN, GMT_LEVEL_ERROR };

enum gmt_holds {
    GMT_HOLDS_YES,
    GMT_HOLDS_NO,
    GMT_HOLDS_UNKNOWN, /* the value is not known: neither held nor broken */
};

/* One thing that was asked for, and what is. */
struct gmt_gate {
    enum gmt_level level;
    enum gmt_holds holds;
    const char *gate;       /* "budget", "baseline", "fail-on"   */
    const char *what;       /* "pageable_bytes", "GM102", ...    */
    const char *is, *limit; /* for people: "3.1 MiB", "<= 0 B"   */
    const char *note;       /* what else there is to say, or NULL */
};

struct gmt_gates {
    struct gmt_arena *arena;
    struct gmt_gate *gates;
    size_t count;
};

void gmt_gates_add(struct gmt_gates *gates, const struct gmt_gate *gate);

/*
 * What must not grow by more than `share` from the baseline to the trace: counts and bytes first,
 * which are exact; then times, which fail only when they also grew by more than the noise. A finding
 * of medium or high severity that the baseline has not, not even as a note, fails as well.
 */
void gmt_gates_baseline(struct gmt_gates *gates, const struct gmt_comparison *comparison,
                        double share);

/* Has a gate of level error not held? */
bool gmt_gates_failed(const struct gmt_gates *gates);
/* Could a gate of level error not be decided? */
bool gmt_gates_unknown(const struct gmt_gates *gates);
/* A table of the gates that did not hold or could not be decided; nothing when there is none. */
void gmt_gates_print(const struct gmt_gates *gates, const char *trace, FILE *out);

#endif
