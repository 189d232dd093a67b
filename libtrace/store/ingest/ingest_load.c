/* SPDX-License-Identifier: Apache-2.0 */
/* Rebuilds the ingest's memory from the database, and settles what only all records can say. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/record/checked.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/db/traits.h"
#include "libtrace/store/ingest/ingest_internal.h"

/* Call `visit` for each row of `sql`. */
static int each_row(struct gmt_ingest *ingest, const char *sql,
                    int (*visit)(struct gmt_ingest *ingest, sqlite3_stmt *row))
{
    sqlite3_stmt *rows;
    int error = 0, code = SQLITE_DONE;
    if (sqlite3_prepare_v2(ingest->db, sql, -1, &rows, NULL) != SQLITE_OK) {
        return gmt_database_error(ingest->db);
    }
    while (error == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        error = visit(ingest, rows);
    }
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(ingest->db);
    }
    sqlite3_finalize(rows);
    return error;
}

static int intern(struct gmt_intern *table, const void *key, size_t bytes, int64_t id)
{
    uint64_t found;
    int known = gmt_intern_id(table, key, bytes, (uint64_t)id, &found);
    return known < 0 ? known : 0;
}

static int load_string(struct gmt_ingest *ingest, sqlite3_stmt *row)
{
    const void *text = sqlite3_column_text(row, 1);
    return intern(&ingest->strings, text != NULL ? text : "", (size_t)sqlite3_column_bytes(row, 1),
                  sqlite3_column_int64(row, 0));
}

static int load_frame(struct gmt_ingest *ingest, sqlite3_stmt *row)
{
    struct gmt_frame_key key = {.address = (uint64_t)sqlite3_column_int64(row, 1),
                                .module = (uint64_t)sqlite3_column_int64(row, 2)};
    return intern(&ingest->frames, &key, sizeof(key), sqlite3_column_int64(row, 0));
}

static int load_module(struct gmt_ingest *ingest, sqlite3_stmt *row)
{
    const void *path = sqlite3_column_text(row, 1);
    size_t bytes = (size_t)sqlite3_column_bytes(row, 1);
    struct gmt_module_key key = {
        .load_bias = (uint64_t)sqlite3_column_int64(row, 2),
        .start = (uint64_t)sqlite3_column_int64(row, 3),
        .end = (uint64_t)sqlite3_column_int64(row, 4),
    };
    char *joined = malloc(sizeof(key) + bytes);
    if (joined == NULL) {
        return -ENOMEM;
    }
    memcpy(joined, &key, sizeof(key));
    if (bytes > 0) {
        memcpy(joined + sizeof(key), path, bytes);
    }
    int error = intern(&ingest->modules, joined, sizeof(key) + bytes, sqlite3_column_int64(row, 0));
    free(joined);
    return error != 0 ? error
                      : gmt_ingest_note_module(ingest, key.start, key.end,
                                               (uint64_t)sqlite3_column_int64(row, 0));
}

static int load_api(struct gmt_ingest *ingest, sqlite3_stmt *row)
{
    int64_t id = sqlite3_column_int64(row, 0) & UINT16_MAX;
    ingest->api_traits[id] = (uint16_t)sqlite3_column_int64(row, 1);
    return 0;
}

static int load_host_allocation(struct gmt_ingest *ingest, sqlite3_stmt *row)
{
    return gmt_ingest_note_host_allocation(ingest, (uint32_t)sqlite3_column_int64(row, 0));
}

/* Argument sets come back as the arrays they were made of, one row per argument: tensor maps are last. */
static int load_arguments(struct gmt_ingest *ingest)
{
    static_assert((int64_t)GMT_ARG_TENSOR_MAP == -1, "as the statement has it");
    struct gmt_launch_arg args[GMT_MAX_SLOTS * 4] = {0};
    const size_t most = sizeof(args) / sizeof(args[0]);
    size_t count = 0;
    int64_t set = 0;
    sqlite3_stmt *rows;
    int error = 0, code;
    if (sqlite3_prepare_v2(ingest->db,
                           "SELECT set_id, coalesce(parameter, 65535), word_offset, allocation_id, "
                           "allocation_offset FROM (SELECT 0 AS is_map, rowid AS row, * FROM "
                           "launch_argument UNION ALL SELECT 1, rowid, set_id, parameter, "
                           "parameter_offset, tensor_map_id, -1 "
                           "FROM launch_tensor_map) ORDER BY set_id, is_map, row",
                           -1, &rows, NULL) != SQLITE_OK) {
        return gmt_database_error(ingest->db);
    }
    do {
        code = sqlite3_step(rows);
        int64_t next = code == SQLITE_ROW ? sqlite3_column_int64(rows, 0) : 0;
        if (next != set) {
            if (count > 0) {
                error = intern(&ingest->arguments, args, count * sizeof(args[0]), set);
            }
            set = next;
            count = 0;
        }
        if (code == SQLITE_ROW && count < most) {
            args[count++] = (struct gmt_launch_arg){
                .parameter = (uint16_t)sqlite3_column_int64(rows, 1),
                .word_offset = (uint16_t)sqlite3_column_int64(rows, 2),
                .alloc = (uint32_t)sqlite3_column_int64(rows, 3),
                .offset = (uint64_t)sqlite3_column_int64(rows, 4),
            };
        }
    } while (error == 0 && code == SQLITE_ROW);
    if (error == 0 && code != SQLITE_DONE) {
        error = gmt_database_error(ingest->db);
    }
    sqlite3_finalize(rows);
    return error;
}

