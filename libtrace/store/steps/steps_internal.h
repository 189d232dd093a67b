/* SPDX-License-Identifier: Apache-2.0 */
/* What sums up steps; private to steps*.c. */
#ifndef GMT_STORE_STEPS_STEPS_INTERNAL_H
#define GMT_STORE_STEPS_STEPS_INTERNAL_H

#include <assert.h>
#include <stdbool.h>

#include "libtrace/store/live/live_idle.h"
#include "libtrace/store/live/live_memory.h"
#include "libtrace/store/live/step_finder.h"
#include "libtrace/store/steps/step_communicators.h"
#include "libtrace/store/steps/step_launches.h"
#include "libtrace/store/steps/step_queue.h"
#include "libtrace/store/steps/steps.h"

/* When a device was at work, or a thread in a call; in the order of their begin once they are sorted. */
struct gmt_step_span {
    uint64_t begin_ns, end_ns;
    uint32_t device; /* UINT32_MAX: a call */
    uint16_t api;
    uint8_t kind; /* enum gmt_step_kind, of a call */
};

struct gmt_step_spans {
    struct gmt_step_span *item;
    size_t count, capacity, at; /* at: those before are counted */
};

static_assert((int)GMT_STEP_DEVICES == (int)GMT_LIVE_DEVICES, "a page has each device of a step");

struct gmt_steps {
    struct gmt_step_finder *finder;
    struct gmt_open_ranges open;
    struct gmt_step_names names;
    uint32_t *kernels; /* of these, by gmt_kernel.id */
    size_t kernel_count;
    struct gmt_step_queue queue;
    struct gmt_step_spans spans;
    struct gmt_live_memory memory;
    struct gmt_live_idle idle;
    struct gmt_live_page page; /* of which devices' busy and idle times are used */
    struct gmt_step_sums sums;
    struct gmt_step step; /* the present one; its `time` is the page's at its begin until it ends */
    uint8_t family[1024]; /* enum gmt_call_family, by gmt_api.id */
    uint64_t one_ns;      /* where the latest of its steps began                       */
    uint64_t one_events;  /* events of the step when it did                            */
    bool has_name;        /* of the range that is a step was given */
    uint32_t thread;      /* whose steps are taken, 0: none yet */
    uint64_t thread_ns;   /* when its latest step ended */
    uint64_t slice_ns;    /* after so long without an end of a step it is cut */
    uint64_t settled_ns, last_ns, late;
    uint64_t collectives[GMT_COLLECTIVE_SOURCES];
    struct gmt_step_communicators communicators;
    struct gmt_step_launches launches;
};

/* Sum up an event, which is in order; cut the step before it where that has ended. 0 or negative errno. */
int gmt_steps_take(struct gmt_steps *steps, const struct gmt_step_event *event,
                   struct gmt_step_writer *writer);

/* The step ends. Nothing is written of one in which nothing happened. 0 or negative errno. */
int gmt_steps_cut(struct gmt_steps *steps, uint64_t end_ns, enum gmt_step_source source,
                  struct gmt_step_writer *writer);

/* Count idle times that ended before. 0 or negative errno. */
int gmt_steps_settle_idle(struct gmt_steps *steps, uint64_t until_ns);

/* 0 or -ENOMEM: a call or an operation, for idle times. */
int gmt_steps_span(struct gmt_steps *steps, const struct gmt_step_event *event);

#endif
