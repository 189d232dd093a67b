/* SPDX-License-Identifier: Apache-2.0 */
/* How often a point is taken in one pass: plain C, no CUDA, and the caller's clock. */
#ifndef GMT_KERNELS_MEASURE_TURNS_H
#define GMT_KERNELS_MEASURE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What does not count goes on for 4 ms, what counts for as long: some hundred short calls would say
 * no more than three do, and one that takes longer than that averages over what it meets itself. Of
 * copies of 8 and 16 MiB of pageable memory the first two are slow on an H200 (1 ms and 2 ms; the
 * third takes half of that), and must not count.
 */
#define GMT_TURNS_WARM_UP_NS 4000000ull
#define GMT_TURNS_COUNTED_NS 4000000ull

/* Zero but for the two limits, before the first turn. */
struct gmt_turns {
    unsigned warm_up; /* at most that many do not count */
    unsigned samples; /* at most that many do */
    unsigned done;    /* of those that are being taken */
    uint64_t began_ns;
    bool counts; /* the turn that goes on */
};

/*
 * Shall there be another turn? First those that do not count, then those that do, back to back: of
 * each kind one at least where any is allowed, and a further one while its time lasts. now_ns: a
 * clock that does not go back.
 */
bool gmt_turns_next(struct gmt_turns *turns, uint64_t now_ns);

/* What they take, where one takes so long. */
double gmt_turns_cost_ns(const struct gmt_turns *turns, double once_ns);

#endif
