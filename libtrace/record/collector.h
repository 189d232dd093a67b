/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector seam: who supplies device timestamps and kernel counters.
 *
 * CUPTI implements it (libtrace/cupti), and the software device (libtrace/simulated). The hooks call it, it
 * writes records into the spool itself. Every function may be called from any thread; none prints, none
 * fails loudly: what is not to be had becomes a GMT_REC_CAPABILITY or GMT_REC_LOSS record.
 *
 * Measuring a launch: the launch hook asks `want` (a few ns; no lock) and, only if that names a group, calls
 * `begin` before and `end` after the driver call. `begin` may still decline (another thread is measuring,
 * the budget is spent, a hang-safety rule forbids it): it returns the group it really measures. All
 * hang-safety rules that need knowledge of streams and arguments are the caller's: it sets
 * gmt_launch_call.forbidden.
 */
#ifndef GMT_RECORD_COLLECTOR_H
#define GMT_RECORD_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/layout.h"
#include "libtrace/record/unmeasured.h"

/* Of which instructions of a measured launch counts are taken. */
enum gmt_instructions {
    GMT_INSTRUCTIONS_NONE,
    GMT_INSTRUCTIONS_ACCESSES, /* those that access memory: their sums are the kernel's counters */
    GMT_INSTRUCTIONS_ALL,      /* for their lines, besides */
};

struct gmt_collector_config {
    const char *cupti_path;             /* GMTRACE_CUPTI, or NULL: search */
    bool timestamps;                    /* device timestamps wanted */
    bool counters;                      /* kernel counters wanted */
    enum gmt_instructions instructions; /* counted also where no counters are wanted */
    double overhead_share;      /* counter budget: share of elapsed time (default 0.05) ... */
    uint64_t overhead_start_ns; /* ... plus this much at the start (default 1e9) */
    const _Atomic uint64_t
        *overhead_limit_ns;     /* what it may be besides the start, now; NULL: no limit */
    unsigned samples_per_class; /* launches measured per class and group (default 3) */
    bool repeat;                /* launches may be repeated: `code_reach` is asked for */
    bool repeat_always;         /* every launch is to be repeated, for tests */
    void *libcuda;              /* dlopen handle of the driver in use */
    void *(*real_symbol)(const char *name); /* a driver entry point that bypasses the hooks */
    /* Launches of the process so far, all threads; the caller counts its own before `begin`. A range
     * during which it advances is discarded. `launches_done` counts them again after the driver call
     * (NULL = not counted): no range begins while another launch is between the two. */
    const _Atomic uint64_t *launches;
    const _Atomic uint64_t *launches_done;
    const _Atomic int *captures; /* stream captures under way, any thread (NULL = not counted): no
                                    session changes and no range begins while there is one */
    /* Work of some stream may be waiting for the host, after `within_ns` at most: no launch is measured. Asked outside of
     * captures only. */
    bool (*waiting)(uint64_t within_ns);
    /* Is nothing under way in the current context, as far as its streams show? Does not wait. NULL: as true. Not asked
     * during captures. */
    bool (*idle)(void);
    /* The same of that context, from any thread. True where there is none any more. NULL: as `idle`. */
    bool (*idle_in)(void *context);
    void (*enter)(void); /* around calls into CUPTI: driver calls made inside are not */
    void (*leave)(void); /*   recorded (the hooks' re-entry guard) */
    uint32_t (*allocation_at)(uint64_t address); /* gmt_alloc.id that holds it, 0 = none known */
};

/* Per kernel class state that the collector keeps; allocated zeroed by the caller, who looks the
 * class up anyway, and never freed. */
