/* SPDX-License-Identifier: Apache-2.0 */
/* A trace in memory, in the order of time: what rules read. Read-only once loaded. */
#ifndef GMT_ANALYZER_TRACE_TIMELINE_H
#define GMT_ANALYZER_TRACE_TIMELINE_H

#include <math.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/base/unknown.h"
#include "libtrace/record/kinds.h"
#include "libtrace/store/db/names.h"
#include "reports/model/report.h"

#define GMT_NO_TIME GMT_UNKNOWN /* a time that was not measured */
/* Threads are numbered one by one: a trace with a number beyond has no room for an array of them. */
#define GMT_THREADS_MOST (1 << 24)

/* One index per row of libtrace/metrics.def. */
enum gmt_metric_index {
#define GMT_METRIC(id, name, group, cupti_name, unit, meaning) GMT_M_##name,
#include "libtrace/metrics.def"
#undef GMT_METRIC
    GMT_METRICS
};

/*
 * Who made a call. `site` is equal for calls from the same place of the user's code: the id of the
 * first frame outside the CUDA runtime; of the whole stack where its innermost frame has no name; else
 * the return address.
 */
struct gmt_tl_call {
    int64_t id, begin_ns, end_ns;
    uint64_t site, caller;
    int64_t stack_id; /* 0: none */
    int32_t api, thread, stream;
};

struct gmt_cover;
struct gmt_query;
struct gmt_tl_managed_op;

struct gmt_tl_copy {
    struct gmt_tl_call call;
    int64_t device_start_ns, device_end_ns;
    int64_t wait_ns; /* gmt_timeline_wait_ns at its begin; gmt_untimed_waits */
    struct gmt_interval
        modelled; /* gmt_timeline.modelled: where it lies; empty: no figure for it */
    int64_t bytes;
    uint64_t dst, src; /* 0: no address */
    int64_t dst_allocation, src_allocation;
    int32_t run;        /* index into gmt_runs, -1: in none (set by gmt_runs_find) */
    int32_t device;     /* of its context; -1: not known */
    uint8_t direction;  /* enum gmt_direction */
    uint8_t host_class; /* of the host side; of the destination where there is none */
    bool blocking, linear, after_launch;
    bool unpriced; /* it may have waited for kernels, and it is not known how long */
};

struct gmt_tl_launch {
    struct gmt_tl_call call;
    int64_t device_start_ns, device_end_ns;
    double faults_ns;                  /* of that: page faults of managed memory (managed_ops.h) */
    int32_t argument_set;              /* 0: none or unknown */
    int32_t class_index;               /* -1: graph or unknown */
    int32_t kernel;                    /* launch.kernel_id, -1: none */
    int32_t device;                    /* of its context; -1: not known */
    bool measured, arguments_complete; /* all pointers among its arguments are in the set */
    bool repeated;    /* measured too, but timed before that: it has its device time */
    bool by_hardware; /* measured by counters that do not change the kernel */
    bool is_graph;
};

/* A kernel that the launch of a graph ran. */
struct gmt_tl_node {
    int64_t device_start_ns, device_end_ns;
    int32_t class_index, launch_id; /* launch.id of the graph's */
};

struct gmt_tl_allocation {
    struct gmt_tl_call call; /* id: allocation.id */
    int64_t free_begin_ns, free_end_ns;
    uint64_t address;
    int64_t bytes;
    int32_t free_api;
    uint8_t kind; /* enum gmt_alloc_kind */
};

/* Of a kernel, as reports show it: NAN where the trace does not know. */
struct gmt_tl_resources {
    double registers, static_shared_bytes, dynamic_shared_bytes, local_bytes, max_threads_per_block;
};

