/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of copies summed up by call site: what GM101 and GM104 have in common. */
#include "analyzer/rules/common/copy_sites.h"

#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/price/price.h"
#include "analyzer/rules/common/copy_group.h"

static const struct gmt_tl_copy *first_copy(const struct gmt_analysis *analysis,
                                            const struct gmt_run *run)
{
    return &analysis->timeline->copies[run->first];
}

bool gmt_run_is_small(const struct gmt_analysis *analysis, const struct gmt_run *run)
{
    const struct gmt_tl_copy *copy = first_copy(analysis, run);
    const struct gmt_model_curve *curve = gmt_price_curve(analysis->model, copy,
                                                          copy->host_class == GMT_MEM_PINNED);
    double limit = gmt_curve_latency_bound(curve, GMT_SMALL_LATENCY_SHARE);

    if (isnan(limit)) {
        limit = GMT_SMALL_BYTES_UNKNOWN;
    }
    return !gmt_run_is_rows(run) && !run->one_place && run->largest_bytes <= limit;
}

static bool same_site(const struct gmt_tl_copy *a, const struct gmt_tl_copy *b)
{
    return a->call.site == b->call.site && a->call.api == b->call.api &&
           a->direction == b->direction && a->host_class == b->host_class;
}

/* Without times: runs have twice the calls they need by definition; are they a part of all copies? */
static bool is_worth_reporting(const struct gmt_timeline *tl, const struct gmt_copy_site *site)
{
    return !tl->simulated || (double)site->copies >= GMT_EXCESS_SHARE * (double)tl->copy_count;
}

/* What kernels hid of each run, by its index. To be freed; NULL: no memory. */
static double *hidden_of_runs(const struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    double *hidden = calloc(analysis->runs->count + 1, sizeof(*hidden));
    struct gmt_cover kernels;

    if (gmt_cover_make(&kernels, tl, GMT_COVER_KERNELS) != 0) {
        free(hidden);
        hidden = NULL;
    }
    for (size_t i = 0; hidden != NULL && i < tl->copy_count; i++) {
        if (tl->copies[i].run >= 0) {
            hidden[tl->copies[i].run] += gmt_copy_hidden_ns(tl, &kernels, &tl->copies[i]);
        }
    }
    gmt_cover_free(&kernels);
    return hidden;
}

enum gmt_outcome gmt_copy_sites_report(struct gmt_analysis *analysis,
                                       bool (*wants)(const struct gmt_analysis *analysis,
                                                     const struct gmt_run *run),
                                       void (*report)(struct gmt_analysis *analysis,
                                                      const struct gmt_copy_site *site))
{
    const struct gmt_runs *runs = analysis->runs;
    bool *wanted = calloc(runs->count + 1, sizeof(*wanted));
    bool *mine = calloc(runs->count + 1, sizeof(*mine));
    double *hidden = hidden_of_runs(analysis);
    enum gmt_outcome outcome = GMT_OUTCOME_PASS;

    if (wanted == NULL || mine == NULL || hidden == NULL) {
        outcome = gmt_could_not(analysis, "not enough memory");
        goto out;
    }
    for (size_t i = 0; i < runs->count; i++) {
        wanted[i] = wants(analysis, &runs->runs[i]);
    }
    /* Runs are sorted by call site (gmt_runs_find), so those of one site are neighbours. */
    for (size_t i = 0, end; i < runs->count; i = end) {
        struct gmt_copy_site site = {.wanted = mine};
        const struct gmt_tl_copy *copy = first_copy(analysis, &runs->runs[i]);

        for (end = i; end < runs->count && same_site(copy, first_copy(analysis, &runs->runs[end]));
             end++) {
            const struct gmt_run *run = &runs->runs[end];

            mine[end] = wanted[end];
            if (!wanted[end]) {
                continue;
            }
            if (site.runs++ == 0) {
                site.first = run->first;
                site.example = run;
            }
            site.copies += run->count;
            site.bytes += run->bytes;
            site.cost_ns += run->cost_ns;
            site.hidden_ns += hidden[end];
            site.largest_bytes = fmax(site.largest_bytes, run->largest_bytes);
        }
        if (site.runs > 0 && is_worth_reporting(analysis->timeline, &site)) {
            report(analysis, &site);
        }
        for (size_t k = i; k < end; k++) {
            mine[k] = false;
        }
    }
out:
    free(wanted);
    free(mine);
    free(hidden);
    return outcome;
}

static void put_sql(struct gmt_analysis *analysis, const struct gmt_copy_site *site,
                    struct gmt_finding *finding)
{
    const struct gmt_timeline *tl = analysis->timeline;
    size_t *members = calloc(site->copies + 1, sizeof(*members)), n = 0;

