/* SPDX-License-Identifier: Apache-2.0 */
/* What to change first, in words (answer.h). */
#include "reports/model/answer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "libtrace/base/base_name.h"
#include "libtrace/base/format.h"
#include "reports/model/inlining.h"
#include "reports/model/tried.h"
#include "reports/model/words.h"

/* Less is said as a time: in a factor it would not be seen. */
#define SEEN_IN_A_FACTOR 0.01
/* A program's author is not sent first to what saves less than a thousandth of the run: no two runs are that equal. */
#define FIRST_MIN_SHARE 0.001
/* Of the idle time: in the sentence about all of it, less than a twentieth would be taken for its reason. */
#define HOST_BOUND_SHARE 0.05

/* Where the reasons, or a second sentence, begin; what stands in brackets belongs to the words before it. */
static size_t clause_length(const char *text)
{
    int depth = 0;
    size_t i = 0;

    for (; text[i] != '\0'; i++) {
        bool ends = text[i + 1] == ' ' || text[i + 1] == '\0';

        depth += text[i] == '(';
        depth -= text[i] == ')' && depth > 0;
        if (depth == 0 && ends && strchr(".;:", text[i]) != NULL) {
            break;
        }
    }
    return i;
}

/* NULL: no line of the kernel is known. */
static const struct gmt_finding_line *guilty_line(const struct gmt_finding *finding)
{
    const struct gmt_finding_line *line = finding->line_count > 0 ? &finding->lines[0] : NULL;

    return line != NULL && line->file != NULL && line->line > 0 ? line : NULL;
}

static struct gmt_source_quote place_of(struct gmt_arena *arena, const struct gmt_finding *finding)
{
    const struct gmt_finding_line *line = guilty_line(finding);
    const struct gmt_where *where = &finding->where;
    struct gmt_source_quote place = {where->label, where->file, where->line, 0, NULL, 0};

    if (line != NULL) {
        place.label = gmt_arena_text(arena, "%s:%" PRId64, gmt_base_name(line->file), line->line);
        place.file = line->file;
        place.line = line->line;
    } else if (where->kernel != NULL && strcmp(where->kernel, where->label) != 0) {
        place.label = gmt_arena_text(
            arena, "%s, launched at %s",
            where->title != NULL ? where->title : gmt_function_short(arena, where->kernel),
            where->label);
    }
    return place;
}

void gmt_answer_fill(struct gmt_arena *arena, struct gmt_finding *findings, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *text = findings[i].fix != NULL ? findings[i].fix : findings[i].title;

        findings[i].action = gmt_arena_text(arena, "%.*s", (int)clause_length(text), text);
        findings[i].place = place_of(arena, &findings[i]);
    }
}

const char *gmt_answer_effort(const struct gmt_finding *finding)
{
    static const char *const words[] = {[GMT_EFFORT_SMALL] = "1-2 lines",
                                        [GMT_EFFORT_MEDIUM] = "some lines",
                                        [GMT_EFFORT_LARGE] = "restructuring"};

    return words[finding->effort];
}

/* Of a run of that length. */
static const char *times_of(const struct gmt_report *r, double wall_ns,
                            const struct gmt_saving *saving)
{
    char before[GMT_FORMAT_BYTES], after[GMT_FORMAT_BYTES], factor[GMT_FORMAT_BYTES];
    double left_ns = wall_ns - saving->best_ns;

    if (!(saving->best_ns > 0) || !(wall_ns > 0)) {
        return "";
    }
    if (saving->best_ns < SEEN_IN_A_FACTOR * wall_ns || left_ns <= 0) {
        return gmt_arena_text(r->arena, "%s of %s", gmt_format_ns(after, saving->best_ns),
                              gmt_format_ns(before, wall_ns));
    }
    return gmt_arena_text(r->arena, "%s -> %s, %s x", gmt_format_ns(before, wall_ns),
                          gmt_format_ns(after, left_ns),
                          gmt_format_decimal(factor, wall_ns / left_ns, 2));
}

const char *gmt_answer_times(const struct gmt_report *r, const struct gmt_saving *saving)
{
    return times_of(r, r->wall_ns, saving);
}

