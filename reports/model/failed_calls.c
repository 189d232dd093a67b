/* SPDX-License-Identifier: Apache-2.0 */
/* What reports say of calls that failed. */
#include "reports/model/failed_calls.h"

#include <string.h>

#include "libtrace/base/format.h"

/* The function that the program called, without the driver's in brackets. */
static const char *function_of(struct gmt_arena *arena, const struct gmt_where *where)
{
    return where->api != NULL
               ? gmt_arena_text(arena, "%.*s", (int)strcspn(where->api, " ("), where->api)
               : "A call";
}

/* "" where nothing but the function is known of the place. */
static const char *at_place(struct gmt_arena *arena, const struct gmt_where *where)
{
    bool known = where->file != NULL || where->module != NULL || where->function != NULL;

    return known ? gmt_arena_text(arena, " at %s", where->label) : "";
}

const char *gmt_failed_alarm(const struct gmt_report *report)
{
    const struct gmt_failed_call *call = report->failed_calls != NULL ? report->failed_calls->alarm
                                                                      : NULL;

    return call == NULL
               ? NULL
               : gmt_arena_text(report->arena,
                                "%s%s failed: %s (%d); what follows is of a program that "
                                "failed",
                                function_of(report->arena, &call->where),
                                at_place(report->arena, &call->where), call->words, call->result);
}

const char *gmt_failed_words(struct gmt_arena *arena, const struct gmt_failed_call *call)
{
    const char *name = call->runtime_name != NULL ? call->runtime_name : call->error;

    return gmt_arena_text(arena, "%s%s: %s (%s%s%d)",
                          call->where.api != NULL ? call->where.api : "a call",
                          at_place(arena, &call->where), call->words, name != NULL ? name : "",
                          name != NULL ? ", " : "", call->result);
}

const char *gmt_failed_handled_words(const struct gmt_report *report)
{
    const struct gmt_failed_calls *failed = report->failed_calls;
    enum { NAMED = 4 };
    const char *list = "";
    double calls = 0;
    char count[GMT_FORMAT_BYTES];

    if (failed == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < failed->handled_count; i++) {
        const struct gmt_handled_error *error = &failed->handled[i];

        calls += error->calls;
        if (i < NAMED) {
            list = gmt_arena_text(report->arena, "%s%s%s (%s)", list, i > 0 ? ", " : "",
                                  error->words, gmt_format_count(count, error->calls));
        }
    }
    return calls > 0 ? gmt_arena_text(report->arena,
                                      "%s %s with an error that programs ask for or handle: %s%s",
                                      gmt_format_count(count, calls),
                                      calls > 1 ? "calls returned" : "call returned", list,
                                      failed->handled_count > NAMED ? ", ..." : "")
                     : NULL;
}

const char *gmt_failed_others_words(struct gmt_arena *arena, double calls)
{
    char count[GMT_FORMAT_BYTES];

    return calls > 0 ? gmt_arena_text(arena, "%s more %s failed", gmt_format_count(count, calls),
                                      calls > 1 ? "calls" : "call")
                     : NULL;
}

const char *gmt_end_words(const struct gmt_report *report)
{
    if (!report->failed || gmt_failed_alarm(report) != NULL) {
        return NULL;
    }
    return report->exit_signal > 0
               ? gmt_arena_text(report->arena,
                                "the program failed (%s): what follows is of an incomplete run",
                                report->ended)
               : gmt_arena_text(report->arena, "the program ended with %s", report->ended);
}
