/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the figures, and what comparisons need of the findings, out of a report. */
#include "reports/model/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/model/tried.h"
#include "reports/model/words.h"

const struct gmt_figure_row gmt_figure_rows[GMT_FIGURES] = {
#define GMT_FIGURE(name, kind, gated, label, value) {#name, label, GMT_KIND_##kind, gated},
#include "reports/model/figures.def"
#undef GMT_FIGURE
};

const char *gmt_kind_unit(enum gmt_figure_kind kind)
{
    static const char *const units[] = {
        [GMT_KIND_COUNT] = "count", [GMT_KIND_BYTES] = "bytes", [GMT_KIND_NS] = "ns"};

    return units[kind];
}

const char *gmt_format_kind(char *text, double value, enum gmt_figure_kind kind)
{
    static const char *(*const formats[])(char *, double) = {[GMT_KIND_COUNT] = gmt_format_count,
                                                             [GMT_KIND_BYTES] = gmt_format_bytes,
                                                             [GMT_KIND_NS] = gmt_format_ns};

    return formats[kind](text, value);
}

static void format_full(char *text, double value, enum gmt_figure_kind kind)
{
    char number[GMT_FORMAT_BYTES];

    if (value == floor(value) && fabs(value) < 1e15) {
        gmt_format_count(number, value);
    } else {
        snprintf(number, sizeof(number), "%.15g", value);
    }
    snprintf(text, GMT_FORMAT_BYTES, "%.24s%s%s", number, kind == GMT_KIND_COUNT ? "" : " ",
             kind == GMT_KIND_COUNT ? "" : gmt_kind_unit(kind));
}

void gmt_format_apart(char *text, double value, char *limit_text, double limit,
                      enum gmt_figure_kind kind)
{
    gmt_format_kind(text, value, kind);
    gmt_format_kind(limit_text, limit, kind);
    if (!isfinite(value) || !isfinite(limit) || value == limit || strcmp(text, limit_text) != 0) {
        return;
    }
    format_full(text, value, kind);
    format_full(limit_text, limit, kind);
}

/* From here on "n times as much" is easier to read than a percentage. */
#define GMT_TIMES_FROM 9

const char *gmt_share_text(struct gmt_arena *arena, double share)
{
    char text[GMT_FORMAT_BYTES];

    if (isnan(share)) {
        return "–";
    }
    if (isinf(share)) {
        return "none before";
    }
    if (share == 0) {
        return "0 %";
    }
    if (share > GMT_TIMES_FROM) {
        return gmt_arena_text(arena, "%s times as much", gmt_format_count(text, round(share + 1)));
    }
    return gmt_arena_text(arena, "%s%s", share >= 0 ? "+" : "-",
                          gmt_format_percent(text, fabs(100 * share)));
}

/* Bytes of all copies of that direction and class of host memory; NULL: any. */
static double copied(const struct gmt_report *r, const char *direction, const char *host_class)
{
    double bytes = 0;

    for (size_t i = 0; i < r->copy_total_count; i++) {
        const struct gmt_transfer_row *row = &r->copy_totals[i];

        if ((direction == NULL || strcmp(row->direction, direction) == 0) &&
            (host_class == NULL || strcmp(row->host_class, host_class) == 0)) {
            bytes += row->bytes;
        }
    }
    return bytes;
}

static double copied_ns(const struct gmt_report *r, const char *host_class)
{
    double ns = isnan(r->copy_ns) ? NAN : 0;

    for (size_t i = 0; i < r->copy_total_count; i++) {
        if (strcmp(r->copy_totals[i].host_class, host_class) == 0) {
            ns += r->copy_totals[i].time_ns;
        }
    }
    return ns;
}

/* Findings of that severity; of GMT_SEVERITY_NOTE: all, for none of them is a note. */
static double found(const struct gmt_report *r, enum gmt_severity severity)
{
    size_t n = 0;

    for (size_t i = 0; i < r->finding_count; i++) {
        n += severity == GMT_SEVERITY_NOTE || r->findings[i].severity == severity;
    }
    return (double)n;
}

void gmt_figures_fill(const struct gmt_report *r, double values[GMT_FIGURES])
{
#define GMT_FIGURE(name, kind, gated, label, value) values[GMT_FIGURE_##name] = (value);
#include "reports/model/figures.def"
#undef GMT_FIGURE
}

/* Of what is quoted only the line itself. */
static struct gmt_source_quote line_of(const struct gmt_source_quote *place,
                                       struct gmt_arena *arena)
{
    struct gmt_source_quote kept = {.label = gmt_arena_copy(arena, place->label)};
    const char **line = place->line_count > 0 ? gmt_arena_alloc(arena, sizeof(*line)) : NULL;

    if (line != NULL) {
        *line = gmt_arena_copy(arena, place->lines[place->line - place->first_line]);
        kept.file = gmt_arena_copy(arena, place->file);
        kept.line = kept.first_line = place->line;
        kept.lines = line;
        kept.line_count = 1;
    }
    return kept;
}

/* What was tried is the summary's own: `results` are those of the report. */
static const struct gmt_tried *tried_of(const struct gmt_summary *summary,
                                        const struct gmt_tried_results *results,
                                        const struct gmt_tried *tried)
{
    size_t at = tried != NULL ? (size_t)(tried - results->rows) : 0;

    return tried != NULL && summary->tried != NULL && at < summary->tried->count
               ? &summary->tried->rows[at]
               : NULL;
}