const char *gmt_answer_gain(const struct gmt_report *r, const struct gmt_finding *finding)
{
    const char *times = gmt_answer_times(r, &finding->saving);
    char time[GMT_FORMAT_BYTES];

    if (gmt_finding_is_proven(finding)) {
        return times_of(r, r->tried->untouched_ns, &finding->tried->gain);
    }
    if (r->modelled && finding->saving.best_ns > 0) {
        return gmt_arena_text(r->arena, "on %s about %s", gmt_modelled_device(r),
                              gmt_format_ns(time, finding->saving.best_ns));
    }
    return times[0] != '\0' ? times : gmt_finding_size(r->arena, finding);
}

/* "120 to 221 ms": the unit once where it is that of both. */
static const char *interval(const struct gmt_report *r, double low_ns, double high_ns)
{
    char low[GMT_FORMAT_BYTES], high[GMT_FORMAT_BYTES];
    const char *unit = strchr(gmt_format_ns(low, low_ns), ' ');
    const char *same = strchr(gmt_format_ns(high, high_ns), ' ');
    size_t length = unit != NULL && same != NULL && strcmp(unit, same) == 0 ? (size_t)(unit - low)
                                                                            : strlen(low);

    return gmt_arena_text(r->arena, "%.*s to %s", (int)length, low, high);
}

const char *gmt_answer_certainty(const struct gmt_report *r, const struct gmt_finding *finding)
{
    if (gmt_finding_is_proven(finding)) {
        const struct gmt_tried *tried = finding->tried;
        size_t others = tried->findings - 1;

        return gmt_arena_text(r->arena, "%s proven to gain %s%s", tried->name,
                              interval(r, tried->gain.low_ns, tried->gain.high_ns),
                              others > 0 ? gmt_arena_text(r->arena, ", with %zu other%s", others,
                                                          others == 1 ? "" : "s")
                                         : "");
    }
    if (!(finding->saving.best_ns > 0)) {
        return "";
    }
    if (r->modelled) {
        return gmt_arena_text(r->arena, "%s, modelled from exact counts%s",
                              interval(r, finding->saving.low_ns, finding->saving.high_ns),
                              finding->guess ? ", a guess" : "");
    }
    return gmt_arena_text(
        r->arena, "saves %s, %s%s", interval(r, finding->saving.low_ns, finding->saving.high_ns),
        gmt_confidence_words(r, finding->confidence), finding->guess ? ", a guess" : "");
}

bool gmt_savings_add_up(const struct gmt_report *r)
{
    double sum_ns = 0;

    for (size_t i = 0; i < r->finding_count; i++) {
        sum_ns += r->findings[i].saving.best_ns > 0 ? r->findings[i].saving.best_ns : 0;
    }
    return fabs(sum_ns - r->combined.best_ns) <= 1e-6 * sum_ns;
}

/* As reports/page/src/sections/verdict/answer.ts has it. What has no share, or a result of another kind, stays. */
static bool is_worth_a_look(const struct gmt_finding *finding)
{
    bool proven = finding->tried != NULL && finding->tried->state == GMT_TRIED_PROVEN;

    return proven || finding->saved_peak_bytes > 0 || !(finding->saving.share < FIRST_MIN_SHARE);
}

size_t gmt_answer_count(const struct gmt_report *r)
{
    size_t n = r->finding_count < GMT_FIRST_FINDINGS ? r->finding_count : GMT_FIRST_FINDINGS;

    while (n > 0 && !is_worth_a_look(&r->findings[n - 1])) {
        n--;
    }
    return n;
}

const char *gmt_answer_places_note(const struct gmt_report *r)
{
    const char *note = NULL;

    for (size_t i = gmt_answer_count(r); i-- > 0;) {
        note = r->findings[i].where.note != NULL ? r->findings[i].where.note : note;
    }
    return note;
}

/* ---- the parts of the time -------------------------------------------------------------------- */

