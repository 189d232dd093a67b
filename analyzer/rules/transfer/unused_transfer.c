/* SPDX-License-Identifier: Apache-2.0 */
/* GM107: uploads that are overwritten or freed before any kernel gets to see them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/memory/upload_fate.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/trace/cover.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/sharing.h"

struct state {
    const struct gmt_upload_fates *fates;
    struct gmt_cover kernels;
    double all_bytes;
    bool tables; /* something that may be a table of pointers is uploaded */
};

/* Of the uploads of one place that nobody sees. */
struct sums {
    size_t fate[GMT_FATE_LEFT + 1], reachable;
    double bytes, cost, hidden, certain;
};

static struct sums add_up(struct gmt_analysis *analysis, const struct state *state,
                          const size_t *members, size_t n, struct gmt_finding *finding)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct sums sums = {.cost = gmt_timeline_is_untimed(tl) ? NAN : 0};

    for (size_t i = 0; i < n; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[members[i]];
        struct gmt_interval interval = gmt_copy_interval(tl, copy);
        double hidden = gmt_cover_within(&state->kernels, interval.begin_ns, interval.end_ns);
        double cost = gmt_copy_cost_ns(tl, copy);

        sums.fate[state->fates->of_copy[members[i]]]++;
        sums.reachable += state->fates->reachable[members[i]];
        sums.bytes += (double)copy->bytes;
        sums.cost += cost;
        sums.hidden += hidden;
        sums.certain += copy->blocking ? cost - hidden : 0;
        gmt_finding_claim(analysis, finding, interval);
    }
    return sums;
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_tl_copy *copy, size_t n, const struct sums *sums)
{
    char size[GMT_FORMAT_BYTES], hidden[GMT_FORMAT_BYTES];
    char count[GMT_FORMAT_BYTES];
    const char *took = isnan(sums->cost)
                           ? ""
                           : gmt_text(analysis, ", %s", gmt_time_words(analysis, sums->cost));
    const char *beside = sums->hidden > 0 && isfinite(sums->cost)
                             ? gmt_text(analysis, " (%s of it beside kernels)",
                                        gmt_format_ns(hidden, sums->hidden))
                             : "";

    gmt_finding_evidence(finding, "overwritten", "count", (double)sums->fate[GMT_FATE_OVERWRITTEN]);
    gmt_finding_evidence(finding, "freed", "count", (double)sums->fate[GMT_FATE_FREED]);
    gmt_finding_evidence(finding, "left_at_the_end", "count", (double)sums->fate[GMT_FATE_LEFT]);
    finding->headline = gmt_text(
        analysis,
        "%s upload%s of %s that no kernel reads: %zu overwritten, %zu freed, %zu left%s%s",
        gmt_format_count(count, (double)n), n == 1 ? "" : "s", gmt_format_bytes(size, sums->bytes),
        sums->fate[GMT_FATE_OVERWRITTEN], sums->fate[GMT_FATE_FREED], sums->fate[GMT_FATE_LEFT],
        took, beside);
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix =
        sums->fate[GMT_FATE_OVERWRITTEN] > 0
            ? "Remove the copy: the next one overwrites it before any kernel gets the buffer."
            : "Remove the copy: no kernel gets the buffer afterwards.";
    finding->sketch = gmt_text(analysis,
                               "// cudaMemcpy(dst, src, %" PRId64 ", cudaMemcpyHostToDevice);  "
                               "nothing reads it",
                               copy->bytes);
}

static void report(struct gmt_analysis *analysis, size_t *members, size_t n, void *context)
{
    const struct state *state = context;
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_finding *finding = gmt_finding_new(analysis);

    if (finding == NULL) {
        return;
    }
    gmt_copy_group_fill(analysis, finding, members, n);
    struct sums sums = add_up(analysis, state, members, n, finding);
    finding->excess_bytes = sums.bytes;
    describe(analysis, finding, &tl->copies[members[0]], n, &sums);
    if (sums.reachable == 0 && state->tables) {
        finding->note_why = "no launch gets this memory, but a pointer to it may lie in memory";
    }
    if (gmt_timeline_is_untimed(tl)) {
        finding->method = gmt_unpriced(analysis);
        gmt_finding_judge_part(analysis, finding, sums.bytes, state->all_bytes);
        gmt_finding_emit(analysis, finding);
        return;
    }
    bool known = sums.reachable == n;
    finding->cost_ns = sums.cost;
    gmt_finding_evidence(finding, "time", "ns", sums.cost);
    gmt_finding_evidence(finding, "beside_kernels", "ns", sums.hidden);
    finding->method = "measured time of the copies, without waiting for kernels and without the "
                      "time during which kernels ran";
    gmt_finding_saving(finding, known ? sums.certain : 0, sums.cost - sums.hidden,
                       sums.cost - sums.hidden);
    finding->confidence = known ? GMT_CONFIDENCE_MEASURED : GMT_CONFIDENCE_HEURISTIC;
    if (tl->simulated) {
        gmt_finding_judge_part(analysis, finding, sums.bytes, state->all_bytes);
    }
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_launch_rows *rows = gmt_analysis_launch_rows(analysis);
    size_t *members = calloc(tl->copy_count + 1, sizeof(*members));
    struct gmt_upload_fates fates = {0};
    struct state state = {.fates = &fates, .all_bytes = gmt_copies_bytes(tl)};
    enum gmt_outcome outcome = GMT_OUTCOME_PASS;
    int64_t shared_ns = GMT_NO_TIME;
    size_t n = 0;

    if (rows == NULL || members == NULL || gmt_sharing_begin(tl, &shared_ns) != 0 ||
        gmt_cover_make(&state.kernels, tl, GMT_COVER_KERNELS) != 0 ||
        gmt_upload_fates_find(&fates, tl, rows) != 0) {
        outcome = gmt_could_not(analysis, "not enough memory, or the trace cannot be read");
        goto out;
    }
    if (!rows->arguments_known) {
        outcome = gmt_could_not(analysis, "the trace has no arguments of launches");
        goto out;
    }
    if (shared_ns != GMT_NO_TIME) {
        outcome = gmt_could_not(analysis, "others may read the memory: it was shared with them");
        goto out;
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        if (fates.of_copy[i] != GMT_FATE_SEEN) {
            members[n++] = i;
        } else {
            state.tables |= gmt_memory_may_be_table(&tl->copies[i]);
        }
    }
    gmt_copy_groups(analysis, members, n, report, &state);
    if (fates.doubtful > 0) {
        outcome = gmt_could_not(analysis,
                                "%zu uploads may be read by launches whose arguments are "
                                "not known",
                                fates.doubtful);
    }
out:
    gmt_upload_fates_free(&fates);
    gmt_cover_free(&state.kernels);
    free(members);
    return outcome;
}

extern const struct gmt_rule gmt_rule_unused_transfer;
const struct gmt_rule gmt_rule_unused_transfer = {.id = "GM107",
                                                  .slug = "unused-transfer",
                                                  .title = "Uploads that nothing reads",
                                                  .category = "transfers",
                                                  .needs = GMT_NEED_COPIES | GMT_NEED_LAUNCHES |
                                                           GMT_NEED_ALL_USES,
                                                  .run = run};
