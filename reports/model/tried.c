/* SPDX-License-Identifier: Apache-2.0 */
/* What came of fixes that were tried, in words (tried.h). */
#include "reports/model/tried.h"

#include <math.h>

#include "libtrace/base/format.h"
#include "reports/model/words.h"

const char *gmt_tried_state_name(enum gmt_tried_state state)
{
    static const char *const names[GMT_TRIED_STATES] = {[GMT_TRIED_PROVEN] = "proven",
                                                        [GMT_TRIED_TRIED] = "tried",
                                                        [GMT_TRIED_NO_GAIN] = "no-gain",
                                                        [GMT_TRIED_DIFFERS] = "differs"};

    return names[state];
}

static struct gmt_tried_counts copy_of_counts(const struct gmt_tried_counts *counts,
                                              struct gmt_arena *arena)
{
    struct gmt_tried_counts copy = *counts;

    copy.fix = gmt_arena_copy(arena, counts->fix);
    copy.rules = gmt_arena_copy(arena, counts->rules);
    copy.one = gmt_arena_copy(arena, counts->one);
    copy.many = gmt_arena_copy(arena, counts->many);
    copy.refusals = gmt_arena_alloc(arena, (counts->refusal_count + 1) * sizeof(*copy.refusals));
    for (size_t i = 0; copy.refusals != NULL && i < counts->refusal_count; i++) {
        copy.refusals[i] = counts->refusals[i];
        copy.refusals[i].reason = gmt_arena_copy(arena, counts->refusals[i].reason);
    }
    copy.refusal_count = copy.refusals != NULL ? counts->refusal_count : 0;
    return copy;
}

static struct gmt_tried copy_of_row(const struct gmt_tried *row, struct gmt_arena *arena)
{
    struct gmt_tried copy = *row;

    copy.name = gmt_arena_copy(arena, row->name);
    copy.why = gmt_arena_copy(arena, row->why);
    copy.difference = gmt_arena_copy(arena, row->difference);
    copy.fingerprints = NULL; /* only those who join it to findings ask */
    copy.fingerprint_count = 0;
    copy.counts = gmt_arena_alloc(arena, (row->count + 1) * sizeof(*copy.counts));
    for (size_t i = 0; copy.counts != NULL && i < row->count; i++) {
        copy.counts[i] = copy_of_counts(&row->counts[i], arena);
    }
    copy.count = copy.counts != NULL ? row->count : 0;
    return copy;
}

struct gmt_tried_results *gmt_tried_results_copy(const struct gmt_tried_results *results,
                                                 struct gmt_arena *arena)
{
    struct gmt_tried_results *copy = results != NULL ? gmt_arena_alloc(arena, sizeof(*copy)) : NULL;

    if (copy == NULL) {
        return NULL;
    }
    *copy = *results;
    copy->file = gmt_arena_copy(arena, results->file);
    copy->rows = gmt_arena_alloc(arena, (results->count + 1) * sizeof(*copy->rows));
    for (size_t i = 0; copy->rows != NULL && i < results->count; i++) {
        copy->rows[i] = copy_of_row(&results->rows[i], arena);
    }
    copy->count = copy->rows != NULL ? results->count : 0;
    return copy;
}

bool gmt_finding_is_proven(const struct gmt_finding *finding)
{
    return finding->tried != NULL && finding->tried->state == GMT_TRIED_PROVEN;
}

const char *gmt_finding_confidence(const struct gmt_finding *finding)
{
    return gmt_finding_is_proven(finding) ? "proven" : gmt_confidence_name(finding->confidence);
}

const char *gmt_tried_gain_words(struct gmt_arena *arena, const struct gmt_tried_results *results,
                                 const struct gmt_tried *tried)
{
    char gain[GMT_FORMAT_BYTES], run[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];
    char low[GMT_FORMAT_BYTES], high[GMT_FORMAT_BYTES], sure[GMT_FORMAT_BYTES];

    if (!(tried->pairs > 0)) {
        return "not timed";
    }
    return gmt_arena_text(
        arena, "gains %s of %s (%s), %s to %s with %s in %.0f pairs of runs",
        gmt_format_ns(gain, tried->gain.best_ns), gmt_format_ns(run, results->untouched_ns),
        gmt_format_percent(share, 100 * tried->gain.share), gmt_format_ns(low, tried->gain.low_ns),
        gmt_format_ns(high, tried->gain.high_ns), gmt_format_percent(sure, 100 * tried->coverage),
        tried->pairs);
}

