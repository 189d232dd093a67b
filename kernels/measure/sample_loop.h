/* SPDX-License-Identifier: Apache-2.0 */
/* How many samples a point gets in one pass: plain C, no CUDA, and the caller's clock. */
#ifndef GMT_KERNELS_MEASURE_SAMPLE_LOOP_H
#define GMT_KERNELS_MEASURE_SAMPLE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * 4 ms of warm-up, then 4 ms of samples: of short calls some hundred would say
 * no more than three do, and one that takes longer than that averages over what it meets itself. Of
 * copies of 8 and 16 MiB of pageable memory the first two are slow on an H200 (1 ms and 2 ms; the
 * third takes half of that), and must not count.
 */
#define GMT_SAMPLE_LOOP_WARM_UP_NS 4000000ull
#define GMT_SAMPLE_LOOP_COUNTED_NS 4000000ull

/* Before the first iteration: zero but for the two limits. */
struct gmt_sample_loop {
    unsigned warm_up; /* at most that many warm-up iterations */
    unsigned samples; /* at most that many samples */
    unsigned done;    /* iterations done of the current kind */
    uint64_t began_ns;
    bool counts; /* the current iteration is a sample */
};

/*
 * Is there another iteration? First warm-up, then samples, back to back: of
 * each kind one at least where any is allowed, and a further one while its time lasts. now_ns: a
 * clock that does not go back.
 */
bool gmt_sample_loop_next(struct gmt_sample_loop *loop, uint64_t now_ns);

/* Total time of the loop, if one iteration takes once_ns. */
double gmt_sample_loop_cost_ns(const struct gmt_sample_loop *loop, double once_ns);

#endif
