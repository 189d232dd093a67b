/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of ring_sift share. */
#ifndef GMT_STORE_RECORDING_RING_SIFT_INTERNAL_H
#define GMT_STORE_RECORDING_RING_SIFT_INTERNAL_H

#include <stdbool.h>

#include "libtrace/record/layout.h"
#include "libtrace/store/db/intern.h"
#include "libtrace/store/recording/ring_sift.h"

/* Two records about one thing; 0: not seen, else 1 + the number of the record. */
struct sift_pair {
    size_t first, second;
    bool is_needed;
};

struct sift {
    struct gmt_ring_content *content;
    struct gmt_timebase *time;
    uint64_t begin_ns;
    struct gmt_intern keys;
    struct sift_pair *pairs;
    size_t count, capacity;
    int error;
};

/* Of what a pair is about. */
enum subject {
    ABOUT_MEMORY = 1, /* gmt_alloc.id: allocated, released                              */
    ABOUT_RANGE,      /* gmt_user_range.id: open, ended                                 */
    ABOUT_GRAPH,      /* gmt_graph.id: described                                        */
    ABOUT_HANDLE,     /* of an executable graph: its latest graph, its end               */
    ABOUT_NODE,       /* graph, node, what was changed of it: the latest change          */
    ABOUT_CAPABILITY, /* by name: the latest                                             */
    ABOUT_STREAM,     /* context, handle, thread: the latest before the window           */
    ABOUT_DEVICE,     /* by ordinal: the latest                                          */
    ABOUT_PROCESS,    /* the first                                                       */
    ABOUT_LAUNCH,     /* gmt_launch.launch_seq, of the window                            */
    ABOUT_GAP,        /* gmt_device_gap.id: begun, ended                                 */
    ABOUT_REGION,     /* gmt_heap.id or gmt_region.id: begun, ended                      */
    ABOUT_NAME,       /* gmt_region.made: the latest name                                */
    ABOUT_EXPORT,     /* gmt_export.hash: the latest before the window                   */
};

/* Made if there is none. In case of an error, which is sift->error then, one of nothing. */
struct sift_pair *gmt_sift_pair(struct sift *sift, enum subject subject, const void *key,
                                size_t bytes);
/* The record of a pair's number, which is not 0. */
const void *gmt_sift_data(const struct sift *sift, size_t one_more);
/* It holds no more; 0: there is none. */
void gmt_sift_drop(const struct sift *sift, size_t one_more);
/* GMT_RING_IN, or what a record of an earlier time is. */
uint8_t gmt_sift_in_or(const struct sift *sift, uint64_t ns, enum gmt_ring_verdict otherwise);
/* The latest holds, by `ticks`; of those before it nothing does. */
void gmt_sift_keep_latest(struct sift *sift, struct sift_pair *pair, size_t i, uint64_t ticks,
                          uint64_t (*ticks_of)(const void *data));

/* Heaps and regions: the first pass, the second one, and names, after all of these. */
void gmt_sift_take_region(struct sift *sift, size_t i, struct gmt_ring_record *record);
void gmt_sift_settle_region(struct sift *sift, struct gmt_ring_record *record);
void gmt_sift_settle_name(struct sift *sift, struct gmt_ring_record *record);

#endif
