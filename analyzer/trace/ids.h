/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of a trace, and where each stands among them. */
#ifndef GMT_ANALYZER_TRACE_IDS_H
#define GMT_ANALYZER_TRACE_IDS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

/* Ascending; the place of one is its index. */
struct gmt_ids {
    int64_t *ids;
    size_t n;
};

/* sql: one column, ascending, without NULL and doubles. 0, -ENOMEM, -EIO. */
int gmt_ids_load(struct gmt_ids *ids, sqlite3 *db, const char *sql);
int64_t gmt_ids_index(const struct gmt_ids *ids, int64_t id); /* GMT_UNKNOWN: not among them */

#endif
