/* SPDX-License-Identifier: Apache-2.0 */
/* Steps -> rows. */
#include "libtrace/store/steps/step_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/store/db/database.h"

/* X(id, table, its columns, of which each gets a value) */
#define STATEMENTS(X) \
    X(STEP, "step(id,number,steps,source,name_id,begin_ns,end_ns,range_ns,longest_ns)", 9) \
    X(CALL, "step_call(step_id,kind,stack_id,calls,bytes,host_ns,blocking_ns,longest_ns)", 8) \
    X(WORK, "step_work(step_id,device_id,kind,operations,bytes,device_ns,longest_ns)", 7) \
    X(KERNEL, "step_kernel(step_id,name_id,launches,operations,device_ns,longest_ns)", 6) \
    X(SLOWEST, "step_slowest(step_id,position,device_id,name_id,start_ns,device_ns)", 6) \
    X(TIME, "step_time(step_id,device_id,cause,ns)", 4) \
    X(MEMORY, "step_memory(step_id,device_id,live_bytes,peak_bytes,live_count)", 5) \
    X(COLLECTIVE, \
      "step_collective(step_id,position,source,name_id,device_id,stream,begin_ns,end_ns," \
      "communicator,number,ranks,bytes,grouped)", \
      13)

#define ENUMERATOR(id, columns, count) id,
enum step_statement { STATEMENTS(ENUMERATOR) STATEMENT_COUNT };

struct gmt_step_writer {
    sqlite3 *db;
    char schema[8];
    struct gmt_step_sink sink;
    sqlite3_stmt *statement[STATEMENT_COUNT];
    int64_t id, number, most, rows; /* id, number: of the latest step */
};

/* A row that is being bound. */
struct step_row {
    struct gmt_step_writer *writer;
    sqlite3_stmt *statement;
    int at;
};

static struct step_row begin(struct gmt_step_writer *writer, enum step_statement which)
{
    struct step_row row = {.writer = writer, .statement = writer->statement[which], .at = 1};
    if (which != STEP) {
        (void)sqlite3_bind_int64(row.statement, row.at++, writer->id);
    }
    return row;
}

/* Of bits, too: a column of 64 bits. */
static void put(struct step_row *row, uint64_t value)
{
    (void)sqlite3_bind_int64(row->statement, row->at++, (int64_t)value);
}

static void put_if(struct step_row *row, bool is_there, uint64_t value)
{
    if (is_there) {
        put(row, value);
    } else {
        (void)sqlite3_bind_null(row->statement, row->at++);
    }
}

static void put_word(struct step_row *row, const char *word)
{
    (void)sqlite3_bind_text(row->statement, row->at++, word, -1, SQLITE_STATIC);
}

static int put_name(struct step_row *row, struct gmt_step_names *names, uint32_t number)
{
    struct gmt_step_name *name = gmt_step_names_get(names, number);
    int error = 0;
    if (name != NULL && name->row == 0) {
        error = row->writer->sink.string(row->writer->sink.context, name->text, &name->row);
    }
    put_if(row, name != NULL && error == 0, name != NULL ? (uint64_t)name->row : 0);
    return error;
}

static int end(struct step_row *row)
{
    int code = sqlite3_step(row->statement);
    int error = code == SQLITE_DONE ? 0 : gmt_database_error(row->writer->db);
    (void)sqlite3_reset(row->statement);
    return error;
}

static int read_end(struct gmt_step_writer *writer)
{
    static const char format[] =
        "SELECT coalesce(max(id), 0), coalesce(max(number + steps - 1), 0), count(*) FROM %s.step";
    char sql[160];
    sqlite3_stmt *row = NULL;
    (void)snprintf(sql, sizeof(sql), format, writer->schema);
    if (sqlite3_prepare_v2(writer->db, sql, -1, &row, NULL) != SQLITE_OK ||
        sqlite3_step(row) != SQLITE_ROW) {
        int error = gmt_database_error(writer->db);
        sqlite3_finalize(row);
        return error;
    }
    writer->id = sqlite3_column_int64(row, 0);
    writer->number = sqlite3_column_int64(row, 1);
    writer->rows = sqlite3_column_int64(row, 2);
    sqlite3_finalize(row);
    return 0;
}

