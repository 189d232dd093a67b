/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks as tables: the traces, each figure's least, middle and most, and findings merged. */
#include <math.h>

#include "libtrace/base/format.h"
#include "reports/model/words.h"
#include "reports/several/several_tables.h"

static const char *value(struct gmt_arena *arena, double number, enum gmt_figure_kind kind)
{
    char text[GMT_FORMAT_BYTES];

    return gmt_arena_copy(arena, gmt_format_kind(text, number, kind));
}

/* "rank3.db: 2.1 s, +61 %" */
static const char *odd_text(struct gmt_arena *arena, const struct gmt_ranks *ranks, int index)
{
    const struct gmt_rank_figure *figure = &ranks->figures[index];
    const struct gmt_summary *trace = &ranks->traces[figure->odd];
    double number = trace->values[index];

    return gmt_arena_text(
        arena, "%s: %s, %s", trace->trace_path, value(arena, number, gmt_figure_rows[index].kind),
        gmt_share_text(arena, figure->median > 0 ? number / figure->median - 1 : INFINITY));
}

static void add_traces(struct gmt_document *document, const struct gmt_ranks *ranks)
{
    struct gmt_section *section = gmt_document_section(document, NULL, "rtltt");

    if (section == NULL) {
        return;
    }
    gmt_grid_add(&section->table,
                 &(struct gmt_grid_row){.cells = {"", "trace", "rank", "host", "GPU"}});
    for (size_t i = 0; i < ranks->count; i++) {
        gmt_grid_add(&section->table,
                     &(struct gmt_grid_row){
                         .cells = {gmt_arena_text(document->arena, "%zu", i + 1),
                                   ranks->traces[i].trace_path,
                                   ranks->traces[i].rank != NULL ? ranks->traces[i].rank : "–",
                                   ranks->traces[i].hostname, ranks->traces[i].device_name},
                         .style = i == ranks->odd ? GMT_STYLE_YELLOW : GMT_STYLE_PLAIN});
    }
}

static void add_figures(struct gmt_document *document, const struct gmt_ranks *ranks)
{
    struct gmt_arena *arena = document->arena;
    struct gmt_section *section = gmt_document_section(document, "Figures", "lrrrt");

    if (section == NULL) {
        return;
    }
    gmt_grid_add(&section->table,
                 &(struct gmt_grid_row){.cells = {"figure", "min", "median", "max", "outlier"}});
    for (int i = 0; i < GMT_FIGURES; i++) {
        const struct gmt_rank_figure *figure = &ranks->figures[i];
        const struct gmt_figure_row *row = &gmt_figure_rows[i];
        bool odd = figure->odd < ranks->count;

        gmt_grid_add(
            &section->table,
            &(struct gmt_grid_row){.cells = {row->label, value(arena, figure->min, row->kind),
                                             value(arena, figure->median, row->kind),
                                             value(arena, figure->max, row->kind),
                                             odd ? odd_text(arena, ranks, i) : NULL},
                                   .style = odd ? GMT_STYLE_YELLOW : GMT_STYLE_PLAIN});
    }
    section->sentence =
        ranks->count < 3
            ? "Of two traces, neither is the outlier."
            : "Odd: more than 3.5 robust deviations (0.6745 × distance from the median / median "
              "distance) and 5 % from the median; or 5 % from it where more than half of the "
              "traces agree exactly.";
}

static const char *range(struct gmt_arena *arena, const struct gmt_rank_finding *merged)
{
    if (isnan(merged->median_ns)) {
        return "–";
    }
    if (merged->min_ns == merged->max_ns) {
        return value(arena, merged->median_ns, GMT_KIND_NS);
    }
    return gmt_arena_text(arena, "%s to %s", value(arena, merged->min_ns, GMT_KIND_NS),
                          value(arena, merged->max_ns, GMT_KIND_NS));
}

static void add_findings(struct gmt_document *document, const struct gmt_ranks *ranks, size_t top)
{
    size_t shown = top > 0 && top < ranks->finding_count ? top : ranks->finding_count;
    struct gmt_section *section = gmt_document_section(
        document,
        ranks->finding_count == 0 ? "No findings"
                                  : gmt_arena_text(document->arena, "Findings: %zu in %zu traces",
                                                   ranks->finding_count, ranks->count),
        "llltrr");

    if (section == NULL || ranks->finding_count == 0) {
        return;
    }
    gmt_grid_add(&section->table, &(struct gmt_grid_row){.cells = {"severity", "rule", "", "where",
                                                                   "traces", "saving in each"}});
    for (size_t i = 0; i < shown; i++) {
        const struct gmt_rank_finding *merged = &ranks->findings[i];
        const struct gmt_finding *f = merged->largest;

        gmt_grid_add(&section->table,
                     &(struct gmt_grid_row){.cells = {gmt_severity_name(f->severity), f->rule,
                                                      f->slug, f->where.label,
                                                      gmt_arena_text(document->arena, "%zu of %zu",
                                                                     merged->count, ranks->count),
                                                      range(document->arena, merged)}});
    }
    if (shown < ranks->finding_count) {
        section->sentence = gmt_arena_text(document->arena, "… and %zu more (--top 0 shows all)",
                                           ranks->finding_count - shown);
    }
}

void gmt_document_ranks(struct gmt_document *document, const struct gmt_ranks *ranks, size_t top)
{
    document->title = gmt_arena_text(document->arena, "gmtrace: %zu traces together", ranks->count);
    add_traces(document, ranks);
    add_figures(document, ranks);
    add_findings(document, ranks, top);
    if (ranks->odd < ranks->count) {
        document->sections[0].sentence = gmt_arena_text(document->arena, "The outlier: %s",
                                                        ranks->traces[ranks->odd].trace_path);
    }
}
