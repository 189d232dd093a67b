/* SPDX-License-Identifier: Apache-2.0 */
/* Records -> sums over steps. */
#include "libtrace/store/recording/recording_aggregate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/settings/spool_settings.h"
#include "libtrace/store/db/database.h"
#include "libtrace/store/steps/steps_records.h"

enum {
    MOST_STACKS = 16384,   /* that are kept: places beyond are part of the rest */
    MOST_SLOTS = 16 << 14, /* of these, in all: 16 MiB                          */
};

/* The record of a call stack, until a row refers to it. */
struct kept_stack {
    void *data; /* NULL: it is in the database */
    unsigned slots;
};

struct gmt_recording_aggregate {
    struct gmt_recording *recording;
    struct gmt_steps *steps;
    struct gmt_step_records *records;
    struct gmt_step_writer *writer;
    struct gmt_intern ids; /* gmt_stack.id -> place in `stacks` */
    struct kept_stack *stacks;
    size_t stack_count, slots;
    uint64_t read_ns;
};

bool gmt_recording_aggregates(const struct gmt_recording *recording)
{
    struct gmt_spool_settings settings;
    return gmt_spool_settings_read(recording->folder, &settings) == 0 &&
           (settings.flags & GMT_SETTINGS_AGGREGATES) != 0;
}

/* ---- what rows refer to ----------------------------------------------------------------------- */

static int store_name(void *context, const char *text, int64_t *id)
{
    const struct gmt_recording_aggregate *own = context;
    return gmt_ingest_name(own->recording->ingest, text, id);
}

/* 1: it is not known, or one of too many. */
static int store_stack(void *context, uint32_t id)
{
    struct gmt_recording_aggregate *own = context;
    uint64_t at;
    if (!gmt_intern_find(&own->ids, &id, sizeof(id), &at)) {
        return 1;
    }
    struct kept_stack *stack = &own->stacks[at];
    if (stack->data == NULL) {
        return 0;
    }
    int error = gmt_ingest_record(own->recording->ingest,
                                  &(struct gmt_spool_record){.data = stack->data,
                                                             .type = GMT_REC_STACK,
                                                             .slots = stack->slots});
    free(stack->data);
    stack->data = NULL;
    own->slots -= stack->slots;
    return error;
}

/* Those that are in the database, after this recorder has taken over from another. */
static int note_stored(struct gmt_recording_aggregate *own)
{
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_prepare_v2(own->recording->db, "SELECT id FROM stack", -1, &rows, NULL);
    code = code == SQLITE_OK ? SQLITE_ROW : code;
    while (code == SQLITE_ROW && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        uint32_t id = (uint32_t)sqlite3_column_int64(rows, 0);
        uint64_t at;
        if (own->stack_count < MOST_STACKS &&
            gmt_intern_id(&own->ids, &id, sizeof(id), own->stack_count, &at) == 0) {
            own->stacks[own->stack_count++] = (struct kept_stack){0};
        }
    }
    int error = code == SQLITE_DONE ? 0 : gmt_database_error(own->recording->db);
    sqlite3_finalize(rows);
    return error;
}

static int keep_stack(struct gmt_recording_aggregate *own, const struct gmt_spool_record *record)
{
    const struct gmt_stack *stack = record->data;
    uint64_t at;
    if (own->stack_count == MOST_STACKS || own->slots + record->slots > MOST_SLOTS ||
        gmt_intern_find(&own->ids, &stack->id, sizeof(stack->id), &at)) {
        return 0;
    }
    size_t bytes = (size_t)record->slots * GMT_SLOT_BYTES;
    void *copy = malloc(bytes);
    if (copy == NULL ||
        gmt_intern_id(&own->ids, &stack->id, sizeof(stack->id), own->stack_count, &at) < 0) {
        free(copy);
        return -ENOMEM;
    }
    memcpy(copy, record->data, bytes);
    own->stacks[own->stack_count++] = (struct kept_stack){copy, record->slots};
    own->slots += record->slots;
    return 0;
}

/* ---- the recording ---------------------------------------------------------------------------- */

void gmt_recording_aggregate_close(struct gmt_recording *recording)
{
    struct gmt_recording_aggregate *own = recording->aggregate;
    if (own == NULL) {
        return;
    }
    for (size_t i = 0; i < own->stack_count; i++) {
        free(own->stacks[i].data);
    }
    free(own->stacks);
    gmt_intern_free(&own->ids);
    gmt_step_records_close(own->records);
    gmt_step_writer_close(own->writer);
    gmt_steps_close(own->steps);
    free(own);
    recording->aggregate = NULL;
}

