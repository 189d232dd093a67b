/* SPDX-License-Identifier: Apache-2.0 */
/* What gmanalyze trend has found, and who writes it. */
#ifndef GMT_ANALYZER_TREND_REPORT_TREND_WRITE_H
#define GMT_ANALYZER_TREND_REPORT_TREND_WRITE_H

#include "analyzer/trend/trend.h"

struct gmt_trend_view {
    struct gmt_trend trend;
    const char *since; /* NULL: all changes */
    size_t top;        /* programs that are shown in text; 0: all */
    struct gmt_arena *arena;
};

void gmt_trend_text(const struct gmt_trend_view *view);
void gmt_trend_json(const struct gmt_trend_view *view);

#endif
