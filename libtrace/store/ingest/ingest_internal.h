/* SPDX-License-Identifier: Apache-2.0 */
/* What the record families of the ingest share; private to ingest*.c. */
#ifndef GMT_STORE_INGEST_INGEST_INTERNAL_H
#define GMT_STORE_INGEST_INGEST_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/checked.h"
#include "libtrace/store/db/intern.h"
#include "libtrace/store/ingest/ingest.h"

/* A record that says more was damaged, and is counted as lost. */
#define GMT_ID_MOST ((uint64_t)INT32_MAX)   /* of what is numbered one by one              */
#define GMT_NUMBER_MOST (UINT64_C(1) << 61) /* of any count; as ns, a clock of 73 years    */
#define GMT_BYTES_MOST (UINT64_C(1) << 57)  /* of memory: what addresses of 57 bits reach  */

enum gmt_statement {
#define GMT_STATEMENT(name, sql) GMT_STATEMENT_##name,
#include "libtrace/store/ingest/ingest_statements.def"
#undef GMT_STATEMENT
    GMT_STATEMENT_COUNT
};

/* What the name of a driver entry point says about its calls. */
#define GMT_API_HOST_FREE 0x01u
#define GMT_API_DEVICE_FREE 0x02u
#define GMT_API_STREAM_DESTROY 0x04u
#define GMT_API_BATCH 0x08u

/* One life of a stream handle; see ingest_stream.c. */
struct gmt_stream_life {
    int64_t row; /* stream.id                                                          */
    uint64_t begin_ns;
    uint64_t end_ns; /* destroyed; 0 = not yet                                             */
    uint32_t cupti_id;
    bool has_cupti_id;
    uint32_t older; /* index + 1 of the previous life of the same key, 0 = none           */
};

struct gmt_ingest {
    sqlite3 *db;
    struct gmt_timebase *time;
    sqlite3_stmt *statement[GMT_STATEMENT_COUNT];
    int64_t next_call_id;
    uint64_t last_ns; /* latest time seen                                           */
    uint64_t stored_last_ns;
    bool process_seen;
    struct gmt_intern strings; /* text -> string.id                                          */
    struct gmt_intern frames;  /* struct gmt_frame_key -> frame.id                           */
    struct gmt_module_range *ranges; /* in the order of their records: the last one holds        */
    size_t range_count;
    struct gmt_intern modules;     /* struct gmt_module_key + path -> module.id                  */
    struct gmt_intern arguments;   /* array of struct gmt_launch_arg -> launch_argument.set_id   */
    struct gmt_intern stream_keys; /* struct gmt_stream_key -> index + 1 of its latest life      */
    struct gmt_stream_life *lives;
    size_t life_count, life_capacity;
    uint32_t *latest_life; /* by stream key id: index + 1 into lives                     */
    size_t latest_capacity;
    struct gmt_intern host_allocations; /* gmt_alloc.id: page-locked host memory             */
    uint8_t api_flags[UINT16_MAX + 1];
    bool metric_stored[UINT8_MAX + 1];
};

/* A prepared statement being bound, column by column. */
struct gmt_binder {
    struct gmt_ingest *ingest;
    sqlite3_stmt *statement;
    int next;
    int error;
    bool out_of_range; /* a number that no recorder writes: the row is not stored            */
    bool failed;       /* a call that failed: what it asked for may be any number            */
};

struct gmt_text {
    const char *data; /* not NUL-terminated                                                 */
    int bytes;
};

/* Strings behind the fixed part of a side record. */
struct gmt_text_cursor {
    const char *at;
    const char *end;
};

