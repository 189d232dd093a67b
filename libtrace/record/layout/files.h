/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a spool, around the records: chunks and the control page. A part of layout.h. */
#ifndef GMT_RECORD_LAYOUT_FILES_H
#define GMT_RECORD_LAYOUT_FILES_H

#ifndef GMT_RECORD_LAYOUT_H
#error "include libtrace/record/layout.h"
#endif

/* The same instant on both clocks. The library writes one when the spool is made and whenever it
 * makes a chunk, the recorder one per pass; time is interpolated between neighbours. */
struct gmt_clock_pair {
    uint64_t ticks;
    uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
};
#define GMT_CLOCK_PAIRS 4u

enum gmt_chunk_closed {
    GMT_CHUNK_OPEN = 0,
    GMT_CHUNK_CLOSED = 1, /* the writer will add nothing */
    GMT_CHUNK_KEPT = 2, /* nor has it given it up: rename it to `free-<n>` instead of removing it */
};

struct gmt_chunk_header {
    uint64_t magic;
    uint32_t version;
    uint32_t index; /* the <n> of its file name */
    uint64_t bytes; /* size of the file */
    uint32_t pid;
    uint32_t closed; /* enum gmt_chunk_closed (release store) */
    uint8_t reserved[32];
};

enum { /* gmt_control.overhead_ns */
       GMT_OVERHEAD_BEGIN,
       GMT_OVERHEAD_END,
       GMT_OVERHEAD_OF_HOOKS,
       GMT_OVERHEAD_OF_STACKS,
       GMT_OVERHEAD_OF_HASHING,
       GMT_OVERHEAD_OF_COUNTERS,
       GMT_OVERHEAD_ERROR,
       GMT_OVERHEAD_SUMS
};

#define GMT_SECTION_WORDS 6u

/* `control`: shared by the traced process and the recorder; fields marked [r] are written by the
 * recorder, the others by the library. Counters are updated with relaxed atomics. */
struct gmt_control {
    uint64_t magic;
    uint32_t version;
    uint32_t byte_order;
    uint32_t pid;
    uint32_t ticks_are_ns;   /* 1: ticks are CLOCK_MONOTONIC ns (no invariant TSC) */
    uint64_t pid_start;      /* field 22 of /proc/<pid>/stat */
    uint64_t bytes_limit;    /* of all chunks that exist at one time */
    uint64_t bytes_in_use;   /* chunks existing now: += by the library, -= by the recorder */
    uint32_t chunk_count;    /* chunks made so far: file indices are 0..chunk_count-1 */
    uint32_t ended;          /* 1: exit() reached; the recorder may finish when it has read all*/
    uint64_t dropped_full;   /* records not written: spool limit */
    uint64_t dropped_io;     /* records not written: no chunk could be made (disk full, limit) */
    int32_t io_errno;        /* last reason */
    uint32_t recorder_pid;   /* [r] 0 until it is reading */
    uint32_t recorder_state; /* [r] enum gmt_recorder_state (release store; futex word) */
    uint32_t reserved32;
    struct gmt_clock_pair first_pair;
    struct gmt_clock_pair last_pair; /* latest pair by the library, guarded by pair_seq (seqlock) */
    uint32_t pair_seq;
    uint32_t reserved32b;
    uint64_t uncovered; /* driver entry points requested that are not intercepted */
    char output[3584];  /* path of trace.db, absolute */
    /* Where the spool was made: only the same user may finish it unasked, before the next boot. "" where
     * it could not be learnt, and before version 8. */
    char boot_id[40];     /* of the kernel, shared by its containers */
    char host[72];        /* for people: a container has a name of its own */
    char run[64];         /* what the launcher calls its run, "" without one */
    uint32_t chunks_read; /* [r] chunks that were taken away since all of them was in the trace */
    uint32_t chunks_made; /* of chunk_count, those whose files were made */
    /* Of a recording that keeps its last seconds only (store/recording/ring.h); 0: all is kept. */
    uint64_t ring_ns;       /* how long a record is kept ... */
    uint64_t ring_bytes;    /* ... and how much of them */
    uint64_t ring_begin_ns; /* [r] CLOCK_MONOTONIC: records of calls before were given up */
    uint32_t ring_base;     /* [r] 1 + index of the chunk of what is left of them, 0: none yet */
    uint32_t switched_off; /* [r] by `gmtrace off`: copies, memsets, launches, waits are left out */
    uint32_t switch_seen;  /* what of it a call has seen last */
    uint32_t reserved32c;
    /* Since version 14: what gmtrace has cost since a second after the beginning, in the order of gmt_overhead: begin, end,
     * hooks, stacks, hashing, counters, error; and the limits of now. Zeros: not known yet. */
    uint64_t overhead_ns[GMT_OVERHEAD_SUMS];
    uint32_t overhead_budget_ppm;
    uint32_t overhead_stack_one_in;
    uint32_t overhead_hashing_permille;
    uint32_t overhead_counters_permille;
    /* Since version 15: gmt_overhead.device_..., of all the time. */
    uint64_t overhead_device_ns;
    uint64_t overhead_device_error_ns;
    uint32_t overhead_device_known;
    uint32_t overhead_device_cycles;
    /* 1 << GMT_OVERHEAD_OF_...: sums that the budget is not for, as their part has one of its own. Spools that do not have it
     * have zeros here. */
    uint32_t overhead_apart;
    uint32_t reserved32d;
    /* What threads are in while gmtrace works in them (section.h). Spools that do not have it have zeros here. */
    uint64_t sections[GMT_SECTION_WORDS];
};
enum gmt_recorder_state {
    GMT_RECORDER_NONE = 0,
    GMT_RECORDER_READING = 1,
    GMT_RECORDER_DONE =
        2, /* what was written before `ended` was set is committed; reading goes on */
    GMT_RECORDER_FAILED = 3,
};

static_assert(sizeof(struct gmt_chunk_header) == 64, "chunk header is one slot");
static_assert(sizeof(struct gmt_control) == 4096, "control file is one page");

#endif
