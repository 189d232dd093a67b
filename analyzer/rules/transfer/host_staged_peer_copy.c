/* SPDX-License-Identifier: Apache-2.0 */
/* GM110: data that go from one device to another by way of host memory. */
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/memory/trips.h"
#include "analyzer/price/price.h"
#include "analyzer/rules/common/copy_group.h"
#include "analyzer/trace/cover.h"
#include "analyzer/trace/query.h"

struct state {
    struct gmt_cover kernels;
    const struct gmt_trips *trips;
    double all_bytes;
};

struct sums {
    double bytes, cost, hidden, once, twice, latency;
    double peer;  /* as calibrated on this machine; NAN */
    size_t known; /* to have come to the other device unchanged */
};

static void add_copy(struct gmt_analysis *analysis, const struct state *state,
                     const struct gmt_tl_copy *copy, struct gmt_finding *finding, struct sums *sums)
{
    struct gmt_interval interval = gmt_copy_interval(analysis->timeline, copy);

    sums->cost += (double)(interval.end_ns - interval.begin_ns);
    sums->hidden += gmt_cover_within(&state->kernels, interval.begin_ns, interval.end_ns);
    sums->twice += gmt_curve_at(gmt_price_curve(analysis->model, copy, true), (double)copy->bytes);
    gmt_finding_claim(analysis, finding, interval);
}

static struct sums add_up(struct gmt_analysis *analysis, const struct state *state,
                          const size_t *members, size_t n, struct gmt_finding *finding)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct sums sums = {0};

    for (size_t i = 0; i < n; i++) {
        const struct gmt_trip *trip = &state->trips->trips[members[i]];
        const struct gmt_tl_copy *down = &tl->copies[trip->down], *up = &tl->copies[trip->up];
        const struct gmt_model_curve *curve = gmt_price_curve(analysis->model, up, true);

        sums.bytes += (double)up->bytes;
        sums.known += trip->content == GMT_TRIP_SAME;
        if (gmt_timeline_is_untimed(tl)) {
            continue;
        }
        add_copy(analysis, state, down, finding, &sums);
        add_copy(analysis, state, up, finding, &sums);
        sums.once += gmt_curve_at(curve, (double)up->bytes);
        sums.latency += gmt_curve_at(curve, 0);
        sums.peer += gmt_price_peer(analysis->model, (double)up->bytes);
    }
    return sums;
}

