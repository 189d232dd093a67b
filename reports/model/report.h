/* SPDX-License-Identifier: Apache-2.0 */
/* The read-only model that every writer of reports prints: verdict, findings, tables, gaps. */
#ifndef GMT_REPORTS_MODEL_REPORT_H
#define GMT_REPORTS_MODEL_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/base/arena.h"
#include "reports/model/coverage.h"
#include "reports/model/finding.h"
#include "reports/model/range_tree.h"

/* Numbers and strings that are unknown: finding.h. */

enum gmt_outcome {
    GMT_OUTCOME_PASS,
    GMT_OUTCOME_FAIL,
    GMT_OUTCOME_NOT_APPLICABLE, /* the program does nothing that the rule looks at */
    GMT_OUTCOME_COULD_NOT_CHECK,
};

/* Where the device model comes from. */
enum gmt_provenance {
    GMT_MODEL_NONE,
    GMT_MODEL_MODELLED,   /* a GPU of another name */
    GMT_MODEL_SHIPPED,    /* a GPU of the same name, elsewhere: the figures that gmtrace ships */
    GMT_MODEL_SAME_NAME,  /* a GPU of the same name, measured by this user or given by him */
    GMT_MODEL_CALIBRATED, /* this device */
};

struct gmt_rule_result {
    const char *id, *slug, *title, *category, *explain;
    enum gmt_outcome outcome;
    const char *why; /* could not check, not applicable */
    size_t findings, notes;
};

/* Something that was not measured, and what to do about it. */
struct gmt_gap {
    const char *what, *why, *remedy; /* remedy may be NULL */
};

struct gmt_transfer_row {
    const char *direction;  /* "h2d", ... */
    const char *host_class; /* "pageable", "pinned", ..., "-" */
    double bucket_bytes;    /* upper limit of the size class; INFINITY for the last */
    uint64_t count;
    double bytes, time_ns; /* sum of what the copies took; NAN: not known */
};

/* One what-if: with that value, so many blocks are resident on a multiprocessor. */
struct gmt_report_step {
    int64_t value, blocks;
};

/* What the occupancy calculator says of a kernel as it was launched. */
struct gmt_report_occupancy {
    const char *unknown; /* why nothing could be computed, or NULL; then all below is 0 or NAN */
    int64_t blocks, warps, most_warps;   /* resident per multiprocessor; that it can hold  */
    double theoretical, without_limiter; /* occupancy, 0..1                                */
    const char *limiter;                 /* "shared", ..., NULL: all warps are resident    */
    const char *const *limit_names;      /* of what limits blocks, ...                     */
    const int64_t *limits;               /* ... and how many each allows; INT64_MAX: no bound */
    size_t limit_count;
    int64_t carveout_percent;              /* -1: the default      */
    int64_t barriers;                      /* named by the kernel  */
    int64_t best_block, best_grid;         /* 0: unknown           */
    int64_t cluster_blocks, most_clusters; /* 1: no clusters       */
    /* Steps by block size, registers per thread and shared memory per block. */
    struct gmt_report_step *block_sizes, *registers, *shared_bytes;
    size_t block_size_count, register_count, shared_count;
    const char
        *lift; /* one sentence: what limits it and what would lift that; NULL: nothing does */
};

/* Mean of a counter over the launches of a kernel class that were measured. */
struct gmt_report_counter {
    const char *name; /* as in libtrace/metrics.def */
    double value;
};

struct gmt_kernel_row {
    const char *name;
    const char *title, *origin, *origin_by; /* as in gmt_where; NULL likewise */
    int64_t class_id;                       /* of the trace's kernel class */
    int64_t grid[3], block[3];
    int64_t launches, measured, in_graphs; /* the latter two are among the former */
    double device_ns, share;               /* of the wall time          */
    bool by_cycles;    /* the former is computed from cycles: no launch has a device time */
    int64_t estimated; /* launches without a time, for which the class's mean stands; 0 */
    double
        estimated_error_ns; /* half of the 95 % interval of device_ns for these; NAN: not known */
    double load_efficiency, store_efficiency;         /* percent                   */
    double shared_ways;                               /* worse of load and store   */
    double achieved_occupancy, theoretical_occupancy; /* 0..1                 */
    double local_share;                               /* of memory instructions    */
    double dram_bytes_per_s;
    /* As compiled and launched; NAN: not known. */
    double registers, static_shared_bytes, dynamic_shared_bytes, local_bytes, max_threads_per_block;
    const struct gmt_report_counter *counters; /* only what was measured */
    size_t counter_count;
    const struct gmt_report_occupancy *occupancy; /* NULL: no memory */
};

