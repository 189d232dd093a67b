/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a trace: queries whose rows are what is wrong. */
#ifndef GMT_ANALYZER_VALIDATE_CHECKS_H
#define GMT_ANALYZER_VALIDATE_CHECKS_H

#include <stddef.h>

enum gmt_check_state {
    GMT_CHECK_OK,
    GMT_CHECK_SKIPPED, /* the trace is of a version without those tables */
    GMT_CHECK_WARNING, /* something is missing, what is there is right */
    GMT_CHECK_FAILED
};

struct gmt_check {
    const char *name, *what;    /* `what` is true of a good trace */
    const char *sql;            /* one row per fault, its first column says where */
    enum gmt_check_state state; /* of a trace with a fault */
};

extern const struct gmt_check gmt_checks[];
extern const size_t gmt_check_count;

#endif
