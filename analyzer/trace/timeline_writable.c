/* SPDX-License-Identifier: Apache-2.0 */
/* How much a launch can write: what it got by parameters that are not pointers to const. */
#include <errno.h>
#include <math.h>

#include "analyzer/base/kernel_name.h"
#include "analyzer/base/thresholds.h"
#include "analyzer/trace/query.h"
#include "analyzer/trace/timeline.h"

enum { WARP_LANES = 32 };

/* The most of any of its sets of arguments; NAN where the size of one is not known. */
static int measure(struct gmt_timeline *tl, struct gmt_tl_class *class)
{
    static const char sql[] =
        "SELECT a.set_id, a.allocation_id, coalesce(a.parameter, -1), coalesce(d.bytes, h.bytes) "
        "FROM launch_argument a LEFT JOIN allocation d ON d.id = a.allocation_id "
        "LEFT JOIN host_allocation h ON h.id = a.allocation_id WHERE a.set_id IN "
        "(SELECT argument_set_id FROM launch WHERE class_id = ?1) "
        "ORDER BY a.set_id, a.allocation_id";
    struct gmt_query query;
    double sum = 0, most = 0;
    int64_t set = 0, last = 0;
    int rc = gmt_query_open(&query, tl->db, sql);

    if (rc == 0) {
        sqlite3_bind_int64(query.statement, 1, class->id);
    }
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t id = gmt_query_id(&query, 1);
        int64_t parameter = gmt_query_int(&query, 2);

        if (gmt_query_id(&query, 0) != set) {
            sum = (double)(last = 0);
        }
        set = gmt_query_id(&query, 0);
        if (id == last || (parameter >= 0 && parameter < INT16_MAX &&
                           gmt_parameter_is_const(class->signature, (int)parameter))) {
            continue;
        }
        last = id;
        sum += gmt_query_real(&query, 3);
        most = isnan(sum) ? NAN : fmax(most, sum);
        if (isnan(most)) {
            break;
        }
    }
    class->writable_bytes = most > 0 ? most : NAN;
    return gmt_query_close(&query, rc);
}

/* The others write so little that nobody asks where to. */
static bool stores_in_a_loop(const struct gmt_tl_class *class)
{
    double warps = (double)class->grid[0] * (double)class->grid[1] * (double)class->grid[2] *
                   ceil((double)class->block[0] * (double)class->block[1] *
                        (double)class->block[2] / WARP_LANES);

    return class->counter[GMT_M_global_store_requests] > GMT_ELEMENTWISE_REQUESTS * warps;
}

int gmt_timeline_load_writable(struct gmt_timeline *tl)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < tl->class_count; i++) {
        /* Of launches with incomplete arguments nothing is known. */
        if (isfinite(tl->classes[i].footprint_bytes) && tl->classes[i].signature != NULL &&
            stores_in_a_loop(&tl->classes[i])) {
            rc = measure(tl, &tl->classes[i]);
        }
    }
    return rc;
}
