/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the driver's calls take longer while CUPTI records what devices do, learnt from the calls themselves.
 *
 * Records are on and off in turns; two such times, one after the other, are a pair. Of each function of the driver that puts work on
 * a device the medians of both are compared, and the differences are weighed by how often it was called in the pair. So a pair has one
 * figure: what a call takes longer, on average of the program's mix. Drift of the machine changes both halves of a pair; what is left
 * of it shows in how pairs differ: the mean over the pairs has an interval (Student's t, 95 %).
 *
 * Calls that wait for a device are not to be noted: how long they take says nothing of records. A pure function of what is noted.
 */
#ifndef GMT_PRELOAD_OVERHEAD_DEVICE_COST_H
#define GMT_PRELOAD_OVERHEAD_DEVICE_COST_H

#include <stdbool.h>
#include <stdint.h>

#define GMT_DEVICE_FUNCTIONS 5u   /* that are distinguished; those that come later are not noted */
#define GMT_DEVICE_SAMPLES 40u    /* of each and half of a pair that are kept, the latest */
#define GMT_DEVICE_LEAST 8u       /* fewer have no median */
#define GMT_DEVICE_PAIRS 24u      /* the latest that count */
#define GMT_DEVICE_PAIRS_LEAST 6u /* nothing is said of fewer */

struct gmt_device_samples {
    uint32_t ns[GMT_DEVICE_SAMPLES];
    uint32_t noted;
    uint64_t calls; /* that they stand for */
};

struct gmt_device_cost {
    uint16_t function[GMT_DEVICE_FUNCTIONS];                    /* 0: free */
    struct gmt_device_samples samples[GMT_DEVICE_FUNCTIONS][2]; /* records off, on */
    double pair_ns[GMT_DEVICE_PAIRS];
    uint32_t pairs; /* so far */
};

/* Of a call: with 95 % it takes mean - error to mean + error longer, ns. */
struct gmt_device_estimate {
    double mean_ns, error_ns;
    bool is_known;   /* there are enough pairs */
    bool is_certain; /* the interval excludes zero, and what is below */
};

void gmt_device_cost_begin(struct gmt_device_cost *cost);
/* A call of `function`, not 0, took so long and stands for `calls`. */
void gmt_device_cost_note(struct gmt_device_cost *cost, uint16_t function, bool on, uint64_t ns,
                          uint32_t calls);
/* How many were noted in the half of the pair that is under way. */
uint32_t gmt_device_cost_noted(const struct gmt_device_cost *cost, bool on);
/* The pair is complete, or is thrown away. True: it counts. */
bool gmt_device_cost_end_pair(struct gmt_device_cost *cost);
void gmt_device_cost_drop_pair(struct gmt_device_cost *cost);
struct gmt_device_estimate gmt_device_cost_estimate(const struct gmt_device_cost *cost);

#endif
