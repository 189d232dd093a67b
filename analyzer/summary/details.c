/* SPDX-License-Identifier: Apache-2.0 */
/* What a report says of process, device and recording as the trace has it, without judging. */
#include <math.h>
#include <string.h>

#include "analyzer/summary/coverage.h"
#include "analyzer/summary/summary.h"
#include "analyzer/trace/query.h"
#include "libtrace/record/checked.h"

/* The low seven bits are a signal, the second byte what was given to exit. Anything else is no status. */
static void decode_status(struct gmt_report *report)
{
    double status = report->exit_status;

    report->exit_code = report->exit_signal = NAN;
    report->ended = report->end_reason;
    if (!(status >= 0 && status <= 0xffff)) {
        return;
    }
    unsigned word = (unsigned)status, signal = word & 0x7f, code = word >> 8;
    if (signal != 0) {
        report->exit_signal = signal;
        report->ended = gmt_arena_text(report->arena, "ended by signal %u", signal);
    } else {
        report->exit_code = code;
        report->ended = code != 0 ? gmt_arena_text(report->arena, "exit status %u", code)
                                  : report->end_reason;
    }
    /* After exec it is another program's. */
    if (report->end_reason != NULL && strcmp(report->end_reason, "exec") == 0) {
        report->ended = report->end_reason;
        return;
    }
    report->failed = signal != 0 || code != 0;
}

static void fill_process(const struct gmt_timeline *tl, struct gmt_report *report)
{
    struct gmt_arena *arena = report->arena;
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT cwd, rank, options, pid, exit_status FROM process "
                            "ORDER BY id LIMIT 1");

    report->pid = report->exit_status = NAN;
    if (rc == 0 && gmt_query_next(&query)) {
        report->working_directory = gmt_query_text(&query, 0, arena);
        report->rank = gmt_query_text(&query, 1, arena);
        report->options = gmt_query_text(&query, 2, arena);
        report->pid = gmt_query_real(&query, 3);
        report->exit_status = gmt_query_real(&query, 4);
    }
    gmt_query_close(&query, rc);
    decode_status(report);
}

static void fill_device(const struct gmt_timeline *tl, struct gmt_report *report)
{
    double *const numbers[] = {
        &report->sm_count,           &report->memory_bytes,     &report->l2_bytes,
        &report->max_threads_per_sm, &report->registers_per_sm, &report->shared_bytes_per_sm,
        &report->max_blocks_per_sm,
    };
    struct gmt_query query;
    /* The first one with work, as the timeline has it. */
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT sm_count, memory_bytes, l2_bytes, max_threads_per_sm, "
                            "registers_per_sm, shared_bytes_per_sm, max_blocks_per_sm, attributes "
                            "FROM device ORDER BY id NOT IN (SELECT device_id FROM context "
                            "WHERE device_id IS NOT NULL), id LIMIT 1");
    bool row = rc == 0 && gmt_query_next(&query);

    for (int i = 0; i < (int)(sizeof(numbers) / sizeof(numbers[0])); i++) {
        *numbers[i] = row ? gmt_query_real(&query, i) : NAN;
    }
    if (row) {
        report->device_attributes = gmt_query_text(&query, 7, report->arena);
    }
    gmt_query_close(&query, rc);
}

static const char *or_unknown(const char *text)
{
    return text != NULL ? text : "?";
}

static void fill_capabilities(const struct gmt_timeline *tl, struct gmt_report *report)
{
    struct gmt_arena *arena = report->arena;
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT name, state, nullif(detail, ''), nullif(remedy, '') "
                            "FROM capability ORDER BY name");

    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_capability_row *row = GMT_PUSH(arena, report->capabilities,
                                                  report->capability_count);

        if (row == NULL) {
            break;
        }
        *row = (struct gmt_capability_row){.name = or_unknown(gmt_query_text(&query, 0, arena)),
                                           .state = or_unknown(gmt_query_text(&query, 1, arena)),
                                           .detail = gmt_query_text(&query, 2, arena),
                                           .remedy = gmt_query_text(&query, 3, arena)};
    }
    gmt_query_close(&query, rc);
}

static void fill_losses(const struct gmt_timeline *tl, struct gmt_report *report)
{
    struct gmt_arena *arena = report->arena;
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT kind, detail, count FROM loss WHERE count > 0 "
                            "ORDER BY count DESC, kind, detail");

    while (rc == 0 && gmt_query_next(&query)) {
        struct gmt_loss_row *row = GMT_PUSH(arena, report->losses, report->loss_count);

        if (row == NULL) {
            break;
        }
        *row = (struct gmt_loss_row){.kind = or_unknown(gmt_query_text(&query, 0, arena)),
                                     .detail = or_unknown(gmt_query_text(&query, 1, arena)),
                                     .count = gmt_clamp(gmt_query_int(&query, 2), 0, INT64_MAX)};
    }
    gmt_query_close(&query, rc);
}

void gmt_details_fill(const struct gmt_timeline *tl, struct gmt_report *report)
{
    fill_process(tl, report);
    fill_device(tl, report);
    fill_capabilities(tl, report);
    fill_losses(tl, report);
    gmt_coverage_fill(tl, report);
}
