/* SPDX-License-Identifier: Apache-2.0 */
/* The findings as GitHub-flavoured markdown, short enough for a comment on a pull request. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/model/answer.h"
#include "reports/model/failed_calls.h"
#include "reports/model/own_time.h"
#include "reports/model/tried.h"
#include "reports/model/words.h"
#include "reports/text/markdown_parts.h"
#include "reports/text/markdown_snapshot.h"
#include "reports/text/text_parts.h"
#include "reports/writers.h"

/* A comment holds 65,536 characters, which 25 findings in full fill to the half. */
enum { MOST_SHOWN = 25 };

/* Kernels and places are names; "launched at" says that the place is not the kernel's own. */
static void place(FILE *out, const struct gmt_where *w, bool cell)
{
    bool placed = w->kernel == NULL || strcmp(w->kernel, w->label) != 0;

    if (w->kernel != NULL) {
        gmt_markdown_span(out, gmt_where_kernel(w), cell);
    }
    if (w->kernel != NULL && placed) {
        fputs(" launched at ", out);
    }
    if (placed) {
        gmt_markdown_span(out, w->label, cell);
    }
}

static void saving(FILE *out, const struct gmt_report *r, const struct gmt_finding *f)
{
    char text[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];

    if (gmt_finding_is_proven(f)) {
        fprintf(out, "%s (%s), proven", gmt_format_ns(text, f->tried->gain.best_ns),
                gmt_format_percent(share, 100 * f->tried->gain.share));
    } else if (f->modelled) {
        fprintf(out, "about %s, modelled", gmt_format_ns(text, f->saving.best_ns));
    } else if (isfinite(f->saving.best_ns)) {
        fprintf(out, "%s (%s)", gmt_format_ns(text, f->saving.best_ns),
                gmt_format_percent(share, 100 * f->saving.share));
    } else if (f->saved_peak_bytes > 0) {
        fprintf(out, "%s less at the peak", gmt_format_bytes(text, f->saved_peak_bytes));
    } else if (f->excess_bytes > 0) {
        fprintf(out, "%s of unnecessary traffic", gmt_format_bytes(text, f->excess_bytes));
    } else if (isfinite(f->at_most_ns)) {
        fprintf(out, "at most %s%s", gmt_format_ns(text, f->at_most_ns),
                f->modelled ? ", modelled" : "");
    } else {
        fputs(r->simulated ? gmt_simulated_time(r) : "not priced", out);
    }
}

static void head(FILE *out, const struct gmt_report *r)
{
    char wall[GMT_FORMAT_BYTES], busy[GMT_FORMAT_BYTES], copies[GMT_FORMAT_BYTES];
    char kernels[GMT_FORMAT_BYTES], peak[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES];
    char line[GMT_OWN_TIME_BYTES];

    fprintf(out, "### gmtrace: %zu finding%s", r->finding_count, r->finding_count == 1 ? "" : "s");
    if (r->combined.best_ns > 0 && r->modelled) {
        fprintf(out, ", together about %s, modelled", gmt_format_ns(wall, r->combined.best_ns));
    } else if (r->combined.best_ns > 0) {
        fprintf(out, ", together about %s (%s of the run)",
                gmt_format_ns(wall, r->combined.best_ns),
                gmt_format_percent(share, 100 * r->combined.share));
    }
    fputs("\n\n", out);
    gmt_markdown_span(out, r->command != NULL ? r->command : r->trace_path, false);
    fputs(" on ", out);
    gmt_markdown_plain(out, r->device_name != NULL ? r->device_name : "no GPU");
    fputs("\n\n", out);
    const char *end = gmt_end_words(r);
    if (end != NULL) {
        fprintf(out, "**T%s.**\n\n", end + 1);
    }
    if (r->simulated) {
        fputc('*', out);
        gmt_markdown_plain(out, gmt_simulated_badge(r));
        fputs("*\n\n", out);
    }
    const char *modelled = r->modelled ? ", modelled" : "";
    fprintf(out,
            "| wall time | GPU busy%s | copies%s | kernels%s | peak device memory |\n"
            "|---:|---:|---:|---:|---:|\n",
            r->device_seen < 1 ? ", estimated" : "", modelled, modelled);
    fprintf(out, "| %s | %s | %s | %s | %s |\n\n", gmt_format_ns(wall, r->wall_ns),
            gmt_format_percent(busy, 100 * r->gpu_busy_ns / r->wall_ns),
            gmt_format_ns(copies, r->copy_ns), gmt_format_ns(kernels, r->kernel_ns),
            gmt_format_bytes(peak, r->peak_device_bytes));
    if (gmt_own_time_line(line, r) != NULL) {
        fprintf(out, "%s.\n\n", line);
    }
}

