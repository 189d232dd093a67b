/* SPDX-License-Identifier: Apache-2.0 */
/* Side records of what was measured: what devices did, counters, and what gmtrace itself took. A part of layout.h. */
#ifndef GMT_RECORD_LAYOUT_MEASURED_H
#define GMT_RECORD_LAYOUT_MEASURED_H

#ifndef GMT_RECORD_LAYOUT_H
#error "include libtrace/record/layout.h"
#endif

enum gmt_gap_reason {
    GMT_GAP_CLIENT = 0, /* CUPTI was the program's; so in spools before version 15 */
    GMT_GAP_BUDGET = 1, /* records were off, to keep within --overhead or to learn what they cost */
};

/* Text: the module that asked, the CUPTI function it called; both empty where nobody did. Between the two times nothing
 * that is begun on a device gets a record. Written when it begins, and again when it ends. */
struct gmt_device_gap {
    struct gmt_side_head head;
    uint64_t begin_ns; /* CLOCK_MONOTONIC, the clock of the hooks: all kinds are off by then */
    uint64_t end_ns;   /* 0: not yet; they were still off then */
    uint32_t id;       /* unique in the process, from 1 */
    uint8_t reason;    /* enum gmt_gap_reason */
    uint8_t reserved;
    uint16_t switch_us; /* what switching took before begin_ns, and then after end_ns, at most */
};

/* Work of gmtrace's own. The head's thread did it. */
struct gmt_own_time {
    struct gmt_side_head head;
    uint64_t begin_ns; /* CLOCK_MONOTONIC, the clock of the hooks */
    uint64_t end_ns;
    uint32_t launch_seq; /* gmt_launch.launch_seq of the launch that was counted, 0 = of none */
    uint8_t work;        /* enum gmt_own_work */
    uint8_t is_beside;   /* a thread of gmtrace's did it, and none of the program's waited */
    uint8_t reserved[2];
};

/* What gmtrace cost the threads of the program in a time, all of them together, and how much of its work was done. */
struct gmt_overhead {
    struct gmt_side_head head;
    uint64_t begin_ns; /* CLOCK_MONOTONIC */
    uint64_t end_ns;
    uint64_t calls;       /* intercepted, as the timed ones show */
    uint64_t timed_calls; /* of these */
    uint64_t hooks_ns;    /* of the calls, beside what follows and without the driver's part */
    uint64_t stacks_ns;
    uint64_t hashing_ns;
    uint64_t counters_ns; /* of measuring and of loaded code, beyond its start allowance */
    uint64_t error_ns;    /* half of a 95 % interval of hooks_ns */
    uint64_t stacks_read;
    uint64_t stacks_walked; /* of these: not found as they were before (preload/unwind/chains.h) */
    uint64_t stacks_taken;  /* calls that have the stack of an earlier one */
    uint32_t budget_ppm;    /* of the time; 0: no limit */
    uint32_t stack_one_in;  /* the coarsest of the time; 1: every stack was read */
    uint32_t hashing_permille; /* of the work, the least of the time */
    uint32_t counters_permille;
    uint32_t is_beyond; /* what is never left out cost more than the budget */
    uint32_t
        device_known; /* 1 + permille of the time for which CUPTI's records were on; 0: there are none, or a spool
                              before version 15, whose records end here */
    uint64_t device_ns;       /* what calls took longer for them, as far as is learnt */
    uint64_t device_error_ns; /* half of its 95 % interval; UINT64_MAX: nothing is learnt */
    uint32_t device_cycles;   /* pairs of times with and without them so far */
    uint32_t reserved;
};

struct gmt_device_op { /* text: kernel name (mangled) for kernels */
    struct gmt_side_head head;
    uint64_t start_ns; /* CLOCK_MONOTONIC, the clock of the hooks */
    uint64_t end_ns;
    uint64_t bytes;       /* copies and memsets */
    uint32_t correlation; /* CUPTI's, counts API calls of the process in order */
    uint32_t device;      /* ordinal */
    uint32_t cupti_context;
    uint32_t cupti_stream;
    uint32_t graph;    /* CUPTI graph id, 0 = not from a graph */
    uint8_t kind;      /* enum gmt_device_op_kind */
    uint8_t copy_kind; /* CUpti_ActivityMemcpyKind */
    uint8_t src_kind;  /* CUpti_ActivityMemoryKind */
    uint8_t dst_kind;
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t context;    /* gmt_context.id, 0 = not known */
    uint32_t copy_count; /* copies in this record, 1 unless the driver merged several */
};

/* In place of a device: the host. */
#define GMT_MANAGED_HOST UINT32_MAX

struct gmt_managed_op { /* one unified-memory record of CUPTI */
    struct gmt_side_head head;
    uint64_t start_ns; /* CLOCK_MONOTONIC, the clock of the hooks */
    uint64_t end_ns;   /* 0: it is a moment */
    uint64_t address;  /* of the page, or of the first one */
    uint64_t value;    /* bytes; GPU_FAULT: groups of faults of the page; HOST_FAULT: address of the
                          instruction */
    uint32_t src, dst; /* ordinal of a device, or GMT_MANAGED_HOST */
    uint32_t cause;    /* CUPTI's number; what it means depends on the kind */
    uint8_t kind;      /* enum gmt_managed_kind */
    uint8_t reserved[3];
};

/* Values of one counter group measured around one launch. */
struct gmt_counter_value {
    uint16_t metric; /* gmt_metric id: row of libtrace/metrics.def */
    uint16_t reserved16;
    uint32_t reserved32;
    double value;
};
struct gmt_counters { /* followed by `count` struct gmt_counter_value */
    struct gmt_side_head head;
    uint32_t launch_seq; /* gmt_launch.launch_seq */
    uint32_t kernel_class;
    uint8_t group;  /* enum gmt_counter_group */
    uint8_t source; /* enum gmt_counter_source */
    uint16_t count;
    uint32_t reserved;
};

static_assert(sizeof(struct gmt_counter_value) == 16, "counter value");
static_assert(sizeof(struct gmt_own_time) == 40, "own time");
static_assert(sizeof(struct gmt_managed_op) == 64, "managed operation");
static_assert(sizeof(struct gmt_overhead) == 160, "overhead");

#endif
