/* SPDX-License-Identifier: Apache-2.0 */
/* What a writer of reports is: one struct each over the same read-only model. */
#ifndef GMT_REPORTS_MODEL_WRITER_H
#define GMT_REPORTS_MODEL_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "reports/model/report.h"

struct gmt_writer_options {
    size_t top; /* findings to show in full, 0: all */
    size_t
        lines; /* text only: leave out details until it has no more, if it can; 0: as many as it takes */
    bool color;
    size_t columns;          /* text only: of a line; 0: there is no terminal */
    const char *source_root; /* folder that sources are named relative to; NULL: unknown */
};

struct gmt_writer {
    const char *name; /* as in --format */
    bool wants_page;  /* shows single events: fill report.page first */
    /* 0 or negative errno. Does not close out. */
    int (*write)(const struct gmt_report *report, const struct gmt_writer_options *options,
                 FILE *out);
};

#endif