/* The findings that bring most, as sentences. */
static void first(FILE *out, const struct gmt_report *r)
{
    size_t count = gmt_answer_count(r);
    const char *times = gmt_answer_times(r, &r->first), *all = gmt_answer_times(r, &r->combined);

    if (count == 0) {
        return;
    }
    fputs("**Do first**", out);
    if (times[0] != '\0') {
        fprintf(out, ": %s", times);
    }
    if (all[0] != '\0' && r->finding_count > count && strcmp(times, all) != 0) {
        fprintf(out, "; all %zu findings: %s", r->finding_count, all);
    }
    fputs("\n\n", out);
    for (size_t i = 0; i < count; i++) {
        const struct gmt_finding *f = &r->findings[i];
        const char *gain = gmt_answer_gain(r, f), *sure = gmt_answer_certainty(r, f);

        fprintf(out, "%zu. ", i + 1);
        gmt_markdown_plain(out, f->action);
        fputs(" at ", out);
        gmt_markdown_span(out, f->place.label, false);
        fprintf(out, ": %s%s%s%s%s%s\n", gmt_answer_effort(f), gain[0] != '\0' ? ", " : "", gain,
                sure[0] != '\0' ? " (" : "", sure, sure[0] != '\0' ? ")" : "");
    }
    fputc('\n', out);
    if (gmt_answer_places_note(r) != NULL) {
        fputs("Names: ", out);
        gmt_markdown_plain(out, gmt_answer_places_note(r));
        fputs("\n\n", out);
    }
}

/* What the recorded time went to, with bars of text: markdown has no others. */
static void time_parts(FILE *out, const struct gmt_report *r)
{
    char ns[GMT_FORMAT_BYTES], share[GMT_FORMAT_BYTES], bar[128];

    if (!r->has_time_parts) {
        return;
    }
    fprintf(out, "| the recorded %s went to | | | |\n|---|---:|---:|---|\n",
            gmt_format_ns(ns, r->recorded_ns));
    for (int i = 0; i < GMT_TIME_PARTS; i++) {
        double part = r->time_parts[i].ns / r->recorded_ns;

        if (part > 0) {
            gmt_text_bar(bar, sizeof(bar), part, 30);
            fprintf(out, "| %s | %s | %s | %s |\n", gmt_time_part_title((enum gmt_time_part)i),
                    gmt_format_ns(ns, r->time_parts[i].ns), gmt_format_percent(share, 100 * part),
                    bar);
        }
    }
    fputc('\n', out);
    gmt_markdown_plain(out, gmt_arena_text(r->arena, "T%s.", gmt_answer_idle(r) + 1));
    fputs("\n\n", out);
    if (gmt_time_parts_note(r) != NULL) {
        gmt_markdown_plain(out, gmt_time_parts_note(r));
        fputs(".\n\n", out);
    }
}

