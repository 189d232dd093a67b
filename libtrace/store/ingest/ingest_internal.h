/* SPDX-License-Identifier: Apache-2.0 */
/* What the record families of the ingest share; private to ingest*.c. */
#ifndef GMT_STORE_INGEST_INGEST_INTERNAL_H
#define GMT_STORE_INGEST_INGEST_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/store/db/intern.h"
#include "libtrace/store/ingest/ingest.h"
#include "libtrace/store/ingest/record_values.h"
#include "libtrace/store/ingest/row_binder.h"

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
    struct gmt_intern host_allocations;  /* gmt_alloc.id: page-locked host memory             */
    uint16_t api_traits[UINT16_MAX + 1]; /* GMT_TRAIT_..., by api.id */
    bool metric_stored[UINT8_MAX + 1];
};

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
int gmt_ingest_python_line(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_object(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_capability(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_loss_record(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_device_op(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_counters(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_instruction(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_sass_instruction(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_cubin_piece(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_cubin_place(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_inlining(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_footprint(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_race(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_managed_op(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_device_gap(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_overhead(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_own_time(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_range(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_heap(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
int gmt_ingest_export(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
/* The memory of another process that became an allocation of so many bytes at since_ns; nothing where its handle is not known. */
int gmt_ingest_import(struct gmt_ingest *ingest, const struct gmt_alloc *alloc, uint64_t bytes,
                      uint64_t since_ns);
int gmt_ingest_region(struct gmt_ingest *ingest, const struct gmt_spool_record *record);
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
