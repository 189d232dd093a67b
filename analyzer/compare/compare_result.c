/* SPDX-License-Identifier: Apache-2.0 */
/* What became of what was predicted (compare_result.h). */
#include "analyzer/compare/compare_result.h"

#include <math.h>
#include <string.h>

#include "libtrace/base/format.h"

static bool is_finding(const struct gmt_finding *finding)
{
    return finding != NULL && finding->severity != GMT_SEVERITY_NOTE;
}

static double priced(double ns)
{
    return ns > 0 ? ns : 0;
}

/*
 * What was predicted of all that was fixed: the savings of the findings that are gone, and of those that cost less now
 * by how much less. Where savings of A overlap their sum is too much, by as much as that of all is.
 */
static void predict(struct gmt_comparison *c)
{
    struct gmt_result *result = &c->result;
    double low_ns = 0, best_ns = 0, high_ns = 0, all_ns = 0;

    for (size_t i = 0; i < c->a->finding_count; i++) {
        const struct gmt_finding *f = &c->a->findings[i];

        all_ns += is_finding(f) ? priced(f->saving.best_ns) : 0;
    }
    for (size_t i = 0; i < c->finding_count; i++) {
        const struct gmt_finding_change *change = &c->findings[i];
        bool less = change->fate == GMT_FATE_BETTER, gone = change->fate == GMT_FATE_FIXED;

        if (!is_finding(change->a) || !(less || gone)) {
            continue;
        }
        const struct gmt_saving *was = &change->a->saving;
        double part = less && change->b != NULL && was->best_ns > 0
                          ? fmax(0, 1 - priced(change->b->saving.best_ns) / was->best_ns)
                          : 1;

        low_ns += part * priced(was->low_ns);
        best_ns += part * priced(was->best_ns);
        high_ns += part * priced(was->high_ns);
    }
    double together_ns = c->a->values[GMT_FIGURE_saving_ns];
    double overlap = all_ns > 0 && together_ns > 0 ? fmin(1, together_ns / all_ns) : 1;
    result->predicted_low_ns = best_ns > 0 ? overlap * low_ns : NAN;
    result->predicted_ns = best_ns > 0 ? overlap * best_ns : NAN;
    result->predicted_high_ns = best_ns > 0 ? overlap * high_ns : NAN;
}

static void count(struct gmt_comparison *c)
{
    for (size_t i = 0; i < c->finding_count; i++) {
        switch (c->findings[i].fate) {
        case GMT_FATE_FIXED: c->result.fixed++; break;
        case GMT_FATE_NEW: c->result.fresh++; break;
        default:
            c->result.left++;
            c->result.smaller += c->findings[i].fate == GMT_FATE_BETTER;
            break;
        }
    }
}

static bool has_changed(const struct gmt_finding_change *change)
{
    return change->fate != GMT_FATE_SAME && change->fate != GMT_FATE_UNCHECKED;
}

/* Do both go back to one change of the source: are they for one fix? */
static bool is_one_repair(const struct gmt_finding_change *x, const struct gmt_finding_change *y)
{
    return x == y ||
           (x->a != NULL && y->a != NULL && x->a->tried != NULL && x->a->tried == y->a->tried);
}

/* What a run gained is known of a finding where nothing else changed. */
static void share_out(struct gmt_comparison *c)
{
    for (size_t i = 0; i < c->finding_count; i++) {
        struct gmt_finding_change *change = &c->findings[i];
        bool alone = change->fate == GMT_FATE_FIXED || change->fate == GMT_FATE_BETTER;

        for (size_t k = 0; k < c->finding_count && alone; k++) {
            alone = !has_changed(&c->findings[k]) || is_one_repair(change, &c->findings[k]);
        }
        change->got_ns = alone ? c->result.got_ns : NAN;
    }
}

/* "11 findings fixed, 1 left, none new"; of those left, "4 left (3 of them smaller)" */
static const char *tally(struct gmt_arena *arena, const struct gmt_result *result)
{
    char fixed[24] = "no", left[24] = "none", fresh[24] = "none", smaller[40] = "";

    if (result->left > 0) {
        snprintf(left, sizeof(left), "%zu", result->left);
    }
    if (result->fresh > 0) {
        snprintf(fresh, sizeof(fresh), "%zu", result->fresh);
    }
    if (result->fixed + result->left + result->fresh == 0) {
        return "no findings in either";
    }
    if (result->fixed > 0) {
        snprintf(fixed, sizeof(fixed), "%zu", result->fixed);
    }
    if (result->smaller > 0) {
        snprintf(smaller, sizeof(smaller),
                 result->smaller == result->left ? " (smaller)" : " (%zu smaller)",
                 result->smaller);
    }
    return gmt_arena_text(arena, "%s finding%s fixed, %s left%s, %s new", fixed,
                          result->fixed == 1 ? "" : "s", left, smaller, fresh);
}

