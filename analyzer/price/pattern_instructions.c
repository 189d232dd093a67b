/* SPDX-License-Identifier: Apache-2.0 */
/* What single instructions show of a pattern: sums mix those that waste with those that do not. */
#include <math.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/pattern.h"
#include "analyzer/trace/query.h"

/* Copies from global to shared memory load it, too. */
static void bind_kinds(sqlite3_stmt *statement, bool loads)
{
    sqlite3_bind_text(statement, 2, loads ? "global_load" : "global_store", -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, loads ? "async_copy" : "global_store", -1, SQLITE_STATIC);
}

double gmt_pattern_lone_share(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                              bool loads, double sectors)
{
    struct gmt_query query;
    double lone = 0, all = 0;

    if (!tl->has_instructions || tl->db == NULL) {
        return NAN;
    }
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT sectors / requests, sectors - ideal_sectors FROM v_instruction "
                            "WHERE class_id = ?1 AND kind IN (?2, ?3) AND requests > 0 AND "
                            "sectors > ideal_sectors");
    if (rc == 0) {
        sqlite3_bind_int64(query.statement, 1, class->id);
        bind_kinds(query.statement, loads);
    }
    while (rc == 0 && gmt_query_next(&query)) {
        double excess = gmt_query_real(&query, 1);

        all += excess;
        if (fabs(gmt_query_real(&query, 0) / sectors - 1) <= GMT_ARRAY_MATCH) {
            lone += excess;
        }
    }
    gmt_query_close(&query, rc);
    return all > 0 ? lone / all : NAN;
}

bool gmt_pattern_has_narrow_words(const struct gmt_timeline *tl, const struct gmt_tl_class *class,
                                  bool loads)
{
    struct gmt_query query;
    double narrow = NAN;

    if (!tl->has_instructions || tl->db == NULL) {
        return true;
    }
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT max(width < 4) FROM v_instruction WHERE class_id = ?1 AND "
                            "kind IN (?2, ?3) AND width IS NOT NULL");
    if (rc == 0) {
        sqlite3_bind_int64(query.statement, 1, class->id);
        bind_kinds(query.statement, loads);
    }
    if (rc == 0 && gmt_query_next(&query)) {
        narrow = gmt_query_real(&query, 0);
    }
    gmt_query_close(&query, rc);
    return !(narrow < 1);
}
