/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that ranks hand on over the memory of their hosts. */
#include <math.h>

#include "analyzer/fleet/report/fleet_write.h"
#include "libtrace/base/format.h"
#include "libtrace/base/printable.h"
#include "reports/json/json_values.h"

static void print_pair(const struct gmt_fleet_view *view, const struct gmt_fleet_staged_pair *pair)
{
    char count[GMT_FORMAT_BYTES], bytes[GMT_FORMAT_BYTES], time[GMT_FORMAT_BYTES];

    gmt_say(stdout, "  rank %s to %s: %s of %s, read back at %s, uploaded at %s %s later",
            gmt_fleet_rank_name(&view->fleet.ranks[pair->from]),
            gmt_fleet_rank_name(&view->fleet.ranks[pair->to]),
            gmt_format_count(count, (double)pair->count),
            gmt_format_bytes(bytes, (double)pair->bytes), pair->down_at, pair->up_at,
            gmt_format_ns(time, pair->between_ns));
    if (isfinite(pair->cost_ns)) {
        gmt_say(stdout, "; both copies take %s%s", gmt_format_ns(time, pair->cost_ns),
                pair->is_modelled ? " (modelled)" : "");
    }
    if (isfinite(pair->saves_ns)) {
        gmt_say(stdout, ", from device to device %s less", gmt_format_ns(time, pair->saves_ns));
    }
    gmt_say(stdout, "\n");
}

void gmt_fleet_text_staged(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_staged *staged = &view->staged;
    size_t shown = gmt_fleet_shown(view, staged->pair_count);
    char count[GMT_FORMAT_BYTES], all[GMT_FORMAT_BYTES], bytes[GMT_FORMAT_BYTES];

    if (staged->pair_count == 0) {
        return;
    }
    gmt_say(stdout, "\n");
    gmt_say(stdout,
            "From device to device over hosts: %s contents of %s that one rank read back and "
            "another uploaded, by fingerprints\n",
            gmt_format_count(count, (double)staged->count),
            gmt_format_bytes(bytes, (double)staged->bytes));
    for (size_t i = 0; i < shown; i++) {
        print_pair(view, &staged->pairs[i]);
    }
    gmt_fleet_text_more(staged->pair_count, shown);
    gmt_say(stdout, "  MPI that takes addresses of devices, NCCL, or CUDA IPC on one host does "
                    "without both copies, where the hosts need none of these bytes\n");
    if (staged->copied.left_out > 0) {
        gmt_say(stdout, "  Of each rank %d contents are looked at: %s were left out\n",
                GMT_FLEET_CONTENTS_MOST, gmt_format_count(count, (double)staged->copied.left_out));
    }
    if (staged->copied.unknown > 0) {
        gmt_say(stdout, "  Of %s copies, %s have no fingerprint: what they moved is not in this\n",
                gmt_format_count(all, (double)staged->copied.copies),
                gmt_format_count(count, (double)staged->copied.unknown));
    }
}

static json_t *of_pair(const struct gmt_fleet_view *view, const struct gmt_fleet_staged_pair *pair)
{
    const struct gmt_fleet_rank *from = &view->fleet.ranks[pair->from];
    const struct gmt_fleet_rank *to = &view->fleet.ranks[pair->to];

    return json_pack("{so, so, so, so, so, so, sb, sb, so, so, so, so, so}", "from",
                     gmt_json_text(from->rank), "to", gmt_json_text(to->rank), "from_trace",
                     gmt_json_text(from->trace), "to_trace", gmt_json_text(to->trace), "read_back",
                     gmt_json_text(pair->down_at), "uploaded", gmt_json_text(pair->up_at),
                     "one_host", pair->is_one_host, "modelled", pair->is_modelled, "number",
                     gmt_json_integer(pair->count), "bytes", gmt_json_integer(pair->bytes),
                     "between_ns", gmt_json_ns(pair->between_ns), "cost_ns",
                     gmt_json_ns(pair->cost_ns), "saving_ns", gmt_json_ns(pair->saves_ns));
}

json_t *gmt_fleet_json_staged(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_staged *staged = &view->staged;
    json_t *pairs = json_array();

    for (size_t i = 0; i < staged->pair_count; i++) {
        json_array_append_new(pairs, of_pair(view, &staged->pairs[i]));
    }
    return json_pack(
        "{so, so, so, so, so, so, so, so, so}", "copies", gmt_json_integer(staged->copied.copies),
        "without_fingerprint", gmt_json_integer(staged->copied.unknown), "left_out",
        gmt_json_integer(staged->copied.left_out), "number", gmt_json_integer(staged->count),
        "bytes", gmt_json_integer(staged->bytes), "few", gmt_json_integer(staged->few), "ambiguous",
        gmt_json_integer(staged->ambiguous), "early", gmt_json_integer(staged->early), "pairs",
        pairs);
}
