/* SPDX-License-Identifier: Apache-2.0 */
/* The findings of the terminal report: as cards, or in a line each. */
#include <math.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/model/answer.h"
#include "reports/model/tried.h"
#include "reports/model/words.h"
#include "reports/text/text_parts.h"

static const enum gmt_text_style severity_styles[] = {[GMT_SEVERITY_NOTE] = GMT_STYLE_DIM,
                                                      [GMT_SEVERITY_LOW] = GMT_STYLE_CYAN,
                                                      [GMT_SEVERITY_MEDIUM] = GMT_STYLE_YELLOW,
                                                      [GMT_SEVERITY_HIGH] = GMT_STYLE_RED};

static void saving_text(const struct gmt_report *r, const struct gmt_finding *f, char *text,
                        size_t bytes)
{
    char time[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];

    if (gmt_finding_is_proven(f)) {
        snprintf(text, bytes, "gains %s (%s), proven", gmt_format_ns(time, f->tried->gain.best_ns),
                 gmt_format_percent(share, 100 * f->tried->gain.share));
        return;
    }
    if (isnan(f->saving.best_ns) && f->excess_bytes > 0) {
        snprintf(text, bytes, "%s of unnecessary traffic", gmt_format_bytes(time, f->excess_bytes));
    } else if (isnan(f->saving.best_ns) && f->saved_peak_bytes > 0) {
        snprintf(text, bytes, "%s less at the peak", gmt_format_bytes(time, f->saved_peak_bytes));
    } else if (isnan(f->saving.best_ns) && isfinite(f->at_most_ns)) {
        snprintf(text, bytes, f->modelled ? "at most %s, modelled" : "at most %s",
                 gmt_format_ns(time, f->at_most_ns));
    } else if (isnan(f->saving.best_ns)) {
        snprintf(text, bytes, "%s", r->simulated ? gmt_simulated_time(r) : "not priced");
    } else if (f->modelled) {
        snprintf(text, bytes, "saves about %s, modelled", gmt_format_ns(time, f->saving.best_ns));
    } else {
        snprintf(text, bytes, "saves %s (%s)", gmt_format_ns(time, f->saving.best_ns),
                 gmt_format_percent(share, 100 * f->saving.share));
    }
}

static void card_where(struct gmt_text_out *t, const struct gmt_report *r,
                       const struct gmt_finding *f)
{
    const struct gmt_where *w = &f->where;
    size_t left = t->columns - 5;

    fputs("     ", t->out);
    gmt_text_style(t, GMT_STYLE_BOLD);
    if (w->kernel != NULL) {
        bool placed = strcmp(w->label, w->kernel) != 0;

        left -= gmt_print_clean(t->out, gmt_where_kernel(w), placed ? left - 40 : left);
        gmt_text_style(t, GMT_STYLE_PLAIN);
        if (!placed) {
            fputc('\n', t->out);
            return;
        }
        fputs(" launched at ", t->out);
        left -= 13;
    }
    left -= gmt_print_clean(t->out, w->label, left);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    const char *api = w->kernel == NULL ? w->api : NULL;
    size_t api_length = api != NULL ? 3 + gmt_clean_length(api) : 0;
    if (w->function != NULL && left > 12) {
        size_t all = gmt_clean_length(w->function), room = left - 4;

        /* Its parameters are what the line can do without best. */
        if (all + api_length > room) {
            all = strcspn(w->function, "(");
        }
        if (api_length < room && all + api_length > room) {
            room -= api_length;
        }
        fputs(" in ", t->out);
        char *name = gmt_arena_text(r->arena, "%.*s", (int)all, w->function);
        left -= 4 + gmt_print_clean(t->out, name, room);
    }
    if (api != NULL && left > 12) {
        gmt_text_style(t, GMT_STYLE_DIM);
        fputs(" · ", t->out);
        gmt_print_clean(t->out, api, left - 3);
        gmt_text_style(t, GMT_STYLE_PLAIN);
    }
    fputc('\n', t->out);
}

/* The cases of a merged finding. */
static void card_parts(struct gmt_text_out *t, const struct gmt_finding *f)
{
    enum { SHOWN = 6 };

    for (size_t i = 0; i < f->part_count && i < SHOWN; i++) {
        const struct gmt_finding_part *part = &f->parts[i];
        char text[512], time[GMT_FORMAT_BYTES];

        /* The headline has the largest already. */
        if (i == 0 && part->label == part->headline) {
            continue;
        }
        if (isfinite(part->best_ns) && part->label != part->headline) {
            snprintf(text, sizeof(text), "%s: saves %s", part->label,
                     gmt_format_ns(time, part->best_ns));
        } else {
            snprintf(text, sizeof(text), "%s", part->label);
        }
        gmt_text_wrap(t, 5, "  - ", text);
    }
    if (f->part_count > SHOWN) {
        fprintf(t->out, "       … and %zu more\n", f->part_count - SHOWN);
    }
}

