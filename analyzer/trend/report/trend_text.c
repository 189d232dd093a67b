/* SPDX-License-Identifier: Apache-2.0 */
/* One screen about what changed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/trend/report/trend_write.h"
#include "libtrace/base/format.h"
#include "libtrace/base/printable.h"

enum { NOTES_MOST = 5 }; /* of programs that are not judged, and of traces that are left out */

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static size_t count_names(const struct gmt_trend *trend)
{
    size_t names = 0;

    for (size_t p = 0; p < trend->program_count; p++) {
        names += p == 0 || strcmp(trend->programs[p].name, trend->programs[p - 1].name) != 0;
    }
    return names;
}

static void print_program(const struct gmt_trend_program *program)
{
    gmt_say(stdout, "%s", program->name);
    if (program->rank != NULL) {
        gmt_say(stdout, ", rank %s", program->rank);
    }
    if (program->has_paths && program->exe != NULL) {
        gmt_say(stdout, ", %s", program->exe);
    }
    if (program->has_machines) {
        gmt_say(stdout, ", on %s, driver %s",
                program->device != NULL ? program->device : "an unknown device",
                program->driver != NULL ? program->driver : "unknown");
    }
}

static void print_run(const struct gmt_trend_run *run)
{
    char day[16];

    gmt_say(stdout, "%s, ", gmt_trend_day(day, run->start_ns));
    if (run->commit != NULL) {
        gmt_say(stdout, "commit %s", run->commit);
    } else {
        gmt_say(stdout, "%s", run->trace);
    }
}

static void print_levels(const struct gmt_trend_change *change, enum gmt_figure_kind kind,
                         struct gmt_arena *arena)
{
    char before[GMT_FORMAT_BYTES], after[GMT_FORMAT_BYTES];
    double share = change->before != 0 ? change->after / change->before - 1 : INFINITY;

    gmt_format_apart(after, change->after, before, change->before, kind);
    gmt_say(stdout, "%s, before %s", after, before);
    if (isfinite(share)) {
        gmt_say(stdout, " (%s)", gmt_share_text(arena, share));
    }
}

static void print_change(const struct gmt_trend_view *view, const struct gmt_trend_change *change)
{
    const struct gmt_trend_finding *finding = change->finding;

    gmt_say(stdout, "    %s: ",
            change->is_worse    ? "worse"
            : change->is_better ? "better"
                                : "other");
    switch (change->of) {
    case GMT_TREND_OF_MEASURE:
        gmt_say(stdout, "%s: ", gmt_trend_rows[change->measure].what);
        print_levels(change, gmt_trend_rows[change->measure].kind, view->arena);
        break;
    case GMT_TREND_OF_FINDING:
        gmt_say(stdout, "%s %s: %s", change->is_worse ? "new finding" : "finding is gone",
                finding->rule, finding->headline);
        break;
    case GMT_TREND_OF_GAIN:
        gmt_say(stdout, "gain of %s: ", finding->rule);
        print_levels(change, GMT_KIND_NS, view->arena);
        break;
    }
    if (finding != NULL && finding->place[0] != '\0') {
        gmt_say(stdout, "; %s", finding->place);
    }
    gmt_say(stdout, "\n");
}

/* What of a program changed with one run. */
static void print_night(const struct gmt_trend_view *view, const struct gmt_trend_change *changes,
                        size_t n)
{
    const struct gmt_trend_program *program = &view->trend.programs[changes[0].program];
    const struct gmt_trend_run *run = &program->runs[changes[0].run],
                               *previous = &program->runs[changes[0].previous];

    gmt_say(stdout, "  ");
    print_run(run);
    gmt_say(stdout, "; the run before: ");
    print_run(previous);
    gmt_say(stdout, "\n");
    for (size_t i = 0; i < n; i++) {
        print_change(view, &changes[i]);
    }
    if (run->tool != NULL && previous->tool != NULL && strcmp(run->tool, previous->tool) != 0) {
        gmt_say(stdout, "    gmtrace %s recorded it, the run before was recorded by %s\n",
                run->tool, previous->tool);
    }
}

/* Changes of the program, which stand together. */
static size_t find_changes(const struct gmt_trend *trend, size_t program, size_t *n, size_t *worse)
{
    size_t first = 0;

    *n = *worse = 0;
    while (first < trend->change_count && trend->changes[first].program != program) {
        first++;
    }
    while (first + *n < trend->change_count && trend->changes[first + *n].program == program) {
        *worse += trend->changes[first + *n].is_worse;
        (*n)++;
    }
    return first;
}

