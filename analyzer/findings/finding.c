/* SPDX-License-Identifier: Apache-2.0 */
/* Building findings, and the one function through which they enter the report. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/base/thresholds.h"
#include "analyzer/findings/fingerprints.h"
#include "analyzer/findings/rule.h"
#include "analyzer/price/cycle_times.h"
#include "analyzer/price/price.h"
#include "analyzer/price/untimed_waits.h"
#include "libtrace/base/format.h"

char *gmt_text(struct gmt_analysis *analysis, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *text = gmt_arena_vtext(analysis->report->arena, format, arguments);
    va_end(arguments);
    return text;
}

enum gmt_outcome gmt_could_not(struct gmt_analysis *analysis, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    analysis->result->why = gmt_arena_vtext(analysis->report->arena, format, arguments);
    va_end(arguments);
    return GMT_OUTCOME_COULD_NOT_CHECK;
}

struct gmt_finding *gmt_finding_new(struct gmt_analysis *analysis)
{
    struct gmt_finding *finding = gmt_arena_alloc(analysis->report->arena, sizeof(*finding));

    if (finding == NULL) {
        return NULL;
    }
    finding->rule = analysis->rule->id;
    finding->slug = analysis->rule->slug;
    finding->title = analysis->rule->title;
    finding->touches = analysis->rule->touches;
    finding->cost_ns = finding->excess_bytes = finding->saved_peak_bytes = NAN;
    finding->at_most_ns = NAN;
    finding->saving = (struct gmt_saving){NAN, NAN, NAN, NAN};
    finding->confidence = GMT_CONFIDENCE_HEURISTIC;
    finding->where.label = "";
    return finding;
}

void gmt_finding_evidence(struct gmt_finding *finding, const char *name, const char *unit,
                          double value)
{
    if (finding == NULL || finding->evidence_count == GMT_EVIDENCE_MAX) {
        return;
    }
    finding->evidence[finding->evidence_count++] = (struct gmt_evidence){name, unit, value};
}

/* To what there is of that name: a finding may be about several classes. */
static void add_evidence(struct gmt_finding *finding, const char *name, const char *unit,
                         double value)
{
    for (size_t i = 0; finding != NULL && i < finding->evidence_count; i++) {
        if (strcmp(finding->evidence[i].name, name) == 0) {
            finding->evidence[i].value += value;
            return;
        }
    }
    gmt_finding_evidence(finding, name, unit, value);
}

void gmt_finding_claim(struct gmt_analysis *analysis, struct gmt_finding *finding,
                       struct gmt_interval interval)
{
    if (finding == NULL || interval.end_ns <= interval.begin_ns) {
        return;
    }
    struct gmt_interval *claim = GMT_PUSH(analysis->report->arena, finding->claims,
                                          finding->claim_count);
    if (claim != NULL) {
        *claim = interval;
    }
}

void gmt_finding_claim_modelled(struct gmt_analysis *analysis, struct gmt_finding *finding,
                                double ns)
{
    int64_t begin_ns = analysis->timeline->modelled_end_ns > analysis->modelled_end_ns
                           ? analysis->timeline->modelled_end_ns
                           : analysis->modelled_end_ns;

    if (ns >= 1 && ns < (double)(INT64_MAX / 4) && begin_ns < INT64_MAX / 2) {
        analysis->modelled_end_ns = begin_ns + (int64_t)ns;
        gmt_finding_claim(analysis, finding,
                          (struct gmt_interval){begin_ns, analysis->modelled_end_ns});
    }
}

/* What distinguishes launches of one kernel. */
static const char *class_shape(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    const int64_t *g = class->grid, *b = class->block;
    char shared[64] = "", size[GMT_FORMAT_BYTES];

    if (class->dynamic_shared_bytes > 0) {
        snprintf(shared, sizeof(shared), " with %s of shared memory",
                 gmt_format_bytes(size, (double)class->dynamic_shared_bytes));
    }
    return gmt_text(analysis, "%dx%dx%d blocks of %dx%dx%d threads%s", (int)g[0], (int)g[1],
                    (int)g[2], (int)b[0], (int)b[1], (int)b[2], shared);
}