/* Why its place has no better name: what was said of one named first, or of a finding before, is not said again. */
static bool has_new_note(const struct gmt_report *r, const struct gmt_finding *f)
{
    const char *said = gmt_answer_places_note(r);

    if (f->where.note == NULL || (said != NULL && strcmp(said, f->where.note) == 0)) {
        return false;
    }
    for (const struct gmt_finding *before = r->findings; before < f; before++) {
        if (before->where.note != NULL && strcmp(before->where.note, f->where.note) == 0) {
            return false;
        }
    }
    return true;
}

static void card_note(struct gmt_text_out *t, const struct gmt_report *r,
                      const struct gmt_finding *f)
{
    if (has_new_note(r, f)) {
        gmt_text_wrap(t, 5, "names   ", f->where.note);
    }
}

/* Below findings that have a line each: the first reason why one of them has no better name. */
static void brief_note(struct gmt_text_out *t, const struct gmt_report *r, size_t first,
                       size_t shown)
{
    for (size_t i = first; i < shown; i++) {
        if (has_new_note(r, &r->findings[i])) {
            gmt_text_wrap(t, 5, "names   ", r->findings[i].where.note);
            return;
        }
    }
}

static void card_graph(struct gmt_text_out *t, const struct gmt_finding *f)
{
    if (f->where.graph != NULL) {
        gmt_text_wrap(t, 5, "graph   ", f->where.graph);
    }
}

/* The line that the place names, of what is no line of a kernel: those are listed with their shares. */
static void card_line(struct gmt_text_out *t, const struct gmt_finding *f)
{
    const struct gmt_source_quote *place = &f->place;

    if (place->line_count > 0 && f->line_count == 0) {
        gmt_text_wrap(t, 5, "line    ", place->lines[place->line - place->first_line]);
    }
}

static void card(struct gmt_text_out *t, const struct gmt_report *r, const struct gmt_finding *f,
                 size_t number)
{
    char saving[96], low[GMT_FORMAT_BYTES], high[GMT_FORMAT_BYTES];
    size_t used;

    saving_text(r, f, saving, sizeof(saving));
    fprintf(t->out, "%3zu  ", number);
    gmt_text_style(t, severity_styles[f->severity]);
    used = 5 + (size_t)fprintf(t->out, "%-7s", gmt_severity_name(f->severity));
    gmt_text_style(t, GMT_STYLE_BOLD);
    used += (size_t)fprintf(t->out, "%s %s", f->rule, f->slug);
    size_t length = gmt_clean_length(saving);
    for (; used + length < t->columns; used++) {
        fputc(' ', t->out);
    }
    gmt_text_style(t, GMT_STYLE_GREEN);
    fprintf(t->out, "%s\n", saving);
    gmt_text_style(t, GMT_STYLE_PLAIN);
    card_where(t, r, f);
    gmt_text_wrap(t, 5, "", f->headline);
    card_graph(t, f);
    card_note(t, r, f);
    if (f->range != NULL) {
        gmt_text_wrap(t, 5, "range   ", f->range);
    }
    gmt_text_lines(t, r, f);
    card_line(t, f);
    card_parts(t, f);
    if (isfinite(f->saving.best_ns)) {
        char text[512];

        /* The method of what is modelled says so, and for which device. */
        snprintf(text, sizeof(text), "%s to %s, %s%s%s", gmt_format_ns(low, f->saving.low_ns),
                 gmt_format_ns(high, f->saving.high_ns),
                 f->modelled ? "" : gmt_confidence_words(r, f->confidence), f->modelled ? "" : ": ",
                 f->method != NULL ? f->method : "");
        gmt_text_wrap(t, 5, "saving  ", text);
    } else if (f->method != NULL) {
        gmt_text_wrap(t, 5, "saving  ", f->method);
    }
    if (f->tried != NULL) {
        gmt_text_wrap(t, 5, "tried   ", gmt_tried_words(r->arena, r->tried, f->tried));
    }
    if (isfinite(f->saving.best_ns) && f->saved_peak_bytes > 0) {
        gmt_text_wrap(t, 5, "memory  ",
                      gmt_arena_text(r->arena, "the peak of %s is %s lower", f->saved_peak_of,
                                     gmt_format_bytes(low, f->saved_peak_bytes)));
    }
    if (f->fix != NULL) {
        gmt_text_wrap(t, 5, "fix     ", f->fix);
    }
    if (f->patch != NULL || f->sketch != NULL) {
        gmt_text_code(t, 13, f->patch != NULL ? f->patch : f->sketch);
    }
    fputc('\n', t->out);
}

