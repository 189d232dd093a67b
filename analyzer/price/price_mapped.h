/* SPDX-License-Identifier: Apache-2.0 */
/* Prices of kernels that work on host memory through its mapping, against copying it first. */
#ifndef GMT_ANALYZER_PRICE_PRICE_MAPPED_H
#define GMT_ANALYZER_PRICE_PRICE_MAPPED_H

#include "analyzer/price/price.h"

enum gmt_mapped_direction { GMT_MAPPED_READ, GMT_MAPPED_WRITE, GMT_MAPPED_EITHER };

/*
 * Device time of a kernel that goes over that much mapped memory once, coalesced: from the calibrated
 * curve of such kernels (EITHER: the slower of both). A model without it: the time of a pinned copy,
 * which takes the same bus. NAN without either.
 */
double gmt_price_mapped_once(const struct gmt_model *model, enum gmt_mapped_direction direction,
                             double bytes);

/* Device-side time of copying pinned memory to the device or back; NAN when not measured. */
double gmt_price_pinned_copy(const struct gmt_model *model, enum gmt_mapped_direction direction,
                             double bytes);

/*
 * Gain of one launch of t_ns whose buffer of `bytes` needs no copy (now copy_ns) when the kernel works
 * on it where it is. Then the kernel takes (t^p + m^p)^(1/p), p = GMT_OVERLAP_EXPONENT, m the time of
 * going over the mapped memory once; low: t + m, nothing overlaps; high: max(t, m).
 */
struct gmt_gain gmt_price_without_copy(const struct gmt_model *model,
                                       enum gmt_mapped_direction direction, double t_ns,
                                       double copy_ns, double bytes);

/*
 * Gain of one launch of t_ns on mapped buffers of `bytes` if it worked on copies of them: t less the
 * part that the bus takes, plus one copy, plus the traffic at the rate of device memory. traffic_bytes
 * is what the launch moves over the bus; NAN: not measured, then all of t is the bus's at best, and
 * nothing of it at the lower end.
 */
struct gmt_gain gmt_price_with_copy(const struct gmt_model *model, double t_ns, double bytes,
                                    double traffic_bytes);

/* Statement: class id, and of memory of the host per launch, bytes touched and bytes moved. Only the software device counts
 * them. */
#define GMT_HOST_FOOTPRINTS \
    "SELECT class_id, avg(touched), avg(moved) FROM (SELECT f.class_id, f.launch_seq, " \
    "sum(f.read_bytes + f.write_bytes) AS touched, " \
    "sum(f.read_traffic_bytes + f.write_traffic_bytes) AS moved FROM kernel_footprint f " \
    "JOIN host_allocation h ON h.id = f.allocation_id GROUP BY f.class_id, f.launch_seq) " \
    "GROUP BY class_id"

#endif
