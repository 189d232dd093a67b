/* SPDX-License-Identifier: Apache-2.0 */
/* What the recording found when it checked itself; a part of struct gmt_report. */
#ifndef GMT_REPORTS_MODEL_COVERAGE_H
#define GMT_REPORTS_MODEL_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A row of table coverage. NAN: it has no such number. */
struct gmt_coverage_line {
    const char *kind, *what, *class, *detail;
    double requests, expected, seen, extra;
};

struct gmt_coverage_example {
    const char *what, *side, *detail; /* `what` of a line of kind "records" */
    int64_t id;
};

struct gmt_coverage {
    struct gmt_coverage_line *lines; /* none: the trace was not checked */
    size_t line_count;
    struct gmt_coverage_example *examples;
    size_t example_count;
    bool compared; /* with device records    */
    bool differs;  /* from them, in any kind */
};

/* Of an entry point: would the trace lack something after a call? */
bool gmt_coverage_matters(const struct gmt_coverage_line *line);

#endif
