/* SPDX-License-Identifier: Apache-2.0 */
/* GM507: loops of short launches in which the device waits for the host. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/intervals.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/rules/common/host_loops.h"
#include "analyzer/rules/common/launch_finding.h"
#include "analyzer/trace/launch_rows.h"
#include "libtrace/base/format.h"

struct graph_sum {
    double runs, launches, kernel_ns, gap_ns;
    struct gmt_finding *finding;
};

struct run {
    size_t first, n;
    double kernel_ns, gap_ns;
};

static bool goes_on(const struct gmt_launch_rows *rows, size_t i)
{
    if (!gmt_launch_rows_follows(rows, i)) {
        return false;
    }
    const struct gmt_tl_launch *a = gmt_launch_rows_at(rows, i - 1),
                               *b = gmt_launch_rows_at(rows, i);

    return (double)(b->call.begin_ns - a->call.end_ns) < GMT_LAUNCH_LOOP_NS &&
           (double)(b->device_start_ns - a->device_end_ns) < GMT_LAUNCH_LOOP_NS;
}

/* Of a loop in which the host computes between the launches GM512 says all there is to say. */
static bool is_host_bound(const struct gmt_host_loops *loops, const struct gmt_tl_launch *first,
                          const struct gmt_tl_launch *last)
{
    struct gmt_interval calls = {first->call.begin_ns, last->call.end_ns};
    double covered_ns = 0;

    for (size_t i = 0; i < loops->count; i++) {
        const struct gmt_host_loop *loop = &loops->rows[i];

        if (gmt_host_loop_waits(loop)) {
            covered_ns += gmt_intervals_overlap(loop->spans, loop->span_count, calls);
        }
    }
    return covered_ns > (double)(calls.end_ns - calls.begin_ns) / 2;
}

static void end_run(struct gmt_analysis *analysis, const struct gmt_launch_rows *rows,
                    const struct gmt_host_loops *loops, const struct run *run,
                    struct graph_sum *sums)
{
    const struct gmt_tl_launch *first = gmt_launch_rows_at(rows, run->first);

    if (run->n < GMT_LAUNCH_RUN_MIN ||
        run->gap_ns < GMT_LAUNCH_GAP_SHARE * (run->gap_ns + run->kernel_ns)) {
        return;
    }
    if (is_host_bound(loops, first, gmt_launch_rows_at(rows, run->first + run->n - 1))) {
        return;
    }
    struct graph_sum *sum = &sums[first->class_index];
    if (sum->finding == NULL) {
        sum->finding = gmt_finding_new(analysis);
    }
    gmt_finding_claim(
        analysis, sum->finding,
        (struct gmt_interval){first->device_start_ns,
                              gmt_launch_rows_at(rows, run->first + run->n - 1)->device_end_ns});
    sum->runs++;
    sum->launches += (double)run->n;
    sum->kernel_ns += run->kernel_ns;
    sum->gap_ns += run->gap_ns;
}

static void find_runs(struct gmt_analysis *analysis, const struct gmt_launch_rows *rows,
                      const struct gmt_host_loops *loops, struct graph_sum *sums)
{
    struct run run = {.n = 0};

    for (size_t i = 0; i < rows->n; i++) {
        const struct gmt_tl_launch *launch = gmt_launch_rows_at(rows, i);

        if (run.n > 0 && goes_on(rows, i)) {
            run.gap_ns += (double)(launch->device_start_ns -
                                   gmt_launch_rows_at(rows, i - 1)->device_end_ns);
        } else {
            if (run.n > 0) {
                end_run(analysis, rows, loops, &run, sums);
            }
            run = (struct run){.first = i};
        }
        if (isnan(gmt_launch_time(launch))) {
            continue;
        }
        run.n++;
        run.kernel_ns += gmt_launch_time(launch);
    }
    if (run.n > 0) {
        end_run(analysis, rows, loops, &run, sums);
    }
}

