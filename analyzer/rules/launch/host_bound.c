/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GM512: loops in which the host comes with the next launch only when the device has long been done with the one before; and
 * places before which the device waits for work of the host's own.
 */
#include <inttypes.h>
#include <math.h>

#include <string.h>

#include "analyzer/findings/advice.h"
#include "analyzer/price/price_launch.h"
#include "analyzer/rules/common/host_waits.h"
#include "libtrace/base/format.h"

static void price(struct gmt_analysis *analysis, struct gmt_finding *finding,
                  const struct gmt_host_loop *loop)
{
    double graph_ns = gmt_price_step_in_graph_ns(analysis->model);
    bool known = isfinite(graph_ns);

    gmt_finding_evidence(finding, "runs", "count", loop->stretches);
    gmt_finding_evidence(finding, "launches", "count", loop->launches);
    gmt_finding_evidence(finding, "launched_late", "percent", 100 * loop->late / loop->links);
    gmt_finding_evidence(finding, "kernel_time", "ns", loop->kernel_ns);
    gmt_finding_evidence(finding, "time_between_kernels", "ns", loop->idle_ns);
    gmt_finding_evidence(finding, "host_code_between_launches", "ns", loop->code_ns);
    gmt_finding_evidence(finding, "launch_calls", "ns", loop->period_ns - loop->code_ns);
    gmt_finding_evidence(finding, "calibrated_step_in_graph", "ns", graph_ns);
    finding->cost_ns = loop->kernel_ns + loop->idle_ns;
    finding->method = known ? "time that the device waited for late launches, less what a step of "
                              "the calibrated graph takes beyond "
                              "its kernel, and what recording adds to a call"
                            : "time that the device waited for late launches, less what a step of "
                              "a graph took on an H200, and "
                              "what recording adds to a call";
    finding->confidence = known ? gmt_confidence_of_model(analysis->model)
                                : GMT_CONFIDENCE_HEURISTIC;
    gmt_finding_saving(finding, loop->low_ns, loop->best_ns, loop->idle_ns);
}

static void report(struct gmt_analysis *analysis, const struct gmt_host_loop *loop)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_tl_call *call = &tl->launches[loop->first].call;
    struct gmt_finding *finding = gmt_finding_new(analysis);
    char period[GMT_FORMAT_BYTES], kernel[GMT_FORMAT_BYTES], idle[GMT_FORMAT_BYTES];
    char count[GMT_FORMAT_BYTES];

    if (finding == NULL) {
        return;
    }
    for (size_t i = 0; i < loop->wait_count; i++) {
        gmt_finding_claim(analysis, finding, loop->waits[i]);
    }
    struct gmt_where where = gmt_where_of_call(analysis, call);

    gmt_finding_advise(analysis, finding, &where);
    finding->where = loop->has_place ? gmt_where_of_frame(analysis, call, loop->position) : where;
    finding->where.api = where.api;
    finding->headline = gmt_text(
        analysis,
        "a launch every %s, and kernels end after %s: the device waits %s for %s launches",
        gmt_format_ns(period, loop->period_ns / loop->links),
        gmt_format_ns(kernel, loop->kernel_ns / loop->links), gmt_format_ns(idle, loop->idle_ns),
        gmt_format_count(count, loop->launches));
    finding->sql = gmt_text(analysis,
                            "SELECT begin_ns, end_ns, device_start_ns, device_end_ns, class_id "
                            "FROM launch WHERE thread_id = %" PRId32
                            " AND kind <> 'graph' ORDER BY begin_ns",
                            call->thread);
    finding->effort = GMT_EFFORT_MEDIUM;
    price(analysis, finding, loop);
    gmt_finding_emit(analysis, finding);
}

/* ---- work of the host's own ---------------------------------------------------------------------- */

