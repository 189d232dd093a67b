/* SPDX-License-Identifier: Apache-2.0 */
/* What gmanalyze fleet has found, and who writes it. */
#ifndef GMT_ANALYZER_FLEET_REPORT_FLEET_WRITE_H
#define GMT_ANALYZER_FLEET_REPORT_FLEET_WRITE_H

#include <jansson.h>

#include "analyzer/fleet/against.h"
#include "analyzer/fleet/clocks.h"
#include "analyzer/fleet/common_findings.h"
#include "analyzer/fleet/detect.h"
#include "analyzer/fleet/handed/direct.h"
#include "analyzer/fleet/handed/staged.h"
#include "analyzer/fleet/imbalance.h"
#include "analyzer/fleet/job.h"
#include "analyzer/fleet/waits.h"

struct gmt_fleet_view {
    const char *folder;
    struct gmt_fleet fleet;
    struct gmt_fleet_clocks clocks;
    struct gmt_fleet_waits waits;
    struct gmt_fleet_staged staged;
    struct gmt_fleet_direct direct;
    struct gmt_fleet_result result;
    struct gmt_fleet_job job;
    struct gmt_fleet_imbalance memory;
    struct gmt_common_findings common;
    const char *against; /* folder of an earlier run; NULL: none */
    struct gmt_fleet_changes changes;
    size_t top; /* odd ranks, and ranks that are not compared, that are shown in text; 0: all */
};

/* How many of a list are shown, and the line that says how many are not, if any. */
size_t gmt_fleet_shown(const struct gmt_fleet_view *view, size_t count);
void gmt_fleet_text_more(size_t count, size_t shown);

void gmt_fleet_text(const struct gmt_fleet_view *view);
void gmt_fleet_json(const struct gmt_fleet_view *view);

/* What the time in collectives went into, of all and of one rank; the caller owns the JSON. */
void gmt_fleet_text_traffic(const struct gmt_fleet_view *view);
json_t *gmt_fleet_json_traffic(const struct gmt_fleet_view *view);
json_t *gmt_fleet_json_wait(const struct gmt_fleet_wait *wait);

/* What went from device to device over the memory of hosts; the caller owns the JSON. */
void gmt_fleet_text_staged(const struct gmt_fleet_view *view);
json_t *gmt_fleet_json_staged(const struct gmt_fleet_view *view);

/* Which ranks have no trace, or several; the caller owns the JSON. `begin` is called before the first line. */
void gmt_fleet_text_job(const struct gmt_fleet_view *view, void (*begin)(void));
json_t *gmt_fleet_json_missing(const struct gmt_fleet_job *job);
json_t *gmt_fleet_json_reruns(const struct gmt_fleet_job *job);

/* What was copied between memory of several ranks; the caller owns the JSON. */
void gmt_fleet_text_direct(const struct gmt_fleet_view *view);
json_t *gmt_fleet_json_direct(const struct gmt_fleet_view *view);

#endif
