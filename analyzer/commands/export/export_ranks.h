/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of a fleet side by side, as a file of trace events. */
#ifndef GMT_ANALYZER_COMMANDS_EXPORT_RANKS_H
#define GMT_ANALYZER_COMMANDS_EXPORT_RANKS_H

#include "analyzer/fleet/chosen.h"
#include "analyzer/fleet/clocks.h"
#include "analyzer/fleet/fleet.h"

/*
 * Writes the events of the chosen ranks' traces to the file `output`, on the clock that the fleet's collectives give. No other trace is
 * opened, and of these one at a time; memory does not grow with them. The file is whole, or as it was. Returns an exit code, and has
 * complained.
 */
int gmt_export_ranks(const struct gmt_fleet *fleet, const struct gmt_fleet_clocks *clocks,
                     const struct gmt_fleet_chosen *chosen, const char *output);

#endif
