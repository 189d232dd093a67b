/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of measures and causes. */
#include "analyzer/fleet/fleet.h"

const struct gmt_fleet_measure_row gmt_fleet_measure_rows[GMT_FLEET_MEASURES] = {
#define GMT_FLEET_MEASURE(NAME, name, unit, CAUSE, side, floor_of, floor, what) \
    {#name, \
     what, \
     GMT_FLEET_UNIT_##unit, \
     GMT_FLEET_CAUSE_##CAUSE, \
     GMT_FLEET_##side, \
     GMT_FLEET_OF_##floor_of, \
     floor},
#include "analyzer/fleet/measures.def"
#undef GMT_FLEET_MEASURE
};

const struct gmt_fleet_cause_row gmt_fleet_cause_rows[GMT_FLEET_CAUSES] = {
#define GMT_FLEET_CAUSE(NAME, word, what) {word, what},
#include "analyzer/fleet/causes.def"
#undef GMT_FLEET_CAUSE
};
