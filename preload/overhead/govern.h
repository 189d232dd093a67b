/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what of gmtrace's own work is done, so that it stays within a share of the run time.
 *
 * A pure function of what each part of that work has cost so far: it reads no clock and keeps nothing but the struct. What
 * the hooks themselves cost cannot be shed. The others have a level: the share of their work that is done. Where all of it
 * would take more than there is, no part may cost more than a limit which is the same for all: so the dearest is shed first,
 * and what costs less than the limit is done whole.
 *
 * What was spent beyond the share is owed, and paid back within GMT_GOVERN_HORIZON_NS. What was not spent is kept for
 * GMT_GOVERN_SAVED_NS of run time at most: time without calls does not pile up, and a program that computes for a minute
 * and then launches for a second keeps the share in that second, too, but for that. The debt has a limit as well
 * (GMT_GOVERN_OWED_NS): where the hooks alone cost more than the share it would grow for ever.
 */
#ifndef GMT_PRELOAD_OVERHEAD_GOVERN_H
#define GMT_PRELOAD_OVERHEAD_GOVERN_H

#include <stdbool.h>
#include <stdint.h>

enum gmt_overhead_part {
    GMT_OVERHEAD_HOOKS, /* the calls' records, and all that is not named below: never shed */
    GMT_OVERHEAD_STACKS,
    GMT_OVERHEAD_HASHING,
    GMT_OVERHEAD_COUNTERS,
    GMT_OVERHEAD_DEVICE, /* what CUPTI's records of devices cost calls, as far as that is learnt */
    GMT_OVERHEAD_PARTS
};

#define GMT_GOVERN_HORIZON_NS 2e9
#define GMT_GOVERN_SAVED_NS 1e9 /* of run time: the share of it may be saved up ...             */
#define GMT_GOVERN_OWED_NS 10e9 /* ... and no more than the share of this is owed                */
/* One stack of so many is read at least: places stay known. Of device records so much: kernels have times to be estimated by.
 * Hashing and counters may rest. */
#define GMT_GOVERN_LEAST_STACKS (1.0 / 64)
#define GMT_GOVERN_LEAST_DEVICE (1.0 / 50)

struct gmt_govern {
    double share;     /* of the run time; 0: no limit, all levels stay 1                          */
    unsigned apart;   /* parts, as 1 << part, with a limit of their own: nothing here is theirs   */
    double credit_ns; /* saved up; negative: owed                                                 */
    double full[GMT_OVERHEAD_PARTS];  /* what the part costs if all is done, of the run time      */
    double level[GMT_OVERHEAD_PARTS]; /* 0 to 1: what of it is to be done now                     */
    double done
        [GMT_OVERHEAD_PARTS]; /* ... and what is done; a step sets it to the level, its caller may know better */
    bool is_beyond; /* the hooks, and what cannot be shed of the rest, cost more than there is    */
};

/* Of parts in `apart`, as 1 << part, somebody else decides: what they cost counts as nothing, and their level stays 1. */
void gmt_govern_begin(struct gmt_govern *govern, double share, unsigned apart);

/* `elapsed_ns` of run time have passed under the present levels, and each part has cost `cost_ns`, in all threads
 * together. Sets the levels. */
void gmt_govern_step(struct gmt_govern *govern, uint64_t elapsed_ns,
                     const uint64_t cost_ns[GMT_OVERHEAD_PARTS]);

/* Has the part a limit of its own? */
static inline bool gmt_govern_is_apart(const struct gmt_govern *govern, int part)
{
    return (govern->apart & (1u << part)) != 0;
}

/* Is anything done in part only? */
bool gmt_govern_sheds(const struct gmt_govern *govern);

#endif
