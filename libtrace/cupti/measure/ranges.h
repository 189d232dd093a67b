/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One range-profiler session: user ranges, user replay, one pass, one group, one context.
 *
 * Nothing is replayed. A range waits for what is on the device, counts what runs until it is popped,
 * and keeps its values on the device until the session ends; ending it decodes them and writes one
 * GMT_REC_COUNTERS per kept range. Launches outside a range cost nothing. The caller switches
 * CONCURRENT_KERNEL activity off around a range: with it the software-patched group reads 0, and the
 * others count its instrumentation.
 *
 * Not thread-safe: the caller holds the collector's lock.
 */
#ifndef GMT_CUPTI_MEASURE_RANGES_H
#define GMT_CUPTI_MEASURE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libtrace/cupti/base/loader.h"
#include "libtrace/cupti/measure/chips.h"
#include "libtrace/cupti/measure/groups.h"
#include "libtrace/record/layout.h"

#define GMT_RANGES_MAX 128u /* per session                                                     */

struct gmt_range { /* one that was pushed in this session */
    uint32_t launch_seq;
    uint32_t kernel_class;
    bool keep;
};

struct gmt_ranges {
    const struct gmt_cupti_api *api;
    void *context;                  /* CUcontext the profiler is enabled on, NULL = none        */
    bool running;                   /* a session is started                                     */
    uint32_t context_id;            /* CUPTI's: differs when the handle is used anew            */
    const struct gmt_chip *chip;    /* of the context's device                                  */
    enum gmt_counter_group which;   /* group of the session                                     */
    const struct gmt_group *config; /* configuration the profiler was first started with        */
    size_t next_pass;               /* of the configuration: CUPTI goes through them in a cycle */
    CUpti_RangeProfiler_Object *profiler;
    uint8_t *image; /* counter data; mapped, reused while large enough          */
    size_t image_bytes;
    size_t used_image_bytes;
    uint8_t *stale_image; /* of before, which the profiler may still have */
    size_t stale_bytes;
    bool whole_image; /* CUPTI has refused one that is for a part of the configuration */
    struct gmt_range ranges[GMT_RANGES_MAX];
    size_t count;
    const char *failed; /* CUPTI function that failed last                          */
};

/* Start a session. The first one in a process costs about half a second; later ones 40 to 90 ms where
 * gmt_ranges_is_cheap, else a quarter of a second. CUPTI_ERROR_NOT_SUPPORTED: the chip can count
 * nothing of the group. */
bool gmt_ranges_is_cheap(const struct gmt_ranges *r, const void *context,
                         enum gmt_counter_group which);
CUptiResult gmt_ranges_start(struct gmt_ranges *r, void *context, uint32_t device,
                             enum gmt_counter_group which);
bool gmt_ranges_full(const struct gmt_ranges *r);

CUptiResult gmt_ranges_push(struct gmt_ranges *r, uint32_t launch_seq, uint32_t kernel_class);
/* Close the range pushed last. Its values are thrown away unless gmt_ranges_keep_last follows. */
CUptiResult gmt_ranges_pop(struct gmt_ranges *r);
void gmt_ranges_keep_last(struct gmt_ranges *r);

/* False when the session's context has been destroyed meanwhile. */
bool gmt_ranges_alive(const struct gmt_ranges *r);

/* End the session and write what it measured; the profiler stays enabled. Harmless without one, or with its
 * context gone (its values are then lost, and counted). */
CUptiResult gmt_ranges_stop(struct gmt_ranges *r);

/* Take the profiler off its context: before that is destroyed, and at the end. */
void gmt_ranges_disable(struct gmt_ranges *r);

#endif