/* Causes of idle time and the API summary, folded. */
static void calls(FILE *out, const struct gmt_report *r)
{
    char ns[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];

    if (r->call_count == 0) {
        return;
    }
    fputs("<details><summary>CUDA calls</summary>\n\n| function | calls | time | most of it at "
          "|\n|---|---:|---:|---|\n",
          out);
    for (size_t i = 0; i < r->call_count && i < MOST_SHOWN; i++) {
        const struct gmt_call_row *row = &r->calls[i];

        fputs("| ", out);
        gmt_markdown_plain(out, row->name);
        fprintf(out, " | %s | %s | ", gmt_format_count(count, row->calls),
                gmt_format_ns(ns, row->time_ns));
        if (row->place_count > 0) {
            gmt_markdown_span(out, row->places[0].where.label, true);
        }
        fputs(" |\n", out);
    }
    fputs("\n</details>\n\n", out);
    if (!r->has_time_parts) {
        return;
    }
    fputs("<details><summary>What the GPU was idle for</summary>\n\n| cause | times | time | most "
          "of it at |\n|---|---:|---:|---|\n",
          out);
    enum gmt_time_part causes[GMT_TIME_PARTS];
    size_t n = gmt_idle_causes_rank(r, causes);
    for (size_t i = 0; i < n; i++) {
        const struct gmt_time_row *row = &r->time_parts[causes[i]];

        fprintf(out, "| %s | %s | %s | ", gmt_time_part_title(causes[i]),
                gmt_format_count(count, row->times), gmt_format_ns(ns, row->ns));
        if (row->place_count > 0 && row->places[0].until != NULL) {
            fputs("between ", out);
        }
        if (row->place_count > 0) {
            gmt_markdown_span(out, row->places[0].where.label, true);
        }
        if (row->place_count > 0 && row->places[0].until != NULL) {
            fputs(" and ", out);
            gmt_markdown_span(out, row->places[0].until, true);
        }
        if (row->place_count > 0 && row->places[0].inner != NULL) {
            fputs(", in ", out);
            gmt_markdown_span(out, row->places[0].inner, true);
        }
        fputs(" |\n", out);
    }
    fputs("\n</details>\n\n", out);
}

static void joint(FILE *out, const struct gmt_report *r, const struct gmt_joint *j)
{
    char best[GMT_FORMAT_BYTES], low[GMT_FORMAT_BYTES], high[GMT_FORMAT_BYTES];

    fputs("\n", out);
    gmt_markdown_span(out, j->title != NULL ? j->title : j->kernel, false);
    fprintf(out, ": together about %s (%s to %s): ", gmt_format_ns(best, j->saving.best_ns),
            gmt_format_ns(low, j->saving.low_ns), gmt_format_ns(high, j->saving.high_ns));
    for (size_t i = 0; i < j->part_count; i++) {
        fprintf(out, "%s%zu (%s) %s", i > 0 ? ", " : "", j->parts[i].finding + 1,
                r->findings[j->parts[i].finding].rule,
                gmt_format_percent(best, 100 * j->parts[i].share));
    }
    fputs("\n", out);
}

static void table(FILE *out, const struct gmt_report *r, size_t shown)
{
    fputs("| | severity | finding | where | saves |\n|---:|---|---|---|---:|\n", out);
    for (size_t i = 0; i < shown; i++) {
        const struct gmt_finding *f = &r->findings[i];

        fprintf(out, "| %zu | %s | %s %s | ", i + 1, gmt_severity_name(f->severity), f->rule,
                f->slug);
        place(out, &f->where, true);
        fputs(" | ", out);
        saving(out, r, f);
        fputs(" |\n", out);
    }
    if (shown < r->finding_count) {
        fprintf(out, "\n… and %zu smaller ones.\n", r->finding_count - shown);
    }
    if (r->finding_count > 1 && r->combined.best_ns > 0 && !gmt_savings_add_up(r)) {
        fputs("\nSavings overlap; do not add them.\n", out);
    }
    for (size_t i = 0; i < r->joint_count && (shown == r->finding_count || i < shown); i++) {
        joint(out, r, &r->joints[i]);
    }
    fputc('\n', out);
}

static void evidence(FILE *out, const struct gmt_finding *f)
{
    fputs("| evidence | value |\n|---|---:|\n", out);
    for (size_t i = 0; i < f->evidence_count; i++) {
        const struct gmt_evidence *e = &f->evidence[i];
        char text[GMT_FORMAT_BYTES];

        if (strcmp(e->unit, "ns") == 0) {
            gmt_format_ns(text, e->value);
        } else if (strcmp(e->unit, "bytes") == 0) {
            gmt_format_bytes(text, e->value);
        } else if (strcmp(e->unit, "percent") == 0) {
            gmt_format_percent(text, e->value);
        } else if (e->value == floor(e->value)) {
            gmt_format_count(text, e->value);
        } else {
            gmt_format_decimal(text, e->value, 2);
        }
        fputs("| ", out);
        gmt_markdown_plain(out, e->name);
        fprintf(out, " | %s |\n", text);
    }
    fputc('\n', out);
}

