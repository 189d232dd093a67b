/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcupti.so.13 without a device, for tests: what CUPTI's documentation says of subscribers, activity
 * buffers, the clock and the range profiler, as strictly. Of device work it has only what the program
 * under test passes to it. Of several copies in one process the driver serves the first that asks it for
 * anything, and goes on to when that one is taken down, as measured (docs/cupti-notes.md).
 */
#ifndef CLIENTS_CUPTI_STANDIN_H
#define CLIENTS_CUPTI_STANDIN_H

#include <cupti_activity.h>
#include <stdbool.h>
#include <stdint.h>

/* Beside CUPTI's own functions. `kind` has just been done by the device; recorded if it is switched on. */
void standin_cupti_work(CUpti_ActivityKind kind, const char *kernel, uint64_t bytes_or_blocks);
/* The same of what was begun when the kind was `enabled`, which alone matters then. */
void standin_cupti_begun(CUpti_ActivityKind kind, const char *kernel, uint64_t bytes_or_blocks,
                         bool enabled);
/* Something has happened to a page of managed memory, and took `ns`: `counter` but for its times. */
void standin_cupti_page(const CUpti_ActivityUnifiedMemoryCounter3 *counter, uint64_t ns);
bool standin_cupti_enabled(CUpti_ActivityKind kind);
/* Ranges measured so far. */
unsigned standin_cupti_ranges(void);

/* Call `function` once, while CUPTI is being called for the next range: as callbacks of the program's are. */
void standin_cupti_call_in_range(void (*function)(void));

/* Between a copy and the driver (driver.c). False: it serves another one. */
struct standin_copy {
    void (*work)(CUpti_ActivityKind kind, const char *kernel, uint64_t bytes_or_blocks);
    void (*begun)(CUpti_ActivityKind kind, const char *kernel, uint64_t bytes_or_blocks,
                  bool enabled);
    bool (*enabled)(CUpti_ActivityKind kind);
    unsigned (*ranges)(void);
    void (*call_in_range)(void (*function)(void));
    void (*page)(const CUpti_ActivityUnifiedMemoryCounter3 *counter, uint64_t ns);
};
bool standin_attach(const struct standin_copy *copy);

/* Within the library. */
bool standin_is_served(void);
unsigned standin_ranges(void);
void standin_call_in_range(void (*function)(void));
void standin_note(const char *function);
void standin_reset_profiler(void);
void standin_range_begins(void);

#endif