static void price_wait(struct gmt_finding *finding, const struct gmt_host_wait *wait)
{
    gmt_finding_evidence(finding, "waits", "count", (double)wait->count);
    gmt_finding_evidence(finding, "waiting_for_host_code", "ns", wait->idle_ns);
    gmt_finding_evidence(finding, "from_first_to_last", "ns", wait->span_ns);
    finding->cost_ns = wait->idle_ns;
    finding->method = wait->is_load
                          ? "time in which no device worked and the thread that it waited for made "
                            "or read code, and loaded it, less what a launch takes while it is "
                            "recorded; lower end: half of it"
                          : "time in which no device worked and the thread that it waited for was "
                            "in no call, less what a launch takes while it is recorded; lower end: "
                            "what one thread can prepare beside the step before";
    finding->confidence = GMT_CONFIDENCE_MEASURED;
    gmt_finding_saving(finding, wait->low_ns, wait->best_ns, wait->high_ns);
}

static const char *wait_headline(struct gmt_analysis *analysis, const struct gmt_host_wait *wait)
{
    const char *since = wait->after.label, *before = wait->before.label;
    bool is_other = strcmp(since, before) != 0;
    char idle[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];

    return gmt_text(
        analysis, "the device waits %s times for code of the host before %s%s%s, in all %s",
        gmt_format_count(count, (double)wait->count), before, is_other ? ", after " : "",
        is_other ? since : "", gmt_format_ns(idle, wait->idle_ns));
}

static void report_wait(struct gmt_analysis *analysis, const struct gmt_host_wait *wait)
{
    struct gmt_finding *finding = gmt_finding_new(analysis);
    char idle[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];

    if (finding == NULL) {
        return;
    }
    for (size_t i = 0; i < wait->count; i++) {
        gmt_finding_claim(analysis, finding, wait->gaps[i]);
    }
    finding->where = wait->before;
    /* It is about no call. */
    finding->where.api = NULL;
    struct gmt_where call = gmt_host_call_where(analysis, wait->call);
    gmt_finding_advise_as(analysis, finding, &call,
                          wait->is_load ? GMT_ADVICE_LOADS : GMT_ADVICE_HOST_CODE);
    finding->is_of_loads = wait->is_load;
    if (wait->is_load) {
        finding->where = call;
        finding->headline = gmt_text(
            analysis,
            "the device waits %s times while code is compiled or read, and then loaded, in all %s; "
            "in between the program launches what it has launched before",
            gmt_format_count(count, (double)wait->count), gmt_format_ns(idle, wait->idle_ns));
    } else {
        finding->headline = wait_headline(analysis, wait);
    }
    finding->sql = wait->is_load
                       ? gmt_text(analysis,
                                  "SELECT c.begin_ns, c.end_ns, c.stack_id, a.name FROM api_call c "
                                  "JOIN api a ON a.id = c.api_id WHERE c.thread_id = %" PRId32
                                  " AND a.family = 'module' ORDER BY c.begin_ns",
                                  wait->call->thread)
                       : gmt_text(analysis,
                                  "SELECT begin_ns, end_ns, device_start_ns, device_end_ns FROM "
                                  "launch WHERE thread_id = %" PRId32 " ORDER BY begin_ns",
                                  wait->call->thread);
    finding->effort = GMT_EFFORT_MEDIUM;
    price_wait(finding, wait);
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_host_loops *loops = gmt_analysis_host_loops(analysis);

    if (loops == NULL) {
        return gmt_could_not(analysis, "the launches could not be read");
    }
    for (size_t i = 0; i < loops->count; i++) {
        if (gmt_host_loop_waits(&loops->rows[i])) {
            report(analysis, &loops->rows[i]);
        }
    }
    if (gmt_host_waits_find(analysis, loops, report_wait) != 0) {
        return gmt_could_not(analysis, "the calls could not be read");
    }
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_host_bound;
const struct gmt_rule gmt_rule_host_bound = {
    .id = "GM512",
    .slug = "host-bound",
    .title = "The device waits for the host between launches",
    .category = "launches",
    .needs = GMT_NEED_LAUNCHES | GMT_NEED_TIMES,
    .run = run};
