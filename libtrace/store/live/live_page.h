/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program moves, launches, holds and waits for, as numbers that the recorder keeps while it reads the
 * spool: file `live` of the spool. `gmtrace top` and the metrics file are made of it.
 *
 * All but gauges count from the beginning of the recording; whoever wants a rate takes the difference of two
 * readings by their updated_ns. Counted are calls that succeeded and were executed: not what was captured into a
 * graph, not the operations that gmtrace makes one by one for a graph, not what lies outside of --range.
 */
#ifndef GMT_STORE_LIVE_LIVE_PAGE_H
#define GMT_STORE_LIVE_LIVE_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/kinds.h"

#define GMT_LIVE_FILE "live"
#define GMT_LIVE_MAGIC UINT64_C(0x6576696c746d67) /* "gmtlive" */
#define GMT_LIVE_VERSION 1u

enum {
    GMT_LIVE_DEVICES = 16,  /* further ones are counted with the last                          */
    GMT_LIVE_KERNELS = 128, /* launch shapes that are listed                                   */
    GMT_LIVE_NAME_BYTES = 160,
    GMT_LIVE_SYNC_KINDS = GMT_SYNC_DEVICE + 1,
};

/*
 * X(id, name in metrics, title): what the host did while a device was idle; where several threads did different
 * things, the first of these. The names are those of reports (`idle_...`).
 */
#define GMT_LIVE_CAUSES(X) \
    X(PAGE_LOCKING, "page_locking", "page-locking") \
    X(ALLOCATION, "allocation", "allocation") \
    X(LOADING, "module_loading", "module loading") \
    X(COPY_CALLS, "copy_calls", "copy calls") \
    X(LAUNCH, "launch_calls", "launch latency") /* the call, and until the device begins */ \
    X(SYNC, "synchronization", "synchronization") \
    X(OTHER_CALLS, "other_calls", "other calls") \
    X(HOST, "host_code", "host code") /* no thread was in a call */

#define GMT_LIVE_ENUMERATOR(id, name, title) GMT_LIVE_##id,
enum gmt_live_cause { GMT_LIVE_CAUSES(GMT_LIVE_ENUMERATOR) GMT_LIVE_CAUSE_COUNT };

struct gmt_live_flow {
    uint64_t count, bytes;
    uint64_t device_ns; /* of device rows, those of graphs' operations too; 0: there are none */
};

struct gmt_live_held {     /* memory that is allocated, or page-locked */
    uint64_t count, bytes; /* now                                      */
    uint64_t made;         /* how many there were                      */
};

struct gmt_live_device {
    uint64_t
        busy_ns; /* of the time from its first operation to its last that is settled           */
    uint64_t idle_ns[GMT_LIVE_CAUSE_COUNT];
    uint64_t
        kernel_ns; /* of kernels, one after the other: more than busy_ns where they overlap     */
    uint64_t
        last_ns; /* when its last operation ended, CLOCK_MONOTONIC; 0: no device row           */
    struct gmt_live_held memory[GMT_ALLOC_KIND_COUNT];
};

/* Launches of a kernel with one grid and block. The table holds the busiest: a row may become another's. */
struct gmt_live_kernel {
    uint32_t kernel; /* gmt_kernel.id; 0: no row here */
    uint32_t grid[3], block[3];
    uint32_t reserved;
    uint64_t launches,
        device_ns; /* since the row is this one's                                       */
    char name
        [GMT_LIVE_NAME_BYTES]; /* as the driver has it, cut                                      */
};

/* Steps of the program (option --dump-on slow-step); zeros: they are not watched. */
struct gmt_live_steps {
    uint64_t count, slow; /* done; of these, slow                                              */
    uint64_t last_ns, median_ns,
        p99_ns; /* of the name that was done last; 0: not known yet              */
    char name[GMT_LIVE_NAME_BYTES];
};

struct gmt_live_page {
    uint64_t magic;
    uint32_t version;
    uint32_t seq; /* odd while the page is written                                            */
    uint64_t
        begin_ns; /* CLOCK_MONOTONIC, of the recording                                         */
    uint64_t
        updated_ns; /* CLOCK_MONOTONIC: what was recorded before is counted                     */
    uint64_t
        begin_realtime_ns; /* CLOCK_REALTIME at begin_ns, 0: not known                           */
    uint64_t dumps;        /* written by the recorder, of a recording of the last seconds        */
    uint32_t is_partial;   /* 1: records that were read before a failure are not counted         */
    int32_t metrics_error; /* of the last attempt to write the metrics file, negative errno      */
    uint64_t failed_calls; /* copies, memsets, launches, waits and allocations */
    struct gmt_live_flow copies[GMT_DIR_COUNT];
    struct gmt_live_flow memsets;
    uint64_t kernel_launches, graph_launches;
    struct gmt_live_flow
        waits[GMT_LIVE_SYNC_KINDS]; /* by enum gmt_sync_kind; device_ns: time of the host */
    uint64_t
        blocking_copies_ns; /* of the host in copies whose call returns when they are done            */
    struct gmt_live_held host_memory[GMT_ALLOC_KIND_COUNT];
    struct gmt_live_device device[GMT_LIVE_DEVICES];
    struct gmt_live_steps steps;
    struct gmt_live_kernel kernel[GMT_LIVE_KERNELS];
};

/* Read the page of the spool whose folder is open. 0; -ENOENT: the recorder has written none yet; -EBADMSG:
 * it is none; -EPROTONOSUPPORT: of another version; -EAGAIN: it could not be read whole. */
int gmt_live_read(int folder, struct gmt_live_page *page);

/* "host code", "host_code" */
const char *gmt_live_cause_title(enum gmt_live_cause cause);
const char *gmt_live_cause_name(enum gmt_live_cause cause);

#endif
