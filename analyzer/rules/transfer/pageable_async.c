/* SPDX-License-Identifier: Apache-2.0 */
/* GM103: asynchronous copies of pageable memory, which keep their caller waiting all the same. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/price.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/rules/common/pinning.h"
#include "analyzer/trace/cover.h"
#include "analyzer/trace/query.h"

struct state {
    struct gmt_cover kernels;
    int64_t *free_until; /* by index of copy: when its thread waits next; its end: at once */
};

/* What the copies of one place cost, and would cost. */
struct sums {
    double held, waiting, hidden, pinned, pageable, beside, doubt, bytes;
};

static struct sums add_up(struct gmt_analysis *analysis, const struct state *state,
                          const size_t *members, size_t n, struct gmt_finding *finding)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct sums sums = {0};

    for (size_t i = 0; i < n; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[members[i]];
        const struct gmt_model_curve *curve = gmt_price_registered_curve(analysis->model, copy);
        struct gmt_interval held = {copy->call.begin_ns, copy->call.end_ns};
        int64_t wait = copy->wait_ns;
        double then_ns = gmt_curve_at(curve, (double)copy->bytes);

        if (wait > held.end_ns - held.begin_ns) {
            wait = held.end_ns - held.begin_ns;
        }
        /* What the device saw of the copy is no waiting for the kernels before it. */
        if (copy->device_start_ns > held.begin_ns && copy->device_start_ns < held.begin_ns + wait) {
            wait = copy->device_start_ns - held.begin_ns;
        }
        held.begin_ns += wait;
        sums.waiting += (double)wait;
        sums.held += (double)(held.end_ns - held.begin_ns);
        sums.hidden += gmt_cover_within(&state->kernels, held.begin_ns, held.end_ns);
        sums.pinned += then_ns;
        sums.pageable += gmt_curve_at(gmt_price_curve(analysis->model, copy, false),
                                      (double)copy->bytes);
        sums.bytes += (double)copy->bytes;
        sums.beside += fmin(then_ns, (double)(state->free_until[members[i]] - held.end_ns));
        sums.doubt += then_ns * fmax(GMT_MODEL_UNCERTAINTY,
                                     gmt_curve_relative_spread(curve, (double)copy->bytes));
        gmt_finding_claim(analysis, finding, held);
    }
    return sums;
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_tl_copy *copy, size_t n, const struct sums *sums,
                     const struct gmt_pinning *pin)
{
    char size[GMT_FORMAT_BYTES], held[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];

    gmt_finding_evidence(finding, "time_of_the_calls", "ns", sums->held);
    gmt_finding_evidence(finding, "waiting_for_kernels", "ns", sums->waiting);
    gmt_finding_evidence(finding, "hidden_behind_kernels", "ns", sums->hidden);
    gmt_finding_evidence(finding, "pinned_time", "ns", sums->pinned);
    gmt_finding_evidence(finding, "work_beside_the_copies", "ns", sums->beside);
    gmt_finding_evidence(finding, "pinning", "ns", pin->least_ns);
    gmt_finding_evidence(finding, "host_buffers", "count", (double)pin->ranges);
    gmt_finding_evidence(finding, "host_bytes", "bytes", pin->bytes);
    const char *hidden = sums->hidden > 0
                             ? gmt_text(analysis, " (%s of it overlapped with kernels)",
                                        gmt_format_ns(size, sums->hidden))
                             : "";
    finding->headline = gmt_text(
        analysis,
        "%s asynchronous %s cop%s of pageable memory blocked %s caller%s for "
        "%s%s",
        gmt_format_count(count, (double)n), gmt_name_direction(copy->direction),
        n == 1 ? "y" : "ies", n == 1 ? "its" : "their", n == 1 ? "" : "s",
        gmt_format_ns(held, sums->held), hidden);
    finding->method = "measured time of the calls beyond waiting for kernels, minus the model's "
                      "time of the same copies from registered memory, minus registering once";
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(analysis,
                            "Page-lock the host buffer%s (%s): only then does the call return "
                            "before the copy is done.",
                            pin->ranges > 1 ? "s" : "", gmt_format_bytes(size, pin->bytes));
    finding->sketch = gmt_text(analysis,
                               "cudaHostRegister(buffer, %.0f, cudaHostRegisterDefault);  // %s\n"
                               "cudaMemcpyAsync(..., stream);   // returns at once\n"
                               "...                             // work of the host\n"
                               "cudaStreamSynchronize(stream);  // before the buffer is used again",
                               pin->bytes / (double)pin->ranges, gmt_pinning_once(analysis, pin));
}

/*
 * The judgement of GM102, by place. A loop that takes a fresh host buffer at every step fills the same device
 * memory again: that is no set-up, and a few page-locked buffers would do for all of its steps.
 */
