/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream handles -> stream rows.
 *
 * A stream is (context, handle), the per-thread default stream (context, 2, thread). The driver
 * gives the handle of a destroyed stream to the next one, so a key has a list of lives; a call
 * belongs to the life during which it began.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/ingest/ingest_internal.h"

#define HANDLE_LEGACY UINT64_C(1)
#define HANDLE_PER_THREAD UINT64_C(2)

struct gmt_stream_key {
    uint64_t handle;
    uint32_t context;
    uint32_t thread;
};

static struct gmt_stream_key make_key(uint64_t handle, uint32_t context, uint32_t thread,
                                      bool per_thread)
{
    if (handle == HANDLE_LEGACY) {
        handle = 0;
    } else if (handle == 0 && per_thread) {
        handle = HANDLE_PER_THREAD;
    }
    return (struct gmt_stream_key){
        .handle = handle,
        .context = context,
        .thread = handle == HANDLE_PER_THREAD ? thread : 0,
    };
}

/* Slot of latest_life for a key. */
static int latest_of(struct gmt_ingest *ingest, const struct gmt_stream_key *key, uint32_t **latest)
{
    uint64_t id;
    int known = gmt_intern_id(&ingest->stream_keys, key, sizeof(*key), ingest->stream_keys.count,
                              &id);
    if (known < 0) {
        return known;
    }
    if (id >= ingest->latest_capacity) {
        size_t capacity = ingest->latest_capacity != 0 ? 2 * ingest->latest_capacity : 64;
        uint32_t *table = realloc(ingest->latest_life, capacity * sizeof(*table));
        if (table == NULL) {
            return -ENOMEM;
        }
        memset(table + ingest->latest_capacity, 0,
               (capacity - ingest->latest_capacity) * sizeof(*table));
        ingest->latest_life = table;
        ingest->latest_capacity = capacity;
    }
    *latest = &ingest->latest_life[id];
    return 0;
}

static int add_life(struct gmt_ingest *ingest, uint32_t *latest, const struct gmt_stream_life *life)
{
    if (ingest->life_count == ingest->life_capacity) {
        size_t capacity = ingest->life_capacity != 0 ? 2 * ingest->life_capacity : 64;
        struct gmt_stream_life *lives = realloc(ingest->lives, capacity * sizeof(*lives));
        if (lives == NULL) {
            return -ENOMEM;
        }
        ingest->lives = lives;
        ingest->life_capacity = capacity;
    }
    ingest->lives[ingest->life_count] = *life;
    ingest->lives[ingest->life_count].older = *latest;
    *latest = (uint32_t)++ingest->life_count;
    return 0;
}

static int begin_life(struct gmt_ingest *ingest, uint32_t *latest, const struct gmt_stream_key *key,
                      uint64_t begin_ns)
{
    struct gmt_stream_life life = {.row = (int64_t)ingest->life_count + 1, .begin_ns = begin_ns};
    int error = add_life(ingest, latest, &life);
    if (error != 0) {
        return error;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_STREAM);
    gmt_put_integer(&row, life.row);
    gmt_put_id_or_null(&row, key->context);
    gmt_put_bits(&row, key->handle);
    gmt_put_id_or_null(&row, key->thread);
    gmt_put_or_null(&row, begin_ns);
    return gmt_ingest_step(&row);
}

/* The life of `key` at `ns`, made if there is none. */
static int find_life(struct gmt_ingest *ingest, const struct gmt_stream_key *key, uint64_t ns,
                     struct gmt_stream_life **life, uint32_t **latest)
{
    int error = latest_of(ingest, key, latest);
    if (error != 0) {
        return error;
    }
    for (uint32_t at = **latest; at != 0; at = ingest->lives[at - 1].older) {
        struct gmt_stream_life *candidate = &ingest->lives[at - 1];
        /* The oldest life also takes what seems to come before it. */
        if (candidate->begin_ns > ns && candidate->older != 0) {
            continue;
        }
        if (at == **latest && candidate->end_ns != 0 && ns >= candidate->end_ns) {
            break;
        }
        *life = candidate;
        return 0;
    }
    uint64_t begin_ns = **latest != 0 ? ingest->lives[**latest - 1].end_ns : 0;
    error = begin_life(ingest, *latest, key, begin_ns);
    *life = &ingest->lives[ingest->life_count - 1];
    return error;
}