struct gmt_binder gmt_ingest_bind(struct gmt_ingest *ingest, enum gmt_statement which);
void gmt_put_integer(struct gmt_binder *binder, int64_t value);
/* Counts and times to GMT_NUMBER_MOST; ids; bytes of memory. */
void gmt_put_unsigned(struct gmt_binder *binder, uint64_t value);
void gmt_put_or_null(struct gmt_binder *binder, uint64_t value); /* NULL for 0               */
void gmt_put_id(struct gmt_binder *binder, uint64_t value);
void gmt_put_id_or_null(struct gmt_binder *binder, uint64_t value); /* NULL for 0            */
void gmt_put_bytes(struct gmt_binder *binder, uint64_t value);
void gmt_put_bytes_or_null(struct gmt_binder *binder, uint64_t value); /* NULL for 0         */
/* Addresses and handles: 64 bits that are no number. */
void gmt_put_bits(struct gmt_binder *binder, uint64_t value);
void gmt_put_bits_or_null(struct gmt_binder *binder, uint64_t value); /* NULL for 0          */
void gmt_put_known(struct gmt_binder *binder, int64_t value);         /* NULL for negative        */
void gmt_put_blob(struct gmt_binder *binder, const void *data, size_t bytes); /* as texts */
void gmt_put_real(struct gmt_binder *binder, double value);
void gmt_put_null(struct gmt_binder *binder);
void gmt_put_name(struct gmt_binder *binder, const char *text); /* static text, or NULL     */
void gmt_put_text(struct gmt_binder *binder,
                  struct gmt_text text); /* valid until gmt_ingest_step */
void gmt_put_text_or_null(struct gmt_binder *binder, struct gmt_text text); /* NULL for ""       */

/* Execute. A row that the schema refuses, or that has a number out of range, is counted as a loss and is no
 * error. */
int gmt_ingest_step(struct gmt_binder *binder);

struct gmt_text_cursor gmt_texts(const struct gmt_spool_record *record, size_t fixed_bytes);
struct gmt_text gmt_texts_next(struct gmt_text_cursor *cursor);
/* The same as a NUL-terminated copy; NULL: no memory. */
char *gmt_text_copy(struct gmt_text text);

uint64_t gmt_ingest_ns(struct gmt_ingest *ingest, uint64_t ticks);
void gmt_ingest_saw(struct gmt_ingest *ingest, uint64_t ns);

/* string.id of a text, stored if it is new. */
int gmt_ingest_string(struct gmt_ingest *ingest, struct gmt_text text, int64_t *id);

/* One function per family; `record` is known to hold the fixed part of its type. */
int gmt_ingest_call(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_transfer(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_memset(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_launch(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_sync(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_alloc(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_free(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_encoding(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_tensor_map(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_process(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_thread(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_device(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_context(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_stream(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_api(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_kernel(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_kernel_class(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_stack(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_object(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_capability(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_loss_record(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_device_op(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_counters(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_instruction(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_sass_instruction(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_cubin_piece(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_inlining(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_footprint(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_race(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_device_gap(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_own_time(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_range(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_graph(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
/* With all rows and indexes in. */
int gmt_ingest_settle_graphs(sqlite3 *db);
int gmt_ingest_graph_node(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_exit(struct gmt_ingest *ingest, const struct gmt_spool_record *record);

/* stream.id of a call's stream at a time; the row is made if there is none. */
int gmt_ingest_stream_row(struct gmt_ingest *ingest, const struct gmt_call *call, uint64_t begin_ns,
                          int64_t *row);
/* A stream was destroyed: its handle may come back as another stream. */
int gmt_ingest_stream_destroyed(struct gmt_ingest *ingest, const struct gmt_call *call,
                                uint64_t begin_ns);

/* Bits of api_flags for an entry point. */
uint8_t gmt_ingest_api_flags(const char *name, size_t bytes);
int gmt_ingest_note_host_allocation(struct gmt_ingest *ingest, uint32_t id);

/* Rebuild what is kept in memory. */
int gmt_ingest_load(struct gmt_ingest *ingest);
int gmt_ingest_load_streams(struct gmt_ingest *ingest);

struct gmt_frame_key {
    uint64_t address;
    uint64_t module; /* module.id mapped there when the stack was seen, 0 = none known */
};
struct gmt_module_range {
    uint64_t start, end, module;
};
/* `module` lies in [start, end) from now on. 0 or -ENOMEM. */
int gmt_ingest_note_module(struct gmt_ingest *ingest, uint64_t start, uint64_t end,
                           uint64_t module);

/* Key of struct gmt_ingest.modules; the path follows it. */
struct gmt_module_key {
    uint64_t load_bias, start, end;
};

#endif
