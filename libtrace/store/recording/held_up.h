/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of the program that gmtrace holds up for long (libtrace/sections/section.h): what they do is looked at while the process lives,
 * and becomes rows of `loss` when it has ended.
 */
#ifndef GMT_STORE_RECORDING_HELD_UP_H
#define GMT_STORE_RECORDING_HELD_UP_H

#include <stddef.h>
#include <stdint.h>

#include "libtrace/record/layout.h"

enum { GMT_HELD_UP_BYTES = 96 };

/* What the kernel said of the threads of the control page, when they were looked at last. */
struct gmt_held_up {
    uint64_t looked_ns; /* CLOCK_MONOTONIC */
    struct {
        uint64_t word; /* of the control page, then; 0: not looked at */
        char doing[GMT_HELD_UP_BYTES];
    } thread[GMT_SECTION_WORDS];
};

/* What a thread is doing: "running", "sleeping in futex_wait_queue", "sleeping", or that it is not known. */
void gmt_held_up_doing(uint32_t pid, uint32_t tid, char doing[static GMT_HELD_UP_BYTES]);

/* Once a second at most. */
void gmt_held_up_look(struct gmt_held_up *held_up, const struct gmt_control *control);

struct gmt_recording;
struct gmt_recording;
/* As rows of `loss`. 0 or negative errno. */
int gmt_held_up_store(struct gmt_recording *recording);

#endif