static const struct {
    const char *name, *title;
} parts[GMT_TIME_PARTS] = {
    [GMT_TIME_KERNELS] = {"kernels", "kernels"},
    [GMT_TIME_COPIES] = {"copies", "copies"},
    [GMT_TIME_UNSEEN] = {"not_recorded", "device not recorded"},
    [GMT_TIME_ALLOCATION] = {"idle_allocation", "idle: allocation"},
    [GMT_TIME_PAGE_LOCKING] = {"idle_page_locking", "idle: page-locking"},
    [GMT_TIME_LOADING] = {"idle_module_loading", "idle: module loading"},
    [GMT_TIME_COPY_CALLS] = {"idle_copy_calls", "idle: copy calls"},
    [GMT_TIME_LAUNCH_CALLS] = {"idle_launch_calls", "idle: launch latency"},
    [GMT_TIME_SYNC] = {"idle_synchronization", "idle: synchronization"},
    [GMT_TIME_OTHER_CALLS] = {"idle_other_calls", "idle: other calls"},
    [GMT_TIME_START_UP] = {"idle_start_up", "idle: start-up"},
    [GMT_TIME_SHUTDOWN] = {"idle_shutdown", "idle: shutdown"},
    [GMT_TIME_HOST] = {"idle_host_code", "idle: host code"},
    [GMT_TIME_OWN] = {"gmtrace", "gmtrace itself"},
};

const char *gmt_time_part_name(enum gmt_time_part part)
{
    return parts[part].name;
}

const char *gmt_time_part_title(enum gmt_time_part part)
{
    return parts[part].title;
}

bool gmt_answer_has_work(const struct gmt_report *r)
{
    return r->transfers > 0 || r->launches > 0 || r->allocation_count > 0;
}

const char *gmt_answer_none(const struct gmt_report *r)
{
    if (!gmt_answer_has_work(r)) {
        return "no check found anything to look at: no copy, launch or allocation was recorded";
    }
    return r->simulated ? "no check found a noticeable part of the work to be unnecessary"
                        : "no check found a saving that is a noticeable part of the run";
}

const char *gmt_call_place_name(struct gmt_arena *arena, const struct gmt_call_place *place)
{
    const char *in = place->inner != NULL ? ", in " : "";
    const char *inner = place->inner != NULL ? place->inner : "";

    if (place->until != NULL) {
        return gmt_arena_text(arena, "between %s and %s%s%s", place->where.label, place->until, in,
                              inner);
    }
    return gmt_arena_text(arena, "%s%s%s", place->where.label, in, inner);
}

/* "; of this, 1.08 s (7 places) waits for launches that come too slowly", of GM512's findings; "" where that is no part of it to
 * speak of. */
static const char *host_bound(const struct gmt_report *r, double idle_ns)
{
    char time[GMT_FORMAT_BYTES], count[GMT_FORMAT_BYTES];
    double ns = 0;
    size_t places = 0;

    for (size_t i = 0; i < r->finding_count; i++) {
        const struct gmt_finding *finding = &r->findings[i];

        if (finding->rule != NULL && strcmp(finding->rule, "GM512") == 0 && !finding->is_of_loads &&
            finding->saving.high_ns > 0) {
            ns += finding->saving.high_ns;
            places += finding->part_count > 0 ? finding->part_count : 1;
        }
    }
    if (!(ns > 0) || ns < HOST_BOUND_SHARE * idle_ns) {
        return "";
    }
    return gmt_arena_text(
        r->arena, "; of this, %s (%s place%s) waits for launches that come too slowly",
        gmt_format_ns(time, ns), gmt_format_count(count, (double)places), places == 1 ? "" : "s");
}

/* How long the device was idle, and the part that took most of it: not what came when all was done. */
static double idle_of(const struct gmt_report *r, size_t *largest)
{
    double idle_ns = 0;

    *largest = GMT_TIME_ALLOCATION;
    for (size_t i = GMT_TIME_ALLOCATION; i <= GMT_TIME_HOST; i++) {
        idle_ns += r->time_parts[i].ns;
        *largest = i != GMT_TIME_SHUTDOWN && r->time_parts[i].ns > r->time_parts[*largest].ns
                       ? i
                       : *largest;
    }
    return idle_ns;
}

/* "host code" of "idle: host code" */
static const char *cause_of(size_t part)
{
    static const char idle[] = "idle: ";

    return parts[part].title + sizeof(idle) - 1;
}

/* The parts are of all devices together: idle is when none of them works. */
static const char *subject(const struct gmt_report *r)
{
    return r->device_idle_count > 1 ? "the GPUs are all" : "the GPU is";
}