static int end_life(struct gmt_ingest *ingest, struct gmt_stream_life *life, uint64_t ns)
{
    life->end_ns = ns;
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_STREAM_END);
    gmt_put_unsigned(&row, ns);
    gmt_put_integer(&row, life->row);
    return gmt_ingest_step(&row);
}

int gmt_ingest_stream_row(struct gmt_ingest *ingest, const struct gmt_call *call, uint64_t begin_ns,
                          int64_t *row)
{
    struct gmt_stream_key key = make_key(call->stream, call->context, call->thread,
                                         (call->flags & GMT_CALL_PER_THREAD) != 0);
    struct gmt_stream_life *life;
    uint32_t *latest;
    int error = find_life(ingest, &key, begin_ns, &life, &latest);
    if (error == 0) {
        *row = life->row;
    }
    return error;
}

int gmt_ingest_stream_destroyed(struct gmt_ingest *ingest, const struct gmt_call *call,
                                uint64_t begin_ns)
{
    struct gmt_stream_key key = make_key(call->stream, call->context, call->thread, false);
    struct gmt_stream_life *life;
    uint32_t *latest;
    if (call->stream <= HANDLE_PER_THREAD) {
        return 0;
    }
    int error = find_life(ingest, &key, begin_ns, &life, &latest);
    return error != 0 || life->end_ns != 0 ? error : end_life(ingest, life, begin_ns);
}

int gmt_ingest_stream(struct gmt_ingest *ingest, const struct gmt_spool_record *record)
{
    const struct gmt_stream *stream = record->data;
    uint64_t ns = gmt_ingest_ns(ingest, stream->head.ticks);
    struct gmt_stream_key key = make_key(stream->handle, stream->context,
                                         stream->thread != 0 ? stream->thread : stream->head.thread,
                                         false);
    struct gmt_stream_life *life;
    uint32_t *latest;
    int error = find_life(ingest, &key, ns, &life, &latest);
    if (error == 0 && life->has_cupti_id && stream->has_cupti_id != 0 &&
        life->cupti_id != stream->cupti_id) {
        /* Another stream by the same handle, whose predecessor's end was not seen. */
        if (life->end_ns == 0) {
            error = end_life(ingest, life, ns);
        }
        if (error == 0) {
            error = begin_life(ingest, latest, &key, ns);
            life = &ingest->lives[ingest->life_count - 1];
        }
    }
    if (error != 0) {
        return error;
    }
    if (stream->has_cupti_id != 0) {
        life->cupti_id = stream->cupti_id;
        life->has_cupti_id = true;
    }
    struct gmt_binder row = gmt_ingest_bind(ingest, GMT_STATEMENT_STREAM_SET);
    gmt_put_known(&row, life->has_cupti_id ? (int64_t)life->cupti_id : -1);
    gmt_put_unsigned(&row, stream->flags);
    if (stream->has_priority != 0) {
        gmt_put_integer(&row, stream->priority);
    } else {
        gmt_put_null(&row);
    }
    gmt_put_integer(&row, life->row);
    return gmt_ingest_step(&row);
}

int gmt_ingest_load_streams(struct gmt_ingest *ingest)
{
    sqlite3_stmt *rows;
    int error = 0, code = SQLITE_DONE;
    if (sqlite3_prepare_v2(ingest->db,
                           "SELECT id, context_id, handle, thread_id, begin_ns, end_ns, cupti_id "
                           "FROM stream ORDER BY id",
                           -1, &rows, NULL) != SQLITE_OK) {
        return gmt_database_error(ingest->db);
    }
    while (error == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        struct gmt_stream_key key = {
            .handle = (uint64_t)sqlite3_column_int64(rows, 2),
            .context = (uint32_t)sqlite3_column_int64(rows, 1),
            .thread = (uint32_t)sqlite3_column_int64(rows, 3),
        };
        struct gmt_stream_life life = {
            .row = sqlite3_column_int64(rows, 0),
            .begin_ns = (uint64_t)sqlite3_column_int64(rows, 4),
            .end_ns = (uint64_t)sqlite3_column_int64(rows, 5),
            .cupti_id = (uint32_t)sqlite3_column_int64(rows, 6),
            .has_cupti_id = sqlite3_column_type(rows, 6) != SQLITE_NULL,
        };
        uint32_t *latest;
        error = latest_of(ingest, &key, &latest);
        if (error == 0) {
            error = add_life(ingest, latest, &life);
        }
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(ingest->db);
    }
    sqlite3_finalize(rows);
    return error;
}