static void details(FILE *out, const struct gmt_report *r, const struct gmt_finding *f,
                    size_t number)
{
    char low[GMT_FORMAT_BYTES], high[GMT_FORMAT_BYTES];

    fprintf(out, "<details><summary>%zu. %s %s</summary>\n\n", number, f->rule, f->slug);
    gmt_markdown_plain(out, f->headline);
    fputs(".\n\n**Where** ", out);
    place(out, &f->where, false);
    if (f->where.note != NULL) {
        fputs(": ", out);
        gmt_markdown_plain(out, f->where.note);
    }
    if (f->where.graph != NULL) {
        fputs("; ", out);
        gmt_markdown_plain(out, f->where.graph);
    }
    fputs("\n\n", out);
    if (f->line_count == 0 && f->place.line_count > 0) {
        const char *line = f->place.lines[f->place.line - f->place.first_line];

        fputs("- ", out);
        gmt_markdown_span(out, line + strspn(line, " \t"), false);
        fputs("\n\n", out);
    }
    for (size_t i = 0; i < f->line_count && i < 3; i++) {
        fputs("- ", out);
        gmt_markdown_span(out, gmt_line_label(r->arena, &f->lines[i]), false);
        fprintf(out, ", %.0f %% of %s", 100 * f->lines[i].share, gmt_lines_of(f));
        if (f->lines[i].code != NULL) {
            fputs(": ", out);
            gmt_markdown_span(out, f->lines[i].code, true);
        }
        if (f->lines[i].caller_code != NULL) {
            fputs(", by ", out);
            gmt_markdown_span(out, f->lines[i].caller_code, true);
        }
        const char *remedy = gmt_line_remedy(&f->lines[i]);
        fprintf(out, "%s%s\n", remedy != NULL ? "; " : "", remedy != NULL ? remedy : "");
    }
    fputs(f->line_count > 0 ? "\n" : "", out);
    fputs("**Saving** ", out);
    if (isfinite(f->saving.best_ns)) {
        /* The method of what is modelled says so, and for which device. */
        fprintf(out, "%s to %s, %s%s", gmt_format_ns(low, f->saving.low_ns),
                gmt_format_ns(high, f->saving.high_ns),
                f->modelled ? "" : gmt_confidence_words(r, f->confidence), f->modelled ? "" : ": ");
    }
    gmt_markdown_plain(out, f->method);
    fputs("\n\n", out);
    if (f->tried != NULL) {
        fputs("**Tried** ", out);
        gmt_markdown_plain(out, gmt_tried_words(r->arena, r->tried, f->tried));
        fputs("\n\n", out);
    }
    if (f->saved_peak_bytes > 0) {
        fprintf(out, "**Memory** the peak of %s is %s lower\n\n", f->saved_peak_of,
                gmt_format_bytes(low, f->saved_peak_bytes));
    }
    if (f->evidence_count > 0) {
        evidence(out, f);
    }
    if (f->fix != NULL) {
        fprintf(out, "**Fix** (%s effort) ", gmt_effort_name(f->effort));
        gmt_markdown_plain(out, f->fix);
        fputs("\n\n", out);
    }
    if (f->patch != NULL) {
        gmt_markdown_fence(out, "diff", f->patch);
    } else if (f->sketch != NULL) {
        gmt_markdown_fence(out, "cuda", f->sketch);
    }
    fputs("</details>\n\n", out);
}

static void memory(FILE *out, const struct gmt_report *r)
{
    char bytes[GMT_FORMAT_BYTES];

    for (size_t i = 0; i < r->failure_count; i++) {
        const struct gmt_memory_failure *f = &r->failures[i];

        fputs("**Out of memory** at ", out);
        place(out, &f->where, false);
        fprintf(out, ": %s asked, ", gmt_format_bytes(bytes, f->asked_bytes));
        fprintf(out, "%s held by\n\n", gmt_format_bytes(bytes, f->held_bytes));
        for (size_t k = 0; k < f->holder_count; k++) {
            fprintf(out, "- %s: ", gmt_format_bytes(bytes, f->holders[k].bytes));
            place(out, &f->holders[k].where, false);
            fputc('\n', out);
        }
        fputc('\n', out);
    }
}

