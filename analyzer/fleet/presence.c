/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks by the steps that they have. */
#include "analyzer/fleet/presence.h"

#include "analyzer/fleet/outliers.h"

/* With fewer steps there are no quarters. */
#define QUARTERED_STEPS 32

size_t gmt_fleet_window_count(size_t steps)
{
    return steps >= QUARTERED_STEPS ? GMT_FLEET_WINDOWS_MOST : 1;
}

struct gmt_fleet_window gmt_fleet_window_at(size_t steps, size_t index)
{
    return index == 0 ? (struct gmt_fleet_window){0, steps}
                      : (struct gmt_fleet_window){steps * (index - 1) / 4, steps * index / 4};
}

/* How many of these steps the rank has. */
static size_t steps_within(const struct gmt_fleet_rank *rank, size_t first_step, size_t steps)
{
    size_t from = rank->first_step > first_step ? rank->first_step : first_step;
    size_t own_end = rank->first_step + rank->step_count, end = first_step + steps;
    size_t to = own_end < end ? own_end : end;

    return to > from ? to - from : 0;
}

bool gmt_fleet_is_present(const struct gmt_fleet_rank *rank, size_t first_step, size_t steps)
{
    return rank->trouble == NULL && rank->step_count > 0 &&
           steps_within(rank, first_step, steps) * 2 >= steps;
}

bool gmt_fleet_is_few(const struct gmt_fleet *fleet, const struct gmt_fleet_result *result,
                      struct gmt_fleet_window window)
{
    size_t present = 0;

    for (size_t r = 0; r < fleet->count; r++) {
        present += gmt_fleet_is_present(&fleet->ranks[r], result->first_step + window.begin,
                                        window.end - window.begin);
    }
    return present < GMT_OUTLIERS_LEAST;
}

bool gmt_fleet_is_few_for_growth(const struct gmt_fleet *fleet,
                                 const struct gmt_fleet_result *result)
{
    size_t steps = result->step_count, quarter = steps >= 4 ? steps / 4 : 1, present = 0;
    size_t last = result->first_step + steps - (quarter < steps ? quarter : steps);

    for (size_t r = 0; r < fleet->count; r++) {
        present += gmt_fleet_is_present(&fleet->ranks[r], result->first_step, quarter) &&
                   gmt_fleet_is_present(&fleet->ranks[r], last, quarter);
    }
    return present < GMT_OUTLIERS_LEAST;
}

static bool is_short(const struct gmt_fleet_rank *rank, const struct gmt_fleet_result *result)
{
    bool is_whole = true;

    for (size_t i = 0; i < gmt_fleet_window_count(result->step_count); i++) {
        struct gmt_fleet_window window = gmt_fleet_window_at(result->step_count, i);

        is_whole = is_whole && gmt_fleet_is_present(rank, result->first_step + window.begin,
                                                    window.end - window.begin);
    }
    return !is_whole;
}

void gmt_fleet_remark_short(struct gmt_fleet *fleet, const struct gmt_fleet_result *result,
                            struct gmt_arena *arena)
{
    for (size_t r = 0; r < fleet->count; r++) {
        struct gmt_fleet_rank *rank = &fleet->ranks[r];

        if (rank->trouble == NULL && is_short(rank, result)) {
            gmt_fleet_remark(
                rank, arena,
                gmt_arena_text(arena, "it has %zu of the %zu steps that are compared",
                               steps_within(rank, result->first_step, result->step_count),
                               result->step_count));
        }
    }
}
