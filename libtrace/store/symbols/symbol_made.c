/* SPDX-License-Identifier: Apache-2.0 */
/* Names frames of code that was made at run time: they lie in no module. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "libtrace/store/db/database.h"
#include "libtrace/store/symbols/perf_map.h"
#include "libtrace/store/symbols/symbol_store.h"

struct made_frames {
    struct gmt_made_frame *frame;
    size_t count;
};

static int read_frames(sqlite3 *db, struct made_frames *frames)
{
    sqlite3_stmt *rows;
    int code, error = 0;
    size_t room = 0;
    if (sqlite3_prepare_v2(db,
                           "SELECT id, address, id NOT IN (SELECT frame_id FROM stack_frame "
                           "WHERE stack_id NOT IN (SELECT s.stack_id FROM stack_frame s "
                           "JOIN frame f ON f.id = s.frame_id WHERE f.address < 0)) "
                           "FROM frame WHERE module_id IS NULL "
                           "AND function_id IS NULL AND address > 0 ORDER BY address",
                           -1, &rows, NULL) != SQLITE_OK) {
        return gmt_database_error(db);
    }
    while (error == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        if (frames->count == room) {
            room = room != 0 ? 2 * room : 64;
            struct gmt_made_frame *grown = realloc(frames->frame, room * sizeof(*grown));
            if (grown == NULL) {
                error = -ENOMEM;
                break;
            }
            frames->frame = grown;
        }
        frames->frame[frames->count++] = (struct gmt_made_frame){
            .id = sqlite3_column_int64(rows, 0),
            .address = (uint64_t)sqlite3_column_int64(rows, 1),
            .has_lines = sqlite3_column_int(rows, 2) != 0};
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(db);
    }
    sqlite3_finalize(rows);
    return error;
}

/* The process's own map first. A child of fork runs on in code that its parent made, and the parent
 * wrote that down. */
static int read_maps(struct gmt_symbol_store *store, struct made_frames *frames)
{
    static const char *const pids[] = {"SELECT pid FROM process", "SELECT parent_pid FROM process"};
    int error = 0;
    for (size_t i = 0; error == 0 && i < 2; i++) {
        char path[64];
        int64_t pid;
        error = gmt_database_integer(store->db, pids[i], 0, &pid);
        if (error != 0 || pid <= 1) {
            continue;
        }
        (void)snprintf(path, sizeof(path), "/tmp/perf-%" PRId64 ".map", pid);
        ssize_t named = gmt_perf_map_name(path, frames->frame, frames->count);
        if (named == -ENOMEM) {
            error = -ENOMEM;
        } else if (named == -EFBIG || named == -EPERM) {
            error = gmt_symbol_store_loss(store, "map of made code not read", path, 1);
        }
    }
    return error;
}

int gmt_symbol_store_made(struct gmt_symbol_store *store)
{
    struct made_frames frames = {0};
    int error = read_frames(store->db, &frames);
    if (error == 0 && frames.count > 0) {
        error = read_maps(store, &frames);
    }
    for (size_t i = 0; i < frames.count; i++) {
        struct gmt_made_frame *made = &frames.frame[i];
        const struct gmt_unnamed_frame frame = {.id = made->id, .address = (int64_t)made->address};
        const struct gmt_source_frame found = {.function = made->function, .file = made->file};
        if (error == 0 && made->function != NULL) {
            /* A trampoline's function is in the stack by itself: the trampoline is the interpreter's. */
            bool is_twice = made->is_python && made->has_lines;
            error = gmt_symbol_store_put(store, &frame, is_twice ? "libpython" : NULL, &found, 1);
        }
        free(made->function);
        free(made->file);
    }
    free(frames.frame);
    return error;
}
