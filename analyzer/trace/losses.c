/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of a recording, by what they leave unknown. */
#include "analyzer/trace/losses.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"

static const struct gmt_loss_wording wordings[] = {
    {"kernel class measured only in part", "kernels", "kernel class measured only in part",
     "kernel classes measured only in part"},
    {"entry point not covered", "driver API", "call of a driver function that is not recorded",
     "calls of driver functions that are not recorded"},
    {"record dropped", "recording", "record was dropped", "records were dropped"},
    {"corrupt record", "recording", "record was damaged", "records were damaged"},
    {"truncated chunk", "recording", "block of records was cut short",
     "blocks of records were cut short"},
    {"chunk lost", "recording", "block of records was lost", "blocks of records were lost"},
    {"unknown record type", "recording", "record is of an unknown type",
     "records are of unknown types"},
    {"call not recorded", "recording", "call was not recorded", "calls were not recorded"},
    {"call held up", "recording", "call was held up by gmtrace when the process ended",
     "calls were held up by gmtrace when the process ended"},
    {"row refused", "recording", "row was refused by the database",
     "rows were refused by the database"},
    {"device timestamps", "device times", "device timestamp is missing",
     "device timestamps are missing"},
    {"host call without device row", "device times", "call has no device timestamp",
     "calls have no device timestamps"},
    {"impossible device time", "device times",
     "device time was left out: later work of its stream would have run inside of it",
     "device times were left out: later work of their streams would have run inside of them"},
    {"device row not joined", "device times", "device operation belongs to no recorded call",
     "device operations belong to no recorded call"},
    {"kernel counters", "kernel counters", "measured launch has no counters",
     "measured launches have no counters"},
    {"instruction counts", "kernel counters", "launch has no counts of its instructions",
     "launches have no counts of their instructions"},
    {"unknown metric", "kernel counters", "value is of an unknown metric",
     "values are of unknown metrics"},
    {"kernel not described", "kernels", "kernel is not described", "kernels are not described"},
    {"launch without class", "kernels", "launch was not classified",
     "launches were not classified"},
    {"allocation not tracked", "allocations", "allocation was not tracked",
     "allocations were not tracked"},
    {"NVTX memory call not understood", "allocator regions",
     "call of NVTX's memory API was not understood",
     "calls of NVTX's memory API were not understood"},
    {"graph nodes not read", "graphs", "operation of a graph was not read",
     "operations of graphs were not read"},
    {"graph not followed", "graphs", "graph was not followed", "graphs were not followed"},
    {"graph update not followed", "graphs", "update of a graph was not followed",
     "updates of graphs were not followed"},
    {"size not known", "copies", "copy is of unknown size", "copies are of unknown size"},
    {"module changed since", "symbols", "module has changed since the recording",
     "modules have changed since the recording"},
    {"split debug information not read", "symbols",
     "unit's split debug information (.dwo) was not found",
     "units' split debug information (.dwo, .dwp) was not found"},
    {"map of made code not read", "symbols", "map of code generated at run time was not read",
     "maps of code generated at run time were not read"},
    {"frame not symbolized", "symbols", "stack frame has no name", "stack frames have no name"},
};

struct gmt_largest_loss gmt_loss_largest(sqlite3 *db, const char *kinds, struct gmt_arena *arena)
{
    struct gmt_largest_loss loss = {.kind = NULL};
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, db,
        gmt_arena_text(arena,
                       "SELECT m.kind, coalesce((SELECT v.detail FROM loss v WHERE v.kind = m.kind "
                       "AND v.count = m.count ORDER BY v.detail LIMIT 1), ''), m.count FROM "
                       "main.loss m WHERE m.count > 0 AND m.kind IN (%s) "
                       "ORDER BY m.count DESC, m.kind, m.detail LIMIT 1",
                       kinds));

    if (rc == 0 && gmt_query_next(&query)) {
        loss = (struct gmt_largest_loss){gmt_query_text(&query, 0, arena),
                                         gmt_query_text(&query, 1, arena),
                                         gmt_query_count(&query, 2)};
    }
    if (loss.detail == NULL) {
        loss = (struct gmt_largest_loss){.kind = NULL};
    }
    (void)gmt_query_close(&query, rc);
    return loss;
}

const struct gmt_loss_wording *gmt_loss_wording(const char *kind)
{
    for (size_t i = 0; i < sizeof(wordings) / sizeof(wordings[0]); i++) {
        if (strcmp(wordings[i].kind, kind) == 0) {
            return &wordings[i];
        }
    }
    return NULL;
}

const char *gmt_loss_phrase(const struct gmt_loss_wording *wording, int64_t count)
{
    if (wording == NULL) {
        return count == 1 ? "time" : "times";
    }
    return count == 1 ? wording->one : wording->many;
}

struct gmt_lost_calls gmt_lost_calls(sqlite3 *db)
{
    static const char no_calls[] =
        "SELECT NOT EXISTS (SELECT 1 FROM transfer) AND NOT EXISTS (SELECT 1 FROM memset) AND "
        "NOT EXISTS (SELECT 1 FROM launch) AND NOT EXISTS (SELECT 1 FROM sync) AND NOT EXISTS "
        "(SELECT 1 FROM api_call) AND NOT EXISTS (SELECT 1 FROM allocation) AND NOT EXISTS "
        "(SELECT 1 FROM host_allocation)";
    struct gmt_lost_calls lost = {.text = ""};
    struct gmt_arena arena = {0};
    struct gmt_largest_loss loss = gmt_loss_largest(db, GMT_LOSSES_OF_CALLS, &arena);
    char count[GMT_FORMAT_BYTES];
    int64_t none = 0;

    if (loss.kind != NULL) {
        gmt_format_count(count, (double)loss.count);
        snprintf(lost.text, sizeof(lost.text), "%s %s%s%s", count,
                 gmt_loss_phrase(gmt_loss_wording(loss.kind), loss.count),
                 loss.detail[0] != '\0' ? ": " : "", loss.detail);
        lost.all = gmt_query_int64(db, no_calls, &none) == 0 && none != 0;
    }
    gmt_arena_free(&arena);
    return lost;
}
