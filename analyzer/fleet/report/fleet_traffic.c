/* SPDX-License-Identifier: Apache-2.0 */
/* Time in collectives: who was waited for, and how fast the bytes went. */
#include <math.h>
#include <string.h>

#include "analyzer/fleet/collectives.h"
#include "analyzer/fleet/report/fleet_write.h"
#include "libtrace/base/format.h"
#include "libtrace/base/printable.h"
#include "reports/json/json_values.h"

enum { KINDS_SHOWN = 6 };

static void print_row(const struct gmt_fleet_traffic *traffic)
{
    char bytes[GMT_FORMAT_BYTES], late[GMT_FORMAT_BYTES], transfer[GMT_FORMAT_BYTES],
        rate[GMT_FORMAT_BYTES];

    gmt_say(stdout, "  %-14s %5zu %10s %8zu %10s %10s  %s\n",
            gmt_fleet_operation_word(traffic->operation), traffic->ranks,
            gmt_format_bytes(bytes, (double)traffic->bytes), traffic->count,
            gmt_format_ns(late, traffic->late_ns), gmt_format_ns(transfer, traffic->transfer_ns),
            isnan(traffic->bytes_per_s) ? "-" : gmt_format_rate(rate, traffic->bytes_per_s));
}

/* The rank that the others waited for longest. */
static size_t latest(const struct gmt_fleet_view *view)
{
    size_t latest = 0;

    for (size_t r = 1; r < view->fleet.count; r++) {
        if (view->waits.ranks[r].made_ns > view->waits.ranks[latest].made_ns) {
            latest = r;
        }
    }
    return latest;
}

static void print_causes(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_waits *waits = &view->waits;
    size_t rank = latest(view);
    const struct gmt_fleet_wait *wait = &waits->ranks[rank];
    double late = 0, transfer = 0;
    char one[GMT_FORMAT_BYTES];

    for (size_t r = 0; r < view->fleet.count; r++) {
        late += waits->ranks[r].late_ns;
        transfer += waits->ranks[r].transfer_ns;
    }
    if (late + transfer <= 0) {
        return;
    }
    gmt_say(stdout, "  Of the time in them, ranks waited %.0f %% for late peers; ",
            late / (late + transfer) * 100);
    gmt_say(stdout, "%.0f %% was transfer\n", transfer / (late + transfer) * 100);
    if (wait->last > 0) {
        gmt_say(stdout, "  Rank %s came last in %zu of %zu, each time %s behind the last but one\n",
                gmt_fleet_rank_name(&view->fleet.ranks[rank]), wait->last, wait->count,
                gmt_format_ns(one, wait->made_ns / (double)wait->last));
    }
}

void gmt_fleet_text_traffic(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_waits *waits = &view->waits;
    size_t shown = view->top > 0 && waits->traffic_count > KINDS_SHOWN ? KINDS_SHOWN
                                                                       : waits->traffic_count;

    if (waits->communicators == 0) {
        return;
    }
    gmt_say(stdout, "\n");
    gmt_say(stdout,
            "Collectives of %zu communicator%s: %zu matched over their ranks; left out: %zu that "
            "not all ranks have, %zu ambiguous ones\n",
            waits->communicators, waits->communicators == 1 ? "" : "s", waits->matched,
            waits->incomplete, waits->ambiguous);
    if (shown > 0) {
        gmt_say(stdout, "  %-14s %5s %10s %8s %10s %10s  %s\n", "operation", "ranks", "message",
                "number", "late peer", "transfer", "bus bandwidth");
    }
    for (size_t i = 0; i < shown; i++) {
        print_row(&waits->traffic[i]);
    }
    gmt_fleet_text_more(waits->traffic_count, shown);
    print_causes(view);
}

static json_t *of_traffic(const struct gmt_fleet_traffic *traffic)
{
    return json_pack(
        "{ss, sI, sI, sI, sI, so, so, so, so, so}", "operation",
        gmt_fleet_operation_word(traffic->operation), "message_bytes", (json_int_t)traffic->bytes,
        "ranks", (json_int_t)traffic->ranks, "communicators", (json_int_t)traffic->communicators,
        "number", (json_int_t)traffic->count, "late_ns", gmt_json_ns(traffic->late_ns),
        "transfer_ns", gmt_json_ns(traffic->transfer_ns), "bus_bytes_per_s",
        isfinite(traffic->bytes_per_s) ? gmt_json_number(traffic->bytes_per_s) : json_null(),
        "late_sum_ns", gmt_json_ns(traffic->late_sum_ns), "transfer_sum_ns",
        gmt_json_ns(traffic->transfer_sum_ns));
}

json_t *gmt_fleet_json_traffic(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_waits *waits = &view->waits;
    json_t *json = json_object(), *list = json_array();

    for (size_t i = 0; i < waits->traffic_count; i++) {
        json_array_append_new(list, of_traffic(&waits->traffic[i]));
    }
    json_object_set_new(json, "communicators", gmt_json_integer(waits->communicators));
    json_object_set_new(json, "matched", gmt_json_integer(waits->matched));
    json_object_set_new(json, "incomplete", gmt_json_integer(waits->incomplete));
    json_object_set_new(json, "ambiguous", gmt_json_integer(waits->ambiguous));
    json_object_set_new(json, "kinds", list);
    return json;
}

/* Where nothing was matched, nothing was measured. */
static json_t *ns_of(const struct gmt_fleet_wait *wait, double ns)
{
    return wait->count > 0 ? gmt_json_ns(ns) : json_null();
}

json_t *gmt_fleet_json_wait(const struct gmt_fleet_wait *wait)
{
    return json_pack("{so, so, so, so, so}", "matched", gmt_json_integer(wait->count), "late_ns",
                     ns_of(wait, wait->late_ns), "transfer_ns", ns_of(wait, wait->transfer_ns),
                     "last", gmt_json_integer(wait->last), "made_wait_ns",
                     ns_of(wait, wait->made_ns));
}
