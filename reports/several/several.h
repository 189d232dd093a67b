/* SPDX-License-Identifier: Apache-2.0 */
/* Writers of what several traces are together: a comparison of two, ranks of many. */
#ifndef GMT_REPORTS_SEVERAL_SEVERAL_H
#define GMT_REPORTS_SEVERAL_SEVERAL_H

#include "reports/model/comparison.h"
#include "reports/model/ranks.h"
#include "reports/model/writer.h"

/* What is to be written: one of the two. */
struct gmt_several {
    const struct gmt_comparison *comparison;
    const struct gmt_ranks *ranks;
    const char *reproduce; /* the command line that writes it again, or NULL */
};

struct gmt_several_writer {
    const char *name, *extension; /* as those of single traces */
    /* 0 or negative errno. Does not close out. */
    int (*write)(const struct gmt_several *several, const struct gmt_writer_options *options,
                 FILE *out);
};

const struct gmt_several_writer *gmt_several_writer_find(const char *name); /* or NULL */

/* Whole or not at all. */
int gmt_several_write_file(const struct gmt_several_writer *writer,
                           const struct gmt_several *several,
                           const struct gmt_writer_options *options, const char *path);

#endif
