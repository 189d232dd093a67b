/* SPDX-License-Identifier: Apache-2.0 */
/* gmtrace top: what its files share. */
#ifndef GMT_LAUNCHER_TOP_H
#define GMT_LAUNCHER_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "launcher/recorded.h"
#include "libtrace/store/live/live_page.h"

/* One reading of a process. */
struct gmt_top_reading {
    struct gmt_recorded recorded;
    char program[64];
    bool has_recorder; /* one is at work on the spool */
    int error;         /* of gmt_live_read; the page is zeros then */
    struct gmt_live_page page;
};

/* Two readings of one process, in order. */
struct gmt_top_pair {
    const struct gmt_top_reading *before; /* NULL: there is none yet */
    const struct gmt_top_reading *now;
};

/* Print what moved between both: a table of one process. At most `lines` lines of `columns` (0: no limit). */
void gmt_top_print(FILE *out, const struct gmt_top_pair *pair, size_t lines, size_t columns);

/* A table with a line for each of several processes. */
void gmt_top_list(FILE *out, const struct gmt_top_pair *pairs, size_t count, size_t columns);

#endif
