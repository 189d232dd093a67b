/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gmtrace itself costs the threads of the program, measured while it runs, and kept within a share of the run time
 * (option --overhead; govern.h decides).
 *
 * Of each thread's intercepted calls one in GMT_OVERHEAD_ONE_IN, at varying distances, is timed from the hook's beginning
 * to its end without the driver's call; it stands for those since the last one. Work that is written as own time
 * (gmt_spool_own_time) is known exactly and left out there, and so are fingerprints, whose budget times each. What the
 * driver's calls take longer because CUPTI records them is learnt apart (device_records.h). Not in it are calls that CUPTI
 * reports (CUDA_INJECTION64_PATH) and those that are no hooks of the driver (NVTX, dlsym).
 *
 * All threads draw on one budget: what a run takes longer is at most the sum of what its threads do for gmtrace.
 * What the first second takes is not counted. There is no thread and no timer: a timed call that finds that a step is due makes it.
 */
#ifndef GMT_PRELOAD_OVERHEAD_OVERHEAD_H
#define GMT_PRELOAD_OVERHEAD_OVERHEAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/clock.h"

#define GMT_OVERHEAD_ONE_IN 32u
#define GMT_OVERHEAD_FIRST_NS UINT64_C(1000000000) /* not counted */
#define GMT_OVERHEAD_STEP_NS UINT64_C(250000000)

struct gmt_overhead_thread {
    /* Of the call that is timed, low bits, as thread-local storage is scarce: when it began, 0: the call at hand is not; what
     * stacks and fingerprints took of it; and what all had done by then that is known exactly. */
    uint32_t from_ticks, apart_ticks, exact_ns;
    uint32_t random;
    uint16_t stacks_taken, stacks_walked; /* since the last timed call */
    uint8_t countdown, interval; /* calls until the next one, and from the last one to this */
    uint16_t
        device_work; /* number of the timed call's function, if it put work on a device and did not wait */
};
extern _Thread_local
    __attribute__((tls_model("initial-exec"))) struct gmt_overhead_thread gmt_overhead_thread;

/* What may be done now; written by steps, read by all threads. */
struct gmt_overhead_levels {
    _Atomic uint32_t stack_one_in;  /* one stack of so many is read, at each place; 1: all */
    _Atomic uint64_t hashing_ticks; /* the sum that fingerprints may reach */
    _Atomic uint64_t counters_ns;   /* ... and measuring, besides its start allowance */
};
extern struct gmt_overhead_levels gmt_overhead_levels;

/* Recording begins. `share` of the run time; 0: no limit, but it is measured all the same. `apart`: parts, as 1 << part
 * (enum gmt_overhead_part), that have a budget of their own: what they cost sheds nothing, and nothing of them is shed. */
void gmt_overhead_start(double share, unsigned apart);
/* At the end of the program: what the last step has not. */
void gmt_overhead_finish(void);

void gmt_overhead_time_call(void);
void gmt_overhead_account(uint64_t begin_ticks, uint64_t end_ticks);

/* The hook begins: some 1 ns. */
static inline void gmt_overhead_enter(void)
{
    struct gmt_overhead_thread *own = &gmt_overhead_thread;
    if (__builtin_expect(own->countdown == 0, 0)) {
        gmt_overhead_time_call();
    } else {
        own->countdown--;
        own->from_ticks = 0; /* a call before may have been left without an end */
    }
}

/* It ends; the driver's call was between the two times. */
static inline void gmt_overhead_leave(uint64_t begin_ticks, uint64_t end_ticks)
{
    if (__builtin_expect(gmt_overhead_thread.from_ticks != 0, 0)) {
        gmt_overhead_account(begin_ticks, end_ticks);
    }
}

/* The call at hand read a stack, which took so long; `all` reads are timed, or those of timed calls only. */
void gmt_overhead_stack_read(uint64_t ticks, bool all);
/* So many calls behind it will take it at most. */
void gmt_overhead_stack_stands_for(uint32_t calls);
/* A stack was walked: it was not the same as before. */
static inline void gmt_overhead_stack_walked(void)
{
    gmt_overhead_thread.stacks_walked++;
}
/* A call took the stack that was read last at its place. */
static inline void gmt_overhead_stack_taken(void)
{
    gmt_overhead_thread.stacks_taken++;
}
/* The call at hand took a fingerprint: so much is charged. */
void gmt_overhead_hashed(uint64_t ticks);
/* The call at hand, by `function`, not 0, put work on a device and did not wait for it. */
static inline void gmt_overhead_device_work(uint16_t function)
{
    if (__builtin_expect(gmt_overhead_thread.from_ticks != 0, 0)) {
        gmt_overhead_thread.device_work = function;
    }
}
/* May another one be taken? */
bool gmt_overhead_may_hash(void);

/* A number from half of `mean` to one and a half times that, for distances of samples. */
uint32_t gmt_overhead_distance(uint32_t mean);

#endif
