/* SPDX-License-Identifier: Apache-2.0 */
/* What the terminal report begins with: what to change first, and what the time went to. */
#include <math.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/model/answer.h"
#include "reports/model/words.h"
#include "reports/text/text_parts.h"

/* A letter for each part of the bar, so that it can be read without colours. */
static const struct {
    char letter;
    enum gmt_text_style style;
} looks[GMT_TIME_PARTS] = {
    [GMT_TIME_KERNELS] = {'K', GMT_STYLE_GREEN},
    [GMT_TIME_COPIES] = {'C', GMT_STYLE_CYAN},
    [GMT_TIME_UNSEEN] = {'?', GMT_STYLE_DIM},
    [GMT_TIME_ALLOCATION] = {'a', GMT_STYLE_YELLOW},
    [GMT_TIME_PAGE_LOCKING] = {'p', GMT_STYLE_YELLOW},
    [GMT_TIME_LOADING] = {'m', GMT_STYLE_YELLOW},
    [GMT_TIME_COPY_CALLS] = {'c', GMT_STYLE_YELLOW},
    [GMT_TIME_LAUNCH_CALLS] = {'l', GMT_STYLE_YELLOW},
    [GMT_TIME_SYNC] = {'s', GMT_STYLE_YELLOW},
    [GMT_TIME_OTHER_CALLS] = {'o', GMT_STYLE_YELLOW},
    [GMT_TIME_START_UP] = {'u', GMT_STYLE_YELLOW},
    [GMT_TIME_SHUTDOWN] = {'d', GMT_STYLE_DIM},
    [GMT_TIME_HOST] = {'h', GMT_STYLE_RED},
    [GMT_TIME_OWN] = {'g', GMT_STYLE_DIM},
};

void gmt_text_first(struct gmt_text_out *t, const struct gmt_report *r)
{
    size_t count = gmt_answer_count(r);

    if (count == 0) {
        return;
    }
    const char *all = gmt_answer_times(r, &r->combined);
    const char *few = gmt_answer_times(r, &r->first);
    const char *title = all[0] == '\0' ? "Do first"
                                       : gmt_arena_text(r->arena, "Do first: %s",
                                                        r->finding_count > count ? few : all);
    const char *both = gmt_arena_text(r->arena, "%s; all %zu findings: %s", title, r->finding_count,
                                      all);
    /* Of findings that are left out because they save next to nothing the sum is the same. */
    bool more = all[0] != '\0' && r->finding_count > count && strcmp(few, all) != 0;
    bool fits = gmt_clean_length(both) + 5 <= t->columns;
    gmt_text_heading(t, more && fits ? both : title);
    for (size_t i = 0; i < count; i++) {
        const struct gmt_finding *f = &r->findings[i];
        const char *gain = gmt_answer_gain(r, f), *sure = gmt_answer_certainty(r, f);
        const char *number = gmt_arena_text(r->arena, "%zu  ", i + 1);

        gmt_text_style(t, GMT_STYLE_BOLD);
        gmt_text_wrap(t, 2, number, f->action);
        gmt_text_style(t, GMT_STYLE_PLAIN);
        gmt_text_wrap(t, 5, "",
                      gmt_arena_text(r->arena, "%s · %s%s%s%s%s%s", f->place.label,
                                     gmt_answer_effort(f), gain[0] != '\0' ? " · " : "", gain,
                                     sure[0] != '\0' ? " (" : "", sure,
                                     sure[0] != '\0' ? ")" : ""));
    }
    if (gmt_answer_places_note(r) != NULL) {
        gmt_text_wrap(t, 5, "names   ", gmt_answer_places_note(r));
    }
    fputc('\n', t->out);
}

/* Below it a part is neither drawn nor named by itself. */
#define SEEN_SHARE 0.001

static double share_of(const struct gmt_report *r, size_t part)
{
    double share = r->time_parts[part].ns / r->recorded_ns;

    return share > 0 ? share : 0;
}

/* Columns of each part: a part that is seen has one at least, and all together `width`. */
static void share_columns(const struct gmt_report *r, size_t width, size_t columns[GMT_TIME_PARTS])
{
    size_t used = 0, largest = 0;

    for (size_t i = 0; i < GMT_TIME_PARTS; i++) {
        double share = share_of(r, i);

        columns[i] = share >= SEEN_SHARE ? (size_t)fmax(1, floor(share * (double)width)) : 0;
        used += columns[i];
        largest = columns[i] > columns[largest] ? i : largest;
    }
    for (; used > width && columns[largest] > 1; used--) {
        columns[largest]--;
    }
    for (; used < width && columns[largest] > 0; used++) {
        columns[largest]++;
    }
}

/* Two parts in a line, where it is wide enough. */
static size_t parts_in_line(const struct gmt_text_out *t)
{
    return t->columns >= 94 ? 2 : 1;
}

static void key(struct gmt_text_out *t, size_t *named, char letter, const char *title, double ns,
                double share)
{
    char text[GMT_FORMAT_BYTES];

    fprintf(t->out, "%s%c ", *named % parts_in_line(t) == 0 ? "  " : "    ", letter);
    gmt_text_cell(t, title, 23, false);
    gmt_text_cell(t, gmt_format_ns(text, ns), 10, true);
    gmt_text_cell(t, gmt_format_percent(text, 100 * share), 9, true);
    *named += 1;
    fputs(*named % parts_in_line(t) == 0 ? "\n" : "", t->out);
}

void gmt_text_time(struct gmt_text_out *t, const struct gmt_report *r)
{
    const size_t width = t->columns - 4;
    size_t columns[GMT_TIME_PARTS], named = 0;
    char ns[GMT_FORMAT_BYTES];
    double rest_ns = 0;

    if (!r->has_time_parts) {
        return;
    }
    gmt_text_heading(
        t,
        gmt_arena_text(r->arena, "Where the recorded %s went%s", gmt_format_ns(ns, r->recorded_ns),
                       t->detail->calls ? "" : " (--top 0 adds causes and CUDA calls)"));
    share_columns(r, width, columns);
    fputs("  ", t->out);
    for (size_t i = 0; i < GMT_TIME_PARTS; i++) {
        gmt_text_style(t, looks[i].style);
        for (size_t k = 0; k < columns[i]; k++) {
            fputc(looks[i].letter, t->out);
        }
        gmt_text_style(t, GMT_STYLE_PLAIN);
        rest_ns += columns[i] == 0 && r->time_parts[i].ns > 0 ? r->time_parts[i].ns : 0;
    }
    fputc('\n', t->out);
    for (size_t i = 0; i < GMT_TIME_PARTS; i++) {
        if (columns[i] > 0) {
            key(t, &named, looks[i].letter, gmt_time_part_title((enum gmt_time_part)i),
                r->time_parts[i].ns, share_of(r, i));
        }
    }
    if (rest_ns > 0) {
        key(t, &named, ' ', "the rest", rest_ns, rest_ns / r->recorded_ns);
    }
    fputs(named % parts_in_line(t) != 0 ? "\n" : "", t->out);
    gmt_text_wrap(t, 2, "", gmt_arena_text(r->arena, "T%s.", gmt_answer_idle(r) + 1));
    if (gmt_time_parts_note(r) != NULL && !t->detail->only_counts) {
        gmt_text_style(t, GMT_STYLE_DIM);
        gmt_text_wrap(t, 2, "", gmt_time_parts_note(r));
        gmt_text_style(t, GMT_STYLE_PLAIN);
    }
    fputc('\n', t->out);
}
