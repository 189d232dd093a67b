/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches records to their families. */
#include "libtrace/store/ingest/ingest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/ingest/ingest_internal.h"

static const char *const statement_sql[] = {
#define GMT_STATEMENT(name, sql) [GMT_STATEMENT_##name] = sql,
#include "libtrace/store/ingest/ingest_statements.def"
#undef GMT_STATEMENT
};

struct family {
    size_t fixed_bytes;
    int (*ingest)(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
};

#define GMT_CALL_AND(payload) (sizeof(struct gmt_call) + sizeof(struct payload))
static const struct family families[] = {
    [GMT_REC_CALL] = {sizeof(struct gmt_call), gmt_ingest_call},
    [GMT_REC_ALLOC] = {GMT_CALL_AND(gmt_alloc), gmt_ingest_alloc},
    [GMT_REC_FREE] = {GMT_CALL_AND(gmt_alloc), gmt_ingest_free},
    [GMT_REC_TRANSFER] = {GMT_CALL_AND(gmt_transfer), gmt_ingest_transfer},
    [GMT_REC_MEMSET] = {GMT_CALL_AND(gmt_memset), gmt_ingest_memset},
    [GMT_REC_LAUNCH] = {GMT_CALL_AND(gmt_launch), gmt_ingest_launch},
    [GMT_REC_SYNC] = {sizeof(struct gmt_call), gmt_ingest_sync},
    [GMT_REC_ENCODE] = {GMT_CALL_AND(gmt_encoding), gmt_ingest_encoding},
    [GMT_REC_PROCESS] = {sizeof(struct gmt_process), gmt_ingest_process},
    [GMT_REC_THREAD] = {sizeof(struct gmt_thread), gmt_ingest_thread},
    [GMT_REC_DEVICE] = {sizeof(struct gmt_device), gmt_ingest_device},
    [GMT_REC_CONTEXT] = {sizeof(struct gmt_context), gmt_ingest_context},
    [GMT_REC_STREAM] = {sizeof(struct gmt_stream), gmt_ingest_stream},
    [GMT_REC_API] = {sizeof(struct gmt_api), gmt_ingest_api},
    [GMT_REC_KERNEL] = {sizeof(struct gmt_kernel), gmt_ingest_kernel},
    [GMT_REC_KERNEL_CLASS] = {sizeof(struct gmt_kernel_class), gmt_ingest_kernel_class},
    [GMT_REC_STACK] = {sizeof(struct gmt_stack), gmt_ingest_stack},
    [GMT_REC_PYTHON_LINE] = {sizeof(struct gmt_python_line), gmt_ingest_python_line},
    [GMT_REC_OBJECT] = {sizeof(struct gmt_object), gmt_ingest_object},
    [GMT_REC_CAPABILITY] = {sizeof(struct gmt_capability), gmt_ingest_capability},
    [GMT_REC_LOSS] = {sizeof(struct gmt_loss), gmt_ingest_loss_record},
    [GMT_REC_DEVICE_OP] = {sizeof(struct gmt_device_op), gmt_ingest_device_op},
    [GMT_REC_COUNTERS] = {sizeof(struct gmt_counters), gmt_ingest_counters},
    [GMT_REC_EXIT] = {sizeof(struct gmt_side_head), gmt_ingest_exit},
    [GMT_REC_INSTRUCTION] = {sizeof(struct gmt_instruction), gmt_ingest_instruction},
    [GMT_REC_INLINING] = {sizeof(struct gmt_inlining), gmt_ingest_inlining},
    [GMT_REC_FOOTPRINT] = {sizeof(struct gmt_footprint), gmt_ingest_footprint},
    [GMT_REC_GRAPH] = {sizeof(struct gmt_graph), gmt_ingest_graph},
    [GMT_REC_GRAPH_NODE] = {sizeof(struct gmt_graph_node), gmt_ingest_graph_node},
    [GMT_REC_TENSOR_MAP] = {sizeof(struct gmt_tensor_map), gmt_ingest_tensor_map},
    [GMT_REC_OVERHEAD] = {sizeof(struct gmt_overhead), gmt_ingest_overhead},
    [GMT_REC_MANAGED_OP] = {sizeof(struct gmt_managed_op), gmt_ingest_managed_op},
    [GMT_REC_RACE] = {sizeof(struct gmt_race), gmt_ingest_race},
    [GMT_REC_SASS_INSTRUCTION] = {sizeof(struct gmt_sass_instruction), gmt_ingest_sass_instruction},
    [GMT_REC_CUBIN] = {sizeof(struct gmt_cubin_piece), gmt_ingest_cubin_piece},
    [GMT_REC_CUBIN_PLACE] = {sizeof(struct gmt_cubin_place), gmt_ingest_cubin_place},
    [GMT_REC_RANGE] = {sizeof(struct gmt_user_range), gmt_ingest_range},
    [GMT_REC_HEAP] = {sizeof(struct gmt_heap), gmt_ingest_heap},
    [GMT_REC_REGION] = {sizeof(struct gmt_region), gmt_ingest_region},
    [GMT_REC_EXPORT] = {sizeof(struct gmt_export), gmt_ingest_export},
    [GMT_REC_DEVICE_GAP] = {sizeof(struct gmt_device_gap), gmt_ingest_device_gap},
    [GMT_REC_OWN_TIME] = {sizeof(struct gmt_own_time), gmt_ingest_own_time},
};

int gmt_ingest_open(sqlite3 *db, struct gmt_timebase *time, struct gmt_ingest **out)
{
    *out = NULL;
    struct gmt_ingest *ingest = calloc(1, sizeof(*ingest));
    if (ingest == NULL) {
        return -ENOMEM;
    }
    ingest->db = db;
    ingest->time = time;
    int error = 0;
    for (int i = 0; i < GMT_STATEMENT_COUNT && error == 0; i++) {
        if (sqlite3_prepare_v3(db, statement_sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &ingest->statement[i], NULL) != SQLITE_OK) {
            error = gmt_database_error(db);
        }
    }
    if (error == 0) {
        error = gmt_ingest_load(ingest);
    }
    if (error != 0) {
        gmt_ingest_close(ingest);
        return error;
    }
    *out = ingest;
    return 0;
}

void gmt_ingest_close(struct gmt_ingest *ingest)
{
    if (ingest == NULL) {
        return;
    }
    for (int i = 0; i < GMT_STATEMENT_COUNT; i++) {
        sqlite3_finalize(ingest->statement[i]);
    }
    gmt_intern_free(&ingest->strings);
    gmt_intern_free(&ingest->frames);
    gmt_intern_free(&ingest->modules);
    free(ingest->ranges);
    gmt_intern_free(&ingest->arguments);
    gmt_intern_free(&ingest->stream_keys);
    free(ingest->lives);
    free(ingest->latest_life);
    gmt_intern_free(&ingest->host_allocations);
    free(ingest);
}

int gmt_ingest_record(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct family *family = NULL;
    char detail[32];
    if (record->type == GMT_REC_NONE) {
        return 0;
    }
    if (record->type < sizeof(families) / sizeof(families[0])) {
        family = &families[record->type];
    }
    (void)snprintf(detail, sizeof(detail), "type %u", record->type);
    if (family == NULL || family->ingest == NULL) {
        return gmt_ingest_loss(ingest, "unknown record type", detail, 1);
    }
    if (family->fixed_bytes > (size_t)record->slots * GMT_SLOT_BYTES) {
        return gmt_ingest_loss(ingest, "corrupt record", detail, 1);
    }
    return family->ingest(ingest, record);
}

int gmt_ingest_name(struct gmt_ingest *ingest, const char *text, int64_t *id)
{
    return gmt_ingest_string(ingest, (struct gmt_record_text){text, (int)strlen(text)}, id);
}

int gmt_ingest_flush(struct gmt_ingest *ingest)
{
    if (ingest->last_ns == ingest->stored_last_ns) {
        return 0;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_PROCESS_END);
    gmt_put_unsigned(&row, ingest->last_ns);
    int error = gmt_ingest_step(&row);
    if (error == 0 && ingest->process_seen) {
        ingest->stored_last_ns = ingest->last_ns;
    }
    return error;
}
