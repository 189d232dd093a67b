/* SPDX-License-Identifier: Apache-2.0 */
/* Traces that were recorded inside of ranges of one name only (record/range_scope.h). */
#ifndef GMT_STORE_INGEST_RANGE_SCOPE_H
#define GMT_STORE_INGEST_RANGE_SCOPE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/* Ranges r, their names n and domains d, of the name ?1: NAME or NAME@DOMAIN. */
#define GMT_RANGES_OF_NAME \
    "main.range r JOIN main.string n ON n.id = r.name_id LEFT JOIN main.string d " \
    "ON d.id = r.domain_id WHERE (n.text = ?1 OR n.text || '@' || d.text = ?1)"

/* True if the trace was; `name` gets theirs, "" where the trace does not say it. */
bool gmt_range_scope(sqlite3 *db, char *name, size_t bytes);

/*
 * At the end of a recording: where no such range came, the capability becomes missing and its detail
 * lists the names that did. 0 or negative errno.
 */
int gmt_range_scope_settle(sqlite3 *db);

#endif
