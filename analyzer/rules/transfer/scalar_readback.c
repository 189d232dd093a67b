/* SPDX-License-Identifier: Apache-2.0 */
/* GM109: read-backs of a few bytes, again and again, that make the host wait for all kernels. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/memory/trips.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/trace/cover.h"
#include "analyzer/trace/query.h"
#include "libtrace/record/checked.h"

struct state {
    struct gmt_cover busy;
    struct gmt_interval *window; /* by index of copy: from the call to the end of its wait */
};

struct sums {
    double host, wait, idle;
    size_t launches;
};

/* Device idle time that one read-back causes. */
static double idle_of(const struct gmt_timeline *tl, const struct state *state, size_t index,
                      double wait_ns)
{
    const struct gmt_tl_copy *copy = &tl->copies[index];
    const struct gmt_interval *window = &state->window[index];
    size_t next = gmt_first_launch_after(tl, window->end_ns);
    int64_t from = gmt_add_clamped(window->begin_ns, gmt_integer_clamped(wait_ns));

    if (next == tl->launch_count || tl->launches[next].device_start_ns == GMT_NO_TIME ||
        tl->launches[next].device_start_ns <= from) {
        return 0;
    }
    int64_t to = tl->launches[next].device_start_ns;
    double busy = gmt_cover_within(&state->busy, from, to);
    /* The copy itself would go, too. */
    if (copy->device_start_ns >= from && copy->device_end_ns <= to) {
        busy -= (double)(copy->device_end_ns - copy->device_start_ns);
    }
    return fmin((double)(to - from) - fmax(0, busy), (double)(window->end_ns - window->begin_ns));
}

static struct sums add_up(struct gmt_analysis *analysis, const struct state *state,
                          const size_t *members, size_t n, struct gmt_finding *finding)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct sums sums = {0};
    int64_t claimed_until =
        INT64_MIN; /* of two reads in a row both see the device idle until the next launch */

    for (size_t i = 0; i < n; i++) {
        const struct gmt_interval *window = &state->window[members[i]];
        double host = (double)(window->end_ns - window->begin_ns);
        double wait = fmin(host, (double)gmt_timeline_wait_ns(tl, window->begin_ns));
        int64_t from = gmt_add_clamped(window->begin_ns, gmt_integer_clamped(wait));
        int64_t to = gmt_add_clamped(from,
                                     gmt_integer_clamped(idle_of(tl, state, members[i], wait)));

        from = from > claimed_until ? from : claimed_until;
        double idle = to > from ? (double)to - (double)from : 0;
        int64_t after = i + 1 < n ? state->window[members[i + 1]].begin_ns : INT64_MAX;
        size_t next = gmt_first_launch_after(tl, window->end_ns);

        sums.host += host;
        sums.wait += wait;
        sums.idle += idle;
        sums.launches += next < tl->launch_count && tl->launches[next].call.begin_ns < after;
        if (idle > 0) {
            gmt_finding_claim(analysis, finding, (struct gmt_interval){from, to});
            claimed_until = to;
        }
    }
    return sums;
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_tl_copy *copy, size_t n, const struct sums *sums)
{
    char size[GMT_FORMAT_BYTES], wait[GMT_FORMAT_BYTES], copying[GMT_FORMAT_BYTES];
    char idle[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];
    double each = (double)n;

    gmt_finding_evidence(finding, "time_of_the_calls", "ns", sums->host);
    gmt_finding_evidence(finding, "waiting_for_kernels", "ns", sums->wait);
    gmt_finding_evidence(finding, "copying", "ns", sums->host - sums->wait);
    gmt_finding_evidence(finding, "device_stood_still", "ns", sums->idle);
    finding->headline = gmt_text(analysis,
                                 "%s read-backs of %s: each waits %s for kernels, then copies for "
                                 "%s; the GPU is then idle for %s",
                                 gmt_format_count(count, each),
                                 gmt_format_bytes(size, (double)copy->bytes),
                                 gmt_format_ns(wait, sums->wait / each),
                                 gmt_format_ns(copying, (sums->host - sums->wait) / each),
                                 gmt_format_ns(idle, sums->idle / each));
    finding->method =
        "idle time of the device from the end of the kernels waited for to the next one, for nine "
        "of ten read-backs; the wait itself overlaps with kernels and saves nothing";
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = gmt_text(analysis,
                            "Read the %s back every %.0f steps, or leave the decision to a kernel: "
                            "pinning or batching the copy would not help.",
                            size, GMT_READBACK_STEPS);
    finding->sketch = gmt_text(analysis,
                               "%s<<<grid, block, 0, stream>>>(...);\n"
                               "if (++i %% %.0f == 0)\n"
                               "    cudaMemcpy(&flag, device_flag, %.0f, cudaMemcpyDeviceToHost);",
                               gmt_kernel_before(analysis, copy->call.begin_ns), GMT_READBACK_STEPS,
                               (double)copy->bytes);
}

