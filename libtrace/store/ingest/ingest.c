/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatches records to their family, and what all families use: binding, strings, losses. */
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
    [GMT_REC_RACE] = {sizeof(struct gmt_race), gmt_ingest_race},
    [GMT_REC_SASS_INSTRUCTION] = {sizeof(struct gmt_sass_instruction), gmt_ingest_sass_instruction},
    [GMT_REC_CUBIN] = {sizeof(struct gmt_cubin_piece), gmt_ingest_cubin_piece},
    [GMT_REC_RANGE] = {sizeof(struct gmt_user_range), gmt_ingest_range},
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

/* ---- binding ---------------------------------------------------------------------------------- */

struct gmt_binder gmt_ingest_bind(struct gmt_ingest *ingest, enum gmt_statement which)
{
    return (struct gmt_binder){.ingest = ingest, .statement = ingest->statement[which], .next = 1};
}

static void check(struct gmt_binder *binder, int code)
{
    if (code != SQLITE_OK && binder->error == 0) {
        binder->error = code == SQLITE_NOMEM ? -ENOMEM : -EINVAL;
    }
}

void gmt_put_integer(struct gmt_binder *binder, int64_t value)
{
    check(binder, sqlite3_bind_int64(binder->statement, binder->next++, value));
}

void gmt_put_bits(struct gmt_binder *binder, uint64_t value)
{
    gmt_put_integer(binder, (int64_t)value);
}

static void put_at_most(struct gmt_binder *binder, uint64_t value, uint64_t most)
{
    binder->out_of_range |= value > most;
    gmt_put_bits(binder, value);
}

static void put_asked(struct gmt_binder *binder, uint64_t value, uint64_t most)
{
    if (binder->failed && value > INT64_MAX) {
        value = INT64_MAX;
    }
    put_at_most(binder, value, binder->failed ? INT64_MAX : most);
}

void gmt_put_unsigned(struct gmt_binder *binder, uint64_t value)
{
    put_asked(binder, value, GMT_NUMBER_MOST);
}

void gmt_put_id(struct gmt_binder *binder, uint64_t value)
{
    put_at_most(binder, value, GMT_ID_MOST);
}

void gmt_put_bytes(struct gmt_binder *binder, uint64_t value)
{
    put_asked(binder, value, GMT_BYTES_MOST);
}

static void put_unless_zero(struct gmt_binder *binder, uint64_t value,
                            void (*put)(struct gmt_binder *binder, uint64_t value))
{
    if (value == 0) {
        gmt_put_null(binder);
    } else {
        put(binder, value);
    }
}

void gmt_put_or_null(struct gmt_binder *binder, uint64_t value)
{
    put_unless_zero(binder, value, gmt_put_unsigned);
}

void gmt_put_id_or_null(struct gmt_binder *binder, uint64_t value)
{
    put_unless_zero(binder, value, gmt_put_id);
}

void gmt_put_bytes_or_null(struct gmt_binder *binder, uint64_t value)
{
    put_unless_zero(binder, value, gmt_put_bytes);
}

void gmt_put_bits_or_null(struct gmt_binder *binder, uint64_t value)
{
    put_unless_zero(binder, value, gmt_put_bits);
}

void gmt_put_known(struct gmt_binder *binder, int64_t value)
{
    if (value < 0) {
        gmt_put_null(binder);
    } else {
        gmt_put_integer(binder, value);
    }
}

void gmt_put_real(struct gmt_binder *binder, double value)
{
    check(binder, sqlite3_bind_double(binder->statement, binder->next++, value));
}

void gmt_put_null(struct gmt_binder *binder)
{
    check(binder, sqlite3_bind_null(binder->statement, binder->next++));
}

void gmt_put_name(struct gmt_binder *binder, const char *text)
{
    check(binder, sqlite3_bind_text(binder->statement, binder->next++, text, -1, SQLITE_STATIC));
}

