/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording lost, in words: losses of one kind and reason in one line. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/summary/gap.h"
#include "analyzer/summary/gaps.h"
#include "analyzer/trace/losses.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"
#include "libtrace/record/checked.h"
#include "libtrace/record/unmeasured.h"

enum { NAMES = 6 }; /* that a line lists */

/* One line under way. */
struct loss_line {
    const char *kind, *reason, *names, *last;
    int64_t count;
    size_t named, kinds;
};

static void add_name(struct gmt_arena *arena, struct loss_line *line, const char *name)
{
    if (name[0] == '\0' || (line->last != NULL && strcmp(line->last, name) == 0)) {
        return;
    }
    line->last = name;
    if (++line->kinds > NAMES) {
        return;
    }
    line->names = line->named++ == 0 ? name : gmt_arena_text(arena, "%s, %s", line->names, name);
}

static void finish(struct gmt_report *report, const struct loss_line *line)
{
    struct gmt_arena *arena = report->arena;
    const struct gmt_loss_wording *wording = line->kind != NULL ? gmt_loss_wording(line->kind)
                                                                : NULL;
    char count[GMT_FORMAT_BYTES];
    const char *names = "";

    if (line->kind == NULL) {
        return;
    }
    gmt_format_count(count, (double)line->count);
    if (line->named > 0) {
        names = gmt_arena_text(arena, ": %s%s", line->names,
                               line->kinds > line->named ? gmt_arena_text(arena, " and %zu more",
                                                                          line->kinds - line->named)
                                                         : "");
    }
    gmt_gap_add(report, wording != NULL ? wording->what : line->kind,
                gmt_arena_text(arena, "%s %s%s%s%s", count, gmt_loss_phrase(wording, line->count),
                               line->reason[0] != '\0' ? ", " : "", line->reason, names),
                gmt_gaps_remedy_unmeasured(line->reason));
}

void gmt_gaps_add_losses(const struct gmt_timeline *tl, struct gmt_report *report)
{
    struct gmt_arena *arena = report->arena;
    struct gmt_query query;
    struct loss_line line = {.kind = NULL};
    /* "<kernel>: <reason>" of kernel classes; those never measured are reported with their times. */
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

        if (kind == NULL || reason == NULL || name == NULL) {
            break;
        }
        report->incomplete = true;
        if (line.kind == NULL || strcmp(line.kind, kind) != 0 || strcmp(line.reason, reason) != 0) {
            finish(report, &line);
            line = (struct loss_line){.kind = kind, .reason = reason};
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

        if (text->remedy != NULL && strstr(reasons, text->reason) != NULL) {
            return text->remedy;
        }
    }
    return NULL;
}

const char *gmt_gaps_reason_unmeasured(const struct gmt_timeline *tl, struct gmt_report *report)
{
    struct gmt_query query;
    const char *reasons = NULL;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT substr(detail, instr(detail, ': ') + 2) AS reason, sum(count), "
                            "count(*) OVER () FROM loss "
                            "WHERE kind = 'kernel class not measured' AND instr(detail, ': ') > 0 "
                            "GROUP BY reason ORDER BY count(*) DESC, reason LIMIT 3");

    while (rc == 0 && gmt_query_next(&query)) {
        const char *reason = gmt_query_text(&query, 0, report->arena);

        if (gmt_query_int(&query, 2) > 1) {
            reason = gmt_arena_text(report->arena, "%s (%" PRId64 ")", reason,
                                    gmt_query_int(&query, 1));
        }
        reasons = reasons == NULL ? reason
                                  : gmt_arena_text(report->arena, "%s; %s", reasons, reason);
    }
    gmt_query_close(&query, rc);
    return reasons;
}