const char *gmt_tried_state_words(struct gmt_arena *arena, const struct gmt_tried *tried)
{
    const char *state = gmt_arena_text(arena, "%s: %s", gmt_tried_state_name(tried->state),
                                       tried->why);

    if (tried->difference != NULL) {
        state = gmt_arena_text(arena, "%s (%s)", state, tried->difference);
    }
    if (tried->findings < 2) {
        return state;
    }
    return gmt_arena_text(arena, "%s; for this and %zu other%s together", state,
                          tried->findings - 1, tried->findings == 2 ? "" : "s");
}

/* "8 copies, 32.0 MiB" */
static const char *amount(struct gmt_arena *arena, const struct gmt_tried_counts *counts,
                          double calls, double bytes)
{
    char count[GMT_FORMAT_BYTES], size[GMT_FORMAT_BYTES];

    return gmt_arena_text(arena, "%s %s%s%s", gmt_format_count(count, calls),
                          calls == 1 ? counts->one : counts->many, bytes > 0 ? ", " : "",
                          bytes > 0 ? gmt_format_bytes(size, bytes) : "");
}

const char *gmt_tried_applied_words(struct gmt_arena *arena, const struct gmt_tried *tried)
{
    const char *words = "";

    for (size_t i = 0; i < tried->count; i++) {
        const struct gmt_tried_counts *counts = &tried->counts[i];
        char left[GMT_FORMAT_BYTES];

        words = gmt_arena_text(arena, "%s%s%s%sapplied to %s", words, i > 0 ? "; " : "",
                               tried->count > 1 ? counts->fix : "", tried->count > 1 ? " " : "",
                               amount(arena, counts, counts->calls, counts->bytes));
        if (counts->left_bytes > 0) {
            words = gmt_arena_text(arena, "%s (%s of it left to the driver)", words,
                                   gmt_format_bytes(left, counts->left_bytes));
        }
        for (size_t k = 0; k < counts->refusal_count; k++) {
            const struct gmt_tried_refusal *refusal = &counts->refusals[k];

            words = gmt_arena_text(arena, "%s; not to %s: %s", words,
                                   amount(arena, counts, refusal->calls, refusal->bytes),
                                   refusal->reason);
        }
    }
    return words;
}

const char *gmt_tried_points_words(struct gmt_arena *arena, const struct gmt_tried *tried)
{
    char share[GMT_FORMAT_BYTES], points[GMT_FORMAT_BYTES];

    if (isnan(tried->points)) {
        return NULL;
    }
    return gmt_arena_text(arena, "predicted %s of the run: %s points %s than tried",
                          gmt_format_percent(share, 100 * tried->predicted.share),
                          gmt_format_decimal(points, fabs(tried->points), 1),
                          tried->points < 0 ? "less" : "more");
}

const char *gmt_tried_compared_words(struct gmt_arena *arena,
                                     const struct gmt_tried_results *results)
{
    char calls[GMT_FORMAT_BYTES], bytes[GMT_FORMAT_BYTES], all[GMT_FORMAT_BYTES];
    const char *words = gmt_arena_text(
        arena, "compared: %s %s to the host, %s", gmt_format_count(calls, results->calls),
        results->calls == 1 ? "copy" : "copies", gmt_format_bytes(bytes, results->bytes));

    if (results->unchecked_calls > 0) {
        words = gmt_arena_text(arena, "%s; unchecked: %s of %s, %s", words,
                               gmt_format_count(calls, results->unchecked_calls),
                               gmt_format_count(all, results->calls + results->unchecked_calls),
                               gmt_format_bytes(bytes, results->unchecked_bytes));
    }
    return words;
}

const char *gmt_tried_words(struct gmt_arena *arena, const struct gmt_tried_results *results,
                            const struct gmt_tried *tried)
{
    const char *points = gmt_tried_points_words(arena, tried);

    return gmt_arena_text(arena, "%s %s; %s; %s%s%s", tried->name,
                          gmt_tried_gain_words(arena, results, tried),
                          gmt_tried_state_words(arena, tried), points != NULL ? points : "",
                          points != NULL ? "; " : "", gmt_tried_applied_words(arena, tried));
}