struct gmt_tl_class {
    int64_t id;
    char *name;
    /* The name as the trace has it, to reason with; a redacted report never shows it. */
    char *signature;
    bool communicates; /* waits for kernels elsewhere (libtrace/record/communication.h) */
    int64_t registers; /* per thread; 0: unknown */
    int64_t static_shared_bytes, dynamic_shared_bytes, local_bytes;
    int64_t max_threads_per_block;                /* as compiled for; 0: unknown */
    int64_t grid[3], block[3], max_blocks_per_sm; /* the latter 0: unknown */
    int64_t cluster[3];                           /* 0: none */
    struct gmt_tl_resources shown;
    double theoretical_occupancy; /* 0..1, NAN */
    double footprint_bytes;       /* of all allocations that its launches got pointers into; NAN */
    double mapped_bytes;          /* of page-locked host memory among them; NAN: none */
    /* Of those that no pointer to const gave: the most that it can write. NAN: not known, or not asked. */
    double writable_bytes;
    double counter[GMT_METRICS]; /* mean per launch, NAN: not measured */
    int64_t launches;         /* how often it ran: launched by itself, and by launches of graphs */
    int64_t alone, in_graphs; /* of these */
    int64_t
        steps; /* of in graphs, measured by themselves: without device times (GMT_CAPTURING_STEP) */
    int64_t beside; /* of in_graphs: while another kernel of a graph ran */
    int64_t measured, timed;
    int64_t repeated; /* of those measured */
    /* Of launches that were not measured, without page faults of managed memory; NAN: no device time at all. */
    double median_ns;
    bool by_cycles; /* median_ns is computed from cycles: no launch has a device time */
    double
        total_ns; /* of all launches: what the program spends there untraced; those without a time count like the others */
    /* Launches of before that have no time because records were off, and what the sum is off for them by at most (95 %); 0. */
    int64_t estimated;
    double estimated_error_ns;
    double faults_ns; /* page faults of managed memory, in all launches that are in the trace; 0 */
    bool is_faults;   /* they are most of its time: only GM114 prices that */
    struct gmt_interval modelled;      /* gmt_timeline.modelled: all its launches, in a row */
    const struct gmt_tl_class *priced; /* ... and itself with modelled hardware counters; NULL */
    double load_sites; /* of such a one: instructions that load global memory; 0: not known */
    size_t
        first_launch; /* index of one launch that stands for the class, where it is not only in graphs */
    uint32_t *of_class;              /* indices of its launches, as many as `alone` */
    const struct gmt_tl_node *nodes; /* as many as `in_graphs`, by time */
    struct gmt_tl_launch captured;   /* a launch that went into a graph; call.id 0: none did */
    bool is_of_node;                 /* some node of a graph has its kernel, grid and block */
};

/* So many launches of the median time take as long as all of the class, at most GMT_TYPICAL_MOST times as many as there are (a launch that
 * waited for something is no kernel that works): what a price of one is multiplied by. */
double gmt_class_typical_launches(const struct gmt_tl_class *class);

struct gmt_tl_device {
    char *name, *uuid, *driver_version;
    int64_t compute_major, compute_minor, sm_count, memory_bytes, l2_bytes;
    int64_t max_threads_per_sm, registers_per_sm, shared_bytes_per_sm, max_blocks_per_sm;
    int64_t reserved_shared_bytes_per_block, shared_bytes_per_block_optin; /* 0: unknown */
};

struct gmt_tl_api {
    char *name, *runtime_name;
    uint32_t traits; /* GMT_TRAIT_... */
};

/* Running maximum of device end times over launches by host begin: see gmt_timeline_wait_ns. */
struct gmt_tl_pending {
    int64_t begin_ns, busy_until_ns;
};

