/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze fixes: what to change first, in a few lines, over one trace or all of a run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/options.h"
#include "analyzer/commands/trace_session.h"
#include "libtrace/base/format.h"
#include "libtrace/base/printable.h"
#include "reports/model/answer.h"

/* A finding of one trace, or the same one of several: the words are those of where it saves most. */
struct fix {
    const char *action, *how, *trace; /* how: place, effort, gain and how sure it is */
    const char *note;                 /* why the place has no better name; NULL: it needs none */
    double best_ns, excess_bytes;
    char fingerprint[17];
    size_t traces;
};

struct fixes {
    struct gmt_arena arena;
    struct fix *rows;
    size_t count, findings, analysed;
    const char *times,
        *all_times;   /* of the first trace alone: what the first and all findings bring */
    const char *none; /* what no findings mean, of the first trace with work in it */
    bool has_work;
    bool simulated, priced, modelled;
};

static const char *how_of(struct gmt_arena *arena, const struct gmt_report *r,
                          const struct gmt_finding *f)
{
    const char *gain = gmt_answer_gain(r, f), *sure = gmt_answer_certainty(r, f);

    return gmt_arena_text(arena, "%s · %s%s%s%s%s%s", f->place.label, gmt_answer_effort(f),
                          gain[0] != '\0' ? " · " : "", gain, sure[0] != '\0' ? " (" : "", sure,
                          sure[0] != '\0' ? ")" : "");
}

static double known(double value)
{
    return isfinite(value) ? value : 0;
}

static void add(struct fixes *fixes, const struct gmt_report *r, const struct gmt_finding *f)
{
    struct fix *fix = NULL;

    for (size_t i = 0; i < fixes->count && fix == NULL; i++) {
        fix = strcmp(fixes->rows[i].fingerprint, f->fingerprint) == 0 ? &fixes->rows[i] : NULL;
    }
    bool fresh = fix == NULL;
    if (fresh) {
        fix = GMT_PUSH(&fixes->arena, fixes->rows, fixes->count);
    }
    if (fix == NULL) {
        return;
    }
    size_t traces = fresh ? 0 : fix->traces;
    if (fresh || known(f->saving.best_ns) > fix->best_ns) {
        *fix = (struct fix){.action = gmt_arena_text(&fixes->arena, "%s", f->action),
                            .how = how_of(&fixes->arena, r, f),
                            .trace = r->trace_path,
                            .note = f->where.note != NULL
                                        ? gmt_arena_text(&fixes->arena, "%s", f->where.note)
                                        : NULL,
                            .best_ns = known(f->saving.best_ns),
                            .excess_bytes = known(f->excess_bytes)};
        snprintf(fix->fingerprint, sizeof(fix->fingerprint), "%s", f->fingerprint);
    }
    fix->traces = traces + 1;
    fixes->priced |= fix->best_ns > 0;
}

static int gather(struct fixes *fixes, const struct gmt_analyze_options *options, const char *path)
{
    struct gmt_trace_session session;
    int status = gmt_trace_session_open(&session, options, path);

    if (status == GMT_EXIT_OK) {
        const struct gmt_report *r = &session.report;

        fixes->analysed++;
        fixes->findings += r->finding_count;
        fixes->simulated |= r->simulated && !r->modelled;
        fixes->modelled |= r->modelled;
        if (!fixes->has_work) {
            fixes->none = gmt_answer_none(r);
            fixes->has_work = gmt_answer_has_work(r);
        }
        for (size_t i = 0; i < r->finding_count; i++) {
            add(fixes, r, &r->findings[i]);
        }
        fixes->times = gmt_arena_text(&fixes->arena, "%s", gmt_answer_times(r, &r->first));
        fixes->all_times = gmt_arena_text(&fixes->arena, "%s", gmt_answer_times(r, &r->combined));
    }
    gmt_trace_session_close(&session);
    return status;
}

/* Most saved first; what has no price by its unnecessary traffic. Within one trace as it was ranked. */
static int compare(const void *a, const void *b)
{
    const struct fix *x = a, *y = b;
    int order = (x->best_ns < y->best_ns) - (x->best_ns > y->best_ns);

    return order != 0 ? order
                      : (x->excess_bytes < y->excess_bytes) - (x->excess_bytes > y->excess_bytes);
}

static void print_title(const struct fixes *fixes, size_t shown, bool alone)
{
    if (fixes->simulated) {
        gmt_say(stdout, "do first, by unnecessary work (the software device has no times):\n");
    } else if (fixes->modelled) {
        gmt_say(stdout, "do first, by modelled time (the software device measures none):\n");
    } else if (!fixes->priced) {
        gmt_say(stdout, "do first (nothing has a price here):\n");
    } else if (!alone || fixes->times[0] == '\0' || shown < GMT_FIRST_FINDINGS) {
        gmt_say(stdout, "do first:\n");
    } else if (fixes->findings > shown) {
        gmt_say(stdout, "do first: %s; all %s findings: %s\n", fixes->times,
                gmt_format_count((char[GMT_FORMAT_BYTES]){0}, (double)fixes->findings),
                fixes->all_times);
    } else {
        gmt_say(stdout, "do first: %s\n", fixes->times);
    }
}

/* The first reason why a place that is shown has no better name. */
static void print_note(const struct fixes *fixes, size_t shown)
{
    for (size_t i = 0; i < shown; i++) {
        if (fixes->rows[i].note != NULL) {
            gmt_say(stdout, "     names: %s\n", fixes->rows[i].note);
            return;
        }
    }
}

static void print(struct fixes *fixes, const struct gmt_analyze_options *options)
{
    bool alone = options->trace_count == 1;
    size_t shown = options->top > 0 && options->top < fixes->count ? options->top : fixes->count;

    if (fixes->analysed == 0) {
        return;
    }
    if (fixes->count == 0) {
        gmt_say(stdout, "%s\n", fixes->none);
        return;
    }
    if (!alone) {
        qsort(fixes->rows, fixes->count, sizeof(*fixes->rows), compare);
    }
    print_title(fixes, shown, alone);
    for (size_t i = 0; i < shown; i++) {
        const struct fix *fix = &fixes->rows[i];

        gmt_say(stdout, "%3zu. %s\n", i + 1, fix->action);
        if (alone) {
            gmt_say(stdout, "     %s\n", fix->how);
        } else {
            gmt_say(stdout, "     %s · in %zu of %zu traces, most in %s\n", fix->how, fix->traces,
                    fixes->analysed, fix->trace);
        }
    }
    print_note(fixes, shown);
}

int gmt_command_fixes(int argc, char **argv)
{
    struct gmt_analyze_options options;
    struct fixes fixes = {.times = "", .all_times = ""};
    int status = GMT_EXIT_OK;

    gmt_options_parse(&options, GMT_COMMAND_FIXES, argc, argv);
    if (!options.top_given) {
        options.top = GMT_FIRST_FINDINGS;
    }
    options.calibrate = GMT_CALIBRATE_NEVER;
    for (size_t i = 0; i < options.trace_count; i++) {
        int one = gather(&fixes, &options, options.traces[i]);

        status = one != GMT_EXIT_OK ? one : status;
    }
    print(&fixes, &options);
    gmt_arena_free(&fixes.arena);
    gmt_options_free(&options);
    return gmt_command_printed(status);
}
