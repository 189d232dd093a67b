/* SPDX-License-Identifier: Apache-2.0 */
/* When the first call that shares memory was made. */
#include "analyzer/trace/sharing.h"

#include "analyzer/trace/query.h"
#include "libtrace/record/traits.h"

static bool shares(const struct gmt_timeline *tl, int64_t api)
{
    return api >= 0 && (uint64_t)api < tl->api_count &&
           (tl->apis[api].traits & GMT_TRAIT_SHARES_MEMORY) != 0;
}

int gmt_sharing_begin(const struct gmt_timeline *tl, int64_t *begin_ns)
{
    struct gmt_query query;
    int rc = gmt_query_open(&query, tl->db,
                            "SELECT api_id, min(begin_ns) FROM main.api_call WHERE result = 0 "
                            "GROUP BY api_id");

    *begin_ns = GMT_NO_TIME;
    while (rc == 0 && gmt_query_next(&query)) {
        int64_t at_ns = gmt_query_time(&query, 1);

        if (shares(tl, gmt_query_int(&query, 0)) &&
            (*begin_ns == GMT_NO_TIME || at_ns < *begin_ns)) {
            *begin_ns = at_ns;
        }
    }
    return gmt_query_close(&query, rc);
}