static void report(struct gmt_analysis *analysis, const struct gmt_tl_class *class,
                   const struct graph_sum *sum)
{
    struct gmt_finding *finding = sum->finding;
    double graph_ns = gmt_price_step_in_graph_ns(analysis->model);
    char kernel[GMT_FORMAT_BYTES], gap[GMT_FORMAT_BYTES];

    if (finding == NULL) {
        return;
    }
    double n = sum->launches, span_ns = (sum->kernel_ns + sum->gap_ns) / n;
    bool known = isfinite(graph_ns);
    /* Recording, and what else the host does, stay: a launch costs no more than calibrated. */
    double launch_ns = fmin(span_ns, gmt_price_step_launched_ns(analysis->model));
    double best_ns = n * fmax(0, launch_ns - fmax(graph_ns, sum->kernel_ns / n));
    if (!known) {
        best_ns = sum->gap_ns / 2;
    }
    finding->where = gmt_where_of_class(analysis, class);
    finding->cost_ns = sum->kernel_ns + sum->gap_ns;
    gmt_finding_evidence(finding, "runs", "count", sum->runs);
    gmt_finding_evidence(finding, "launches", "count", n);
    gmt_finding_evidence(finding, "kernel_time", "ns", sum->kernel_ns);
    gmt_finding_evidence(finding, "time_between_kernels", "ns", sum->gap_ns);
    gmt_finding_evidence(finding, "calibrated_step_in_graph", "ns", graph_ns);
    gmt_finding_evidence(finding, "calibrated_step_launched", "ns",
                         gmt_price_step_launched_ns(analysis->model));
    finding->headline = gmt_text(
        analysis, "%.0f launches in a row of kernels of %s, and %s between them", n,
        gmt_format_ns(kernel, sum->kernel_ns / n), gmt_format_ns(gap, sum->gap_ns / n));
    finding->sql = gmt_text(analysis,
                            "SELECT begin_ns, end_ns, device_start_ns, device_end_ns FROM launch "
                            "WHERE class_id = %" PRId64 " ORDER BY device_start_ns",
                            class->id);
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix =
        "Capture the launches of the loop into a CUDA graph once and launch that, or fuse "
        "the kernels.";
    finding->sketch = "cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);\n"
                      "for (...) step<<<grid, block, 0, stream>>>(...);\n"
                      "cudaStreamEndCapture(stream, &graph);\n"
                      "cudaGraphInstantiate(&exec, graph, 0);  /* once */\n"
                      "cudaGraphLaunch(exec, stream);          /* instead of the loop */";
    finding->method =
        known
            ? "calibrated time of a launch minus that of a node of a graph, or minus the kernel "
              "time where that is longer"
            : "half of the time between kernels: the device model has no time of a node of a graph";
    finding->confidence = known ? gmt_confidence_of_model(analysis->model)
                                : GMT_CONFIDENCE_HEURISTIC;
    gmt_finding_saving(finding, known ? best_ns / 2 : 0, best_ns, fmax(best_ns, sum->gap_ns));
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_launch_rows *rows = gmt_analysis_launch_rows(analysis);
    struct graph_sum *sums = calloc(tl->class_count + 1, sizeof(*sums));
    const struct gmt_host_loops *loops = gmt_analysis_host_loops(analysis);
    bool loaded = loops != NULL && rows != NULL && sums != NULL;

    if (loaded) {
        find_runs(analysis, rows, loops, sums);
        for (size_t i = 0; i < tl->class_count; i++) {
            report(analysis, &tl->classes[i], &sums[i]);
        }
    }
    free(sums);
    return loaded ? GMT_OUTCOME_PASS : gmt_could_not(analysis, "the launches could not be read");
}

extern const struct gmt_rule gmt_rule_launch_bound;
const struct gmt_rule gmt_rule_launch_bound = {.id = "GM507",
                                               .slug = "launch-bound",
                                               .title = "The device waits for launches",
                                               .category = "launches",
                                               .needs = GMT_NEED_LAUNCHES | GMT_NEED_TIMES |
                                                        GMT_NEED_MODEL,
                                               .run = run};