void gmt_finding_claim_class(struct gmt_analysis *analysis, struct gmt_finding *finding,
                             const struct gmt_tl_class *class)
{
    const struct gmt_timeline *tl = analysis->timeline;

    if (finding != NULL && finding->part == NULL) {
        finding->part = class_shape(analysis, class);
    }
    if (finding != NULL) {
        finding->kernels++;
        finding->faulting += class->is_faults;
    }
    gmt_finding_claim(analysis, finding, class->modelled);
    if (class->in_graphs > 0) {
        add_evidence(finding, "launches_in_graphs", "count", (double)class->in_graphs);
    }
    for (int64_t i = 0; i < class->in_graphs && !tl->simulated; i++) {
        gmt_finding_claim(
            analysis, finding,
            (struct gmt_interval){class->nodes[i].device_start_ns, class->nodes[i].device_end_ns});
    }
    for (int64_t i = 0; i < class->alone; i++) {
        const struct gmt_tl_launch *launch = &tl->launches[class->of_class[i]];

        if (launch->device_end_ns != GMT_NO_TIME) {
            gmt_finding_claim(
                analysis, finding,
                (struct gmt_interval){launch->device_start_ns, launch->device_end_ns});
        } else if (class->by_cycles &&
                   launch->measured) { /* it was waited for, so its time is there */
            gmt_finding_claim(
                analysis, finding,
                (struct gmt_interval){launch->call.begin_ns, gmt_cycle_times_end(class, launch)});
        }
    }
}

void gmt_finding_saving(struct gmt_finding *finding, double low_ns, double best_ns, double high_ns)
{
    if (finding == NULL || !isfinite(best_ns)) {
        return;
    }
    double most = isfinite(finding->cost_ns) ? finding->cost_ns : INFINITY;
    best_ns = fmin(most, fmax(0, best_ns));
    finding->saving.best_ns = best_ns;
    finding->saving.low_ns = isfinite(low_ns) ? fmin(best_ns, fmax(0, low_ns)) : 0;
    finding->saving.high_ns = isfinite(high_ns) ? fmin(most, fmax(best_ns, high_ns)) : best_ns;
}

void gmt_finding_saving_of_class(struct gmt_finding *finding, const struct gmt_tl_class *class,
                                 double low_ns, double best_ns, double high_ns)
{
    double n = gmt_class_typical_launches(class);

    gmt_finding_saving(finding, low_ns * n, best_ns * n, high_ns * n);
}

const char *gmt_kernel_time(struct gmt_analysis *analysis, const struct gmt_tl_class *class)
{
    char time[GMT_FORMAT_BYTES];

    if (isnan(class->total_ns)) {
        return "";
    }
    if (analysis->timeline->modelled) {
        return gmt_text(analysis, "; kernel time %s", gmt_time_words(analysis, class->total_ns));
    }
    return gmt_text(analysis, "; kernel time %s%s", gmt_format_ns(time, class->total_ns),
                    class->by_cycles ? " by its cycles" : "");
}

const char *gmt_unpriced(const struct gmt_analysis *analysis)
{
    if (analysis->timeline->modelled) {
        return "not modelled: the device model has no figure for this work; ranked by excess bytes";
    }
    return analysis->timeline->simulated ? "n/a: no times (software device); ranked by excess bytes"
                                         : "not priced: no device time or no device model";
}

/* Of a modelled timeline: of all its work. How long its run would take is not known. */
static double share_of_wall(const struct gmt_analysis *analysis, double ns)
{
    double wall_ns = analysis->timeline->modelled ? (double)analysis->timeline->modelled_end_ns
                                                  : gmt_timeline_wall_ns(analysis->timeline);

    return wall_ns > 0 ? ns / wall_ns : NAN;
}

void gmt_finding_judge_part(struct gmt_analysis *analysis, struct gmt_finding *finding,
                            double excess, double all)
{
    char share[GMT_FORMAT_BYTES];
    bool priced = isfinite(finding != NULL ? finding->saving.best_ns : NAN);

    if (finding == NULL || finding->note_why != NULL || !(excess < GMT_EXCESS_SHARE * all) ||
        (priced && !analysis->timeline->simulated)) {
        return;
    }
    finding->small = true;
    finding->note_why = gmt_text(analysis, "%sless than %s of all such work",
                                 priced ? "" : "no price, and ",
                                 gmt_format_percent(share, 100 * GMT_EXCESS_SHARE));
}

void gmt_finding_note_small(struct gmt_finding *finding, const char *why)
{
    if (finding == NULL || finding->note_why != NULL || why == NULL) {
        return;
    }
    finding->small = true;
    finding->note_why = why;
}

