/* SPDX-License-Identifier: Apache-2.0 */
/* The shape of a launch against the device: what is resident, what bounds it, how many waves. */
#ifndef GMT_ANALYZER_PRICE_LAUNCH_SHAPE_H
#define GMT_ANALYZER_PRICE_LAUNCH_SHAPE_H

#include "analyzer/model/device_model.h"
#include "analyzer/model/occupancy.h"
#include "analyzer/trace/timeline.h"

struct gmt_shape {
    double threads, warps; /* of a block                                                 */
    double blocks;         /* of the grid                                                */
    double resident;       /* blocks per multiprocessor if the grid is large enough; NAN */
    double wave;           /* blocks that the device holds at once; NAN                  */
    double waves;          /* grid / wave; NAN                                           */
    bool small_grid;       /* the grid has fewer blocks per multiprocessor than that     */
    struct gmt_occupancy occupancy;
    double next_registers; /* per thread, with which one block more is resident; NAN     */
    double next_occupancy; /* with one block more, 0..1; NAN                             */
};

struct gmt_shape gmt_shape_of(const struct gmt_timeline *timeline,
                              const struct gmt_tl_class *class);

/*
 * Whether registers alone keep one block more away, and a few fewer of them would let it in:
 * GMT_CLIFF_REGISTERS at most.
 */
bool gmt_shape_at_cliff(const struct gmt_tl_class *class, const struct gmt_shape *shape);

/* Achieved occupancy, 0..1; where it was not measured GMT_TYPICAL_ACHIEVED of the theoretical. */
double gmt_shape_occupancy(const struct gmt_tl_class *class);

/*
 * Loads that each thread keeps in flight, by Little's law: requests per time x latency / resident
 * warps. Latency grows under load, so one load at a time shows as 0.4 to 1.3. NAN: not known.
 */
double gmt_shape_loads_in_flight(const struct gmt_model *model, const struct gmt_timeline *timeline,
                                 const struct gmt_tl_class *class);

/* Share of the time of resident warps that they waited for a load, 0..1; NAN: not measured. */
double gmt_shape_waiting(const struct gmt_timeline *timeline, const struct gmt_tl_class *class);

/*
 * Whether the kernel waits for memory with one load in flight per thread, while registers keep more
 * warps away: then independent loads help, and more warps are not to be had.
 */
bool gmt_shape_low_ilp(const struct gmt_model *model, const struct gmt_timeline *timeline,
                       const struct gmt_tl_class *class, const struct gmt_shape *shape);

/*
 * What one launch moves, and what the calibrated curve of bandwidth over bytes in flight makes of it,
 * in bytes per second. Its own place on the curve is where the curve has its rate: a kernel with wide
 * or several loads lies further up than its warps alone would put it.
 */
struct gmt_position {
    double achieved, after; /* occupancy, 0..1, now and after a fix                        */
    double rate;            /* what it moves beyond L1: the larger of L2 and device memory */
    double here;            /* with one 4-byte load in flight per thread, as many warps    */
    double there, at_most;  /* from its own place with more warps; anywhere                */
};

struct gmt_position gmt_shape_position(const struct gmt_model *model,
                                       const struct gmt_timeline *timeline,
                                       const struct gmt_tl_class *class, double after);

/* Why more warps would not help, or NULL. */
const char *gmt_shape_enough_warps(const struct gmt_position *position);

#endif
