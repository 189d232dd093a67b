/* SPDX-License-Identifier: Apache-2.0 */
/* The comparison of two traces as tables: figures with their verdicts, findings by what became of
 * them. */
#include "reports/several/several_tables.h"

#include <math.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/model/tried.h"
#include "reports/model/words.h"

static const char *value(struct gmt_arena *arena, double number, enum gmt_figure_kind kind)
{
    char text[GMT_FORMAT_BYTES];

    return gmt_arena_copy(arena, gmt_format_kind(text, number, kind));
}

static const char *noise(struct gmt_arena *arena, double share)
{
    char text[GMT_FORMAT_BYTES];

    return share == 0 ? "exact" : gmt_arena_copy(arena, gmt_format_percent(text, 100 * share));
}

static void add_traces(struct gmt_document *document, const struct gmt_comparison *c)
{
    const struct gmt_summary *sides[] = {c->a, c->b};
    struct gmt_section *section = gmt_document_section(document, NULL, "lttt");

    if (section == NULL) {
        return;
    }
    gmt_grid_add(&section->table, &(struct gmt_grid_row){.cells = {"", "trace", "program", "GPU"}});
    for (int i = 0; i < 2; i++) {
        gmt_grid_add(&section->table,
                     &(struct gmt_grid_row){.cells = {i == 0 ? "A" : "B", sides[i]->trace_path,
                                                      sides[i]->command, sides[i]->device_name}});
    }
    section->sentence = c->warning;
}

static const enum gmt_text_style change_styles[GMT_CHANGES] = {
    [GMT_CHANGE_SAME] = GMT_STYLE_PLAIN, [GMT_CHANGE_FASTER] = GMT_STYLE_GREEN,
    [GMT_CHANGE_LESS] = GMT_STYLE_GREEN, [GMT_CHANGE_SLOWER] = GMT_STYLE_RED,
    [GMT_CHANGE_MORE] = GMT_STYLE_RED,   [GMT_CHANGE_UNCLEAR] = GMT_STYLE_YELLOW};

/* Less than this share is no news, exact as it may be. */
#define SLIGHT 0.01

static void add_figures(struct gmt_document *document, const struct gmt_comparison *c)
{
    struct gmt_section *section = gmt_document_section(document, "Figures", "lrrrrl");

    if (section == NULL) {
        return;
    }
    gmt_grid_add(&section->table, &(struct gmt_grid_row){
                                      .cells = {"figure", "A", "B", "change", "noise", "verdict"}});
    for (int i = 0; i < GMT_FIGURES; i++) {
        const struct gmt_figure_change *f = &c->figures[i];
        const struct gmt_figure_row *row = &gmt_figure_rows[i];

        gmt_grid_add(
            &section->table,
            &(struct gmt_grid_row){
                .cells = {row->label, value(document->arena, f->a, row->kind),
                          value(document->arena, f->b, row->kind),
                          gmt_share_text(document->arena, f->share),
                          noise(document->arena, f->noise), gmt_change_name(f->change)},
                .style = fabs(f->share) < SLIGHT ? GMT_STYLE_PLAIN : change_styles[f->change]});
    }
    section->sentence =
        "noise: by what two runs of the same program may differ; a time that changed by less is "
        "unclear, or the same where the change or the noise is small";
}

static const char *cost(struct gmt_arena *arena, const struct gmt_finding *finding)
{
    char text[GMT_FORMAT_BYTES];

    if (finding == NULL) {
        return "–";
    }
    if (isnan(finding->saving.best_ns) && finding->excess_bytes > 0) {
        return gmt_arena_copy(arena, gmt_format_bytes(text, finding->excess_bytes));
    }
    return gmt_arena_copy(arena, gmt_format_ns(text, finding->saving.best_ns));
}

static const char *tally(struct gmt_document *document, const struct gmt_comparison *c)
{
    const char *text = "";
    size_t counts[GMT_FATES] = {0};

    for (size_t i = 0; i < c->finding_count; i++) {
        counts[c->findings[i].fate]++;
    }
    for (int fate = 0; fate < GMT_FATES; fate++) {
        if (counts[fate] > 0) {
            text = gmt_arena_text(document->arena, "%s%s%zu %s", text, *text != '\0' ? ", " : "",
                                  counts[fate], gmt_fate_name((enum gmt_fate)fate));
        }
    }
    return *text != '\0' ? gmt_arena_text(document->arena, "Findings: %s", text) : "No findings";
}

static const char *place_of(const struct gmt_finding *finding)
{
    const struct gmt_where *where = &finding->where;

    if (finding->place.label != NULL) {
        return finding->place.label;
    }
    /* A kernel that no place is known of. */
    return where->kernel != NULL && strcmp(where->kernel, where->label) == 0
               ? gmt_where_kernel(where)
               : where->label;
}

