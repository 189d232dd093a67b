/* SPDX-License-Identifier: Apache-2.0 */
/* Makes one finding of several that a rule has about the same kernel, or the same call. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/intervals.h"
#include "analyzer/findings/advice.h"
#include "libtrace/base/format.h"

enum { STATEMENTS = 8 }; /* of a merged finding's SQL; more would say nothing new */

static bool equal(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool has_lines(const struct gmt_finding *f)
{
    return f->line_count > 0 && f->lines[0].file != NULL;
}

/* Two modules can have kernels of one name. Of one kernel that was loaded twice the lines are the same. */
static bool same_kernel(const struct gmt_finding *a, const struct gmt_finding *b)
{
    if (!equal(a->where.kernel, b->where.kernel)) {
        return false;
    }
    if (a->kernel_id == b->kernel_id || !has_lines(a) || !has_lines(b)) {
        return true;
    }
    for (size_t i = 0; i < a->line_count * b->line_count; i++) {
        const struct gmt_finding_line *x = &a->lines[i / b->line_count],
                                      *y = &b->lines[i % b->line_count];

        if (x->file != NULL && equal(x->file, y->file) && x->line == y->line) {
            return true;
        }
    }
    return false;
}

/* A kernel is launched by one call or another: which one says nothing of the place. */
static bool same_api(const char *a, const char *b)
{
    static const char launch[] = "cudaLaunchKernel";
    bool launches = a != NULL && b != NULL && strncmp(a, launch, sizeof(launch) - 1) == 0 &&
                    strncmp(b, launch, sizeof(launch) - 1) == 0;
    return launches || equal(a, b);
}

/* Nobody who reads both could distinguish them, and one change repairs both. */
static bool same_place(const struct gmt_finding *a, const struct gmt_finding *b)
{
    const struct gmt_where *x = &a->where, *y = &b->where;

    /* What is only a note must not lend its saving to a finding. */
    if (!equal(a->note_why, b->note_why)) {
        return false;
    }
    /* Nor a guess to what is known. */
    if (a->guess != b->guess) {
        return false;
    }
    if (x->kernel != NULL || y->kernel != NULL) {
        return same_kernel(a, b);
    }
    /* Without a line, the function is as close as the place is known. */
    bool by_function = x->file == NULL && y->file == NULL && x->function != NULL;
    return equal(x->function, y->function) && same_api(x->api, y->api) &&
           (by_function || equal(x->label, y->label));
}

static double weight(const struct gmt_finding *f)
{
    if (isfinite(f->saving.best_ns)) {
        return f->saving.best_ns;
    }
    if (isfinite(f->excess_bytes)) {
        return f->excess_bytes * 1e-12;
    }
    return isfinite(f->saved_peak_bytes) ? f->saved_peak_bytes * 1e-12 : 0;
}

static int compare_weights(const void *a, const void *b)
{
    const struct gmt_finding *x = a, *y = b;
    double p = weight(x), q = weight(y);

    if (p < q || p > q) {
        return p < q ? 1 : -1;
    }
    return strcmp(x->headline != NULL ? x->headline : "", y->headline != NULL ? y->headline : "");
}

static void add(double *sum, double value)
{
    if (isfinite(value)) {
        *sum = isfinite(*sum) ? *sum + value : value;
    }
}

/* Times and counts add up; bytes, ratios and counters per launch stay those of the largest. */
static void add_evidence(struct gmt_finding *to, const struct gmt_finding *from)
{
    static const char *const counts[] = {"launches", "copies", "runs", "pairs", "trips"};

    for (size_t i = 0; i < to->evidence_count && i < from->evidence_count; i++) {
        struct gmt_evidence *e = &to->evidence[i];
        bool adds = strcmp(e->unit, "ns") == 0;

        for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
            adds |= strcmp(e->name, counts[k]) == 0;
        }
        if (adds && strcmp(e->name, from->evidence[i].name) == 0) {
            add(&e->value, from->evidence[i].value);
        }
    }
}

static void add_part(struct gmt_analysis *analysis, struct gmt_finding *to,
                     const struct gmt_finding *from)
{
    struct gmt_finding_part *part = GMT_PUSH(analysis->report->arena, to->parts, to->part_count);

    if (part != NULL) {
        *part = (struct gmt_finding_part){.label = from->part != NULL ? from->part : from->headline,
                                          .headline = from->headline,
                                          .cost_ns = from->cost_ns,
                                          .best_ns = from->saving.best_ns};
    }
}