/* What was read before, and not summed up, is not there any more. */
static int note_interruption(struct gmt_recording *recording)
{
    int64_t read;
    int error = gmt_database_integer(recording->db, "SELECT count(*) FROM ingest_chunk", 0, &read);
    return error == 0 && read != 0
               ? gmt_ingest_loss(recording->ingest, "step interrupted",
                                 "the recorder was ended: sums of its last step or two", 1)
               : error;
}

int gmt_recording_aggregate_open(struct gmt_recording *recording)
{
    static const char say[] =
        "PRAGMA cache_size = -1024;" /* a few pages are written, which a large cache would all keep */
        "INSERT OR REPLACE INTO meta VALUES ('aggregate', '1');"
        "INSERT OR REPLACE INTO capability(name, state, detail, remedy) "
        "VALUES ('calls', 'off', 'only "
        "sums over steps were recorded', 'record without --aggregate')";
    struct gmt_spool_settings settings;
    struct gmt_recording_aggregate *own = calloc(1, sizeof(*own));
    const struct gmt_step_sink sink = {.context = own, .string = store_name, .stack = store_stack};
    if (own == NULL) {
        return -ENOMEM;
    }
    (void)gmt_spool_settings_read(recording->folder, &settings);
    recording->aggregate = own;
    own->recording = recording;
    own->stacks = calloc(MOST_STACKS, sizeof(*own->stacks));
    own->steps = gmt_steps_open(settings.step, GMT_STEP_COLLECTIVES,
                                recording->control->first_pair.monotonic_ns);
    own->records = own->steps != NULL ? gmt_step_records_open(own->steps, &recording->time) : NULL;
    int error = own->stacks != NULL && own->records != NULL ? 0 : -ENOMEM;
    if (error != 0 ||
        (error = gmt_step_writer_open(recording->db, "main", GMT_STEP_ROWS, &sink, &own->writer)) !=
            0 ||
        (error = note_stored(own)) != 0 || (error = note_interruption(recording)) != 0) {
        return error;
    }
    return gmt_database_exec(recording->db, say);
}

/* Is a record of those that a trace of sums has, too? None of a number that grows with the length of the run. */
static bool describes(unsigned type)
{
    switch (type) {
    case GMT_REC_PROCESS:
    case GMT_REC_DEVICE:
    case GMT_REC_CONTEXT:
    case GMT_REC_OBJECT:
    case GMT_REC_PYTHON_LINE:
    case GMT_REC_CAPABILITY:
    case GMT_REC_LOSS:
    case GMT_REC_EXIT: return true;
    default: return false;
    }
}

int gmt_recording_aggregate_record(struct gmt_recording *recording,
                                   const struct gmt_spool_record *record)
{
    struct gmt_recording_aggregate *own = recording->aggregate;
    int error = describes(record->type) ? gmt_ingest_record(recording->ingest, record) : 0;
    if (error == 0 && record->type == GMT_REC_STACK) {
        error = keep_stack(own, record);
    }
    return error == 0 ? gmt_step_records_add(own->records, record, own->writer) : error;
}

void gmt_recording_aggregate_pass(struct gmt_recording *recording, uint64_t ns)
{
    recording->aggregate->read_ns = ns;
}

int gmt_recording_aggregate_settle(struct gmt_recording *recording)
{
    struct gmt_recording_aggregate *own = recording->aggregate;
    return own->read_ns > GMT_STEP_SETTLE_NS
               ? gmt_steps_settle(own->steps, own->read_ns - GMT_STEP_SETTLE_NS, own->writer)
               : 0;
}

int gmt_recording_aggregate_finish(struct gmt_recording *recording)
{
    struct gmt_recording_aggregate *own = recording->aggregate;
    int error = gmt_steps_finish(own->steps, 0, own->writer);
    uint64_t late = gmt_steps_late(own->steps);
    if (error == 0 && late != 0) {
        error = gmt_ingest_loss(recording->ingest, "step of another",
                                "calls and device work that are summed up in a later step", late);
    }
    return error == 0 ? gmt_database_exec(recording->db,
                                          "UPDATE process SET end_ns = max(coalesce(end_ns, 0), "
                                          "coalesce((SELECT max(end_ns) FROM step), 0))")
                      : error;
}