static void keep(struct gmt_summary *summary, const struct gmt_report *report,
                 const struct gmt_finding *f, struct gmt_arena *arena)
{
    struct gmt_finding *kept = GMT_PUSH(arena, summary->findings, summary->finding_count);

    if (kept == NULL) {
        return;
    }
    /* Rules are static; the rest belongs to the report. */
    *kept = (struct gmt_finding){.rule = f->rule,
                                 .slug = f->slug,
                                 .title = f->title,
                                 .severity = f->severity,
                                 .headline = gmt_arena_copy(arena, f->headline),
                                 .where = {.label = gmt_arena_copy(arena, f->where.label),
                                           .function = gmt_arena_copy(arena, f->where.function),
                                           .file = gmt_arena_copy(arena, f->where.file),
                                           .line = f->where.line,
                                           .kernel = gmt_arena_copy(arena, f->where.kernel),
                                           .title = gmt_arena_copy(arena, f->where.title)},
                                 .place = line_of(&f->place, arena),
                                 .cost_ns = f->cost_ns,
                                 .excess_bytes = f->excess_bytes,
                                 .saving = f->saving,
                                 .tried = tried_of(summary, report->tried, f->tried),
                                 .modelled = f->modelled,
                                 .confidence = f->confidence};
    memcpy(kept->fingerprint, f->fingerprint, sizeof(kept->fingerprint));
}

static void keep_kernel(struct gmt_summary *summary, const struct gmt_kernel_row *row,
                        struct gmt_arena *arena)
{
    for (size_t i = 0; i < summary->kernel_count; i++) {
        struct gmt_part_sum *sum = &summary->kernels[i];

        if (strcmp(sum->name, row->name) == 0) {
            sum->count += (double)row->launches;
            sum->time_ns += row->device_ns;
            return;
        }
    }
    struct gmt_part_sum *sum = GMT_PUSH(arena, summary->kernels, summary->kernel_count);
    if (sum != NULL) {
        *sum = (struct gmt_part_sum){gmt_arena_copy(arena, row->name), (double)row->launches, NAN,
                                     row->device_ns, gmt_arena_copy(arena, row->title)};
    }
}

static void keep_parts(struct gmt_summary *summary, const struct gmt_report *report,
                       struct gmt_arena *arena)
{
    for (size_t i = 0; i < report->kernel_count && i < GMT_SUMMARY_KERNELS; i++) {
        keep_kernel(summary, &report->kernels[i], arena);
    }
    for (size_t i = 0; i < report->copy_total_count; i++) {
        const struct gmt_transfer_row *row = &report->copy_totals[i];
        struct gmt_part_sum *sum = GMT_PUSH(arena, summary->copies, summary->copy_count);

        if (sum != NULL) {
            *sum = (struct gmt_part_sum){
                gmt_arena_text(arena, "%s %s", row->direction, row->host_class), (double)row->count,
                row->bytes, row->time_ns, NULL};
        }
    }
    for (size_t i = 0; i < report->peak_holder_count; i++) {
        const struct gmt_memory_holder *holder = &report->peak_holders[i];
        struct gmt_part_sum *sum = GMT_PUSH(arena, summary->holders, summary->holder_count);

        if (sum != NULL) {
            *sum = (struct gmt_part_sum){gmt_arena_copy(arena, holder->where.label),
                                         holder->allocations, holder->bytes, NAN, NULL};
        }
    }
}

void gmt_summary_fill(struct gmt_summary *summary, const struct gmt_report *report,
                      struct gmt_arena *arena)
{
    *summary = (struct gmt_summary){
        .trace_path = gmt_arena_copy(arena, report->trace_path),
        .command = gmt_arena_copy(arena, report->command),
        .hostname = gmt_arena_copy(arena, report->hostname),
        .rank = gmt_arena_copy(arena, report->rank),
        .device_name = gmt_arena_copy(arena, report->device_name),
        .driver_version = gmt_arena_copy(arena, report->driver_version),
        .simulated = report->simulated,
        .modelled_for = report->modelled ? gmt_arena_copy(arena, gmt_modelled_device(report))
                                         : NULL,
        .recorded_ns = report->recorded_ns,
        .own_ns = report->own_ns,
        .tried = gmt_tried_results_copy(report->tried, arena),
    };
    gmt_figures_fill(report, summary->values);
    for (int i = 0; i < GMT_FIGURES; i++) {
        summary->noise[i] = gmt_figure_rows[i].kind == GMT_KIND_NS ? NAN : 0;
    }
    for (size_t i = 0; i < report->finding_count; i++) {
        keep(summary, report, &report->findings[i], arena);
    }
    for (size_t i = 0; i < report->note_count; i++) {
        if (!report->notes[i].small) {
            keep(summary, report, &report->notes[i], arena);
        }
    }
    keep_parts(summary, report, arena);
    for (size_t i = 0; i < report->rule_count; i++) {
        struct gmt_rule_result *rule = GMT_PUSH(arena, summary->rules, summary->rule_count);

        if (rule != NULL) {
            *rule = report->rules[i];
            rule->why = gmt_arena_copy(arena, rule->why);
        }
    }
}

const struct gmt_rule_result *gmt_summary_rule(const struct gmt_summary *summary, const char *id)
{
    for (size_t i = 0; i < summary->rule_count; i++) {
        if (strcmp(summary->rules[i].id, id) == 0) {
            return &summary->rules[i];
        }
    }
    return NULL;
}
