/* SPDX-License-Identifier: Apache-2.0 */
/* Writers of reports: one struct each over the same read-only model. A new format is a new row. */
#ifndef GMT_REPORTS_WRITERS_H
#define GMT_REPORTS_WRITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "reports/model/report.h"

enum { GMT_TEXT_LINES = 60 }; /* what one looks through at a terminal */

struct gmt_writer_options {
    size_t top; /* findings to show in full, 0: all */
    size_t
        lines; /* text only: leave out details until it has no more, if it can; 0: as many as it takes */
    bool color;
    const char *source_root; /* folder that sources are named relative to; NULL: unknown */
};

struct gmt_writer {
    const char *name;      /* as in --format */
    const char *extension; /* without the dot */
    bool wants_page;       /* shows single events: fill report.page first */
    /* 0 or negative errno. Does not close out. */
    int (*write)(const struct gmt_report *report, const struct gmt_writer_options *options,
                 FILE *out);
};

extern const struct gmt_writer gmt_writer_text, gmt_writer_json, gmt_writer_html, gmt_writer_csv,
    gmt_writer_markdown, gmt_writer_sarif;

const struct gmt_writer *gmt_writer_find(const char *name);                /* or NULL */
const struct gmt_writer *gmt_writer_find_extension(const char *extension); /* or NULL */

/* A terminal, NO_COLOR unset or empty, TERM not "dumb". */
bool gmt_writer_wants_color(int descriptor);

/* Calls writer->write; -EIO becomes what stands in the way: a full disk, a closed pipe. */
int gmt_writer_write(const struct gmt_writer *writer, const struct gmt_report *report,
                     const struct gmt_writer_options *options, FILE *out);
/* Writes into a temporary file beside path and renames it: path is whole or untouched. */
int gmt_writer_write_file(const struct gmt_writer *writer, const struct gmt_report *report,
                          const struct gmt_writer_options *options, const char *path);

#endif