static void report(struct gmt_analysis *analysis, size_t *members, size_t n, void *context)
{
    const struct gmt_tl_copy *copy = &analysis->timeline->copies[members[0]];
    struct gmt_finding *finding = n < GMT_RUN_MIN_COPIES ? NULL : gmt_finding_new(analysis);

    if (finding == NULL) {
        return;
    }
    struct sums sums = add_up(analysis, context, members, n, finding);
    if (sums.launches < GMT_RUN_MIN_COPIES || 2 * sums.launches < n || !(sums.idle > 0)) {
        return; /* no step follows: GM101, or a result at the end */
    }
    gmt_copy_group_fill(analysis, finding, members, n);
    finding->cost_ns = sums.host;
    describe(analysis, finding, copy, n, &sums);
    double best = sums.idle * (1 - 1 / GMT_READBACK_STEPS);
    gmt_finding_saving(finding, best / 2, best, sums.idle);
    finding->confidence = GMT_CONFIDENCE_MEASURED;
    if (sums.idle < GMT_READBACK_MIN_IDLE * (sums.wait + sums.idle)) {
        finding->note_why = "the device is hardly idle: each read-back waits for long-running work";
    }
    gmt_finding_emit(analysis, finding);
}

/*
 * For copies that do not block: the first synchronization of their thread after them, unless it launches
 * something before. 0 or negative.
 */
static int find_windows(const struct gmt_timeline *tl, struct gmt_interval *window)
{
    struct gmt_query query;
    int64_t threads = 0;
    size_t *open = NULL, at = 0, launch = 0;
    int rc = gmt_query_int64(tl->db, "SELECT max(id) FROM thread", &threads);

    if (rc != 0 || threads < 0 || threads > GMT_THREADS_MOST) {
        return -EIO;
    }
    open = calloc((size_t)threads + 1, sizeof(*open)); /* index + 1 of the copy that waits */
    if (open == NULL) {
        return -ENOMEM;
    }
    rc = gmt_query_open(&query, tl->db,
                        "SELECT begin_ns, end_ns, thread_id FROM sync WHERE result = 0 AND "
                        "thread_id > 0 ORDER BY begin_ns");
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t begin = gmt_query_instant(&query, 0), thread = gmt_query_id(&query, 2);

        for (; at < tl->copy_count && tl->copies[at].call.begin_ns <= begin; at++) {
            int32_t of = tl->copies[at].call.thread;

            if (of > 0 && of <= threads) {
                open[of] = tl->copies[at].direction == GMT_DIR_D2H ? at + 1 : 0;
            }
        }
        for (; launch < tl->launch_count && tl->launches[launch].call.begin_ns <= begin; launch++) {
            const struct gmt_tl_call *call = &tl->launches[launch].call;
            size_t waits = call->thread > 0 && call->thread <= threads ? open[call->thread] : 0;

            if (waits > 0 && tl->copies[waits - 1].call.begin_ns < call->begin_ns) {
                open[call->thread] = 0;
            }
        }
        if (!gmt_index_within(thread, (size_t)threads + 1)) {
            continue;
        }
        if (open[thread] > 0) {
            window[open[thread] - 1].end_ns = gmt_query_instant(&query, 1);
        }
        open[thread] = 0;
    }
    rc = gmt_query_close(&query, rc);
    free(open);
    return rc;
}

/* Those that go back to the device are steps of the host: GM115. */
static int drop_trips(const struct gmt_timeline *tl, struct gmt_interval *window)
{
    struct gmt_trips trips;
    int rc = gmt_trips_find(&trips, tl);

    for (size_t i = 0; rc == 0 && i < trips.count; i++) {
        window[trips.trips[i].down].end_ns = window[trips.trips[i].down].begin_ns;
    }
    gmt_trips_free(&trips);
    return rc;
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct state state = {.window = calloc(tl->copy_count + 1, sizeof(*state.window))};
    size_t *members = calloc(tl->copy_count + 1, sizeof(*members));
    enum gmt_outcome outcome = GMT_OUTCOME_PASS;
    size_t n = 0;

    for (size_t i = 0; state.window != NULL && i < tl->copy_count; i++) {
        const struct gmt_tl_call *call = &tl->copies[i].call;
        bool waits = tl->copies[i].blocking || tl->copies[i].host_class == GMT_MEM_PAGEABLE;

        state.window[i] = (struct gmt_interval){call->begin_ns,
                                                waits ? call->end_ns : call->begin_ns};
    }
    if (state.window == NULL || members == NULL ||
        gmt_cover_make(&state.busy, tl, GMT_COVER_KERNELS | GMT_COVER_COPIES) != 0 ||
        find_windows(tl, state.window) != 0 || drop_trips(tl, state.window) != 0) {
        outcome = gmt_could_not(analysis, "not enough memory, or the trace cannot be read");
        goto out;
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        const struct gmt_tl_copy *copy = &tl->copies[i];

        if (copy->direction == GMT_DIR_D2H && copy->bytes > 0 && copy->bytes <= GMT_SCALAR_BYTES &&
            state.window[i].end_ns > state.window[i].begin_ns) {
            members[n++] = i;
        }
    }
    gmt_copy_groups(analysis, members, n, report, &state);
out:
    gmt_cover_free(&state.busy);
    free(state.window);
    free(members);
    return outcome;
}

extern const struct gmt_rule gmt_rule_scalar_readback;
const struct gmt_rule gmt_rule_scalar_readback = {.id = "GM109",
                                                  .slug = "scalar-readback",
                                                  .title = "Read-backs that stop the device",
                                                  .category = "transfers",
                                                  .needs = GMT_NEED_COPIES | GMT_NEED_LAUNCHES |
                                                           GMT_NEED_TIMES,
                                                  .about_request = true,
                                                  .run = run};
