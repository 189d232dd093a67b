/* SPDX-License-Identifier: Apache-2.0 */
/* What the program's process was asked for and its recorder does: file `settings` of the spool, where there is something. */
#ifndef GMT_SETTINGS_SPOOL_SETTINGS_H
#define GMT_SETTINGS_SPOOL_SETTINGS_H

#include <stdint.h>

#define GMT_SETTINGS_FILE "settings"
#define GMT_SETTINGS_MAGIC UINT64_C(0x746573746d67) /* "gmtset" */
#define GMT_SETTINGS_VERSION 1u

enum { GMT_SETTINGS_STEP_BYTES = 256 };

enum {
    GMT_SETTINGS_WATCHES_STEPS = 1, /* option --dump-on slow-step                     */
    GMT_SETTINGS_AGGREGATES = 2,    /* option --aggregate: sums over steps, no calls  */
};

struct gmt_spool_settings {
    uint64_t magic;
    uint32_t version;
    uint32_t flags;      /* GMT_SETTINGS_... */
    uint64_t metrics_ns; /* between two writings of the metrics file */
    char metrics[4096];  /* its path, absolute; "": there is none */
    char labels[256];    /* of all its samples: pid="1",rank="0", or "" */
    char step
        [GMT_SETTINGS_STEP_BYTES]; /* the range that is a step, as NAME or NAME@DOMAIN; "": any */
};

/* Write them into the folder of a spool, which is open. 0 or negative errno. */
int gmt_spool_settings_write(int folder, struct gmt_spool_settings *settings);

/* Read them. 0; -ENOENT: there are none, and *settings is zeros, as after any error; -EBADMSG: it is no such
 * file. */
int gmt_spool_settings_read(int folder, struct gmt_spool_settings *settings);

#endif
