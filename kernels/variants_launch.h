/* SPDX-License-Identifier: Apache-2.0 */
/* Reference kernels of occupancy and launch shapes. Columns: variants.h. */
#ifndef GMT_KERNELS_VARIANTS_LAUNCH_H
#define GMT_KERNELS_VARIANTS_LAUNCH_H

#define GMT_FAMILIES_OF_LAUNCH(X) X(occupancy)

/* Device functions, one per body; gmt_kernel_<name> is what a profiler shows. */
#define GMT_KERNELS_OF_LAUNCH(X) \
    X(occupancy_stream) \
    X(occupancy_vector) \
    X(occupancy_latency)

/*
 * parameter = resident blocks of 4 warps per multiprocessor; steps a device cannot hold are left
 * out.
 */
#define GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, n, quality, rule, doc) \
    X(occupancy, body##_##n, body, n, width, quality, body##_16, sectors, 100, GMT_UNKNOWN, rule, \
      doc)
#define GMT_VARIANTS_OCCUPANCY_STEPS(X, body, width, sectors, doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 1, bad, "GM501", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 2, bad, "GM501", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 3, bad, "GM501", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 4, bad, "GM501", doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 6, neutral, NULL, doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 8, neutral, NULL, doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 12, neutral, NULL, doc) \
    GMT_VARIANTS_OCCUPANCY_BODY(X, body, width, sectors, 16, good, NULL, doc)
#define GMT_VARIANTS_OCCUPANCY(X) \
    GMT_VARIANTS_OCCUPANCY_STEPS(X, occupancy_stream, 4, 4, "float copy, one load in flight") \
    GMT_VARIANTS_OCCUPANCY_STEPS(X, occupancy_vector, 16, 16, "float4 copy, one load in flight") \
    GMT_VARIANTS_OCCUPANCY_STEPS(X, occupancy_latency, 4, 4, "chain of dependent loads")

#define GMT_VARIANTS_OF_LAUNCH(X) GMT_VARIANTS_OCCUPANCY(X)

#endif