static const char *time_sentence(struct gmt_arena *arena, const struct gmt_comparison *c)
{
    const struct gmt_figure_change *wall = &c->figures[GMT_FIGURE_wall_ns];
    const struct gmt_result *result = &c->result;
    char a[GMT_FORMAT_BYTES], b[GMT_FORMAT_BYTES], got[GMT_FORMAT_BYTES], text[GMT_FORMAT_BYTES];
    const char *predicted = "";

    if (result->predicted_ns > 0) {
        predicted = gmt_arena_text(arena, " (predicted: %s less)",
                                   gmt_format_ns(text, result->predicted_ns));
    }
    gmt_format_ns(a, wall->a);
    gmt_format_ns(b, wall->b);
    gmt_format_ns(got, fabs(result->got_ns));
    if (wall->change == GMT_CHANGE_FASTER) {
        return gmt_arena_text(arena, "%s x faster: %s -> %s, %s less%s",
                              gmt_format_decimal(text, wall->a / wall->b, 2), a, b, got, predicted);
    }
    if (wall->change == GMT_CHANGE_SLOWER) {
        return gmt_arena_text(arena, "%s x slower: %s -> %s, %s more%s",
                              gmt_format_decimal(text, wall->b / wall->a, 2), a, b, got, predicted);
    }
    return gmt_arena_text(arena, "no faster than the noise of a run (%s): %s -> %s%s",
                          gmt_format_percent(text, 100 * wall->noise), a, b, predicted);
}

static double unnecessary(const struct gmt_summary *summary)
{
    double bytes = 0;

    for (size_t i = 0; i < summary->finding_count; i++) {
        bytes += is_finding(&summary->findings[i]) ? priced(summary->findings[i].excess_bytes) : 0;
    }
    return bytes;
}

/* Of traces without times: what was counted. */
static const char *count_sentence(struct gmt_arena *arena, const struct gmt_comparison *c)
{
    const struct gmt_figure_change *copies = &c->figures[GMT_FIGURE_copies];
    char a[GMT_FORMAT_BYTES], b[GMT_FORMAT_BYTES], p[GMT_FORMAT_BYTES], q[GMT_FORMAT_BYTES];

    return gmt_arena_text(arena, "no times: copies %s -> %s, unnecessary traffic %s -> %s",
                          gmt_format_count(a, copies->a), gmt_format_count(b, copies->b),
                          gmt_format_bytes(p, unnecessary(c->a)),
                          gmt_format_bytes(q, unnecessary(c->b)));
}

static const char *note_of(struct gmt_arena *arena, const struct gmt_comparison *c)
{
    char a[GMT_FORMAT_BYTES], b[GMT_FORMAT_BYTES];

    if (isnan(c->result.got_ns)) {
        return NULL;
    }
    if (isnan(c->a->own_ns) || isnan(c->b->own_ns)) {
        return "both times include gmtrace's own work, which is subtracted only where both traces "
               "have a record of it, and which hides a part of the change";
    }
    return gmt_arena_text(arena, "neither time includes gmtrace's own work, %s in A and %s in B",
                          gmt_format_ns(a, c->a->own_ns), gmt_format_ns(b, c->b->own_ns));
}

void gmt_compare_result(struct gmt_comparison *c, struct gmt_arena *arena)
{
    const struct gmt_figure_change *wall = &c->figures[GMT_FIGURE_wall_ns];
    bool timed = !c->a->simulated && !c->b->simulated && isfinite(wall->a) && isfinite(wall->b);

    c->result = (struct gmt_result){.got_ns = timed ? wall->a - wall->b : NAN,
                                    .noise_ns = timed ? wall->noise * wall->a : NAN};
    predict(c);
    count(c);
    share_out(c);
    c->result.note = note_of(arena, c);
    c->result.sentence = gmt_arena_text(arena, "%s; %s",
                                        timed ? time_sentence(arena, c) : count_sentence(arena, c),
                                        tally(arena, &c->result));
}
