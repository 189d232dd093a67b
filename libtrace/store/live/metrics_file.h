/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a running program in Prometheus' text format (version 0.0.4), for a collector that reads files. */
#ifndef GMT_STORE_LIVE_METRICS_FILE_H
#define GMT_STORE_LIVE_METRICS_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "libtrace/record/layout.h"
#include "libtrace/store/live/live_page.h"

/* Print all metrics. labels: of all samples (pid="1"), or "". is_up: the program runs. */
void gmt_metrics_print(FILE *out, const struct gmt_live_page *page,
                       const struct gmt_control *control, const char *labels, bool is_up);

/* Make or replace `path` in one step: whoever reads it finds all of one writing. 0 or negative errno; then it is as
 * it was. */
int gmt_metrics_write(const char *path, const struct gmt_live_page *page,
                      const struct gmt_control *control, const char *labels, bool is_up);

#endif