    analysis->report->arena->failed |= members == NULL;
    for (size_t i = 0; members != NULL && i < tl->copy_count && n < site->copies; i++) {
        if (tl->copies[i].run >= 0 && site->wanted[tl->copies[i].run]) {
            members[n++] = i;
        }
    }
    if (n > 0) {
        finding->sql = gmt_text(analysis,
                                "SELECT count(*), sum(bytes), sum(end_ns - begin_ns) FROM transfer "
                                "WHERE %s",
                                gmt_copy_group_condition(analysis, "id", members, n));
    }
    free(members);
}

void gmt_copy_site_fill(struct gmt_analysis *analysis, const struct gmt_copy_site *site,
                        struct gmt_finding *finding)
{
    const struct gmt_timeline *tl = analysis->timeline;
    const struct gmt_tl_copy *copy = &tl->copies[site->first];

    finding->where = gmt_where_of_call(analysis, &copy->call);
    finding->cost_ns = site->cost_ns;
    gmt_finding_evidence(finding, "copies", "count", (double)site->copies);
    gmt_finding_evidence(finding, "runs", "count", (double)site->runs);
    gmt_finding_evidence(finding, "bytes", "bytes", site->bytes);
    gmt_finding_evidence(finding, "largest_copy", "bytes", site->largest_bytes);
    if (!gmt_timeline_is_untimed(tl)) {
        gmt_finding_evidence(finding, "time", "ns", site->cost_ns);
    }
    put_sql(analysis, site, finding);
    for (size_t i = 0; i < tl->copy_count; i++) {
        if (tl->copies[i].run >= 0 && site->wanted[tl->copies[i].run]) {
            gmt_finding_claim(analysis, finding, gmt_copy_interval(tl, &tl->copies[i]));
        }
    }
}

void gmt_copy_site_price(struct gmt_analysis *analysis, const struct gmt_copy_site *site,
                         struct gmt_finding *finding, bool two_d)
{
    const struct gmt_tl_copy *copy = &analysis->timeline->copies[site->first];
    const struct gmt_model *model = analysis->model;
    const struct gmt_model_curve *one = gmt_price_curve(model, copy,
                                                        copy->host_class == GMT_MEM_PINNED);
    const struct gmt_model_curve *many = gmt_price_run_curve(model, copy);
    double modelled_ns = 0, after_ns = 0, batched_ns = 0;

    if (gmt_timeline_is_untimed(analysis->timeline)) {
        finding->method = "n/a: no times (software device); calls and bytes are exact";
        return;
    }
    for (size_t i = 0; i < analysis->runs->count; i++) {
        const struct gmt_run *run = &analysis->runs->runs[i];

        if (!site->wanted[i]) {
            continue;
        }
        modelled_ns += (double)run->count * gmt_curve_at(many, run->bytes / (double)run->count);
        after_ns += two_d ? gmt_price_2d(model, copy, run->largest_bytes, (double)run->count)
                          : gmt_curve_at(one, run->bytes);
        batched_ns += (double)run->count *
                      gmt_price_batched(model, copy, run->bytes / (double)run->count);
    }
    /* Without a tracer the copies may cost what the model says: that bounds the saving. */
    double measured = site->cost_ns - after_ns, without = modelled_ns - after_ns;
    double untraced_ns = gmt_price_untraced_ns(model, analysis->timeline, (double)site->copies,
                                               site->cost_ns, 0, modelled_ns);
    /* One call waits for what it meets, thousands for their average: half of it is in doubt. */
    double spread = fmax(0.5, gmt_curve_relative_spread(one, site->bytes / (double)site->runs)) *
                    after_ns;
    gmt_finding_evidence(finding, "time_of_one_copy_per_run", "ns", after_ns);
    gmt_finding_evidence(finding, "modelled_time_of_the_copies", "ns", modelled_ns);
    gmt_finding_evidence(finding, "added_by_tracing", "ns", site->cost_ns - untraced_ns);
    if (!two_d && isfinite(batched_ns)) {
        gmt_finding_evidence(finding, "time_of_one_batch_per_run", "ns", batched_ns);
    }
    /* The model of calls by the thousand is off by a few per cent, not by what tracing takes. */
    double most = fmin(site->cost_ns, untraced_ns * (1 + GMT_MODEL_UNCERTAINTY)) - after_ns;
    double share = gmt_finding_hidden(analysis, finding, site->hidden_ns, site->cost_ns);
    gmt_finding_saving(finding, share * (fmin(measured, without) - spread),
                       share * (untraced_ns - after_ns), fmax(most, without) + spread);
    finding->confidence = gmt_confidence_of_model(model);
}
