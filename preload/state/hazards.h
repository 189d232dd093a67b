/* SPDX-License-Identifier: Apache-2.0 */
/*
 * May a kernel, or what runs beside it, wait for something that happens only after its launch has returned?
 * Measuring a launch holds its caller until the kernel is done.
 *
 * A launch is judged by what it is given (hazards.def), not by what else the process does: memory that other devices or
 * processes use keeps those launches from being measured that are given an address in it. Work that is under way
 * in some stream is judged when a launch is to be measured (waits.h).
 */
#ifndef GMT_PRELOAD_STATE_HAZARDS_H
#define GMT_PRELOAD_STATE_HAZARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/unmeasured.h"
#include "preload/state/allocmap.h"

struct gmt_hook_call;

enum gmt_hazard {
#define GMT_HAZARD(id, action, measured, repeated) GMT_HAZARD_##id,
#include "preload/state/hazards.def"
#undef GMT_HAZARD
    GMT_HAZARD_NONE,
    GMT_HAZARD_COUNT
};

enum gmt_hazard_action { GMT_HAZARD_MEASURED, GMT_HAZARD_TRIED, GMT_HAZARD_REFUSED };

struct gmt_hazard_row {
    enum gmt_hazard_action action;
    enum gmt_unmeasured measured, repeated; /* GMT_MEASURABLE in the row of GMT_HAZARD_NONE */
};

extern const struct gmt_hazard_row gmt_hazard_rows[GMT_HAZARD_COUNT];

/* What a launch is given. */
struct gmt_hazard_given {
    bool communicates; /* its name or kind says that it waits for other kernels */
    bool known;        /* all of its arguments were looked through */
    bool host;         /* one leads to memory that the host can change */
    bool others;       /* one leads to memory that another device or process uses */
};

/* An argument leads to `found`; `context`: the launch's (gmt_context.id), 0: there is only one. */
void gmt_hazard_given_address(struct gmt_hazard_given *given, const struct gmt_allocation *found,
                              uint16_t context);
/* The same for each 8-byte word of `count` bytes that is an address. */
void gmt_hazard_given_words(struct gmt_hazard_given *given, const uint8_t *bytes, size_t count,
                            uint16_t context);

/* The launch's row. */
enum gmt_hazard gmt_hazard_of(const struct gmt_hazard_given *given);

/* Is it memory that another device or process uses, seen from `context` as above? */
bool gmt_hazards_of_others(const struct gmt_allocation *allocation, uint16_t context);

/* Can a kernel of this process reach memory of another device or process at all? */
bool gmt_hazards_any_of_others(void);

/* True where nothing forbids to measure: GMTRACE_COUNTERS=on, and the software device, which measures
 * without holding anybody. */
bool gmt_hazards_ignored(void);

/* True while work of some stream may be waiting for the host, after `within_ns` at most (waits.h). */
bool gmt_hazards_waiting(uint64_t within_ns);

/* The call `call` gave kernels, if it succeeded, access to memory of others: which, for the note. Such memory
 * can be used only when the call has returned, and not at all if it failed. */
void gmt_hazards_opened(const struct gmt_hook_call *call, const char *what);

/* The call `call`, if it succeeded, let others use [first, first + bytes): what is done there twice can be seen. `bytes` 0:
 * some memory that is mapped (cuMemMap), it is not known which. */
void gmt_hazards_exported(const struct gmt_hook_call *call, uint64_t first, uint64_t bytes);
/* ... and no allocation is known there: arrays of a graphics API, memory that no hook saw allocated. */
bool gmt_hazards_any_unknown(void);

/* Nothing is known. Called when recording starts. */
void gmt_hazards_start(void);

#endif
