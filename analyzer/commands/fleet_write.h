/* SPDX-License-Identifier: Apache-2.0 */
/* What gmanalyze fleet has found, and who writes it. */
#ifndef GMT_ANALYZER_COMMANDS_FLEET_WRITE_H
#define GMT_ANALYZER_COMMANDS_FLEET_WRITE_H

#include "analyzer/fleet/against.h"
#include "analyzer/fleet/clocks.h"
#include "analyzer/fleet/detect.h"

struct gmt_fleet_view {
    const char *folder;
    struct gmt_fleet fleet;
    struct gmt_fleet_clocks clocks;
    struct gmt_fleet_result result;
    const char *against; /* folder of an earlier run; NULL: none */
    struct gmt_fleet_changes changes;
    size_t top; /* odd ranks, and ranks that are not compared, that are shown in text; 0: all */
};

void gmt_fleet_text(const struct gmt_fleet_view *view);
void gmt_fleet_json(const struct gmt_fleet_view *view);

/* Hosts of the ranks that are compared. */
size_t gmt_fleet_hosts(const struct gmt_fleet *fleet);
/* Name of a trait, as JSON has it. */
const char *gmt_fleet_trait_word(int trait);

#endif