struct gmt_collector_class {
    uint32_t id;             /* gmt_kernel_class.id */
    uint32_t kernel;         /* gmt_kernel.id */
    const char *kernel_name; /* mangled; lives as long as the process */
    uint32_t grid[3], block[3];
    struct gmt_device_time *_Atomic device_time; /* set by the collector, NULL: none */
    struct gmt_collector_class *next;            /* the collector's list of known classes */
    _Atomic uint64_t cost_ns[GMT_GROUPS];        /* what measuring a launch cost last */
    _Atomic uint64_t range_ns;    /* a hardware range, when the device was idle; 0 = none yet */
    _Atomic uint64_t executed_ns; /* the first execution of a repeated launch, about; 0 = none */
    _Atomic uint64_t retry_ns;    /* the budget forbids measuring it until then */
    _Atomic uint64_t launches;    /* seen so far */
    _Atomic uint32_t measured[GMT_GROUPS]; /* launches, by enum gmt_counter_group */
    _Atomic uint32_t listed;               /* 1: in the list of classes */
    _Atomic uint32_t in_graph;             /* 1: in one that is launched again */
    _Atomic uint32_t complete;             /* 1: nothing is to be measured any more */
    _Atomic uint32_t discards;             /* ranges that other threads' launches spoiled */
    _Atomic uint32_t no_cubin;             /* 1: single instructions of it cannot be looked up */
    _Atomic uint32_t why;                  /* enum gmt_unmeasured that was met last, + 1 */
    _Atomic uint32_t suspected;            /* 1: a launch was measured that may wait for the host */
    _Atomic uint32_t wait_outcome;         /* enum gmt_wait_outcome */
    _Atomic uint32_t trials;               /* launches whose caller was held in vain */
    _Atomic uint32_t time_again;           /* 1: its time may be that of a first launch only */
    bool never;                            /* name or kind forbids measuring (NCCL, cooperative) */
};

/* The caller of a launch that may wait for the host was held until the kernel had ended: did it end? */
enum gmt_wait_outcome {
    GMT_WAIT_UNTRIED, /* not done yet, or not often enough */
    GMT_WAIT_ENDED,   /* the kernel ended meanwhile: it does not wait for its caller */
    GMT_WAIT_IN_VAIN,
};

struct gmt_launch_call {
    void *context; /* CUcontext, current */
    void *stream;  /* CUstream as given */
    struct gmt_collector_class *cls;
    uint32_t launch_seq;
    enum gmt_unmeasured forbidden; /* a hang-safety rule that applies, else GMT_MEASURABLE */
    /* Why its kernel may wait for what its caller does next, who is held for a short time at most then; GMT_MEASURABLE: it
     * does not. */
    enum gmt_unmeasured suspected;
    /* Kernels of the process can reach memory of other devices or processes, though this one's arguments show none: the
     * driver call must not wait for it. */
    bool others;
    /* No other thread is in the driver, nor comes in before the end of the launch: else its instructions are not counted. */
    bool alone;
};

struct gmt_collector_ops {
    const char *name;
    bool survives_fork; /* a forked child may start it anew */

    /* After the first successful cuInit, before any context is used. Starts timestamps. Returns 0
     * or negative errno; after an error no other function is called. -ENODEV: this driver is
     * none of its, another implementation may be asked. */
    int (*start)(const struct gmt_collector_config *config);

    /* A context was seen for the first time; `id` is its gmt_context.id. */
    void (*context_seen)(void *context, uint32_t id, uint32_t device);

    /* Before a context is destroyed or its device reset: end what runs in it. Bounded. */
    void (*context_gone)(void *context);

    /* CUPTI's id of a stream, for joining; returns 0, or -ENOTSUP without one. */
    int (*stream_id)(void *context, void *stream, bool per_thread, uint32_t *id);

    /* A stream capture is about to begin: let `count` count it in config.captures, and wait, for a bounded
     * time, until nothing is under way that would break it. */
    void (*capture_begins)(void (*count)(void));
    /* Wait, for a bounded time, for the end of a launch that another thread measures. */
    void (*quiesce)(void);
    /* Does another thread measure a launch now, or begin or end a session? NULL: none ever does. */
    bool (*measuring)(void);

    /* Which group this launch of `cls` should be measured for now; GMT_GROUP_NONE nearly always.
     * Must cost a few ns when nothing is to be measured. */
    enum gmt_counter_group (*want)(struct gmt_collector_class *cls);