/* Where claims of several overlap, the time is saved once: as gmt_findings_combine counts it, each spread evenly over its own. */
static void save_once(struct gmt_finding *all, const struct gmt_finding *largest)
{
    double each_ns = gmt_intervals_length(all->claims, all->claim_count);

    all->claim_count = gmt_intervals_merge(all->claims, all->claim_count);
    double part = each_ns > 0 ? gmt_intervals_length(all->claims, all->claim_count) / each_ns : 1;

    if (part < 1) {
        all->saving.low_ns = fmax(part * all->saving.low_ns, largest->saving.low_ns);
        all->saving.best_ns = fmax(part * all->saving.best_ns, largest->saving.best_ns);
        all->saving.high_ns = fmax(part * all->saving.high_ns, largest->saving.high_ns);
    }
}

/* group: sorted, heaviest first. */
static struct gmt_finding merged(struct gmt_analysis *analysis, const struct gmt_finding *group,
                                 size_t n)
{
    struct gmt_finding all = group[0];
    const char *what = all.where.kernel == NULL   ? "cases here"
                       : all.part == all.headline ? "such arguments"
                                                  : "launch shapes";
    char time[GMT_FORMAT_BYTES];

    add_part(analysis, &all, &group[0]);
    for (size_t i = 1; i < n; i++) {
        const struct gmt_finding *f = &group[i];

        add(&all.cost_ns, f->cost_ns);
        add(&all.excess_bytes, f->excess_bytes);
        /* Of one peak: that they add up is not certain, the largest is. */
        all.saved_peak_bytes = fmax(all.saved_peak_bytes, f->saved_peak_bytes);
        if (all.saved_peak_of == NULL) {
            all.saved_peak_of = f->saved_peak_of;
        }
        add(&all.saving.low_ns, f->saving.low_ns);
        add(&all.saving.best_ns, f->saving.best_ns);
        add(&all.saving.high_ns, f->saving.high_ns);
        all.severity = f->severity > all.severity ? f->severity : all.severity;
        add_evidence(&all, f);
        add_part(analysis, &all, f);
        if (i < STATEMENTS && f->sql != NULL && all.sql != NULL) {
            all.sql = gmt_text(analysis, "%s;\n%s", all.sql, f->sql);
        }
        for (size_t k = 0; k < f->claim_count; k++) {
            gmt_finding_claim(analysis, &all, f->claims[k]);
        }
    }
    save_once(&all, &group[0]);
    if (isfinite(all.cost_ns)) {
        all.headline = gmt_text(analysis, "%zu %s, %s together; the largest: %s", n, what,
                                gmt_format_ns(time, all.cost_ns), group[0].headline);
    } else {
        all.headline = gmt_text(analysis, "%zu %s; the largest: %s", n, what, group[0].headline);
    }
    return all;
}

void gmt_findings_settle(struct gmt_analysis *analysis)
{
    size_t n = analysis->pending_count;
    struct gmt_finding *group = calloc(n + 1, sizeof(*group));
    bool *taken = calloc(n + 1, sizeof(*taken));

    for (size_t i = 0; i < n; i++) {
        struct gmt_finding *finding = &analysis->pending[i];

        if (finding->framework == NULL) {
            gmt_finding_advise(analysis, finding, &finding->where);
        }
    }
    for (size_t i = 0; i < n && group != NULL && taken != NULL; i++) {
        size_t members = 0;

        if (taken[i]) {
            continue;
        }
        for (size_t k = i; k < n; k++) {
            if (taken[k] || !same_place(&analysis->pending[i], &analysis->pending[k])) {
                continue;
            }
            taken[k] = true;
            group[members++] = analysis->pending[k];
        }
        if (members > 1) {
            qsort(group, members, sizeof(*group), compare_weights);
            group[0] = merged(analysis, group, members);
        }
        gmt_finding_file(analysis, &group[0]);
    }
    if (group == NULL || taken == NULL) {
        analysis->report->arena->failed = true;
    }
    free(group);
    free(taken);
    analysis->pending = NULL;
    analysis->pending_count = 0;
}
