/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of single instructions: the lines behind a finding, and races (software device). */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analyzer/findings/instructions.h"
#include "analyzer/findings/rule.h"
#include "analyzer/trace/inline_chains.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/source_lines.h"

enum { LINES = 5 }; /* that a finding names */

/* Kinds of instructions, what they take and would take at best, and what of it is in excess, in bytes; or,
 * where `of` says of what they have a share, that. */
static const struct {
    unsigned excess; /* enum gmt_excess */
    const char *kinds, *passes, *ideal, *bytes, *of;
} parts[] = {
    {GMT_EXCESS_LOADS, "'global_load', 'async_copy'", "sectors", "ideal_sectors",
     "32.0 * (sectors - ideal_sectors)", NULL},
    {GMT_EXCESS_STORES, "'global_store'", "sectors", "ideal_sectors",
     "32.0 * (sectors - ideal_sectors)", NULL},
    {GMT_EXCESS_SHARED, "'shared_load', 'shared_store'", "wavefronts", "ideal_wavefronts",
     "128.0 * (wavefronts - ideal_wavefronts)", NULL},
    {GMT_EXCESS_LOCAL, "'local_load', 'local_store'", "sectors", "ideal_sectors", "32.0 * sectors",
     NULL},
    {GMT_LINES_NARROW, "'global_load', 'async_copy', 'global_store'", "sectors", "ideal_sectors",
     "max(0, 4.0 - width) * lanes", "the narrow accesses"},
    {GMT_LINES_LOADED, "'global_load', 'async_copy'", "sectors", "ideal_sectors", "32.0 * sectors",
     "what is loaded"},
    {GMT_LINES_FILL, "'shared_store'", "wavefronts", "ideal_wavefronts", "1.0 * executed",
     "the stores to shared memory"},
    {GMT_LINES_SHARED, "'shared_load', 'shared_store'", "wavefronts", "ideal_wavefronts",
     "1.0 * wavefronts", "the passes through shared memory"},
    {GMT_LINES_CONSTANTS, "'constant_load'", "NULL", "NULL", "1.0 * executed",
     "the loads of constants"},
};

/* What the lines' shares are of; NULL: the excess. */
static const char *share_of(unsigned excess)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if ((parts[i].excess & excess) != 0) {
            return parts[i].of;
        }
    }
    return NULL;
}

static const char *union_of(struct gmt_analysis *analysis, unsigned excess, int64_t class_id)
{
    const char *sql = NULL;
    /* An instruction without a line is identified by its offset. */
    static const char opcode[] =
        "CASE WHEN file IS NULL AND pc_offset IS NOT NULL THEN coalesce(opcode, '') || "
        "printf(' +0x%x', pc_offset) ELSE opcode END";
    const char *chain = gmt_has_chains(analysis->timeline->db) ? "chain_id" : "NULL";

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if ((parts[i].excess & excess) == 0) {
            continue;
        }
        const char *one = gmt_text(
            analysis,
            "SELECT file, line, caller_file, caller_line, %s AS chain_id, ptx_line, "
            "%s AS opcode, requests, %s AS passes, %s AS ideal, %s AS bytes "
            "FROM v_instruction WHERE class_id = %" PRId64 " AND kind IN (%s)",
            chain, opcode, parts[i].passes, parts[i].ideal, parts[i].bytes, class_id,
            parts[i].kinds);

        sql = sql == NULL ? one : gmt_text(analysis, "%s UNION ALL %s", sql, one);
    }
    return sql;
}

/* From `column` on: opcode, file, line, caller's file and line, PTX line. */
static void read_line(struct gmt_query *query, int column, struct gmt_arena *arena,
                      struct gmt_finding_line *line)
{
    *line = (struct gmt_finding_line){.opcode = gmt_query_text(query, column, arena),
                                      .file = gmt_query_text(query, column + 1, arena),
                                      .line = gmt_query_count(query, column + 2),
                                      .caller_file = gmt_query_text(query, column + 3, arena),
                                      .caller_line = gmt_query_count(query, column + 4),
                                      .ptx_line = gmt_query_count(query, column + 5),
                                      .excess_bytes = NAN,
                                      .share = NAN,
                                      .per_request = NAN,
                                      .ideal_per_request = NAN};
}

/* The text of a line, where the trace carries the file; else NULL. */
static const char *quotation(struct gmt_analysis *analysis, const char *file, int64_t line)
{
    struct gmt_arena *arena = analysis->report->arena;

    if (file == NULL || line < 1) {
        return NULL;
    }
    struct gmt_source_text source = gmt_source_text_load(analysis->timeline->db, arena, file,
                                                         false);
    return (uint64_t)line <= source.line_count ? gmt_source_trimmed(arena, source.lines[line - 1])
                                               : NULL;
}