/* Programs that got worse come first. Returns how many there are of the kind that is asked for. */
static size_t print_programs(const struct gmt_trend_view *view, bool is_worse, size_t shown)
{
    const struct gmt_trend *trend = &view->trend;
    size_t count = 0;

    for (size_t p = 0; p < trend->program_count; p++) {
        size_t n, worse, first = find_changes(trend, p, &n, &worse);

        if (n == 0 || (worse > 0) != is_worse) {
            continue;
        }
        count++;
        if (view->top != 0 && shown + count > view->top) {
            continue;
        }
        gmt_say(stdout, "\n");
        print_program(&trend->programs[p]);
        gmt_say(stdout, " (%zu runs)\n", trend->programs[p].count);
        for (size_t i = 0, end; i < n; i = end) {
            end = i + 1;
            while (end < n && trend->changes[first + end].run == trend->changes[first + i].run) {
                end++;
            }
            print_night(view, &trend->changes[first + i], end - i);
        }
    }
    return count;
}

static void print_head(const struct gmt_trend_view *view)
{
    const struct gmt_trend *trend = &view->trend;
    size_t names = count_names(trend);
    int64_t first = 0, last = 0;
    char from[16], to[16];

    for (size_t i = 0; i < trend->compared; i++) {
        int64_t start = trend->runs[i].start_ns;

        if (start == 0) {
            continue;
        }
        first = first == 0 || start < first ? start : first;
        last = start > last ? start : last;
    }
    gmt_say(stdout, "%zu program%s, %zu of %zu traces compared, %s to %s\n", names, plural(names),
            trend->compared, trend->count, gmt_trend_day(from, first), gmt_trend_day(to, last));
    if (trend->change_count == 0) {
        gmt_say(stdout, "No program is seen to have changed%s%s.\n",
                view->since != NULL ? " since " : "", view->since != NULL ? view->since : "");
    }
    gmt_say(stdout,
            "Of answers about programs that did not change, %.0f %% would name a change; the place "
            "of one can be off by a run.\n",
            100 * trend->false_alarms);
}

/* Which programs have too few runs, and which traces could not be read. */
static void print_notes(const struct gmt_trend *trend)
{
    size_t few = 0, left_out = trend->count - trend->compared;

    for (size_t p = 0; p < trend->program_count; p++) {
        const struct gmt_trend_program *program = &trend->programs[p];

        if (gmt_trend_tests(program->count) > 0 || ++few > NOTES_MOST) {
            continue;
        }
        if (few == 1) {
            putchar('\n');
            gmt_say(stdout, "Not judged: a change needs %d runs before it and as many from it on\n",
                    GMT_TREND_LEVEL_LEAST);
        }
        gmt_say(stdout, "  ");
        print_program(program);
        gmt_say(stdout, ": %zu run%s\n", program->count, plural(program->count));
    }
    if (few > NOTES_MOST) {
        gmt_say(stdout, "  and %zu more\n", few - NOTES_MOST);
    }
    for (size_t i = 0; i < left_out && i < NOTES_MOST; i++) {
        const struct gmt_trend_run *run = &trend->runs[trend->compared + i];

        if (i == 0) {
            putchar('\n');
            gmt_say(stdout, "Left out\n");
        }
        gmt_say(stdout, "  %s: %s\n", run->trace, run->trouble);
    }
    if (left_out > NOTES_MOST) {
        gmt_say(stdout, "  and %zu more\n", left_out - NOTES_MOST);
    }
}

/* Machines, folders, and runs that are too old: what the reader would not expect. */
static void print_remarks(const struct gmt_trend *trend)
{
    size_t machines = 0, paths = 0, old = 0;

    for (size_t p = 0; p < trend->program_count; p++) {
        machines += trend->programs[p].has_machines;
        paths += trend->programs[p].has_paths;
        old += trend->programs[p].left_out;
    }
    if (machines > 0) {
        putchar('\n');
        gmt_say(stdout, "Runs on another device or driver are compared with those on the same one "
                        "only: a change that came with it is not seen.\n");
    }
    if (paths > 0) {
        putchar('\n');
        gmt_say(stdout, "Programs of one name in several folders are distinguished by folder; "
                        "gmtrace --label program=NAME names them.\n");
    }
    if (old > 0) {
        putchar('\n');
        gmt_say(stdout, "%zu run%s left out: older than the newest %d of the program.\n", old,
                old == 1 ? " is" : "s are", GMT_TREND_RUNS_MOST);
    }
}

void gmt_trend_text(const struct gmt_trend_view *view)
{
    print_head(view);
    size_t worse = print_programs(view, true, 0);
    size_t all = worse + print_programs(view, false, worse);
    if (view->top != 0 && all > view->top) {
        putchar('\n');
        gmt_say(stdout, "%zu more program%s changed; --top 0 shows all.\n", all - view->top,
                plural(all - view->top));
    }
    print_notes(&view->trend);
    print_remarks(&view->trend);
}