/* Fixes that were tried, and that no finding is about; all together. */
static void tried(FILE *out, const struct gmt_report *r)
{
    if (r->tried == NULL) {
        return;
    }
    fputs("**Tried on this program**\n\n", out);
    for (size_t i = 0; i < r->tried->count; i++) {
        fputs("- ", out);
        gmt_markdown_plain(out, gmt_tried_words(r->arena, r->tried, &r->tried->rows[i]));
        fputc('\n', out);
    }
    fputs("\n", out);
    gmt_markdown_plain(out, gmt_tried_compared_words(r->arena, r->tried));
    fputs(".\n\n", out);
}

/* By reason, in a line each. */
static void notes(FILE *out, const struct gmt_report *r)
{
    size_t shown = r->note_count < MOST_SHOWN ? r->note_count : MOST_SHOWN;

    if (shown == 0) {
        return;
    }
    fprintf(out, "<details><summary>%zu note%s: seen, but not worth a change</summary>\n",
            r->note_count, r->note_count == 1 ? "" : "s");
    for (size_t i = 0, end; i < shown; i = end) {
        end = gmt_note_group_end(r, i);
        fputc('\n', out);
        gmt_markdown_plain(out, r->notes[i].note_why);
        fputs(":\n\n", out);
        for (size_t k = i; k < end && k < shown; k++) {
            const struct gmt_finding *f = &r->notes[k];
            const char *size = gmt_finding_size(r->arena, f);

            fprintf(out, "- %s ", f->rule);
            place(out, &f->where, true);
            fputs(": ", out);
            gmt_markdown_plain(out, f->headline != NULL ? f->headline : f->title);
            fprintf(out, "%s%s\n", size[0] != '\0' ? "; " : "", size);
        }
    }
    if (shown < r->note_count) {
        fprintf(out, "\n… and %zu more.\n", r->note_count - shown);
    }
    fputs("\n</details>\n\n", out);
}

static void gaps(FILE *out, const struct gmt_report *r)
{
    if (r->gap_count == 0) {
        return;
    }
    fputs("<details><summary>Could not check</summary>\n\n", out);
    for (size_t i = 0; i < r->gap_count; i++) {
        fputs("- ", out);
        gmt_markdown_plain(out, r->gaps[i].what);
        fputs(": ", out);
        gmt_markdown_plain(out, r->gaps[i].why);
        if (r->gaps[i].remedy != NULL) {
            fputs(". ", out);
            gmt_markdown_plain(out, r->gaps[i].remedy);
        }
        fputc('\n', out);
    }
    fputs("\n</details>\n\n", out);
}

static int write_markdown(const struct gmt_report *r, const struct gmt_writer_options *options,
                          FILE *out)
{
    size_t shown = options->top > 0 && options->top < MOST_SHOWN ? options->top : MOST_SHOWN;

    /* A line that says "one more" would take the place of one more. */
    shown = shown + 1 < r->finding_count ? shown : r->finding_count;
    head(out, r);
    gmt_markdown_alarm(out, r);
    first(out, r);
    time_parts(out, r);
    if (shown > 0) {
        table(out, r, shown);
    }
    for (size_t i = 0; i < shown; i++) {
        details(out, r, &r->findings[i], i + 1);
    }
    tried(out, r);
    notes(out, r);
    calls(out, r);
    gmt_markdown_failed_calls(out, r);
    memory(out, r);
    gmt_markdown_heaps(out, r);
    gmt_markdown_snapshot(out, r);
    gaps(out, r);
    fputs("<sub>gmtrace ", out);
    gmt_markdown_plain(out, r->tool_version);
    fputs("</sub>\n", out);
    return ferror(out) ? -EIO : 0;
}

const struct gmt_writer gmt_writer_markdown = {.name = "markdown", .write = write_markdown};
