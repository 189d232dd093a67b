/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of measures, causes and traits. */
#include <string.h>

#include "analyzer/fleet/fleet.h"

const struct gmt_fleet_measure_row gmt_fleet_measure_rows[GMT_FLEET_MEASURES] = {
#define GMT_FLEET_MEASURE(NAME, name, unit, CAUSE, side, middle, floor_of, floor, what) \
    {#name, \
     what, \
     GMT_FLEET_UNIT_##unit, \
     GMT_FLEET_CAUSE_##CAUSE, \
     GMT_FLEET_##side, \
     GMT_FLEET_##middle, \
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

size_t gmt_fleet_hosts(const struct gmt_fleet *fleet)
{
    size_t hosts = 0;

    for (size_t r = 0; r < fleet->count; r++) {
        const struct gmt_fleet_rank *rank = &fleet->ranks[r];
        size_t earlier = 0;

        while (earlier < r && (fleet->ranks[earlier].host == NULL || rank->host == NULL ||
                               strcmp(fleet->ranks[earlier].host, rank->host) != 0)) {
            earlier++;
        }
        hosts += rank->host != NULL && earlier == r;
    }
    return hosts;
}

void gmt_fleet_remark(struct gmt_fleet_rank *rank, struct gmt_arena *arena, const char *text)
{
    if (text != NULL) {
        rank->remark = rank->remark == NULL ? text
                                            : gmt_arena_text(arena, "%s; %s", rank->remark, text);
    }
}

const char *gmt_fleet_trait_word(int trait)
{
    static const char *const words[GMT_FLEET_TRAITS] = {
        [GMT_FLEET_DEVICE] = "device", [GMT_FLEET_DRIVER] = "driver", [GMT_FLEET_TOOL] = "gmtrace"};

    return trait >= 0 && trait < GMT_FLEET_TRAITS ? words[trait] : NULL;
}

const char *gmt_fleet_rank_name(const struct gmt_fleet_rank *rank)
{
    const char *slash = strrchr(rank->trace, '/');

    if (rank->rank != NULL) {
        return rank->rank;
    }
    return slash != NULL ? slash + 1 : rank->trace; /* the program was started without ranks */
}
