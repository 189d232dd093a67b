/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal report's causes of idle time, and its API summary. */
#include <math.h>
#include <string.h>

#include "libtrace/base/format.h"
#include "reports/model/answer.h"
#include "reports/model/words.h"
#include "reports/text/text_parts.h"

/* "main.cu:42 in f()" */
static const char *place_name(const struct gmt_report *r, const struct gmt_where *w)
{
    return gmt_arena_text(r->arena, "%s%s%s", w->label, w->function != NULL ? " in " : "",
                          w->function != NULL ? w->function : "");
}

/* Time, how often, and the longest; then what it is about. */
static void line(struct gmt_text_out *t, size_t indent, double ns, double count, double longest_ns,
                 const char *what)
{
    char text[GMT_FORMAT_BYTES];

    fprintf(t->out, "%*s", (int)indent, "");
    gmt_text_cell(t, gmt_format_ns(text, ns), 11, true);
    gmt_text_cell(t, gmt_format_count(text, count), 12, true);
    gmt_text_cell(t, gmt_format_ns(text, longest_ns), 11, true);
    fputs("  ", t->out);
    gmt_print_clean(t->out, what, t->columns - indent - 36);
    fputc('\n', t->out);
}

static void columns(struct gmt_text_out *t, const char *count, const char *what)
{
    gmt_text_style(t, GMT_STYLE_DIM);
    fputs("  ", t->out);
    gmt_text_cell(t, "time", 11, true);
    gmt_text_cell(t, count, 12, true);
    gmt_text_cell(t, "longest", 11, true);
    fprintf(t->out, "  %s\n", what);
    gmt_text_style(t, GMT_STYLE_PLAIN);
}

static void cause(struct gmt_text_out *t, const struct gmt_report *r, enum gmt_time_part part)
{
    const struct gmt_time_row *row = &r->time_parts[part];

    gmt_text_style(t, GMT_STYLE_BOLD);
    line(t, 2, row->ns, row->times, row->longest_ns, gmt_time_part_title(part));
    gmt_text_style(t, GMT_STYLE_PLAIN);
    for (size_t i = 0; i < row->place_count; i++) {
        const struct gmt_call_place *place = &row->places[i];
        const char *what = place->until != NULL || place->inner != NULL
                               ? gmt_call_place_name(r->arena, place)
                               : place_name(r, &place->where);

        line(t, 2, place->time_ns, place->count, place->longest_ns,
             gmt_arena_text(r->arena, "  %s", what));
    }
    if (row->more_places > 0) {
        char ns[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];

        fprintf(t->out, "%*s… and %s more place%s, %s\n", 40, "",
                gmt_format_count(count, row->more_places), row->more_places == 1 ? "" : "s",
                gmt_format_ns(ns, row->more_ns));
    }
}

/* Each by itself, where several had work: a line with its largest cause. */
static void devices(struct gmt_text_out *t, const struct gmt_report *r)
{
    char ns[GMT_FORMAT_BYTES], most[GMT_FORMAT_BYTES];

    for (size_t i = 0; i < r->device_idle_count; i++) {
        const struct gmt_device_idle *device = &r->device_idle[i];
        size_t largest = GMT_TIME_ALLOCATION;

        for (size_t k = GMT_TIME_ALLOCATION; k <= GMT_TIME_HOST; k++) {
            largest = k != GMT_TIME_SHUTDOWN && device->ns[k] > device->ns[largest] ? k : largest;
        }
        gmt_text_wrap(t, 2, "",
                      gmt_arena_text(r->arena, "Device %d%s%s by itself: %s, most of all %s, %s.",
                                     (int)device->device, device->name != NULL ? ", " : "",
                                     device->name != NULL ? device->name : "",
                                     gmt_format_ns(ns, device->idle_ns),
                                     gmt_time_part_title((enum gmt_time_part)largest),
                                     gmt_format_ns(most, device->ns[largest])));
    }
}

void gmt_text_idle(struct gmt_text_out *t, const struct gmt_report *r)
{
    enum gmt_time_part causes[GMT_TIME_PARTS];
    double idle_ns = 0;
    char ns[GMT_FORMAT_BYTES];

    for (int i = GMT_TIME_ALLOCATION; i <= GMT_TIME_HOST; i++) {
        idle_ns += r->has_time_parts ? r->time_parts[i].ns : 0;
    }
    if (!(idle_ns > 0) || !t->detail->calls) {
        return;
    }
    gmt_text_heading(
        t, gmt_arena_text(r->arena, "What the GPU was idle for: %s", gmt_format_ns(ns, idle_ns)));
    columns(t, "times", "cause, and where the program was");
    size_t n = gmt_idle_causes_rank(r, causes);
    for (size_t i = 0; i < n; i++) {
        cause(t, r, causes[i]);
    }
    devices(t, r);
    if (r->time_parts[GMT_TIME_COPIES].ns > 0 && r->time_parts[GMT_TIME_COPIES].place_count > 0) {
        gmt_text_style(t, GMT_STYLE_DIM);
        fputs("  Not idle, but without a kernel:\n", t->out);
        gmt_text_style(t, GMT_STYLE_PLAIN);
        cause(t, r, GMT_TIME_COPIES);
    }
    fputc('\n', t->out);
}

void gmt_text_calls(struct gmt_text_out *t, const struct gmt_report *r)
{
    if (r->call_count == 0 || !t->detail->calls) {
        return;
    }
    gmt_text_heading(t, "CUDA calls");
    columns(t, "calls", "function, and where most of it is called");
    for (size_t i = 0; i < r->call_count; i++) {
        const struct gmt_call_row *row = &r->calls[i];
        bool both = row->runtime_name != NULL && row->runtime_name[0] != '\0';

        gmt_text_style(t, GMT_STYLE_BOLD);
        line(t, 2, row->time_ns, row->calls, row->longest_ns,
             gmt_arena_text(r->arena, both ? "%s (%s)" : "%s", both ? row->runtime_name : row->name,
                            row->name));
        gmt_text_style(t, GMT_STYLE_PLAIN);
        for (size_t k = 0; k < row->place_count; k++) {
            const struct gmt_call_place *place = &row->places[k];

            line(t, 2, place->time_ns, place->count, place->longest_ns,
                 gmt_arena_text(r->arena, "  %s", place_name(r, &place->where)));
        }
    }
    fputc('\n', t->out);
}