int gmt_step_writer_open(sqlite3 *db, const char *schema, int64_t most,
                         const struct gmt_step_sink *sink, struct gmt_step_writer **out)
{
#define TEXT(id, columns, count) {columns, count},
    static const struct {
        const char *columns;
        int count;
    } texts[] = {STATEMENTS(TEXT)};
#undef TEXT
    struct gmt_step_writer *writer = calloc(1, sizeof(*writer));
    if (writer == NULL) {
        return -ENOMEM;
    }
    *writer = (struct gmt_step_writer){.db = db, .sink = *sink, .most = most};
    (void)snprintf(writer->schema, sizeof(writer->schema), "%s", schema);
    static const char values[] = "?,?,?,?,?,?,?,?,?,?,?,?,?";
    int error = 0;
    for (int i = 0; i < STATEMENT_COUNT && error == 0; i++) {
        char sql[256];
        (void)snprintf(sql, sizeof(sql), "INSERT INTO %s.%s VALUES(%.*s)", schema, texts[i].columns,
                       2 * texts[i].count - 1, values);
        if (sqlite3_prepare_v2(db, sql, -1, &writer->statement[i], NULL) != SQLITE_OK) {
            error = gmt_database_error(db);
        }
    }
    error = error == 0 ? read_end(writer) : error;
    if (error != 0) {
        gmt_step_writer_close(writer);
        writer = NULL;
    }
    *out = writer;
    return error;
}

void gmt_step_writer_close(struct gmt_step_writer *writer)
{
    for (int i = 0; writer != NULL && i < STATEMENT_COUNT; i++) {
        sqlite3_finalize(writer->statement[i]);
    }
    free(writer);
}

/* ---- tables ----------------------------------------------------------------------------------- */

static int put_call(struct gmt_step_writer *writer, const struct gmt_step_cell *cell)
{
    if (cell->calls == 0) {
        return 0;
    }
    int unknown = cell->id != 0 && writer->sink.stack != NULL
                      ? writer->sink.stack(writer->sink.context, cell->id)
                      : 0;
    if (unknown < 0) {
        return unknown;
    }
    struct step_row row = begin(writer, CALL);
    put_word(&row, gmt_step_kind_word((enum gmt_step_kind)cell->kind));
    put_if(&row, cell->id != 0 && unknown == 0, cell->id);
    put(&row, cell->calls);
    put(&row, cell->bytes);
    put(&row, cell->ns);
    put(&row, cell->blocking_ns);
    put(&row, cell->longest_ns);
    return end(&row);
}

static int put_kernel(struct gmt_step_writer *writer, const struct gmt_step *step,
                      const struct gmt_step_cell *cell)
{
    if (cell->calls == 0 && cell->operations == 0) {
        return 0;
    }
    struct step_row row = begin(writer, KERNEL);
    int error = put_name(&row, step->names, cell->id);
    put(&row, cell->calls);
    put(&row, cell->operations);
    put_if(&row, cell->operations != 0, cell->ns);
    put_if(&row, cell->operations != 0, cell->longest_ns);
    return error == 0 ? end(&row) : error;
}

static int put_cells(struct gmt_step_writer *writer, const struct gmt_step *step)
{
    struct gmt_step_sums *sums = step->sums;
    size_t kernels, calls = gmt_step_sums_rank(sums, step->names, &kernels);
    int error = 0;
    for (size_t i = 0; i < calls && error == 0; i++) {
        error = put_call(writer, &sums->cells[i]);
    }
    for (uint32_t kind = 0; kind < GMT_STEP_KIND_COUNT && error == 0; kind++) {
        sums->rest[kind].kind = kind;
        error = put_call(writer, &sums->rest[kind]);
    }
    for (size_t i = calls; i < calls + kernels && error == 0; i++) {
        error = put_kernel(writer, step, &sums->cells[i]);
    }
    return error == 0 ? put_kernel(writer, step, &sums->rest[GMT_STEP_OF_KERNEL]) : error;
}

static int put_work(struct gmt_step_writer *writer, const struct gmt_step_sums *sums)
{
    int error = 0;
    for (unsigned device = 0; device < sums->devices; device++) {
        for (unsigned kind = 0; kind < GMT_STEP_WORK_KINDS && error == 0; kind++) {
            const struct gmt_step_cell *work = &sums->work[device][kind];
            if (work->calls != 0) {
                struct step_row row = begin(writer, WORK);
                put(&row, device);
                put_word(&row, gmt_step_kind_word((enum gmt_step_kind)kind));
                put(&row, work->calls);
                put(&row, work->bytes);
                put(&row, work->ns);
                put(&row, work->longest_ns);
                error = end(&row);
            }
        }
    }
    return error;
}

static int put_slowest(struct gmt_step_writer *writer, const struct gmt_step *step)
{
    int error = 0;
    for (unsigned i = 0; i < GMT_STEP_SLOWEST && error == 0; i++) {
        const struct gmt_step_slow *slow = &step->sums->slowest[i];
        if (slow->ns != 0) {
            struct step_row row = begin(writer, SLOWEST);
            put(&row, i + 1);
            put(&row, slow->device);
            error = put_name(&row, step->names, slow->name);
            put(&row, slow->start_ns);
            put(&row, slow->ns);
            error = error == 0 ? end(&row) : error;
        }
    }
    return error;
}

