/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks have no trace, and which have several. */
#include "analyzer/fleet/report/fleet_write.h"
#include "libtrace/base/printable.h"
#include "reports/json/json_values.h"

enum { SPANS_SHOWN = 8 };

/* Where a trace does not say whose it is, it may be the missing one. */
static bool any_unknown(const struct gmt_fleet *fleet)
{
    bool any = false;

    for (size_t r = 0; r < fleet->count; r++) {
        any = any || (fleet->ranks[r].trouble != NULL && fleet->ranks[r].rank == NULL);
    }
    return any;
}

static void print_missing(const struct gmt_fleet_view *view)
{
    const struct gmt_fleet_job *job = &view->job;
    size_t shown = view->top > 0 && job->missing_count > SPANS_SHOWN ? SPANS_SHOWN
                                                                     : job->missing_count;
    size_t ranks = 0;

    for (size_t i = 0; i < job->missing_count; i++) {
        ranks += job->missing[i].last - job->missing[i].first + 1;
    }
    gmt_say(stdout, "  no trace %sof rank%s ", any_unknown(&view->fleet) ? "that can be read " : "",
            ranks == 1 ? "" : "s");
    for (size_t i = 0; i < shown; i++) {
        const struct gmt_fleet_span *span = &job->missing[i];

        gmt_say(stdout, span->last > span->first ? "%s%zu-%zu" : "%s%zu", i > 0 ? "," : "",
                span->first, span->last);
    }
    gmt_say(stdout, shown < job->missing_count ? ",... (%zu ranks: --top 0)\n" : "\n", ranks);
}

static void print_reruns(const struct gmt_fleet_job *job)
{
    const struct gmt_fleet_rerun *first = &job->reruns[0];

    if (job->rerun_count == 1) {
        gmt_say(stdout, "  rank %s has", first->rank);
    } else {
        gmt_say(stdout, "  %zu ranks, %s is the first of them, have", job->rerun_count,
                first->rank);
    }
    gmt_say(stdout, " several traces, one behind the other: are they of more than one run?\n");
}

void gmt_fleet_text_job(const struct gmt_fleet_view *view, void (*begin)(void))
{
    if (view->job.missing_count > 0 || view->job.rerun_count > 0) {
        begin();
    }
    if (view->job.missing_count > 0) {
        print_missing(view);
    }
    if (view->job.rerun_count > 0) {
        print_reruns(&view->job);
    }
}

json_t *gmt_fleet_json_missing(const struct gmt_fleet_job *job)
{
    json_t *list = job->is_numbered ? json_array() : json_null();

    for (size_t i = 0; i < job->missing_count; i++) {
        for (size_t rank = job->missing[i].first; rank <= job->missing[i].last; rank++) {
            json_array_append_new(list, gmt_json_integer(rank));
        }
    }
    return list;
}

json_t *gmt_fleet_json_reruns(const struct gmt_fleet_job *job)
{
    json_t *list = json_array();

    for (size_t i = 0; i < job->rerun_count; i++) {
        json_array_append_new(list,
                              json_pack("{so, so}", "rank", gmt_json_text(job->reruns[i].rank),
                                        "traces", gmt_json_integer(job->reruns[i].traces)));
    }
    return list;
}