/* Two accesses to one word of shared memory without a barrier between. */
struct gmt_race_row {
    const char *kernel;
    struct gmt_finding_line first, second; /* excess_bytes and share mean nothing here */
    double count;
};

/* Ranges of one name, or of names that differ in numbers only: "step", "fetch@loader", "batch #". */
struct gmt_range_row {
    const char *label;
    size_t count, findings; /* the latter: whose cost lies in them for the most part */
    double host_ns;         /* sum over all; NAN: no times */
    double best_ns;         /* sum of what those findings save */
};

/* What the recorder could and could not do, as it said. */
struct gmt_capability_row {
    const char *name, *state, *detail, *remedy; /* the last two may be NULL */
};

/* Something that was not recorded, and how often. */
struct gmt_loss_row {
    const char *kind, *detail;
    int64_t count;
};

/* What one place of the program held at some moment. */
struct gmt_memory_holder {
    struct gmt_where where;
    double bytes, allocations;
    double idle_bytes; /* of them not used yet, or never again */
    bool segments;     /* of an allocator of the program's own */
};

/* Calls from one place that got no memory; the numbers are those of the last one. */
struct gmt_memory_failure {
    struct gmt_where where;
    double failures, asked_bytes,
        at_ns;                         /* asked, at: NAN: not known; at: from the first CUDA call */
    double held_bytes;                 /* by all of the program that the trace has seen */
    bool host;                         /* page-locked memory was asked for              */
    struct gmt_memory_holder *holders; /* largest first */
    size_t holder_count;
};

/*
 * What the recorded time went to. The parts do not overlap, and their sum is report.recorded_ns. In all but the first three
 * the device is idle.
 */
enum gmt_time_part {
    GMT_TIME_KERNELS,      /* a kernel runs, whatever else does                       */
    GMT_TIME_COPIES,       /* no kernel, but a copy or a memset                       */
    GMT_TIME_UNSEEN,       /* what the device did was not recorded: table device_gap  */
    GMT_TIME_ALLOCATION,   /* the host is in a call that allocates or frees             */
    GMT_TIME_PAGE_LOCKING, /* ... that page-locks memory of the host, or unlocks it    */
    GMT_TIME_LOADING,      /* ... that loads or unloads code                            */
    GMT_TIME_COPY_CALLS,   /* ... that copies or sets                                   */
    GMT_TIME_LAUNCH_CALLS, /* ... that launches, until the device starts its kernel   */
    GMT_TIME_SYNC,
    GMT_TIME_OTHER_CALLS,
    GMT_TIME_START_UP, /* before the first work of the device: none of these calls */
    GMT_TIME_SHUTDOWN, /* after its last work, likewise                              */
    GMT_TIME_HOST,     /* between the two: the host is in no call                    */
    GMT_TIME_OWN,      /* gmtrace works          */
    GMT_TIME_PARTS
};

/* A place of the program, and how much of something was there. */
struct gmt_call_place {
    struct gmt_where where;
    const char *until; /* of time between two calls: the label of the second; else NULL */
    const char
        *inner; /* of a line of which much is shown: the library's line that it was in; NULL */
    double count, time_ns, longest_ns; /* times: NAN where the trace has none */
};

struct gmt_time_row {
    double ns, times,
        longest_ns; /* the last two: of what the device was idle for; NAN: known of no piece */
    struct gmt_call_place *places; /* most time first */
    size_t place_count;
    double more_places, more_ns; /* of which no place is in `places` */
};

/* A piece of time in which a device was idle for one cause. */
struct gmt_idle_piece {
    int64_t begin_ns, end_ns;
    uint32_t place; /* index into gmt_report.idle_places */
    uint8_t part;   /* enum gmt_time_part */
    int32_t device; /* id of the device */
};

/* What one device was idle for. */
struct gmt_device_idle {
    int32_t device;
    const char *name; /* may be NULL */
    double idle_ns;
    double ns[GMT_TIME_PARTS]; /* of the causes */
};

/* All calls of one function of the driver. */
struct gmt_call_row {
    const char *name,
        *runtime_name; /* the latter: that of the runtime that makes it; may be NULL */
    double calls, time_ns, longest_ns;
    struct gmt_call_place *places; /* most time, or calls, first */
    size_t place_count;
};

/* How many findings the first screen is about. */
enum { GMT_FIRST_FINDINGS = 3 };

struct gmt_failed_calls;
struct gmt_payload;
struct gmt_report_heaps;
struct gmt_report_snapshot;
struct gmt_tried_results;

