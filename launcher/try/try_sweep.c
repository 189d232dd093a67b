/* SPDX-License-Identifier: Apache-2.0 */
/* Values of settings that `gmtrace try --sweep` tries, and which of them is the best. */
#include "launcher/try/try.h"

const struct gmt_try_sweep gmt_try_sweeps[GMT_TRY_SWEEPS] = {
#define GMT_FIX_SWEEP(id, name, value) {GMT_FIX_##id, GMT_FIX_##id##_##name, value},
#include "preload/apply/fixes.def"
};

static int rank_of(enum gmt_fix_state state)
{
    return state == GMT_FIX_PROVEN    ? 3
           : state == GMT_FIX_TRIED   ? 2
           : state == GMT_FIX_NO_GAIN ? 1
                                      : 0;
}

static bool is_better(const struct gmt_try_outcome *a, const struct gmt_try_outcome *b)
{
    int a_rank = rank_of(a->state), b_rank = rank_of(b->state);
    return a_rank != b_rank ? a_rank > b_rank : a->gain.median_s > b->gain.median_s;
}

static void spread_difference(struct gmt_try_outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count && outcomes[i].differs; k++) {
            if (outcomes[k].fix == outcomes[i].fix && !outcomes[k].differs) {
                outcomes[k].state = GMT_FIX_DIFFERS;
                outcomes[k].why =
                    "results differ with another value of this setting, on which none "
                    "should depend";
            }
        }
    }
}

void gmt_try_sort(struct gmt_try_outcome *outcomes, size_t count)
{
    spread_difference(outcomes, count);
    for (size_t i = 1; i < count; i++) { /* equal ones stay as they are: the standard value first */
        for (size_t k = i; k > 0 && outcomes[k].fix == outcomes[k - 1].fix &&
                           is_better(&outcomes[k], &outcomes[k - 1]);
             k--) {
            struct gmt_try_outcome other = outcomes[k];
            outcomes[k] = outcomes[k - 1];
            outcomes[k - 1] = other;
        }
    }
}
