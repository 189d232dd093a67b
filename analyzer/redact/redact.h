/* SPDX-License-Identifier: Apache-2.0 */
/* Reports to be mailed: what names persons, machines, folders and functions is taken out of a trace. */
#ifndef GMT_ANALYZER_REDACT_REDACT_H
#define GMT_ANALYZER_REDACT_REDACT_H

#include <sqlite3.h>
#include <stddef.h>

#include "libtrace/base/arena.h"

enum gmt_redact {
    GMT_REDACT_NOTHING,
    GMT_REDACT_PATHS, /* base names; the program without its arguments; no host, user, folder, thread
                         names, and nothing that identifies the device */
    GMT_REDACT_NAMES, /* of texts, only those that are known to be public: public_names.h */
};

/*
 * Puts temporary views of the same names in front of the tables of an open trace: whatever is read
 * after that, by any rule and for any format, is redacted. The file is not changed. 0; or -EIO with
 * the reason in message, one line.
 */
int gmt_redact_trace(sqlite3 *db, enum gmt_redact what, char *message, size_t bytes);

/* The uuid of the device that the timeline is about, past the views: it chooses the model. */
char *gmt_redact_true_uuid(sqlite3 *db, struct gmt_arena *arena);

/* Of a device model the rates that the page draws, without what it says of its origin. */
char *gmt_redact_model(struct gmt_arena *arena, const char *json);

/* The name of a model's device and its date, which are the model's own words. */
void gmt_redact_model_names(struct gmt_arena *arena, const char **device, const char **created);

/* The places and settings of a memory snapshot, which is no part of the trace. */
struct gmt_torch_snapshot;
void gmt_redact_snapshot(struct gmt_torch_snapshot *snapshot, enum gmt_redact what);

/* The base name of any path. */
const char *gmt_redact_path(const char *path);

#endif