struct gmt_report {
    struct gmt_arena *arena;
    const char *tool_version, *trace_path;
    const char *command, *exe, *hostname, *end_reason;
    const char *working_directory, *rank;
    const char *options; /* of the recording: "key=value;..." */
    double pid;
    /* As wait(2) gives it; of it, what was given to exit, or what ended it (NAN: not so). Failed: one of these, and not 0. */
    double exit_status, exit_code, exit_signal;
    bool failed;
    /* "exit", "exit status 1", "ended by signal 11", "killed"; NULL: not known. */
    const char *ended;
    const char *device_name, *device_uuid, *driver_version, *compute_capability;
    const char *device_attributes; /* "key=value;..." */
    double sm_count, memory_bytes, l2_bytes, max_threads_per_sm, registers_per_sm;
    double shared_bytes_per_sm, max_blocks_per_sm;
    bool simulated; /* by the software device: exact counts, no times */
    /* Simulated, and times of copies and kernels and savings are what they would take on the model's device. */
    bool modelled;
    double modelled_ns; /* all of that work, one after the other; NAN */
    double wall_ns;     /* the program's: recorded_ns less own_ns                                */
    double recorded_ns;
    double own_ns; /* gmtrace's own work, as far as the program waited for it; NAN: unknown */
    double gpu_busy_ns, copy_ns, kernel_ns; /* the first an estimate where device_seen < 1 */
    double
        device_seen; /* share of recorded_ns for which it is known what devices did; NAN: of none */
    double
        gpu_busy_error_ns; /* half of the 95 % interval of that estimate; NAN: not known, or measured */
    double recorded_busy_ns; /* of gpu_busy_ns: what records and measured launches show */
    double peak_device_bytes, allocation_count;
    double peak_at_ns;        /* from the first CUDA call; NAN: not known                        */
    double peak_needed_bytes; /* the peak if memory lived only from its first use to its last one */
    double peak_pinned_bytes; /* of page-locked memory of the host */
    struct gmt_memory_holder *peak_holders; /* of device memory, largest first */
    size_t peak_holder_count;
    struct gmt_memory_failure *failures; /* in the order of time */
    size_t failure_count;
    const struct gmt_failed_calls *failed_calls; /* model/failed_calls.h; NULL: no call failed */
    const struct gmt_tried_results *tried;       /* model/tried.h; NULL: nothing was tried */
    const struct gmt_report_heaps *heaps;        /* model/heaps.h; NULL: none were registered */
    const struct gmt_report_snapshot *snapshot;  /* model/snapshot.h; NULL: none was given */
    uint64_t transfers, launches, measured_launches, kernel_classes, measured_classes;
    struct gmt_transfer_row *copy_totals; /* by direction and class           */
    size_t copy_total_count;
    struct gmt_transfer_row *copy_rows; /* by direction, class, size bucket */
    size_t copy_row_count;
    struct gmt_kernel_row *kernels; /* by device time, longest first    */
    size_t kernel_count;
    struct gmt_finding *findings; /* ranked, best first               */
    size_t finding_count;
    struct gmt_finding *notes;
    size_t note_count;
    struct gmt_joint *joints; /* kernels with several findings, best first */
    size_t joint_count;
    struct gmt_rule_result *rules;
    size_t rule_count;
    struct gmt_race_row *races; /* seen by the software device; most frequent first */
    size_t race_count;
    struct gmt_range_row *ranges; /* largest saving first */
    size_t range_count;
    struct gmt_range_node
        *range_nodes; /* each behind the one around it; of one parent the largest first */
    size_t range_node_count;
    const char *range_limit; /* the name of the ranges that were analysed; NULL: everything was */
    const char *uses_unseen; /* why uses of memory may be missing, as a clause; NULL: none is */
    struct gmt_gap *gaps;
    size_t gap_count;
    struct gmt_capability_row *capabilities;
    size_t capability_count;
    struct gmt_loss_row *losses; /* most frequent first */
    size_t loss_count;
    struct gmt_coverage coverage;
    struct gmt_saving combined; /* of all findings, overlaps counted once */
    struct gmt_saving first;    /* of those that are named first, likewise          */
    bool has_time_parts;        /* time_parts are known */
    struct gmt_time_row time_parts[GMT_TIME_PARTS];
    struct gmt_device_idle *device_idle; /* where several devices had work: each by itself */
    size_t device_idle_count;
    struct gmt_idle_piece *idle; /* by device and time; the longest where there are very many */
    size_t idle_count;
    struct gmt_call_place *idle_places; /* of the pieces */
    size_t idle_place_count;
    struct gmt_call_row *calls; /* most time, or calls, first */
    size_t call_count;
    enum gmt_provenance model_provenance;
    const char *model_origin; /* file, or "stored in the trace"   */
    const char *model_device, *model_created;
    bool model_noisy;
    bool incomplete;                /* a gap that --strict refuses      */
    const struct gmt_payload *page; /* single events, for writers that want them; may be NULL */
};

#endif
