/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a set of fixes after all runs of `gmtrace try`: whether its results are equal, and its gain no accident. */
#include <string.h>

#include "launcher/try/try.h"

#define MOST_UNCHECKED 0.05 /* of the bytes that return to the host: with more nothing is proven */

bool gmt_try_has_output(const struct gmt_try_reference *reference)
{
    return reference->output_agrees && strcmp(reference->output, "empty") != 0;
}

bool gmt_try_is_timed(const struct gmt_try_outcome *outcome)
{
    uint64_t calls = 0;
    for (unsigned fix = 0; fix < GMT_FIX_COUNT; fix++) {
        calls += outcome->counts[fix].calls;
    }
    return !outcome->differs && calls != 0;
}

/* How much could be compared: a result that is not there is none that is equal. */
enum extent { NOTHING, TOO_LITTLE, MOVED, ENOUGH };

static enum extent extent_of(const struct gmt_try_reference *reference,
                             const struct gmt_try_outcome *outcome)
{
    uint64_t untouched = reference->bytes + reference->unchecked_bytes;
    uint64_t all = outcome->bytes > untouched ? outcome->bytes : untouched;
    if (reference->bytes == 0 && !gmt_try_has_output(reference)) {
        return NOTHING;
    }
    if ((reference->unseen | outcome->unseen) != 0 || !reference->status_agrees ||
        (double)(all - reference->bytes) > MOST_UNCHECKED * (double)all) {
        return TOO_LITTLE;
    }
    return outcome->moved ? MOVED : ENOUGH;
}

bool gmt_try_is_compared(const struct gmt_try_reference *reference,
                         const struct gmt_try_outcome *outcome)
{
    return extent_of(reference, outcome) == ENOUGH;
}

/* Of one that is neither different nor proven, by what could be compared. */
static const char *const on_software[] = {
    [NOTHING] = "nothing of its results could be compared; the software device has no times",
    [TOO_LITTLE] = "what could be compared is equal, too much could not be; the software device "
                   "has no times",
    [MOVED] = "the same bytes came back, but not to the same threads; the software device has no "
              "times",
    [ENOUGH] = "results are equal; the software device has no times, so no gain is known",
};
static const char *const without_gain[] = {
    [NOTHING] = "nothing of its results could be compared; no gain is shown",
    [TOO_LITTLE] = "what could be compared is equal; no gain is shown",
    [MOVED] = "the same bytes came back, but not to the same threads; no gain is shown",
    [ENOUGH] = "results are equal; no gain is shown",
};
static const char *const not_compared[] = {
    [NOTHING] = "nothing of its results could be compared",
    [TOO_LITTLE] = "what could be compared is equal; too much could not be",
    [MOVED] = "the same bytes came back, but not to the same threads as in untouched runs",
};

void gmt_try_judge(const struct gmt_try_report *report, struct gmt_try_outcome *outcome)
{
    bool timed = gmt_try_is_timed(outcome);
    enum extent compared = extent_of(report->reference, outcome);
    outcome->gain = gmt_try_gain_of(outcome->differences, timed ? report->turns : 0,
                                    outcome->coverage);
    outcome->state = GMT_FIX_TRIED;
    if (outcome->differs) {
        outcome->state = GMT_FIX_DIFFERS;
        outcome->why = "results are not those of untouched runs; it is never applied";
    } else if (!timed) {
        outcome->state = GMT_FIX_NO_GAIN;
        outcome->why = "it was applied to nothing";
    } else if (report->options->on_software) {
        outcome->why = on_software[compared];
    } else if (outcome->gain.low_s <= 0) {
        outcome->state = GMT_FIX_NO_GAIN;
        outcome->why = without_gain[compared];
    } else if (compared != ENOUGH) {
        outcome->why = not_compared[compared];
    } else if (outcome->gain.coverage < GMT_TRY_COVERAGE) {
        outcome->why = "results are equal; with fewer than 6 pairs of runs a gain is not proven";
    } else if (outcome->gain.coverage < outcome->coverage) {
        outcome->why = "results are equal; the best of several values needs more pairs of runs";
    } else {
        outcome->state = GMT_FIX_PROVEN;
        outcome->why = "results are equal, and the gain is no accident";
    }
}
