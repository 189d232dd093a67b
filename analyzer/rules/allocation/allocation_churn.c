/* SPDX-License-Identifier: Apache-2.0 */
/* GM201: device memory of the same size allocated and freed over and over. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/modelled_times.h"
#include "analyzer/price/price.h"
#include "analyzer/price/untimed_waits.h"
#include "analyzer/trace/cover.h"
#include "libtrace/base/format.h"

static int compare(const void *a, const void *b, void *timeline)
{
    const struct gmt_timeline *tl = timeline;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const struct gmt_tl_allocation *p = &tl->allocations[x];
    const struct gmt_tl_allocation *q = &tl->allocations[y];

    if (p->call.site != q->call.site) {
        return p->call.site < q->call.site ? -1 : 1;
    }
    if (p->call.api != q->call.api) {
        return p->call.api < q->call.api ? -1 : 1;
    }
    if (p->bytes != q->bytes) {
        return p->bytes < q->bytes ? -1 : 1;
    }
    return (x > y) - (x < y);
}

static bool same(const struct gmt_tl_allocation *p, const struct gmt_tl_allocation *q)
{
    return p->call.site == q->call.site && p->call.api == q->call.api && p->bytes == q->bytes;
}

struct churn {
    size_t pairs;
    double alloc_ns, free_ns, wait_ns, hidden_ns; /* all but the first pair */
};

/* Moves what is a pair to the front of members. */
static struct churn add_up(struct gmt_analysis *analysis, const struct gmt_cover *kernels,
                           struct gmt_finding *finding, size_t *members, size_t n)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct churn churn = {0};
    int64_t freed_ns = INT64_MIN;

    for (size_t i = 0; i < n; i++) {
        const struct gmt_tl_allocation *a = &tl->allocations[members[i]];

        if (a->free_begin_ns == GMT_NO_TIME || a->free_end_ns == GMT_NO_TIME ||
            a->call.begin_ns < freed_ns) {
            continue;
        }
        freed_ns = a->free_end_ns;
        members[churn.pairs] = members[i];
        if (churn.pairs++ == 0 || gmt_timeline_is_untimed(tl)) {
            continue;
        }
        if (tl->modelled) {
            const struct gmt_memory_row row = {
                .kind = a->kind, .bytes = a->bytes, .free_begin_ns = a->free_begin_ns};
            double pair_ns = gmt_modelled_pair_ns(analysis->model, &row);

            churn.alloc_ns += pair_ns;
            gmt_finding_claim_modelled(analysis, finding, pair_ns);
            continue;
        }
        int64_t wait_ns = gmt_timeline_wait_ns(tl, a->free_begin_ns);
        int64_t free_ns = a->free_end_ns - a->free_begin_ns;

        if (wait_ns > free_ns) {
            wait_ns = free_ns;
        }
        churn.alloc_ns += (double)(a->call.end_ns - a->call.begin_ns);
        churn.free_ns += (double)(free_ns - wait_ns);
        churn.wait_ns += (double)wait_ns;
        struct gmt_interval calls[] = {{a->call.begin_ns, a->call.end_ns},
                                       {a->free_begin_ns + wait_ns, a->free_end_ns}};
        for (size_t k = 0; k < 2; k++) {
            churn.hidden_ns += gmt_cover_within(kernels, calls[k].begin_ns, calls[k].end_ns);
            gmt_finding_claim(analysis, finding, calls[k]);
        }
    }
    return churn;
}

/* What is left to pay for the first pool of a program. */
static double making_a_pool(const struct gmt_timeline *tl)
{
    for (size_t i = 0; i < tl->allocation_count; i++) {
        if (tl->allocations[i].kind == GMT_ALLOC_ASYNC) {
            return 0;
        }
    }
    return GMT_POOL_MADE_NS;
}

