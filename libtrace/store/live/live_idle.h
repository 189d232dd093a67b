/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When devices were busy, and what the host did when they were not, while a program runs. An idle time is counted
 * when the operation that ends it is known: so are the calls before it then. Which thread the device waited for is
 * not looked for, as reports do.
 */
#ifndef GMT_STORE_LIVE_LIVE_IDLE_H
#define GMT_STORE_LIVE_LIVE_IDLE_H

#include <stddef.h>
#include <stdint.h>

#include "libtrace/store/live/live_page.h"

/* Device rows come in portions: what ended less than this ago is not all there. */
#define GMT_LIVE_SETTLE_NS UINT64_C(1000000000)

struct gmt_live_spans {
    struct gmt_live_span *item;
    size_t count, capacity;
};

struct gmt_live_idle {
    struct gmt_live_spans calls;
    struct gmt_live_spans ops[GMT_LIVE_DEVICES];
    uint64_t
        counted_ns[GMT_LIVE_DEVICES]; /* until then a device's time is counted; 0: it had no work */
    unsigned devices;                 /* that had work: those below this                          */
};

/* Zero-initialization is one without work. */
void gmt_live_idle_free(struct gmt_live_idle *idle);

/* A call of the host; calls before the first device row are not kept. Times: CLOCK_MONOTONIC. 0 or -ENOMEM. */
int gmt_live_idle_call(struct gmt_live_idle *idle, enum gmt_live_cause cause, uint64_t begin_ns,
                       uint64_t end_ns);
/* An operation of a device. 0 or -ENOMEM. */
int gmt_live_idle_op(struct gmt_live_idle *idle, uint32_t device, uint64_t begin_ns,
                     uint64_t end_ns);

/* Are there so many spans that they are to be counted although little time has passed? */
int gmt_live_idle_is_full(const struct gmt_live_idle *idle);

/* Count what ended before `until_ns` into busy_ns and idle_ns of the page's devices. 0 or -ENOMEM. */
int gmt_live_idle_settle(struct gmt_live_idle *idle, uint64_t until_ns, struct gmt_live_page *page);

#endif