static const enum gmt_text_style fate_styles[GMT_FATES] = {
    [GMT_FATE_FIXED] = GMT_STYLE_GREEN,      [GMT_FATE_NEW] = GMT_STYLE_RED,
    [GMT_FATE_BETTER] = GMT_STYLE_GREEN,     [GMT_FATE_WORSE] = GMT_STYLE_RED,
    [GMT_FATE_UNCHECKED] = GMT_STYLE_YELLOW, [GMT_FATE_SAME] = GMT_STYLE_PLAIN};

static void add_findings(struct gmt_document *document, const struct gmt_comparison *c, size_t top)
{
    struct gmt_section *section = gmt_document_section(document, tally(document, c), "lllltrr");
    size_t shown = top > 0 && top < c->finding_count ? top : c->finding_count;

    if (section == NULL || c->finding_count == 0) {
        return;
    }
    gmt_grid_add(&section->table,
                 &(struct gmt_grid_row){
                     .cells = {"state", "severity", "rule", "", "where", "saving in A", "in B"}});
    for (size_t i = 0; i < shown; i++) {
        const struct gmt_finding_change *change = &c->findings[i];
        const struct gmt_finding *one = change->b != NULL ? change->b : change->a;

        gmt_grid_add(
            &section->table,
            &(struct gmt_grid_row){.cells = {gmt_fate_name(change->fate),
                                             gmt_severity_name(one->severity), one->rule, one->slug,
                                             place_of(one), cost(document->arena, change->a),
                                             cost(document->arena, change->b)},
                                   .style = fate_styles[change->fate]});
    }
    if (shown < c->finding_count) {
        section->sentence = gmt_arena_text(document->arena, "… and %zu more (--top 0 shows all)",
                                           c->finding_count - shown);
    }
}

/* "138 ms (12.5 %)": of a run of that length */
static const char *of_run(struct gmt_arena *arena, double ns, double run_ns)
{
    char time[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];

    if (isnan(ns)) {
        return "–";
    }
    return run_ns > 0 ? gmt_arena_text(arena, "%s (%s)", gmt_format_ns(time, ns),
                                       gmt_format_percent(share, 100 * ns / run_ns))
                      : gmt_arena_copy(arena, gmt_format_ns(time, ns));
}

/* "proven for 2": findings and notes that the fix is for, together */
static const char *state_of(struct gmt_arena *arena, const struct gmt_tried *tried)
{
    const char *state = gmt_tried_state_name(tried->state);

    return tried->findings < 2 ? state
                               : gmt_arena_text(arena, "%s for %zu", state, tried->findings);
}

/* Of each finding of A that a fix was tried for: what was predicted, what that fix gained, and what the changed source did. */
static void add_tried(struct gmt_document *document, const struct gmt_comparison *c, size_t top)
{
    struct gmt_arena *arena = document->arena;
    size_t count = 0;
    double wall_ns = c->a->values[GMT_FIGURE_wall_ns];
    struct gmt_section *section = c->a->tried != NULL
                                      ? gmt_document_section(document, "Predicted, tried, got",
                                                             "ltlrrr")
                                      : NULL;
    if (section == NULL) {
        return;
    }
    for (size_t i = 0; i < c->finding_count && (top == 0 || count < top); i++) {
        const struct gmt_finding *a = c->findings[i].a;

        if (a == NULL || a->tried == NULL) {
            continue;
        }
        if (count++ == 0) {
            gmt_grid_add(&section->table,
                         &(struct gmt_grid_row){
                             .cells = {"rule", "where", "state", "predicted", "tried", "got"}});
        }
        gmt_grid_add(&section->table,
                     &(struct gmt_grid_row){
                         .cells = {a->rule, place_of(a), state_of(arena, a->tried),
                                   of_run(arena, a->saving.best_ns, wall_ns),
                                   of_run(arena, a->tried->gain.best_ns, c->a->tried->untouched_ns),
                                   of_run(arena, c->findings[i].got_ns, wall_ns)},
                         .style = fate_styles[c->findings[i].fate]});
    }
    section->sentence = count == 0 ? "no finding of A is about a fix that was tried"
                                   : "tried: of the whole program, its start included; got: known "
                                     "where nothing changed but this and what the same fix is for";
}

