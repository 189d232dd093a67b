/* SPDX-License-Identifier: Apache-2.0 */
/* Ids of a trace, and where each stands among them. */
#include "analyzer/trace/ids.h"

#include <errno.h>
#include <stdlib.h>

#include "analyzer/trace/query.h"
#include "libtrace/base/unknown.h"

int gmt_ids_load(struct gmt_ids *ids, sqlite3 *db, const char *sql)
{
    struct gmt_query query;
    size_t capacity = 0;
    int rc = gmt_query_open(&query, db, sql);

    while (rc == 0 && gmt_query_next(&query)) {
        if (ids->n == capacity) {
            capacity = capacity > 0 ? 2 * capacity : (size_t)64;
            int64_t *grown = realloc(ids->ids, capacity * sizeof(*grown));

            if (grown == NULL) {
                rc = -ENOMEM;
                break;
            }
            ids->ids = grown;
        }
        ids->ids[ids->n++] = gmt_query_int(&query, 0);
    }
    return gmt_query_close(&query, rc);
}

int64_t gmt_ids_index(const struct gmt_ids *ids, int64_t id)
{
    size_t low = 0, high = ids->n;

    if (ids->n == 0 || id < ids->ids[0] || id > ids->ids[ids->n - 1]) {
        return GMT_UNKNOWN;
    }
    /* Ids mostly follow each other without gaps. */
    uint64_t guess = (uint64_t)id - (uint64_t)ids->ids[0];
    if (guess < ids->n && ids->ids[guess] == id) {
        return (int64_t)guess;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ids->ids[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < ids->n && ids->ids[low] == id ? (int64_t)low : GMT_UNKNOWN;
}
