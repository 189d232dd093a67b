/* SPDX-License-Identifier: Apache-2.0 */
/* Data that goes to the host and, from the same place there, back to a device. */
#ifndef GMT_ANALYZER_MEMORY_TRIPS_H
#define GMT_ANALYZER_MEMORY_TRIPS_H

#include "analyzer/trace/timeline.h"

enum gmt_trip_content { GMT_TRIP_UNKNOWN, GMT_TRIP_SAME, GMT_TRIP_CHANGED };

struct gmt_trip {
    size_t down, up;       /* indices of the two copies                                    */
    bool crosses;          /* between two devices                                          */
    unsigned char content; /* enum gmt_trip_content: by fingerprints, where the trace has them */
};

struct gmt_trips {
    struct gmt_trip *trips; /* sorted by call sites of both copies, then by time */
    size_t count;
};

/*
 * Pairs each read-back with the first upload of as many bytes from the same host address, as long as no
 * other read-back went there in between. 0, -ENOMEM or -EIO; gmt_trips_free in every case.
 */
int gmt_trips_find(struct gmt_trips *trips, const struct gmt_timeline *timeline);
void gmt_trips_free(struct gmt_trips *trips);

/* How many trips from the i-th on were made at the same two lines. */
size_t gmt_trips_alike(const struct gmt_trips *trips, const struct gmt_timeline *timeline,
                       size_t i);

/* What the host did between the two copies, ns: until an asynchronous read-back was done, it waited. */
double gmt_trip_host_ns(const struct gmt_timeline *timeline, const struct gmt_trip *trip);
/* No longer than a pass over the bytes takes (GMT_HOST_STEP_NS); true where nothing has a time. */
bool gmt_trip_is_quick(const struct gmt_timeline *timeline, const struct gmt_trip *trip);

/* The first launch, of any thread, whose call began at that time or later; launch_count: none. */
size_t gmt_first_launch_after(const struct gmt_timeline *timeline, int64_t at_ns);

#endif
