/* SPDX-License-Identifier: Apache-2.0 */
/* Losses of a recording, by what they leave unknown. */
#include "analyzer/trace/losses.h"

#include "analyzer/trace/query.h"

struct gmt_loss gmt_loss_largest(sqlite3 *db, const char *kinds, struct gmt_arena *arena)
{
    struct gmt_loss loss = {.kind = NULL};
    struct gmt_query query;
    int rc = gmt_query_open(
        &query, db,
        gmt_arena_text(arena,
                       "SELECT m.kind, coalesce((SELECT v.detail FROM loss v WHERE v.kind = m.kind "
                       "AND v.count = m.count ORDER BY v.detail LIMIT 1), ''), m.count FROM "
                       "main.loss m WHERE m.count > 0 AND m.kind IN (%s) "
                       "ORDER BY m.count DESC, m.kind, m.detail LIMIT 1",
                       kinds));

    if (rc == 0 && gmt_query_next(&query))
        loss = (struct gmt_loss){gmt_query_text(&query, 0, arena), gmt_query_text(&query, 1, arena),
                                 gmt_query_count(&query, 2)};
    if (loss.detail == NULL)
        loss = (struct gmt_loss){.kind = NULL};
    (void)gmt_query_close(&query, rc);
    return loss;
}
