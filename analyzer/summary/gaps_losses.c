/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording lost, in words: losses of one kind and reason in one line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/summary/gaps.h"
#include "analyzer/trace/losses.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"
#include "libtrace/record/checked.h"
#include "libtrace/record/unmeasured.h"
#include "libtrace/store/db/names.h"

enum { NAMES = 6 }; /* that a line lists */

/* How kinds of loss read. `what` is the column on the left. */
static const struct wording {
    const char *kind, *what, *one, *many;
} wordings[] = {
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
    {"row refused", "recording", "row was refused by the database",
     "rows were refused by the database"},
    {"device timestamps", "device times", "device timestamp is missing",
     "device timestamps are missing"},
    {"host call without device row", "device times", "call has no device timestamp",
     "calls have no device timestamps"},
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
    {"map of made code not read", "symbols", "map of code made at run time was not read",
     "maps of code made at run time were not read"},
    {"frame not symbolized", "symbols", "stack frame has no name", "stack frames have no name"},
};

static const struct wording *wording_of(const char *kind)
{
    for (size_t i = 0; i < sizeof(wordings) / sizeof(wordings[0]); i++) {
        if (strcmp(wordings[i].kind, kind) == 0)
            return &wordings[i];
    }
    return NULL;
}

static const char *phrase_of(const struct wording *wording, int64_t count)
{
    if (wording == NULL)
        return count == 1 ? "time" : "times";
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
    struct gmt_loss loss = gmt_loss_largest(db, GMT_LOSSES_OF_CALLS, &arena);
    char count[GMT_FORMAT_BYTES];
    int64_t none = 0;

    if (loss.kind != NULL) {
        gmt_format_count(count, (double)loss.count);
        snprintf(lost.text, sizeof(lost.text), "%s %s%s%s", count,
                 phrase_of(wording_of(loss.kind), loss.count), loss.detail[0] != '\0' ? ": " : "",
                 loss.detail);
        lost.all = gmt_query_int64(db, no_calls, &none) == 0 && none != 0;
    }
    gmt_arena_free(&arena);
    return lost;
}

/* End of the name proper: before the template's or the function's arguments. */
static size_t name_length(const char *name)
{
    for (size_t i = 0; name[i] != '\0'; i++) {
        if (name[i] == '<' && i > 0)
            return i;
        /* "(anonymous namespace)::kernel" goes on. */
        if (name[i] == '(' && strncmp(name + i, "(anonymous", 10) != 0)
            return i;
    }
    return strlen(name);
}

const char *gmt_short_kernel_name(struct gmt_arena *arena, const char *mangled)
{
    char *name = gmt_name_demangle(mangled);
    const char *start = name != NULL ? name : mangled;

    if (strncmp(start, "void ", 5) == 0)
        start += 5;
    const char *copy = gmt_arena_text(arena, "%.*s", (int)name_length(start), start);
    free(name);
    return copy;
}

/* One line under way. */
struct line {
    const char *kind, *reason, *names, *last;
    int64_t count;
    size_t named, kinds;
};

static void add_name(struct gmt_arena *arena, struct line *line, const char *name)
{
    if (name[0] == '\0' || (line->last != NULL && strcmp(line->last, name) == 0))
        return;
    line->last = name;
    if (++line->kinds > NAMES)
        return;
    line->names = line->named++ == 0 ? name : gmt_arena_text(arena, "%s, %s", line->names, name);
}

static void finish(struct gmt_report *report, const struct line *line)
{
    struct gmt_arena *arena = report->arena;
    const struct wording *wording = line->kind != NULL ? wording_of(line->kind) : NULL;
    char count[GMT_FORMAT_BYTES];
    const char *names = "";

    if (line->kind == NULL)
        return;
    gmt_format_count(count, (double)line->count);
    if (line->named > 0)
        names = gmt_arena_text(arena, ": %s%s", line->names,
                               line->kinds > line->named ? gmt_arena_text(arena, " and %zu more",
                                                                          line->kinds - line->named)
                                                         : "");
    gmt_gap_add(report, wording != NULL ? wording->what : line->kind,
                gmt_arena_text(arena, "%s %s%s%s%s", count, phrase_of(wording, line->count),
                               line->reason[0] != '\0' ? ", " : "", line->reason, names),
                gmt_gaps_remedy_unmeasured(line->reason));
}

void gmt_gaps_add_losses(const struct gmt_timeline *tl, struct gmt_report *report)
{
    struct gmt_arena *arena = report->arena;
    struct gmt_query query;
    struct line line = {.kind = NULL};
    /* "<kernel>: <reason>" of kernel classes; those never measured are told with their times. */
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT kind, CASE WHEN at > 0 THEN substr(detail, at + 2) ELSE '' END AS reason, "
        "CASE WHEN at > 0 THEN substr(detail, 1, at - 1) ELSE detail END AS name, count, at > 0 "
        "FROM (SELECT *, CASE WHEN kind LIKE 'kernel class %' THEN instr(detail, ': ') ELSE 0 END "
        "AS at FROM loss WHERE count > 0 AND kind <> 'kernel class not measured') "
        "ORDER BY kind, reason, count DESC, name");

    while (rc == 0 && gmt_query_next(&query)) {
        const char *kind = gmt_query_text(&query, 0, arena);
        const char *reason = gmt_query_text(&query, 1, arena);
        const char *name = gmt_query_text(&query, 2, arena);

        if (kind == NULL || reason == NULL || name == NULL)
            break;
        report->incomplete = true;
        if (line.kind == NULL || strcmp(line.kind, kind) != 0 || strcmp(line.reason, reason) != 0) {
            finish(report, &line);
            line = (struct line){.kind = kind, .reason = reason};
        }
        line.count = gmt_add_clamped(line.count, gmt_query_int(&query, 3));
        add_name(arena, &line,
                 gmt_query_int(&query, 4) != 0 ? gmt_short_kernel_name(arena, name) : name);
    }
    gmt_query_close(&query, rc);
    finish(report, &line);
}

const char *gmt_gaps_remedy_unmeasured(const char *reasons)
{
    for (size_t i = 0; reasons != NULL && i < GMT_UNMEASURED_COUNT; i++) {
        const struct gmt_unmeasured_text *text = &gmt_unmeasured_texts[i];

        if (text->remedy != NULL && strstr(reasons, text->reason) != NULL)
            return text->remedy;
    }
    return NULL;
}

const char *gmt_gaps_reason_unmeasured(const struct gmt_timeline *tl, struct gmt_report *report)
{
    struct gmt_query query;
    const char *reasons = NULL;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT substr(detail, instr(detail, ': ') + 2) AS reason FROM loss "
                            "WHERE kind = 'kernel class not measured' AND instr(detail, ': ') > 0 "
                            "GROUP BY reason ORDER BY count(*) DESC, reason LIMIT 3");

    while (rc == 0 && gmt_query_next(&query)) {
        const char *reason = gmt_query_text(&query, 0, report->arena);

        reasons = reasons == NULL ? reason
                                  : gmt_arena_text(report->arena, "%s; %s", reasons, reason);
    }
    gmt_query_close(&query, rc);
    return reasons;
}
