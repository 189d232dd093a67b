/* SPDX-License-Identifier: Apache-2.0 */
/* What rules share that is loaded when the first one asks for it. */
#include "analyzer/findings/rule_context.h"

#include <stdlib.h>

#include "analyzer/findings/kernel_origin.h"
#include "analyzer/memory/content.h"
#include "analyzer/trace/launch_rows.h"

const struct gmt_launch_rows *gmt_analysis_launch_rows(struct gmt_analysis *analysis)
{
    struct gmt_launch_rows *rows = analysis->launch_rows;

    if (rows != NULL) {
        return rows;
    }
    rows = calloc(1, sizeof(*rows));
    if (rows == NULL || gmt_launch_rows_load(rows, analysis->timeline) != 0) {
        if (rows != NULL) {
            gmt_launch_rows_free(rows);
        }
        free(rows);
        return NULL;
    }
    return analysis->launch_rows = rows;
}

const struct gmt_copy_content *gmt_analysis_contents(struct gmt_analysis *analysis)
{
    if (analysis->contents == NULL) {
        analysis->contents = gmt_contents_find(analysis->timeline);
    }
    return analysis->contents;
}

void gmt_analysis_free_shared(struct gmt_analysis *analysis)
{
    if (analysis->launch_rows != NULL) {
        gmt_launch_rows_free(analysis->launch_rows);
    }
    free(analysis->launch_rows);
    free(analysis->contents);
    gmt_kernel_origins_free(analysis->kernel_origins);
    analysis->kernel_origins = NULL;
    analysis->launch_rows = NULL;
    analysis->contents = NULL;
}
