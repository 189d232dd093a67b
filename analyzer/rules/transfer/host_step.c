/* SPDX-License-Identifier: Apache-2.0 */
/* GM115: a step of the host between two kernels, for which the data leave the device and come back. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/memory/trips.h"
#include "analyzer/price/price.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/trace/cover.h"

struct state {
    struct gmt_cover kernels;
    const struct gmt_trips *trips;
    double all_bytes;
};

struct sums {
    double bytes, copies, traced, wait, host, still, kernel;
    size_t changed;
};

/* From when the kernels before it were done to the next one's start, or to its own end. */
static struct gmt_interval span_of(const struct gmt_timeline *tl, const struct gmt_trip *trip)
{
    const struct gmt_tl_copy *down = &tl->copies[trip->down], *up = &tl->copies[trip->up];
    struct gmt_interval span = {down->call.begin_ns + down->wait_ns, up->call.end_ns};
    size_t next = gmt_first_launch_after(tl, up->call.begin_ns);

    if (down->device_start_ns != GMT_NO_TIME && down->device_start_ns < span.begin_ns) {
        span.begin_ns = down->device_start_ns;
    }
    if (up->device_end_ns != GMT_NO_TIME && up->device_end_ns > span.end_ns) {
        span.end_ns = up->device_end_ns;
    }
    if (next == tl->launch_count) {
        return span;
    }
    const struct gmt_tl_launch *launch = &tl->launches[next];
    /* Later launches wait for something else. */
    if (launch->device_start_ns != GMT_NO_TIME && launch->device_start_ns > span.end_ns &&
        launch->device_start_ns - span.end_ns <= GMT_ENGINE_GAP_MOST_NS) {
        span.end_ns = launch->device_start_ns;
    }
    return span;
}

/* The step as a kernel: its bytes in and out, by whoever runs first. */
static double kernel_ns(const struct gmt_model *model, double bytes)
{
    double rate = model->dram_bytes_per_s;

    return fmax(GMT_KERNEL_LEAST_NS,
                isfinite(rate) ? 2 * bytes / rate * 1e9 * GMT_MEMORY_SLACK : 0);
}

static struct sums add_up(struct gmt_analysis *analysis, const struct state *state,
                          const size_t *members, size_t n, struct gmt_finding *finding)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct sums sums = {0};

    for (size_t i = 0; i < n; i++) {
        const struct gmt_trip *trip = &state->trips->trips[members[i]];
        const struct gmt_tl_copy *down = &tl->copies[trip->down], *up = &tl->copies[trip->up];
        struct gmt_interval span = span_of(tl, trip);
        double length = (double)(span.end_ns - span.begin_ns);

        sums.bytes += 2 * (double)down->bytes;
        sums.changed += trip->content == GMT_TRIP_CHANGED;
        if (gmt_timeline_is_untimed(tl)) {
            continue;
        }
        double copies = gmt_copy_cost_ns(tl, down) + gmt_copy_cost_ns(tl, up);
        sums.copies += copies;
        if (tl->modelled) {
            /* How long the host takes for its step is not known. */
            sums.still += copies;
            sums.kernel += kernel_ns(analysis->model, (double)down->bytes);
            gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, down));
            gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, up));
            continue;
        }
        sums.traced += copies - gmt_price_untraced_copy_ns(analysis->model, tl, down, false) -
                       gmt_price_untraced_copy_ns(analysis->model, tl, up, false);
        sums.wait += (double)down->wait_ns;
        sums.host += gmt_trip_host_ns(tl, trip);
        sums.still += fmax(0,
                           length - gmt_cover_within(&state->kernels, span.begin_ns, span.end_ns));
        sums.kernel += kernel_ns(analysis->model, (double)down->bytes);
        gmt_finding_claim(analysis, finding, span);
    }
    return sums;
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_trip *trip, size_t n, const struct sums *sums)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_where up = gmt_where_of_call(analysis, &tl->copies[trip->up].call);
    char size[GMT_FORMAT_BYTES], still[GMT_FORMAT_BYTES], copies[GMT_FORMAT_BYTES];
    char count[GMT_FORMAT_BYTES];
    double bytes = (double)tl->copies[trip->down].bytes;
    const char *took =
        gmt_timeline_is_untimed(tl) ? ""
        : tl->modelled
            ? gmt_text(analysis, ": the copies take %s", gmt_time_words(analysis, sums->copies))
            : gmt_text(analysis, ": the GPU is idle for %s, %s of it in copies",
                       gmt_format_ns(still, sums->still), gmt_format_ns(copies, sums->copies));

    finding->where = gmt_where_of_call(analysis, &tl->copies[trip->down].call);
    gmt_finding_evidence(finding, "trips", "count", (double)n);
    gmt_finding_evidence(finding, "bytes", "bytes", sums->bytes);
    gmt_finding_evidence(finding, "bytes_per_copy", "bytes", bytes);
    gmt_finding_evidence(finding, "known_to_be_changed", "count", (double)sums->changed);
    finding->headline = gmt_text(
        analysis, "%s times, %s go to the host and back (%s) between kernels%s",
        gmt_format_count(count, (double)n), gmt_format_bytes(size, bytes), up.label, took);
    finding->effort = GMT_EFFORT_MEDIUM;
    finding->fix = gmt_text(analysis,
                            "Do what the host does between %s and %s in a kernel: the %s stay on "
                            "the device.",
                            finding->where.label, up.label, size);
    finding->sketch = gmt_text(
        analysis,
        "// cudaMemcpy(host, device, %.0f, cudaMemcpyDeviceToHost);\n"
        "step<<<grid, block, 0, stream>>>(device, n);  // in place of the host\n"
        "// cudaMemcpy(device, host, %.0f, cudaMemcpyHostToDevice);",
        bytes, bytes);
}