/* What the findings of one kernel come to when all of them are repaired. */
static void joint(struct gmt_text_out *t, const struct gmt_report *r, const struct gmt_joint *j)
{
    char best[GMT_FORMAT_BYTES], low[GMT_FORMAT_BYTES], high[GMT_FORMAT_BYTES];
    char text[GMT_FORMAT_BYTES], of[GMT_FORMAT_BYTES + 8] = "";
    const char *parts = "";

    for (size_t i = 0; i < j->part_count; i++) {
        parts = gmt_arena_text(r->arena, "%s%s#%zu %s %s", parts, i > 0 ? ", " : "",
                               j->parts[i].finding + 1, r->findings[j->parts[i].finding].rule,
                               gmt_format_percent(text, 100 * j->parts[i].share));
    }
    if (isfinite(j->cost_ns)) {
        snprintf(of, sizeof(of), " of %s", gmt_format_ns(text, j->cost_ns));
    }
    gmt_text_wrap(t, 5, "together  ",
                  gmt_arena_text(r->arena, "%s: about %s (%s to %s)%s: %s",
                                 j->title != NULL ? j->title : j->kernel,
                                 gmt_format_ns(best, j->saving.best_ns),
                                 gmt_format_ns(low, j->saving.low_ns),
                                 gmt_format_ns(high, j->saving.high_ns), of, parts));
}

/* A finding in one line. */
static void brief(struct gmt_text_out *t, const struct gmt_report *r, const struct gmt_finding *f,
                  size_t number)
{
    const struct gmt_where *w = &f->where;
    char saving[96];

    saving_text(r, f, saving, sizeof(saving));
    size_t saving_columns = gmt_clean_length(saving) + 1;
    fprintf(t->out, "%3zu  ", number);
    gmt_text_style(t, severity_styles[f->severity]);
    fprintf(t->out, "%-7s", gmt_severity_name(f->severity));
    gmt_text_style(t, GMT_STYLE_PLAIN);
    size_t used = 12 + (size_t)fprintf(t->out, "%s %s  ", f->rule, f->slug);
    size_t left = used + saving_columns < t->columns ? t->columns - used - saving_columns : 1;
    gmt_text_cell(t, w->kernel != NULL ? gmt_where_kernel(w) : w->label, left + 1, false);
    gmt_text_style(t, GMT_STYLE_GREEN);
    fprintf(t->out, "%s\n", saving);
    gmt_text_style(t, GMT_STYLE_PLAIN);
}

static void finding_list(struct gmt_text_out *t, const struct gmt_report *r)
{
    size_t top = t->detail->findings, cards = t->detail->cards;
    bool none = cards == GMT_TEXT_NO_CARDS;
    /* A line that says "one more" would take the place of one more. */
    size_t shown = top > 0 && top + 1 < r->finding_count ? top : r->finding_count;

    for (size_t i = 0; i < shown; i++) {
        if (!none && (cards == 0 || i < cards)) {
            card(t, r, &r->findings[i], i + 1);
        } else {
            brief(t, r, &r->findings[i], i + 1);
        }
    }
    bool briefly = none || (cards > 0 && cards < shown);
    if (briefly) {
        brief_note(t, r, none ? 0 : cards, shown);
    }
    if (shown < r->finding_count) {
        fprintf(t->out, "     … and %zu smaller findings (--top 0 shows all)\n\n",
                r->finding_count - shown);
    } else if (briefly) {
        fputs("     (--top 0 shows all in full)\n\n", t->out);
    }
}

void gmt_text_findings(struct gmt_text_out *t, const struct gmt_report *r)
{
    char text[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];
    size_t cards = t->detail->cards;

    if (r->finding_count == 0) {
        gmt_text_heading(t, r->notes == NULL ? "No findings" : "No findings, some notes");
        gmt_text_wrap(t, 2, "", gmt_arena_text(r->arena, "N%s.", gmt_answer_none(r) + 1));
        fputc('\n', t->out);
        return;
    }
    char title[160];
    if (r->combined.best_ns > 0 && r->modelled) {
        snprintf(title, sizeof(title), "%zu finding%s, together about %s, modelled",
                 r->finding_count, r->finding_count == 1 ? "" : "s",
                 gmt_format_ns(text, r->combined.best_ns));
    } else if (r->combined.best_ns > 0) {
        snprintf(title, sizeof(title), "%zu finding%s, together about %s (%s of the run)",
                 r->finding_count, r->finding_count == 1 ? "" : "s",
                 gmt_format_ns(text, r->combined.best_ns),
                 gmt_format_percent(share, 100 * r->combined.share));
    } else {
        snprintf(title, sizeof(title), "%zu finding%s", r->finding_count,
                 r->finding_count == 1 ? "" : "s");
    }
    gmt_text_heading(t, title);
    if (r->finding_count > 1 && r->combined.best_ns > 0 && !gmt_savings_add_up(r)) {
        gmt_text_wrap(t, 2, "", "Savings that overlap count once in the sum.");
        fputc('\n', t->out);
    }
    finding_list(t, r);
    if (t->detail->only_counts) {
        return;
    }
    for (size_t i = 0; i < r->joint_count && (cards == 0 || i < cards); i++) {
        joint(t, r, &r->joints[i]);
    }
    if (r->joint_count > 0) {
        fputc('\n', t->out);
    }
}
