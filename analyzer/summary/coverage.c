/* SPDX-License-Identifier: Apache-2.0 */
/* The recording's check of itself, for the report. */
#include "analyzer/summary/coverage.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/summary/gap.h"
#include "analyzer/trace/query.h"
#include "libtrace/base/format.h"

enum { NAMES = 6 }; /* that a line lists */

static const char *or_unknown(const char *text)
{
    return text != NULL ? text : "?";
}

static void fill_examples(struct gmt_query *query, struct gmt_report *report)
{
    struct gmt_coverage *coverage = &report->coverage;

    while (gmt_query_next(query)) {
        struct gmt_coverage_example *example = GMT_PUSH(report->arena, coverage->examples,
                                                        coverage->example_count);

        if (example == NULL) {
            return;
        }
        *example = (struct gmt_coverage_example){
            .what = or_unknown(gmt_query_text(query, 0, report->arena)),
            .side = or_unknown(gmt_query_text(query, 1, report->arena)),
            .id = gmt_query_int(query, 2),
            .detail = gmt_query_text(query, 3, report->arena)};
    }
}

static void fill_lines(struct gmt_query *query, struct gmt_report *report)
{
    struct gmt_coverage *coverage = &report->coverage;

    while (gmt_query_next(query)) {
        struct gmt_coverage_line *line = GMT_PUSH(report->arena, coverage->lines,
                                                  coverage->line_count);

        if (line == NULL) {
            return;
        }
        *line = (struct gmt_coverage_line){
            .kind = or_unknown(gmt_query_text(query, 0, report->arena)),
            .what = or_unknown(gmt_query_text(query, 1, report->arena)),
            .class = gmt_query_text(query, 2, report->arena),
            .requests = gmt_query_real(query, 3),
            .expected = gmt_query_real(query, 4),
            .seen = gmt_query_real(query, 5),
            .extra = gmt_query_real(query, 6),
            .detail = gmt_query_text(query, 7, report->arena)};
        if (strcmp(line->kind, "records") == 0) {
            coverage->compared = true;
            coverage->differs |= line->seen != line->expected || line->extra > 0;
        }
    }
}

void gmt_coverage_fill(const struct gmt_timeline *tl, struct gmt_report *report)
{
    struct gmt_query query;
    int64_t tables = 0;

    /* Traces of earlier versions were not checked. */
    (void)gmt_query_int64(tl->db,
                          "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN "
                          "('coverage', 'coverage_example')",
                          &tables);
    if (tables != 2) {
        return;
    }
    int rc = gmt_query_open(&query, tl->db,
                            /* Formats before 9 stored another word. */
                            "SELECT CASE kind WHEN 'door' THEN 'lookup_path' ELSE kind END AS "
                            "named, what, class, requests, expected, seen, extra, detail "
                            "FROM coverage ORDER BY named, rowid");
    if (rc == 0) {
        fill_lines(&query, report);
    }
    gmt_query_close(&query, rc);
    rc = gmt_query_open(&query, tl->db,
                        "SELECT what, side, id, detail FROM coverage_example ORDER BY rowid");
    if (rc == 0) {
        fill_examples(&query, report);
    }
    gmt_query_close(&query, rc);
}

/* Functions that the program has got past the hooks, where nobody counts its calls. */
static void add_uncounted(struct gmt_report *report)
{
    const char *names = "";
    size_t count = 0;

    for (size_t i = 0; i < report->coverage.line_count; i++) {
        const struct gmt_coverage_line *line = &report->coverage.lines[i];

        if (strcmp(line->kind, "entry point") == 0 && gmt_coverage_matters(line) &&
            isnan(line->expected) && count++ < NAMES) {
            names = gmt_arena_text(report->arena, "%s%s%s (%s)", names, count > 1 ? ", " : "",
                                   line->what, or_unknown(line->class));
        }
    }
    if (count > NAMES) {
        names = gmt_arena_text(report->arena, "%s and %zu more", names, count - NAMES);
    }
    if (count > 0) {
        gmt_gap_add(report, "driver API",
                    gmt_arena_text(report->arena,
                                   "whether the program called %s: such calls are neither recorded "
                                   "nor counted",
                                   names),
                    NULL);
    }
}

/* "; 3 records are of none of them" */
static const char *too_many(struct gmt_report *report, const struct gmt_coverage_line *line)
{
    return line->extra > 0 ? gmt_arena_text(report->arena, "; %.0f record%s of none of them",
                                            line->extra, line->extra == 1 ? " is" : "s are")
                           : "";
}

/* What losses do not show: they count calls and device rows that have no partner. */
static void add_graphs(struct gmt_report *report)
{
    for (size_t i = 0; i < report->coverage.line_count; i++) {
        const struct gmt_coverage_line *line = &report->coverage.lines[i];

        if (strcmp(line->kind, "records") != 0 || strstr(line->what, " in graphs") == NULL ||
            (line->seen == line->expected && line->extra == 0)) {
            continue;
        }
        report->incomplete = true;
        gmt_gap_add(report, "graphs",
                    gmt_arena_text(report->arena,
                                   "%.0f of %.0f %s that were launched %s a record of the device%s",
                                   line->seen, line->expected, line->what,
                                   line->seen == 1 ? "has" : "have", too_many(report, line)),
                    NULL);
    }
}

void gmt_coverage_add_gaps(struct gmt_report *report)
{
    add_uncounted(report);
    add_graphs(report);
}