static void describe(struct gmt_analysis *analysis, struct gmt_finding *finding,
                     const struct gmt_trip *trip, size_t n, const struct sums *sums)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_tl_copy *up = &tl->copies[trip->up];
    char size[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];
    const char *took = gmt_timeline_is_untimed(tl)
                           ? ""
                           : gmt_text(analysis, ", %s", gmt_time_words(analysis, sums->cost));

    finding->where = gmt_where_of_call(analysis, &tl->copies[trip->down].call);
    gmt_finding_evidence(finding, "pairs", "count", (double)n);
    gmt_finding_evidence(finding, "bytes", "bytes", sums->bytes);
    gmt_finding_evidence(finding, "known_to_be_unchanged", "count", (double)sums->known);
    finding->headline = gmt_text(analysis,
                                 "%s pair%s of copies carry %s from one device to another over the "
                                 "host%s",
                                 gmt_format_count(count, (double)n), n == 1 ? "" : "s",
                                 gmt_format_bytes(size, sums->bytes), took);
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(analysis,
                            "Copy the %s from device to device, in place of the read-back here and "
                            "the upload at %s.",
                            gmt_format_bytes(size, (double)up->bytes),
                            gmt_where_of_call(analysis, &up->call).label);
    finding->sketch = gmt_text(
        analysis,
        "cudaDeviceEnablePeerAccess(from_device, 0);  // once, on to_device\n"
        "cudaMemcpyPeerAsync(to, to_device, from, from_device, %.0f, stream);",
        (double)up->bytes);
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
                            "SELECT count(*) / 2, sum(bytes) / 2, sum(end_ns - begin_ns) FROM "
                            "transfer WHERE %s",
                            gmt_trips_condition(analysis, state->trips, members, n));
    if (gmt_timeline_is_untimed(tl)) {
        finding->method = gmt_unpriced(analysis);
        gmt_finding_judge_part(analysis, finding, 2 * sums.bytes, state->all_bytes);
        gmt_finding_emit(analysis, finding);
        return;
    }
    double seen = sums.cost - sums.hidden;
    finding->cost_ns = sums.cost;
    gmt_finding_evidence(finding, "time", "ns", sums.cost);
    gmt_finding_evidence(finding, "hidden_behind_kernels", "ns", sums.hidden);
    gmt_finding_evidence(finding, "one_crossing", "ns", sums.once);
    if (isfinite(sums.peer)) {
        gmt_finding_evidence(finding, "between_devices", "ns", sums.peer);
        finding->method = "measured time of both copies, without the time that kernels hide, minus "
                          "the model's time of copies between devices";
        gmt_finding_saving(finding, seen - fmax(sums.once, sums.peer), seen - sums.peer,
                           seen - fmin(sums.latency, sums.peer));
    } else {
        finding->method = "measured time of both copies, without the time that kernels hide, minus "
                          "the model's time of one transfer over the bus";
        gmt_finding_saving(finding, seen - sums.twice, seen - sums.once, seen - sums.latency);
    }
    finding->confidence = gmt_confidence_of_model(analysis->model);
    if (sums.known < n) {
        finding->confidence = GMT_CONFIDENCE_HEURISTIC;
    }
    if (tl->simulated) {
        gmt_finding_judge_part(analysis, finding, 2 * sums.bytes, state->all_bytes);
    }
    gmt_finding_emit(analysis, finding);
}

static bool is_meant(const struct gmt_timeline *tl, const struct gmt_trip *trip)
{
    return trip->crosses && trip->content != GMT_TRIP_CHANGED &&
           (trip->content == GMT_TRIP_SAME || gmt_trip_is_quick(tl, trip));
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_trips trips = {0};
    struct state state = {.trips = &trips, .all_bytes = gmt_copies_bytes(tl)};
    enum gmt_outcome outcome = GMT_OUTCOME_PASS;
    size_t *members = calloc(tl->copy_count + 1, sizeof(*members));
    int64_t devices = 0;

    if (members == NULL ||
        gmt_query_int64(tl->db, "SELECT count(DISTINCT device_id) FROM context", &devices) != 0 ||
        gmt_trips_find(&trips, tl) != 0 ||
        gmt_cover_make(&state.kernels, tl, GMT_COVER_KERNELS) != 0) {
        outcome = gmt_could_not(analysis, "not enough memory, or the trace cannot be read");
    } else if (devices < 2) {
        outcome = GMT_OUTCOME_NOT_APPLICABLE;
    }
    for (size_t i = 0, alike; outcome == GMT_OUTCOME_PASS && i < trips.count; i += alike) {
        size_t n = 0;

        alike = gmt_trips_alike(&trips, tl, i);
        for (size_t k = i; k < i + alike; k++) {
            if (is_meant(tl, &trips.trips[k])) {
                members[n++] = k;
            }
        }
        if (n > 0) {
            report(analysis, &state, members, n);
        }
    }
    gmt_trips_free(&trips);
    gmt_cover_free(&state.kernels);
    free(members);
    return outcome;
}

extern const struct gmt_rule gmt_rule_host_staged_peer_copy;
const struct gmt_rule gmt_rule_host_staged_peer_copy = {
    .id = "GM110",
    .slug = "host-staged-peer-copy",
    .title = "Copies between devices over the host",
    .category = "transfers",
    .needs = GMT_NEED_COPIES | GMT_NEED_MODEL,
    .run = run};