static bool is_for_once(const struct gmt_timeline *tl, size_t *members, size_t n,
                        const struct sums *sums, const struct gmt_pinning *pin)
{
    return gmt_pinning_is_for_once(pin, sums->bytes) &&
           sums->bytes < GMT_EXCESS_RATIO * gmt_copies_device_bytes(tl, members, n);
}

static void report(struct gmt_analysis *analysis, size_t *members, size_t n, void *context)
{
    const struct state *state = context;
    const struct gmt_tl_copy *copy = &analysis->timeline->copies[members[0]];
    struct gmt_finding *finding = gmt_finding_new(analysis);

    if (finding == NULL) {
        return;
    }
    gmt_copy_group_fill(analysis, finding, members, n);
    struct sums sums = add_up(analysis, state, members, n, finding);
    if (isnan(sums.pinned)) {
        return;
    }
    struct gmt_pinning pin = gmt_pinning_cost(analysis, members, n);
    double best = sums.held - sums.hidden - sums.pinned - pin.least_ns;
    if (!(best + sums.beside > 0)) {
        return; /* too few copies, or hidden: not worth pinning */
    }
    bool once = is_for_once(analysis->timeline, members, n, &sums, &pin);
    if (once) {
        best = fmin(best, sums.pageable - sums.hidden - sums.pinned - pin.least_ns);
    }
    finding->note_why = once && !(best > 0) ? gmt_pinning_once_why : NULL;
    finding->cost_ns = sums.held;
    describe(analysis, finding, copy, n, &sums, &pin);
    gmt_finding_saving(finding, best - (pin.most_ns - pin.least_ns) - sums.doubt, best,
                       best + sums.beside + pin.least_ns + sums.doubt);
    finding->confidence = gmt_confidence_of_model(analysis->model);
    gmt_finding_emit(analysis, finding);
}

/*
 * When the thread of each copy waits next: at its next copy that blocks or is no asynchronous one, or
 * at its next synchronization. Goes backwards over both, each in the order of time.
 */
static int find_free_time(const struct gmt_analysis *analysis, int64_t *free_until)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_query query;
    int64_t *next = NULL, threads = 0;
    size_t at = tl->copy_count;
    int rc = gmt_query_int64(tl->db, "SELECT max(id) FROM thread", &threads);

    if (rc != 0 || threads < 0 || threads > GMT_THREADS_MOST) {
        return -EIO;
    }
    next = calloc((size_t)threads + 2, sizeof(*next));
    if (next == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, tl->db,
                        "SELECT begin_ns, thread_id FROM sync WHERE result = 0 AND "
                        "begin_ns IS NOT NULL UNION ALL SELECT NULL, 0 ORDER BY 1 DESC");
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t begin = gmt_query_time(&query, 0), thread = gmt_query_id(&query, 1);

        for (; at > 0 && tl->copies[at - 1].call.begin_ns >= begin; at--) {
            const struct gmt_tl_copy *copy = &tl->copies[at - 1];
            int64_t of = copy->call.thread > 0 && copy->call.thread <= threads ? copy->call.thread
                                                                               : 0;

            free_until[at - 1] = next[of] > copy->call.end_ns ? next[of] : copy->call.end_ns;
            if (copy->blocking || copy->host_class == GMT_MEM_PAGEABLE) {
                next[of] = copy->call.begin_ns;
            }
        }
        if (thread > 0 && thread <= threads) {
            next[thread] = begin;
        }
    }
    rc = gmt_query_close(&query, rc);
    free(next);
    return rc;
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct state state = {.free_until = calloc(tl->copy_count + 1, sizeof(int64_t))};
    size_t *members = calloc(tl->copy_count + 1, sizeof(*members));
    size_t n = 0, async = 0;
    enum gmt_outcome outcome = GMT_OUTCOME_PASS;

    if (tl->simulated) {
        outcome = gmt_could_not(analysis, "no hardware (software device)");
        goto out;
    }
    if (state.free_until == NULL || members == NULL ||
        gmt_cover_make(&state.kernels, tl, GMT_COVER_KERNELS) != 0 ||
        find_free_time(analysis, state.free_until) != 0) {
        outcome = gmt_could_not(analysis, "not enough memory, or the trace cannot be read");
        goto out;
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        async += !tl->copies[i].blocking;
        if (gmt_copy_is_blocked_async(analysis, &tl->copies[i])) {
            members[n++] = i;
        }
    }
    gmt_copy_groups(analysis, members, n, report, &state);
    if (async == 0) {
        outcome = GMT_OUTCOME_NOT_APPLICABLE;
    }
out:
    gmt_cover_free(&state.kernels);
    free(state.free_until);
    free(members);
    return outcome;
}

extern const struct gmt_rule gmt_rule_pageable_async;
const struct gmt_rule gmt_rule_pageable_async = {.id = "GM103",
                                                 .slug = "pageable-async",
                                                 .title = "Asynchronous copies that block",
                                                 .category = "transfers",
                                                 .needs = GMT_NEED_COPIES | GMT_NEED_MODEL,
                                                 .run = run};
