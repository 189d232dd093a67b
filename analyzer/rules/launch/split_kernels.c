/* SPDX-License-Identifier: Apache-2.0 */
/* GM509: an element-wise kernel that reads just what the one before it wrote. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/advice.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/rules/common/launch_finding.h"
#include "analyzer/trace/launch_rows.h"
#include "libtrace/base/format.h"

/* All pairs whose second kernel is of one class. */
struct pair_sum {
    const struct gmt_tl_class *first;
    double pairs, total_ns;
    struct gmt_finding *finding;
};

static double threads_of(const struct gmt_tl_class *class)
{
    return (double)class->grid[0] * (double)class->grid[1] * (double)class->grid[2] *
           (double)class->block[0] * (double)class->block[1] * (double)class->block[2];
}

static bool is_elementwise(const struct gmt_tl_class *class)
{
    const double *c = class->counter;
    double requests = c[GMT_M_global_load_requests] + c[GMT_M_global_store_requests];

    return requests <= GMT_ELEMENTWISE_REQUESTS * ceil(threads_of(class) / 32);
}

static bool near(double value, double wanted)
{
    return fabs(value - wanted) <= GMT_HANDOVER_MATCH * wanted;
}

static bool same_kernel(const struct gmt_tl_class *a, const struct gmt_tl_class *b)
{
    return a == b || a->signature == NULL || b->signature == NULL ||
           strcmp(a->signature, b->signature) == 0;
}

static bool hands_over(const struct gmt_tl_class *a, const struct gmt_tl_class *b)
{
    double written = a->counter[GMT_M_global_store_bytes];
    double read = b->counter[GMT_M_global_load_bytes];

    return !same_kernel(a, b) && threads_of(a) == threads_of(b) && is_elementwise(a) &&
           is_elementwise(b) && written > 0 && (near(read, written) || near(read, 2 * written));
}

static void find_pairs(struct gmt_analysis *analysis, const struct gmt_launch_rows *rows,
                       struct pair_sum *sums)
{
    const struct gmt_timeline *tl = analysis->timeline;

    for (size_t i = 1; i < rows->n; i++) {
        if (!gmt_launch_rows_follows(rows, i)) {
            continue;
        }
        const struct gmt_tl_launch *x = gmt_launch_rows_at(rows, i - 1);
        const struct gmt_tl_launch *y = gmt_launch_rows_at(rows, i);
        const struct gmt_tl_class *a = &tl->classes[x->class_index];
        struct pair_sum *sum = &sums[y->class_index];

        /* In a loop the second kernel is followed by the first one again: not that pair. */
        if (a->first_launch > tl->classes[y->class_index].first_launch ||
            (sum->first != NULL && sum->first != a) ||
            !hands_over(a, &tl->classes[y->class_index]) ||
            !gmt_launch_rows_hand_over(rows, x, y)) {
            continue;
        }
        sum->first = a;
        if (sum->finding == NULL) {
            sum->finding = gmt_finding_new(analysis);
        }
        gmt_finding_claim(analysis, sum->finding,
                          (struct gmt_interval){x->device_start_ns, x->device_end_ns});
        gmt_finding_claim(analysis, sum->finding,
                          (struct gmt_interval){y->device_start_ns, y->device_end_ns});
        sum->pairs++;
        sum->total_ns += gmt_launch_time(x) + gmt_launch_time(y); /* NAN without times */
    }
}

static double bytes_of(const struct gmt_tl_class *class)
{
    return gmt_known(class->counter[GMT_M_global_load_bytes]) +
           gmt_known(class->counter[GMT_M_global_store_bytes]);
}

/* All bytes that kernels ask for: to judge a pair where nothing has a price. */
static double all_bytes(const struct gmt_timeline *tl)
{
    double sum = 0;

    for (size_t i = 0; i < tl->class_count; i++) {
        sum += bytes_of(&tl->classes[i]) * (double)tl->classes[i].launches;
    }
    return sum;
}