void gmt_put_text(struct gmt_binder *binder, struct gmt_text text)
{
    check(binder, sqlite3_bind_text(binder->statement, binder->next++, text.data, text.bytes,
                                    SQLITE_STATIC));
}

void gmt_put_blob(struct gmt_binder *binder, const void *data, size_t bytes)
{
    check(binder,
          sqlite3_bind_blob64(binder->statement, binder->next++, data, bytes, SQLITE_STATIC));
}

void gmt_put_text_or_null(struct gmt_binder *binder, struct gmt_text text)
{
    if (text.bytes == 0) {
        gmt_put_null(binder);
    } else {
        gmt_put_text(binder, text);
    }
}

int gmt_ingest_step(struct gmt_binder *binder)
{
    if (binder->error != 0) {
        sqlite3_reset(binder->statement);
        return binder->error;
    }
    if (binder->out_of_range) {
        sqlite3_reset(binder->statement);
        return gmt_ingest_loss(binder->ingest, "corrupt record", "a number out of range", 1);
    }
    int code = sqlite3_step(binder->statement);
    int error = code == SQLITE_DONE ? 0 : gmt_database_error(binder->ingest->db);
    sqlite3_reset(binder->statement);
    if ((code & 0xff) == SQLITE_CONSTRAINT) {
        struct gmt_ingest *ingest = binder->ingest;
        if (binder->statement == ingest->statement[GMT_STATEMENT_LOSS]) {
            return 0;
        }
        return gmt_ingest_loss(ingest, "row refused", sqlite3_errmsg(ingest->db), 1);
    }
    return error;
}

/* ---- texts ------------------------------------------------------------------------------------ */

struct gmt_text_cursor gmt_texts(const struct gmt_spool_record *record, size_t fixed_bytes)
{
    const char *data = record->data;
    return (struct gmt_text_cursor){
        .at = data + fixed_bytes,
        .end = data + (size_t)record->slots * GMT_SLOT_BYTES,
    };
}

struct gmt_text gmt_texts_next(struct gmt_text_cursor *cursor)
{
    size_t left = cursor->at < cursor->end ? (size_t)(cursor->end - cursor->at) : 0;
    size_t length = strnlen(cursor->at, left);
    struct gmt_text text = {.data = cursor->at, .bytes = (int)length};
    cursor->at += length < left ? length + 1 : left;
    return text;
}

char *gmt_text_copy(struct gmt_text text)
{
    return strndup(text.data, (size_t)text.bytes);
}

int gmt_ingest_string(struct gmt_ingest *ingest, struct gmt_text text, int64_t *id)
{
    uint64_t found;
    int known = gmt_intern_id(&ingest->strings, text.data, (size_t)text.bytes,
                              ingest->strings.count + 1, &found);
    *id = (int64_t)found;
    if (known != 0) {
        return known < 0 ? known : 0;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_STRING);
    gmt_put_integer(&row, *id);
    gmt_put_text(&row, text);
    return gmt_ingest_step(&row);
}

/* ---- time, losses ----------------------------------------------------------------------------- */

void gmt_ingest_saw(struct gmt_ingest *ingest, uint64_t ns)
{
    if (ns > ingest->last_ns && ns <= GMT_NUMBER_MOST) {
        ingest->last_ns = ns;
    }
}

uint64_t gmt_ingest_ns(struct gmt_ingest *ingest, uint64_t ticks)
{
    uint64_t ns = gmt_timebase_ns(ingest->time, ticks);
    gmt_ingest_saw(ingest, ns);
    return ns;
}

int gmt_ingest_loss(struct gmt_ingest *ingest, const char *kind, const char *detail, uint64_t count)
{
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_LOSS);
    gmt_put_name(&row, kind);
    gmt_put_text(&row, (struct gmt_text){detail, (int)strlen(detail)});
    gmt_put_unsigned(&row, count < GMT_NUMBER_MOST ? count : GMT_NUMBER_MOST);
    return gmt_ingest_step(&row);
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
