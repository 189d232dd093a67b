/* SPDX-License-Identifier: Apache-2.0 */
/* Results of `gmtrace try`: read, held to the trace that they are shown beside, and joined to its findings. */
#ifndef GMT_ANALYZER_TRIED_TRIED_H
#define GMT_ANALYZER_TRIED_TRIED_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "reports/model/tried.h"

enum { GMT_TRIED_DEVICES = 16 };

/* A program that made CUDA calls while fixes were tried. */
struct gmt_tried_program {
    const char *exe, *command, *build_id;   /* build_id: "": the file has none */
    int64_t modified_ns;                    /* the file; 0: not known */
    const char *devices[GMT_TRIED_DEVICES]; /* that it saw, in CUDA's order */
    size_t device_count;
};

/* A file of results. Its memory is the arena's that it was read into. */
struct gmt_tried_file {
    struct gmt_tried_results results;
    struct gmt_tried_program *programs;
    size_t program_count;
    int64_t began_ns; /* clock of the day */
};

/* 0; -EINVAL or another negative errno with one line in `message`: it is no such file, or says what cannot be. */
int gmt_tried_read(struct gmt_tried_file *file, const char *path, struct gmt_arena *arena,
                   char *message, size_t bytes);

/*
 * Were the fixes tried on the program, build, arguments and kind of device of this trace? 0, or -EINVAL and in `message`
 * which of these is another one, by name. Looks at what the trace holds, redacted or not.
 */
int gmt_tried_fits(const struct gmt_tried_file *file, sqlite3 *db, struct gmt_arena *arena,
                   char *message, size_t bytes);

/* Gives each finding and note what came of the fix for it, and the report all results. Fingerprints are set. */
void gmt_tried_attach(struct gmt_tried_file *file, struct gmt_report *report);

#endif
