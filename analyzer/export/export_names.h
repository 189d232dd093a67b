/* SPDX-License-Identifier: Apache-2.0 */
/* What rows of a trace are called, for writing it in another format. */
#ifndef GMT_ANALYZER_EXPORT_EXPORT_NAMES_H
#define GMT_ANALYZER_EXPORT_EXPORT_NAMES_H

#include <sqlite3.h>
#include <stdbool.h>

/*
 * Makes TEMP tables of names by id: export_api, export_kernel, export_kernel_name (of what the device ran,
 * by its string), export_string (of ranges), export_thread (and its tid), export_place (by stack:
 * "main.cu:42" of the user's innermost frame), export_device. A name of more than 1000 characters ends with
 * an ellipsis there: each row writes it again. 0 or a negative errno; then the reason is in
 * gmt_guard_reason.
 */
int gmt_export_names(sqlite3 *db, bool ranges);

#endif
