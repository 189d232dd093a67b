/* SPDX-License-Identifier: Apache-2.0 */
/* Gates: the comparison with a baseline, and the table of what did not hold. */
#include "analyzer/compare/gates.h"

#include <math.h>

#include "libtrace/base/format.h"
#include "reports/model/words.h"

void gmt_gates_add(struct gmt_gates *gates, const struct gmt_gate *gate)
{
    struct gmt_gate *slot = GMT_PUSH(gates->arena, gates->gates, gates->count);

    if (slot != NULL) {
        *slot = *gate;
    }
}

static void check_figure(struct gmt_gates *gates, const struct gmt_figure_change *change,
                         const struct gmt_figure_row *row, double share)
{
    struct gmt_arena *arena = gates->arena;
    char is[GMT_FORMAT_BYTES], most[GMT_FORMAT_BYTES], noise[GMT_FORMAT_BYTES];
    struct gmt_gate gate = {.level = GMT_LEVEL_ERROR, .gate = "baseline", .what = row->name};
    bool known = !isnan(change->a) && !isnan(change->b);

    gmt_format_apart(is, change->b, most, change->a * (1 + share), row->kind);
    gate.is = gmt_arena_copy(arena, is);
    gate.limit = gmt_arena_text(arena, "<= %s", most);
    if (!known) {
        /* Unknown in both is no news: a trace of the software device has no times. */
        if (isnan(change->a) && isnan(change->b)) {
            return;
        }
        gate.holds = GMT_HOLDS_UNKNOWN;
        gate.note = isnan(change->a) ? "not known of the baseline" : "not known of this trace";
    } else if (change->b > change->a * (1 + share)) {
        gate.holds = GMT_HOLDS_NO;
        gate.note = gmt_share_text(arena, change->share);
        if (row->kind == GMT_KIND_NS && change->change != GMT_CHANGE_SLOWER) {
            /* Printed, but not a failure. */
            gate.level = GMT_LEVEL_WARN;
            gate.note = gmt_arena_text(arena, "%s, inside the noise of a run (%s)", gate.note,
                                       gmt_format_percent(noise, 100 * change->noise));
        }
    }
    gmt_gates_add(gates, &gate);
}

static void check_findings(struct gmt_gates *gates, const struct gmt_comparison *comparison)
{
    for (size_t i = 0; i < comparison->finding_count; i++) {
        const struct gmt_finding *found = comparison->findings[i].b;

        if (comparison->findings[i].fate != GMT_FATE_NEW || found->severity < GMT_SEVERITY_MEDIUM) {
            continue;
        }
        gmt_gates_add(gates,
                      &(struct gmt_gate){.level = GMT_LEVEL_ERROR,
                                         .holds = GMT_HOLDS_NO,
                                         .gate = "baseline",
                                         .what = found->rule,
                                         .is = "new",
                                         .limit = "not new",
                                         .note = gmt_arena_text(gates->arena, "%s, %s at %s",
                                                                gmt_severity_name(found->severity),
                                                                found->slug, found->where.label)});
    }
}

void gmt_gates_baseline(struct gmt_gates *gates, const struct gmt_comparison *comparison,
                        double share)
{
    for (int times = 0; times < 2; times++) {
        for (int i = 0; i < GMT_FIGURES; i++) {
            const struct gmt_figure_row *row = &gmt_figure_rows[i];

            if (row->gated && (row->kind == GMT_KIND_NS) == (times == 1)) {
                check_figure(gates, &comparison->figures[i], row, share);
            }
        }
        if (times == 0) {
            check_findings(gates, comparison);
        }
    }
}

static bool any(const struct gmt_gates *gates, enum gmt_holds holds)
{
    for (size_t i = 0; i < gates->count; i++) {
        if (gates->gates[i].level == GMT_LEVEL_ERROR && gates->gates[i].holds == holds) {
            return true;
        }
    }
    return false;
}

bool gmt_gates_failed(const struct gmt_gates *gates)
{
    return any(gates, GMT_HOLDS_NO);
}

bool gmt_gates_unknown(const struct gmt_gates *gates)
{
    return any(gates, GMT_HOLDS_UNKNOWN);
}

static const char *outcome(const struct gmt_gate *gate)
{
    if (gate->holds == GMT_HOLDS_UNKNOWN) {
        return "unknown";
    }
    return gate->level == GMT_LEVEL_WARN ? "warning" : "FAILED";
}

enum { WHAT, IS, LIMIT, COLUMNS };

static const char *cell(const struct gmt_gate *gate, int column)
{
    return column == WHAT ? gate->what : column == IS ? gate->is : gate->limit;
}

static void fill_up(FILE *out, size_t n)
{
    for (; n > 0; n--) {
        fputc(' ', out);
    }
}

/* The notes begin in one column; a line without one ends with its last cell. */
static void print_row(const struct gmt_gate *gate, const size_t widths[COLUMNS], FILE *out)
{
    fprintf(out, "  %-8s%-9s", outcome(gate), gate->gate);
    for (int i = 0; i < COLUMNS; i++) {
        size_t space = widths[i] - gmt_clean_length(cell(gate, i));

        fill_up(out, i == IS ? space : 0);
        gmt_print_clean(out, cell(gate, i), 0);
        fill_up(out, i == WHAT ? space + 2 : i == IS ? 2 : 0);
    }
    if (gate->note != NULL) {
        fill_up(out, widths[LIMIT] - gmt_clean_length(gate->limit) + 2);
        gmt_print_clean(out, gate->note, 0);
    }
    fputc('\n', out);
}

void gmt_gates_print(const struct gmt_gates *gates, const char *trace, FILE *out)
{
    size_t widths[COLUMNS] = {0}, failed = 0, shown = 0, checked = 0;

    for (size_t i = 0; i < gates->count; i++) {
        const struct gmt_gate *gate = &gates->gates[i];

        checked += gate->level != GMT_LEVEL_OFF;
        if (gate->level == GMT_LEVEL_OFF || gate->holds == GMT_HOLDS_YES) {
            continue;
        }
        shown++;
        failed += gate->level == GMT_LEVEL_ERROR && gate->holds == GMT_HOLDS_NO;
        for (int c = 0; c < COLUMNS; c++) {
            size_t length = gmt_clean_length(cell(gate, c));

            widths[c] = length > widths[c] ? length : widths[c];
        }
    }
    if (shown == 0) {
        return;
    }
    fputs("gmanalyze: ", out);
    gmt_print_clean(out, trace, 0);
    fprintf(out, ": %zu of %zu gates failed\n", failed, checked);
    for (size_t i = 0; i < gates->count; i++) {
        const struct gmt_gate *gate = &gates->gates[i];

        if (gate->level != GMT_LEVEL_OFF && gate->holds != GMT_HOLDS_YES) {
            print_row(gate, widths, out);
        }
    }
}
