/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads are in while gmtrace works in them (sections.def), in words of the control page: others can see where a process hangs,
 * and the page outlives it. Around calls of the driver and of CUPTI that gmtrace makes, and where it makes a thread wait; not on
 * the path of calls that are only recorded.
 */
#ifndef GMT_RECORD_SECTION_H
#define GMT_RECORD_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "libtrace/record/layout.h"

enum gmt_section_id {
    GMT_SECTION_NONE,
#define GMT_SECTION(id, text) GMT_SECTION_##id,
#include "libtrace/sections/sections.def"
#undef GMT_SECTION
    GMT_SECTION_COUNT
};

/* One that lasts so long does not end by itself, most probably, ns. */
#define GMT_SECTION_LONG_NS UINT64_C(5000000000)

/* The calling thread is in it from now on; returns what it was in before, for gmt_section_end. They nest. Of more threads than there
 * are words the others are not shown. */
uint64_t gmt_section_begin(enum gmt_section_id section);
void gmt_section_end(uint64_t before);
/* The calling thread is in none: it left them by longjmp, or ends. */
void gmt_section_forget(void);

/* ---- for readers of a control page ---- */

struct gmt_section_seen {
    const char *text; /* of sections.def */
    uint32_t tid;
    uint64_t since_ns; /* CLOCK_MONOTONIC, to a ms */
};

/* The word at `at`, which is below GMT_SECTION_WORDS. False: no thread is in a section that is known. */
bool gmt_section_see(const struct gmt_control *control, unsigned at, struct gmt_section_seen *seen);
/* Has it lasted GMT_SECTION_LONG_NS, `now_ns` of CLOCK_MONOTONIC? */
bool gmt_section_is_long(const struct gmt_section_seen *seen, uint64_t now_ns);

#endif
