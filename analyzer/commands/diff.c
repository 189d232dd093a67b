/* SPDX-License-Identifier: Apache-2.0 */
/* gmanalyze diff: what changed from one trace to another. */
#include <stdio.h>

#include "analyzer/commands/commands.h"
#include "analyzer/commands/several_output.h"
#include "analyzer/commands/trace_session.h"
#include "analyzer/compare/compare.h"

/* One after the other: two traces of a million events need not lie in memory at once. */
static int summarize(struct gmt_summary *summary, const struct gmt_analyze_options *options,
                     const char *path, struct gmt_arena *arena)
{
    struct gmt_trace_session session;
    int status = gmt_trace_session_open(&session, options, path);

    if (status == GMT_EXIT_OK) {
        gmt_summary_fill(summary, &session.report, arena);
        gmt_noise_fill(summary);
    }
    gmt_trace_session_close(&session);
    return status;
}

static int compare(const struct gmt_analyze_options *options, struct gmt_arena *arena)
{
    struct gmt_summary a, b;
    struct gmt_comparison comparison;
    struct gmt_several several = {.comparison = &comparison, .reproduce = options->reproduce};
    int status = summarize(&a, options, options->traces[0], arena);

    if (status == GMT_EXIT_OK) {
        status = summarize(&b, options, options->traces[1], arena);
    }
    if (status != GMT_EXIT_OK) {
        return status;
    }
    gmt_summaries_time_alike((struct gmt_summary *[]){&a, &b}, 2);
    gmt_compare(&comparison, &a, &b, arena);
    return gmt_several_output(options, &several) == 0 ? GMT_EXIT_OK : GMT_EXIT_UNREADABLE;
}

int gmt_command_diff(int argc, char **argv)
{
    struct gmt_analyze_options options;
    struct gmt_arena arena = {0};

    gmt_options_parse(&options, GMT_COMMAND_DIFF, argc, argv);
    int status = gmt_options_can_write(&options) ? compare(&options, &arena) : GMT_EXIT_UNREADABLE;
    gmt_arena_free(&arena);
    gmt_options_free(&options);
    return status;
}
