/* SPDX-License-Identifier: Apache-2.0 */
/* Host calls and device operations while they are being joined; private to join*.c. */
#ifndef GMT_STORE_INGEST_JOIN_INTERNAL_H
#define GMT_STORE_INGEST_JOIN_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gmt_join_kind { GMT_JOIN_KERNEL, GMT_JOIN_COPY, GMT_JOIN_MEMSET, GMT_JOIN_GRAPH };

/* Of a copy: within the host or the devices, to a device, from one. */
enum gmt_join_way { GMT_JOIN_WAY_OTHER, GMT_JOIN_WAY_IN, GMT_JOIN_WAY_OUT };

/* What two sides must have in common. `exact` includes what may be spelled differently on one side
 * (kernel name, copy direction), `loose` does not. */
struct gmt_join_signature {
    uint64_t exact;
    uint64_t loose;
};

struct gmt_join_host {
    int64_t id;              /* transfer.id, memset.id or launch.id                            */
    int64_t stream, context; /* row ids, 0 = NULL                                              */
    int64_t group;           /* > 0: index + 1 of the CUPTI stream; < 0: device, all others    */
    int64_t thread;
    uint64_t begin_ns, end_ns; /* of the call                                                    */
    uint64_t latest_ns;        /* its device work had ended by then                              */
    uint64_t bytes;
    struct gmt_join_signature signature;
    uint64_t start_ns, stop_ns; /* found: of the device work; stop_ns 0 = not known               */
    uint8_t kind;               /* enum gmt_join_kind                                             */
    bool batch;
    bool drains;   /* when it returned, the stream had done all before it            */
    bool optional; /* need not have a device row                                     */
    bool taken;
};

struct gmt_join_op {
    int64_t id;
    int64_t group;
    int64_t context, device;
    int64_t correlation;
    uint64_t start_ns, stop_ns, bytes; /* times: 0 both = not known                             */
    struct gmt_join_signature signature;
    uint32_t copies; /* merged into this record                                        */
    uint8_t kind;
    bool outward;    /* a copy to the host                                             */
    bool is_of_host; /* a copy within the host                                         */
    bool is_false;   /* its times cannot be: it is joined, and has none                */
    /* A graph launch or a copy from device to device through the host: members [first, first + count)
     * of gmt_join.members; else count = 0. */
    size_t first, count;
    int64_t call; /* found: id of the host call, 0 = none                           */
};

/* A synchronization: work submitted to its stream (or context, stream 0) before it began had ended
 * when it returned. */
struct gmt_join_barrier {
    int64_t stream, context;
    uint64_t begin_ns, end_ns;
};

/* A time without records of devices; the latest end of those up to it. */
struct gmt_join_gap {
    uint64_t begin_ns, end_ns, switch_ns, until_ns;
};

struct gmt_join_array {
    void *items;
    size_t count, capacity;
};

struct gmt_join {
    sqlite3 *db;
    struct gmt_join_array hosts;   /* struct gmt_join_host                                       */
    struct gmt_join_array ops;     /* struct gmt_join_op, graph launches as one                  */
    struct gmt_join_array members; /* struct gmt_join_op, what became one of `ops`                */
    struct gmt_join_array staged;  /* struct gmt_join_op, halves of copies through the host      */
    struct gmt_join_array barriers; /* struct gmt_join_barrier                                    */
    struct gmt_join_array streams;  /* struct gmt_join_stream                                     */
    struct gmt_join_array gaps;     /* struct gmt_join_gap, by begin                              */
    int64_t *device_of_context;     /* by context id                                              */
    size_t context_count;
};

/* A stream row with a CUPTI id. */
struct gmt_join_stream {
    int64_t row, context, device, cupti_id;
    int64_t group;
};

/* A new zeroed element at the end, NULL: no memory. */
void *gmt_join_push(struct gmt_join_array *array, size_t element_bytes);

int gmt_join_load(struct gmt_join *join);
void gmt_join_free(struct gmt_join *join);

struct gmt_join_signature gmt_join_copy_signature(uint64_t bytes, enum gmt_join_way way);
/* Columns `first`.. of the row are grid_x..block_z, then the mangled name. */
struct gmt_join_signature gmt_join_kernel_signature(sqlite3_stmt *row, int first);
/* Of a copy that begins and ends on a device; of what has no other marks than its kind and its bytes. */
struct gmt_join_signature gmt_join_within_devices(uint64_t bytes);
struct gmt_join_signature gmt_join_simple_signature(enum gmt_join_kind kind, uint64_t bytes);

/* The operations of each graph launch become one of `ops`. 0 or -ENOMEM. */
int gmt_join_gather_graphs(struct gmt_join *join);
/*
 * The same for copies from one device to another that cannot reach it: CUPTI has a copy to the host and
 * one from it for them, of one correlation, in the contexts of both devices, whose memory is said to be
 * of devices at both ends.
 */
int gmt_join_gather_staged(struct gmt_join *join);
int64_t gmt_join_device(const struct gmt_join *join, int64_t context);

/* Does it have times? CUPTI gives none (0) where it could not take them. */
static inline bool gmt_join_is_timed(const struct gmt_join_op *op)
{
    return op->stop_ns != 0;
}

/* Marks those whose times cannot be: other work of their stream would have run inside of them. 0 or -ENOMEM. */
int gmt_join_find_false_times(struct gmt_join *join);

/* Join the hosts and ops of one group, both sorted: hosts by begin, ops by correlation. Only what is
 * not taken yet is looked at. Returns 0 or -ENOMEM. */
int gmt_join_match(struct gmt_join_host *hosts, size_t host_count, struct gmt_join_op *ops,
                   size_t op_count);

#endif