static void price(struct gmt_analysis *analysis, struct gmt_finding *finding, double share,
                  double total_ns)
{
    double doubt_ns = GMT_MODEL_UNCERTAINTY * total_ns;

    finding->confidence = isnan(total_ns) ? GMT_CONFIDENCE_HEURISTIC : GMT_CONFIDENCE_MODELLED;
    finding->method = isnan(total_ns) ? gmt_unpriced(analysis)
                                      : "time of both kernels times the share of the bytes that "
                                        "would not be moved";
    gmt_finding_saving(finding, share * total_ns - doubt_ns, 2 * share * total_ns,
                       2 * share * total_ns + doubt_ns);
}

/* Without times the pair has to move at least twice what one kernel would; NULL: it does. */
static const char *moves_little(const struct pair_sum *sum, double share, bool simulated)
{
    if ((!isnan(sum->total_ns) && !simulated) || 2 * share >= 1 - 1 / GMT_EXCESS_RATIO) {
        return NULL;
    }
    return "one kernel would move more than half of the bytes, and no times show the cost";
}

static void report(struct gmt_analysis *analysis, const struct gmt_tl_class *second,
                   const struct pair_sum *sum)
{
    struct gmt_finding *finding = sum->finding;
    char size[GMT_FORMAT_BYTES];

    if (finding == NULL) {
        return;
    }
    double bytes = sum->first->counter[GMT_M_global_store_bytes];
    double share = bytes / (bytes_of(sum->first) + bytes_of(second));
    struct gmt_where first = gmt_where_of_class(analysis, sum->first);
    finding->where = gmt_where_of_class(analysis, second);
    finding->cost_ns = sum->total_ns;
    finding->excess_bytes = 2 * bytes * sum->pairs;
    gmt_finding_evidence(finding, "pairs", "count", sum->pairs);
    gmt_finding_evidence(finding, "bytes_handed_over", "bytes", bytes);
    gmt_finding_evidence(finding, "share_of_bytes", "percent", 200 * share);
    gmt_finding_evidence(finding, "kernel_time", "ns", sum->total_ns);
    finding->headline = gmt_text(
        analysis, "reads the %s that %s has just written%s", gmt_format_bytes(size, bytes),
        sum->first->name != NULL ? gmt_where_kernel(&first) : "the kernel before",
        isnan(sum->total_ns)
            ? ""
            : gmt_text(analysis, "; both together %s", gmt_time_words(analysis, sum->total_ns)));
    finding->sql = gmt_text(analysis,
                            "SELECT class_id, metric, mean FROM v_counter WHERE class_id IN "
                            "(%" PRId64 ", %" PRId64 ") AND metric LIKE 'global_%%_bytes'",
                            sum->first->id, second->id);
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = "Do both steps for each element in one kernel, with the value between them in a "
                   "register.";
    finding->sketch = "out[i] = second(first(in[i]));   /* no array in between */";
    price(analysis, finding, share, sum->total_ns);
    gmt_finding_advise_both(analysis, finding, &first);
    gmt_finding_note_small(finding, moves_little(sum, share, analysis->timeline->simulated));
    gmt_finding_judge_part(analysis, finding, finding->excess_bytes, all_bytes(analysis->timeline));
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_launch_rows *rows = gmt_analysis_launch_rows(analysis);
    struct pair_sum *sums = calloc(tl->class_count + 1, sizeof(*sums));
    bool loaded = rows != NULL && sums != NULL;

    if (loaded) {
        find_pairs(analysis, rows, sums);
        for (size_t i = 0; i < tl->class_count; i++) {
            report(analysis, &tl->classes[i], &sums[i]);
        }
    }
    bool unknown = loaded && !rows->arguments_known;
    free(sums);
    if (unknown) {
        return gmt_could_not(analysis, "the trace has no pointer arguments of launches");
    }
    return loaded ? GMT_OUTCOME_PASS : gmt_could_not(analysis, "the launches could not be read");
}

extern const struct gmt_rule gmt_rule_split_kernels;
const struct gmt_rule gmt_rule_split_kernels = {.id = "GM509",
                                                .slug = "split-kernels",
                                                .title = "A kernel reads what the last one wrote",
                                                .category = "launches",
                                                .about_code = true,
                                                .needs = GMT_NEED_LAUNCHES | GMT_NEED_PATCHED |
                                                         GMT_NEED_ALL_CALLS,
                                                .run = run};
