/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between memory of several ranks. */
#include <math.h>

#include "analyzer/fleet/report/fleet_write.h"
#include "libtrace/base/format.h"
#include "libtrace/base/printable.h"
#include "reports/json/json_values.h"

static const char *side_of(const struct gmt_fleet_direct_pair *pair, size_t rank)
{
    return pair->over_host && rank == pair->by ? " (its host)" : "";
}

static void print_pair(const struct gmt_fleet_view *view, const struct gmt_fleet_direct_pair *pair)
{
    const struct gmt_fleet_rank *ranks = view->fleet.ranks;
    char count[GMT_FORMAT_BYTES], bytes[GMT_FORMAT_BYTES], time[GMT_FORMAT_BYTES],
        rate[GMT_FORMAT_BYTES];

    gmt_say(stdout, "  rank %s%s to %s%s: %s of %s, copied by rank %s",
            gmt_fleet_rank_name(&ranks[pair->from]), side_of(pair, pair->from),
            gmt_fleet_rank_name(&ranks[pair->to]), side_of(pair, pair->to),
            gmt_format_count(count, (double)pair->copies),
            gmt_format_bytes(bytes, (double)pair->bytes), gmt_fleet_rank_name(&ranks[pair->by]));
    if (isfinite(pair->device_ns)) {
        gmt_say(stdout, "; %s on its device%s, %s", gmt_format_ns(time, pair->device_ns),
                pair->is_modelled ? " (modelled)" : "", gmt_format_rate(rate, pair->bytes_per_s));
    }
    gmt_say(stdout, "\n");
}

static void print_rest(const struct gmt_fleet_direct_rest *rest, const char *what)
{
    char count[GMT_FORMAT_BYTES], bytes[GMT_FORMAT_BYTES];

    if (rest->copies > 0) {
        gmt_say(stdout, "  %s of %s with memory %s\n",
                gmt_format_count(count, (double)rest->copies),
                gmt_format_bytes(bytes, (double)rest->bytes), what);
    }
}

/* Where calls copy, it is clear what for. */
static void print_opened(const struct gmt_fleet_direct *direct)
{
    uint64_t pairs = 0, allocations = 0, all_bytes = 0;
    char count[GMT_FORMAT_BYTES], bytes[GMT_FORMAT_BYTES], of[GMT_FORMAT_BYTES];

    for (size_t i = 0; i < direct->opened_count; i++) {
        if (!direct->opened[i].is_copied) {
            pairs++;
            allocations += direct->opened[i].allocations;
            all_bytes += direct->opened[i].bytes;
        }
    }
    if (pairs > 0) {
        gmt_say(stdout,
                "  opened, and in no copy of a call: %s allocations of %s, by %s pairs of ranks: "
                "their kernels may read and write them\n",
                gmt_format_count(count, (double)allocations),
                gmt_format_bytes(bytes, (double)all_bytes), gmt_format_count(of, (double)pairs));
    }
}

void gmt_fleet_text_direct(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_direct *direct = &view->direct;
    size_t shown = gmt_fleet_shown(view, direct->pair_count);
    char count[GMT_FORMAT_BYTES], bytes[GMT_FORMAT_BYTES];

    if (direct->pair_count == 0 && direct->unknown.copies == 0 && direct->ambiguous.copies == 0 &&
        direct->opened_count == 0) {
        return;
    }
    gmt_say(stdout, "\n");
    gmt_say(stdout,
            "Between device memory of ranks: %s copies of %s from or to memory that another rank "
            "exported (CUDA IPC)\n",
            gmt_format_count(count, (double)direct->copies),
            gmt_format_bytes(bytes, (double)direct->bytes));
    for (size_t i = 0; i < shown; i++) {
        print_pair(view, &direct->pairs[i]);
    }
    gmt_fleet_text_more(direct->pair_count, shown);
    print_opened(direct);
    print_rest(&direct->unknown, "whose handle no trace of the host has");
    print_rest(&direct->ambiguous, "whose handle several traces have");
    if (direct->sharing.left_out > 0) {
        gmt_say(stdout, "  %s handles or pairs of them were left out\n",
                gmt_format_count(count, (double)direct->sharing.left_out));
    }
}

static json_t *of_pair(const struct gmt_fleet_view *view, const struct gmt_fleet_direct_pair *pair)
{
    const struct gmt_fleet_rank *from = &view->fleet.ranks[pair->from];
    const struct gmt_fleet_rank *to = &view->fleet.ranks[pair->to];
    const struct gmt_fleet_rank *by = &view->fleet.ranks[pair->by];

    return json_pack(
        "{so, so, so, so, so, so, sb, sb, so, so, so, so}", "from", gmt_json_text(from->rank), "to",
        gmt_json_text(to->rank), "by", gmt_json_text(by->rank), "from_trace",
        gmt_json_text(from->trace), "to_trace", gmt_json_text(to->trace), "by_trace",
        gmt_json_text(by->trace), "over_host", pair->over_host, "modelled", pair->is_modelled,
        "copies", gmt_json_integer(pair->copies), "bytes", gmt_json_integer(pair->bytes),
        "device_ns", gmt_json_ns(pair->device_ns), "bytes_per_s",
        isfinite(pair->bytes_per_s) ? gmt_json_number(pair->bytes_per_s) : json_null());
}

static json_t *of_opened(const struct gmt_fleet_view *view,
                         const struct gmt_fleet_direct_opened *opened)
{
    const struct gmt_fleet_rank *owner = &view->fleet.ranks[opened->owner];
    const struct gmt_fleet_rank *by = &view->fleet.ranks[opened->by];

    return json_pack("{so, so, so, so, so, so, sb}", "owner", gmt_json_text(owner->rank), "by",
                     gmt_json_text(by->rank), "owner_trace", gmt_json_text(owner->trace),
                     "by_trace", gmt_json_text(by->trace), "allocations",
                     gmt_json_integer(opened->allocations), "bytes",
                     gmt_json_integer(opened->bytes), "copied", opened->is_copied);
}

json_t *gmt_fleet_json_direct(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_direct *direct = &view->direct;
    json_t *pairs = json_array(), *opened = json_array();

    for (size_t i = 0; i < direct->pair_count; i++) {
        json_array_append_new(pairs, of_pair(view, &direct->pairs[i]));
    }
    for (size_t i = 0; i < direct->opened_count; i++) {
        json_array_append_new(opened, of_opened(view, &direct->opened[i]));
    }
    return json_pack("{so, so, so, so, so, so, so, so, so, so, so, so}", "allocations",
                     gmt_json_integer(direct->sharing.opened), "unknown_allocations",
                     gmt_json_integer(direct->unknown.opened), "ambiguous_allocations",
                     gmt_json_integer(direct->ambiguous.opened), "opened", opened, "copies",
                     gmt_json_integer(direct->copies), "bytes", gmt_json_integer(direct->bytes),
                     "unknown_copies", gmt_json_integer(direct->unknown.copies), "unknown_bytes",
                     gmt_json_integer(direct->unknown.bytes), "ambiguous_copies",
                     gmt_json_integer(direct->ambiguous.copies), "ambiguous_bytes",
                     gmt_json_integer(direct->ambiguous.bytes), "left_out",
                     gmt_json_integer(direct->sharing.left_out), "pairs", pairs);
}
