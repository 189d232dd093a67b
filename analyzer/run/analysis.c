/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the rules over a trace, ranks what they found and sums it up. */
#include "analyzer/run/analysis.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyzer/base/intervals.h"
#include "analyzer/findings/fingerprints.h"
#include "analyzer/findings/instructions.h"
#include "analyzer/findings/joints.h"
#include "analyzer/findings/kernel_filter.h"
#include "analyzer/findings/kernel_origin.h"
#include "analyzer/findings/patches.h"
#include "analyzer/findings/quotes.h"
#include "analyzer/holders/holders.h"
#include "analyzer/price/cycle_times.h"
#include "analyzer/price/modelled_times.h"
#include "analyzer/price/untimed_waits.h"
#include "analyzer/rules/common/host_loops.h"
#include "analyzer/run/rule_pages.h"
#include "analyzer/run/rules.h"
#include "analyzer/summary/summary.h"
#include "analyzer/trace/named_ranges.h"
#include "analyzer/trace/own_time.h"
#include "analyzer/trace/unseen.h"
#include "libtrace/base/progress.h"
#include "reports/model/answer.h"

static bool named(const struct gmt_rule *rule, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcasecmp(rule->id, names[i]) == 0 || strcasecmp(rule->slug, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Why a rule that needs something cannot run, or NULL. */
static const char *missing(const struct gmt_analysis *analysis, unsigned needs)
{
    const struct gmt_timeline *tl = analysis->timeline;

    /* Without a model nothing is priced there, and findings rank by excess work. */
    if (tl->simulated && (needs & (GMT_NEED_HARDWARE | GMT_NEED_TIMES)) != 0) {
        return "no hardware (software device)";
    }
    if (tl->simulated) {
        needs &= ~(unsigned)GMT_NEED_MODEL;
    }
    if ((needs & GMT_NEED_ALL_USES) != 0 && tl->unseen->uses != NULL) {
        return tl->unseen->uses;
    }
    if ((needs & GMT_NEED_ALL_CALLS) != 0 && tl->unseen->calls != NULL) {
        return tl->unseen->calls;
    }
    if ((needs & GMT_NEED_PATCHED) != 0 && !tl->has_patched) {
        return tl->simulated ? "no launch was counted"
                             : "no exact memory counters (software-patched group) in this trace";
    }
    if ((needs & GMT_NEED_HARDWARE) != 0 && !tl->has_hardware) {
        return "no hardware counters in this trace";
    }
    if ((needs & GMT_NEED_TIMES) != 0 && !tl->has_device_times) {
        return "no device timestamps in this trace";
    }
    if ((needs & GMT_NEED_MODEL) != 0 && analysis->model->provenance == GMT_MODEL_NONE) {
        return "no device model to price with: run gmcalibrate on a machine with such a GPU, or "
               "give --model";
    }
    return NULL;
}

/* Why there is nothing to look at, or NULL. */
static const char *not_used(const struct gmt_timeline *tl, unsigned needs)
{
    bool limited = tl->unseen->limited;

    if ((needs & GMT_NEED_ALLOCATIONS) != 0 && tl->allocation_count == 0) {
        return "the program allocates no device memory";
    }
    if (limited && (needs & GMT_NEED_ALL_USES) != 0) {
        return NULL; /* outside it may */
    }
    if ((needs & GMT_NEED_COPIES) != 0 && tl->copy_count == 0) {
        return limited ? "nothing is copied inside of the range" : "the program copies nothing";
    }
    if ((needs & GMT_NEED_LAUNCHES) != 0 && tl->launch_count == 0) {
        return limited ? "no kernel is launched inside of the range"
                       : "the program launches no kernel";
    }
    return NULL;
}

static void run_rule(struct gmt_analysis *analysis, const struct gmt_rule *rule)
{
    struct gmt_report *report = analysis->report;
    struct gmt_rule_result *result = GMT_PUSH(report->arena, report->rules, report->rule_count);

    if (result == NULL) {
        return;
    }
    *result = (struct gmt_rule_result){.id = rule->id,
                                       .slug = rule->slug,
                                       .title = rule->title,
                                       .category = rule->category,
                                       .explain = gmt_rule_page(rule->id)};
    analysis->rule = rule;
    analysis->result = result;
    const char *why = not_used(analysis->timeline, rule->needs);
    if (why != NULL) {
        result->outcome = GMT_OUTCOME_NOT_APPLICABLE;
        result->why = why;
        return;
    }
    why = missing(analysis, rule->needs);
    if (why != NULL) {
        result->outcome = GMT_OUTCOME_COULD_NOT_CHECK;
        result->why = why;
        return;
    }
    result->outcome = rule->run(analysis);
    gmt_findings_settle(analysis);
    if (result->findings > 0) {
        result->outcome = GMT_OUTCOME_FAIL;
    }
}

static int compare_double_down(double a, double b)
{
    /* What is unknown goes last. */
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    return (a < b) - (a > b);
}

/* Of high severity although nothing is saved: results are wrong, and speed is the lesser matter. */
static int is_about_results(const struct gmt_finding *finding)
{
    return finding->severity == GMT_SEVERITY_HIGH && finding->saving.high_ns <= 0;
}

/* Guesses do not outrank what is known, however much they promise. */
static int is_guess(const struct gmt_finding *finding)
{
    return finding->guess && isfinite(finding->saving.best_ns);
}

/*
 * Wrong results; what has a price, the largest saving first; guesses; then what has none, by the most
 * that it can save.
 */
static int compare_findings(const void *a, const void *b)
{
    const struct gmt_finding *x = a, *y = b;
    int order = is_about_results(y) - is_about_results(x);

    if (order == 0) {
        order = isnan(x->saving.best_ns) - isnan(y->saving.best_ns);
    }
    if (order == 0) {
        order = is_guess(x) - is_guess(y);
    }
    if (order == 0) {
        order = compare_double_down(x->saving.best_ns, y->saving.best_ns);
    }
    if (order == 0 && isnan(x->saving.best_ns)) {
        order = compare_double_down(x->at_most_ns, y->at_most_ns);
    }
    if (order == 0) {
        order = compare_double_down(x->excess_bytes, y->excess_bytes);
    }
    if (order == 0) {
        order = compare_double_down(x->saved_peak_bytes, y->saved_peak_bytes);
    }
    return order != 0 ? order : strcasecmp(x->fingerprint_v1, y->fingerprint_v1);
}

/* What was proven on this program beats what is predicted of it; wrong results stay first. */
static int rank_proven(struct gmt_finding *findings, size_t n)
{
    struct gmt_finding *ranked = calloc(n + 1, sizeof(*ranked));
    size_t count = 0;

    for (int turn = 0; turn < 3 && ranked != NULL; turn++) {
        for (size_t i = 0; i < n; i++) {
            int own = is_about_results(&findings[i])        ? 0
                      : gmt_finding_is_proven(&findings[i]) ? 1
                                                            : 2;

            if (own == turn) {
                ranked[count++] = findings[i];
            }
        }
    }
    if (ranked != NULL && n > 0) {
        memcpy(findings, ranked, n * sizeof(*findings));
    }
    int rc = ranked != NULL ? 0 : -ENOMEM;
    free(ranked);
    return rc;
}

static int take_tried(struct gmt_tried_file *tried, struct gmt_report *report)
{
    if (tried == NULL) {
        return 0;
    }
    gmt_tried_attach(tried, report);
    return rank_proven(report->findings, report->finding_count);
}

/* Notes of one reason together, where the first of them stands. */
static int group_notes(struct gmt_finding *notes, size_t n)
{
    struct gmt_finding *grouped = calloc(n + 1, sizeof(*grouped));
    bool *taken = calloc(n + 1, sizeof(*taken));
    size_t count = 0;

    for (size_t i = 0; i < n && grouped != NULL && taken != NULL; i++) {
        for (size_t k = i; k < n && !taken[i]; k++) {
            if (k != i && (taken[k] || strcmp(notes[k].note_why, notes[i].note_why) != 0)) {
                continue;
            }
            grouped[count++] = notes[k];
            taken[k] = k != i;
        }
        taken[i] = true;
    }
    int rc = grouped != NULL && taken != NULL ? 0 : -ENOMEM;
    if (rc == 0 && n > 0) {
        memcpy(notes, grouped, n * sizeof(*notes));
    }
    free(grouped);
    free(taken);
    return rc;
}

static void merge_claims(struct gmt_finding *findings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        findings[i].claim_count = gmt_intervals_merge(findings[i].claims, findings[i].claim_count);
    }
}

int gmt_analyze(struct gmt_timeline *timeline, const struct gmt_model *model,
                const struct gmt_rule_filter *filter, struct gmt_report *report)
{
    struct gmt_runs runs = {0};
    struct gmt_memory memory;
    struct gmt_unseen unseen;
    struct gmt_host_basis own = {.whole = NULL};

    struct gmt_analysis analysis = {.timeline = timeline,
                                    .model = model,
                                    .runs = &runs,
                                    .memory = &memory,
                                    .long_names = filter->long_names,
                                    .snapshot = filter->snapshot,
                                    .host_basis = filter->basis != NULL ? filter->basis : &own,
                                    .report = report};
    int rc = gmt_memory_load(&memory, timeline);

    if (rc == 0) {
        rc = gmt_unseen_load(&unseen, timeline, report);
    } else {
        unseen = (struct gmt_unseen){0};
    }
    timeline->unseen = &unseen;
    report->uses_unseen = unseen.uses;
    gmt_cycle_times(timeline, model);
    gmt_untimed_waits(timeline, model);
    if (rc == 0) {
        rc = gmt_own_time_load(timeline);
    }
    if (rc == 0) {
        rc = gmt_runs_find(timeline, &runs);
    }
    if (rc == 0) {
        rc = gmt_modelled_times(timeline, model, &memory, &runs);
    }
    if (rc == 0) {
        rc = gmt_verdict_fill(timeline, report);
    }
    if (rc == 0 && filter->begin_beside != NULL) {
        rc = filter->begin_beside(filter->context, report);
    }
    if (rc == 0) {
        gmt_kernel_origins_report(&analysis);
    }
    if (rc == 0) {
        rc = gmt_memory_report(&analysis);
    }
    if (rc == 0) {
        rc = gmt_failed_calls_report(&analysis);
    }
    if (rc == 0) {
        rc = gmt_heaps_report(&analysis);
    }
    if (rc == 0) {
        rc = gmt_snapshot_report(&analysis);
    }
    if (rc == 0 && filter->basis == NULL) {
        rc = gmt_host_basis_load(&own, timeline);
        if (rc == 0) {
            rc = gmt_host_report(&analysis, &own);
        }
    }
    if (rc != 0) {
        goto out;
    }
    gmt_progress_begin("checking rules", (double)gmt_rule_count);
    for (size_t i = 0; i < gmt_rule_count; i++, gmt_progress_add(1)) {
        const struct gmt_rule *rule = gmt_rules[i];

        if ((filter->only_count > 0 && !named(rule, filter->only, filter->only_count)) ||
            named(rule, filter->skip, filter->skip_count)) {
            continue;
        }
        run_rule(&analysis, rule);
    }
    gmt_progress_end();
    if (filter->basis != NULL) {
        rc = gmt_host_basis_end(filter->basis);
        if (rc == 0) {
            rc = gmt_host_report(&analysis, filter->basis);
        }
        if (rc != 0) {
            goto out;
        }
    }
    gmt_races_fill(timeline, report);
    if (filter->kernels != NULL) {
        gmt_report_keep_kernels(timeline, report, filter->kernels);
    }
    if (report->finding_count > 1) {
        qsort(report->findings, report->finding_count, sizeof(*report->findings), compare_findings);
    }
    if (report->note_count > 1) {
        qsort(report->notes, report->note_count, sizeof(*report->notes), compare_findings);
    }
    rc = group_notes(report->notes, report->note_count);
    if (rc == 0) {
        rc = gmt_report_name_ranges(timeline, report);
    }
    if (rc != 0) {
        goto out;
    }
    gmt_answer_fill(report->arena, report->findings, report->finding_count);
    gmt_answer_fill(report->arena, report->notes, report->note_count);
    gmt_findings_quote(timeline->db, report->arena, report->findings, report->finding_count);
    gmt_findings_quote(timeline->db, report->arena, report->notes, report->note_count);
    rc = gmt_findings_identify(report);
    if (rc == 0) {
        rc = take_tried(filter->tried, report);
    }
    if (rc != 0) {
        goto out;
    }
    gmt_findings_patch(timeline->db, report->arena, report->working_directory, report->findings,
                       report->finding_count);
    merge_claims(report->findings, report->finding_count);
    rc = gmt_findings_combine(report->findings, report->finding_count, report->wall_ns,
                              &report->combined);
    if (rc == 0) {
        rc = gmt_findings_combine(report->findings, gmt_answer_count(report), report->wall_ns,
                                  &report->first);
    }
    if (rc == 0 && !gmt_timeline_is_untimed(timeline)) {
        rc = gmt_joints_fill(report);
    }
    if (gmt_timeline_is_untimed(timeline)) {
        report->combined = report->first = (struct gmt_saving){NAN, NAN, NAN, NAN};
    }
    report->model_provenance = model->provenance;
    report->model_origin = model->origin;
    report->model_device = model->device_name;
    report->model_created = model->created;
    report->model_noisy = model->noisy;
    gmt_gaps_fill(timeline, model, report);
    if (rc == 0 && report->arena->failed) {
        rc = -ENOMEM;
    }
out:
    gmt_analysis_free_shared(&analysis);
    if (analysis.host_loops != NULL) {
        gmt_host_loops_free(analysis.host_loops);
    }
    free(analysis.host_loops);
    gmt_host_basis_free(&own);
    gmt_runs_free(&runs);
    gmt_memory_free(&memory);
    timeline->unseen = NULL;
    gmt_unseen_free(&unseen);
    return rc;
}
