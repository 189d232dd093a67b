/* SPDX-License-Identifier: Apache-2.0 */
/* For how much of the recording it is known what devices did, and how long they were busy in all of it. */
#include <math.h>

#include "analyzer/base/intervals.h"
#include "analyzer/summary/gap.h"
#include "analyzer/summary/summary.h"
#include "analyzer/trace/own_time.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"
#include "libtrace/store/db/own_schema.h"

#define PIECES_FOR_ERROR 8 /* of fewer no interval is said */

/* Times that are known, one after the other: their lengths, and how long devices were busy in each. */
struct pieces {
    double n, length, busy, length_squares, busy_squares, products;
};

static void add_piece(struct pieces *pieces, const struct gmt_timeline *tl, int64_t begin_ns,
                      int64_t end_ns)
{
    if (end_ns <= begin_ns) {
        return;
    }
    double length = (double)(end_ns - begin_ns);
    double busy = gmt_intervals_overlap(tl->busy, tl->busy_count,
                                        (struct gmt_interval){begin_ns, end_ns});

    pieces->n++;
    pieces->length += length;
    pieces->busy += busy;
    pieces->length_squares += length * length;
    pieces->busy_squares += busy * busy;
    pieces->products += length * busy;
}

static struct pieces cut(const struct gmt_timeline *tl)
{
    struct pieces pieces = {0};
    int64_t at_ns = tl->start_ns;

    for (size_t i = 0; i < tl->off_count; i++) {
        add_piece(&pieces, tl, at_ns, tl->off[i].begin_ns);
        at_ns = tl->off[i].end_ns;
    }
    add_piece(&pieces, tl, at_ns, tl->end_ns);
    return pieces;
}

/* Half of the 95 % interval of busy / length, as a ratio of sums over pieces that were drawn from all of the time (Cochran,
 * Sampling Techniques, 3rd edition, 6.4). */
static double ratio_error(const struct pieces *pieces, double seen)
{
    double ratio = pieces->busy / pieces->length;
    double squares = pieces->busy_squares - 2 * ratio * pieces->products +
                     ratio * ratio * pieces->length_squares;

    if (pieces->n < PIECES_FOR_ERROR) {
        return NAN;
    }
    double variance = fmax(0, squares) * pieces->n / (pieces->n - 1) * fmax(0, 1 - seen);
    return 1.96 * sqrt(variance) / pieces->length;
}

void gmt_device_seen_fill(const struct gmt_timeline *tl, struct gmt_report *report)
{
    double recorded_ns = gmt_timeline_recorded_ns(tl);
    double measured_ns = gmt_measured_kernels_ns(tl);
    bool known = !tl->simulated && (tl->has_device_times || measured_ns > 0);

    report->gpu_busy_error_ns = NAN;
    report->device_seen = known ? 1 : NAN;
    report->recorded_busy_ns =
        known ? fmin(report->wall_ns, gmt_intervals_length(tl->busy, tl->busy_count) + measured_ns)
              : NAN;
    report->gpu_busy_ns = report->recorded_busy_ns;
    if (!known || tl->off_count == 0 || !(recorded_ns > 0)) {
        return;
    }
    struct pieces pieces = cut(tl);
    report->device_seen = pieces.length / recorded_ns;
    if (!(pieces.length > 0)) {
        report->gpu_busy_ns = NAN;
        return;
    }
    double ratio = pieces.busy / pieces.length;
    report->gpu_busy_ns = fmin(report->wall_ns, ratio * recorded_ns + measured_ns);
    report->gpu_busy_error_ns = ratio_error(&pieces, report->device_seen) * recorded_ns;
}

void gmt_device_seen_add_gap(const struct gmt_timeline *tl, struct gmt_report *report)
{
    char busy[GMT_FORMAT_BYTES], error[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];
    char calls[GMT_FORMAT_BYTES], times[GMT_FORMAT_BYTES], others[GMT_FORMAT_BYTES];
    int64_t gaps = 0, left_out = 0, copies = 0;

    if (!gmt_trace_has_column(tl->db, "device_gap", "reason") ||
        gmt_query_int64(tl->db, "SELECT count(*) FROM device_gap WHERE reason = 'budget'", &gaps) !=
            0 ||
        gaps == 0 || !(report->device_seen < 1)) {
        return;
    }
    for (size_t i = 0; i < tl->launch_count; i++) {
        left_out += tl->launches[i].device_start_ns == GMT_NO_TIME && !tl->launches[i].measured;
    }
    for (size_t i = 0; i < tl->copy_count; i++) {
        copies += tl->copies[i].device_start_ns == GMT_NO_TIME;
    }
    gmt_format_percent(share, 100 * report->device_seen);
    gmt_format_percent(busy, 100 * report->gpu_busy_ns / report->wall_ns);
    gmt_format_percent(error, 100 * report->gpu_busy_error_ns / report->wall_ns);
    gmt_gap_add(
        report, "device times",
        gmt_arena_text(
            report->arena,
            "recorded for %s of the time, in %s pieces, to keep within --overhead; %s launches "
            "and %s copies have none. GPU busy (%s%s%s) is an estimate by the times that are "
            "recorded; the rest counts neither as busy nor as idle, and in no finding about idle "
            "time. For a launch the median of its kernel stands; of a copy that does not wait the "
            "call alone counts, as what is not known of it is not guessed",
            share, gmt_format_count(times, (double)gaps + 1),
            gmt_format_count(calls, (double)left_out), gmt_format_count(others, (double)copies),
            busy, isnan(report->gpu_busy_error_ns) ? "" : " +-",
            isnan(report->gpu_busy_error_ns) ? "" : error),
        "gmtrace --overhead 0");
}