/* The first pair is counted, and costs nothing: it stays. */
static void put_sql(struct gmt_analysis *analysis, struct gmt_finding *finding,
                    const size_t *members, size_t pairs)
{
    const struct gmt_tl_allocation *all = analysis->timeline->allocations;
    const struct gmt_tl_allocation *a = &all[members[0]];
    int64_t *ids = calloc(pairs + 1, sizeof(*ids));
    const char *place = gmt_text(
        analysis, "bytes = %" PRId64 " AND free_begin_ns IS NOT NULL AND %s", a->bytes,
        gmt_call_condition(analysis, a->call.stack_id, (int64_t)a->call.caller));

    for (size_t i = 0; ids != NULL && i < pairs; i++) {
        ids[i] = all[members[i]].call.id;
    }
    finding->sql = gmt_text(analysis,
                            "SELECT count(*), sum((end_ns - begin_ns) * (id <> %" PRId64 ")), "
                            "sum((free_end_ns - free_begin_ns) * (id <> %" PRId64 ")) FROM "
                            "allocation WHERE %s",
                            a->call.id, a->call.id,
                            gmt_id_condition(analysis, "id", ids, pairs, place));
    free(ids);
}

/* Why so many pairs are too few to matter, or NULL. */
static const char *too_few(struct gmt_analysis *analysis, size_t pairs)
{
    const struct gmt_timeline *tl = analysis->timeline;
    char percent[GMT_FORMAT_BYTES];

    if (pairs < GMT_CHURN_MIN_PAIRS) {
        return gmt_text(analysis, "fewer than %d pairs: this may be set-up instead of a loop",
                        GMT_CHURN_MIN_PAIRS);
    }
    if (tl->simulated && (double)pairs < GMT_EXCESS_SHARE * (double)tl->allocation_count) {
        return gmt_text(analysis, "less than %s of all allocations",
                        gmt_format_percent(percent, 100 * GMT_EXCESS_SHARE));
    }
    return NULL;
}