/* What became of what was predicted. */
static void add_result(struct gmt_document *document, const struct gmt_comparison *c)
{
    const struct gmt_result *result = &c->result;
    struct gmt_section *section = gmt_document_section(document, NULL, "l");
    char low[GMT_FORMAT_BYTES], high[GMT_FORMAT_BYTES];

    if (section != NULL) {
        section->sentence = result->sentence;
    }
    section = isfinite(result->got_ns) ? gmt_document_section(document, NULL, "lrrr") : NULL;
    if (section == NULL) {
        return;
    }
    section->sentence = result->note;
    gmt_grid_add(&section->table,
                 &(struct gmt_grid_row){.cells = {"saved", "", "at least", "at most"}});
    gmt_grid_add(
        &section->table,
        &(struct gmt_grid_row){
            .cells = {
                result->smaller > 0 ? "predicted for what was fixed, or is smaller"
                                    : "predicted for what was fixed",
                value(document->arena, result->predicted_ns, GMT_KIND_NS),
                gmt_arena_copy(document->arena, gmt_format_ns(low, result->predicted_low_ns)),
                gmt_arena_copy(document->arena, gmt_format_ns(high, result->predicted_high_ns))}});
    gmt_grid_add(
        &section->table,
        &(struct gmt_grid_row){
            .cells = {"got, give or take the noise of a run",
                      value(document->arena, result->got_ns, GMT_KIND_NS),
                      value(document->arena, result->got_ns - result->noise_ns, GMT_KIND_NS),
                      value(document->arena, result->got_ns + result->noise_ns, GMT_KIND_NS)},
            .style = result->got_ns > result->noise_ns    ? GMT_STYLE_GREEN
                     : result->got_ns < -result->noise_ns ? GMT_STYLE_RED
                                                          : GMT_STYLE_PLAIN});
}

static const char *number(struct gmt_arena *arena, const struct gmt_part_sum *sum, double of,
                          enum gmt_figure_kind kind)
{
    return sum->name == NULL ? "–" : value(arena, of, kind);
}

static const char *name_of(const struct gmt_part_change *row)
{
    return row->a.name != NULL ? row->a.name : row->b.name;
}

static const char *title_of(const struct gmt_part_change *row)
{
    return row->a.title != NULL ? row->a.title : row->b.title;
}

/* Titles distinguish the kernels of one trace. One of A alone may be called as another of B alone: then both by their names. */
static const char *shown_name(const struct gmt_part_change *rows, size_t count, size_t at)
{
    const char *title = title_of(&rows[at]);

    for (size_t i = 0; title != NULL && i < count; i++) {
        const char *other = i == at ? NULL : title_of(&rows[i]);

        if (other != NULL && strcmp(other, title) == 0) {
            return name_of(&rows[at]);
        }
    }
    return title != NULL ? title : name_of(&rows[at]);
}

/* Kernels, copies or memory of both, side by side. */
static void add_parts(struct gmt_document *document, const char *title, const char *what,
                      const struct gmt_part_change *rows, size_t count, size_t top)
{
    size_t shown = top > 0 && top < count ? top : count;
    bool bytes = false, time = false;

    for (size_t i = 0; i < count; i++) {
        bytes |= isfinite(rows[i].a.bytes) && rows[i].a.name != NULL;
        bytes |= isfinite(rows[i].b.bytes) && rows[i].b.name != NULL;
        time |= isfinite(rows[i].a.time_ns) && rows[i].a.name != NULL;
        time |= isfinite(rows[i].b.time_ns) && rows[i].b.name != NULL;
    }
    struct gmt_section *section = count > 0
                                      ? gmt_document_section(document, title,
                                                             bytes && time ? "trrrrrr" : "trrrr")
                                      : NULL;
    if (section == NULL) {
        return;
    }
    struct gmt_grid_row head = {.cells = {what, "number in A", "in B"}};
    size_t at = 3;
    if (bytes) {
        head.cells[at++] = "bytes in A";
        head.cells[at++] = "in B";
    }
    if (time) {
        head.cells[at++] = "time in A";
        head.cells[at++] = "in B";
    }
    gmt_grid_add(&section->table, &head);
    for (size_t i = 0; i < shown; i++) {
        const struct gmt_part_sum *a = &rows[i].a, *b = &rows[i].b;
        struct gmt_arena *arena = document->arena;
        struct gmt_grid_row row = {.cells = {shown_name(rows, count, i),
                                             number(arena, a, a->count, GMT_KIND_COUNT),
                                             number(arena, b, b->count, GMT_KIND_COUNT)}};

        at = 3;
        if (bytes) {
            row.cells[at++] = number(arena, a, a->bytes, GMT_KIND_BYTES);
            row.cells[at++] = number(arena, b, b->bytes, GMT_KIND_BYTES);
        }
        if (time) {
            row.cells[at++] = number(arena, a, a->time_ns, GMT_KIND_NS);
            row.cells[at++] = number(arena, b, b->time_ns, GMT_KIND_NS);
        }
        gmt_grid_add(&section->table, &row);
    }
    if (shown < count) {
        section->sentence = gmt_arena_text(document->arena, "… and %zu more (--top 0 shows all)",
                                           count - shown);
    }
}

void gmt_document_comparison(struct gmt_document *document, const struct gmt_comparison *c,
                             size_t top)
{
    document->title = "gmtrace: A compared with B";
    add_result(document, c);
    add_traces(document, c);
    add_findings(document, c, top);
    add_tried(document, c, top);
    add_figures(document, c);
    add_parts(document, "Kernels", "kernel", c->kernels, c->kernel_count, top);
    add_parts(document, "Copies", "copies", c->copies, c->copy_count, top);
    add_parts(document, "Memory at the peak", "place", c->holders, c->holder_count, top);
}
