/* SPDX-License-Identifier: Apache-2.0 */
/* The writers of reports, found by name. A new format is a row of model/formats.h. */
#ifndef GMT_REPORTS_WRITERS_H
#define GMT_REPORTS_WRITERS_H

#include <stdbool.h>
#include <stdio.h>

#include "reports/model/formats.h"
#include "reports/model/writer.h"

#define GMT_FORMAT_DECLARED(name, ending) extern const struct gmt_writer gmt_writer_##name;
GMT_FORMATS(GMT_FORMAT_DECLARED, GMT_FORMAT_DECLARED, GMT_FORMAT_DECLARED)
#undef GMT_FORMAT_DECLARED

const struct gmt_writer *gmt_writer_find(const char *name);                /* or NULL */
const struct gmt_writer *gmt_writer_find_extension(const char *extension); /* or NULL */

/* AUTO: on a terminal, NO_COLOR unset or empty, TERM not "dumb". In the order of the words of --color. */
enum gmt_color { GMT_COLOR_AUTO, GMT_COLOR_ALWAYS, GMT_COLOR_NEVER };
bool gmt_writer_wants_color(int descriptor, enum gmt_color wish);
/* Of the terminal; 0: it is none, or has no known width. */
size_t gmt_writer_columns(int descriptor);

/* Calls writer->write; -EIO becomes what stands in the way: a full disk, a closed pipe. */
int gmt_writer_write(const struct gmt_writer *writer, const struct gmt_report *report,
                     const struct gmt_writer_options *options, FILE *out);
/* Writes into a temporary file beside path and renames it: path is whole or untouched. */
int gmt_writer_write_file(const struct gmt_writer *writer, const struct gmt_report *report,
                          const struct gmt_writer_options *options, const char *path);

#endif