struct gmt_timeline {
    sqlite3 *db; /* open, for look-ups by id; the caller's */
    int64_t start_ns, end_ns;
    char *command, *exe, *hostname, *end_reason, *options;
    bool complete, has_device_times, has_hardware, has_patched;
    bool simulated; /* by the software device: exact counts, and no time means anything */
    /*
     * Simulated, and a device model says what its work would take on that device: median_ns and total_ns
     * of classes and the costs of copies are modelled (price/modelled_times.h), and their places are those
     * of work that is done one after the other from 0 on, no times of the run.
     */
    bool modelled;
    int64_t modelled_end_ns;             /* of all that work */
    struct gmt_tl_class *priced_classes; /* as many as classes; NULL */
    bool has_instructions;               /* counts of single instructions */
    struct gmt_tl_device device;         /* the first one with work */
    size_t device_count;
    struct gmt_tl_copy *copies;
    size_t copy_count;
    struct gmt_tl_launch *launches;
    size_t launch_count;
    bool all_copies, all_launches; /* none of the tables' rows failed or was captured */
    bool takes_stacks; /* some calls have the stack of an earlier one of their place (--overhead) */
    int64_t (*launch_ids)[2];              /* launch.id and its index, by id */
    struct gmt_tl_allocation *allocations; /* device side */
    size_t allocation_count;
    struct gmt_tl_class *classes;
    size_t class_count;
    uint32_t *by_class;      /* indices of launches, class by class */
    struct gmt_tl_api *apis; /* by id */
    size_t api_count;
    struct gmt_tl_node *nodes;        /* class by class */
    size_t node_count, unknown_nodes; /* the latter: kernels of graphs that are of no class */
    double unknown_nodes_ns;
    struct gmt_interval *busy; /* merged device activity */
    size_t busy_count;
    struct gmt_interval
        *off; /* merged: times of which nothing is known of devices (timeline_off.c) */
    size_t off_count;
    struct gmt_interval *maybe_busy; /* merged: both of these */
    size_t maybe_busy_count;
    struct gmt_interval *kernel_busy; /* merged: kernels, those of graphs too */
    size_t kernel_busy_count;
    size_t op_count;           /* records of what the device did */
    bool has_kernel_ops;       /* some are of kernels */
    bool has_graph_ops;        /* something on the device was part of a graph */
    bool has_unjoined_ops;     /* of something on the device no call is known */
    struct gmt_cover *kernels; /* when a kernel ran, for gmt_cover_make */
    struct gmt_interval *own;  /* merged: a thread of the program waited for gmtrace */
    size_t own_count;
    double own_ns; /* what that took of the program (own_time.h); NAN: not recorded */
    struct gmt_tl_managed_op *managed; /* by start */
    size_t managed_count;
    bool has_managed_ops;        /* the trace has a place for them */
    struct gmt_interval *faults; /* merged: a kernel that ran waited for managed memory */
    size_t fault_count;
    struct gmt_tl_pending *pending;
    size_t pending_count;
    struct gmt_tl_stack_site *stack_sites; /* sorted by stack id */
    size_t stack_site_count;
    const struct gmt_unseen *unseen; /* the analysis sets it; NULL: nothing was left out */
    struct gmt_arena strings;
};

struct gmt_tl_stack_site {
    int64_t stack_id;
    uint64_t site;
};

/*
 * Loads everything. 0, -ENOMEM, or -EIO with the reason in message. On error, too, the timeline may
 * be given to gmt_timeline_free.
 */
int gmt_timeline_load(struct gmt_timeline *timeline, sqlite3 *db, char *message, size_t bytes);
/*
 * The same with a second connection to the file, which another thread uses meanwhile: it checks the values of all rows
 * (gmt_open_check), which nobody has done then, and loads a part of them.
 */
int gmt_timeline_load_beside(struct gmt_timeline *timeline, sqlite3 *db, sqlite3 *beside,
                             char *message, size_t bytes);
void gmt_timeline_free(struct gmt_timeline *timeline);

/* Parts of gmt_timeline_load. */
const char *gmt_timeline_reason(sqlite3 *db, int error); /* of a part's failure */
int gmt_timeline_load_calls(struct gmt_timeline *timeline);
int gmt_timeline_load_kernels(struct gmt_timeline *timeline);
int gmt_timeline_load_footprints(struct gmt_timeline *timeline); /* after gmt_graph_kernels_load */
int gmt_timeline_load_writable(struct gmt_timeline *timeline);   /* after the one before */
int gmt_timeline_load_ops(
    struct gmt_timeline *timeline); /* records of the device; needs nothing of the others */