static int put_time(struct gmt_step_writer *writer, unsigned device, const char *cause, uint64_t ns)
{
    if (ns == 0) {
        return 0;
    }
    struct step_row row = begin(writer, TIME);
    put(&row, device);
    put_word(&row, cause);
    put(&row, ns);
    return end(&row);
}

static int put_times(struct gmt_step_writer *writer, const struct gmt_step *step)
{
    int error = 0;
    for (unsigned i = 0; i < GMT_STEP_DEVICES && error == 0; i++) {
        error = put_time(writer, i, "busy", step->time[i].busy_ns);
        for (unsigned cause = 0; cause < GMT_LIVE_CAUSE_COUNT && error == 0; cause++) {
            error = put_time(writer, i, gmt_live_cause_name((enum gmt_live_cause)cause),
                             step->time[i].idle_ns[cause]);
        }
    }
    return error;
}

static int put_memory(struct gmt_step_writer *writer, const struct gmt_step *step)
{
    int error = 0;
    for (unsigned i = 0; i <= GMT_STEP_DEVICES && error == 0; i++) {
        const struct gmt_step_memory *memory = &step->memory[i];
        if (memory->peak_bytes != 0 || memory->live_count != 0) {
            struct step_row row = begin(writer, MEMORY);
            put_if(&row, i < GMT_STEP_DEVICES, i);
            put(&row, memory->live_bytes);
            put(&row, memory->peak_bytes);
            put(&row, memory->live_count);
            error = end(&row);
        }
    }
    return error;
}

static int put_collective(struct gmt_step_writer *writer, const struct gmt_step *step,
                          enum gmt_collective_source source,
                          const struct gmt_step_collective *collective)
{
    struct step_row row = begin(writer, COLLECTIVE);
    put(&row, collective->position);
    put_word(&row, gmt_collective_source_word(source));
    int error = put_name(&row, step->names, collective->name);
    put_if(&row, collective->device != UINT32_MAX, collective->device);
    put_if(&row, source != GMT_COLLECTIVE_RANGE, collective->stream);
    put(&row, collective->begin_ns);
    put(&row, collective->end_ns);
    put_if(&row, (collective->said >> GMT_RANGE_COMMUNICATOR & 1) != 0, collective->communicator);
    put_if(&row, collective->number != 0, collective->number);
    put_if(&row, collective->ranks != 0, collective->ranks);
    put_if(&row, (collective->said >> GMT_RANGE_BYTES & 1) != 0, collective->bytes);
    put_if(&row, collective->grouped, 1);
    return error == 0 ? end(&row) : error;
}

static int put_collectives(struct gmt_step_writer *writer, const struct gmt_step *step)
{
    int error = 0;
    for (unsigned source = 0; source < GMT_COLLECTIVE_SOURCES; source++) {
        for (unsigned i = 0; i < step->sums->collectives[source] && error == 0; i++) {
            error = put_collective(writer, step, (enum gmt_collective_source)source,
                                   &step->sums->collective[source][i]);
        }
    }
    return error;
}

static int put_step(struct gmt_step_writer *writer, const struct gmt_step *step)
{
    struct step_row row = begin(writer, STEP);
    put(&row, (uint64_t)++writer->id);
    put(&row, (uint64_t)writer->number + 1);
    put(&row, step->count);
    writer->number += (int64_t)step->count;
    put_word(&row, gmt_step_source_word(step->source));
    int error = put_name(&row, step->names, step->name);
    put(&row, step->begin_ns);
    put(&row, step->end_ns);
    put_if(&row, step->range_ns != 0, step->range_ns);
    put(&row, step->longest_ns);
    return error == 0 ? end(&row) : error;
}

int gmt_step_writer_put(struct gmt_step_writer *writer, struct gmt_step *step)
{
    int error;
    if ((error = put_step(writer, step)) != 0 || (error = put_cells(writer, step)) != 0 ||
        (error = put_work(writer, step->sums)) != 0 || (error = put_slowest(writer, step)) != 0 ||
        (error = put_times(writer, step)) != 0 || (error = put_memory(writer, step)) != 0 ||
        (error = put_collectives(writer, step)) != 0) {
        return error;
    }
    if (writer->most != 0 && ++writer->rows > writer->most) {
        error = gmt_step_merge(writer->db, writer->schema);
        return error == 0 ? read_end(writer) : error;
    }
    return 0;
}
