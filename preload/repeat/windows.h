/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses at which this process has memory, without those that a snapshot holds: a word in one of these windows
 * may lead a kernel to memory that is not restored.
 *
 * With unified addressing device memory takes its addresses from the process's: what the driver has reserved is
 * in /proc/self/maps, as all memory of the host is.
 */
#ifndef GMT_PRELOAD_REPEAT_WINDOWS_H
#define GMT_PRELOAD_REPEAT_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/repeat/reach.h"

#define GMT_WINDOWS 16320u /* a multiple of GMT_SCAN_PUT (scan.h) */

struct gmt_window {
    uint64_t first, end; /* one past the last */
};

struct gmt_windows {
    size_t count;
    size_t data_count;
    bool shared_with_devices;               /* others write device memory unseen (windows.c) */
    struct gmt_window windows[GMT_WINDOWS]; /* ascending */
    struct gmt_window data[GMT_WINDOWS];    /* what may be read or written, but private code */
    struct gmt_window scratch[GMT_WINDOWS];
    char text[16384]; /* a piece of /proc/self/maps: stacks of programs are small */
};

/* Fill `all` for `reach`. False: /proc/self/maps cannot be read, or there are too many. */
bool gmt_windows_find(struct gmt_windows *all, const struct gmt_reach *reach);

/* In one of the windows? In data of the host, from which a kernel could go on where the device may use it? Code that nobody
 * can change (most of a process's mappings, by size) is not restored, and leads nowhere. */
bool gmt_windows_hold(const struct gmt_windows *all, uint64_t word);
bool gmt_windows_hold_data(const struct gmt_windows *all, uint64_t word);

#endif
