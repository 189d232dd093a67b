/* SPDX-License-Identifier: Apache-2.0 */
/* All that can change what memory holds, in the order in which the host asked for it. */
#ifndef GMT_ANALYZER_MEMORY_CONTENT_EVENTS_H
#define GMT_ANALYZER_MEMORY_CONTENT_EVENTS_H

#include "analyzer/memory/content.h"

enum gmt_event_kind {
    GMT_EVENT_COPY,
    GMT_EVENT_LAUNCH,
    GMT_EVENT_MEMSET,
    GMT_EVENT_WAIT,      /* of the host for a stream, or for all                                 */
    GMT_EVENT_HOST_WORK, /* a stream will call the host, or wait for it: it may fill any buffer  */
    GMT_EVENT_SHARED,    /* another process may write to memory from here on                     */
    GMT_EVENT_UNSEEN,    /* calls outside of the range that is looked at                         */
    GMT_EVENT_VALUE,     /* a stream writes a value, somewhere                                   */
};

struct gmt_content_event {
    enum gmt_event_kind kind;
    size_t index;              /* COPY, LAUNCH: in the timeline                  */
    int64_t stream;            /* MEMSET, WAIT, HOST_WORK; -1: all, or any       */
    int64_t allocation, bytes; /* MEMSET; bytes -1: rows, extent not known       */
    uint64_t address;
};

/* 0 or -EIO. */
int gmt_content_events(const struct gmt_timeline *timeline,
                       void (*on_event)(void *data, const struct gmt_content_event *event),
                       void *data);

/* Fill the prints of all copies that have one; 0 too where the trace has no such table. */
int gmt_content_prints(const struct gmt_timeline *timeline, struct gmt_copy_content *contents);

struct gmt_host_memory {
    int64_t id;
    uint64_t address;
    int64_t free_ns; /* GMT_NO_TIME: never */
};
/* Page-locked memory; the caller frees. */
int gmt_content_host_memory(const struct gmt_timeline *timeline, struct gmt_host_memory **rows,
                            size_t *count);

#endif