static void report_site(struct gmt_analysis *analysis, const struct gmt_cover *kernels,
                        size_t *members, size_t n)
{
    const struct gmt_timeline *tl = analysis->timeline;
    struct gmt_finding *finding = gmt_finding_new(analysis);
    char size[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];

    if (finding == NULL) {
        return;
    }
    struct churn churn = add_up(analysis, kernels, finding, members, n);
    if (churn.pairs < 2) {
        return;
    }
    const struct gmt_tl_allocation *a = &tl->allocations[members[0]];
    if (gmt_timeline_is_untimed(tl)) {
        churn.alloc_ns = churn.free_ns = churn.wait_ns = churn.hidden_ns = NAN;
    }
    double saved = churn.alloc_ns + churn.free_ns;
    bool unknown = gmt_waits_are_unknown(tl);
    double idle = (double)(churn.pairs - 1) *
                  gmt_curve_at(&analysis->model->malloc_free, (double)a->bytes);
    /* A model without pools has nothing to subtract: then it is the loop that has to go. */
    double pool = gmt_known(
        (double)(churn.pairs - 1) *
        gmt_curve_at(&analysis->model->malloc_async_free_async, (double)a->bytes));
    /* The model's time is that of the quickest pass; its spread reaches to the slowest. */
    double slower = pool * gmt_known(gmt_curve_relative_spread(
                               &analysis->model->malloc_async_free_async, (double)a->bytes));
    double made = making_a_pool(tl);
    finding->where = gmt_where_of_call(analysis, &a->call);
    finding->cost_ns = saved;
    gmt_finding_evidence(finding, "pairs", "count", (double)churn.pairs);
    gmt_finding_evidence(finding, "bytes_each", "bytes", (double)a->bytes);
    gmt_finding_evidence(finding, "allocating", "ns", churn.alloc_ns);
    gmt_finding_evidence(finding, "freeing", "ns", churn.free_ns);
    gmt_finding_evidence(finding, "waiting_in_free", "ns", churn.wait_ns);
    gmt_finding_evidence(finding, "hidden_behind_kernels", "ns", churn.hidden_ns);
    if (pool > 0 && !gmt_timeline_is_untimed(tl)) {
        gmt_finding_evidence(finding, "the_same_from_a_pool", "ns", pool);
    }
    finding->headline = gmt_text(
        analysis, "%s are allocated and freed %s times%s%s",
        gmt_format_bytes(size, (double)a->bytes), gmt_format_count(count, (double)churn.pairs),
        isnan(saved) ? "" : ": ", isnan(saved) ? "" : gmt_time_words(analysis, saved));
    put_sql(analysis, finding, members, churn.pairs);
    finding->method = "measured time of every pair but the first, without waiting for kernels, "
                      "minus the model's time of such pairs from a pool";
    finding->effort = GMT_EFFORT_SMALL;
    finding->fix = gmt_text(analysis,
                            "Allocate the %s once, before the loop, or use the stream-ordered "
                            "allocator%s.",
                            size, made > 0 ? ", whose first call takes some 10 ms" : "");
    finding->sketch = gmt_text(analysis,
                               "cudaMalloc(&p, %" PRId64 ");  // once, before the loop; or in it\n"
                               "cudaMallocAsync(&p, %" PRId64 ", stream);  // from a pool\n"
                               "...\n"
                               "cudaFreeAsync(p, stream);  // no device-wide wait",
                               a->bytes, a->bytes);
    /* How much of it was waiting is not known: no more than such pairs take on an idle device. */
    double best = unknown ? fmin(saved, isfinite(idle) ? idle : churn.alloc_ns) : saved;
    double low = isfinite(idle) ? fmin(idle, saved) : saved / 2;
    /* The host may be what the device waits for next: then hidden time counts after all. */
    gmt_finding_saving(finding, low - churn.hidden_ns - pool - slower - made,
                       best - churn.hidden_ns - pool, saved);
    if (unknown) {
        finding->method =
            "time of every pair but the first, no more than such pairs take on an idle "
            "device by the model (what cudaFree waited for kernels is not in the "
            "trace), minus the model's time of such pairs from a pool";
    }
    if (churn.hidden_ns > 0) {
        finding->method = gmt_text(analysis,
                                   "%s (%s of it overlap with kernels and save nothing, unless the "
                                   "device waits for the host afterwards)",
                                   finding->method, gmt_format_ns(size, churn.hidden_ns));
    }
    finding->confidence = GMT_CONFIDENCE_MEASURED;
    if (gmt_timeline_is_untimed(tl)) {
        finding->method = "n/a: no times (software device); calls and bytes are exact";
        finding->confidence = GMT_CONFIDENCE_HEURISTIC;
    }
    gmt_finding_note_small(finding, too_few(analysis, churn.pairs));
    gmt_finding_emit(analysis, finding);
}

static enum gmt_outcome run(struct gmt_analysis *analysis)
{
    const struct gmt_timeline *tl = analysis->timeline;
    size_t *members = calloc(tl->allocation_count + 1, sizeof(*members));
    size_t n = 0;
    struct gmt_cover kernels = {0};

    if (members == NULL || gmt_cover_make(&kernels, tl, GMT_COVER_KERNELS) != 0) {
        free(members);
        gmt_cover_free(&kernels);
        return gmt_could_not(analysis, "not enough memory");
    }
    for (size_t i = 0; i < tl->allocation_count; i++) {
        uint8_t kind = tl->allocations[i].kind;

        if (kind == GMT_ALLOC_DEVICE || kind == GMT_ALLOC_PITCHED || kind == GMT_ALLOC_MANAGED) {
            members[n++] = i;
        }
    }
    qsort_r(members, n, sizeof(*members), compare, (void *)(uintptr_t)tl);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1;
             end < n && same(&tl->allocations[members[i]], &tl->allocations[members[end]]); end++) {
        }
        if (end - i > 1) {
            report_site(analysis, &kernels, members + i, end - i);
        }
    }
    free(members);
    gmt_cover_free(&kernels);
    return GMT_OUTCOME_PASS;
}

extern const struct gmt_rule gmt_rule_allocation_churn;
const struct gmt_rule gmt_rule_allocation_churn = {.id = "GM201",
                                                   .slug = "allocation-churn",
                                                   .title = "Allocating and freeing in a loop",
                                                   .category = "allocations",
                                                   .needs = GMT_NEED_ALLOCATIONS,
                                                   .run = run};