/* Of an access in a function that was inlined, the index is often in the call. */
static void quote(struct gmt_analysis *analysis, struct gmt_finding_line *line)
{
    line->code = quotation(analysis, line->file, line->line);
    line->caller_code = quotation(analysis, line->caller_file, line->caller_line);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* The line that a row of file, line, caller's file and line is about, or NULL. */
static struct gmt_finding_line *line_of(struct gmt_finding *finding, struct gmt_query *query,
                                        struct gmt_arena *arena)
{
    const char *file = gmt_query_text(query, 0, arena), *caller = gmt_query_text(query, 2, arena);

    for (size_t i = 0; i < finding->line_count; i++) {
        struct gmt_finding_line *line = &finding->lines[i];

        if (line->line == gmt_query_count(query, 1) && same_text(line->file, file) &&
            line->caller_line == gmt_query_count(query, 3) &&
            same_text(line->caller_file, caller)) {
            return line;
        }
    }
    return NULL;
}

/* The calls between a line and its outermost caller: of several ways the one with the most excess. */
static void add_chains(struct gmt_analysis *analysis, struct gmt_finding *finding, const char *all)
{
    struct gmt_arena *arena = analysis->report->arena;
    struct gmt_chain_table table;
    struct gmt_query query;
    bool inlined = false;

    for (size_t i = 0; i < finding->line_count; i++) {
        inlined |= finding->lines[i].file != NULL;
    }
    if (!inlined || gmt_chain_table_load(analysis->timeline->db, arena, &table) != 0) {
        return;
    }
    const char *sql = gmt_text(analysis,
                               "SELECT file, line, caller_file, caller_line, chain_id FROM (%s) "
                               "WHERE bytes > 0 AND file IS NOT NULL GROUP BY 1, 2, 3, 4, 5 "
                               "ORDER BY sum(bytes) DESC, chain_id",
                               all);
    int rc = sql != NULL ? gmt_query_open(&query, analysis->timeline->db, sql) : -ENOMEM;
    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_finding_line *line = line_of(finding, &query, arena);

        if (line != NULL && line->chain_count++ == 0) {
            line->chain = gmt_chain_of(&table, arena, gmt_query_int(&query, 4), line->caller_file,
                                       line->caller_line);
        }
    }
    if (sql != NULL) {
        gmt_query_close(&query, rc);
    }
}

void gmt_finding_lines(struct gmt_analysis *analysis, struct gmt_finding *finding,
                       const struct gmt_tl_class *class, unsigned excess)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_arena *arena = analysis->report->arena;
    struct gmt_query query;
    double total = 0;

    if (finding == NULL || !tl->has_instructions) {
        return;
    }
    const char *all = union_of(analysis, excess, class->id);
    const char *kernel = gmt_text(
        analysis, "SELECT kernel_id FROM kernel_class WHERE id = %" PRId64, class->id);
    if (all == NULL || kernel == NULL) {
        return;
    }
    (void)gmt_query_int64(tl->db, kernel, &finding->kernel_id);
    /* One source line is often several instructions: unrolled, or inlined more than once. */
    const char *sql = gmt_text(
        analysis,
        "SELECT opcode, file, line, caller_file, caller_line, min(ptx_line), "
        "sum(bytes), sum(passes) / sum(requests), sum(ideal) / sum(requests) "
        "FROM (%s) WHERE bytes > 0 "
        "GROUP BY file, line, caller_file, caller_line, "
        "CASE WHEN file IS NULL THEN ptx_line END, CASE WHEN file IS NULL THEN opcode END "
        "ORDER BY 7 DESC, file, line, caller_file, caller_line",
        all);
    if (sql == NULL) {
        return;
    }
    int rc = gmt_query_open(&query, tl->db, sql);
    while (rc == 0 && gmt_query_next(&query)) {
        double bytes = gmt_query_real(&query, 6);

        total += bytes;
        if (finding->line_count == LINES) {
            continue;
        }
        struct gmt_finding_line *line = GMT_PUSH(arena, finding->lines, finding->line_count);
        if (line == NULL) {
            break;
        }
        read_line(&query, 0, arena, line);
        line->excess_bytes = bytes;
        line->per_request = gmt_query_real(&query, 7);
        line->ideal_per_request = gmt_query_real(&query, 8);
    }
    gmt_query_close(&query, rc);
    finding->lines_of = share_of(excess);
    for (size_t i = 0; i < finding->line_count; i++) {
        finding->lines[i].share = finding->lines[i].excess_bytes / total;
        if (finding->lines_of != NULL) {
            finding->lines[i].excess_bytes = NAN;
        }
        quote(analysis, &finding->lines[i]);
    }
    add_chains(analysis, finding, all);
}

void gmt_races_fill(const struct gmt_timeline *tl, struct gmt_report *report)
{
    struct gmt_query query;

    if (!tl->has_instructions) {
        return;
    }
    int rc = gmt_query_open(
        &query, tl->db,
        "SELECT kernel, first_opcode, first_file, first_line, first_caller_file, "
        "first_caller_line, "
        "first_ptx_line, second_opcode, second_file, second_line, second_caller_file, "
        "second_caller_line, second_ptx_line, sum(count) FROM v_race GROUP BY kernel, first_file, "
        "first_line, first_ptx_line, second_file, second_line, second_ptx_line "
        "ORDER BY 14 DESC, kernel, first_line");
    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_race_row *row = GMT_PUSH(report->arena, report->races, report->race_count);

        if (row == NULL) {
            break;
        }
        row->kernel = gmt_query_text(&query, 0, report->arena);
        read_line(&query, 1, report->arena, &row->first);
        read_line(&query, 7, report->arena, &row->second);
        row->count = gmt_query_real(&query, 13);
    }
    gmt_query_close(&query, rc);
}