/* " besides shutdown (48.3 %)": that is longer than what is named as the largest; else "". */
static const char *besides(const struct gmt_report *r, size_t largest)
{
    double ns = r->time_parts[GMT_TIME_SHUTDOWN].ns;
    char share[GMT_FORMAT_BYTES];

    return ns > r->time_parts[largest].ns
               ? gmt_arena_text(r->arena, " besides shutdown (%s)",
                                gmt_format_percent(share, 100 * ns / r->recorded_ns))
               : "";
}

const char *gmt_answer_idle(const struct gmt_report *r)
{
    char share[GMT_FORMAT_BYTES], most[GMT_FORMAT_BYTES];
    size_t largest;

    if (!r->has_time_parts) {
        return NULL;
    }
    double idle_ns = idle_of(r, &largest);
    gmt_format_percent(share, 100 * idle_ns / r->recorded_ns);
    const struct gmt_time_row *row = &r->time_parts[largest];
    if (!(row->ns >= SEEN_IN_A_FACTOR * r->recorded_ns) || row->place_count == 0) {
        return gmt_arena_text(r->arena, "%s idle for %s of the time", subject(r), share);
    }
    return gmt_arena_text(r->arena, "%s idle for %s of the time, most of all%s for %s (%s)%s%s%s",
                          subject(r), share, besides(r, largest), cause_of(largest),
                          gmt_format_percent(most, 100 * row->ns / r->recorded_ns),
                          row->places[0].until != NULL ? ", " : ", at ",
                          gmt_call_place_name(r->arena, &row->places[0]), host_bound(r, idle_ns));
}

size_t gmt_idle_causes_rank(const struct gmt_report *r, enum gmt_time_part causes[GMT_TIME_PARTS])
{
    size_t n = 0;

    for (size_t i = GMT_TIME_ALLOCATION; r->has_time_parts && i <= GMT_TIME_HOST; i++) {
        size_t at = n;

        if (!(r->time_parts[i].ns > 0)) {
            continue;
        }
        for (; at > 0 && r->time_parts[causes[at - 1]].ns < r->time_parts[i].ns; at--) {
            causes[at] = causes[at - 1];
        }
        causes[at] = (enum gmt_time_part)i;
        n++;
    }
    return n;
}

const char *gmt_time_parts_note(const struct gmt_report *r)
{
    char copies[GMT_FORMAT_BYTES], device[GMT_FORMAT_BYTES], kernels[GMT_FORMAT_BYTES];
    char alone[GMT_FORMAT_BYTES];
    const char *note = "";

    if (!r->has_time_parts) {
        return NULL;
    }
    if (r->kernel_ns > 1.05 * r->time_parts[GMT_TIME_KERNELS].ns) {
        note = gmt_arena_text(
            r->arena, "kernels take %s in all, and %s of the run: some run at the same time",
            gmt_format_ns(kernels, r->kernel_ns),
            gmt_format_ns(alone, r->time_parts[GMT_TIME_KERNELS].ns));
    }
    if (r->copy_ns > 0 && !(r->time_parts[GMT_TIME_COPIES].ns > 0)) {
        note = gmt_arena_text(r->arena, "%s%sno copy has a device time: see idle: copy calls", note,
                              note[0] != '\0' ? "; " : "");
    } else if (r->copy_ns > 1.05 * r->time_parts[GMT_TIME_COPIES].ns) {
        note = gmt_arena_text(r->arena,
                              "%s%sall copies take %s, the host time of blocking ones included; "
                              "during %s of it no kernel runs",
                              note, note[0] != '\0' ? "; " : "", gmt_format_ns(copies, r->copy_ns),
                              gmt_format_ns(device, r->time_parts[GMT_TIME_COPIES].ns));
    } else if (r->time_parts[GMT_TIME_COPIES].ns > 1.05 * r->copy_ns) {
        note = gmt_arena_text(r->arena, "%s%smemsets are among the copies", note,
                              note[0] != '\0' ? "; " : "");
    }
    if (isnan(r->own_ns)) {
        note = gmt_arena_text(
            r->arena,
            "%s%sthis trace has no record of gmtrace's own work, which counts as idle time", note,
            note[0] != '\0' ? "; " : "");
    }
    return note[0] != '\0' ? note : NULL;
}