static void report(struct gmt_analysis *analysis, const struct state *state, const size_t *members,
                   size_t n)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_finding *finding = gmt_finding_new(analysis);

    if (finding == NULL) {
        return;
    }
    struct sums sums = add_up(analysis, state, members, n, finding);
    finding->excess_bytes = sums.bytes;
    describe(analysis, finding, &state->trips->trips[members[0]], n, &sums);
    finding->sql = gmt_text(analysis,
                            "SELECT count(*) / 2, sum(bytes), sum(end_ns - begin_ns) FROM transfer "
                            "WHERE %s",
                            gmt_trips_condition(analysis, state->trips, members, n));
    if (gmt_timeline_is_untimed(tl)) {
        finding->method = gmt_unpriced(analysis);
        gmt_finding_judge_part(analysis, finding, sums.bytes, state->all_bytes);
        gmt_finding_emit(analysis, finding);
        return;
    }
    finding->cost_ns = sums.still;
    gmt_finding_evidence(finding, "copies_time", "ns", sums.copies);
    gmt_finding_evidence(finding, "waiting_for_kernels", "ns", sums.wait);
    gmt_finding_evidence(finding, "host_step", "ns", sums.host);
    gmt_finding_evidence(finding, "device_stood_still", "ns", sums.still);
    gmt_finding_evidence(finding, "kernel_in_its_place", "ns", sums.kernel);
    gmt_finding_evidence(finding, "added_by_tracing", "ns", sums.traced);
    finding->method = "idle time of the device around both copies and the step of the host, minus "
                      "what tracing added, minus a kernel that reads and writes the bytes; waiting "
                      "for earlier kernels saves nothing";
    double all = sums.still - sums.kernel - sums.traced, around = all - sums.host;
    gmt_finding_saving(finding, fmin(sums.copies - sums.kernel - sums.traced, around),
                       sums.changed == n ? all : around, all);
    finding->confidence = sums.changed == n ? GMT_CONFIDENCE_MEASURED : GMT_CONFIDENCE_HEURISTIC;
    if (tl->simulated) {
        gmt_finding_judge_part(analysis, finding, sums.bytes, state->all_bytes);
    }
    gmt_finding_emit(analysis, finding);
}

/* A launch between the trip before and this one: an iteration, no mere relay of pieces. */
static bool follows_launch(const struct gmt_timeline *tl, const struct gmt_trip *before,
                           const struct gmt_trip *trip)
{
    int64_t from = before != NULL ? tl->copies[before->up].call.begin_ns : INT64_MIN;
    size_t launch = gmt_first_launch_after(tl, from);

    return launch < tl->launch_count &&
           tl->launches[launch].call.begin_ns < tl->copies[trip->down].call.begin_ns;
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_trips trips = {0};
    struct state state = {.trips = &trips, .all_bytes = gmt_copies_bytes(tl)};
    size_t *members = calloc(tl->copy_count + 1, sizeof(*members));
    enum gmt_outcome outcome = GMT_OUTCOME_PASS;

    if (members == NULL || gmt_trips_find(&trips, tl) != 0 ||
        gmt_cover_make(&state.kernels, tl, GMT_COVER_KERNELS) != 0) {
        outcome = gmt_could_not(analysis, "not enough memory, or the trace cannot be read");
        goto out;
    }
    for (size_t i = 0, alike; i < trips.count; i += alike) {
        size_t n = 0;

        alike = gmt_trips_alike(&trips, tl, i);
        for (size_t k = i; k < i + alike; k++) {
            const struct gmt_trip *trip = &trips.trips[k];

            if (!trip->crosses && trip->content != GMT_TRIP_SAME && gmt_trip_is_quick(tl, trip) &&
                follows_launch(tl, k > i ? trip - 1 : NULL, trip)) {
                members[n++] = k;
            }
        }
        if (n >= GMT_TRIP_MIN) {
            report(analysis, &state, members, n);
        }
    }
out:
    gmt_trips_free(&trips);
    gmt_cover_free(&state.kernels);
    free(members);
    return outcome;
}

extern const struct gmt_rule gmt_rule_host_step;
const struct gmt_rule gmt_rule_host_step = {.id = "GM115",
                                            .slug = "host-step",
                                            .title = "A step of the host between kernels",
                                            .category = "transfers",
                                            .needs = GMT_NEED_COPIES | GMT_NEED_LAUNCHES,
                                            .about_request = true,
                                            .run = run};