int gmt_ingest_load(struct gmt_ingest *ingest)
{
    static const char last_call[] =
        "SELECT max(id) FROM (SELECT max(id) AS id FROM transfer UNION ALL SELECT max(id) FROM "
        "memset "
        "UNION ALL SELECT max(id) FROM launch UNION ALL SELECT max(id) FROM sync "
        "UNION ALL SELECT max(id) FROM api_call)";
    int64_t value;
    int error = gmt_database_integer(ingest->db, last_call, 0, &value);
    ingest->next_call_id = gmt_clamp(value, 0, INT32_MAX) + 1;
    if (error == 0) {
        error = gmt_database_integer(ingest->db, "SELECT coalesce(end_ns, 0) FROM process", -1,
                                     &value);
        ingest->process_seen = value >= 0;
        ingest->last_ns = value > 0 ? (uint64_t)value : 0;
    }
    if (error != 0 || (error = each_row(ingest, "SELECT id, text FROM string", load_string)) != 0 ||
        (error = each_row(ingest, "SELECT id, address, module_id FROM frame", load_frame)) != 0 ||
        (error = each_row(ingest,
                          "SELECT id, path, load_bias, start_address, end_address "
                          "FROM module",
                          load_module)) != 0 ||
        (error = each_row(ingest, "SELECT id, traits FROM api", load_api)) != 0 ||
        (error = each_row(ingest, "SELECT id FROM host_allocation WHERE begin_ns IS NOT NULL",
                          load_host_allocation)) != 0 ||
        (error = load_arguments(ingest)) != 0) {
        return error;
    }
    return gmt_ingest_load_streams(ingest);
}

/* Frees whose record did not say of what kind of memory, and that came before the allocation, can
 * lie in the wrong table: move what has no allocating call to the table that has one. */
#define GMT_MOVE_FREES(from, to) \
    "UPDATE " to " SET (free_api_id,free_thread_id,free_stack_id,free_begin_ns,free_end_ns) = " \
    "(SELECT free_api_id,free_thread_id,free_stack_id,free_begin_ns,free_end_ns FROM " from \
    " WHERE " from ".id = " to ".id) WHERE begin_ns IS NOT NULL AND free_begin_ns IS NULL " \
    "AND id IN (SELECT id FROM " from " WHERE begin_ns IS NULL);" \
    "DELETE FROM " from " WHERE begin_ns IS NULL AND id IN (SELECT id FROM " to ");"

/* A call whose entry point's name was lost would vanish from the views. */
#define GMT_NAME_APIS(table, family) \
    "INSERT OR IGNORE INTO api(id,name,family) SELECT DISTINCT api_id,'(unknown)','" family \
    "' FROM " table " WHERE api_id IS NOT NULL AND api_id NOT IN (SELECT id FROM api);"

#define IS_BATCH GMT_SQL_HAS("traits", GMT_TRAIT_BATCH)

int gmt_ingest_settle(sqlite3 *db)
{
    static const char sql[] = GMT_MOVE_FREES("allocation", "host_allocation") GMT_MOVE_FREES(
        "host_allocation", "allocation") GMT_NAME_APIS("transfer", "transfer")
        GMT_NAME_APIS("memset", "memset") GMT_NAME_APIS("launch", "launch") GMT_NAME_APIS("sync",
                                                                                          "sync")
            GMT_NAME_APIS("api_call", "other") GMT_NAME_APIS("allocation", "alloc") GMT_NAME_APIS(
                "host_allocation",
                "alloc") "INSERT OR IGNORE INTO kernel(id,name,mangled) "
                         "SELECT DISTINCT kernel_id,'(unknown)','' FROM kernel_class "
                         "WHERE kernel_id NOT IN (SELECT id FROM kernel);"
                         /* A graph ends where its handle is destroyed or given to another. */
                         "CREATE TEMP TABLE edge AS SELECT handle, end_ns AS t FROM graph_end "
                         "UNION ALL SELECT handle, begin_ns FROM graph;"
                         "CREATE INDEX temp.edge_handle ON edge(handle, t);"
                         "UPDATE graph SET end_ns = (SELECT min(t) FROM edge e "
                         "WHERE e.handle = graph.handle AND e.t > graph.begin_ns);"
                         "DROP TABLE edge;"
                         "UPDATE transfer SET batch = 0 WHERE batch IS NULL AND "
                         "api_id IN (SELECT id FROM api WHERE " IS_BATCH ");"
                         /* Resident warps / the most there can be, on the device of the class's first
                          * launch. */
                         "UPDATE kernel_class SET theoretical_occupancy = (SELECT min(1.0, "
                         "kernel_class.max_blocks_per_sm * "
                         "((block_x * block_y * block_z + d.warp_size - 1) / d.warp_size) * 1.0 "
                         "/ (d.max_threads_per_sm / d.warp_size)) FROM device d WHERE d.id = "
                         "coalesce("
                         "(SELECT c.device_id FROM launch l JOIN context c ON c.id = l.context_id "
                         "WHERE l.class_id = kernel_class.id LIMIT 1), (SELECT min(id) FROM "
                         "device))) "
                         "WHERE max_blocks_per_sm IS NOT NULL;"
                         "UPDATE frame SET module_id = (SELECT m.id FROM module m WHERE "
                         "m.start_address <= "
                         "frame.address AND frame.address <= m.end_address ORDER BY m.id DESC "
                         "LIMIT 1) WHERE module_id IS NULL;"
                         /* What does not fit into 64 bits would be a REAL. */
                         "UPDATE frame SET offset = (SELECT CASE typeof(frame.address - "
                         "m.load_bias) "
                         "WHEN 'integer' THEN frame.address - m.load_bias END FROM module m "
                         "WHERE m.id = frame.module_id) WHERE module_id IS NOT NULL;";
    int error = gmt_database_exec(db, sql);
    return error != 0 ? error : gmt_ingest_settle_graphs(db);
}