/* Device time of all launches of a kernel; NAN: not all of it is known. */
static double kernel_ns(const struct gmt_report *report, const char *kernel)
{
    double sum = 0;
    bool found = false;

    for (size_t i = 0; i < report->kernel_count; i++) {
        if (strcmp(report->kernels[i].name, kernel) == 0) {
            sum += report->kernels[i].device_ns;
            found = true;
        }
    }
    return found ? sum : NAN;
}

/* The upper end of its price; without one no more than the time of what it is about. */
static double most_of(const struct gmt_analysis *analysis, const struct gmt_finding *finding)
{
    if (isfinite(finding->saving.high_ns)) {
        return finding->saving.high_ns;
    }
    if (isfinite(finding->cost_ns)) {
        return finding->cost_ns;
    }
    return finding->where.kernel != NULL ? kernel_ns(analysis->report, finding->where.kernel) : NAN;
}

static double bytes_of(double launches, double a, double b, double bytes)
{
    return (gmt_known(a) + gmt_known(b)) * bytes * launches;
}

/* All bytes that the program moves: unnecessary traffic is a share of them. */
static double moved_bytes(const struct gmt_timeline *tl)
{
    double sum = 0;

    for (size_t i = 0; i < tl->copy_count; i++) {
        sum += (double)tl->copies[i].bytes;
    }
    for (size_t i = 0; i < tl->class_count; i++) {
        const double *c = tl->classes[i].counter, n = (double)tl->classes[i].launches;

        sum += bytes_of(n, c[GMT_M_global_load_sectors], c[GMT_M_global_store_sectors],
                        GMT_SECTOR_BYTES) +
               bytes_of(n, c[GMT_M_local_load_sectors], c[GMT_M_local_store_sectors],
                        GMT_SECTOR_BYTES) +
               bytes_of(n, c[GMT_M_shared_load_wavefronts], c[GMT_M_shared_store_wavefronts],
                        GMT_WAVEFRONT_BYTES);
    }
    return sum;
}

/*
 * Without a price: by the most that it can save, and never high. Without a time at all by the bytes
 * of unnecessary traffic, where they are that share of all that thresholds.h asks for; else low.
 */
static enum gmt_severity severity_unpriced(const struct gmt_analysis *analysis,
                                           const struct gmt_finding *finding)
{
    bool medium = isnan(finding->at_most_ns)
                      ? finding->excess_bytes >= GMT_EXCESS_SHARE * moved_bytes(analysis->timeline)
                      : share_of_wall(analysis, finding->at_most_ns) >= GMT_SHARE_MEDIUM;

    return medium ? GMT_SEVERITY_MEDIUM : GMT_SEVERITY_LOW;
}

static enum gmt_severity severity_of(const struct gmt_analysis *analysis,
                                     const struct gmt_finding *finding)
{
    double share = share_of_wall(analysis, finding->saving.best_ns);

    if (isnan(share)) {
        return severity_unpriced(analysis, finding);
    }
    /* A guess stops nobody, and neither does what depends on the unseen, or what no device has shown. */
    if (share >= GMT_SHARE_HIGH && !finding->guess && !finding->conditional &&
        !analysis->timeline->simulated) {
        return GMT_SEVERITY_HIGH;
    }
    return share >= GMT_SHARE_MEDIUM ? GMT_SEVERITY_MEDIUM : GMT_SEVERITY_LOW;
}

/* How an unpriced finding ranks, after why it has no price. */
static const char *unpriced_method(struct gmt_analysis *analysis, const struct gmt_finding *finding)
{
    char time[GMT_FORMAT_BYTES];

    if (gmt_timeline_is_untimed(analysis->timeline) || !isnan(finding->saving.best_ns) ||
        finding->method == NULL || isfinite(finding->saved_peak_bytes)) {
        return finding->method;
    }
    if (isfinite(finding->at_most_ns)) {
        return gmt_text(analysis, "%s; at most the %s that it is about", finding->method,
                        gmt_format_ns(time, finding->at_most_ns));
    }
    return gmt_text(
        analysis,
        "%s; the upper limit of the saving is not known either: ranked by unnecessary traffic",
        finding->method);
}

/* Of the wall time, or for what the device does of its busy time: it may idle for most of a run. */
static double noticed_share(const struct gmt_analysis *analysis, const struct gmt_finding *finding,
                            double ns)
{
    bool device = finding->where.kernel != NULL ||
                  strcmp(analysis->rule->category, "transfers") == 0;
    double busy_ns = analysis->report->gpu_busy_ns;

    return fmax(share_of_wall(analysis, ns), device && busy_ns > 0 ? ns / busy_ns : 0);
}

