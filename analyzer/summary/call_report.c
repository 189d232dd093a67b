/* SPDX-License-Identifier: Apache-2.0 */
/* The API summary: calls and their time by function of the driver, and by place. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/findings/rule.h"
#include "analyzer/summary/host_basis.h"
#include "analyzer/summary/summary.h"

enum { MOST_PLACES = 3 };

static struct gmt_call_row row_of(const struct gmt_timeline *tl, const struct gmt_call_sum *sum)
{
    const struct gmt_tl_api *api = &tl->apis[sum->key[0]];

    return (struct gmt_call_row){.name = api->name != NULL ? api->name : "unknown function",
                                 .runtime_name = api->runtime_name,
                                 .calls = sum->count,
                                 .time_ns = tl->simulated ? NAN : sum->time_ns,
                                 .longest_ns = tl->simulated ? NAN : sum->longest_ns};
}

static void put_place(struct gmt_analysis *analysis, const struct gmt_host_calls *calls,
                      const struct gmt_call_sum *sum, struct gmt_call_row *row)
{
    bool timed = !analysis->timeline->simulated;
    struct gmt_call_place *place = GMT_PUSH(analysis->report->arena, row->places, row->place_count);

    if (place != NULL) {
        *place = (struct gmt_call_place){
            .where = gmt_host_call_where(analysis, &calls->rows[sum->first]),
            .count = sum->count,
            .time_ns = timed ? sum->time_ns : NAN,
            .longest_ns = timed ? sum->longest_ns : NAN};
    }
}

/* Without times: else those of the CPU that executed the program would order what is called equally often, and
 * differently in each run. */
static int sum_up(const struct gmt_host_calls *calls, bool timed, struct gmt_call_sums *functions,
                  struct gmt_call_sums *places)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < calls->count; i++) {
        const struct gmt_host_call *call = &calls->rows[i];
        double ns = timed ? fmax(0, (double)(call->end_ns - call->begin_ns)) : 0;

        rc = gmt_call_sums_add(functions, (uint64_t[2]){(uint64_t)call->api, 0}, ns, i, 0);
        if (rc == 0) {
            rc = gmt_call_sums_add(places, (uint64_t[2]){(uint64_t)call->api, call->site}, ns, i,
                                   0);
        }
    }
    return rc;
}

int gmt_call_report(struct gmt_analysis *analysis, const struct gmt_host_calls *calls)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_report *report = analysis->report;
    struct gmt_call_sums functions = {0}, places = {0};
    int rc = sum_up(calls, !tl->simulated, &functions, &places);

    if (rc != 0) {
        goto out;
    }
    gmt_call_sums_rank(&functions, !tl->simulated);
    gmt_call_sums_rank(&places, !tl->simulated);
    for (size_t i = 0; i < functions.count; i++) {
        struct gmt_call_row *row = GMT_PUSH(report->arena, report->calls, report->call_count);

        if (row == NULL) {
            break;
        }
        *row = row_of(tl, &functions.rows[i]);
        for (size_t k = 0; k < places.count && row->place_count < MOST_PLACES; k++) {
            if (places.rows[k].key[0] == functions.rows[i].key[0]) {
                put_place(analysis, calls, &places.rows[k], row);
            }
        }
    }
out:
    free(functions.rows);
    free(places.rows);
    return rc;
}

int gmt_host_report(struct gmt_analysis *analysis, const struct gmt_host_basis *basis)
{
    int rc = gmt_call_report(analysis, &basis->calls);

    return rc == 0 ? gmt_time_report(analysis, basis) : rc;
}
