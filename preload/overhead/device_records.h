/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches CUPTI's records of devices off and on as the governor wants it, by the thread whose timed call finds that it is due.
 *
 * They are left alone where the user named no --overhead, in the first second, with --collect deep and --aggregate, while a kernel is
 * measured, a stream captured or a graph launched step by step, and where another thread is in a launch.
 */
#ifndef GMT_PRELOAD_OVERHEAD_DEVICE_RECORDS_H
#define GMT_PRELOAD_OVERHEAD_DEVICE_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/overhead/device_cost.h"

struct gmt_device_sums {
    uint64_t calls,
        recorded; /* that put work on a device, as the timed ones show; while records were on */
    uint64_t on_ns;
    struct gmt_device_estimate estimate; /* of what a recorded call takes longer */
    uint32_t pairs;
};

/* The recording begins; `governed`: they may be switched. `turn`: does it, false where that is not possible now; NULL: there are
 * none. */
void gmt_device_records_start(bool governed, bool (*turn)(bool on));
bool gmt_device_records_are_governed(void);

/* A timed call of `function`, not 0, put work on a device without waiting for it, and was with the driver for so long. */
void gmt_device_records_note(uint16_t function, uint64_t begin_ticks, uint64_t ns, uint32_t calls);
/* Switches them where that is due. Returns whether it did. */
bool gmt_device_records_turn(uint64_t now_ns);
/* They are needed from now on for a while: a kernel is to be measured. */
void gmt_device_records_need(void);

/* The governor: what there is since the recording began, false: nothing new. For what share of the time they are to be on, and
 * whether they could cost too much at all. */
bool gmt_device_records_sums(uint64_t now_ns, struct gmt_device_sums *sums);
void gmt_device_records_set(double level, bool matters);

#endif
