/* SPDX-License-Identifier: Apache-2.0 */
/* Learns what CUPTI's records of devices cost calls, from pairs of times with and without them (device_cost.h). */
#include "preload/overhead/device_cost.h"

#include <stddef.h>
#include <string.h>

/* Student's t for 95 %, by degrees of freedom from 1 on. */
static const double student[] = {12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069};
_Static_assert(sizeof(student) / sizeof(student[0]) == GMT_DEVICE_PAIRS - 1, "one for each count");

void gmt_device_cost_begin(struct gmt_device_cost *cost)
{
    memset(cost, 0, sizeof(*cost));
}

void gmt_device_cost_note(struct gmt_device_cost *cost, uint16_t function, bool on, uint64_t ns,
                          uint32_t calls)
{
    size_t i = 0;
    while (i < GMT_DEVICE_FUNCTIONS && cost->function[i] != function && cost->function[i] != 0) {
        i++;
    }
    if (i == GMT_DEVICE_FUNCTIONS) {
        return;
    }
    cost->function[i] = function;
    struct gmt_device_samples *samples = &cost->samples[i][on];
    samples->ns[samples->noted++ % GMT_DEVICE_SAMPLES] = ns < UINT32_MAX ? (uint32_t)ns
                                                                         : UINT32_MAX;
    samples->calls += calls;
}

uint32_t gmt_device_cost_noted(const struct gmt_device_cost *cost, bool on)
{
    uint32_t noted = 0;
    for (size_t i = 0; i < GMT_DEVICE_FUNCTIONS; i++) {
        noted += cost->samples[i][on].noted;
    }
    return noted;
}

/* Sorts the samples, by insertion: they are few. */
static double median(struct gmt_device_samples *samples)
{
    uint32_t *ns = samples->ns;
    size_t n = samples->noted < GMT_DEVICE_SAMPLES ? samples->noted : GMT_DEVICE_SAMPLES;
    for (size_t i = 1; i < n; i++) {
        uint32_t value = ns[i];
        size_t at = i;
        for (; at > 0 && ns[at - 1] > value; at--) {
            ns[at] = ns[at - 1];
        }
        ns[at] = value;
    }
    uint32_t below = ns[(n - 1) / 2], above = ns[n / 2];
    return ((double)below + (double)above) / 2;
}

void gmt_device_cost_drop_pair(struct gmt_device_cost *cost)
{
    for (size_t i = 0; i < GMT_DEVICE_FUNCTIONS; i++) {
        for (size_t on = 0; on < 2; on++) {
            cost->samples[i][on].noted = 0;
            cost->samples[i][on].calls = 0;
        }
    }
}

bool gmt_device_cost_end_pair(struct gmt_device_cost *cost)
{
    double sum_ns = 0, calls = 0, all = 0;
    for (size_t i = 0; i < GMT_DEVICE_FUNCTIONS; i++) {
        struct gmt_device_samples *off = &cost->samples[i][0], *on = &cost->samples[i][1];
        double made = (double)off->calls + (double)on->calls;
        all += made;
        if (off->noted >= GMT_DEVICE_LEAST && on->noted >= GMT_DEVICE_LEAST) {
            sum_ns += (median(on) - median(off)) * made;
            calls += made;
        }
    }
    /* Functions that were called too rarely have no figure: the others must be most of what was called. */
    bool counts = calls > 0 && calls >= all / 2;
    if (counts) {
        cost->pair_ns[cost->pairs++ % GMT_DEVICE_PAIRS] = sum_ns / calls;
    }
    gmt_device_cost_drop_pair(cost);
    return counts;
}

/* By Newton's method: libm is not linked. */
static double root_of(double of)
{
    double root = of > 1 ? of : 1;
    for (int i = 0; i < 100 && root * root > of * 1.000001; i++) {
        root = (root + of / root) / 2;
    }
    return of > 0 ? root : 0;
}

struct gmt_device_estimate gmt_device_cost_estimate(const struct gmt_device_cost *cost)
{
    size_t n = cost->pairs < GMT_DEVICE_PAIRS ? cost->pairs : GMT_DEVICE_PAIRS;
    double sum = 0, squares = 0;
    if (n < GMT_DEVICE_PAIRS_LEAST) {
        return (struct gmt_device_estimate){0};
    }
    for (size_t i = 0; i < n; i++) {
        sum += cost->pair_ns[i];
    }
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        squares += (cost->pair_ns[i] - mean) * (cost->pair_ns[i] - mean);
    }
    double error = student[n - 2] * root_of(squares / (double)(n - 1) / (double)n);
    return (struct gmt_device_estimate){
        .mean_ns = mean, .error_ns = error, .is_known = true, .is_certain = mean - error > 0};
}