/*
 * Why a finding is only a note, or NULL. What has no price is judged by the most that it can save. A
 * severity set by the rule itself overrides the floors.
 */
static const char *below_floor(const struct gmt_analysis *analysis,
                               const struct gmt_finding *finding)
{
    bool priced = !isnan(finding->saving.best_ns);
    double ns = priced ? finding->saving.best_ns : finding->at_most_ns;

    if (finding->note_why != NULL) {
        return finding->note_why;
    }
    /*
     * Without a GPU programs are often tried on small problems: what is unnecessary there is not too small
     * on large ones. The work decides then, with a model and without; the model ranks.
     */
    if (isnan(ns) || finding->severity != GMT_SEVERITY_NOTE || analysis->timeline->modelled) {
        return NULL;
    }
    if (ns < GMT_FLOOR_NOISE_NS) {
        return priced ? "the saving is smaller than the noise of a run"
                      : "the most that it could save is smaller than the noise of a run";
    }
    if (noticed_share(analysis, finding, ns) >= GMT_FLOOR_SHARE ||
        (ns >= GMT_FLOOR_NS && share_of_wall(analysis, ns) >= GMT_FLOOR_SHARE_OF_MS)) {
        return NULL;
    }
    return priced ? "the saving is too small to matter"
                  : "the most that it could save is too small to matter";
}

void gmt_finding_emit(struct gmt_analysis *analysis, struct gmt_finding *finding)
{
    struct gmt_finding *slot = finding == NULL || finding->where.communicates
                                   ? NULL
                                   : GMT_PUSH(analysis->report->arena, analysis->pending,
                                              analysis->pending_count);

    if (slot != NULL) {
        *slot = *finding;
    }
}

/* A kernel that waits for pages of managed memory shows nothing of what its own work costs. */
static void leave_to_faults(const struct gmt_analysis *analysis, struct gmt_finding *finding)
{
    if (finding->faulting == 0 || finding->faulting < finding->kernels ||
        analysis->rule->prices_faults || finding->severity != GMT_SEVERITY_NOTE) {
        return;
    }
    finding->saving = (struct gmt_saving){NAN, NAN, NAN, NAN};
    finding->note_why = "the kernel's time is page faults of managed memory (GM114)";
}

void gmt_finding_file(struct gmt_analysis *analysis, struct gmt_finding *finding)
{
    struct gmt_report *report = analysis->report;

    leave_to_faults(analysis, finding);

    if (isfinite(finding->saving.best_ns) && !analysis->timeline->modelled) {
        finding->saving.share = share_of_wall(analysis, finding->saving.best_ns);
    }
    if (analysis->timeline->modelled) {
        gmt_finding_mark_modelled(analysis, finding);
    }
    /* What calls waited for kernels is then taken from the model, or left out. */
    if (finding->confidence == GMT_CONFIDENCE_MEASURED &&
        gmt_waits_are_unknown(analysis->timeline)) {
        finding->confidence = gmt_confidence_of_model(analysis->model);
    }
    finding->at_most_ns = most_of(analysis, finding);
    finding->modelled = analysis->timeline->modelled &&
                        (isfinite(finding->saving.best_ns) || isfinite(finding->at_most_ns));
    finding->note_why = below_floor(analysis, finding);
    if (finding->note_why != NULL) {
        finding->severity = GMT_SEVERITY_NOTE;
    } else if (finding->severity == GMT_SEVERITY_NOTE) {
        finding->severity = severity_of(analysis, finding);
    }
    if (finding->note_why == NULL) {
        finding->method = unpriced_method(analysis, finding);
    }
    gmt_finding_number(report, finding);
    bool note = finding->note_why != NULL;
    struct gmt_finding *slot = note ? GMT_PUSH(report->arena, report->notes, report->note_count)
                                    : GMT_PUSH(report->arena, report->findings,
                                               report->finding_count);
    if (slot != NULL) {
        *slot = *finding;
    }
    if (note) {
        analysis->result->notes++;
    } else {
        analysis->result->findings++;
    }
}

enum gmt_confidence gmt_confidence_of_model(const struct gmt_model *model)
{
    return model->provenance >= GMT_MODEL_SAME_NAME ? GMT_CONFIDENCE_CALIBRATED
                                                    : GMT_CONFIDENCE_MODELLED;
}