int gmt_timeline_load_busy(struct gmt_timeline *timeline); /* after these three */
/* Rows that begin with a struct gmt_tl_call, in the order of time. Returns where they are then: in other memory, as a rule. */
void *gmt_timeline_sort(void *rows, size_t n, size_t bytes);
int gmt_timeline_derive(struct gmt_timeline *timeline);
int gmt_timeline_load_off(struct gmt_timeline *timeline); /* after busy; knows start and end */
void gmt_timeline_mark_gaps(struct gmt_timeline *timeline);
/* Opens `query` on begin_ns and end_ns of the times in which records of devices were off, in their order; traces of earlier
 * versions have none. 0 or a negative errno. */
int gmt_timeline_open_gaps(const struct gmt_timeline *timeline, struct gmt_query *query);
uint64_t gmt_timeline_site(const struct gmt_timeline *timeline, int64_t stack_id, uint64_t caller);

/* Simulated, and no model says what it would take elsewhere: nothing has a price. */
static inline bool gmt_timeline_is_untimed(const struct gmt_timeline *timeline)
{
    return timeline->simulated && !timeline->modelled;
}

/* Device time of all launches, page faults included; NAN: not known. */
static inline double gmt_class_device_ns(const struct gmt_tl_class *class)
{
    return class->total_ns + class->faults_ns;
}

/* What prices are computed with: the class, or the same with modelled counters of the hardware. */
static inline const struct gmt_tl_class *gmt_class_priced(const struct gmt_tl_class *class)
{
    return class->priced != NULL ? class->priced : class;
}

/* From the first CUDA call to the end, as it was recorded. NAN where the trace has no times. */
static inline double gmt_timeline_recorded_ns(const struct gmt_timeline *timeline)
{
    return timeline->simulated ? NAN : (double)(timeline->end_ns - timeline->start_ns);
}

/* The same less gmtrace's own work where the trace knows it: what the program would have taken. */
static inline double gmt_timeline_wall_ns(const struct gmt_timeline *timeline)
{
    double own_ns = timeline->own_ns;

    return gmt_timeline_recorded_ns(timeline) - (isnan(own_ns) ? 0 : own_ns);
}

int32_t gmt_timeline_class(const struct gmt_timeline *timeline,
                           int64_t id); /* -1: none of that id */
/* Of a trace in which graphs ran kernels. NULL: there is none of that id. */
const struct gmt_tl_launch *gmt_timeline_launch(const struct gmt_timeline *timeline, int64_t id);

/*
 * A launch that stands for the class: one that went into a graph, where that is how it runs for the most
 * part; else the first one. Of a class without any, one of zeros.
 */
const struct gmt_tl_launch *gmt_class_launch(const struct gmt_timeline *timeline,
                                             const struct gmt_tl_class *class);

/* How long after at_ns the device is still busy with kernels launched before; 0 when unknown. */
int64_t gmt_timeline_wait_ns(const struct gmt_timeline *timeline, int64_t at_ns);

/*
 * What a copy cost, without waiting for earlier kernels: host time of a blocking call, else the
 * larger of the call and the copy on the device. NAN where the trace has no times.
 */
double gmt_copy_cost_ns(const struct gmt_timeline *timeline, const struct gmt_tl_copy *copy);

/* The part of the timeline that the copy fills: where its cost was paid. Empty without times. */
struct gmt_interval gmt_copy_interval(const struct gmt_timeline *timeline,
                                      const struct gmt_tl_copy *copy);

/* Index of that name among the first n numbers; `otherwise` where it is none of theirs, or NULL. */
uint8_t gmt_index_of_name(const char *text, const char *(*name)(unsigned), unsigned n,
                          unsigned otherwise);

#endif