    enum gmt_counter_group (*begin)(const struct gmt_launch_call *call);
    void (*end)(const struct gmt_launch_call *call, enum gmt_counter_group group);

    /* A call of the program has waited for the device: what measuring has left to be done then is done. NULL: nothing
     * is. */
    void (*waited)(void);

    /* The program has got managed memory: faults and migrations of it are to be recorded from now on. NULL: they cannot
     * be. Takes some 20 ms the first time. */
    void (*managed_memory)(void);

    /* True while kernel timestamps are switched on (a launch made while they are off has no device
     * row: GMT_CALL_NO_ACTIVITY). */
    bool (*kernel_activity_on)(void);

    /* Switches the records of what devices do off, or on again, and says so in the trace (gmt_device_gap). False: not possible
     * now. Takes some 10 us. NULL: it never is. */
    bool (*switch_records)(bool on);

    /* From an atexit handler registered after cuInit: write everything still buffered, including
     * counters and the list of classes never measured. Bounded: <= 1 s. */
    void (*flush)(void);

    /* Before a fork, in the thread that forks; NULL: nothing is to be done. Bounded. */
    void (*forking)(void);

    /* In a forked child: forget everything without calling into CUPTI. */
    void (*abandon)(void);

    /* What the code of a kernel can reach without being given its address: calls `variable` with the name of
     * each variable in device memory of the kernel's module, and of each constant there, which may hold addresses.
     * `function` is its CUfunction. Returns 0; -ENOENT: the code is not known; -EPERM: it can do what no copy of
     * memory takes back: print, allocate or free memory, launch kernels. NULL: as -ENOENT. */
    int (*code_reach)(const struct gmt_collector_class *cls, void *function,
                      void (*variable)(void *data, const char *name), void *data);
    /* Has code been loaded that may call malloc on the device? The driver does not know the addresses of the device
     * heap. NULL: as true. */
    bool (*code_allocates)(void);

    /* A graph with the class is launched again, after `count` launches of which `want` was not asked. NULL: nobody counts them. */
    void (*launched)(struct gmt_collector_class *cls, uint64_t count);
    /* Does the class lack counters that one more launch may bring now, as far as is known? Does not count as a launch of it.
     * NULL: as false. */
    bool (*lacks)(const struct gmt_collector_class *cls);

    /* Repeating a launch (preload/repeat). `repeats`: is it worth making a launch of `cls` once more, which is then
     * measured by `begin` and `end`? Returns what that is expected to take, ns, `copies_ns` of copying memory
     * included; 0: no. `kernel_ns`: what its first execution took; 0: it has not been made. NULL: launches are never
     * repeated, and the next five are not called. */
    uint64_t (*repeats)(struct gmt_collector_class *cls, uint64_t kernel_ns, uint64_t copies_ns);
    /* Do now what `begin` would need long for; other threads are held later. False: `begin` would refuse, and the
     * reason is noted. */
    bool (*prepare)(const struct gmt_launch_call *call);
    /* Work of gmtrace's own on the device begins, or ends: it gets no device rows. */
    void (*own_work)(bool begins);
    /* A launch that `repeats` was true for was made once. */
    void (*not_repeated)(struct gmt_collector_class *cls, enum gmt_unmeasured why);
    /* Time that copying took goes to the budget, ns. */
    void (*charge)(uint64_t ns);
    /* So does what getting ready to repeat a launch took; `in_vain`: it was made once then. */
    void (*got_ready)(uint64_t ns, bool in_vain);
};

/* The CUPTI implementation (dlopen'ed; nothing of CUPTI is linked). */
const struct gmt_collector_ops *gmt_cupti_collector(void);

/* That of the software device, which the driver in use must be. */
const struct gmt_collector_ops *gmt_sim_collector(void);

/* Whether it is: writes the capability "software_device" then. */
bool gmt_sim_note_device(void *(*real_symbol)(const char *name));

#endif
