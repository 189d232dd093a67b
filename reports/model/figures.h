/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a trace that are compared and bounded: figures.def as an enum and a table. */
#ifndef GMT_REPORTS_MODEL_FIGURES_H
#define GMT_REPORTS_MODEL_FIGURES_H

#include "reports/model/report.h"

enum gmt_figure_kind { GMT_KIND_COUNT, GMT_KIND_BYTES, GMT_KIND_NS };

enum gmt_figure {
#define GMT_FIGURE(name, kind, gated, label, value) GMT_FIGURE_##name,
#include "reports/model/figures.def"
#undef GMT_FIGURE
    GMT_FIGURES
};

struct gmt_figure_row {
    const char *name, *label;
    enum gmt_figure_kind kind;
    bool gated;
};
extern const struct gmt_figure_row gmt_figure_rows[GMT_FIGURES];

const char *gmt_kind_unit(enum gmt_figure_kind kind); /* "count", "bytes", "ns" */
/* For people; text holds GMT_FORMAT_BYTES. */
const char *gmt_format_kind(char *text, double value, enum gmt_figure_kind kind);
/* The same of a value and its limit: in full where they differ and would read alike. */
void gmt_format_apart(char *text, double value, char *limit_text, double limit,
                      enum gmt_figure_kind kind);

/* Of a change: "+4.9 %", "12 times as much", "none before", an en dash. */
const char *gmt_share_text(struct gmt_arena *arena, double share);

void gmt_figures_fill(const struct gmt_report *report, double values[GMT_FIGURES]);

/* The longest classes of kernels that a summary keeps. */
enum { GMT_SUMMARY_KERNELS = 1000 };

/* A kernel, a kind of copies, or a place that holds memory; NAN: not known, or means nothing of it. */
struct gmt_part_sum {
    const char *name;
    double count, bytes, time_ns;
    const char *title; /* of a kernel, as reports show it; NULL: its name */
};

/*
 * What comparisons keep of a report, so that it can go: the figures, and of each finding and note
 * what distinguishes it from others and what it costs. All of it is in the arena.
 */
struct gmt_summary {
    const char *trace_path, *command, *hostname, *rank, *device_name, *driver_version;
    bool simulated;
    const char
        *modelled_for; /* "an NVIDIA H200": what its times are of; NULL: they are not modelled */
    double recorded_ns, own_ns; /* as in a report */
    double values[GMT_FIGURES];
    /* By what share another run of the same program may differ: 0 for what is exact, NAN where
     * it is not known. */
    double noise[GMT_FIGURES];
    const struct gmt_tried_results *tried; /* NULL: nothing was tried */
    struct gmt_finding *findings;          /* findings, then notes, each best first */
    size_t finding_count;
    struct gmt_rule_result *rules;
    size_t rule_count;
    struct gmt_part_sum *kernels, *copies,
        *holders; /* all shapes of a kernel; memory at the peak */
    size_t kernel_count, copy_count, holder_count;
};

/* Copies all but the noise, which is left 0 for what is exact and NAN for times. */
void gmt_summary_fill(struct gmt_summary *summary, const struct gmt_report *report,
                      struct gmt_arena *arena);
/* How the rule ended; NULL: it did not run. */
const struct gmt_rule_result *gmt_summary_rule(const struct gmt_summary *summary, const char *id);

#endif
